//! Reads result files of other load testing tools. The name of each file contains the version of the tool. The tools wrote the files,
//! except `oha-1.15.0.*` and `wrk2-4.0.0.txt`, which follow the source code of these tools.

use std::path::PathBuf;

use busyhour_imports::{
    AggregateDoubt, AggregateResult, Detected, ImportError, ImportedSample, SampleForm, SampleFormat,
    SampleReader, Step, UnsupportedFormat, detect, read_aggregate,
};

fn file(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn form(bytes: &[u8]) -> SampleForm {
    match detect(bytes) {
        Some(Detected::Samples(form)) => form,
        other => panic!("{other:?}"),
    }
}

/// All samples of a file that has no bad line, and the number of dropped iterations.
fn samples(name: &str) -> (SampleForm, Vec<ImportedSample>, u64) {
    let bytes = file(name);
    let form = form(&bytes);
    let mut reader = SampleReader::new(form, &bytes[..]);
    let (mut read, mut sample) = (Vec::new(), ImportedSample::default());
    loop {
        match reader.read(&mut sample).unwrap() {
            Step::Sample => read.push(sample.clone()),
            Step::Bad(bad) => panic!("{name}: {bad}"),
            Step::End { cut_at } => {
                assert_eq!(cut_at, None, "{name}");
                return (form, read, reader.notes().dropped);
            }
        }
    }
}

fn aggregate(name: &str) -> AggregateResult {
    let bytes = file(name);
    let Some(Detected::Aggregate(format)) = detect(&bytes) else { panic!("{name} is not recognized") };
    read_aggregate(format, &bytes[..]).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn samples_of_all_tools_are_read() {
    for (name, format, tick_ns, count, failed) in [
        ("k6-1.4.0.json", SampleFormat::K6Json, 1, 9, 0),
        ("k6-1.4.0.csv", SampleFormat::K6Csv, 1_000_000_000, 10, 0),
        ("k6-1.4.0-micro.csv", SampleFormat::K6Csv, 1_000, 5, 0),
        ("vegeta-12.13.0.json", SampleFormat::VegetaJson, 1, 30, 1),
        ("vegeta-12.13.0.csv", SampleFormat::VegetaCsv, 1, 30, 1),
        ("gatling-3.11.5.log", SampleFormat::GatlingText, 1_000_000, 50, 21),
        ("gatling-3.14.3.log", SampleFormat::GatlingBinary, 1_000_000, 50, 21),
        ("oha-1.15.0.csv", SampleFormat::OhaCsv, 1, 5, 1),
    ] {
        let (form, read, _) = samples(name);
        assert_eq!((form.format, form.tick_ns, read.len()), (format, tick_ns, count), "{name}");
        assert_eq!(read.iter().filter(|sample| !sample.success).count(), failed, "{name}");
        assert!(read.iter().all(|sample| (1..2_000_000_000).contains(&sample.duration_ns)), "{name}");
        let year_ns = 365 * 86_400 * 1_000_000_000_i64;
        let expected = if format.is_undated() { 0..1 } else { 56..57 };
        assert!(read.iter().all(|sample| expected.contains(&(sample.start_ns / year_ns))), "{name}");
    }
}

#[test]
fn both_forms_of_a_tool_contain_the_same_samples() {
    let (_, json, _) = samples("vegeta-12.13.0.json");
    let (_, csv, _) = samples("vegeta-12.13.0.csv");
    assert_eq!(json, csv);
    let labels = |name| {
        let mut labels: Vec<String> = samples(name).1.into_iter().map(|sample| sample.label).collect();
        labels.sort();
        labels.dedup();
        labels
    };
    let expected = ["Checkout / Pay / zahlen €", "list", "wrong"];
    assert_eq!(labels("gatling-3.11.5.log"), expected);
    assert_eq!(labels("gatling-3.14.3.log"), expected);
}

#[test]
fn percentiles_of_all_tools_are_read() {
    for (name, tool, rows, requests, failures, p95) in [
        ("k6-1.4.0-summary.json", "k6", 2, Some(65), Some(5), Some(154.701_031_4)),
        ("vegeta-12.13.0-report.json", "vegeta", 1, Some(60), Some(2), Some(49.995_844)),
        ("vegeta-12.13.0-hdrplot.txt", "HdrHistogram", 1, Some(60), None, None),
        ("wrk2-4.0.0.txt", "HdrHistogram", 2, Some(59_980), None, Some(2.113)),
        ("oha-1.15.0.json", "oha", 1, Some(195), Some(7), Some(31.25)),
        ("locust-2.47.0_stats.csv", "Locust", 3, Some(160), Some(3), Some(140.0)),
        ("locust-2.47.0_stats_history.csv", "Locust", 1, Some(160), Some(3), Some(140.0)),
        ("locust-2.47.0-full_stats_history.csv", "Locust", 1, Some(534), Some(9), Some(59.0)),
    ] {
        let read = aggregate(name);
        let total = &read.rows[0];
        let found = (read.tool.as_str(), read.rows.len(), total.requests, total.failures);
        assert_eq!(found, (tool, rows, requests, failures), "{name}");
        if let Some(p95) = p95 {
            assert!((total.percentile(95.0).unwrap() - p95).abs() < 1e-6, "{name}: {total:?}");
        }
        assert!(total.percentiles.is_sorted_by(|a, b| a.percentile < b.percentile && a.ms <= b.ms), "{name}");
        assert_eq!(read.doubts().last(), Some(&AggregateDoubt::NoSamples), "{name}");
    }
}

#[test]
fn the_first_doubt_is_the_most_important_one() {
    let first = |name| aggregate(name).doubts()[0].to_string();
    assert_eq!(
        first("locust-2.47.0-full_stats_history.csv"),
        "the percentiles cover only the last 10 s of the run; the p95 of such windows was 47 to 91 ms"
    );
    assert_eq!(
        first("k6-1.4.0-summary.json"),
        "35 iterations were due but not started; the percentiles exclude them"
    );
    assert_eq!(first("vegeta-12.13.0-report.json"), "about 6 of the 60 requests are beyond the p90");
    assert_eq!(
        first("oha-1.15.0.json"),
        "7 requests failed; the percentiles exclude those without a response"
    );
}

#[test]
fn a_file_of_vegeta_in_gob_is_recognized() {
    assert_eq!(
        detect(&file("vegeta-12.13.0.gob")),
        Some(Detected::Unsupported(UnsupportedFormat::VegetaGob))
    );
}

/// A small generator of pseudo-random numbers, so that failures can be repeated.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

#[test]
fn damaged_files_are_read_to_their_end_or_return_an_error() {
    let mut numbers = Numbers(1);
    for entry in std::fs::read_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recorded")).unwrap()
    {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        for _ in 0..100 {
            let mut damaged = bytes[..numbers.below(bytes.len() + 1)].to_vec();
            for _ in 0..numbers.below(8) {
                let at = numbers.below(damaged.len());
                if let Some(byte) = damaged.get_mut(at) {
                    *byte = numbers.below(256) as u8;
                }
            }
            match detect(&bytes) {
                Some(Detected::Samples(form)) => {
                    let mut reader = SampleReader::new(form, &damaged[..]);
                    let mut sample = ImportedSample::default();
                    // Each step reads at least one byte, so the loop reaches the end of the file.
                    for _ in 0..=damaged.len() {
                        match reader.read(&mut sample) {
                            Ok(Step::Sample | Step::Bad(_)) => {}
                            Ok(Step::End { .. }) | Err(ImportError::Damaged { .. }) => break,
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
                Some(Detected::Aggregate(format)) => {
                    let _ = read_aggregate(format, &damaged[..]);
                }
                _ => {}
            }
            let _ = detect(&damaged);
        }
    }
}
