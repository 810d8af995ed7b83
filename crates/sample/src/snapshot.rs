//! Snapshots: one second of a run each, for observers of a run in progress.
//!
//! The configuration of a recorder contains the senders of [`snapshot_channel`]s. When a second of the run closes, the
//! recorder's thread sends the same [`Snapshot`] to each of them. Snapshots can be merged with other seconds, and with the same
//! second of other generators.

mod channel;
mod maker;
mod row;
mod second;
mod time_counts;

pub use channel::{RunOver, SnapshotReceiver, SnapshotSender, snapshot_channel};
pub use maker::{OpenSecond, SnapshotMaker, counted_row};
pub use row::{CODES_MAX, CodeCount, FailureCount, OTHER_CODES, OutcomeTimes, SnapshotRow};
pub use second::{ArrivalsInSecond, SecondUsers, Snapshot};
pub use time_counts::TimeCounts;
