//! The figures under GCViewer's names, in its order and with its formats.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::accumulator::{DurationStatistics, SizeStatistics};
use super::format::{fixed, memory, number};
use super::model::{CollectionFigures, GcFigure, GcFigures, Occupancy, UnavailableReason};

/// A figure under its name in GCViewer's summary.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct FigureRow {
    /// GCViewer's name.
    pub name: Cow<'static, str>,
    /// The value with all its digits: bytes, seconds, percent, a count, or 0 and 1. Absent if it is unavailable.
    pub value: Option<f64>,
    /// The value as GCViewer prints it, or `unavailable`.
    pub text: String,
    /// The unit of `text`.
    pub unit: String,
    /// Why it is unavailable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<UnavailableReason>,
}

impl FigureRow {
    /// The value with its unit.
    #[must_use]
    pub fn with_unit(&self) -> String {
        if self.unavailable.is_some() || self.unit == "-" || self.unit == "bool" {
            self.text.clone()
        } else {
            format!("{} {}", self.text, self.unit)
        }
    }
}

/// A row with a number, in GCViewer's format with at most `decimals` decimals.
pub(crate) fn number_row(name: &'static str, value: GcFigure<f64>, unit: &str, decimals: usize) -> FigureRow {
    row(name, value.map(|value| (value, number(value, decimals), unit.to_owned())), unit)
}

/// A row with an amount of memory, KiB, in GCViewer's format, and an addition to its unit (`/s`).
pub(crate) fn memory_row(name: &'static str, kib: GcFigure<f64>, per: &str) -> FigureRow {
    let figure = kib.map(|kib| {
        let (text, unit) = memory(kib);
        (kib * 1024.0, text, format!("{unit}{per}"))
    });
    row(name, figure, &format!("M{per}"))
}

fn row(name: &'static str, figure: GcFigure<(f64, String, String)>, unit: &str) -> FigureRow {
    match figure {
        Ok((value, text, unit)) => {
            FigureRow { name: name.into(), value: Some(value), text, unit, unavailable: None }
        }
        Err(reason) => FigureRow {
            name: name.into(),
            value: None,
            text: "unavailable".to_owned(),
            unit: unit.to_owned(),
            unavailable: Some(reason),
        },
    }
}

/// Collects rows.
struct Rows(Vec<FigureRow>);

impl Rows {
    fn add(&mut self, name: &'static str, figure: GcFigure<(f64, String, String)>, unit: &str) {
        self.0.push(row(name, figure, unit));
    }

    fn memory(&mut self, name: &'static str, kib: GcFigure<f64>, per: &str) {
        self.0.push(memory_row(name, kib, per));
    }

    fn kib(&mut self, name: &'static str, kib: GcFigure<i64>) {
        self.memory(name, kib.map(|kib| kib as f64), "");
    }

    fn seconds(&mut self, name: &'static str, seconds: GcFigure<f64>, decimals: usize) {
        self.0.push(number_row(name, seconds, "s", decimals));
    }

    fn percent(&mut self, name: &'static str, percent: GcFigure<f64>) {
        self.add(name, percent.map(|percent| (percent, fixed(percent, 1), "%".to_owned())), "%");
    }

    fn count(&mut self, name: &'static str, count: u64) {
        self.add(name, Ok((count as f64, count.to_string(), "-".to_owned())), "-");
    }

    fn flag(&mut self, name: &'static str, flag: GcFigure<bool>) {
        let figure = flag.map(|flag| (f64::from(u8::from(flag)), flag.to_string(), "bool".to_owned()));
        self.add(name, figure, "bool");
    }
}

/// GCViewer calls a mean significant if the standard deviation is less than a quarter of the mean.
fn is_significant(mean: GcFigure<f64>, sd: GcFigure<f64>) -> GcFigure<bool> {
    let (mean, sd) = (mean?, sd?);
    Ok(mean - sd > 0.75 * mean)
}

fn share(part: GcFigure<f64>, whole: GcFigure<f64>, none: UnavailableReason) -> GcFigure<f64> {
    let (part, whole) = (part?, whole?);
    if whole == 0.0 { Err(none) } else { Ok(part * 100.0 / whole) }
}

/// The names of the rows about one kind of collection.
struct Names {
    after: [&'static str; 3],
    freed: [&'static str; 5],
    slope: &'static str,
    growth: &'static str,
}

const FULL: Names = Names {
    after: ["avgfootprintAfterFullGC", "avgfootprintAfterFullGCσ", "avgfootprintAfterFullGCisSig"],
    freed: [
        "freedMemoryByFullGC",
        "freedMemoryByFullGCpc",
        "avgFreedMemoryByFullGC",
        "avgFreedMemoryByFullGCσ",
        "avgFreedMemoryByFullGCisSig",
    ],
    slope: "slopeAfterFullGC",
    growth: "avgRelativePostFullGCInc",
};

const GC: Names = Names {
    after: ["avgfootprintAfterGC", "avgfootprintAfterGCσ", "avgfootprintAfterGCisSig"],
    freed: [
        "freedMemoryByGC",
        "freedMemoryByGCpc",
        "avgFreedMemoryByGC",
        "avgFreedMemoryByGCσ",
        "avgFreedMemoryByGCisSig",
    ],
    slope: "slopeAfterGC",
    growth: "avgRelativePostGCInc",
};

pub(crate) fn rows(figures: &GcFigures) -> Vec<FigureRow> {
    let mut rows = Rows(Vec::with_capacity(110));
    memory_rows(&mut rows, figures);
    pause_rows(&mut rows, figures);
    percentile_rows(&mut rows, figures);
    overall_rows(&mut rows, figures);
    rows.0
}

fn memory_rows(rows: &mut Rows, figures: &GcFigures) {
    let occupancies: [([&'static str; 3], &Occupancy); 4] = [
        (["totalHeapAllocMax", "totalHeapUsedMax", "totalHeapUsedMaxpc"], &figures.heap),
        (["totalTenuredAllocMax", "totalTenuredUsedMax", "totalTenuredUsedMaxpc"], &figures.old),
        (["totalYoungAllocMax", "totalYoungUsedMax", "totalYoungUsedMaxpc"], &figures.young),
        (["totalPermAllocMax", "totalPermUsedMax", "totalPermUsedMaxpc"], &figures.metaspace),
    ];
    for ([capacity, used, percent], occupancy) in occupancies {
        rows.kib(capacity, occupancy.capacity_kib);
        rows.kib(used, occupancy.used_kib);
        let figure = |kib: GcFigure<i64>| kib.map(|kib| kib as f64);
        let filled =
            share(figure(occupancy.used_kib), figure(occupancy.capacity_kib), UnavailableReason::NoCapacity);
        rows.percent(percent, filled);
    }
    collection_rows(rows, figures, &figures.full, &FULL, UnavailableReason::NoFullCollections);
    collection_rows(rows, figures, &figures.gc, &GC, figures.reason_without_gc());
    let promotion = &figures.promotion;
    let none = UnavailableReason::NoGenerations;
    rows.memory("avgPromotion", promotion.mean_kib().ok_or(none), "");
    let total = if promotion.n() == 0 { Err(none) } else { Ok(promotion.sum_kib()) };
    rows.kib("promotionTotal", total);
}

fn collection_rows(
    rows: &mut Rows,
    figures: &GcFigures,
    group: &CollectionFigures,
    names: &Names,
    none: UnavailableReason,
) {
    let none = if group.pauses.n() == 0 { none } else { UnavailableReason::NoHeapSizes };
    let statistics = |sizes: &SizeStatistics| (sizes.mean_kib().ok_or(none), sizes.sd_kib().ok_or(none));
    let [after, after_sd, after_flag] = names.after;
    let (mean, sd) = statistics(&group.after);
    rows.memory(after, mean, "");
    rows.memory(after_sd, sd, "");
    rows.flag(after_flag, is_significant(mean, sd));
    let [freed, percent, average, average_sd, flag] = names.freed;
    let total = if group.freed.n() == 0 { Err(none) } else { Ok(group.freed.sum_kib() as f64) };
    rows.memory(freed, total, "");
    let all = figures.freed_kib.map(|kib| kib as f64);
    rows.percent(percent, share(total, all, UnavailableReason::NothingFreed));
    let (mean, sd) = statistics(&group.freed);
    rows.memory(average, mean, "/coll");
    rows.memory(average_sd, sd, "/coll");
    rows.flag(flag, is_significant(mean, sd));
    rows.memory(names.slope, group.slope_kib_per_s, "/s");
    rows.memory(names.growth, group.growth_kib, "/coll");
}

fn pause_rows(rows: &mut Rows, figures: &GcFigures) {
    let averages =
        |rows: &mut Rows, pauses: &DurationStatistics, names: [&'static str; 3], none: UnavailableReason| {
            let (mean, sd) = (pauses.mean().ok_or(none), pauses.sd().ok_or(none));
            rows.flag(names[0], is_significant(mean, sd));
            rows.seconds(names[1], mean, 6);
            rows.seconds(names[2], sd, 6);
        };
    let all = known(&figures.pauses, figures.lacks_pauses);
    let gc = known(&figures.gc.pauses, figures.lacks_pauses);
    let full = &figures.full.pauses;
    let none = if figures.lacks_pauses {
        UnavailableReason::CyclesWithoutPauses
    } else {
        UnavailableReason::NoPauses
    };
    let gc_none = if figures.lacks_pauses {
        UnavailableReason::CyclesWithoutPauses
    } else {
        figures.reason_without_gc()
    };
    let full_none = UnavailableReason::NoFullCollections;
    rows.count("pauseCount", figures.pauses.n() as u64);
    averages(rows, &all, ["avgPauseIsSig", "avgPause", "avgPauseσ"], none);
    rows.seconds("minPause", all.min().ok_or(none), 6);
    rows.seconds("maxPause", all.max().ok_or(none), 6);
    rows.count("gcPauseCount", figures.gc.pauses.n() as u64);
    averages(rows, &gc, ["avgGCPauseIsSig", "avgGCPause", "avgGCPauseσ"], gc_none);
    rows.count("fullGcPauseCount", full.n() as u64);
    averages(rows, full, ["avgFullGCPauseIsSig", "avgFullGCPause", "avgFullGCPauseσ"], full_none);
    rows.seconds("minFullGCPause", full.min().ok_or(full_none), 6);
    rows.seconds("maxFullGCPause", full.max().ok_or(full_none), 6);
    let paused = figures.accumulated_pauses_s();
    let gc_s = paused.map(|_| gc.sum());
    rows.seconds("accumPause", paused, 2);
    rows.seconds("fullGCPause", Ok(full.sum()), 2);
    rows.percent("fullGCPausePc", share(Ok(full.sum()), paused, UnavailableReason::PausesTooShort));
    rows.seconds("gcPause", gc_s, 2);
    rows.percent("gcPausePc", share(gc_s, paused, UnavailableReason::PausesTooShort));
}

/// The pauses, or none if the log does not print the pauses of its cycles.
fn known(pauses: &DurationStatistics, lacks_pauses: bool) -> DurationStatistics {
    if lacks_pauses { DurationStatistics::default() } else { pauses.clone() }
}

fn percentile_rows(rows: &mut Rows, figures: &GcFigures) {
    let lacks = figures.lacks_pauses;
    let no_pauses = if lacks { UnavailableReason::CyclesWithoutPauses } else { UnavailableReason::NoPauses };
    let no_gc = if lacks { UnavailableReason::CyclesWithoutPauses } else { figures.reason_without_gc() };
    let gc = [
        "gcPauseSum",
        "gcPauseMin",
        "gcPauseMax",
        "gcPauseAverage",
        "gcPauseStandardDeviation",
        "gcPauseMedian",
        "gcPausePercentile75th",
        "gcPausePercentile95th",
        "gcPausePercentile99th",
        "gcPausePercentile99.5th",
        "gcPausePercentile99.9th",
    ];
    let all = [
        "pauseSum",
        "pauseMin",
        "pauseMax",
        "pauseAverage",
        "pauseStandardDeviation",
        "pauseMedian",
        "pausePercentile75th",
        "pausePercentile95th",
        "pausePercentile99th",
        "pausePercentile99.5th",
        "pausePercentile99.9th",
    ];
    let full = [
        "fullGCPauseSum",
        "fullGCPauseMin",
        "fullGCPauseMax",
        "fullGCPauseAverage",
        "fullGCPauseStandardDeviation",
        "fullGCPauseMedian",
        "fullGCPausePercentile75th",
        "fullGCPausePercentile95th",
        "fullGCPausePercentile99th",
        "fullGCPausePercentile99.5th",
        "fullGCPausePercentile99.9th",
    ];
    let phases = [
        "gcPhaseSum",
        "gcPhaseMin",
        "gcPhaseMax",
        "gcPhaseAverage",
        "gcPhaseStandardDeviation",
        "gcPhaseMedian",
        "gcPhasePercentile75th",
        "gcPhasePercentile95th",
        "gcPhasePercentile99th",
        "gcPhasePercentile99.5th",
        "gcPhasePercentile99.9th",
    ];
    distribution(rows, all, &known(&figures.pauses, lacks), no_pauses);
    distribution(rows, gc, &known(&figures.gc.pauses, lacks), no_gc);
    distribution(rows, full, &figures.full.pauses, UnavailableReason::NoFullCollections);
    rows.count("gcPhaseCount", figures.phases.n() as u64);
    distribution(rows, phases, &figures.phases, UnavailableReason::NoPhases);
}

fn distribution(
    rows: &mut Rows,
    names: [&'static str; 11],
    durations: &DurationStatistics,
    none: UnavailableReason,
) {
    let [sum, min, max, mean, sd, median, p75, p95, p99, p995, p999] = names;
    let total = if durations.n() == 0 { Err(none) } else { Ok(durations.sum()) };
    rows.seconds(sum, total, 6);
    rows.seconds(min, durations.min().ok_or(none), 6);
    rows.seconds(max, durations.max().ok_or(none), 6);
    rows.seconds(mean, durations.mean().ok_or(none), 6);
    rows.seconds(sd, durations.sd().ok_or(none), 6);
    for (name, p) in [(median, 50.0), (p75, 75.0), (p95, 95.0), (p99, 99.0), (p995, 99.5), (p999, 99.9)] {
        rows.seconds(name, durations.percentile(p).ok_or(none), 6);
    }
}

fn overall_rows(rows: &mut Rows, figures: &GcFigures) {
    rows.kib("footprint", figures.footprint_kib);
    rows.kib("freedMemory", figures.freed_kib);
    let throughput = figures.throughput_percent;
    rows.add("throughput", throughput.map(|percent| (percent, number(percent, 2), "%".to_owned())), "%");
    // GCViewer truncates to whole seconds.
    let total = figures.total_s.map(|s| (s, format!("{}", s.trunc() as i64), "s".to_owned()));
    rows.add("totalTime", total, "s");
    rows.memory("freedMemoryPerMin", figures.freed_kib_per_min, "/min");
    rows.memory("gcPerformance", figures.gc.performance_kib_per_s, "/s");
    rows.memory("fullGCPerformance", figures.full.performance_kib_per_s, "/s");
}
