//! The database schema, and opening a database with it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use super::fault::Fault;
use crate::DemoError;

/// The version of the schema, stored in the file's `user_version`.
const SCHEMA_VERSION: i64 = 1;

/// Maximum number of cached prepared statements; the shop has fewer.
const STATEMENTS: usize = 160;

/// Ids are never reused (`AUTOINCREMENT`). `tickets` has a unique index over performance and seat, so the database cannot
/// contain a seat that was sold twice. A ticket that was created through the API without a performance is not a sale.
const SCHEMA: &str = "
CREATE TABLE media_items (id INTEGER PRIMARY KEY AUTOINCREMENT, media_type TEXT NOT NULL, url TEXT NOT NULL);
CREATE TABLE event_categories (id INTEGER PRIMARY KEY AUTOINCREMENT, description TEXT NOT NULL UNIQUE);
CREATE TABLE ticket_categories (id INTEGER PRIMARY KEY AUTOINCREMENT, description TEXT NOT NULL UNIQUE);
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, description TEXT NOT NULL,
  media_item_id INTEGER REFERENCES media_items, category_id INTEGER NOT NULL REFERENCES event_categories);
CREATE TABLE venues (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, description TEXT,
  street TEXT, city TEXT, country TEXT, capacity INTEGER NOT NULL,
  media_item_id INTEGER REFERENCES media_items);
CREATE TABLE sections (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, description TEXT,
  number_of_rows INTEGER NOT NULL, row_capacity INTEGER NOT NULL,
  venue_id INTEGER NOT NULL REFERENCES venues ON DELETE CASCADE, UNIQUE (venue_id, name));
CREATE TABLE shows (
  id INTEGER PRIMARY KEY AUTOINCREMENT, event_id INTEGER NOT NULL REFERENCES events,
  venue_id INTEGER NOT NULL REFERENCES venues, UNIQUE (event_id, venue_id));
CREATE TABLE performances (
  id INTEGER PRIMARY KEY AUTOINCREMENT, show_id INTEGER NOT NULL REFERENCES shows ON DELETE CASCADE,
  date_ms INTEGER NOT NULL, UNIQUE (show_id, date_ms));
CREATE INDEX performances_by_date ON performances (date_ms);
CREATE TABLE ticket_prices (
  id INTEGER PRIMARY KEY AUTOINCREMENT, show_id INTEGER NOT NULL REFERENCES shows ON DELETE CASCADE,
  section_id INTEGER NOT NULL REFERENCES sections, ticket_category_id INTEGER NOT NULL REFERENCES ticket_categories,
  price REAL NOT NULL, UNIQUE (show_id, section_id, ticket_category_id));
CREATE TABLE section_allocations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, performance_id INTEGER NOT NULL REFERENCES performances ON DELETE CASCADE,
  section_id INTEGER NOT NULL REFERENCES sections ON DELETE CASCADE, occupied INTEGER NOT NULL CHECK (occupied >= 0),
  UNIQUE (performance_id, section_id));
CREATE TABLE bookings (
  id INTEGER PRIMARY KEY AUTOINCREMENT, performance_id INTEGER NOT NULL REFERENCES performances,
  created_on_ms INTEGER NOT NULL, cancellation_code TEXT NOT NULL, contact_email TEXT NOT NULL);
CREATE TABLE tickets (
  id INTEGER PRIMARY KEY AUTOINCREMENT, booking_id INTEGER REFERENCES bookings,
  performance_id INTEGER, section_id INTEGER NOT NULL REFERENCES sections,
  row_number INTEGER NOT NULL, seat_number INTEGER NOT NULL,
  ticket_category_id INTEGER NOT NULL REFERENCES ticket_categories, price REAL NOT NULL,
  CHECK ((booking_id IS NULL) = (performance_id IS NULL)),
  UNIQUE (performance_id, section_id, row_number, seat_number));
CREATE INDEX tickets_by_booking ON tickets (booking_id);
";

/// Opens a database and creates the tables in a new one.
pub(super) fn open(path: Option<&Path>) -> Result<Connection, DemoError> {
    let failed = |source| DemoError::Database { path: path.map(Path::to_owned), source };
    let connection = match path {
        Some(path) => Connection::open(path),
        None => Connection::open_in_memory(),
    }
    .map_err(failed)?;
    let version = prepare(&connection, path.is_some()).map_err(failed)?;
    if version != SCHEMA_VERSION {
        return Err(DemoError::SchemaVersion {
            path: path.map_or_else(PathBuf::new, Path::to_owned),
            found: version,
            expected: SCHEMA_VERSION,
        });
    }
    Ok(connection)
}

/// Configures the connection and returns the schema version of the database; creates the tables if it is empty.
fn prepare(connection: &Connection, in_file: bool) -> rusqlite::Result<i64> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // A shop locks the file while it is open, so waiting for the lock would be pointless.
    connection.busy_timeout(Duration::ZERO)?;
    if in_file {
        // Exclusive, because the cache would be stale if another process could write to the database. With a
        connection.execute_batch(
            "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;",
        )?;
    }
    connection.execute_batch("PRAGMA foreign_keys = ON; BEGIN IMMEDIATE;")?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let version = if version == 0 && tables == 0 {
        connection.execute_batch(SCHEMA)?;
        connection.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        SCHEMA_VERSION
    } else {
        version
    };
    connection.execute_batch("COMMIT")?;
    Ok(version)
}

/// Makes several changes, or none of them if one fails. Calls may be nested.
pub(super) fn atomically<T>(
    connection: &Connection,
    change: impl FnOnce() -> Result<T, Fault>,
) -> Result<T, Fault> {
    let run = |sql: &str| connection.prepare_cached(sql)?.execute([]).map(|_| ());
    run("SAVEPOINT change")?;
    let result = change().and_then(|value| {
        run("RELEASE change")?;
        Ok(value)
    });
    if result.is_err() {
        // If the rollback fails, SQLite has already undone everything itself, and the original fault is returned.
        let _ = run("ROLLBACK TO change").and_then(|()| run("RELEASE change"));
    }
    result
}
