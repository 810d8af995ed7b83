//! Recognizes files by their first bytes.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::aggregate::{HISTORY_HEAD, STATS_HEAD, table_names};
use crate::form::{AggregateFormat, Detected, SampleForm, SampleFormat, UnsupportedFormat};
use crate::{gatling_binary, k6_csv, oha_csv, vegeta_csv};

/// Number of lines at the beginning of a file that are searched for the column names of an HdrHistogram table. wrk2 writes a
/// table of about 30 lines before them.
const TABLE_LINES_MAX: usize = 200;

/// Recognizes a file of another tool by its first bytes, at most 1 MiB of which are needed; `None` for all other files.
#[must_use]
pub fn detect(head: &[u8]) -> Option<Detected> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let samples =
        |format: SampleFormat| Some(Detected::Samples(SampleForm { format, tick_ns: tick_ns(format, text) }));
    if gatling_binary::is_head(head) {
        return samples(SampleFormat::GatlingBinary);
    }
    if is_gob(head) {
        return Some(Detected::Unsupported(UnsupportedFormat::VegetaGob));
    }
    if [&b"#[Histogram log format"[..], b"#[Logged with ", b"\"StartTimestamp\",\"Interval_Length\""]
        .iter()
        .any(|start| text.starts_with(start))
    {
        return Some(Detected::Unsupported(UnsupportedFormat::HdrLog));
    }
    for (start, format) in [
        (k6_csv::HEAD, SampleFormat::K6Csv),
        (oha_csv::HEAD, SampleFormat::OhaCsv),
        (b"RUN\t", SampleFormat::GatlingText),
        (b"ASSERTION\t", SampleFormat::GatlingText),
    ] {
        if text.starts_with(start) {
            return samples(format);
        }
    }
    for (start, format) in
        [(STATS_HEAD, AggregateFormat::LocustStats), (HISTORY_HEAD, AggregateFormat::LocustHistory)]
    {
        if text.starts_with(start) {
            return Some(Detected::Aggregate(format));
        }
    }
    if text.trim_ascii_start().starts_with(b"{") {
        return match json_format(text)? {
            JsonFormat::Samples(format) => samples(format),
            JsonFormat::Aggregate(format) => Some(Detected::Aggregate(format)),
        };
    }
    let mut lines = text.split(|byte| *byte == b'\n');
    if lines.next().is_some_and(|line| vegeta_csv::is_row(line.trim_ascii_end())) {
        return samples(SampleFormat::VegetaCsv);
    }
    let has_table =
        text.split(|byte| *byte == b'\n').take(TABLE_LINES_MAX).any(|line| table_names(line).is_some());
    has_table.then_some(Detected::Aggregate(AggregateFormat::HdrTable))
}

/// The clock tick of start times in ns, from the beginning of a file.
fn tick_ns(format: SampleFormat, head: &[u8]) -> u64 {
    match format {
        SampleFormat::K6Csv => k6_csv::tick_ns(head),
        SampleFormat::GatlingText | SampleFormat::GatlingBinary => 1_000_000,
        SampleFormat::K6Json | SampleFormat::VegetaJson | SampleFormat::VegetaCsv | SampleFormat::OhaCsv => 1,
    }
}

/// Whether a file starts with the description of vegeta's type `Result`: after up to eight bytes with numbers, its name with its
/// length, and the name of its first field.
fn is_gob(head: &[u8]) -> bool {
    let start = &head[..head.len().min(32)];
    let name = b"\x06Result\x01";
    (1..=8).any(|at| start.get(at..at + name.len()) == Some(name))
        && start.windows(7).any(|part| part == b"\x06Attack")
}

/// The format of a file with JSON objects.
enum JsonFormat {
    Samples(SampleFormat),
    Aggregate(AggregateFormat),
}

/// The fields of the first object of a file that identify its format.
#[derive(Deserialize, Default)]
#[serde(default)]
struct JsonFields {
    metric: Option<IgnoredAny>,
    r#type: Option<IgnoredAny>,
    attack: Option<IgnoredAny>,
    seq: Option<IgnoredAny>,
    latency: Option<IgnoredAny>,
    timestamp: Option<IgnoredAny>,
    metrics: Option<IgnoredAny>,
    root_group: Option<IgnoredAny>,
    latencies: Option<IgnoredAny>,
    summary: Option<IgnoredAny>,
    #[serde(rename = "latencyPercentiles")]
    latency_percentiles: Option<IgnoredAny>,
}

fn json_format(text: &[u8]) -> Option<JsonFormat> {
    let mut objects = serde_json::Deserializer::from_slice(text).into_iter::<JsonFields>();
    let fields = objects.next()?.ok()?;
    if fields.metric.is_some() && fields.r#type.is_some() {
        Some(JsonFormat::Samples(SampleFormat::K6Json))
    } else if fields.latency.is_some() && fields.timestamp.is_some() {
        (fields.attack.is_some() || fields.seq.is_some())
            .then_some(JsonFormat::Samples(SampleFormat::VegetaJson))
    } else if fields.root_group.is_some() && fields.metrics.is_some() {
        Some(JsonFormat::Aggregate(AggregateFormat::K6Summary))
    } else if fields.latency_percentiles.is_some() && fields.summary.is_some() {
        Some(JsonFormat::Aggregate(AggregateFormat::OhaJson))
    } else {
        fields.latencies.is_some().then_some(JsonFormat::Aggregate(AggregateFormat::VegetaReport))
    }
}

#[cfg(test)]
mod tests;
