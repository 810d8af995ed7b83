//! Queueing models. Pure functions: no files, no clock, and randomness only as it is handed in.
//!
//! Here is what a closed load of N users with think time Z offers to a system whose requests take R: the pairs (N, Z)
//! that keep a wanted rate ([`planning`]), how near the arrivals come to a Poisson process when the users do not
//! feel each other ([`superposition`]) and when they do ([`closed_loop`]), and how many real users a measured load
//! stands for ([`web_users`]).
//!
//! And here are models of the system: queueing networks as data ([`network`]), solved without simulation ([`solve`]) by
//! mean value analysis and its relatives ([`mva`]), the balance of births and deaths ([`birth_death`]) and busy periods
//! ([`finite_source`]), or fitted to measurements and judged by others ([`fit`]).
//!
//! The words on load are those of Brady & Gunther, *How to Emulate Web Traffic Using Standard Load Testing Tools*
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
