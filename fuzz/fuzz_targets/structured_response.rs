//! Checks that responses generated from arbitrary bytes are read correctly, within the limits of time and memory.
#![no_main]

#[path = "../../crates/http/tests/structured_responses/mod.rs"]
mod structured_responses;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| structured_responses::check(bytes));
