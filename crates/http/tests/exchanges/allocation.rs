//! Requests in steady state do not allocate.

use std::io::Write as _;

use busyhour_http::{Header, HttpSampler};
use busyhour_program::result::Retention;
use busyhour_program::sampler::Protocol as _;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::server::{Server, ok, response};
use crate::test_user::{TestUser, get, get_securely, text};

/// The number of allocations of a hundred samples, after enough samples to create all buffers.
fn allocations(sampler: &HttpSampler, keep: Retention) -> u64 {
    let mut user = TestUser::new();
    for _ in 0..20 {
        assert!(user.sample_with(sampler, keep).outcome.success);
    }
    user.sample_a_hundred(sampler, keep);
    let counted = allocation_counter::measure(|| user.sample_a_hundred(sampler, keep));
    assert!(user.state.result.outcome.success);
    // Entering the runtime costs one allocation, independently of the work.
    counted.count_total.saturating_sub(1)
}

#[test]
fn plain_requests_do_not_allocate() {
    for size in [100, 4096, 193_000] {
        let server = Server::responding(move |_| ok(&vec![b'x'; size]));
        let headers = [("Accept", "text/html"), ("X-Test", "1")];
        let headers = headers.map(|(name, value)| Header { name: text(name), value: text(value) });
        let sampler = HttpSampler { headers: headers.into(), ..get(server.port, "/item?id=1") };
        assert_eq!(allocations(&sampler, Retention::default()), 0, "{size} bytes, not retained");
        if size <= 4096 {
            let keep = Retention { body: true, ..Retention::default() };
            assert_eq!(allocations(&sampler, keep), 0, "{size} bytes, retained");
        }
    }
}

#[test]
fn compressed_bodies_do_not_allocate() {
    for size in [100, 200_000] {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&vec![b'x'; size]).unwrap();
        // Not compressed on purpose, so that it arrives in many pieces.
        let mut stored = GzEncoder::new(Vec::new(), Compression::none());
        stored.write_all(&vec![b'x'; size]).unwrap();
        for body in [encoder.finish().unwrap(), stored.finish().unwrap()] {
            let server = Server::responding(move |_| response("200 OK", "Content-Encoding: gzip\r\n", &body));
            let counted = allocations(&get(server.port, "/"), Retention::default());
            assert_eq!(counted, 0, "{size} bytes");
        }
    }
}

#[test]
fn timeouts_do_not_allocate() {
    let server = Server::responding(|_| ok(b"hello"));
    let sampler = HttpSampler {
        connect_timeout: text("10000"),
        response_timeout: text("10000"),
        ..get(server.port, "/")
    };
    assert_eq!(allocations(&sampler, Retention::default()), 0);
}

#[test]
fn https_allocates_only_in_the_tls_library() {
    let server = Server::responding_securely(|_| ok(&[b'x'; 4096]));
    let per_sample = allocations(&get_securely(server.port, "/"), Retention::default()) as f64 / 100.0;
    assert!(per_sample < 20.0, "{per_sample} allocations per sample");
}

#[test]
fn a_session_is_small() {
    assert!(size_of::<<HttpSampler as busyhour_program::sampler::Protocol>::Session>() <= 128);
    let _ = HttpSampler::session(&TestUser::new().state);
}
