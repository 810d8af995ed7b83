//! A short run of the checks of the fuzz target `structured_response`, with a fixed seed.

mod structured_responses;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

/// Increase this number after changes of the reader or the decoders: a million cases take a minute.
const CASES: u32 = 20_000;

#[test]
fn invariants_hold_for_structured_responses() {
    let mut random = StdRng::seed_from_u64(20_061_207);
    for _ in 0..CASES {
        let bytes: Vec<u8> = (0..random.random_range(0..200)).map(|_| random.random()).collect();
        structured_responses::check(&bytes);
    }
}
