//! Checks the guarantees of the reader of access logs and of the comparison for arbitrary bytes.
#![no_main]

#[path = "../../crates/serverlog/tests/serverlog_soundness/mod.rs"]
mod serverlog_soundness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| serverlog_soundness::check(bytes));
