//! Exports a run while it is in progress.

use std::sync::Arc;

use busyhour_sample::{Snapshot, SnapshotReceiver};

use crate::{ExportError, Exporter};

/// Converts seconds of a run to wall clock time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimeOrigin {
    /// Start of the run in ms since 1970.
    pub wall_anchor_ms: i64,
}

impl TimeOrigin {
    /// The end of a second of the run, in ms since 1970. At this time its figures are complete.
    #[must_use]
    pub fn end_ms(&self, second: u64) -> i64 {
        self.wall_anchor_ms
            .saturating_add(i64::try_from(second + 1).unwrap_or(i64::MAX).saturating_mul(1_000))
    }

    /// The time at which the figures of `snapshot` are complete, in ms since 1970: the end of its second, or `now_ms` if the run
    /// ended during the second. Receivers would reject a timestamp in the future, or report a wrong clock.
    #[must_use]
    pub fn known_ms(&self, snapshot: &Snapshot, now_ms: i64) -> i64 {
        let end_ms = self.end_ms(snapshot.second);
        // The bounds keep timestamps increasing even if the clock is adjusted.
        if snapshot.whole { end_ms } else { now_ms.clamp(end_ms - 999, end_ms) }
    }
}

/// Returns the current time of the run's clock, in ms since 1970.
pub type NowMs = Arc<dyn Fn() -> i64 + Send + Sync>;

/// The result of an export during a run.
#[derive(Debug, Default)]
pub struct Followed {
    /// Number of seconds that were passed to the exporter.
    pub seconds: u64,
    /// Number of seconds for which the exporter returned an error.
    pub failed: u64,
    /// Number of seconds that were lost because the exporter was too slow.
    pub lost: u64,
    /// The first failure.
    pub first_error: Option<ExportError>,
}

impl Followed {
    fn note(&mut self, result: Result<(), ExportError>) {
        if let Err(error) = result {
            self.failed += 1;
            self.first_error.get_or_insert(error);
        }
    }
}

/// Exports the seconds that a recorder sends until the run ends. An error does not end the export: a database that becomes
/// available again receives the later seconds.
pub fn follow(seconds: &SnapshotReceiver, exporter: &mut dyn Exporter) -> Followed {
    let mut followed = Followed::default();
    while let Some(snapshot) = seconds.recv() {
        followed.seconds += 1;
        followed.note(exporter.second(&snapshot));
    }
    followed.note(exporter.finish());
    followed.lost = seconds.lost();
    followed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_never_in_the_future_and_increase() {
        let origin = TimeOrigin { wall_anchor_ms: 10_000 };
        let stamp = |second, whole, now_ms| {
            origin.known_ms(&Snapshot { second, whole, ..Snapshot::default() }, now_ms)
        };
        assert_eq!(stamp(2, true, 0), 13_000);
        // The run ended 400 ms into its fourth second.
        assert_eq!(stamp(3, false, 13_400), 13_400);
        // A late export of the second; a clock that does not advance.
        assert_eq!((stamp(3, false, 99_000), stamp(3, false, 7_000)), (14_000, 13_001));
    }
}
