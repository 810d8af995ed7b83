//! The first reading of a series file: figures of each series in memory proportional to the number of series.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use busyhour_sample::Nanos;
use busyhour_series::{
    CounterIncreases, DamagedEnd, FileStart, Mark, MetricKind, SeriesEvent, SeriesFileError, SeriesInfo,
    SeriesReader, SourceRestarts, StateChange, UnavailableInfo,
};

/// Maximum number of marks that are read. Further marks are only counted.
const MARKS_MAX: usize = 100_000;

/// Maximum number of reasons, and of state changes, that are read. Further ones are only counted.
const REASONS_MAX: usize = 10_000;

/// Figures of a series in the measured part of the run. For a counter, they are figures of its rates per second.
#[derive(Debug, Clone)]
pub(super) struct Surveyed {
    pub(super) info: SeriesInfo,
    pub(super) values: u64,
    sum: f64,
    pub(super) min: f64,
    pub(super) max: f64,
    /// Increase of a counter.
    pub(super) increase: f64,
    /// Time that the increase covers, in s.
    pub(super) seconds: f64,
    /// Times of the first and the last value in ns.
    times: Option<(u64, u64)>,
    counter: Option<CounterIncreases>,
}

impl Surveyed {
    fn new(info: SeriesInfo) -> Surveyed {
        let is_counter = info.kind == MetricKind::Counter;
        Surveyed {
            info,
            values: 0,
            sum: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            increase: 0.0,
            seconds: 0.0,
            times: None,
            counter: is_counter.then(CounterIncreases::default),
        }
    }

    fn add(&mut self, time: Nanos, value: f64, restarted: Option<Nanos>) {
        let value = match &mut self.counter {
            None => value,
            Some(counter) => {
                let Some(increase) = counter.next_total(time, value, restarted) else { return };
                let seconds = increase.to.0.saturating_sub(increase.from.0) as f64 / 1e9;
                self.increase += increase.amount;
                self.seconds += seconds;
                increase.amount / seconds
            }
        };
        self.values += 1;
        self.sum += value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.times = Some((self.times.map_or(time.0, |(first, _)| first), time.0));
    }

    /// The value of this label.
    pub(super) fn label(&self, name: &str) -> Option<&str> {
        self.info.labels.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Mean time between two values in ns; `None` for fewer than three values.
    fn interval_ns(&self) -> Option<u64> {
        let (first, last) = self.times?;
        (self.values > 2).then(|| last.saturating_sub(first) / (self.values - 1))
    }

    /// Mean of a gauge, or rate of a counter per second; `None` without values.
    pub(super) fn mean(&self) -> Option<f64> {
        match (self.values, &self.counter) {
            (0, _) => None,
            (_, Some(_)) => Some(self.increase / self.seconds),
            (values, None) => Some(self.sum / values as f64),
        }
    }
}

/// The result of the first reading.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) start: Option<FileStart>,
    pub(super) sources: Vec<String>,
    pub(super) series: Vec<Surveyed>,
    pub(super) unavailable: Vec<UnavailableInfo>,
    pub(super) marks: Vec<(u32, Mark)>,
    pub(super) states: Vec<StateChange>,
    /// Number of marks, reasons and states beyond the limits.
    pub(super) discarded: u64,
    pub(super) damaged_end: Option<DamagedEnd>,
    /// The times of the first and the last value of the whole file.
    pub(super) ends: Option<(Nanos, Nanos)>,
    /// The time between readings of the series that is read most often, in ns.
    pub(super) interval_ns: Option<u64>,
}

impl Survey {
    /// Reads the file. Figures are those of the values in the window.
    pub(super) fn read(path: &Path, window: Option<(Nanos, Nanos)>) -> Result<Survey, SeriesFileError> {
        let mut survey = Survey::default();
        let mut restarts = SourceRestarts::default();
        let mut reader = SeriesReader::new(BufReader::with_capacity(1 << 16, File::open(path)?))?;
        while let Some(event) = reader.next_event()? {
            match event {
                SeriesEvent::Start(start) => survey.start = Some(start),
                SeriesEvent::Source(name) => survey.sources.push(name),
                SeriesEvent::Series(info) => {
                    restarts.add_series(&info);
                    survey.series.push(Surveyed::new(info));
                }
                SeriesEvent::Values { time, values } => {
                    survey.add_time(time);
                    restarts.add_values(time, values);
                    if window.is_none_or(|(from, to)| from <= time && time <= to) {
                        for (series, value) in values {
                            let restarted = restarts.of_series(*series);
                            survey.series[*series as usize].add(time, *value, restarted);
                        }
                    }
                }
                SeriesEvent::Unavailable(info) => {
                    keep(&mut survey.unavailable, info, REASONS_MAX, &mut survey.discarded);
                }
                SeriesEvent::Mark { source, mark } => {
                    restarts.add_mark(source, &mark);
                    keep(&mut survey.marks, (source, mark), MARKS_MAX, &mut survey.discarded);
                }
                SeriesEvent::State(change) => {
                    keep(&mut survey.states, change, REASONS_MAX, &mut survey.discarded);
                }
            }
        }
        survey.damaged_end = reader.damaged_end();
        survey.interval_ns =
            survey.series.iter().filter_map(Surveyed::interval_ns).filter(|interval| *interval > 0).min();
        Ok(survey)
    }

    fn add_time(&mut self, time: Nanos) {
        self.ends = Some(self.ends.map_or((time, time), |(first, last)| (first.min(time), last.max(time))));
    }

    /// The name of the source of a series, a mark or a state.
    pub(super) fn source(&self, number: u32) -> &str {
        self.sources.get(number as usize).map_or("", String::as_str)
    }
}

fn keep<T>(list: &mut Vec<T>, entry: T, max: usize, discarded: &mut u64) {
    if list.len() < max {
        list.push(entry);
    } else {
        *discarded += 1;
    }
}
