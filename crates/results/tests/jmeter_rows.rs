//! Reads the rows that JMeter 5.6.3 wrote (`tests/jmeter`, recorded by `record.sh` from `rows.jmx`), and writes them
//! again byte for byte.

use std::path::{Path, PathBuf};

use busyhour_record::{Recorder, RecorderConfig, ResultFileConfig, SampleFilter, SaveConfig};
use busyhour_results::{AggregateSettings, ReadSettings, Results, ResultsInput};

fn recorded(variant: &str, file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jmeter").join(variant).join(file)
}

/// The properties of a variant in `record.sh`.
fn properties(variant: &str) -> &'static [(&'static str, &'static str)] {
    match variant {
        "semicolon" => &[
            ("jmeter.save.saveservice.default_delimiter", ";"),
            ("jmeter.save.saveservice.response_message", "false"),
            ("jmeter.save.saveservice.subresults", "false"),
        ],
        "tab" => &[
            ("jmeter.save.saveservice.default_delimiter", "\\t"),
            ("jmeter.save.saveservice.sample_count", "true"),
            ("jmeter.save.saveservice.hostname", "true"),
            ("jmeter.save.saveservice.encoding", "true"),
        ],
        "pattern" => &[("jmeter.save.saveservice.timestamp_format", "yyyy/MM/dd HH:mm:ss.SSS")],
        "end" => &[("sampleresult.timestamp.start", "false")],
        _ => &[],
    }
}

/// The save configuration of a listener of the plan.
fn config(variant: &str, file: &str) -> SaveConfig {
    let properties = properties(variant);
    let main = SaveConfig::from_properties(|name| {
        properties.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    })
    .unwrap();
    if file == "main.csv" {
        return main;
    }
    let all = [
        "time",
        "latency",
        "timestamp",
        "success",
        "label",
        "code",
        "message",
        "threadName",
        "dataType",
        "encoding",
        "subresults",
        "fieldNames",
        "saveAssertionResultsFailureMessage",
        "bytes",
        "sentBytes",
        "url",
        "fileName",
        "hostname",
        "threadCounts",
        "sampleCount",
        "idleTime",
        "connectTime",
    ];
    let few = ["time", "timestamp", "success", "label", "fieldNames"];
    let fields: &[&str] = if file == "few.csv" { &few } else { &all };
    SaveConfig::for_listener(&main, fields.iter().map(|name| (*name, "true")))
}

#[test]
fn rows_are_written_as_by_jmeter() {
    let temp = tempfile::tempdir().unwrap();
    for variant in ["default", "variables", "semicolon", "tab", "pattern", "end"] {
        for file in ["main.csv", "full.csv", "errors.csv", "successes.csv", "nosub.csv", "few.csv"] {
            let path = recorded(variant, file);
            let settings = ReadSettings {
                stamps_are_ends: variant == "end",
                all_columns: true,
                ..ReadSettings::default()
            };
            let open = || Results::open(vec![ResultsInput::path(&path)], &settings).unwrap();
            // The groups are known only after reading, but the writer needs them before.
            let names = open().read(&mut |_| {}, &mut |_| {}).unwrap().names;
            let again = open();
            let (anchor, labels) = (again.wall_anchor_ms(), again.labels().clone());
            let out = temp.path().join(format!("{variant}-{file}"));
            let (recorder, mut writers) = Recorder::start(RecorderConfig {
                names,
                labels: labels.clone(),
                wall_anchor_ms: anchor,
                main: Some(ResultFileConfig {
                    path: out.clone(),
                    config: config(variant, file),
                    filter: SampleFilter::All,
                }),
                ..RecorderConfig::default()
            })
            .unwrap();
            let mut writer = writers.remove(0);
            let read = again.read(&mut |sample| writer.record(sample).unwrap(), &mut |_| {});
            let facts = &read.unwrap().inputs[0];
            assert_eq!((facts.cut_at, facts.bad_rows), (None, 0));
            drop(writer);
            assert_eq!(recorder.finish().events, []);
            let (ours, theirs) =
                (std::fs::read_to_string(&out).unwrap(), std::fs::read_to_string(&path).unwrap());
            for (line, (ours, theirs)) in ours.lines().zip(theirs.lines()).enumerate() {
                assert_eq!(ours, theirs, "{variant}/{file}, line {}", line + 1);
            }
            assert_eq!(ours, theirs, "{variant}/{file}");
        }
    }
}

#[test]
fn a_result_file_of_jmeter_gives_totals() {
    let settings = ReadSettings { all_columns: true, ..ReadSettings::default() };
    let results =
        Results::open(vec![ResultsInput::path(recorded("default", "main.csv"))], &settings).unwrap();
    let replay = results.add_up(&AggregateSettings::default(), |_| {}, &mut |_| {}).unwrap();
    let totals = replay.totals;
    // Two users with two iterations; samples of transactions are not in the total.
    assert_eq!((totals.total.samples, totals.total.errors), (42, 12));
    assert_eq!(replay.names.groups.len(), 2);
    assert_eq!(replay.names.groups[0].name, "Grüppe, one");
    let names: Vec<&str> = totals.labels.iter().map(|label| label.name.as_str()).collect();
    assert!(names.contains(&"two\nlines") && names.contains(&"comma, and \"quote\""));
}
