//! `busyhour doctor` in a program that was built without the feature `observe`. It only prints an error message.

use busyhour_terminal::exit::Exit;

use crate::missing::{MissingArgs, complain_of_verb};

pub(crate) type DoctorArgs = MissingArgs;

/// Runs `busyhour doctor`.
pub(crate) fn main(_args: &MissingArgs) -> Exit {
    complain_of_verb("doctor", "the observation of systems", "observe")
}
