//! Checks the guarantees of the readers of a JVM's counters, class histograms, thread dumps and flags for arbitrary
//! bytes.
#![no_main]

#[path = "../../crates/observe/tests/jvm_soundness/mod.rs"]
mod jvm_soundness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| jvm_soundness::check(bytes));
