//! Doubts about a result, each with its advice.

use std::fmt;

use busyhour_record::{AbandonedCore, ChangedFrom, OTHER_LABELS, RunEnd, Stall};
use serde::{Deserialize, Serialize};

use crate::arrivals::ArrivalCaveat;
use crate::facts::LaterRows;
use crate::groups::{GroupPhase, phases_words, shortened, some};
use crate::stalls;

/// One doubt about a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Caveat {
    /// No request ended.
    NoSamples,
    /// The manifest has no outcome: the run was cut off, or goes on.
    Unfinished,
    /// How far the record of a run reaches that was cut off.
    RecordEnds {
        /// The last end of a sample in it, in seconds from the start of the run.
        at_s: f64,
        /// A results file beside the record with samples that ended later.
        later: Option<LaterRows>,
    },
    /// The run was stopped before its planned end.
    StoppedEarly {
        /// How.
        end: RunEnd,
        /// From where, where it was from the program's own screen or page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<ChangedFrom>,
    },
    /// An error stopped the run.
    StoppedByError {
        /// What went wrong; empty when it is not known.
        error: String,
    },
    /// The process, or a core of it, did not run for some time: response times measured then are the generator's.
    GeneratorStalled {
        /// The reported stalls, in order of time.
        stalls: Vec<Stall>,
        /// Number of shorter stalls that are not listed.
        more: u64,
    },
    /// Cores were left behind because they did not respond when the run was to end.
    CoresAbandoned {
        /// Which, and when they were last seen.
        cores: Vec<AbandonedCore>,
    },
    /// Samples under way at the end are in no number.
    Interrupted {
        /// How many.
        samples: u64,
    },
    /// Arrivals still waited for a user when the run was stopped: the longest waits are in no number.
    ArrivalsLeft {
        /// How many.
        arrivals: u64,
    },
    /// Sessions of open workloads ended without a request: the rate of requests is not that of arrivals.
    IdleSessions {
        /// How many at least.
        sessions: u64,
        /// Sessions that began.
        begun: u64,
    },
    /// A core of the generator was busy: what looks like response time may be its own.
    GeneratorBusy {
        /// Its CPU time over the run's length, in per cent; `None` when unknown.
        busy_percent: Option<f64>,
        /// The same over its busiest second; `None` when unknown.
        busy_second_percent: Option<f64>,
        /// Cores that were this busy.
        cores: u32,
    },
    /// The host of the generator's virtual machine ran others while this one had work to do.
    CpuStolen {
        /// The part of the CPU time this machine wanted, in per cent.
        percent: f64,
    },
    /// The recorder was behind and held users back.
    RecorderStalled {
        /// How often.
        stalls: u64,
        /// How long, over all cores, in seconds.
        stalled_s: f64,
    },
    /// Samples were made but not recorded.
    SamplesLost {
        /// How many.
        samples: u64,
    },
    /// Responses, or the work on a text, exceeded a limit of the generator.
    LimitExceeded {
        /// The limit.
        limit: String,
        /// How often.
        times: u64,
    },
    /// A file lacks rows.
    OutputLost {
        /// Which.
        file: String,
        /// The system's words.
        error: String,
        /// Rows or samples it lacks.
        lost: u64,
    },
    /// A listener's file was not written.
    ListenerNotWritten {
        /// Which.
        file: String,
        /// Why.
        reason: String,
    },
    /// The recorder failed.
    RecorderFailed {
        /// What is known.
        error: String,
    },
    /// The tail of the record is missing.
    RecordCut,
    /// Rows of a file could not be understood, and are left out.
    BadRows {
        /// The file.
        file: String,
        /// How many.
        rows: u64,
        /// The first ones, with their places.
        first: Vec<String>,
    },
    /// What was put together does not overlap in time: it is not of one test.
    NotTogether,
    /// The record has one clock in whole milliseconds.
    OneClock,
    /// Requests started later than they were meant to.
    LateStarts {
        /// Mean lateness in ms.
        mean_ms: f64,
    },
    /// Many requests failed, and their times are mixed with those of the others.
    ManyErrors {
        /// Failed requests in per cent.
        percent: f64,
    },
    /// A high quantile rests on a handful of samples.
    ThinTail {
        /// The quantile, in per cent.
        percentile: f64,
        /// Samples beyond it.
        beyond: u64,
    },
    /// The totals are of thread groups that ran one after the other, such as one that fills a database and one that is measured.
    MixedPhases {
        /// The groups in order of time.
        groups: Vec<GroupPhase>,
    },
    /// Several thread groups use the same labels.
    SharedLabels {
        /// The labels.
        labels: Vec<String>,
    },
    /// The plan makes more labels than are kept apart.
    ManyLabels {
        /// Samples that are counted together.
        samples: u64,
    },
    /// Samples before the measured part are in no number.
    WarmupLeftOut {
        /// How many.
        samples: u64,
    },
    /// A doubt that the compilation of the plan found.
    Plan {
        /// Its kind.
        kind: String,
        /// What is the matter.
        note: String,
        /// What to do.
        hint: Option<String>,
    },
    /// A doubt about the arrivals.
    Arrivals(ArrivalCaveat),
}

/// A caveat with its words, as `summary.json` has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// The caveat.
    #[serde(flatten)]
    pub caveat: Caveat,
    /// What is in doubt.
    pub message: String,
    /// What to do about it.
    pub advice: String,
}

impl From<Caveat> for Told {
    fn from(caveat: Caveat) -> Told {
        let Description { message, advice } = caveat.describe();
        Told { caveat, message, advice }
    }
}

/// The text of a caveat.
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
    /// What to do about it.
    #[must_use]
    pub fn advice(&self) -> String {
        self.describe().advice
    }

    /// The message and the advice of every caveat: the only place that lists the texts.
    fn describe(&self) -> Description {
        match self {
            Caveat::NoSamples => Description::new(
                "no request ended in this run",
                "check that the plan's thread groups are enabled and reach a sampler",
            ),
            Caveat::Unfinished => Description::new(
                "the run was cut off: its manifest contains no outcome",
                "treat the figures as those of a part of the run",
            ),
            Caveat::RecordEnds { at_s, later } => describe_record_end(*at_s, later.as_ref()),
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
                "response times measured at these moments are the generator's, not the server's: leave them out, or measure again on a quiet machine",
            ),
            Caveat::CoresAbandoned { cores } => Description::new(
                stalls::abandoned_text(cores),
                "the record lacks what these cores measured after that time; look for a script, regular expression or file that blocks",
            ),
            Caveat::Interrupted { samples } => Description::new(
                format!(
                    "{} in flight when the run was stopped; they are excluded from all figures",
                    counted(*samples, "sample was", "samples were")
                ),
                "let the users finish (one Ctrl-C) when the slowest samples matter",
            ),
            Caveat::ArrivalsLeft { arrivals } => Description::new(
                format!(
                    "{} still waited for a user when the run was stopped; the longest waits are excluded from all figures",
                    counted(*arrivals, "arrival", "arrivals")
                ),
                "treat response times as lower bounds; allow more users, or let the run reach its end",
            ),
            Caveat::IdleSessions { sessions, begun } => Description::new(
                format!(
                    "at least {sessions} of {} ended without a request",
                    counted(*begun, "session", "sessions")
                ),
                "look at the controllers around the samplers: conditions, loops of 0 passes, a Once Only Controller",
            ),
            Caveat::GeneratorBusy { busy_percent, busy_second_percent, cores } => Description::new(
                busy_message(*busy_percent, *busy_second_percent, *cores),
                "treat latencies as upper bounds and the rate as the generator's; use more cores or machines",
            ),
            Caveat::CpuStolen { percent } => Description::new(
                format!("the hypervisor stole {percent:.0} % of the CPU time this machine requested"),
                "starts, responses and a server on this machine were delayed; measure again on a dedicated machine, or while its host is idle",
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
                "free space on the disk; the table and the summary are complete nevertheless",
            ),
            Caveat::ListenerNotWritten { file, reason } => Description::new(
                format!("{file} was not written: {reason}"),
                "use CSV and a path that can be written",
            ),
            Caveat::RecorderFailed { error } => {
                Description::new(format!("the recorder failed: {error}"), UNUSABLE_COUNTS)
            }
            Caveat::RecordCut => Description::new(
                "the tail of the record is missing; the figures cover the readable part",
                "treat the figures as those of a part of the run",
            ),
            Caveat::BadRows { file, rows, first } => Description::new(
                format!(
                    "{} of {file} could not be read; the first: {}",
                    counted(*rows, "row", "rows"),
                    first.join("; ")
                ),
                "check that the file is a JTL of one run and was written completely",
            ),
            Caveat::NotTogether => Description::new(
                "the files do not overlap in time: rates are computed over the whole time, including the pauses",
                "combine only the results of several generators of one test; compare runs with `compare`",
            ),
            Caveat::OneClock => Description::new(
                "the record has one clock in whole milliseconds: response times are measured from the actual start",
                "run the plan with busyhour to measure the waiting time before the start",
            ),
            Caveat::LateStarts { mean_ms } => Description::new(
                format!("requests started {mean_ms:.3} ms after their intended start, on average"),
                "read response times, not service times; look for a busy generator or too few users",
            ),
            Caveat::ManyErrors { percent } => Description::new(
                format!(
                    "{percent:.1} % of the requests failed; the times include successful and failed requests"
                ),
                "investigate the errors before you use the times",
            ),
            Caveat::ThinTail { percentile, beyond } => Description::new(
                if *beyond == 0 {
                    format!("there are too few samples for a p{percentile}: it is the largest of them")
                } else {
                    let samples = counted(*beyond, "sample", "samples");
                    format!("the p{percentile} is based on {samples} beyond it")
                },
                "run longer before you rely on this percentile",
            ),
            Caveat::MixedPhases { groups } => Description::new(
                format!("the totals mix thread groups that ran at different times: {}", phases_words(groups)),
                "read the groups apart (--by-group), or count one phase only (--window FROM,TO, --steady auto)",
            ),
            Caveat::SharedLabels { labels } => {
                Description::new(shared_labels_message(labels), "read the thread groups apart: --by-group")
            }
            Caveat::ManyLabels { samples } => Description::new(
                format!(
                    "the plan makes so many labels that {} counted together as {OTHER_LABELS}",
                    counted(*samples, "sample is", "samples are")
                ),
                "remove variable parts from the names of the samplers",
            ),
            Caveat::WarmupLeftOut { samples } => Description::new(
                format!(
                    "{} before the measured part of the run are left out",
                    counted(*samples, "sample", "samples")
                ),
                "no action is needed; the result files hold them",
            ),
            Caveat::Plan { note, hint, .. } => {
                Description::new(note.clone(), hint.as_deref().unwrap_or("check what it means for this plan"))
            }
            Caveat::Arrivals(doubt) => Description::new(doubt.to_string(), doubt.advice()),
        }
    }
}

const UNUSABLE_COUNTS: &str = "do not use the counts of this run; report this as a fault of the program";

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
            "the run was stopped from outside before its planned end"
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

fn shared_labels_message(labels: &[String]) -> String {
    let names = some(labels.len(), labels.iter().map(|label| shortened(label)));
    let labels = if labels.len() == 1 { "label".to_owned() } else { format!("{} labels", labels.len()) };
    format!("several thread groups use the same {labels}, and one row mixes their times: {names}")
}

/// How much longer mean response times are than mean service times, in ms, where that is worth a word: below a millisecond, or a
/// twentieth of what is measured, waiting before the start changes no conclusion.
#[must_use]
pub fn late_ms(response_ms: f64, service_ms: f64) -> Option<f64> {
    let late_ms = response_ms - service_ms;
    (late_ms > 1.0 && late_ms > service_ms / 20.0).then_some(late_ms)
}
