//! One reading of a probe.

use std::time::Duration;

use busyhour_program::clock::Clock;
use busyhour_sample::Nanos;
use busyhour_series::{Mark, Metric};

use crate::series_id::{Pending, SeriesId, SourceId};
use crate::store::SeriesStore;

/// One reading of a source: a point in time, at which the probe sets values.
///
/// Values are stored and written to the file together, when [`Probe::read`](crate::Probe::read) returns.
#[derive(Debug)]
pub struct Reading<'a> {
    pub(crate) store: &'a SeriesStore,
    pub(crate) source: SourceId,
    pub(crate) clock: &'a Clock,
    pub(crate) time: Nanos,
    pub(crate) interval: Duration,
    pub(crate) pending: &'a mut Pending,
}

impl Reading<'_> {
    /// The time of the reading in ns since the start of the run.
    #[must_use]
    pub fn time(&self) -> Nanos {
        self.time
    }

    /// The run's clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        self.clock
    }

    /// The interval between readings.
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// The time in the run of a time stamp in ms since 1970; `None` if it is before the start of the run. Other machines' clocks may
    /// differ.
    #[must_use]
    pub fn at_wall_ms(&self, wall_ms: u64) -> Option<Nanos> {
        wall_ms.checked_sub(self.clock.wall_start_ms())?.checked_mul(1_000_000).map(Nanos)
    }

    /// The series of this metric and these labels. The first call declares it. Later calls find it by its name and its labels in the
    /// same order. Finding it costs about 100 ns: probes with fixed series keep the result.
    ///
    /// There are limits on the number of series of a watch, of labels and of their lengths
    /// ([`busyhour_series::SERIES_MAX`], [`busyhour_series::LABELS_MAX`], [`busyhour_series::LABEL_BYTES_MAX`]). Longer
    /// texts are shortened. Series beyond the limit are counted, and their values are discarded.
    pub fn series(&mut self, metric: &Metric, labels: &[(&str, &str)]) -> SeriesId {
        self.store.series(self.source, metric, labels)
    }

    /// Sets a value at the time of the reading. A value that is not finite is not recorded.
    pub fn set(&mut self, series: SeriesId, value: f64) {
        self.set_at(series, self.time, value);
    }

    /// Sets a value at a time that the source states itself. Times of a series must not decrease: readers of the file skip values
    /// with an earlier time.
    pub fn set_at(&mut self, series: SeriesId, time: Nanos, value: f64) {
        if value.is_finite() && series.is_recorded() {
            self.pending.values.push((time, series, value));
        }
    }

    /// Sets a value if it is known.
    pub fn set_if(&mut self, series: SeriesId, value: Option<f64>) {
        if let Some(value) = value {
            self.set(series, value);
        }
    }

    /// Records why a metric has no values. Repetitions for the same metric are ignored, so that a probe may call this
    /// in each reading. The reason states what would enable the metric, if anything does.
    pub fn unavailable(&mut self, metric: &Metric, reason: &str) {
        self.store.unavailable(self.source, self.time, &metric.name, reason);
    }

    /// Records an event.
    pub fn mark(&mut self, mark: Mark) {
        if self.pending.marks.len() < busyhour_series::MARKS_PER_READING_MAX {
            self.pending.marks.push(mark);
        } else {
            self.store.count_discarded_mark();
        }
    }
}
