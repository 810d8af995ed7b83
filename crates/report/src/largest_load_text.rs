//! The result of a search for the largest load, for terminals.

use std::fmt::Write as _;

use busyhour_search::{LargestLoadReport, TrialOutcome};

use crate::experiment_text::table;
use crate::largest_load_words::{detail_lines, largest_load_sentence, search_trials_table};
use crate::terminal_plot::{PlotLine, TerminalPlot};
use crate::terminal_text::{Look, printable, wrap};

/// The size of the plot in characters.
const COLUMNS: usize = 60;
const ROWS: usize = 10;

/// The result as text. The sentence comes first.
#[must_use]
pub fn largest_load_text(report: &LargestLoadReport, look: Look) -> String {
    let mut out = String::new();
    let mut paragraph = |text: &str, is_bold: bool| {
        for line in wrap(&printable(text), look.width, "") {
            let _ = writeln!(out, "{}", if is_bold { look.bold(&line) } else { line });
        }
    };
    paragraph(&largest_load_sentence(report), true);
    detail_lines(report).iter().for_each(|line| paragraph(line, false));
    if !report.pass_curve.is_empty() {
        let _ = write!(out, "\n{}", plot(report).render(COLUMNS, ROWS));
    }
    table(&mut out, &search_trials_table(report), look);
    out
}

/// The pass curve, and the outcomes of trials without a preceding overload: 100 for a pass, 0 for a failure.
fn plot(report: &LargestLoadReport) -> TerminalPlot {
    let curve = report.pass_curve.iter().map(|point| (point.load, 100.0 * point.pass_probability)).collect();
    let outcomes = report.trials.iter().filter(|record| record.overload.is_none()).filter_map(|record| {
        match record.outcome {
            TrialOutcome::Passed => Some((record.load, 100.0)),
            TrialOutcome::Failed { .. } => Some((record.load, 0.0)),
            TrialOutcome::Void(_) => None,
        }
    });
    let outcomes = outcomes.collect();
    TerminalPlot {
        title: "Trials that pass, in per cent".to_owned(),
        x_name: "load".to_owned(),
        lines: vec![
            PlotLine { name: "pass curve".to_owned(), points: curve, is_dotted: false },
            PlotLine { name: "trials".to_owned(), points: outcomes, is_dotted: true },
        ],
    }
}

#[cfg(test)]
mod tests {
    use busyhour_search::{
        Evidence, LARGEST_LOAD_VERSION, LimitingResource, LoadKind, PassPoint, Search, SearchSettings,
        SearchStep, TrialLength, TrialMeasures, TrialRecord, TrialThreshold,
    };

    use super::*;
    use crate::largest_load_html;

    /// A search in a system whose trials pass below 345/s and fail above it.
    fn report() -> LargestLoadReport {
        let length = TrialLength { full_seconds: 60.0, shortest_seconds: 10.0, tested: None };
        let settings = SearchSettings::new(LoadKind::Rate, 10.0, 2_000.0, length);
        let mut search = Search::new(settings).unwrap();
        let mut trials: Vec<TrialRecord> = Vec::new();
        let text = "p95 < 300ms & <b>".to_owned();
        while let SearchStep::Trial(trial) = search.next_step() {
            let failed = trial.load > 345.0;
            let outcome = match failed {
                false => TrialOutcome::Passed,
                true => TrialOutcome::Failed { threshold: text.clone(), margin: Some(0.5) },
            };
            search.report(trial.load, outcome.clone()).unwrap();
            let threshold = TrialThreshold {
                text: text.clone(),
                failed,
                observed: Some("450 ms".to_owned()),
                margin: Some(0.5),
                is_time: true,
            };
            let measures = TrialMeasures {
                requests: 100,
                throughput_per_s: trial.load,
                response_s: 0.1,
                error_share: 0.0,
                thresholds: vec![threshold],
            };
            let number = trials.len() as u32 + 1;
            trials.push(TrialRecord {
                number,
                purpose: Some(trial.purpose),
                load: trial.load,
                seconds: trial.seconds,
                overload: trial.overload,
                outcome,
                void_reason: None,
                measures: Some(measures),
                dir: format!("trials/{number:03}"),
            });
        }
        let loads = [300.0, 340.0, 350.0, 400.0];
        let curve = loads.iter().zip(search.pass_probabilities(&loads));
        LargestLoadReport {
            version: LARGEST_LOAD_VERSION,
            target: "http://127.0.0.1/".to_owned(),
            kind: LoadKind::Rate,
            thresholds: vec![text],
            settings: Some(settings),
            guess: Evidence::Unavailable("no light trial passed".to_owned()),
            pass_curve: curve
                .map(|(load, pass_probability)| PassPoint { load: *load, pass_probability })
                .collect(),
            search: Some(search.result()),
            resource: Evidence::Found(LimitingResource {
                resource: Some("CPU".to_owned()),
                utilization: Some(0.97),
                explanation: None,
                trial: 3,
                load: 340.0,
            }),
            model_knee: Evidence::Unavailable("too few loads".to_owned()),
            usl_knee: Evidence::Unavailable("too few loads".to_owned()),
            trials,
        }
    }

    #[test]
    fn the_sentence_comes_first() {
        let text = largest_load_text(&report(), Look { width: None, colour: false });
        assert!(text.starts_with("The largest load is 3"), "{text}");
        for part in [
            "95 % of the trials of 1 min 00 s pass there (95 % interval",
            "The limit is a cliff",
            "The threshold that binds is `p95 < 300ms & <b>`",
            "5 of 5 confirmation runs at 3",
            "no hysteresis is visible",
            "The resource that binds is CPU, 97 % of which was in use in trial 3 at 340.0/s.",
            "Knee by the Universal Scalability Law: unavailable: too few loads.",
            "The search started without a guess: no light trial passed.",
            "the search ended because the answer has the required precision",
            "Trials that pass, in per cent",
            "from above",
        ] {
            assert!(text.contains(part), "{part:?} is missing in\n{text}");
        }
    }

    #[test]
    fn the_page_has_the_sentence_the_plot_and_links() {
        let page = largest_load_html(&report(), "out/");
        for part in [
            "The largest load is 3",
            "<svg",
            "<polyline",
            "p95 &lt; 300ms",
            "href=\"out/trials/001/report.html\"",
        ] {
            assert!(page.contains(part), "{part:?} is missing in\n{page}");
        }
        assert!(!page.contains("<b>"));
    }

    #[test]
    fn a_search_that_has_not_begun_has_no_load() {
        let before =
            LargestLoadReport { search: None, pass_curve: Vec::new(), trials: Vec::new(), ..report() };
        let text = largest_load_text(&before, Look { width: None, colour: false });
        assert!(text.starts_with("The largest load is not known yet"), "{text}");
    }
}
