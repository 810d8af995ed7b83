//! Starting the users of a group on one core, each at its time.

use std::rc::Rc;
use std::sync::Arc;

use busyhour_program::Program;
use busyhour_program::run::Stop;
use busyhour_program::sampler::Protocol;
use busyhour_sample::Nanos;

use super::planning::GroupStart;
use crate::core::Core;
use crate::phase_users::{Missing, PanicReport, PhaseUsers};
use crate::slices::sliced;
use crate::virtual_user::VirtualUser;

/// Starts every `cores`-th user of a group at its time.
pub(super) async fn start_users<P: Protocol>(
    core: &Rc<Core>,
    cores: u32,
    program: &Arc<Program<P>>,
    start: GroupStart,
    users: &Rc<PhaseUsers>,
) {
    let (group, end) = (start.group, start.users);
    let mut number = core.index;
    let mut rest = PanicReport::new(core, group, Missing::Every { number, end, cores });
    while number < start.users {
        rest.missing = Missing::Every { number, end, cores };
        let at = start.first + start.spacing_ns.saturating_mul(u64::from(number));
        let now = core.run.clock.now();
        if at > now {
            core.timers.sleep_until(at).await;
        }
        if core.run.stop() != Stop::No || start.end.is_some_and(|end| core.run.clock.now() >= end) {
            return;
        }
        begin(core, program, users, start.group, number, at, start.end);
        number = number.saturating_add(cores);
    }
}

/// Starts this core's users at their times, each with its own end.
pub(super) async fn start_lifetimes<P: Protocol>(
    core: &Rc<Core>,
    cores: u32,
    program: &Arc<Program<P>>,
    start: GroupStart,
    users: &Rc<PhaseUsers>,
) {
    let after = |ms: i64| start.first + u64::try_from(ms).unwrap_or(0).saturating_mul(1_000_000);
    let all = start.lifetimes.iter().flat_map(|all| all.iter());
    let mine: Vec<_> = all.filter(|lifetime| lifetime.number % cores.max(1) == core.index).copied().collect();
    let missing = Missing::Rest { of: mine.clone(), from: 0 };
    let mut rest = PanicReport::new(core, start.group, missing);
    for (place, lifetime) in mine.iter().enumerate() {
        if let Missing::Rest { from, .. } = &mut rest.missing {
            *from = place;
        }
        let at = after(lifetime.begin_ms);
        if at > core.run.clock.now() {
            core.timers.sleep_until(at).await;
        }
        if core.run.stop() != Stop::No {
            return;
        }
        begin(core, program, users, start.group, lifetime.number, at, Some(after(lifetime.end_ms)));
    }
}

/// A user begins.
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
    let core = Rc::clone(core);
    tokio::task::spawn_local(async move {
        let _report = report;
        sliced(&core, user.run()).await;
        drop(counted);
    });
}
