//! Checks the guarantees of the reader of series files for arbitrary bytes.
#![no_main]

#[path = "../../crates/observe/tests/series_soundness/mod.rs"]
mod series_soundness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| series_soundness::check(bytes));
