//! The report of an experiment for terminals, and as CSV.

use std::fmt::Write as _;

use busyhour_experiment::ExperimentReport;

use crate::experiment_tables::{
    ExperimentTable, cases_table, effects_table, outcome_text, state_lines, trials_table,
};
use crate::log_tables::cell;
use crate::terminal_text::{LABEL_MAX, Look, cut, printable, wrap};

/// The report as text. The sentence comes first.
#[must_use]
pub fn experiment_text(report: &ExperimentReport, look: Look) -> String {
    let mut out = String::new();
    let mut paragraph = |text: &str, is_bold: bool| {
        for line in wrap(&printable(text), look.width, "") {
            let _ = writeln!(out, "{}", if is_bold { look.bold(&line) } else { line });
        }
    };
    paragraph(&report.sentence, true);
    for response in report.responses.iter().skip(1) {
        paragraph(&response.sentence, false);
    }
    state_lines(report).iter().for_each(|line| paragraph(line, false));
    for response in &report.responses {
        table(&mut out, &effects_table(response), look);
        table(&mut out, &cases_table(report, response), look);
    }
    table(&mut out, &trials_table(report), look);
    out
}

/// Appends a table with aligned columns.
fn table(out: &mut String, table: &ExperimentTable, look: Look) {
    let heads = table.columns.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = std::iter::once(&heads)
        .chain(&table.rows)
        .map(|row| row.iter().map(|cell| cut(&printable(cell), LABEL_MAX)).collect())
        .collect();
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..heads.len()).map(|at| width(at).unwrap_or(0)).collect();
    let _ = writeln!(out, "\n{}", look.bold(&printable(&table.title)));
    for (at, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for ((cell, width), (_, is_number)) in row.iter().zip(&widths).zip(&table.columns) {
            let space = " ".repeat(width - cell.chars().count());
            line += &if *is_number { format!("{space}{cell}  ") } else { format!("{cell}{space}  ") };
        }
        let line = line.trim_end();
        let _ = writeln!(out, "{}", if at == 0 { look.dim(line) } else { line.to_owned() });
    }
    if !table.note.is_empty() {
        let _ = writeln!(out, "{}", table.note);
    }
}

/// The trials as CSV: a line per trial. Times are in ms, shares are from 0 to 1; unavailable values are empty.
#[must_use]
pub fn experiment_csv(report: &ExperimentReport) -> String {
    let mut heads: Vec<String> = ["trial", "block", "case", "attempt"].map(str::to_owned).to_vec();
    heads.extend(report.factors.iter().map(|factor| cell(&factor.name)));
    heads.extend(["outcome", "reason", "seconds"].map(str::to_owned));
    heads.extend(report.responses.iter().map(|response| cell(&response.response)));
    let mut out = heads.join(",") + "\n";
    for trial in &report.trials {
        let id = trial.entry.trial;
        let (outcome, reason) = outcome_text(trial);
        let mut cells =
            vec![id.to_string(), id.block.to_string(), id.case.to_string(), id.attempt.to_string()];
        let levels = report.case_levels.get((id.case as usize).wrapping_sub(1));
        cells.extend(report.factors.iter().enumerate().map(|(at, factor)| {
            let level = levels.and_then(|levels| factor.levels.get(*levels.get(at)?));
            cell(level.map_or("", String::as_str))
        }));
        cells.extend([outcome.to_owned(), cell(reason), format!("{:.3}", trial.seconds)]);
        cells.extend(report.responses.iter().map(|response| {
            let value = trial.values.get(&response.response).copied().flatten();
            value.map_or_else(String::new, |value| value.to_string())
        }));
        out += &(cells.join(",") + "\n");
    }
    out
}
