//! Application logs: counts the entries of a run by template, stack trace and second, and compares them with a clean
//! run.
//!
//! A [`LogCollector`] receives the bytes of one or more sources and does no I/O, so that files, followed logs and experiments use the same
//! code. Only [`follow`] and [`LogsFile::read`] do I/O.
//!
//! ```
//! use busyhour_logs::{CollectorSettings, LogCollector, Redactor, RunClock, StampSettings, Zone};
//!
//! let start_unix_ns = 1_710_756_000_000_000_000; // 2024-03-18T10:00:00Z
//! let stamps = StampSettings { zone: Some(Zone::utc()), near_unix_ns: start_unix_ns };
//! let clock = RunClock { start_unix_ns, end_unix_ns: None };
//! let redactor = Redactor::standard();
//! let mut collector = LogCollector::new(CollectorSettings::new(stamps, clock, redactor));
//! let source = collector.add_source(None);
//! collector.read(source, b"2024-03-18 10:00:05,123 ERROR shop.Shop - no seat for booking 12\n");
//! collector.read(source, b"2024-03-18 10:00:07,456 ERROR shop.Shop - no seat for booking 13\n");
//! let counts = collector.finish();
//! assert_eq!(counts.templates[0].text, "no seat for booking <*>");
//! assert_eq!(counts.templates[0].over_time.counts, [(5, 1), (7, 1)]);
//! ```
//!
//! The path of a line: [`LineSplitter`] (lines from pieces) → [`Unwrapper`] (Docker, CRI, journald) → [`EntryReader`] (stamp, severity,
//! logger, message, stack trace) → [`Query`] (is it a problem?) → [`TemplateMiner`] (its template) → counts per second. [`compare`] lists
//! the templates and stack traces that a baseline lacks and those that became more frequent.
//!
//! # Limits
//!
//! - Lines are cut after 64 KiB, entries after 256 KiB; the key of a stack trace uses all lines. The cuts are counted.
//! - Messages that differ in one of the first two tokens have different templates, unless these tokens contain values: they select
//!   the branch of the miner's tree.
//! - Months have English names. In the repeated hour at the end of daylight saving time, a stamp without an offset counts as the
//!   earlier one.
//! - A stamp without a date is only read correctly within twelve hours of the start of the run, one without a year within half a
//!   year.
//! - The JVM omits the stack traces of exceptions that are thrown often (`-XX:-OmitStackTraceInFastThrow` prevents it). Their key has
//!   no frames and differs from that of the same exception with frames.
//! - Secrets are recognized by the name in front of them or by their form (`Bearer …`). Another secret in a message is not
//!   redacted.
//!
//! # Measured
//!
//! **Grouping accuracy** on the 16 labelled samples of [logpai/loghub](https://github.com/logpai/loghub) (Zhu et al., "Loghub: a large
//! collection of system log datasets for AI-driven log analytics", ISSRE 2023), 2,000 lines each, with one setting for all. The masks and the
//! threshold were chosen with these samples, so that other logs may do worse.
//!
//! | input | mean | lowest |
//! |---|---:|---:|
//! | messages without headers, the input of published programs | 0.898 | 0.522 (Proxifier) |
//! | raw lines, from which this crate takes the message | 0.769 | 0.002 (Proxifier) |
//! | Drain as published, with a setting for each sample | 0.865 | 0.527 (Proxifier) |
//!
//! `BUSYHOUR_LOGHUB=PATH cargo test -p busyhour-logs --test grouping_accuracy -- --nocapture`. The raw lines of HealthApp, HPC and Proxifier
//! have headers that are not recognized. logdrain 0.3.2 with the same masked messages, threshold and depth puts 98.2 % of the lines into
//! the same groups. Its accuracy is 0.887 with these settings, and 0.679 with its defaults and messages that are not masked.
//!
//! **Comparison with a baseline**: the first four columns are for logs that do not differ. They state how many of 200
//! comparisons of 40 templates report anything as significant, by the lengths of baseline and run in seconds. In
//! parentheses is the share of comparisons that are reported as too short to judge ([`TooShortLogs`]). The last two columns
//! state how often a rate that rose three- or tenfold (from 0.16 entries per second) is found in runs of 600 s.
//!
//! | entries | 600, 600 | 600, 3600 | 3600, 600 | 120, 120 | found ×3 | found ×10 |
//! |---|---:|---:|---:|---:|---:|---:|
//! | independent | 1.0 % | 0 % | 0.5 % | 0.5 % | 98 % | 100 % |
//! | in bursts of 20 within 1 s | 0 % | 0 % | 0.5 % | 1.5 % | 0 % | 50 % |
//! | in bursts of 20 within 30 s | 3.5 % | 0 % (13 % too short) | 1.5 % (14 %) | 0 % (100 %) | 2 % | 51 % |
//! | rate varies within 5 s (log-normal, σ = 1) | 0.5 % | 0 % | 0.5 % | 0.5 % | 38 % | 80 % |
//! | rate varies within 60 s | 2.5 % (53 %) | 0 % (100 %) | 0 % (100 %) | 0 % (100 %) | 3 % | 6 % |
//! | rate varies within 300 s | 0 % (100 %) | 0 % (100 %) | 0 % (100 %) | 0 % (100 %) | 0 % | 0 % |
//!
//! The nominal rate is 5 %, and the test asserts it for all. Without the rule for short logs, it was up to 37.5 %.
//! `BUSYHOUR_STUDY_SEEDS=200 cargo test --release -p busyhour-logs --test comparison_study -- --nocapture` (7 minutes).
//!
//! **Speed**: 0.56 to 1.40 million lines per CPU second, by the kind of log, with all entries grouped (`cargo xtask bench logs`; table in
//! `benches/README.md`).

mod access;
mod bursts;
mod collector;
mod comparison;
mod counted_bursts;
mod counts;
mod entries;
mod envelopes;
pub mod follow;
mod header;
mod lines;
mod logs_file;
mod mask;
mod offset;
mod query;
mod rules;
mod series;
mod severity;
mod stamps;
mod templates;
mod traces;

pub use access::{AccessRecord, DurationUnit, read_access};
pub use bursts::{BURST_COUNT_MIN, BURST_HISTORY_MIN_S, BURST_WINDOW_S, BurstDetector, LogBurst};
pub use busyhour_redaction::Redactor;
pub use collector::{CollectorSettings, CountedEntry, LogCollector, RunClock, SourceId, TemplateScope};
pub use comparison::{
    ComparisonError, Difference, Differences, Exposure, FALSE_DISCOVERY_RATE, LogComparison, LogSide,
    TooShortLogs, compare,
};
pub use counted_bursts::{CountedBurst, NoBursts, find_bursts};
pub use counts::{FORMAT_VERSION, GroupCounts, Intervals, LogCounts, RuleCounts};
pub use entries::{ENTRY_BYTES_MAX, Entry, EntryReader, LineContext};
pub use envelopes::{Envelope, EnvelopeError, LogStream, Unwrapped, Unwrapper};
pub use lines::{LINE_BYTES_MAX, LineSplitter};
pub use logs_file::{
    LOGGED_SOURCES_MAX, LOGS_FILE_BYTES_MAX, LOGS_FILE_NAME, LOGS_FILE_VERSION, LOGS_GROUP_BYTES_MAX,
    LOGS_PART_KIND, LoggedSource, LogsFile, LogsFileError, OmittedGroups,
};
pub use offset::{StampOffset, find_offset};
pub use query::{Query, QueryError, Rule};
pub use series::CountSeries;
pub use severity::EntrySeverity;
pub use stamps::{
    EntryTime, FoundStamp, MissingTime, Notation, StampReader, StampSettings, UnknownZone, Zone,
};
pub use templates::{MinerSettings, TemplateId, TemplateMiner};
pub use traces::TraceKey;
