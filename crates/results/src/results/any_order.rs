//! Aggregates results whose rows may be in any order.
//!
//! Rows are usually almost in the order of their ends, and one reading in bounded memory is enough. If the earliest sample is
//! not among the first rows, files are read once more, because the start of the run determines the seconds. If a row follows
//! rows that ended much later, the time series are computed in further readings, each of which holds the times of a limited
//! number of samples. Streams are read only once; their late samples are counted in a later second.

use busyhour_sample::{
    ClosedSeconds, HELD_SAMPLES_MAX, LabelRows, Nanos, Sample, SampleFlags, SampleKind, SecondsPart,
    UsersOverTime,
};

use super::settings::{AggregateSettings, ReadSettings};
use super::visitor::Visitor;
use super::{Aggregated, Results, ResultsError, ResultsInput};
use crate::replay::ReplayedRun;

/// Receives the requests that are included in the totals.
pub trait SampleObserver {
    /// Receives a request. Its times count from an origin before the start of the run.
    fn request(&mut self, sample: &Sample<'_>);
}

impl SampleObserver for () {
    fn request(&mut self, _: &Sample<'_>) {}
}

/// Opens and aggregates `inputs`, whose rows may be in any order. `observer` creates an observer for each reading; the observer
/// of the last complete reading is returned.
///
/// # Errors
/// An input cannot be read, or has no valid row. An error is also returned if the start of a window is uncertain and an input
/// is a stream.
pub fn aggregate_inputs<O: SampleObserver>(
    inputs: Vec<ResultsInput>,
    read: &ReadSettings,
    settings: &AggregateSettings,
    observer: &mut dyn FnMut(&Results) -> O,
    progress: &mut dyn FnMut(u64),
) -> Result<(ReplayedRun, O), ResultsError> {
    add_up_holding(inputs, read, settings, observer, progress, HELD_SAMPLES_MAX)
}

/// Like [`aggregate_inputs`], with the times of at most `held_max` samples in memory for rows that are out of order.
pub(super) fn add_up_holding<O: SampleObserver>(
    inputs: Vec<ResultsInput>,
    read: &ReadSettings,
    settings: &AggregateSettings,
    observer: &mut dyn FnMut(&Results) -> O,
    progress: &mut dyn FnMut(u64),
    held_max: usize,
) -> Result<(ReplayedRun, O), ResultsError> {
    let again = ResultsInput::try_clone_all(&inputs);
    let results = Results::open(inputs, read)?;
    let expected_ms = results.start_ms();
    let mut seen = observer(&results);
    let mut found = results.aggregate(settings, |sample| seen.request(sample), progress)?;
    let mut read = read.clone();
    let moved = found.true_start_ms() != expected_ms;
    let again = match again {
        Ok(again) => again,
        Err(stream) if moved && settings.window_s.is_some() => return Err(stream),
        Err(_) => return Ok((found.into_replay(), seen)),
    };
    read.start_ms = read.start_ms.or((!found.start_known).then(|| found.true_start_ms()));
    if moved {
        let results = Results::open(ResultsInput::try_clone_all(&again)?, &read)?;
        seen = observer(&results);
        found = results.aggregate(settings, |sample| seen.request(sample), progress)?;
    }
    if found.aggregator.late() > 0 {
        order_seconds(&mut found, &again, &read, progress, held_max)?;
    }
    Ok((found.into_replay(), seen))
}

/// Computes the time series by second in further readings.
fn order_seconds(
    found: &mut Aggregated,
    inputs: &[ResultsInput],
    read: &ReadSettings,
    progress: &mut dyn FnMut(u64),
    held_max: usize,
) -> Result<(), ResultsError> {
    let mut series = ClosedSeconds::new(found.only_actual_starts);
    let mut next = Some(0);
    while let Some(from) = next {
        let results = Results::open(ResultsInput::try_clone_all(inputs)?, read)?;
        let (mut part, mut rows) = (SecondsPart::from(from, held_max), LabelRows::default());
        let mut add = |sample: &Sample<'_>| {
            if !counts(sample) {
                return;
            }
            // Rows have the same numbers in each reading.
            let kind = SampleKind::of(sample.flags);
            let (row, _) = rows.of(sample.label, kind);
            if kind != SampleKind::SubResult {
                part.add(row, sample, kind == SampleKind::Request);
            }
        };
        results.read_with_visitor(&mut Visitor { sample: &mut add, arrival: &mut |_| {} }, progress)?;
        next = part.close(&mut series);
    }
    found.aggregator.replace_series(series);
    Ok(())
}

/// Whether a sample is included in any figure.
fn counts(sample: &Sample<'_>) -> bool {
    let has = |flag| sample.flags.contains(flag);
    !has(SampleFlags::LISTENERS_ONLY) && !has(SampleFlags::WARMUP)
}

/// Facts that are determined before results are read second by second.
#[derive(Debug, Clone)]
pub(crate) struct Survey {
    /// The start of the run in ms since 1970. It is the start of the earliest sample, unless it is known otherwise.
    pub(crate) start_ms: i64,
    /// Maximum time in ns by which a sample ended before a sample that precedes it in the input.
    pub(crate) disorder_ns: u64,
    /// Active users, by seconds from the start of the run.
    pub(crate) users: UsersOverTime,
    /// Number of inputs.
    pub(crate) sources: usize,
}

/// Surveys `inputs` by reading them once, or twice if the earliest sample is not among the first rows.
///
/// # Errors
/// An input cannot be read, or cannot be read twice.
pub(crate) fn survey(inputs: &[ResultsInput], read: &ReadSettings) -> Result<Survey, ResultsError> {
    let results = Results::open(ResultsInput::try_clone_all(inputs)?, read)?;
    let supposed_ms = results.start_ms();
    let found = survey_once(results)?;
    if found.start_ms == supposed_ms {
        return Ok(found);
    }
    let read = ReadSettings { start_ms: Some(found.start_ms), ..read.clone() };
    survey_once(Results::open(ResultsInput::try_clone_all(inputs)?, &read)?)
}

fn survey_once(results: Results) -> Result<Survey, ResultsError> {
    let (origin_ms, supposed_ms, known) = (results.wall_anchor_ms(), results.start_ms(), results.start_known);
    let (mut first, mut newest, mut disorder_ns) = (None::<Nanos>, Nanos::ZERO, 0);
    let mut see = |sample: &Sample<'_>| {
        if counts(sample) {
            first = Some(first.map_or(sample.times.start, |first| first.min(sample.times.start)));
            disorder_ns = disorder_ns.max(newest.since(sample.times.end));
            newest = newest.max(sample.times.end);
        }
    };
    let end = results.read(&mut see, &mut |_| {})?;
    let first_ms = first.filter(|_| !known).map(|first| first.0 / 1_000_000);
    let start_ms = first_ms.map_or(supposed_ms, |ms| origin_ms.saturating_add_unsigned(ms));
    let mut users = end.users;
    users.move_origin(u64::try_from(start_ms - origin_ms).unwrap_or(0) / 1_000);
    Ok(Survey { start_ms, disorder_ns, users, sources: end.inputs.len() })
}

#[cfg(test)]
mod tests;
