//! All contents of a log that a command or a page shows.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::caveat::{GcCaveat, caveats};
use crate::cpu::CpuSums;
use crate::event::Collector;
use crate::figures::{FigureRow, GcFigures};
use crate::leak::{LeakVerdict, leak_verdict};
use crate::log::{DamagedLine, GcLog, LineCounts, Safepoints};
use crate::series::{GcSeries, series};
use crate::statistics::{GcStatistics, statistics};

/// A caveat with its sentence.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct ReportedGcCaveat {
    /// The caveat.
    #[serde(flatten)]
    pub caveat: GcCaveat,
    /// The sentence without a full stop.
    pub text: String,
}

/// A figure of the table that engineers quote.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KeyFigure {
    /// Its name for tables.
    pub label: &'static str,
    /// Its definition, without a full stop.
    pub definition: &'static str,
    /// The figure.
    #[serde(flatten)]
    pub figure: FigureRow,
}

/// A log in figures.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct GcSummary {
    /// The collector, if the log names it or its events are specific.
    pub collector: Option<Collector>,
    /// The version of the JVM, if the log prints it.
    pub jvm_version: Option<String>,
    /// Whether the log is in the format of JDK 9 and later.
    pub is_unified: bool,
    /// All figures under GCViewer's names, in its order.
    pub figures: Vec<FigureRow>,
    /// Figures that GCViewer does not have.
    pub more_figures: Vec<FigureRow>,
    /// Pauses by kind and cause, rates.
    pub statistics: GcStatistics,
    /// Whether live memory grows.
    pub leak: LeakVerdict,
    /// Safepoints, if the log prints them in the format of JDK 13.
    pub safepoints: Option<Safepoints>,
    /// CPU times, if the log prints them.
    pub cpu: Option<CpuSums>,
    /// Caveats about figures that may mislead.
    pub caveats: Vec<ReportedGcCaveat>,
    /// Series for plots.
    pub series: GcSeries,
    /// The counts of lines.
    pub lines: LineCounts,
    /// The first damaged lines.
    pub damaged_lines: Vec<DamagedLine>,
}

/// The name of a figure, its label and its definition.
type Definition = (&'static str, &'static str, &'static str);

/// The figures of the table that engineers quote.
const KEY_FIGURES: [Definition; 10] = [
    ("footprint", "Footprint", "the largest committed heap of all events"),
    ("freedMemory", "Freed memory", "the sum over all collections of the used heap before minus after"),
    ("freedMemoryPerMin", "Freed memory/min", "freed memory per minute of the total time"),
    (
        "totalTime",
        "Total time",
        "last stamp − first stamp + last pause, including idle time of the application",
    ),
    ("accumPause", "Acc pauses", "the sum of all pauses that stopped the application"),
    ("throughput", "Throughput", "100 · (total time − acc pauses) / total time"),
    ("fullGcPauseCount", "Number of full GCs", "collections of the whole heap in a pause"),
    (
        "fullGCPerformance",
        "Full GC performance",
        "memory that full collections freed, per second of their pauses",
    ),
    ("gcPauseCount", "Number of GCs", "all other collections; pauses of concurrent collectors count"),
    (
        "gcPerformance",
        "GC performance",
        "memory that collections other than full ones freed, per second of their pauses",
    ),
];

/// The most important further figures.
const MORE_KEY_FIGURES: [Definition; 10] = [
    ("allocationRate", "Allocation rate", "memory that the application allocated per second"),
    (
        "promotionRate",
        "Promotion rate",
        "memory that young collections moved to the old generation, per second",
    ),
    ("singlePauseMedian", "Median pause", "half of the pauses were shorter"),
    ("singlePausePercentile99th", "99th percentile of pauses", "1 % of the pauses were longer"),
    ("singlePauseMax", "Longest pause", "the longest time that the application was stopped"),
    ("worstSecondPausedPc", "Worst second", "the largest share of any second in pauses"),
    ("worstMinutePausedPc", "Worst minute", "the largest share of any minute in pauses"),
    (
        "failedCollections",
        "Failed collections",
        "collections that had no free memory to move objects to, or that began too late",
    ),
    (
        "allocationStalls",
        "Allocation stalls",
        "waits of single threads for free memory (ZGC); they are not pauses",
    ),
    ("gcCpuTime", "CPU time of GC", "user and system time of the collector's threads"),
];

impl GcSummary {
    /// Summarises a log.
    #[must_use]
    pub fn of(log: &GcLog) -> GcSummary {
        let figures = GcFigures::of(log);
        let statistics = statistics(log);
        let reported = |caveat: GcCaveat| ReportedGcCaveat { text: caveat.to_string(), caveat };
        GcSummary {
            collector: log.collector,
            jvm_version: log.jvm_version.clone(),
            is_unified: log.is_unified,
            figures: figures.rows(),
            more_figures: crate::more_figures::rows(log, &statistics),
            leak: leak_verdict(log),
            safepoints: log.safepoints,
            cpu: log.cpu,
            caveats: caveats(log, &figures, &statistics).into_iter().map(reported).collect(),
            statistics,
            series: series(log),
            lines: log.lines,
            damaged_lines: log.examples.clone(),
        }
    }

    /// The figure with a name.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<&FigureRow> {
        self.figures.iter().chain(&self.more_figures).find(|row| row.name == name)
    }

    /// The table that engineers quote: footprint, freed memory, pauses, throughput, full and other collections.
    #[must_use]
    pub fn key_figures(&self) -> Vec<KeyFigure> {
        self.defined(&KEY_FIGURES)
    }

    /// The most important figures that GCViewer does not have.
    #[must_use]
    pub fn more_key_figures(&self) -> Vec<KeyFigure> {
        self.defined(&MORE_KEY_FIGURES)
    }

    fn defined(&self, definitions: &[Definition]) -> Vec<KeyFigure> {
        let defined = |(name, label, definition): &Definition| {
            Some(KeyFigure { label, definition, figure: self.figure(name)?.clone() })
        };
        definitions.iter().filter_map(defined).collect()
    }

    /// All figures in the format of GCViewer's summary: `name; value; unit`, one per line.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut out = String::new();
        for row in self.figures.iter().chain(&self.more_figures) {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{}; {}; {}", row.name, row.text, row.unit);
        }
        out
    }
}
