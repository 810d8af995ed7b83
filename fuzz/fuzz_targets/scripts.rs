//! Generated scripts of all languages run within their budgets, and meet no method that is missing.
#![no_main]

#[path = "../../crates/script/tests/generated_scripts/mod.rs"]
mod generated_scripts;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| generated_scripts::check(bytes));
