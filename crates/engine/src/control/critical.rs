//! Critical sections: named locks that all users of a run share, in all groups and on all cores.
//!
//! A walk never waits. If a lock is taken, the walk returns this fact, and the user waits for the lock without blocking its
//! core. Then the walk continues with the lock. The user that has waited longest gets the lock first.

use std::sync::Arc;

use busyhour_program::controller::CriticalSection;
use busyhour_program::ids::ControllerId;
use busyhour_program::locks::Lock;
use busyhour_program::run::LogLevel;
use busyhour_program::user::StateId;

use super::held_locks::{Held, Hold, LockWait};
use super::{Entry, Walk};

impl<P> Walk<'_, P> {
    /// Enters a section: takes its lock, or returns that the user must wait for it.
    pub(crate) fn enter_section(&mut self, id: ControllerId, section: &CriticalSection) -> Entry {
        if !self.begins_pass(id) {
            return Entry::Open;
        }
        if let Some(waits) = self.place.waits.take() {
            match waits.got {
                Some(hold) => {
                    self.user.state(section.held, Held::new).push(hold);
                    return Entry::Open;
                }
                None => {
                    self.place.waits = Some(waits);
                    return Entry::Wait;
                }
            }
        }
        let name = section.lock.text(self.user).into_owned();
        if name.is_empty() {
            let name = self.group_controller(id).name.text(self.user).into_owned();
            let line = format!("Empty lock name in Critical Section Controller: {name}");
            self.user.log(LogLevel::Warn, &line);
            return Entry::Open;
        }
        let lock = self.user.run.locks.named(&name);
        let hold = match self.held(&lock) {
            Some(hold) => hold,
            None => match Arc::clone(&lock).try_lock_owned() {
                Ok(guard) => Hold { lock, _guard: Arc::new(guard) },
                Err(_) => {
                    self.place.waits = Some(Box::new(LockWait { lock, got: None }));
                    return Entry::Wait;
                }
            },
        };
        self.user.state(section.held, Held::new).push(hold);
        Entry::Open
    }

    /// The hold on a lock that this user already has from another section.
    fn held(&mut self, lock: &Lock) -> Option<Hold> {
        let sections: Vec<StateId> = self.group.sections().collect();
        sections.into_iter().find_map(|section| {
            let held = self.user.existing_state::<Held>(section)?;
            held.iter().find(|hold| Arc::ptr_eq(&hold.lock, lock)).cloned()
        })
    }
}
