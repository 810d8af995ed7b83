//! Application logs.
mod access;
mod collector;
mod comparison;
mod counts;
mod entries;
mod envelopes;
pub mod follow;
mod header;
mod lines;
mod mask;
mod query;
mod redaction;
mod series;
mod severity;
mod stamps;
mod templates;
mod traces;

pub use access::{AccessRecord, DurationUnit, read_access};
pub use collector::{Collector, CollectorSettings, RunClock, Scope, SourceId};
pub use comparison::{
    Comparison, ComparisonError, Difference, Differences, Exposure, FALSE_DISCOVERY_RATE, Side, compare,
};
pub use counts::{FORMAT_VERSION, GroupCounts, Intervals, LogCounts};
pub use entries::{ENTRY_BYTES_MAX, Entry, EntryReader, LineContext};
pub use envelopes::{Envelope, EnvelopeError, Stream, Unwrapped, Unwrapper};
pub use lines::{LINE_BYTES_MAX, LineSplitter};
pub use query::{Query, QueryError, Rule};
pub use redaction::{REDACTED, Redactor};
pub use series::Series;
pub use severity::Severity;
pub use stamps::{EntryTime, FoundStamp, NoTime, Notation, StampReader, StampSettings, UnknownZone, Zone};
pub use templates::{Miner, MinerSettings, TemplateId};
pub use traces::TraceKey;
