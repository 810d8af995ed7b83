//! The query about a PostgreSQL server, and its result.

use super::sessions::Blocker;

/// The largest number of rows of each kind that are used.
pub(super) const ROWS_MAX: usize = 200;

/// One query per reading. It reads shared memory of the server, no tables. It counts sessions by state and wait event, finds
/// sessions that wait for a lock and those that hold it, and reads totals per database. `pg_blocking_pids` also names sessions that
/// wait for the same lock and are ahead in its queue. Only sessions that do not wait themselves are blockers, and they block all
/// sessions that wait for them directly or indirectly. Each row has a kind, three texts and a number. PostgreSQL also hides the `backend_type` of a hidden session; one with a database and a user is a client's.
pub(super) const QUERY: &str = "\
WITH RECURSIVE activity AS MATERIALIZED (
  SELECT pid, state, wait_event_type, wait_event, xact_start, application_name, query = '<insufficient privilege>' AS is_hidden
  FROM pg_catalog.pg_stat_activity
  WHERE (backend_type = 'client backend' OR query = '<insufficient privilege>' AND datid IS NOT NULL AND usesysid IS NOT NULL)
    AND pid <> pg_catalog.pg_backend_pid()
), blocked AS MATERIALIZED (
  SELECT pid, pg_catalog.pg_blocking_pids(pid) AS blockers FROM activity WHERE wait_event_type = 'Lock' LIMIT 100
), pairs AS MATERIALIZED (
  SELECT pid, unnest(blockers) AS blocker FROM blocked
), holders AS MATERIALIZED (
  SELECT blocker FROM (SELECT DISTINCT blocker FROM pairs WHERE blocker NOT IN (SELECT pid FROM pairs) LIMIT 100) AS candidates
  WHERE cardinality(pg_catalog.pg_blocking_pids(blocker)) = 0
), waits(blocker, pid) AS (
  SELECT holders.blocker, pairs.pid FROM holders JOIN pairs USING (blocker)
  UNION SELECT waits.blocker, pairs.pid FROM waits JOIN pairs ON pairs.blocker = waits.pid
), blockers AS (
  SELECT blocker, count(*) AS waiting FROM waits GROUP BY blocker
)
(SELECT 'session' AS kind, coalesce(state, 'unknown') AS a, coalesce(wait_event_type, '') AS b, coalesce(wait_event, '') AS c,
   count(*)::float8 AS value
 FROM activity GROUP BY 2, 3, 4 ORDER BY 5 DESC LIMIT 200)
UNION ALL SELECT 'hidden', '', '', '', count(*)::float8 FROM activity WHERE is_hidden
UNION ALL SELECT 'blocked', '', '', '', count(*)::float8 FROM blocked WHERE cardinality(blockers) > 0
UNION ALL
(SELECT 'blocker', blocker::text, coalesce(application_name, ''), coalesce(state, ''), waiting::float8
 FROM blockers LEFT JOIN activity ON pid = blocker ORDER BY waiting DESC LIMIT 20)
UNION ALL SELECT 'transaction', '', '', '',
  coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8 FROM activity
UNION ALL SELECT 'max', '', '', '', pg_catalog.current_setting('max_connections')::float8
UNION ALL
(SELECT 'total', datname, pair.name, pair.detail, pair.value::float8
 FROM (SELECT * FROM pg_catalog.pg_stat_database WHERE datname IS NOT NULL AND datname NOT LIKE 'template_'
       ORDER BY xact_commit DESC LIMIT 20) AS d,
 LATERAL (VALUES ('transactions', 'commit', xact_commit), ('transactions', 'rollback', xact_rollback),
   ('rows', 'returned', tup_returned), ('rows', 'fetched', tup_fetched), ('rows', 'inserted', tup_inserted),
   ('rows', 'updated', tup_updated), ('rows', 'deleted', tup_deleted),
   ('blocks', 'hit', blks_hit), ('blocks', 'read', blks_read),
   ('deadlocks', '', deadlocks), ('temporary', '', temp_bytes)) AS pair(name, detail, value))";

/// The result of the query.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Activity {
    /// Sessions by state, type of wait event and wait event.
    pub(super) sessions: Vec<([String; 3], f64)>,
    /// Sessions of other users whose state may not be read.
    pub(super) hidden: f64,
    /// Sessions that wait for a lock that another session holds.
    pub(super) blocked: f64,
    /// Sessions that hold a lock for which others wait, and do not wait themselves.
    pub(super) blockers: Vec<Blocker>,
    /// Age of the oldest transaction in s.
    pub(super) transaction_seconds: f64,
    /// `max_connections`.
    pub(super) sessions_max: f64,
    /// Totals: database, quantity, detail, value.
    pub(super) totals: Vec<([String; 3], f64)>,
}

impl Activity {
    /// Adds a row of the query. Rows of unknown kinds are ignored.
    pub(super) fn add(&mut self, kind: &str, texts: [&str; 3], value: f64) {
        let owned = || texts.map(str::to_owned);
        match kind {
            "session" if self.sessions.len() < ROWS_MAX => self.sessions.push((owned(), value)),
            "hidden" => self.hidden = value,
            "blocked" => self.blocked = value,
            "blocker" if self.blockers.len() < ROWS_MAX => {
                let [id, application, state] = owned();
                let who = if application.is_empty() { "unnamed application".to_owned() } else { application };
                self.blockers.push(Blocker { id, who, state, waiting: value });
            }
            "transaction" => self.transaction_seconds = value,
            "max" => self.sessions_max = value,
            // 20 databases with 11 totals each.
            "total" if self.totals.len() < 2 * ROWS_MAX => self.totals.push((owned(), value)),
            _ => {}
        }
    }
}
