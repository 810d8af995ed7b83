//! Starts one core's part of the users of a group whose number is held at a level, and a new user for each one that ends.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use busyhour_program::Program;
use busyhour_program::population::level::LevelNow;
use busyhour_program::population::{Level, Population};
use busyhour_program::run::{LogLevel, Stop};
use busyhour_program::sampler::Protocol;
use busyhour_program::user::UserState;

use crate::core::Core;
use crate::core_share::{CoreShare, share_of_core, user_number};
use crate::phase_users::{PanicReport, PhaseUsers};
use crate::slices::spawn_sliced;
use crate::virtual_user::VirtualUser;

/// How often the level is checked while there are active users, in nanoseconds. The next constant applies while there are none.
const LEVEL_CHECK_INTERVAL_NS: u64 = 1_000_000_000;
const EMPTY_LEVEL_CHECK_INTERVAL_NS: u64 = 10_000_000;

/// Counts a user of its core. When the user ends, in any way, another one may replace it.
struct Member {
    core: Rc<Core>,
    share: Rc<CoreShare>,
    group: u32,
}

impl Member {
    fn new(core: &Rc<Core>, share: &Rc<CoreShare>, group: u32) -> Self {
        share.add();
        core.run.groups[group as usize].members.fetch_add(1, Ordering::Relaxed);
        Self { core: Rc::clone(core), share: Rc::clone(share), group }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.share.remove();
        let group = &self.core.run.groups[self.group as usize];
        group.members.fetch_sub(1, Ordering::Relaxed);
        // Wake all cores. Like the single thread of the plugin, they check the level, and whether its time is over.
        group.member_ended.notify_waiters();
    }
}

/// Holds this core's number of users at its part of a group's level until the time of the level is over or the run is stopped.
/// After that, the remaining users end after their current sample.
pub(crate) async fn supply<P: Protocol>(
    core: &Rc<Core>,
    cores: u32,
    program: &Arc<Program<P>>,
    group: u32,
    users: &Rc<PhaseUsers>,
) {
    let Some(Population::Level(level)) = program.groups[group as usize].population.as_deref() else { return };
    let run = &core.run;
    let shared = &run.groups[group as usize];
    let mut user = UserState::new(Arc::clone(run), None, group, 0);
    let share = Rc::new(CoreShare::new(share_of_core(run.share_of(group), core.index, cores)));
    let began = run.clock.now();
    while run.stop() == Stop::No && !shared.over.load(Ordering::Relaxed) {
        let now = run.clock.now();
        let Some(planned) = read(level, &mut user).and_then(|level| {
            // Without a target no user starts.
            if now == began && level.target <= 0 {
                None
            } else {
                level.planned(now.since(began) as f64 / 1e9)
            }
        }) else {
            break;
        };
        while share.users() < share.part(planned) {
            start(core, program, group, &share, users);
        }
        let empty = shared.members.load(Ordering::Relaxed) == 0;
        let next_check =
            run.clock.now() + if empty { EMPTY_LEVEL_CHECK_INTERVAL_NS } else { LEVEL_CHECK_INTERVAL_NS };
        tokio::select! {
            () = shared.member_ended.notified() => {}
            () = core.timers.sleep_until(next_check) => {}
        }
    }
    shared.over.store(true, Ordering::Relaxed);
}

fn read(level: &Level, user: &mut UserState) -> Option<LevelNow> {
    match level.now(user) {
        Ok(level) => Some(level),
        Err(message) => {
            let group = &user.run.groups[user.group as usize].name;
            user.log(LogLevel::Error, &format!("the thread group {group} starts no further user: {message}"));
            None
        }
    }
}

fn start<P: Protocol>(
    core: &Rc<Core>,
    program: &Arc<Program<P>>,
    group: u32,
    share: &Rc<CoreShare>,
    users: &Rc<PhaseUsers>,
) {
    // Users are numbered in the order of their starts on all cores; with a share of the load, within the share.
    let rank = core.run.groups[group as usize].users_numbered.fetch_add(1, Ordering::Relaxed);
    let number = user_number(core.run.share_of(group), rank);
    let counted = users.enter();
    let member = Member::new(core, share, group);
    let report = PanicReport::of_one(core, group, number);
    let now = core.run.clock.now();
    let mut user = VirtualUser::new(Arc::clone(program), Rc::clone(core), group, number, now, None);
    user.follow_level(Rc::clone(share));
    spawn_sliced(core, user.run(), (report, member, counted));
}

#[cfg(test)]
mod tests;
