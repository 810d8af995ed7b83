//! The load engine: runs programs with virtual users, controllers, timers and open workloads.
//!
//! A [`program::Program`] is immutable and shared. A virtual user is an async task that stays on its core and runs the program
//! with a small state per controller. The engine depends neither on XML nor on wire protocols.
//!
//! # Shares of a load
//!
//! A process may generate only a share of a load, a [`LoadShare`](busyhour_arrivals::LoadShare)
//! ([`RunShared::set_share`](busyhour_program::run::RunShared::set_share)).
//! The processes of all shares, with the same plan and seed, together generate the whole load:
//!
//! | | in a share |
//! |---|---|
//! | thread groups; Ultimate and Stepping Thread Group | users of the share, with their numbers, thread names, start and end times and random choices in the whole run |
//! | Concurrency Thread Group | the share's part of the level; users are numbered by the share |
//! | open workloads; Open Model, Arrivals and Free-Form Arrivals Thread Group | the share's arrivals of the same schedule, with their random choices; limits of users are divided, with at least one user |
//! | setUp and tearDown Thread Group | run as a whole in the share with the first user; other shares do not wait for it |
//! | Constant Throughput Timer | a rate that users share is multiplied by the size of the share |
//! | Precise Throughput Timer, Throughput Shaping Timer | the share's starts of the same schedule; properties of the Shaping Timer describe the whole run |
//! | Synchronizing Timer | the share's part of the group size, because a process cannot wait for the users of other processes |
//! | Throughput Controller, total executions of all users | the share's part of the number |
//! | active users, counters, rows of CSV files, locks, queues, properties | separate in each process |

pub mod barrier;
mod checks;
pub mod control;
pub mod core;
mod core_share;
pub mod delays;
mod idle_pool;
mod next;
pub mod open;
mod phase_users;
pub mod precise;
pub mod queues;
mod reporting;
pub mod runner;
pub mod shaping;
mod signs;
mod slices;
pub mod stalls;
mod supply;
mod suspended;
#[cfg(test)]
mod testing;
pub mod think;
pub mod timers;
pub mod transaction;
mod turns;
mod virtual_user;

pub use busyhour_sample::Nanos;
