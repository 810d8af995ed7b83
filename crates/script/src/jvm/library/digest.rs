//! Hashes, and message authentication codes based on them (HMAC, RFC 2104).

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512};

use super::super::fault::{Fault, thrown};

pub fn hash(algorithm: &str, bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    Ok(match algorithm.to_ascii_uppercase().replace('-', "").as_str() {
        "MD5" => Md5::digest(bytes).to_vec(),
        "SHA" | "SHA1" => Sha1::digest(bytes).to_vec(),
        "SHA224" => Sha224::digest(bytes).to_vec(),
        "SHA256" => Sha256::digest(bytes).to_vec(),
        "SHA384" => Sha384::digest(bytes).to_vec(),
        "SHA512" => Sha512::digest(bytes).to_vec(),
        _ => {
            return Err(thrown(
                "NoSuchAlgorithmException",
                format!("{algorithm} MessageDigest not available"),
            ));
        }
    })
}

pub fn hash_as_hex(algorithm: &str, bytes: &[u8]) -> Result<String, Fault> {
    Ok(super::encode::encode_hex(&hash(algorithm, bytes)?))
}

/// The HMAC of an algorithm such as `HmacSHA256`.
pub fn hmac(algorithm: &str, key: &[u8], data: &[u8]) -> Result<Vec<u8>, Fault> {
    let upper = algorithm.to_ascii_uppercase();
    let Some(name) = upper.strip_prefix("HMAC") else {
        return Err(thrown("NoSuchAlgorithmException", format!("Algorithm {algorithm} not available")));
    };
    let block = if matches!(name, "SHA384" | "SHA512") { 128 } else { 64 };
    let mut padded = if key.len() > block { hash(name, key)? } else { key.to_vec() };
    padded.resize(block, 0);
    let with = |mask: u8| padded.iter().map(|byte| byte ^ mask).collect::<Vec<u8>>();
    let mut inner = with(0x36);
    inner.extend_from_slice(data);
    let mut outer = with(0x5c);
    outer.extend(hash(name, &inner)?);
    hash(name, &outer)
}

#[cfg(test)]
mod tests {
    #[test]
    fn codes_match_the_examples_of_the_rfc() {
        // RFC 4231, test case 2.
        let code = super::hmac("HmacSHA256", b"Jefe", b"what do ya want for nothing?").unwrap();
        assert_eq!(
            super::super::encode::encode_hex(&code),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
