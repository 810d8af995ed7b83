//! Application logs.
mod access;
mod entries;
mod envelopes;
mod header;
mod lines;
mod mask;
mod query;
mod severity;
mod stamps;
mod templates;
mod traces;

pub use access::{AccessRecord, DurationUnit, read_access};
pub use entries::{ENTRY_BYTES_MAX, Entry, EntryReader, LineContext};
pub use envelopes::{Envelope, EnvelopeError, Stream, Unwrapped, Unwrapper};
pub use lines::{LINE_BYTES_MAX, LineSplitter};
pub use query::{Query, QueryError, Rule};
pub use severity::Severity;
pub use stamps::{EntryTime, FoundStamp, NoTime, Notation, StampReader, StampSettings, UnknownZone, Zone};
pub use templates::{Miner, MinerSettings, TemplateId};
pub use traces::TraceKey;
