//! The result of a comparison of stacks.

use serde::{Deserialize, Serialize};

use crate::flame::FlameTree;

/// How the slow windows were chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StackWindowRule {
    /// The times in which the cause of the explanation was present.
    Cause {
        /// The cause.
        cause: String,
    },
    /// The seconds in which slow requests were in flight unusually often.
    SlowSeconds,
}

/// The outcome of the comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StackOutcome {
    /// At least one frame has another share of the threads in slow windows.
    Differs,
    /// No frame is known to differ.
    NoDifference {
        /// A frame whose share differs by this much would be found in four of five runs, from 0 to 1.
        smallest: f64,
    },
    /// There are too few dumps, or too few independent windows.
    TooFew {
        /// The data that are missing.
        reason: String,
    },
}

/// A note on the wait of the threads at a frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaitingNote {
    /// The share of the threads at the frame in slow windows that wait like this, from 0 to 1.
    pub share: f64,
    /// Their state, such as `BLOCKED on a monitor of java.lang.Object`.
    pub what: String,
    /// The thread that most often holds the lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_thread: Option<String>,
    /// The frame of that thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_frame: Option<String>,
}

/// A frame whose share of the threads differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameDifference {
    /// The frame.
    pub frame: String,
    /// Whether the frame belongs to the JDK.
    pub is_jdk: bool,
    /// Share of the threads that have the frame on their stack in slow windows, from 0 to 1.
    pub share_slow: f64,
    /// The same share in the other windows.
    pub share_fast: f64,
    /// Mean number of these threads per dump in slow windows.
    pub threads_slow: f64,
    /// Mean number of these threads per dump in the other windows.
    pub threads_fast: f64,
    /// The 95 % interval of the difference of the shares: its lower end.
    pub difference_low: f64,
    /// The 95 % interval of the difference of the shares: its upper end.
    pub difference_high: f64,
    /// Probability of a difference that is at least as large if stacks and slow windows were unrelated, after Holm's correction for
    /// all frames.
    pub p_adjusted: f64,
    /// The object for which most of the threads at the frame wait in slow windows; `None` if most of them run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<WaitingNote>,
    /// Mean number of threads in slow windows that wait for a lock that a thread at this frame holds.
    pub held_up: f64,
    /// The stack with this frame whose share rose most, from the root, separated by semicolons.
    pub stack: String,
    /// The finding in a sentence.
    pub sentence: String,
}

/// How the stacks of slow windows differ from the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StackDifference {
    /// The source, such as `stacks:jvm:4711`.
    pub source: String,
    /// How the slow windows were chosen.
    pub windows: StackWindowRule,
    /// The outcome.
    pub outcome: StackOutcome,
    /// The finding in a sentence.
    pub sentence: String,
    /// Dumps in slow windows.
    pub dumps_slow: u64,
    /// Dumps in the other windows.
    pub dumps_fast: u64,
    /// Dumps that are missing, because the file had reached its limit.
    pub dumps_lost: u64,
    /// Frames that were compared.
    pub compared: u64,
    /// At most three frames that differ: those of the application first, then by the difference.
    pub frames: Vec<FrameDifference>,
    /// Mean time of a dump in ms.
    pub dump_ms: f64,
    /// Mean time for which a dump stopped the application in ms, with other stops at the same time; `None` if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_ms: Option<f64>,
    /// The stacks of both kinds of windows; not a part of `summary.json`.
    #[serde(skip)]
    pub flame: FlameTree,
}
