//! `busyhour cluster` in a program that was built without the feature `cluster`. The verb only prints an error message.

use busyhour_terminal::exit::Exit;

use crate::missing::{MissingArgs, complain_of_verb};

pub(crate) type ClusterArgs = MissingArgs;

/// Runs the verb.
pub(crate) fn main(_args: &MissingArgs) -> Exit {
    complain_of_verb("cluster", "runs on several machines", "cluster")
}
