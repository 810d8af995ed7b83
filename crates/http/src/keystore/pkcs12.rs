//! Key stores in PKCS#12, with names and chains as in Java.

use p12_keystore::{CertificateBag, Pkcs12Archive, PrivateKeyBag};

use super::entry::{Entry, KeyStoreError};

/// Reads the keys in file order. Aliases are in lower case; keys without a name are numbered from 1.
pub(super) fn read(bytes: &[u8], password: &str) -> Result<Vec<Entry>, KeyStoreError> {
    use p12_keystore::error::Error;
    let archive = Pkcs12Archive::from_pkcs12(bytes, password).map_err(|error| match error {
        Error::MacError(_) | Error::UnpadError | Error::Pkcs5Error(_) => KeyStoreError::WrongPassword,
        other => KeyStoreError::Damaged(other.to_string()),
    })?;
    let only_one = archive.keys.len() == 1;
    let mut nameless = 0;
    let mut entries: Vec<Entry> = Vec::new();
    for key in &archive.keys {
        let alias = match &key.friendly_name {
            Some(name) => name.to_lowercase(),
            None => {
                nameless += 1;
                nameless.to_string()
            }
        };
        let chain = chain(key, &archive.certs, only_one);
        if chain.is_empty() {
            return Err(KeyStoreError::Key { alias, why: "the store has no certificate for it".to_owned() });
        }
        let entry = Entry { alias, key: key.key.as_der().to_vec(), chain };
        match entries.iter_mut().find(|known| known.alias == entry.alias) {
            Some(known) => *known = entry,
            None => entries.push(entry),
        }
    }
    Ok(entries)
}

/// The certificate of the key and the certificates of its issuers that the store contains.
fn chain(key: &PrivateKeyBag, all: &[CertificateBag], only_one: bool) -> Vec<Vec<u8>> {
    let id = key.local_key_id.as_ref().map(|id| id.0.as_slice());
    let own = match id {
        Some(id) => all.iter().find(|bag| bag.local_key_id.as_deref() == Some(id)),
        // A single key and its certificate need no id.
        None if only_one => all.iter().find(|bag| bag.local_key_id.is_none()),
        None => None,
    };
    let mut chain: Vec<Vec<u8>> = Vec::new();
    let mut next = own;
    while let Some(bag) = next {
        let der = bag.cert.as_der();
        if chain.iter().any(|known| known == der) {
            break;
        }
        chain.push(der.to_vec());
        if bag.cert.issuer() == bag.cert.subject() {
            break;
        }
        next = all.iter().find(|other| other.cert.subject() == bag.cert.issuer());
    }
    chain
}
