//! Computes the snapshots of a run from its samples file or from result files.

use std::cell::RefCell;
use std::collections::BTreeMap;

use busyhour_sample::{
    ArrivalRecord, HELD_SAMPLES_MAX, HeldPart, LabelRows, Nanos, OpenSecond, RecentStarts, RunNames, Sample,
    SampleKind, SampleTimes, SecondUsers, Snapshot, SnapshotMaker, UsersOverTime, counted_row,
};

use crate::input_facts::InputFacts;
use crate::results::{ReadSettings, Results, ResultsEnd, ResultsError, ResultsInput, Visitor, survey};

/// Time for which a second stays open after its end, in ns. Rows are in the order of their ends, except for those that cores
/// sent late.
const GRACE_NS: u64 = 2_000_000_000;

/// Settings for reading results, and the part that is read.
#[derive(Debug, Clone, Default)]
pub struct RecordReading {
    /// Settings for reading the results. All columns are always read.
    pub read: ReadSettings,
    /// The window in seconds since the start of the run, from its start (inclusive) to its end (exclusive): only samples that
    /// start in it and arrivals that are scheduled in it are included. `None` for the whole run. The window does not change the
    /// numbers of seconds.
    pub window_s: Option<(f64, f64)>,
}

/// Facts about the inputs of snapshots.
#[derive(Debug, Clone)]
pub struct SnapshotSource {
    /// The names in the inputs.
    pub names: RunNames,
    /// The start of the run in ms since 1970; second 0 starts at this time.
    pub wall_anchor_ms: i64,
    /// Facts about each input.
    pub inputs: Vec<InputFacts>,
    /// Number of samples that were counted in a later second. It should be 0, even if rows are out of order.
    pub late_samples: u64,
}

/// Computes the snapshots of a run from `inputs` and passes them to `see` in order. An input is a run directory or a result
/// file in JMeter's CSV or XML format. Several inputs are those of several generators of one run. Rows may be in any order.
///
/// # Errors
/// An input cannot be read, or cannot be read twice. A truncated input is not an error; see [`InputFacts::cut_at`].
pub fn read_snapshots(
    inputs: &[ResultsInput],
    reading: &RecordReading,
    mut see: impl FnMut(Snapshot),
) -> Result<SnapshotSource, ResultsError> {
    read_snapshots_holding(inputs, reading, HELD_SAMPLES_MAX / 2, &mut see)
}

/// Like [`read_snapshots`], with at most `held_max` samples in memory for rows that are out of order.
pub(crate) fn read_snapshots_holding(
    inputs: &[ResultsInput],
    reading: &RecordReading,
    held_max: usize,
    see: &mut dyn FnMut(Snapshot),
) -> Result<SnapshotSource, ResultsError> {
    let survey = survey(inputs, &reading.read)?;
    let wall_anchor_ms = survey.start_ms;
    // Rows that end in the newest second, or in one of the two seconds before it, are in time.
    let in_order = survey.disorder_ns <= GRACE_NS;
    let settings = ReadSettings { all_columns: true, start_ms: Some(wall_anchor_ms), ..reading.read.clone() };
    let open = || Results::open(ResultsInput::try_clone_all(inputs)?, &settings);
    let mut results = open()?;
    let mut seconds = Seconds {
        maker: SnapshotMaker::new(results.labels().clone()),
        newest: Nanos::ZERO,
        closing: ClosingSeconds {
            starts: RecentStarts::with_tick_ns(results.tick_ns()),
            pending: BTreeMap::new(),
            users: survey.users,
            several: survey.sources > 1,
            late_samples: 0,
            see,
        },
    };
    let mut from = 0;
    let end = loop {
        let scope = ReadScope::of(&results, reading);
        if in_order {
            break read_in_order(results, scope, &mut seconds)?;
        }
        let (end, part) = read_part(results, scope, HeldPart::from(from, held_max))?;
        let (part, next) = part.finish();
        part.for_each(|(number, second)| seconds.put(number, second));
        let Some(next) = next else { break end };
        (from, results) = (next, open()?);
    };
    let late_samples = seconds.finish();
    Ok(SnapshotSource { names: end.names, wall_anchor_ms, inputs: end.inputs, late_samples })
}

/// The samples that are read, and the origin of their times.
#[derive(Clone, Copy)]
struct ReadScope {
    start: Nanos,
    window: Option<(Nanos, Nanos)>,
}

impl ReadScope {
    fn of(results: &Results, reading: &RecordReading) -> ReadScope {
        ReadScope { start: results.start(), window: reading.window_s.map(|window| results.instants(window)) }
    }

    fn contains(&self, at: Nanos) -> bool {
        self.window.is_none_or(|(from, to)| (from..to).contains(&at))
    }

    /// Converts a time of the input to a time from the start of the run.
    fn moved(&self, at: Nanos) -> Nanos {
        at - self.start.0
    }

    /// The sample with times from the start of the run; `None` if it is not in the part that is read.
    fn sample<'s>(&self, sample: &Sample<'s>) -> Option<Sample<'s>> {
        self.contains(sample.times.start).then(|| {
            let times = sample.times;
            let [intended, start, end] = [times.intended, times.start, times.end].map(|at| self.moved(at));
            Sample { times: SampleTimes { intended, start, end, ..times }, ..*sample }
        })
    }

    fn arrival(&self, arrival: &ArrivalRecord) -> Option<ArrivalRecord> {
        self.contains(arrival.scheduled).then(|| arrival.moved(|at| self.moved(at)))
    }
}

/// Reads samples that are almost in the order of their ends, and closes seconds while reading.
fn read_in_order(
    results: Results,
    scope: ReadScope,
    seconds: &mut Seconds<'_>,
) -> Result<ResultsEnd, ResultsError> {
    // Both callbacks need the seconds, because samples and arrivals alternate.
    let seconds = RefCell::new(seconds);
    let mut sample = |sample: &Sample<'_>| {
        if let Some(sample) = scope.sample(sample) {
            seconds.borrow_mut().sample(&sample);
        }
    };
    let mut arrival = |arrival: &ArrivalRecord| {
        if let Some(arrival) = scope.arrival(arrival) {
            seconds.borrow_mut().arrival(&arrival);
        }
    };
    results.read_with_visitor(&mut Visitor { sample: &mut sample, arrival: &mut arrival }, &mut |_| {})
}

/// One second of the part of the run that is being read.
#[derive(Default)]
struct PartSecond {
    open: OpenSecond,
    starts: SecondStarts,
}

/// Reads the seconds of one part of the run.
fn read_part(
    results: Results,
    scope: ReadScope,
    part: HeldPart<PartSecond>,
) -> Result<(ResultsEnd, HeldPart<PartSecond>), ResultsError> {
    let labels = results.labels().clone();
    let mut rows = LabelRows::default();
    let part = RefCell::new(part);
    let mut sample = |sample: &Sample<'_>| {
        let Some(row) = counted_row(&mut rows, sample) else { return };
        let Some(sample) = scope.sample(sample) else { return };
        if let Some(second) = part.borrow_mut().second(sample.times.end.second(), 1) {
            second.open.sample(row, &labels, &sample);
            if SampleKind::of(sample.flags) == SampleKind::Request {
                second.starts.requests.push(sample.times.start);
            }
        }
    };
    let mut arrival = |arrival: &ArrivalRecord| {
        let Some(arrival) = scope.arrival(arrival) else { return };
        let mut part = part.borrow_mut();
        if let Some(second) = part.second(arrival.scheduled.second(), 1) {
            second.open.scheduled_arrival();
        }
        let started = arrival.started_at();
        if let Some(second) = part.second(started.unwrap_or(arrival.scheduled).second(), 1) {
            second.open.arrival(&arrival);
            second.starts.sessions.extend(started);
        }
    };
    let end = results
        .read_with_visitor(&mut Visitor { sample: &mut sample, arrival: &mut arrival }, &mut |_| {})?;
    Ok((end, part.into_inner()))
}

/// The start of the run in ms since 1970, as determined by [`crate::aggregate_inputs`]. Second 0 of its snapshots starts at this
/// time.
///
/// # Errors
/// An input cannot be read.
pub fn run_start_ms(inputs: &[ResultsInput], read: &ReadSettings) -> Result<i64, ResultsError> {
    let results = Results::open(ResultsInput::try_clone_all(inputs)?, read)?;
    if results.start_is_known() {
        return Ok(results.start_ms());
    }
    survey(inputs, read).map(|survey| survey.start_ms)
}

/// Starts that are included in the regularity of arrivals once a second has ended.
#[derive(Default)]
struct SecondStarts {
    /// Starts of the requests that ended in the second.
    requests: Vec<Nanos>,
    /// Starts of the sessions that started in the second.
    sessions: Vec<Nanos>,
}

/// Computes snapshots like the recorder's thread, but on the calling thread.
struct Seconds<'s> {
    maker: SnapshotMaker,
    newest: Nanos,
    closing: ClosingSeconds<'s>,
}

/// Completes the snapshots of closed seconds.
struct ClosingSeconds<'s> {
    starts: RecentStarts,
    /// The starts of each second that is still open.
    pending: BTreeMap<u64, SecondStarts>,
    users: UsersOverTime,
    /// Whether the samples are those of several generators. Each sample then contains only the number of users of its own
    /// generator.
    several: bool,
    late_samples: u64,
    see: &'s mut dyn FnMut(Snapshot),
}

impl ClosingSeconds<'_> {
    fn close(&mut self, mut snapshot: Snapshot) {
        while let Some(entry) = self.pending.first_entry().filter(|entry| *entry.key() <= snapshot.second) {
            let SecondStarts { requests, sessions } = entry.remove();
            sessions.into_iter().for_each(|start| self.starts.session(start));
            requests.into_iter().for_each(|start| self.starts.request(start));
        }
        // The regularity at the end of the second does not depend on the order of the rows.
        snapshot.regularity = self.starts.regularity(Nanos::from_secs(snapshot.second + 1));
        let of_samples = snapshot.users.filter(|_| !self.several);
        let at_end = self.users.at_end_of(snapshot.second);
        snapshot.users = at_end.map(|at_end| SecondUsers::with_end(at_end, of_samples));
        self.late_samples += snapshot.late_samples;
        (self.see)(snapshot);
    }
}

impl Seconds<'_> {
    fn sample(&mut self, sample: &Sample<'_>) {
        let Seconds { maker, newest, closing } = self;
        let end = sample.times.end;
        if end.second() > newest.second() {
            maker.advance(end - GRACE_NS, None, &mut |snapshot| closing.close(snapshot));
        }
        *newest = end.max(*newest);
        maker.sample(sample, &mut |snapshot| closing.close(snapshot));
        if SampleKind::of(sample.flags) == SampleKind::Request {
            closing.pending.entry(end.second()).or_default().requests.push(sample.times.start);
        }
    }

    fn arrival(&mut self, arrival: &ArrivalRecord) {
        let Seconds { maker, closing, .. } = self;
        maker.arrival(arrival, &mut |snapshot| closing.close(snapshot));
        if let Some(started) = arrival.started_at() {
            closing.pending.entry(started.second()).or_default().sessions.push(started);
        }
    }

    /// Adds a complete second, which must be after all previous ones.
    fn put(&mut self, number: u64, second: PartSecond) {
        let Seconds { maker, closing, .. } = self;
        closing.pending.insert(number, second.starts);
        maker.put(number, second.open, &mut |snapshot| closing.close(snapshot));
    }

    /// Closes all seconds; returns the number of samples that were late.
    fn finish(self) -> u64 {
        let Seconds { mut maker, mut closing, .. } = self;
        maker.finish(None, &mut |snapshot| closing.close(snapshot));
        closing.late_samples
    }
}

#[cfg(test)]
mod tests;
