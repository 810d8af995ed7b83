//! Shared code of the project's tools: finding and building programs, JMeter, result files, tables.
#![allow(clippy::print_stderr, reason = "the tools print their progress")]

pub mod jmeter;
pub mod markers;
pub mod process;
pub mod project;
pub mod results;
pub mod table;
