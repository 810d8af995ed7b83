//! Starts the users of a group on one core, each at its time.

use std::rc::Rc;
use std::sync::Arc;

use busyhour_program::Program;
use busyhour_program::run::Stop;
use busyhour_program::sampler::Protocol;
use busyhour_sample::Nanos;

use super::planning::GroupStart;
use crate::core::Core;
use crate::core_share::{share_of_core, user_number};
use crate::phase_users::{Missing, PanicReport, PhaseUsers};
use crate::slices::spawn_sliced;
use crate::virtual_user::VirtualUser;

/// Starts the users of a group that belong to this core, each at its time.
pub(super) async fn start_users<P: Protocol>(
    core: &Rc<Core>,
    cores: u32,
    program: &Arc<Program<P>>,
    start: GroupStart,
    users: &Rc<PhaseUsers>,
) {
    let (group, end) = (start.group, start.users);
    let Some(share) = share_of_core(core.run.share_of(group), core.index, cores) else { return };
    let missing = Missing::Every { number: 0, end, share: Box::new(share.clone()) };
    let mut rest = PanicReport::new(core, group, missing);
    for number in (0..).map(|rank| user_number(&share, rank)).take_while(|number| *number < end) {
        if let Missing::Every { number: first, .. } = &mut rest.missing {
            *first = number;
        }
        let at = start.first + start.spacing_ns.saturating_mul(u64::from(number));
        let now = core.run.clock.now();
        if at > now {
            core.timers.sleep_until(at).await;
        }
        if core.run.stop() != Stop::No || start.end.is_some_and(|end| core.run.clock.now() >= end) {
            return;
        }
        begin(core, program, users, start.group, number, at, start.end);
    }
}

/// Starts this core's users at their individual times, each with its own end.
pub(super) async fn start_lifetimes<P: Protocol>(
    core: &Rc<Core>,
    cores: u32,
    program: &Arc<Program<P>>,
    start: GroupStart,
    users: &Rc<PhaseUsers>,
) {
    let after = |ms: i64| start.first + u64::try_from(ms).unwrap_or(0).saturating_mul(1_000_000);
    let Some(share) = share_of_core(core.run.share_of(start.group), core.index, cores) else { return };
    let all = start.lifetimes.iter().flat_map(|all| all.iter());
    let mine: Vec<_> =
        all.filter(|lifetime| share.contains_number(u64::from(lifetime.number))).copied().collect();
    let missing = Missing::Rest { of: mine.clone(), from: 0 };
    let mut rest = PanicReport::new(core, start.group, missing);
    for (place, lifetime) in mine.iter().enumerate() {
        if let Missing::Rest { from, .. } = &mut rest.missing {
            *from = place;
        }
        if after(lifetime.end_ms) <= core.run.part.joined() {
            continue;
        }
        let at = after(lifetime.begin_ms).max(core.run.part.joined());
        if at > core.run.clock.now() {
            core.timers.sleep_until(at).await;
        }
        if core.run.stop() != Stop::No {
            return;
        }
        begin(core, program, users, start.group, lifetime.number, at, Some(after(lifetime.end_ms)));
    }
}

/// Starts a user.
fn begin<P: Protocol>(
    core: &Rc<Core>,
    program: &Arc<Program<P>>,
    users: &Rc<PhaseUsers>,
    group: u32,
    number: u32,
    at: Nanos,
    end: Option<Nanos>,
) {
    let counted = users.enter();
    let user = VirtualUser::new(Arc::clone(program), Rc::clone(core), group, number, at, end);
    let report = PanicReport::of_one(core, group, number);
    spawn_sliced(core, user.run(), (report, counted));
}
