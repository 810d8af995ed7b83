//! Databases, watched with the credentials of the user.
//!
//! [`PostgresProbe`] watches PostgreSQL 10 and later with one query per reading. [`MySqlProbe`] watches MySQL 5.7 and later, and
//! MariaDB 10.3 and later, with two or three queries per reading.

mod address;
mod mysql_activity;
mod mysql_address;
mod mysql_probe;
mod mysql_queries;
mod postgres_activity;
mod postgres_probe;
mod probe_error;
mod sessions;
mod tls;

pub use address::{DatabaseAddress, DatabaseAddressError};
pub use mysql_address::{MySqlAddress, MySqlAddressError};
pub use mysql_probe::MySqlProbe;
pub use postgres_probe::PostgresProbe;
