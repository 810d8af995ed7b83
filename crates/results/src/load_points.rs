//! Measures the load of a run: users, throughput, response time and think time.

use std::collections::HashMap;

use busyhour_analysis::{Plateau, Summary, plateaus};
use busyhour_queueing::fit::{CapacityFinding, LoadPoint, VALUES_MAX};
use busyhour_sample::{Sample, SampleFlags, SampleKind};

use crate::{LogForm, ReadSettings, Results, ResultsFrom, ResultsInput};

use crate::error::ReadRunError;
use crate::load_precision::LoadBatches;
use crate::summarise::{ResultsOptions, ResultsPart, summarise_results};

/// Maximum share of requests that start before the previous request of the same thread name ended. A larger share shows that
/// several users have the same name.
const SHARED_NAMES: f64 = 0.01;

/// Resolution of the times of a log, which are whole milliseconds: a request may seem to start one step before it really did.
const CLOCK_STEP_NS: u64 = 1_000_000;

/// The load of a run.
#[derive(Debug, Clone)]
pub struct MeasuredLoad {
    /// The measured users, throughput and times.
    pub point: LoadPoint,
    /// Caveats of the measurement.
    pub findings: Vec<CapacityFinding>,
    /// A description of the part of the run that was measured.
    pub part: String,
    /// Start and end of this part, in seconds from the start of the run.
    pub window_s: (f64, f64),
    /// Start of the run in ms since 1970.
    pub wall_anchor_ms: i64,
    /// Whether the load was open. An open load has no number of users.
    pub is_open: bool,
    /// Service times in seconds, either of all requests or of every n-th request.
    pub times_s: Vec<f64>,
    /// Resolution of the clock of these times, in seconds; 0 if the times are in nanoseconds.
    pub clock_step_s: f64,
}

/// Measures the load of one run, which is called `name`. Usually returns one load. If `in_steps` is set, the steady
/// part is requested and the number of users changes in steps ([`plateaus`]), returns one load for each step, called
/// `NAME@N users`.
/// The response time is the service time, which counts from the actual start, because the lateness of a generator or a timer is
/// not caused by the system. The think time is the mean time from the end of a user's request to the start of the next request
/// of that user.
///
/// # Errors
/// The results cannot be read, or cannot be read several times.
pub fn measure_loads(
    name: &str,
    input: ResultsInput,
    options: &ResultsOptions,
    in_steps: bool,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<Vec<MeasuredLoad>, ReadRunError> {
    let again = || input.try_clone().ok_or(ReadRunError::Stream);
    let summary = summarise_results(vec![again()?], options, progress)?;
    let steps = if in_steps && options.part == ResultsPart::Steady && summary.run.open.is_empty() {
        plateaus(&summary.series)
    } else {
        Vec::new()
    };
    if steps.is_empty() {
        return Ok(vec![measure_load(name.to_owned(), &input, &summary, options)?]);
    }
    let mut found: Vec<MeasuredLoad> = Vec::new();
    for Plateau { users, window_s: (from_s, to_s) } in steps {
        let options = ResultsOptions { part: ResultsPart::Window(from_s, to_s), ..options.clone() };
        let summary = summarise_results(vec![again()?], &options, progress)?;
        // A plateau in which no request started has no measurement.
        if summary.total.samples == 0 {
            continue;
        }
        let mut called = format!("{name}@{users} users");
        if found.iter().any(|other| other.point.name == called) {
            called = format!("{called} from {from_s} s");
        }
        let mut load = measure_load(called, &input, &summary, &options)?;
        load.part = format!("from {from_s} s to {to_s} s, the step with {users} users");
        found.push(load);
    }
    Ok(found)
}

/// Measures the load of the part of a run that `summary` covers.
fn measure_load(
    name: String,
    input: &ResultsInput,
    summary: &Summary,
    options: &ResultsOptions,
) -> Result<MeasuredLoad, ReadRunError> {
    let again = input.try_clone().ok_or(ReadRunError::Stream)?;
    let is_run = matches!(&input.from, ResultsFrom::Path(path) if path.is_dir());
    let window_s = match &summary.window {
        Some(window) => (window.from_s, window.to_s),
        None => (summary.total.first_start_s, summary.total.last_end_s),
    };
    let start_ms = Some(summary.run.wall_anchor_ms);
    // Thread names identify users. They are in a column that totals do not need, so all columns are read.
    let settings = ReadSettings { start_ms, all_columns: true, ..options.read.clone() };
    let results = Results::open(vec![again], &settings)?;
    // Times count from an origin that may be before the start of the run.
    let shift_ns = (summary.run.wall_anchor_ms - results.wall_anchor_ms()).max(0) as u64 * 1_000_000;
    let at = |seconds: f64| shift_ns + (seconds.max(0.0) * 1e9).round() as u64;
    let mut loop_ = UserLoops::new((at(window_s.0), at(window_s.1)), summary.total.samples);
    results.read(&mut |sample| loop_.add(sample), &mut |_| {})?;

    let seconds = window_s.1 - window_s.0;
    let users = mean_users(summary, window_s).or_else(|| loop_.users());
    let errors = loop_.batches.precision();
    let samples = summary.total.samples;
    let mut findings = Vec::new();
    if let Some(share) = loop_.overlapping().filter(|share| *share > SHARED_NAMES) {
        findings.push(CapacityFinding::NamesShared { point: name.clone(), share });
    }
    let is_open = !summary.run.open.is_empty();
    if is_open {
        findings.push(CapacityFinding::OpenLoad { point: name.clone() });
    }
    let response_s = summary.total.service.mean / 1e3;
    Ok(MeasuredLoad {
        point: LoadPoint {
            name,
            users: users.unwrap_or(0.0),
            throughput_per_s: if seconds > 0.0 { samples as f64 / seconds } else { 0.0 },
            response_s: (samples > 0).then_some(response_s),
            throughput_error: errors.map(|errors| errors.0),
            response_error_s: errors.map(|errors| errors.1),
            think_s: loop_.think_s(),
            error_share: (samples > 0).then(|| summary.total.errors as f64 / samples as f64),
            seconds: Some(seconds),
            ..LoadPoint::default()
        },
        findings,
        part: summary
            .window
            .as_ref()
            .map_or_else(|| "all of the run".to_owned(), |window| window.reason.clone()),
        window_s,
        wall_anchor_ms: summary.run.wall_anchor_ms,
        is_open,
        times_s: std::mem::take(&mut loop_.times_s),
        clock_step_s: match &summary.run.other_tool {
            Some(tool) => tool.duration_step_s,
            None if is_run => 0.0,
            None => LogForm::Xml.duration_step_ns() as f64 / 1e9,
        },
    })
}

/// Measures the cycles of single users: request, think time, next request.
struct UserLoops {
    window_ns: (u64, u64),
    batches: LoadBatches,
    /// The end of the last request of each user, by group and number.
    ends: HashMap<(u32, u32), u64>,
    gaps: u64,
    gaps_ns: u64,
    overlaps: u64,
    /// Every `keep_each`-th service time is kept.
    keep_each: u64,
    seen: u64,
    times_s: Vec<f64>,
}

impl UserLoops {
    fn new(window_ns: (u64, u64), samples: u64) -> UserLoops {
        UserLoops {
            window_ns,
            batches: LoadBatches::new(window_ns, samples),
            ends: HashMap::new(),
            gaps: 0,
            gaps_ns: 0,
            overlaps: 0,
            keep_each: samples.div_ceil(VALUES_MAX as u64).max(1),
            seen: 0,
            times_s: Vec::new(),
        }
    }

    fn add(&mut self, sample: &Sample<'_>) {
        let aside = [SampleFlags::WARMUP, SampleFlags::LISTENERS_ONLY];
        let is_aside = aside.into_iter().any(|flag| sample.flags.contains(flag));
        if is_aside || SampleKind::of(sample.flags) != SampleKind::Request {
            return;
        }
        let (start, end) = (sample.times.start.0, sample.times.end.0);
        self.batches.add(end, sample.service_ns() as f64 / 1e9);
        if (self.window_ns.0..self.window_ns.1).contains(&start) {
            if self.seen.is_multiple_of(self.keep_each) {
                self.times_s.push(sample.service_ns() as f64 / 1e9);
            }
            self.seen += 1;
        }
        // If the request has no thread name, its user is unknown.
        if sample.user == 0 {
            return;
        }
        let Some(before) = self.ends.insert((sample.group, sample.user), end) else { return };
        // A pause is included if it ends in the window, regardless of its start. If only pauses entirely within the
        // window were included, long pauses would be missing.
        if !(self.window_ns.0..self.window_ns.1).contains(&start) {
            return;
        }
        self.gaps += 1;
        self.gaps_ns += start.saturating_sub(before);
        self.overlaps += u64::from(start + CLOCK_STEP_NS < before);
    }

    fn think_s(&self) -> Option<f64> {
        (self.gaps > 0).then(|| self.gaps_ns as f64 / self.gaps as f64 / 1e9)
    }

    fn overlapping(&self) -> Option<f64> {
        (self.gaps > 0).then(|| self.overlaps as f64 / self.gaps as f64)
    }

    /// The number of users; `None` without thread names.
    fn users(&self) -> Option<f64> {
        (!self.ends.is_empty()).then_some(self.ends.len() as f64)
    }
}

/// Indices in the series of the seconds that are completely within the window.
fn whole_seconds(summary: &Summary, window_s: (f64, f64)) -> impl Iterator<Item = usize> {
    let inside = move |second: u64| second as f64 >= window_s.0 && (second + 1) as f64 <= window_s.1;
    let seconds = summary.series.second.clone();
    (0..seconds.len()).filter(move |&at| inside(seconds[at]))
}

/// The mean number of active users in the window. If it is unknown, the maximum number of the run; `None` if that is unknown,
/// too.
fn mean_users(summary: &Summary, window_s: (f64, f64)) -> Option<f64> {
    let known: Vec<f64> = whole_seconds(summary, window_s)
        .filter_map(|at| summary.series.users[at])
        .filter(|users| *users > 0)
        .map(f64::from)
        .collect();
    if known.is_empty() {
        return (summary.users_max > 0).then_some(f64::from(summary.users_max));
    }
    Some(known.iter().sum::<f64>() / known.len() as f64)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::summarise::ResultsPart;

    /// A JTL file of users with constant response and think times; the users start `offset_ms` apart.
    fn log(users: u64, response_ms: u64, think_ms: u64, seconds: u64, threads: u64) -> String {
        let mut rows: Vec<(u64, String)> = Vec::new();
        for user in 0..users {
            let mut start = user * (response_ms + think_ms) / users;
            while start < seconds * 1_000 {
                let thread = user % threads + 1;
                rows.push((
                    start + response_ms,
                    format!(
                        "{},{response_ms},get,200,OK,Users 1-{thread},text,true,,100,100,{threads},{threads},,1,0,0",
                        1_700_000_000_000 + start
                    ),
                ));
                start += response_ms + think_ms;
            }
        }
        rows.sort();
        let mut text = String::from(
            "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,\
             grpThreads,allThreads,URL,Latency,IdleTime,Connect\n",
        );
        for (_, row) in rows {
            let _ = writeln!(text, "{row}");
        }
        text
    }

    fn measure(text: &str) -> MeasuredLoad {
        let mut found = measure_all(text, true);
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    fn measure_all(text: &str, in_steps: bool) -> Vec<MeasuredLoad> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("results.jtl");
        std::fs::write(&path, text).unwrap();
        let options = ResultsOptions { part: ResultsPart::Steady, ..ResultsOptions::default() };
        measure_loads("run", ResultsInput::path(path), &options, in_steps, &mut |_, _| {}).unwrap()
    }

    #[test]
    fn users_with_constant_times_are_measured_exactly() {
        let found = measure(&log(20, 100, 900, 60, 20));
        let point = &found.point;
        assert_eq!((point.users, point.think_s, point.response_s), (20.0, Some(0.9), Some(0.1)));
        assert!((point.throughput_per_s - 20.0).abs() < 0.5, "{point:?}");
        assert!((point.users_by_law().unwrap() / 20.0 - 1.0).abs() < 0.03, "{point:?}");
        assert!(point.throughput_error.is_some_and(|error| error < 0.5), "{point:?}");
        assert_eq!((point.error_share, found.findings.len(), found.is_open), (Some(0.0), 0, false));
        assert_eq!((found.times_s[0], found.clock_step_s), (0.1, 0.001));
    }

    #[test]
    fn each_step_is_a_separate_load() {
        // 10 users run for 30 s, 40 for the next 30 s, 20 for the last 30 s. The users of each step start when those of the
        // previous one end.
        let rows = |users: u64, from_s: u64| -> Vec<String> {
            let text = log(users, 100, 900, 30, users);
            let moved = |line: &str| {
                let (stamp, rest) = line.split_once(',').unwrap();
                format!("{},{rest}", stamp.parse::<u64>().unwrap() + from_s * 1_000)
            };
            text.lines().skip(1).map(moved).collect()
        };
        let head = log(0, 100, 900, 1, 1);
        let body = [rows(10, 0), rows(40, 30), rows(20, 60)].concat().join("\n");
        let found = measure_all(&format!("{head}{body}\n"), true);
        let reported: Vec<(&str, f64)> =
            found.iter().map(|load| (load.point.name.as_str(), load.point.users)).collect();
        assert_eq!(reported, [("run@10 users", 10.0), ("run@40 users", 40.0), ("run@20 users", 20.0)]);
        for load in &found {
            let point = &load.point;
            assert!((point.throughput_per_s / point.users - 1.0).abs() < 0.03, "{point:?}");
            assert_eq!((point.think_s, point.response_s), (Some(0.9), Some(0.1)), "{point:?}");
        }
        // The last second is excluded, because the next step may start in it.
        assert_eq!(found[1].part, "from 33 s to 59 s, the step with 40 users");
        assert_eq!(measure_all(&format!("{head}{body}\n"), false).len(), 1);
    }

    #[test]
    fn users_of_two_generators_with_the_same_names_are_detected() {
        // 20 users share ten names. The requests of two users with the same name alternate, so pauses seem shorter than they
        // are.
        let found = measure(&log(20, 100, 900, 60, 10));
        assert_eq!((found.point.users, found.point.think_s), (10.0, Some(0.4)));
        let reported = LoadPoint { think_s: Some(0.9), ..found.point };
        assert!((reported.users_by_law().unwrap() / 20.0 - 1.0).abs() < 0.03, "{reported:?}");
        // If requests are long, those of users with the same name overlap.
        let found = measure(&log(20, 800, 200, 60, 10));
        assert!(matches!(&found.findings[..], [CapacityFinding::NamesShared { .. }]), "{found:?}");
    }
}
