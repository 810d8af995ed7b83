//! Figures of garbage-collection logs as text for the terminal.

use busyhour_gclog::{BetterWhen, Change, GcComparison, GcSummary, LeakVerdict, LiveGrowth, PauseGroup};
use busyhour_report::numbers::{duration, ms, thousands};

use super::gc_log::SummarisedLog;
use crate::columns::Columns;

/// Maximum number of kinds and of causes that are listed.
const GROUPS_MAX: usize = 8;

/// The text for one log: tables, the verdict on live memory, and caveats.
pub(super) fn summary_text(log: &SummarisedLog) -> String {
    let summary = &log.summary;
    let mut out = format!("{}: {}\n\n", log.name, collector(summary));
    let mut key = Columns::new(1, &["Figure", "Value"]);
    for figure in summary.key_figures() {
        key.row(vec![figure.label.into(), figure.figure.with_unit()]);
    }
    for (name, label) in [("allocationRate", "Allocation rate"), ("promotionRate", "Promotion rate")] {
        if let Some(figure) = summary.figure(name) {
            key.row(vec![label.into(), figure.with_unit()]);
        }
    }
    out += &key.render();
    for (title, groups) in
        [("Pauses by kind", &summary.statistics.by_kind), ("Pauses by cause", &summary.statistics.by_cause)]
    {
        if !groups.is_empty() {
            out += "\n";
            out += &pauses(title, groups);
        }
    }
    out += &format!("\n{}\n", live_memory(&summary.leak));
    for caveat in &summary.caveats {
        out += &format!("note: {}\n", caveat.text);
    }
    out
}

fn collector(summary: &GcSummary) -> String {
    let name = summary.collector.map_or("collector unknown", |collector| collector.name());
    match &summary.jvm_version {
        Some(version) => format!("{name}, JVM {version}"),
        None => name.to_owned(),
    }
}

fn pauses(title: &str, groups: &[PauseGroup]) -> String {
    let mut table =
        Columns::new(1, &[title, "n", "mean ms", "p50 ms", "p95 ms", "p99 ms", "max ms", "sum ms"]);
    for PauseGroup { name, pauses, .. } in groups.iter().take(GROUPS_MAX) {
        let mut row = vec![name.clone(), thousands(pauses.n as u64)];
        let times = [pauses.mean_s, pauses.p50_s, pauses.p95_s, pauses.p99_s, pauses.max_s, pauses.sum_s];
        row.extend(times.map(|s| ms(s * 1e3)));
        table.row(row);
    }
    let mut out = table.render();
    if groups.len() > GROUPS_MAX {
        out += &format!("and {} more\n", groups.len() - GROUPS_MAX);
    }
    out
}

fn live_memory(verdict: &LeakVerdict) -> String {
    match verdict {
        LeakVerdict::Leak(growth) => {
            let full = growth
                .full_in_s
                .map(|full_s| format!("; at this rate the heap is full in {}", duration(full_s)))
                .unwrap_or_default();
            format!("Live memory grows: a leak, {}{full}", slope(growth))
        }
        LeakVerdict::NoLeak(growth) => format!("Live memory does not grow: {}", slope(growth)),
        LeakVerdict::Undecided { reason, .. } => {
            format!("Whether live memory grows is undecided: {}", reason.reason())
        }
    }
}

fn slope(growth: &LiveGrowth) -> String {
    let mib_per_min = |kib_per_s: f64| kib_per_s * 60.0 / 1024.0;
    format!(
        "{:+.2} MiB/min (95 % interval {:+.2} to {:+.2}) over {}",
        mib_per_min(growth.slope_kib_per_s),
        mib_per_min(growth.low_kib_per_s),
        mib_per_min(growth.high_kib_per_s),
        duration(growth.span_s)
    )
}

/// The figures of two logs side by side.
pub(super) fn comparison_text(logs: &[SummarisedLog], comparison: &GcComparison) -> String {
    let names: Vec<&str> = logs.iter().map(|log| log.name.as_str()).collect();
    let mut table = Columns::new(1, &["Figure", "before", "after", "change", ""]);
    for figure in &comparison.figures {
        let percent = figure.percent.map(|percent| format!("{percent:+.1} %")).unwrap_or_default();
        let word = match (figure.change, figure.better_when) {
            (Change::Better, _) => "better",
            (Change::Worse, _) => "worse",
            (Change::Different, BetterWhen::Neither) | (Change::Different | Change::Same, _) => "",
            (Change::Unknown, _) => "unavailable",
        };
        table.row(vec![
            figure.label.into(),
            figure.before.clone(),
            figure.after.clone(),
            percent,
            word.into(),
        ]);
    }
    let mut out = format!("{}\n\n{}", names.join(" → "), table.render());
    if let Some(ratio) = comparison.length_ratio.filter(|ratio| !(0.8..=1.25).contains(ratio)) {
        out += &format!(
            "note: the second log is {ratio:.1} times as long; sums and counts cannot be compared directly\n"
        );
    }
    out += "note: each log is one run; a small difference may be chance\n";
    out
}
