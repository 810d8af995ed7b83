//! Generated exchanges with a peer of this process, and unusual certificates, are handled within their limits.
#![no_main]

#[path = "../../crates/http/tests/generated_exchanges/mod.rs"]
mod generated_exchanges;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    match bytes.split_first() {
        Some((0..16, rest)) => generated_exchanges::check_certificate(rest),
        _ => generated_exchanges::check(bytes),
    }
});
