//! A limit on the duration of several operations together.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use super::error::AttachError;

/// Interval between checks of a condition for which there is no event to wait for.
const RECHECK_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };

/// The deadline of a command. It is a kernel timer, so no clock is read.
#[derive(Debug)]
pub(super) struct Deadline {
    timer: OwnedFd,
    timeout: Duration,
}

impl Deadline {
    pub(super) fn after(timeout: Duration) -> Result<Deadline, AttachError> {
        let timer = |error: rustix::io::Errno| AttachError::Timer(error.into());
        let deadline = Deadline {
            timer: timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC).map_err(timer)?,
            timeout,
        };
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        let at = Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            // A value of 0 would disarm the timer.
            tv_nsec: i64::from(timeout.subsec_nanos().max(1)),
        };
        let value = Itimerspec { it_interval: zero, it_value: at };
        timerfd_settime(&deadline.timer, TimerfdTimerFlags::empty(), &value).map_err(timer)?;
        Ok(deadline)
    }

    /// Waits until one of these events occurs on a descriptor.
    pub(super) fn wait(
        &self,
        descriptor: BorrowedFd<'_>,
        events: PollFlags,
        pid: u32,
    ) -> Result<(), AttachError> {
        self.wait_within(descriptor, events, None)
            .map_err(|source| AttachError::Exchange { pid, source })?
            .ok_or(AttachError::Timeout { timeout: self.timeout })?;
        Ok(())
    }

    /// Waits for a few milliseconds; returns whether the event occurred.
    pub(super) fn wait_briefly(
        &self,
        descriptor: BorrowedFd<'_>,
        events: PollFlags,
        pid: u32,
    ) -> Result<bool, AttachError> {
        self.wait_within(descriptor, events, Some(&RECHECK_INTERVAL))
            .map_err(|source| AttachError::Exchange { pid, source })?
            .ok_or(AttachError::Timeout { timeout: self.timeout })
    }

    /// Waits for a few milliseconds.
    pub(super) fn pause(&self) -> Result<(), AttachError> {
        let mut descriptors = [PollFd::from_borrowed_fd(self.timer.as_fd(), PollFlags::IN)];
        match poll(&mut descriptors, Some(&RECHECK_INTERVAL)) {
            Ok(1..) => Err(AttachError::Timeout { timeout: self.timeout }),
            Ok(0) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(AttachError::Timer(error.into())),
        }
    }

    /// Waits at most for `limit`. Returns whether the event occurred; `None` if the deadline has passed.
    fn wait_within(
        &self,
        descriptor: BorrowedFd<'_>,
        events: PollFlags,
        limit: Option<&Timespec>,
    ) -> io::Result<Option<bool>> {
        loop {
            let mut descriptors = [
                PollFd::from_borrowed_fd(descriptor, events),
                PollFd::from_borrowed_fd(self.timer.as_fd(), PollFlags::IN),
            ];
            match poll(&mut descriptors, limit) {
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
                Ok(_) if !descriptors[0].revents().is_empty() => return Ok(Some(true)),
                Ok(_) if !descriptors[1].revents().is_empty() => return Ok(None),
                Ok(_) => return Ok(Some(false)),
            }
        }
    }
}
