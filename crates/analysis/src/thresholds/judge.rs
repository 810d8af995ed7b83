//! All criteria of a run.

use busyhour_record::Snapshot;

use super::criterion::{Criterion, Window};
use super::outcome::ThresholdResult;
use super::run_measures::RunMeasures;
use super::track::Track;

/// Looks at a run second by second and judges it by criteria.
pub struct Judge {
    tracks: Vec<Track>,
    /// The second after the last one seen.
    next: u64,
    /// The criterion that stopped the run.
    stopped_by: Option<usize>,
}

/// A criterion wants the run to be stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopOrder {
    /// The criterion, as [`Criterion::portable`] gives it.
    pub text: String,
    /// The second of the run at whose end it was broken.
    pub second: u64,
    /// Whether the run has failed by it.
    pub failed: bool,
}

impl std::fmt::Debug for Judge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Judge").field("criteria", &self.tracks.len()).finish_non_exhaustive()
    }
}

impl Judge {
    /// A judge by `criteria`.
    #[must_use]
    pub fn new(criteria: Vec<Criterion>) -> Judge {
        Judge { tracks: criteria.into_iter().map(Track::new).collect(), next: 0, stopped_by: None }
    }

    /// Looks at the next second of the run. Seconds that were left out since the last one were empty. The first criterion
    /// that wants it so stops the run: it is told once.
    pub fn second(&mut self, snapshot: &Snapshot) -> Option<StopOrder> {
        let mut order = None;
        // After an empty window of every length nothing changes any more.
        let longest = self.tracks.iter().map(|track| match track.criterion.window {
            Window::Run => 0,
            Window::Over(seconds) | Window::For(seconds) => u64::from(seconds),
        });
        let told = longest.max().unwrap_or(0).max(1);
        let from = self.next.max(snapshot.second.saturating_sub(told));
        for second in from..snapshot.second {
            let empty = Snapshot {
                second,
                whole: true,
                arrivals: snapshot.arrivals.map(|_| Default::default()),
                ..Snapshot::default()
            };
            order = order.or(self.look(&empty));
        }
        self.next = snapshot.second + 1;
        order.or(self.look(snapshot))
    }

    fn look(&mut self, snapshot: &Snapshot) -> Option<StopOrder> {
        let mut order = None;
        for (at, track) in self.tracks.iter_mut().enumerate() {
            if track.second(snapshot) && track.criterion.stop && self.stopped_by.is_none() {
                self.stopped_by = Some(at);
                let text = track.criterion.portable();
                order = Some(StopOrder { text, second: snapshot.second, failed: track.criterion.fails });
            }
        }
        order
    }

    /// How each criterion fares so far, in their order.
    #[must_use]
    pub fn so_far(&self, measures: &RunMeasures) -> Vec<ThresholdResult> {
        let tracks = self.tracks.iter().enumerate();
        tracks.map(|(at, track)| track.clone().finish(measures, self.stopped_by == Some(at))).collect()
    }

    /// How each criterion fared, in their order.
    #[must_use]
    pub fn finish(self, measures: &RunMeasures) -> Vec<ThresholdResult> {
        let stopped_by = self.stopped_by;
        let tracks = self.tracks.into_iter().enumerate();
        tracks.map(|(at, track)| track.finish(measures, stopped_by == Some(at))).collect()
    }
}

#[cfg(test)]
mod tests;
