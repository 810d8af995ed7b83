//! `busyhour observe` in a program that was built without the feature `observe`. It only prints an error message.

use busyhour_terminal::exit::Exit;

use crate::missing::{MissingArgs, complain_of_verb};

pub(crate) type ObserveArgs = MissingArgs;

/// Runs `busyhour observe`.
pub(crate) fn main(_args: &MissingArgs) -> Exit {
    complain_of_verb("observe", "the observation of systems", "observe")
}
