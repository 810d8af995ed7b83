//! Queueing models. All functions are pure: they access neither files nor a clock, and get random numbers from the caller.
//!
//! One part describes the load that N closed users with think time Z offer to a system with response time R:
//!
//! * [`planning`]: the pairs (N, Z) for a target rate
//! * [`superposition`] and [`closed_loop`]: the distance of the arrivals from a Poisson process, without and with mutual
//!   delays between users
//! * [`web_users`]: the number of real users that a measured load represents
//!
//! The other part models the system:
//!
//! * [`network`]: queueing networks as data
//! * [`solve`]: analytic solutions by mean value analysis and related methods ([`mva`]), birth-death processes
//!   ([`birth_death`]) and busy periods ([`finite_source`])
//! * [`fit`]: fits to measurements, and validation against further measurements
//!
//! Terms of the load are those of Brady & Gunther, *How to Emulate Web Traffic Using Standard Load Testing Tools*
//! (arXiv 1607.05356); their equations are cited by number.

pub mod birth_death;
pub mod closed_loop;
pub mod cycle;
pub mod finite_source;
pub mod fit;
pub mod mva;
pub mod network;
pub mod planning;
pub mod solve;
pub mod superposition;
pub mod web_users;

mod quadrature;
