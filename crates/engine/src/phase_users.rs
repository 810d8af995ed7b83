//! The users of a phase on one core: how many are left, and which ones ended with a panic.

use std::cell::Cell;
use std::rc::Rc;
use std::thread;

use busyhour_arrivals::LoadShare;
use busyhour_program::population::Lifetime;
use busyhour_program::run::LogLevel;
use tokio::sync::Notify;

use crate::core::Core;

/// The users of a phase on one core that have not ended yet.
#[derive(Default)]
pub(crate) struct PhaseUsers {
    count: Cell<u64>,
    none_left: Notify,
}

/// A user, or a task that will start users. It is counted until it is dropped.
pub(crate) struct PhaseUser(Rc<PhaseUsers>);

impl Drop for PhaseUser {
    fn drop(&mut self) {
        self.0.count.set(self.0.count.get() - 1);
        if self.0.count.get() == 0 {
            self.0.none_left.notify_one();
        }
    }
}

impl PhaseUsers {
    /// Completes when the last user has ended.
    pub(crate) async fn have_ended(&self) {
        self.none_left.notified().await;
    }

    /// Counts one more user or task.
    pub(crate) fn enter(self: &Rc<Self>) -> PhaseUser {
        self.count.set(self.count.get() + 1);
        PhaseUser(Rc::clone(self))
    }
}

/// Logs and counts users that end with a panic. The runtime would drop them silently.
pub(crate) struct PanicReport {
    core: Rc<Core>,
    group: u32,
    /// The users that are missing if the task panics.
    pub(crate) missing: Missing,
}

/// Numbers (from 0) of the users that end, or never begin, because of a panic.
pub(crate) enum Missing {
    /// One user.
    One(u32),
    /// The users of the core's share from `number` on, below `end`.
    Every {
        /// The first missing user.
        number: u32,
        /// The number after the last missing user.
        end: u32,
        /// The core's share. Boxed, because the report of one user is in the task of every user.
        share: Box<LoadShare>,
    },
    /// The users in a list from an index on.
    Rest {
        /// All users of the core.
        of: Vec<Lifetime>,
        /// Index of the first missing user.
        from: usize,
    },
}

impl PanicReport {
    /// A report for users of a group.
    pub(crate) fn new(core: &Rc<Core>, group: u32, missing: Missing) -> Self {
        Self { core: Rc::clone(core), group, missing }
    }

    /// A report for one user.
    pub(crate) fn of_one(core: &Rc<Core>, group: u32, number: u32) -> Self {
        Self::new(core, group, Missing::One(number))
    }
}

impl Drop for PanicReport {
    fn drop(&mut self) {
        if !thread::panicking() {
            return;
        }
        let run = &self.core.run;
        let group = &run.groups[self.group as usize];
        let numbers: Vec<u32> = match &self.missing {
            Missing::One(number) => vec![*number],
            Missing::Every { number, end, share } => {
                (*number..*end).filter(|number| share.contains_number(u64::from(*number))).collect()
            }
            Missing::Rest { of, from } => of.iter().skip(*from).map(|lifetime| lifetime.number).collect(),
        };
        for number in numbers {
            self.core.died.set(self.core.died.get() + 1);
            let (name, number) = (&group.thread_prefix, format!("{}-{}", group.number, number + 1));
            let line = format!("{name} {number} died of an error in Busyhour; its samples are missing");
            run.log(LogLevel::Error, &line);
        }
    }
}
