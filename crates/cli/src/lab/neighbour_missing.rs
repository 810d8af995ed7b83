//! `busyhour lab neighbour` on systems other than Linux. It only prints an error message.

use busyhour_terminal::exit::{Exit, complain};

use super::neighbour_args::NeighbourArgs;

/// Runs a neighbour.
pub(crate) fn main(_args: &NeighbourArgs) -> Exit {
    complain(Exit::Internal, "neighbours are supported only on Linux")
}
