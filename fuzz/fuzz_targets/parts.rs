//! Checks that documents of all kinds are read within their limits if a generated part is repeated 10 to 100,000 times.
#![no_main]

#[path = "../../crates/functions/tests/generated_parts/mod.rs"]
mod functions;
#[path = "../../crates/http/tests/generated_parts/mod.rs"]
mod http;
#[path = "../../crates/plan/tests/generated_parts/mod.rs"]
mod plan;
#[path = "../../crates/processors/tests/generated_parts/mod.rs"]
mod processors;
#[path = "../../crates/results/tests/generated_parts/mod.rs"]
mod record;
#[path = "../../crates/script/tests/generated_parts/mod.rs"]
mod script;
#[path = "../../crates/xml/tests/generated_parts/mod.rs"]
mod xml;

/// Maximum number of repetitions of the part in a document.
const COUNT_MAX: usize = 100_000;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let check = match kind % 8 {
        0 | 1 => http::check,
        2 | 3 => processors::check,
        4 => functions::check,
        5 => plan::check,
        6 => record::check,
        _ if kind % 16 < 8 => script::check,
        _ => xml::check,
    };
    check(rest, COUNT_MAX);
});
