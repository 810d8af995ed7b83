//! The first screen: the number of problems, the differences from the baseline, and notes on incomplete counts.

use busyhour_logs::Differences;
use maud::{Markup, html};

use super::super::markup::{caveat_list, mark};
use super::content::LogPage;
use crate::log_words::{NamedLog, log_comparison_note, log_entries, log_extent, log_notes};
use crate::numbers::{counted, percent, rate, thousands};
use crate::terminal_text::printable;

/// The name without directories.
fn file_name(log: &NamedLog) -> &str {
    log.name.rsplit_once('/').map_or(&log.name, |(_, file)| file)
}

pub(super) fn title(page: &LogPage<'_>) -> String {
    match &page.baseline {
        Some(baseline) => format!("{} → {}", file_name(baseline.log), file_name(page.log)),
        None => format!("{}: problems", file_name(page.log)),
    }
}

pub(super) fn subtitle(page: &LogPage<'_>) -> String {
    let extent = log_extent(page.log, page.zone);
    match &page.baseline {
        Some(baseline) => format!("{extent} · baseline: {}", log_extent(baseline.log, page.zone)),
        None => extent,
    }
}

pub(super) fn opening(page: &LogPage<'_>) -> Markup {
    let mut notes = log_notes(&page.log.counts);
    if let Some(baseline) = &page.baseline {
        let comparison = baseline.comparison;
        notes.push(log_comparison_note(comparison.too_short.as_ref(), comparison.false_discovery_rate));
    }
    html! {
        section aria-label="Result" {
            p.headline { (headline(page.log)) }
            @if let Some(baseline) = &page.baseline {
                p.headline { (changes(&baseline.comparison.templates)) }
            }
            (tiles(page))
        }
        @if !notes.is_empty() {
            (caveat_list("Before you rely on this", "caveats-title", notes.iter().map(|note| (note.as_str(), None))))
            "\n"
        }
    }
}

fn headline(log: &NamedLog) -> String {
    let (problems, entries) = (log.counts.matching, log.entries_in_time());
    let share = match entries {
        0 => String::new(),
        entries => format!(" ({}\u{a0}%)", percent(100.0 * problems as f64 / entries as f64)),
    };
    let verb = if problems == 1 { "reports" } else { "report" };
    format!("{} of {} {verb} a problem{share}.", thousands(problems), log_entries(entries))
}

/// The number of templates that are new or more frequent.
fn changes(templates: &Differences) -> Markup {
    let all = || templates.new.iter().chain(&templates.risen);
    let significant = all().filter(|one| one.is_significant).count() as u64;
    let too_short = all().any(|one| one.is_too_short);
    html! {
        @match (templates.new.len() + templates.risen.len(), significant) {
            (0, _) => { (mark("good", "no change")) ": no problem is new or more frequent than in the baseline." }
            (count, significant) => {
                @match (significant, too_short) {
                    (0, true) => (mark("open", "too short to tell")),
                    (0, false) => (mark("open", "may be chance")),
                    _ => (mark("bad", "worse")),
                }
                ": of " (counted(count as u64, "template")) " that "
                @if count == 1 { "is" } @else { "are" }
                " new or more frequent than in the baseline, " (significant)
                @if significant == 1 { " is" } @else { " are" } " significant."
            }
        }
    }
}

/// The most important numbers.
fn tiles(page: &LogPage<'_>) -> Markup {
    let counts = &page.log.counts;
    let per_minute = counts.length_s.filter(|length_s| page.log.has_times && *length_s > 0.0);
    let unknown = || "–".to_owned();
    let mut tiles = vec![
        ("problems", thousands(counts.matching)),
        (
            "problems per minute",
            per_minute.map_or_else(unknown, |length_s| rate(counts.matching as f64 * 60.0 / length_s)),
        ),
        ("templates", thousands(counts.templates.len() as u64)),
        ("stack traces", thousands(counts.traces.len() as u64)),
        ("bursts", page.bursts.map_or_else(|_| unknown(), |bursts| thousands(bursts.len() as u64))),
    ];
    if let Some(baseline) = &page.baseline {
        tiles.push((
            "templates not in the baseline",
            thousands(baseline.comparison.templates.new.len() as u64),
        ));
    }
    html! {
        dl.tiles { @for (name, figure) in &tiles { div.tile { dt { (printable(name)) } dd { (figure) } } } }
    }
}
