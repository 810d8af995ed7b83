//! Changes over many runs, for the terminal.

use busyhour_analysis::comparison::{
    Measure, RUNS_PER_RATE, Trend, TrendChange, TrendOutcome, TrendSeries, Verdict,
};

use crate::comparison_change::{change as shown_change, points};
use crate::comparison_table::doubts;
use crate::numbers::{counted, ms, percent, rate};
use crate::terminal_text::{Look, cut, printable};

/// Width of a plot in characters if the width of the terminal is unknown.
const PLOT_WIDTH: usize = 72;

/// The characters for the levels of a plot.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

const BOLD_RED: &str = "1;31";
const GREEN: &str = "32";

/// The history as text: a plot of each series that changed. The mean and the 95th percentile of the total are always shown.
#[must_use]
pub fn trend_table(trend: &Trend, look: Look) -> String {
    let date = |ms: i64| {
        jiff::Timestamp::from_millisecond(ms)
            .map_or_else(|_| "unknown".to_owned(), |at| at.strftime("%Y-%m-%d %H:%M UTC").to_string())
    };
    let mut out = counted(trend.runs.len() as u64, "run").to_string();
    if let [first, .., last] = &trend.runs[..] {
        out += &format!(
            ": from {} ({}) to {} ({})",
            printable(&first.name),
            date(first.wall_anchor_ms),
            printable(&last.name),
            date(last.wall_anchor_ms)
        );
    }
    out += "\n\n";
    let margin = format!("{} %", (trend.settings.margins.relative * 1e4).round() / 1e2);
    out += &match trend.outcome {
        TrendOutcome::NoRegression => "No regression.\n".to_owned(),
        TrendOutcome::Regression { series } => {
            let found =
                format!("Regression: {} got worse by more than {margin}.", counted(series as u64, "measure"));
            look.paint(BOLD_RED, &found) + "\n"
        }
        TrendOutcome::NotJudged { runs, needed: Some(needed) } => {
            format!("Not judged: {needed} runs are needed, there are {runs}.\n")
        }
        TrendOutcome::NotJudged { needed: None, .. } => {
            "Not judged: no number of runs is enough at this rate of false alarms.\n".to_owned()
        }
    };
    let always =
        |series: &&TrendSeries| series.is_total && matches!(series.measure, Measure::Mean | Measure::P95);
    let shown = trend.series.iter().filter(|series| !series.changes.is_empty() || always(series));
    for series in shown {
        out += &format!("\n{}\n", look.bold(&heading(series)));
        out += &plot(series, look);
        for change in &series.changes {
            out += &(change_line(trend, series, change, look) + "\n");
        }
    }
    out += &format!(
        "\n{}\n",
        look.dim(&format!(
            "At most {} % false alarms per {RUNS_PER_RATE} runs, over all series and any number of looks (rank \
             likelihood ratios, docs/comparing-runs.md). {}Margin {margin}.",
            (trend.settings.false_alarms * 1e4).round() / 1e2,
            rule(trend)
        ))
    );
    out + &doubts(&trend.caveats, look)
}

/// The number of runs that are needed to judge a history, and the number that are needed after a change.
fn rule(trend: &Trend) -> String {
    trend.runs_needed().map_or_else(String::new, |needed| {
        format!(
            "A history is judged from {} on, and a change needs at least {} after it. ",
            counted(needed as u64, "run"),
            counted(trend.settings.runs_min as u64, "run")
        )
    })
}

fn heading(series: &TrendSeries) -> String {
    let unit = match series.measure {
        Measure::Throughput => "throughput per second",
        Measure::ErrorShare => "errors",
        measure => return format!("{} {} ms", cut(&printable(&series.label), 60), measure.name()),
    };
    format!("{} {unit}", cut(&printable(&series.label), 60))
}

fn value(measure: Measure, value: f64) -> String {
    match measure {
        Measure::ErrorShare => format!("{} %", percent(value * 100.0)),
        Measure::Throughput => rate(value),
        _ => ms(value),
    }
}

/// One line of bars, and below it a mark at each change. If there are more runs than columns, the latest runs are shown.
fn plot(series: &TrendSeries, look: Look) -> String {
    let room = look.width.unwrap_or(PLOT_WIDTH).saturating_sub(2).clamp(10, 200);
    let from = series.values.len().saturating_sub(room);
    let values = &series.values[from..];
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    if known.is_empty() {
        return "  too few samples\n".into();
    }
    let low = known.iter().copied().fold(f64::INFINITY, f64::min);
    let high = known.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let bar = |value: &Option<f64>| match value {
        None => ' ',
        Some(_) if high <= low => LEVELS[3],
        Some(value) => {
            let level = ((value - low) / (high - low) * (LEVELS.len() - 1) as f64).round() as usize;
            LEVELS[level.min(LEVELS.len() - 1)]
        }
    };
    let bars: String = values.iter().map(bar).collect();
    let mut out = format!("  {bars}  {} to {}\n", value(series.measure, low), value(series.measure, high));
    let marks: Vec<usize> = series.changes.iter().filter_map(|change| change.at.checked_sub(from)).collect();
    if !marks.is_empty() {
        let line: String = (0..values.len()).map(|at| if marks.contains(&at) { '^' } else { ' ' }).collect();
        out += &format!("  {}\n", line.trim_end());
    }
    out
}

fn change_line(trend: &Trend, series: &TrendSeries, change: &TrendChange, look: Look) -> String {
    let words = change.verdict.describe(series.measure);
    let painted = match change.verdict {
        Verdict::Worse => look.paint(BOLD_RED, words),
        Verdict::Better => look.paint(GREEN, words),
        _ => words.to_owned(),
    };
    let size = match (series.measure.is_compared_by_ratio(), change.before > 0.0) {
        (true, true) => shown_change(change.after / change.before),
        (true, false) => "–".to_owned(),
        (false, _) => points(change.after - change.before),
    };
    let run = trend.runs.get(change.at).map_or("", |run| run.name.as_str());
    let seen = match change.p_value {
        Some(_) => format!("detected after {}", counted((change.detected_at - change.at + 1) as u64, "run")),
        None => "back to the previous level".to_owned(),
    };
    format!(
        "  {painted} from {} on: {} → {}, {size} ({seen})",
        printable(run),
        value(series.measure, change.before),
        value(series.measure, change.after),
    )
}
