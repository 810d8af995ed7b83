//! Tests that `--observe auto` finds real servers, and what it prints about them.
#![cfg(target_os = "linux")]

use std::process::Command;

use rustix::process::Signal;

use crate::foreign_programs::{
    ControlGroup, NetworkNamespace, Postgres, compile_java, free_port, java, python_server, works,
};
use crate::program::{Room, Running, wait_for};

/// Puts load on an address until standard error contains all of the texts; returns standard error.
fn observe(room: &Room, url: &str, texts: &[&str]) -> String {
    let line = ["run", url, "--rate", "50/s", "--for", "1h", "--dir", "run", "--observe", "auto"];
    let running = room.start(line);
    texts.iter().for_each(|text| running.wait_for_stderr(text));
    running.signal(Signal::INT);
    running.end().expect(4).stderr
}

/// The line about a source that begins with this text.
fn line<'t>(printed: &'t str, start: &str) -> &'t str {
    let start = format!("observing {start}");
    printed
        .lines()
        .find_map(|line| line.find(&start).map(|at| &line[at..]))
        .unwrap_or_else(|| panic!("{start:?} is missing:\n{printed}"))
}

/// nginx with its workers, which would remain if it was killed.
pub(crate) struct Nginx {
    running: Running,
    pub(crate) port: u16,
}

/// The format of the access log of [`nginx`].
pub(crate) const NGINX_LOG_FORMAT: &str =
    r#"$remote_addr [$time_local] "$request" $status $msec $request_time"#;

impl Drop for Nginx {
    fn drop(&mut self) {
        self.running.terminate();
    }
}

/// Starts nginx as a proxy of a server. Its log is `access.log`.
pub(crate) fn nginx(room: &Room, server: u16) -> Option<Nginx> {
    if !works("nginx", &["-v"]) {
        return None;
    }
    // Another process may take the port before nginx does.
    for _ in 0..5 {
        let port = free_port();
        let dir = room.path().display();
        let user = if rustix::process::geteuid().is_root() { "user root;" } else { "" };
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {dir}/{kind};\n"))
            .concat();
        let configuration = format!(
            "daemon off; worker_processes 2; pid {dir}/nginx.pid; error_log stderr; {user}\n\
             events {{}}\n\
             http {{\n{temporary}log_format timed '{NGINX_LOG_FORMAT}'; access_log {dir}/access.log timed;\n\
             upstream app {{ server 127.0.0.1:{server}; keepalive 8; }}\n\
             server {{ listen 127.0.0.1:{port}; location / {{\n\
             proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection ''; }} }} }}\n"
        );
        let file = room.file("nginx.conf", configuration);
        let mut command = Command::new("nginx");
        command.arg("-p").arg(room.path()).arg("-c").arg(file);
        let nginx = Nginx { running: room.start_command(command), port };
        let is_up = wait_for("nginx", || match std::net::TcpStream::connect(("127.0.0.1", port)) {
            Ok(_) => Some(true),
            Err(_) => nginx.running.stderr().contains("Address already in use").then_some(false),
        });
        if is_up {
            return Some(nginx);
        }
    }
    panic!("nginx finds no free port");
}

#[test]
fn nginx_and_the_python_server_behind_it_are_observed() {
    let room = Room::new();
    let Some((python, server)) = python_server(&room) else { return };
    let Some(nginx) = nginx(&room, server) else { return };
    let (pid, port) = (nginx.running.pid(), nginx.port);
    let behind = format!("behind nginx ({pid})");
    let printed = observe(&room, &format!("http://127.0.0.1:{port}/"), &[&behind]);
    let proxy = line(&printed, &format!("process:{pid}"));
    assert!(proxy.ends_with(&format!(" (nginx (nginx), target 127.0.0.1:{port}): watched")), "{proxy}");
    assert_eq!(
        line(&printed, "log (nginx)"),
        "observing log (nginx): not watched, because the location of its access log is not known; add --observe log:FILE"
    );
    let application = line(&printed, &format!("process:{}", python.pid()));
    assert!(application.ends_with(&format!(" (Python), {behind}): watched")), "{application}");
    assert!(line(&printed, "os").ends_with(": watched"), "{printed}");
    let sources = room.read("run/sources.json");
    assert!(sources.contains(&behind), "the list of sources contains what was found under load: {sources}");
}

#[test]
fn a_python_server_is_observed() {
    let room = Room::new();
    if !works("python3", &["-c", "import http.server"]) {
        return;
    }
    let mut command = Command::new("python3");
    command.args(["-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]);
    let python = room.start_command(command);
    let port: u16 =
        wait_for("the port", || python.stdout().split(" port ").nth(1)?.split(' ').next()?.parse().ok());
    let process = format!("process:{}", python.pid());
    let printed = observe(&room, &format!("http://127.0.0.1:{port}/"), &[&process]);
    let application = line(&printed, &process);
    assert!(application.ends_with(&format!(" (Python), target 127.0.0.1:{port}): watched")), "{application}");
    let log = line(&printed, "log (");
    assert!(
        log.ends_with(": not watched, because the location of its log is not known; add --observe log:FILE"),
        "{log}"
    );
}

/// A server with one connection to PostgreSQL. Each request waits for the answer of the database.
const SHOP: &str = r#"
import com.sun.net.httpserver.HttpServer;
import java.io.*;
import java.net.*;

public class Shop {
    static DataInputStream in;
    static DataOutputStream out;

    /** Reads messages until the database is ready for the next query. */
    static void awaitReady() throws IOException {
        byte kind;
        do {
            kind = in.readByte();
            byte[] text = new byte[in.readInt() - 4];
            in.readFully(text);
            if (kind == 'E') throw new IOException(new String(text));
        } while (kind != 'Z');
    }

    static synchronized void query(String text) throws IOException {
        byte[] bytes = text.getBytes("UTF-8");
        out.writeByte('Q');
        out.writeInt(bytes.length + 5);
        out.write(bytes);
        out.writeByte(0);
        out.flush();
        awaitReady();
    }

    public static void main(String[] args) throws Exception {
        Socket socket = new Socket(args[1], Integer.parseInt(args[2]));
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        byte[] start = "user\0postgres\0database\0postgres\0\0".getBytes("UTF-8");
        out.writeInt(start.length + 8);
        out.writeInt(196608);
        out.write(start);
        out.flush();
        awaitReady();
        HttpServer server = HttpServer.create(new InetSocketAddress(args[0], 0), 50);
        server.createContext("/", exchange -> {
            query("select 1");
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes());
            exchange.close();
        });
        server.start();
        System.out.println(server.getAddress().getPort());
    }
}
"#;

#[test]
fn a_java_server_in_a_network_namespace_and_its_database_are_observed() {
    let room = Room::new();
    if !compile_java(&room, "Shop", SHOP) {
        return;
    }
    let Some(namespace) = NetworkNamespace::create() else { return };
    let Some(postgres) = Postgres::start(&namespace.here) else { return };
    let mut command = java(&room, "Shop");
    command.args([&namespace.inside, &namespace.here, &postgres.port.to_string()]);
    // `ip netns exec` becomes the program, so that the process ID is that of Java.
    let shop = room.start_command(namespace.run_in(&command));
    let port: u16 = wait_for("the port of the server", || {
        assert!(!shop.stderr().contains("Exception"), "{}", shop.stderr());
        shop.stdout().trim().parse().ok()
    });
    let pid = shop.pid();
    let database = format!("process:{}", postgres.pid());
    let jvm = format!("observing jvm:{pid}");
    let url = format!("http://{}:{port}/", namespace.inside);
    let printed = observe(&room, &url, &[&jvm, &format!("observing {database}")]);
    assert_eq!(
        line(&printed, &format!("process:{pid}")),
        format!("observing process:{pid} (java (JVM), target {}:{port}): watched", namespace.inside)
    );
    assert_eq!(line(&printed, &format!("network:{pid}")), format!("observing network:{pid} (java): watched"));
    let found = line(&printed, &format!("jvm:{pid}"));
    assert!(found.contains(" (Shop, JDK ") && found.ends_with("): watched"), "{found}");
    assert_eq!(
        line(&printed, &database),
        format!("observing {database} (postgres (PostgreSQL), behind java ({pid})): watched")
    );
    assert_eq!(
        line(&printed, "postgres (postgres)"),
        format!(
            "observing postgres (postgres): not watched, because it needs credentials; add --observe \
             postgres://USER:PASSWORD@{}:{}/DATABASE",
            namespace.here, postgres.port
        )
    );
}

#[test]
fn a_process_in_a_control_group_is_observed() {
    let room = Room::new();
    let Some((python, port)) = python_server(&room) else { return };
    // It is removed after the process has ended.
    let Some(group) = ControlGroup::with(python.pid()) else { return };
    let start = format!("cgroup:{}", group.name);
    let printed = observe(&room, &format!("http://127.0.0.1:{port}/"), &[&start]);
    assert!(line(&printed, &start).ends_with("): watched"), "{printed}");
    let set = crate::observing::series(&room.path().join("run"));
    let cpu = set.find(&start, "container_cpu_usage_seconds_total", &[]).next();
    assert!(cpu.is_some_and(|series| series.last.is_some()), "{:?}", set.sources);
    python.signal(Signal::KILL);
    drop(python);
}
