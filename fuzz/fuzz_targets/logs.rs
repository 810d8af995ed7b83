//! Application logs keep their promises for any bytes whatever: reading ends, counts add up and do not depend on the pieces.
#![no_main]

#[path = "../../crates/logs/tests/log_soundness/mod.rs"]
mod log_soundness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| log_soundness::check(bytes));
