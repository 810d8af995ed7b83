//! Figures of garbage-collection logs as text for the terminal.

use busyhour_gclog::{BetterWhen, FigureChange, GcComparison, PauseGroup};
use busyhour_report::numbers::thousands;
use busyhour_report::{NamedGcLog, gc_collector, gc_comparison_notes, gc_live_memory, gc_pause_ms};
use busyhour_terminal::columns::Columns;

/// Maximum number of kinds and of causes that are listed.
const GROUPS_MAX: usize = 8;

/// The text for one log: tables, the verdict on live memory, and caveats.
pub(super) fn summary_text(log: &NamedGcLog) -> String {
    let summary = &log.summary;
    let mut out = format!("{}: {}\n\n", log.name, gc_collector(summary));
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
    out += &format!("\n{}\n", gc_live_memory(&summary.leak));
    for caveat in &summary.caveats {
        out += &format!("note: {}\n", caveat.text);
    }
    out
}

fn pauses(title: &str, groups: &[PauseGroup]) -> String {
    let mut table =
        Columns::new(1, &[title, "n", "mean ms", "p50 ms", "p95 ms", "p99 ms", "max ms", "sum ms"]);
    for PauseGroup { name, pauses, .. } in groups.iter().take(GROUPS_MAX) {
        let mut row = vec![name.clone(), thousands(pauses.n as u64)];
        let times = [pauses.mean_s, pauses.p50_s, pauses.p95_s, pauses.p99_s, pauses.max_s, pauses.sum_s];
        row.extend(times.map(gc_pause_ms));
        table.row(row);
    }
    let mut out = table.render();
    if groups.len() > GROUPS_MAX {
        out += &format!("and {} more\n", groups.len() - GROUPS_MAX);
    }
    out
}

/// The figures of two logs side by side.
pub(super) fn comparison_text(logs: &[NamedGcLog], comparison: &GcComparison) -> String {
    let names: Vec<&str> = logs.iter().map(|log| log.name.as_str()).collect();
    let mut table = Columns::new(1, &["Figure", "before", "after", "change", ""]);
    for figure in &comparison.figures {
        let percent = figure.percent.map(|percent| format!("{percent:+.1} %")).unwrap_or_default();
        let word = match (figure.change, figure.better_when) {
            (FigureChange::Better, _) => "better",
            (FigureChange::Worse, _) => "worse",
            (FigureChange::Different, BetterWhen::Neither)
            | (FigureChange::Different | FigureChange::Same, _) => "",
            (FigureChange::Unknown, _) => "unavailable",
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
    for note in gc_comparison_notes(comparison) {
        out += &format!("note: {note}\n");
    }
    out
}
