//! Controls on a double of a machine, and on this machine where that is permitted.

#![cfg(target_os = "linux")]
#![expect(clippy::print_stderr, reason = "a test that is skipped prints why")]

mod cgroup_double;
mod conflicts;
mod crash;
mod damaged;
mod killed;
mod machine;
mod masks;
mod program_double;
mod programs;
mod real;
mod scenarios;
mod undo;

#[path = "../../../observe/tests/resctrl_double/mod.rs"]
#[expect(dead_code, reason = "the tests of probes use more of it")]
mod resctrl_double;
