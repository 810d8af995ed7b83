//! Checks the guarantees of the reader of garbage-collection logs for arbitrary bytes.
#![no_main]

#[path = "../../crates/gclog/tests/gclog_soundness/mod.rs"]
mod gclog_soundness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gclog_soundness::check(bytes));
