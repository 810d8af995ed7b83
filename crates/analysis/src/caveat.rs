//! Caveats: reasons to doubt a result, each with advice.

use std::fmt;

use busyhour_sample::{AbandonedCore, ChangedFrom, OTHER_LABELS, RunEnd, Stall};
use serde::{Deserialize, Serialize};

use crate::arrival_caveat::ArrivalCaveat;
use crate::facts::LaterRows;
use crate::groups::{GroupPhase, describe_phases, join_names, shorten_name};
use crate::incidents::Unsteady;
use crate::result_file::{ARRIVAL_TICK_S_MAX, LabelTime, OmissionBounds, PercentileInterval};
use crate::rounding::digits;
use crate::stalls;

/// A reason to doubt a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Caveat {
    /// No request ended.
    NoSamples,
    /// The manifest has no outcome: the run was cut off, or has not ended.
    #[serde(rename = "unfinished")]
    RunOutcomeMissing,
    /// The record ends before the end of the run, because the run was cut off.
    RecordEndsEarly {
        /// The last end of a sample in the record, in seconds from the start of the run.
        at_s: f64,
        /// A results file of the same run with samples that ended later.
        later: Option<LaterRows>,
    },
    /// The run was stopped before its planned end.
    StoppedEarly {
        /// How the run was stopped.
        end: RunEnd,
        /// The terminal view or the live page, if the run was stopped there; otherwise `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<ChangedFrom>,
    },
    /// An error stopped the run.
    StoppedByError {
        /// The message of the error; empty when unknown.
        error: String,
    },
    /// The process, or one of its cores, did not run for some time. Response times measured during that time include
    /// the generator's delay.
    GeneratorStalled {
        /// The reported stalls, in order of time.
        stalls: Vec<Stall>,
        /// Number of shorter stalls that are not listed.
        more: u64,
    },
    /// Cores were abandoned because they did not respond at the end of the run.
    CoresAbandoned {
        /// The cores, with the time of their last response.
        cores: Vec<AbandonedCore>,
    },
    /// Samples were in flight at the end of the run; they are excluded from all figures.
    #[serde(rename = "interrupted")]
    SamplesInFlight {
        /// Number of samples.
        samples: u64,
    },
    /// Arrivals were still waiting for a user when the run was stopped. Their waits, which are the longest, are
    /// excluded from all figures.
    #[serde(rename = "arrivals_left")]
    ArrivalsWaiting {
        /// Number of arrivals.
        arrivals: u64,
    },
    /// Sessions of open workloads ended without a request, so that the rate of requests is below the rate of arrivals.
    IdleSessions {
        /// Minimum number of such sessions.
        sessions: u64,
        /// Number of started sessions.
        #[serde(rename = "begun")]
        started: u64,
    },
    /// A core of the generator was busy, so that response times may include the generator's own delay.
    GeneratorBusy {
        /// CPU time of the busiest core over the length of the run, in per cent; `None` when unknown.
        busy_percent: Option<f64>,
        /// The maximum over single seconds, in per cent; `None` when unknown.
        busy_second_percent: Option<f64>,
        /// Number of busy cores.
        cores: u32,
    },
    /// The hypervisor gave other virtual machines CPU time that this one requested.
    CpuStolen {
        /// Stolen share of the requested CPU time, in per cent.
        percent: f64,
    },
    /// The generator's control group used up its CPU quota.
    CpuThrottled {
        /// Share of the periods of the quota in which it was used up, in per cent.
        percent: f64,
    },
    /// The recorder fell behind and delayed users.
    RecorderStalled {
        /// Number of delays.
        stalls: u64,
        /// Total delay over all cores, in seconds.
        stalled_s: f64,
    },
    /// Samples were taken but not recorded.
    SamplesLost {
        /// Number of samples.
        samples: u64,
    },
    /// A response, or the processing of a text, exceeded a limit of the generator.
    LimitExceeded {
        /// The limit.
        limit: String,
        /// How often the limit was exceeded.
        times: u64,
    },
    /// Rows of an output file are missing.
    OutputLost {
        /// The file.
        file: String,
        /// The error of the operating system.
        error: String,
        /// Number of missing rows or samples.
        lost: u64,
    },
    /// A listener's file was not written.
    ListenerNotWritten {
        /// The file.
        file: String,
        /// The reason.
        reason: String,
    },
    /// The recorder failed.
    RecorderFailed {
        /// The error.
        error: String,
    },
    /// The tail of the record is missing.
    RecordTailMissing,
    /// Rows of a file could not be parsed and are excluded.
    BadRows {
        /// The file.
        file: String,
        /// Number of rows.
        rows: u64,
        /// The first of these rows, with their positions.
        first: Vec<String>,
    },
    /// The combined inputs do not overlap in time, so they do not come from one test.
    #[serde(rename = "inputs_apart")]
    InputsDoNotOverlap,
    /// The record has only one start time per sample, in whole milliseconds.
    OnlyActualStarts,
    /// The file of another tool has only one start time per sample.
    #[serde(rename = "actual_starts")]
    ToolHasOnlyActualStarts {
        /// The tool.
        tool: String,
        /// The clock tick of start times in s.
        tick_s: f64,
    },
    /// Another tool reported requests or iterations that it should have started, but did not.
    #[serde(rename = "dropped_by_tool")]
    NotStartedByTool {
        /// The tool.
        tool: String,
        /// Number of requests or iterations.
        dropped: u64,
    },
    /// The file of another tool does not contain failed requests.
    #[serde(rename = "failed_missing")]
    FailedRequestsMissing {
        /// The tool.
        tool: String,
    },
    /// Slow responses or stalls kept requests from starting.
    OmittedRequests(OmissionBounds),
    /// A quoted percentile has few samples beyond it.
    #[serde(rename = "few_beyond")]
    FewSamplesBeyond(PercentileInterval),
    /// The percentiles of all requests mix different kinds of requests.
    MixedLabels {
        /// The label with the smallest 95th percentile.
        fast: LabelTime,
        /// The label with the largest one.
        slow: LabelTime,
    },
    /// Requests started after their intended start.
    LateStarts {
        /// Mean lateness in ms.
        mean_ms: f64,
        /// Arrivals that waited for a free user.
        #[serde(default)]
        waited: u64,
    },
    /// Many requests failed, and their times are mixed with those of successful requests.
    ManyErrors {
        /// Failed requests in per cent.
        percent: f64,
    },
    /// A high percentile is based on few samples.
    ThinTail {
        /// The percentile.
        percentile: f64,
        /// Number of samples above it.
        beyond: u64,
    },
    /// The totals mix thread groups that ran one after the other, for example a group that fills a database and a group that
    /// is measured.
    MixedPhases {
        /// The groups, in order of time.
        groups: Vec<GroupPhase>,
    },
    /// Several thread groups use the same labels.
    SharedLabels {
        /// The labels.
        labels: Vec<String>,
    },
    /// The plan produces more labels than are counted separately.
    ManyLabels {
        /// Number of samples that are counted together.
        samples: u64,
    },
    /// Samples before the measured part are excluded from all figures.
    #[serde(rename = "warmup_left_out")]
    WarmupExcluded {
        /// Number of samples.
        samples: u64,
    },
    /// A caveat that was found when the plan was compiled.
    Plan {
        /// The code of the note.
        kind: String,
        /// The message.
        note: String,
        /// The advice.
        hint: Option<String>,
    },
    /// The run was not steady.
    Unsteady(Unsteady),
    /// A caveat about the arrivals.
    Arrivals(ArrivalCaveat),
}

/// A caveat with its message and advice, as written to `summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportedCaveat {
    /// The caveat.
    #[serde(flatten)]
    pub caveat: Caveat,
    /// The message, which describes what happened.
    pub message: String,
    /// Advice for the user.
    pub advice: String,
}

impl From<Caveat> for ReportedCaveat {
    fn from(caveat: Caveat) -> ReportedCaveat {
        let Description { message, advice } = caveat.describe();
        ReportedCaveat { caveat, message, advice }
    }
}

/// The texts of a caveat.
struct Description {
    message: String,
    advice: String,
}

impl Description {
    fn new(message: impl Into<String>, advice: impl Into<String>) -> Description {
        Description { message: message.into(), advice: advice.into() }
    }
}

impl fmt::Display for Caveat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe().message)
    }
}

impl Caveat {
    /// Advice for the user.
    #[must_use]
    pub fn advice(&self) -> String {
        self.describe().advice
    }

    /// The message and the advice of every caveat. All texts are in this function.
    #[expect(clippy::too_many_lines, reason = "a table of messages")]
    fn describe(&self) -> Description {
        match self {
            Caveat::NoSamples => Description::new(
                "no request ended in this run",
                "check that the plan's thread groups are enabled and reach a sampler",
            ),
            Caveat::RunOutcomeMissing => Description::new(
                "the run was cut off: its manifest contains no outcome",
                "treat the figures as results of only a part of the run",
            ),
            Caveat::RecordEndsEarly { at_s, later } => describe_record_end(*at_s, later.as_ref()),
            Caveat::StoppedEarly { end, from } => Description::new(
                stop_message(*end, *from),
                "compare this run only with runs of the same length",
            ),
            Caveat::StoppedByError { error } => {
                let cause = if error.is_empty() { String::new() } else { format!(": {error}") };
                Description::new(
                    format!("an error stopped the run{cause}"),
                    "correct the error and run again; the figures cover only a part of the run",
                )
            }
            Caveat::GeneratorStalled { stalls, more } => Description::new(
                stalls::stalls_text(stalls, *more),
                "response times measured at these times include the generator's own delay: exclude these times, or measure again on an idle machine",
            ),
            Caveat::CoresAbandoned { cores } => Description::new(
                stalls::abandoned_text(cores),
                "the record lacks what these cores measured after that time; look for a script, regular expression or file that blocks",
            ),
            Caveat::SamplesInFlight { samples } => Description::new(
                format!(
                    "{} in flight when the run was stopped; they are excluded from all figures",
                    counted(*samples, "sample was", "samples were")
                ),
                "let the users finish (one Ctrl-C) when the slowest samples matter",
            ),
            Caveat::ArrivalsWaiting { arrivals } => Description::new(
                format!(
                    "{} still waited for a user when the run was stopped; the longest waits are excluded from all figures",
                    counted(*arrivals, "arrival", "arrivals")
                ),
                "treat response times as lower bounds; allow more users, or let the run reach its end",
            ),
            Caveat::IdleSessions { sessions, started } => Description::new(
                format!(
                    "at least {sessions} of {} ended without a request",
                    counted(*started, "session", "sessions")
                ),
                "look at the controllers around the samplers: conditions, loops of 0 passes, a Once Only Controller",
            ),
            Caveat::GeneratorBusy { busy_percent, busy_second_percent, cores } => Description::new(
                busy_message(*busy_percent, *busy_second_percent, *cores),
                "treat response times as upper bounds and the rate as the generator's limit; use more cores or machines",
            ),
            Caveat::CpuStolen { percent } => Description::new(
                format!("the hypervisor stole {percent:.0} % of the CPU time this machine requested"),
                "starts, responses and a server on this machine were delayed; measure again on a dedicated machine, or while its host is idle",
            ),
            Caveat::CpuThrottled { percent } => Description::new(
                format!("the generator used up its CPU quota in {percent:.0} % of the periods"),
                "starts were late by up to a period (usually 100 ms); raise the CPU limit of the container, or use more agents",
            ),
            Caveat::RecorderStalled { stalls, stalled_s } => Description::new(
                format!(
                    "the recorder fell behind {} and delayed users for {stalled_s:.3} s in total",
                    counted(*stalls, "time", "times")
                ),
                "write the results to a faster disk, or write fewer columns",
            ),
            Caveat::SamplesLost { samples } => Description::new(
                format!("{} made but not recorded", counted(*samples, "sample was", "samples were")),
                UNUSABLE_COUNTS,
            ),
            Caveat::LimitExceeded { limit, times } => Description::new(
                format!(
                    "a limit of the generator was exceeded {}: {limit}",
                    counted(*times, "time", "times")
                ),
                "samples and elements failed because of it, not because of the server (the log names the elements); docs/limits.md describes the limits",
            ),
            Caveat::OutputLost { file, error, lost } => Description::new(
                format!("{file} lacks {}: {error}", counted(*lost, "row", "rows")),
                if error.contains("Broken pipe") {
                    "the program that read this pipe ended before the run; the table and the summary are complete nevertheless"
                } else if error.contains("File too large") {
                    "raise the limit of the file size (ulimit -f); the table and the summary are complete nevertheless"
                } else {
                    "free space on the disk; the table and the summary are complete nevertheless"
                },
            ),
            Caveat::ListenerNotWritten { file, reason } => Description::new(
                format!("{file} was not written: {reason}"),
                "let the listener write CSV, to a path that can be written",
            ),
            Caveat::RecorderFailed { error } => {
                Description::new(format!("the recorder failed: {error}"), UNUSABLE_COUNTS)
            }
            Caveat::RecordTailMissing => Description::new(
                "the tail of the record is missing; the figures cover the readable part",
                "treat the figures as results of only a part of the run",
            ),
            Caveat::BadRows { file, rows, first } => Description::new(
                format!(
                    "{} of {file} could not be read; the first: {}",
                    counted(*rows, "row", "rows"),
                    first.join("; ")
                ),
                "check that the file is a JTL of one run and was written completely",
            ),
            Caveat::InputsDoNotOverlap => Description::new(
                "the files do not overlap in time: rates are computed over the whole time, including the pauses",
                "combine only the results of several generators of one test; compare runs with `compare`",
            ),
            Caveat::OnlyActualStarts => Description::new(
                "the record has only actual starts, in whole milliseconds: response times do not contain the waiting before \
                 the start, times below a few milliseconds are coarse, and arrivals and incidents can differ from those of the \
                 run directory",
                "if the run was made with busyhour, report its run directory instead of the result file",
            ),
            Caveat::ToolHasOnlyActualStarts { tool, tick_s } => Description::new(
                actual_starts_message(tool, *tick_s),
                "treat response times as lower bounds if the tool may have started requests late",
            ),
            Caveat::NotStartedByTool { tool, dropped } => Description::new(
                format!(
                    "{tool} reports {dropped} iterations that were due but not started; the percentiles exclude them"
                ),
                "allow more users in the tool, and treat the percentiles as lower bounds",
            ),
            Caveat::FailedRequestsMissing { tool } => Description::new(
                format!("the file of {tool} contains only requests with a response"),
                "look for errors in the output of the tool; requests that timed out are the slowest ones",
            ),
            Caveat::OmittedRequests(bounds) => Description::new(
                omitted_message(bounds),
                "treat the measured percentiles as lower bounds; measure with a load that does not wait for responses",
            ),
            Caveat::FewSamplesBeyond(interval) => Description::new(
                few_beyond_message(interval),
                "run longer before you rely on this percentile",
            ),
            Caveat::MixedLabels { fast, slow } => Description::new(
                format!(
                    "percentiles of all requests mix fast and slow ones: the p95 of {} is {} ms, that of {} {} ms",
                    shorten_name(&fast.label),
                    digits(fast.p95_ms),
                    shorten_name(&slow.label),
                    digits(slow.p95_ms)
                ),
                "use the percentiles of single labels",
            ),
            Caveat::LateStarts { mean_ms, waited } => Description::new(
                format!("requests started {mean_ms:.3} ms after their intended start, on average"),
                match waited {
                    0 => "use response times, not service times; look for a busy generator or machine",
                    _ => {
                        "use response times, not service times: they contain the time that arrivals waited for a free user"
                    }
                },
            ),
            Caveat::ManyErrors { percent } => Description::new(
                format!(
                    "{percent:.1} % of the requests failed; the times include successful and failed requests"
                ),
                "investigate the errors before you use the times",
            ),
            Caveat::ThinTail { percentile, beyond } => Description::new(
                if *beyond == 0 {
                    format!("there are too few samples for a p{percentile}: its value is the largest sample")
                } else {
                    let samples = counted(*beyond, "sample", "samples");
                    format!("the p{percentile} is based on {samples} above it")
                },
                "run longer before you rely on this percentile",
            ),
            Caveat::MixedPhases { groups } => Description::new(
                format!(
                    "the totals mix thread groups that ran at different times: {}",
                    describe_phases(groups)
                ),
                "report the groups separately (--by-group), or count only one phase (--window FROM,TO, --steady auto)",
            ),
            Caveat::SharedLabels { labels } => Description::new(
                shared_labels_message(labels),
                "report the thread groups separately: --by-group",
            ),
            Caveat::ManyLabels { samples } => Description::new(
                format!(
                    "the plan makes so many labels that {} counted together as {OTHER_LABELS}",
                    counted(*samples, "sample is", "samples are")
                ),
                "remove variable parts from the names of the samplers",
            ),
            Caveat::WarmupExcluded { samples } => Description::new(
                format!(
                    "{} before the measured part of the run and therefore excluded",
                    counted(*samples, "sample is", "samples are")
                ),
                "no action is needed; the result files contain them",
            ),
            Caveat::Plan { note, hint, .. } => Description::new(
                note.clone(),
                hint.as_deref().unwrap_or("check whether this affects the results of the plan"),
            ),
            Caveat::Unsteady(unsteady) => Description::new(unsteady.to_string(), unsteady.advice()),
            Caveat::Arrivals(caveat) => Description::new(caveat.to_string(), caveat.advice()),
        }
    }
}

const UNUSABLE_COUNTS: &str = "do not use the counts of this run; report this as a bug in Busyhour";

fn counted(n: u64, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

fn describe_record_end(at_s: f64, later: Option<&LaterRows>) -> Description {
    let message = format!(
        "the record ends at {at_s:.1} s; samples that ended in the last second before the process died may be missing"
    );
    match later {
        Some(LaterRows { file, rows }) => Description::new(
            format!("{message}; {file} has {} that ended later", counted(*rows, "sample", "samples")),
            format!("read the later samples with `busyhour report {file}`"),
        ),
        None => Description::new(message, "exclude the last second of the run if it matters"),
    }
}

fn stop_message(end: RunEnd, from: Option<ChangedFrom>) -> String {
    match (end, from) {
        (RunEnd::Interrupted, Some(from)) => {
            return format!("the run was stopped from the {} before its planned end", from.place());
        }
        (RunEnd::StoppedByPlan, _) => "the plan stopped the run before every user had finished",
        (RunEnd::StoppedByError, _) => "an error stopped the run",
        (RunEnd::Aborted, _) => "the run was aborted; users did not finish their samples",
        (RunEnd::StoppedByThreshold, _) => "a threshold stopped the run before its planned end",
        (RunEnd::Failed, _) => "the generator failed before the planned end of the run",
        (RunEnd::Interrupted | RunEnd::Completed, _) => {
            "the run was stopped by a signal or the stop port before its planned end"
        }
    }
    .to_owned()
}

fn busy_message(mean: Option<f64>, busiest_second: Option<f64>, cores: u32) -> String {
    let mean = mean.map_or_else(|| "an unknown part".to_owned(), |share| format!("{share:.0} %"));
    let second =
        busiest_second.map_or_else(String::new, |share| format!(" ({share:.0} % in the worst second)"));
    let cores = counted(u64::from(cores), "core was", "cores were");
    format!("the generator used {mean} of its busiest core{second}; {cores} this busy")
}

fn actual_starts_message(tool: &str, tick_s: f64) -> String {
    let mut text = format!(
        "the file of {tool} has only actual starts: response times do not contain the waiting before the start"
    );
    if tick_s > ARRIVAL_TICK_S_MAX {
        text += &format!(", and arrivals are not judged, because start times are multiples of {tick_s} s");
    }
    text
}

fn omitted_message(bounds: &OmissionBounds) -> String {
    let both = [("p95", &bounds.p95), ("p99", &bounds.p99)];
    let ranges: Vec<String> = both
        .into_iter()
        .filter(|(_, range)| range.is_material())
        .map(|(name, range)| {
            format!(
                "{name} may be up to {} ms instead of {} ms",
                digits(range.upper_ms),
                digits(range.measured_ms)
            )
        })
        .collect();
    let cause = match (bounds.stalls, bounds.user_interval_s) {
        (0, _) => "slow responses".to_owned(),
        (stalls, Some(_)) => format!("slow responses and {}", counted(stalls, "stall", "stalls")),
        (stalls, None) => counted(stalls, "stall", "stalls"),
    };
    let requests = counted(bounds.omitted, "request", "requests");
    format!("{}, because {cause} kept up to {requests} from starting", ranges.join(" and "))
}

fn few_beyond_message(interval: &PercentileInterval) -> String {
    let PercentileInterval { percentile, samples, lower_ms, upper_ms } = interval;
    let lower = digits(*lower_ms);
    let range = match upper_ms {
        Some(upper_ms) => format!("between {lower} and {} ms", digits(*upper_ms)),
        None => format!("at least {lower} ms"),
    };
    format!("{} give a p{percentile} of {range} (95 % confidence)", counted(*samples, "sample", "samples"))
}

fn shared_labels_message(labels: &[String]) -> String {
    let names = join_names(labels.len(), labels.iter().map(|label| shorten_name(label)));
    let labels = if labels.len() == 1 { "label".to_owned() } else { format!("{} labels", labels.len()) };
    format!("several thread groups use the same {labels}, and one row mixes their times: {names}")
}

/// The mean lateness in ms: mean response time minus mean service time. `None` if it is below a millisecond or below a
/// twentieth of the mean service time, because such a small lateness does not change any conclusion.
#[must_use]
pub fn late_ms(response_ms: f64, service_ms: f64) -> Option<f64> {
    let late_ms = response_ms - service_ms;
    (late_ms > 1.0 && late_ms > service_ms / 20.0).then_some(late_ms)
}
