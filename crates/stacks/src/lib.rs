//! Stacks of threads over time, and how those of slow windows differ from the others.
//!
//! * [`StackWriter`] appends dumps of threads to `stacks.bhk`; [`StackRecord`] reads the file, even after a crash.
//! * [`slow_seconds`] finds the seconds in which slow requests were in flight, if no other windows are known.
//! * [`compare_stacks`] compares the stacks of slow windows with the others: the frames whose share of the threads differs, with
//!   intervals and error rates, and a [`FlameTree`] of both.
//! * [`collapsed_stacks`] writes stacks for other tools.
//!
//! The error rates are measured in `tests/study`; `docs/stack-samples.md` lists them.

mod collapsed;
mod column;
mod compare;
mod file_limits;
mod flame;
mod frame_groups;
mod frame_name;
mod reader;
mod record;
mod sampled_thread;
mod select;
mod sentences;
mod shift;
mod slow_seconds;
mod stack_finding;
mod waiting;
mod writer;

pub use collapsed::collapsed_stacks;
pub use compare::{StackWindows, compare_stacks};
pub use file_limits::{STACKS_FILE_BYTES_MAX, STACKS_FILE_NAME, STACKS_FILE_VERSION, STACKS_PART_KIND};
pub use flame::{FlameNode, FlameTree};
pub use frame_name::{is_jdk_frame, java_frame, thread_group_name};
pub use reader::StackFileError;
pub use record::{RecordedDump, RecordedThreads, RecordedWait, StackRecord};
pub use sampled_thread::{SampledState, SampledThread, SampledWait, SampledWaitKind};
pub use slow_seconds::{InFlight, slow_seconds};
pub use stack_finding::{FrameDifference, StackDifference, StackOutcome, StackWindowRule, WaitingNote};
pub use writer::{StackDump, StackWriter};
