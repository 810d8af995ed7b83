//! Certificates of servers.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

/// The certificate and the key of a server.
#[derive(Clone, Debug)]
pub struct ServerTls {
    config: Arc<ServerConfig>,
}

/// A certificate or a key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ServerTlsError {
    /// The certificates are not PEM.
    #[error("cannot read the certificates (PEM)")]
    Certificates(#[source] pem::Error),
    /// The text has no certificate.
    #[error("there is no certificate (PEM)")]
    NoCertificate,
    /// The key is not PEM.
    #[error("cannot read the private key (PEM)")]
    Key(#[source] pem::Error),
    /// The certificate and the key do not belong together, or are of an unknown kind.
    #[error("the certificate cannot be used with the private key")]
    Unusable(#[from] rustls::Error),
}

impl ServerTls {
    /// Reads the chain of certificates, the server's own first, and the private key, both PEM texts.
    ///
    /// # Errors
    /// One of them cannot be read, or they do not belong together.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, ServerTlsError> {
        let chain = CertificateDer::pem_slice_iter(certificates).collect::<Result<Vec<_>, _>>();
        let chain = chain.map_err(ServerTlsError::Certificates)?;
        if chain.is_empty() {
            return Err(ServerTlsError::NoCertificate);
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(ServerTlsError::Key)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        Ok(Self { config: Arc::new(config) })
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        Arc::clone(&self.config).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_certificates_and_keys_are_refused() {
        assert!(matches!(ServerTls::from_pem(b"", b""), Err(ServerTlsError::NoCertificate)));
        let damaged = b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n";
        assert!(matches!(ServerTls::from_pem(damaged, b""), Err(ServerTlsError::Certificates(_))));
        let other = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(matches!(ServerTls::from_pem(other, b"no key"), Err(ServerTlsError::Key(_))));
    }
}
