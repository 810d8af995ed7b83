//! Events on the time axis of a run.

use busyhour_sample::Nanos;

/// The kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MarkKind {
    /// A process ended, and another one that replaces it is watched now.
    Restart,
    /// A process ended.
    End,
    /// A garbage collector stopped the application.
    GcPause,
    /// A log contained many more problems (errors, exceptions, failed requests) than before.
    LogBurst,
    /// A thread that was due to run was delayed.
    Stall,
    /// The kernel killed a process, because memory was short.
    OutOfMemory,
    /// The user's own mark (`busyhour observe mark`).
    User,
    /// Something else that a probe noticed.
    Other,
}

impl MarkKind {
    /// All kinds, with their names in series files.
    pub const ALL: [(MarkKind, &'static str); 8] = [
        (Self::Restart, "restart"),
        (Self::End, "end"),
        (Self::GcPause, "gc-pause"),
        (Self::LogBurst, "log-burst"),
        (Self::Stall, "stall"),
        (Self::OutOfMemory, "out-of-memory"),
        (Self::User, "user"),
        (Self::Other, "other"),
    ];

    /// The name in series files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Restart => "restart",
            Self::End => "end",
            Self::GcPause => "gc-pause",
            Self::LogBurst => "log-burst",
            Self::Stall => "stall",
            Self::OutOfMemory => "out-of-memory",
            Self::User => "user",
            Self::Other => "other",
        }
    }

    /// The kind with this name; [`MarkKind::Other`] for a name of a later version.
    #[must_use]
    pub fn from_name(name: &str) -> MarkKind {
        Self::ALL.iter().find(|(_, known)| *known == name).map_or(Self::Other, |(kind, _)| *kind)
    }
}

/// An event on the time axis of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The kind of event.
    pub kind: MarkKind,
    /// Start in ns since the start of the run.
    pub from: Nanos,
    /// End in ns since the start of the run; equal to `from` for an instant.
    pub to: Nanos,
    /// A short description for users, without secrets.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_kinds_correspond() {
        for (kind, name) in MarkKind::ALL {
            assert_eq!(kind.as_str(), name);
            assert_eq!(MarkKind::from_name(name), kind);
        }
        assert_eq!(MarkKind::from_name("of a later version"), MarkKind::Other);
    }
}
