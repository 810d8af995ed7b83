//! Arrivals of open workloads: their scheduled and actual times.

use serde::{Deserialize, Serialize};

use crate::batch::{BatchReader, DamagedBatch, put, put_signed};
use crate::nanos::Nanos;

/// The outcome of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArrivalOutcome {
    /// No user was free; the arrival was discarded.
    Discarded,
    /// A free user started it at once.
    Started {
        /// When the user started it.
        at: Nanos,
    },
    /// The arrival waited until a user was free.
    Waited {
        /// When a user started it.
        until: Nanos,
    },
}

/// One arrival of an open workload: the start of one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ArrivalRecord {
    /// The thread group that the session executes, as an index into [`crate::RunNames::groups`].
    pub group: u32,
    /// The scheduled time.
    pub scheduled: Nanos,
    /// The outcome.
    pub outcome: ArrivalOutcome,
}

impl ArrivalRecord {
    /// When the session began; `None` if the arrival was discarded.
    #[must_use]
    pub const fn started_at(&self) -> Option<Nanos> {
        match self.outcome {
            ArrivalOutcome::Discarded => None,
            ArrivalOutcome::Started { at } | ArrivalOutcome::Waited { until: at } => Some(at),
        }
    }

    /// The same arrival with the function `moved` applied to its times.
    pub fn moved(&self, moved: impl Fn(Nanos) -> Nanos) -> ArrivalRecord {
        let outcome = match self.outcome {
            ArrivalOutcome::Discarded => ArrivalOutcome::Discarded,
            ArrivalOutcome::Started { at } => ArrivalOutcome::Started { at: moved(at) },
            ArrivalOutcome::Waited { until } => ArrivalOutcome::Waited { until: moved(until) },
        };
        ArrivalRecord { scheduled: moved(self.scheduled), outcome, ..*self }
    }

    /// Appends the record to `out`; `before` is the scheduled time of the previous record (0 for the first).
    pub fn pack(&self, out: &mut Vec<u8>, before: u64) {
        let (outcome, began) = match self.outcome {
            ArrivalOutcome::Discarded => (0, self.scheduled),
            ArrivalOutcome::Started { at } => (1, at),
            ArrivalOutcome::Waited { until } => (2, until),
        };
        put(out, u64::from(self.group) << 2 | outcome);
        put_signed(out, self.scheduled.0.wrapping_sub(before) as i64);
        if outcome > 0 {
            put_signed(out, began.0.wrapping_sub(self.scheduled.0) as i64);
        }
    }
}

/// Counts of the arrivals of an open workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ArrivalCounts {
    /// Number of arrivals whose scheduled time has passed.
    pub scheduled: u64,
    /// Number of sessions that were started.
    pub begun: u64,
    /// Number of started sessions that had waited for a free user.
    pub waited: u64,
    /// Number of arrivals that were discarded because no user was free.
    pub dropped: u64,
    /// Number of arrivals that were waiting for a user when the run stopped.
    pub left_waiting: u64,
    /// Number of arrivals that were skipped because the run was paused; not included in `scheduled`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_offered: u64,
}

/// Whether a count is 0. Such a count is not serialized, which keeps the JSON of runs without a pause unchanged.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ArrivalCounts {
    /// Adds the counts of another core.
    pub fn add(&mut self, other: &ArrivalCounts) {
        self.scheduled += other.scheduled;
        self.begun += other.begun;
        self.waited += other.waited;
        self.dropped += other.dropped;
        self.left_waiting += other.left_waiting;
        self.not_offered += other.not_offered;
    }
}

/// Calls `see` with each record in `bytes`.
pub fn unpack_arrivals(
    mut bytes: BatchReader<'_>,
    mut see: impl FnMut(&ArrivalRecord),
) -> Result<(), DamagedBatch> {
    let mut before = 0u64;
    while !bytes.is_empty() {
        let head: u64 = bytes.number()?;
        let scheduled = before.wrapping_add(bytes.signed()? as u64);
        before = scheduled;
        let outcome = match head & 3 {
            0 => ArrivalOutcome::Discarded,
            1 => ArrivalOutcome::Started { at: Nanos(scheduled.wrapping_add(bytes.signed()? as u64)) },
            2 => ArrivalOutcome::Waited { until: Nanos(scheduled.wrapping_add(bytes.signed()? as u64)) },
            _ => return Err(bytes.corrupt()),
        };
        let group = u32::try_from(head >> 2).map_err(|_| bytes.corrupt())?;
        see(&ArrivalRecord { group, scheduled: Nanos(scheduled), outcome });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn arrival() -> impl Strategy<Value = ArrivalRecord> {
        let outcome = prop_oneof![
            Just(ArrivalOutcome::Discarded),
            any::<u64>().prop_map(|at| ArrivalOutcome::Started { at: Nanos(at) }),
            any::<u64>().prop_map(|until| ArrivalOutcome::Waited { until: Nanos(until) }),
        ];
        (0..u32::MAX, any::<u64>(), outcome).prop_map(|(group, at, outcome)| ArrivalRecord {
            group,
            scheduled: Nanos(at),
            outcome,
        })
    }

    proptest! {
        #[test]
        fn packing_and_unpacking_gives_the_same(all in prop::collection::vec(arrival(), 0..20)) {
            let (mut bytes, mut before) = (Vec::new(), 0);
            for arrival in &all {
                arrival.pack(&mut bytes, before);
                before = arrival.scheduled.0;
            }
            let mut seen = Vec::new();
            unpack_arrivals(BatchReader::new(&bytes), |arrival| seen.push(*arrival)).unwrap();
            prop_assert_eq!(seen, all);
        }

        #[test]
        fn random_bytes_give_an_error_or_valid_values(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = unpack_arrivals(BatchReader::new(&bytes), |_| {});
        }
    }
}
