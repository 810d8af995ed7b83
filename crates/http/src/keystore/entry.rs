//! An entry of a key store, and the errors of key stores.

/// The reason why a key store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyStoreError {
    /// The format is not supported.
    #[error("it is neither a JKS nor a PKCS#12 key store")]
    UnknownFormat,
    /// The checksum does not match: the password is wrong.
    #[error("the password is wrong, or the file is damaged")]
    WrongPassword,
    /// The file is truncated or invalid.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// There is no key with a certificate at the requested positions.
    #[error(
        "it contains no key with a certificate at the indexes {first} to {}",
        last.map_or("the end".to_owned(), |last| last.to_string())
    )]
    NoKeys {
        /// The first index, from 0.
        first: usize,
        /// The last index; `None`: to the end.
        last: Option<usize>,
    },
    /// A key that cannot be used for TLS.
    #[error("the key of alias {alias:?} cannot be used: {why}")]
    Key {
        /// Its alias.
        alias: String,
        /// The reason.
        why: String,
    },
}

/// A private key with its certificates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) alias: String,
    /// The key as PKCS#8 in DER.
    pub(super) key: Vec<u8>,
    /// X.509 certificates in DER; the key's own certificate is first.
    pub(super) chain: Vec<Vec<u8>>,
}
