//! The result of a search from its directory.

use std::path::Path;

use busyhour_search::{
    Evidence, LARGEST_LOAD_VERSION, LargestLoadReport, PassPoint, Search, SearchReport, TrialRecord,
};

use crate::error::LoadSearchError;
use crate::execute::replayed;
use crate::journal::SearchContent;
use crate::models::knees;
use crate::resource::limiting_resource;

/// Number of points of the pass curve.
const CURVE_POINTS: u32 = 81;

/// Reads the result of a search, or its state.
///
/// # Errors
/// The journal cannot be read, or contains trials that the search did not request.
pub fn read_search(dir: &Path) -> Result<LargestLoadReport, LoadSearchError> {
    let content = SearchContent::read(dir)?;
    let Some(plan) = content.plan.clone() else {
        return Err(LoadSearchError::NoSearch(dir.display().to_string()));
    };
    let search = replayed(&content)?.map(|mut search| {
        // The end of a search is determined by the next step.
        search.next_step();
        search
    });
    let report = search.as_ref().map(Search::result);
    let (model_knee, usl_knee) = knees(plan.kind, &content.records, plan.seed);
    let not_yet = || Evidence::Unavailable("the light trials have not ended".to_owned());
    Ok(LargestLoadReport {
        version: LARGEST_LOAD_VERSION,
        target: plan.target.name().to_owned(),
        kind: plan.kind,
        thresholds: plan.thresholds,
        settings: content.preparation.as_ref().map(|preparation| preparation.settings),
        guess: content.preparation.as_ref().map_or_else(not_yet, |preparation| preparation.guess.clone()),
        pass_curve: pass_curve(search.as_ref(), report.as_ref(), &content.records),
        resource: limiting_resource(dir, &content.records, report.as_ref()),
        search: report,
        model_knee,
        usl_knee,
        trials: content.records,
    })
}

/// The pass curve over the loads of all trials without a preceding overload.
fn pass_curve(
    search: Option<&Search>,
    report: Option<&SearchReport>,
    records: &[TrialRecord],
) -> Vec<PassPoint> {
    let (Some(search), Some(_)) = (search, report.and_then(|report| report.half_pass.median)) else {
        return Vec::new();
    };
    let loads = records.iter().filter(|record| record.overload.is_none()).map(|record| record.load);
    let (low, high) =
        loads.fold((f64::INFINITY, 0.0_f64), |(low, high), load| (low.min(load), high.max(load)));
    if high <= low {
        return Vec::new();
    }
    let at = |at: u32| low * (high / low).powf(f64::from(at) / f64::from(CURVE_POINTS - 1));
    let loads: Vec<f64> = (0..CURVE_POINTS).map(at).collect();
    let probabilities = search.pass_probabilities(&loads);
    let points = loads.into_iter().zip(probabilities);
    points.map(|(load, pass_probability)| PassPoint { load, pass_probability }).collect()
}
