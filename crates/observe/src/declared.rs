//! Series that a probe declares when it first has a value for them.

use rustc_hash::FxHashMap;

use busyhour_series::Metric;

use crate::reading::Reading;
use crate::series_id::SeriesId;

/// A series without labels.
#[derive(Debug)]
pub(crate) struct DeclaredSeries {
    metric: &'static Metric,
    id: Option<SeriesId>,
}

impl DeclaredSeries {
    pub(crate) const fn new(metric: &'static Metric) -> DeclaredSeries {
        DeclaredSeries { metric, id: None }
    }

    pub(crate) fn set(&mut self, reading: &mut Reading<'_>, value: f64) {
        let id = *self.id.get_or_insert_with(|| reading.series(self.metric, &[]));
        reading.set(id, value);
    }
}

/// A row of a file with names and values, and its metric.
#[derive(Debug)]
pub(crate) struct KeyedMetric {
    /// The name in the file.
    pub(crate) key: &'static str,
    /// The metric of its value.
    pub(crate) metric: Metric,
    /// The factor by which the value in the file is multiplied.
    pub(crate) scale: f64,
}

/// A row whose unit is that of the metric.
pub(crate) const fn keyed(key: &'static str, metric: Metric) -> KeyedMetric {
    KeyedMetric { key, metric, scale: 1.0 }
}

/// The series of a file with names and values.
#[derive(Debug)]
pub(crate) struct KeyedSeries {
    rows: &'static [KeyedMetric],
    ids: Vec<Option<SeriesId>>,
    /// The row after the one found last: files have a fixed order.
    next: usize,
    is_checked: bool,
}

impl KeyedSeries {
    pub(crate) fn new(rows: &'static [KeyedMetric]) -> KeyedSeries {
        KeyedSeries { rows, ids: vec![None; rows.len()], next: 0, is_checked: false }
    }

    /// Sets the value with this name, if it is one of the rows.
    pub(crate) fn set(&mut self, reading: &mut Reading<'_>, key: &[u8], value: u64) {
        let count = self.rows.len();
        let candidates = (self.next..count).chain(0..self.next);
        let Some(row) = candidates.into_iter().find(|row| self.rows[*row].key.as_bytes() == key) else {
            return;
        };
        self.next = (row + 1) % count;
        let KeyedMetric { metric, scale, .. } = &self.rows[row];
        let id = *self.ids[row].get_or_insert_with(|| reading.series(metric, &[]));
        // A division by 1e6 gives the nearest number of seconds; a multiplication by 1e-6 often does not.
        let value = if *scale < 1.0 { value as f64 / (1.0 / scale).round() } else { value as f64 * scale };
        reading.set(id, value);
    }

    /// After the first complete reading, reports the rows that the file does not have.
    pub(crate) fn check(&mut self, reading: &mut Reading<'_>, file: &str) {
        if std::mem::replace(&mut self.is_checked, true) {
            return;
        }
        for (row, id) in self.rows.iter().zip(&self.ids) {
            if id.is_none() {
                reading.unavailable(&row.metric, &format!("{file} of this kernel has no {}", row.key));
            }
        }
    }

    /// Reports for all rows why they have no values.
    pub(crate) fn unavailable(&mut self, reading: &mut Reading<'_>, reason: &str) {
        for row in self.rows {
            reading.unavailable(&row.metric, reason);
        }
    }
}

/// Series of several metrics for each of a bounded number of things, such as devices.
#[derive(Debug)]
pub(crate) struct LabelledSeries {
    metrics: &'static [Metric],
    label: &'static str,
    ids: FxHashMap<Box<[u8]>, Box<[SeriesId]>>,
    things_max: usize,
    is_stated: bool,
}

impl LabelledSeries {
    pub(crate) fn new(metrics: &'static [Metric], label: &'static str, things_max: usize) -> LabelledSeries {
        LabelledSeries { metrics, label, ids: FxHashMap::default(), things_max, is_stated: false }
    }

    /// The series of a thing, in the order of the metrics; `None` beyond the limit, which is reported once.
    pub(crate) fn of(&mut self, reading: &mut Reading<'_>, thing: &[u8]) -> Option<&[SeriesId]> {
        if !self.ids.contains_key(thing) {
            if self.ids.len() >= self.things_max {
                if !std::mem::replace(&mut self.is_stated, true) {
                    let reason =
                        format!("only the first {} values of `{}` are recorded", self.things_max, self.label);
                    reading.unavailable(&self.metrics[0], &reason);
                }
                return None;
            }
            let value = crate::fields::text(thing);
            let ids =
                self.metrics.iter().map(|metric| reading.series(metric, &[(self.label, &value)])).collect();
            self.ids.insert(thing.into(), ids);
        }
        self.ids.get(thing).map(|ids| &**ids)
    }
}
