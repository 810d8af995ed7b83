//! Times in which a core, or the whole process, did not run.
//!
//! A core whose tick is late was blocked by its own work or by the system. If the supervisor thread and every core with
//! active users are late at the same time, the whole process did not run. The causes are a signal that stops the
//! process, a suspended machine, or a lack of CPU time.

use busyhour_sample::{Nanos, Stall};

/// Minimum length of a stall that is kept, in nanoseconds.
pub const STALL_MIN_NS: u64 = 100_000_000;

/// Maximum number of stalls that are kept for each source; the longest ones are kept.
const STALLS_MAX: usize = 16;

/// The longest stalls of one source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StallLog(Vec<Stall>);

impl StallLog {
    /// Notes that `core` (`None`: the process) did not run for `length_ns` nanoseconds from `from` on.
    pub(crate) fn note(&mut self, core: Option<u32>, from: Nanos, length_ns: u64) {
        if length_ns < STALL_MIN_NS {
            return;
        }
        self.0.push(Stall { core, at_ns: from.0, length_ns });
        if self.0.len() > STALLS_MAX
            && let Some(shortest) = (0..self.0.len()).min_by_key(|at| self.0[*at].length_ns)
        {
            self.0.remove(shortest);
        }
    }

    /// The stalls, unsorted.
    pub fn stalls(&self) -> &[Stall] {
        &self.0
    }
}

/// A stall of the supervisor thread, and the cores that were running users at that time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessStall {
    pub(crate) stall: Stall,
    pub(crate) running: Vec<u32>,
}

/// The stalls of the supervisor thread; their number is limited as in [`StallLog`].
#[derive(Clone, Debug, Default)]
pub(crate) struct ProcessStalls(Vec<ProcessStall>);

impl ProcessStalls {
    pub(crate) fn note(&mut self, from: Nanos, length_ns: u64, running: impl IntoIterator<Item = u32>) {
        if length_ns < STALL_MIN_NS {
            return;
        }
        let stall = Stall { core: None, at_ns: from.0, length_ns };
        self.0.push(ProcessStall { stall, running: running.into_iter().collect() });
        if self.0.len() > STALLS_MAX
            && let Some(shortest) = (0..self.0.len()).min_by_key(|at| self.0[*at].stall.length_ns)
        {
            self.0.remove(shortest);
        }
    }

    /// The stalls of a run, sorted by time: those of the process, and those of single cores outside of the stalls of the
    /// process. `cores` contains the stalls of each core.
    pub(crate) fn with_cores(&self, cores: &[StallLog]) -> Vec<Stall> {
        let was_late = |stall: &Stall, core: &u32| {
            let Some(log) = cores.get(*core as usize) else { return false };
            log.stalls().iter().any(|other| overlap_ns(stall, other) > 0)
        };
        let whole = self.0.iter().filter(|one| one.running.iter().all(|core| was_late(&one.stall, core)));
        let mut all: Vec<Stall> = whole.map(|one| one.stall).collect();
        let process = all.clone();
        for stall in cores.iter().flat_map(StallLog::stalls) {
            let explained = process.iter().any(|whole| overlap_ns(whole, stall) * 2 >= stall.length_ns);
            if !explained {
                all.push(*stall);
            }
        }
        all.sort_by_key(|stall| (stall.at_ns, stall.core));
        all
    }
}

fn overlap_ns(one: &Stall, other: &Stall) -> u64 {
    let end = |stall: &Stall| stall.at_ns.saturating_add(stall.length_ns);
    end(one).min(end(other)).saturating_sub(one.at_ns.max(other.at_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn log(core: u32, stalls: &[(u64, u64)]) -> StallLog {
        let mut log = StallLog::default();
        stalls.iter().for_each(|(at, length)| log.note(Some(core), Nanos(at * MS), length * MS));
        log
    }

    #[test]
    fn the_process_stalled_only_when_every_active_core_was_late() {
        let mut process = ProcessStalls::default();
        process.note(Nanos(12_000 * MS), 5_000 * MS, [0, 1]);
        process.note(Nanos(30_000 * MS), 400 * MS, [0, 1]);
        process.note(Nanos(40_000 * MS), 700 * MS, [1]);
        let cores = [log(0, &[(12_020, 4_900), (50_000, 1_300)]), log(1, &[(12_050, 4_930), (40_000, 690)])];
        let found = process.with_cores(&cores);
        let of = |core, at, length| Stall { core, at_ns: at * MS, length_ns: length * MS };
        let wanted = [of(None, 12_000, 5_000), of(None, 40_000, 700), of(Some(0), 50_000, 1_300)];
        assert_eq!(found, wanted, "only the supervisor was late at 30 s");
    }

    #[test]
    fn a_core_that_was_late_for_longer_than_the_process_is_named_too() {
        let mut process = ProcessStalls::default();
        process.note(Nanos(0), 200 * MS, [0]);
        let found = process.with_cores(&[log(0, &[(0, 3_000)])]);
        assert_eq!(found.iter().map(|stall| stall.core).collect::<Vec<_>>(), [None, Some(0)]);
    }

    #[test]
    fn the_longest_stalls_are_kept_and_short_ones_are_ignored() {
        let mut log = StallLog::default();
        log.note(Some(0), Nanos(0), STALL_MIN_NS - 1);
        for number in 0..1_000 {
            log.note(Some(0), Nanos(number), STALL_MIN_NS + number);
        }
        assert_eq!(log.stalls().len(), STALLS_MAX);
        assert!(log.stalls().iter().all(|stall| stall.at_ns >= 1_000 - STALLS_MAX as u64));
    }
}
