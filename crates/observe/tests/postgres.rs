//! The probe of PostgreSQL, on a real server that the test starts.
#![cfg(target_os = "linux")]

use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use busyhour_observe::database::{DatabaseAddress, PostgresProbe};
use busyhour_observe::{ProbeRunner, SeriesStore, SourceState};
use busyhour_program::clock::Clock;
use postgres::{Client, NoTls};

/// The user `nobody`, who runs the server if the test runs as root: PostgreSQL refuses to run as root.
const NOBODY: u32 = 65_534;

/// The largest number of readings until an expected state.
const READINGS_MAX: usize = 20_000;

/// A server in a temporary directory, reached through a Unix socket.
struct Server {
    dir: tempfile::TempDir,
    programs: PathBuf,
}

impl Server {
    /// Starts a server; `None` if PostgreSQL is not installed.
    fn start() -> Option<Server> {
        let server = Server::prepare()?;
        assert!(server.try_start("-c listen_addresses=''"), "{}", server.log());
        Some(server)
    }

    /// Starts a server that also encrypts connections to the returned port of this machine.
    fn start_encrypted() -> Option<(Server, u16)> {
        let server = Server::prepare()?;
        for (name, text) in
            [("server.crt", include_str!("tls/certificate.pem")), ("server.key", include_str!("tls/key.pem"))]
        {
            let path = server.dir.path().join("data").join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
            if rustix::process::getuid().is_root() {
                chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
        // Another process may take the port before the server does.
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            if server.try_start(&format!("-c listen_addresses=127.0.0.1 -c port={port} -c ssl=on")) {
                return Some((server, port));
            }
        }
        panic!("the server does not start: {}", server.log());
    }

    /// Creates the files of a server.
    fn prepare() -> Option<Server> {
        let Some(programs) = programs() else {
            #[allow(clippy::print_stderr, reason = "a skipped test must be visible")]
            {
                eprintln!(
                    "SKIPPED: there is no PostgreSQL server in /usr/lib/postgresql; install postgresql"
                );
            }
            return None;
        };
        let dir = tempfile::tempdir().unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        if rustix::process::getuid().is_root() {
            chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let server = Server { dir, programs };
        assert!(
            server.run("initdb", &["--auth=trust", "--username=postgres", "--no-sync"]),
            "{}",
            server.log()
        );
        Some(server)
    }

    fn try_start(&self, options: &str) -> bool {
        let directory = self.dir.path().display();
        let options = format!("{options} -c unix_socket_directories='{directory}' -c fsync=off");
        self.run("pg_ctl", &["--wait", "--log", &format!("{directory}/log"), "--options", &options, "start"])
    }

    /// Whether the program succeeded.
    fn run(&self, program: &str, arguments: &[&str]) -> bool {
        let mut command = Command::new(self.programs.join(program));
        command.arg("--pgdata").arg(self.dir.path().join("data")).args(arguments).current_dir("/");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if rustix::process::getuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.status().unwrap().success()
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    fn url(&self, user: &str) -> String {
        let host = self.dir.path().display().to_string().replace('/', "%2F");
        format!("postgres://{user}@{host}/postgres")
    }

    fn client(&self) -> Client {
        Client::connect(&self.url("postgres"), NoTls).unwrap()
    }

    fn watch(&self, user: &str) -> (SeriesStore, ProbeRunner) {
        let store = SeriesStore::in_memory();
        let address = DatabaseAddress::parse(&self.url(user), None).unwrap();
        let runner = ProbeRunner::new(&store, Box::new(PostgresProbe::new(address)));
        (store, runner)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.run("pg_ctl", &["--mode", "immediate", "stop"]);
    }
}

/// The newest installed version's programs.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let programs = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    programs.filter(|bin: &PathBuf| Path::new(bin).join("initdb").exists()).max()
}

/// The sum of the series of a metric that have this label; `None` without such a series.
fn sum(store: &SeriesStore, name: &str, label: Option<(&str, &str)>) -> Option<f64> {
    let has = |labels: &[(String, String)]| {
        label.is_none_or(|(name, text)| labels.iter().any(|(known, value)| known == name && value == text))
    };
    let values = store.latest();
    let values = values.iter().filter(|value| &*value.name == name && has(&value.labels));
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
    }
    panic!("{what} was not seen: {:?}", store.latest());
}

#[test]
fn sessions_blockers_and_rows_are_recorded() {
    let Some(server) = Server::start() else { return };
    let mut holder = server.client();
    holder.batch_execute("SET application_name = 'holder'; CREATE TABLE t (id int, n int)").unwrap();
    holder.batch_execute("INSERT INTO t SELECT g, 0 FROM generate_series(1, 1000) g").unwrap();
    let (store, mut runner) = server.watch("postgres");
    read_until(&store, &mut runner, "an idle session", || {
        sum(&store, "busyhour_postgres_sessions", Some(("state", "idle"))) == Some(1.0)
    });
    assert_eq!(sum(&store, "busyhour_postgres_blocked_sessions", None), Some(0.0));
    assert_eq!(sum(&store, "busyhour_postgres_sessions_max", None), Some(100.0));

    holder.batch_execute("BEGIN; UPDATE t SET n = 1 WHERE id = 7").unwrap();
    let mut waiter = server.client();
    let waiting = std::thread::spawn(move || waiter.batch_execute("UPDATE t SET n = 2 WHERE id = 7"));
    read_until(&store, &mut runner, "a blocked session", || {
        sum(&store, "busyhour_postgres_blocked_sessions", None) == Some(1.0)
    });
    assert_eq!(sum(&store, "busyhour_postgres_blocking_sessions", None), Some(1.0));
    assert_eq!(sum(&store, "busyhour_postgres_sessions", Some(("wait_event_type", "Lock"))), Some(1.0));
    assert_eq!(sum(&store, "busyhour_postgres_sessions", Some(("state", "idle in transaction"))), Some(1.0));
    assert!(sum(&store, "busyhour_postgres_oldest_transaction_seconds", None).unwrap() > 0.0);
    let (marks, _) = store.marks_since(0);
    let text = &marks[0].mark.text;
    assert!(
        text.starts_with("session ") && text.ends_with(" (holder, idle in transaction) blocks 1 session"),
        "{text}"
    );
    assert_eq!(marks.len(), 1);

    holder.batch_execute("COMMIT").unwrap();
    waiting.join().unwrap().unwrap();
    read_until(&store, &mut runner, "the end of blocking", || {
        sum(&store, "busyhour_postgres_blocked_sessions", None) == Some(0.0)
    });
    assert_eq!(sum(&store, "busyhour_postgres_sessions", Some(("wait_event_type", "Lock"))), Some(0.0));
    // Sessions report their totals at most once per second.
    read_until(&store, &mut runner, "the totals", || {
        let total = |operation| sum(&store, "busyhour_postgres_rows_total", Some(("operation", operation)));
        total("inserted") >= Some(1000.0) && total("updated") >= Some(2.0)
    });
    assert!(sum(&store, "busyhour_postgres_transactions_total", Some(("outcome", "commit"))) > Some(0.0));
}

#[test]
fn sessions_in_the_queue_of_a_lock_are_not_blockers() {
    let Some(server) = Server::start() else { return };
    let mut holder = server.client();
    holder.batch_execute("SET application_name = 'holder'; CREATE TABLE t (id int, n int)").unwrap();
    holder.batch_execute("INSERT INTO t SELECT g, 0 FROM generate_series(1, 10) g").unwrap();
    holder.batch_execute("BEGIN; UPDATE t SET n = 1 WHERE id = 7").unwrap();
    let waiters: Vec<_> = (0..4)
        .map(|_| {
            let mut client = server.client();
            std::thread::spawn(move || client.batch_execute("UPDATE t SET n = n + 1 WHERE id = 7"))
        })
        .collect();
    // The marks count the sessions that wait when the blocker is first seen, so that the watch starts when all wait.
    let mut client = server.client();
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    while client.query_one(waiting, &[]).unwrap().get::<_, i64>(0) < 4 {}
    let (store, mut runner) = server.watch("postgres");
    runner.read(&Clock::start());
    assert_eq!(sum(&store, "busyhour_postgres_blocked_sessions", None), Some(4.0));
    assert_eq!(sum(&store, "busyhour_postgres_blocking_sessions", None), Some(1.0));
    let (marks, _) = store.marks_since(0);
    let texts: Vec<&str> = marks.iter().map(|mark| mark.mark.text.as_str()).collect();
    assert!(
        matches!(texts.as_slice(), [text] if text.ends_with(" (holder, idle in transaction) blocks 4 sessions")),
        "{texts:?}"
    );
    holder.batch_execute("COMMIT").unwrap();
    waiters.into_iter().for_each(|waiter| waiter.join().unwrap().unwrap());
}

#[test]
fn hidden_states_and_lost_connections_are_reported() {
    let Some(server) = Server::start() else { return };
    let mut client = server.client();
    client.batch_execute("CREATE ROLE plain LOGIN").unwrap();
    let (store, mut runner) = server.watch("plain");
    let clock = Clock::start();
    runner.read(&clock);
    assert_eq!(store.status().sources[0].state, SourceState::Watching);
    let unavailable = store.status().unavailable;
    assert_eq!(unavailable[0].metric, "busyhour_postgres_sessions");
    assert!(unavailable[0].reason.contains("GRANT pg_monitor"), "{unavailable:?}");
    assert_eq!(sum(&store, "busyhour_postgres_sessions", Some(("state", "unknown"))), Some(1.0));

    client
        .batch_execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plain'")
        .unwrap();
    runner.read(&clock);
    let SourceState::Failed(reason) = store.status().sources[0].state.clone() else { panic!("not failed") };
    assert!(reason.starts_with("cannot query postgres://"), "{reason}");
    runner.read(&clock);
    assert_eq!(store.status().sources[0].state, SourceState::Watching, "the probe connects again");
}

#[test]
fn an_unreachable_server_is_named_without_the_password() {
    let dir = tempfile::tempdir().unwrap();
    let host = dir.path().display().to_string().replace('/', "%2F");
    let address = DatabaseAddress::parse(&format!("postgres://me:secret@{host}/shop"), None).unwrap();
    let store = SeriesStore::in_memory();
    ProbeRunner::new(&store, Box::new(PostgresProbe::new(address))).read(&Clock::start());
    let SourceState::Failed(reason) = store.status().sources[0].state.clone() else { panic!("not failed") };
    let expected = format!("cannot connect to postgres://{}/shop: ", dir.path().display());
    assert!(reason.starts_with(&expected) && !reason.contains("secret"), "{reason}");
}

#[test]
fn encrypted_connections_check_the_certificate() {
    let Some((_server, port)) = Server::start_encrypted() else { return };
    let url = format!("postgres://postgres@127.0.0.1:{port}/postgres?sslmode=require");
    let state = |url: &str, authorities: Option<&[u8]>| {
        let address = DatabaseAddress::parse(url, authorities.map(<[u8]>::to_vec)).unwrap();
        let store = SeriesStore::in_memory();
        ProbeRunner::new(&store, Box::new(PostgresProbe::new(address))).read(&Clock::start());
        store.status().sources[0].state.clone()
    };
    let authority = include_bytes!("tls/authority.pem");
    assert_eq!(state(&url, Some(authority)), SourceState::Watching);
    for (authorities, expected) in
        [(None, "UnknownIssuer"), (Some(&b"no certificate"[..]), "there is no certificate authority")]
    {
        let SourceState::Failed(reason) = state(&url, authorities) else { panic!("it is trusted") };
        assert!(reason.contains(expected), "{reason}");
    }
    let by_name = format!("{}&hostaddr=127.0.0.1", url.replace("127.0.0.1", "other.test"));
    let SourceState::Failed(reason) = state(&by_name, Some(authority)) else {
        panic!("the name is not checked")
    };
    assert!(reason.contains("certificate not valid for name"), "{reason}");
}
