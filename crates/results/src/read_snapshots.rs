//! Makes the snapshots of a run from its record or from result files.

use std::cell::RefCell;
use std::collections::BTreeMap;

use busyhour_sample::{
    ArrivalRecord, HELD_SAMPLES_MAX, HeldPart, LabelRows, Nanos, OpenSecond, RecentStarts, RunNames, Sample,
    SampleKind, SampleTimes, SecondUsers, Snapshot, SnapshotMaker, UsersOverTime, counted_row,
};

use crate::input_facts::InputFacts;
use crate::results::{ReadSettings, Results, ResultsEnd, ResultsError, ResultsInput, Visitor, survey};

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
    /// Samples that count in a later second. None since rows may be in any order.
    pub late_samples: u64,
}

/// Makes the snapshots of a run from `inputs`, a run directory or result files in JMeter's CSV or XML format, and
/// passes them to `see` in order. Several inputs are those of several generators of one run. Rows may be in any order.
///
/// # Errors
/// An input cannot be read, or cannot be read twice. A truncated input is not an error, see [`InputFacts::cut_at`].
pub fn read_snapshots(
    inputs: &[ResultsInput],
    reading: &RecordReading,
    mut see: impl FnMut(Snapshot),
) -> Result<SnapshotSource, ResultsError> {
    read_snapshots_holding(inputs, reading, HELD_SAMPLES_MAX / 2, &mut see)
}

/// The same, with at most `held_max` samples in memory for rows that are out of order.
pub(crate) fn read_snapshots_holding(
    inputs: &[ResultsInput],
    reading: &RecordReading,
    held_max: usize,
    see: &mut dyn FnMut(Snapshot),
) -> Result<SnapshotSource, ResultsError> {
    let survey = survey(inputs, &reading.read)?;
    let wall_anchor_ms = survey.start_ms;
    // Rows of the same second as the newest one, or of the two before, come in time.
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

/// What is read, and the origin of its times.
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

    /// A time from the start of the run.
    fn moved(&self, at: Nanos) -> Nanos {
        at - self.start.0
    }

    /// The sample with times from the start of the run, if it is read.
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

/// Reads samples that are almost in the order of their ends, and closes seconds meanwhile.
fn read_in_order(
    results: Results,
    scope: ReadScope,
    seconds: &mut Seconds<'_>,
) -> Result<ResultsEnd, ResultsError> {
    // Samples and arrivals alternate, and both count in the same seconds.
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

/// A second of a part.
#[derive(Default)]
struct PartSecond {
    open: OpenSecond,
    starts: SecondStarts,
}

/// Reads the seconds of a part.
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

/// The start of the run in ms since 1970, as [`crate::add_up_inputs`] determines it; second 0 of its snapshots starts
/// then.
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

/// The starts that count in the regularity of arrivals from the end of a second on.
#[derive(Default)]
struct SecondStarts {
    /// Those of the requests that ended in the second.
    requests: Vec<Nanos>,
    /// Sessions that started in the second.
    sessions: Vec<Nanos>,
}

/// Makes snapshots as the recorder's thread does, but without a thread.
struct Seconds<'s> {
    maker: SnapshotMaker,
    newest: Nanos,
    closing: ClosingSeconds<'s>,
}

/// Completes the snapshots of closed seconds.
struct ClosingSeconds<'s> {
    starts: RecentStarts,
    /// By second, for those that are open.
    pending: BTreeMap<u64, SecondStarts>,
    users: UsersOverTime,
    /// Whether the samples are those of several generators, whose numbers of users are those of each.
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
        // What is known at the end of the second does not depend on the order of the rows.
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

    /// Adds a complete second after all others.
    fn put(&mut self, number: u64, second: PartSecond) {
        let Seconds { maker, closing, .. } = self;
        closing.pending.insert(number, second.starts);
        maker.put(number, second.open, &mut |snapshot| closing.close(snapshot));
    }

    /// Closes all seconds; returns how many samples were late.
    fn finish(self) -> u64 {
        let Seconds { mut maker, mut closing, .. } = self;
        maker.finish(None, &mut |snapshot| closing.close(snapshot));
        closing.late_samples
    }
}

#[cfg(test)]
mod tests;
