//! Checks the guarantees of the reader of test plans for arbitrary bytes.
#![no_main]

#[path = "../../crates/plan/tests/soundness/mod.rs"]
mod soundness;

libfuzzer_sys::fuzz_target!(|source: &[u8]| soundness::check(source));
