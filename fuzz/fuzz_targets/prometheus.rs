//! Checks the guarantees of the parser of Prometheus's text formats for arbitrary texts.
#![no_main]

#[path = "../../crates/observe/tests/prometheus_soundness/mod.rs"]
mod prometheus_soundness;

libfuzzer_sys::fuzz_target!(|text: &str| prometheus_soundness::check(text));
