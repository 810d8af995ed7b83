//! Recorded files and answers with random changes pass the checks of `jvm_soundness`.

mod jvm_soundness;

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{RngSeed, TestRunner};

/// The recordings of two JDKs, which cover both sizes of histograms and all formats.
fn recordings() -> Vec<Vec<u8>> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/jvm");
    let mut recordings = Vec::new();
    for directory in [data.clone(), data.join("commands")] {
        let mut paths: Vec<_> =
            fs::read_dir(directory).expect("recordings").map(|entry| entry.expect("a file").path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
            let is_chosen = name.starts_with("jdk11") || name.starts_with("jdk25");
            if is_chosen && name.ends_with(".gz") && !name.contains(".snap") && !name.contains("flags") {
                let mut bytes = Vec::new();
                GzDecoder::new(File::open(&path).expect("a file"))
                    .read_to_end(&mut bytes)
                    .expect("an archive");
                recordings.push(bytes);
            }
        }
    }
    assert!(recordings.len() >= 18, "{}", recordings.len());
    recordings
}

#[test]
fn changed_recordings_are_sound() {
    let recordings = recordings();
    for recording in &recordings {
        jvm_soundness::check(recording);
    }
    let config = ProptestConfig {
        rng_seed: RngSeed::Fixed(32),
        failure_persistence: None,
        ..ProptestConfig::with_cases(1_000)
    };
    let change = prop_oneof![
        // Change a byte, change a field of four bytes, or copy a part to another place.
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| (at, vec![byte], None)),
        (any::<Index>(), prop_oneof![Just(i32::MAX), Just(-1), Just(0), any::<i32>()])
            .prop_map(|(at, int)| (at, int.to_le_bytes().to_vec(), None)),
        (any::<Index>(), any::<Index>()).prop_map(|(at, from)| (at, Vec::new(), Some(from))),
    ];
    let changes = (any::<Index>(), prop::collection::vec(change, 0..12), prop::option::of(any::<Index>()));
    TestRunner::new(config)
        .run(&changes, |(which, changes, length)| {
            let mut bytes = which.get(&recordings).clone();
            for (at, content, from) in changes {
                let at = at.index(bytes.len());
                let content = match from {
                    Some(from) => {
                        let from = from.index(bytes.len());
                        bytes[from..(from + 64).min(bytes.len())].to_vec()
                    }
                    None => content,
                };
                let end = (at + content.len()).min(bytes.len());
                bytes[at..end].copy_from_slice(&content[..end - at]);
            }
            if let Some(length) = length {
                bytes.truncate(length.index(bytes.len()));
            }
            jvm_soundness::check(&bytes);
            Ok(())
        })
        .expect("sound");
}
