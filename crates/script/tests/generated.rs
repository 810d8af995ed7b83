//! Generated scripts: a short, reproducible run of the check that the fuzz target `scripts` runs for hours.

mod generated_scripts;

use generated_scripts::{COUNTS, check};

/// Number of scripts. After changes of the interpreters, try more: 200,000 take a minute.
const SCRIPTS: u64 = 40_000;

#[test]
fn generated_scripts_run_or_are_rejected() {
    for seed in 0..SCRIPTS {
        // SplitMix64.
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        let length = 20 + next() % 180;
        let bytes: Vec<u8> = (0..length).map(|_| next().to_le_bytes()[0]).collect();
        check(&bytes, COUNTS);
    }
}
