//! The page of a comparison: the changes, their size, and their uncertainty.

use busyhour_analysis::Comparison;
use busyhour_analysis::comparison::{
    ComparedClock, ComparedRow, ComparedRun, CurvePoint, EffectMethod, LabelEffect, Measure, RunSeries, Side,
    Verdict,
};
use busyhour_sample::SampleKind;
use maud::{Markup, html};
use serde::Serialize;

use super::bundle::MODEL_VERSION;
use super::columns::{TableColumn, cells, column_heads};
use super::document::{Document, Kind};
use super::forest::{Forest, Mark};
use super::markup::{Column, PlotHeight, Section, Sort, caveat_list, figure, head, scrolling};
use crate::comparison_quartiles::quartiles_html;
use crate::comparison_system::system_comparison_html;
use crate::comparison_table::{change_cell, headline, interval_cell, judged, percent_of, value};
use crate::numbers::{counted, duration, percent, thousands};
use crate::terminal_text::{Look, printable, shown_label};

/// Maximum number of rows shown at first; a button shows the rest. The style sheet contains the same number.
const ROWS_SHOWN: usize = 30;

/// Renders the page of a comparison.
#[must_use]
pub fn comparison_html(comparison: &Comparison) -> String {
    let sections = [
        Section { id: "total", title: "All requests", body: total(comparison) },
        Section { id: "distribution", title: "Distribution", body: distribution(comparison) },
        Section { id: "labels", title: "Labels", body: labels(comparison) },
        Section {
            id: "quartiles",
            title: "Interquartile ranges",
            body: scrolling("Interquartile ranges", quartiles_html(comparison)),
        },
        Section { id: "system", title: "System under test", body: system(comparison) },
        Section { id: "course", title: "Runs over time", body: over_time() },
        Section { id: "runs", title: "Runs", body: runs(comparison) },
        Section { id: "method", title: "How to read this", body: method(comparison) },
    ];
    Document {
        kind: Kind::Comparison,
        title: &title(comparison),
        subtitle: &subtitle(comparison),
        opening: opening(comparison),
        sections: &sections,
        model: &ComparisonModel::of(comparison),
    }
    .html()
}

fn title(comparison: &Comparison) -> String {
    let plan = |side: &Side| side.runs.iter().map(|run| run.plan_name.clone()).find(|name| !name.is_empty());
    match plan(&comparison.new).or_else(|| plan(&comparison.base)) {
        Some(plan) => format!("{plan}: before and after"),
        None => "Before and after".to_owned(),
    }
}

fn subtitle(comparison: &Comparison) -> String {
    let clock = match comparison.settings.clock {
        ComparedClock::Response => "response times",
        ComparedClock::Service => "service times",
    };
    let runs = |side: &Side| counted(side.runs.len() as u64, "run");
    format!(
        "{} {} · {} {} · {clock} · differences within {} are ignored",
        runs(&comparison.base),
        comparison.base.name,
        runs(&comparison.new),
        comparison.new.name,
        percent_of(comparison.settings.margins.relative)
    )
}

/// The result in a sentence, and its caveats.
fn opening(comparison: &Comparison) -> Markup {
    let caveats = comparison.caveats.iter();
    let caveats = caveats.map(|caveat| (caveat.message.as_str(), Some(caveat.advice.as_str())));
    html! {
        section aria-label="Result" {
            p.headline { (printable(&headline(comparison, Look::default()))) }
        }
        @if !comparison.caveats.is_empty() {
            (caveat_list("Before you rely on this", "caveats-title", caveats)) "\n"
        }
    }
}

/// The table with every measure of all requests.
fn total(comparison: &Comparison) -> Markup {
    let effects = comparison.total.effects.iter().enumerate();
    let rows: Vec<EffectLine<'_>> = effects
        .map(|(at, effect)| EffectLine {
            name: full_name(effect.measure).to_owned(),
            path: format!("total.effects.{at}"),
            effect,
        })
        .collect();
    let confidence = percent_of(comparison.total_tests.confidence);
    let single = percent_of(1.0 - comparison.settings.false_rate);
    html! {
        p {
            "Each bar is the confidence interval of a change, its dot the change itself; changes inside the tinted band are \
             ignored. Intervals of significant differences have a confidence of " (confidence) ", all others " (single)
            ", widened if necessary to contain zero. An arrow marks an interval that extends beyond the scale."
            @if comparison.base.runs.len().max(comparison.new.runs.len()) > 1 {
                " Values before and after are geometric means of the values of the runs (shares: means)."
            }
        }
        (scrolling("All requests", effects_table("measure", &rows, comparison, false)))
    }
}

/// The tables with every label, by measure.
fn labels(comparison: &Comparison) -> Markup {
    if comparison.labels.is_empty() {
        return html! { p { "The two sides have no label in common." } };
    }
    let tests = &comparison.label_tests;
    let only = [(&comparison.base, &comparison.only_base), (&comparison.new, &comparison.only_new)];
    html! {
        p {
            (thousands(tests.differences as u64)) " of " (counted(tests.tests as u64, "test"))
            " found a difference; because of their number, the intervals of these have a confidence of "
            (percent_of(tests.confidence)) "."
        }
        @for measure in Measure::ALL {
            @let rows = rows_of(comparison, measure);
            @let worse = rows.iter().filter(|line| line.effect.verdict == Verdict::Worse).count();
            @let better = rows.iter().filter(|line| line.effect.verdict == Verdict::Better).count();
            details open[measure == Measure::P95] {
                summary {
                    (full_name(measure)) ": " (worse) " worse, " (better) " better, " (rows.len() - worse - better) " neither"
                }
                (scrolling(full_name(measure), effects_table("label", &rows, comparison, true)))
            }
        }
        @for (side, labels) in only {
            @if !labels.is_empty() {
                p.note {
                    "Only " (printable(&side.name)) ": "
                    (labels.iter().map(|label| shown_label(label)).collect::<Vec<_>>().join(", ")) "."
                }
            }
        }
    }
}

/// A line of a table of effects.
struct EffectLine<'c> {
    name: String,
    /// The path of the effect in the comparison's JSON.
    path: String,
    effect: &'c LabelEffect,
}

fn rows_of(comparison: &Comparison, measure: Measure) -> Vec<EffectLine<'_>> {
    let line = |(at, row): (usize, &'_ ComparedRow)| {
        let which = row.effects.iter().position(|effect| effect.measure == measure)?;
        Some((at, which))
    };
    let found = comparison.labels.iter().enumerate().filter_map(line);
    found
        .map(|(at, which)| {
            let row = &comparison.labels[at];
            let path = format!("labels.{at}.effects.{which}");
            EffectLine { name: row_name(row), path, effect: &row.effects[which] }
        })
        .collect()
}

fn effects_table(
    first: &'static str,
    rows: &[EffectLine<'_>],
    comparison: &Comparison,
    sorts: bool,
) -> Markup {
    let number = if sorts { Sort::Number } else { Sort::No };
    // The change is in the first column of numbers, so that it is visible without scrolling on a narrow screen.
    let columns = [
        Column { name: first, term: "", sort: if sorts { Sort::Text } else { Sort::Words } },
        Column { name: "change", term: "", sort: number },
        Column { name: "verdict", term: "", sort: if sorts { Sort::Text } else { Sort::Words } },
        Column { name: "drawn", term: "", sort: Sort::Words },
        Column { name: "interval", term: "", sort: Sort::No },
        Column { name: "before", term: "", sort: number },
        Column { name: "after", term: "", sort: number },
    ];
    // Shares are compared by their difference and have a separate scale.
    let forest = |by_ratio: bool| {
        let margins = &comparison.settings.margins;
        let margin = if by_ratio { margins.relative } else { margins.errors };
        let wanted = rows.iter().filter(|line| line.effect.measure.is_compared_by_ratio() == by_ratio);
        Forest::new(wanted.filter_map(|line| bar(line.effect)), margin, by_ratio)
    };
    let (ratios, shares) = (forest(true), forest(false));
    html! {
        table.wide.sortable[sorts].cut[sorts && rows.len() > ROWS_SHOWN] data-limit=(ROWS_SHOWN) {
            caption.skip { "Changes with their intervals" }
            (head(&columns))
            tbody {
                @for EffectLine { name, path, effect } in rows {
                    @let scale = if effect.measure.is_compared_by_ratio() { &ratios } else { &shares };
                    (effect_row(name, path, effect, scale))
                }
            }
        }
    }
}

fn effect_row(name: &str, path: &str, effect: &LabelEffect, scale: &Forest) -> Markup {
    let measure = effect.measure;
    let (class, mark) = match effect.verdict {
        Verdict::Worse | Verdict::PerhapsWorse => ("verdict bad", "✕ "),
        Verdict::Better | Verdict::PerhapsBetter => ("verdict good", "✓ "),
        Verdict::Equivalent | Verdict::NoDifferenceDetected | Verdict::Inconclusive => ("verdict", ""),
    };
    html! {
        tr {
            th scope="row" { (printable(name)) }
            td { (change_cell(effect)) }
            td class=(class) { (mark) (effect.verdict.describe(measure)) }
            td.forest { @if let Some(bar) = bar(effect) { (scale.svg(&bar)) } }
            td.soft { (interval_cell(effect)) }
            td data-quantity={ (path) ".base" } { (value(measure, effect.base)) }
            td data-quantity={ (path) ".new" } { (value(measure, effect.new)) }
        }
    }
}

/// The mark of an effect in the plot: relative changes are on a logarithmic scale, differences of shares on a linear one.
fn bar(effect: &LabelEffect) -> Option<Mark> {
    let (interval, _) = judged(effect);
    let interval = interval.filter(|interval| interval.value.is_finite())?;
    Some(Mark {
        value: interval.value,
        low: interval.low,
        high: interval.high,
        class: match effect.verdict {
            Verdict::Worse | Verdict::PerhapsWorse => "bad",
            Verdict::Better | Verdict::PerhapsBetter => "good",
            Verdict::Equivalent | Verdict::NoDifferenceDetected | Verdict::Inconclusive => "open",
        },
    })
}

fn full_name(measure: Measure) -> &'static str {
    match measure {
        Measure::Mean => "mean, ms",
        Measure::P50 => "median, ms",
        Measure::P90 => "90th percentile, ms",
        Measure::P95 => "95th percentile, ms",
        Measure::P99 => "99th percentile, ms",
        Measure::Throughput => "requests per second",
        Measure::ErrorShare => "share of errors",
    }
}

fn row_name(row: &ComparedRow) -> String {
    if row.kind == SampleKind::Transaction {
        format!("{} (transaction)", shown_label(&row.label))
    } else {
        shown_label(&row.label)
    }
}

fn distribution(comparison: &Comparison) -> Markup {
    let total = &comparison.total;
    if total.base_curve.len() < 2 || total.new_curve.len() < 2 {
        return html! { p { "There are too few requests for a distribution." } };
    }
    // Percentiles of all requests combined differ from the means of percentiles in the tables, so they are not shown as numbers
    // here.
    let caption = html! {
        @if comparison.base.runs.len().max(comparison.new.runs.len()) > 1 {
            "The requests of all runs of a side pooled; the percentiles in the tables are means over the runs. "
        }
        "Each step of the axis contains a tenth of the requests of the previous step."
    };
    figure("curves", PlotHeight::Normal, caption)
}

/// The system under test on both sides.
fn system(comparison: &Comparison) -> Markup {
    match &comparison.system {
        Some(system) => scrolling("System under test", system_comparison_html(comparison, system)),
        None => html! { p { "Not observed." } },
    }
}

fn over_time() -> Markup {
    html! {
        h3 { "Requests per second" }
        (figure(
            "rates",
            PlotHeight::Normal,
            "One line per run, from its start, in slices of the coarsest run; the last slice may be shorter.",
        ))
        h3 { "95th percentile" }
        (figure("p95s", PlotHeight::Normal, "The 95th percentile of the requests that ended in each slice."))
    }
}

fn runs(comparison: &Comparison) -> Markup {
    let unknown = || "–".to_owned();
    type Cells<'a> = TableColumn<'a, (&'a ComparedRun, &'a str)>;
    let columns = [
        Cells::plain("run", |(run, _)| printable(&run.name)),
        Cells::words("side", |(_, side)| printable(side)),
        Cells::plain("measured", |(run, _)| format!("{} to {}", duration(run.from_s), duration(run.to_s))),
        Cells::plain("users", |(run, _)| run.users.map_or_else(unknown, thousands)),
        Cells::plain("requests", |(run, _)| thousands(run.requests)),
        Cells::plain("failed %", |(run, _)| {
            let failed = (run.requests > 0).then(|| run.errors as f64 * 100.0 / run.requests as f64);
            failed.map_or_else(unknown, percent)
        }),
        Cells::plain("plan", |(run, _)| {
            let plan: String = run.plan_sha256.chars().take(12).collect();
            html! { code { @if plan.is_empty() { "–" } @else { (plan) } } }
        }),
    ];
    let sides = [&comparison.base, &comparison.new];
    let rows = sides.into_iter().flat_map(|side| side.runs.iter().map(|run| (run, side.name.as_str())));
    let table = html! {
        table.wide {
            caption.skip { "Runs" }
            (column_heads(&columns))
            tbody {
                @for (at, row) in rows.enumerate() { tr { (cells(&columns, at, &row)) } }
            }
        }
    };
    scrolling("Runs", table)
}

/// The explanation of the verdicts and of the method for the intervals.
fn method(comparison: &Comparison) -> Markup {
    let margin = percent_of(comparison.settings.margins.relative);
    let points = comparison.settings.margins.errors * 100.0;
    let mut methods: Vec<EffectMethod> =
        comparison.rows().flat_map(|row| &row.effects).filter_map(|effect| effect.method).collect();
    methods.sort_unstable();
    methods.dedup();
    // Only verdicts that occur on this page are explained.
    let shows = |wanted: &[Verdict]| wanted.iter().any(|verdict| comparison.count(*verdict) > 0);
    let verdicts: [(&[Verdict], &str, String); 5] = [
        (
            &[Verdict::Worse, Verdict::Better],
            "slower, faster; lower, higher; more, fewer",
            format!("The whole interval is beyond {margin}."),
        ),
        (
            &[Verdict::PerhapsWorse, Verdict::PerhapsBetter],
            "…, maybe only slightly",
            format!("The interval does not contain zero but overlaps the margin of {margin}."),
        ),
        (
            &[Verdict::Equivalent],
            "alike",
            format!("The whole interval is within {margin} (errors: {points} percentage points)."),
        ),
        (
            &[Verdict::NoDifferenceDetected],
            "no difference detected",
            "The interval contains zero and exceeds the margin on at most one side.".to_owned(),
        ),
        (
            &[Verdict::Inconclusive],
            "too little data",
            "The interval exceeds the margin on both sides, or there is no interval.".to_owned(),
        ),
    ];
    html! {
        dl.pairs {
            @for (_, term, words) in verdicts.iter().filter(|(wanted, ..)| shows(wanted)) {
                dt { (term) }
                dd { (words) }
            }
        }
        @for method in methods { p.note { (method_words(method)) } }
        p.note {
            "All measures are tested together: on average at most " (percent_of(comparison.settings.false_rate))
            " of the significant differences are false (Benjamini and Yekutieli). This determines the confidence of the \
             intervals."
        }
    }
}

fn method_words(method: EffectMethod) -> &'static str {
    match method {
        EffectMethod::Runs => {
            "Intervals are Student's t intervals over runs (Welch), which include the variation within and between runs."
        }
        EffectMethod::RunsOfOneSide => {
            "One side has a single run; it is assumed to vary between runs like the others."
        }
        EffectMethod::Blocks => {
            "With one run on each side, intervals come from the stationary block bootstrap within the runs. They account \
             for the correlation of neighbouring requests, but not for the variation between runs."
        }
    }
}

/// The data that the script draws; `ui/src/model.ts` declares the same structure.
#[derive(Serialize)]
struct ComparisonModel<'c> {
    version: u32,
    base: SideModel<'c>,
    new: SideModel<'c>,
}

#[derive(Serialize)]
struct SideModel<'c> {
    name: &'c str,
    runs: Vec<&'c RunSeries>,
    curve: CurveModel,
}

#[derive(Serialize)]
struct CurveModel {
    percentile: Vec<f64>,
    values_ms: Vec<f64>,
}

impl<'c> ComparisonModel<'c> {
    fn of(comparison: &'c Comparison) -> ComparisonModel<'c> {
        let side = |side: &'c Side, curve: &[CurvePoint]| SideModel {
            name: &side.name,
            runs: side.runs.iter().map(|run| &run.series).collect(),
            curve: CurveModel {
                percentile: curve.iter().map(|point| point.percentile).collect(),
                values_ms: curve.iter().map(|point| point.ms).collect(),
            },
        };
        ComparisonModel {
            version: MODEL_VERSION,
            base: side(&comparison.base, &comparison.total.base_curve),
            new: side(&comparison.new, &comparison.total.new_curve),
        }
    }
}
