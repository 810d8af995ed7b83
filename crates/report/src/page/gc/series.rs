//! The lines of the plots.

use busyhour_gclog::{GcSummary, HeapPoint, LeakVerdict, LiveGrowth, POINTS_MAX, PausePoint, RatePoint};
use maud::{Markup, html};

use super::super::events::{Colour, CurveModel, EventLine, EventPlot, Look, Part};
use crate::gc_words::{NamedGcLog, gc_pause_ms};
use crate::numbers::{counted, thousands};

/// Maximum number of causes with their own colour; all others share one.
const CAUSES_MAX: usize = 4;
const CAUSE_COLOURS: [Colour; CAUSES_MAX] = [Colour::Blue, Colour::Orange, Colour::Green, Colour::Purple];

/// Minimum ratio of the longest pause to the median for a logarithmic axis.
const LOGARITHM_FROM: f64 = 30.0;

/// The shortest pause in ms that a logarithmic axis shows: the precision of unified logs.
const PAUSE_MIN_MS: f64 = 0.001;

/// Maximum number of collections whose drops of the heap are drawn individually.
const DROPS_MAX: usize = 400;

/// One of the logs of a page.
pub(super) struct Side<'a> {
    pub(super) summary: &'a GcSummary,
    /// A word before names; empty for a page of one log.
    pub(super) word: &'static str,
    colour: Colour,
    /// The time in s that is subtracted from all times. Each of two logs begins at 0; a single log keeps its clock.
    origin_s: f64,
}

impl<'a> Side<'a> {
    pub(super) fn only(log: &'a NamedGcLog) -> Side<'a> {
        Side::shifted(&log.summary, 0.0)
    }

    /// A log whose times are shown on another clock, on which the second 0 of the log is at `zero_s`.
    pub(super) fn shifted(summary: &'a GcSummary, zero_s: f64) -> Side<'a> {
        Side { summary, word: "", colour: Colour::Blue, origin_s: -zero_s }
    }

    pub(super) fn both(before: &'a NamedGcLog, after: &'a NamedGcLog) -> [Side<'a>; 2] {
        let side = |log: &'a NamedGcLog, word, colour| Side {
            summary: &log.summary,
            word,
            colour,
            origin_s: start_s(log),
        };
        [side(before, "before", Colour::Orange), side(after, "after", Colour::Blue)]
    }

    pub(super) fn summary(&self) -> &'a GcSummary {
        self.summary
    }

    fn name(&self, of: &str) -> String {
        match self.word {
            "" => of.to_owned(),
            word => format!("{of}, {word}"),
        }
    }
}

/// The time of the first event with a point in a plot, s.
fn start_s(log: &NamedGcLog) -> f64 {
    let series = &log.summary.series;
    let pause = series.pauses.first().map(|pause| pause.time_s);
    let heap = series.heap_after.first().map(|heap| heap.time_s);
    pause.into_iter().chain(heap).reduce(f64::min).unwrap_or(0.0)
}

/// The time from the first to the last point of all series, s.
pub(super) fn span(sides: &[Side<'_>]) -> Part {
    let times = sides.iter().flat_map(|side| {
        let series = &side.summary().series;
        let pauses = series.pauses.first().into_iter().chain(series.pauses.last()).map(|pause| pause.time_s);
        let heaps =
            series.heap_after.first().into_iter().chain(series.heap_after.last()).map(|heap| heap.time_s);
        pauses.chain(heaps).map(|time_s| time_s - side.origin_s)
    });
    let (from_s, to_s) =
        times.fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), time| (from.min(time), to.max(time)));
    match from_s < to_s {
        true => Part { from_s, to_s },
        // A single event is in the middle of a second; without events there is no plot.
        false if from_s.is_finite() => Part { from_s: from_s - 0.5, to_s: from_s + 0.5 },
        false => Part { from_s: 0.0, to_s: 1.0 },
    }
}

pub(super) fn heap(sides: &[Side<'_>]) -> Option<(EventPlot, Markup)> {
    let mut lines = Vec::new();
    for side in sides {
        let is_single = sides.len() == 1;
        lines.extend(used(side, is_single));
        let colour = if is_single { Colour::Soft } else { side.colour };
        let mut capacity = EventLine::new(side.name("committed"), Look::Dashed, colour);
        for point in &side.summary().series.heap_after {
            if let Some(kib) = point.capacity_kib {
                capacity.push(point.time_s - side.origin_s, kib as f64);
            }
        }
        lines.push(capacity);
    }
    let plot = EventPlot::of_kib("heap", "Heap over time", "", lines)?;
    let words = match sides {
        [_] => {
            "The heap in use before and after each collection: it rises while the application allocates, and drops when a \
             collection frees memory. Dashed: the committed heap."
        }
        _ => "The heap in use after each collection. Dashed: the committed heap. Both logs begin at 0.",
    };
    let is_thinned = sides.iter().any(|side| {
        let events = side.summary().lines.events as usize;
        is_thinned(side.summary().series.heap_after.len(), events)
    });
    let caption = html! {
        (words)
        @if is_thinned {
            " Of more than " (thousands(POINTS_MAX as u64)) " collections, the extremes of intervals are shown."
        }
    };
    Some((plot, caption))
}

/// The heap in use at collections. If there are few collections, one line drops at each of them. Otherwise, there are
/// separate lines for the heap before and after collections, because the drops would fill the plot.
fn used(side: &Side<'_>, is_single: bool) -> Vec<EventLine> {
    let points = &side.summary().series.heap_after;
    let time_s = |point: &HeapPoint| point.time_s - side.origin_s;
    let mut after = EventLine::new(side.name("used after"), Look::Line, side.colour);
    if is_single && points.len() <= DROPS_MAX {
        let mut used = EventLine::new("used", Look::Area, side.colour);
        for point in points {
            used.push(time_s(point), point.before_kib as f64);
            used.push(time_s(point), point.used_kib as f64);
        }
        return vec![used];
    }
    points.iter().for_each(|point| after.push(time_s(point), point.used_kib as f64));
    if !is_single {
        return vec![after];
    }
    let mut before = EventLine::new("used before", Look::Area, Colour::Orange);
    points.iter().for_each(|point| before.push(time_s(point), point.before_kib as f64));
    vec![before, after]
}

/// Whether a series has fewer points than there were events. An interval has at least two events, so there are at least
/// half as many intervals as the maximum number of points.
fn is_thinned(points: usize, events: usize) -> bool {
    points > POINTS_MAX / 2 && events > POINTS_MAX
}

pub(super) fn pauses(sides: &[Side<'_>]) -> Option<(EventPlot, Markup)> {
    let lines = match sides {
        [only] => pauses_by_cause(only),
        several => several
            .iter()
            .map(|side| {
                let mut line = EventLine::new(side.name("pauses"), Look::Dots, side.colour);
                side.summary().series.pauses.iter().for_each(|pause| push_pause(&mut line, side, pause));
                line
            })
            .collect(),
    };
    let mut plot = EventPlot::of("pauses", "Pauses over time", lines)?;
    plot.unit = "ms".to_owned();
    let mut values: Vec<f64> = plot.values().collect();
    values.sort_unstable_by(f64::total_cmp);
    let (median, most) = (values[values.len() / 2], values[values.len() - 1]);
    plot.logarithm = most > LOGARITHM_FROM * median;
    if plot.logarithm {
        plot.lines.iter_mut().flat_map(|line| &mut line.y).for_each(|ms| *ms = ms.max(PAUSE_MIN_MS));
    }
    if let [only] = sides {
        plot.lines.extend(percentile_lines(only.summary(), &span(sides)));
    }
    let count = |side: &Side<'_>| side.summary().statistics.pauses.as_ref().map_or(0, |pauses| pauses.n);
    let counts: Vec<String> =
        sides.iter().map(|side| side.name(&counted(count(side) as u64, "pause"))).collect();
    let caption = html! {
        (counts.join("; ")) "."
        @if sides.len() == 1 { " The lines are percentiles." } @else { " Both logs begin at 0." }
        @if plot.logarithm { " The axis is logarithmic." }
        @if sides.iter().any(|side| is_thinned(side.summary().series.pauses.len(), count(side))) {
            " The longest of each interval is shown; percentiles are of all."
        }
    };
    Some((plot, caption))
}

fn push_pause(line: &mut EventLine, side: &Side<'_>, pause: &PausePoint) {
    line.push(pause.time_s - side.origin_s, (pause.duration_s * 1e6).round() / 1e3);
}

/// The pauses by cause. The causes with the largest sums have their own colours, and all others share one. Pauses
/// without a cause have the name of their kind.
fn pauses_by_cause(side: &Side<'_>) -> Vec<EventLine> {
    let name = |pause: &PausePoint| pause.cause.clone().unwrap_or_else(|| pause.kind.name().to_owned());
    let pauses = &side.summary().series.pauses;
    let mut sums: Vec<(String, f64)> = Vec::new();
    for pause in pauses {
        let name = name(pause);
        match sums.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += pause.duration_s,
            None => sums.push((name, pause.duration_s)),
        }
    }
    sums.sort_by(|one, two| two.1.total_cmp(&one.1));
    let mut lines: Vec<EventLine> = sums
        .iter()
        .zip(CAUSE_COLOURS)
        .map(|((name, _), colour)| EventLine::new(name.clone(), Look::Dots, colour))
        .collect();
    let others = match sums.len() {
        0..=CAUSES_MAX => "others".to_owned(),
        more => counted((more - CAUSES_MAX) as u64, "other cause"),
    };
    lines.push(EventLine::new(others, Look::Dots, Colour::Soft));
    let last = lines.len() - 1;
    for pause in pauses {
        let name = name(pause);
        let at = lines[..last].iter().position(|line| line.name == name).unwrap_or(last);
        push_pause(&mut lines[at], side, pause);
    }
    lines
}

/// Horizontal lines at percentiles of all pauses, even if the plot does not show all pauses.
fn percentile_lines(summary: &GcSummary, part: &Part) -> Vec<EventLine> {
    let Some(pauses) = summary.statistics.pauses.as_ref().filter(|pauses| pauses.n > 1) else {
        return Vec::new();
    };
    [("p50", pauses.p50_s), ("p99", pauses.p99_s)]
        .into_iter()
        .map(|(name, seconds)| {
            let mut line = EventLine::new(name, Look::Dashed, Colour::Soft);
            line.push(part.from_s, (seconds * 1e3).max(PAUSE_MIN_MS));
            line.push(part.to_s, (seconds * 1e3).max(PAUSE_MIN_MS));
            line
        })
        .collect()
}

pub(super) fn curves(sides: &[Side<'_>]) -> Vec<CurveModel> {
    sides
        .iter()
        .filter(|side| side.summary().statistics.pauses.is_some_and(|pauses| pauses.n > 1))
        .map(|side| {
            let curve = &side.summary().statistics.pause_curve;
            CurveModel {
                name: side.name("pause"),
                percentile: curve.iter().map(|point| point.percentile).collect(),
                values_ms: curve.iter().map(|point| (point.pause_s * 1e6).round() / 1e3).collect(),
            }
        })
        .collect()
}

pub(super) fn rates(sides: &[Side<'_>]) -> Option<(EventPlot, Markup)> {
    let mut lines = Vec::new();
    let is_single = sides.len() == 1;
    for side in sides {
        let series = &side.summary().series;
        let (look, promoted) =
            if is_single { (Look::Area, Colour::Orange) } else { (Look::Line, side.colour) };
        lines.push(steps(side, side.name("allocated"), look, side.colour, &series.allocation));
        let look = if is_single { Look::Line } else { Look::Dashed };
        lines.push(steps(side, side.name("promoted"), look, promoted, &series.promotion));
    }
    let plot = EventPlot::of_kib("rates", "Allocation and promotion over time", "/s", lines)?;
    let has_promotion = sides.iter().any(|side| !side.summary().series.promotion.is_empty());
    let caption = html! {
        "In " (plot.unit) ": memory that the application allocated, in intervals between collections."
        @if has_promotion {
            " Promoted: memory that young collections moved to the old generation."
            @if !is_single { " It is dashed." }
        } @else {
            " The promotion rate is unavailable: the log has no sizes of generations; log " code { "gc*" } " instead of "
            code { "gc" } "."
        }
    };
    Some((plot, caption))
}

/// A line that is constant in each interval.
fn steps(side: &Side<'_>, name: String, look: Look, colour: Colour, points: &[RatePoint]) -> EventLine {
    let mut line = EventLine::new(name, look, colour);
    for point in points {
        line.push(point.from_s - side.origin_s, point.kib_per_s);
        line.push(point.to_s - side.origin_s, point.kib_per_s);
    }
    line
}

pub(super) fn live(sides: &[Side<'_>]) -> Option<(EventPlot, Markup)> {
    let mut lines = Vec::new();
    let mut window = None;
    for side in sides {
        let mut sizes = EventLine::new(side.name("live"), Look::Dots, side.colour);
        side.summary()
            .series
            .live
            .iter()
            .for_each(|size| sizes.push(size.time_s - side.origin_s, size.kib as f64));
        if sizes.x.is_empty() {
            continue;
        }
        lines.push(sizes);
        if let Some(growth) = growth(&side.summary().leak) {
            let (from_s, to_s) =
                (growth.from_s - side.origin_s, growth.from_s + growth.span_s - side.origin_s);
            let is_leak = matches!(side.summary().leak, LeakVerdict::Leak(_));
            let colour = match sides.len() {
                1 if is_leak => Colour::Red,
                1 => Colour::Soft,
                _ => side.colour,
            };
            let mut line = EventLine::new(side.name("slope"), Look::Line, colour);
            line.push(from_s, growth.from_kib);
            line.push(to_s, growth.from_kib + growth.slope_kib_per_s * growth.span_s);
            lines.push(line);
            window = (sides.len() == 1).then_some(Part { from_s, to_s });
        }
    }
    let has_slope = lines.iter().any(|line| line.look == Look::Line);
    let mut plot = EventPlot::of_kib("live", "Live memory over time", "", lines)?;
    plot.window = window;
    let counts: Vec<String> = sides
        .iter()
        .map(|side| side.name(&counted(side.summary().series.live.len() as u64, "collection")))
        .collect();
    let caption = html! {
        "The heap in use after collections that reclaimed old objects: " (counts.join("; ")) "."
        @if has_slope {
            " The line has the slope of the verdict (Theil and Sen)."
            @if plot.window.is_some() { " The shaded warm-up does not count." }
        }
    };
    Some((plot, caption))
}

fn growth(verdict: &LeakVerdict) -> Option<&LiveGrowth> {
    match verdict {
        LeakVerdict::Leak(growth) | LeakVerdict::NoLeak(growth) => Some(growth),
        LeakVerdict::Undecided { growth, .. } => growth.as_ref(),
    }
}

/// A pause in ms with its unit.
pub(super) fn pause(seconds: f64) -> String {
    format!("{} ms", gc_pause_ms(seconds))
}
