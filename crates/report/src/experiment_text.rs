//! The report of an experiment for terminals, and as CSV.

use std::fmt::Write as _;

use busyhour_experiment::ExperimentReport;

use crate::experiment_more_tables::{causes_table, recovery_table, surface_tables};
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
        let more = recovery_table(report, response).into_iter().chain(surface_tables(report, response));
        more.for_each(|one| table(&mut out, &one, look));
    }
    if let Some(causes) = causes_table(report) {
        table(&mut out, &causes, look);
    }
    table(&mut out, &trials_table(report), look);
    out
}

/// Appends a table with aligned columns.
pub(crate) fn table(out: &mut String, table: &ExperimentTable, look: Look) {
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
        let _ = writeln!(out, "{}", printable(&table.note));
    }
}

/// The trials as CSV: a line per trial. Times are in ms, shares are from 0 to 1; unavailable values are empty.
#[must_use]
pub fn experiment_csv(report: &ExperimentReport) -> String {
    let mut heads: Vec<String> = ["trial", "block", "case", "attempt"].map(str::to_owned).to_vec();
    heads.extend(report.factors.iter().map(|factor| cell(&factor.name)));
    heads.extend(["outcome", "reason", "seconds"].map(str::to_owned));
    heads.extend(report.responses.iter().map(|response| cell(&response.name)));
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

#[cfg(test)]
mod tests {
    use busyhour_experiment::{
        Experiment, GivenUp, JournalEntry, ReportedTrial, TrialCounts, TrialId, TrialOutcome, TrialQuantile,
    };

    use super::*;
    use crate::experiment_html;

    const FILE: &str = r#"
        version = 1
        title = "Size of the <heap>"
        responses = ["p95", "errors"]
        [load]
        url = "http://127.0.0.1/"
        [trials]
        duration = "1min"
        [[factor]]
        name = "heap"
        level = [{ name = "512m", users = 1 }, { name = "2g", users = 2 }]
    "#;

    fn trial(id: &str, outcome: TrialOutcome, p95: Option<f64>) -> ReportedTrial {
        let trial: TrialId = id.parse().unwrap();
        let is_finished = outcome == TrialOutcome::Finished;
        ReportedTrial {
            entry: JournalEntry { trial, outcome },
            case_name: if trial.case == 1 { "base".to_owned() } else { "heap=2g".to_owned() },
            seconds: 61.2,
            values: [("p95".to_owned(), p95), ("errors".to_owned(), p95.map(|_| 0.01))].into(),
            quantiles: vec![
                TrialQuantile { share: 0.5, ms: 20.0 },
                TrialQuantile { share: 0.95, ms: p95.unwrap_or(1.0) },
            ],
            cause: is_finished.then(|| "gc-pauses".to_owned()),
            failed_thresholds: Vec::new(),
            notes: Vec::new(),
            dir: format!("trials/{id}"),
            has_report: is_finished,
        }
    }

    fn report() -> ExperimentReport {
        let experiment = Experiment::read(FILE, "heap.toml").unwrap().experiment;
        let spoiled = TrialOutcome::Spoiled { reason: "load not delivered, 5 %".to_owned() };
        let mut trials = vec![trial("b01-c01-a1", spoiled, None)];
        for (id, p95) in [
            ("b01-c01-a2", 40.0),
            ("b01-c02-a1", 61.0),
            ("b02-c01-a1", 44.0),
            ("b02-c02-a1", 64.0),
            ("b03-c01-a1", 41.0),
            ("b03-c02-a1", 60.0),
        ] {
            trials.push(trial(id, TrialOutcome::Finished, Some(p95)));
        }
        let counts = TrialCounts { finished: 6, spoiled: 1, ..TrialCounts::default() };
        let given_up = vec![GivenUp { block: 4, case: 2, failed: 1, spoiled: 2 }];
        ExperimentReport::new(&experiment, &experiment.design().unwrap(), (counts, given_up), 6, trials)
    }

    #[test]
    fn the_sentence_comes_first() {
        let text = experiment_text(&report(), Look { width: None, colour: false });
        assert!(text.starts_with("p95 is 48.1 % higher with heap=2g than with heap=512m ("), "{text}");
        for part in [
            "6 trials finished, 1 spoiled.",
            "The experiment is not complete: 6 trials are open. Run it again to continue.",
            "Block 4 has no result for heap=2g: 1 attempts failed, 2 were spoiled.",
            "Cases: errors (%)",
            "heap=2g  gc-pauses in 3 of 3",
            "load not delivered, 5 %",
        ] {
            assert!(text.contains(part), "{part:?} is missing in\n{text}");
        }
    }

    #[test]
    fn every_trial_is_a_line_of_csv() {
        let csv = experiment_csv(&report());
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines[0], "trial,block,case,attempt,heap,outcome,reason,seconds,p95,errors");
        assert_eq!(lines[1], "b01-c01-a1,1,1,1,512m,spoiled,\"load not delivered, 5 %\",61.200,,");
        assert_eq!(lines[3], "b01-c02-a1,1,2,1,2g,finished,,61.200,61,0.01");
        assert_eq!(lines.len(), 8);
    }

    #[test]
    fn the_page_links_to_trials_with_a_report() {
        let page = experiment_html(&report(), "../out/");
        assert!(page.contains("<h1>Size of the &lt;heap&gt;</h1>"), "{page}");
        assert!(page.contains("<a href=\"../out/trials/b03-c02-a1/report.html\">b03-c02-a1</a>"), "{page}");
        assert!(!page.contains("trials/b01-c01-a1/"), "a trial without a report has no link");
        // Two responses, and the distributions.
        assert_eq!(page.matches("<figure>").count(), 3);
        assert!(page.contains("gc-pauses in 3 of 3"), "{page}");
    }
}
