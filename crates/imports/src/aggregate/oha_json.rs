//! `oha --output-format json`. Times are in seconds. Requests without a response have no time.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::aggregate_result::{AggregateResult, AggregateRow, PercentileMethod};
use crate::error::ImportError;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    summary: Summary,
    latency_percentiles: BTreeMap<String, Option<f64>>,
    #[serde(default)]
    status_code_distribution: BTreeMap<String, u64>,
    #[serde(default)]
    error_distribution: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    slowest: Option<f64>,
    fastest: Option<f64>,
    average: Option<f64>,
    requests_per_sec: Option<f64>,
}

pub(super) fn read(bytes: &[u8]) -> Result<AggregateResult, ImportError> {
    let report: Report = serde_json::from_slice(bytes).map_err(ImportError::Json)?;
    let responses: u64 = report.status_code_distribution.values().sum();
    let errors: u64 = report.error_distribution.values().sum();
    let is_failed = |code: &str| code.parse::<u16>().is_ok_and(|code| code >= 400);
    let codes = report.status_code_distribution.iter().filter(|(code, _)| is_failed(code));
    let ms = |seconds: Option<f64>| seconds.map(|seconds| seconds * 1e3);
    let mut row = AggregateRow {
        name: "all requests".into(),
        requests: Some(responses),
        failures: Some(errors + codes.map(|(_, count)| count).sum::<u64>()),
        rate_per_s: report.summary.requests_per_sec,
        mean_ms: ms(report.summary.average),
        min_ms: ms(report.summary.fastest),
        max_ms: ms(report.summary.slowest),
        ..AggregateRow::default()
    };
    let percentile = |(name, seconds): (&String, &Option<f64>)| {
        Some((name.strip_prefix('p')?.parse().ok()?, ms(*seconds)?))
    };
    row.set_percentiles(report.latency_percentiles.iter().filter_map(percentile));
    let method = PercentileMethod { without_failed: errors > 0, ..PercentileMethod::default() };
    Ok(AggregateResult { rows: vec![row], method, ..AggregateResult::default() })
}
