//! The probe of PostgreSQL.

use std::collections::HashMap;
use std::time::Duration;

use postgres::{Client, Config, NoTls};

use busyhour_series::Metric;

use super::address::DatabaseAddress;
use super::postgres_activity::{Activity, QUERY};
use super::probe_error::probe_error;
use super::sessions::{KnownBlockers, SessionCounts};
use super::tls::{TlsConnector, TlsSetupError};
use crate::probe::{Probe, ProbeError};
use crate::reading::Reading;
use crate::series_id::SeriesId;

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Settings of the session, so that it does not wait for long, write, or hold locks.
const SESSION: &str = "SET statement_timeout = '2s'; SET lock_timeout = '500ms'; \
                       SET default_transaction_read_only = on; SET idle_in_transaction_session_timeout = '5s'";

static SESSIONS: Metric = Metric::gauge(
    "busyhour_postgres_sessions",
    "Client sessions by state and wait event, excluding the session of busyhour.",
);
static SESSIONS_MAX: Metric =
    Metric::gauge("busyhour_postgres_sessions_max", "The server's limit on sessions (max_connections).");
static BLOCKED: Metric = Metric::gauge(
    "busyhour_postgres_blocked_sessions",
    "Sessions that wait for a lock that another session holds.",
);
static BLOCKERS: Metric =
    Metric::gauge("busyhour_postgres_blocking_sessions", "Sessions that hold a lock for which others wait.");
static TRANSACTION: Metric = Metric::gauge(
    "busyhour_postgres_oldest_transaction_seconds",
    "Age of the oldest open transaction; 0 if no transaction is open.",
);
static TRANSACTIONS: Metric =
    Metric::counter("busyhour_postgres_transactions_total", "Transactions that ended.");
static ROWS: Metric = Metric::counter("busyhour_postgres_rows_total", "Rows read and changed.");
static BLOCKS: Metric = Metric::counter(
    "busyhour_postgres_blocks_total",
    "Blocks found in the server's buffer cache (hit), or read from the operating system (read).",
);
static DEADLOCKS: Metric = Metric::counter("busyhour_postgres_deadlocks_total", "Deadlocks.");
static TEMPORARY: Metric = Metric::counter(
    "busyhour_postgres_temporary_bytes_total",
    "Bytes written to temporary files by queries.",
);

/// For each total in the result of the query: its name, the metric, and the label for the detail (empty if there is none).
static TOTALS: [(&str, &Metric, &str); 5] = [
    ("transactions", &TRANSACTIONS, "outcome"),
    ("rows", &ROWS, "operation"),
    ("blocks", &BLOCKS, "source"),
    ("deadlocks", &DEADLOCKS, ""),
    ("temporary", &TEMPORARY, ""),
];

/// Watches a PostgreSQL server with one query per second.
///
/// The database user in the address needs only the right to connect. Without the role `pg_monitor`, PostgreSQL hides the states
/// of other users' sessions; the probe then reports the metric of sessions as unavailable, with this reason. A session that begins
/// to block others is marked, with its process ID, its application and its state. Texts of queries are not read.
pub struct PostgresProbe {
    address: DatabaseAddress,
    source: String,
    client: Option<Client>,
    sessions: SessionCounts<3>,
    totals: HashMap<[String; 3], SeriesId>,
    blockers: KnownBlockers,
}

impl std::fmt::Debug for PostgresProbe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresProbe").field("source", &self.source).finish_non_exhaustive()
    }
}

/// The server cannot be queried.
#[derive(Debug, thiserror::Error)]
enum PostgresError {
    #[error("cannot connect to {address}")]
    Connect {
        address: String,
        #[source]
        source: postgres::Error,
    },
    #[error("cannot set up encryption for {address}")]
    Tls {
        address: String,
        #[source]
        source: TlsSetupError,
    },
    #[error("cannot query {address}")]
    Query {
        address: String,
        #[source]
        source: postgres::Error,
    },
}

impl PostgresProbe {
    /// A probe of this server. It connects at the first reading, and again after an error.
    #[must_use]
    pub fn new(address: DatabaseAddress) -> Self {
        let source = address.shown().to_owned();
        Self {
            address,
            source,
            client: None,
            sessions: SessionCounts::new(&SESSIONS, ["state", "wait_event_type", "wait_event"]),
            totals: HashMap::new(),
            blockers: KnownBlockers::default(),
        }
    }

    fn connect(&self) -> Result<Client, PostgresError> {
        let address = || self.source.clone();
        let mut config: Config = self.address.config.clone();
        config.application_name("busyhour").connect_timeout(CONNECT_TIMEOUT);
        let is_encrypted = config.get_ssl_mode() == postgres::config::SslMode::Require;
        let connected = if is_encrypted {
            let connector = TlsConnector::new(self.address.authorities.as_deref());
            config.connect(connector.map_err(|source| PostgresError::Tls { address: address(), source })?)
        } else {
            config.connect(NoTls)
        };
        let mut client = connected.map_err(|source| PostgresError::Connect { address: address(), source })?;
        client
            .batch_execute(SESSION)
            .map_err(|source| PostgresError::Query { address: address(), source })?;
        Ok(client)
    }

    fn query(&mut self) -> Result<Activity, PostgresError> {
        let mut client = match self.client.take() {
            Some(client) => client,
            None => self.connect()?,
        };
        let error = |source| PostgresError::Query { address: self.source.clone(), source };
        let rows = client.query(QUERY, &[]).map_err(error)?;
        let mut activity = Activity::default();
        for row in &rows {
            let text = |at: usize| row.try_get::<_, &str>(at).map_err(error);
            let value = row.try_get::<_, Option<f64>>(4).map_err(error)?;
            if let Some(value) = value {
                activity.add(text(0)?, [text(1)?, text(2)?, text(3)?], value);
            }
        }
        self.client = Some(client);
        Ok(activity)
    }

    fn record_totals(&mut self, reading: &mut Reading<'_>, totals: Vec<([String; 3], f64)>) {
        for (key, value) in totals {
            let Some((_, metric, label)) = TOTALS.iter().find(|(name, ..)| *name == key[1]) else { continue };
            let series = *self.totals.entry(key).or_insert_with_key(|[database, _, detail]| {
                let labels = [("database", database.as_str()), (label, detail)];
                reading.series(metric, &labels[..if label.is_empty() { 1 } else { 2 }])
            });
            reading.set(series, value);
        }
    }
}

impl Probe for PostgresProbe {
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
        if activity.hidden > 0.0 {
            let reason = "the states of other users' sessions are hidden; run `GRANT pg_monitor TO user` for the user in the address";
            reading.unavailable(&SESSIONS, reason);
        }
        for (metric, value) in [
            (&SESSIONS_MAX, activity.sessions_max),
            (&BLOCKED, activity.blocked),
            (&BLOCKERS, activity.blockers.len() as f64),
            (&TRANSACTION, activity.transaction_seconds),
        ] {
            let series = reading.series(metric, &[]);
            reading.set(series, value);
        }
        let mut sessions = activity.sessions;
        if sessions.is_empty() && self.sessions.is_empty() && activity.hidden == 0.0 {
            // The number of sessions is known to be 0, which differs from an unknown number.
            sessions.push((["active", "", ""].map(str::to_owned), 0.0));
        }
        self.sessions.record(reading, sessions);
        self.record_totals(reading, activity.totals);
        self.blockers.mark(reading, &activity.blockers);
        Ok(())
    }
}
