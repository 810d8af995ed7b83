//! Checks the guarantees of probes, discovery and capabilities for arbitrary content of `/proc` and `/sys`.
//!
//! The input is split into parts at each byte 255. The first byte of each part selects a file of the tree.
#![no_main]

#[path = "../../crates/observe/tests/system_file_soundness/mod.rs"]
mod system_file_soundness;

use system_file_soundness::{FILES, check, tree_directory, write_tree};

thread_local! {
    static TREE: tempfile::TempDir = {
        let tree = tree_directory();
        write_tree(tree.path());
        tree
    };
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let parts = bytes.split(|byte| *byte == 0xff).take(6).filter_map(|part| {
        let (file, content) = part.split_first()?;
        Some((FILES[usize::from(*file) % FILES.len()], content))
    });
    let replaced: Vec<(&str, &[u8])> = parts.collect();
    TREE.with(|tree| check(tree.path(), &replaced));
});
