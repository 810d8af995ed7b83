use std::time::Duration;

use busyhour_analysis::thresholds::{Criterion, Judge, Meaning, RunMeasures};
use busyhour_sample::{
    ArrivalsInSecond, ChangedFrom, ControlEvent, LiveArrivals, LoadChange, Nanos, OutcomeTimes, SampleKind,
    SecondUsers, Snapshot, SnapshotRow, TimeCounts,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;

/// A second with samples of three labels; `Checkout` is slow in the seconds 20 to 25.
fn second(second: u64) -> Snapshot {
    let row = |label: &str, count: u64, ms: u64, failed: u64| {
        let times =
            |from: u64, to: u64| TimeCounts::from_ns((from..to).map(|n| (ms * 1_000 + n * n * 137) * 1_000));
        let outcome = OutcomeTimes { passed: times(0, count - failed), failed: times(count - failed, count) };
        SnapshotRow {
            samples: count,
            errors: failed,
            service: outcome.clone(),
            response: outcome,
            ..SnapshotRow::new(label, SampleKind::Request)
        }
    };
    let slow = if (20..26).contains(&second) { 900 } else { 40 };
    Snapshot {
        second,
        whole: true,
        rows: vec![
            row("Home", 120 + second % 7, 4, 0),
            row(
                "Search\twith a tab, and a name that is longer than there is room for in a narrow column",
                30,
                12,
                0,
            ),
            row("Checkout", 12, slow, u64::from(second % 10 == 3)),
        ],
        users: Some(SecondUsers {
            at_end: 9 + (second % 4) as u32,
            min: 3,
            max: 9 + (second % 4) as u32,
            sum: 6,
            samples: 1,
        }),
        arrivals: Some(ArrivalsInSecond {
            scheduled: 160,
            begun: 159,
            waited: 0,
            dropped: u64::from(second == 22),
        }),
        regularity: Some(LiveArrivals { cov: 0.987, gaps: 1_500 }),
        late_samples: 0,
    }
}

fn run(seconds: u64) -> LiveRun {
    let criteria = ["p95 of Checkout < 800ms over 5s", "errors < 1%"]
        .map(|text| Criterion::parse(text, Meaning::Require).unwrap());
    let (mut judge, mut run) = (Judge::new(criteria.into()), LiveRun::new());
    for number in 0..seconds {
        let second = second(number);
        let _ = judge.second(&second);
        run.take(&second, &judge.so_far(&RunMeasures::default()));
    }
    run
}

fn screen(columns: u16, rows: u16, shown: &Shown<'_>) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| draw(frame, shown)).unwrap();
    terminal.backend().to_string()
}

fn state(phase: RunPhase) -> LoadState {
    let change =
        |at_s, change| ControlEvent { at_ns: Nanos::from_secs(at_s), change, from: ChangedFrom::Terminal };
    LoadState {
        phase,
        factor: 1.25,
        elapsed: Duration::from_secs(41),
        length: Some(Duration::from_secs(120)),
        active: 11,
        changes: vec![change(12, LoadChange::Rate { factor: 1.25 }), change(40, LoadChange::Pause)],
    }
}

fn shown<'s>(run: &'s LiveRun, state: &'s LoadState) -> Shown<'s> {
    Shown {
        title: "Ticket shop",
        run,
        state,
        has_rate: true,
        message: "",
        help: false,
        unwritten: 0,
        page: None,
        colour: true,
    }
}

#[test]
fn the_minimum_size_shows_all_parts() {
    let (run, state) = (run(40), state(RunPhase::Paused));
    insta::assert_snapshot!(screen(100, 28, &shown(&run, &state)));
}

#[test]
fn a_large_screen_shows_more_of_the_run() {
    let (run, state) = (run(200), state(RunPhase::Running));
    insta::assert_snapshot!(screen(140, 40, &Shown { help: true, ..shown(&run, &state) }));
}

#[test]
fn before_the_first_second_values_are_unknown() {
    let (run, state) = (LiveRun::new(), LoadState { factor: 1.0, ..LoadState::default() });
    let shown = Shown { has_rate: false, message: "waiting", unwritten: 1, ..shown(&run, &state) };
    insta::assert_snapshot!(screen(100, 28, &shown));
}

#[test]
fn very_small_terminals_do_not_panic() {
    let (run, state) = (run(40), state(RunPhase::Stopping));
    for (columns, rows) in [(1, 1), (20, 5), (60, 12), (300, 3), (12, 90)] {
        screen(columns, rows, &Shown { help: true, ..shown(&run, &state) });
    }
}

#[test]
fn a_terminal_of_80_by_24_shows_whole_numbers() {
    let (run, state) = (run(40), state(RunPhase::Running));
    let page = Some("http://127.0.0.1:8912/?token=0123456789abcdef");
    insta::assert_snapshot!(screen(80, 24, &Shown { page, ..shown(&run, &state) }));
}

#[test]
fn long_numbers_are_complete_or_omitted() {
    let mut run = LiveRun::new();
    let mut many = second(0);
    let times = TimeCounts::from_ns((0..10_000).map(|n| 123_456_000_000 + n));
    let passed = OutcomeTimes { passed: times.clone(), failed: TimeCounts::default() };
    let failed = OutcomeTimes { passed: TimeCounts::default(), failed: times };
    let row = |label: &str, errors, outcome: OutcomeTimes| SnapshotRow {
        samples: 10_000,
        errors,
        service: outcome.clone(),
        response: outcome,
        ..SnapshotRow::new(label, SampleKind::Request)
    };
    many.rows = vec![row("good", 0, passed), row("bad", 10_000, failed)];
    run.take(&many, &[]);
    let state = state(RunPhase::Running);
    for (columns, rows) in [(80, 24), (100, 28)] {
        let text = screen(columns, rows, &shown(&run, &state));
        // Numbers for the last second and for the whole run. The percentage fits only into the column for the whole run.
        for number in ["20,000", "10,000", "10,000 (50.00 %)", "123,456"] {
            assert!(text.contains(number), "{number} at {columns} by {rows}: {text}");
        }
    }
}
