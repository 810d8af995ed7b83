//! The formats of files, and their detection.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::aggregate::{HISTORY_HEAD, STATS_HEAD, table_names};
use crate::{gatling_binary, k6_csv, oha_csv, vegeta_csv};

/// Number of lines at the beginning of a file in which the names of an HdrHistogram table are searched. wrk2 writes a table of about
/// 30 lines before them.
const TABLE_LINES_MAX: usize = 200;

/// A format of files with samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleFormat {
    /// k6 `--out json`.
    K6Json,
    /// k6 `--out csv`.
    K6Csv,
    /// `vegeta encode --to json`.
    VegetaJson,
    /// `vegeta encode --to csv`.
    VegetaCsv,
    /// Gatling's `simulation.log` up to version 3.12.
    GatlingText,
    /// Gatling's `simulation.log` from version 3.13 on.
    GatlingBinary,
    /// `oha --output-format csv`.
    OhaCsv,
}

impl SampleFormat {
    /// The tool that writes files in this format.
    #[must_use]
    pub const fn tool(self) -> &'static str {
        match self {
            SampleFormat::K6Json | SampleFormat::K6Csv => "k6",
            SampleFormat::VegetaJson | SampleFormat::VegetaCsv => "vegeta",
            SampleFormat::GatlingText | SampleFormat::GatlingBinary => "Gatling",
            SampleFormat::OhaCsv => "oha",
        }
    }

    /// The step of durations in ns: they are multiples of it.
    #[must_use]
    pub const fn duration_step_ns(self) -> u64 {
        match self {
            SampleFormat::K6Json
            | SampleFormat::K6Csv
            | SampleFormat::VegetaJson
            | SampleFormat::VegetaCsv
            | SampleFormat::OhaCsv => 1,
            SampleFormat::GatlingText | SampleFormat::GatlingBinary => 1_000_000,
        }
    }

    /// The clock tick of start times in ns, from the beginning of a file.
    fn tick_ns(self, head: &[u8]) -> u64 {
        match self {
            SampleFormat::K6Csv => k6_csv::tick_ns(head),
            SampleFormat::GatlingText | SampleFormat::GatlingBinary => 1_000_000,
            SampleFormat::K6Json
            | SampleFormat::VegetaJson
            | SampleFormat::VegetaCsv
            | SampleFormat::OhaCsv => 1,
        }
    }

    /// Whether start times count from the start of the run, because the file contains no date.
    #[must_use]
    pub const fn is_undated(self) -> bool {
        matches!(self, SampleFormat::OhaCsv)
    }

    /// Whether failed requests are not in the file.
    #[must_use]
    pub const fn is_without_failed(self) -> bool {
        matches!(self, SampleFormat::OhaCsv)
    }
}

impl std::fmt::Display for SampleFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            SampleFormat::K6Json => "k6 JSON",
            SampleFormat::K6Csv => "k6 CSV",
            SampleFormat::VegetaJson => "vegeta JSON",
            SampleFormat::VegetaCsv => "vegeta CSV",
            SampleFormat::GatlingText => "Gatling log (text)",
            SampleFormat::GatlingBinary => "Gatling log (binary)",
            SampleFormat::OhaCsv => "oha CSV",
        })
    }
}

/// A format of files with percentiles and no samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregateFormat {
    /// The summary of k6.
    K6Summary,
    /// `vegeta report --type json`.
    VegetaReport,
    /// `oha --output-format json`.
    OhaJson,
    /// A percentile distribution of HdrHistogram, also in the output of wrk2.
    HdrTable,
    /// Locust's table at the end of a run.
    LocustStats,
    /// Locust's history.
    LocustHistory,
}

impl AggregateFormat {
    /// The tool that writes files in this format.
    #[must_use]
    pub const fn tool(self) -> &'static str {
        match self {
            AggregateFormat::K6Summary => "k6",
            AggregateFormat::VegetaReport => "vegeta",
            AggregateFormat::OhaJson => "oha",
            AggregateFormat::HdrTable => "HdrHistogram",
            AggregateFormat::LocustStats | AggregateFormat::LocustHistory => "Locust",
        }
    }
}

impl std::fmt::Display for AggregateFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            AggregateFormat::K6Summary => "summary of k6",
            AggregateFormat::VegetaReport => "report of vegeta",
            AggregateFormat::OhaJson => "JSON output of oha",
            AggregateFormat::HdrTable => "percentile distribution of HdrHistogram",
            AggregateFormat::LocustStats => "statistics of Locust",
            AggregateFormat::LocustHistory => "history of Locust",
        })
    }
}

/// The format of a file with samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleForm {
    /// The format.
    pub format: SampleFormat,
    /// The clock tick of start times in ns.
    pub tick_ns: u64,
}

/// A recognized file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detected {
    /// A file with samples.
    Samples(SampleForm),
    /// A file with percentiles and no samples.
    Aggregate(AggregateFormat),
    /// A file that cannot be used as it is.
    Unsupported(UnsupportedFormat),
}

/// A format that cannot be used as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsupportedFormat {
    /// vegeta's binary format, which only vegeta reads.
    VegetaGob,
    /// A log of HdrHistogram: compressed histograms per interval.
    HdrLog,
}

impl std::fmt::Display for UnsupportedFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            UnsupportedFormat::VegetaGob => "file of vegeta in its binary format",
            UnsupportedFormat::HdrLog => "log of HdrHistogram",
        })
    }
}

impl UnsupportedFormat {
    /// How to get a file that can be used.
    #[must_use]
    pub const fn hint(self) -> &'static str {
        match self {
            UnsupportedFormat::VegetaGob => "convert it: vegeta encode --to json FILE > results.json",
            UnsupportedFormat::HdrLog => {
                "report the samples or the run directory instead, or a percentile distribution made from the log"
            }
        }
    }
}

/// Recognizes a file of another tool by its first bytes, at most 1 MiB of which are needed; `None` for all other files.
#[must_use]
pub fn detect(head: &[u8]) -> Option<Detected> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let samples =
        |format: SampleFormat| Some(Detected::Samples(SampleForm { format, tick_ns: format.tick_ns(text) }));
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
