//! Divides a run into time slices, from which the bootstrap and the percentiles of a comparison are computed.

use busyhour_sample::{LABELS_MAX, OTHER_LABELS, SampleKind};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::histogram::SparseHistogram;

/// Maximum number of slices. When it is exceeded, adjacent slices are merged in pairs. All runs except very short ones
/// therefore have at least half this number of slices.
const SLICES_MAX: usize = 256;

/// Slices are not merged to save memory if there are no more than this number.
const SLICES_MIN: usize = 64;

/// Initial length of a slice, in ns.
const SLICE_NS: u64 = 100_000_000;

/// Maximum number of entries in the histograms of a run: about 50 MiB.
const ENTRIES_MAX: usize = 6_000_000;

/// Buckets are merged this many times, to a relative width of 1/128, before slices are merged to save memory.
const COARSE_FIRST: u32 = 3;

/// Number of samples between two checks of the memory.
const CHECK_INTERVAL: u64 = 1 << 16;

/// Maximum number of distinct users that are counted.
const USERS_MAX: usize = 1_000_000;

/// The compared time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparedClock {
    /// Response time: end − intended start.
    #[default]
    Response,
    /// Service time: end − actual start.
    Service,
}

/// A part of a run: requests that started in it are measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RunWindow {
    /// Start of the part, in seconds from the start of the run.
    pub from_s: f64,
    /// End of the part, in seconds from the start of the run.
    pub to_s: f64,
}

/// The data of a sample for a comparison. Times are in ns, start and end since the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TalliedSample {
    /// Number of the label.
    pub label: u32,
    /// Kind of the sample; sub-results are ignored.
    pub kind: SampleKind,
    /// Actual start; negative if the sample was in flight at the start of the run.
    pub start_ns: i64,
    /// End of the sample.
    pub end_ns: i64,
    /// The compared time.
    pub time_ns: u64,
    /// Number of samples that this sample represents.
    pub samples: u32,
    /// Number of failed samples among them.
    pub errors: u32,
    /// Identifies the user; `None` if unknown.
    pub user: Option<u64>,
}

/// Counts of one label in one slice.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    pub(super) samples: u64,
    pub(super) errors: u64,
    /// Number of measured times, which is less than `samples` if a sample represents several.
    pub(super) times: u64,
    pub(super) sum_ns: u64,
    pub(super) histogram: SparseHistogram,
}

impl Cell {
    pub(super) fn merge(&mut self, other: &Cell) {
        self.samples += other.samples;
        self.errors += other.errors;
        self.times += other.times;
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.histogram.merge(&other.histogram);
    }
}

#[derive(Debug)]
struct LabelCells {
    label: Option<u32>,
    kind: SampleKind,
    /// The first start of a sample.
    first_ns: i64,
    cells: Vec<Cell>,
}

/// Accumulates the samples of a run, in any order and in bounded memory.
#[derive(Debug)]
pub struct RunTally {
    window: Option<RunWindow>,
    slice_ns: u64,
    coarse: u32,
    labels: Vec<LabelCells>,
    by_label: FxHashMap<(u32, SampleKind), usize>,
    users: FxHashSet<u64>,
    span_ns: Option<(i64, i64)>,
    samples: u64,
}

/// A run divided into slices.
#[derive(Debug)]
pub(super) struct SlicedRun {
    /// Start of the first slice and end of the last one, in seconds from the start of the run.
    pub(super) span_s: (f64, f64),
    /// The multiple of [`Self::step_s`] at or before `from_s`, at which the first slice would start if it were complete.
    pub(super) from_s: f64,
    pub(super) step_s: f64,
    /// Length of each slice in s; the first and the last may be shorter.
    pub(super) seconds: Vec<f64>,
    /// How often adjacent buckets of the histograms were merged in pairs.
    pub(super) coarse: u32,
    pub(super) total: Vec<Cell>,
    pub(super) labels: Vec<(String, SampleKind, Vec<Cell>)>,
    /// Number of distinct users; `None` if unknown.
    pub(super) users: Option<u64>,
}

impl RunTally {
    /// Creates a tally of the samples that start in `window`, or of all samples.
    #[must_use]
    pub fn new(window: Option<RunWindow>) -> RunTally {
        RunTally {
            window,
            slice_ns: SLICE_NS,
            coarse: 0,
            labels: Vec::new(),
            by_label: FxHashMap::default(),
            users: FxHashSet::default(),
            span_ns: None,
            samples: 0,
        }
    }

    /// Adds a sample.
    pub fn add(&mut self, sample: &TalliedSample) {
        if sample.kind == SampleKind::SubResult {
            return;
        }
        let mut end_ns = sample.end_ns;
        if let Some(window) = self.window {
            let start_s = sample.start_ns as f64 / 1e9;
            if start_s < window.from_s || start_s >= window.to_s {
                return;
            }
            // A sample that starts in the window belongs to its load. If it ends after the window, it counts in the
            // last slice.
            end_ns = end_ns.min((window.to_s * 1e9) as i64);
        }
        let span = self.span_ns.get_or_insert((sample.start_ns, end_ns));
        *span = (span.0.min(sample.start_ns), span.1.max(end_ns));
        if let Some(user) = sample.user
            && self.users.len() < USERS_MAX
        {
            self.users.insert(user);
        }
        let label = self.label(sample.label, sample.kind);
        let mut slice = self.slice_of(end_ns);
        while slice >= SLICES_MAX {
            self.merge_slices();
            slice = self.slice_of(end_ns);
        }
        let coarse = self.coarse;
        let own = &mut self.labels[label];
        own.first_ns = own.first_ns.min(sample.start_ns);
        let cells = &mut own.cells;
        if cells.len() <= slice {
            cells.resize_with(slice + 1, Cell::default);
        }
        let cell = &mut cells[slice];
        cell.samples += u64::from(sample.samples);
        cell.errors += u64::from(sample.errors);
        cell.times += 1;
        cell.sum_ns = cell.sum_ns.saturating_add(sample.time_ns);
        cell.histogram.add(sample.time_ns / 1_000, coarse);
        self.samples += 1;
        if self.samples.is_multiple_of(CHECK_INTERVAL) {
            self.save_memory();
        }
    }

    fn slice_of(&self, end_ns: i64) -> usize {
        (end_ns.max(0) as u64 / self.slice_ns) as usize
    }

    fn label(&mut self, label: u32, kind: SampleKind) -> usize {
        if let Some(known) = self.by_label.get(&(label, kind)) {
            return *known;
        }
        let new = if self.labels.len() < LABELS_MAX {
            self.labels.push(LabelCells { label: Some(label), kind, first_ns: i64::MAX, cells: Vec::new() });
            self.labels.len() - 1
        } else {
            let other = |cells: &LabelCells| cells.label.is_none() && cells.kind == kind;
            self.labels.iter().position(other).unwrap_or_else(|| {
                self.labels.push(LabelCells { label: None, kind, first_ns: i64::MAX, cells: Vec::new() });
                self.labels.len() - 1
            })
        };
        self.by_label.insert((label, kind), new);
        new
    }

    fn merge_slices(&mut self) {
        self.slice_ns *= 2;
        for label in &mut self.labels {
            let mut joined: Vec<Cell> = Vec::with_capacity(label.cells.len().div_ceil(2));
            for (at, cell) in std::mem::take(&mut label.cells).into_iter().enumerate() {
                match joined.last_mut() {
                    Some(last) if at % 2 == 1 => last.merge(&cell),
                    _ => joined.push(cell),
                }
            }
            label.cells = joined;
        }
    }

    fn save_memory(&mut self) {
        let entries = |labels: &[LabelCells]| -> usize {
            labels.iter().flat_map(|label| &label.cells).map(|cell| cell.histogram.entries()).sum()
        };
        while entries(&self.labels) > ENTRIES_MAX {
            let slices = self.labels.iter().map(|label| label.cells.len()).max().unwrap_or(0);
            if self.coarse >= COARSE_FIRST && slices > SLICES_MIN {
                self.merge_slices();
            } else {
                self.coarse += 1;
                for cell in self.labels.iter_mut().flat_map(|label| &mut label.cells) {
                    cell.histogram.coarsen();
                }
            }
        }
    }

    /// Returns the run in slices of equal length from its first start to its last end; `None` if no sample was added. `name`
    /// maps the number of a label to its text.
    pub(super) fn finish(mut self, name: impl Fn(u32) -> String) -> Option<SlicedRun> {
        let (first_ns, last_ns) = self.span_ns?;
        // The rates of a window are computed over its whole length, as in a report.
        let first_ns = self.window.map_or(first_ns, |window| (window.from_s * 1e9) as i64).max(0) as u64;
        let last_ns = (last_ns.max(0) as u64).max(first_ns + 1);
        let (from, to) = ((first_ns / self.slice_ns) as usize, (last_ns / self.slice_ns) as usize + 1);
        let slice_ns = self.slice_ns;
        let seconds: Vec<f64> = (from..to)
            .map(|slice| {
                let begin = (slice as u64 * slice_ns).max(first_ns);
                let end = ((slice + 1) as u64 * slice_ns).min(last_ns);
                end.saturating_sub(begin) as f64 / 1e9
            })
            .collect();
        for cell in self.labels.iter_mut().flat_map(|label| &mut label.cells) {
            cell.histogram.flush();
        }
        let mut total = vec![Cell::default(); to - from];
        let mut labels = Vec::new();
        // Labels have the same order as in a report: by the first start in ms, with a transaction before its first request.
        let name_of = |label: &LabelCells| label.label.map_or_else(|| OTHER_LABELS.to_owned(), &name);
        self.labels.sort_by_cached_key(|label| {
            let is_request = label.kind != SampleKind::Transaction;
            (label.label.is_none(), label.first_ns.div_euclid(1_000_000), is_request, name_of(label))
        });
        for label in self.labels {
            let name = name_of(&label);
            let mut cells = label.cells;
            cells.resize_with(to, Cell::default);
            cells.drain(..from);
            if label.kind == SampleKind::Request {
                total.iter_mut().zip(&cells).for_each(|(sum, cell)| sum.merge(cell));
            }
            labels.push((name, label.kind, cells));
        }
        Some(SlicedRun {
            span_s: (first_ns as f64 / 1e9, last_ns as f64 / 1e9),
            from_s: from as f64 * slice_ns as f64 / 1e9,
            step_s: slice_ns as f64 / 1e9,
            seconds,
            coarse: self.coarse,
            total,
            labels,
            users: (!self.users.is_empty()).then_some(self.users.len() as u64),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(end_ms: i64, time_ms: u64) -> TalliedSample {
        TalliedSample {
            label: 0,
            kind: SampleKind::Request,
            start_ns: (end_ms - time_ms as i64) * 1_000_000,
            end_ns: end_ms * 1_000_000,
            time_ns: time_ms * 1_000_000,
            samples: 1,
            errors: 0,
            user: None,
        }
    }

    #[test]
    fn merging_slices_preserves_all_samples() {
        let mut tally = RunTally::new(None);
        // An hour with a sample every 100 ms, out of order.
        let mut ends: Vec<i64> = (1..=36_000).map(|at| at * 100).collect();
        ends.sort_by_key(|end| (end / 100) % 7);
        ends.iter().for_each(|end| tally.add(&sample(*end, 50)));
        let run = tally.finish(|_| "home".into()).unwrap();
        assert!((SLICES_MAX / 2..=SLICES_MAX).contains(&run.seconds.len()), "{}", run.seconds.len());
        assert_eq!(run.total.iter().map(|cell| cell.samples).sum::<u64>(), 36_000);
        assert_eq!(run.total.iter().map(|cell| cell.histogram.len()).sum::<u64>(), 36_000);
        let span = 3_600.0 - 0.05;
        assert!((run.seconds.iter().sum::<f64>() - span).abs() < 1e-6);
        assert!((run.span_s.0 - 0.05).abs() < 1e-9 && (run.span_s.1 - 3_600.0).abs() < 1e-9);
        // All slices but the first and the last have the same length and number of samples.
        let middle = &run.total[1..run.total.len() - 1];
        assert!(middle.iter().all(|cell| cell.samples == middle[0].samples));
    }

    #[test]
    fn a_window_excludes_samples_that_do_not_start_in_it() {
        let mut tally = RunTally::new(Some(RunWindow { from_s: 10.0, to_s: 20.0 }));
        (1..=300).for_each(|at| tally.add(&sample(at * 100, 50)));
        let run = tally.finish(|_| "home".into()).unwrap();
        assert_eq!(run.total.iter().map(|cell| cell.samples).sum::<u64>(), 100);
        assert!((run.seconds.iter().sum::<f64>() - 10.0).abs() < 1e-6);
        assert!(RunTally::new(None).finish(|_| String::new()).is_none());
    }

    #[test]
    fn transactions_have_labels_but_are_not_in_the_total() {
        let mut tally = RunTally::new(None);
        tally.add(&sample(100, 10));
        tally.add(&TalliedSample { kind: SampleKind::Transaction, ..sample(100, 90) });
        tally.add(&TalliedSample { kind: SampleKind::SubResult, ..sample(100, 5) });
        let run = tally.finish(|label| label.to_string()).unwrap();
        assert_eq!(run.total.iter().map(|cell| cell.samples).sum::<u64>(), 1);
        let kinds: Vec<SampleKind> = run.labels.iter().map(|(_, kind, _)| *kind).collect();
        assert_eq!(kinds, [SampleKind::Transaction, SampleKind::Request]);
    }
}
