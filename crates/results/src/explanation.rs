//! Explains the response times of a run from its samples and from what was observed of the system.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;

use busyhour_analysis::Summary;
use busyhour_analysis::arrivals::{ArrivalVerdict, RequestedProcess};
use busyhour_analysis::explanation::Explanation;
use busyhour_analysis::incidents::Incident;
use busyhour_analysis::{GeneratorState, generator_mark};
use busyhour_explain::{
    Observations, Requests, Signals, TimedRequest, explain, is_resource_metric, is_signal_metric, saturation,
    signals, utilizations,
};
use busyhour_record::{Manifest, RunDir};
use busyhour_sample::{Nanos, SampleKind};
use busyhour_series::{SeriesFileError, SeriesQuery, SeriesSet};
use busyhour_stats::Decision;
use serde_json::Value;

use crate::results::{ReadSettings, Results, ResultsInput};
use crate::stacks::stack_differences;
use crate::system_figures::series_path;

/// Points of a series that are read; a longer run has longer intervals.
const POINTS_MAX: usize = 4_096;

/// The largest `gc.json` that is read.
const GC_FILE_BYTES_MAX: u64 = 64 << 20;

/// Adds the explanation of slow requests, the saturation of resources and the comparison of stacks to the summary of a run that was
/// observed. Samples and series that cannot be read are left out: the summary has already reported them.
pub(crate) fn add_explanation(dir: &RunDir, manifest: Option<&Manifest>, summary: &mut Summary) {
    let Some(path) = series_path(dir, manifest) else { return };
    let (from_s, to_s) = summary.measured_s();
    let requests = read_requests(dir).unwrap_or_default();
    // Only slow responses are left after the last start.
    let last = requests.kept().iter().map(|request| request.start.0).max().unwrap_or(0);
    let part = (ns(from_s), ns(to_s).min(last + 1));
    if part.0 >= part.1 {
        return;
    }
    let median_ns = (summary.total.response.p50 * 1e6) as u64;
    let generator_cores = summary.run.generator.cores.iter().filter_map(|core| core.busy).sum();
    let set = read_series(&path, part).unwrap_or_default();
    let signals = signals(&set, &requests, median_ns, generator_cores, part);
    summary.explanation = explanation(summary, &requests, signals, part, leak(dir.path()));
    summary.stacks = stack_differences(dir.path(), requests.kept(), part, summary.explanation.as_ref());
    summary.saturation = saturation(&set, &requests, part);
}

fn ns(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e9).round() as u64
}

fn explanation(
    summary: &Summary,
    requests: &Requests,
    signals: Signals,
    part: (u64, u64),
    leak: Option<String>,
) -> Option<Explanation> {
    let is_slow = |incident: &&Incident| incident.cause.is_none();
    let incidents = summary
        .incidents
        .iter()
        .filter(is_slow)
        .map(|incident| (ns(incident.from_s), incident.to_s.map_or(part.1, ns).min(part.1)))
        .collect();
    explain(&Observations {
        requests,
        part,
        is_open: !summary.run.open.is_empty(),
        signals: signals.signals,
        cpu: signals.cpu,
        incidents,
        generator: generator(summary),
        arrivals: arrivals(summary),
        leak,
    })
}

/// Why the generator was the bottleneck: samples are missing, or requests started late.
fn generator(summary: &Summary) -> Option<String> {
    let mark = generator_mark(summary);
    let is_late = matches!(mark.state, GeneratorState::Doubtful) && mark.is_late;
    (is_late || mark.state == GeneratorState::Unusable)
        .then(|| mark.reasons.first().cloned().unwrap_or(mark.words))
}

/// Why arrivals were not as planned.
fn arrivals(summary: &Summary) -> Option<String> {
    let is_known = |verdict: &&ArrivalVerdict| {
        !matches!(verdict.requested, RequestedProcess::Unknown | RequestedProcess::Closed { .. })
    };
    let mut requested = summary.shown_arrivals().iter().filter(is_known);
    requested.find(|verdict| verdict.decision == Decision::Outside).map(|verdict| verdict.line.clone())
}

/// The requests of a run; `None` if its samples cannot be read.
fn read_requests(dir: &RunDir) -> Option<Requests> {
    let results = Results::open(vec![ResultsInput::path(dir.path())], &ReadSettings::default()).ok()?;
    let mut requests = Requests::default();
    let mut see = |sample: &busyhour_sample::Sample<'_>| {
        if SampleKind::of(sample.flags) == SampleKind::Request {
            requests.add(TimedRequest {
                start: sample.times.intended,
                response_ns: sample.times.response_ns(),
                label: sample.label.0,
            });
        }
    };
    results.read(&mut see, &mut |_| {}).ok()?;
    Some(requests)
}

/// The mean use of each observed resource of a run, from 0 to 1, between two times in seconds from its start. Empty if the run was not
/// observed.
#[must_use]
pub fn resource_utilizations(run: &Path, (from_s, to_s): (f64, f64)) -> Vec<(String, f64)> {
    let dir = RunDir::open(run);
    let manifest = dir.read_manifest().ok();
    let Some(path) = series_path(&dir, manifest.as_ref()) else { return Vec::new() };
    let part = (ns(from_s), ns(to_s));
    read_series(&path, part).map_or_else(Vec::new, |set| utilizations(&set, part))
}

/// The series of a file that show causes or resources; `None` if it cannot be read.
fn read_series(path: &Path, part: (u64, u64)) -> Option<SeriesSet> {
    let query = SeriesQuery {
        from: Nanos(part.0),
        to: Nanos(part.1),
        points_max: POINTS_MAX,
        select: |_, info| is_signal_metric(&info.name) || is_resource_metric(&info.name),
        ..SeriesQuery::default()
    };
    let read = File::open(path)
        .map_err(SeriesFileError::from)
        .and_then(|file| SeriesSet::from_reader(BufReader::with_capacity(1 << 16, file), &query));
    read.ok()
}

/// The sentence about a leak in the garbage-collection log of a run; `None` without a log, or without a leak.
fn leak(dir: &Path) -> Option<String> {
    let mut text = String::new();
    File::open(dir.join("gc.json")).ok()?.take(GC_FILE_BYTES_MAX).read_to_string(&mut text).ok()?;
    let file: Value = serde_json::from_str(&text).ok()?;
    let sources = file.get("sources")?.as_array()?;
    sources.iter().find_map(|source| {
        let leak = source.pointer("/summary/leak")?;
        (leak.get("verdict")?.as_str()? == "leak").then(|| {
            let name = source.get("name").and_then(Value::as_str).unwrap_or("the log");
            format!("{name} shows live data that grows as a leak does")
        })
    })
}
