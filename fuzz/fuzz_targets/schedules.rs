//! Checks the guarantees of the schedules of thread groups and timers for arbitrary settings.
#![no_main]

#[path = "../../crates/compile/tests/schedule_soundness/mod.rs"]
mod schedule_soundness;

libfuzzer_sys::fuzz_target!(|source: &[u8]| schedule_soundness::check(source));
