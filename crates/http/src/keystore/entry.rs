//! A key as a store holds it, and why a store cannot be used.

/// Why a key store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyStoreError {
    /// It is in none of the formats that are read.
    #[error("it is neither a JKS nor a PKCS#12 key store")]
    UnknownFormat,
    /// The check sum under the password is another.
    #[error("the password is wrong, or the file is damaged")]
    WrongPassword,
    /// It ends too early or makes no sense.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// There is no key with a certificate at the requested positions.
    #[error("it holds no key with a certificate at the places {first} to {}", last.map_or("the end".to_owned(), |last| last.to_string()))]
    NoKeys {
        /// First place, from 0.
        first: usize,
        /// Last place; `None`: to the end.
        last: Option<usize>,
    },
    /// A key that cannot be used for TLS.
    #[error("the key of alias {alias:?} cannot be used: {why}")]
    Key {
        /// Its alias.
        alias: String,
        /// Why.
        why: String,
    },
}

/// A private key with its certificates as a store holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) alias: String,
    /// PKCS#8, DER.
    pub(super) key: Vec<u8>,
    /// X.509, DER; the key's own first.
    pub(super) chain: Vec<Vec<u8>>,
}
