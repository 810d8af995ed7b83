//! Databases, watched with the credentials of the user.
//!
//! [`PostgresProbe`] watches PostgreSQL 10 and later with one query per reading. MySQL and MariaDB are watched through their Prometheus
//! exporter ([`crate::prometheus::ScrapeProbe`]).

mod address;
mod postgres_activity;
mod postgres_probe;
mod tls;

pub use address::{DatabaseAddress, DatabaseAddressError};
pub use postgres_probe::PostgresProbe;
