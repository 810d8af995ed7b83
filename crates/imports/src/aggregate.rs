//! Files that contain percentiles, but no samples.

mod hdr_table;
mod k6_summary;
mod locust;
mod oha_json;
mod vegeta_report;

use std::io::Read;

use crate::aggregate_result::{AggregateResult, ROWS_MAX};
use crate::error::ImportError;
use crate::form::AggregateFormat;

pub(crate) use hdr_table::names as table_names;
pub(crate) use locust::{HISTORY_HEAD, STATS_HEAD};

/// Maximum size of a file in bytes. The largest ones are tables with a row for each of a million names.
const BYTES_MAX: u64 = 256 << 20;

/// Reads a file with percentiles.
///
/// # Errors
/// The file cannot be read, is too large, or contains no percentiles.
pub fn read_aggregate(format: AggregateFormat, input: impl Read) -> Result<AggregateResult, ImportError> {
    let mut input = input.take(BYTES_MAX + 1);
    let mut result = match format {
        AggregateFormat::LocustStats => locust::read_stats(&mut input)?,
        AggregateFormat::LocustHistory => locust::read_history(&mut input)?,
        AggregateFormat::HdrTable => hdr_table::read(&mut input)?,
        AggregateFormat::K6Summary => k6_summary::read(&bytes(&mut input)?)?,
        AggregateFormat::VegetaReport => vegeta_report::read(&bytes(&mut input)?)?,
        AggregateFormat::OhaJson => oha_json::read(&bytes(&mut input)?)?,
    };
    if input.limit() == 0 {
        return Err(ImportError::LargeAggregate { limit_bytes: BYTES_MAX });
    }
    if !result.rows.iter().any(|row| !row.percentiles.is_empty()) {
        return Err(ImportError::NoPercentiles);
    }
    format.tool().clone_into(&mut result.tool);
    result.format = format.to_string();
    result.more_rows += result.rows.len().saturating_sub(ROWS_MAX) as u64;
    result.rows.truncate(ROWS_MAX);
    Ok(result)
}

fn bytes(input: &mut impl Read) -> Result<Vec<u8>, ImportError> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    Ok(match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => rest.to_vec(),
        None => bytes,
    })
}

#[cfg(test)]
mod tests;
