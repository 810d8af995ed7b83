//! The plots over time: problems with their bursts, problems by rule, and all entries.

use busyhour_logs::{CountSeries, LogCounts, Rule, RuleCounts};
use maud::{Markup, html};

use super::super::events::{Colour, EventLine, EventPlot, Look};
use super::content::LogPage;
use crate::numbers::{counted, thousands};
use crate::terminal_text::shown_text;

/// Maximum number of intervals of a plot.
const INTERVALS_MAX: f64 = 240.0;

/// Lengths of intervals in seconds.
const LENGTHS_S: [u32; 17] =
    [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400];

/// The colours of rules; the rules with the most entries have one.
const RULE_COLOURS: [Colour; 5] = [Colour::Blue, Colour::Orange, Colour::Green, Colour::Purple, Colour::Red];

/// Maximum number of characters of the name of a rule.
const RULE_MAX: usize = 40;

/// Sections with a plot: id, title, plot and caption.
pub(super) fn plots(page: &LogPage<'_>) -> Vec<(&'static str, &'static str, EventPlot, Markup)> {
    let counts = &page.log.counts;
    let Some(length_s) = counts.length_s.filter(|_| page.log.has_times) else { return Vec::new() };
    let axis = Axis::of(length_s, counts.interval_s.totals);
    let mut plots = Vec::new();
    if let Some((plot, caption)) = problems(page, &axis) {
        plots.push(("problems", "Problems over time", plot, caption));
    }
    let is_status = |rule: &RuleCounts| matches!(rule.rule, Rule::Status { .. });
    let (statuses, words): (Vec<&RuleCounts>, Vec<&RuleCounts>) =
        counts.rules.iter().filter(|rule| rule.count > 0).partition(|rule| is_status(rule));
    let words = by_rule("words", "Problems by word and severity over time", &words, &axis);
    plots.extend(words.map(|(plot, caption)| ("words", "Words and severities", plot, caption)));
    let statuses = by_rule("statuses", "Problems by status over time", &statuses, &axis);
    plots.extend(statuses.map(|(plot, caption)| ("statuses", "Statuses in the access log", plot, caption)));
    if let Some((plot, caption)) = entries(counts, &axis) {
        plots.push(("entries", "All entries", plot, caption));
    }
    plots
}

/// Intervals of equal length.
struct Axis {
    length_s: u32,
    count: usize,
}

impl Axis {
    /// Intervals of a log of this length, whose counts have intervals of `counted_s`.
    fn of(length_s: f64, counted_s: u32) -> Axis {
        let counted_s = counted_s.max(1);
        let is_enough = |interval_s: &u32| length_s / f64::from(*interval_s) <= INTERVALS_MAX;
        let fitting = LENGTHS_S.into_iter().filter(|interval_s| interval_s.is_multiple_of(counted_s));
        let fallback = || {
            let intervals = (length_s / INTERVALS_MAX / f64::from(counted_s)).ceil().max(1.0);
            counted_s.saturating_mul(intervals as u32)
        };
        let interval_s = fitting.into_iter().find(is_enough).unwrap_or_else(fallback);
        Axis { length_s: interval_s, count: ((length_s / f64::from(interval_s)).ceil() as usize).max(1) }
    }

    fn unit(&self) -> String {
        let seconds = self.length_s;
        match seconds {
            1 => "per s".to_owned(),
            2..60 => format!("per {seconds} s"),
            60 => "per min".to_owned(),
            3_600 => "per h".to_owned(),
            61..3_600 if seconds.is_multiple_of(60) => format!("per {} min", seconds / 60),
            3_601.. if seconds.is_multiple_of(3_600) => format!("per {} h", seconds / 3_600),
            _ => format!("per {} s", thousands(u64::from(seconds))),
        }
    }

    /// The entries of a series in each interval.
    fn counts(&self, series: &CountSeries) -> Vec<u64> {
        let mut counts = vec![0; self.count];
        for (second, count) in &series.counts {
            if let Some(sum) = counts.get_mut((second / self.length_s) as usize) {
                *sum += u64::from(*count);
            }
        }
        counts
    }

    /// A line with a point in the middle of each interval.
    fn line(&self, name: impl Into<String>, look: Look, colour: Colour, series: &CountSeries) -> EventLine {
        let mut line = EventLine::new(name, look, colour);
        for (at, count) in self.counts(series).into_iter().enumerate() {
            line.push((at as f64 + 0.5) * f64::from(self.length_s), count as f64);
        }
        line
    }

    fn plot(&self, plot: &'static str, name: &'static str, lines: Vec<EventLine>) -> Option<EventPlot> {
        Some(EventPlot { unit: self.unit(), ..EventPlot::of(plot, name, lines)? })
    }
}

fn problems(page: &LogPage<'_>, axis: &Axis) -> Option<(EventPlot, Markup)> {
    let counts = &page.log.counts;
    let mut lines = vec![axis.line("problems", Look::Area, Colour::Blue, &counts.matching_over_time)];
    let mut bursts = EventLine::new("burst", Look::Dots, Colour::Red);
    let per_interval = axis.counts(&counts.matching_over_time);
    for burst in page.bursts.unwrap_or_default() {
        // A dot is on the line, at the interval with the most problems of the burst.
        let intervals = burst.burst.from_s / axis.length_s..=(burst.burst.to_s - 1) / axis.length_s;
        let largest = intervals.rev().max_by_key(|at| per_interval.get(*at as usize).copied());
        if let Some(at) = largest {
            let count = per_interval.get(at as usize).copied().unwrap_or(0);
            bursts.push((f64::from(at) + 0.5) * f64::from(axis.length_s), count as f64);
        }
    }
    let has_bursts = !bursts.x.is_empty();
    lines.push(bursts);
    let start = page.zone.show(counts.start_unix_ns);
    let caption = html! {
        "Entries that report a problem, " (axis.unit()) "; second 0 is " (start) "."
        @if has_bursts { " Dots: bursts." }
    };
    Some((axis.plot("problems", "Problems over time", lines)?, caption))
}

/// The entries that satisfy each of these rules.
fn by_rule(
    plot: &'static str,
    name: &'static str,
    rules: &[&RuleCounts],
    axis: &Axis,
) -> Option<(EventPlot, Markup)> {
    let mut rules = rules.to_vec();
    rules.sort_by_key(|rule| std::cmp::Reverse(rule.count));
    let lines = rules.iter().zip(RULE_COLOURS).map(|(rule, colour)| {
        axis.line(shown_text(&rule.rule.to_string(), RULE_MAX), Look::Line, colour, &rule.over_time)
    });
    let plot = axis.plot(plot, name, lines.collect())?;
    let further = rules.len() - plot.lines.len();
    let caption = html! {
        "Problems by the rule that selects them, " (axis.unit()) ". An entry that satisfies several rules counts for each of them."
        @if further > 0 { " The table of rules has " (counted(further as u64, "further rule")) "." }
    };
    Some((plot, caption))
}

fn entries(counts: &LogCounts, axis: &Axis) -> Option<(EventPlot, Markup)> {
    let lines = vec![axis.line("entries", Look::Area, Colour::Soft, &counts.entries_over_time)];
    let caption = html! { "All entries of the log, with and without a problem, " (axis.unit()) "." };
    Some((axis.plot("entries", "All entries over time", lines)?, caption))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_fit_the_length_and_the_counts() {
        let of = |length_s, counted_s| {
            let axis = Axis::of(length_s, counted_s);
            (axis.length_s, axis.count, axis.unit())
        };
        assert_eq!(of(0.5, 1), (1, 1, "per s".to_owned()));
        assert_eq!(of(600.0, 1), (5, 120, "per 5 s".to_owned()));
        assert_eq!(of(86_400.0, 1), (600, 144, "per 10 min".to_owned()));
        assert_eq!(of(86_400.0, 8), (600, 144, "per 10 min".to_owned()));
        assert_eq!(of(86_400.0, 1_024), (1_024, 85, "per 1,024 s".to_owned()));
        assert_eq!(of(1e9, 1), (4_166_667, 240, "per 4,166,667 s".to_owned()));
    }

    #[test]
    fn no_entry_is_lost_in_the_sums() {
        let series = CountSeries { counts: vec![(0, 3), (4, 1), (5, 2), (599, 7)] };
        let axis = Axis::of(600.0, 1);
        let counts = axis.counts(&series);
        assert_eq!((counts[0], counts[1], counts[119]), (4, 2, 7));
        assert_eq!(counts.iter().sum::<u64>(), 13);
    }
}
