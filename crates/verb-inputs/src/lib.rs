//! What several verbs read: results and runs, properties, thresholds, and the options that select them.
//!
//! Errors are messages for the user. This crate knows no verb.

pub mod inputs;
pub mod observed_dir;
pub mod properties;
pub mod reading;
pub mod results_args;
pub mod results_options;
pub mod run_paths;
pub mod thresholds;
