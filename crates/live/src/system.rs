//! The observed system under test during a run: quantities over time, and the four most relevant of them.

mod quantities;

use std::collections::{BTreeMap, VecDeque};

use busyhour_sample::Nanos;
use busyhour_series::{Condenser, CounterIncreases, LatestValue, Mark, MarkKind, ProgramNames};

pub(crate) use self::quantities::{QuantityKey, QuantityKind};
use self::quantities::{ReadValue, Reading, read};

/// Number of series that are shown.
pub const SHOWN: usize = 4;

/// Maximum number of points per series.
const POINTS_MAX: usize = 80;

/// Initial width of the points, in ns.
const POINT_NS: u64 = 1_000_000_000;

/// Maximum number of quantities that are followed; further ones are ignored.
const QUANTITIES_MAX: usize = 400;

/// Maximum number of marks that are kept.
const MARKS_MAX: usize = 12;

/// The recent maximum of a quantity decreases by this factor per second.
const FORGETTING: f64 = 0.98;

/// Provides the latest values and marks of the system under test. Its methods must not block.
pub trait LiveSystem: Send {
    /// The latest value of each series.
    fn values(&self) -> Vec<LatestValue>;

    /// The marks after the first `seen` ones, with their sources, and the number of all marks so far.
    fn marks_since(&self, seen: u64) -> (Vec<(String, Mark)>, u64);
}

/// A quantity over time.
#[derive(Debug)]
struct Followed {
    /// Index of the series in the condenser.
    series: usize,
    /// The state of a counter, and of the counter that it is compared with; unused for gauges.
    rates: CounterIncreases,
    whole: CounterIncreases,
    /// Time of the last value of a gauge.
    read: Option<Nanos>,
    /// The last value; `None` before the first one, because a counter needs two readings.
    now: Option<f64>,
    max: f64,
    /// Sum of the increases of a counter.
    total: f64,
    /// The largest recent value, which decreases over time.
    recent: f64,
}

impl Followed {
    /// The next value of the quantity; `None` for the first total of a counter, and if there is no new reading.
    fn next_value(&mut self, reading: &Reading) -> Option<f64> {
        match reading.value {
            ReadValue::Gauge(value) => {
                if self.read.is_some_and(|read| read >= reading.time) {
                    return None;
                }
                self.read = Some(reading.time);
                Some(value)
            }
            ReadValue::Total { total, of } => {
                let increase = self.rates.next_total(reading.time, total, None)?;
                self.total += increase.amount;
                let seconds = increase.to.0.saturating_sub(increase.from.0) as f64 / 1e9;
                Some(increase.amount / seconds / of)
            }
            ReadValue::Totals { part, whole } => {
                let part = self.rates.next_total(reading.time, part, None);
                let whole = self.whole.next_total(reading.time, whole, None)?;
                (whole.amount > 0.0).then(|| part.map(|part| part.amount / whole.amount)).flatten()
            }
        }
    }
}

/// The observed system so far, in bounded memory.
#[derive(Debug)]
pub struct SystemHistory {
    condenser: Condenser,
    followed: BTreeMap<QuantityKey, Followed>,
    names: ProgramNames,
    marks: VecDeque<(String, Mark)>,
    marks_seen: u64,
    is_observed: bool,
}

/// A series that the page shows.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownSeries {
    /// Its name, such as `GC pauses of shop.jar (jvm:4711)`.
    pub name: String,
    /// The last value with its unit.
    pub now: String,
    /// The upper end of the value axis.
    pub top: f64,
    /// Time in seconds since the start of the run, and value.
    pub points: Vec<(f64, f64)>,
}

impl Default for SystemHistory {
    fn default() -> SystemHistory {
        SystemHistory {
            condenser: Condenser::new(POINT_NS, POINTS_MAX),
            followed: BTreeMap::new(),
            names: ProgramNames::default(),
            marks: VecDeque::new(),
            marks_seen: 0,
            is_observed: false,
        }
    }
}

impl SystemHistory {
    /// Adds the latest values and marks.
    pub fn update(&mut self, system: &dyn LiveSystem) {
        let values = system.values();
        self.is_observed |= !values.is_empty();
        quantities::take_names(&values, &mut self.names);
        for reading in read(&values) {
            self.add(&reading);
        }
        let (marks, seen) = system.marks_since(self.marks_seen);
        self.marks_seen = seen;
        self.marks.extend(marks);
        while self.marks.len() > MARKS_MAX {
            self.drop_mark();
        }
    }

    /// Drops the oldest mark. At most half of the kept marks are stalls and pauses, so that they do not displace the
    /// user's own marks.
    fn drop_mark(&mut self) {
        let frequent = self.marks.iter().filter(|(_, mark)| is_frequent(mark)).count();
        let oldest = self.marks.iter().position(|(_, mark)| is_frequent(mark));
        match oldest.filter(|_| frequent > MARKS_MAX / 2) {
            Some(oldest) => self.marks.remove(oldest),
            None => self.marks.pop_front(),
        };
    }

    fn add(&mut self, reading: &Reading) {
        if !self.followed.contains_key(&reading.key) {
            if self.followed.len() == QUANTITIES_MAX {
                return;
            }
            let series = self.condenser.add_series();
            let new = Followed {
                series,
                rates: CounterIncreases::default(),
                whole: CounterIncreases::default(),
                read: None,
                now: None,
                max: 0.0,
                total: 0.0,
                recent: 0.0,
            };
            self.followed.insert(reading.key.clone(), new);
        }
        let Some(followed) = self.followed.get_mut(&reading.key) else { return };
        let Some(value) = followed.next_value(reading) else { return };
        followed.now = Some(value);
        followed.max = followed.max.max(value);
        followed.recent = (followed.recent * FORGETTING).max(value);
        self.condenser.add_value(followed.series, reading.time, value);
    }

    /// Whether anything was observed.
    #[must_use]
    pub fn is_observed(&self) -> bool {
        self.is_observed
    }

    /// The most relevant series, at most [`SHOWN`]: the utilization of the machine, the process with the most CPU time,
    /// the JVM with the most pauses, and the resources that are closest to their limits.
    #[must_use]
    pub fn shown(&self) -> Vec<ShownSeries> {
        let first = |kind: QuantityKind, by: fn(&Followed) -> f64| {
            let of_kind = self
                .followed
                .iter()
                .filter(move |(key, followed)| key.kind == kind && followed.now.is_some());
            // If several are equal, the first one is shown.
            of_kind.rev().max_by(|(_, one), (_, other)| by(one).total_cmp(&by(other)))
        };
        let mut shown = vec![
            first(QuantityKind::Utilization, |followed| followed.recent),
            first(QuantityKind::ProcessCores, |followed| followed.total),
            first(QuantityKind::GcShare, |followed| followed.total),
        ];
        let mut limits: Vec<_> = self
            .followed
            .iter()
            .filter(|(key, followed)| key.kind == QuantityKind::OfLimit && followed.now.is_some())
            .collect();
        limits.sort_by(|(_, one), (_, other)| other.recent.total_cmp(&one.recent));
        shown.extend(limits.into_iter().map(Some));
        shown.into_iter().flatten().take(SHOWN).map(|(key, followed)| self.series(key, followed)).collect()
    }

    fn series(&self, key: &QuantityKey, followed: &Followed) -> ShownSeries {
        let points = self.condenser.points(followed.series).into_iter().map(|point| {
            let middle_s = (point.from.0 as f64 + point.to.0 as f64) / 2e9;
            (middle_s, point.mean)
        });
        ShownSeries {
            name: key.words(&self.names),
            now: followed.now.map_or_else(String::new, |now| key.value_text(now)),
            top: key.top(followed.max),
            points: points.collect(),
        }
    }

    /// The latest marks with their sources, in the order of recording.
    pub fn marks(&self) -> impl Iterator<Item = &(String, Mark)> {
        self.marks.iter()
    }
}

/// Whether marks of this kind can occur many times per second.
pub(crate) fn is_frequent(mark: &Mark) -> bool {
    match mark.kind {
        MarkKind::GcPause | MarkKind::Stall | MarkKind::Other => true,
        MarkKind::Restart | MarkKind::End | MarkKind::LogBurst | MarkKind::OutOfMemory | MarkKind::User => {
            false
        }
    }
}

#[cfg(test)]
mod tests;
