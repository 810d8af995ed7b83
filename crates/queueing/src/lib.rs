//! Queueing models. Pure functions: no files, no clock, and randomness only as it is handed in.
//!
//! Here is what a closed load of N users with think time Z offers to a system whose requests take R: the pairs (N, Z)
//! that keep a wanted rate ([`planning`]), how near the arrivals come to a Poisson process when the users do not
//! feel each other ([`superposition`]) and when they do ([`closed_loop`]), the mean values of the closed network
//! ([`mva`]), and how many real users a measured load stands for ([`web_users`]).
//!
//! The words are those of Brady & Gunther, *How to Emulate Web Traffic Using Standard Load Testing Tools*
//! (arXiv 1607.05356); their equations are cited by number.

pub mod closed_loop;
pub mod cycle;
pub mod mva;
pub mod network;
pub mod planning;
pub mod superposition;
pub mod web_users;

mod quadrature;
