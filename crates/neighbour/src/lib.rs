//! Noisy neighbours: load on one resource of chosen cores, such as memory bandwidth or a disk, that disturbs a system
//! under test in a known dose.
//!
//! A [`Neighbour`] runs one thread per core, pinned to it ([`CoreList`]). Each thread works for a share of every 100 ms
//! ([`DutyCycle`]), until the time limit or a [`StopFlag`] ends it. [`Neighbour::run`] returns a [`NeighbourSummary`].
//! [`Parent`] reports the end of the parent process.
//!
//! The neighbours are [`NeighbourKind::Stream`] (the STREAM benchmark), `Cpu`, `Cache`, `Memory`, `Disk` and `Network`. All
//! of them refuse more memory or disk space than is free.
//!
//! The crate is empty on systems other than Linux.

#![cfg(target_os = "linux")]

mod cache;
mod cache_size;
mod cores;
mod cpu;
mod disk;
mod duty_cycle;
mod error;
mod filled;
mod free_memory;
mod memory;
mod neighbour;
mod network;
mod pacer;
mod parent;
mod random;
mod stop;
mod stream;
mod summary;
mod workers;

pub use cache::{CacheOptions, CachePattern};
pub use cores::{CoreList, CoreListError};
pub use disk::DiskOptions;
pub use duty_cycle::{DutyCycle, DutyPhase, Intensity, PERIOD};
pub use error::NeighbourError;
pub use memory::MemoryOptions;
pub use neighbour::{Neighbour, NeighbourKind};
pub use network::{NetworkOptions, NetworkProtocol};
pub use parent::Parent;
pub use stop::{EndReason, StopFlag};
pub use stream::{KernelTimes, StreamOptions, StreamResult, Validation};
pub use summary::{NeighbourSummary, WorkDetail};
