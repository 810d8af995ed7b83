//! The terminal side of every verb: messages and exit codes, tables, output files, quantities of options, and signals.
//!
//! This crate knows no verb and starts no run. The messages and exit codes are the interface of the program, so verbs print,
//! fail and write files only through it.

pub mod columns;
pub mod command_error;
pub mod console;
pub mod exit;
pub mod output;
pub mod outputs;
pub mod quantities;
pub mod signals;
