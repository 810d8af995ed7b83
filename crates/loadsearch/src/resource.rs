//! The resource that limits the load, from the observed series of a trial near the limit.

use std::path::Path;

use busyhour_analysis::Summary;
use busyhour_analysis::explanation::Cause;
use busyhour_record::RunDir;
use busyhour_results::resource_utilizations;
use busyhour_search::{Evidence, LimitingResource, SearchReport, TrialOutcome, TrialRecord};

/// Trials whose load differs from the limit by at most this factor are near it.
const NEAR: f64 = 1.15;

/// The busiest resource, and the explanation of slow requests, in the longest trial near the limit.
pub(crate) fn limiting_resource(
    dir: &Path,
    records: &[TrialRecord],
    report: Option<&SearchReport>,
) -> Evidence<LimitingResource> {
    let limit = report.and_then(|report| report.half_pass.median.or(report.half_pass.low));
    let Some(limit) = limit else {
        return Evidence::Unavailable("no limit is known".to_owned());
    };
    let is_near = |record: &&TrialRecord| {
        let is_void = matches!(record.outcome, TrialOutcome::Void(_));
        !is_void && record.overload.is_none() && (record.load / limit).ln().abs() <= NEAR.ln()
    };
    let mut near: Vec<&TrialRecord> = records.iter().filter(is_near).collect();
    // The longest trial shows most; of equal ones, the one at the highest load.
    near.sort_by(|one, two| two.seconds.total_cmp(&one.seconds).then(two.load.total_cmp(&one.load)));
    if near.is_empty() {
        return Evidence::Unavailable("no valid trial was near the limit".to_owned());
    }
    let found = near.iter().find_map(|record| of_trial(dir, record));
    found.map_or_else(
        || {
            Evidence::Unavailable(
                "no resource was observed in the trials near the limit; name the sources with --observe"
                    .to_owned(),
            )
        },
        Evidence::Found,
    )
}

fn of_trial(dir: &Path, record: &TrialRecord) -> Option<LimitingResource> {
    let run = dir.join(&record.dir);
    let summary = std::fs::read_to_string(RunDir::open(&run).summary_path()).ok();
    let summary = summary.and_then(|text| Summary::from_json(&text).ok());
    let explanation = summary.and_then(|summary| summary.explanation);
    let explanation = explanation.filter(|explanation| explanation.cause != Cause::None);
    let used = resource_utilizations(&run, (0.0, record.seconds));
    let busiest = used.into_iter().max_by(|one, two| one.1.total_cmp(&two.1));
    if busiest.is_none() && explanation.is_none() {
        return None;
    }
    Some(LimitingResource {
        utilization: busiest.as_ref().map(|(_, share)| *share),
        resource: busiest.map(|(name, _)| name),
        explanation: explanation.map(|explanation| explanation.sentence),
        trial: record.number,
        load: record.load,
    })
}
