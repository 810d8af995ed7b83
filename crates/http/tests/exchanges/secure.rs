//! HTTPS.

use std::sync::Arc;

use busyhour_http::{HttpSampler, SharedHttp, TlsPolicy};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};

use crate::server::{Server, ok, serve_all};
use crate::world::{KEEP, World, get_securely};

#[test]
fn any_certificate_is_accepted_and_the_connection_kept() {
    let server = Server::answering_securely(|request| ok(request.line().as_bytes()));
    let mut world = World::new();
    for keep in KEEP {
        let result = world.sample(&get_securely(server.port, "/secret"), keep);
        assert!(result.success, "{}", result.message);
        assert_eq!(result.body_bytes, "GET /secret HTTP/1.1".len() as u64);
    }
    let large = Server::answering_securely(|_| ok(&vec![7; 1 << 20]));
    for keep in KEEP {
        let result = world.sample(&get_securely(large.port, "/"), keep);
        assert_eq!(result.body_bytes, 1 << 20);
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
        let mut world = World::new();
        let result = world.visit(&get_securely(server.port, "/"));
        assert!(result.success, "{version:?}: {} {}", result.code, result.message);
        let shared = Arc::new(SharedHttp::new(TlsPolicy::Verify, Arc::default(), true));
        let (code, _) = World::new().outcome(&HttpSampler { shared, ..get_securely(server.port, "/") });
        assert_eq!(code, "Non HTTP response code: javax.net.ssl.SSLHandshakeException");
    }
}

#[test]
fn a_stranger_is_refused_when_certificates_are_verified() {
    let server = Server::answering_securely(|_| ok(b""));
    let shared = Arc::new(SharedHttp::new(TlsPolicy::Verify, Arc::default(), true));
    let mut world = World::new();
    let (code, _) = world.outcome(&HttpSampler { shared, ..get_securely(server.port, "/") });
    assert_eq!(code, "Non HTTP response code: javax.net.ssl.SSLHandshakeException");
    assert!(server.seen().is_empty());
}

#[test]
fn a_server_without_tls() {
    let server = Server::start(|mut peer| {
        peer.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        let _ = peer.request();
    });
    let (code, message) = World::new().outcome(&get_securely(server.port, "/"));
    assert_eq!(code, "Non HTTP response code: javax.net.ssl.SSLException");
    assert_eq!(message, "Non HTTP response message: Unsupported or unrecognized SSL message");
}

#[test]
fn a_server_that_hangs_up_in_the_handshake() {
    let server = Server::start(super::server::Peer::close);
    let (code, _) = World::new().outcome(&get_securely(server.port, "/"));
    // Whether it is an end or a reset is up to the kernel: unread bytes lie there or not.
    assert!(code.ends_with("SSLHandshakeException") || code.ends_with("SocketException"), "{code}");
}
