//! The error for a shop that cannot start or run.

use std::net::SocketAddr;
use std::path::PathBuf;

/// The reason why the shop could not open, or had to close.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DemoError {
    /// The database could not be opened, or its tables could not be created.
    #[error("cannot open the shop's database {}", database_name(.path))]
    Database {
        /// The database file; `None` for a database in memory.
        path: Option<PathBuf>,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The database file was written by another version of the shop.
    #[error("the shop's database {} has schema version {found}, this shop reads version {expected}", .path.display())]
    SchemaVersion {
        /// The database file.
        path: PathBuf,
        /// The version in the file.
        found: i64,
        /// The version that this program supports.
        expected: i64,
    },
    /// The backend's connections could not be opened.
    #[error("cannot open the connections to the backend")]
    Backend(#[source] std::io::Error),
    /// The listening socket could not be registered with the runtime, or the runtime could not be created.
    #[error("cannot serve on {address:?}")]
    Listener {
        /// The address, if the socket has one.
        address: Option<SocketAddr>,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

fn database_name(path: &Option<PathBuf>) -> String {
    path.as_ref().map_or_else(|| "in memory".to_owned(), |path| path.display().to_string())
}
