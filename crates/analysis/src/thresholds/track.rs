//! Evaluates one criterion on the seconds of a run.

use std::collections::HashMap;

use busyhour_sample::{SampleKind, Snapshot, SnapshotRow};

use super::criterion::{Criterion, MeasuredQuantity, MeasuredSamples, Window};
use super::outcome::{ThresholdResult, WorstWindow};
use super::run_measures::RunMeasures;
use super::tally::{Sliding, Tally};

/// A criterion and its state, or one state per label.
#[derive(Clone)]
pub(super) struct Track {
    pub(super) criterion: Criterion,
    states: Vec<State>,
    /// For `each`: index of the state of each label in `states`.
    labels: HashMap<String, usize>,
    pub(super) triggered: bool,
}

/// The state of a criterion for its scope or for one label.
#[derive(Clone, Default)]
struct State {
    label: Option<String>,
    /// Whether there has been a sample. Until the first sample, seconds without samples are ignored; afterwards, their counts
    /// are 0.
    seen: bool,
    run: Tally,
    sliding: Sliding,
    /// Number of consecutive failed seconds, and the first of them.
    streak: u32,
    streak_from: u64,
    longest: Option<(u32, u64)>,
    worst: Option<WorstWindow>,
    /// Number of windows with a value.
    windows: u64,
    failed_windows: u64,
    /// First and last second of failed windows.
    failed: Option<(u64, u64)>,
}

impl Track {
    pub(super) fn new(criterion: Criterion) -> Track {
        let each = matches!(criterion.scope, MeasuredSamples::Each(_));
        let states = if each { Vec::new() } else { vec![State::default()] };
        Track { criterion, states, labels: HashMap::new(), triggered: false }
    }

    /// Evaluates a second. Returns whether the criterion fails for the first time.
    pub(super) fn second(&mut self, snapshot: &Snapshot) -> bool {
        let Track { criterion, states, labels, triggered } = self;
        let number = snapshot.second;
        if number < criterion.after_s || criterion.until_s.is_some_and(|until| number >= until) {
            return false;
        }
        let mut tallies = vec![Tally::of_second(snapshot); states.len()];
        for row in snapshot.rows.iter().filter(|row| is_in_scope(&criterion.scope, row)) {
            let at = if matches!(criterion.scope, MeasuredSamples::Each(_)) {
                labels.get(&row.label).copied().unwrap_or_else(|| {
                    labels.insert(row.label.clone(), states.len());
                    states.push(State { label: Some(row.label.clone()), ..State::default() });
                    tallies.push(Tally::of_second(snapshot));
                    states.len() - 1
                })
            } else {
                0
            };
            tallies[at].row(row, criterion);
        }
        let mut broke = false;
        for (state, tally) in states.iter_mut().zip(tallies) {
            state.seen |= tally.has_samples() || criterion.subject.is_of_run();
            if state.seen {
                broke |= state.second(criterion, tally, number, snapshot.whole);
            }
        }
        let first = broke && !*triggered;
        *triggered |= broke;
        first
    }

    pub(super) fn finish(self, measures: &RunMeasures, stopped_run: bool) -> ThresholdResult {
        let Track { criterion, mut states, .. } = self;
        if criterion.window == Window::Run {
            for state in &mut states {
                state.whole_run(&criterion, measures);
            }
        }
        let judged = states.iter().filter(|state| state.windows > 0).count();
        let failed = states.iter().filter(|state| state.failed.is_some()).count();
        let each = matches!(criterion.scope, MeasuredSamples::Each(_));
        // The result describes the worst state; failed states are worse than others.
        let worst = states.into_iter().filter(|state| state.windows > 0).reduce(|a, b| {
            if a.failed.is_some() != b.failed.is_some() {
                return if a.failed.is_some() { a } else { b };
            }
            match (&a.worst, &b.worst) {
                (Some(of_a), Some(of_b)) if criterion.worse(of_a.value, of_b.value) == of_a.value => a,
                (Some(_), None) => a,
                _ => b,
            }
        });
        let state = worst.unwrap_or_default();
        let passed = (judged > 0).then_some(failed == 0);
        ThresholdResult {
            text: criterion.text.clone(),
            criterion: criterion.to_string(),
            name: criterion.name.clone(),
            subject: criterion.subject.to_string(),
            scope: match &criterion.scope {
                MeasuredSamples::Total => "total".to_owned(),
                MeasuredSamples::Label(label) => label.clone(),
                other => other.to_string().trim_start_matches(" of ").to_owned(),
            },
            label: match &criterion.scope {
                MeasuredSamples::Label(label) => Some(label.clone()),
                _ => state.label,
            },
            window: match criterion.window {
                Window::Run => "run".to_owned(),
                Window::Over(seconds) => format!("over {seconds} s"),
                Window::For(seconds) => format!("for {seconds} s"),
            },
            passed,
            fails_run: match passed {
                Some(passed) => !passed && criterion.fails_run,
                None => !criterion.passes_without_data && criterion.fails_run,
            },
            observed: state.worst.map(|worst| worst.value),
            limit: criterion.limit.value,
            unit: criterion.limit.unit.as_str().to_owned(),
            observed_text: state.worst.map(|worst| criterion.limit.unit.format(worst.value)),
            worst: state.worst.filter(|_| criterion.window != Window::Run),
            since_s: state.failed.map(|(from, _)| from as f64),
            until_s: state.failed.map(|(_, to)| (to + 1) as f64),
            longest_s: state.longest.map(|(seconds, _)| seconds),
            windows: state.windows,
            failed_windows: state.failed_windows,
            labels: each.then_some(judged as u64),
            failed_labels: each.then_some(failed as u64),
            stopped_run,
        }
    }
}

impl State {
    /// Evaluates a second. Returns whether the criterion fails.
    fn second(&mut self, criterion: &Criterion, tally: Tally, number: u64, whole: bool) -> bool {
        match criterion.window {
            Window::Run => {
                self.run.add(&tally);
                false
            }
            // The counts of a partial second at the end of the run are too low.
            _ if !whole => false,
            Window::Over(length) => {
                let Some(Some(value)) = self.sliding.push(tally, length, criterion) else { return false };
                self.window(criterion, value, number + 1 - u64::from(length), number)
            }
            Window::For(length) => {
                // As in Taurus, a second without samples neither ends nor extends a sequence of failed seconds.
                let Some(value) = tally.value(criterion, 1.0) else { return false };
                if !self.window(criterion, value, number, number) {
                    self.streak = 0;
                    return false;
                }
                if self.streak == 0 {
                    self.streak_from = number;
                }
                self.streak += 1;
                if self.longest.is_none_or(|(longest, _)| self.streak > longest) {
                    self.longest = Some((self.streak, self.streak_from));
                }
                if self.streak < length {
                    return false;
                }
                let from = self.failed.map_or(self.streak_from, |(from, _)| from);
                self.failed = Some((from, number));
                true
            }
        }
    }

    /// Records the value of a window. Returns whether it fails.
    fn window(&mut self, criterion: &Criterion, value: f64, from: u64, to: u64) -> bool {
        self.windows += 1;
        let worse = |worst: &WorstWindow| criterion.worse(worst.value, value) != worst.value;
        if self.worst.as_ref().is_none_or(worse) {
            self.worst = Some(WorstWindow { from_s: from as f64, to_s: (to + 1) as f64, value });
        }
        let failed = criterion.fails_for(value);
        self.failed_windows += u64::from(failed);
        if failed && !matches!(criterion.window, Window::For(_)) {
            let first = self.failed.map_or(from, |(first, _)| first);
            self.failed = Some((first, to));
        }
        failed
    }

    /// Records the value over the run.
    fn whole_run(&mut self, criterion: &Criterion, measures: &RunMeasures) {
        if !self.seen {
            return;
        }
        let all = criterion.after_s == 0 && criterion.until_s.is_none();
        let length_s = measures.span_s.filter(|_| all).unwrap_or(self.run.seconds as f64);
        let value = match criterion.subject {
            // The CoV over the run comes from the arrival verdict.
            MeasuredQuantity::ArrivalsCov => measures.arrivals_cov.filter(|_| all),
            _ => self.run.value(criterion, length_s),
        };
        if let Some(value) = value {
            let first = criterion.after_s;
            self.window(criterion, value, first, first + self.run.seconds.saturating_sub(1));
        }
    }
}

fn is_in_scope(scope: &MeasuredSamples, row: &SnapshotRow) -> bool {
    match scope {
        MeasuredSamples::Total => row.kind == SampleKind::Request,
        MeasuredSamples::Label(label) => row.label == *label,
        MeasuredSamples::Matching(pattern) => pattern.0.is_match(&row.label),
        MeasuredSamples::Each(pattern) => {
            pattern.as_ref().is_none_or(|pattern| pattern.0.is_match(&row.label))
        }
    }
}
