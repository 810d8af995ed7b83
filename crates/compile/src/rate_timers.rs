//! Timers that schedule the starts of samples.

use std::sync::Arc;

use busyhour_diagnostic::Diagnostic;
use busyhour_engine::precise::PreciseThroughput;
use busyhour_engine::shaping::{Shape, ShapeRow, ThroughputShaping};
use busyhour_plan::{Element, Property};
use busyhour_program::element::Timer;
use busyhour_program::template::Template;

use crate::context::Context;
use crate::setting_error::SettingError;
use crate::shape_notation;

/// The table of the Throughput Shaping Timer: a property of the element, and the JMeter property that replaces it.
const LOAD_PROFILE: &str = "load_profile";

/// A table is reported with a warning if its number of starts differs from the sum of its rows by more than this fraction.
const STARTS_OFF_MAX: f64 = 0.05;

/// The maximum length, in seconds, of a table whose starts are counted.
const SECONDS_MAX: i64 = 1_000_000;

/// Compiles JMeter's Precise Throughput Timer.
pub(crate) fn precise<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<dyn Timer>> {
    // A missing setting is 0, as in JMeter.
    for (name, wrong) in [
        ("throughput", "without a throughput above 0 no sample would ever start"),
        ("throughputPeriod", "the period is a whole number of seconds, one or more"),
        ("duration", "a schedule lasts a whole number of seconds, one or more"),
    ] {
        let text = element.text(name).unwrap_or("0").trim();
        let good = match name {
            "throughput" => text.parse().is_ok_and(|number: f64| number > 0.0 && number.is_finite()),
            _ => text.parse().is_ok_and(|number: i64| number > 0),
        };
        if !text.contains("${") && !good {
            let message =
                format!("the Precise Throughput Timer cannot schedule any sample: {name} is {text:?}");
            let finding = Diagnostic::error("invalid-value", message).with_hint(wrong);
            context.findings.add_at(element, name, finding);
            return None;
        }
    }
    if !matches!(element.text("batchThreadDelay").map(str::trim), None | Some("" | "0")) {
        let message = "JMeter does not use batchThreadDelay, and neither does this run: the samples of a batch begin \
                       together";
        context.findings.warn(element, "setting-without-effect", message);
    }
    if element.text("batchSize").is_none_or(|text| text.trim().parse().is_ok_and(|size: i64| size < 1)) {
        let message = "batchSize is below 1: as in JMeter all samples belong to the first batch, and nothing sets a rate";
        context.findings.warn(element, "batch-without-end", message);
    }
    let duration_s = context.now(element.text("duration").unwrap_or("0"));
    let message = format!(
        "the Precise Throughput Timer gives each window of {duration_s} s a fixed number of starts at random times, as \
         in JMeter: their counts vary less than those of a Poisson process"
    );
    warn_with_hint(
        context,
        element,
        "fixed-count-arrivals",
        message,
        "for a Poisson process: --arrivals 'poisson(RATE/s) for TIME' --ignore-rate-timers",
    );
    // Each timer is compiled once.
    let timer = u32::try_from(context.parts.timers.len()).unwrap_or(u32::MAX);
    Some(Arc::new(PreciseThroughput {
        throughput: context.text_or(element, "throughput", "0"),
        period_s: context.text_or(element, "throughputPeriod", "0"),
        duration_s: context.text_or(element, "duration", "0"),
        batch_size: context.text_or(element, "batchSize", "0"),
        random_seed: context.text_or(element, "randomSeed", "0"),
        schedules: Arc::clone(&context.parts.schedules.precise),
        timer,
    }))
}

/// Adds a warning with a hint.
fn warn_with_hint(
    context: &mut Context<'_>,
    element: Element<'_>,
    code: &'static str,
    text: String,
    hint: &'static str,
) {
    context.findings.add(element.locate(Diagnostic::warning(code, text)).with_hint(hint));
}

/// Compiles the Throughput Shaping Timer of jmeter-plugins.
pub(crate) fn shaping<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Arc<dyn Timer>> {
    let name = context.now(element.name());
    let source = context.plan.source();
    let sets_properties = ["_rps", "_cntDelayed", "_cntSent", "_totalDuration", "__tstFeedback"]
        .iter()
        .any(|suffix| source.contains(suffix));
    let rows = match profile(context, &name) {
        Some(Ok(rows)) => rows.into_iter().map(literal).collect(),
        Some(Err(error)) => {
            let finding = element.locate(Diagnostic::error("invalid-value", error.message));
            context
                .findings
                .add(finding.with_hint("write for example -Jload_profile='const(10,60s) line(10,100,1m)'"));
            return None;
        }
        None => table(context, element)?,
    };
    if rows.is_empty() {
        let text = "the Throughput Shaping Timer has no schedule: the users in its scope stop immediately";
        context.findings.warn(element, "no-schedule", text);
    }
    if let Some((starts, asked)) = counted(&rows) {
        let text = format!(
            "the Throughput Shaping Timer starts {starts} samples where its rows ask for {asked:.1}: like the plugin, it \
             rounds each second up to a whole number and continues for one second after its last row"
        );
        let hint = "for the exact rates: --arrivals 'ramp(FROM/s to TO/s) over TIME' --ignore-rate-timers";
        warn_with_hint(context, element, "shape-rounded", text, hint);
    }
    Some(Arc::new(ThroughputShaping::new(&name, rows, sets_properties)))
}

/// The table of the command line: the property for the timer `name` or, if it is not set, the property for all timers.
fn profile(context: &Context<'_>, name: &str) -> Option<Result<Vec<shape_notation::Row>, SettingError>> {
    let properties = &context.options.properties;
    let text = properties.get(&format!("{name}.{LOAD_PROFILE}")).filter(|text| !text.is_empty());
    let text = text.or_else(|| properties.get(LOAD_PROFILE)).filter(|text| !text.is_empty())?;
    Some(shape_notation::parse(&text))
}

fn literal((from, to, seconds): shape_notation::Row) -> ShapeRow {
    ShapeRow {
        from_per_s: Template::literal(&from.to_string()),
        to_per_s: Template::literal(&to.to_string()),
        duration_s: Template::literal(&seconds.to_string()),
    }
}

/// The table of the element: the first three cells of each row; the names of the cells are ignored.
fn table<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<Vec<ShapeRow>> {
    let mut rows = Vec::new();
    for row in element.property(LOAD_PROFILE).into_iter().flat_map(Property::items) {
        let cells: Vec<Property<'p>> = row.items().collect();
        let [from, to, seconds, ..] = cells.as_slice() else {
            let text = format!("a row of the Throughput Shaping Timer has {} cells", cells.len());
            let finding = row.locate(Diagnostic::error("invalid-value", text));
            context
                .findings
                .add(finding.with_hint("a row has a start rate, an end rate and a number of seconds"));
            return None;
        };
        for (cell, whole) in [(from, false), (to, false), (seconds, true)] {
            let text = cell.text().unwrap_or("").trim();
            let good = match whole {
                true => text.parse::<u32>().is_ok(),
                false => text.parse().is_ok_and(|rate: f64| rate >= 0.0 && rate.is_finite()),
            };
            if !text.contains("${") && !good {
                let what = if whole { "number of seconds" } else { "rate" };
                let text = format!("{text:?} is not a {what} in a row of the Throughput Shaping Timer");
                let finding = cell.locate(Diagnostic::error("invalid-value", text));
                context.findings.add(finding.with_hint("write a number of 0 or more; seconds are integers"));
                return None;
            }
        }
        let mut parse = |cell: &Property<'p>| context.parse(cell.text().unwrap_or(""), *cell);
        rows.push(ShapeRow { from_per_s: parse(from), to_per_s: parse(to), duration_s: parse(seconds) });
    }
    Some(rows)
}

/// The number of starts of a table and the sum of its rows, if both are known and differ significantly.
fn counted(rows: &[ShapeRow]) -> Option<(u64, f64)> {
    let number = |template: &Template| template.as_literal()?.trim().parse::<f64>().ok();
    let known = rows.iter().map(|row| {
        let seconds = row.duration_s.as_literal()?.trim().parse().unwrap_or(0_i64);
        Some((number(&row.from_per_s)?, number(&row.to_per_s)?, seconds))
    });
    let known: Vec<shape_notation::Row> = known.collect::<Option<_>>()?;
    if known.is_empty() || known.iter().try_fold(0_i64, |sum, row| sum.checked_add(row.2))? > SECONDS_MAX {
        return None;
    }
    let shape = Shape::new(known);
    let (starts, asked) = (shape.starts(), shape.asked());
    ((starts as f64 - asked).abs() > asked * STARTS_OFF_MAX).then_some((starts, asked))
}
