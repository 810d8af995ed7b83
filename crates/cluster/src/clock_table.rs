//! The offsets between the clocks of two machines, with bounds.

use serde::{Deserialize, Serialize};

/// One exchange of messages with another machine. All times are in ns; those of the other machine are by its own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exchange {
    /// When the request was sent.
    pub(crate) sent: i64,
    /// When the other machine received it, by its clock.
    pub(crate) received_there: i64,
    /// When the other machine answered, by its clock.
    pub(crate) answered_there: i64,
    /// When the answer arrived.
    pub(crate) received: i64,
}

/// An estimate of the difference between two clocks: the other clock minus this machine's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// When it was estimated, in ns of the run.
    pub at_ns: i64,
    /// The estimate in ns.
    pub offset_ns: i64,
    /// The largest possible error in ns: half of the time that the messages were in transit. It assumes nothing about how this
    /// time was divided between request and answer.
    pub bound_ns: i64,
}

impl Exchange {
    /// The offset, as in RFC 5905: θ = ((t2 − t1) + (t3 − t4)) / 2, with |error| ≤ ((t4 − t1) − (t3 − t2)) / 2.
    fn offset(&self) -> ClockOffset {
        let there = (self.received_there - self.sent) + (self.answered_there - self.received);
        let delay = (self.received - self.sent) - (self.answered_there - self.received_there);
        ClockOffset { at_ns: self.received, offset_ns: there / 2, bound_ns: (delay.max(0) + 1) / 2 }
    }
}

/// The best estimate of several exchanges: that of the exchange with the least delay. `None` without exchanges.
pub(crate) fn best_offset(exchanges: &[Exchange]) -> Option<ClockOffset> {
    exchanges.iter().map(Exchange::offset).min_by_key(|offset| offset.bound_ns)
}

/// The offsets of an agent's clock over a run, relative to the offset that the agent used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockTable {
    /// The estimates, in order of time.
    pub offsets: Vec<ClockOffset>,
}

impl ClockTable {
    /// Adds an estimate, which must be later than the others.
    pub(crate) fn add(&mut self, offset: ClockOffset) {
        self.offsets.push(offset);
    }

    /// The correction of a time of the agent: the number of ns to subtract from it. It is interpolated between the estimates;
    /// before the first and after the last one, it is constant.
    #[must_use]
    pub(crate) fn correction_ns(&self, at_ns: i64) -> i64 {
        let next = self.offsets.partition_point(|offset| offset.at_ns <= at_ns);
        let (before, after) = match (next.checked_sub(1).map(|at| self.offsets[at]), self.offsets.get(next)) {
            (Some(before), Some(after)) => (before, *after),
            (Some(only), None) => return only.offset_ns,
            (None, Some(only)) => return only.offset_ns,
            (None, None) => return 0,
        };
        let span = i128::from(after.at_ns - before.at_ns).max(1);
        let part = i128::from(at_ns - before.at_ns);
        let change = i128::from(after.offset_ns - before.offset_ns);
        before.offset_ns + i64::try_from(change * part / span).unwrap_or(0)
    }

    /// The largest error of a corrected time in ns, from the bounds of the estimates; `None` without estimates.
    #[must_use]
    pub fn bound_ns(&self) -> Option<i64> {
        self.offsets.iter().map(|offset| offset.bound_ns).max()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_true_offset_is_within_the_bound(
            offset in -1_000_000_000_i64..1_000_000_000,
            delays in prop::collection::vec((0_i64..50_000_000, 0_i64..50_000_000, 0_i64..1_000_000), 1..20),
        ) {
            let mut sent = 0;
            let exchanges: Vec<Exchange> = delays.iter().map(|(there, back, work)| {
                let received_there = sent + there + offset;
                let received = sent + there + work + back;
                let exchange = Exchange { sent, received_there, answered_there: received_there + work, received };
                sent = received;
                exchange
            }).collect();
            let best = best_offset(&exchanges).unwrap();
            prop_assert!((best.offset_ns - offset).abs() <= best.bound_ns, "{best:?}");
            let least = delays.iter().map(|(there, back, _)| there + back).min().unwrap();
            prop_assert!(best.bound_ns <= least / 2 + 1);
        }

        #[test]
        fn a_steady_drift_is_corrected(drift_ppm in -200_i64..200, at_s in 0_i64..3_600) {
            let at = |s: i64| ClockOffset { at_ns: s * 1_000_000_000, offset_ns: drift_ppm * 1_000 * s, bound_ns: 1 };
            let table = ClockTable { offsets: (0..=360).map(|n| at(n * 10)).collect() };
            let error = table.correction_ns(at_s * 1_000_000_000) - drift_ppm * 1_000 * at_s;
            prop_assert!(error.abs() <= 1, "{error}");
        }
    }

    #[test]
    fn outside_of_the_estimates_the_correction_is_constant() {
        let at = |at_ns, offset_ns| ClockOffset { at_ns, offset_ns, bound_ns: 5 };
        let table = ClockTable { offsets: vec![at(100, 10), at(200, 30)] };
        let corrections: Vec<i64> = [0, 100, 150, 200, 900].map(|at| table.correction_ns(at)).to_vec();
        assert_eq!(corrections, [10, 10, 20, 30, 30]);
        assert_eq!((ClockTable::default().correction_ns(5), ClockTable::default().bound_ns()), (0, None));
    }
}
