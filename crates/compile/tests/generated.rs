//! Generated plans: a short deterministic run of the fuzz target `plans`.

mod generated_plans;

use generated_plans::check;

/// Number of generated plans. Increase it after changes of the compiler or the engine: 10,000 plans take some minutes.
const PLANS: u64 = 300;

#[test]
fn generated_plans_run_or_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    for seed in 0..PLANS {
        // SplitMix64.
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        let length = 20 + next() % 400;
        let bytes: Vec<u8> = (0..length).map(|_| next().to_le_bytes()[0]).collect();
        check(&bytes, directory.path());
    }
}
