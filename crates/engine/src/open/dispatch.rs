//! One core's share of an open workload: each arrival goes to a user at its time.

use std::rc::Rc;
use std::sync::Arc;

use busyhour_arrivals::Arrival;
use busyhour_arrivals::LoadShare;
use busyhour_record::{ArrivalRecord, Fate, Nanos};

use super::desk::{Attendance, Desk, Taken, Ticket};
use super::{NoFreeUser, OpenWorkload};
use crate::core::Core;
use crate::program::{Program, Protocol};
use crate::run::Stop;
use crate::runner::{Living, Watch};
use crate::virtual_user::VirtualUser;

/// How often a workload that waits for its last sessions looks whether the run was stopped, in nanoseconds.
const LOOK_NS: u64 = 50_000_000;

/// Arrivals dealt out in a row, when several are due, before others may run.
const AT_ONCE_MAX: u32 = 64;

/// An open workload about to run.
#[derive(Clone, Debug)]
pub(crate) struct OpenStart {
    /// Index in [`Program::open`].
    pub(crate) workload: u32,
    /// When its schedule begins.
    pub(crate) first: Nanos,
    /// Users of each of its groups to begin with, and at most, on all cores together.
    pub(crate) users: Vec<(u32, u32)>,
}

/// The part of `users` that falls to one of `cores` cores. Every core has one at least: an arrival stays on the core whose
/// share it is in.
fn part(users: u32, core: u32, cores: u32) -> u32 {
    let cores = cores.max(1);
    (users / cores + u32::from(core < users % cores)).max(1)
}

struct Dispatcher<'r, P: Protocol> {
    core: &'r Rc<Core>,
    cores: u32,
    program: &'r Arc<Program<P>>,
    workload: &'r OpenWorkload,
    /// By group of the workload: its desk, and how many users it may have.
    desks: Vec<(Rc<Desk>, u32)>,
    living: &'r Rc<Living>,
    /// When sessions are to begin no further sample.
    end: Option<Nanos>,
}

/// Runs this core's share until the schedule is over and its sessions have ended, or the run is stopped.
pub(crate) async fn dispatch<P: Protocol>(
    core: &Rc<Core>,
    cores: u32,
    program: &Arc<Program<P>>,
    start: OpenStart,
    living: &Rc<Living>,
) {
    let workload = &program.open[start.workload as usize];
    // Should it panic, the rest of its arrivals would be missing without a word.
    let _watch = workload.groups.first().map(|(group, _)| Watch::of_one(core, *group, core.index));
    let desks = start.users.iter().map(|(_, most)| (Rc::default(), part(*most, core.index, cores))).collect();
    let end = workload.ends_with_schedule.then(|| start.first + workload.process.duration_ns());
    let dispatcher = Dispatcher { core, cores, program, workload, desks, living, end };
    for (at, (first, _)) in start.users.iter().enumerate() {
        if *first > 0 {
            for _ in 0..part(*first, core.index, cores) {
                dispatcher.new_user(at, None);
            }
        }
    }
    let weights: Vec<f64> = workload.groups.iter().map(|(_, weight)| *weight).collect();
    // A core is always one of the cores there are.
    let share = LoadShare::part(u64::from(core.index), u64::from(cores.max(1))).unwrap_or(LoadShare::WHOLE);
    let mut at_once = 0;
    for arrival in
        workload.process.schedule(workload.schedule_seed(core.run.seed, start.workload)).share(share)
    {
        let scheduled = start.first + arrival.at_ns;
        if scheduled > core.run.clock.now() {
            core.timers.sleep_until(scheduled).await;
            at_once = 0;
        } else if at_once >= AT_ONCE_MAX {
            // Behind its schedule it must not keep the core from those who are to do the work.
            tokio::task::yield_now().await;
            at_once = 0;
        } else {
            at_once += 1;
        }
        if core.run.stop() != Stop::No {
            break;
        }
        let group = busyhour_arrivals::pick(&weights, arrival.mark);
        dispatcher.arrive(group, &arrival, scheduled);
    }
    dispatcher.drain().await;
}

impl<P: Protocol> Dispatcher<'_, P> {
    fn arrive(&self, at: usize, arrival: &Arrival, scheduled: Nanos) {
        let (desk, most) = &self.desks[at];
        let ticket = Ticket { arrival: arrival.index, scheduled, waited: false };
        self.core.count_arrivals(|counts| counts.scheduled += 1);
        if desk.offer(ticket) == Taken::ByUser {
            return;
        }
        if desk.users() < *most {
            self.new_user(at, Some(ticket));
            return;
        }
        if self.workload.no_free_user == NoFreeUser::Drop || !desk.wait(ticket) {
            let group = self.workload.groups[at].0;
            let record = ArrivalRecord { group, scheduled, fate: Fate::Dropped };
            self.core.record_arrival(&record);
        }
    }

    /// Makes a user; it takes `ticket` up at once.
    fn new_user(&self, at: usize, ticket: Option<Ticket>) {
        let (desk, _) = &self.desks[at];
        let group = self.workload.groups[at].0;
        // Users are numbered over all cores: each core has every so-manyth number.
        let number = desk.users().saturating_mul(self.cores).saturating_add(self.core.index);
        let attendance: Attendance = desk.seat(ticket);
        let now = self.core.run.clock.now();
        let life = self.living.begin();
        let user =
            VirtualUser::new(Arc::clone(self.program), Rc::clone(self.core), group, number, now, self.end);
        let watch = Watch::of_one(self.core, group, number);
        tokio::task::spawn_local(async move {
            let _watch = watch;
            user.serve(attendance).await;
            drop(life);
        });
    }

    /// Waits until all sessions have ended, or the run is stopped.
    async fn drain(&self) {
        for (desk, _) in &self.desks {
            while !desk.is_quiet() && self.core.run.stop() == Stop::No {
                let look = self.core.run.clock.now() + LOOK_NS;
                tokio::select! {
                    () = desk.quiet.notified() => {}
                    () = self.core.timers.sleep_until(look) => {}
                }
            }
        }
    }
}

impl<P: Protocol> Drop for Dispatcher<'_, P> {
    /// Also a run that is stopped at once, which drops its tasks where they stand, says who still waited.
    fn drop(&mut self) {
        for (desk, _) in &self.desks {
            let left = desk.close();
            self.core.count_arrivals(|counts| counts.left_waiting += left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn the_parts_of_the_cores_are_the_whole() {
        for cores in 1..9 {
            for users in cores..50 {
                assert_eq!((0..cores).map(|core| part(users, core, cores)).sum::<u32>(), users);
            }
        }
        // Fewer users than cores: each core needs one to serve its share.
        assert_eq!((0..4).map(|core| part(2, core, 4)).sum::<u32>(), 4);
    }
}
