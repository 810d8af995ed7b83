//! Compares the stacks of slow windows with the others.

use crate::flame::FlameTree;
use crate::frame_groups::{FrameGroup, StackColumn, frame_groups, stack_columns};
use crate::frame_name::is_jdk_frame;
use crate::record::{RecordedDump, StackRecord};
use crate::select::{Candidate, select};
use crate::sentences::{frame_sentence, sentence, too_few_dumps};
use crate::shift::{ShareTest, ShiftedWindows};
use crate::stack_finding::{FrameDifference, StackDifference, StackOutcome, StackWindowRule};
use crate::waiting::waiting;

/// Dumps in slow windows that are needed.
const DUMPS_SLOW_MIN: u64 = 10;

/// Dumps in the other windows that are needed.
const DUMPS_FAST_MIN: u64 = 20;

/// The level of the tests.
const LEVEL: f64 = 0.05;

/// Windows in which requests were slow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackWindows {
    /// How they were chosen.
    pub rule: StackWindowRule,
    /// The windows, in ns since the start of the run.
    pub windows: Vec<(u64, u64)>,
}

/// Compares the dumps of a source in a part of the run. Of the windows, the first ones with enough dumps are used.
#[must_use]
pub fn compare_stacks(
    record: &StackRecord,
    source: u32,
    part: (u64, u64),
    choices: &[StackWindows],
) -> StackDifference {
    let is_inside = |dump: &&RecordedDump| dump.source == source && (part.0..part.1).contains(&dump.time_ns);
    let mut dumps: Vec<&RecordedDump> = record.dumps.iter().filter(is_inside).collect();
    dumps.sort_by_key(|dump| dump.time_ns);
    let times: Vec<u64> = dumps.iter().map(|dump| dump.time_ns).collect();
    let clipped: Vec<(&StackWindowRule, Vec<(u64, u64)>)> =
        choices.iter().map(|choice| (&choice.rule, clip(&choice.windows, part))).collect();
    let enough = clipped.iter().find(|(_, windows)| count_in(&times, windows) >= DUMPS_SLOW_MIN);
    let (rule, windows) = match enough.or(clipped.last()) {
        Some((rule, windows)) => ((*rule).clone(), windows.clone()),
        None => (StackWindowRule::SlowSeconds, Vec::new()),
    };
    let slow = count_in(&times, &windows);
    let mean = |values: &mut dyn Iterator<Item = u64>| {
        let (sum, count) = values.fold((0.0, 0u64), |(sum, count), value| (sum + value as f64, count + 1));
        (count > 0).then(|| sum / count as f64 / 1e6)
    };
    let mut difference = StackDifference {
        source: record.text(source).to_owned(),
        windows: rule,
        outcome: StackOutcome::TooFew { reason: String::new() },
        sentence: String::new(),
        dumps_slow: slow,
        dumps_fast: dumps.len() as u64 - slow,
        dumps_lost: record.lost,
        compared: 0,
        frames: Vec::new(),
        dump_ms: mean(&mut dumps.iter().map(|dump| dump.took_ns)).unwrap_or(0.0),
        stopped_ms: mean(&mut dumps.iter().filter_map(|dump| dump.stopped_ns)),
        flame: FlameTree::default(),
    };
    if slow < DUMPS_SLOW_MIN || difference.dumps_fast < DUMPS_FAST_MIN {
        let reason = too_few_dumps((slow, difference.dumps_fast), (DUMPS_SLOW_MIN, DUMPS_FAST_MIN));
        difference.outcome = StackOutcome::TooFew { reason };
    } else {
        Comparison::new(record, &dumps, &times, &windows, part).fill(&mut difference);
    }
    difference.sentence = sentence(&difference);
    difference
}

/// The windows within a part, in the order of time, joined where they overlap.
fn clip(windows: &[(u64, u64)], part: (u64, u64)) -> Vec<(u64, u64)> {
    let mut inside: Vec<(u64, u64)> = windows
        .iter()
        .map(|(from, to)| ((*from).max(part.0), (*to).min(part.1)))
        .filter(|(from, to)| from < to)
        .collect();
    inside.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::with_capacity(inside.len());
    for window in inside {
        match joined.last_mut() {
            Some(last) if window.0 <= last.1 => last.1 = last.1.max(window.1),
            _ => joined.push(window),
        }
    }
    joined
}

fn count_in(times: &[u64], windows: &[(u64, u64)]) -> u64 {
    let at = |time: u64| times.partition_point(|one| *one < time) as u64;
    windows.iter().map(|(from, to)| at(*to) - at(*from)).sum()
}

/// The dumps of a source, and the shifts of the slow windows.
struct Comparison<'r> {
    record: &'r StackRecord,
    slow_dumps: Vec<&'r RecordedDump>,
    fast_dumps: usize,
    shifted: ShiftedWindows,
    stacks: Vec<StackColumn>,
    /// For each stack, its threads in slow windows and in the others.
    counts: Vec<(u64, u64)>,
}

impl<'r> Comparison<'r> {
    fn new(
        record: &'r StackRecord,
        dumps: &[&'r RecordedDump],
        times: &[u64],
        windows: &[(u64, u64)],
        part: (u64, u64),
    ) -> Comparison<'r> {
        let threads: Vec<u64> = dumps.iter().map(|dump| dump.thread_count()).collect();
        let shifted = ShiftedWindows::new(times, &threads, windows, part);
        let mut is_slow = vec![false; dumps.len()];
        for (from, to) in shifted.slow() {
            is_slow[*from as usize..*to as usize].fill(true);
        }
        let stacks = stack_columns(dumps);
        let counts = stacks.iter().map(|stack| {
            stack.column.counts.iter().fold((0, 0), |(slow, fast), (dump, count)| {
                let count = u64::from(*count);
                if is_slow[*dump as usize] { (slow + count, fast) } else { (slow, fast + count) }
            })
        });
        let counts = counts.collect();
        let slow_dumps: Vec<_> =
            dumps.iter().zip(&is_slow).filter(|(_, is_slow)| **is_slow).map(|(dump, _)| *dump).collect();
        let fast_dumps = dumps.len() - slow_dumps.len();
        Comparison { record, slow_dumps, fast_dumps, shifted, stacks, counts }
    }

    fn fill(&self, difference: &mut StackDifference) {
        difference.flame = FlameTree::of(
            self.record,
            self.stacks.iter().zip(&self.counts).map(|(stack, (slow, fast))| (stack.stack, *slow, *fast)),
        );
        let groups = frame_groups(self.record, &self.stacks);
        let tested: Vec<(&FrameGroup, ShareTest)> = groups
            .iter()
            .filter_map(|group| self.shifted.test(&group.column).map(|test| (group, test)))
            .collect();
        difference.compared = tested.len() as u64;
        if tested.is_empty() {
            let reason = "no frame can be tested, because the shares do not vary, or the slow windows are too long for the run; run longer";
            difference.outcome = StackOutcome::TooFew { reason: reason.to_owned() };
            return;
        }
        let p_values: Vec<f64> = tested.iter().map(|(_, test)| test.p).collect();
        let adjusted = holm(&p_values);
        let named = self.named(&tested, &adjusted);
        if named.is_empty() {
            let smallest = tested.iter().map(|(_, test)| detectable(test, tested.len())).fold(0.0, f64::max);
            difference.outcome = StackOutcome::NoDifference { smallest };
            return;
        }
        difference.outcome = StackOutcome::Differs;
        difference.frames = named
            .into_iter()
            .map(|at| {
                let (group, test) = tested[at];
                let mut frame = self.frame(group, &test, adjusted[at]);
                frame.sentence = frame_sentence(&frame, difference.compared);
                frame
            })
            .collect();
    }

    /// The positions of the frames that are named.
    fn named(&self, tested: &[(&FrameGroup, ShareTest)], adjusted: &[f64]) -> Vec<usize> {
        let candidates: Vec<Candidate<'_>> = tested
            .iter()
            .enumerate()
            .filter(|(at, _)| adjusted[*at] <= LEVEL)
            .map(|(at, (group, _))| Candidate { group: at, is_jdk: group.is_jdk, stacks: &group.stacks })
            .collect();
        select(&candidates, &self.stack_differences())
    }

    /// For each stack, its share of the threads in slow windows minus that in the others.
    fn stack_differences(&self) -> Vec<f64> {
        let all = self.counts.iter().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
        self.counts.iter().map(|count| share(count.0, all.0) - share(count.1, all.1)).collect()
    }

    fn frame(&self, group: &FrameGroup, test: &ShareTest, p_adjusted: f64) -> FrameDifference {
        let frame = self.record.text(group.frame).to_owned();
        let (slow, fast) = group
            .stacks
            .iter()
            .map(|at| self.counts[*at as usize])
            .fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
        let numbers: Vec<u32> = group.stacks.iter().map(|at| self.stacks[*at as usize].stack).collect();
        let numbers: rustc_hash::FxHashSet<u32> = numbers.into_iter().collect();
        let (waiting, held_up) = waiting(self.record, &self.slow_dumps, |stack| numbers.contains(&stack));
        let difference = test.difference();
        let (low, high) = self.shifted.interval(&group.column).unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        FrameDifference {
            is_jdk: is_jdk_frame(&frame),
            frame,
            share_slow: test.share_slow,
            share_fast: test.share_fast,
            threads_slow: slow as f64 / self.slow_dumps.len().max(1) as f64,
            threads_fast: fast as f64 / self.fast_dumps.max(1) as f64,
            difference_low: low.max(-1.0),
            difference_high: high.min(1.0),
            p_adjusted,
            waiting,
            held_up,
            stack: self.main_stack(group, difference),
            sentence: String::new(),
        }
    }

    /// The stack of a group whose share changed most in the direction of the difference.
    fn main_stack(&self, group: &FrameGroup, difference: f64) -> String {
        let differences = self.stack_differences();
        let changed = |at: &&u32| differences[**at as usize] * difference.signum();
        let Some(most) = group.stacks.iter().max_by(|a, b| changed(a).total_cmp(&changed(b))) else {
            return String::new();
        };
        let stack = self.stacks[*most as usize].stack;
        let mut frames: Vec<&str> = self.record.frames(stack).map(|frame| self.record.text(frame)).collect();
        frames.reverse();
        frames.join(";")
    }
}

/// The difference that would be found in four of five runs, of several frames that are compared.
fn detectable(test: &ShareTest, compared: usize) -> f64 {
    use statrs::distribution::{ContinuousCDF as _, StudentsT};
    let Ok(t) = StudentsT::new(0.0, 1.0, test.independent - 1.0) else { return 1.0 };
    let level = LEVEL / (2.0 * compared as f64);
    ((t.inverse_cdf(1.0 - level) + t.inverse_cdf(0.8)) * test.deviation).min(1.0)
}

/// Holm's correction.
fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, at) in order.into_iter().enumerate() {
        largest = largest.max((p_values[at] * (p_values.len() - rank) as f64).min(1.0));
        adjusted[at] = largest;
    }
    adjusted
}
