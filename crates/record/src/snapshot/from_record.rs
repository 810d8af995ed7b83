//! Makes the snapshots of a run from its record or from result files.

use std::cell::RefCell;

use super::maker::SnapshotMaker;
use super::second::Snapshot;
use crate::arrival::ArrivalRecord;
use crate::labels::Labels;
use crate::live_arrivals::RecentStarts;
use crate::results::{InputFacts, ReadSettings, Results, ResultsError, ResultsInput, Visitor};
use crate::run_names::RunNames;
use crate::sample::{Nanos, Sample, SampleFlags, SampleKind, SampleTimes};

/// How long a second stays open after its end, in ns: rows are in the order of their ends, except for those that
/// cores sent late.
const GRACE_NS: u64 = 2_000_000_000;

/// The part of results that is read, and how.
#[derive(Debug, Clone, Default)]
pub struct RecordReading {
    /// How results are read. All columns are always read.
    pub read: ReadSettings,
    /// The window in seconds since the start of the run: samples that start, and arrivals that are scheduled, from
    /// the first time on and before the second. `None` for all. Seconds keep their numbers.
    pub window_s: Option<(f64, f64)>,
}

/// Facts about the inputs of snapshots.
#[derive(Debug, Clone)]
pub struct SnapshotSource {
    /// The names in it.
    pub names: RunNames,
    /// The start of the run in ms since 1970, at which second 0 starts.
    pub wall_anchor_ms: i64,
    /// Facts about each input.
    pub inputs: Vec<InputFacts>,
    /// Samples that were so far from the order of ends that they count in a later second.
    pub late_samples: u64,
}

/// Makes the snapshots of a run from `inputs`, a run directory or result files in JMeter's CSV or XML format, and
/// passes them to `see` in order. Several inputs are those of several generators of one run.
///
/// # Errors
/// An input cannot be read, or cannot be read twice. A truncated input is not an error, see [`InputFacts::cut_at`].
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
    // Rows are in the order of their ends, so the earliest start is known only at the end.
    let wall_anchor_ms = run_start_ms(inputs, &reading.read)?;
    let settings = ReadSettings { all_columns: true, start_ms: Some(wall_anchor_ms), ..reading.read.clone() };
    let results = Results::open(ResultsInput::try_clone_all(inputs)?, &settings)?;
    let start = results.start();
    let window = reading.window_s.map(|window| results.instants(window));
    let counts = |at: Nanos| window.is_none_or(|(from, to)| (from..to).contains(&at));
    let starts = RecentStarts::with_tick_ns(results.tick_ns());
    let seconds = Seconds { starts, ..Seconds::new(results.labels().clone()) };
    // Samples and arrivals alternate, and both count in the same seconds.
    let seconds = RefCell::new((seconds, &mut see));
    let moved = |at: Nanos| at - start.0;
    let mut sample = |sample: &Sample<'_>| {
        if counts(sample.times.start) {
            let (seconds, see) = &mut *seconds.borrow_mut();
            let (intended, start, end) =
                (moved(sample.times.intended), moved(sample.times.start), moved(sample.times.end));
            seconds.sample(
                &Sample { times: SampleTimes { intended, start, end, ..sample.times }, ..*sample },
                see,
            );
        }
    };
    let mut arrival = |arrival: &ArrivalRecord| {
        if counts(arrival.scheduled) {
            let (seconds, see) = &mut *seconds.borrow_mut();
            let arrival = arrival.moved(moved);
            seconds.maker.arrival(&arrival, see);
            if let Some(began) = arrival.started_at() {
                seconds.starts.session(began);
            }
        }
    };
    let end = results
        .read_with_visitor(&mut Visitor { sample: &mut sample, arrival: &mut arrival }, &mut |_| {})?;
    let (seconds, see) = seconds.into_inner();
    seconds.finish(see);
    Ok(SnapshotSource { names: end.names, wall_anchor_ms, inputs: end.inputs, late_samples })
}

/// The start of the run in ms since 1970, as [`Results::add_up`] determines it; second 0 of its snapshots starts
/// then.
///
/// # Errors
/// An input cannot be read.
pub fn run_start_ms(inputs: &[ResultsInput], read: &ReadSettings) -> Result<i64, ResultsError> {
    let results = Results::open(ResultsInput::try_clone_all(inputs)?, read)?;
    if results.start_is_known() {
        return Ok(results.start_ms());
    }
    let (origin_ms, supposed_ms) = (results.wall_anchor_ms(), results.start_ms());
    let mut first: Option<Nanos> = None;
    let mut earlier = |sample: &Sample<'_>| {
        let counts = |flag| !sample.flags.contains(flag);
        if counts(SampleFlags::LISTENERS_ONLY) && counts(SampleFlags::WARMUP) {
            first = Some(first.map_or(sample.times.start, |first| first.min(sample.times.start)));
        }
    };
    results.read(&mut earlier, &mut |_| {})?;
    // In whole seconds from the origin, which depends on the first row.
    Ok(first.map_or(supposed_ms, |first| origin_ms.saturating_add_unsigned(first.second() * 1_000)))
}

/// Makes snapshots as the recorder's thread does, but without a thread.
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
            self.starts.request(sample.times.start);
        }
        if sample.times.end.second() > self.newest.second() {
            let watermark = sample.times.end - GRACE_NS;
            let regularity = self.starts.regularity(watermark);
            self.maker.advance(watermark, regularity, see);
        }
        self.newest = self.newest.max(sample.times.end);
        self.maker.sample(sample, see);
    }

    fn finish(mut self, see: &mut dyn FnMut(Snapshot)) {
        let regularity = self.starts.regularity(self.newest);
        self.maker.finish(regularity, see);
    }
}
