//! Derives the caveats of a run from its facts and totals.

use busyhour_sample::{CoreFacts, RecorderEvent, RunEnd, RunTotals, Stall};

use crate::caveat::{Caveat, late_ms};
use crate::facts::{InputSummary, RunFacts};
use crate::groups::{mixed_phases, shared_labels};
use crate::stalls::reported_stalls;

/// If more than this share of the CPU time is stolen, all measured times are affected.
const STOLEN_SHARE_MIN: f64 = 0.02;

/// If the quota was used up in more than this share of its periods, the 99th percentile of the lateness is affected.
const THROTTLED_SHARE_MIN: f64 = 0.01;

/// A core that was busy for this share of the run may have started requests late.
const BUSY_SHARE_MIN: f64 = 0.80;

/// A core that was busy for this share of its busiest second may have started requests late.
const BUSY_SECOND_SHARE_MIN: f64 = 0.95;

/// In a run shorter than this, in seconds, most of a core's CPU time is spent on starting up.
const BUSY_LENGTH_MIN_S: f64 = 1.0;

/// Minimum number of samples above a percentile. With fewer, the percentile is close to the maximum and varies like it.
const TAIL_SAMPLES_MIN: u64 = 10;

/// Minimum share of sessions without a request that raises a caveat.
const IDLE_SHARE_MIN: f64 = 0.01;

/// Maximum number of stalls that a caveat lists. If there are more, it lists the longest.
const STALLS_MAX: usize = 3;

/// The caveats of a run, in the order of the report.
pub(crate) fn find(facts: &RunFacts, totals: &RunTotals) -> Vec<Caveat> {
    let mut found = Vec::new();
    // The caveat about one clock comes first because it qualifies the other caveats: a result file has less information than
    // the run directory of the same run, so the caveats can differ.
    if facts.only_actual_starts && totals.total.samples > 0 {
        found.push(match &facts.other_tool {
            Some(tool) => Caveat::ToolHasOnlyActualStarts { tool: tool.tool.clone(), tick_s: tool.tick_s },
            None => Caveat::OnlyActualStarts,
        });
    }
    find_in_outcome(facts, totals, &mut found);
    find_in_generator(facts, &mut found);
    find_in_arrivals(facts, totals, &mut found);
    find_in_record(facts, totals, &mut found);
    find_in_times(facts, totals, &mut found);
    find_in_labels(totals, &mut found);
    found.extend(facts.notes.iter().map(|note| Caveat::Plan {
        kind: note.code.clone(),
        note: note.message.clone(),
        hint: note.hint.clone(),
    }));
    found
}

/// Caveats about how the run ended.
fn find_in_outcome(facts: &RunFacts, totals: &RunTotals, found: &mut Vec<Caveat>) {
    if totals.total.samples == 0 {
        found.push(Caveat::NoSamples);
    }
    if facts.has_manifest && facts.end.is_none() {
        found.push(Caveat::RunOutcomeMissing);
    }
    if let Some(end) = &facts.record_end {
        found.push(Caveat::RecordEndsEarly { at_s: end.at_s, later: end.later.clone() });
    }
    match facts.end {
        None | Some(RunEnd::Completed) => {}
        Some(RunEnd::StoppedByError) => {
            found.push(Caveat::StoppedByError { error: facts.error.clone().unwrap_or_default() });
        }
        Some(end) => found.push(Caveat::StoppedEarly { end, from: facts.stopped_from() }),
    }
}

/// Caveats about whether the generator kept up with the load.
fn find_in_generator(facts: &RunFacts, found: &mut Vec<Caveat>) {
    let generator = &facts.generator;
    found.extend(stall_caveat(&generator.stalls));
    if !generator.abandoned.is_empty() {
        found.push(Caveat::CoresAbandoned { cores: generator.abandoned.clone() });
    }
    // A core with unknown CPU time is not reported as busy; the report shows its CPU time as unknown.
    let busy = |core: &&CoreFacts| {
        core.busy.is_some_and(|share| share >= BUSY_SHARE_MIN)
            || core.busy_second_max.is_some_and(|share| share >= BUSY_SECOND_SHARE_MIN)
    };
    let cores = generator.cores.iter().filter(busy).count() as u32;
    if cores > 0 && facts.duration_s.is_none_or(|length| length >= BUSY_LENGTH_MIN_S) {
        let most = |of: fn(&CoreFacts) -> Option<f64>| {
            generator.cores.iter().filter_map(of).reduce(f64::max).map(|share| share * 100.0)
        };
        found.push(Caveat::GeneratorBusy {
            busy_percent: most(|core| core.busy),
            busy_second_percent: most(|core| core.busy_second_max),
            cores,
        });
    }
    if let Some(stolen) = generator.cpu_stolen.filter(|share| *share >= STOLEN_SHARE_MIN) {
        found.push(Caveat::CpuStolen { percent: stolen * 100.0 });
    }
    if let Some(share) = generator.cpu_throttled.filter(|share| *share >= THROTTLED_SHARE_MIN) {
        found.push(Caveat::CpuThrottled { percent: share * 100.0 });
    }
    if generator.recorder_stalls > 0 {
        let stalled_s = generator.recorder_stall_ns as f64 / 1e9;
        found.push(Caveat::RecorderStalled { stalls: generator.recorder_stalls, stalled_s });
    }
    if generator.lost_samples > 0 {
        found.push(Caveat::SamplesLost { samples: generator.lost_samples });
    }
    if generator.interrupted_samples > 0 {
        found.push(Caveat::SamplesInFlight { samples: generator.interrupted_samples });
    }
    found.extend(
        (generator.exceeded_limits.iter())
            .map(|(limit, times)| Caveat::LimitExceeded { limit: limit.clone(), times: *times }),
    );
}

/// Caveats about arrivals that waited and about sessions without a request.
fn find_in_arrivals(facts: &RunFacts, totals: &RunTotals, found: &mut Vec<Caveat>) {
    let (total, generator) = (&totals.total, &facts.generator);
    if let Some(counts) = facts.arrivals.filter(|counts| counts.left_waiting > 0) {
        found.push(Caveat::ArrivalsWaiting { arrivals: counts.left_waiting });
    }
    if let Some(counts) = facts.arrivals {
        // Interrupted and lost samples belong to sessions that sent a request.
        let started = counts.begun;
        let requests =
            total.samples + totals.warmup_samples + generator.interrupted_samples + generator.lost_samples;
        let idle_sessions = started.saturating_sub(requests);
        if idle_sessions as f64 > IDLE_SHARE_MIN * started as f64 {
            found.push(Caveat::IdleSessions { sessions: idle_sessions, started });
        }
    }
}

/// Caveats about whether the record and the files are complete.
fn find_in_record(facts: &RunFacts, totals: &RunTotals, found: &mut Vec<Caveat>) {
    let events = if facts.recorder_events.is_empty() { &totals.events } else { &facts.recorder_events };
    found.extend(events.iter().cloned().map(|event| match event {
        RecorderEvent::LostOutput { file, error, lost } => Caveat::OutputLost { file, error, lost },
        RecorderEvent::NotOpened { file, error } => Caveat::ListenerNotWritten { file, reason: error },
        RecorderEvent::Failed { error } => Caveat::RecorderFailed { error },
    }));
    if facts.record_tail_missing {
        found.push(Caveat::RecordTailMissing);
    }
    found.extend(facts.inputs.iter().filter(|input| input.bad_rows > 0).map(|input| Caveat::BadRows {
        file: input.name.clone(),
        rows: input.bad_rows,
        first: input.first_bad.clone(),
    }));
    if has_disjoint_inputs(&facts.inputs) {
        found.push(Caveat::InputsDoNotOverlap);
    }
}

/// Caveats about whether the times can be trusted.
fn find_in_times(facts: &RunFacts, totals: &RunTotals, found: &mut Vec<Caveat>) {
    let total = &totals.total;
    let waited = facts.arrivals.map_or(0, |counts| counts.waited);
    found.extend(
        late_ms(total.response.mean_ms(), total.service.mean_ms())
            .map(|mean_ms| Caveat::LateStarts { mean_ms, waited }),
    );
    if total.samples > 0 && total.errors * 20 >= total.samples {
        found.push(Caveat::ManyErrors { percent: total.errors as f64 * 100.0 / total.samples as f64 });
    }
    if total.samples > 0 {
        for (percentile, one_in) in [(99.0, 100), (99.9, 1000)] {
            let beyond = total.samples / one_in;
            if beyond < TAIL_SAMPLES_MIN {
                found.push(Caveat::ThinTail { percentile, beyond });
                break;
            }
        }
    }
}

/// Caveats about rows of the table that mix different kinds of samples.
fn find_in_labels(totals: &RunTotals, found: &mut Vec<Caveat>) {
    found.extend(mixed_phases(totals).map(|groups| Caveat::MixedPhases { groups }));
    let labels = shared_labels(totals);
    if !labels.is_empty() {
        found.push(Caveat::SharedLabels { labels });
    }
    if totals.other_label_samples > 0 {
        found.push(Caveat::ManyLabels { samples: totals.other_label_samples });
    }
    if totals.warmup_samples > 0 {
        found.push(Caveat::WarmupExcluded { samples: totals.warmup_samples });
    }
}

/// Whether some of the inputs ended before all the others began.
fn has_disjoint_inputs(inputs: &[InputSummary]) -> bool {
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

/// The caveat about the stalls of a run, if any is long enough to be reported.
fn stall_caveat(stalls: &[Stall]) -> Option<Caveat> {
    let mut named: Vec<Stall> = reported_stalls(stalls).copied().collect();
    if named.is_empty() {
        return None;
    }
    named.sort_by_key(|stall| std::cmp::Reverse(stall.length_ns));
    let more = named.len().saturating_sub(STALLS_MAX) as u64;
    named.truncate(STALLS_MAX);
    named.sort_by_key(|stall| stall.at_ns);
    Some(Caveat::GeneratorStalled { stalls: named, more })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_stalls_are_listed_in_order_of_time() {
        let stall =
            |core, at_s: u64, ms: u64| Stall { core, at_ns: at_s * 1_000_000_000, length_ns: ms * 1_000_000 };
        assert_eq!(stall_caveat(&[stall(None, 3, 199)]), None);
        let stalls = [
            stall(Some(2), 7, 1_300),
            stall(None, 12, 5_000),
            stall(Some(0), 20, 250),
            stall(Some(0), 3_725, 400),
        ];
        let message = stall_caveat(&stalls).unwrap().to_string();
        assert_eq!(
            message,
            "core 2 was blocked for 1.3 s at 00:07; this process did not run for 5.0 s at 00:12; core 0 was blocked for \
             0.4 s at 1:02:05; and 1 shorter stall"
        );
    }
}
