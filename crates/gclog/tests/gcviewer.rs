//! Compares the figures with those of GCViewer, recorded by `tests/oracle/record.sh`.
//!
//! Some logs are in `tests/logs`, others in the directory of shared material next to the repository. The logs of
//! GCViewer's repository are licensed under the LGPL and are not part of this repository. They are compared, too, if
//! `BUSYHOUR_GCVIEWER_SAMPLES` is set to their directory (`src/test/resources/openjdk`) when the test is built.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use busyhour_gclog::{FigureRow, GcFigures, GcLogReader};

/// The figures of a line of the recording, in its order.
const NAMES: [&str; 11] = [
    "footprint",
    "freedMemory",
    "freedMemoryPerMin",
    "accumPause",
    "throughput",
    "totalTime",
    "pauseCount",
    "fullGcPauseCount",
    "fullGCPerformance",
    "gcPauseCount",
    "gcPerformance",
];

/// A log that GCViewer misreads: the reason, and the figures that differ.
struct Misread {
    log: &'static str,
    why: &'static str,
    figures: &'static [&'static str],
}

const SIZES: &[&str] = &["footprint", "freedMemory", "freedMemoryPerMin", "gcPerformance"];
const CONCURRENT_SIZES: &str = "GCViewer ignores the sizes on concurrent cleanups of Shenandoah";
const NO_PAUSES: &str =
    "the log has neither pauses, for which GCViewer assumes 0 s, nor a capacity of the heap";
const NO_SIZES: &str = "the log has no sizes; GCViewer prints −2,199,023,255,552 B and 0 B instead";
const NO_EVENTS: &str = "the log has no events; GCViewer prints 0 and ∞ instead";
const NONE: &[&str] =
    &["footprint", "freedMemory", "freedMemoryPerMin", "accumPause", "throughput", "totalTime"];

const fn misread(log: &'static str, why: &'static str, figures: &'static [&'static str]) -> Misread {
    Misread { log, why, figures }
}

const MISREAD: &[Misread] = &[
    misread("jdk17_Shenandoah_default.log", CONCURRENT_SIZES, SIZES),
    misread("jdk17_Shenandoah_star.log", CONCURRENT_SIZES, SIZES),
    misread("jdk25_Shenandoah_default.log", CONCURRENT_SIZES, SIZES),
    misread("jdk25_Shenandoah_star.log", CONCURRENT_SIZES, SIZES),
    misread("unified-jvm-logging/Sample-ujl-shenandoah-jdk11.txt", CONCURRENT_SIZES, SIZES),
    misread("unified-jvm-logging/Sample-ujl-shenandoah-jdk17.txt", CONCURRENT_SIZES, SIZES),
    misread(
        "SampleOpenJdk1_8_0-332.txt",
        CONCURRENT_SIZES,
        &["freedMemory", "freedMemoryPerMin", "gcPerformance"],
    ),
    misread("jdk17_Z_default.log", NO_PAUSES, &["footprint", "accumPause", "throughput", "gcPerformance"]),
    misread(
        "unified-jvm-logging/sample-ujl-zgc-gc-default.txt",
        NO_PAUSES,
        &["footprint", "accumPause", "throughput", "gcPerformance"],
    ),
    misread(
        "jdk25_Z_default.log",
        "GCViewer does not read generational ZGC",
        &[
            "footprint",
            "freedMemory",
            "freedMemoryPerMin",
            "accumPause",
            "throughput",
            "totalTime",
            "pauseCount",
            "gcPauseCount",
        ],
    ),
    misread(
        "jdk25_Z_star.log",
        "GCViewer does not read generational ZGC",
        &[
            "footprint",
            "freedMemory",
            "freedMemoryPerMin",
            "throughput",
            "totalTime",
            "pauseCount",
            "gcPauseCount",
            "gcPerformance",
        ],
    ),
    misread(
        "SampleSun1_3_1_19SunOS.txt",
        "GCViewer does not read the sizes of survivors",
        &[
            "footprint",
            "freedMemory",
            "accumPause",
            "pauseCount",
            "fullGcPauseCount",
            "fullGCPerformance",
            "gcPauseCount",
            "gcPerformance",
        ],
    ),
    misread(
        "SampleSun1_6_0G1FullGcTenuringDistribution.txt",
        "GCViewer does not read a full collection with a tenuring distribution",
        &[
            "footprint",
            "freedMemory",
            "freedMemoryPerMin",
            "accumPause",
            "throughput",
            "totalTime",
            "pauseCount",
            "fullGcPauseCount",
            "fullGCPerformance",
        ],
    ),
    misread(
        "SampleSun1_6_0G1_partial_initialMarkToSpaceOverflow.txt",
        "GCViewer counts a detail of the pause as a second pause",
        &[
            "footprint",
            "freedMemory",
            "freedMemoryPerMin",
            "accumPause",
            "throughput",
            "pauseCount",
            "gcPauseCount",
            "gcPerformance",
        ],
    ),
    misread(
        "SampleSun1_6_0G1_partial_toSpaceOverflow.txt",
        "GCViewer counts a detail of the pause as a second pause",
        &[
            "footprint",
            "freedMemory",
            "freedMemoryPerMin",
            "throughput",
            "pauseCount",
            "gcPauseCount",
            "gcPerformance",
        ],
    ),
    misread(
        "SampleSun1_7_0G1_MixedApplicationStopped.txt",
        "GCViewer does not read a safepoint on a mixed line",
        &["throughput", "pauseCount"],
    ),
    misread(
        "SampleSun1_7_0G1_PrintHeapAtGC_withConcurrent.txt",
        "GCViewer takes an event without a stamp for one at 0 s",
        &["freedMemoryPerMin", "throughput", "totalTime"],
    ),
    misread(
        "SampleSun1_8_0G1HumongousMixed.txt",
        "GCViewer does not read the pause",
        &[
            "footprint",
            "freedMemoryPerMin",
            "accumPause",
            "throughput",
            "pauseCount",
            "gcPauseCount",
            "gcPerformance",
        ],
    ),
    misread("SampleSun1_8_0G1extended-remark.txt", NO_SIZES, SIZES),
    misread(
        "unified-jvm-logging/Sample-ujl-shenandoah-jdk11-beginning.txt",
        NO_SIZES,
        &["footprint", "freedMemory", "freedMemoryPerMin"],
    ),
    misread(
        "unified-jvm-logging/SampleShenandoahPassiveHeuristics.txt",
        NO_SIZES,
        &["footprint", "freedMemory", "freedMemoryPerMin"],
    ),
    misread("SampleSun1_8_0RollingLogfile.txt", NO_EVENTS, NONE),
    misread("SampleSun1_8_0Series-Part7.txt", NO_EVENTS, NONE),
];

fn note(text: &str) {
    // Visible with `cargo test -- --nocapture`, and when the test fails.
    std::io::stderr().write_all(format!("{text}\n").as_bytes()).unwrap();
}

fn package(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The directories with logs.
fn directories() -> Vec<PathBuf> {
    let mut directories = vec![package("tests/logs"), package("../../../shared/oracles/gc/logs")];
    match option_env!("BUSYHOUR_GCVIEWER_SAMPLES") {
        Some(samples) => directories.push(PathBuf::from(samples)),
        None => note(
            "SKIPPED: GCViewer's own logs; BUSYHOUR_GCVIEWER_SAMPLES was not set when the test was built",
        ),
    }
    directories
}

fn rows(path: &Path) -> Option<BTreeMap<String, FigureRow>> {
    let bytes = std::fs::read(path).ok()?;
    let mut reader = GcLogReader::new();
    reader.feed(&bytes);
    let figures = GcFigures::of(&reader.finish());
    Some(figures.rows().into_iter().map(|row| (row.name.to_string(), row)).collect())
}

/// A figure in the format of the recording.
fn printed(row: &FigureRow) -> String {
    if row.unavailable.is_some() {
        return "n.a.".to_owned();
    }
    if row.unit == "-" { row.text.clone() } else { format!("{} {}", row.text, row.unit) }
}

#[test]
fn figures_are_those_of_gcviewer_to_the_printed_digit() {
    let recording = std::fs::read_to_string(package("tests/oracle/gcviewer.tsv")).unwrap();
    let directories = directories();
    let (mut same, mut misread, mut absent) = (0, 0, 0);
    let mut wrong = Vec::new();
    for line in recording.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = line.split('\t');
        let log = cells.next().unwrap();
        let Some(rows) = directories.iter().find_map(|directory| rows(&directory.join(log))) else {
            absent += 1;
            continue;
        };
        let known = MISREAD.iter().find(|misread| misread.log == log);
        let expected: Vec<_> = NAMES.iter().zip(cells).collect();
        assert_eq!(expected.len(), NAMES.len(), "{line}");
        let different: Vec<&str> = expected
            .iter()
            .filter(|(name, text)| printed(&rows[**name]) != **text)
            .map(|(name, _)| **name)
            .collect();
        let allowed = known.map_or(&[][..], |misread| misread.figures);
        // The list must name exactly the figures that differ. If it named an equal one, a later difference would be overlooked.
        if different != allowed {
            let found: Vec<_> = expected
                .iter()
                .map(|(name, text)| format!("{name} {text} / {}", printed(&rows[**name])))
                .collect();
            wrong.push(format!("{log}: {different:?} instead of {allowed:?}: {found:?}"));
        }
        if different.is_empty() { same += 1 } else { misread += 1 }
    }
    note(&format!(
        "{same} logs have GCViewer's figures, {misread} are misread by GCViewer, {absent} are not available"
    ));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(same >= 9, "the logs of this repository are always compared");
}

#[test]
fn reasons_are_given_once_and_only_for_recorded_logs() {
    let recording = std::fs::read_to_string(package("tests/oracle/gcviewer.tsv")).unwrap();
    let mut names: Vec<_> = MISREAD.iter().map(|misread| misread.log).collect();
    for misread in MISREAD {
        assert!(!misread.why.is_empty());
        assert!(
            recording.lines().any(|line| line.split('\t').next() == Some(misread.log)),
            "{}",
            misread.log
        );
    }
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// The percentile that GCViewer really prints under a name in its summary: it prints the 50th percentile as the 75th,
/// the 75th as the 95th, and so on.
fn misnamed(name: &str) -> Option<String> {
    let (stem, percentile) = name.split_once("Percentile")?;
    Some(match percentile {
        "75th" => format!("{stem}Median"),
        "95th" => format!("{stem}Percentile75th"),
        "99th" => format!("{stem}Percentile95th"),
        "99.5th" => format!("{stem}Percentile99th"),
        _ => name.to_owned(),
    })
}

/// Figures of the recorded logs that GCViewer gets wrong. For G1's regions, it does not read the capacity of the old
/// generation, and computes promotion without the survivors. It also does not recognize the new names of parts of
/// pauses.
const WRONG_IN_SUMMARIES: &[(&str, &[&str])] = &[(
    "jdk25_G1_star.csv",
    &[
        "totalTenuredAllocMax",
        "totalTenuredUsedMaxpc",
        "avgPromotion",
        "promotionTotal",
        "gcPhaseSum",
        "gcPhaseCount",
        "gcPhaseAverage",
        "gcPhaseStandardDeviation",
    ],
)];

#[test]
fn whole_summaries_have_the_same_names_and_values() {
    let directory = package("../../../shared/oracles/gc/expected");
    let Ok(entries) = std::fs::read_dir(&directory) else {
        note("SKIPPED: the whole summaries of GCViewer are not available");
        return;
    };
    let mut compared = 0;
    for path in entries.map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let log = name.replace(".csv", ".log");
        let rows = directories().iter().find_map(|directory| rows(&directory.join(&log))).unwrap();
        let wrong: &[&str] =
            WRONG_IN_SUMMARIES.iter().find(|(file, _)| *file == name).map_or(&[], |(_, figures)| figures);
        for line in std::fs::read_to_string(&path).unwrap().lines().skip(1) {
            let [figure, text, unit] = line.splitn(3, "; ").collect::<Vec<_>>()[..] else { panic!("{line}") };
            if wrong.contains(&figure) {
                continue;
            }
            let ours = misnamed(figure).unwrap_or_else(|| figure.to_owned());
            let row = rows.get(ours.as_str()).unwrap_or_else(|| panic!("{name}: no figure {figure}"));
            if text == "n.a." || text == "n/a" {
                assert!(row.unavailable.is_some(), "{name}: {figure}: {row:?}");
            } else {
                assert_eq!((row.text.as_str(), row.unit.as_str()), (text, unit), "{name}: {figure}");
            }
            compared += 1;
        }
    }
    note(&format!("{compared} figures of whole summaries are equal"));
    assert!(compared > 300);
}
