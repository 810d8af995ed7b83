//! An arrival of an open workload, as the record keeps it: when it was meant to begin, and when it did.

use serde::{Deserialize, Serialize};

use crate::batch::{BatchReader, CorruptBatch, put, put_signed};
use crate::sample::Nanos;

/// What became of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fate {
    /// It found no free user and was given up.
    Dropped,
    /// A free user took it up.
    Begun {
        /// When the user took it up.
        at: Nanos,
    },
    /// It had to wait until a user was free.
    Waited {
        /// When a user took it up.
        until: Nanos,
    },
}

/// One arrival of an open workload: the start of one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ArrivalRecord {
    /// The thread group whose body the session walks, as in [`crate::RunNames::groups`].
    pub group: u32,
    /// Its time in the schedule.
    pub scheduled: Nanos,
    /// What became of it.
    pub fate: Fate,
}

impl ArrivalRecord {
    /// When the session began; `None` when the arrival was dropped.
    #[must_use]
    pub const fn began(&self) -> Option<Nanos> {
        match self.fate {
            Fate::Dropped => None,
            Fate::Begun { at } | Fate::Waited { until: at } => Some(at),
        }
    }

    /// The same with its instants moved.
    pub(crate) fn moved(&self, moved: impl Fn(Nanos) -> Nanos) -> ArrivalRecord {
        let fate = match self.fate {
            Fate::Dropped => Fate::Dropped,
            Fate::Begun { at } => Fate::Begun { at: moved(at) },
            Fate::Waited { until } => Fate::Waited { until: moved(until) },
        };
        ArrivalRecord { scheduled: moved(self.scheduled), fate, ..*self }
    }

    /// Appends the record to `out`; `before` is the scheduled time of the one before it there (0 for the first).
    pub(crate) fn pack(&self, out: &mut Vec<u8>, before: u64) {
        let (fate, began) = match self.fate {
            Fate::Dropped => (0, self.scheduled),
            Fate::Begun { at } => (1, at),
            Fate::Waited { until } => (2, until),
        };
        put(out, u64::from(self.group) << 2 | fate);
        put_signed(out, self.scheduled.0.wrapping_sub(before) as i64);
        if fate > 0 {
            put_signed(out, began.0.wrapping_sub(self.scheduled.0) as i64);
        }
    }
}

/// What became of the arrivals of an open workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ArrivalCounts {
    /// Arrivals whose time came.
    pub scheduled: u64,
    /// Sessions that began.
    pub begun: u64,
    /// Those among them that had to wait for a free user.
    pub waited: u64,
    /// Arrivals given up because no user was free.
    pub dropped: u64,
    /// Arrivals that still waited for a user when the run was stopped.
    pub left_waiting: u64,
    /// Arrivals left out because the run was paused when their time came; not among those scheduled.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_offered: u64,
}

/// Most runs are never paused: their numbers look as they always did.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ArrivalCounts {
    /// Adds another core's.
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
pub(crate) fn unpack(
    mut bytes: BatchReader<'_>,
    mut see: impl FnMut(&ArrivalRecord),
) -> Result<(), CorruptBatch> {
    let mut before = 0u64;
    while !bytes.is_empty() {
        let head: u64 = bytes.number()?;
        let scheduled = before.wrapping_add(bytes.signed()? as u64);
        before = scheduled;
        let fate = match head & 3 {
            0 => Fate::Dropped,
            1 => Fate::Begun { at: Nanos(scheduled.wrapping_add(bytes.signed()? as u64)) },
            2 => Fate::Waited { until: Nanos(scheduled.wrapping_add(bytes.signed()? as u64)) },
            _ => return Err(bytes.corrupt()),
        };
        let group = u32::try_from(head >> 2).map_err(|_| bytes.corrupt())?;
        see(&ArrivalRecord { group, scheduled: Nanos(scheduled), fate });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn arrival() -> impl Strategy<Value = ArrivalRecord> {
        let fate = prop_oneof![
            Just(Fate::Dropped),
            any::<u64>().prop_map(|at| Fate::Begun { at: Nanos(at) }),
            any::<u64>().prop_map(|until| Fate::Waited { until: Nanos(until) }),
        ];
        (0..u32::MAX, any::<u64>(), fate).prop_map(|(group, at, fate)| ArrivalRecord {
            group,
            scheduled: Nanos(at),
            fate,
        })
    }

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(all in prop::collection::vec(arrival(), 0..20)) {
            let (mut bytes, mut before) = (Vec::new(), 0);
            for arrival in &all {
                arrival.pack(&mut bytes, before);
                before = arrival.scheduled.0;
            }
            let mut seen = Vec::new();
            unpack(BatchReader::new(&bytes), |arrival| seen.push(*arrival)).unwrap();
            prop_assert_eq!(seen, all);
        }

        #[test]
        fn rubbish_is_refused_and_nothing_else(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = unpack(BatchReader::new(&bytes), |_| {});
        }
    }
}
