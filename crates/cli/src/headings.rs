//! Headings of groups of options in the help.

/// Files and texts that a command writes.
pub(crate) const OUTPUT: &str = "Output";

/// Options that determine how a run is executed.
pub(crate) const RUN: &str = "Run";

/// Options that observe a run and its system, or control a run in progress.
pub(crate) const OBSERVATION: &str = "Observation and control";
