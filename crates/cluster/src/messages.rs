//! The messages between controllers and agents.

use std::collections::BTreeMap;

use busyhour_launch::{Command, RunRequest};
use busyhour_program::clock::{monotonic_ns, wall_ns};
use busyhour_record::RunOutcome;
use busyhour_sample::Snapshot;
use serde::{Deserialize, Serialize};

/// The version of the messages. Agents and controllers of different versions do not work together.
pub const PROTOCOL: u32 = 1;

/// The description of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentInfo {
    /// Its unique identifier, one token of a subject.
    pub id: String,
    /// Its name, usually that of the machine.
    pub name: String,
    /// The version of the program.
    pub version: String,
    /// The version of the messages.
    pub protocol: u32,
    /// Number of cores that it may use.
    pub cores: u32,
    /// Its labels, for example `zone=eu`.
    pub labels: BTreeMap<String, String>,
    /// The share of the machine's CPU time that was idle in the last second, in percent; `None` if it is unknown.
    pub idle_percent: Option<u32>,
    /// The run for which it works; `None` if it is free.
    pub run: Option<String>,
}

/// A request to an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum AgentRequest {
    /// Work for a run from now on.
    Claim {
        /// The run.
        run: String,
        /// The version of the controller's program.
        version: String,
        /// The version of its messages.
        protocol: u32,
    },
    /// Read the clock.
    Clock,
}

/// The answer to a request.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub(crate) enum AgentAnswer {
    /// The agent works for the run.
    Claimed,
    /// The agent works for another run.
    Busy {
        /// The run.
        run: String,
    },
    /// The agent refuses.
    Refused {
        /// The reason.
        reason: String,
    },
    /// The clock of the agent's process, in ns.
    Clock(ClockReading),
}

/// The times at which an agent received a request and sent its answer, by the clock of its process in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClockReading {
    pub(crate) received_ns: u64,
    pub(crate) sent_ns: u64,
    /// The time of day when the answer was sent, in ns since 1970.
    pub(crate) wall_ns: u64,
}

impl ClockReading {
    /// The reading for a request that was received at `received_ns`.
    pub(crate) fn since(received_ns: u64) -> ClockReading {
        ClockReading { received_ns, sent_ns: monotonic_ns(), wall_ns: wall_ns() }
    }
}

/// A file that a run needs, or that an agent has recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileFact {
    /// The path, relative to the directory of the plan or of the run.
    pub(crate) path: String,
    /// Its length in bytes.
    pub(crate) bytes: u64,
    /// The hash of its contents (SHA-256, hexadecimal).
    pub(crate) sha256: String,
}

/// What agents observe on their machines during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentObservation {
    /// Nothing.
    #[default]
    None,
    /// The machine.
    Os,
    /// The machine, and the systems under test that run on it.
    Auto,
}

/// The run of an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PrepareOrder {
    /// The request, with the text of the plan.
    pub(crate) request: RunRequest,
    /// The files of the plan.
    pub(crate) files: Vec<FileFact>,
    /// The start of the run's clock, in ns of the clock of the agent's process. It may be before the start of the process.
    pub(crate) origin_ns: i64,
    /// The start of the run in ms since 1970.
    pub(crate) wall_start_ms: u64,
    /// Time in ms for users to finish their samples after a stop request.
    pub(crate) grace_ms: u64,
    /// Time in seconds without a message from the controller after which the agent stops the run.
    pub(crate) lease_s: u64,
    /// Delay in ms after the end of a second before it is sent, so that agents do not all send at the same time.
    pub(crate) phase_ms: u64,
    /// Whether the agent joins a run that has started: it leaves the setUp groups out.
    pub(crate) joins: bool,
    /// What the agent observes on its machine.
    pub(crate) observe: AgentObservation,
}

/// An order to an agent that works for a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// Prepare the run.
    Prepare(Box<PrepareOrder>),
    /// Start the threads of the run and its setUp groups. The main groups wait for [`Order::Start`].
    Begin,
    /// Start the main groups.
    Start {
        /// When, by the clock of the run in ns.
        at_ns: u64,
        /// When an agent that joins a run starts its part, by the clock of the run in ns; `None` for an agent that
        /// takes part from the start.
        join_ns: Option<u64>,
        /// Properties that setUp groups have set.
        properties: Vec<(String, String)>,
    },
    /// Start the tearDown groups.
    TearDown,
    /// Change or stop the load.
    Change {
        /// The change.
        change: LoadOrder,
        /// When, by the clock of the run in ns; `None` for now.
        at_ns: Option<u64>,
    },
    /// Repeat all reports apart from seconds, because another controller follows the run now.
    Repeat,
    /// Keep working; the controller is alive.
    Alive,
    /// Read the clock.
    Clock,
    /// Send a part of a file of the run directory.
    Fetch {
        /// The name of the file.
        file: String,
        /// Where the part starts.
        from: u64,
    },
    /// The run is over for this agent.
    Release {
        /// Whether the agent may delete the run directory, because all of it was fetched.
        is_complete: bool,
    },
}

/// A change of the load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub(crate) enum LoadOrder {
    /// See [`Command::Pause`].
    Pause,
    /// See [`Command::Resume`].
    Resume,
    /// See [`Command::Rate`].
    Rate {
        /// Multiple of the requested rate.
        factor: f64,
    },
    /// See [`Command::Interrupt`].
    Stop,
    /// See [`Command::StopNow`].
    StopNow,
    /// Abandon everything; see the second interrupt of [`Command::Interrupt`].
    Abandon,
}

impl LoadOrder {
    /// Whether the order applies at once. Other orders apply to all agents at the same time.
    pub(crate) fn is_urgent(self) -> bool {
        match self {
            LoadOrder::Stop | LoadOrder::StopNow | LoadOrder::Abandon => true,
            LoadOrder::Pause | LoadOrder::Resume | LoadOrder::Rate { .. } => false,
        }
    }

    pub(crate) fn command(self) -> Command {
        match self {
            LoadOrder::Pause => Command::Pause,
            LoadOrder::Resume => Command::Resume,
            LoadOrder::Rate { factor } => Command::Rate { factor },
            LoadOrder::Stop | LoadOrder::Abandon => Command::Interrupt,
            LoadOrder::StopNow => Command::StopNow,
        }
    }
}

/// The answer to an order.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub(crate) enum OrderAnswer {
    /// The order is carried out.
    Done,
    /// The agent does not carry out the order.
    Refused {
        /// The reason.
        reason: String,
    },
    /// The clock of the agent's process.
    Clock(ClockReading),
}

/// Numbers of users of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentUsers {
    pub(crate) started: u64,
    pub(crate) finished: u64,
    pub(crate) active: u64,
}

/// A report of an agent that works for a run. The enum is not internally tagged, because serde could then not read 128-bit sums.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    /// The agent is working.
    Alive {
        /// Its users.
        users: AgentUsers,
    },
    /// The run is prepared.
    Ready,
    /// The run cannot be prepared.
    Failed {
        /// The reason.
        reason: String,
    },
    /// The setUp groups have ended.
    SetUpDone {
        /// Properties that they have set.
        properties: Vec<(String, String)>,
    },
    /// The main groups have ended.
    MainDone,
    /// A second of the run.
    Second {
        /// The second.
        snapshot: Box<Snapshot>,
    },
    /// The agent itself ends its part of the run before its end: by a signal, or because its lease is over.
    Interrupted {
        /// When, by the clock of the run in ns.
        at_ns: u64,
    },
    /// A warning or notice of the run.
    Said {
        /// The text.
        text: String,
    },
    /// The run has ended.
    Ended(Box<EndReport>),
}

/// The end of an agent's run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct EndReport {
    /// The outcome.
    pub(crate) outcome: RunOutcome,
    /// The reason why the program failed, if it did.
    pub(crate) failure: Option<String>,
    /// Whether some results could not be written.
    pub(crate) is_incomplete: bool,
    /// The directory with the record on the agent.
    pub(crate) dir: String,
    /// Notes about the run, as code, message and hint.
    pub(crate) notes: Vec<busyhour_record::PlanNote>,
    /// The files of the run directory.
    pub(crate) files: Vec<FileFact>,
}

/// A request for a part of a file that a run needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FileRequest {
    /// The hash of the file.
    pub(crate) sha256: String,
    /// Where the part starts.
    pub(crate) from: u64,
}

/// Length of a part of a file in bytes, below the maximum length of messages of NATS (1 MiB).
pub(crate) const FILE_PART_BYTES: usize = 384 << 10;
