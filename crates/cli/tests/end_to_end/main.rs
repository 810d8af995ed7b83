//! The real binary, end to end: its command lines, its exit codes, what it says, and what it makes of bad input and of
//! faults of servers and of the system.

mod bad_servers;
mod plans;
mod program;
mod servers;
mod stopping;
