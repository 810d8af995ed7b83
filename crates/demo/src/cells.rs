//! The cells emulator: a Java server with known leaks, failures and CPU costs.
//!
//! Six cells, TB1 to TB6, call each other. The number in a request (`/cells?config=3`) selects a configuration, which
//! determines the cells that are called and the work of each of them. Every cell has a bounded pool of beans, and the server
//! has a bounded pool of worker threads, so that it becomes saturated for the same reasons as an application server. It
//! writes a server log, an access log and a garbage-collection log.
//!
//! The program is one file, `java/Cells.java`, which the JDK of this machine compiles at each start.

mod configurations;
mod error;
mod files;
mod jdk;
mod options;
mod output_end;
mod process;

pub use configurations::{CellConfiguration, CellConfigurations, CellName, ConfigurationsError};
pub use error::CellsError;
pub use files::{ACCESS_LOG, CONSOLE_LOG, GC_LOG, SERVER_LOG};
pub use options::{CellsLogLevel, CellsOptions, GarbageCollector};
pub use process::CellsServer;
