//! The verdict on arrivals, on streams whose nature is known.

mod delivery;
mod error_rates;
mod log_1830;
mod peers;
mod processes;
mod stalls;
mod streams;
mod tally;
