//! `vegeta report --type json`. Times are in ns.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::aggregate_result::{AggregateResult, AggregateRow};
use crate::error::ImportError;

#[derive(Deserialize)]
struct Report {
    latencies: Map<String, Value>,
    #[serde(default)]
    requests: Option<u64>,
    #[serde(default)]
    rate: Option<f64>,
    #[serde(default)]
    success: Option<f64>,
}

pub(super) fn read(bytes: &[u8]) -> Result<AggregateResult, ImportError> {
    let report: Report = serde_json::from_slice(bytes).map_err(ImportError::Json)?;
    let ms = |name: &str| report.latencies.get(name).and_then(Value::as_f64).map(|ns| ns / 1e6);
    let mut row = AggregateRow {
        name: "all requests".into(),
        requests: report.requests,
        failures: report
            .requests
            .zip(report.success)
            .map(|(requests, success)| (requests as f64 * (1.0 - success)).round() as u64),
        rate_per_s: report.rate,
        mean_ms: ms("mean"),
        min_ms: ms("min"),
        max_ms: ms("max"),
        ..AggregateRow::default()
    };
    let percentile = |(name, value): (&String, &Value)| {
        Some((name.strip_suffix("th")?.parse().ok()?, value.as_f64()? / 1e6))
    };
    row.set_percentiles(report.latencies.iter().filter_map(percentile));
    Ok(AggregateResult { rows: vec![row], ..AggregateResult::default() })
}
