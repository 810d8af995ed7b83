//! Client certificates from a Java key store.
//!
//! The system properties `javax.net.ssl.keyStore…` specify the store. Without a Keystore Configuration in the plan,
//! connections use its first key. With one, connections use a range of keys in turn, or the key whose alias is in a
//! variable of the user.

mod entry;
mod hashtable;
mod jks;
mod pkcs12;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustls::client::ResolvesClientCert;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, SignatureScheme};

use crate::der;
use crate::failure::Failure;
use entry::Entry;
pub use entry::KeyStoreError;

use crate::tls::{TlsPolicy, tls_config_with};

/// The keys of a store that are used, and how a key is selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyChoice {
    /// The index of the first key, from 0 (`startIndex`).
    pub first: usize,
    /// The index of the last key (`endIndex`); `None`: to the end.
    pub last: Option<usize>,
    /// The variable with the alias of the key (`clientCertAliasVarName`); empty: keys are used in turn.
    pub alias_variable: String,
}

impl Default for KeyChoice {
    /// JMeter's behaviour without a Keystore Configuration: all connections use the first key.
    fn default() -> Self {
        Self { first: 0, last: Some(0), alias_variable: String::new() }
    }
}

/// The client certificates of a run.
#[derive(Debug)]
pub struct ClientKeys {
    alias_variable: String,
    keys: Vec<(String, Arc<CertifiedKey>)>,
    configs: Configs,
}

#[derive(Debug)]
enum Configs {
    /// One configuration that uses the keys in turn.
    InTurn(Arc<ClientConfig>),
    /// One configuration for each alias.
    Named(HashMap<String, Arc<ClientConfig>>),
}

impl ClientKeys {
    /// Loads the keys from the `bytes` of a store, in the order in which Java lists them.
    ///
    /// # Errors
    /// If the store cannot be read with this password, or the requested range contains no usable key.
    pub fn load(
        bytes: &[u8],
        password: &str,
        choice: KeyChoice,
        policy: TlsPolicy,
    ) -> Result<Self, KeyStoreError> {
        let entries = if jks::is_jks(bytes) {
            jks::read(bytes, password)?
        } else if bytes.first() == Some(&der::SEQUENCE) {
            pkcs12::read(bytes, password)?
        } else {
            return Err(KeyStoreError::UnknownFormat);
        };
        let KeyChoice { first, last, alias_variable } = choice;
        let chosen = entries.into_iter().enumerate().filter(|(at, _)| {
            let within = last.is_none_or(|last| *at <= last);
            *at >= first && within
        });
        let keys: Vec<_> = chosen.map(|(_, entry)| certified(entry)).collect::<Result<_, KeyStoreError>>()?;
        if keys.is_empty() {
            return Err(KeyStoreError::NoKeys { first, last });
        }
        let configs = Self::configs(&keys, &alias_variable, policy)?;
        Ok(Self { alias_variable, keys, configs })
    }

    /// A configuration without keys, as in JMeter with a Keystore Configuration but no store. If a variable specifies the key, a
    /// sample fails when the server requests a certificate.
    #[must_use]
    pub fn none(alias_variable: String) -> Self {
        Self { alias_variable, keys: Vec::new(), configs: Configs::Named(HashMap::new()) }
    }

    fn configs(
        keys: &[(String, Arc<CertifiedKey>)],
        alias_variable: &str,
        policy: TlsPolicy,
    ) -> Result<Configs, KeyStoreError> {
        let config = |keys: Vec<Arc<CertifiedKey>>| {
            let resolver = RoundRobin { keys, next: AtomicUsize::new(0) };
            tls_config_with(policy, Some(Arc::new(resolver)))
                .map_err(|error| KeyStoreError::Damaged(error.to_string()))
        };
        if alias_variable.is_empty() {
            return config(keys.iter().map(|(_, key)| Arc::clone(key)).collect()).map(Configs::InTurn);
        }
        let named = keys.iter().map(|(alias, key)| Ok((alias.clone(), config(vec![Arc::clone(key)])?)));
        named.collect::<Result<_, KeyStoreError>>().map(Configs::Named)
    }

    /// The aliases of the keys, in order.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(|(alias, _)| alias.as_str())
    }

    /// The variable with the alias of the key; empty: keys are used in turn.
    pub fn alias_variable(&self) -> &str {
        &self.alias_variable
    }

    /// The TLS settings for a connection of a user with `alias` in the variable. A missing key matters only if the
    /// server requests a certificate, see [`ClientTls::missing_key_failure`].
    ///
    /// # Errors
    /// If the cryptography provider has no common protocol version.
    pub(crate) fn client_tls(
        &self,
        alias: Option<&str>,
        policy: TlsPolicy,
    ) -> Result<ClientTls, rustls::Error> {
        let alias = alias.unwrap_or_default();
        let config = match &self.configs {
            Configs::InTurn(config) => Some(config),
            Configs::Named(configs) => configs.get(alias),
        };
        if let Some(config) = config {
            return Ok(ClientTls { config: Arc::clone(config), missing: None });
        }
        let why = if alias.is_empty() {
            format!("No var called '{}' found", self.alias_variable)
        } else {
            format!("No PrivateKey found for alias:'{alias}'")
        };
        let requests = Arc::new(MissingKeyResolver::default());
        let config = tls_config_with(policy, Some(Arc::clone(&requests) as _))?;
        Ok(ClientTls { config, missing: Some((requests, why)) })
    }
}

fn certified(entry: Entry) -> Result<(String, Arc<CertifiedKey>), KeyStoreError> {
    let Entry { alias, key, chain } = entry;
    let key = chain.first().and_then(|own| der::with_public_key(&key, own)).unwrap_or(key);
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key));
    match rustls::crypto::ring::sign::any_supported_type(&key) {
        Ok(key) => {
            let chain = chain.into_iter().map(CertificateDer::from).collect();
            Ok((alias, Arc::new(CertifiedKey::new(chain, key))))
        }
        Err(error) => Err(KeyStoreError::Key { alias, why: error.to_string() }),
    }
}

/// The TLS settings of one connection.
pub(crate) struct ClientTls {
    pub(crate) config: Arc<ClientConfig>,
    /// If there is no key: the counter of the server's requests for one, and the reason why the key is missing.
    missing: Option<(Arc<MissingKeyResolver>, String)>,
}

impl ClientTls {
    /// Settings without a key.
    pub(crate) fn without_key(config: Arc<ClientConfig>) -> Self {
        Self { config, missing: None }
    }

    /// The failure of the sample if the server requested a certificate and the key is missing.
    pub(crate) fn missing_key_failure(&self) -> Option<Failure> {
        let (requests, why) = self.missing.as_ref()?;
        requests.count.load(Ordering::Relaxed).gt(&0).then(|| Failure::new("javax.net.ssl.SSLException", why))
    }
}

/// Uses the keys in turn for all connections.
#[derive(Debug)]
struct RoundRobin {
    keys: Vec<Arc<CertifiedKey>>,
    next: AtomicUsize,
}

impl ResolvesClientCert for RoundRobin {
    fn resolve(&self, _issuers: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        self.keys.get(turn % self.keys.len()).map(Arc::clone)
    }

    fn has_certs(&self) -> bool {
        true
    }
}

/// Provides no key and counts the requests for one.
#[derive(Debug, Default)]
struct MissingKeyResolver {
    count: AtomicUsize,
}

impl ResolvesClientCert for MissingKeyResolver {
    fn resolve(&self, _issuers: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.count.fetch_add(1, Ordering::Relaxed);
        None
    }

    fn has_certs(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JKS: &[u8] = include_bytes!("../tests/keystores/four.jks");
    const PKCS12: &[u8] = include_bytes!("../tests/keystores/four.p12");

    fn aliases(bytes: &[u8], choice: KeyChoice) -> Result<Vec<String>, KeyStoreError> {
        let keys = ClientKeys::load(bytes, "secret", choice, TlsPolicy::AcceptAny)?;
        Ok(keys.aliases().map(str::to_owned).collect())
    }

    fn range(first: usize, last: Option<usize>) -> KeyChoice {
        KeyChoice { first, last, alias_variable: String::new() }
    }

    #[test]
    fn keys_are_listed_in_javas_order() {
        // The order of the keys that a test server received from JMeter.
        assert_eq!(aliases(JKS, range(0, None)).unwrap(), ["carl", "anna", "bert", "zed"]);
        assert_eq!(aliases(PKCS12, range(0, None)).unwrap(), ["zed", "anna", "carl", "bert"]);
    }

    #[test]
    fn ranges_start_at_zero_and_include_their_end() {
        assert_eq!(aliases(JKS, range(1, Some(2))).unwrap(), ["anna", "bert"]);
        assert_eq!(aliases(PKCS12, KeyChoice::default()).unwrap(), ["zed"]);
        assert_eq!(aliases(PKCS12, range(3, Some(9))).unwrap(), ["bert"]);
        let none = aliases(JKS, range(4, None)).unwrap_err().to_string();
        assert_eq!(none, "it contains no key with a certificate at the indexes 4 to the end");
    }

    #[test]
    fn keys_are_used_in_turn() {
        let keys = ClientKeys::load(PKCS12, "secret", range(1, Some(2)), TlsPolicy::AcceptAny).unwrap();
        let resolver = RoundRobin {
            keys: keys.keys.iter().map(|(_, key)| Arc::clone(key)).collect(),
            next: AtomicUsize::new(0),
        };
        let used: Vec<_> = (0..3).map(|_| resolver.resolve(&[], &[]).unwrap()).collect();
        assert!(!Arc::ptr_eq(&used[0], &used[1]));
        assert!(Arc::ptr_eq(&used[0], &used[2]));
    }

    #[test]
    fn a_variable_selects_the_key() {
        let choice = KeyChoice { first: 0, last: None, alias_variable: "who".to_owned() };
        let keys = ClientKeys::load(JKS, "secret", choice, TlsPolicy::AcceptAny).unwrap();
        let missed = |alias| {
            let client_tls = keys.client_tls(alias, TlsPolicy::AcceptAny).unwrap();
            assert_eq!(client_tls.missing_key_failure(), None, "the server has not requested a certificate");
            client_tls.config.client_auth_cert_resolver.resolve(&[], &[]);
            client_tls.missing_key_failure().map(|failure| failure.message)
        };
        assert_eq!(missed(Some("anna")), None);
        assert_eq!(missed(Some("Anna")), Some("No PrivateKey found for alias:'Anna'".to_owned()));
        assert_eq!(missed(None), Some("No var called 'who' found".to_owned()));
    }

    #[test]
    fn unreadable_stores_have_errors_with_causes() {
        let error = |bytes: &[u8], password: &str| {
            ClientKeys::load(bytes, password, range(0, None), TlsPolicy::AcceptAny).unwrap_err().to_string()
        };
        let wrong = "the password is wrong, or the file is damaged";
        assert_eq!(error(JKS, "other"), wrong);
        assert_eq!(error(PKCS12, "other"), wrong);
        assert_eq!(error(&JKS[..JKS.len() - 1], "secret"), wrong);
        assert_eq!(
            error(b"-----BEGIN CERTIFICATE-----", "secret"),
            "it is neither a JKS nor a PKCS#12 key store"
        );
        assert_eq!(error(b"", "secret"), "it is neither a JKS nor a PKCS#12 key store");
        assert!(error(&PKCS12[..100], "secret").starts_with("it is damaged: "));
    }
}
