//! The readings of the last half hour.

use crate::candidates::Candidates;
use crate::harm::HarmKind;
use crate::reading::UsageReading;

/// Maximum number of readings: those of half an hour, with one reading per second.
pub(crate) const READINGS_MAX: usize = 1_800;

/// Number of readings that are discarded together.
pub(crate) const DISCARDED: usize = 200;

/// The readings, oldest first. Readings in which the harm is unknown, or the system reached a limit of its own, have no harm.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    pub(crate) at_s: Vec<f64>,
    /// CPU time of the system.
    pub(crate) own: Vec<f64>,
    /// Whether the system was at its own limit in this reading or shortly before it.
    pub(crate) is_limited: Vec<bool>,
    /// The harm of each kind; not a number if it is unknown.
    pub(crate) harm: [Vec<f64>; HarmKind::COUNT],
    pub(crate) candidates: Candidates,
    /// Number of readings until the queue of a system that reached its limits has drained.
    drain: usize,
}

/// Number of readings after the system was at its own limit, in which its queue may still drain.
const DRAIN: usize = 5;

impl History {
    /// Adds a reading.
    pub(crate) fn add(&mut self, reading: &UsageReading<'_>) {
        let victim = reading.victim;
        self.drain = if victim.is_at_own_limit { DRAIN } else { self.drain.saturating_sub(1) };
        let is_limited = victim.is_at_own_limit || self.drain > 0;
        let is_usable = !is_limited && victim.cores.is_some();
        self.at_s.push(reading.at_s);
        self.own.push(victim.cores.unwrap_or(f64::NAN));
        self.is_limited.push(is_limited);
        for (series, value) in self.harm.iter_mut().zip(victim.harm) {
            series.push(value.filter(|_| is_usable).unwrap_or(f64::NAN));
        }
        self.candidates.add(reading.uses, self.at_s.len());
    }

    /// Whether the first readings have to be discarded before another one is added.
    pub(crate) fn is_full(&self) -> bool {
        self.at_s.len() >= READINGS_MAX + DISCARDED
    }

    /// Discards the first [`DISCARDED`] readings.
    pub(crate) fn discard(&mut self) {
        self.at_s.drain(..DISCARDED);
        self.own.drain(..DISCARDED);
        self.is_limited.drain(..DISCARDED);
        self.harm.iter_mut().for_each(|series| drop(series.drain(..DISCARDED)));
        self.candidates.discard(DISCARDED);
    }

    /// The number of readings.
    pub(crate) fn len(&self) -> usize {
        self.at_s.len()
    }

    /// The readings from `first` on in which the harm is known.
    pub(crate) fn known(&self, harm: usize, first: usize) -> Vec<usize> {
        (first..self.len()).filter(|at| self.harm[harm][*at].is_finite()).collect()
    }
}
