//! The probe of MySQL and MariaDB.

use std::io::Write as _;
use std::time::Duration;

use mysql::prelude::Queryable as _;
use mysql::{Conn, OptsBuilder, SslOpts};

use busyhour_series::Metric;

use super::mysql_activity::{Activity, Queries};
use super::mysql_address::MySqlAddress;
use super::mysql_queries::SESSION;
use super::probe_error::probe_error;
use super::sessions::{KnownBlockers, SessionCounts};
use crate::probe::{Probe, ProbeError};
use crate::reading::Reading;

static SESSIONS: Metric = Metric::gauge(
    "busyhour_mysql_sessions",
    "Client sessions by state, command and wait, excluding the session of busyhour.",
);
static SESSIONS_MAX: Metric =
    Metric::gauge("busyhour_mysql_sessions_max", "The server's limit on sessions (max_connections).");
static THREADS: Metric = Metric::gauge(
    "busyhour_mysql_threads",
    "Threads_connected and Threads_running, including the session of busyhour.",
);
static BLOCKED: Metric = Metric::gauge(
    "busyhour_mysql_blocked_sessions",
    "Sessions that wait for a lock; without the privilege PROCESS, for a row lock.",
);
static BLOCKERS: Metric =
    Metric::gauge("busyhour_mysql_blocking_sessions", "Sessions that hold a row lock for which others wait.");
static TRANSACTION: Metric = Metric::gauge(
    "busyhour_mysql_oldest_transaction_seconds",
    "Age of the oldest open transaction of InnoDB in whole seconds; 0 if no transaction is open.",
);
static TRANSACTIONS: Metric = Metric::counter(
    "busyhour_mysql_transactions_total",
    "COMMIT and ROLLBACK statements. Statements that commit by themselves are not counted.",
);
static STATEMENTS: Metric = Metric::counter("busyhour_mysql_statements_total", "Statements of clients.");
static ROWS: Metric = Metric::counter("busyhour_mysql_rows_total", "Rows read and changed.");
static PAGES: Metric = Metric::counter(
    "busyhour_mysql_pages_total",
    "Page requests that InnoDB's buffer pool served (hit), or that were read from disk (read).",
);
static LOCK_WAITS: Metric =
    Metric::counter("busyhour_mysql_row_lock_waits_total", "Row locks for which a session waited.");
static LOCK_WAIT: Metric =
    Metric::counter("busyhour_mysql_row_lock_wait_seconds_total", "Time that sessions waited for row locks.");
static DEADLOCKS: Metric = Metric::counter("busyhour_mysql_deadlocks_total", "Deadlocks.");

/// For each value of `SHOW GLOBAL STATUS`: the metric, the label if it has one, and the factor.
static STATUS: [(&str, &Metric, &[(&str, &str)], f64); 7] = [
    ("Threads_connected", &THREADS, &[("state", "connected")], 1.0),
    ("Threads_running", &THREADS, &[("state", "running")], 1.0),
    ("Questions", &STATEMENTS, &[], 1.0),
    ("Com_commit", &TRANSACTIONS, &[("outcome", "commit")], 1.0),
    ("Com_rollback", &TRANSACTIONS, &[("outcome", "rollback")], 1.0),
    ("Innodb_row_lock_waits", &LOCK_WAITS, &[], 1.0),
    ("Innodb_row_lock_time", &LOCK_WAIT, &[], 1e-3),
];

/// For each operation: the value of `SHOW GLOBAL STATUS` of MySQL, and of MariaDB, which does not count rows of InnoDB.
static ROW_STATUS: [(&str, [&str; 2]); 4] = [
    ("read", ["Innodb_rows_read", "Rows_read"]),
    ("inserted", ["Innodb_rows_inserted", "Handler_write"]),
    ("updated", ["Innodb_rows_updated", "Handler_update"]),
    ("deleted", ["Innodb_rows_deleted", "Handler_delete"]),
];

const GRANT_PROCESS: &str =
    "the sessions of other users are hidden; run `GRANT PROCESS ON *.* TO user` for the user in the address";
const GRANT_SELECT: &str = "the waits for locks are hidden; run `GRANT SELECT ON performance_schema.* TO user` for the user in the address";

/// Watches a MySQL or MariaDB server with a few short queries per second.
///
/// The user in the address needs only the right to connect. Without the privilege `PROCESS`, the server hides the sessions of other
/// users; the probe then reports the metric of sessions as unavailable, with this reason. A session that begins to block others is
/// marked, with its number, its user and its state. Texts of queries are not read.
pub struct MySqlProbe {
    address: MySqlAddress,
    source: String,
    server: Option<Server>,
    sessions: SessionCounts<4>,
    blockers: KnownBlockers,
}

struct Server {
    connection: Conn,
    queries: Queries,
}

impl std::fmt::Debug for MySqlProbe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MySqlProbe").field("source", &self.source).finish_non_exhaustive()
    }
}

/// The server cannot be queried.
#[derive(Debug, thiserror::Error)]
enum MySqlError {
    #[error("cannot connect to {address}")]
    Connect {
        address: String,
        #[source]
        source: ClientError,
    },
    #[error("cannot write the certificate authorities to a temporary file for {address}")]
    Authorities {
        address: String,
        #[source]
        source: std::io::Error,
    },
    #[error("cannot query {address}")]
    Query {
        address: String,
        #[source]
        source: ClientError,
    },
}

/// An error of the client library, without the names of its variants.
#[derive(Debug)]
struct ClientError(mysql::Error);

impl std::fmt::Display for ClientError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            mysql::Error::IoError(error) => error.fmt(f),
            mysql::Error::MySqlError(error) => write!(f, "{} (error {})", error.message, error.code),
            mysql::Error::DriverError(error) => error.fmt(f),
            mysql::Error::TlsError(error) => error.fmt(f),
            mysql::Error::CodecError(error) => error.fmt(f),
            other => other.fmt(f),
        }
    }
}

impl std::error::Error for ClientError {}

impl MySqlProbe {
    /// A probe of this server. It connects at the first reading, and again after an error.
    #[must_use]
    pub fn new(address: MySqlAddress) -> Self {
        let source = address.shown().to_owned();
        let labels = ["state", "command", "wait_event_type", "wait_event"];
        Self {
            address,
            source,
            server: None,
            sessions: SessionCounts::new(&SESSIONS, labels),
            blockers: KnownBlockers::default(),
        }
    }

    fn connect(&self) -> Result<Server, MySqlError> {
        let address = || self.source.clone();
        let mut options = OptsBuilder::from_opts(self.address.options.clone());
        // The client library reads authorities from a file.
        let file = match &self.address.authorities {
            Some(pem) if self.address.is_encrypted => {
                let written = tempfile::NamedTempFile::new().and_then(|mut file| {
                    file.write_all(pem)?;
                    Ok(file)
                });
                Some(written.map_err(|source| MySqlError::Authorities { address: address(), source })?)
            }
            _ => None,
        };
        if self.address.is_encrypted {
            let path = file.as_ref().map(|file| file.path().to_owned());
            options = options.ssl_opts(SslOpts::default().with_root_cert_path(path));
        }
        let connected = Conn::new(options);
        let mut connection = connected
            .map_err(|error| MySqlError::Connect { address: address(), source: ClientError(error) })?;
        let queries = prepare(&mut connection)
            .map_err(|error| MySqlError::Query { address: address(), source: ClientError(error) })?;
        Ok(Server { connection, queries })
    }

    fn query(&mut self) -> Result<Activity, MySqlError> {
        let mut server = match self.server.take() {
            Some(server) => server,
            None => self.connect()?,
        };
        let activity = server.queries.ask(&mut server.connection).map_err(|error| MySqlError::Query {
            address: self.source.clone(),
            source: ClientError(error),
        })?;
        self.server = Some(server);
        Ok(activity)
    }

    fn record_sessions(&mut self, reading: &mut Reading<'_>, activity: Activity) {
        match activity.sessions {
            Some(mut sessions) => {
                if sessions.is_empty() && self.sessions.is_empty() {
                    // The number of sessions is known to be 0, which differs from an unknown number.
                    sessions.push((["active", "Query", "", ""].map(str::to_owned), 0.0));
                }
                self.sessions.record(reading, sessions);
            }
            None => {
                for metric in [&SESSIONS, &TRANSACTION] {
                    reading.unavailable(metric, GRANT_PROCESS);
                }
            }
        }
    }
}

/// Limits the session, and finds the queries that the server answers.
fn prepare(connection: &mut Conn) -> Result<Queries, mysql::Error> {
    for setting in SESSION {
        match connection.query_drop(setting) {
            // A setting that this server does not have.
            Ok(()) | Err(mysql::Error::MySqlError(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Queries::of_server(connection)
}

/// Records the totals that every user may read.
fn record_status(reading: &mut Reading<'_>, activity: &Activity) {
    for (name, metric, labels, factor) in &STATUS {
        if let Some(value) = activity.status.get(*name) {
            let series = reading.series(metric, labels);
            reading.set(series, value * factor);
        }
    }
    for (operation, names) in &ROW_STATUS {
        if let Some(value) = names.iter().find_map(|name| activity.status.get(*name)) {
            let series = reading.series(&ROWS, &[("operation", operation)]);
            reading.set(series, *value);
        }
    }
    let pages = |name| activity.status.get(name).copied();
    if let (Some(all), Some(read)) =
        (pages("Innodb_buffer_pool_read_requests"), pages("Innodb_buffer_pool_reads"))
    {
        for (source, value) in [("hit", (all - read).max(0.0)), ("read", read)] {
            let series = reading.series(&PAGES, &[("source", source)]);
            reading.set(series, value);
        }
    }
}

impl Probe for MySqlProbe {
    fn source(&self) -> &str {
        &self.source
    }

    fn interval_min(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn may_block(&self) -> bool {
        true
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let activity = self.query().map_err(|error| probe_error(&error))?;
        record_status(reading, &activity);
        for (metric, value) in [
            (&SESSIONS_MAX, activity.sessions_max),
            (&BLOCKED, activity.blocked()),
            (&TRANSACTION, activity.transaction_seconds),
            (&DEADLOCKS, activity.deadlocks),
        ] {
            if let Some(value) = value {
                let series = reading.series(metric, &[]);
                reading.set(series, value);
            }
        }
        match &activity.blockers {
            Some(blockers) => {
                let series = reading.series(&BLOCKERS, &[]);
                reading.set(series, blockers.len() as f64);
                self.blockers.mark(reading, blockers);
            }
            None if activity.sessions.is_none() => reading.unavailable(&BLOCKERS, GRANT_PROCESS),
            None => reading.unavailable(&BLOCKERS, GRANT_SELECT),
        }
        if activity.deadlocks.is_none() {
            reading.unavailable(&DEADLOCKS, GRANT_PROCESS);
        }
        self.record_sessions(reading, activity);
        Ok(())
    }
}
