//! Doubts about a result, each with its advice.

use std::fmt;

use busyhour_record::{AbandonedCore, ChangedFrom, OTHER_LABELS, RecorderEvent, RunEnd, RunTotals, Stall};
use serde::{Deserialize, Serialize};

use crate::arrivals::ArrivalCaveat;
use crate::facts::{InputFound, LaterRows, RunFacts};
use crate::groups::{GroupPhase, mixed_phases, phases_words, shared_labels, shortened, some};
use crate::stalls;

/// CPU time of this part that was not had shows in every time that was measured.
const STOLEN: f64 = 0.02;

/// A core that was busy for this part of the run cannot be trusted to have been in time.
const BUSY_MEAN: f64 = 0.80;

/// The same for its busiest second.
const BUSY_SECOND: f64 = 0.95;

/// In a run shorter than this, in s, the share of a core is that of starting, and says nothing.
const BUSY_LENGTH_MIN_S: f64 = 1.0;

/// A quantile that rests on fewer samples beyond it than this is hardly more than an extreme value.
const TAIL_SAMPLES: u64 = 10;

/// A larger part of sessions without a request is told.
const IDLE_SHARE: f64 = 0.01;

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
        Told { message: caveat.to_string(), advice: caveat.advice(), caveat }
    }
}

fn times(n: u64, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

impl fmt::Display for Caveat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Caveat::NoSamples => f.write_str("no request ended in this run"),
            Caveat::Unfinished => f.write_str("the run was cut off: its manifest contains no outcome"),
            Caveat::RecordEnds { at_s, later } => {
                write!(
                    f,
                    "the record ends at {at_s:.1} s; samples that ended in the last second before the process died may be missing"
                )?;
                match later {
                    Some(LaterRows { file, rows }) => {
                        write!(f, "; {file} has {} that ended later", times(*rows, "sample", "samples"))
                    }
                    None => Ok(()),
                }
            }
            Caveat::StoppedEarly { end: RunEnd::Interrupted, from: Some(from) } => {
                write!(f, "the run was stopped from the {} before its planned end", from.place())
            }
            Caveat::StoppedEarly { end, .. } => f.write_str(match end {
                RunEnd::StoppedByPlan => "the plan stopped the run before every user had finished",
                RunEnd::StoppedByError => "an error stopped the run",
                RunEnd::Aborted => "the run was aborted; users did not finish their samples",
                RunEnd::StoppedByThreshold => "a threshold stopped the run before its planned end",
                RunEnd::Failed => "the generator failed before the run was through",
                RunEnd::Interrupted | RunEnd::Completed => {
                    "the run was stopped from outside before its planned end"
                }
            }),
            Caveat::StoppedByError { error } if error.is_empty() => f.write_str("an error stopped the run"),
            Caveat::StoppedByError { error } => write!(f, "an error stopped the run: {error}"),
            Caveat::GeneratorStalled { stalls, more } => stalls::write(f, stalls, *more),
            Caveat::CoresAbandoned { cores } => stalls::write_abandoned(f, cores),
            Caveat::Interrupted { samples } => {
                let samples = times(*samples, "sample was", "samples were");
                write!(f, "{samples} in flight when the run was stopped; they are excluded from all figures")
            }
            Caveat::ArrivalsLeft { arrivals } => {
                let arrivals = times(*arrivals, "arrival", "arrivals");
                write!(
                    f,
                    "{arrivals} still waited for a user when the run was stopped; the longest waits are excluded from all figures"
                )
            }
            Caveat::IdleSessions { sessions, begun } => {
                let begun = times(*begun, "session", "sessions");
                write!(f, "at least {sessions} of {begun} ended without a request")
            }
            Caveat::GeneratorBusy { busy_percent, busy_second_percent, cores } => {
                let percent = |share: &Option<f64>| {
                    share.map_or_else(|| "an unknown part".to_owned(), |share| format!("{share:.0} %"))
                };
                write!(f, "the generator used {} of its busiest core", percent(busy_percent))?;
                if busy_second_percent.is_some() {
                    write!(f, " ({} in the worst second)", percent(busy_second_percent))?;
                }
                write!(f, "; {} this busy", times(u64::from(*cores), "core was", "cores were"))
            }
            Caveat::CpuStolen { percent } => {
                write!(
                    f,
                    "the hypervisor stole {percent:.0} % of the CPU time this machine requested"
                )
            }
            Caveat::RecorderStalled { stalls, stalled_s } => {
                let stalls = times(*stalls, "time", "times");
                write!(f, "the recorder fell behind {stalls} and delayed users for {stalled_s:.3} s in total")
            }
            Caveat::SamplesLost { samples } => {
                write!(f, "{} made but not recorded", times(*samples, "sample was", "samples were"))
            }
            Caveat::LimitExceeded { limit, times: count } => {
                let count = times(*count, "time", "times");
                write!(f, "a limit of the generator was exceeded {count}: {limit}")
            }
            Caveat::OutputLost { file, error, lost } => {
                write!(f, "{file} lacks {}: {error}", times(*lost, "row", "rows"))
            }
            Caveat::ListenerNotWritten { file, reason } => write!(f, "{file} was not written: {reason}"),
            Caveat::RecorderFailed { error } => write!(f, "the recorder failed: {error}"),
            Caveat::RecordCut => {
                f.write_str("the tail of the record is missing; the figures cover the readable part")
            }
            Caveat::BadRows { file, rows, first } => {
                let rows = times(*rows, "row", "rows");
                write!(f, "{rows} of {file} could not be read; the first: {}", first.join("; "))
            }
            Caveat::NotTogether => {
                f.write_str("the files do not overlap in time: rates are computed over the whole time, including the pauses")
            }
            Caveat::OneClock => f.write_str(
                "the record has one clock in whole milliseconds: response times are measured from the actual start",
            ),
            Caveat::LateStarts { mean_ms } => {
                write!(f, "requests started {mean_ms:.3} ms after their intended start, on average")
            }
            Caveat::ManyErrors { percent } => {
                write!(
                    f,
                    "{percent:.1} % of the requests failed; the times include successful and failed requests"
                )
            }
            Caveat::ThinTail { percentile, beyond: 0 } => {
                write!(f, "there are too few samples for a p{percentile}: it is the largest of them")
            }
            Caveat::ThinTail { percentile, beyond } => {
                write!(f, "the p{percentile} is based on {} beyond it", times(*beyond, "sample", "samples"))
            }
            Caveat::MixedPhases { groups } => {
                let words = phases_words(groups);
                write!(f, "the totals mix thread groups that ran at different times: {words}")
            }
            Caveat::SharedLabels { labels } => {
                let names = some(labels.len(), labels.iter().map(|label| shortened(label)));
                let labels =
                    if labels.len() == 1 { "label".to_owned() } else { format!("{} labels", labels.len()) };
                write!(
                    f,
                    "several thread groups use the same {labels}, and one row mixes their times: {names}"
                )
            }
            Caveat::ManyLabels { samples } => {
                let samples = times(*samples, "sample is", "samples are");
                write!(f, "the plan makes so many labels that {samples} counted together as {OTHER_LABELS}")
            }
            Caveat::WarmupLeftOut { samples } => {
                let samples = times(*samples, "sample", "samples");
                write!(f, "{samples} before the measured part of the run are left out")
            }
            Caveat::Plan { note, .. } => f.write_str(note),
            Caveat::Arrivals(doubt) => write!(f, "{doubt}"),
        }
    }
}

impl Caveat {
    /// What to do about it.
    #[must_use]
    pub fn advice(&self) -> String {
        let text = match self {
            Caveat::NoSamples => "check that the plan's thread groups are enabled and reach a sampler",
            Caveat::Unfinished => "treat the figures as those of a part of the run",
            Caveat::RecordEnds { later: Some(LaterRows { file, .. }), .. } => {
                return format!("read the later samples with `busyhour report {file}`");
            }
            Caveat::RecordEnds { .. } => "exclude the last second of the run if it matters",
            Caveat::StoppedEarly { .. } => "compare this run only with runs of the same length",
            Caveat::StoppedByError { .. } => {
                "correct the error and run again; the figures cover only a part of the run"
            }
            Caveat::GeneratorStalled { .. } => {
                "response times measured at these moments are the generator's, not the server's: leave them out, or measure again on a quiet machine"
            }
            Caveat::CoresAbandoned { .. } => {
                "the record lacks what these cores measured after that time; look for a script, regular expression or file that blocks"
            }
            Caveat::Interrupted { .. } => "let the users finish (one Ctrl-C) when the slowest samples matter",
            Caveat::ArrivalsLeft { .. } => {
                "treat response times as lower bounds; allow more users, or let the run reach its end"
            }
            Caveat::IdleSessions { .. } => {
                "look at the controllers around the samplers: conditions, loops of 0 passes, a Once Only Controller"
            }
            Caveat::GeneratorBusy { .. } => {
                "treat latencies as upper bounds and the rate as the generator's; use more cores or machines"
            }
            Caveat::CpuStolen { .. } => {
                "starts, responses and a server on this machine were delayed; measure again on a dedicated machine, or while its host is idle"
            }
            Caveat::RecorderStalled { .. } => "write the results to a faster disk, or write fewer columns",
            Caveat::SamplesLost { .. } | Caveat::RecorderFailed { .. } => {
                "do not use the counts of this run; report this as a fault of the program"
            }
            Caveat::LimitExceeded { .. } => {
                "samples and elements failed because of it, not because of the server (the log names the elements); docs/limits.md describes the limits"
            }
            Caveat::OutputLost { .. } => {
                "free space on the disk; the table and the summary are complete nevertheless"
            }
            Caveat::ListenerNotWritten { .. } => "use CSV and a path that can be written",
            Caveat::RecordCut => "treat the figures as those of a part of the run",
            Caveat::BadRows { .. } => "check that the file is a JTL of one run and was written completely",
            Caveat::NotTogether => {
                "combine only the results of several generators of one test; compare runs with `compare`"
            }
            Caveat::OneClock => "run the plan with busyhour to measure the waiting time before the start",
            Caveat::LateStarts { .. } => {
                "read response times, not service times; look for a busy generator or too few users"
            }
            Caveat::ManyErrors { .. } => "investigate the errors before you use the times",
            Caveat::ThinTail { .. } => "run longer before you rely on this percentile",
            Caveat::MixedPhases { .. } => {
                "read the groups apart (--by-group), or count one phase only (--window FROM,TO, --steady auto)"
            }
            Caveat::SharedLabels { .. } => "read the thread groups apart: --by-group",
            Caveat::ManyLabels { .. } => "remove variable parts from the names of the samplers",
            Caveat::WarmupLeftOut { .. } => "no action is needed; the result files hold them",
            Caveat::Plan { hint, .. } => hint.as_deref().unwrap_or("check what it means for this plan"),
            Caveat::Arrivals(doubt) => return doubt.advice(),
        };
        text.to_owned()
    }
}

/// How much longer mean response times are than mean service times, in ms, where that is worth a word: below a millisecond, or a
/// twentieth of what is measured, waiting before the start changes no conclusion.
#[must_use]
pub fn late_ms(response_ms: f64, service_ms: f64) -> Option<f64> {
    let late_ms = response_ms - service_ms;
    (late_ms > 1.0 && late_ms > service_ms / 20.0).then_some(late_ms)
}

/// Whether some of the inputs ended before all the others began.
fn not_together(inputs: &[InputFound]) -> bool {
    let mut spans: Vec<(f64, f64)> = inputs.iter().filter_map(|input| input.span_s).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut end = f64::INFINITY;
    for (from, to) in spans {
        if from > end {
            return true;
        }
        end = if end.is_finite() { end.max(to) } else { to };
    }
    false
}

/// The doubts about a run.
pub(crate) fn find(facts: &RunFacts, totals: &RunTotals) -> Vec<Caveat> {
    let mut found = Vec::new();
    let total = &totals.total;
    if total.samples == 0 {
        found.push(Caveat::NoSamples);
    }
    if facts.has_manifest && facts.end.is_none() {
        found.push(Caveat::Unfinished);
    }
    if let Some(end) = &facts.record_end {
        found.push(Caveat::RecordEnds { at_s: end.at_s, later: end.later.clone() });
    }
    match facts.end {
        None | Some(RunEnd::Completed) => {}
        Some(RunEnd::StoppedByError) => {
            found.push(Caveat::StoppedByError { error: facts.error.clone().unwrap_or_default() });
        }
        Some(end) => found.push(Caveat::StoppedEarly { end, from: facts.stopped_from() }),
    }
    let generator = &facts.generator;
    found.extend(stalls::find(&generator.stalls));
    if !generator.abandoned.is_empty() {
        found.push(Caveat::CoresAbandoned { cores: generator.abandoned.clone() });
    }
    // A core of which nothing is known is not called busy: the report says that it is not known.
    let busy = |core: &&busyhour_record::CoreFacts| {
        core.busy.is_some_and(|share| share >= BUSY_MEAN)
            || core.busy_second_max.is_some_and(|share| share >= BUSY_SECOND)
    };
    let cores = generator.cores.iter().filter(busy).count() as u32;
    if cores > 0 && facts.duration_s.is_none_or(|length| length >= BUSY_LENGTH_MIN_S) {
        let most = |of: fn(&busyhour_record::CoreFacts) -> Option<f64>| {
            generator.cores.iter().filter_map(of).reduce(f64::max).map(|share| share * 100.0)
        };
        found.push(Caveat::GeneratorBusy {
            busy_percent: most(|core| core.busy),
            busy_second_percent: most(|core| core.busy_second_max),
            cores,
        });
    }
    if let Some(stolen) = generator.cpu_stolen.filter(|share| *share >= STOLEN) {
        found.push(Caveat::CpuStolen { percent: stolen * 100.0 });
    }
    if generator.recorder_stalls > 0 {
        let stalled_s = generator.recorder_stall_ns as f64 / 1e9;
        found.push(Caveat::RecorderStalled { stalls: generator.recorder_stalls, stalled_s });
    }
    if generator.lost_samples > 0 {
        found.push(Caveat::SamplesLost { samples: generator.lost_samples });
    }
    if generator.interrupted_samples > 0 {
        found.push(Caveat::Interrupted { samples: generator.interrupted_samples });
    }
    found.extend(
        (generator.exceeded_limits.iter())
            .map(|(limit, times)| Caveat::LimitExceeded { limit: limit.clone(), times: *times }),
    );
    if let Some(counts) = facts.arrivals.filter(|counts| counts.left_waiting > 0) {
        found.push(Caveat::ArrivalsLeft { arrivals: counts.left_waiting });
    }
    if let Some(counts) = facts.arrivals {
        // What was given up under way had begun its request.
        let begun = counts.begun;
        let asked =
            total.samples + totals.warmup_samples + generator.interrupted_samples + generator.lost_samples;
        let sessions = begun.saturating_sub(asked);
        if sessions as f64 > IDLE_SHARE * begun as f64 {
            found.push(Caveat::IdleSessions { sessions, begun });
        }
    }
    let events = if facts.recorder_events.is_empty() { &totals.events } else { &facts.recorder_events };
    found.extend(events.iter().cloned().map(|event| match event {
        RecorderEvent::LostOutput { file, error, lost } => Caveat::OutputLost { file, error, lost },
        RecorderEvent::NotOpened { file, error } => Caveat::ListenerNotWritten { file, reason: error },
        RecorderEvent::Failed { error } => Caveat::RecorderFailed { error },
    }));
    if facts.record_cut {
        found.push(Caveat::RecordCut);
    }
    found.extend(facts.inputs.iter().filter(|input| input.bad_rows > 0).map(|input| Caveat::BadRows {
        file: input.name.clone(),
        rows: input.bad_rows,
        first: input.first_bad.clone(),
    }));
    if not_together(&facts.inputs) {
        found.push(Caveat::NotTogether);
    }
    if facts.one_clock {
        found.push(Caveat::OneClock);
    }
    found.extend(
        late_ms(total.response.mean_ms(), total.service.mean_ms())
            .map(|mean_ms| Caveat::LateStarts { mean_ms }),
    );
    if total.samples > 0 && total.errors * 20 >= total.samples {
        found.push(Caveat::ManyErrors { percent: total.errors as f64 * 100.0 / total.samples as f64 });
    }
    if total.samples > 0 {
        for (percentile, one_in) in [(99.0, 100), (99.9, 1000)] {
            let beyond = total.samples / one_in;
            if beyond < TAIL_SAMPLES {
                found.push(Caveat::ThinTail { percentile, beyond });
                break;
            }
        }
    }
    found.extend(mixed_phases(totals).map(|groups| Caveat::MixedPhases { groups }));
    let labels = shared_labels(totals);
    if !labels.is_empty() {
        found.push(Caveat::SharedLabels { labels });
    }
    if totals.other_label_samples > 0 {
        found.push(Caveat::ManyLabels { samples: totals.other_label_samples });
    }
    if totals.warmup_samples > 0 {
        found.push(Caveat::WarmupLeftOut { samples: totals.warmup_samples });
    }
    found.extend(facts.notes.iter().map(|note| Caveat::Plan {
        kind: note.code.clone(),
        note: note.message.clone(),
        hint: note.hint.clone(),
    }));
    found
}
