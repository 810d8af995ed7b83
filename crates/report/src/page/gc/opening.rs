//! The first screen: the cost of the pauses, the verdict on live memory, and misleading figures.

use busyhour_gclog::{FigureChange, GcComparison, GcSummary, LeakVerdict};
use maud::{Markup, html};

use super::super::markup::{capital, caveat_list, mark};
use super::figures::with_code;
use super::series::pause;
use crate::gc_words::{NamedGcLog, gc_collector, gc_comparison_notes, gc_live_memory};
use crate::numbers::{counted, duration, percent, thousands};
use crate::terminal_text::printable;

pub(super) fn title(log: &NamedGcLog) -> String {
    format!("{}: garbage collection", file_name(&log.name))
}

/// The name without directories.
fn file_name(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, file)| file)
}

/// Both names. Directories are omitted if the names differ without them.
pub(super) fn comparison_title(before: &NamedGcLog, after: &NamedGcLog) -> String {
    match (file_name(&before.name), file_name(&after.name)) {
        (one, two) if one != two => format!("{one} → {two}"),
        _ => format!("{} → {}", before.name, after.name),
    }
}

/// The collector, the counts of collections, and the time that the log covers.
pub(super) fn subtitle(log: &NamedGcLog) -> String {
    let summary = &log.summary;
    let count = |name: &str| summary.figure(name).and_then(|figure| figure.value).map_or(0, |n| n as u64);
    let (full, others) = (count("fullGcPauseCount"), count("gcPauseCount"));
    let mut parts = vec![
        gc_collector(summary),
        format!("{}, {} full", counted(full + others, "collection"), thousands(full)),
    ];
    parts.extend(value(summary, "totalTime").map(duration));
    parts.extend(start(summary));
    parts.join(" · ")
}

/// The time of day at second 0 of the log's clock.
fn start(summary: &GcSummary) -> Option<String> {
    let stamp = jiff::Timestamp::from_millisecond(summary.series.origin_ms?).ok()?;
    Some(format!("second 0 is {}", stamp.strftime("%Y-%m-%d %H:%M:%S UTC")))
}

pub(super) fn comparison_subtitle(before: &NamedGcLog, after: &NamedGcLog) -> String {
    let of = |log: &NamedGcLog| {
        let total =
            value(&log.summary, "totalTime").map(|s| format!(", {}", duration(s))).unwrap_or_default();
        format!("{}{total}", gc_collector(&log.summary))
    };
    format!("before: {} · after: {}", of(before), of(after))
}

fn value(summary: &GcSummary, name: &str) -> Option<f64> {
    summary.figure(name)?.value
}

pub(super) fn opening(log: &NamedGcLog) -> Markup {
    let summary = &log.summary;
    let caveats = summary.caveats.iter().map(|caveat| (caveat.text.as_str(), None));
    html! {
        section aria-label="Result" {
            p.headline { (headline(summary)) }
            p.headline { (verdict(summary)) }
            (tiles(summary))
        }
        @if !summary.caveats.is_empty() {
            (caveat_list("Where figures mislead", "caveats-title", caveats))
            "\n"
        }
    }
}

/// A sentence on the time that pauses cost the application.
pub(super) fn headline(summary: &GcSummary) -> Markup {
    let Some(pauses) = &summary.statistics.pauses else {
        let reason = summary.figure("accumPause").and_then(|figure| figure.unavailable);
        let why = reason.map_or("the log has no pauses", |reason| reason.reason());
        return html! { "The length of pauses is unavailable: " (with_code(why)) "." };
    };
    let (sum_s, total_s) =
        (value(summary, "accumPause").unwrap_or(pauses.sum_s), value(summary, "totalTime"));
    let of_total = match (total_s, value(summary, "throughput")) {
        (Some(total_s), Some(throughput)) => {
            format!(" of {} ({}\u{a0}%)", duration(total_s), percent(100.0 - throughput))
        }
        _ => String::new(),
    };
    html! {
        (counted(pauses.n as u64, "pause")) " stopped the application for "
        (if sum_s < 1.0 { pause(sum_s) } else { duration(sum_s) }) (of_total) "; the longest took " (pause(pauses.max_s)) "."
    }
}

/// The most important figures.
fn tiles(summary: &GcSummary) -> Markup {
    let figure =
        |name: &str| summary.figure(name).map_or_else(|| "–".to_owned(), |figure| figure.with_unit());
    let pauses = summary.statistics.pauses.as_ref();
    let p99 = pauses.map_or_else(|| "–".to_owned(), |pauses| pause(pauses.p99_s));
    let tiles = [
        ("throughput", figure("throughput")),
        ("99th percentile of pauses", p99),
        ("worst second in pauses", figure("worstSecondPausedPc")),
        ("allocated", figure("allocationRate")),
        ("footprint", figure("footprint")),
    ];
    html! {
        dl.tiles {
            @for (name, figure) in &tiles {
                div.tile { dt { (name) } dd { @if figure == "unavailable" { "–" } @else { (figure) } } }
            }
        }
    }
}

/// The verdict on live memory.
pub(super) fn verdict(summary: &GcSummary) -> Markup {
    let (class, words, text) = match summary.leak {
        LeakVerdict::Leak(_) => ("bad", "leak", gc_live_memory(&summary.leak)),
        LeakVerdict::NoLeak(_) => ("good", "no leak", gc_live_memory(&summary.leak)),
        LeakVerdict::Undecided { reason, .. } => ("open", "leak undecided", capital(&reason.reason())),
    };
    html! { (mark(class, words)) ": " (with_code(&text)) "." }
}

pub(super) fn comparison_opening(
    before: &NamedGcLog,
    after: &NamedGcLog,
    comparison: &GcComparison,
) -> Markup {
    let of = |log: &NamedGcLog, word: &str| -> Vec<String> {
        log.summary.caveats.iter().map(|caveat| format!("{word}: {}", caveat.text)).collect()
    };
    let mut caveats = gc_comparison_notes(comparison);
    caveats.extend(of(before, "before"));
    caveats.extend(of(after, "after"));
    html! {
        section aria-label="Result" {
            p.headline { (comparison_headline(comparison)) }
            @for log in [before, after] {
                p { (printable(file_name(&log.name))) ": " (headline(&log.summary)) " " (verdict(&log.summary)) }
            }
        }
        (caveat_list(
            "Before you rely on this",
            "caveats-title",
            caveats.iter().map(|caveat| (caveat.as_str(), None)),
        ))
        "\n"
    }
}

/// The number of figures that became better, and of those that became worse.
fn comparison_headline(comparison: &GcComparison) -> String {
    let count =
        |change: FigureChange| comparison.figures.iter().filter(|figure| figure.change == change).count();
    let (better, worse) = (count(FigureChange::Better), count(FigureChange::Worse));
    format!(
        "Of {}, {better} are better and {worse} are worse.",
        counted((better + worse + count(FigureChange::Same)) as u64, "comparable figure")
    )
}
