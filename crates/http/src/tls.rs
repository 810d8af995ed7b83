//! TLS: certificates are accepted as in JMeter (all of them), or verified on request.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ResolvesClientCert, Resumption};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::der::public_key_info;

/// Which servers are trusted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TlsPolicy {
    /// Any certificate, as JMeter does.
    #[default]
    AcceptAny,
    /// Only certificates that chain to the web's root certificates.
    Verify,
}

/// The configuration that all users share. Sessions are not resumed: every connection performs a full handshake, as the first
/// connection of each JMeter thread does.
///
/// # Errors
/// If the cryptography provider has no common protocol version (never the case with the built-in provider).
pub fn tls_config(policy: TlsPolicy) -> Result<Arc<ClientConfig>, Error> {
    tls_config_with(policy, None)
}

/// A configuration with a selector of client certificates.
pub(crate) fn tls_config_with(
    policy: TlsPolicy,
    keys: Option<Arc<dyn ResolvesClientCert>>,
) -> Result<Arc<ClientConfig>, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions()?;
    let builder = match policy {
        TlsPolicy::AcceptAny => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAny(provider)))
        }
        TlsPolicy::Verify => {
            let roots: RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
            builder.with_root_certificates(roots)
        }
    };
    let mut config = match keys {
        Some(keys) => builder.with_client_cert_resolver(keys),
        None => builder.with_no_client_auth(),
    };
    config.resumption = Resumption::disabled();
    Ok(Arc::new(config))
}

/// Verifies a signature using only the public key if the library cannot parse the certificate, as for X.509 version 1; `error`
/// is the library's error.
fn verify_by_key(
    message: &[u8],
    certificate: &CertificateDer<'_>,
    dss: &DigitallySignedStruct,
    known: &WebPkiSupportedAlgorithms,
    error: Error,
) -> Result<HandshakeSignatureValid, Error> {
    let is_unread =
        matches!(&error, Error::InvalidCertificate(why) if *why != CertificateError::BadSignature);
    if !is_unread {
        return Err(error);
    }
    let Some((kind, key)) = public_key_info(certificate) else { return Err(error) };
    let of_scheme = known.mapping.iter().filter(|(scheme, _)| *scheme == dss.scheme);
    let verifies = of_scheme.flat_map(|(_, algorithms)| *algorithms).any(|algorithm| {
        algorithm.public_key_alg_id().as_ref() == kind
            && algorithm.verify_signature(key, message, dss.signature()).is_ok()
    });
    if verifies { Ok(HandshakeSignatureValid::assertion()) } else { Err(error) }
}

/// Accepts any certificate; signatures are still verified, so that the handshake takes the same time.
#[derive(Debug)]
struct AcceptAny(Arc<CryptoProvider>);

/// A function of the library that verifies a signature.
type Verify = fn(
    &[u8],
    &CertificateDer<'_>,
    &DigitallySignedStruct,
    &WebPkiSupportedAlgorithms,
) -> Result<HandshakeSignatureValid, Error>;

impl AcceptAny {
    /// Verifies a signature with the library, or using only the public key if the library cannot parse the certificate.
    fn verify(
        &self,
        verify: Verify,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.0.signature_verification_algorithms;
        verify(message, certificate, dss, known)
            .or_else(|error| verify_by_key(message, certificate, dss, known, error))
    }
}

impl ServerCertVerifier for AcceptAny {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify(verify_tls12_signature, message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verify(verify_tls13_signature, message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
