//! Starting the users of a group on one core, each at its time.

use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use busyhour_program::Program;
use busyhour_program::population::Lifetime;
use busyhour_program::run::{Level, Stop};
use busyhour_program::sampler::Protocol;
use busyhour_record::Nanos;

use super::{GroupStart, Living};
use crate::core::Core;
use crate::virtual_user::VirtualUser;

/// Says so when a user panics: its runtime would let it vanish without a word.
pub(crate) struct Watch {
    core: Rc<Core>,
    group: u32,
    missing: Missing,
}

/// Numbers (from 0) of the users that end, or never begin, with a panic.
enum Missing {
    One(u32),
    /// Every so-manyth from this one on, below an end.
    Every {
        number: u32,
        end: u32,
        cores: u32,
    },
    /// These, from this place on.
    Rest {
        of: Vec<Lifetime>,
        from: usize,
    },
}

impl Watch {
    /// Watches over one user.
    pub(crate) fn of_one(core: &Rc<Core>, group: u32, number: u32) -> Self {
        Self { core: Rc::clone(core), group, missing: Missing::One(number) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !thread::panicking() {
            return;
        }
        let run = &self.core.run;
        let group = &run.groups[self.group as usize];
        let numbers: Vec<u32> = match &self.missing {
            Missing::One(number) => vec![*number],
            Missing::Every { number, end, cores } => {
                (*number..*end).step_by((*cores).max(1) as usize).collect()
            }
            Missing::Rest { of, from } => of.iter().skip(*from).map(|lifetime| lifetime.number).collect(),
        };
        for number in numbers {
            self.core.died.set(self.core.died.get() + 1);
            let (name, number) = (&group.thread_prefix, format!("{}-{}", group.number, number + 1));
            let line = format!("{name} {number} died of an error in Busyhour; its samples are missing");
            run.log(Level::Error, &line);
        }
    }
}

/// Starts every `cores`-th user of a group at its time.
pub(super) async fn start_users<P: Protocol>(
    core: &Rc<Core>,
    cores: u32,
    program: &Arc<Program<P>>,
    start: GroupStart,
    living: &Rc<Living>,
) {
    let (group, end) = (start.group, start.users);
    let mut number = core.index;
    let mut rest = Watch { core: Rc::clone(core), group, missing: Missing::Every { number, end, cores } };
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
        begin(core, program, living, start.group, number, at, start.end);
        number = number.saturating_add(cores);
    }
}

/// Starts this core's users at their times, each with an end of its own.
pub(super) async fn start_lifetimes<P: Protocol>(
    core: &Rc<Core>,
    cores: u32,
    program: &Arc<Program<P>>,
    start: GroupStart,
    living: &Rc<Living>,
) {
    let after = |ms: i64| start.first + u64::try_from(ms).unwrap_or(0).saturating_mul(1_000_000);
    let all = start.lifetimes.iter().flat_map(|all| all.iter());
    let mine: Vec<_> = all.filter(|lifetime| lifetime.number % cores.max(1) == core.index).copied().collect();
    let missing = Missing::Rest { of: mine.clone(), from: 0 };
    let mut rest = Watch { core: Rc::clone(core), group: start.group, missing };
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
        begin(core, program, living, start.group, lifetime.number, at, Some(after(lifetime.end_ms)));
    }
}

/// A user begins.
fn begin<P: Protocol>(
    core: &Rc<Core>,
    program: &Arc<Program<P>>,
    living: &Rc<Living>,
    group: u32,
    number: u32,
    at: Nanos,
    end: Option<Nanos>,
) {
    let life = living.begin();
    let user = VirtualUser::new(Arc::clone(program), Rc::clone(core), group, number, at, end);
    let watch = Watch::of_one(core, group, number);
    tokio::task::spawn_local(async move {
        let _watch = watch;
        user.run().await;
        drop(life);
    });
}
