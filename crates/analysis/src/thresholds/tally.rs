//! Accumulates the measured values of a criterion over a second, a window or the run.

use busyhour_sample::{ArrivalsInSecond, CodeCount, Snapshot, SnapshotRow, TimeCounts};

use super::criterion::{Criterion, MeasuredQuantity, MeasuredTime, ValueUnit, Window};

/// Counts and times of the samples in a criterion's scope.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    /// Number of seconds in the tally.
    pub(super) seconds: u64,
    samples: u64,
    errors: u64,
    /// Response or service times; for the APDEX only those of successful samples.
    times: TimeCounts,
    /// Sum of the times to the first byte or to connect.
    sum_ns: u64,
    /// Number of samples with a matching response code.
    codes: u64,
    /// Number of active users at the end of the second; the maximum if the tally contains several seconds.
    users: Option<u32>,
    /// Maximum number of active users at any time.
    users_max: Option<u32>,
    arrivals: Option<ArrivalsInSecond>,
    cov: Option<f64>,
}

impl Tally {
    /// The tally of a second before the rows of its labels are added. It contains only values of the whole run, such as users and
    /// arrivals.
    pub(super) fn of_second(snapshot: &Snapshot) -> Tally {
        Tally {
            seconds: 1,
            users: snapshot.users.map(|users| users.at_end),
            users_max: snapshot.users.map(|users| users.max),
            arrivals: snapshot.arrivals,
            cov: snapshot.regularity.map(|regularity| regularity.cov),
            ..Tally::default()
        }
    }

    /// Adds a row of the second.
    pub(super) fn row(&mut self, row: &SnapshotRow, criterion: &Criterion) {
        self.samples += row.samples;
        self.errors += row.errors;
        let times = match criterion.clock {
            MeasuredTime::Service => &row.service,
            MeasuredTime::Response => &row.response,
        };
        match &criterion.subject {
            MeasuredQuantity::Latency => self.sum_ns += row.latency_sum_ns,
            MeasuredQuantity::Connect => self.sum_ns += row.connect_sum_ns,
            MeasuredQuantity::Apdex { .. } => self.times.merge(&times.passed),
            MeasuredQuantity::Codes(pattern) => {
                let matches = |code: &&CodeCount| matches_pattern(pattern.as_bytes(), code.code.as_bytes());
                self.codes += row.codes.iter().filter(matches).map(|code| code.samples).sum::<u64>();
            }
            subject if subject.is_time() => {
                self.times.merge(&times.passed);
                self.times.merge(&times.failed);
            }
            _ => {}
        }
    }

    /// Adds another part of the run.
    pub(super) fn add(&mut self, other: &Tally) {
        self.seconds += other.seconds;
        self.samples += other.samples;
        self.errors += other.errors;
        self.times.merge(&other.times);
        self.sum_ns += other.sum_ns;
        self.codes += other.codes;
        self.users = self.users.max(other.users);
        self.users_max = self.users_max.max(other.users_max);
        if let Some(arrivals) = &other.arrivals {
            self.arrivals.get_or_insert_default().merge(arrivals);
        }
        self.cov = other.cov;
    }

    /// Subtracts a second that was added before. Extremes and users cannot be subtracted; [`Sliding::push`] computes them.
    fn subtract(&mut self, other: &Tally) {
        self.seconds -= other.seconds;
        self.samples -= other.samples;
        self.errors -= other.errors;
        self.times.subtract(&other.times);
        self.sum_ns -= other.sum_ns;
        self.codes -= other.codes;
        if let (Some(own), Some(gone)) = (&mut self.arrivals, &other.arrivals) {
            own.scheduled = own.scheduled.saturating_sub(gone.scheduled);
            own.begun = own.begun.saturating_sub(gone.begun);
            own.waited = own.waited.saturating_sub(gone.waited);
            own.dropped = own.dropped.saturating_sub(gone.dropped);
        }
    }

    pub(super) const fn has_samples(&self) -> bool {
        self.samples > 0
    }

    /// The value of the criterion's subject, in the unit of its limit; `None` if there is nothing to measure. Rates are computed over
    /// `length_s`.
    pub(super) fn value(&self, criterion: &Criterion, length_s: f64) -> Option<f64> {
        let share = criterion.limit.unit == ValueUnit::Percent;
        let counted = |count: u64, of: u64| match share {
            false => Some(count as f64),
            true => (of > 0).then(|| 100.0 * count as f64 / of as f64),
        };
        let mean_ms = |sum_ns: u64| (self.samples > 0).then(|| sum_ns as f64 / self.samples as f64 / 1e6);
        match &criterion.subject {
            MeasuredQuantity::Mean => self.times.mean_ms(),
            MeasuredQuantity::Percentile(p) => self.times.quantile_ms(p / 100.0),
            MeasuredQuantity::Max => self.times.max_ms(),
            MeasuredQuantity::Min => self.times.min_ms(),
            MeasuredQuantity::Deviation => self.times.deviation_ms(),
            MeasuredQuantity::Latency | MeasuredQuantity::Connect => mean_ms(self.sum_ns),
            MeasuredQuantity::Hits => Some(self.samples as f64),
            MeasuredQuantity::Rate => (length_s > 0.0).then(|| self.samples as f64 / length_s),
            MeasuredQuantity::Passed => counted(self.samples.saturating_sub(self.errors), self.samples),
            MeasuredQuantity::Failed => counted(self.errors, self.samples),
            MeasuredQuantity::Codes(_) => counted(self.codes, self.samples),
            // Over the run, the value is the maximum at any time, as in the summary.
            MeasuredQuantity::Users if criterion.window == Window::Run => self.users_max.map(f64::from),
            MeasuredQuantity::Users => self.users.map(f64::from),
            MeasuredQuantity::Apdex { satisfied_ms, tolerating_ms } => (self.samples > 0).then(|| {
                let satisfied = self.times.count_up_to_ms(*satisfied_ms) as f64;
                let tolerating = self.times.count_up_to_ms(*tolerating_ms) as f64 - satisfied;
                (satisfied + tolerating / 2.0) / self.samples as f64
            }),
            MeasuredQuantity::ArrivalsCov => self.cov,
            MeasuredQuantity::DiscardedArrivals => {
                self.arrivals.and_then(|arrivals| counted(arrivals.dropped, arrivals.scheduled))
            }
            MeasuredQuantity::WaitedArrivals => {
                self.arrivals.and_then(|arrivals| counted(arrivals.waited, arrivals.scheduled))
            }
        }
    }
}

/// A sliding window over the last seconds of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Sliding {
    seconds: std::collections::VecDeque<Tally>,
    sum: Tally,
}

impl Sliding {
    /// Adds a second. Returns `None` until the window contains `length` seconds, then the value of the window, which is `None` if
    /// there is nothing to measure.
    pub(super) fn push(&mut self, second: Tally, length: u32, criterion: &Criterion) -> Option<Option<f64>> {
        self.sum.add(&second);
        self.seconds.push_back(second);
        if self.seconds.len() > length as usize
            && let Some(gone) = self.seconds.pop_front()
        {
            self.sum.subtract(&gone);
        }
        if self.seconds.len() < length as usize {
            return None;
        }
        // Quantities that cannot be subtracted are computed from all seconds of the window.
        let parts = || self.seconds.iter();
        Some(match criterion.subject {
            MeasuredQuantity::Max => parts().filter_map(|part| part.times.max_ms()).reduce(f64::max),
            MeasuredQuantity::Min => parts().filter_map(|part| part.times.min_ms()).reduce(f64::min),
            MeasuredQuantity::Users => parts().filter_map(|part| part.users).max().map(f64::from),
            _ => self.sum.value(criterion, f64::from(length)),
        })
    }
}

/// Whether `text` matches a pattern in which `?` matches any character and `*` any number of characters.
pub(super) fn matches_pattern(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            matches_pattern(rest, text)
                || text.split_first().is_some_and(|(_, text)| matches_pattern(pattern, text))
        }
        (Some((b'?', rest)), Some((_, text))) => matches_pattern(rest, text),
        (Some((p, rest)), Some((t, text))) => p == t && matches_pattern(rest, text),
        _ => false,
    }
}
