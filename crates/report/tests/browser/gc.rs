//! Pages of garbage-collection logs.

use busyhour_gclog::{GcComparison, GcLogReader, GcSummary};
use busyhour_report::{NamedGcLog, gc_comparison_html, gc_html};

use crate::sample::HOSTILE;

fn log(lines: &[String]) -> NamedGcLog {
    let mut reader = GcLogReader::new();
    lines.iter().for_each(|line| reader.line(line));
    NamedGcLog { name: format!("logs/{HOSTILE}"), summary: GcSummary::of(&reader.finish()) }
}

/// Young collections with seven causes. Every 20th collection is a full one, after which the heap in use has grown by
/// `growth_kib`.
fn parallel(events: usize, growth_kib: usize) -> NamedGcLog {
    let line = |at: usize| {
        let (kind, young_kib, ms) = match at % 20 {
            0 => ("Full (Ergonomics)".to_owned(), 0, 80.0),
            // The cause is a part of the log, so it may contain any text.
            1 => (format!("Young ({HOSTILE})"), 1_000, 0.0),
            young => (format!("Young (Cause {})", young % 6), 1_000 * young, 1.0 + young as f64 / 8.0),
        };
        let after_kib = 20_000 + at / 20 * 20 * growth_kib + young_kib;
        let (time_s, before_kib) = (at as f64 / 7.0, after_kib + 30_000);
        format!(
            "[{time_s:.3}s][info][gc] GC({at}) Pause {kind} {before_kib}K->{after_kib}K(262144K) {ms:.3}ms"
        )
    };
    log(&(1..=events).map(line).collect::<Vec<_>>())
}

fn generational_zgc() -> NamedGcLog {
    let lines = (0..60).flat_map(|at| {
        let (time_s, kind) = (f64::from(at) * 1.5, if at % 3 == 0 { "Major" } else { "Minor" });
        let part = if at % 3 == 0 { 'O' } else { 'Y' };
        [
            format!("[{time_s:.3}s][info][gc,phases] GC({at}) {part}: Pause Mark Start 0.0{}ms", 10 + at),
            format!(
                "[{:.3}s][info][gc] GC({at}) {kind} Collection (Proactive) 90M(9%)->{}M(2%) 0.1s",
                time_s + 0.1,
                20 + at % 5
            ),
        ]
    });
    log(&lines.collect::<Vec<_>>())
}

/// The pages with their names.
pub fn pages() -> Vec<(&'static str, String)> {
    let (before, after) = (parallel(2_000, 30), parallel(900, 0));
    let comparison = GcComparison::of(&before.summary, &after.summary);
    vec![
        ("gc-leak", gc_html(&before)),
        ("gc-one-collection", gc_html(&parallel(1, 0))),
        ("gc-zgc", gc_html(&generational_zgc())),
        ("gc-long", gc_html(&parallel(40_000, 0))),
        ("gc-comparison", gc_comparison_html(&before, &after, &comparison)),
    ]
}
