//! A thread at the time of a dump.

/// The state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SampledState {
    /// Runs, waits for a CPU, or is in a system call.
    Runnable,
    /// Waits to enter a monitor.
    Blocked,
    /// Waits for another thread, or sleeps.
    Waiting,
}

impl SampledState {
    pub(crate) const fn letter(self) -> &'static str {
        match self {
            SampledState::Runnable => "R",
            SampledState::Blocked => "B",
            SampledState::Waiting => "W",
        }
    }

    pub(crate) fn from_letter(letter: &str) -> Option<SampledState> {
        [SampledState::Runnable, SampledState::Blocked, SampledState::Waiting]
            .into_iter()
            .find(|state| state.letter() == letter)
    }
}

/// How a thread waits for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SampledWaitKind {
    /// To enter a monitor.
    Enter,
    /// For a notification.
    Notification,
    /// Parked: for a lock, or for work.
    Park,
}

impl SampledWaitKind {
    pub(crate) const fn letter(self) -> &'static str {
        match self {
            SampledWaitKind::Enter => "e",
            SampledWaitKind::Notification => "n",
            SampledWaitKind::Park => "p",
        }
    }

    pub(crate) fn from_letter(letter: &str) -> Option<SampledWaitKind> {
        [SampledWaitKind::Enter, SampledWaitKind::Notification, SampledWaitKind::Park]
            .into_iter()
            .find(|kind| kind.letter() == letter)
    }
}

/// The lock that a thread waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampledWait {
    /// How it waits.
    pub kind: SampledWaitKind,
    /// The class of the lock.
    pub lock: String,
    /// The position in the dump of the thread that holds the lock, if it is known.
    pub owner: Option<usize>,
}

/// A thread at the time of a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampledThread {
    /// Its name, without secrets. Threads whose names differ only in their last number are stored together.
    pub name: String,
    /// Its state.
    pub state: SampledState,
    /// Its frames, from the top.
    pub frames: Vec<String>,
    /// The lock that it waits for.
    pub waits: Option<SampledWait>,
}
