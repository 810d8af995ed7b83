//! Checks the guarantees of the reader of HTTP responses for arbitrary bytes.
#![no_main]

#[path = "../../crates/http/tests/response_soundness/mod.rs"]
mod response_soundness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| response_soundness::check(bytes));
