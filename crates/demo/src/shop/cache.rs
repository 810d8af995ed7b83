//! Rendered responses, cached until the catalogue changes.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use rusqlite::Connection;

/// Maximum size of the cached responses in bytes. If it is exceeded, all responses are discarded. The responses for a
/// hundred venues and events do not reach this limit.
const BYTES_MAX: usize = 48 * 1024 * 1024;

/// The approximate size of an entry without its texts.
const ENTRY_BYTES: usize = 128;

/// Tables that change with every sale. Responses that depend on them are not cached.
const SALES: [&str; 4] = ["bookings", "tickets", "section_allocations", "sqlite_sequence"];

/// Rendered responses by request target.
///
/// A cached response is never stale. SQLite itself reports every changed row of every table except [`SALES`] to the flag
/// (the schema has no table and the shop no statement that SQLite excludes from these reports). The flag is checked before
/// any entry is read, nothing is rendered inside a transaction, and both happen under the shop's single lock. Another
/// process cannot change the database, because the shop locks it exclusively.
#[derive(Debug)]
pub(super) struct Cache {
    changed: Arc<AtomicBool>,
    entries: HashMap<Box<str>, Bytes>,
    bytes: usize,
}

impl Cache {
    /// Creates a cache that watches a connection for changes.
    pub(super) fn watching(connection: &Connection) -> Self {
        let changed = Arc::new(AtomicBool::new(false));
        let flag = changed.clone();
        connection.update_hook(Some(move |_, _: &str, table: &str, _| {
            if !SALES.contains(&table) {
                flag.store(true, Ordering::Relaxed);
            }
        }));
        Self { changed, entries: HashMap::new(), bytes: 0 }
    }

    /// The cached response; `None` if its data may have changed.
    pub(super) fn get(&mut self, target: &str) -> Option<Bytes> {
        if self.changed.swap(false, Ordering::Relaxed) {
            self.clear();
        }
        self.entries.get(target).cloned()
    }

    /// Caches a response.
    pub(super) fn insert(&mut self, target: &str, answer: &Bytes) {
        let bytes = target.len() + answer.len() + ENTRY_BYTES;
        if self.bytes + bytes > BYTES_MAX {
            self.clear();
        }
        if bytes <= BYTES_MAX && self.entries.insert(target.into(), answer.clone()).is_none() {
            self.bytes += bytes;
        }
    }

    /// Removes all entries.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_row_clears_the_cache_and_a_sale_does_not() {
        let connection = Connection::open_in_memory().expect("database");
        let run = |sql: &str| connection.execute_batch(sql).expect("statement");
        run(
            "CREATE TABLE venues (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE bookings (id INTEGER PRIMARY KEY)",
        );
        let mut cache = Cache::watching(&connection);
        let changes = [
            "INSERT INTO venues VALUES (1, 'a')",
            "UPDATE venues SET name = 'b' WHERE id = 1",
            "DELETE FROM venues WHERE id = 1",
        ];
        for change in changes {
            assert_eq!(cache.get("/v"), None);
            cache.insert("/v", &Bytes::from_static(b"[]"));
            run("INSERT INTO bookings DEFAULT VALUES");
            assert_eq!(cache.get("/v"), Some(Bytes::from_static(b"[]")));
            run(change);
        }
        assert_eq!(cache.get("/v"), None);
    }

    #[test]
    fn the_cache_is_bounded() {
        let connection = Connection::open_in_memory().expect("database");
        let mut cache = Cache::watching(&connection);
        let large = Bytes::from(vec![b' '; BYTES_MAX / 3]);
        for target in ["/a", "/b", "/c", "/d"] {
            assert_eq!(cache.get(target), None);
            cache.insert(target, &large);
            assert!(cache.bytes <= BYTES_MAX);
        }
        assert_eq!(cache.get("/a"), None);
        assert!(cache.get("/d").is_some());
    }
}
