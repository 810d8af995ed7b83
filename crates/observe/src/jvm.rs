//! Watches Java virtual machines without an agent and without a restart.
//!
//! HotSpot publishes about 200 counters in a file that it maps into memory (`/tmp/hsperfdata_USER/PID`). Reading it costs the JVM
//! nothing. [`JvmProbe`] turns the counters into metrics with the same names for every collector and JDK, and says which of them a
//! JVM does not provide and why. [`find_jvms`] lists the JVMs of a machine.
//!
//! [`Attach`] sends commands to a JVM: a class histogram, a collection, a thread dump, the flags, a recording of JFR. These stop the
//! application for a while and are only sent on request.

mod allocation;
mod collector;
pub mod counters;
mod identity;
mod metrics;
mod quantity;
mod version;

pub use collector::Collector;
pub use identity::JvmIdentity;
pub use quantity::{JvmMetrics, JvmValue};
pub use version::JavaVersion;
