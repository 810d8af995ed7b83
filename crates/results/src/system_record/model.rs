//! The parts of the record of an observed system.

use busyhour_series::MarkKind;

/// The time axis of all panels: slices of equal length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeAxis {
    /// Start of the first slice in s since the start of the run.
    pub from_s: f64,
    /// Length of a slice in s.
    pub step_s: f64,
    /// Number of slices.
    pub count: usize,
}

/// A part of the system, in the order in which the page shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// The processors of a machine.
    Cpu,
    /// Memory, page cache and swap space.
    Memory,
    /// Disks.
    Disk,
    /// Network interfaces and TCP.
    Network,
    /// Listening sockets and connections.
    Sockets,
    /// Times in which nothing ran on the machine.
    Stall,
    /// The watched processes, each with its descendants.
    Process,
    /// Control groups and containers.
    Cgroup,
    /// A Java virtual machine.
    Jvm,
    /// A garbage-collection log.
    GcLog,
    /// A database server.
    Database,
    /// Caches, memory bandwidth and counters of the processor.
    Caches,
    /// Logs.
    Log,
    /// Metrics of an exporter that no other resource shows.
    Exported,
}

impl Resource {
    /// The name for users.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Resource::Cpu => "CPU",
            Resource::Memory => "Memory",
            Resource::Disk => "Disks",
            Resource::Network => "Network",
            Resource::Sockets => "Connections",
            Resource::Stall => "Stalls of the machine",
            Resource::Process => "Processes",
            Resource::Cgroup => "Control groups",
            Resource::Jvm => "Java virtual machine",
            Resource::GcLog => "Garbage-collection log",
            Resource::Database => "Database",
            Resource::Caches => "Caches and processor counters",
            Resource::Log => "Logs",
            Resource::Exported => "Exported metrics",
        }
    }
}

/// The aspect of a resource that a panel shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Aspect {
    /// How much of the resource was used.
    Utilisation,
    /// How much work waited for the resource.
    Saturation,
    /// The operation that failed, or the data that were lost.
    Errors,
    /// How much data or work passed through the resource.
    Traffic,
}

/// The unit of the values of a panel. Values are in base units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Per cent.
    Percent,
    /// CPUs.
    Cores,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Seconds.
    Seconds,
    /// A number of items.
    Count,
    /// Events per second.
    PerSecond,
    /// Seconds per second, or another number without a unit.
    Plain,
}

/// The smallest value, the median and the largest value in the measured part of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineFigures {
    /// The smallest value.
    pub min: f64,
    /// The median of the slices.
    pub median: f64,
    /// The largest value.
    pub max: f64,
}

/// A line of a panel.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelLine {
    /// The name for users.
    pub name: String,
    /// A value per slice of the axis; `None` where it is unknown.
    pub values: Vec<Option<f64>>,
    /// Figures of the values; `None` if there are none in the measured part.
    pub figures: Option<LineFigures>,
    /// Whether the line is the limit of the others.
    pub is_limit: bool,
}

/// A small plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// The resource that it describes.
    pub resource: Resource,
    /// The source, if there is more than one for the resource; otherwise empty.
    pub source: String,
    /// The aspect of the resource.
    pub aspect: Aspect,
    /// The heading.
    pub title: String,
    /// A sentence that explains the values.
    pub help: String,
    /// The unit of the values.
    pub unit: Unit,
    /// Whether the lines are shares of a whole and are drawn on top of each other.
    pub is_stacked: bool,
    /// The lines, the most important first.
    pub lines: Vec<PanelLine>,
    /// Whether the first line is the most important one. Otherwise, the line with the largest values is.
    pub has_leading_line: bool,
    /// Number of lines with smaller values, which are not shown.
    pub further: usize,
    /// Names of lines that are not shown because they are always 0.
    pub zero: Vec<String>,
}

/// A panel that is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelName {
    /// The resource that it describes.
    pub resource: Resource,
    /// The source, if there is more than one for the resource; otherwise empty.
    pub source: String,
    /// The aspect of the resource.
    pub aspect: Aspect,
    /// The heading.
    pub title: String,
}

/// Rates of a process in the measured part, in addition to its key figures. `None` for rates that were not recorded.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProcessRates {
    /// The source: `process:PID`.
    pub source: String,
    /// Bytes that system calls read, per s.
    pub read_per_s: Option<f64>,
    /// Bytes that system calls wrote, per s.
    pub written_per_s: Option<f64>,
    /// Voluntary context switches per s.
    pub voluntary_per_s: Option<f64>,
    /// Involuntary context switches per s.
    pub involuntary_per_s: Option<f64>,
}

/// An event of the system.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemMark {
    /// A description of the event.
    pub kind: MarkKind,
    /// The source that reported it.
    pub source: String,
    /// Start in s since the start of the run.
    pub from_s: f64,
    /// End in s since the start of the run; equal to `from_s` for an instant.
    pub to_s: f64,
    /// A description.
    pub text: String,
}

/// All marks of a kind.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkCount {
    /// The kind.
    pub kind: MarkKind,
    /// Number of marks, including those that are not in [`SystemRecord::marks`](crate::SystemRecord::marks).
    pub count: usize,
    /// Sum of their durations in s.
    pub total_s: f64,
    /// The longest duration in s.
    pub longest_s: f64,
}

/// The outcome of the observation of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceOutcome {
    /// It was watched to the end.
    Observed,
    /// It was watched without some of its metrics.
    Limited {
        /// The missing metrics, as a noun phrase.
        missing: String,
        /// Advice on how to get the missing metrics.
        advice: String,
    },
    /// Its last reading failed, for this reason.
    Failed(String),
    /// It ended, for this reason.
    Ended(String),
    /// It was not watched.
    NotObserved {
        /// The reason.
        reason: String,
        /// Advice on how to watch it; may be empty.
        advice: String,
    },
}

/// A source.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceRow {
    /// The name.
    pub name: String,
    /// A description of the source; empty if it is unknown.
    pub about: String,
    /// The outcome of its observation.
    pub outcome: SourceOutcome,
    /// Time at which it failed or ended, in s since the start of the run.
    pub at_s: Option<f64>,
    /// Number of failures.
    pub failures: usize,
    /// Number of its series.
    pub series: usize,
    /// CPU time for watching it in %; 100 % is one core.
    pub cost_percent: Option<f64>,
    /// Number of readings that were skipped because an earlier one took too long.
    pub skipped: u64,
}

/// Metrics of a source that have no values for the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    /// The name of the source.
    pub source: String,
    /// The names of the metrics.
    pub metrics: Vec<String>,
    /// The reason.
    pub reason: String,
}

/// A metric that is in the file but not on the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmittedMetric {
    /// The name of the source.
    pub source: String,
    /// The name of the metric.
    pub metric: String,
    /// Number of its series.
    pub series: usize,
}

/// A log of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRecord {
    /// The name of the source.
    pub name: String,
    /// The rules that select problems.
    pub query: String,
    /// Number of lines.
    pub lines: u64,
    /// Number of entries.
    pub entries: u64,
    /// Number of entries during the run that report a problem.
    pub matching: u64,
    /// Number of such entries whose time is unknown.
    pub without_time: u64,
    /// Templates of problems: the most severe ones, then the most frequent ones.
    pub templates: Vec<LogTemplate>,
    /// Number of templates that are not shown.
    pub templates_further: u64,
    /// Stack traces of problems.
    pub traces: Vec<LogTemplate>,
    /// Number of stack traces that are not shown.
    pub traces_further: u64,
}

/// Entries of a log with the same text except for values, or with the same stack trace.
#[derive(Debug, Clone, PartialEq)]
pub struct LogTemplate {
    /// The text, with `<*>` for values.
    pub text: String,
    /// The highest severity; `None` if the log states none.
    pub severity: Option<&'static str>,
    /// The first entry.
    pub example: String,
    /// Number of entries.
    pub count: u64,
    /// Start of the interval of the first one, in s since the start of the run.
    pub first_s: Option<f64>,
    /// Start of the interval of the last one, in s since the start of the run.
    pub last_s: Option<f64>,
    /// Entries per second in each slice of the axis.
    pub per_s: Vec<f64>,
}
