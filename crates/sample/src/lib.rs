//! Samples: their times, labels and packed form, and the totals computed from them.
//!
//! To record samples, the engine and the protocols need only this crate. A core packs each [`Sample`] into a batch with
//! its [`BatchWriter`]; the recorder (crate `busyhour-record`) unpacks batches and adds the samples to an
//! [`Aggregator`], which computes [`RunTotals`]. A [`SnapshotMaker`] makes a mergeable [`Snapshot`] of every second.
//! Readers of result files (crate `busyhour-results`) use the same aggregators, so that a run and its files have the
//! same totals.
//!
//! ```
//! use busyhour_sample::{Aggregator, Labels, Nanos, Sample, SampleTimes, TotalsSettings};
//!
//! let labels = Labels::new();
//! let mut aggregator = Aggregator::new(labels.clone(), TotalsSettings::default());
//! let times = SampleTimes { end: Nanos::from_millis(3), ..SampleTimes::default() };
//! aggregator.add(&Sample { label: labels.intern("home"), times, ..Sample::default() });
//! aggregator.close_all();
//! let totals = aggregator.finish(Vec::new());
//! assert_eq!((totals.total.samples, totals.labels[0].name.as_str()), (1, "home"));
//! ```

mod aggregator;
mod apdex_limits;
mod arrival;
mod bands;
pub mod batch;
mod control_event;
mod data_type;
mod detail;
mod error_kinds;
mod generator_facts;
mod group_totals;
mod label_rows;
mod labels;
mod live;
mod live_arrivals;
mod log_row;
mod nanos;
mod over_time;
mod recorder_event;
mod run_names;
mod run_totals;
mod sample;
mod sample_flags;
mod second_point;
mod seconds;
mod slowest;
mod snapshot;
mod starts;
mod time_distribution;
mod time_histogram;
mod totals;
mod user_counts;
mod writer;

pub use aggregator::Aggregator;
pub use apdex_limits::{ApdexLimits, ApdexPropertyError};
pub use arrival::{ArrivalCounts, ArrivalOutcome, ArrivalRecord, unpack_arrivals};
pub use batch::{BatchReader, DamagedBatch};
pub use control_event::{ChangedFrom, ControlEvent, LoadChange};
pub use data_type::DataType;
pub use detail::{AssertionResult, Detail, HttpDetail};
pub use error_kinds::{ERROR_KINDS_MAX, ErrorKind};
pub use generator_facts::{AbandonedCore, CoreFacts, GeneratorFacts, RunEnd, Stall};
pub use group_totals::{GroupTotals, OTHER_GROUP, OTHER_GROUPS, sort_groups};
pub use label_rows::LabelRows;
pub use labels::{LABELS_MAX, Labels, OTHER_LABELS};
pub use live::{IntervalCounts, Live};
pub use live_arrivals::{LiveArrivals, RecentStarts};
pub use log_row::LogRow;
pub use nanos::Nanos;
pub use over_time::{
    HEAT_BANDS_PER_DECADE, Heat, LabelSeries, LabelSlice, LabelSlices, OverTime, RowSecond, SlicePoint,
};
pub use recorder_event::RecorderEvent;
pub use run_names::{GroupName, RunNames};
pub use run_totals::RunTotals;
pub use sample::{
    ActiveUsers, LabelId, OwnedSample, SAMPLES_VERSION, Sample, SampleContent, SampleOutcome, SampleSizes,
    SampleTimes, reset_text,
};
pub use sample_flags::{SampleFlags, SampleKind};
pub use second_point::{SecondPoint, SecondTimes};
pub use seconds::{ClosedSeconds, HELD_SAMPLES_MAX, HeldPart, Second, SecondsPart};
pub use slowest::{SLOWEST_MAX, SlowRequest};
pub use snapshot::{
    ArrivalsInSecond, CODES_MAX, CodeCount, FailureCount, OTHER_CODES, OpenSecond, OutcomeTimes, RunOver,
    SecondUsers, Snapshot, SnapshotMaker, SnapshotReceiver, SnapshotRow, SnapshotSender, TimeCounts,
    counted_row, snapshot_channel,
};
pub use starts::SecondCounts;
pub use time_distribution::{ElapsedMs, TimeDistribution};
pub use time_histogram::{HISTOGRAM_DIGITS, TimeHistogram, new_histogram};
pub use totals::{LabelTotals, OutsideWindow, Totals, TotalsSettings};
pub use user_counts::{UserChange, UserCounts, UsersOverTime};
pub use writer::{Batch, BatchWriter, Full, Message};
