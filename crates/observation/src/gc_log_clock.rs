//! The times of a garbage-collection log on the clock of a run.
//!
//! Wall times of the log are used unchanged. A log that has only uptimes is aligned by the arrival of its lines. A line
//! that is new at a reading was written since the previous reading, so its uptime is in this interval. Each line thus
//! bounds the start of the JVM's clock. After some lines, the start is known within a few milliseconds.

use busyhour_gclog::LineStamp;
use busyhour_sample::Nanos;

/// Places stamps on the clock of a run.
#[derive(Debug, Clone)]
pub(crate) struct GcLogClock {
    wall_start_ms: i64,
    /// Lower and upper bound of the run's time at uptime 0, in seconds; may be negative.
    origin_s: Option<(f64, f64)>,
}

/// A time on the clock of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlacedTime {
    /// Seconds since the start of the run; may be negative.
    pub(crate) time_s: f64,
    /// Maximum error in seconds; `None` for wall times, which are as exact as the clock of the log's machine.
    pub(crate) uncertainty_s: Option<f64>,
}

impl GcLogClock {
    pub(crate) fn new(wall_start_ms: u64) -> GcLogClock {
        GcLogClock { wall_start_ms: i64::try_from(wall_start_ms).unwrap_or(i64::MAX), origin_s: None }
    }

    /// Takes the stamp of a line into account that arrived between the readings at `after` and `until`.
    pub(crate) fn align(&mut self, stamp: &LineStamp, after: Nanos, until: Nanos) {
        let Some(uptime_s) = stamp.uptime_s else { return };
        let seconds = |time: Nanos| time.0 as f64 / 1e9;
        let (low, high) = (seconds(after) - uptime_s, seconds(until) - uptime_s);
        self.origin_s = match self.origin_s {
            Some((known_low, known_high)) if known_low.max(low) <= known_high.min(high) => {
                Some((known_low.max(low), known_high.min(high)))
            }
            // The bounds contradict each other: the JVM was restarted, or the machine was suspended.
            Some(_) | None => Some((low, high)),
        };
    }

    /// The time of a stamp on the clock of the run; `None` if it states no time, or only an uptime that cannot be placed yet.
    pub(crate) fn place(&self, stamp: &LineStamp) -> Option<PlacedTime> {
        if let Some(wall_ms) = stamp.wall_ms {
            let time_s = wall_ms.saturating_sub(self.wall_start_ms) as f64 / 1e3;
            return Some(PlacedTime { time_s, uncertainty_s: None });
        }
        let (low, high) = self.origin_s?;
        let time_s = stamp.uptime_s? + f64::midpoint(low, high);
        Some(PlacedTime { time_s, uncertainty_s: Some((high - low) / 2.0) })
    }

    /// Maximum error of times of a log without wall times, in seconds.
    pub(crate) fn uncertainty_s(&self) -> Option<f64> {
        self.origin_s.map(|(low, high)| (high - low) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uptime(uptime_s: f64) -> LineStamp {
        LineStamp { uptime_s: Some(uptime_s), wall_ms: None }
    }

    #[test]
    fn wall_times_are_exact() {
        let clock = GcLogClock::new(1_000_000);
        let stamp = LineStamp { uptime_s: Some(7.0), wall_ms: Some(1_002_500) };
        assert_eq!(clock.place(&stamp), Some(PlacedTime { time_s: 2.5, uncertainty_s: None }));
        assert_eq!(clock.place(&uptime(7.0)), None, "nothing has arrived");
    }

    #[test]
    fn uptimes_are_placed_by_the_arrival_of_lines() {
        // The JVM started 100.3 s before the run; lines are read once per second.
        let mut clock = GcLogClock::new(0);
        let mut widths = Vec::new();
        for tenth in [4_u64, 17, 21, 38, 45, 59] {
            let time_s = tenth as f64 / 10.0;
            let second = tenth / 10;
            let stamp = uptime(time_s + 100.3);
            clock.align(&stamp, Nanos(second * 1_000_000_000), Nanos((second + 1) * 1_000_000_000));
            let placed = clock.place(&stamp).unwrap();
            let uncertainty_s = placed.uncertainty_s.unwrap();
            assert!((placed.time_s - time_s).abs() <= uncertainty_s + 1e-9, "{placed:?} {time_s}");
            widths.push(uncertainty_s);
        }
        assert!((widths[0] - 0.5).abs() < 1e-9 && widths[5] < 0.15, "{widths:?}");
        // After a restart of the JVM, the alignment starts again.
        clock.align(&uptime(0.5), Nanos(10_000_000_000), Nanos(11_000_000_000));
        assert_eq!(clock.place(&uptime(0.5)).unwrap().time_s, 10.5);
    }
}
