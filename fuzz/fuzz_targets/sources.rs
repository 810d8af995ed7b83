//! Checks the guarantees of the parsers of PerfMon, resctrl, `pqos` and `xl` for arbitrary texts.
#![no_main]

#[path = "../../crates/observe/tests/sources_soundness/mod.rs"]
mod sources_soundness;

libfuzzer_sys::fuzz_target!(|text: &str| sources_soundness::check(text));
