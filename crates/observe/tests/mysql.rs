//! The probe of MySQL, on a real server that the test starts.
#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use busyhour_observe::database::{MySqlAddress, MySqlProbe};
use busyhour_observe::{ProbeRunner, SeriesStore, SourceState};
use busyhour_program::clock::Clock;
use mysql::prelude::Queryable as _;
use mysql::{Conn, OptsBuilder};

/// The user `nobody`, who runs the server if the test runs as root.
const NOBODY: u32 = 65_534;

/// The largest number of readings until an expected state.
const READINGS_MAX: usize = 300;

/// The time between two readings. InnoDB shows a new state of its transactions only if nobody read it during the last 100 ms.
const READING_INTERVAL: Duration = Duration::from_millis(110);

/// A server in a temporary directory, reached through a Unix socket.
struct Server {
    dir: tempfile::TempDir,
    child: Option<Child>,
}

impl Server {
    /// Starts a server with additional options; `None` if none is installed.
    fn start(options: &[&str]) -> Option<Server> {
        let mut server = Server::prepare()?;
        let options: Vec<&str> = [&["--skip-networking"], options].concat();
        assert!(server.try_start(&options), "the server does not start");
        Some(server)
    }

    /// Starts a server that also encrypts connections to the returned port of this machine.
    fn start_encrypted() -> Option<(Server, u16)> {
        let mut server = Server::prepare()?;
        for (name, text) in
            [("server.crt", include_str!("tls/certificate.pem")), ("server.key", include_str!("tls/key.pem"))]
        {
            let path = server.dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
            give_to_nobody(&path);
        }
        let file =
            |option: &str, name: &str| format!("--{option}={}", server.dir.path().join(name).display());
        let (certificate, key) = (file("ssl-cert", "server.crt"), file("ssl-key", "server.key"));
        // Another process may take the port before the server does.
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let port_option = format!("--port={port}");
            let options =
                ["--bind-address=127.0.0.1", "--skip-name-resolve", &port_option, &certificate, &key];
            if server.try_start(&options) {
                return Some((server, port));
            }
        }
        panic!("the server does not start");
    }

    /// Creates the files of a server.
    fn prepare() -> Option<Server> {
        let installed =
            |name: &str| ["/usr/sbin", "/usr/bin"].iter().any(|dir| Path::new(dir).join(name).exists());
        if !installed("mariadbd") || !installed("mariadb-install-db") {
            #[allow(clippy::print_stderr, reason = "a skipped test must be visible")]
            {
                eprintln!("SKIPPED: there is no MariaDB server; install mariadb-server");
            }
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        give_to_nobody(dir.path());
        let server = Server { dir, child: None };
        let mut command = server.command("/usr/bin/mariadb-install-db");
        command.args(["--auth-root-authentication-method=normal", "--skip-test-db"]);
        assert!(command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
        Some(server)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let dir = self.dir.path();
        command.arg("--no-defaults").arg(format!("--datadir={}", dir.join("data").display()));
        command.arg(format!("--tmpdir={}", dir.display())).current_dir("/").stdin(Stdio::null());
        if rustix::process::getuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// Whether the server started.
    fn try_start(&mut self, options: &[&str]) -> bool {
        let mut command = self.command("/usr/sbin/mariadbd");
        command.arg(format!("--socket={}", self.socket())).args(options);
        command.args(["--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=16M"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let mut lines = log.lines().map_while(Result::ok);
        let is_ready = lines.any(|line| line.contains("ready for connections"));
        // The server would wait for a full pipe.
        std::thread::spawn(move || lines.count());
        if is_ready {
            self.child = Some(child);
        } else {
            child.wait().unwrap();
        }
        is_ready
    }

    fn socket(&self) -> String {
        self.dir.path().join("s").display().to_string()
    }

    fn client(&self) -> Conn {
        Conn::new(OptsBuilder::new().socket(Some(self.socket())).user(Some("root"))).unwrap()
    }

    fn watch(&self, user: &str) -> (SeriesStore, ProbeRunner) {
        let store = SeriesStore::in_memory();
        let url = format!("mysql://{user}@localhost/?socket={}", self.socket());
        let address = MySqlAddress::parse(&url, None).unwrap();
        let runner = ProbeRunner::new(&store, Box::new(MySqlProbe::new(address)));
        (store, runner)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn give_to_nobody(path: &Path) {
    if rustix::process::getuid().is_root() {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

/// The sum of the series of a metric that have this label; `None` without such a series.
fn sum(store: &SeriesStore, name: &str, label: Option<(&str, &str)>) -> Option<f64> {
    let name = format!("busyhour_mysql_{name}");
    let has = |labels: &[(String, String)]| {
        label.is_none_or(|(name, text)| labels.iter().any(|(known, value)| known == name && value == text))
    };
    let values = store.latest();
    let values = values.iter().filter(|value| *value.name == name && has(&value.labels));
    values.map(|value| value.value).reduce(|sum, value| sum + value)
}

/// Reads until a condition holds.
fn read_until(store: &SeriesStore, runner: &mut ProbeRunner, what: &str, mut holds: impl FnMut() -> bool) {
    let clock = Clock::start();
    for _ in 0..READINGS_MAX {
        runner.read(&clock);
        assert_eq!(store.status().sources[0].state, SourceState::Watching);
        if holds() {
            return;
        }
        std::thread::park_timeout(READING_INTERVAL);
    }
    panic!("{what} was not seen: {:?}", store.latest());
}

fn failure(store: &SeriesStore) -> String {
    let SourceState::Failed(reason) = store.status().sources[0].state.clone() else { panic!("not failed") };
    reason
}

#[test]
fn sessions_blockers_and_rows_are_recorded() {
    let Some(server) = Server::start(&[]) else { return };
    let mut holder = server.client();
    holder.query_drop("CREATE DATABASE shop").unwrap();
    holder.query_drop("CREATE TABLE shop.t (id INT PRIMARY KEY, n INT) ENGINE = InnoDB").unwrap();
    holder.query_drop("INSERT INTO shop.t SELECT seq, 0 FROM shop.seq_1_to_1000").unwrap();
    let (store, mut runner) = server.watch("root");
    read_until(&store, &mut runner, "an idle session", || {
        sum(&store, "sessions", Some(("state", "idle"))) == Some(1.0)
    });
    assert_eq!(sum(&store, "blocked_sessions", None), Some(0.0));
    assert_eq!(sum(&store, "blocking_sessions", None), Some(0.0));
    assert_eq!(sum(&store, "sessions_max", None), Some(151.0));
    assert_eq!(sum(&store, "threads", Some(("state", "connected"))), Some(2.0));

    holder.query_drop("BEGIN").unwrap();
    holder.query_drop("UPDATE shop.t SET n = 1 WHERE id = 7").unwrap();
    let mut waiter = server.client();
    let waiting = std::thread::spawn(move || waiter.query_drop("UPDATE shop.t SET n = 2 WHERE id = 7"));
    read_until(&store, &mut runner, "a blocked session", || {
        sum(&store, "blocked_sessions", None) == Some(1.0)
            && sum(&store, "blocking_sessions", None) == Some(1.0)
    });
    assert_eq!(sum(&store, "sessions", Some(("wait_event_type", "lock"))), Some(1.0));
    assert_eq!(sum(&store, "sessions", Some(("wait_event", "row lock"))), Some(1.0));
    assert_eq!(sum(&store, "sessions", Some(("state", "idle in transaction"))), Some(1.0));
    assert!(sum(&store, "oldest_transaction_seconds", None).is_some());
    let (marks, _) = store.marks_since(0);
    let expected = format!("session {} (root, idle in transaction) blocks 1 session", holder.connection_id());
    assert_eq!(marks[0].mark.text, expected);
    assert_eq!(marks.len(), 1);

    holder.query_drop("COMMIT").unwrap();
    waiting.join().unwrap().unwrap();
    read_until(&store, &mut runner, "the end of blocking", || {
        sum(&store, "blocked_sessions", None) == Some(0.0)
            && sum(&store, "blocking_sessions", None) == Some(0.0)
    });
    let rows = |operation| sum(&store, "rows_total", Some(("operation", operation)));
    assert!(rows("inserted") >= Some(1000.0) && rows("updated") >= Some(2.0), "{:?}", store.latest());
    assert!(sum(&store, "transactions_total", Some(("outcome", "commit"))) >= Some(1.0));
    assert!(sum(&store, "row_lock_waits_total", None) >= Some(1.0));
    assert_eq!(sum(&store, "deadlocks_total", None), Some(0.0));
    assert!(sum(&store, "pages_total", Some(("source", "hit"))) > Some(0.0));
}

#[test]
fn sessions_in_the_queue_of_a_lock_are_not_blockers() {
    let Some(server) = Server::start(&[]) else { return };
    let mut holder = server.client();
    holder.query_drop("CREATE DATABASE shop").unwrap();
    holder.query_drop("CREATE TABLE shop.t (id INT PRIMARY KEY, n INT) ENGINE = InnoDB").unwrap();
    holder.query_drop("INSERT INTO shop.t VALUES (7, 0)").unwrap();
    holder.query_drop("BEGIN").unwrap();
    holder.query_drop("UPDATE shop.t SET n = 1 WHERE id = 7").unwrap();
    let waiters: Vec<_> = (0..4)
        .map(|_| {
            let mut client = server.client();
            std::thread::spawn(move || client.query_drop("UPDATE shop.t SET n = n + 1 WHERE id = 7"))
        })
        .collect();
    let mut client = server.client();
    let waiting = "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'";
    while client.query_first::<(String, u32), _>(waiting).unwrap().unwrap().1 < 4 {}
    let (store, mut runner) = server.watch("root");
    read_until(&store, &mut runner, "the blocked sessions", || {
        sum(&store, "blocked_sessions", None) == Some(4.0)
            && sum(&store, "blocking_sessions", None) == Some(1.0)
    });
    let (marks, _) = store.marks_since(0);
    let expected = format!("session {} (root, idle in transaction) blocks ", holder.connection_id());
    assert!(marks.len() == 1 && marks[0].mark.text.starts_with(&expected), "{marks:?}");
    holder.query_drop("COMMIT").unwrap();
    waiters.into_iter().for_each(|waiter| waiter.join().unwrap().unwrap());
}

#[test]
fn waits_for_locks_of_tables_are_recorded() {
    let Some(server) = Server::start(&[]) else { return };
    let mut holder = server.client();
    holder.query_drop("CREATE DATABASE shop").unwrap();
    holder.query_drop("CREATE TABLE shop.t (id INT PRIMARY KEY) ENGINE = InnoDB").unwrap();
    holder.query_drop("LOCK TABLES shop.t WRITE").unwrap();
    let mut waiter = server.client();
    let waiting = std::thread::spawn(move || waiter.query_drop("ALTER TABLE shop.t ADD COLUMN n INT"));
    let (store, mut runner) = server.watch("root");
    let event = Some(("wait_event", "Waiting for table metadata lock"));
    read_until(&store, &mut runner, "the wait", || sum(&store, "sessions", event) == Some(1.0));
    assert_eq!(sum(&store, "blocked_sessions", None), Some(1.0));
    holder.query_drop("UNLOCK TABLES").unwrap();
    waiting.join().unwrap().unwrap();
}

#[test]
fn wait_events_of_the_performance_schema_are_recorded() {
    let options = [
        "--performance-schema=ON",
        "--performance-schema-consumer-events-waits-current=ON",
        "--performance-schema-instrument=wait/%=ON",
    ];
    let Some(server) = Server::start(&options) else { return };
    let mut sleeper = server.client();
    let id = sleeper.connection_id();
    let sleeping = std::thread::spawn(move || sleeper.query_drop("DO SLEEP(1000)"));
    let (store, mut runner) = server.watch("root");
    let event = Some(("wait_event_type", "synch/cond"));
    read_until(&store, &mut runner, "the wait", || sum(&store, "sessions", event) == Some(1.0));
    assert_eq!(sum(&store, "blocked_sessions", None), Some(0.0));
    server.client().query_drop(format!("KILL {id}")).unwrap();
    assert!(sleeping.join().unwrap().is_err());
}

#[test]
fn hidden_sessions_and_lost_connections_are_reported() {
    let Some(server) = Server::start(&[]) else { return };
    let mut client = server.client();
    client.query_drop("CREATE USER plain@localhost").unwrap();
    let (store, mut runner) = server.watch("plain");
    let clock = Clock::start();
    runner.read(&clock);
    assert_eq!(store.status().sources[0].state, SourceState::Watching, "{:?}", store.status());
    for metric in ["sessions", "blocking_sessions", "oldest_transaction_seconds"] {
        let metric = format!("busyhour_mysql_{metric}");
        let unavailable = store.status().unavailable;
        let found = unavailable.iter().find(|unavailable| unavailable.metric == metric);
        assert!(found.is_some_and(|found| found.reason.contains("GRANT PROCESS")), "{unavailable:?}");
    }
    assert_eq!(sum(&store, "sessions", None), None, "unknown is not 0");
    assert_eq!(sum(&store, "blocked_sessions", None), Some(0.0));
    assert_eq!(sum(&store, "threads", Some(("state", "connected"))), Some(2.0));

    let id: u32 = client
        .query_first("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'plain'")
        .unwrap()
        .unwrap();
    client.query_drop(format!("KILL {id}")).unwrap();
    runner.read(&clock);
    let reason = failure(&store);
    assert!(reason.starts_with("cannot query mysql://"), "{reason}");
    runner.read(&clock);
    assert_eq!(store.status().sources[0].state, SourceState::Watching, "the probe connects again");
}

#[test]
fn an_unreachable_server_is_named_without_the_password() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("s").display().to_string();
    let url = format!("mysql://me:secret@localhost/shop?socket={socket}");
    let store = SeriesStore::in_memory();
    let address = MySqlAddress::parse(&url, None).unwrap();
    ProbeRunner::new(&store, Box::new(MySqlProbe::new(address))).read(&Clock::start());
    let reason = failure(&store);
    let expected = format!("cannot connect to mysql://{socket}/shop: ");
    assert!(reason.starts_with(&expected) && !reason.contains("secret"), "{reason}");
}

#[test]
fn passwords_and_certificates_are_checked() {
    let Some((server, port)) = Server::start_encrypted() else { return };
    let mut client = server.client();
    client.query_drop("CREATE USER me@'127.0.0.1' IDENTIFIED BY 'secret' REQUIRE SSL").unwrap();
    client.query_drop("CREATE USER plain@'127.0.0.1' IDENTIFIED BY 'secret'").unwrap();
    let reader = |url: &str, authorities: Option<&[u8]>| {
        let address = MySqlAddress::parse(url, authorities.map(<[u8]>::to_vec)).unwrap();
        let store = SeriesStore::in_memory();
        ProbeRunner::new(&store, Box::new(MySqlProbe::new(address))).read(&Clock::start());
        store
    };
    let authority = Some(&include_bytes!("tls/authority.pem")[..]);
    let encrypted = format!("mysql://me:secret@127.0.0.1:{port}/?ssl-mode=VERIFY_IDENTITY");
    for url in [encrypted.clone(), format!("mysql://plain:secret@127.0.0.1:{port}")] {
        assert_eq!(reader(&url, authority).status().sources[0].state, SourceState::Watching);
    }
    for (url, authorities, expected) in [
        (format!("mysql://me:secret@127.0.0.1:{port}"), authority, "Access denied for user"),
        (format!("mysql://plain:wrong@127.0.0.1:{port}"), authority, "Access denied for user"),
        (encrypted.clone(), None, "UnknownIssuer"),
        (encrypted.replace("127.0.0.1", "[::ffff:127.0.0.1]"), authority, "certificate not valid for name"),
    ] {
        let reason = failure(&reader(&url, authorities));
        assert!(reason.contains(expected) && !reason.contains("secret"), "{reason}");
    }
}
