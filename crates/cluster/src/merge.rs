//! Merges the seconds of several agents.

use std::collections::{BTreeMap, BTreeSet};

use busyhour_sample::Snapshot;

/// Time in ns that a second waits for missing agents, from its first arrival.
pub(crate) const PATIENCE_NS: u64 = 3_000_000_000;

/// Time in s by which a second may be ahead of the controller's clock.
const FUTURE_S: u64 = 60;

/// Number of closed seconds for which repetitions are recognized.
const REMEMBERED: u64 = 3_600;

/// Merges the seconds of agents in the order of time.
///
/// A second closes when every agent that is still working has sent it, or [`PATIENCE_NS`] after the first agent has sent it.
/// Seconds of an agent that arrive afterwards are added to the next second that closes, and counted as late. A second that an
/// agent sends twice counts once.
#[derive(Debug, Default)]
pub(crate) struct SecondMerger {
    agents: Vec<AgentSeconds>,
    open: BTreeMap<u64, OpenSecond>,
    /// The first second that is not closed.
    next: u64,
    /// Rows of late seconds, for the next second that closes.
    late: Option<Snapshot>,
    /// Number of seconds of agents that were late.
    late_seconds: u64,
    /// Number of seconds that were closed without all agents.
    incomplete_seconds: u64,
}

#[derive(Debug, Default)]
struct AgentSeconds {
    /// The seconds that it has sent, apart from very old ones.
    sent: BTreeSet<u64>,
    /// Whether it sends no further seconds.
    has_ended: bool,
    /// Whether nothing is expected from it at present, because it is lost.
    is_lost: bool,
}

#[derive(Debug)]
struct OpenSecond {
    snapshot: Snapshot,
    since_ns: u64,
}

impl SecondMerger {
    /// A merger for this number of agents.
    pub(crate) fn new(agents: usize) -> SecondMerger {
        let agents = std::iter::repeat_with(AgentSeconds::default).take(agents).collect();
        SecondMerger { agents, ..SecondMerger::default() }
    }

    /// Adds an agent.
    pub(crate) fn add_agent(&mut self) {
        self.agents.push(AgentSeconds::default());
    }

    /// Adds a second of an agent, which arrived at `now_ns`. Returns false if the second is in the future: it is then ignored, because
    /// no clock differs that much.
    pub(crate) fn add(&mut self, agent: usize, snapshot: Snapshot, now_ns: u64) -> bool {
        let is_future = snapshot.second > now_ns / 1_000_000_000 + FUTURE_S;
        if !is_future {
            self.add_past(agent, snapshot, now_ns);
        }
        !is_future
    }

    fn add_past(&mut self, agent: usize, snapshot: Snapshot, now_ns: u64) {
        let Some(seconds) = self.agents.get_mut(agent) else { return };
        let second = snapshot.second;
        if second.saturating_add(REMEMBERED) < self.next {
            // It may be a repetition. The records contain its samples in any case.
            self.late_seconds += 1;
            return;
        }
        if !seconds.sent.insert(second) {
            return;
        }
        if second < self.next {
            self.late_seconds += 1;
            self.add_late(snapshot);
            return;
        }
        match self.open.get_mut(&second) {
            Some(open) => {
                open.snapshot.whole &= snapshot.whole;
                open.snapshot.merge(&snapshot);
            }
            None => {
                let snapshot = Snapshot { regularity: None, ..snapshot };
                self.open.insert(second, OpenSecond { snapshot, since_ns: now_ns });
            }
        }
    }

    fn add_late(&mut self, mut snapshot: Snapshot) {
        // The numbers of users in a late second say nothing about the second to which it is added.
        snapshot.users = None;
        snapshot.late_samples = snapshot.rows.iter().map(|row| row.samples).sum();
        match &mut self.late {
            Some(late) => late.merge(&snapshot),
            None => self.late = Some(snapshot),
        }
    }

    /// Records that an agent sends no further seconds.
    pub(crate) fn end(&mut self, agent: usize) {
        if let Some(seconds) = self.agents.get_mut(agent) {
            seconds.has_ended = true;
        }
    }

    /// Records that an agent is lost, or has returned.
    pub(crate) fn set_lost(&mut self, agent: usize, is_lost: bool) {
        if let Some(seconds) = self.agents.get_mut(agent) {
            seconds.is_lost = is_lost;
        }
    }

    /// Returns the seconds that close at `now_ns`, in order.
    pub(crate) fn close(&mut self, now_ns: u64) -> Vec<Snapshot> {
        self.close_if(|merger, second, open| {
            merger.has_all(second) || now_ns.saturating_sub(open.since_ns) >= PATIENCE_NS
        })
    }

    /// Closes all seconds at the end of the run.
    pub(crate) fn close_all(&mut self) -> Vec<Snapshot> {
        let mut closed = self.close_if(|_, _, _| true);
        if let Some(late) = self.late.take() {
            closed.push(Snapshot { second: self.next, whole: false, ..late });
        }
        closed
    }

    /// Whether every agent that still works has sent this second or a later one.
    fn has_all(&self, second: u64) -> bool {
        self.agents.iter().all(|agent| {
            agent.has_ended || agent.is_lost || agent.sent.last().is_some_and(|last| *last >= second)
        })
    }

    fn close_if(&mut self, is_due: impl Fn(&SecondMerger, u64, &OpenSecond) -> bool) -> Vec<Snapshot> {
        let mut closed = Vec::new();
        while let Some((&second, open)) = self.open.first_key_value() {
            if !is_due(self, second, open) {
                break;
            }
            if !self.has_all(second) || self.agents.iter().any(|agent| agent.is_lost) {
                self.incomplete_seconds += 1;
            }
            let Some(OpenSecond { mut snapshot, .. }) = self.open.remove(&second) else { break };
            if let Some(late) = self.late.take() {
                let users = snapshot.users;
                snapshot.merge(&late);
                snapshot.users = users;
            }
            self.next = second + 1;
            closed.push(snapshot);
        }
        if !closed.is_empty() {
            let oldest = self.next.saturating_sub(REMEMBERED);
            self.agents.iter_mut().for_each(|agent| agent.sent = agent.sent.split_off(&oldest));
        }
        closed
    }

    /// Whether a closed second lacks samples of an agent, or contains samples of other seconds.
    pub(crate) fn is_inexact(&self) -> bool {
        self.late_seconds > 0 || self.incomplete_seconds > 0
    }

    /// Number of seconds of agents that arrived late.
    pub(crate) fn late_seconds(&self) -> u64 {
        self.late_seconds
    }
}

#[cfg(test)]
mod tests {
    use busyhour_sample::{OutcomeTimes, SampleKind, SecondUsers, SnapshotRow, TimeCounts};
    use proptest::prelude::*;

    use super::*;

    fn second(second: u64, times: &[u64]) -> Snapshot {
        let times = OutcomeTimes {
            passed: TimeCounts::from_ns(times.iter().copied()),
            failed: TimeCounts::default(),
        };
        let samples = times.passed.count();
        let row = SnapshotRow {
            samples,
            service: times.clone(),
            response: times,
            ..SnapshotRow::new("Home", SampleKind::Request)
        };
        Snapshot {
            second,
            whole: true,
            rows: vec![row],
            users: Some(SecondUsers::one(2)),
            ..Snapshot::default()
        }
    }

    fn samples(snapshot: &Snapshot) -> u64 {
        snapshot.total().samples
    }

    #[test]
    fn a_second_closes_when_all_agents_have_sent_it() {
        let mut merger = SecondMerger::new(2);
        merger.add(0, second(0, &[1, 2]), 10);
        assert!(merger.close(20).is_empty());
        // Agent 1 had no second 0, so its second 1 shows that nothing of second 0 follows.
        merger.add(1, second(1, &[5]), 30);
        let closed = merger.close(40);
        assert_eq!(closed.iter().map(|s| (s.second, samples(s))).collect::<Vec<_>>(), [(0, 2)]);
        merger.add(0, second(1, &[7]), 50);
        let closed = merger.close(60);
        assert_eq!((samples(&closed[0]), closed[0].users.unwrap().at_end), (2, 4));
        assert!(!merger.is_inexact());
        assert_eq!(closed[0].total().response.all().max_ms(), Some(7.0 / 1e6));
    }

    #[test]
    fn a_slow_agent_is_waited_for_and_its_late_seconds_are_counted_once() {
        let mut merger = SecondMerger::new(2);
        merger.add(0, second(4, &[1]), 0);
        assert!(merger.close(PATIENCE_NS - 1).is_empty());
        assert_eq!(merger.close(PATIENCE_NS).len(), 1);
        assert!(merger.is_inexact());
        for _ in 0..3 {
            merger.add(1, second(4, &[2, 3]), PATIENCE_NS + 1);
        }
        assert_eq!(merger.late_seconds(), 1);
        merger.add(0, second(5, &[4]), PATIENCE_NS + 2);
        merger.add(1, second(5, &[5]), PATIENCE_NS + 2);
        let closed = merger.close(PATIENCE_NS + 3);
        assert_eq!((samples(&closed[0]), closed[0].late_samples, closed[0].users.unwrap().at_end), (4, 2, 4));
    }

    #[test]
    fn nobody_waits_for_agents_that_are_lost_or_have_ended() {
        let mut merger = SecondMerger::new(3);
        merger.set_lost(1, true);
        merger.end(2);
        merger.add(0, second(0, &[1]), 0);
        assert_eq!(merger.close(1).len(), 1);
        assert!(merger.is_inexact(), "the part of the lost agent is missing");
        merger.set_lost(1, false);
        merger.add(0, second(1, &[1]), 2);
        assert!(merger.close(3).is_empty());
    }

    #[test]
    fn samples_that_arrive_after_the_last_second_are_not_lost() {
        let mut merger = SecondMerger::new(2);
        merger.add(0, second(0, &[1]), 0);
        assert_eq!(merger.close(PATIENCE_NS).len(), 1);
        merger.add(1, second(0, &[1, 1]), PATIENCE_NS);
        let closed = merger.close_all();
        assert_eq!((closed[0].second, samples(&closed[0])), (1, 2));
    }

    #[test]
    fn seconds_in_the_future_are_ignored() {
        let mut merger = SecondMerger::new(1);
        assert!(!merger.add(0, second(u64::MAX, &[1]), 0));
        assert!(!merger.add(0, second(FUTURE_S + 1, &[1]), 999_999_999));
        assert!(merger.add(0, second(FUTURE_S, &[1]), 0));
        assert_eq!(merger.close_all().len(), 1);
    }

    proptest! {
        /// With repeated, late and reordered seconds, each sample is counted once, and seconds are in order.
        #[test]
        fn every_sample_is_counted_once(
            agents in 1_usize..5,
            seconds in 1_u64..12,
            order in prop::collection::vec((any::<u16>(), 0_u64..3), 1..120),
        ) {
            let mut sent: Vec<(usize, u64)> = (0..agents).flat_map(|a| (0..seconds).map(move |s| (a, s))).collect();
            // Swaps reorder, and a part is sent again.
            for (at, (swap, _)) in order.iter().enumerate() {
                let (a, b) = (at % sent.len(), usize::from(*swap) % sent.len());
                sent.swap(a, b);
            }
            let repeated: Vec<_> = sent.iter().copied().take(order.len() % sent.len()).collect();
            sent.extend(repeated);
            let mut merger = SecondMerger::new(agents);
            let (mut closed, mut now) = (Vec::new(), 0);
            for (at, (agent, number)) in sent.into_iter().enumerate() {
                now += order[at % order.len()].1 * 1_000_000_000;
                merger.add(agent, second(number, &[u64::from(u32::try_from(agent).unwrap()) + 1]), now);
                closed.extend(merger.close(now));
            }
            closed.extend(merger.close_all());
            prop_assert!(closed.windows(2).all(|pair| pair[0].second < pair[1].second));
            let total: u64 = closed.iter().map(samples).sum();
            prop_assert_eq!(total, agents as u64 * seconds);
        }
    }
}
