//! Changes of a load during a run: rate changes and pauses.
//!
//! With a factor f(t), the rate is λ'(t) = f(t)·λ(t), where λ is the rate of the requested process. The stages are not shifted.
//! From each change on, the rest of the process with multiplied rates is a separate process with its own random stream.
//! A change therefore does not affect earlier arrivals. Because the increments of a Poisson process are independent, a changed
//! Poisson process is also a Poisson process, with Λ'(t) = ∫ f λ. Even stages continue with the current phase. A pause
//! discards the arrivals in the pause, without shifting other arrivals.

use std::collections::VecDeque;

use crate::arrival::Arrival;
use crate::generate::even;
use crate::process::{ArrivalProcess, Piece};
use crate::random::part_seed;
use crate::schedule::SharedSchedule;
use crate::share::LoadShare;
use crate::stage::{Mmpp, Per, Process, Rate, Stage};

/// A rate change: from this time on, the rate is that of the requested process multiplied by a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateChange {
    /// The time, in nanoseconds since the start of the process.
    pub at_ns: u64,
    /// The factor; positive and finite.
    pub factor: f64,
}

/// The changes of the requested load during a run: the share of the load that the run generates, its rate changes in order of
/// time, and its pauses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScheduleChanges {
    share: LoadShare,
    rates: Vec<RateChange>,
    /// Start (inclusive) and end (exclusive) of each pause, in nanoseconds since the start of the process.
    pauses: Vec<(u64, u64)>,
}

/// Position of the bits of an arrival's number that contain the number of its part: the number of changes before the arrival. The
/// part makes arrival numbers unique within a run.
const PART_SHIFT: u32 = 48;

impl ScheduleChanges {
    /// A share of the load, without rate changes and pauses.
    pub fn of_share(share: LoadShare) -> ScheduleChanges {
        ScheduleChanges { share, ..ScheduleChanges::default() }
    }

    /// Adds a rate change. If its time is before that of the last change, the time of the last change is used.
    pub fn change_rate(&mut self, change: RateChange) {
        let earliest = self.rates.last().map_or(0, |last| last.at_ns);
        self.rates.push(RateChange { at_ns: change.at_ns.max(earliest), ..change });
    }

    /// Adds a pause from `from_ns` to `to_ns`, in nanoseconds since the start of the process.
    pub fn pause(&mut self, from_ns: u64, to_ns: u64) {
        let earliest = self.pauses.last().map_or(0, |last| last.1);
        let from_ns = from_ns.max(earliest);
        if to_ns > from_ns {
            self.pauses.push((from_ns, to_ns));
        }
    }

    /// Whether there are no rate changes and no pauses. The share does not matter.
    pub fn is_empty(&self) -> bool {
        self.rates.is_empty() && self.pauses.is_empty()
    }

    /// Whether an arrival at this time is discarded.
    fn is_paused(&self, at_ns: u64) -> bool {
        let next = self.pauses.partition_point(|(from, _)| *from <= at_ns);
        self.pauses[..next].last().is_some_and(|(_, to)| at_ns < *to)
    }

    /// Λ', the expected number of arrivals of the share over time, with the changes.
    pub fn expected(&self, process: &ArrivalProcess) -> CumulativeRate {
        let mut times: Vec<u64> = self.rates.iter().map(|change| change.at_ns).collect();
        times.extend(self.pauses.iter().flat_map(|(from, to)| [*from, *to]));
        times.sort_unstable();
        times.dedup();
        let factor_at = |at_ns: u64| {
            let next = self.rates.partition_point(|change| change.at_ns <= at_ns);
            let factor = self.rates[..next].last().map_or(1.0, |change| change.factor);
            if self.is_paused(at_ns) { 0.0 } else { factor }
        };
        let mut points = vec![Point { at_ns: 0, cumulative: 0.0, base: 0.0, factor: factor_at(0) }];
        for at_ns in times.into_iter().filter(|at_ns| *at_ns > 0) {
            let base = process.cumulative(at_ns);
            let cumulative = points.last().map_or(0.0, |last| last.cumulative_at(base));
            points.push(Point { at_ns, cumulative, base, factor: factor_at(at_ns) });
        }
        CumulativeRate { process: process.clone(), size: self.share.size(), points }
    }

    /// The arrivals that a run of this share offers, with the changes.
    pub fn schedule(&self, process: &ArrivalProcess, seed: u64) -> impl Iterator<Item = Arrival> {
        let mut schedule = ChangingSchedule::new(process, seed, self.share.clone());
        self.rates.iter().for_each(|change| schedule.change(*change));
        schedule.filter(|arrival| !self.is_paused(arrival.at_ns))
    }
}

/// Λ' of a share of a changed process, computed from Λ of the requested process.
#[derive(Clone, Debug)]
pub struct CumulativeRate {
    process: ArrivalProcess,
    /// The size of the share, between 0 and 1.
    size: f64,
    points: Vec<Point>,
}

/// A time from which on Λ' increases `factor` times as fast as Λ.
#[derive(Clone, Copy, Debug)]
struct Point {
    at_ns: u64,
    /// The value of Λ' at this time.
    cumulative: f64,
    /// The value of Λ at this time.
    base: f64,
    factor: f64,
}

impl Point {
    /// The value of Λ' at the time at which Λ is `base`.
    fn cumulative_at(&self, base: f64) -> f64 {
        self.cumulative + self.factor * (base - self.base)
    }
}

impl CumulativeRate {
    /// The expected number of arrivals in [0, t).
    pub fn cumulative(&self, at_ns: u64) -> f64 {
        let next = self.points.partition_point(|point| point.at_ns <= at_ns);
        let base = self.process.cumulative(at_ns);
        self.size * self.points[..next].last().map_or(base, |point| point.cumulative_at(base))
    }
}

/// A share of a schedule whose rate can be changed while its arrivals are consumed.
#[derive(Clone, Debug)]
pub struct ChangingSchedule {
    process: ArrivalProcess,
    seed: u64,
    share: LoadShare,
    /// The schedule of the rest of the process, from the last change on.
    part: ArrivalProcess,
    part_number: u64,
    part_ns: u64,
    /// Number of stages that had ended at the last change.
    stages_ended: u32,
    arrivals: SharedSchedule,
    pending: VecDeque<RateChange>,
    next: Option<Arrival>,
}

impl ChangingSchedule {
    /// Creates the schedule without changes.
    pub fn new(process: &ArrivalProcess, seed: u64, share: LoadShare) -> ChangingSchedule {
        ChangingSchedule {
            process: process.clone(),
            seed,
            arrivals: process.schedule(seed).share(share.clone()),
            share,
            part: process.clone(),
            part_number: 0,
            part_ns: 0,
            stages_ended: 0,
            pending: VecDeque::new(),
            next: None,
        }
    }

    /// Changes the rate. The time must not be before that of the last change. Arrivals before the change that have not been
    /// consumed yet are not affected.
    pub fn change(&mut self, change: RateChange) {
        let earliest = self.pending.back().map_or(self.part_ns, |last| last.at_ns);
        self.pending.push_back(RateChange { at_ns: change.at_ns.max(earliest), ..change });
    }

    /// The next arrival, without consuming it. It remains the next arrival unless a change before it is added.
    pub fn peek(&mut self) -> Option<Arrival> {
        loop {
            if self.next.is_none() {
                self.next = self.arrivals.next().map(|arrival| Arrival {
                    index: arrival.index | self.part_number << PART_SHIFT,
                    at_ns: self.part_ns.saturating_add(arrival.at_ns),
                    stage: self.stages_ended.saturating_add(arrival.stage),
                    ..arrival
                });
            }
            match self.pending.front() {
                Some(change) if self.next.is_none_or(|next| next.at_ns >= change.at_ns) => {
                    let change = *change;
                    self.pending.pop_front();
                    self.begin_part(change);
                }
                _ => return self.next,
            }
        }
    }

    fn begin_part(&mut self, change: RateChange) {
        let phase = self.part.phase_at(change.at_ns - self.part_ns);
        self.part = self.process.rest(change, phase);
        self.part_number += 1;
        self.part_ns = change.at_ns;
        self.stages_ended = u32::try_from(self.process.stages_ended(change.at_ns)).unwrap_or(u32::MAX);
        self.arrivals = self.part.schedule(part_seed(self.seed, self.part_number)).share(self.share.clone());
        self.next = None;
    }
}

impl Iterator for ChangingSchedule {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let next = self.peek();
        self.next = None;
        next
    }
}

impl ArrivalProcess {
    /// Whether the rate can be changed, which is impossible for a replay.
    pub fn has_rate(&self) -> bool {
        self.stages().iter().all(|stage| !matches!(stage.process, Process::Replay(_)))
    }

    fn stages_ended(&self, at_ns: u64) -> usize {
        self.stages().partition_point(|stage| stage.end_ns <= at_ns)
    }

    /// The amount by which Λ increases from this time until the next even arrival.
    fn phase_at(&self, at_ns: u64) -> f64 {
        for stage in &self.stages()[self.stages_ended(at_ns)..] {
            match stage.process {
                Process::Even { count: None } => {
                    let past = stage.expected_until(at_ns.saturating_sub(stage.begin_ns));
                    return even::phase_after(stage.phase, past);
                }
                Process::Pause => {}
                _ => break,
            }
        }
        0.0
    }

    /// The rest of the process from a change on, with multiplied rates.
    fn rest(&self, change: RateChange, phase: f64) -> ArrivalProcess {
        let pieces = self.stages()[self.stages_ended(change.at_ns)..].iter().map(|stage| {
            let passed_ns = change.at_ns.saturating_sub(stage.begin_ns);
            let times = |per_s: f64| Rate { value: per_s * change.factor, per: Per::Second };
            Piece {
                process: rest_of(stage, passed_ns, change.factor),
                rate_begin: times(stage.line().at(passed_ns as f64)),
                rate_end: times(stage.rate_end.per_s()),
                duration_ns: stage.duration_ns() - passed_ns,
            }
        });
        ArrivalProcess::assemble_from(phase, pieces)
    }
}

fn rest_of(stage: &Stage, passed_ns: u64, factor: f64) -> Process {
    match &stage.process {
        Process::Even { count: Some(count) } if passed_ns == 0 => {
            Process::Even { count: Some((*count as f64 * factor).round() as u64) }
        }
        Process::Even { .. } => Process::Even { count: None },
        Process::FixedCount { .. } => {
            let left = stage.expected_until(stage.duration_ns()) - stage.expected_until(passed_ns);
            Process::FixedCount { count: (left * factor).round() as u64, java_random: None }
        }
        Process::Mmpp(mmpp) => Process::Mmpp(Mmpp {
            states: mmpp.states.map(|mut state| {
                state.rate.value *= factor;
                state
            }),
        }),
        unchanged => unchanged.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn process(text: &str) -> ArrivalProcess {
        ArrivalProcess::parse(text).unwrap()
    }

    fn changes(rates: &[(f64, f64)], pauses: &[(f64, f64)]) -> ScheduleChanges {
        let ns = |seconds: f64| (seconds * S as f64) as u64;
        let mut changes = ScheduleChanges::default();
        for (at_s, factor) in rates {
            changes.change_rate(RateChange { at_ns: ns(*at_s), factor: *factor });
        }
        pauses.iter().for_each(|(from_s, to_s)| changes.pause(ns(*from_s), ns(*to_s)));
        changes
    }

    fn stamps(process: &ArrivalProcess, changes: &ScheduleChanges) -> Vec<u64> {
        changes.schedule(process, 7).map(|arrival| arrival.at_ns).collect()
    }

    #[test]
    fn arrivals_before_a_change_equal_those_of_the_unchanged_process() {
        let process = process(
            "poisson(500/s) for 10s, gamma(300/s, cov 0.5) for 10s, mmpp(50/s for 1s, 500/s for 1s) for 5s",
        );
        let unchanged: Vec<_> = process.schedule(7).collect();
        for at_s in [0.0, 3.3, 10.0, 14.0, 21.0, 25.0, 40.0] {
            let at_ns = (at_s * S as f64) as u64;
            let changed: Vec<_> = changes(&[(at_s, 2.0)], &[]).schedule(&process, 7).collect();
            let before = unchanged.iter().take_while(|arrival| arrival.at_ns < at_ns).count();
            assert_eq!(changed[..before], unchanged[..before], "{at_s}");
            assert!(changed[before..].iter().all(|arrival| arrival.at_ns >= at_ns));
            let mut numbers: Vec<u64> = changed.iter().map(|arrival| arrival.index).collect();
            numbers.dedup();
            assert_eq!(numbers.len(), changed.len());
            for arrival in &changed {
                let stage = &process.stages()[arrival.stage as usize];
                assert!((stage.begin_ns..stage.end_ns).contains(&arrival.at_ns));
            }
        }
    }

    #[test]
    fn the_changed_rate_is_delivered_and_poisson_gaps_stay_exponential() {
        let process = process("poisson(400/s) for 30s, ramp(400/s -> 800/s) over 30s");
        let changes = changes(&[(10.0, 2.5), (40.0, 0.5)], &[(20.0, 25.0), (35.0, 45.0)]);
        let expected = changes.expected(&process);
        let stamps = stamps(&process, &changes);
        let all = expected.cumulative(process.duration_ns());
        // The expected number is that of 10 s at 400/s, 15 s at 1,000/s, 5 s of the ramp at 2.5 times its rate and the
        // last 15 s at half its rate.
        let ramp = |from: f64, to: f64| 400.0 * (to - from) + 400.0 / 60.0 * (to * to - from * from);
        let computed = 4_000.0 + 15.0 * 1_000.0 + 2.5 * ramp(0.0, 5.0) + 0.5 * ramp(15.0, 30.0);
        assert!((all - computed).abs() < 1e-6, "{all} {computed}");
        assert!((stamps.len() as f64 - all).abs() < 5.0 * all.sqrt(), "{} of {all}", stamps.len());
        assert!(!stamps.iter().any(|at| (20 * S..25 * S).contains(at) || (35 * S..45 * S).contains(at)));
        // After rescaling by the expected number, gaps are exponential with mean 1, even across changes and pauses.
        let gap = |pair: &[u64]| expected.cumulative(pair[1]) - expected.cumulative(pair[0]);
        let mut gaps: Vec<f64> = stamps.windows(2).map(gap).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / (gaps.len() - 1) as f64;
        assert!(
            (mean - 1.0).abs() < 0.03 && (variance.sqrt() / mean - 1.0).abs() < 0.03,
            "{mean} {variance}"
        );
        let test = busyhour_stats::lilliefors_exponential(&mut gaps);
        assert!(test.is_some_and(|test| test.p_value > 0.01), "{test:?}");
    }

    #[test]
    fn even_arrivals_keep_their_phase_at_a_change() {
        let process = process("even(10/s) for 10s, pause 1s, even(10/s) for 4s");
        // At 2.05 s half of a gap has passed. The rate is then doubled, so the other half takes half as long.
        let stamps = stamps(&process, &changes(&[(2.05, 2.0), (5.0, 1.0)], &[]));
        let ms: Vec<u64> = stamps.iter().map(|at| (at + 500_000) / 1_000_000).collect();
        assert_eq!(ms[19..24], [1_900, 2_000, 2_075, 2_125, 2_175]);
        let after = ms.iter().position(|at| *at > 5_000).unwrap();
        assert_eq!(ms[after - 1..after + 2], [4_975, 5_050, 5_150]);
        // The second even stage continues after the pause, as without a change.
        let resumed = ms.iter().position(|at| *at >= 11_000).unwrap();
        assert_eq!(ms[resumed - 1..resumed + 2], [9_950, 11_050, 11_150]);
    }

    #[test]
    fn the_shares_of_a_changed_schedule_are_disjoint_and_complete() {
        let process = process("poisson(300/s) for 5s, even(200/s) for 5s, gamma(200/s, cov 2) for 5s");
        let rates = [(2.0, 3.0), (6.0, 0.3), (12.0, 1.0)]
            .map(|(at_s, factor)| RateChange { at_ns: (at_s * S as f64) as u64, factor });
        let of = |share: LoadShare| {
            let mut schedule = ChangingSchedule::new(&process, 7, share);
            let mut all = Vec::new();
            // Each change is added while earlier arrivals are still being consumed, as in a run.
            for change in rates {
                while schedule.peek().is_some_and(|next| next.at_ns + 200_000_000 < change.at_ns) {
                    all.extend(schedule.next());
                }
                schedule.change(change);
            }
            all.extend(schedule);
            all
        };
        let whole = of(LoadShare::WHOLE);
        let mut parts: Vec<Arrival> = (0..3).flat_map(|part| of(LoadShare::part(part, 3).unwrap())).collect();
        parts.sort_by_key(|arrival| (arrival.at_ns, arrival.index));
        assert_eq!(parts, whole);
    }

    #[test]
    fn counts_are_multiplied_and_a_replay_has_no_rate() {
        let process = process("fixed(100/s) for 10s, even(10/s) for 10s count 50");
        let stamps = stamps(&process, &changes(&[(5.0, 2.0)], &[]));
        let count = |from: u64, to: u64| stamps.iter().filter(|at| (from * S..to * S).contains(*at)).count();
        assert_eq!((count(5, 10), count(10, 20)), (1_000, 100));
        assert!(process.has_rate() && !ArrivalProcess::from_times("log", vec![1, 2], 3).has_rate());
    }
}
