//! The seconds of a run from its record, or from result files.

use std::cell::RefCell;

use super::{Snapshot, SnapshotMaker};
use crate::arrival::ArrivalRecord;
use crate::labels::Labels;
use crate::live_arrivals::RecentStarts;
use crate::results::InputFacts;
use crate::results::{ReadSettings, Results, ResultsError, ResultsInput, Sinks};
use crate::run_names::RunNames;
use crate::sample::{Nanos, Sample, SampleFlags};
use crate::totals::SampleKind;

/// How long a second is kept open after its end: rows come in the order of their ends but for what cores hand over
/// late.
const GRACE_NS: u64 = 2_000_000_000;

/// Which part of results is read, and how: for those who make of it what other programs read, or judge it.
#[derive(Debug, Clone, Default)]
pub struct RecordReading {
    /// How results are read; all columns are, whatever it says.
    pub read: ReadSettings,
    /// In seconds from the start of the run: samples that start, and arrivals that were scheduled, from the first on and
    /// before the second. `None` for all. Seconds keep their numbers.
    pub window_s: Option<(f64, f64)>,
}

/// Where snapshots were read from.
#[derive(Debug, Clone)]
pub struct SnapshotSource {
    /// The names in it.
    pub names: RunNames,
    /// What second 0 counts from, in ms since 1970: the start of the run.
    pub wall_anchor_ms: i64,
    /// What was found in each input.
    pub inputs: Vec<InputFacts>,
    /// Samples that stood so far from their place in the order of ends that they are in a later second.
    pub late_samples: u64,
}

/// Makes the snapshots of a run again from `inputs`, a run directory or result files in JMeter's CSV or XML format, and
/// hands them to `see` in their order. Several are those of several generators of one run.
///
/// # Errors
/// An input cannot be read, or not twice. One whose tail is cut off can: see [`InputFacts::cut_at`].
pub fn read_snapshots(
    inputs: &[ResultsInput],
    reading: &RecordReading,
    mut see: impl FnMut(Snapshot),
) -> Result<SnapshotSource, ResultsError> {
    let mut late_samples = 0;
    let mut see = |snapshot: Snapshot| {
        late_samples += snapshot.late_samples;
        see(snapshot);
    };
    // Rows are in the order of their ends: which one started first is known at the end only.
    let wall_anchor_ms = run_start_ms(inputs, &reading.read)?;
    let settings = ReadSettings { all_columns: true, start_ms: Some(wall_anchor_ms), ..reading.read.clone() };
    let results = Results::open(ResultsInput::all_again(inputs)?, &settings)?;
    let start = results.start();
    let window = reading.window_s.map(|window| results.instants(window));
    let counts = |at: Nanos| window.is_none_or(|(from, to)| (from..to).contains(&at));
    let starts = RecentStarts::with_tick_ns(results.tick_ns());
    let seconds = Seconds { starts, ..Seconds::new(results.labels().clone()) };
    // Samples and arrivals are met in turns: both go to the same seconds.
    let seconds = RefCell::new((seconds, &mut see));
    let moved = |at: Nanos| at - start.0;
    let mut sample = |sample: &Sample<'_>| {
        if counts(sample.start) {
            let (seconds, see) = &mut *seconds.borrow_mut();
            let (intended, start, end) = (moved(sample.intended), moved(sample.start), moved(sample.end));
            seconds.sample(&Sample { intended, start, end, ..*sample }, see);
        }
    };
    let mut arrival = |arrival: &ArrivalRecord| {
        if counts(arrival.scheduled) {
            let (seconds, see) = &mut *seconds.borrow_mut();
            let arrival = arrival.moved(moved);
            seconds.maker.arrival(&arrival, see);
            if let Some(began) = arrival.began() {
                seconds.starts.session(began);
            }
        }
    };
    let end = results.read_into(&mut Sinks { sample: &mut sample, arrival: &mut arrival }, &mut |_| {})?;
    let (seconds, see) = seconds.into_inner();
    seconds.finish(see);
    Ok(SnapshotSource { names: end.names, wall_anchor_ms, inputs: end.inputs, late_samples })
}

/// The start of the run that `inputs` are of, in ms since 1970, as [`Results::add_up`] finds it: what second 0 of its
/// snapshots counts from.
///
/// # Errors
/// An input cannot be read.
pub fn run_start_ms(inputs: &[ResultsInput], read: &ReadSettings) -> Result<i64, ResultsError> {
    let results = Results::open(ResultsInput::all_again(inputs)?, read)?;
    if results.start_is_known() {
        return Ok(results.start_ms());
    }
    let (origin_ms, supposed_ms) = (results.wall_anchor_ms(), results.start_ms());
    let mut first: Option<Nanos> = None;
    let mut earlier = |sample: &Sample<'_>| {
        let counts = |flag| !sample.flags.contains(flag);
        if counts(SampleFlags::LISTENERS_ONLY) && counts(SampleFlags::WARMUP) {
            first = Some(first.map_or(sample.start, |first| first.min(sample.start)));
        }
    };
    results.read(&mut earlier, &mut |_| {})?;
    // In whole seconds from the origin, which the first row set.
    Ok(first.map_or(supposed_ms, |first| origin_ms.saturating_add_unsigned(first.second() * 1_000)))
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
