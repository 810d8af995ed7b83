//! The reader of garbage-collection logs keeps its promises for any bytes whatever.
#![no_main]

#[path = "../../crates/gclog/tests/gclog_soundness/mod.rs"]
mod gclog_soundness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gclog_soundness::check(bytes));
