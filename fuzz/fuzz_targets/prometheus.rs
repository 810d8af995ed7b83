//! The parser of Prometheus's text formats keeps its promises for any text.
#![no_main]

#[path = "../../crates/observe/tests/prometheus_soundness/mod.rs"]
mod prometheus_soundness;

libfuzzer_sys::fuzz_target!(|text: &str| prometheus_soundness::check(text));
