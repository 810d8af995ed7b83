//! Tests that incidents are found in simulated runs with faults, and not in runs without faults.

mod cases;
mod generator;
mod kinds;
mod recorded;
mod simulate;
mod study;
