//! Treatments of a machine that are undone in every case.
//!
//! A [`Control`](control::Control) limits CPU time, CPUs, disk traffic, parts of a cache, memory bandwidth or a network. It is
//! checked before it is applied, and everything that it changes is written to a journal before it is changed. The changes are
//! undone by [`Control::undo`](control::Control::undo), when [`Treatments`](treatments::Treatments) are dropped, or, after the
//! program was killed, by [`restore`](treatments::restore). Linux only.

#![cfg(target_os = "linux")]

pub mod allocation;
pub mod cgroup;
pub mod change;
pub mod control;
pub mod error;
pub mod journal;
pub mod linux;
pub mod mask;
pub mod netem;
pub mod pqos;
pub mod process;
pub mod resctrl;
pub mod reversible;
pub mod system;
pub mod treatments;
pub mod xen;
