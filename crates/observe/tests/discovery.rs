//! Discovery: servers of this machine, chains, namespaces, missing permission.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stderr, reason = "a test that is skipped prints why")]

mod support;

use std::process::Command;

use busyhour_observe::{
    DiscoveredEntry, DiscoveryStart, EntryOrigin, Location, NetworkNamespace, ProbeRunner, ProcRoot,
    SeriesStore, ServerKind, SourceAvailability, SourceState, discover, discover_from, find_processes,
};
use busyhour_program::clock::Clock;

use support::servers::{TestProcess, python_command};

const SERVER: &str = "s = listen()\nready(s.getsockname()[1]); wait()";

fn pid_of(found: &DiscoveredEntry) -> Option<u32> {
    found.process().map(|process| process.pid)
}

#[test]
fn a_server_and_the_server_behind_it_are_found() {
    let Some(behind) = TestProcess::python("s = listen()\nready(s.getsockname()[1])\nc = s.accept(); wait()")
    else {
        return;
    };
    let program = format!(
        "s = listen()\nc = socket.create_connection(('127.0.0.1', {}))\nme = os.getpid()\n\
         if os.fork() == 0: child(me)\nready(s.getsockname()[1]); wait()",
        behind.ready
    );
    let Some(front) = TestProcess::python(&program) else { return };
    let port: u16 = front.ready.parse().unwrap();
    let found = discover(&ProcRoot::live(), &[("localhost", port), ("127.0.0.1", port)]);
    assert_eq!(found.iter().map(pid_of).collect::<Vec<_>>(), [Some(front.pid()), Some(behind.pid())]);
    let process = found[0].process().unwrap();
    assert_eq!((process.kind, process.namespace), (ServerKind::Python, NetworkNamespace::Own));
    assert_eq!(process.listens_on, [([127, 0, 0, 1], port).into()]);
    assert_eq!(process.descendants.len(), 1);
    let origins = ["localhost", "127.0.0.1"].map(|host| EntryOrigin::Target { host: host.into(), port });
    assert_eq!(found[0].origins, origins);
    // The child has the same connection, which is one socket.
    let origin =
        EntryOrigin::ConnectionOf { pid: front.pid(), command: process.command.clone(), connections: 1 };
    assert_eq!(found[1].origins, [origin]);
    let lines: Vec<String> = found[0].sources.iter().map(ToString::to_string).collect();
    assert_eq!(lines[0].split(", without").next().unwrap(), format!("process:{}: watched", front.pid()));
    assert!(lines.iter().any(|line| line.starts_with("log: not watched, because")), "{lines:?}");

    let (probes, errors) = found[0].probes(&ProcRoot::live());
    assert!(errors.is_empty() && !probes.is_empty());
    let store = SeriesStore::in_memory();
    for probe in probes {
        ProbeRunner::new(&store, probe).read(&Clock::manual(0));
    }
    assert!(store.status().sources.iter().all(|source| source.state == SourceState::Watching));
}

#[test]
fn addresses_without_a_process_are_explained() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let targets = [("127.0.0.1", closed), ("192.0.2.1", 80), ("no such host.invalid", 80)];
    let found = discover(&ProcRoot::live(), &targets);
    let locations: Vec<&Location> = found.iter().map(|found| &found.location).collect();
    assert!(
        matches!(locations[..], [Location::Unresolved { .. }, Location::NothingListens, Location::Remote]),
        "{locations:?}"
    );
    for found in &found {
        let SourceAvailability::Unavailable { reason, advice } = &found.sources[0].availability else {
            panic!("{found:?}")
        };
        assert!(!reason.is_empty() && !advice.is_empty());
    }
}

#[test]
fn a_process_of_another_user_is_hidden_without_root() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can start processes of another user");
        return;
    }
    let Some(server) = TestProcess::python(SERVER) else { return };
    let port: u16 = server.ready.parse().unwrap();
    let thread = std::thread::spawn(move || {
        let (root, nobody) = (rustix::process::Uid::ROOT, rustix::process::Uid::from_raw(65_534));
        rustix::thread::set_thread_res_uid(root, nobody, root).unwrap();
        discover(&ProcRoot::live(), &[("127.0.0.1", port)])
    });
    let found = thread.join().unwrap();
    assert_eq!(found[0].location, Location::Hidden { uid: 0 });
    let line = found[0].sources[0].to_string();
    assert!(line.contains("run as root or as the user 0"), "{line}");
}

#[test]
fn a_server_in_a_network_namespace_is_found() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can create network namespaces");
        return;
    }
    let server = python_command("s = listen(host='10.255.77.2')\nready(s.getsockname()[1]); wait()");
    let arguments: Vec<_> = server.get_args().collect();
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c"]);
    command.arg("ip link set lo up && ip address add 10.255.77.2/32 dev lo && exec python3 \"$@\"");
    command.arg("sh").args(arguments);
    let Some(server) = TestProcess::start(&mut command) else { return };
    let port: u16 = server.ready.parse().unwrap();
    let found = discover(&ProcRoot::live(), &[("10.255.77.2", port)]);
    assert_eq!(pid_of(&found[0]), Some(server.pid()), "{found:?}");
    let process = found[0].process().unwrap();
    assert!(matches!(process.namespace, NetworkNamespace::Other(_)));
    assert_eq!(process.kind, ServerKind::Python);
    let network = found[0].sources.iter().find(|source| source.name.starts_with("network:")).unwrap();
    assert_eq!(network.availability, SourceAvailability::Available);

    let (probes, _) = found[0].probes(&ProcRoot::live());
    let store = SeriesStore::in_memory();
    for probe in probes {
        ProbeRunner::new(&store, probe).read(&Clock::manual(0));
    }
    let source = format!("network:{}", server.pid());
    let address = format!("10.255.77.2:{port}");
    let limit = support::latest(&store, &source, "busyhour_tcp_listen_queue_limit", &[("address", &address)]);
    assert_eq!(limit, Some(16.0), "as the server asked for");
}

#[test]
fn nginx_with_its_workers_is_one_process() {
    let dir = tempfile::tempdir().unwrap();
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port();
    drop(socket);
    let path = dir.path().display();
    let config = format!(
        "daemon off; master_process on; worker_processes 2; pid {path}/pid; error_log stderr notice;\n\
         events {{ worker_connections 64; }}\n\
         http {{ access_log off; client_body_temp_path {path}/b; proxy_temp_path {path}/p; fastcgi_temp_path {path}/f;\n\
         uwsgi_temp_path {path}/u; scgi_temp_path {path}/s; server {{ listen 127.0.0.1:{port}; }} }}\n"
    );
    std::fs::write(dir.path().join("nginx.conf"), config).unwrap();
    let mut command = Command::new("sh");
    // Notices go to the output, so that the test can wait for the start of both workers.
    command.args([
        "-c",
        &format!("command -v nginx >&2 || exit 1; exec nginx -e stderr -c {path}/nginx.conf 2>&1"),
    ]);
    let Some(mut nginx) = TestProcess::start(&mut command) else { return };
    let mut workers = 0;
    while workers < 2 {
        let line = nginx.line();
        assert!(!line.is_empty(), "nginx ended");
        workers += usize::from(line.contains("start worker process "));
    }
    let found = discover(&ProcRoot::live(), &[("127.0.0.1", port)]);
    let process = found[0].process().unwrap();
    assert_eq!((process.pid, process.kind, process.descendants.len()), (nginx.pid(), ServerKind::Nginx, 2));
}

/// A Java server in a network namespace, with a server behind it that is not its child.
#[test]
fn a_java_server_in_a_namespace_and_the_server_behind_it_are_found() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can create network namespaces");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let java = "import java.net.*;\n\
        public class Front { public static void main(String[] a) throws Exception {\n\
        ServerSocket s = new ServerSocket(0, 16, InetAddress.getByName(\"10.255.78.2\"));\n\
        Socket c = new Socket(\"127.0.0.1\", Integer.parseInt(a[0]));\n\
        System.out.println(s.getLocalPort()); System.in.read(); c.close(); } }\n";
    std::fs::write(dir.path().join("Front.java"), java).unwrap();
    // Ends by itself if there is no Java to connect to it.
    let program = "import signal; signal.alarm(60)\ns = listen()\nready(s.getsockname()[1])\nc = s.accept(); c[0].recv(1)";
    let behind = python_command(program);
    let program = behind.get_args().last().unwrap().to_owned();
    let script = "ip link set lo up && ip address add 10.255.78.2/32 dev lo && cd \"$1\" && mkfifo port || exit 1\n\
        (python3 -c \"$2\" > port &)\n\
        read port < port\n\
        exec java -XX:TieredStopAtLevel=1 Front.java $port";
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c", script, "sh"]).arg(dir.path()).arg(program);
    let Some(front) = TestProcess::start(&mut command) else { return };
    let port: u16 = front.ready.parse().unwrap();
    let found = discover(&ProcRoot::live(), &[("10.255.78.2", port)]);
    let [first, second] = &found[..] else { panic!("{found:?}") };
    let process = first.process().unwrap();
    assert_eq!((process.pid, process.kind), (front.pid(), ServerKind::Jvm));
    let jvm = first.sources.iter().find(|source| source.name == format!("jvm:{}", front.pid())).unwrap();
    assert_eq!(jvm.availability, SourceAvailability::Available);
    let behind = second.process().unwrap();
    assert_eq!((behind.kind, behind.namespace), (ServerKind::Python, process.namespace));
    assert!(matches!(second.origins[..], [EntryOrigin::ConnectionOf { pid, .. }] if pid == front.pid()));
}

#[test]
fn a_process_is_found_by_its_command_line() {
    let mark = format!("found-by-name-{}", std::process::id());
    let Some(server) = TestProcess::python(&format!("mark = '{mark}'\n{SERVER}")) else { return };
    assert_eq!(find_processes(&ProcRoot::live(), &mark), [server.pid()]);
    assert_eq!(find_processes(&ProcRoot::live(), "no process has this text"), [0; 0]);
}

#[test]
fn peers_of_a_process_are_found_without_the_process() {
    let Some(server) = TestProcess::python(SERVER) else { return };
    let port: u16 = server.ready.parse().unwrap();
    let _connection = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    let this = std::process::id();
    let found = discover_from(&ProcRoot::live(), &[DiscoveryStart::PeersOf(this)]);
    let pids: Vec<_> = found.iter().filter_map(pid_of).collect();
    assert!(pids.contains(&server.pid()) && !pids.contains(&this), "{pids:?}");
    let named = discover_from(&ProcRoot::live(), &[DiscoveryStart::Process(server.pid())]);
    assert_eq!(named[0].origins, [EntryOrigin::Named { pid: server.pid() }]);
}
