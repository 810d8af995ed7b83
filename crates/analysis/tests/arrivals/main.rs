//! Tests the verdict on arrivals with streams from known processes.

mod cases;
mod clocks;
mod delivery;
mod error_rates;
mod log_1830;
mod peers;
mod processes;
mod stalls;
mod streams;
mod study;
mod tally;
