//! Snapshots: one second of a run each, for observers of a run in progress.
//!
//! [`RecorderConfig::observers`](crate::RecorderConfig::observers) contains the senders of [`snapshot_channel`]s.
//! When a second of the run closes, the recorder's thread sends the same [`Snapshot`] to each of them. Snapshots can
//! be merged with other seconds, and with the same second of other generators. [`read_snapshots`] makes the same
//! snapshots from a record.

mod channel;
mod from_record;
mod maker;
mod row;
mod second;
mod time_counts;

pub use channel::{RunOver, SnapshotReceiver, SnapshotSender, snapshot_channel};
#[cfg(test)]
pub(crate) use from_record::read_snapshots_holding;
pub use from_record::{RecordReading, SnapshotSource, read_snapshots, run_start_ms};
pub(crate) use maker::SnapshotMaker;
pub use row::{CODES_MAX, CodeCount, FailureCount, OTHER_CODES, OutcomeTimes, SnapshotRow};
pub use second::{SecondArrivals, SecondUsers, Snapshot};
pub use time_counts::TimeCounts;

#[cfg(test)]
mod tests;
