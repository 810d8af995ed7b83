//! Pauses of garbage collectors in their logs. A log has the exact length of each pause; the counters of a JVM do not.

use std::collections::BTreeMap;

use busyhour_series::{Mark, MarkKind, SeriesInfo};

use super::tally::Part;

/// The prefix of the names of sources that are garbage-collection logs.
const LOG: &str = "gc:";

/// The metric of a log that was read.
const PAUSE_SECONDS: &str = "busyhour_gc_log_pause_seconds_total";

/// The pauses of one log in the measured part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LoggedPauses {
    pub(super) count: u64,
    pub(super) total_s: f64,
    pub(super) longest_s: f64,
    /// Whether further pauses were not recorded one by one.
    is_incomplete: bool,
}

/// The logs of a series file, by source number.
#[derive(Debug, Default)]
pub(super) struct GcLogs {
    logs: BTreeMap<u32, LoggedPauses>,
}

impl GcLogs {
    pub(super) fn add_series(&mut self, source: &str, info: &SeriesInfo) {
        if source.starts_with(LOG) && info.name == PAUSE_SECONDS {
            self.logs.entry(info.source).or_default();
        }
    }

    pub(super) fn add_mark(&mut self, part: Part, source: u32, mark: &Mark) {
        let Some(log) = self.logs.get_mut(&source).filter(|_| mark.kind == MarkKind::GcPause) else { return };
        let (from, to) = (mark.from.0, mark.to.0);
        if !part.contains(from) {
            return;
        }
        // A mark whose start and end are equal represents several pauses.
        if from == to {
            log.is_incomplete = true;
            return;
        }
        let length_s = (to - from) as f64 / 1e9;
        log.count += 1;
        log.total_s += length_s;
        log.longest_s = log.longest_s.max(length_s);
    }

    /// The pauses of the only log, if it is complete. With several logs, it is unknown which one belongs to which JVM.
    pub(super) fn only(&self) -> Option<LoggedPauses> {
        let mut logs = self.logs.values();
        let log = logs.next().filter(|log| !log.is_incomplete).copied();
        log.filter(|_| logs.next().is_none())
    }
}
