//! Sun's own key store format (JKS). Keys are encrypted with a stream of SHA-1 sums of the password. The rest of the
//! file is not encrypted, and a SHA-1 sum at its end protects its integrity.

use sha1::{Digest as _, Sha1};

use super::entry::{Entry, KeyStoreError};
use super::hashtable;
use crate::der;

const MAGIC: [u8; 4] = [0xfe, 0xed, 0xfe, 0xed];

/// A constant that is hashed between the password and the bytes of the file for the checksum at the end of the file.
const WHITENER: &[u8] = b"Mighty Aphrodite";

/// The size of a SHA-1 sum.
const SUM_BYTES: usize = 20;

/// The object identifier of the encryption, 1.3.6.1.4.1.42.2.17.1.1, encoded as a DER object.
const PROTECTOR: &[u8] = &[0x06, 0x0a, 0x2b, 0x06, 0x01, 0x04, 0x01, 0x2a, 0x02, 0x11, 0x01, 0x01];

/// Whether a file begins like a JKS store.
pub(super) fn is_jks(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Reads the keys, in Java's order.
pub(super) fn read(bytes: &[u8], password: &str) -> Result<Vec<Entry>, KeyStoreError> {
    let password: Vec<u8> = password.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let (content, sum) = bytes.split_at_checked(bytes.len().saturating_sub(SUM_BYTES)).unwrap_or_default();
    let expected =
        Sha1::new().chain_update(&password).chain_update(WHITENER).chain_update(content).finalize();
    if expected[..] != *sum {
        return Err(KeyStoreError::WrongPassword);
    }
    let mut reader = Reader { rest: &content[MAGIC.len()..] };
    let version = reader.number()?;
    if !matches!(version, 1 | 2) {
        return Err(KeyStoreError::Damaged(format!("version {version} is unknown")));
    }
    let mut entries = Vec::new();
    for _ in 0..reader.number()? {
        let tag = reader.number()?;
        let alias = reader.text()?;
        // The creation time in milliseconds.
        reader.take(8)?;
        match tag {
            1 => {
                let hidden = reader.block()?;
                let mut chain = Vec::new();
                for _ in 0..reader.number()? {
                    chain.push(reader.certificate(version)?.to_vec());
                }
                let key = recover(hidden, &password)
                    .ok_or_else(|| KeyStoreError::Key { alias: alias.clone(), why: OTHER_PASSWORD.into() })?;
                entries.push(Entry { alias, key, chain });
            }
            2 => {
                reader.certificate(version)?;
            }
            tag => return Err(KeyStoreError::Damaged(format!("an entry of the unknown kind {tag}"))),
        }
    }
    Ok(hashtable::order(entries, |entry| &entry.alias))
}

const OTHER_PASSWORD: &str = "its password differs from that of the store";

/// Decrypts a key.
fn recover(hidden: &[u8], password: &[u8]) -> Option<Vec<u8>> {
    let (tag, content, _) = der::first(hidden)?;
    let (algorithm_tag, algorithm, rest) = der::first(content)?;
    let (octets_tag, octets, _) = der::first(rest)?;
    if (tag, algorithm_tag, octets_tag) != (der::SEQUENCE, der::SEQUENCE, der::OCTETS)
        || !algorithm.starts_with(PROTECTOR)
    {
        return None;
    }
    let (salt, rest) = octets.split_at_checked(SUM_BYTES)?;
    let (hidden, sum) = rest.split_at_checked(rest.len().checked_sub(SUM_BYTES)?)?;
    let mut key = Vec::with_capacity(hidden.len());
    let mut stream = Sha1::new().chain_update(password).chain_update(salt).finalize();
    for block in hidden.chunks(SUM_BYTES) {
        key.extend(block.iter().zip(stream).map(|(byte, mask)| byte ^ mask));
        stream = Sha1::new().chain_update(password).chain_update(stream).finalize();
    }
    let expected = Sha1::new().chain_update(password).chain_update(&key).finalize();
    (expected[..] == *sum).then_some(key)
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], KeyStoreError> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or_else(|| KeyStoreError::Damaged("it ends too early".to_owned()))?;
        self.rest = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, KeyStoreError> {
        let bytes = self.take(4)?;
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }

    fn block(&mut self) -> Result<&'a [u8], KeyStoreError> {
        let length = self.number()?;
        self.take(usize::try_from(length).unwrap_or(usize::MAX))
    }

    /// Reads a text in Java's modified UTF-8, preceded by its length in two bytes.
    fn text(&mut self) -> Result<String, KeyStoreError> {
        let length = self.take(2)?;
        let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    fn certificate(&mut self, version: u32) -> Result<&'a [u8], KeyStoreError> {
        if version == 2 {
            self.text()?;
        }
        self.block()
    }
}
