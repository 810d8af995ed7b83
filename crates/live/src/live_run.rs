//! The state of a run so far.

use std::collections::HashMap;

use busyhour_analysis::thresholds::ThresholdResult;
use busyhour_sample::{ArrivalsInSecond, LiveArrivals, SampleKind, Snapshot, TimeCounts};

use crate::slices::{SliceChange, Slices};
use crate::system::{LiveSystem, SystemHistory};

/// Figures of the last second, or of the run so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Completed requests.
    pub completed: u64,
    /// Number of these requests that failed.
    pub failed: u64,
    /// Maximum number of active users during these requests; `None` if there were no requests.
    pub users: Option<u32>,
    /// Arrivals of open workloads; `None` if the run has no open workloads.
    pub arrivals: Option<ArrivalsInSecond>,
    /// Response time: from the intended start to the end.
    pub response: TimeCounts,
    /// Service time: from the actual start to the end.
    pub service: TimeCounts,
}

impl Figures {
    fn of(snapshot: &Snapshot) -> Figures {
        let total = snapshot.total();
        Figures {
            completed: total.samples,
            failed: total.errors,
            users: snapshot.users.map(|users| users.max),
            arrivals: snapshot.arrivals,
            response: total.response.all(),
            service: total.service.all(),
        }
    }

    fn merge(&mut self, other: &Figures) {
        self.completed += other.completed;
        self.failed += other.failed;
        self.users = self.users.max(other.users);
        if let Some(arrivals) = &other.arrivals {
            self.arrivals.get_or_insert_default().merge(arrivals);
        }
        self.response.merge(&other.response);
        self.service.merge(&other.service);
    }

    /// Percentage of requests that failed; `None` if there were no requests.
    #[must_use]
    pub fn failed_percent(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.failed as f64 * 100.0 / self.completed as f64)
    }
}

/// The figures of one label so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveLabel {
    /// Its name.
    pub label: String,
    /// Completed samples.
    pub completed: u64,
    /// Number of these samples that failed.
    pub failed: u64,
    /// Number of samples completed in the last second.
    pub last: u64,
    /// Response time: from the intended start to the end.
    pub response: TimeCounts,
}

/// A run so far, aggregated from its seconds. Memory is bounded by the number of time slices, and by the number of labels that
/// the recorder distinguishes.
#[derive(Debug, Default)]
pub struct LiveRun {
    slices: Slices,
    total: Figures,
    last: Figures,
    last_second: Option<u64>,
    labels: Vec<LiveLabel>,
    index: HashMap<String, usize>,
    regularity: Option<LiveArrivals>,
    thresholds: Vec<ThresholdResult>,
    system: SystemHistory,
}

/// The percentiles that the curve can have. [`LiveRun::curve`] uses those for which there are enough requests.
const CURVE: [f64; 25] = [
    1.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 85.0, 90.0, 92.0, 95.0, 97.0, 98.0, 99.0, 99.5,
    99.7, 99.9, 99.95, 99.97, 99.99, 99.995, 99.997, 99.999,
];

impl LiveRun {
    /// The state of a run before its first second has ended.
    #[must_use]
    pub fn new() -> LiveRun {
        LiveRun::default()
    }

    /// Adds a second. `thresholds` contains the outcome of each threshold after this second.
    pub fn take(&mut self, snapshot: &Snapshot, thresholds: &[ThresholdResult]) {
        // The return value is needed only by code that sends changes to pages.
        let _ = self.add(snapshot, thresholds);
    }

    pub(crate) fn add(&mut self, snapshot: &Snapshot, thresholds: &[ThresholdResult]) -> SliceChange {
        self.last = Figures::of(snapshot);
        self.total.merge(&self.last);
        self.last_second = Some(snapshot.second);
        // The recorder keeps the previous value in a second without arrivals.
        self.regularity = snapshot.regularity;
        self.labels.iter_mut().for_each(|label| label.last = 0);
        for row in snapshot.rows.iter().filter(|row| row.kind == SampleKind::Request) {
            let at = match self.index.get(&row.label) {
                Some(at) => *at,
                None => {
                    self.index.insert(row.label.clone(), self.labels.len());
                    self.labels.push(LiveLabel { label: row.label.clone(), ..LiveLabel::default() });
                    self.labels.len() - 1
                }
            };
            let label = &mut self.labels[at];
            label.completed += row.samples;
            label.failed += row.errors;
            label.last += row.samples;
            label.response.merge(&row.response.all());
        }
        self.thresholds = thresholds.to_vec();
        self.slices.add(snapshot)
    }

    /// The run over time.
    #[must_use]
    pub fn slices(&self) -> &Slices {
        &self.slices
    }

    /// The whole run so far.
    #[must_use]
    pub fn total(&self) -> &Figures {
        &self.total
    }

    /// The last second.
    #[must_use]
    pub fn last(&self) -> &Figures {
        &self.last
    }

    /// Number of the last second; `None` if no second has ended yet.
    #[must_use]
    pub fn last_second(&self) -> Option<u64> {
        self.last_second
    }

    /// Regularity of the arrivals in the last ten seconds, as their coefficient of variation (CoV).
    #[must_use]
    pub fn regularity(&self) -> Option<LiveArrivals> {
        self.regularity
    }

    /// Adds the latest values and marks of the system under test.
    pub(crate) fn add_system(&mut self, system: &dyn LiveSystem) {
        self.system.update(system);
    }

    /// The observed system under test so far.
    #[must_use]
    pub fn system(&self) -> &SystemHistory {
        &self.system
    }

    /// Outcome of each threshold so far.
    #[must_use]
    pub fn thresholds(&self) -> &[ThresholdResult] {
        &self.thresholds
    }

    /// The labels with the most requests, at most `most` of them.
    #[must_use]
    pub fn busiest(&self, most: usize) -> Vec<&LiveLabel> {
        let mut all: Vec<&LiveLabel> = self.labels.iter().collect();
        // The sort is stable: labels with the same number of requests keep their order.
        all.sort_by_key(|label| std::cmp::Reverse(label.completed));
        all.truncate(most);
        all
    }

    /// The points of the percentile curve: percentile, response time and service time in ms. Empty with fewer than two requests.
    #[must_use]
    pub fn curve(&self) -> Vec<[f64; 3]> {
        let count = self.total.response.count();
        if count < 2 {
            return Vec::new();
        }
        // A percentile above the median is shown only if at least ten requests are above it. The maximum is always shown.
        let supported =
            |percentile: &f64| *percentile <= 50.0 || (100.0 - percentile) / 100.0 * count as f64 >= 10.0;
        let point = |percentile: f64| {
            let at = |times: &TimeCounts| times.quantile_ms(percentile / 100.0);
            Some([percentile, at(&self.total.response)?, at(&self.total.service)?])
        };
        CURVE.into_iter().filter(supported).chain([100.0]).filter_map(point).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use busyhour_analysis::thresholds::{Criterion, Judge, Meaning, RunMeasures};
    use busyhour_sample::{OutcomeTimes, SnapshotRow};

    use super::*;

    /// A second with these labels. Each row has a name, response times in ns, and the number of failed requests; the
    /// last requests of the row failed.
    pub(crate) fn snapshot(second: u64, rows: &[(&str, &[u64], usize)]) -> Snapshot {
        let row = |(label, times, failed): &(&str, &[u64], usize)| {
            let (passed, bad) = times.split_at(times.len() - failed);
            let outcome = OutcomeTimes {
                passed: TimeCounts::from_ns(passed.iter().copied()),
                failed: TimeCounts::from_ns(bad.iter().copied()),
            };
            SnapshotRow {
                samples: times.len() as u64,
                errors: *failed as u64,
                bytes: 1_024 * times.len() as u64,
                service: outcome.clone(),
                response: outcome,
                ..SnapshotRow::new(*label, SampleKind::Request)
            }
        };
        Snapshot { second, whole: true, rows: rows.iter().map(row).collect(), ..Snapshot::default() }
    }

    #[test]
    fn seconds_add_up_and_the_busiest_come_first() {
        let ms = 1_000_000;
        let mut judge = Judge::new(vec![Criterion::parse("errors < 10%", Meaning::Require).unwrap()]);
        let mut run = LiveRun::new();
        let mut add = |run: &mut LiveRun, second: &Snapshot| {
            let _ = judge.second(second);
            run.take(second, &judge.so_far(&RunMeasures::default()));
        };
        add(&mut run, &snapshot(0, &[("a", &[ms, 2 * ms], 0), ("b", &[5 * ms; 5], 0)]));
        assert!(run.thresholds().iter().all(|threshold| !threshold.fails_run));
        add(&mut run, &snapshot(1, &[("a", &[9 * ms], 1)]));
        assert_eq!((run.total().completed, run.total().failed, run.last().completed), (8, 1, 1));
        assert_eq!(run.total().failed_percent(), Some(12.5));
        assert_eq!(run.total().response.max_ms(), Some(9.0));
        let busiest: Vec<_> = run.busiest(9).iter().map(|row| (row.label.as_str(), row.last)).collect();
        assert_eq!(busiest, [("b", 0), ("a", 1)]);
        assert_eq!(run.busiest(1).len(), 1);
        assert!(run.thresholds().iter().all(|threshold| threshold.fails_run), "{:?}", run.thresholds());
        assert_eq!(run.last_second(), Some(1));
    }

    #[test]
    fn the_curve_has_no_percentile_with_fewer_than_ten_requests_above_it() {
        let mut run = LiveRun::new();
        assert!(run.curve().is_empty());
        let times: Vec<u64> = (1..=1_000).map(|n| n * 1_000_000).collect();
        run.take(&snapshot(0, &[("a", &times, 0)]), &[]);
        let curve = run.curve();
        let at = |percentile: f64| curve.iter().find(|point| point[0] == percentile).map(|point| point[1]);
        assert!(at(99.0).is_some_and(|ms| (ms - 990.0).abs() < 1.0), "{:?}", at(99.0));
        assert_eq!((at(99.5), at(100.0)), (None, Some(1_000.0)));
    }
}
