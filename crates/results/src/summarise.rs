//! Computes the summary of results: of files, streams and run directories, as a whole or in a window.

use std::path::Path;

use crate::{
    AggregateSettings, ReadSettings, RecordReading, ReplayedRun, Results, ResultsError, ResultsFrom,
    ResultsInput, SampleObserver, aggregate_inputs,
};
use busyhour_analysis::arrivals::{
    ArrivalContext, ArrivalTally, ArrivalVerdict, JudgedStarts, RequestedProcess, Resolution, TallySettings,
    judge,
};
use busyhour_analysis::thresholds::Criterion;
use busyhour_analysis::{
    ARRIVAL_TICK_S_MAX, LaterRows, RecordEnd, RunFacts, SteadyPart, Summary, WindowChoice, steady_part,
};
use busyhour_record::{Manifest, RunDir};
use busyhour_sample::{ApdexLimits, Nanos, Sample};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::error::ReadRunError;
use crate::log_arrivals::LogLoad;
use crate::observed::add_observed;
use crate::run_arrivals::add_arrivals;
use crate::run_facts::facts_of_results;
use crate::start_order::StartOrder;
use crate::thresholds::{judge_manifest, judge_record};

/// Seed of the simulations in statistical tests; it is fixed so that the same results always have the same verdict.
const SEED: u64 = 0;

/// The part of the results that is summarised.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum ResultsPart {
    /// The whole run.
    #[default]
    Whole,
    /// The samples that start in a window, from its start (inclusive) to its end (exclusive), in seconds from the start of the
    /// run.
    Window(f64, f64),
    /// The steady part, which [`busyhour_analysis::steady_part`] determines.
    Steady,
}

/// Settings for the summary of results.
#[derive(Debug, Clone, Default)]
pub struct ResultsOptions {
    /// Settings for reading the results.
    pub read: ReadSettings,
    /// The limits of the Application Performance Index.
    pub apdex: ApdexLimits,
    /// The part that is summarised.
    pub part: ResultsPart,
    /// The kind of load. It is used if the results are not a run directory.
    pub load: LogLoad,
}

/// The summary of `inputs`, which are results of one test. Calls `progress` at intervals with the number of bytes read so far
/// and the total number, if that is known.
///
/// # Errors
/// An input cannot be read, or it is a stream and would have to be read a second time.
pub fn summarise_results(
    inputs: Vec<ResultsInput>,
    options: &ResultsOptions,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<Summary, ReadRunError> {
    summarised(inputs, options, progress).map(|(summary, _)| summary)
}

/// Computes the summary of the run in `dir` again from its manifest and its samples file. Its thresholds are judged again.
///
/// # Errors
/// The manifest or the samples file cannot be read.
pub fn summarise(dir: &RunDir) -> Result<Summary, ReadRunError> {
    summarise_results(vec![ResultsInput::path(dir.path())], &ResultsOptions::default(), &mut |_, _| {})
}

/// The summary of a result file of JMeter, read with the default options.
///
/// # Errors
/// The file cannot be read, or is neither a CSV nor an XML file of JMeter.
pub fn summarise_jtl(path: &Path) -> Result<Summary, ReadRunError> {
    summarise_results(vec![ResultsInput::path(path)], &ResultsOptions::default(), &mut |_, _| {})
}

/// The summary of `inputs`, as by [`summarise_results`], with the results of `criteria` for the same part of the inputs.
///
/// # Errors
/// An input cannot be read, or is a stream, because the inputs are read more than once.
pub fn judge_results(
    inputs: Vec<ResultsInput>,
    options: &ResultsOptions,
    criteria: Vec<Criterion>,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<Summary, ReadRunError> {
    let again = ResultsInput::try_clone_all(&inputs)?;
    let (mut summary, reading) = summarised(inputs, options, progress)?;
    summary.thresholds = judge_record(&again, &reading, &summary, criteria)?;
    Ok(summary)
}

/// The part of `inputs` that `options` selects, for callers that read the samples themselves.
///
/// # Errors
/// An input cannot be read, or it is a stream and would have to be read more than once.
pub fn record_reading(
    inputs: &[ResultsInput],
    options: &ResultsOptions,
) -> Result<RecordReading, ReadRunError> {
    let read = options.read.clone();
    Ok(match options.part {
        ResultsPart::Whole => RecordReading { read, window_s: None },
        ResultsPart::Window(from_s, to_s) => RecordReading { read, window_s: Some((from_s, to_s)) },
        ResultsPart::Steady => {
            let (steady, start_ms) = find_steady(ResultsInput::try_clone_all(inputs)?, &read)?;
            let read = ReadSettings { start_ms: Some(start_ms), ..read };
            RecordReading { read, window_s: steady.window_s }
        }
    })
}

/// The summary, and the settings with which the same samples can be read again.
fn summarised(
    inputs: Vec<ResultsInput>,
    options: &ResultsOptions,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<(Summary, RecordReading), ReadRunError> {
    let cloned =
        |inputs: &[ResultsInput]| inputs.iter().map(ResultsInput::try_clone).collect::<Option<Vec<_>>>();
    let mut options = options.clone();
    options.read.groups = true;
    let options = &options;
    let next = cloned(&inputs);
    let run = match &inputs[..] {
        [ResultsInput { from: ResultsFrom::Path(path), .. }] if path.is_dir() => Some(RunDir::open(path)),
        _ => None,
    };
    // A directory without a samples file causes an error below: it is not a run directory.
    let run = run.filter(|dir| dir.samples_path().exists());
    let manifest = run.as_ref().map(RunDir::read_manifest).transpose()?;
    let facts = |replay: &ReplayedRun| match &manifest {
        Some(manifest) => RunFacts {
            record_tail_missing: replay.end.cut_at.is_some(),
            record_end: run.as_ref().and_then(|dir| record_end(dir, manifest, replay)),
            ..RunFacts::from_manifest(manifest)
        },
        None => facts_of_results(replay),
    };
    let asked = match options.part {
        ResultsPart::Window(from_s, to_s) => Some((from_s, to_s)),
        ResultsPart::Whole | ResultsPart::Steady => None,
    };
    let first = Reading::of(inputs, options, asked, None, progress)?;
    let steady = match options.part {
        ResultsPart::Steady => {
            let whole = Summary::new(facts(&first.replay), &first.replay.totals);
            Some(steady_part(&whole.series, &whole.incidents))
        }
        ResultsPart::Whole | ResultsPart::Window(..) => None,
    };
    let window = steady.as_ref().and_then(|steady| steady.window_s).or(asked);
    // The steady part is known only after a first reading, so a second one is needed.
    let misread = window.is_some() && asked.is_none();
    let reading = match (misread, next) {
        (false, _) => first,
        (true, Some(inputs)) => {
            let start_ms = Some(first.replay.wall_anchor_ms);
            Reading::of(inputs, options, window, start_ms, progress)?
        }
        (true, None) => return Err(ReadRunError::Stream),
    };
    let read = ReadSettings { start_ms: Some(reading.replay.wall_anchor_ms), ..options.read.clone() };
    let again = RecordReading { read, window_s: window };
    let mut summary = Summary::new(facts(&reading.replay), &reading.replay.totals);
    if let Some(steady) = steady {
        summary.set_window_reason(WindowChoice::Steady, steady.reason);
    }
    match (&run, &manifest, window) {
        // The workloads, schedules and thresholds of a run apply to the complete run. A part of a run is judged like a
        // log.
        (Some(dir), Some(manifest), None) => {
            add_arrivals(dir, &mut summary)?;
            summary.thresholds = judge_manifest(dir, manifest, &summary)?;
        }
        _ => {
            let Reading { replay, starts } = reading;
            summary.add_arrivals(verdict(starts, &summary, options.load));
            if summary.run.only_actual_starts {
                summary.assess_result_file(&replay.totals, options.load == LogLoad::Open);
            }
        }
    }
    if let Some(dir) = &run {
        add_observed(dir, manifest.as_ref(), &mut summary);
    }
    Ok((summary, again))
}

/// For a run without an outcome: the end of its samples file, and the rows of the results file that the samples file lacks.
fn record_end(dir: &RunDir, manifest: &Manifest, replay: &ReplayedRun) -> Option<RecordEnd> {
    if manifest.outcome.is_some() {
        return None;
    }
    let ends = replay.inputs.iter().filter_map(|input| input.ends);
    let end = ends.map(|(_, last)| last).max().unwrap_or(Nanos::ZERO);
    let file = manifest.results_file.clone().unwrap_or_else(|| dir.jtl_path());
    let later = later_rows(&file, manifest.wall_anchor_ms, end);
    Some(RecordEnd { at_s: end.as_duration().as_secs_f64(), later })
}

/// The samples of a results file that ended later than `end`; `None` if there are none or the file cannot be read. Start and
/// elapsed time in the file are whole milliseconds, so both may be rounded.
fn later_rows(path: &Path, start_ms: i64, end: Nanos) -> Option<LaterRows> {
    // Opening a pipe would wait for a writer.
    if !path.is_file() {
        return None;
    }
    let settings = ReadSettings { start_ms: Some(start_ms), ..ReadSettings::default() };
    let results = Results::open(vec![ResultsInput::path(path)], &settings).ok()?;
    let end_s = end.as_duration().as_secs_f64();
    let (end, _) = results.instants((end_s, end_s));
    let (mut rows, last) = (0, end + 2_000_000_u64);
    let read = results.read(&mut |sample| rows += u64::from(sample.times.end > last), &mut |_| {});
    (read.is_ok() && rows > 0).then(|| LaterRows { file: path.display().to_string(), rows })
}

/// The steady part of `inputs` in seconds from the start of the run, and the start of the run in ms since 1970.
///
/// # Errors
/// An input cannot be read.
pub(crate) fn find_steady(
    inputs: Vec<ResultsInput>,
    read: &ReadSettings,
) -> Result<(SteadyPart, i64), ResultsError> {
    let (replay, ()) =
        aggregate_inputs(inputs, read, &AggregateSettings::default(), &mut |_| (), &mut |_| {})?;
    let summary = Summary::new(facts_of_results(&replay), &replay.totals);
    Ok((steady_part(&summary.series, &summary.incidents), replay.wall_anchor_ms))
}

impl SampleObserver for StartOrder {
    fn request(&mut self, sample: &Sample<'_>) {
        self.add(sample.times.start.0);
    }
}

/// The result of reading the inputs once.
struct Reading {
    replay: ReplayedRun,
    starts: StartOrder,
}

impl Reading {
    fn of(
        inputs: Vec<ResultsInput>,
        options: &ResultsOptions,
        window_s: Option<(f64, f64)>,
        start_ms: Option<i64>,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<Reading, ReadRunError> {
        let read = ReadSettings { start_ms, ..options.read.clone() };
        let settings = AggregateSettings { apdex: options.apdex, window_s };
        let bytes = std::cell::Cell::new(None);
        let mut starts = |results: &Results| {
            bytes.set(results.bytes());
            let resolution = resolution_of(results.tick_ns());
            StartOrder::new(ArrivalTally::new(TallySettings::new(resolution)))
        };
        let (replay, starts) =
            aggregate_inputs(inputs, &read, &settings, &mut starts, &mut |read| progress(read, bytes.get()))?;
        Ok(Reading { replay, starts })
    }
}

/// The resolution of start times with this clock tick.
fn resolution_of(tick_ns: u64) -> Resolution {
    if tick_ns >= Resolution::Millisecond.tick_ns() {
        Resolution::Millisecond
    } else {
        Resolution::Nanosecond
    }
}

/// The verdict on the starts of samplers; empty if there are none, or if their clock is too coarse.
fn verdict(starts: StartOrder, summary: &Summary, load: LogLoad) -> Vec<ArrivalVerdict> {
    let is_coarse = summary.run.other_tool.as_ref().is_some_and(|tool| tool.tick_s > ARRIVAL_TICK_S_MAX);
    let tally = starts.finish();
    if tally.arrivals() == 0 || is_coarse {
        return Vec::new();
    }
    let open = load == LogLoad::Open || !summary.run.open.is_empty();
    let asked = if open {
        RequestedProcess::Unknown
    } else {
        RequestedProcess::Closed {
            users: (summary.users_max > 0).then_some(f64::from(summary.users_max)),
            response_s: Some(summary.total.service.mean / 1e3),
            think_s: None,
        }
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let circumstances = ArrivalContext {
        scope: JudgedStarts::SamplerStarts,
        rate_timers: summary.run.rate_timers.clone(),
        ..ArrivalContext::default()
    };
    vec![judge(tally.finish(&mut random), asked, &circumstances)]
}
