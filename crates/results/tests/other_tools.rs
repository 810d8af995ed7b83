//! Files of other tools: the same path as JTL files, and reasons to doubt their numbers.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use busyhour_analysis::{Caveat, OmissionLimit, Summary};
use busyhour_results::{
    Log, LogError, ReadRunError, ResultsInput, ResultsOptions, RunReading, measure_run, read_percentiles,
    summarise_results,
};

fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../imports/tests/recorded").join(name)
}

fn summary(path: &Path) -> Result<Summary, ReadRunError> {
    summarise_results(vec![ResultsInput::path(path)], &ResultsOptions::default(), &mut |_, _| {})
}

#[test]
fn files_of_all_tools_have_a_summary() {
    for (name, form, requests, failed, labels) in [
        ("k6-1.4.0.json", "k6 JSON", 9, 0, 2),
        ("k6-1.4.0.csv", "k6 CSV", 10, 0, 2),
        ("vegeta-12.13.0.json", "vegeta JSON", 30, 1, 1),
        ("vegeta-12.13.0.csv", "vegeta CSV", 30, 1, 1),
        ("gatling-3.11.5.log", "Gatling log (text)", 50, 21, 3),
        ("gatling-3.14.3.log", "Gatling log (binary)", 50, 21, 3),
        ("oha-1.15.0.csv", "oha CSV", 5, 1, 1),
    ] {
        let read = summary(&recorded(name)).unwrap();
        assert_eq!((read.run.inputs[0].form.as_str(), read.total.samples), (form, requests), "{name}");
        assert_eq!((read.total.errors, read.labels.len()), (failed, labels), "{name}");
        let doubt = read.doubt.as_deref().unwrap_or_default();
        assert!(doubt.starts_with("Doubt these numbers: "), "{name}: {doubt}");
        assert!(matches!(read.caveats[0].caveat, Caveat::ToolHasOnlyActualStarts { .. }), "{name}");
        assert_eq!(Summary::from_json(&read.to_json()).unwrap(), read, "{name}");
    }
}

#[test]
fn facts_of_the_file_limit_what_is_judged() {
    let seconds = summary(&recorded("k6-1.4.0.csv")).unwrap();
    assert!(seconds.arrivals.is_empty());
    let message = &seconds.caveats[0].message;
    assert!(
        message.ends_with("arrivals are not judged, because start times are multiples of 1 s"),
        "{message}"
    );
    assert!(!summary(&recorded("vegeta-12.13.0.json")).unwrap().arrivals.is_empty());
    let oha = summary(&recorded("oha-1.15.0.csv")).unwrap();
    assert_eq!(oha.run.wall_anchor_ms, 0);
    let doubt = oha.doubt.unwrap();
    assert!(doubt.ends_with("; the file of oha contains only requests with a response."), "{doubt}");
    let limit = |name| summary(&recorded(name)).unwrap().omission.unwrap().limit;
    assert_eq!(limit("vegeta-12.13.0.json"), Some(OmissionLimit::UnknownUsers));
}

#[test]
fn dropped_iterations_are_the_first_doubt() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("k6.json");
    let mut text = std::fs::read_to_string(recorded("k6-1.4.0.json")).unwrap();
    text += "{\"metric\":\"dropped_iterations\",\"type\":\"Point\",\"data\":{\"time\":\"2026-11-27T16:46:48Z\",\"value\":7,\"tags\":null}}\n";
    std::fs::write(&path, text).unwrap();
    let doubt = summary(&path).unwrap().doubt.unwrap();
    assert!(
        doubt.starts_with("Doubt these numbers: k6 reports 9 iterations that were due but not started"),
        "{doubt}"
    );
}

#[test]
fn compressed_and_truncated_files_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("simulation.log.gz");
    let bytes = std::fs::read(recorded("gatling-3.14.3.log")).unwrap();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&bytes).unwrap();
    std::fs::write(&path, encoder.finish().unwrap()).unwrap();
    let read = summary(&path).unwrap();
    assert_eq!((read.run.inputs[0].form.as_str(), read.total.samples), ("Gatling log (binary), gzip", 50));
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let read = summary(&path).unwrap();
    assert!(read.total.samples < 50 && read.run.record_tail_missing, "{:?}", read.run.inputs);
    let mut broken = bytes;
    broken[0x90] = 9;
    std::fs::write(&path, broken).unwrap();
    let error = std::error::Error::source(&summary(&path).unwrap_err()).map(ToString::to_string);
    assert!(error.is_some_and(|error| error.starts_with("byte ")));
}

#[test]
fn bad_lines_are_named_with_their_positions() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("vegeta.csv");
    let text = std::fs::read_to_string(recorded("vegeta-12.13.0.csv")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[2] = "1795798003916428557,200,x,0,6,,,,2";
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let read = summary(&path).unwrap();
    assert_eq!(read.total.samples, 29);
    let expected = "line 3, column 25: latency: \"x\" is not a duration in ns";
    assert_eq!(read.run.inputs[0].first_bad, [expected]);
}

#[test]
fn a_million_labels_and_long_lines_are_read_in_bounded_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("simulation.log");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    writeln!(file, "RUN\tShop\tshop\t1793527200000\t \t3.9.5").unwrap();
    let labels = 100_000_u64;
    for number in 0..labels {
        let start = 1_793_527_200_000 + number;
        writeln!(file, "REQUEST\t\tpage {number}\t{start}\t{}\tOK\t ", start + 5).unwrap();
    }
    let message = "x".repeat(3 << 20);
    writeln!(file, "REQUEST\t\tlast\t1793527300000\t1793527300005\tKO\t{message}").unwrap();
    drop(file);
    let read = summary(&path).unwrap();
    assert_eq!((read.total.samples, read.total.errors), (labels + 1, 1));
    assert!(read.labels.len() <= 1_001);
    assert!(read.caveats.iter().any(|reported| matches!(reported.caveat, Caveat::ManyLabels { .. })));
}

#[test]
fn comparisons_and_arrival_tables_read_the_same_files() {
    let run = measure_run(&[recorded("gatling-3.14.3.log")], &RunReading::default()).unwrap();
    assert_eq!(run.facts.inputs[0].samples, 50);
    let log = Log::open(&recorded("vegeta-12.13.0.json")).unwrap();
    let (rows, facts) = log
        .scan_in_order(Vec::new, |rows: &mut Vec<i64>, row, _| rows.push(row.start_ns), &mut |_| {})
        .unwrap();
    assert!(rows.is_sorted() && rows.len() == 30, "{facts:?}");
}

#[test]
fn files_without_samples_are_read_as_percentiles() {
    let path = recorded("locust-2.47.0_stats.csv");
    let read = read_percentiles(&path).unwrap().unwrap();
    assert_eq!((read.tool.as_str(), read.rows.len()), ("Locust", 3));
    assert!(read_percentiles(&recorded("k6-1.4.0.json")).unwrap().is_none());
    assert!(read_percentiles(Path::new("/")).unwrap().is_none());
    let error = summary(&path).unwrap_err();
    let text = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(text, "this is a statistics of Locust; it contains percentiles, but no samples");
    assert!(error.hint().contains("busyhour report FILE"));
    assert!(matches!(
        Log::open(&recorded("vegeta-12.13.0.gob")),
        Err(LogError::Unsupported(busyhour_imports::UnsupportedFormat::VegetaGob))
    ));
}
