//! JMeter's `statistics.json` (`-e -o`).

use busyhour_analysis::{Row, Summary};
use serde::Serialize;
use serde_json::{Map, Value};

/// One entry of the file; the field names are those of JMeter.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Statistic<'r> {
    transaction: &'r str,
    sample_count: u64,
    error_count: u64,
    error_pct: f32,
    mean_res_time: f64,
    median_res_time: f64,
    min_res_time: f64,
    max_res_time: f64,
    pct1_res_time: f64,
    pct2_res_time: f64,
    pct3_res_time: f64,
    throughput: f64,
    #[serde(rename = "receivedKBytesPerSec")]
    received_kbytes_per_sec: f64,
    #[serde(rename = "sentKBytesPerSec")]
    sent_kbytes_per_sec: f64,
}

impl Statistic<'_> {
    /// The entry for a row. As in JMeter, times are `elapsed` in whole milliseconds, and each row's rates refer to the row's own
    /// duration.
    fn of(row: &Row) -> Statistic<'_> {
        let span_s = ((row.last_end_s * 1e3).floor() - (row.first_start_s * 1e3).floor()) / 1e3;
        let per_s = |value: f64| if span_s > 0.0 { value / span_s } else { 0.0 };
        Statistic {
            transaction: &row.label,
            sample_count: row.samples,
            error_count: row.errors,
            error_pct: row.error_percent as f32,
            mean_res_time: row.elapsed.mean,
            median_res_time: row.service.p50.round(),
            min_res_time: row.elapsed.min as f64,
            max_res_time: row.elapsed.max as f64,
            pct1_res_time: row.service.p90.round(),
            pct2_res_time: row.service.p95.round(),
            pct3_res_time: row.service.p99.round(),
            throughput: per_s(row.samples as f64),
            received_kbytes_per_sec: per_s(row.bytes as f64 / 1024.0),
            sent_kbytes_per_sec: per_s(row.sent_bytes as f64 / 1024.0),
        }
    }
}

/// The text of `statistics.json`: an entry for every label, and `Total`. As in JMeter's dashboard, sub-results (of
/// redirects, for example) have their own entries and are part of the total. Percentiles are those of the whole run,
/// whereas JMeter uses the last 20,000 samples.
#[must_use]
pub fn statistics_json(summary: &Summary) -> String {
    let mut all = Map::new();
    let total = summary.total_with_sub_results.as_ref().unwrap_or(&summary.total);
    for row in summary.sub_results.iter().chain(&summary.labels).chain([total]) {
        // Strings and finite numbers can always be serialized. As in JMeter, the total replaces a label with the same name.
        let value = serde_json::to_value(Statistic::of(row)).unwrap_or(Value::Null);
        all.insert(row.label.clone(), value);
    }
    serde_json::to_string_pretty(&all).unwrap_or_default()
}
