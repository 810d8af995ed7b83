use std::fmt::Write as _;

use busyhour_sample::Snapshot;
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::read_snapshots::{RecordReading, read_snapshots_holding};

const NAMES: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,failureMessage,bytes,sentBytes,\
                     grpThreads,allThreads\n";

/// Rows of a run with two thread groups, errors, slow requests and a pause in which no request ends.
fn rows(count: u64) -> Vec<String> {
    let row = |at: u64| {
        let start_ms = 1_700_000_000_137 + at * 37 + at * at % 11;
        let pause = (1_000..1_120).contains(&at);
        let elapsed_ms = match at {
            _ if pause => (1_120 - at) * 37 + at % 3,
            _ if at % 997 == 3 => 45_000,
            _ => at * 7_919 % 60,
        };
        let (label, group) =
            [("home", "Buyers 1-"), ("login", "Sellers 2-"), ("pay", "Buyers 1-")][at as usize % 3];
        let failed = at % 23 == 5;
        let (code, message) = if failed { ("500", ["no", "never"][at as usize % 2]) } else { ("200", "OK") };
        let users = 10 + at / 100;
        format!(
            "{start_ms},{elapsed_ms},{label},{code},{message},{group}{},{},,{},{},5,{users}\n",
            at % 9 + 1,
            !failed,
            at % 300,
            at % 50
        )
    };
    (0..count).map(row).collect()
}

fn file(dir: &tempfile::TempDir, name: &str, rows: &[String]) -> ResultsInput {
    let path = dir.path().join(name);
    std::fs::write(&path, format!("{NAMES}{}", rows.concat())).unwrap();
    ResultsInput::path(path)
}

/// All results as text, except for the names of the files and the numbers of thread groups in them.
fn all(inputs: &[ResultsInput], held_max: usize, window_s: Option<(f64, f64)>) -> String {
    let inputs = || ResultsInput::try_clone_all(inputs).unwrap();
    let read = ReadSettings { groups: true, ..ReadSettings::default() };
    let settings = AggregateSettings { window_s, ..AggregateSettings::default() };
    let (replay, ()) =
        add_up_holding(inputs(), &read, &settings, &mut |_| (), &mut |_| {}, held_max).unwrap();
    let mut totals = replay.totals;
    for (number, group) in (0..).zip(&mut totals.groups) {
        group.group = number;
    }
    totals.active_groups.clear();
    let mut text = format!("{} {totals:?}\n", replay.wall_anchor_ms);
    let reading = RecordReading { read, window_s };
    let mut see = |snapshot: Snapshot| {
        let mut snapshot = snapshot;
        for row in &mut snapshot.rows {
            row.codes.sort_by(|a, b| a.code.cmp(&b.code));
            row.failures.sort_by(|a, b| a.message.cmp(&b.message));
        }
        let _ = writeln!(text, "{snapshot:?}");
    };
    let source = read_snapshots_holding(&inputs(), &reading, held_max, &mut see).unwrap();
    assert_eq!((source.late_samples, source.wall_anchor_ms), (0, replay.wall_anchor_ms));
    text
}

fn shuffled(mut rows: Vec<String>, seed: u64) -> Vec<String> {
    rows.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    rows
}

fn end_ms(row: &str) -> u64 {
    let number = |at: usize| row.split(',').nth(at).unwrap().parse::<u64>().unwrap();
    number(0) + number(1)
}

#[test]
fn rows_in_any_order_give_the_same_results() {
    let dir = tempfile::tempdir().unwrap();
    // The rows are sorted by start, as they were generated.
    let by_start = rows(1_600);
    let mut by_end = by_start.clone();
    by_end.sort_by_key(|row| end_ms(row));
    for window_s in [None, Some((10.0, 50.0))] {
        let expected = all(&[file(&dir, "by-end", &by_end)], HELD_SAMPLES_MAX, window_s);
        assert!(expected.contains("second: 44"), "{expected}");
        let of_start = all(&[file(&dir, "by-start", &by_start)], HELD_SAMPLES_MAX, window_s);
        assert_eq!(of_start, expected, "sorted by start");
        for seed in 0..2 {
            let rows = shuffled(by_start.clone(), seed);
            // With little memory, several readings are needed.
            for held_max in [HELD_SAMPLES_MAX, 300] {
                assert_eq!(all(&[file(&dir, "shuffled", &rows)], held_max, window_s), expected, "{seed}");
            }
        }
    }
}

#[test]
fn concatenated_files_give_the_results_of_the_files() {
    let dir = tempfile::tempdir().unwrap();
    let rows = rows(1_300);
    let of = |rest: usize| -> Vec<String> {
        let part = rows.iter().enumerate().filter(|(at, _)| at % 2 == rest);
        let mut part: Vec<String> = part.map(|(_, row)| row.clone()).collect();
        part.sort_by_key(|row| end_ms(row));
        part
    };
    let (one, two) = (of(0), of(1));
    let parts = [file(&dir, "one", &one), file(&dir, "two", &two)];
    let expected = all(&parts, HELD_SAMPLES_MAX, None);
    let reversed = [file(&dir, "two", &two), file(&dir, "one", &shuffled(one.clone(), 7))];
    assert_eq!(all(&reversed, 700, None), expected);
    // The users of two generators are added, but those of a concatenated file are not.
    let without_users = |text: &str| {
        let lines = text.lines().map(|line| {
            let (before, rest) = line.split_once("users: ").unwrap();
            let after =
                rest.split_once(if line.starts_with("Snapshot") { "arrivals: " } else { "first_start: " });
            format!("{before}{}\n", after.unwrap().1)
        });
        lines.collect::<String>()
    };
    let concatenated = all(&[file(&dir, "both", &[one, two].concat())], HELD_SAMPLES_MAX, None);
    assert_eq!(without_users(&concatenated), without_users(&expected));
}

#[test]
fn a_stream_is_read_once() {
    let rows = shuffled(rows(500), 1);
    let stream = || {
        let bytes = std::io::Cursor::new(format!("{NAMES}{}", rows.concat()).into_bytes());
        vec![ResultsInput { name: "stream".into(), from: super::super::ResultsFrom::Stream(Box::new(bytes)) }]
    };
    let settings = AggregateSettings::default();
    let (replay, ()) =
        aggregate_inputs(stream(), &ReadSettings::default(), &settings, &mut |_| (), &mut |_| {}).unwrap();
    assert_eq!(replay.totals.total.samples, 500);
    assert_eq!(replay.totals.seconds.iter().map(|second| second.requests).sum::<u64>(), 500);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn any_permutation_gives_the_same_results(
        times in prop::collection::vec((0u64..200_000, 0u64..90_000, 0u8..4), 1..120),
        seed: u64,
        held_max in 10usize..200,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let row = |(start_ms, elapsed_ms, label): &(u64, u64, u8)| {
            let success = label % 2 == 0;
            format!("{},{elapsed_ms},{label},200,OK,tg {label}-1,{success},,1,1,1,{label}\n", 1_000_000 + start_ms)
        };
        let rows: Vec<String> = times.iter().map(row).collect();
        let expected = all(&[file(&dir, "a", &rows)], HELD_SAMPLES_MAX, None);
        prop_assert_eq!(all(&[file(&dir, "b", &shuffled(rows, seed))], held_max, None), expected);
    }
}
