//! The reader of test plans keeps its promises for any bytes whatever.
#![no_main]

#[path = "../../crates/plan/tests/soundness/mod.rs"]
mod soundness;

libfuzzer_sys::fuzz_target!(|source: &[u8]| soundness::check(source));
