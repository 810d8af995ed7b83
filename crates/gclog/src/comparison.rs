//! Compares two logs, from before and after a change.

use serde::Serialize;

use crate::summary::GcSummary;

/// The direction in which a figure improves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BetterWhen {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// The figure describes the load or the garbage, not the quality of collection.
    Neither,
}

/// How a figure changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureChange {
    /// It improved.
    Better,
    /// It became worse.
    Worse,
    /// It changed, and neither direction is better.
    Different,
    /// It is the same.
    Same,
    /// It is unavailable in one of the logs.
    Unknown,
}

/// A figure of two logs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedGcFigure {
    /// The name of the figure, as in [`GcSummary::figures`] or [`GcSummary::more_figures`].
    pub name: &'static str,
    /// The name of the figure for tables.
    pub label: &'static str,
    /// The figure of the first log as text with its unit, or `unavailable`.
    pub before: String,
    /// The figure of the second log.
    pub after: String,
    /// The change in percent of the first log's figure. Absent if a figure is unavailable or the first is 0.
    pub percent: Option<f64>,
    /// Which direction is better.
    pub better_when: BetterWhen,
    /// How it changed.
    pub change: FigureChange,
}

/// A comparison of two logs. Each log is of one run only: a small difference may be chance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GcComparison {
    /// The figures in the order of a table.
    pub figures: Vec<ComparedGcFigure>,
    /// The ratio of the total times, second by first, if both are known. Sums and counts of logs of different lengths cannot be
    /// compared directly.
    pub length_ratio: Option<f64>,
}

/// The compared figures: name, label, and the better direction.
const COMPARED: [(&str, &str, BetterWhen); 21] = [
    ("throughput", "Throughput", BetterWhen::Higher),
    ("accumPause", "Acc pauses", BetterWhen::Lower),
    ("pauseMedian", "Pause median", BetterWhen::Lower),
    ("pausePercentile95th", "Pause 95th percentile", BetterWhen::Lower),
    ("pausePercentile99th", "Pause 99th percentile", BetterWhen::Lower),
    ("pauseMax", "Longest pause", BetterWhen::Lower),
    ("worstSecondPausedPc", "Worst second in pauses", BetterWhen::Lower),
    ("gcPauseCount", "Number of GCs", BetterWhen::Lower),
    ("fullGcPauseCount", "Number of full GCs", BetterWhen::Lower),
    ("gcPerformance", "GC performance", BetterWhen::Higher),
    // After tuning, the few remaining full collections may free little memory: a low figure is not necessarily bad.
    ("fullGCPerformance", "Full GC performance", BetterWhen::Neither),
    ("footprint", "Footprint", BetterWhen::Lower),
    ("avgfootprintAfterGC", "Heap after GC", BetterWhen::Lower),
    ("avgfootprintAfterFullGC", "Heap after full GC", BetterWhen::Lower),
    ("freedMemory", "Freed memory", BetterWhen::Neither),
    ("freedMemoryPerMin", "Freed memory/min", BetterWhen::Neither),
    ("allocationRate", "Allocation rate", BetterWhen::Neither),
    ("promotionRate", "Promotion rate", BetterWhen::Lower),
    ("gcCpuTime", "CPU time of GC", BetterWhen::Lower),
    ("failedCollections", "Failed collections", BetterWhen::Lower),
    ("totalTime", "Total time", BetterWhen::Neither),
];

impl GcComparison {
    /// Compares two logs.
    #[must_use]
    pub fn of(before: &GcSummary, after: &GcSummary) -> GcComparison {
        let figures = COMPARED
            .iter()
            .filter_map(|(name, label, better_when)| compared(before, after, name, label, *better_when))
            .collect();
        let total = |summary: &GcSummary| summary.figure("totalTime")?.value.filter(|s| *s > 0.0);
        let length_ratio = total(before).zip(total(after)).map(|(before, after)| after / before);
        GcComparison { figures, length_ratio }
    }

    /// The figures that became worse by at least `percent` percent of the first log's figure. A figure that was 0 and
    /// became worse is always included.
    pub fn worse_by(&self, percent: f64) -> impl Iterator<Item = &ComparedGcFigure> {
        self.figures.iter().filter(move |figure| {
            figure.change == FigureChange::Worse
                && figure.percent.is_none_or(|change| change.abs() >= percent)
        })
    }
}

fn compared(
    before: &GcSummary,
    after: &GcSummary,
    name: &'static str,
    label: &'static str,
    better_when: BetterWhen,
) -> Option<ComparedGcFigure> {
    let (first, second) = (before.figure(name)?, after.figure(name)?);
    let (percent, change) = match (first.value, second.value) {
        (Some(one), Some(two)) => {
            let percent = (one != 0.0).then(|| 100.0 * (two - one) / one.abs());
            let change = match (better_when, two.total_cmp(&one)) {
                (_, std::cmp::Ordering::Equal) => FigureChange::Same,
                (BetterWhen::Neither, _) => FigureChange::Different,
                (BetterWhen::Lower, std::cmp::Ordering::Less)
                | (BetterWhen::Higher, std::cmp::Ordering::Greater) => FigureChange::Better,
                (BetterWhen::Lower | BetterWhen::Higher, _) => FigureChange::Worse,
            };
            (percent, change)
        }
        _ => (None, FigureChange::Unknown),
    };
    Some(ComparedGcFigure {
        name,
        label,
        before: first.with_unit(),
        after: second.with_unit(),
        percent,
        better_when,
        change,
    })
}
