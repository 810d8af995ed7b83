//! HTTPS.

use std::sync::Arc;

use busyhour_http::{HttpSampler, SharedHttp, TlsPolicy};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};

use crate::server::{Server, ok, serve_all};
use crate::test_user::{RETENTIONS, TestUser, get_securely};

#[test]
fn all_certificates_are_accepted_and_connections_reused() {
    let server = Server::responding_securely(|request| ok(request.line().as_bytes()));
    let mut user = TestUser::new();
    for keep in RETENTIONS {
        let result = user.sample_with(&get_securely(server.port, "/secret"), keep);
        assert!(result.outcome.success, "{}", result.outcome.message);
        assert_eq!(result.sizes.body_bytes, "GET /secret HTTP/1.1".len() as u64);
    }
    let large = Server::responding_securely(|_| ok(&vec![7; 1 << 20]));
    for keep in RETENTIONS {
        let result = user.sample_with(&get_securely(large.port, "/"), keep);
        assert_eq!(result.sizes.body_bytes, 1 << 20);
        assert_eq!(result.body.len(), if keep.body { 1 << 20 } else { 0 });
    }
    assert_eq!((server.connections(), large.connections()), (vec![0, 0], vec![0, 0]));
}

/// A server with a certificate of X.509 version 1, which many test systems have: OpenSSL creates it by default.
fn version_1(versions: &[&'static rustls::SupportedProtocolVersion]) -> Arc<rustls::ServerConfig> {
    const CERTIFICATE: &[u8] = include_bytes!("tls/version-1.pem");
    const KEY: &[u8] = include_bytes!("tls/version-1-key.pem");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
    let key = provider.key_provider.load_private_key(key).unwrap();
    let certified = CertifiedKey::new(vec![CertificateDer::from_pem_slice(CERTIFICATE).unwrap()], key);
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
    Arc::new(config)
}

#[test]
fn certificates_of_version_1_are_accepted() {
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let config = version_1(&[version]);
        let server = Server::start(move |peer| {
            serve_all(&mut peer.secure_with(Arc::clone(&config)), &|_| ok(b"hello"));
        });
        let mut user = TestUser::new();
        let result = user.sample(&get_securely(server.port, "/"));
        assert!(result.outcome.success, "{version:?}: {} {}", result.outcome.code, result.outcome.message);
        let shared = Arc::new(SharedHttp::new(TlsPolicy::Verify, Arc::default(), true));
        let (code, _) = TestUser::new().outcome(&HttpSampler { shared, ..get_securely(server.port, "/") });
        assert_eq!(code, "Non HTTP response code: javax.net.ssl.SSLHandshakeException");
    }
}

#[test]
fn unknown_issuers_are_rejected_when_certificates_are_verified() {
    let server = Server::responding_securely(|_| ok(b""));
    let shared = Arc::new(SharedHttp::new(TlsPolicy::Verify, Arc::default(), true));
    let mut user = TestUser::new();
    let (code, _) = user.outcome(&HttpSampler { shared, ..get_securely(server.port, "/") });
    assert_eq!(code, "Non HTTP response code: javax.net.ssl.SSLHandshakeException");
    assert!(server.requests().is_empty());
}

#[test]
fn a_server_without_tls() {
    let server = Server::start(|mut peer| {
        peer.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        let _ = peer.request();
    });
    let (code, message) = TestUser::new().outcome(&get_securely(server.port, "/"));
    assert_eq!(code, "Non HTTP response code: javax.net.ssl.SSLException");
    assert_eq!(message, "Non HTTP response message: Unsupported or unrecognized SSL message");
}

#[test]
fn a_server_that_disconnects_during_the_handshake() {
    let server = Server::start(super::server::Peer::close);
    let (code, _) = TestUser::new().outcome(&get_securely(server.port, "/"));
    // The kernel closes or resets the connection, depending on whether there are unread bytes.
    assert!(code.ends_with("SSLHandshakeException") || code.ends_with("SocketException"), "{code}");
}
