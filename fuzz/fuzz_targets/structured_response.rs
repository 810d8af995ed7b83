//! Responses made of arbitrary bytes by structure are read as they should be, and cost what they may.
#![no_main]

#[path = "../../crates/http/tests/structured_responses/mod.rs"]
mod structured_responses;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| structured_responses::check(bytes));
