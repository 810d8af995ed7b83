//! Reads inputs with 10 to 100,000 equal parts. If work grew faster than their number, these tests would not end.

use busyhour_gclog::{GcLog, GcLogReader, GcSummary};

fn read<'l>(lines: impl IntoIterator<Item = &'l str>) -> GcLog {
    let mut reader = GcLogReader::new();
    lines.into_iter().for_each(|line| reader.line(line));
    reader.finish()
}

#[test]
fn long_lines_are_read_in_bounded_time() {
    for count in [10, 1_000, 50_000] {
        for part in [
            "[",
            "]",
            "[]",
            "(",
            "()",
            "[0.5s]",
            "[gc]",
            "[info][gc] ",
            "GC(1) ",
            "1K->1K(1K) ",
            " 1",
            "9",
            "[GC ",
            "1.0: [GC concurrent-mark-start]",
            "1.0: [G1Ergonomics x]",
            "Desired survivor size ",
            "- age 1 total ",
            "AdaptiveSize",
            "Total time for which application threads were stopped: ",
            "\u{221e}",
        ] {
            for start in ["", "[0.5s][info][gc] GC(1) Pause Young ", "1.0: [GC "] {
                let line = format!("{start}{}", part.repeat(count));
                let log = read([line.as_str()]);
                assert_eq!(log.lines.total, 1);
                assert!(log.events.len() <= 20, "{}", log.events.len());
            }
        }
    }
}

#[test]
fn many_lines_of_one_event_are_damage() {
    for count in [10, 1_000, 100_000] {
        let lines = std::iter::once("1.0: [GC 1.0: [ParNew").chain(std::iter::repeat_n("x[y", count));
        let log = read(lines);
        assert_eq!(log.events.len(), 0);
        assert!(log.lines.damaged > 0);
        assert_eq!(log.lines.total, count as u64 + 1);
    }
}

#[test]
fn many_open_collections_and_causes_are_bounded() {
    let lines: Vec<String> = (0..40_000)
        .map(|id| {
            if id % 2 == 0 {
                format!("[1.0s][info][gc,heap] GC({id}) DefNew: 5K->1K(9K)")
            } else {
                format!("[1.0s][info][gc] GC({id}) Pause Full (Cause {id}) 5K->1K(9K) 1.0ms")
            }
        })
        .collect();
    let log = read(lines.iter().map(String::as_str));
    assert_eq!(log.events.len(), 20_000);
    assert_eq!(log.causes().len(), 256);
    assert_eq!(log.causes().last().map(String::as_str), Some("(other)"));
}

#[test]
fn long_logs_have_bounded_series() {
    let line = |at: usize| {
        let time_s = at as f64 * 0.01;
        format!(
            "[{time_s:.3}s][info][gc] GC({at}) Pause Young (Mixed) (G1 Evacuation Pause) 90M->40M(96M) 1.000ms"
        )
    };
    let lines: Vec<String> = (1..=50_000).map(line).collect();
    let summary = GcSummary::of(&read(lines.iter().map(String::as_str)));
    assert!(summary.series.pauses.len() <= 5_000);
    assert!(summary.series.heap_after.len() <= 5_000);
    assert!(summary.series.allocation.len() <= 300, "{}", summary.series.allocation.len());
    assert_eq!(summary.figure("gcPauseCount").unwrap().value, Some(50_000.0));
    // 1 ms of each 10 ms.
    let throughput = summary.figure("throughput").unwrap().value.unwrap();
    assert!((throughput - 90.0).abs() < 0.01, "{throughput}");
}

#[test]
fn thinned_series_keep_the_extremes() {
    let line = |at: usize| {
        let time_s = at as f64 * 0.01;
        let (before, after, ms) = match at {
            20_001 => (95, 3, 77.0),
            _ => (90, 40, 1.0),
        };
        format!(
            "[{time_s:.3}s][info][gc] GC({at}) Pause Full (Ergonomics) {before}M->{after}M(96M) {ms:.3}ms"
        )
    };
    let lines: Vec<String> = (1..=50_000).map(line).collect();
    let series = GcSummary::of(&read(lines.iter().map(String::as_str))).series;
    assert!(series.live.len() <= 5_000);
    assert_eq!(series.live.iter().map(|size| size.kib).min(), Some(3 << 10));
    let smallest = series.heap_after.iter().min_by_key(|point| point.used_kib).unwrap();
    assert_eq!((smallest.used_kib, smallest.before_kib, smallest.time_s), (3 << 10, 95 << 10, 200.01));
    assert!(series.pauses.iter().any(|pause| pause.duration_s == 0.077));
    assert!(series.promotion.is_empty(), "the log has no sizes of generations");
}
