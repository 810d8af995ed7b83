//! Cache occupancy, memory bandwidth and energy by group of processes or cores (resource director technology, MPAM).
//!
//! - [`Resctrl`] reads and changes the groups of Linux's `resctrl` file system; [`RdtProbe`] records their counters.
//! - [`pqos`] parses the output of `pqos -u csv`, [`xen`] that of `xl psr-*`.

mod files;
pub mod info;
pub mod pqos;
mod probe;
mod resctrl;
pub mod schemata;
pub mod xen;

pub use files::{MountedFiles, ResctrlFiles};
pub use probe::RdtProbe;
pub use resctrl::{MonitorValue, RdtError, Resctrl, ResctrlGroup, ResctrlValue};
