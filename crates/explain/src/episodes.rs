//! Tests whether a cause changed in the incidents of a run.
//!
//! A run often has a single incident, so that the test of all requests has little power. The search for incidents has
//! already found that requests were slow at that time. The remaining question is which cause changed at the same time.

use crate::signal::Signal;

/// Number of time shifts.
const SHIFTS: u64 = 800;

/// The level in the incidents is at least this many times the level outside.
const FACTOR_MIN: f64 = 2.0;

/// The level of a signal in incidents and outside of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Change {
    /// Mean level in the incidents.
    pub(crate) inside: f64,
    /// Mean level outside.
    pub(crate) outside: f64,
    /// Share of the time shifts of the incidents for which the level inside is at least as high.
    pub(crate) p: f64,
}

impl Change {
    /// Whether the level rose by enough to matter.
    pub(crate) fn is_large(&self, signal: &Signal) -> bool {
        self.inside >= signal.relevant && self.inside >= FACTOR_MIN * self.outside
    }
}

/// The levels of a signal in the episodes, given in ns since the start of the run, and in the rest of the part from `from` to
/// `to`; `None` if the signal is unknown in one of them.
pub(crate) fn change(signal: &Signal, episodes: &[(u64, u64)], (from, to): (u64, u64)) -> Option<Change> {
    let length = to.checked_sub(from).filter(|length| *length > 0)?;
    let cumulated = Cumulated::new(signal, from);
    let inside = |shift: u64| {
        let (mut sum, mut time) = (0.0, 0.0);
        for (start, end) in episodes {
            let start = start.clamp(&from, &to) - from + shift;
            let end = end.clamp(&from, &to) - from + shift;
            for (start, end) in wrapped(start, end, length) {
                let (own, known) = cumulated.between(start, end);
                sum += own;
                time += known;
            }
        }
        (sum, time)
    };
    let (sum, time) = inside(0);
    let (all, all_time) = cumulated.between(0, length);
    if time <= 0.0 || all_time <= time {
        return None;
    }
    let observed = sum / time;
    let as_high = (0..SHIFTS)
        .map(|number| {
            inside(u64::try_from(u128::from(length) * u128::from(number) / u128::from(SHIFTS)).unwrap_or(0))
        })
        .filter(|(sum, time)| *time > 0.0 && sum / time >= observed * (1.0 - 1e-9))
        .count();
    Some(Change {
        inside: observed,
        outside: (all - sum) / (all_time - time),
        p: as_high as f64 / SHIFTS as f64,
    })
}

/// The intervals within the part for an interval that may extend beyond its end.
fn wrapped(start: u64, end: u64, length: u64) -> Vec<(u64, u64)> {
    if start >= length {
        vec![(start - length, end - length)]
    } else if end > length {
        vec![(start, length), (0, end - length)]
    } else {
        vec![(start, end)]
    }
}

/// Sums of a signal from the start up to the start of each piece.
struct Cumulated {
    /// Start and end of a piece, its value, and the sum and the time of all earlier pieces.
    pieces: Vec<(u64, u64, f64, f64, f64)>,
}

impl Cumulated {
    fn new(signal: &Signal, origin: u64) -> Cumulated {
        let (mut sum, mut time) = (0.0, 0.0);
        let pieces = signal.pieces.iter().map(|piece| {
            let entry =
                (piece.from.saturating_sub(origin), piece.to.saturating_sub(origin), piece.value, sum, time);
            let length = (piece.to - piece.from) as f64;
            sum += piece.value * length;
            time += length;
            entry
        });
        Cumulated { pieces: pieces.collect() }
    }

    /// The integral and the known time from the start up to a time.
    fn up_to(&self, at: u64) -> (f64, f64) {
        let next = self.pieces.partition_point(|piece| piece.0 < at);
        let Some((from, to, value, sum, time)) = next.checked_sub(1).map(|last| self.pieces[last]) else {
            return (0.0, 0.0);
        };
        let length = (at.min(to) - from) as f64;
        (sum + value * length, time + length)
    }

    fn between(&self, from: u64, to: u64) -> (f64, f64) {
        let ((sum, time), (sum_before, time_before)) = (self.up_to(to), self.up_to(from));
        (sum - sum_before, time - time_before)
    }
}

#[cfg(test)]
mod tests {
    use busyhour_analysis::explanation::Cause;

    use super::*;

    #[test]
    fn a_level_that_rises_in_an_incident_is_rare_elsewhere() {
        let signal = Signal::of_intervals((Cause::Disk, "os", "waiting"), &[(300, 350)], 0, (0, 1_000));
        let found = change(&signal, &[(300, 400)], (0, 1_000)).unwrap();
        assert!((found.inside - 1.0).abs() < 1e-9 && found.outside.abs() < 1e-9, "{found:?}");
        assert!(found.p < 0.01 && found.is_large(&signal), "{found:?}");
        let elsewhere = change(&signal, &[(900, 950)], (0, 1_000)).unwrap();
        assert!(elsewhere.p > 0.5 && !elsewhere.is_large(&signal), "{elsewhere:?}");
        assert_eq!(change(&signal, &[], (0, 1_000)), None);
    }
}
