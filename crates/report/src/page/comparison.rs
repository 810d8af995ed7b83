//! The page of a comparison: what changed, by how much, and how well that is known.

use std::fmt::Write as _;

use busyhour_analysis::Comparison;
use busyhour_analysis::comparison::{
    ComparedClock, ComparedRow, ComparedRun, CurvePoint, Effect, EffectMethod, Measure, RunSeries, Side,
    Verdict,
};
use busyhour_record::SampleKind;
use serde::Serialize;

use super::document::{Document, Kind};
use super::forest::{Forest, Mark};
use super::markup::{Column, Section, Sort, capital, escape, figure, head, scrolling};
use super::model::MODEL_VERSION;
use crate::comparison_quartiles::quartiles_html;
use crate::comparison_table::{change_cell, headline, interval_cell, judged, percent_of, value};
use crate::numbers::{counted, duration, percent, thousands};
use crate::terminal_text::{Look, shown_label};

/// Rows shown at first; a button shows the rest. The style sheet contains the same number.
const ROWS_SHOWN: usize = 30;

/// The page of a comparison.
#[must_use]
pub fn comparison_html(comparison: &Comparison) -> String {
    let sections = [
        Section { id: "total", title: "All requests", body: total(comparison) },
        Section { id: "distribution", title: "Distribution", body: distribution(comparison) },
        Section { id: "labels", title: "Labels", body: labels(comparison) },
        Section {
            id: "quartiles",
            title: "Interquartile ranges",
            body: scrolling("Interquartile ranges", &quartiles_html(comparison)),
        },
        Section { id: "course", title: "Runs over time", body: course() },
        Section { id: "runs", title: "Runs", body: runs(comparison) },
        Section { id: "method", title: "How to read this", body: method(comparison) },
    ];
    Document {
        kind: Kind::Comparison,
        title: &title(comparison),
        subtitle: &subtitle(comparison),
        opening: &opening(comparison),
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
fn opening(comparison: &Comparison) -> String {
    let mut out = format!(
        "<section aria-label=\"Result\"><p class=\"headline\">{}</p></section>",
        escape(&headline(comparison, Look::default()))
    );
    if !comparison.caveats.is_empty() {
        out.push_str(
            "<section class=\"caveats\" aria-labelledby=\"caveats-title\"><h2 id=\"caveats-title\">Before you rely on \
             this</h2><ul>",
        );
        for told in &comparison.caveats {
            let _ = write!(
                out,
                "<li>{}.<span>{}.</span></li>",
                escape(&capital(&told.message)),
                escape(&capital(&told.advice))
            );
        }
        out.push_str("</ul></section>\n");
    }
    out
}

/// Every measure of all requests.
fn total(comparison: &Comparison) -> String {
    let effects = comparison.total.effects.iter();
    let rows: Vec<(String, &Effect)> =
        effects.map(|effect| (full_name(effect.measure).to_owned(), effect)).collect();
    let confidence = percent_of(comparison.total_tests.confidence);
    let single = percent_of(1.0 - comparison.settings.false_rate);
    format!(
        "<p>Each bar is the confidence interval of a change, its dot the change itself; changes inside the tinted band are ignored. Intervals of \
         significant differences have a confidence of {confidence}, all others {single}, widened if necessary to contain \
         zero.</p>{}",
        scrolling("All requests", &effects_table("measure", &rows, comparison, false))
    )
}

/// Every label, measure by measure.
fn labels(comparison: &Comparison) -> String {
    if comparison.labels.is_empty() {
        return "<p>The two sides have no label in common.</p>".to_owned();
    }
    let asked = &comparison.label_tests;
    let confidence = percent_of(asked.confidence);
    let mut out = format!(
        "<p>{} of {} were answered by a difference; that many questions at once make the interval of each of these one of \
         {confidence}.</p>",
        thousands(asked.differences as u64),
        counted(asked.tests as u64, "question")
    );
    for measure in Measure::ALL {
        let rows: Vec<(String, &Effect)> =
            comparison.labels.iter().filter_map(|row| Some((row_name(row), row.effect(measure)?))).collect();
        let worse = rows.iter().filter(|(_, effect)| effect.verdict == Verdict::Worse).count();
        let better = rows.iter().filter(|(_, effect)| effect.verdict == Verdict::Better).count();
        let open = if measure == Measure::P95 { " open" } else { "" };
        let _ = write!(
            out,
            "<details{open}><summary>{}: {worse} worse, {better} better, {} neither</summary>{}</details>",
            full_name(measure),
            rows.len() - worse - better,
            scrolling(full_name(measure), &effects_table("label", &rows, comparison, true))
        );
    }
    for (side, labels) in [(&comparison.base, &comparison.only_base), (&comparison.new, &comparison.only_new)]
    {
        if !labels.is_empty() {
            let _ = write!(
                out,
                "<p class=\"note\">Only {}: {}.</p>",
                escape(&side.name),
                escape(&labels.iter().map(|label| shown_label(label)).collect::<Vec<_>>().join(", "))
            );
        }
    }
    out
}

fn effects_table(
    first: &'static str,
    rows: &[(String, &Effect)],
    comparison: &Comparison,
    sorts: bool,
) -> String {
    let number = if sorts { Sort::Number } else { Sort::No };
    // The change comes first: on a narrow screen it is all that is seen without scrolling.
    let columns = [
        Column { name: first, term: "", sort: if sorts { Sort::Text } else { Sort::Words } },
        Column { name: "change", term: "", sort: number },
        Column { name: "verdict", term: "", sort: if sorts { Sort::Text } else { Sort::Words } },
        Column { name: "drawn", term: "", sort: Sort::Words },
        Column { name: "interval", term: "", sort: Sort::No },
        Column { name: "before", term: "", sort: number },
        Column { name: "after", term: "", sort: number },
    ];
    let class = if sorts { "wide sortable" } else { "wide" };
    let cut = if sorts && rows.len() > ROWS_SHOWN { " cut" } else { "" };
    let mut out = format!(
        "<table class=\"{class}{cut}\" data-limit=\"{ROWS_SHOWN}\"><caption class=\"skip\">Changes with their \
         intervals</caption>{}<tbody>",
        head(&columns)
    );
    // Shares are compared by their difference; they have a scale of their own.
    let forest = |by_ratio: bool| {
        let margins = &comparison.settings.margins;
        let margin = if by_ratio { margins.relative } else { margins.errors };
        let wanted = rows.iter().filter(|(_, effect)| effect.measure.is_compared_by_ratio() == by_ratio);
        Forest::new(wanted.filter_map(|(_, effect)| bar(effect)), margin, by_ratio)
    };
    let (ratios, shares) = (forest(true), forest(false));
    for (name, effect) in rows {
        let measure = effect.measure;
        let scale = if measure.is_compared_by_ratio() { &ratios } else { &shares };
        let svg = bar(effect).map(|bar| scale.svg(&bar)).unwrap_or_default();
        let (class, mark) = match effect.verdict {
            Verdict::Worse | Verdict::PerhapsWorse => (" bad", "✕ "),
            Verdict::Better | Verdict::PerhapsBetter => (" good", "✓ "),
            Verdict::Alike | Verdict::NotSeen | Verdict::TooLittleData => ("", ""),
        };
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"verdict{class}\">{mark}{}</td>\
             <td class=\"forest\">{svg}</td><td class=\"soft\">{}</td><td>{}</td><td>{}</td></tr>",
            escape(name),
            change_cell(effect),
            effect.verdict.describe(measure),
            interval_cell(effect),
            value(measure, effect.base),
            value(measure, effect.new)
        );
    }
    out + "</tbody></table>"
}

/// What of an effect is drawn: relative changes on a logarithmic scale, shares as they are.
fn bar(effect: &Effect) -> Option<Mark> {
    let (interval, _) = judged(effect);
    let interval = interval.filter(|interval| interval.value.is_finite())?;
    Some(Mark {
        value: interval.value,
        low: interval.low,
        high: interval.high,
        class: match effect.verdict {
            Verdict::Worse | Verdict::PerhapsWorse => "bad",
            Verdict::Better | Verdict::PerhapsBetter => "good",
            Verdict::Alike | Verdict::NotSeen | Verdict::TooLittleData => "open",
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

fn distribution(comparison: &Comparison) -> String {
    let total = &comparison.total;
    if total.base_curve.len() < 2 || total.new_curve.len() < 2 {
        return "<p>There are too few requests for a distribution.</p>".to_owned();
    }
    let at = |curve: &[CurvePoint]| curve.iter().find(|point| point.percentile >= 95.0).map(|point| point.ms);
    let words = match (at(&total.base_curve), at(&total.new_curve)) {
        (Some(base), Some(new)) => format!(
            "95 % of all requests took up to {} ms {} and {} ms {}. ",
            crate::numbers::ms(base),
            escape(&comparison.base.name),
            crate::numbers::ms(new),
            escape(&comparison.new.name)
        ),
        _ => String::new(),
    };
    let caption = format!(
        "{words}All runs of a side combined. Each step of the axis contains a tenth of the requests of the previous step."
    );
    figure("curves", "", &caption)
}

fn course() -> String {
    format!(
        "<h3>Requests per second</h3>{}<h3>95th percentile</h3>{}",
        figure(
            "rates",
            "",
            "One line per run, from its start, in slices of the coarsest run; the last slice may be shorter."
        ),
        figure("p95s", "", "The 95th percentile of the requests that ended in each slice.")
    )
}

fn runs(comparison: &Comparison) -> String {
    let columns = [
        Column { name: "run", term: "", sort: Sort::No },
        Column { name: "side", term: "", sort: Sort::Words },
        Column { name: "measured", term: "", sort: Sort::No },
        Column { name: "users", term: "", sort: Sort::No },
        Column { name: "requests", term: "", sort: Sort::No },
        Column { name: "failed %", term: "", sort: Sort::No },
        Column { name: "plan", term: "", sort: Sort::No },
    ];
    let mut table =
        format!("<table class=\"wide\"><caption class=\"skip\">Runs</caption>{}<tbody>", head(&columns));
    for side in [&comparison.base, &comparison.new] {
        for run in &side.runs {
            let _ = write!(table, "{}", run_row(run, &side.name));
        }
    }
    table.push_str("</tbody></table>");
    scrolling("Runs", &table)
}

fn run_row(run: &ComparedRun, side: &str) -> String {
    let failed = if run.requests == 0 { 0.0 } else { run.errors as f64 * 100.0 / run.requests as f64 };
    let plan: String = run.plan_sha256.chars().take(12).collect();
    format!(
        "<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td><td>{} to {}</td><td>{}</td><td>{}</td><td>{}</td>\
         <td><code>{}</code></td></tr>",
        escape(&run.name),
        escape(side),
        duration(run.from_s),
        duration(run.to_s),
        run.users.map_or_else(|| "–".to_owned(), thousands),
        thousands(run.requests),
        if run.requests == 0 { "–".to_owned() } else { percent(failed) },
        if plan.is_empty() { "–".to_owned() } else { plan }
    )
}

/// What the words of the verdicts mean, and how the intervals came about.
fn method(comparison: &Comparison) -> String {
    let margin = percent_of(comparison.settings.margins.relative);
    let points = comparison.settings.margins.errors * 100.0;
    let mut methods: Vec<EffectMethod> =
        comparison.rows().flat_map(|row| &row.effects).filter_map(|effect| effect.method).collect();
    methods.sort_unstable();
    methods.dedup();
    let mut out = String::from("<dl class=\"pairs\">");
    // Only what this page shows is explained.
    let shows = |wanted: &[Verdict]| wanted.iter().any(|verdict| comparison.count(*verdict) > 0);
    for (wanted, term, words) in [
        (
            &[Verdict::Worse, Verdict::Better][..],
            "slower, faster; lower, higher; more, fewer",
            format!("The whole interval is beyond {margin}."),
        ),
        (
            &[Verdict::PerhapsWorse, Verdict::PerhapsBetter],
            "…, maybe only slightly",
            format!("The interval does not contain zero but overlaps the margin of {margin}."),
        ),
        (
            &[Verdict::Alike],
            "alike",
            format!("The whole interval is within {margin} (errors: {points} percentage points)."),
        ),
        (
            &[Verdict::NotSeen],
            "no difference detected",
            "The interval contains zero and exceeds the margin on at most one side.".to_owned(),
        ),
        (
            &[Verdict::TooLittleData],
            "too little data",
            "The interval exceeds the margin on both sides, or there is no interval.".to_owned(),
        ),
    ] {
        if shows(wanted) {
            let _ = write!(out, "<dt>{term}</dt><dd>{words}</dd>");
        }
    }
    out.push_str("</dl>");
    for method in methods {
        let words = match method {
            EffectMethod::Runs => {
                "Intervals are Student's t intervals over runs (Welch), which include the variation within and between \
                 runs."
            }
            EffectMethod::RunsOfOneSide => {
                "One side has a single run; it is assumed to vary between runs like the others."
            }
            EffectMethod::Blocks => {
                "With one run on each side, intervals come from the stationary block bootstrap within the runs. They account \
                 for the correlation of neighbouring requests, but not for the variation between runs."
            }
        };
        let _ = write!(out, "<p class=\"note\">{words}</p>");
    }
    let _ = write!(
        out,
        "<p class=\"note\">All measures are tested together: on average at most {} of the significant differences are \
         false (Benjamini and Yekutieli). This determines the confidence of the intervals.</p>",
        percent_of(comparison.settings.false_rate)
    );
    out
}

/// What the script draws: `ui/src/model.ts` mirrors it.
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
