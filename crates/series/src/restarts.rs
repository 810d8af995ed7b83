//! When the processes behind sources were restarted. Their counters then begin at 0 again.

use std::collections::HashMap;

use busyhour_sample::Nanos;

use crate::format::SeriesInfo;
use crate::mark::{Mark, MarkKind};

/// The starts of processes and of Java virtual machines. They change with a restart.
const STARTS: [&str; 2] = ["process_start_after_boot_seconds", "jvm_start_time_seconds"];

/// The restarts of the sources of a series file, from its events in their order.
///
/// A restart is known from a mark, or from a changed time at which a process started. Without it, the counter of a successor
/// that has already exceeded the last total of its predecessor would seem to continue.
#[derive(Clone, Debug, Default)]
pub struct SourceRestarts {
    origins: Vec<Origin>,
    by_key: HashMap<(u32, String), usize>,
    /// The origin of each series, and whether the series is the start of a process.
    series: Vec<(usize, bool)>,
}

/// A source, or one of the sources that a remote observer names in a label.
#[derive(Clone, Debug)]
struct Origin {
    source: u32,
    /// Time and value of the last reading of the start of the process.
    start: Option<(Nanos, f64)>,
    restarted: Option<Nanos>,
}

impl SourceRestarts {
    /// Adds the next series of the file.
    pub fn add_series(&mut self, info: &SeriesInfo) {
        let inner = info.labels.iter().find(|(name, _)| name == "source");
        let key = (info.source, inner.map_or_else(String::new, |(_, value)| value.clone()));
        let next = self.origins.len();
        let origin = *self.by_key.entry(key).or_insert(next);
        if origin == next {
            self.origins.push(Origin { source: info.source, start: None, restarted: None });
        }
        self.series.push((origin, STARTS.contains(&info.name.as_str())));
    }

    /// Adds a mark of a source.
    pub fn add_mark(&mut self, source: u32, mark: &Mark) {
        if mark.kind == MarkKind::Restart {
            let origins = self.origins.iter_mut().filter(|origin| origin.source == source);
            origins.for_each(|origin| origin.restarted = origin.restarted.max(Some(mark.to)));
        }
    }

    /// Adds values of one time: numbers of series and their values. To be called before the increases of these values are
    /// computed.
    pub fn add_values(&mut self, time: Nanos, values: &[(u32, f64)]) {
        for (series, value) in values {
            let Some((origin, true)) = self.series.get(*series as usize) else { continue };
            let origin = &mut self.origins[*origin];
            let Some((before, start)) = origin.start.replace((time, *value)) else { continue };
            // The mark of the same restart may have an earlier time.
            let is_known = origin.restarted.is_some_and(|restarted| restarted > before);
            if start != *value && !is_known {
                origin.restarted = Some(time);
            }
        }
    }

    /// The time of the last restart of the process that a series describes: the first reading of its successor.
    #[must_use]
    pub fn of_series(&self, series: u32) -> Option<Nanos> {
        self.series.get(series as usize).and_then(|(origin, _)| self.origins[*origin].restarted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::MetricKind;
    use crate::rates::CounterIncreases;

    const CPU: u32 = 1;

    fn restarts(label: Option<&str>) -> SourceRestarts {
        let labels = label.map(|value| ("source".to_owned(), value.to_owned()));
        let info = |name: &str| SeriesInfo {
            source: 0,
            name: name.to_owned(),
            labels: labels.iter().cloned().collect(),
            kind: MetricKind::Counter,
            help: String::new(),
        };
        let mut restarts = SourceRestarts::default();
        restarts.add_series(&info(STARTS[0]));
        restarts.add_series(&info("process_cpu_seconds_total"));
        restarts
    }

    fn restart_mark(from: u64, to: u64) -> Mark {
        Mark { kind: MarkKind::Restart, from: Nanos(from), to: Nanos(to), text: String::new() }
    }

    /// The increases of the CPU time for times, starts of the process and totals.
    fn increases(
        restarts: &mut SourceRestarts,
        counter: &mut CounterIncreases,
        readings: &[(u64, f64, f64)],
    ) -> Vec<f64> {
        let mut read = |(time, start, total): &(u64, f64, f64)| {
            restarts.add_values(Nanos(*time), &[(0, *start), (CPU, *total)]);
            counter.next_total(Nanos(*time), *total, restarts.of_series(CPU))
        };
        readings.iter().filter_map(&mut read).map(|increase| increase.amount).collect()
    }

    #[test]
    fn a_successor_with_a_larger_total_is_counted_from_zero() {
        let readings = [(1, 10.0, 0.25), (2, 10.0, 0.5), (5, 12.0, 0.875), (6, 12.0, 1.0)];
        for label in [None, Some("process:7")] {
            let (mut restarts, mut counter) = (restarts(label), CounterIncreases::default());
            assert_eq!(increases(&mut restarts, &mut counter, &readings), [0.25, 0.875, 0.125]);
            assert_eq!(counter.resets(), 1);
        }
    }

    #[test]
    fn a_mark_and_a_changed_start_are_one_restart() {
        let (mut restarts, mut counter) = (restarts(None), CounterIncreases::default());
        assert_eq!(increases(&mut restarts, &mut counter, &[(1, 10.0, 0.25), (2, 10.0, 0.5)]), [0.25]);
        restarts.add_mark(0, &restart_mark(2, 5));
        // The start is read later than the CPU time.
        restarts.add_values(Nanos(5), &[(CPU, 0.875)]);
        let first = counter.next_total(Nanos(5), 0.875, restarts.of_series(CPU)).unwrap();
        assert_eq!((first.amount, counter.resets()), (0.875, 1));
        assert_eq!(increases(&mut restarts, &mut counter, &[(6, 12.0, 1.0), (7, 12.0, 1.5)]), [0.125, 0.5]);
        // The file has the mark of a reading after its values.
        restarts.add_mark(0, &restart_mark(2, 5));
        assert_eq!(increases(&mut restarts, &mut counter, &[(8, 12.0, 2.0)]), [0.5]);
        assert_eq!(counter.resets(), 1);
    }

    #[test]
    fn restarts_of_other_sources_do_not_count() {
        let (mut restarts, mut counter) = (restarts(Some("process:7")), CounterIncreases::default());
        restarts.add_mark(1, &restart_mark(2, 2));
        assert_eq!(increases(&mut restarts, &mut counter, &[(1, 10.0, 0.25), (3, 10.0, 0.5)]), [0.25]);
        assert_eq!(counter.resets(), 0);
    }
}
