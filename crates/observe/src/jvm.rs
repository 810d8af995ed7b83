//! Watches Java virtual machines without an agent and without a restart.
//!
//! HotSpot publishes about 200 counters in a file that it maps into memory (`hsperfdata_USER/PID` in its `/tmp`).
//! Reading it costs the JVM nothing. [`JvmProbe`] turns the counters into metrics with the same names for every
//! collector and JDK. It also states which of them a JVM does not provide, and why. [`find_jvms`] lists the JVMs of a
//! machine.
//!
//! [`AttachedJvm`] sends commands to a JVM: a class histogram, a collection, a thread dump, the flags, a recording of JFR. These stop the
//! application for a while and are only sent on request.
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "JVMs are only watched on Linux; elsewhere their files are read")
)]

mod allocation;
#[cfg(target_os = "linux")]
mod attach;
mod class_histogram;
mod collector;
#[cfg(target_os = "linux")]
mod commands;
pub mod counters;
mod identity;
#[cfg(target_os = "linux")]
mod locate;
mod metrics;
#[cfg(target_os = "linux")]
mod pauses;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod process;
mod quantity;
mod recording;
#[cfg(target_os = "linux")]
mod stopped_time;
#[cfg(target_os = "linux")]
mod successor;
mod thread_dump;
mod version;
mod vm_flags;
mod watched;

#[cfg(target_os = "linux")]
pub use attach::{AttachError, AttachedJvm};
pub use class_histogram::{ClassCount, ClassHistogram, ClassHistogramError};
pub use collector::JvmCollector;
#[cfg(target_os = "linux")]
pub use commands::{HistogramScope, RecordingCommandError};
pub use identity::JvmIdentity;
#[cfg(target_os = "linux")]
pub use locate::{CounterFileLocateError, FoundJvm, FoundJvms, check_counters, find_jvms};
#[cfg(target_os = "linux")]
pub use probe::JvmProbe;
#[cfg(target_os = "linux")]
pub use process::ProcessError;
pub use quantity::{JvmMetrics, JvmValue};
pub use recording::{RecordingError, RecordingSettings};
#[cfg(target_os = "linux")]
pub use stopped_time::StoppedTime;
pub use thread_dump::{
    BlockedThread, JavaThread, MonitorLock, ThreadDump, ThreadDumpError, ThreadState, WaitKind,
};
pub use version::JavaVersion;
pub use vm_flags::{VmFlag, VmFlagsError};
pub use watched::WatchedJvms;
