//! Reads the state of a MySQL or MariaDB server.

use std::collections::HashMap;

use mysql::prelude::Queryable as _;
use mysql::{Conn, Row, Value};

use super::mysql_queries::{
    DEADLOCKS, LIMIT, LOCK_WAITS, PROCESS_LISTS, STATUS, Waits, lock_waits, own_session, sessions,
};
use super::sessions::{Blocker, LockWait, blockers_of};

/// The queries that the server answers to this user.
#[derive(Debug, Default)]
pub(super) struct Queries {
    /// `None` if the user may not see the sessions of others.
    sessions: Option<String>,
    /// `None` if the user may not see who blocks.
    lock_waits: Option<String>,
    has_deadlocks: bool,
}

/// The state of a server. Unknown parts are `None`.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Activity {
    /// Values of `SHOW GLOBAL STATUS`.
    pub(super) status: HashMap<String, f64>,
    /// Sessions by state, command, type of wait and wait.
    pub(super) sessions: Option<Vec<([String; 4], f64)>>,
    /// Sessions that hold row locks for which others wait, and do not wait themselves.
    pub(super) blockers: Option<Vec<Blocker>>,
    /// Age of the oldest transaction in s.
    pub(super) transaction_seconds: Option<f64>,
    /// `max_connections`.
    pub(super) sessions_max: Option<f64>,
    pub(super) deadlocks: Option<f64>,
}

impl Queries {
    /// Tries the forms of the queries. A form that the server refuses is not used; an interrupted connection is an error.
    pub(super) fn of_server(connection: &mut Conn) -> Result<Queries, mysql::Error> {
        let mut queries = Queries::default();
        for list in PROCESS_LISTS {
            let own = accepted(connection.query_first::<Row, _>(own_session(list)))?.flatten();
            if own.and_then(|row| number(&row, 0)) != Some(1.0) {
                continue;
            }
            for waits in [Waits::PerformanceSchema, Waits::States] {
                if queries.sessions.is_none() && is_accepted(connection, &sessions(list, waits))? {
                    queries.sessions = Some(sessions(list, waits));
                }
            }
            for table in LOCK_WAITS {
                if queries.lock_waits.is_none() && is_accepted(connection, &lock_waits(table, list))? {
                    queries.lock_waits = Some(lock_waits(table, list));
                }
            }
            if queries.sessions.is_some() {
                break;
            }
        }
        queries.has_deadlocks = is_accepted(connection, DEADLOCKS)?;
        Ok(queries)
    }

    /// Asks the server.
    pub(super) fn ask(&self, connection: &mut Conn) -> Result<Activity, mysql::Error> {
        let mut activity = Activity::default();
        for row in connection.query::<Row, _>(STATUS)? {
            if let Some(value) = number(&row, 1) {
                activity.status.insert(text(&row, 0), value);
            }
        }
        activity.sessions_max =
            connection.query_first::<Row, _>(LIMIT)?.as_ref().and_then(|row| number(row, 0));
        if let Some(query) = &self.sessions {
            let rows = connection.query::<Row, _>(query)?;
            activity.add_sessions(&rows);
        }
        activity.deadlocks = match activity.status.get("Innodb_deadlocks") {
            Some(total) => Some(*total),
            None if self.has_deadlocks => {
                connection.query_first::<Row, _>(DEADLOCKS)?.as_ref().and_then(|row| number(row, 0))
            }
            None => None,
        };
        if let Some(query) = &self.lock_waits {
            // Listing the waits for locks is expensive on a server with many locks.
            let waits =
                activity.status.get("Innodb_row_lock_current_waits").is_some_and(|waits| *waits > 0.0)
                    || activity.waiting_for("row lock") > 0.0;
            let rows = if waits { connection.query::<Row, _>(query)? } else { Vec::new() };
            activity.blockers = Some(blockers_of(rows.iter().map(lock_wait).collect()));
        }
        Ok(activity)
    }
}

impl Activity {
    fn add_sessions(&mut self, rows: &[Row]) {
        let mut sessions = Vec::new();
        for row in rows {
            match text(row, 0).as_str() {
                "session" => {
                    let labels = [1, 2, 3, 4].map(|column| text(row, column));
                    sessions.extend(number(row, 5).map(|count| (labels, count)));
                }
                "transaction" => self.transaction_seconds = Some(number(row, 5).unwrap_or(0.0).max(0.0)),
                _ => {}
            }
        }
        self.sessions = Some(sessions);
    }

    /// Sessions that wait for any lock; without the right to see sessions, for row locks.
    pub(super) fn blocked(&self) -> Option<f64> {
        match &self.sessions {
            Some(sessions) => Some(count(sessions, |[_, _, kind, _]| kind == "lock")),
            None => self.status.get("Innodb_row_lock_current_waits").copied(),
        }
    }

    fn waiting_for(&self, wait: &str) -> f64 {
        self.sessions.as_ref().map_or(0.0, |sessions| count(sessions, |[_, _, _, event]| event == wait))
    }
}

/// The number of sessions whose labels satisfy a condition. (The sum of no numbers would be -0.)
fn count(sessions: &[([String; 4], f64)], is_counted: impl Fn(&[String; 4]) -> bool) -> f64 {
    sessions.iter().filter(|(labels, _)| is_counted(labels)).fold(0.0, |sum, (_, count)| sum + count)
}

/// The result, or `None` if the server refused the query.
fn accepted<T>(result: Result<T, mysql::Error>) -> Result<Option<T>, mysql::Error> {
    match result {
        Ok(rows) => Ok(Some(rows)),
        Err(mysql::Error::MySqlError(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_accepted(connection: &mut Conn, query: &str) -> Result<bool, mysql::Error> {
    Ok(accepted(connection.query::<Row, _>(query))?.is_some())
}

fn lock_wait(row: &Row) -> LockWait {
    let user = text(row, 4);
    let who = if user.is_empty() { "unknown user".to_owned() } else { user };
    LockWait {
        waiter: text(row, 0),
        blocker: text(row, 1),
        is_holder: number(row, 2) == Some(1.0),
        session: Blocker { id: text(row, 3), who, state: text(row, 5), waiting: 0.0 },
    }
}

/// The text in a column; empty for NULL.
fn text(row: &Row, column: usize) -> String {
    match row.as_ref(column) {
        Some(Value::Bytes(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        Some(Value::NULL) | None => String::new(),
        Some(value) => value.as_sql(true).trim_matches('\'').to_owned(),
    }
}

/// The number in a column; `None` for NULL.
fn number(row: &Row, column: usize) -> Option<f64> {
    text(row, column).parse().ok()
}
