//! What the record of an observed system consists of.

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

/// What a panel says about its resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Aspect {
    /// How much of it was used.
    Utilisation,
    /// How much work waited for it.
    Saturation,
    /// What failed or was lost.
    Errors,
    /// How much passed through it.
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
    /// A number of things.
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
    /// What it is about.
    pub resource: Resource,
    /// The source, if there is more than one for the resource; otherwise empty.
    pub source: String,
    /// What it says about the resource.
    pub aspect: Aspect,
    /// The heading.
    pub title: String,
    /// One sentence that explains the values.
    pub help: String,
    /// The unit of the values.
    pub unit: Unit,
    /// Whether lines are shares of a whole and drawn on top of each other.
    pub is_stacked: bool,
    /// The lines, the most telling first.
    pub lines: Vec<PanelLine>,
    /// Whether the first line is the most important one; otherwise it is the one with the largest values.
    pub is_led: bool,
    /// Further lines that are not shown.
    pub further: usize,
    /// Names of lines that are not shown, because they are always 0.
    pub zero: Vec<String>,
}

/// A panel that is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelName {
    /// What it is about.
    pub resource: Resource,
    /// The source, if there is more than one for the resource; otherwise empty.
    pub source: String,
    /// What it says about the resource.
    pub aspect: Aspect,
    /// The heading.
    pub title: String,
}

/// Rates of a process in the measured part that its key figures do not contain. Absent values were not recorded.
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
    /// What happened.
    pub kind: MarkKind,
    /// The source that noticed it.
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
    /// How many there are, with those that are not in [`SystemRecord::marks`](crate::SystemRecord::marks).
    pub count: usize,
    /// Their durations in s, added up.
    pub total_s: f64,
    /// The longest duration in s.
    pub longest_s: f64,
}

/// What became of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceOutcome {
    /// It was watched to the end.
    Watched,
    /// Some of its metrics were not watched.
    Partly {
        /// What was missing.
        missing: String,
        /// What would enable it.
        advice: String,
    },
    /// Its last reading failed; the reason.
    Failed(String),
    /// It ended; the reason.
    Ended(String),
    /// It was not watched.
    NotWatched {
        /// Why.
        reason: String,
        /// What would enable it; may be empty.
        advice: String,
    },
}

/// A source.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceRow {
    /// The name.
    pub name: String,
    /// What it is; empty if it is unknown.
    pub about: String,
    /// What became of it.
    pub outcome: SourceOutcome,
    /// When it failed or ended, in s since the start of the run.
    pub at_s: Option<f64>,
    /// How often it failed.
    pub failures: usize,
    /// Number of its series.
    pub series: usize,
    /// CPU time that watching it took, as a share of a core in %.
    pub cost_percent: Option<f64>,
    /// Readings that were skipped, because an earlier one took too long.
    pub skipped: u64,
}

/// Metrics of a source without values, for the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    /// The name of the source.
    pub source: String,
    /// Their names.
    pub metrics: Vec<String>,
    /// The reason.
    pub reason: String,
}

/// A metric that is in the file and not on the page.
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
    /// Further templates.
    pub templates_further: u64,
    /// Stack traces of problems.
    pub traces: Vec<LogTemplate>,
    /// Further stack traces.
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
