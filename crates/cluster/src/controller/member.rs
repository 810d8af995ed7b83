//! An agent of a run, as the controller sees it.

use busyhour_arrivals::LoadShare;
use busyhour_program::clock::Clock;

use super::settings::{AgentOutcome, Loss};
use crate::clock_table::{ClockOffset, ClockTable};
use crate::error::ClusterError;
use crate::messages::{AgentInfo, AgentUsers, EndReport};
use crate::orders::Orders;

/// An agent of a run.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) info: AgentInfo,
    pub(super) share: LoadShare,
    /// The number of its share.
    pub(super) seat: usize,
    /// The lost agent whose share it took over.
    pub(super) replaces: Option<usize>,
    /// When it joined the run, in ns of the run; 0 at the start.
    pub(super) joined_ns: u64,
    /// The clock of the agent's process at the start of the run, as the agent assumes it, in ns.
    pub(super) origin_ns: i64,
    /// The differences between the agent's clock of the run and that of the controller.
    pub(super) clock: ClockTable,
    /// The offset that was added to the start of the main groups, in ns.
    pub(super) start_offset_ns: i64,
    /// The longest time that an exchange of messages took, in ns.
    pub(super) round_trip_ns: u64,
    pub(super) users: AgentUsers,
    /// Time of the last message of the agent, in ns of the run.
    pub(super) last_message_ns: u64,
    pub(super) losses: Vec<Loss>,
    /// When it ended its part of the run by itself, in ns of the run; `None` if it did not.
    pub(super) left_ns: Option<u64>,
    /// Number of requests in the seconds that it sent.
    requests: u64,
    /// The first and the last second with requests.
    loaded_seconds: Option<(u64, u64)>,
    pub(super) is_set_up: bool,
    pub(super) is_main_done: bool,
    /// The end of its run.
    pub(super) end: Option<EndReport>,
    /// The reason why its run failed.
    pub(super) failure: Option<String>,
    /// Properties that its setUp groups have set.
    pub(super) properties: Vec<(String, String)>,
}

impl Member {
    pub(super) fn new(info: AgentInfo, share: LoadShare) -> Member {
        Member {
            info,
            share,
            seat: 0,
            replaces: None,
            joined_ns: 0,
            origin_ns: 0,
            clock: ClockTable::default(),
            start_offset_ns: 0,
            round_trip_ns: 0,
            users: AgentUsers::default(),
            last_message_ns: 0,
            losses: Vec::new(),
            left_ns: None,
            requests: 0,
            loaded_seconds: None,
            is_set_up: false,
            is_main_done: false,
            end: None,
            failure: None,
            properties: Vec::new(),
        }
    }

    /// Number of writers for its record: one for each core. The writers of a run are created at its start, so that an agent that
    /// joins later has one.
    pub(super) fn writers(&self) -> usize {
        if self.replaces.is_some() {
            return usize::from(!self.has_never_begun());
        }
        self.info.cores.clamp(1, 1_024) as usize
    }

    /// Counts the requests of a second that it sent.
    pub(super) fn count_second(&mut self, second: u64, requests: u64) {
        if requests == 0 {
            return;
        }
        self.requests += requests;
        let (first, last) = self.loaded_seconds.unwrap_or((second, second));
        self.loaded_seconds = Some((first.min(second), last.max(second)));
    }

    /// Its mean number of requests per second so far.
    pub(super) fn rate(&self) -> f64 {
        self.loaded_seconds.map_or(0.0, |(first, last)| self.requests as f64 / (last - first + 1) as f64)
    }

    /// Whether it was to take over a share, but was not ready for it.
    pub(super) fn has_never_begun(&self) -> bool {
        self.replaces.is_some() && self.joined_ns == 0
    }

    /// Whether messages of the agent are missing at present.
    pub(super) fn is_lost(&self) -> bool {
        self.losses.last().is_some_and(|loss| loss.to_ns.is_none())
    }

    /// Whether nothing more is expected of the agent.
    pub(super) fn is_over(&self) -> bool {
        self.end.is_some() || self.failure.is_some()
    }

    /// Adds an estimate of the agent's clock to its table.
    ///
    /// # Errors
    /// The agent does not answer.
    pub(super) async fn update_clock(&mut self, orders: &Orders, clock: &Clock) -> Result<(), ClusterError> {
        let (offset, longest) = orders.read_clock(&self.info.id, clock).await?;
        self.round_trip_ns = self.round_trip_ns.max(longest);
        let offset_ns = offset.offset_ns - self.origin_ns;
        self.clock.add(ClockOffset { offset_ns, ..offset });
        Ok(())
    }

    /// A name for the directory of its record: unique among `members` because it contains the identifier.
    pub(super) fn directory(&self) -> String {
        self.info.id.clone()
    }

    pub(super) fn outcome(&self) -> AgentOutcome {
        AgentOutcome {
            name: self.info.name.clone(),
            id: self.info.id.clone(),
            share: self.share.to_string(),
            cores: self.info.cores,
            clock: self.clock.clone(),
            losses: self.losses.clone(),
            ..AgentOutcome::default()
        }
    }
}
