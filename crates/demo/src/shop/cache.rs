//! Rendered answers, kept until the catalogue changes.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use rusqlite::Connection;

/// Bytes of rendered answers kept. All are dropped beyond: with a hundred venues and events everything fits.
const BYTES_MAX: usize = 48 * 1024 * 1024;

/// Approximate size of an entry without its texts.
const ENTRY_BYTES: usize = 128;

/// Tables that change with every sale. Nothing made from them is kept.
const SALES: [&str; 4] = ["bookings", "tickets", "section_allocations", "sqlite_sequence"];

/// Rendered answers by request target.
///
/// Why an answer can never be stale: SQLite itself reports every changed row of every table but [`SALES`] to the flag
/// (the schema has no table and the shop no statement that SQLite leaves out of these reports), the flag is looked at
/// before any entry is, nothing is rendered inside a transaction, and both happen under the shop's one lock. Another
/// process cannot change the database, because the shop holds it exclusively.
#[derive(Debug)]
pub(super) struct Cache {
    changed: Arc<AtomicBool>,
    entries: HashMap<Box<str>, Bytes>,
    bytes: usize,
}

impl Cache {
    /// A cache that watches a connection.
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

    /// The kept answer, when nothing it was made from has changed.
    pub(super) fn get(&mut self, target: &str) -> Option<Bytes> {
        if self.changed.swap(false, Ordering::Relaxed) {
            self.forget();
        }
        self.entries.get(target).cloned()
    }

    /// Keeps an answer that [`get`](Self::get) did not have.
    pub(super) fn keep(&mut self, target: &str, answer: &Bytes) {
        let bytes = target.len() + answer.len() + ENTRY_BYTES;
        if self.bytes + bytes > BYTES_MAX {
            self.forget();
        }
        if bytes <= BYTES_MAX && self.entries.insert(target.into(), answer.clone()).is_none() {
            self.bytes += bytes;
        }
    }

    /// Forgets everything.
    pub(super) fn forget(&mut self) {
        self.entries.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_row_forgets_everything_and_a_sale_does_not() {
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
            cache.keep("/v", &Bytes::from_static(b"[]"));
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
            cache.keep(target, &large);
            assert!(cache.bytes <= BYTES_MAX);
        }
        assert_eq!(cache.get("/a"), None);
        assert!(cache.get("/d").is_some());
    }
}
