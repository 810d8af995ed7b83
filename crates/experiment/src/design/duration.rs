//! The time that an experiment takes.

use serde::{Deserialize, Serialize};

use super::journal::Journal;
use super::schedule::Design;

/// The known parts of the time of a trial, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TrialTimes {
    /// Time of load.
    pub load_s: f64,
    /// Pause after a trial.
    pub pause_s: f64,
    /// Longest time until the system is ready; 0 if the experiment does not start it.
    pub ready_within_s: f64,
}

/// The estimated time of an experiment, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DurationEstimate {
    /// Number of trials, with warm-up trials.
    pub trials: u64,
    /// The time if systems are ready at once and no trial is repeated.
    pub shortest_s: f64,
    /// The time if every system needs all the time until it must be ready. Repeated trials take additional time.
    pub longest_s: f64,
}

impl DurationEstimate {
    /// The estimate before the first trial.
    #[must_use]
    pub fn of_design(design: &Design, times: &TrialTimes) -> DurationEstimate {
        DurationEstimate::of_trials(design.trials_count(), times)
    }

    /// The estimate for a number of trials.
    #[must_use]
    pub fn of_trials(trials: u64, times: &TrialTimes) -> DurationEstimate {
        let shortest_s = trials as f64 * (times.load_s + times.pause_s);
        DurationEstimate { trials, shortest_s, longest_s: shortest_s + trials as f64 * times.ready_within_s }
    }

    /// The time left for the first `blocks` blocks, from the measured times of finished trials with their starts, stops and
    /// pauses: the number of open trials, times the median and times the largest time. `None` without measured times.
    #[must_use]
    pub fn left(journal: &Journal<'_>, blocks: u32, measured_s: &[f64]) -> Option<DurationEstimate> {
        let mut measured: Vec<f64> = measured_s.iter().copied().filter(|time| time.is_finite()).collect();
        measured.sort_by(f64::total_cmp);
        let (median, largest) = (measured.get(measured.len() / 2)?, measured.last()?);
        let trials = journal.open_count(blocks);
        Some(DurationEstimate {
            trials,
            shortest_s: trials as f64 * median,
            longest_s: trials as f64 * largest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::TrialOrder;
    use super::super::schedule::tests::design;
    use super::*;

    #[test]
    fn the_time_is_that_of_all_trials() {
        let design = design(TrialOrder::Interleaved, &[2, 3], 5, 2);
        let times = TrialTimes { load_s: 60.0, pause_s: 5.0, ready_within_s: 10.0 };
        let estimate = DurationEstimate::of_design(&design, &times);
        assert_eq!((estimate.trials, estimate.shortest_s, estimate.longest_s), (32, 2_080.0, 2_400.0));
    }

    #[test]
    fn the_time_left_comes_from_measured_trials() {
        let design = design(TrialOrder::Interleaved, &[2], 3, 0);
        let journal = Journal::new(&design);
        assert_eq!(DurationEstimate::left(&journal, 3, &[]), None);
        let left = DurationEstimate::left(&journal, 3, &[10.0, 12.0, 11.0]).unwrap();
        assert_eq!((left.trials, left.shortest_s, left.longest_s), (6, 66.0, 72.0));
    }
}
