//! The parent process of a neighbour. The neighbour ends when its parent ends.

use std::fmt;

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

use crate::error::NeighbourError;

/// The parent process. `None` if it is outside of this process's PID namespace, as with `docker exec`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parent(Option<Pid>);

impl Parent {
    /// The signal that the kernel sends when the parent ends. It is also sent at the end of the thread that started
    /// this process, while the parent continues: [`Parent::is_alive`] distinguishes the two cases.
    pub const SIGNAL: i32 = Signal::USR2.as_raw();

    /// Asks the kernel for [`Parent::SIGNAL`] when the parent ends. The signal must be handled before this is called.
    ///
    /// # Errors
    /// The parent has ended already, or is not `expected`, or the kernel refuses the request.
    pub fn follow(expected: Option<u32>) -> Result<Self, NeighbourError> {
        let parent = getppid();
        set_parent_process_death_signal(Some(Signal::USR2))
            .map_err(|source| NeighbourError::ParentSignal { source })?;
        let is_expected = expected.is_none_or(|pid| Self(parent).pid() == Some(pid));
        // If it ended before the request, the kernel sends no signal, but this process has another parent now.
        if getppid() != parent || !is_expected {
            return Err(NeighbourError::ParentEnded);
        }
        Ok(Self(parent))
    }

    /// Whether the parent still exists. Otherwise another process, such as init, has adopted this one.
    pub fn is_alive(self) -> bool {
        getppid() == self.0
    }

    /// Its process ID, if it is in the same PID namespace.
    pub fn pid(self) -> Option<u32> {
        self.0.and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok())
    }
}

impl fmt::Display for Parent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid() {
            Some(pid) => write!(f, "process {pid}"),
            None => f.write_str("in another PID namespace"),
        }
    }
}
