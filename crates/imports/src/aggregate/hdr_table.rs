//! Percentile distributions of HdrHistogram: separate files, the output of wrk2 (`--latency`, `-U`), and vegeta's `hdrplot`.
//!
//! A table has the columns Value, Percentile (from 0 to 1), TotalCount and 1/(1-Percentile). wrk2 measures from the intended
//! start ("Recorded Latency"); a second table with `-U` counts from the actual start ("Uncorrected Latency").

use std::io::Read;

use crate::aggregate_result::{AggregateResult, AggregateRow, PercentileMethod, StatedPercentile};
use crate::error::ImportError;
use crate::lines::Lines;

/// The percentiles that are shown. A table has hundreds of rows.
const SHOWN: [f64; 8] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999];

/// Maximum number of tables in a file.
const TABLES_MAX: usize = 100;

/// Whether the unit of the values is unknown, from a line of column names; `None` for all other lines.
pub(crate) fn names(line: &[u8]) -> Option<bool> {
    let mut words = std::str::from_utf8(line).ok()?.split_whitespace();
    let value = words.next().filter(|word| word.starts_with("Value"))?;
    (words.next() == Some("Percentile") && words.next() == Some("TotalCount")).then(|| value != "Value(ms)")
}

/// Whether the times of the following table count from the intended start, from a heading of wrk2; `None` for all other lines.
fn heading(line: &[u8]) -> Option<bool> {
    let line = line.trim_ascii();
    if line.starts_with(b"Latency Distribution (HdrHistogram - Recorded Latency)") {
        return Some(true);
    }
    line.starts_with(b"Latency Distribution (HdrHistogram - Uncorrected Latency").then_some(false)
}

/// The number of requests in wrk2's line `227494 requests in 35.00s, 14.86MB read`. It includes the first seconds, in which wrk2
/// calibrates; the table excludes them.
fn sent(line: &[u8]) -> Option<u64> {
    let mut words = std::str::from_utf8(line).ok()?.split_whitespace();
    let sent = words.next()?.parse().ok()?;
    (words.next() == Some("requests") && words.next() == Some("in")).then_some(sent)
}

pub(super) fn read(input: &mut impl Read) -> Result<AggregateResult, ImportError> {
    let mut lines = Lines::new(input);
    let mut result = AggregateResult::default();
    // Whether the next table counts from the intended start, if a heading precedes it.
    let mut announced = None;
    while lines.next()? {
        let line = lines.text();
        if let Some(from_intended_start) = heading(line) {
            announced = Some(from_intended_start);
        } else if let Some(unknown_unit) = names(line) {
            if result.rows.is_empty() {
                // The tables of wrk2 are in ms.
                let unknown_unit = unknown_unit && announced.is_none();
                result.method = PercentileMethod {
                    unknown_unit,
                    from_intended_start: announced,
                    ..PercentileMethod::default()
                };
            }
            if result.rows.len() == TABLES_MAX {
                return Ok(result);
            }
            let name = match announced.take() {
                Some(true) => "from the intended start",
                Some(false) => "from the actual start",
                None => "all requests",
            };
            result.rows.push(AggregateRow { name: name.into(), ..AggregateRow::default() });
        } else if let Some(sent) = sent(line) {
            result.method.sent = Some(sent);
        } else if let Some(row) = result.rows.last_mut() {
            take(line, row);
        }
    }
    let counted = result.rows.first().and_then(|row| row.requests);
    result.method.sent = result.method.sent.filter(|sent| counted.is_some_and(|counted| counted < *sent));
    Ok(result)
}

/// Adds a line of a table to its row.
fn take(line: &[u8], row: &mut AggregateRow) {
    let Ok(line) = std::str::from_utf8(line) else { return };
    if let Some(comment) = line.trim().strip_prefix("#[") {
        for part in comment.trim_end_matches(']').split(',') {
            let Some((name, value)) = part.split_once('=') else { continue };
            let value = value.trim().parse::<f64>().ok();
            match name.trim() {
                "Mean" => row.mean_ms = value,
                "Max" => row.max_ms = value,
                "Total count" => row.requests = value.map(|value| value as u64),
                _ => {}
            }
        }
        return;
    }
    let mut numbers = line.split_whitespace().map(str::parse::<f64>);
    let (Some(Ok(ms)), Some(Ok(share)), Some(Ok(count))) = (numbers.next(), numbers.next(), numbers.next())
    else {
        return;
    };
    if !ms.is_finite() || !(0.0..=1.0).contains(&share) {
        return;
    }
    row.requests = Some(row.requests.unwrap_or(0).max(count as u64));
    if share == 0.0 {
        row.min_ms = Some(ms);
    }
    row.max_ms = Some(row.max_ms.map_or(ms, |max| max.max(ms)));
    // A row whose percentile is larger than the wanted one is an upper bound of it.
    let from = row.percentiles.len();
    for percentile in SHOWN.iter().skip(from).take_while(|percentile| **percentile <= share * 100.0 + 1e-9) {
        row.percentiles.push(StatedPercentile { percentile: *percentile, ms });
    }
}
