//! Recorded class histograms of the cells emulator (JDK 17, G1): ten rounds of 300 requests, each followed by a second without
//! load, `GC.run` and `GC.class_histogram`. Configurations 1, 2 and 7 leak, 3 and 5 do not.

use busyhour_leak::{ClassSize, LeakOutcome, LeakReport, LeakRounds, LeakSettings};

const REQUESTS: u64 = 300;

/// One class per line: name, module or `-`, instances after each round, bytes after each round.
fn report(recorded: &str, rounds: usize) -> LeakReport {
    let lines: Vec<Vec<&str>> = recorded.lines().map(|line| line.split('\t').collect()).collect();
    let numbers = |text: &str| text.split(' ').map(|number| number.parse().unwrap()).collect::<Vec<u64>>();
    let classes: Vec<(&str, &str, Vec<u64>, Vec<u64>)> =
        lines.iter().map(|line| (line[0], line[1], numbers(line[2]), numbers(line[3]))).collect();
    let mut all = LeakRounds::new();
    for round in 0..rounds {
        let sizes = classes.iter().map(|(class, module, instances, bytes)| ClassSize {
            class,
            module: (*module != "-").then_some(module),
            instances: instances[round],
            bytes: bytes[round],
        });
        all.push(REQUESTS, sizes).unwrap();
    }
    all.search(&LeakSettings::default())
}

#[test]
fn the_leaking_configurations_have_suspects_with_the_bytes_that_they_leak() {
    let found = report(include_str!("data/cells-leaking.tsv"), 10);
    assert_eq!(found.outcome, LeakOutcome::Leak, "{found:?}");
    let [arrays] = found.suspects.as_slice() else { panic!("{found:?}") };
    // The mean of 2,048, 4,096 and 8,192 bytes with 16 bytes of each array's header is 4,794.7.
    assert!(arrays.class == "[B" && !arrays.is_own, "{arrays:?}");
    assert!((4_790.0..4_800.0).contains(&arrays.bytes_per_request.slope), "{arrays:?}");
    assert!((1.0..1.05).contains(&arrays.instances_per_request.slope), "{arrays:?}");
}

#[test]
fn eight_rounds_suffice() {
    let found = report(include_str!("data/cells-leaking.tsv"), 8);
    assert_eq!((found.outcome, found.suspects.len()), (LeakOutcome::Leak, 1), "{found:?}");
}

#[test]
fn the_other_configurations_have_no_suspect() {
    let found = report(include_str!("data/cells-clean.tsv"), 10);
    // Byte arrays and strings of the JDK still grow by 2 bytes per request, which is not material.
    assert!(found.suspects.is_empty() && !found.immaterial.is_empty(), "{found:?}");
    let LeakOutcome::NoLeak { smallest_found_bytes_per_request: smallest } = found.outcome else {
        panic!("{found:?}")
    };
    assert!((27.0..55.0).contains(&smallest), "{smallest}");
}
