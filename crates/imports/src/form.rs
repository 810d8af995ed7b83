//! The formats of files.

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

    /// The resolution of durations in ns: all durations are multiples of it.
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
    /// A file that must be converted before it can be read.
    Unsupported(UnsupportedFormat),
}

/// A format that must be converted before it can be read.
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
