//! `busyhour observe` and `busyhour doctor` in a program that was built without the feature `observe`. They only print an error
//! message.

use busyhour_terminal::exit::Exit;

use crate::missing::{MissingArgs, complain_of_verb};

pub(crate) type ObserveArgs = MissingArgs;

/// Runs `busyhour observe`.
pub(crate) fn main(_args: &MissingArgs) -> Exit {
    complain_of_verb("observe", "the observation of systems", "observe")
}

/// `busyhour doctor`.
pub(crate) mod doctor {
    use super::{Exit, MissingArgs, complain_of_verb};

    pub(crate) type DoctorArgs = MissingArgs;

    /// Runs `busyhour doctor`.
    pub(crate) fn main(_args: &MissingArgs) -> Exit {
        complain_of_verb("doctor", "the observation of systems", "observe")
    }
}
