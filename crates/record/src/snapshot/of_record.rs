//! The seconds of a run from its record, or from a result file.

use std::path::Path;

use super::{Snapshot, SnapshotMaker};
use crate::jtl_scan::LogForm;
use crate::labels::Labels;
use crate::live_arrivals::RecentStarts;
use crate::recorder::RunNames;
use crate::results::{ReadSettings, Results, ResultsError, ResultsInput};
use crate::run_dir::RunDir;
use crate::sample::{Nanos, Sample};
use crate::samples_file::{SamplesEnd, SamplesError, SamplesReader};
use crate::totals::SampleKind;

/// How long a second is kept open after its end: rows come in the order of their ends but for what cores hand over
/// late.
const GRACE_NS: u64 = 2_000_000_000;

/// Where snapshots were read from.
#[derive(Debug, Clone, PartialEq)]
pub struct SnapshotSource {
    /// The names in it.
    pub names: RunNames,
    /// What second 0 counts from, in ms since 1970.
    pub wall_anchor_ms: i64,
    /// How the record ended.
    pub end: SamplesEnd,
    /// Samples that stood so far from their place in the order of ends that they are in a later second.
    pub late_samples: u64,
}

/// A record that snapshots cannot be read from.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// A run directory's.
    #[error("cannot read the run's samples")]
    Samples(#[from] SamplesError),
    /// A result file's.
    #[error("cannot read the result file")]
    Rows(#[from] ResultsError),
}

impl SnapshotError {
    /// What to do about it; empty when nothing is to be advised.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            SnapshotError::Samples(_) => "",
            SnapshotError::Rows(error) => error.source.hint(),
        }
    }
}

/// Makes the snapshots of the run at `path` again, a run directory or a result file in JMeter's CSV or XML format, and
/// hands them to `see` in their order.
///
/// # Errors
/// The record cannot be read. One whose tail is cut off can: see [`SnapshotSource::end`].
pub fn read_snapshots(path: &Path, mut see: impl FnMut(Snapshot)) -> Result<SnapshotSource, SnapshotError> {
    let mut late_samples = 0;
    let mut see = |snapshot: Snapshot| {
        late_samples += snapshot.late_samples;
        see(snapshot);
    };
    let (names, wall_anchor_ms, end) = if path.is_dir() {
        let reader = SamplesReader::open(&RunDir::open(path).samples_path())?;
        let labels = reader.labels().clone();
        // Samples and arrivals are met in turns: both go to the same seconds.
        let seconds = std::cell::RefCell::new((Seconds::new(labels), &mut see));
        let (end, names, _) = reader.read_with_arrivals(
            |_, sample| {
                let (seconds, see) = &mut *seconds.borrow_mut();
                seconds.sample(sample, see);
            },
            |_, arrival| {
                let (seconds, see) = &mut *seconds.borrow_mut();
                seconds.maker.arrival(arrival, see);
                if let Some(began) = arrival.began() {
                    seconds.starts.session(began);
                }
            },
        )?;
        let (seconds, see) = seconds.into_inner();
        seconds.finish(see);
        (names.names, names.wall_anchor_ms, end)
    } else {
        // Rows are in the order of their ends: which one started first is known at the end only.
        let first_ms = first_start_ms(path)?;
        let results = open(path)?;
        let first_ms = first_ms.unwrap_or(results.wall_anchor_ms());
        let first_ns = u64::try_from(first_ms - results.wall_anchor_ms()).unwrap_or(0) * 1_000_000;
        let mut seconds = Seconds::new(results.labels().clone());
        if results.one_clock() {
            seconds.starts = RecentStarts::with_tick_ns(LogForm::Xml.tick_ns());
        }
        let mut row = |sample: &Sample<'_>| {
            let (intended, start, end) =
                (sample.intended - first_ns, sample.start - first_ns, sample.end - first_ns);
            seconds.sample(&Sample { intended, start, end, ..*sample }, &mut see);
        };
        let read = results.read(&mut row, &mut |_| {})?;
        let samples = read.inputs.iter().map(|input| input.samples).sum();
        let cut_at = read.inputs.iter().find_map(|input| input.cut_at);
        let (first, end, names) = (first_ms, SamplesEnd { samples, cut_at }, read.names);
        seconds.finish(&mut see);
        (names, first, end)
    };
    Ok(SnapshotSource { names, wall_anchor_ms, end, late_samples })
}

/// When the first sample of a result file started, in ms since 1970: what second 0 of its snapshots counts from; `None`
/// without rows.
///
/// # Errors
/// The file cannot be read.
pub fn first_start_ms(path: &Path) -> Result<Option<i64>, SnapshotError> {
    let results = open(path)?;
    let anchor_ms = results.wall_anchor_ms();
    let mut first: Option<Nanos> = None;
    let mut earlier = |sample: &Sample<'_>| {
        first = Some(first.map_or(sample.start, |first| first.min(sample.start)));
    };
    results.read(&mut earlier, &mut |_| {})?;
    Ok(first.map(|first| anchor_ms.saturating_add_unsigned(first.0 / 1_000_000)))
}

fn open(path: &Path) -> Result<Results, ResultsError> {
    let settings = ReadSettings { all_columns: true, ..ReadSettings::default() };
    Results::open(vec![ResultsInput::path(path)], &settings)
}

/// What the recorder's thread does with samples for those who follow a run, without its thread.
struct Seconds {
    maker: SnapshotMaker,
    starts: RecentStarts,
    newest: Nanos,
}

impl Seconds {
    fn new(labels: Labels) -> Seconds {
        Seconds { maker: SnapshotMaker::new(labels), starts: RecentStarts::new(), newest: Nanos::ZERO }
    }

    fn sample(&mut self, sample: &Sample<'_>, see: &mut dyn FnMut(Snapshot)) {
        if SampleKind::of(sample.flags) == SampleKind::Request {
            self.starts.request(sample.start);
        }
        if sample.end.second() > self.newest.second() {
            let watermark = sample.end - GRACE_NS;
            let regularity = self.starts.look(watermark);
            self.maker.advance(watermark, regularity, see);
        }
        self.newest = self.newest.max(sample.end);
        self.maker.sample(sample, see);
    }

    fn finish(mut self, see: &mut dyn FnMut(Snapshot)) {
        let regularity = self.starts.look(self.newest);
        self.maker.finish(regularity, see);
    }
}
