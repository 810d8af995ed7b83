//! Complete exchanges that are generated from arbitrary bytes (redirects, cookies, challenges, cache headers, interim
//! responses, TLS with unusual certificates), and the invariants that are checked afterwards. Shared by the ordinary
//! tests and the fuzz target. All addresses in generated responses are loopback addresses.

use std::sync::Arc;

use busyhour_http::auth::AuthManager;
use busyhour_http::cache::{CacheManager, WhenFresh};
use busyhour_http::cookies::CookieManager;
use busyhour_http::limits::AUTHENTICATION_ROUNDS_MAX;
use busyhour_http::{HttpSampler, Redirects};
use busyhour_program::result::SampleResult;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};

#[path = "../exchanges/test_user.rs"]
#[allow(dead_code, reason = "the tests of exchanges use the other items")]
mod test_user;

mod certificate;
mod peer;

use peer::{Peer, Response, Script};
use test_user::{TestUser, get, manager, text};

/// The maximum number of redirects that a sample follows.
const REDIRECTS_MAX: usize = 20;

/// The maximum number of requests of one sample: each redirect may be challenged, and repeated over a new connection.
const REQUESTS_MAX: usize = (REDIRECTS_MAX + 2) * (AUTHENTICATION_ROUNDS_MAX as usize + 1) * 2;

/// Decisions of one byte each; zeros after the bytes are used up.
pub struct Choices<'b>(&'b [u8]);

impl Choices<'_> {
    fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn below(&mut self, count: usize) -> usize {
        usize::from(self.next()) % count
    }

    fn one_of<'t>(&mut self, texts: &[&'t [u8]]) -> &'t [u8] {
        texts[self.below(texts.len())]
    }

    fn bytes(&mut self, below: usize) -> Vec<u8> {
        (0..self.below(below)).map(|_| self.next()).collect()
    }

    /// Bytes without line ends, because a header line could redirect to an address outside of this machine.
    fn line(&mut self, below: usize) -> Vec<u8> {
        let mut bytes = self.bytes(below);
        bytes.retain(|byte| !matches!(byte, b'\r' | b'\n'));
        bytes
    }
}

const CHALLENGES: [&[u8]; 8] = [
    b"Basic realm=\"r\"",
    b"Digest realm=\"r\", nonce=\"n\", qop=\"auth,auth-int\", algorithm=MD5-sess, stale=true",
    b"Digest realm=\"r\", nonce=\"n\", algorithm=SHA-256, opaque=\"\\\"\"",
    b"Digest realm=, nonce, =,qop=\"none\"",
    b"NTLM",
    b"Negotiate YII=",
    b"Bearer error=\"invalid_token\", Basic realm=\"r\"",
    b"Digest",
];

const COOKIES: [&[u8]; 6] = [
    b"a=b; Path=/; Max-Age=99999999999999999999",
    b"=; Domain=; Expires=Thu, 99 Foo 99999 25:61:61 GMT",
    b"s=\"q;\\\"\"; Version=1; Secure; HttpOnly",
    b"d=1; Domain=.0.0.1; Path=/n/../",
    b"e=; Max-Age=-1",
    b";;;",
];

const CACHING: [&[u8]; 7] = [
    b"Cache-Control: max-age=9223372036854775807",
    b"Cache-Control: no-store, max-age=-1, private=\"",
    b"Expires: -1",
    b"Expires: Sun, 06 Nov 1994 08:49:37 GMT",
    b"ETag: W/\"\"",
    b"Last-Modified: Thu, 99 Foo 99999 25:61:61 GMT",
    b"Vary: *, Accept, Cookie",
];

fn location(choices: &mut Choices<'_>, port: u16) -> String {
    match choices.below(9) {
        0 => "/n/../x".into(),
        1 => format!("http://127.0.0.1:{port}/absolute"),
        2 => format!("//127.0.0.1:{port}"),
        3 => format!("https://127.0.0.1:{port}/secure"),
        4 => "?q=%zz#f".into(),
        5 => String::new(),
        6 => "http://127.0.0.1:99999/".into(),
        7 => "http://[::1".into(),
        _ => "/a b\u{e9}|\"<".into(),
    }
}

fn add_headers(choices: &mut Choices<'_>, port: u16, wire: &mut Vec<u8>) {
    for _ in 0..choices.below(8) {
        match choices.below(6) {
            0 => {
                wire.extend_from_slice(b"Location: ");
                wire.extend_from_slice(location(choices, port).as_bytes());
            }
            1 => {
                wire.extend_from_slice(choices.one_of(&[b"WWW-Authenticate: ", b"Proxy-Authenticate: "]));
                wire.extend_from_slice(choices.one_of(&CHALLENGES));
            }
            2 => {
                wire.extend_from_slice(b"Set-Cookie: ");
                wire.extend_from_slice(choices.one_of(&COOKIES));
            }
            3 => wire.extend_from_slice(choices.one_of(&CACHING)),
            4 => {
                wire.extend_from_slice(choices.one_of(&[b"Set-Cookie: ", b"WWW-Authenticate: ", b"Vary: "]));
                wire.extend(choices.line(60));
            }
            _ => {
                for number in 0..choices.below(250) {
                    wire.extend_from_slice(format!("Set-Cookie: c{number}={number}\r\n").as_bytes());
                }
                wire.extend_from_slice(b"X-Last: 1");
            }
        }
        wire.extend_from_slice(b"\r\n");
    }
}

/// Creates a response that ends: by its length, its chunks, or the end of the connection.
fn create_response(choices: &mut Choices<'_>, port: u16) -> Response {
    const STATUS: [&[u8]; 12] = [
        b"200 OK",
        b"301 Moved",
        b"302 Found",
        b"303 Other",
        b"307 Again",
        b"308 Always",
        b"401 Who",
        b"407 Proxy",
        b"304 Same",
        b"204 None",
        b"500",
        b"299 \xe9",
    ];
    let mut wire = Vec::new();
    for _ in 0..choices.below(4) * choices.below(2) {
        wire.extend_from_slice(choices.one_of(&[
            b"HTTP/1.1 100 Continue\r\n\r\n",
            b"HTTP/1.1 102 Processing\r\nSet-Cookie: interim=1\r\n\r\n",
            b"HTTP/1.1 103 Early Hints\r\nLocation: /early\r\nLink: </x>\r\n\r\n",
        ]));
    }
    wire.extend_from_slice(choices.one_of(&[b"HTTP/1.1 ", b"HTTP/1.1 ", b"HTTP/1.0 "]));
    let status = choices.one_of(&STATUS);
    wire.extend_from_slice(status);
    wire.extend_from_slice(b"\r\n");
    add_headers(choices, port, &mut wire);
    wire.extend_from_slice(choices.one_of(&[b"", b"Connection: keep-alive\r\n", b"Connection: close\r\n"]));
    let body = if status == b"304 Same" || status == b"204 None" { Vec::new() } else { choices.bytes(50) };
    let mut closes = choices.below(4) == 0;
    match choices.below(3) {
        0 => {
            wire.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
            wire.extend_from_slice(&body);
        }
        1 => {
            wire.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
            if !body.is_empty() {
                wire.extend_from_slice(format!("{:x}\r\n", body.len()).as_bytes());
                wire.extend_from_slice(&body);
                wire.extend_from_slice(b"\r\n");
            }
            wire.extend_from_slice(b"0\r\n\r\n");
        }
        _ => {
            wire.extend_from_slice(b"\r\n");
            wire.extend_from_slice(&body);
            closes = true;
        }
    }
    Response { wire, closes }
}

/// A server with a generated certificate for the key of this workspace's stand-in server.
fn tls(choices: &mut Choices<'_>) -> Arc<rustls::ServerConfig> {
    const KEY: &[u8] = include_bytes!("../../../standin/tls/key.pem");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = provider.key_provider.load_private_key(PrivateKeyDer::from_pem_slice(KEY).unwrap()).unwrap();
    let public_key = key.public_key().expect("the provider supports public keys");
    let certificate = CertificateDer::from(certificate::create(choices, &public_key));
    let versions = [&rustls::version::TLS12, &rustls::version::TLS13];
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[versions[choices.below(2)]])
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(CertifiedKey::new(vec![certificate], key))));
    Arc::new(config)
}

fn sampler(choices: &mut Choices<'_>, port: u16) -> HttpSampler {
    let options = choices.next();
    let has = |bit: u8| options & (1 << bit) != 0;
    HttpSampler {
        redirects: [Redirects::None, Redirects::Follow, Redirects::Auto][choices.below(3)],
        keep_alive: !has(0),
        cookies: has(1).then(|| Arc::new(CookieManager { check: has(2), ..Default::default() })),
        cache: has(3).then(|| {
            Arc::new(CacheManager {
                clear_each_iteration: false,
                controlled_by_group: false,
                use_expires: has(4),
                size_max: 2,
                when_fresh: WhenFresh::NoSample,
            })
        }),
        auth: has(5).then(|| manager(port, "", has(6))).flatten().map(|auth: Arc<AuthManager>| {
            Arc::new(AuthManager { entries: auth.entries.clone(), waits: has(7) })
        }),
        ..get(port, "/n/start")
    }
}

fn check_result(result: &SampleResult, requests: usize, sent_bytes: u64) {
    assert!(result.marks.ignore || !result.outcome.code.is_empty(), "no code: {}", result.outcome.message);
    assert!(result.times.end >= result.times.start);
    assert!(requests <= REQUESTS_MAX, "{requests} requests of one sample");
    assert!(result.sub_results.len() <= REDIRECTS_MAX + 2, "{} results", result.sub_results.len());
    let received = result.sizes.header_bytes + result.sizes.body_bytes;
    assert!(received <= sent_bytes, "{received} bytes received, {sent_bytes} sent: {}", result.outcome.code);
}

/// Makes samples against a peer whose responses `bytes` determine, and checks the invariants.
pub fn check(bytes: &[u8]) {
    let peer = Peer::shared();
    let mut choices = Choices(bytes);
    let mut script = Script::default();
    let is_secure = choices.below(8) == 1;
    if is_secure {
        script.tls = Some(tls(&mut choices));
    }
    let mut sampler = sampler(&mut choices, peer.port);
    let samples = 1 + choices.below(4);
    for _ in 0..choices.below(30) {
        script.responses.push_back(create_response(&mut choices, peer.port));
    }
    if is_secure {
        sampler.protocol = text("https");
    }
    let script = peer.use_script(script);
    let mut user = TestUser::new();
    for _ in 0..samples {
        let before = script.lock().unwrap().sent_bytes;
        let requests = script.lock().unwrap().requests;
        let result = user.sample(&sampler);
        let script = script.lock().unwrap();
        check_result(result, script.requests - requests, script.sent_bytes - before);
    }
}

/// Makes a sample over TLS with a certificate that `bytes` determine: all well-formed ones with a usable key are
/// accepted.
pub fn check_certificate(bytes: &[u8]) {
    let peer = Peer::shared();
    let tls = Some(tls(&mut Choices(bytes)));
    peer.use_script(Script { tls, ..Default::default() });
    let sampler = HttpSampler { protocol: text("https"), ..get(peer.port, "/") };
    let mut user = TestUser::new();
    let result = user.sample(&sampler);
    assert!(result.outcome.success, "{} {}", result.outcome.code, result.outcome.message);
}
