//! One core's share of an open workload: assigns each arrival to a user at its intended start.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use busyhour_arrivals::{Arrival, ChangingSchedule, LoadShare};
use busyhour_program::Program;
use busyhour_program::open::{NoFreeUser, OpenWorkload};
use busyhour_program::population::Population;
use busyhour_program::run::Stop;
use busyhour_program::sampler::Protocol;
use busyhour_sample::{ArrivalOutcome, ArrivalRecord, Nanos};

use super::course::ScheduleCursor;
use crate::core::Core;
use crate::core_share::{share_of_core, user_number, users_in};
use crate::idle_pool::{Assignment, IdlePool, Offer, PoolUser};
use crate::phase_users::{PanicReport, PhaseUsers};
use crate::slices::spawn_sliced;
use crate::virtual_user::VirtualUser;

/// How often a workload that waits for its last sessions checks whether the run has been stopped, in nanoseconds.
const STOP_CHECK_INTERVAL_NS: u64 = 50_000_000;

/// An arrival that is due within this time is reserved for an idle user in advance, in nanoseconds. Otherwise the dispatcher
/// would have to wake first and then wake the user. A user needs a few microseconds to prepare its session.
const AHEAD_NS: u64 = 50_000;

/// Maximum number of due arrivals that are assigned in a row before other tasks run.
const AT_ONCE_MAX: u32 = 64;

/// An open workload that is about to start.
#[derive(Clone, Debug)]
pub(crate) struct OpenStart {
    /// Index in [`Program::open`].
    pub(crate) workload: u32,
    /// When its schedule begins.
    pub(crate) first: Nanos,
    /// The initial and the maximum number of users of each group in the whole run.
    pub(crate) users: Vec<(u32, u32)>,
}

/// How many of `users` users serve the share of one process or one core: at least 1, because an arrival cannot move to another
/// share.
fn part(users: u32, share: &LoadShare) -> u32 {
    users_in(share, users).max(1)
}

/// With this many users per core, it hardly matters that an arrival can use only users of its own core.
const MANY_PER_CORE: u32 = 32;

/// Whether one core should serve the whole share of a workload. This is the case if the rate of arrivals is low
/// ([`OpenWorkload::is_slow`]) and one of two conditions holds: the workload has few users, or it keeps the same users
/// for all arrivals. (In the JMeter plugin, such users are all in one pool.)
fn needs_one_pool<P>(
    program: &Program<P>,
    workload: &OpenWorkload,
    users: &[(u32, u32)],
    share: &LoadShare,
    cores: u32,
) -> bool {
    let mut groups = workload.groups.iter().map(|(group, _)| &program.groups[*group as usize]);
    workload.is_slow(share)
        && (users.iter().any(|(_, most)| part(*most, share) < MANY_PER_CORE.saturating_mul(cores))
            || groups.any(|group| matches!(group.population.as_deref(), Some(Population::Arrivals))))
}

struct Dispatcher<'r, P: Protocol> {
    core: &'r Rc<Core>,
    cores: u32,
    program: &'r Arc<Program<P>>,
    workload: &'r OpenWorkload,
    /// The share of the load that this process generates on all cores together.
    run_share: &'r LoadShare,
    /// The pool and the maximum number of users of each group of the workload.
    pools: Vec<(Rc<IdlePool>, u32)>,
    phase_users: &'r Rc<PhaseUsers>,
    /// The time after which sessions begin no further sample.
    end: Option<Nanos>,
}

/// Runs this core's share until the schedule is over and all sessions have ended, or until the run is stopped.
pub(crate) async fn dispatch<P: Protocol>(
    core: &Rc<Core>,
    cores: u32,
    program: &Arc<Program<P>>,
    start: OpenStart,
    phase_users: &Rc<PhaseUsers>,
) {
    let workload = &program.open[start.workload as usize];
    let run_share = core.run.share();
    // A limit of users applies to all cores together: if there are fewer users than cores, some cores have none.
    let serving = match workload.no_free_user {
        _ if needs_one_pool(program, workload, &start.users, run_share, cores) => 1,
        NoFreeUser::GrowOrDrop(most) => cores.min(part(most, run_share)),
        _ => cores,
    }
    .max(1);
    // Groups that need only one core should not all use the same core.
    let shift =
        if serving < cores { workload.groups.first().map_or(0, |(group, _)| group % cores) } else { 0 };
    let serving_index = (core.index + cores.max(1) - shift) % cores.max(1);
    if serving_index >= serving {
        return;
    }
    let cores = serving;
    let Some(share) = share_of_core(run_share, serving_index, cores) else { return };
    core.timers.be_punctual();
    // Without this report, a panic would silently lose the remaining arrivals.
    let _report = workload.groups.first().map(|(group, _)| PanicReport::of_one(core, *group, core.index));
    let pools = start.users.iter().map(|(_, most)| (Rc::default(), part(*most, &share))).collect();
    let end = workload.ends_with_schedule.then(|| start.first + workload.process.duration_ns());
    let dispatcher = Dispatcher { core, cores, program, workload, run_share, pools, phase_users, end };
    for (at, (first, _)) in start.users.iter().enumerate() {
        if *first > 0 {
            for _ in 0..part(*first, &share) {
                dispatcher.new_user(at, None);
            }
        }
    }
    let weights: Vec<f64> = workload.groups.iter().map(|(_, weight)| *weight).collect();
    let seed = workload.schedule_seed(core.run.seed, start.workload);
    let mut course = ScheduleCursor::new(ChangingSchedule::new(&workload.process, seed, share), start.first);
    let joined = core.run.part.joined();
    let mut at_once = 0;
    loop {
        if course.is_behind(&core.run.control) {
            course.follow(&core.run.control);
        }
        let Some((arrival, scheduled)) = course.peek() else { break };
        if scheduled < joined {
            course.take(scheduled);
            continue;
        }
        let group = busyhour_arrivals::pick(&weights, arrival.mark);
        let now = core.run.clock.now();
        if scheduled > now {
            let is_reserved = scheduled.since(now) > AHEAD_NS
                && !course.is_paused_at(scheduled)
                && dispatcher.reserve(group, &arrival, scheduled);
            // A user with a reservation starts on its own. The dispatcher wakes after it.
            let wake = if is_reserved { scheduled + 1 } else { scheduled };
            tokio::select! {
                biased;
                () = core.timers.sleep_until(wake) => {}
                () = core.load_changed.notified() => {}
            }
            at_once = 0;
            if is_reserved && dispatcher.pools[group].0.cancel_reservation() {
                course.take(scheduled);
                core.count_arrivals(|counts| counts.scheduled += 1);
                continue;
            }
            if core.run.stop() == Stop::No {
                // After a change, the next arrival may be a different one, or it may not be due yet.
                continue;
            }
        } else if at_once >= AT_ONCE_MAX {
            // If the dispatcher is behind its schedule, it must let the users of its core run.
            tokio::task::yield_now().await;
            at_once = 0;
        } else {
            at_once += 1;
        }
        if core.run.stop() != Stop::No {
            break;
        }
        if !course.take(scheduled) {
            core.count_arrivals(|counts| counts.not_offered += 1);
            continue;
        }
        dispatcher.arrive(group, &arrival, scheduled);
    }
    dispatcher.end_sessions(start.first + workload.process.duration_ns()).await;
    dispatcher.drain().await;
}

impl<P: Protocol> Dispatcher<'_, P> {
    /// Reserves a future arrival for an idle user; returns `false` if no user is idle or the group keeps its users.
    fn reserve(&self, at: usize, arrival: &Arrival, scheduled: Nanos) -> bool {
        let assignment = Assignment { arrival: arrival.index, scheduled, waited: false };
        // A user that keeps its state has no session to prepare ahead of an arrival; see `VirtualUser::serve_on`.
        !self.keeps_users(at) && self.pools[at].0.reserve(assignment)
    }

    fn arrive(&self, at: usize, arrival: &Arrival, scheduled: Nanos) {
        let (pool, most) = &self.pools[at];
        let assignment = Assignment { arrival: arrival.index, scheduled, waited: false };
        self.core.count_arrivals(|counts| counts.scheduled += 1);
        if pool.offer(assignment) == Offer::Accepted {
            return;
        }
        if self.users(at) < *most {
            self.new_user(at, Some(assignment));
            return;
        }
        let drops = matches!(self.workload.no_free_user, NoFreeUser::Drop | NoFreeUser::GrowOrDrop(_));
        if drops || !pool.wait(assignment) {
            let group = self.workload.groups[at].0;
            self.core.run.groups[group as usize].has_dropped_arrival.store(true, Ordering::Relaxed);
            let record = ArrivalRecord { group, scheduled, outcome: ArrivalOutcome::Discarded };
            self.core.record_arrival(&record);
        }
    }

    /// Number of users of a group that count towards its limit.
    fn users(&self, at: usize) -> u32 {
        let (pool, _) = &self.pools[at];
        if self.keeps_users(at) { pool.alive() } else { pool.users() }
    }

    /// Whether a user keeps its state, such as variables, from one arrival to the next, as in the groups of jmeter-plugins.
    fn keeps_users(&self, at: usize) -> bool {
        let group = &self.program.groups[self.workload.groups[at].0 as usize];
        matches!(group.population.as_deref(), Some(Population::Arrivals))
    }

    /// The plugins' groups end their sessions when the schedule ends, unless an arrival was dropped.
    async fn end_sessions(&self, end: Nanos) {
        for (at, (group, _)) in self.workload.groups.iter().enumerate() {
            let shared = &self.core.run.groups[*group as usize];
            if !self.keeps_users(at) || self.core.run.stop() != Stop::No {
                continue;
            }
            if end > self.core.run.clock.now() {
                self.core.timers.sleep_until(end).await;
            }
            if !shared.has_dropped_arrival.load(Ordering::Relaxed) {
                shared.over.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Creates a user, which takes the `assignment` immediately if there is one.
    fn new_user(&self, at: usize, assignment: Option<Assignment>) {
        let (pool, _) = &self.pools[at];
        let group = self.workload.groups[at].0;
        // User numbers are unique across all cores (with n cores, each core has every n-th number) and all shares of the load.
        let keeps_users = self.keeps_users(at);
        let rank = if keeps_users {
            self.core.run.groups[group as usize].users_numbered.fetch_add(1, Ordering::Relaxed)
        } else {
            pool.users().saturating_mul(self.cores).saturating_add(self.core.index)
        };
        let number = user_number(self.run_share, rank);
        let pool_user: PoolUser = pool.add_user(assignment);
        let now = self.core.run.clock.now();
        let counted = self.phase_users.enter();
        let user =
            VirtualUser::new(Arc::clone(self.program), Rc::clone(self.core), group, number, now, self.end);
        let report = PanicReport::of_one(self.core, group, number);
        let guards = (report, counted);
        if keeps_users {
            spawn_sliced(self.core, user.serve_on(pool_user), guards);
        } else {
            spawn_sliced(self.core, user.serve(pool_user), guards);
        }
    }

    /// Waits until all sessions have ended or the run is stopped.
    async fn drain(&self) {
        for (pool, _) in &self.pools {
            while !pool.is_idle() && self.core.run.stop() == Stop::No {
                let next_check = self.core.run.clock.now() + STOP_CHECK_INTERVAL_NS;
                tokio::select! {
                    () = pool.became_idle.notified() => {}
                    () = self.core.timers.sleep_until(next_check) => {}
                }
            }
        }
    }
}

impl<P: Protocol> Drop for Dispatcher<'_, P> {
    /// Counts waiting arrivals also after an immediate stop, which drops the tasks.
    fn drop(&mut self) {
        for (pool, _) in &self.pools {
            let left = pool.close();
            self.core.count_arrivals(|counts| counts.left_waiting += left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_distributed_over_the_cores() {
        let of_core =
            |users, core, cores| part(users, &share_of_core(&LoadShare::WHOLE, core, cores).unwrap());
        for cores in 1..9 {
            for users in cores..50 {
                assert_eq!((0..cores).map(|core| of_core(users, core, cores)).sum::<u32>(), users);
            }
        }
        // With fewer users than cores, each core still needs one user to serve its share.
        assert_eq!((0..4).map(|core| of_core(2, core, 4)).sum::<u32>(), 4);
    }
}
