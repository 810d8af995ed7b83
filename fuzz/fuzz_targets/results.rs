//! Checks the guarantees of the readers of result files (CSV, XML and packed) for arbitrary bytes.
#![no_main]

#[path = "../../crates/results/tests/results_soundness/mod.rs"]
mod results_soundness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| results_soundness::check(bytes));
