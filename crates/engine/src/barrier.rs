//! Synchronizing Timer: users wait until a group of them is complete and then continue together, whatever cores they run on.

use std::sync::{Mutex, PoisonError};

use busyhour_program::element::{Delay, Gate, GateWait, Timer};
use busyhour_program::run::{LogLevel, Stop};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::Nanos;
use tokio::sync::watch;

/// Users of all groups and cores that meet at one timer.
#[derive(Debug)]
pub struct SynchronizingTimer {
    /// `groupSize`: number of users that continue together; 0: the number of users in the thread group of the first arriving
    /// user. A share of the load uses its part of this number, because it cannot wait for the users of other processes.
    pub group_size: Template,
    /// `timeoutInMs`: maximum wait in milliseconds; 0: no limit.
    pub timeout_ms: Template,
    /// The element's name.
    pub name: String,
    meeting: Mutex<Meeting>,
    /// Number of completed meetings.
    over: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Meeting {
    /// Number of users that continue together, set when the first user arrives.
    size: Option<i64>,
    waiting: i64,
    number: u64,
}

impl SynchronizingTimer {
    /// A timer without waiting users.
    pub fn new(name: String, group_size: Template, timeout_ms: Template) -> Self {
        Self { group_size, timeout_ms, name, meeting: Mutex::default(), over: watch::Sender::new(0) }
    }

    fn meeting(&self) -> std::sync::MutexGuard<'_, Meeting> {
        self.meeting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the meeting with this number, so that all waiting users continue; returns `false` if it was already over.
    fn end(&self, number: u64) -> bool {
        let mut meeting = self.meeting();
        let ends = meeting.number == number;
        if ends {
            meeting.number += 1;
            meeting.waiting = 0;
            self.over.send_replace(meeting.number);
        }
        ends
    }

    async fn meet(&self, user: &mut UserState) {
        let timeout_ms = self.timeout_ms.integer(user, 0);
        // Evaluated once per run: JMeter's timer creates its barrier only once.
        let size = self.meeting().size;
        let size = size.unwrap_or_else(|| match self.group_size.integer(user, 0) {
            0 => i64::from(user.run.users_of(user.group)),
            size => part_of_size(size, user),
        });
        let mut over = self.over.subscribe();
        let number = {
            let mut meeting = self.meeting();
            meeting.size.get_or_insert(size);
            meeting.waiting += 1;
            if meeting.waiting < size {
                Some(meeting.number)
            } else {
                let number = meeting.number;
                drop(meeting);
                self.end(number);
                None
            }
        };
        let (Some(number), Some(core)) = (number, user.core.clone()) else { return };
        let limit = u64::try_from(timeout_ms).ok().filter(|ms| *ms > 0);
        let timeout = limit.map_or(Nanos::MAX, |ms| user.now() + Nanos::from_millis(ms).0);
        let until = user.end_time.map_or(timeout, |end| timeout.min(end));
        let timed_out = async {
            loop {
                if user.run.stop() != Stop::No || user.now() >= until {
                    return;
                }
                core.sleep_until(until.min(user.now() + STOP_CHECK_INTERVAL_NS)).await;
            }
        };
        tokio::select! {
            _ = over.wait_for(|over| *over > number) => {}
            () = timed_out => {
                // If the wait of one user times out, all users of the meeting continue.
                if self.end(number) && user.run.stop() == Stop::No {
                    let line = format!(
                        "SyncTimer {} timeouted waiting for users after: {timeout_ms}ms",
                        self.name
                    );
                    user.log(LogLevel::Warn, &line);
                }
            }
        }
    }
}

/// The number of users that continue together in this share of the load.
fn part_of_size(size: i64, user: &UserState) -> i64 {
    match u64::try_from(size) {
        Ok(users) => i64::try_from(user.run.share_of(user.group).count_below(users).max(1)).unwrap_or(size),
        Err(_) => size,
    }
}

/// How often a waiting user checks whether the run is being stopped, in nanoseconds.
const STOP_CHECK_INTERVAL_NS: u64 = 1_000_000_000;

impl Gate for SynchronizingTimer {
    fn wait<'u>(&'u self, user: &'u mut UserState) -> GateWait<'u> {
        Box::pin(self.meet(user))
    }
}

impl Timer for SynchronizingTimer {
    /// No delay: users continue when the meeting is complete, and that time is their intended start.
    fn delay(&self, user: &mut UserState) -> Delay {
        Delay { wait_ns: 0, slot: Some(user.now()) }
    }

    fn gate(&self) -> Option<&dyn Gate> {
        Some(self)
    }
}
