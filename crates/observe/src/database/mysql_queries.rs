//! The queries about a MySQL or MariaDB server. Their forms depend on the server and on the rights of the user.

/// Totals and gauges that every user may read.
pub(super) const STATUS: &str = "\
SHOW GLOBAL STATUS WHERE Variable_name IN ('Threads_connected', 'Threads_running', 'Questions', 'Com_commit', 'Com_rollback', \
'Innodb_rows_read', 'Innodb_rows_inserted', 'Innodb_rows_updated', 'Innodb_rows_deleted', \
'Rows_read', 'Handler_write', 'Handler_update', 'Handler_delete', \
'Innodb_buffer_pool_read_requests', 'Innodb_buffer_pool_reads', 'Innodb_row_lock_waits', 'Innodb_row_lock_time', \
'Innodb_row_lock_current_waits', 'Innodb_deadlocks')";

/// The limit on sessions.
pub(super) const LIMIT: &str = "SELECT @@GLOBAL.max_connections";

/// Deadlocks, for servers whose status lacks them.
pub(super) const DEADLOCKS: &str =
    "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_deadlocks'";

/// Settings of the session, so that it does not write or wait for long. The limits on the time of a query have different names in
/// MariaDB (seconds) and MySQL (milliseconds); the unknown one is refused. The time zone is that of times in `INNODB_TRX`.
pub(super) const SESSION: &[&str] = &[
    "SET SESSION max_statement_time = 2",
    "SET SESSION max_execution_time = 2000",
    "SET SESSION lock_wait_timeout = 1",
    "SET SESSION time_zone = 'SYSTEM'",
    "SET SESSION TRANSACTION READ ONLY",
];

/// Tables of sessions, the preferred one first: reading `information_schema` delays new connections of a MySQL server.
pub(super) const PROCESS_LISTS: [&str; 2] =
    ["performance_schema.processlist", "information_schema.PROCESSLIST"];

/// Whether a table of sessions is filled: it contains the session that asks.
pub(super) fn own_session(process_list: &str) -> String {
    format!("SELECT COUNT(*) FROM {process_list} WHERE ID = CONNECTION_ID()")
}

/// Where the wait of a session comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// The performance schema, where it records waits, and the states of sessions.
    PerformanceSchema,
    /// Only the states of sessions, which include waits for locks.
    States,
}

/// Client sessions by state, command, type of wait and wait, and the age of the oldest transaction. Each row has a kind, four texts
/// and a number. The query reads memory of the server, no tables of users.
pub(super) fn sessions(process_list: &str, waits: Waits) -> String {
    let (event, join) = match waits {
        Waits::PerformanceSchema => (
            "(SELECT w.EVENT_NAME FROM performance_schema.events_waits_current AS w \
             WHERE w.THREAD_ID = th.THREAD_ID AND w.END_EVENT_ID IS NULL ORDER BY w.EVENT_ID DESC LIMIT 1)",
            "LEFT JOIN performance_schema.threads AS th ON th.PROCESSLIST_ID = p.ID AND p.COMMAND <> 'Sleep'",
        ),
        Waits::States => ("NULL", ""),
    };
    format!(
        "(SELECT 'session', s.state, s.command, \
           IF(s.is_locked, 'lock', COALESCE(SUBSTRING_INDEX(SUBSTRING(s.event, 6), '/', 2), '')) AS wait_type, \
           IF(s.is_locked, s.lock_wait, COALESCE(s.event, '')) AS wait_event, COUNT(*) AS sessions \
          FROM (SELECT IF(p.COMMAND <> 'Sleep', 'active', IF(t.trx_id IS NULL, 'idle', 'idle in transaction')) AS state, \
              p.COMMAND AS command, {event} AS event, \
              COALESCE(t.trx_state = 'LOCK WAIT', FALSE) OR COALESCE(p.STATE, '') LIKE 'Waiting for%lock' \
                OR COALESCE(p.STATE, '') = 'User lock' AS is_locked, \
              IF(t.trx_state = 'LOCK WAIT', 'row lock', p.STATE) AS lock_wait \
            FROM {process_list} AS p LEFT JOIN information_schema.INNODB_TRX AS t ON t.trx_mysql_thread_id = p.ID {join} \
            WHERE p.ID <> CONNECTION_ID() AND p.USER NOT IN ('system user', 'event_scheduler') \
              AND p.COMMAND NOT IN ('Daemon', 'Binlog Dump', 'Binlog Dump GTID')) AS s \
          GROUP BY s.state, s.command, wait_type, wait_event ORDER BY sessions DESC LIMIT 200) \
         UNION ALL (SELECT 'transaction', '', '', '', '', MAX(TIMESTAMPDIFF(SECOND, trx_started, NOW())) \
          FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id <> CONNECTION_ID())"
    )
}

/// Tables of waits for row locks, with the column of the transaction that waits and of the one that blocks: of MySQL 8, and of
/// MariaDB and MySQL 5.7.
pub(super) const LOCK_WAITS: [[&str; 3]; 2] = [
    [
        "performance_schema.data_lock_waits",
        "REQUESTING_ENGINE_TRANSACTION_ID",
        "BLOCKING_ENGINE_TRANSACTION_ID",
    ],
    ["information_schema.INNODB_LOCK_WAITS", "requesting_trx_id", "blocking_trx_id"],
];

/// Maximum number of waits that are read. If n sessions wait for a row, the server may list n² / 2 waits.
const LOCK_WAITS_MAX: usize = 5_000;

/// Waits for row locks: the transaction that waits, and of the one that blocks its number, whether it does not wait itself, its
/// session, the user and the state. The servers also list transactions that wait for the same row and are ahead in its queue.
/// Transactions that do not wait themselves come first, so that the limit does not exclude them.
pub(super) fn lock_waits([table, requesting, blocking]: [&str; 3], process_list: &str) -> String {
    format!(
        "SELECT CAST(w.{requesting} AS CHAR), CAST(w.{blocking} AS CHAR), b.trx_state <> 'LOCK WAIT' AS is_holder, \
           b.trx_mysql_thread_id, COALESCE(p.USER, ''), IF(p.COMMAND = 'Sleep', 'idle in transaction', 'active') \
         FROM {table} AS w JOIN information_schema.INNODB_TRX AS b ON b.trx_id = w.{blocking} \
           LEFT JOIN {process_list} AS p ON p.ID = b.trx_mysql_thread_id \
         ORDER BY is_holder DESC LIMIT {LOCK_WAITS_MAX}"
    )
}
