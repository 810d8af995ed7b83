//! Result files in which one part is repeated up to a million times. Reading such a file takes time in proportion to
//! its length, and memory for a limited number of labels, kinds of error and nested samples.

mod generated_parts;

use std::io::Cursor;

use busyhour_limits::repeated::{
    COUNTS, COUNTS_UNOPTIMIZED, Repeated, check_generated, read_all, read_counts,
};
use busyhour_results::{
    AggregateSettings, ReadSettings, ReplayedRun, Results, ResultsError, ResultsFrom, ResultsInput,
};
use busyhour_sample::SampleKind;

const fn repeated(before: &'static str, part: &'static str, after: &'static str) -> Repeated<'static> {
    Repeated { before, part, after }
}

fn read(text: &str) -> Result<ReplayedRun, ResultsError> {
    let stream = Cursor::new(text.as_bytes().to_vec());
    let input = ResultsInput { name: "many".into(), from: ResultsFrom::Stream(Box::new(stream)) };
    let settings = ReadSettings { all_columns: true, groups: true, ..ReadSettings::default() };
    Results::open(vec![input], &settings)?.add_up(&AggregateSettings::default(), |_| {}, &mut |_| {})
}

/// Maximum number of labels and kinds of error.
const ROWS_MAX: usize = 1_000;

const HEAD: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success\n";

/// Rows of a CSV after [`HEAD`]. The functions compute the numbers of labels and of kinds of error from the number of
/// rows.
const ROWS: &[(&str, fn(usize) -> usize, fn(usize) -> usize)] = &[
    ("1700000000000,1,home,200,OK,T 1-1,true\n", |_| 1, |_| 0),
    ("1700000000000,1,label ~,200,OK,T 1-1,true\n", |count| count, |_| 0),
    ("1700000000000,1,home,5~,message ~,T 1-1,false\n", |_| 1, |count| count),
    ("1700000000000,1,label ~,500,message ~,T 1-1,false\n", |count| count, |count| count),
    ("1700000000000,1,home,200,OK,Group ~ 1-1,true\n", |_| 1, |_| 0),
];

/// Rows with odd cells, rows with empty lines between them, or rows that are not in the order of their times.
const ODD_ROWS: &[(&str, fn(usize) -> usize, fn(usize) -> usize)] = &[
    ("1700000000000,1,\"a,\"\"b\"\"\nc\",200,OK,T 1-1,true\n", |_| 1, |_| 0),
    ("1700000000000,1,home,200,OK,T 1-1,true\n\n", |_| 1, |_| 0),
    ("1700000000000,~,home,200,OK,T 1-1,true\n", |_| 1, |_| 0),
    ("1700000~,1,home,200,OK,T 1-1,true\n1700000000000,1,home,200,OK,T 1-1,true\n", |_| 1, |_| 0),
    ("1700000~000,1,home,200,OK,T 1-1,true\n1700000000000,1,home,200,OK,T 1-1,true\n", |_| 1, |_| 0),
];

fn check(replay: &ReplayedRun, case: &str, samples: Option<u64>, labels: usize, kinds: usize) {
    let totals = &replay.totals;
    if let Some(samples) = samples {
        assert_eq!(totals.total.samples, samples, "{case}");
    }
    let requests = totals.labels.iter().filter(|label| label.kind == SampleKind::Request).count();
    let with_others = |number: usize| if number > ROWS_MAX { ROWS_MAX + 1 } else { number };
    assert_eq!(requests, with_others(labels), "{case}");
    assert_eq!(totals.errors.len(), kinds.min(ROWS_MAX), "{case}");
    let counted: u64 = totals.labels.iter().map(|label| label.totals.samples).sum();
    assert!(counted >= totals.total.samples, "{case}");
}

/// A million rows of one kind take about 8 s in a build without optimization.
fn check_rows(rows: &[(&'static str, fn(usize) -> usize, fn(usize) -> usize)]) {
    for (row, labels, kinds) in rows {
        let input = repeated(HEAD, row, "");
        read_counts(&[input], &COUNTS_UNOPTIMIZED, |input, count, text| {
            let case = format!("{count} rows: {input:?}");
            let replay = read(text).unwrap_or_else(|error| panic!("{case}: {}", error.source));
            let rows = if row.starts_with("1700000~") { None } else { Some(count as u64) };
            check(&replay, &case, rows, labels(count), kinds(count));
        });
    }
}

#[test]
fn rows_of_many_kinds_take_linear_time() {
    check_rows(ROWS);
}

#[test]
fn odd_rows_take_linear_time() {
    check_rows(ODD_ROWS);
}

#[test]
fn columns_and_cells_of_many_parts_take_linear_time() {
    let inputs = [
        repeated("timeStamp,elapsed,label,success", ",c~", "\n1700000000000,1,home,true\n"),
        repeated("timeStamp,elapsed,label,success", ",label", "\n1700000000000,1,home,true\n"),
        repeated("timeStamp,elapsed,label,success\n1700000000000,1,home,true", ",x", "\n"),
        repeated("1700000000000,1,home,200,OK,T 1-1,text,true,1,1", ",1", "\n"),
        repeated("timeStamp,elapsed,label,success\n1700000000000,1,\"", "\"\"", "\",true\n"),
        repeated("timeStamp,elapsed,label,success\n1700000000000,1,\"", "\n", "\",true\n"),
        repeated("timeStamp,elapsed,label,success\n1700000000000,1,home,true\n", "\"", "\n"),
        repeated("timeStamp,elapsed,label,success\n1700000000000,1,home,true\n", "x\n", "\n"),
        repeated("timeStamp,elapsed,label,success\n1700000000000,1,home,true\n", ",", "\n"),
        repeated("timeStamp,elapsed,label,success\n1700000000000,1,home,true\n", "\n", ""),
        repeated("", "\n", "timeStamp,elapsed,label,success\n1700000000000,1,home,true\n"),
        repeated("", "\"", ""),
        repeated("", ",", ""),
        repeated("", "\0", ""),
    ];
    read_all(&inputs, |input, count, text| match read(text) {
        Ok(replay) => assert!(replay.totals.total.samples <= 1, "{count} parts: {input:?}"),
        Err(error) => assert!(error.source.to_string().len() < 2_000, "{count} parts: {input:?}"),
    });
}

const XML: &str = "<?xml version=\"1.0\"?><testResults version=\"1.2\">";

#[test]
fn samples_of_many_kinds_in_xml_take_linear_time() {
    let cases: &[(&str, fn(usize) -> usize, fn(usize) -> usize)] = &[
        ("<sample t='1' ts='1700000000000' s='true' lb='home'/>", |_| 1, |_| 0),
        ("<sample t='1' ts='1700000000000' s='true' lb='label ~'/>", |count| count, |_| 0),
        ("<sample t='1' ts='1700000000000' s='false' lb='home' rc='~' rm='m'/>", |_| 1, |count| count),
        ("<sample t='1' ts='1700000000000' s='true' lb='home' v~='x'/>", |_| 1, |_| 0),
        ("<sample t='1' ts='1700000000000' s='true' lb='home' tn='Group ~ 1-1'/>", |_| 1, |_| 0),
    ];
    for (sample, labels, kinds) in cases {
        read_counts(&[repeated(XML, sample, "</testResults>")], &COUNTS_UNOPTIMIZED, |input, count, text| {
            let case = format!("{count} samples: {input:?}");
            let replay = read(text).unwrap_or_else(|error| panic!("{case}: {}", error.source));
            check(&replay, &case, Some(count as u64), labels(count), kinds(count));
        });
    }
}

#[test]
fn parts_of_a_sample_in_xml_are_limited() {
    const OPEN: &str = "<?xml version=\"1.0\"?><testResults version=\"1.2\"><sample t='1' ts='1700000000000' s='true' lb='home'/>\
        <sample t='1' ts='1700000000000' s='true' lb='home'";
    let inputs = [
        (repeated("", " v~='x'", "/>"), 2, 2),
        (repeated("", " lb='home'", "/>"), 2, 2),
        (repeated("", " rm='&amp;'", "/>"), 2, 2),
        (repeated(">", "<sample t='1' ts='1700000000000' lb='in'/>", "</sample>"), 2, 1),
        (
            repeated(
                ">",
                "<assertionResult><failureMessage>x</failureMessage></assertionResult>",
                "</sample>",
            ),
            2,
            2,
        ),
        (repeated("><java.net.URL>", "&amp;", "</java.net.URL></sample>"), 2, 2),
        (repeated("><java.net.URL>", "x<b/>", "</java.net.URL></sample>"), 2, 2),
        (repeated(">", "<!-- c -->", "</sample>"), 2, 2),
        (repeated("/>", "</sample>", ""), 2, 2),
        (repeated("/>", "<other/>", ""), 2, 2),
        (repeated(">", "<sample t='1' ts='1700000000000' lb='in'>", ""), 1, 1),
    ];
    for (input, few, million) in inputs {
        let before = format!("{OPEN}{}", input.before);
        let after = format!("{}</testResults>", input.after);
        let input = Repeated { before: &before, after: &after, ..input };
        // Only nested samples have a limit beyond 100,000.
        let counts = if million < few { &COUNTS } else { &COUNTS_UNOPTIMIZED };
        read_counts(&[input], counts, |input, count, text| match read(text) {
            Ok(replay) => {
                let expected = if count == COUNTS[2] { million } else { few };
                assert_eq!(replay.totals.total.samples, expected, "{count} parts: {input:?}");
                let nested: u64 = (replay.totals.labels.iter())
                    .filter(|label| label.kind == SampleKind::SubResult)
                    .map(|label| label.totals.samples)
                    .sum();
                assert!(nested <= 100_000);
            }
            Err(error) => {
                let message = error.source.to_string();
                assert!(message.len() < 2_000, "{count} parts: {input:?}");
                assert!(
                    text.contains("/></sample>") || text.contains("lb='in'>"),
                    "{count} parts: {input:?} {message}"
                );
            }
        });
    }
}

/// A brief run of what the fuzz target `parts` checks, with a fixed seed.
#[test]
fn generated_parts_are_read_or_limited() {
    check_generated(20_120_316, 150, |bytes| generated_parts::check(bytes, 2_000));
}
