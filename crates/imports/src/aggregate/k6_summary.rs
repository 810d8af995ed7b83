//! The summary of k6: `--summary-export`, or the data of `handleSummary` as JSON.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::aggregate_result::{AggregateResult, AggregateRow};
use crate::error::ImportError;

#[derive(Deserialize)]
struct Summary {
    metrics: Map<String, Value>,
}

/// The values of a metric. `handleSummary` stores them in a nested object.
fn values(metric: &Value) -> Option<&Map<String, Value>> {
    metric.get("values").unwrap_or(metric).as_object()
}

fn number(metric: Option<&Value>, name: &str) -> Option<f64> {
    values(metric?)?.get(name)?.as_f64()
}

pub(super) fn read(bytes: &[u8]) -> Result<AggregateResult, ImportError> {
    let Summary { metrics } = serde_json::from_slice(bytes).map_err(ImportError::Json)?;
    let times = metrics
        .iter()
        .filter(|(name, _)| name.as_str() == "http_req_duration" || name.starts_with("http_req_duration{"));
    let count = |name: &str| number(metrics.get(name), "count");
    let (requests, rate) = (count("http_reqs"), number(metrics.get("http_reqs"), "rate"));
    let failed = metrics.get("http_req_failed");
    let failed = number(failed, "rate").or_else(|| number(failed, "value"));
    let mut rows: Vec<AggregateRow> = times.filter_map(|(name, metric)| row(name, metric)).collect();
    rows.sort_by_key(|row| row.name != "http_req_duration");
    // Counts are known only for all requests together.
    if let Some(total) = rows.first_mut().filter(|row| row.name == "http_req_duration") {
        total.requests = requests.map(|requests| requests as u64);
        total.rate_per_s = rate;
        total.failures = requests.zip(failed).map(|(requests, share)| (requests * share).round() as u64);
    }
    let dropped = count("dropped_iterations").unwrap_or(0.0) as u64;
    Ok(AggregateResult { rows, dropped, ..AggregateResult::default() })
}

fn row(name: &str, metric: &Value) -> Option<AggregateRow> {
    let values = values(metric)?;
    let get = |name: &str| values.get(name).and_then(Value::as_f64);
    let mut row = AggregateRow {
        name: name.to_owned(),
        mean_ms: get("avg"),
        min_ms: get("min"),
        max_ms: get("max"),
        ..AggregateRow::default()
    };
    let percentile = |(name, value): (&String, &Value)| {
        let percentile = match name.as_str() {
            "med" => 50.0,
            name => name.strip_prefix("p(")?.strip_suffix(')')?.parse().ok()?,
        };
        Some((percentile, value.as_f64()?))
    };
    row.set_percentiles(values.iter().filter_map(percentile));
    Some(row)
}
