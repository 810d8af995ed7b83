//! Further tables of an experiment: recovered loss, response surfaces, and causes of slow requests.

use busyhour_experiment::{
    CaseCauses, ExperimentReport, ReportedRecovery, ReportedResponse, ResponseSurface,
};

use crate::experiment_tables::{
    ExperimentTable, UNKNOWN, change_text, columns, confidence_text, interval_text, value_text, with_unit,
};

/// Largest number of columns of a surface.
const SURFACE_COLUMNS_MAX: usize = 30;

fn case_name(report: &ExperimentReport, case: u32) -> String {
    report.case_names.get((case as usize).wrapping_sub(1)).cloned().unwrap_or_default()
}

/// The part of the loss that each treatment recovers; `None` if the file does not ask for it.
pub(crate) fn recovery_table(
    report: &ExperimentReport,
    response: &ReportedResponse,
) -> Option<ExperimentTable> {
    if response.recovered.is_empty() {
        return None;
    }
    let percent = |share: f64| format!("{:.1} %", 100.0 * share).replace('-', "−");
    let row = |one: &ReportedRecovery| {
        let cells = match &one.recovered {
            Some(found) => [
                percent(found.share),
                format!("{} to {}", percent(found.low), percent(found.high)),
                found.blocks.to_string(),
                String::new(),
            ],
            None => [UNKNOWN.to_owned(), UNKNOWN.to_owned(), String::new(), one.reason.clone()],
        };
        std::iter::once(case_name(report, one.case)).chain(cells).collect()
    };
    let confidence = response.recovered.iter().find_map(|one| one.recovered.map(|found| found.confidence));
    let interval = confidence
        .map_or_else(|| "Interval".to_owned(), |found| format!("{} interval", confidence_text(found)));
    Some(ExperimentTable {
        title: format!("Recovered part of the loss: {}", response.name),
        columns: columns(&[
            ("Case", false),
            ("Recovered", true),
            (&interval, true),
            ("Blocks", true),
            ("Remark", false),
        ]),
        rows: response.recovered.iter().map(row).collect(),
        note: "All intervals together contain the true parts in 95 % of experiments.".to_owned(),
    })
}

/// For each surface, the measured means, and the terms of the polynomial.
pub(crate) fn surface_tables(report: &ExperimentReport, response: &ReportedResponse) -> Vec<ExperimentTable> {
    response
        .surfaces
        .iter()
        .flat_map(|surface| [grid(report, response, surface), terms(report, response, surface)])
        .collect()
}

fn grid(
    report: &ExperimentReport,
    response: &ReportedResponse,
    surface: &ResponseSurface,
) -> ExperimentTable {
    let scale = response.analysis.scale;
    let [down, across] = surface.factors.map(|at| &report.factors[at]);
    let shown = across.levels.len().min(SURFACE_COLUMNS_MAX);
    let mean = |one: usize, other: usize| {
        let of_pair = response.analysis.cases.iter().filter(|case| {
            let levels = report.case_levels.get((case.case as usize).wrapping_sub(1));
            levels.is_some_and(|levels| {
                levels[surface.factors[0]] == one && levels[surface.factors[1]] == other
            })
        });
        let values: Option<Vec<f64>> =
            of_pair.map(|case| case.value.and_then(|value| scale.to_scale(value))).collect();
        let values = values.filter(|values| !values.is_empty())?;
        Some(scale.from_scale(values.iter().sum::<f64>() / values.len() as f64))
    };
    let row = |(one, name): (usize, &String)| {
        let cells = (0..shown).map(|other| value_text(mean(one, other), scale));
        std::iter::once(format!("{}={name}", down.name)).chain(cells).collect()
    };
    let heads = across.levels.iter().take(shown).map(|name| (format!("{}={name}", across.name), true));
    ExperimentTable {
        title: format!("{} by {} and {}", with_unit(response), down.name, across.name),
        columns: std::iter::once((String::new(), false)).chain(heads).collect(),
        rows: down.levels.iter().enumerate().map(row).collect(),
        note: String::new(),
    }
}

fn terms(
    report: &ExperimentReport,
    response: &ReportedResponse,
    surface: &ResponseSurface,
) -> ExperimentTable {
    let scale = response.analysis.scale;
    let place = |at: usize| {
        let name = &report.factors[surface.factors[at]].name;
        if surface.is_logarithmic[at] { format!("the logarithm of {name}") } else { name.clone() }
    };
    let rows = surface.terms.iter().map(|term| {
        vec![term.name.clone(), change_text(Some(term.change), scale), interval_text(term.interval, scale)]
    });
    ExperimentTable {
        title: format!("Polynomial of second order: {}", response.name),
        columns: columns(&[
            ("Term", false),
            ("Change at 1", true),
            (&format!("{} interval", confidence_text(surface.confidence)), true),
        ]),
        rows: rows.collect(),
        note: format!(
            "u is {} and v is {}, from −1 at the smallest level to 1 at the largest. No measured mean differs from the polynomial by more than {}.",
            place(0),
            place(1),
            change_text(Some(surface.largest_misfit), scale).trim_start_matches('+')
        ),
    }
}

/// How often the explanations of the trials named each cause; `None` without explanations.
pub(crate) fn causes_table(report: &ExperimentReport) -> Option<ExperimentTable> {
    if report.causes.is_empty() {
        return None;
    }
    let row = |one: &CaseCauses| {
        let total: u32 = one.causes.iter().map(|(_, count)| count).sum();
        let causes: Vec<String> =
            one.causes.iter().map(|(name, count)| format!("{name} in {count} of {total}")).collect();
        vec![case_name(report, one.case), causes.join(", ")]
    };
    Some(ExperimentTable {
        title: "Causes of slow requests by case".to_owned(),
        columns: columns(&[("Case", false), ("Cause in the explanations of its trials", false)]),
        rows: report.causes.iter().map(row).collect(),
        note: "The report of each trial has the evidence; docs/explanations.md has the error rates."
            .to_owned(),
    })
}
