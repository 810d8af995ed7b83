//! Arrival statistics of a log: the tables of the web-generator-toolkit.
//!
//! Definitions (J. F. Brady, N. J. Gunther: *How to Emulate Web Traffic Using Standard Load Testing Tools*, CMG 2016,
//! arXiv:1607.05356, and its toolkit):
//!
//! - Inter-arrival times are the differences of consecutive start times, per label and over all labels.
//! - Standard deviations have the divisor n − 1.
//! - *cv* is the standard deviation divided by the mean, *vmr* the variance divided by the mean.
//! - A rate is n divided by *dt*, the time from the first start to the end of the sample that started last.
//! - A KB is 1000 bytes.
//!
//! ```
//! use busyhour_analysis::{WebLog, WebLogOptions};
//! use busyhour_sample::LogRow;
//!
//! let mut log = WebLog::new(WebLogOptions::default(), 1_000_000);
//! for start_ms in [0, 10, 30] {
//!     let row = LogRow {
//!         start_ns: start_ms * 1_000_000,
//!         elapsed_ns: 5_000_000,
//!         latency_ns: None,
//!         late_ns: None,
//!         bytes: Some(100),
//!         label: 0,
//!         group: None,
//!         thread: Some(1),
//!         user: None,
//!         success: true,
//!     };
//!     log.add(&row, true);
//! }
//! let tables = log.finish(&["home".to_owned()]);
//! let total = tables.inter_arrival.last().unwrap();
//! assert_eq!((total.n, total.mean, total.label.as_str()), (2, Some(15.0), "Total"));
//! assert_eq!(tables.first_byte, None, "the log has no latencies");
//! ```

mod cells;
mod counted;
mod histogram;
mod pace;
mod table;
mod threads;

#[cfg(test)]
mod tests;

use std::num::NonZeroU64;

use busyhour_sample::LogRow;
use rustc_hash::FxHashSet;
use serde::Serialize;

pub use cells::{CellCounts, CountFrequency};
pub use counted::QuantileRule;
pub use histogram::CellHistogram;
pub use table::LogTableRow;
pub use threads::ThreadGroupRow;

use cells::CellCounters;
use counted::{Budget, Counted};
use pace::Pace;
use table::Labelled;
use threads::ThreadGroups;

/// Maximum number of distinct users that are counted.
const USERS_MAX: usize = 1 << 20;

/// The label of the last row of each table.
pub const TOTAL: &str = "Total";

/// The evaluated part of a log, by start times; both ends are inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LogWindow {
    /// Start of the part, in seconds after the first start time.
    pub before_s: f64,
    /// Length of the part, in seconds.
    pub duration_s: f64,
}

/// Options for the tables.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WebLogOptions {
    /// The evaluated part; the whole log by default.
    pub window: Option<LogWindow>,
    /// Thread-group sizes. For each size k, the arrivals of the threads with numbers up to k are evaluated.
    pub threads: Vec<u32>,
    /// The definition of quantiles.
    pub quantiles: QuantileRule,
    /// Width of the histograms' cells in ms; by default chosen from the data.
    pub cell_ms: Option<f64>,
}

/// Computes the tables from the rows of a log, in the order of their starts.
#[derive(Debug)]
pub struct WebLog {
    options: WebLogOptions,
    tick_ns: u64,
    first_ns: Option<i64>,
    /// The window in ns since 1970, once the first start time is known.
    from_ns: i64,
    to_ns: i64,
    rows: u64,
    budget: Budget,
    labels: Vec<Option<Box<Labelled>>>,
    pace: Pace,
    gaps: Counted,
    counters: CellCounters,
    threads: ThreadGroups,
    users: FxHashSet<NonZeroU64>,
}

/// The tables of a log. Times are in ms, sizes in bytes, rates per second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WebLogTables {
    /// First start time of the log, in ms since 1970; `None` without rows.
    pub first_start_ms: Option<f64>,
    /// The evaluated part.
    pub window: Option<LogWindow>,
    /// Number of rows of the log.
    pub rows: u64,
    /// Number of evaluated rows.
    pub selected: u64,
    /// Time from the first start to the end of the sample that started last, in ms.
    pub duration_ms: Option<f64>,
    /// Number of users (threads) in the evaluated rows; `None` if unknown, or more than a million.
    pub users: Option<u64>,
    /// Resolution of the log's times, in ms.
    pub tick_ms: f64,
    /// The definition of quantiles.
    pub quantiles: QuantileRule,
    /// Inter-arrival times: one row per label in alphabetical order, then [`TOTAL`], as in the other tables.
    pub inter_arrival: Vec<LogTableRow>,
    /// Times from the actual start to the end: JMeter's `elapsed`.
    pub response_time: Vec<LogTableRow>,
    /// Bytes received; `None` if the log does not contain them.
    pub size: Option<Vec<LogTableRow>>,
    /// Times from the actual start to the first byte; `None` if the log does not contain them.
    pub first_byte: Option<Vec<LogTableRow>>,
    /// Inter-arrival times by thread-group size.
    pub by_threads: Vec<ThreadGroupRow>,
    /// Number of evaluated rows without a thread number, which are not in `by_threads`.
    pub threads_unknown: u64,
    /// Counts of arrivals in cells of several widths.
    pub counts: Vec<CellCounts>,
    /// Histogram of all inter-arrival times.
    pub gap_histogram: Option<CellHistogram>,
    /// Histogram of all response times.
    pub response_histogram: Option<CellHistogram>,
}

impl WebLog {
    /// Creates empty tables for a log whose times are multiples of `tick_ns`.
    #[must_use]
    pub fn new(options: WebLogOptions, tick_ns: u64) -> WebLog {
        WebLog {
            threads: ThreadGroups::new(&options.threads),
            options,
            tick_ns: tick_ns.max(1),
            first_ns: None,
            from_ns: i64::MIN,
            to_ns: i64::MAX,
            rows: 0,
            budget: Budget::default(),
            labels: Vec::new(),
            pace: Pace::default(),
            gaps: Counted::default(),
            counters: CellCounters::default(),
            users: FxHashSet::default(),
        }
    }

    /// Adds the next row. A row that is not `selected` only determines the start of the log. Returns whether the row is evaluated.
    pub fn add(&mut self, row: &LogRow, selected: bool) -> bool {
        if self.first_ns.is_none() {
            self.begin(row.start_ns);
        }
        self.rows += 1;
        if !selected || row.start_ns < self.from_ns || row.start_ns > self.to_ns {
            return false;
        }
        if let Some(gap_ns) = self.pace.next(row) {
            self.gaps.add(gap_ns / self.tick_ns, &mut self.budget);
        }
        self.counters.add(row.start_ns);
        self.threads.add(row, self.tick_ns);
        let at = row.label as usize;
        if self.labels.len() <= at {
            self.labels.resize_with(at + 1, || None);
        }
        let label = self.labels[at].get_or_insert_with(Box::default);
        label.add(row, self.tick_ns, &mut self.budget);
        if let Some(user) = row.user
            && self.users.len() < USERS_MAX
        {
            self.users.insert(user);
        }
        true
    }

    fn begin(&mut self, first_ns: i64) {
        self.first_ns = Some(first_ns);
        if let Some(window) = self.options.window {
            let ns = |s: f64| (s * 1e9).round() as i64;
            self.from_ns = first_ns.saturating_add(ns(window.before_s));
            self.to_ns = self.from_ns.saturating_add(ns(window.duration_s));
            self.counters.begin(self.from_ns);
        }
    }

    /// The tables. `names` are the labels by number.
    #[must_use]
    pub fn finish(mut self, names: &[String]) -> WebLogTables {
        let tick_ms = self.tick_ns as f64 / 1e6;
        let rule = self.options.quantiles;
        let mut labels: Vec<(&str, Box<Labelled>)> = self
            .labels
            .into_iter()
            .enumerate()
            .filter_map(|(at, label)| Some((names.get(at).map_or("", String::as_str), label?)))
            .collect();
        labels.sort_by_key(|(name, _)| *name);
        let mut tables = table::Tables::default();
        let mut total = Labelled { pace: self.pace, gaps: self.gaps, ..Labelled::default() };
        for (name, label) in labels {
            tables.push(name, &label, tick_ms, rule);
            total.absorb(*label, &mut self.budget);
        }
        tables.push(TOTAL, &total, tick_ms, rule);
        let histogram = |values: &Counted| CellHistogram::of(values, tick_ms, self.options.cell_ms);
        WebLogTables {
            first_start_ms: self.first_ns.map(|ns| ns as f64 / 1e6),
            window: self.options.window,
            rows: self.rows,
            selected: total.elapsed.n(),
            duration_ms: total.pace.duration_ns().map(|ns| ns as f64 / 1e6),
            users: Some(self.users.len())
                .filter(|users| (1..USERS_MAX).contains(users))
                .map(|users| users as u64),
            tick_ms,
            quantiles: rule,
            inter_arrival: tables.inter_arrival,
            response_time: tables.response_time,
            size: (total.bytes.n() > 0).then_some(tables.size),
            first_byte: (total.latency.n() > 0).then_some(tables.first_byte),
            by_threads: self.threads.rows(tick_ms),
            threads_unknown: self.threads.unknown(),
            counts: self.counters.finish(),
            gap_histogram: histogram(&total.gaps),
            response_histogram: histogram(&total.elapsed),
        }
    }
}
