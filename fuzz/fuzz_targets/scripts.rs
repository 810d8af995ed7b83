//! Checks that generated scripts of all languages run within their limits and call no method that is missing.
#![no_main]

#[path = "../../crates/script/tests/generated_scripts/mod.rs"]
mod generated_scripts;

/// Numbers of iterations of loops.
const COUNTS: [u32; 3] = [10, 10_000, 1_000_000];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| generated_scripts::check(bytes, COUNTS));
