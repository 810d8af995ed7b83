//! A short run of the checks of the fuzz target `exchanges`, with fixed seeds.

mod generated_exchanges;

use std::sync::Mutex;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

/// Exchanges and certificates share one server, which uses one script at a time.
static SERVER: Mutex<()> = Mutex::new(());

fn check_all(seed: u64, cases: u32, length: usize, check: fn(&[u8])) {
    let _guard = SERVER.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut random = StdRng::seed_from_u64(seed);
    for _ in 0..cases {
        let bytes: Vec<u8> = (0..random.random_range(0..length)).map(|_| random.random()).collect();
        check(&bytes);
    }
}

#[test]
fn generated_exchanges_end_within_their_limits() {
    check_all(20_080_522, 500, 1500, generated_exchanges::check);
}

#[test]
fn unusual_certificates_are_accepted() {
    check_all(19_880_703, 100, 400, generated_exchanges::check_certificate);
}
