//! The tables of an experiment, for terminal and page.

use busyhour_experiment::{
    CaseSummary, Effect, EffectInterval, ExperimentReport, ReportedFactor, ReportedResponse, ReportedTrial,
    ResponseScale, TrialOutcome,
};

use crate::numbers::{counted, duration, rate};

/// A table of texts.
pub(crate) struct ExperimentTable {
    pub(crate) title: String,
    /// The headings, and whether a column contains numbers.
    pub(crate) columns: Vec<(String, bool)>,
    pub(crate) rows: Vec<Vec<String>>,
    /// A line below the table; empty if there is none.
    pub(crate) note: String,
}

pub(crate) const UNKNOWN: &str = "–";

pub(crate) fn columns(names: &[(&str, bool)]) -> Vec<(String, bool)> {
    names.iter().map(|(name, is_number)| ((*name).to_owned(), *is_number)).collect()
}

/// A response with its unit, such as `p95 (ms)`.
pub(crate) fn with_unit(response: &ReportedResponse) -> String {
    match (response.unit.as_str(), response.analysis.scale) {
        ("", ResponseScale::Difference) => format!("{} (%)", response.name),
        ("", ResponseScale::Ratio) => response.name.clone(),
        (unit, _) => format!("{} ({unit})", response.name),
    }
}

/// A value of a response; shares are shown in percent.
pub(crate) fn value_text(value: Option<f64>, scale: ResponseScale) -> String {
    match (value, scale) {
        (None, _) => UNKNOWN.to_owned(),
        (Some(value), ResponseScale::Difference) => format!("{:.2}", 100.0 * value),
        // Three significant digits.
        (Some(value), ResponseScale::Ratio) if value > 0.0 && value < 9.995 => {
            let digits = (2.0 - value.log10().floor()).clamp(2.0, 12.0) as usize;
            format!("{value:.digits$}")
        }
        (Some(value), ResponseScale::Ratio) => rate(value),
    }
}

fn signed(change: f64) -> String {
    let digits = if change.abs() < 99.95 { 1 } else { 0 };
    let text = format!("{change:+.digits$}");
    text.replace('-', "−")
}

pub(crate) fn change_text(change: Option<f64>, scale: ResponseScale) -> String {
    let unit = if scale == ResponseScale::Difference { "pp" } else { "%" };
    change.map_or_else(|| UNKNOWN.to_owned(), |change| format!("{} {unit}", signed(change)))
}

pub(crate) fn interval_text(interval: Option<EffectInterval>, scale: ResponseScale) -> String {
    match interval {
        Some(interval) => {
            format!("{} to {}", signed(interval.low), change_text(Some(interval.high), scale))
        }
        None => UNKNOWN.to_owned(),
    }
}

fn p_text(p: Option<f64>) -> String {
    match p {
        None => UNKNOWN.to_owned(),
        Some(p) if p < 0.0001 => "<0.0001".to_owned(),
        Some(p) => format!("{p:.4}"),
    }
}

/// Confidence in percent, with enough digits to differ from 100.
pub(crate) fn confidence_text(confidence: f64) -> String {
    let percent = 100.0 * confidence;
    if percent < 99.5 { format!("{percent:.0} %") } else { format!("{percent:.2} %") }
}

/// The effects on a response.
pub(crate) fn effects_table(response: &ReportedResponse) -> ExperimentTable {
    let scale = response.analysis.scale;
    let row = |(effect, name): (&Effect, &String)| {
        vec![
            name.clone(),
            change_text(effect.change, scale),
            interval_text(effect.interval, scale),
            p_text(effect.p_adjusted),
            if effect.is_detected { "yes" } else { "no" }.to_owned(),
            effect.smallest.map_or_else(|| UNKNOWN.to_owned(), |smallest| change_text(Some(smallest), scale)),
            effect.blocks.to_string(),
        ]
    };
    let confidence = confidence_text(response.analysis.confidence);
    let omitted = response.analysis.interactions_omitted;
    ExperimentTable {
        title: format!("Effects on {}", response.name),
        columns: columns(&[
            ("Effect", false),
            ("Change", true),
            (&format!("{confidence} interval"), true),
            ("p", true),
            ("Detected", false),
            ("Smallest found", true),
            ("Blocks", true),
        ]),
        rows: response.analysis.effects.iter().zip(&response.effect_names).map(row).collect(),
        note: match omitted {
            0 => String::new(),
            omitted => format!(
                "{} were not estimated, because there are too many.",
                counted(omitted as u64, "interaction")
            ),
        },
    }
}

/// The cases before and after: their values, and the changes from the base case in percent.
pub(crate) fn cases_table(report: &ExperimentReport, response: &ReportedResponse) -> ExperimentTable {
    let scale = response.analysis.scale;
    let name = |case: u32| report.case_names.get(case as usize - 1).cloned().unwrap_or_default();
    let row = |summary: &CaseSummary| {
        let is_base = summary.case == report.base_case;
        let interval = summary.interval.map(|interval| {
            format!("{} to {}", value_text(Some(interval.low), scale), value_text(Some(interval.high), scale))
        });
        let change = summary.change.as_ref();
        let of_change = |text: String| if is_base { "base".to_owned() } else { text };
        vec![
            name(summary.case),
            summary.trials.to_string(),
            value_text(summary.value, scale),
            interval.unwrap_or_else(|| UNKNOWN.to_owned()),
            of_change(change_text(change.and_then(|change| change.change), scale)),
            if is_base {
                String::new()
            } else {
                interval_text(change.and_then(|change| change.interval), scale)
            },
        ]
    };
    let confidence = confidence_text(response.analysis.cases_confidence);
    ExperimentTable {
        title: format!("Cases: {}", with_unit(response)),
        columns: columns(&[
            ("Case", false),
            ("Trials", true),
            ("Mean", true),
            ("95 % interval", true),
            ("Change", true),
            (&format!("{confidence} interval"), true),
        ]),
        rows: response.analysis.cases.iter().map(row).collect(),
        note: base_note(report),
    }
}

/// The levels of the base case.
fn base_note(report: &ExperimentReport) -> String {
    let levels = report.case_levels.get((report.base_case as usize).wrapping_sub(1));
    let of = |(factor, level): (&ReportedFactor, &usize)| {
        Some(format!("{}={}", factor.name, factor.levels.get(*level)?))
    };
    let levels: Option<Vec<String>> =
        report.factors.iter().zip(levels.into_iter().flatten()).map(of).collect();
    match levels {
        Some(levels) if !levels.is_empty() => format!("base: {}", levels.join(", ")),
        _ => String::new(),
    }
}

/// The outcome of a trial in a word, and its reason.
pub(crate) fn outcome_text(trial: &ReportedTrial) -> (&'static str, &str) {
    match &trial.entry.outcome {
        TrialOutcome::Finished if trial.entry.trial.is_warm_up() => ("warm-up", ""),
        TrialOutcome::Finished => ("finished", ""),
        TrialOutcome::Failed { reason } => ("failed", reason),
        TrialOutcome::Spoiled { reason } => ("spoiled", reason),
        TrialOutcome::Interrupted => ("interrupted", ""),
    }
}

/// All trials in the order of their execution.
pub(crate) fn trials_table(report: &ExperimentReport) -> ExperimentTable {
    let mut names =
        vec![("Trial".to_owned(), false), ("Case".to_owned(), false), ("Outcome".to_owned(), false)];
    names.push(("Time".to_owned(), true));
    names.extend(report.responses.iter().map(|response| (with_unit(response), true)));
    names.push(("Remarks".to_owned(), false));
    let row = |trial: &ReportedTrial| {
        let (outcome, reason) = outcome_text(trial);
        let mut cells = vec![trial.entry.trial.to_string(), trial.case_name.clone(), outcome.to_owned()];
        cells.push(duration(trial.seconds));
        cells.extend(report.responses.iter().map(|response| {
            value_text(trial.values.get(&response.response).copied().flatten(), response.analysis.scale)
        }));
        let thresholds = trial.failed_thresholds.iter().map(|text| format!("threshold failed: {text}"));
        let reason = Some(reason.to_owned()).filter(|reason| !reason.is_empty());
        let remarks: Vec<String> = reason.into_iter().chain(thresholds).chain(trial.notes.clone()).collect();
        cells.push(remarks.join("; "));
        cells
    };
    ExperimentTable {
        title: "Trials".to_owned(),
        columns: names,
        rows: report.trials.iter().map(row).collect(),
        note: String::new(),
    }
}

/// The numbers of trials by outcome, and what is missing.
pub(crate) fn state_lines(report: &ExperimentReport) -> Vec<String> {
    let counts = report.counts;
    let mut line = counted(counts.finished, "trial");
    line += " finished";
    for (count, what) in
        [(counts.spoiled, "spoiled"), (counts.failed, "failed"), (counts.interrupted, "interrupted")]
    {
        if count > 0 {
            line += &format!(", {count} {what}");
        }
    }
    let mut lines = vec![format!("{line}.")];
    if !report.is_complete {
        lines.push(format!(
            "The experiment is not complete: {} {} open. Run it again to continue.",
            counted(report.open, "trial"),
            if report.open == 1 { "is" } else { "are" }
        ));
    }
    for given_up in &report.given_up {
        let case = report.case_names.get(given_up.case as usize - 1).cloned().unwrap_or_default();
        lines.push(format!(
            "Block {} has no result for {case}: {} attempts failed, {} were spoiled.",
            given_up.block, given_up.failed, given_up.spoiled
        ));
    }
    lines
}
