//! Checks the guarantees of the reader and the comparison of stacks for arbitrary bytes.
#![no_main]

#[path = "../../crates/stacks/tests/stacks_soundness/mod.rs"]
mod stacks_soundness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stacks_soundness::check(bytes));
