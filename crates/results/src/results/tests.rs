use std::path::Path;

use busyhour_record::{Recorder, RecorderConfig, RunDir, SaveConfig};
use busyhour_sample::{ActiveUsers, RunTotals, SampleFlags, SampleTimes};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::LogError;
use crate::unpack::Packing;

const NAMES: &str =
    "timeStamp,elapsed,label,responseCode,responseMessage,success,failureMessage,bytes,allThreads\n";

fn row(start_ms: u64, elapsed_ms: u64, label: &str) -> String {
    format!("{start_ms},{elapsed_ms},{label},200,OK,true,,10,3\n")
}

fn file(dir: &TempDir, name: &str, contents: impl AsRef<[u8]>) -> ResultsInput {
    let path = dir.path().join(name);
    std::fs::write(&path, contents).unwrap();
    ResultsInput::path(path)
}

fn stream(contents: impl Into<Vec<u8>>) -> ResultsInput {
    let bytes = std::io::Cursor::new(contents.into());
    ResultsInput { name: "stream".into(), from: ResultsFrom::Stream(Box::new(bytes)) }
}

fn added(
    inputs: Vec<ResultsInput>,
    read: &ReadSettings,
    settings: &AggregateSettings,
) -> Result<ReplayedRun, ResultsError> {
    aggregate_inputs(inputs, read, settings, &mut |_| (), &mut |_| {}).map(|(replay, ())| replay)
}

fn replay(inputs: Vec<ResultsInput>) -> ReplayedRun {
    added(inputs, &ReadSettings::default(), &AggregateSettings::default()).unwrap()
}

/// The totals that must be equal for two readings of the same samples.
fn numbers(totals: &RunTotals) -> impl PartialEq + std::fmt::Debug {
    let label = |label: &busyhour_sample::LabelTotals| {
        let clock = &label.totals.response;
        let times: Vec<(u64, u64)> = clock.histogram.bands().map(|(_, end, count)| (end, count)).collect();
        let (satisfied, tolerated) = (label.totals.satisfied, label.totals.tolerated);
        (
            label.name.clone(),
            label.totals.samples,
            label.totals.errors,
            clock.sum_ns,
            times,
            satisfied,
            tolerated,
        )
    };
    let mut labels: Vec<_> = totals.labels.iter().map(label).collect();
    labels.sort();
    let seconds: Vec<(u64, u64, u64)> =
        totals.seconds.iter().map(|point| (point.second, point.requests, point.errors)).collect();
    (labels, seconds, totals.heat.clone(), totals.started.clone())
}

#[test]
fn compressed_files_and_streams_give_the_same_totals() {
    use std::io::Write as _;
    let dir = tempfile::tempdir().unwrap();
    let rows: String =
        (0..5_000u64).map(|at| row(1_000 + at * 7, at % 90, ["a", "b"][at as usize % 2])).collect();
    let text = format!("{NAMES}{rows}");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    let plain = replay(vec![file(&dir, "plain", &text)]);
    assert_eq!((plain.totals.total.samples, plain.wall_anchor_ms), (5_000, 1_000));
    assert_eq!((plain.inputs[0].packing, plain.inputs[0].samples), (None, 5_000));
    // The format is detected from the contents, not the name.
    let packed = [
        (file(&dir, "a.csv", gzip.finish().unwrap()), Some(Packing::Gzip)),
        (file(&dir, "b.gz", zstd::encode_all(text.as_bytes(), 1).unwrap()), Some(Packing::Zstd)),
        (stream(text.clone()), None),
    ];
    for (input, packing) in packed {
        let other = replay(vec![input]);
        assert_eq!(other.inputs[0].packing, packing);
        assert_eq!(numbers(&other.totals), numbers(&plain.totals));
    }
}

#[test]
fn files_of_several_generators_give_the_totals_of_one_file() {
    let dir = tempfile::tempdir().unwrap();
    let rows: Vec<String> = (0..9_000u64).map(|at| row(1_000 + at * 5, at * 31 % 400, "page")).collect();
    let mut parts = [const { String::new() }; 3];
    for (at, row) in rows.iter().enumerate() {
        // One file has all rows of some seconds, and no rows of the others.
        parts[if at % 2_000 < 500 { 0 } else { at % 3 }].push_str(row);
    }
    let whole = replay(vec![file(&dir, "whole", format!("{NAMES}{}", rows.concat()))]);
    let parts =
        parts.iter().enumerate().map(|(at, rows)| file(&dir, &format!("{at}"), format!("{NAMES}{rows}")));
    let merged = replay(parts.collect());
    assert_eq!(numbers(&merged.totals), numbers(&whole.totals));
    assert_eq!(merged.inputs.len(), 3);
    // The users of three generators are added.
    assert_eq!((merged.totals.users.at_end_of(5), merged.totals.users.max), (Some(9), 9));
}

#[test]
fn a_sample_before_the_first_row_moves_the_start() {
    let rows: String = (0..2_000u64).map(|at| row(100_000 + at * 10, 5, "quick")).collect();
    let text = format!("{NAMES}{rows}{}", row(97_500, 25_000, "slow"));
    let dir = tempfile::tempdir().unwrap();
    let input = || vec![file(&dir, "log", &text)];
    let whole = replay(input());
    assert_eq!(whole.wall_anchor_ms, 97_500);
    let slow = whole.totals.labels.iter().find(|label| label.name == "slow").unwrap();
    assert_eq!(slow.totals.first_start, Nanos::ZERO);
    assert_eq!(slow.series.as_ref().map(|series| series.from_second), Some(2));
    assert_eq!(whole.totals.slowest[0].start, Nanos::ZERO);
    // Once the start of the run is known, a window is relative to it.
    let window = AggregateSettings { window_s: Some((2.5, 3.5)), ..AggregateSettings::default() };
    let known = ReadSettings { start_ms: Some(whole.wall_anchor_ms), ..ReadSettings::default() };
    let part = added(input(), &known, &window).unwrap().totals;
    assert_eq!(part.total.samples, 100);
    let left_out = part.window.unwrap();
    assert_eq!((left_out.before, left_out.after), (1, 1_900));
    assert_eq!(left_out.window, (Nanos::from_millis(2_500), Nanos::from_millis(3_500)));
    assert_eq!(part.labels.len(), 1, "no slow request is in the window");
    assert_eq!(part.seconds.len(), whole.totals.seconds.len(), "series contain all samples");
}

#[test]
fn damaged_rows_are_counted_and_the_first_are_reported() {
    let good = row(5_000, 5, "a");
    let damaged =
        "5001,x,a,200,OK,true,,10,3\n\n5002,6\n,5,a,200,OK,true,,10,3\n5003,5,a,200,OK,true,,-1,3\n";
    let shortened_names = "timeStamp,elapsed\n";
    let whole = format!("{NAMES}{good}{damaged}{NAMES}{good}{shortened_names}");
    let (cut_at, text) = (whole.len() as u64, whole + "5009,7,cut");
    let replay = replay(vec![stream(text)]);
    let facts = &replay.inputs[0];
    assert_eq!((facts.samples, facts.bad_rows, facts.cut_at), (2, 4, Some(cut_at)));
    let reported: Vec<String> = facts.first_bad.iter().map(ToString::to_string).collect();
    let expected = [
        "line 3, column elapsed: \"x\" is not a duration in ms",
        "line 5, column timeStamp: \"5002\" is the first cell of a row with too few columns",
        "line 6, column timeStamp: \"\" is not a time in ms since 1970",
    ];
    assert_eq!(reported, expected);
    assert!(replay.end.cut_at.is_some());
}

#[test]
fn unnamed_columns_are_those_of_the_properties() {
    let property = |name: &str| match name {
        "jmeter.save.saveservice.url" | "jmeter.save.saveservice.connect_time" => Some("false"),
        "jmeter.save.saveservice.default_delimiter" => Some(";"),
        _ => None,
    };
    let config = SaveConfig::from_properties(property).unwrap();
    let settings = ReadSettings { unnamed: Some(config), ..ReadSettings::default() };
    let text = "1000;20;home;500;no;T 1-1;text;false;wanted \"this\";30;40;2;5;15;0\n";
    let open = |text: &str, settings: &ReadSettings| {
        added(vec![stream(text)], settings, &AggregateSettings::default()).map(|replay| replay.totals)
    };
    let totals = open(text, &settings).unwrap();
    assert_eq!((totals.total.samples, totals.total.bytes, totals.total.sent_bytes), (1, 30, 40));
    assert_eq!(totals.errors[0].message, "wanted \"this\"");
    // Column names in the file take precedence over the settings.
    assert_eq!(open(&format!("{NAMES}{}", row(1, 2, "a")), &settings).unwrap().total.samples, 1);
    let error = |text: &str, settings: &ReadSettings| open(text, settings).unwrap_err().source;
    assert!(matches!(error(text, &ReadSettings::default()), LogError::Unnamed { columns: 15 }));
    assert!(matches!(error("1;2;a\n", &settings), LogError::Properties { columns: 3, asked: 15 }));
    assert!(matches!(error("", &settings), LogError::Empty));
    assert!(matches!(error("timeStamp,label\n1,a\n", &settings), LogError::Column("elapsed")));
    assert!(matches!(error(&format!("{NAMES}x,1,a,,,,,,\n"), &settings), LogError::BadRows { bad: 1, .. }));
}

#[test]
fn the_same_samples_in_csv_and_xml_add_up_to_the_same() {
    let (mut csv, mut xml) = (String::from(NAMES), String::from("<testResults>\n"));
    for at in 0..300u64 {
        let (start, elapsed, ok) = (1_000 + at * 11, at * 17 % 1_900, at % 5 > 0);
        csv += &format!("{start},{elapsed},\"a, \"\"b\"\"\",{},no,{ok},,7,2\n", if ok { 200 } else { 500 });
        xml += &format!(
            "<sample t=\"{elapsed}\" ts=\"{start}\" s=\"{ok}\" lb=\"a, &quot;b&quot;\" rc=\"{}\" rm=\"no\" by=\"7\" na=\"2\"/>\n",
            if ok { 200 } else { 500 }
        );
    }
    let (csv, xml) = (replay(vec![stream(csv)]), replay(vec![stream(xml + "</testResults>")]));
    assert_eq!(numbers(&csv.totals), numbers(&xml.totals));
    assert_eq!(csv.totals.errors, xml.totals.errors);
    assert_eq!(csv.totals.slowest, xml.totals.slowest);
    assert_eq!(csv.totals.errors[0].count, 60);
}

/// Records a run with `samples` samples that start every 3 ms.
fn run(path: &Path, samples: u64, wall_anchor_ms: i64) -> RunTotals {
    let dir = RunDir::create(path).unwrap();
    let labels = busyhour_sample::Labels::new();
    let config = RecorderConfig {
        dir: Some(dir.path().to_owned()),
        labels: labels.clone(),
        wall_anchor_ms,
        batches: 1_000,
        ..RecorderConfig::default()
    };
    let (recorder, mut writers) = Recorder::start(config).unwrap();
    let mut core = writers.remove(0);
    for at in 0..samples {
        let start = Nanos::from_millis(3 * at) + 1_234;
        let label = labels.intern(if at % 3 == 0 { "three" } else { "other" });
        let flags = if at % 7 == 0 { SampleFlags::SUB_RESULT } else { SampleFlags::NONE };
        let sample = Sample {
            label,
            times: SampleTimes {
                intended: start,
                start: start + 50_000,
                end: start + (at * 1_009 % 40) * 1_000_000 + 60_000,
                ..SampleTimes::default()
            },
            users: ActiveUsers { all: 4, ..ActiveUsers::default() },
            flags,
            ..Sample::default()
        };
        core.record(&sample).unwrap();
    }
    drop(core);
    recorder.finish()
}

#[test]
fn totals_of_a_record_equal_those_of_the_run() {
    let temp = tempfile::tempdir().unwrap();
    let live = run(&temp.path().join("run"), 4_000, 1_700_000_000_000);
    let again = replay(vec![ResultsInput::path(temp.path().join("run"))]);
    assert_eq!(numbers(&again.totals), numbers(&live));
    assert_eq!((again.totals.slowest, again.wall_anchor_ms), (live.slowest, 1_700_000_000_000));
    assert!(again.totals.total.service.sum_ns < again.totals.total.response.sum_ns);
}

#[test]
fn runs_and_result_files_can_be_combined() {
    let temp = tempfile::tempdir().unwrap();
    let one = run(&temp.path().join("one"), 2_000, 1_700_000_000_000);
    let two = run(&temp.path().join("two"), 1_000, 1_700_000_002_000);
    let inputs =
        || vec![ResultsInput::path(temp.path().join("two")), ResultsInput::path(temp.path().join("one"))];
    let both = replay(inputs());
    assert_eq!(both.wall_anchor_ms, 1_700_000_000_000);
    assert_eq!(both.totals.total.samples, one.total.samples + two.total.samples);
    assert_eq!(both.totals.total.last_end, one.total.last_end.max(two.total.last_end + 2_000_000_000));
    let mut labels: Vec<&str> = both.totals.labels.iter().map(|label| label.name.as_str()).collect();
    labels.dedup();
    labels.sort_unstable();
    labels.dedup();
    assert_eq!(labels, ["other", "three"]);
    let mut inputs = inputs();
    inputs.push(stream(format!("{NAMES}{}", row(1_700_000_001_000, 5, "three"))));
    let three = replay(inputs);
    assert_eq!(three.totals.total.samples, both.totals.total.samples + 1);
    let missing =
        added(vec![ResultsInput::path(temp.path())], &ReadSettings::default(), &AggregateSettings::default());
    assert!(matches!(missing.unwrap_err().source, LogError::NoRun));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn random_bytes_never_panic(head in 0usize..5, bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let heads = [
            "",
            NAMES,
            "1,2,a,200,OK,T 1-1,text,true,3,4\n",
            "<testResults>",
            "<testResults><sample t=\"1\" ts=\"",
        ];
        let mut contents = heads[head].as_bytes().to_vec();
        contents.extend(bytes);
        let _ = added(vec![stream(contents)], &ReadSettings::default(), &AggregateSettings::default());
    }

    #[test]
    fn numbers_and_quotes_anywhere_never_panic(text in "[0-9,\"\n\r]{0,300}") {
        let read = ReadSettings { all_columns: true, ..ReadSettings::default() };
        let text = format!("timeStamp,elapsed,label,IdleTime,bytes,allThreads,SampleCount\n{text}");
        let _ = added(vec![stream(text)], &read, &AggregateSettings::default());
    }
}
