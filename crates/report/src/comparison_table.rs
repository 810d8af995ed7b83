//! A comparison, for the terminal.

use busyhour_analysis::Comparison;
use busyhour_analysis::comparison::{
    ComparedClock, ComparedRow, ComparedRun, EffectMethod, Interval, LabelEffect, Measure, Side, Verdict,
};
use busyhour_sample::SampleKind;

use crate::comparison_change::{change, points};
use crate::comparison_quartiles::quartiles_line;
use crate::comparison_system::system_comparison_table;
use crate::numbers::{counted, duration, ms, percent, rate, thousands};
use crate::terminal_text::capital;
use crate::terminal_text::{LABEL_MIN, Look, cut, printable, shown_label};

/// Maximum number of differences of labels that are listed individually.
const LISTED: usize = 12;

/// Maximum number of runs of a side whose names are shown.
const RUNS_NAMED: usize = 4;

/// Which parts of a comparison are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ComparisonShow {
    /// Whether every measure of every label is shown with its interval, as for the total.
    pub details: bool,
}

const BOLD_RED: &str = "1;31";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const DIM: &str = "2";

/// The comparison: the sides, the verdict, the total with intervals, labels, and caveats.
#[must_use]
pub fn comparison_table(comparison: &Comparison, show: ComparisonShow, look: Look) -> String {
    let mut out = heading(comparison, look);
    out += &format!("\n{}\n\n", headline(comparison, look));
    let rows: Vec<&ComparedRow> =
        if show.details { comparison.rows().collect() } else { vec![&comparison.total] };
    for row in rows {
        out += &effects(row, look);
        out.push('\n');
    }
    if !show.details && !comparison.labels.is_empty() {
        out += &labels(comparison, look);
        out += &listed(comparison, look);
    }
    out += &definitions(comparison, look);
    out += &system_comparison_table(comparison, show.details, look);
    out += &caveats(comparison, look);
    out
}

fn heading(comparison: &Comparison, look: Look) -> String {
    let clock = match comparison.settings.clock {
        ComparedClock::Response => "response times",
        ComparedClock::Service => "service times",
    };
    let (base, new) = (&comparison.base, &comparison.new);
    let counts = |side: &Side| counted(side.runs.len() as u64, "run");
    let mut out = format!("{} before, {} after, {clock}\n", counts(base), counts(new));
    for side in [base, new] {
        let line = format!("  {:<7} {}", side.name, side_words(side));
        out += &(cut(&line, look.width.unwrap_or(usize::MAX)) + "\n");
    }
    out
}

fn side_words(side: &Side) -> String {
    let mut names: Vec<String> = side.runs.iter().take(RUNS_NAMED).map(|run| printable(&run.name)).collect();
    if side.runs.len() > RUNS_NAMED {
        names.push("…".into());
    }
    let range = |value: fn(&ComparedRun) -> f64, show: &dyn Fn(f64) -> String| {
        let low = side.runs.iter().map(value).fold(f64::INFINITY, f64::min);
        let high = side.runs.iter().map(value).fold(0.0, f64::max);
        let (low, high) = (show(low), show(high));
        if low == high { low } else { format!("{low} to {high}") }
    };
    let length = range(|run| run.to_s - run.from_s, &duration);
    let requests = range(|run| run.requests as f64, &|n| thousands(n as u64));
    format!("{}: {length}, {requests} requests", names.join(", "))
}

/// The result in a sentence or two: which measures of all requests changed by more than the margin, with values before and
/// after, and which labels changed.
pub(crate) fn headline(comparison: &Comparison, look: Look) -> String {
    let margin = percent_of(comparison.settings.margins.relative);
    let mut sentences = Vec::new();
    let changes: Vec<String> = total_changes(comparison, look);
    if !changes.is_empty() {
        let name = capital(&comparison.new.name);
        sentences.push(format!("{name}, by more than the margin of {margin}: {}", changes.join("; ")));
    }
    // A single label has the values of the total.
    let rows = if comparison.labels.len() > 1 || changes.is_empty() { &comparison.labels[..] } else { &[] };
    for (verdict, code, word) in [(Verdict::Worse, BOLD_RED, "worse"), (Verdict::Better, GREEN, "better")] {
        let is_such = |row: &&ComparedRow| row.effects.iter().any(|effect| effect.verdict == verdict);
        let names: Vec<String> = rows.iter().filter(is_such).map(row_label).collect();
        if !names.is_empty() {
            let margin = if sentences.is_empty() {
                format!(" by more than the margin of {margin}")
            } else {
                String::new()
            };
            let text = format!("{}{margin}: {}", labels_are(&names, word), some_of(&names));
            sentences.push(look.paint(code, &text));
        }
    }
    if sentences.is_empty() {
        sentences.push(capital(&no_change(comparison, &margin)));
    }
    sentences.join(". ") + "."
}

/// Formats a number of labels: `1 label is worse`, `3 labels are worse`.
fn labels_are(names: &[String], word: &str) -> String {
    format!("{} {} {word}", counted(names.len() as u64, "label"), if names.len() == 1 { "is" } else { "are" })
}

/// The changes of all requests by more than the margin: `slower: median 0.11 → 5.35 ms (+3448 % to +6212 %)`.
fn total_changes(comparison: &Comparison, look: Look) -> Vec<String> {
    const TIMES: [Measure; 5] = [Measure::P50, Measure::P95, Measure::Mean, Measure::P90, Measure::P99];
    let total = &comparison.total;
    let is_material = |effect: &&LabelEffect| matches!(effect.verdict, Verdict::Worse | Verdict::Better);
    let found = |measure: &Measure| total.effect(*measure).filter(is_material);
    // Only the first changed time in this order is shown. A time that is worse takes precedence over one that is
    // better.
    let worse = TIMES.iter().filter_map(found).find(|effect| effect.verdict == Verdict::Worse);
    let time = worse.or_else(|| TIMES.iter().find_map(found));
    let others = [Measure::Throughput, Measure::ErrorShare];
    let effects = time.into_iter().chain(others.iter().filter_map(found));
    effects
        .map(|effect| {
            let verdict = effect.verdict.describe(effect.measure);
            let (what, unit) = match effect.measure {
                Measure::Mean => (format!("{verdict}: mean"), " ms"),
                Measure::P50 => (format!("{verdict}: median"), " ms"),
                Measure::P90 => (format!("{verdict}: p90"), " ms"),
                Measure::P95 => (format!("{verdict}: p95"), " ms"),
                Measure::P99 => (format!("{verdict}: p99"), " ms"),
                Measure::Throughput => (format!("{verdict} throughput:"), " per second"),
                Measure::ErrorShare => (format!("{verdict} errors:"), ""),
            };
            let text = format!(
                "{what} {} → {}{unit} ({})",
                value(effect.measure, effect.base),
                value(effect.measure, effect.new),
                interval_cell(effect)
            );
            colour_of(effect.verdict).map_or_else(|| text.clone(), |code| look.paint(code, &text))
        })
        .collect()
}

/// The result if nothing changed by more than the margin.
fn no_change(comparison: &Comparison, margin: &str) -> String {
    let total = &comparison.total;
    let is_perhaps = |row: &&ComparedRow| {
        let found =
            |effect: &LabelEffect| matches!(effect.verdict, Verdict::PerhapsWorse | Verdict::PerhapsBetter);
        row.effects.iter().any(found)
    };
    let perhaps: Vec<String> = comparison.rows().filter(is_perhaps).map(row_label).collect();
    if !perhaps.is_empty() {
        return format!("differences that may be smaller than {margin}: {}", some_of(&perhaps));
    }
    match total.effects.iter().filter(|effect| effect.verdict == Verdict::Inconclusive).count() {
        0 => "no difference detected".to_owned(),
        open => format!(
            "no difference detected, but {open} of {} measures of the total have too little data",
            total.effects.len()
        ),
    }
}

/// The first few of these names, and the number of the others.
fn some_of(names: &[String]) -> String {
    let mut some: Vec<String> = names.iter().take(4).cloned().collect();
    if names.len() > 4 {
        some.push(format!("{} more", names.len() - 4));
    }
    some.join(", ")
}

fn colour_of(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Worse => Some(BOLD_RED),
        Verdict::PerhapsWorse => Some(YELLOW),
        Verdict::Better | Verdict::PerhapsBetter => Some(GREEN),
        Verdict::Inconclusive => Some(DIM),
        Verdict::Equivalent | Verdict::NoDifferenceDetected => None,
    }
}

fn row_label(row: &ComparedRow) -> String {
    let text = shown_label(&row.label);
    if row.kind == SampleKind::Transaction { format!("{text} (transaction)") } else { text }
}

/// A share in percent without trailing zeros: `5 %`, `2.5 %`.
pub(crate) fn percent_of(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 1e2)
}

/// The value of a measure with its unit.
pub(crate) fn value(measure: Measure, value: Option<f64>) -> String {
    match (measure, value) {
        (_, None) => "–".into(),
        (Measure::ErrorShare, Some(share)) => format!("{} %", percent(share * 100.0)),
        (Measure::Throughput, Some(per_s)) => rate(per_s),
        (_, Some(time)) => ms(time),
    }
}

pub(crate) fn judged(effect: &LabelEffect) -> (Option<&Interval>, fn(f64) -> String) {
    if effect.measure.is_compared_by_ratio() {
        (effect.ratio.as_ref(), change)
    } else {
        (effect.difference.as_ref(), points)
    }
}

pub(crate) fn change_cell(effect: &LabelEffect) -> String {
    let (interval, show) = judged(effect);
    interval.filter(|interval| interval.value.is_finite()).map_or_else(|| "–".into(), |i| show(i.value))
}

pub(crate) fn interval_cell(effect: &LabelEffect) -> String {
    let (interval, show) = judged(effect);
    let Some(interval) = interval else { return "–".into() };
    match (interval.low, interval.high) {
        (Some(low), Some(high)) => format!("{} to {}", show(low), show(high)),
        _ => "unbounded".into(),
    }
}

/// The unit of a measure for the heading of a row.
fn unit(measure: Measure) -> &'static str {
    match measure {
        Measure::Throughput => "throughput /s",
        Measure::ErrorShare => "errors",
        Measure::Mean => "mean ms",
        Measure::P50 => "p50 ms",
        Measure::P90 => "p90 ms",
        Measure::P95 => "p95 ms",
        Measure::P99 => "p99 ms",
    }
}

/// All effects of one row with their intervals.
fn effects(row: &ComparedRow, look: Look) -> String {
    let mut lines: Vec<[String; 6]> = vec![[
        cut(&row_label(row), 40),
        "before".into(),
        "after".into(),
        "change".into(),
        "interval".into(),
        String::new(),
    ]];
    for effect in &row.effects {
        lines.push([
            format!("  {}", unit(effect.measure)),
            value(effect.measure, effect.base),
            value(effect.measure, effect.new),
            change_cell(effect),
            interval_cell(effect),
            effect.verdict.describe(effect.measure).into(),
        ]);
    }
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        let mut text = format!("{:<1$}", line[0], widths[0]);
        for (cell, width) in line[1..5].iter().zip(&widths[1..5]) {
            text += &format!("  {cell:>width$}");
        }
        if at == 0 {
            out += &(look.bold(text.trim_end()) + "\n");
            continue;
        }
        let verdict = row.effects[at - 1].verdict;
        let words = colour_of(verdict).map_or_else(|| line[5].clone(), |code| look.paint(code, &line[5]));
        out += &format!("{text}  {words}\n");
    }
    out + &quartiles_line(row)
}

/// The letter of a verdict in the table of labels.
const fn letter(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "W",
        Verdict::PerhapsWorse => "w",
        Verdict::Better => "B",
        Verdict::PerhapsBetter => "b",
        Verdict::Equivalent => "=",
        Verdict::NoDifferenceDetected => " ",
        Verdict::Inconclusive => "?",
    }
}

/// The table of labels: a line per label with its changes and the letter of each verdict.
fn labels(comparison: &Comparison, look: Look) -> String {
    let bare = |effect: &LabelEffect| {
        let text = change_cell(effect);
        text.trim_end_matches(" %").trim_end_matches(" pp").to_owned()
    };
    let cells: Vec<Vec<String>> =
        comparison.labels.iter().map(|row| row.effects.iter().map(bare).collect()).collect();
    let heads = ["mean", "p50", "p90", "p95", "p99", "thru", "err pp"];
    let width = |column: usize| {
        cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(heads[column].len())
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let longest = comparison.labels.iter().map(|row| row_label(row).chars().count()).max().unwrap_or(0);
    let numbers: usize = widths.iter().map(|width| width + 4).sum();
    let room = look.width.map_or(longest, |width| width.saturating_sub(numbers)).clamp(LABEL_MIN, 60);
    let room = room.min(longest.max(LABEL_MIN));
    let mut head = format!("{:<room$}", "change in %");
    for (name, width) in heads.iter().zip(&widths) {
        head += &format!("  {name:>width$}  ");
    }
    let mut out = look.paint(DIM, head.trim_end()) + "\n";
    for (row, cells) in comparison.labels.iter().zip(&cells) {
        let mut line = format!("{:<room$}", cut(&row_label(row), room));
        for ((cell, width), effect) in cells.iter().zip(&widths).zip(&row.effects) {
            let text = format!("{cell:>width$} {}", letter(effect.verdict));
            line += "  ";
            line += &colour_of(effect.verdict).map_or(text.clone(), |code| look.paint(code, &text));
        }
        out += &(line.trim_end().to_owned() + "\n");
    }
    let legend = "W worse, B better (w, b: perhaps by less than the margin), = alike, ? too little data, \
        blank: no difference detected";
    out += &(look.paint(DIM, legend) + "\n");
    out
}

/// The list of differences of labels, sorted by p-value.
fn listed(comparison: &Comparison, look: Look) -> String {
    let mut found: Vec<(&ComparedRow, &LabelEffect)> = comparison
        .labels
        .iter()
        .flat_map(|row| row.effects.iter().map(move |effect| (row, effect)))
        .filter(|(_, effect)| matches!(effect.verdict, Verdict::Worse | Verdict::Better))
        .collect();
    if found.is_empty() {
        return String::new();
    }
    let order = |effect: &LabelEffect| (effect.verdict != Verdict::Worse, effect.p_value.unwrap_or(1.0));
    found.sort_by(|(_, a), (_, b)| {
        let (a, b) = (order(a), order(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let mut out = format!("\n{}\n", look.bold("Differences by label"));
    for (row, effect) in found.iter().take(LISTED) {
        let text = format!(
            "{}: {} {}",
            row_label(row),
            effect.measure.name(),
            effect.verdict.describe(effect.measure)
        );
        let numbers = format!(
            "{} → {}, {} ({})",
            value(effect.measure, effect.base),
            value(effect.measure, effect.new),
            change_cell(effect),
            interval_cell(effect)
        );
        let painted = colour_of(effect.verdict).map_or_else(|| text.clone(), |code| look.paint(code, &text));
        out += &format!("  {painted}  {numbers}\n");
    }
    if found.len() > LISTED {
        out += &format!("  and {} more: --details\n", found.len() - LISTED);
    }
    out
}

/// The explanation of the numbers, in a few lines.
fn definitions(comparison: &Comparison, look: Look) -> String {
    let settings = &comparison.settings;
    let method = match (comparison.base.runs.len(), comparison.new.runs.len()) {
        (1, 1) => EffectMethod::Blocks,
        (1, _) | (_, 1) => EffectMethod::RunsOfOneSide,
        _ => EffectMethod::Runs,
    };
    let how = match method {
        EffectMethod::Runs => {
            "Student's t over runs (Welch; ratios on a logarithmic scale), never narrower than the block \
             bootstrap within runs"
        }
        EffectMethod::RunsOfOneSide => {
            "Student's t over runs; the single run is assumed to vary like the others"
        }
        EffectMethod::Blocks => "stationary block bootstrap within each run (Politis and Romano 1994)",
    };
    let asked = &comparison.label_tests;
    let mut lines = vec![format!("Intervals: {how}.")];
    let (total, single) = (&comparison.total_tests, percent_of(1.0 - settings.false_rate));
    lines.push(format!(
        "Tested together: {} measures of the total, {} of labels. On average at most {} of the significant differences are false; \
         their intervals have confidences of {} and {} (Benjamini, Hochberg and Yekutieli). All others have {single}, widened \
         if necessary to contain zero.",
        total.tests,
        asked.tests,
        percent_of(settings.false_rate),
        percent_of(total.confidence),
        percent_of(asked.confidence),
    ));
    lines.push(format!(
        "Margin: changes of up to {} (errors: {:.2} percentage points) are ignored; \"alike\": the whole interval is \
         within the margin.",
        percent_of(settings.margins.relative),
        settings.margins.errors * 100.0
    ));
    if settings.steady {
        let runs = comparison.base.runs.iter().chain(&comparison.new.runs);
        let parts: Vec<String> = runs
            .map(|run| format!("{} from {:.0} s to {:.0} s", printable(&run.name), run.from_s, run.to_s))
            .collect();
        lines.push(format!("Only the steady part of each run is included: {}.", parts.join(", ")));
    }
    if let Some(window) = settings.window {
        lines.push(format!(
            "Only samples that started from {} s to {} s of each run are included.",
            window.from_s, window.to_s
        ));
    }
    let rare = |labels: &[String], which: &str| {
        (!labels.is_empty()).then(|| {
            let some: Vec<String> = labels.iter().take(5).map(|label| shown_label(label)).collect();
            let more =
                if labels.len() > 5 { format!(" and {} more", labels.len() - 5) } else { String::new() };
            format!("Only {which}: {}{more}.", some.join(", "))
        })
    };
    lines.extend(rare(&comparison.only_base, "before"));
    lines.extend(rare(&comparison.only_new, "after"));
    let mut out = String::from("\n");
    for line in lines {
        out += &(look.paint(DIM, &line) + "\n");
    }
    out
}

fn caveats(comparison: &Comparison, look: Look) -> String {
    doubts(&comparison.caveats, look)
}

/// The caveats as a list.
pub(crate) fn doubts(
    caveats: &[busyhour_analysis::comparison::ReportedComparisonCaveat],
    look: Look,
) -> String {
    if caveats.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", look.bold("Caveats"));
    for doubt in caveats {
        out += &format!("{} {}\n", look.paint(YELLOW, "-"), printable(&doubt.message));
        out += &format!("  {}\n", look.paint(DIM, &format!("{}.", capital(&printable(&doubt.advice)))));
    }
    out
}

/// The changes in percent, as usual in tuning studies: a line per label with its median time, throughput and errors before and
/// after. A change whose interval includes zero is in parentheses.
#[must_use]
pub fn comparison_percent(comparison: &Comparison, look: Look) -> String {
    let measures = [Measure::P50, Measure::Throughput, Measure::ErrorShare];
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut head = vec!["label".to_owned()];
    for name in ["median ms", "per second", "errors"] {
        head.extend([format!("{name}: before"), "after".into(), "change".into()]);
    }
    lines.push(head);
    for row in comparison.rows() {
        let mut line = vec![cut(&row_label(row), 40)];
        for measure in measures {
            let Some(effect) = row.effect(measure) else { continue };
            let change = change_cell(effect);
            let seen = effect.verdict.is_difference() || change == "–";
            line.push(value(measure, effect.base));
            line.push(value(measure, effect.new));
            line.push(if seen { change } else { format!("({change})") });
        }
        lines.push(line);
    }
    let columns = lines[0].len();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = heading(comparison, look) + "\n";
    for (at, line) in lines.iter().enumerate() {
        let mut text = format!("{:<1$}", line[0], widths[0]);
        for (cell, width) in line[1..].iter().zip(&widths[1..]) {
            text += &format!("  {cell:>width$}");
        }
        out += &(if at == 0 { look.paint(DIM, &text) } else { text });
        out.push('\n');
    }
    out += "\n(…): the interval contains zero, or the change is within the margin\n";
    out += &system_comparison_table(comparison, false, look);
    out + &caveats(comparison, look)
}
