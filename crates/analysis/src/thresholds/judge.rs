//! Evaluates all criteria of a run.

use busyhour_sample::Snapshot;

use super::criterion::{Criterion, Window};
use super::outcome::ThresholdResult;
use super::run_measures::RunMeasures;
use super::track::Track;

/// Evaluates criteria on the seconds of a run.
pub struct Judge {
    tracks: Vec<Track>,
    /// The second after the last evaluated one.
    next: u64,
    /// The criterion that stopped the run.
    stopped_by: Option<usize>,
}

/// A request to stop the run because a criterion failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThresholdStop {
    /// The criterion, as returned by [`Criterion::portable`].
    pub text: String,
    /// The second of the run in which the criterion failed.
    pub second: u64,
    /// Whether the criterion fails the run.
    pub failed: bool,
}

impl std::fmt::Debug for Judge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Judge").field("criteria", &self.tracks.len()).finish_non_exhaustive()
    }
}

impl Judge {
    /// Creates a judge for `criteria`.
    #[must_use]
    pub fn new(criteria: Vec<Criterion>) -> Judge {
        Judge { tracks: criteria.into_iter().map(Track::new).collect(), next: 0, stopped_by: None }
    }

    /// Evaluates the next second of the run. Seconds that are missing since the preceding call count as empty. The first time
    /// that a criterion stops the run, returns a request to stop it.
    pub fn second(&mut self, snapshot: &Snapshot) -> Option<ThresholdStop> {
        let mut order = None;
        // Once every window is empty, further empty seconds have no effect.
        let longest = self.tracks.iter().map(|track| match track.criterion.window {
            Window::Run => 0,
            Window::Over(seconds) | Window::For(seconds) => u64::from(seconds),
        });
        let seconds = longest.max().unwrap_or(0).max(1);
        let from = self.next.max(snapshot.second.saturating_sub(seconds));
        for second in from..snapshot.second {
            let empty = Snapshot {
                second,
                whole: true,
                arrivals: snapshot.arrivals.map(|_| Default::default()),
                ..Snapshot::default()
            };
            order = order.or(self.evaluate(&empty));
        }
        self.next = snapshot.second + 1;
        order.or(self.evaluate(snapshot))
    }

    fn evaluate(&mut self, snapshot: &Snapshot) -> Option<ThresholdStop> {
        let mut order = None;
        for (at, track) in self.tracks.iter_mut().enumerate() {
            if track.second(snapshot) && track.criterion.stops_run && self.stopped_by.is_none() {
                self.stopped_by = Some(at);
                let text = track.criterion.portable();
                order =
                    Some(ThresholdStop { text, second: snapshot.second, failed: track.criterion.fails_run });
            }
        }
        order
    }

    /// The results so far, in the order of the criteria.
    #[must_use]
    pub fn so_far(&self, measures: &RunMeasures) -> Vec<ThresholdResult> {
        let tracks = self.tracks.iter().enumerate();
        tracks.map(|(at, track)| track.clone().finish(measures, self.stopped_by == Some(at))).collect()
    }

    /// The results, in the order of the criteria.
    #[must_use]
    pub fn finish(self, measures: &RunMeasures) -> Vec<ThresholdResult> {
        let stopped_by = self.stopped_by;
        let tracks = self.tracks.into_iter().enumerate();
        tracks.map(|(at, track)| track.finish(measures, stopped_by == Some(at))).collect()
    }
}

#[cfg(test)]
mod tests;
