//! The reader of HTTP responses keeps its promises for any bytes whatever.
#![no_main]

#[path = "../../crates/http/tests/response_soundness/mod.rs"]
mod response_soundness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| response_soundness::check(bytes));
