//! A whole series file with a bounded number of points per series.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use busyhour_sample::Nanos;

use super::condense::{Condenser, SeriesPoint};
use super::decoder::{DamagedEnd, SeriesEvent, SeriesFileError, SeriesReader};
use super::format::{FileStart, SeriesInfo, StateChange, UnavailableInfo};
use super::rates::CounterIncreases;
use super::restarts::SourceRestarts;
use crate::mark::Mark;
use crate::metric::MetricKind;

/// Maximum number of marks of a file that are kept; further ones are only counted.
const MARKS_MAX: usize = 100_000;

/// Maximum number of reasons, and of changes of state, of a file that are kept; further ones are only counted.
const REASONS_MAX: usize = 10_000;

/// Which part of a series file to read, and with how many points.
#[derive(Clone, Debug)]
pub struct SeriesQuery {
    /// Values before this time are skipped; ns since the start of the run.
    pub from: Nanos,
    /// Values after this time are skipped; ns since the start of the run.
    pub to: Nanos,
    /// Maximum number of points per series.
    pub points_max: usize,
    /// Initial width of the points in ns. It doubles until every series has at most `points_max` points.
    pub width_ns: u64,
    /// Whether to return the points of a series, given the name of its source and its declaration. Other series have no points.
    pub select: fn(&str, &SeriesInfo) -> bool,
}

impl Default for SeriesQuery {
    /// Selects all series, with at most 1,000 points each. Points are at least 100 ms wide.
    fn default() -> SeriesQuery {
        SeriesQuery {
            from: Nanos(0),
            to: Nanos(u64::MAX),
            points_max: 1_000,
            width_ns: 100_000_000,
            select: |_, _| true,
        }
    }
}

/// A series of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesData {
    /// The declaration.
    pub info: SeriesInfo,
    /// Values of a gauge, or rates per second of a counter.
    pub points: Vec<SeriesPoint>,
    /// The last value of a gauge or total of a counter, and its time in ns since the start of the run. `None` if there is no
    /// value.
    pub last: Option<(Nanos, f64)>,
    /// Increase of a counter over the whole time, in which resets are taken into account; 0 for gauges.
    pub increase: f64,
    /// Number of resets of a counter.
    pub resets: u64,
}

/// The content of a series file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesSet {
    /// The first frame; `None` if the file ends before it.
    pub start: Option<FileStart>,
    /// Names of sources.
    pub sources: Vec<String>,
    /// Series, in the order of their declaration.
    pub series: Vec<SeriesData>,
    /// The reasons why metrics have no values.
    pub unavailable: Vec<UnavailableInfo>,
    /// Marks with the numbers of their sources, in the order of recording.
    pub marks: Vec<(u32, Mark)>,
    /// Changes of the states of sources.
    pub states: Vec<StateChange>,
    /// Width of the points in ns.
    pub width_ns: u64,
    /// Number of values that were skipped, because their time was before that of the previous value.
    pub out_of_order: u64,
    /// Number of marks, reasons and changes of state that were skipped, because there were too many.
    pub discarded: u64,
    /// The damaged frame at which reading ended, if there is one.
    pub damaged_end: Option<DamagedEnd>,
}

/// Reads a series file with a bounded number of points: memory is proportional to the number of series times
/// [`SeriesQuery::points_max`].
///
/// # Errors
/// The file cannot be read, is not a series file of a supported version, or contradicts the format. A torn end is not
/// an error; see [`SeriesSet::damaged_end`].
pub fn read_series(path: &Path, query: &SeriesQuery) -> Result<SeriesSet, SeriesFileError> {
    SeriesSet::from_reader(BufReader::with_capacity(1 << 16, File::open(path)?), query)
}

/// The state of a series while it is read.
struct Reading {
    counter: Option<CounterIncreases>,
    /// Number of the series in the condenser; `None` if the query does not select the series.
    selected: Option<usize>,
}

impl SeriesSet {
    /// Reads a series file from a reader, as [`read_series`] does.
    ///
    /// # Errors
    /// As [`read_series`].
    pub fn from_reader(input: impl Read, query: &SeriesQuery) -> Result<SeriesSet, SeriesFileError> {
        SeriesSet::from_reader_where(input, query, &|_| true)
    }

    /// Reads a series file from a reader. A series has points if both [`SeriesQuery::select`] and `select` return true. `select`
    /// receives the number of the series, which is its position in [`SeriesSet::series`].
    ///
    /// # Errors
    /// As [`read_series`].
    pub fn from_reader_where(
        input: impl Read,
        query: &SeriesQuery,
        select: &dyn Fn(usize) -> bool,
    ) -> Result<SeriesSet, SeriesFileError> {
        let mut reader = SeriesReader::new(input)?;
        let mut set = SeriesSet::default();
        let mut condenser = Condenser::new(query.width_ns, query.points_max);
        let mut readings: Vec<Reading> = Vec::new();
        let mut restarts = SourceRestarts::default();
        while let Some(event) = reader.next_event()? {
            match event {
                SeriesEvent::Start(start) => set.start = Some(start),
                SeriesEvent::Source(name) => set.sources.push(name),
                SeriesEvent::Series(info) => {
                    restarts.add_series(&info);
                    let source = set.sources.get(info.source as usize).map_or("", String::as_str);
                    let is_selected = select(set.series.len()) && (query.select)(source, &info);
                    let selected = is_selected.then(|| condenser.add_series());
                    let is_counter = info.kind == MetricKind::Counter;
                    readings.push(Reading { counter: is_counter.then(CounterIncreases::default), selected });
                    set.series.push(SeriesData {
                        info,
                        points: Vec::new(),
                        last: None,
                        increase: 0.0,
                        resets: 0,
                    });
                }
                SeriesEvent::Values { time, values } => {
                    restarts.add_values(time, values);
                    if query.from <= time && time <= query.to {
                        for (series, value) in values {
                            let (data, reading) =
                                (&mut set.series[*series as usize], &mut readings[*series as usize]);
                            let restarted = restarts.of_series(*series);
                            reading.add(data, &mut condenser, (time, *value), restarted);
                        }
                    }
                }
                SeriesEvent::Unavailable(info) => {
                    push_bounded(&mut set.unavailable, info, REASONS_MAX, &mut set.discarded);
                }
                SeriesEvent::Mark { source, mark } => {
                    restarts.add_mark(source, &mark);
                    push_bounded(&mut set.marks, (source, mark), MARKS_MAX, &mut set.discarded);
                }
                SeriesEvent::State(change) => {
                    push_bounded(&mut set.states, change, REASONS_MAX, &mut set.discarded);
                }
            }
        }
        for (data, reading) in set.series.iter_mut().zip(&readings) {
            data.points = reading.selected.map_or_else(Vec::new, |selected| condenser.points(selected));
            data.resets = reading.counter.map_or(0, |counter| counter.resets());
        }
        set.width_ns = condenser.width_ns();
        set.out_of_order += condenser.out_of_order();
        set.damaged_end = reader.damaged_end();
        Ok(set)
    }

    /// The series of this source and metric that have all of these labels (names and values), in the order of their declaration.
    pub fn find<'s>(
        &'s self,
        source: &'s str,
        metric: &'s str,
        labels: &'s [(&'s str, &'s str)],
    ) -> impl Iterator<Item = &'s SeriesData> {
        self.series.iter().filter(move |data| {
            let has = |(name, value): &(&str, &str)| {
                data.info.labels.iter().any(|(own, own_value)| own == name && own_value == value)
            };
            data.info.name == metric
                && self.sources.get(data.info.source as usize).is_some_and(|name| name == source)
                && labels.iter().all(has)
        })
    }
}

impl Reading {
    fn add(
        &mut self,
        data: &mut SeriesData,
        condenser: &mut Condenser,
        (time, value): (Nanos, f64),
        restarted: Option<Nanos>,
    ) {
        if data.last.is_none_or(|(last, _)| last <= time) {
            data.last = Some((time, value));
        }
        let Some(counter) = &mut self.counter else {
            if let Some(selected) = self.selected {
                condenser.add_value(selected, time, value);
            }
            return;
        };
        if let Some(increase) = counter.next_total(time, value, restarted) {
            data.increase += increase.amount;
            if let Some(selected) = self.selected {
                condenser.add_increase(selected, increase.from, increase.to, increase.amount);
            }
        }
    }
}

fn push_bounded<T>(list: &mut Vec<T>, entry: T, max: usize, discarded: &mut u64) {
    if list.len() < max {
        list.push(entry);
    } else {
        *discarded += 1;
    }
}
