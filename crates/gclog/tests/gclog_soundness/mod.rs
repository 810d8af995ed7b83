//! Properties that hold for arbitrary bytes that are read as a garbage-collection log: reading ends, the counts of
//! lines add up, and no figure is infinite or NaN. The fuzz target `gclog` and tests with fixed seeds use it.

use busyhour_gclog::{FigureChange, GcComparison, GcLog, GcLogReader, GcSummary};

/// Reads bytes as a log and checks it.
pub fn check(bytes: &[u8]) {
    let mut reader = GcLogReader::new();
    let mut lines = 0;
    let mut events = 0;
    for line in bytes.split(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(line);
        reader.line(&line);
        lines += 1;
        let now = reader.events().len();
        assert!(now >= events, "events are only added at the end");
        // A line has at most one event that its thread wrote and 16 events that other threads wrote into it, and
        // completes at most one earlier event.
        assert!(now - events <= 24, "{} events on a line", now - events);
        events = now;
    }
    let log = reader.finish();
    assert_eq!(log.lines.total, lines);
    let counted = log.lines.events + log.lines.details + log.lines.other + log.lines.damaged;
    assert_eq!(counted, lines, "{:?}", log.lines);
    check_events(&log);
    let summary = GcSummary::of(&log);
    if !bytes.contains(&b'\r') && !bytes.ends_with(b"\n") && !bytes.is_empty() {
        let mut reader = GcLogReader::new();
        bytes.chunks(61).for_each(|piece| reader.feed(piece));
        assert_eq!(
            GcSummary::of(&reader.finish()),
            summary,
            "the summary does not depend on how the file is divided into pieces"
        );
    }
    check_summary(&summary);
    let comparison = GcComparison::of(&summary, &summary);
    assert!(
        comparison
            .figures
            .iter()
            .all(|figure| matches!(figure.change, FigureChange::Same | FigureChange::Unknown))
    );
}

fn check_events(log: &GcLog) {
    for event in &log.events {
        for seconds in [event.duration_s, event.cycle_pauses_s, event.stamp.uptime_s].into_iter().flatten() {
            assert!(seconds.is_finite() && seconds >= 0.0, "{event:?}");
        }
        if let Some(heap) = event.heap {
            assert!(heap.before_kib >= 0 && heap.after_kib >= 0, "{event:?}");
        }
        assert!(event.cause.is_none() || log.cause(event).is_some());
    }
    assert!(log.causes().len() <= 256);
}

fn check_summary(summary: &GcSummary) {
    assert!(summary.figures.len() > 90);
    for row in summary.figures.iter().chain(&summary.more_figures) {
        assert_eq!(row.value.is_none(), row.unavailable.is_some(), "{row:?}");
        assert!(row.value.is_none_or(f64::is_finite), "{row:?}");
        assert!(!row.text.contains("NaN") && !row.text.contains("inf"), "{row:?}");
    }
    let series = &summary.series;
    assert!(series.pauses.is_sorted_by(|one, two| one.time_s <= two.time_s));
    assert!(series.heap_after.is_sorted_by(|one, two| one.time_s <= two.time_s));
    assert!(series.allocation.iter().all(|rate| rate.kib_per_s.is_finite() && rate.from_s < rate.to_s));
    assert!(summary.caveats.iter().all(|caveat| !caveat.text.contains("NaN")));
    let json = serde_json::to_value(summary).unwrap();
    assert!(json["lines"]["total"].is_u64());
    assert_eq!(summary.to_csv().lines().count(), summary.figures.len() + summary.more_figures.len());
}
