//! Checks that generated plans, with fragments, included files and nested functions, are either refused or run to their
//! end.
#![no_main]

use std::cell::OnceCell;

#[path = "../../crates/compile/tests/generated_plans/mod.rs"]
mod generated_plans;

thread_local! {
    static DIRECTORY: OnceCell<tempfile::TempDir> = const { OnceCell::new() };
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    DIRECTORY.with(|directory| {
        let directory = directory.get_or_init(|| tempfile::tempdir().expect("a directory"));
        generated_plans::check(bytes, directory.path());
    });
});
