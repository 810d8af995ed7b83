//! The verdict on arrivals, on streams whose nature is known.

mod delivery;
mod log_1830;
mod peers;
mod processes;
mod streams;
mod tally;
