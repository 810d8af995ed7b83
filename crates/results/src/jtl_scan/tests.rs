//! Tests of all log formats, with rows in and out of order.

use busyhour_sample::{SampleSizes, SampleTimes};
use proptest::prelude::*;

use super::*;

/// A row of a generated log: start and elapsed in ms, label, thread, success.
type Written = (u64, u64, &'static str, u32, bool);

const ROWS: [Written; 4] = [
    (1_000, 900, "slow", 1, true),
    (1_100, 50, "a, \"quoted\" one", 2, false),
    (1_250, 10, "fast", 1, true),
    (1_250, 20, "fast", 12, true),
];

fn log(contents: impl AsRef<[u8]>) -> (tempfile::TempDir, Result<Log, LogError>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jtl");
    std::fs::write(&path, contents).unwrap();
    let log = Log::open(&path);
    (dir, log)
}

/// A row that was read: start, elapsed time, latency and lateness in ns, label, thread, success.
type Told = (i64, u64, Option<u64>, Option<u64>, String, Option<u32>, bool);

fn in_order(log: &Log) -> Result<(Vec<Told>, LogFacts), LogError> {
    log.scan_in_order(
        Vec::new,
        |into: &mut Vec<Told>, row, labels| {
            into.push((
                row.start_ns / 1_000_000,
                row.elapsed_ns / 1_000_000,
                row.latency_ns.map(|ns| ns / 1_000_000),
                row.bytes,
                labels.name(row.label).to_owned(),
                row.thread,
                row.success,
            ));
        },
        &mut |_| {},
    )
}

fn rows(contents: impl AsRef<[u8]>) -> (Vec<Told>, LogFacts) {
    let (_dir, log) = log(contents);
    in_order(&log.unwrap()).unwrap()
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

/// The rows sorted by end, as loggers write them.
fn by_end(rows: &[Written]) -> Vec<Written> {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| row.0 + row.1);
    rows
}

fn csv(rows: &[Written], row: impl Fn(&Written) -> String) -> String {
    by_end(rows).iter().map(|written| row(written) + "\n").collect()
}

fn expected() -> Vec<Told> {
    let reported = |row: &Written| {
        (row.0 as i64, row.1, Some(row.1 / 2), Some(row.1 * 3), row.2.to_owned(), Some(row.3), row.4)
    };
    // The fast samples have equal starts and keep the order of the file.
    ROWS.iter().map(reported).collect()
}

#[test]
fn all_log_formats_give_the_same_rows() {
    let ten = csv(&ROWS, |(start, elapsed, label, thread, success)| {
        let (bytes, latency, label) = (elapsed * 3, elapsed / 2, quoted(label));
        format!("{start},{elapsed},{label},200,OK,Users 1-{thread},text,{success},{bytes},{latency}")
    });
    assert_eq!(rows(&ten).0, expected());
    assert_eq!(rows(&ten).1.form, LogForm::Csv { names: false, columns: 10 });

    let names = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,\
                 bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n";
    let default = csv(&ROWS, |(start, elapsed, label, thread, success)| {
        let (bytes, latency, label) = (elapsed * 3, elapsed / 2, quoted(label));
        format!(
            "{start},{elapsed},{label},200,OK,Users 1-{thread},text,{success},,{bytes},1,1,1,\"http://x/?a,\n\
             b\",{latency},0,1"
        )
    });
    assert_eq!(rows(&default).0, expected());
    let (reported, facts) = rows(names.to_owned() + &default);
    assert_eq!((reported, facts.form), (expected(), LogForm::Csv { names: true, columns: 17 }));
    // Files to which several runs were appended may contain the column names several times.
    assert_eq!(rows(names.to_owned() + &default + names).1.bad_rows, 0);

    let other = csv(&ROWS, |(start, elapsed, label, thread, success)| {
        let (bytes, latency) = (elapsed * 3, elapsed / 2);
        format!("{latency}\tUsers 1-{thread}\t{bytes}\t{success}\t{}\t{elapsed}\t{start}\r", quoted(label))
    });
    let names = "\u{feff}Latency\tthreadName\tbytes\tsuccess\tlabel\telapsed\ttimeStamp\r\n";
    assert_eq!(rows(names.to_owned() + &other).0, expected());

    let xml: String = by_end(&ROWS)
        .iter()
        .map(|(start, elapsed, label, thread, success)| {
            let label = label.replace('"', "&quot;");
            format!(
                "<httpSample t=\"{elapsed}\" lt=\"{}\" ts=\"{start}\" s=\"{success}\" lb=\"{label}\" \
                 tn=\"Users 1-{thread}\" by=\"{}\">\n<httpSample t=\"1\" ts=\"5\" lb=\"redirect\"/>\n\
                 <responseData>&lt;sample/&gt;</responseData></httpSample>\n",
                elapsed / 2,
                elapsed * 3
            )
        })
        .collect();
    let (reported, facts) =
        rows(format!("<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">{xml}</testResults>"));
    assert_eq!((reported, facts.sub_results), (expected(), 4));
}

#[test]
fn a_run_directory_gives_requests_in_nanoseconds() {
    use busyhour_record::{Recorder, RecorderConfig};
    use busyhour_sample::Nanos;
    use busyhour_sample::{Sample, SampleFlags};
    let temp = tempfile::tempdir().unwrap();
    let dir = busyhour_record::RunDir::create(temp.path().join("run")).unwrap();
    let labels = busyhour_sample::Labels::new();
    let config = RecorderConfig {
        dir: Some(dir.path().to_owned()),
        labels: labels.clone(),
        wall_anchor_ms: 7,
        ..RecorderConfig::default()
    };
    let (recorder, writers) = Recorder::start(config).unwrap();
    for mut core in writers {
        for (label, flags) in [
            ("page", SampleFlags::NONE),
            ("redirect", SampleFlags::SUB_RESULT),
            ("early", SampleFlags::WARMUP),
            ("whole", SampleFlags::TRANSACTION),
        ] {
            let (start, end) = (Nanos(1_234_567), Nanos(5_000_000));
            let label = labels.intern(label);
            let sample = Sample {
                label,
                times: SampleTimes { start, end, ..SampleTimes::default() },
                flags,
                user: 3,
                sizes: SampleSizes::of_row(9, 0),
                ..Sample::default()
            };
            core.record(&sample).unwrap();
        }
    }
    let _ = recorder.finish();
    let log = Log::open(dir.path()).unwrap();
    let mut reported = Vec::new();
    let facts = log.scan(|row, labels| reported.push((*row, labels.name(row.label).to_owned())), &mut |_| {});
    let facts = facts.unwrap();
    assert!(reported.iter().all(|(row, label)| {
        (row.start_ns, row.elapsed_ns, row.thread) == (8_234_567, 3_765_433, Some(3)) && label == "page"
    }));
    assert_eq!(facts.rows, reported.len() as u64);
    assert_eq!([facts.transactions, facts.sub_results, facts.warmup], [facts.rows; 3]);
    assert_eq!((log.form(), facts.cut_off), (LogForm::Run, false));
}

#[test]
fn transactions_are_left_out_and_their_children_are_not() {
    let message = "Number of samples in transaction : 1, number of failing samples : 0";
    let text = format!(
        "timeStamp,elapsed,label,responseMessage,threadName\n1,5,in,OK,T 1-1\n1,6,whole,\"{message}\",T 1-1\n"
    );
    let (reported, facts) = rows(text);
    assert_eq!((reported.len(), facts.transactions), (1, 1));
    assert_eq!((reported[0].2, reported[0].3, reported[0].6), (None, None, true));
    let (reported, facts) = rows(format!(
        "<testResults><sample t=\"6\" ts=\"1\" lb=\"whole\" rm=\"{message}\"><httpSample t=\"5\" ts=\"1\" lb=\"in\">\
         <httpSample t=\"2\" ts=\"1\" lb=\"hop\"/></httpSample></sample></testResults>"
    ));
    assert_eq!((reported.len(), facts.transactions, facts.sub_results), (1, 1, 1));
    assert_eq!(reported[0].4, "in");
}

#[test]
fn errors_contain_their_place() {
    let names = "timeStamp,elapsed,label\n";
    let (reported, facts) = rows(format!("{names}1,2,a\n1,x,a\n3,4\n5,6,b\n7,8,cut"));
    assert_eq!((reported.len(), facts.bad_rows, facts.cut_off), (2, 2, true));
    let first = facts.first_bad.unwrap().to_string();
    assert_eq!(first, "line 3, column elapsed: \"x\" is not a duration in ms");

    let error = |text: &str| {
        let (_dir, log) = log(text);
        log.and_then(|log| in_order(&log)).unwrap_err()
    };
    assert!(matches!(error(""), LogError::Empty));
    assert!(matches!(error("timeStamp,elapsed,label\nx,1,a\n"), LogError::BadRows { bad: 1, rows: 0, .. }));
    let swallowed = "1,2,a\n".repeat(200);
    let quote = error(&format!("timeStamp,elapsed,label\n1,1,\"a\n{swallowed}"));
    assert!(matches!(quote, LogError::Quote { line: 2 }));
    assert!(matches!(error("<testResults>\n<sample t=\"1\"></x>"), LogError::Xml { line: 2, .. }));
    assert!(matches!(error("<html/>"), LogError::XmlRoot(root) if root == "html"));
    let unstamped = error("<testResults><sample t=\"1\" lb=\"a\"/></testResults>").to_string();
    let expected =
        "1 of 1 rows cannot be read; the first: sample 1, attribute ts: \"\" is not a time in ms since 1970";
    assert_eq!(unstamped, expected);
    // If a run was killed, the end tag is missing.
    let (reported, facts) = rows("timeStamp,elapsed,label\n1,1,a\n2,2,\"b\n");
    assert_eq!((reported.len(), facts.cut_off), (1, true));
    let (reported, facts) = rows("<testResults>\n<sample t=\"1\" ts=\"5\" lb=\"a\"/>\n<sample t=\"1\" ts=");
    assert_eq!((reported.len(), facts.cut_off), (1, true));
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(Log::open(dir.path()), Err(LogError::NoRun)));
}

#[test]
fn a_late_row_causes_a_second_reading() {
    let mut text = String::from("timeStamp,elapsed,label\n");
    for start in 1_000..141_000 {
        text += &format!("{start},1,a\n");
    }
    // This sample started first and lasted until the end.
    text += "5,140000,long\n";
    let (_dir, log) = log(text);
    let mut begun = 0;
    let (stamps, facts) = log
        .unwrap()
        .scan_in_order(
            || {
                begun += 1;
                Vec::new()
            },
            |into, row, _| into.push(row.start_ns),
            &mut |_| {},
        )
        .unwrap();
    assert_eq!((begun, stamps.len(), facts.lag_ns), (2, 140_001, 140_994_000_000));
    assert!(stamps.is_sorted());
}

#[test]
fn stamps_may_be_ends_and_rows_may_be_of_several_samples() {
    let csv = "timeStamp,elapsed,label,SampleCount,IdleTime\n100,30,a,1,0\n100,20,b,3,5\n";
    let xml = "<testResults><sample t=\"30\" it=\"0\" ts=\"100\" lb=\"a\" sc=\"1\"/>\n\
               <sample t=\"20\" it=\"5\" ts=\"100\" lb=\"b\" sc=\"3\"/></testResults>";
    for text in [csv, xml] {
        let (_dir, log) = log(text);
        let log = log.unwrap();
        let stamps = |log: &Log| in_order(log).unwrap().0.iter().map(|row| row.0).collect::<Vec<_>>();
        assert_eq!(stamps(&log), [100, 100]);
        assert_eq!(stamps(&log.clone().with_end_stamps()), [70, 75]);
        assert_eq!(in_order(&log).unwrap().1.of_several, 1);
    }
}

#[test]
fn labels_beyond_the_limit_share_one_number() {
    let mut labels = LogLabels::default();
    for number in 0..busyhour_sample::LABELS_MAX + 5 {
        labels.intern(format!("item {number}").as_bytes());
    }
    assert_eq!(labels.intern(b"one more"), busyhour_sample::LABELS_MAX as u32);
    assert_eq!(labels.name(busyhour_sample::LABELS_MAX as u32), busyhour_sample::OTHER_LABELS);
    assert_eq!(labels.intern(b"item 7"), 7);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn rows_in_any_order_are_sorted(
        starts in prop::collection::vec(0u64..5_000, 1..200),
        // With the larger scale, the distances between starts exceed the range of the sort keys.
        scale in prop_oneof![Just(1u64), Just(1 << 40)],
        part in 1usize..40,
        swaps in prop::collection::vec((0usize..200, 0usize..200), 0..40),
    ) {
        let mut shuffled = starts.clone();
        for (a, b) in swaps {
            let (a, b) = (a % shuffled.len(), b % shuffled.len());
            shuffled.swap(a, b);
        }
        let row = |(at, start): (usize, &u64)| LogRow {
            start_ns: (start * scale) as i64, elapsed_ns: at as u64, latency_ns: None, late_ns: None, bytes: None, label: 0, group: None,
            thread: None, user: None, success: true,
        };
        let mut sorted: Vec<LogRow> = shuffled.iter().enumerate().map(row).collect();
        let read = |window_ns| {
            let mut order = InOrder::in_parts(window_ns, part);
            let mut out = Vec::new();
            sorted.iter().for_each(|row| order.push(*row, &mut |row| out.push(*row)));
            order.finish(&mut |row| out.push(*row)).map(|_| out)
        };
        let out = read(None).or_else(|late| read(Some(late.lag_ns)));
        // The sort is stable, so rows with equal starts keep their order.
        sorted.sort_by_key(|row| row.start_ns);
        let out = out.unwrap();
        prop_assert_eq!(out, sorted);
    }

    #[test]
    fn random_bytes_never_panic(head in 0usize..5, bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let heads = ["", "timeStamp,elapsed,label\n", "1,2,a,200,OK,T 1-1,text,true,3,4\n", "<testResults>",
            "<testResults><sample t=\"1\" ts=\""];
        let mut contents = heads[head].as_bytes().to_vec();
        contents.extend(bytes);
        let (_dir, log) = log(contents);
        if let Ok(log) = log {
            let _ = in_order(&log);
        }
    }

    #[test]
    fn commas_and_quotes_anywhere_never_panic(text in "[0-9a,\"\n\r]{0,300}") {
        let (_dir, log) = log(format!("timeStamp,elapsed,label,Latency\n{text}"));
        let _ = log.map(|log| in_order(&log));
    }
}
