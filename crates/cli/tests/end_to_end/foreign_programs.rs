//! Programs of other projects that tests start. A test whose program is missing is skipped with a note.

use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::program::{Room, Running, wait_for};

/// The user `nobody`.
pub(crate) const NOBODY: u32 = 65_534;

/// Prints why a test is skipped.
pub(crate) fn skip(why: &str) {
    #[allow(clippy::print_stderr, reason = "a skipped test must be visible")]
    {
        eprintln!("SKIPPED: {why}");
    }
}

/// Whether the tests run as root; prints a note if not.
pub(crate) fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        skip("only root can do this");
    }
    is_root
}

/// Whether a command succeeds; prints a note if the program is missing or fails.
pub(crate) fn works(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => true,
        Ok(status) => {
            skip(&format!("{program} {} ended with {status}", arguments.join(" ")));
            false
        }
        Err(error) => {
            skip(&format!("{program} cannot be started: {error}"));
            false
        }
    }
}

/// A port that nothing listens on. Another process may take it, so that callers try again.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// A Python server whose connections stay open. Its first line of output is its port.
const PYTHON_SERVER: &str = "
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Length', '2')
        self.end_headers()
        self.wfile.write(b'ok')
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
";

/// Starts a Python server with connections that stay open; returns it with its port.
pub(crate) fn python_server(room: &Room) -> Option<(Running, u16)> {
    if !works("python3", &["--version"]) {
        return None;
    }
    let mut command = Command::new("python3");
    command.args(["-c", PYTHON_SERVER]);
    let running = room.start_command(command);
    let port = wait_for("the port of the server", || running.stdout().trim().parse().ok());
    Some((running, port))
}

/// Compiles a Java program into the directory; returns whether there is a JDK.
pub(crate) fn compile_java(room: &Room, class: &str, source: &str) -> bool {
    if !(works("java", &["-version"]) && works("javac", &["-version"])) {
        return false;
    }
    let file = room.file(&format!("{class}.java"), source);
    let status = Command::new("javac").arg("-d").arg(room.path()).arg(file).status().unwrap();
    assert!(status.success(), "{class}.java is compiled");
    true
}

/// The command of a compiled Java program.
pub(crate) fn java(room: &Room, class: &str) -> Command {
    let mut command = Command::new("java");
    command.arg("-Xmx64m").arg("-cp").arg(room.path()).arg(class);
    command
}

/// A PostgreSQL server that accepts connections without a password at one address. It ends when this is dropped.
pub(crate) struct Postgres {
    dir: tempfile::TempDir,
    programs: PathBuf,
    pub(crate) port: u16,
}

impl Postgres {
    /// Starts a server that listens on an address of this machine.
    pub(crate) fn start(address: &str) -> Option<Postgres> {
        let programs = std::fs::read_dir("/usr/lib/postgresql").ok().and_then(|versions| {
            versions
                .flatten()
                .map(|version| version.path().join("bin"))
                .find(|bin| bin.join("initdb").exists())
        });
        let Some(programs) = programs else {
            skip("there is no PostgreSQL server in /usr/lib/postgresql; install postgresql");
            return None;
        };
        let dir = tempfile::tempdir().unwrap();
        if rustix::process::geteuid().is_root() {
            chown(dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let mut server = Postgres { dir, programs, port: 0 };
        assert!(server.run("initdb", &["--auth=trust", "--username=postgres", "--no-sync"]), "initdb");
        let access = format!("local all all trust\nhost all all {address}/24 trust\n");
        std::fs::write(server.dir.path().join("data/pg_hba.conf"), access).unwrap();
        // Another process may take the port before the server does.
        for _ in 0..5 {
            server.port = free_port();
            let sockets = server.dir.path().display();
            let options = format!(
                "-c listen_addresses={address} -c port={} -c fsync=off -c unix_socket_directories='{sockets}'",
                server.port
            );
            let log = server.dir.path().join("log").display().to_string();
            if server.run("pg_ctl", &["--wait", "--log", &log, "--options", &options, "start"]) {
                return Some(server);
            }
        }
        panic!("PostgreSQL does not start: {:?}", std::fs::read_to_string(server.dir.path().join("log")));
    }

    fn run(&self, program: &str, arguments: &[&str]) -> bool {
        let mut command = Command::new(self.programs.join(program));
        command.arg("--pgdata").arg(self.dir.path().join("data")).args(arguments).current_dir("/");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.status().unwrap().success()
    }

    /// The process that accepts connections.
    pub(crate) fn pid(&self) -> u32 {
        let text = std::fs::read_to_string(self.dir.path().join("data/postmaster.pid")).unwrap();
        text.lines().next().unwrap().trim().parse().unwrap()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.run("pg_ctl", &["--mode=immediate", "--wait", "stop"]);
    }
}

/// A network namespace that is connected with that of the tests. It is removed when this is dropped.
pub(crate) struct NetworkNamespace {
    name: String,
    /// Its address at this end, and at the end inside the namespace.
    pub(crate) here: String,
    pub(crate) inside: String,
}

impl NetworkNamespace {
    /// Creates a namespace; `None`, with a note, if this is not possible.
    pub(crate) fn create() -> Option<NetworkNamespace> {
        if !is_root() {
            return None;
        }
        let own = std::process::id();
        let name = format!("busyhour-{own}");
        if !works("ip", &["netns", "add", &name]) {
            return None;
        }
        let net = format!("10.211.{}", own % 250);
        let (here, inside) = (format!("{net}.1"), format!("{net}.2"));
        let namespace = NetworkNamespace { name, here, inside };
        let NetworkNamespace { name, here, inside } = &namespace;
        let (outer, inner) = (format!("bho{own}"), format!("bhi{own}"));
        let commands = [
            format!("link add {outer} type veth peer name {inner} netns {name}"),
            format!("addr add {here}/24 dev {outer}"),
            format!("link set {outer} up"),
            format!("-n {name} addr add {inside}/24 dev {inner}"),
            format!("-n {name} link set {inner} up"),
            format!("-n {name} link set lo up"),
        ];
        let is_connected = commands.iter().all(|line| works("ip", &line.split(' ').collect::<Vec<_>>()));
        is_connected.then_some(namespace)
    }

    /// Makes a command run in the namespace.
    pub(crate) fn run_in(&self, command: &Command) -> Command {
        let mut inside = Command::new("ip");
        inside.args(["netns", "exec", &self.name]).arg(command.get_program()).args(command.get_args());
        inside
    }
}

impl Drop for NetworkNamespace {
    fn drop(&mut self) {
        works("ip", &["netns", "del", &self.name]);
    }
}

/// A control group. It is removed when this is dropped; its processes must have ended.
pub(crate) struct ControlGroup {
    /// Its name, which begins with a slash.
    pub(crate) name: String,
    dirs: Vec<PathBuf>,
}

impl ControlGroup {
    /// Creates a group in all hierarchies of this machine and puts a process into it; `None`, with a note, if there is none.
    pub(crate) fn with(pid: u32) -> Option<ControlGroup> {
        if !is_root() {
            return None;
        }
        let name = format!("/busyhour-test-{pid}");
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        let places = mounts.lines().filter_map(|line| {
            let mut fields = line.split(' ').skip(1);
            let (place, kind) = (fields.next()?, fields.next()?);
            matches!(kind, "cgroup" | "cgroup2").then(|| Path::new(place).join(&name[1..]))
        });
        // A group of `cpuset` accepts no process before it has processors.
        let dirs: Vec<PathBuf> = places.filter(|dir| std::fs::create_dir(dir).is_ok()).collect();
        let enter = |dir: &PathBuf| std::fs::write(dir.join("cgroup.procs"), pid.to_string()).is_ok();
        let entered = dirs.iter().filter(|dir| enter(dir)).count();
        let group = ControlGroup { name, dirs };
        if entered == 0 {
            skip("no control group can be created");
            return None;
        }
        Some(group)
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        for dir in &self.dirs {
            let _ = std::fs::remove_dir(dir);
        }
    }
}

/// Permits every user to use the directory of a room.
pub(crate) fn open_to_all(room: &Room) {
    std::fs::set_permissions(room.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
}
