//! Checks the reader of application logs with arbitrary bytes: reading ends, counts add up, and they do not depend on
//! how the input is divided into pieces.
#![no_main]

#[path = "../../crates/logs/tests/log_soundness/mod.rs"]
mod log_soundness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| log_soundness::check(bytes));
