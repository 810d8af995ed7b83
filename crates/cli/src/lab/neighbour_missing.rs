//! `busyhour lab neighbour` on systems other than Linux. It only prints an error message.

use super::neighbour_args::NeighbourArgs;
use crate::exit::{Exit, complain};

/// Runs a neighbour.
pub(crate) fn main(_args: &NeighbourArgs) -> Exit {
    complain(Exit::Internal, "neighbours are supported only on Linux")
}
