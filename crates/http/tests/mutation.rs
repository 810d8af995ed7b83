//! A short run of the checks of the fuzz target `response`, with a fixed seed: valid responses with bytes changed,
//! removed and inserted.

mod response_soundness;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

const SEEDS: &[&[u8]] = &[
    b"\x05HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/html; charset=utf-8\r\n\r\nhello",
    b"\x01HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n",
    b"\x20HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 404 Not Found\r\nConnection: keep-alive\r\n\r\nuntil the end",
    b"\x03HTTP/1.1 204 No Content\r\nKeep-Alive: timeout=5, max=100\r\nSet-Cookie: a=b; Path=/\r\n\r\n",
    b"\x07HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\nContent-Length: 7\r\n\r\n",
];

#[test]
fn invariants_hold_for_damaged_responses() {
    let mut random = StdRng::seed_from_u64(20_061_207);
    for seed in SEEDS {
        response_soundness::check(seed);
        for _ in 0..4_000 {
            let mut bytes = seed.to_vec();
            for _ in 0..random.random_range(1..6) {
                let at = random.random_range(0..bytes.len());
                match random.random_range(0..4) {
                    0 => bytes[at] = random.random(),
                    1 => drop(bytes.remove(at)),
                    2 => bytes.insert(at, b"\r\n0;: aF\x00\xff"[random.random_range(0..10)]),
                    _ => bytes.truncate(at.max(1)),
                }
                if bytes.is_empty() {
                    break;
                }
            }
            response_soundness::check(&bytes);
        }
    }
}
