//! Checks that generated exchanges with a server in this process, some with unusual certificates, stay within their
//! limits.
#![no_main]

#[path = "../../crates/http/tests/generated_exchanges/mod.rs"]
mod generated_exchanges;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    match bytes.split_first() {
        Some((0..16, rest)) => generated_exchanges::check_certificate(rest),
        _ => generated_exchanges::check(bytes),
    }
});
