//! Tests `busyhour observe --serve`, the PerfMon agent and the PerfMon Metrics Collector of plans, with real sockets.
#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;

use rustix::process::Signal;

use crate::foreign_programs::{compile_java, java};
use crate::plans::{element, get, group, plan, text};
use crate::program::{Ended, Room, Running, rows, wait_for};
use crate::servers::Server;

/// A program that serves what it watches.
struct Serving {
    running: Running,
    metrics: SocketAddr,
    perfmon: Option<SocketAddr>,
}

impl Serving {
    fn start(room: &Room, line: &str) -> Self {
        let running = room.start(line.split_whitespace());
        let with_perfmon = line.contains("--perfmon");
        let (metrics, perfmon) = wait_for("the addresses", || {
            let printed = running.stdout();
            let mut lines = printed.lines();
            let metrics =
                lines.next()?.strip_prefix("listening on http://")?.strip_suffix("/metrics")?.parse();
            let perfmon = match with_perfmon {
                true => Some(lines.next()?.strip_prefix("perfmon agent on ")?.parse().ok()?),
                false => None,
            };
            Some((metrics.ok()?, perfmon))
        });
        Self { running, metrics, perfmon }
    }

    fn page(&self, header: &str) -> String {
        let mut stream = TcpStream::connect(self.metrics).unwrap();
        write!(stream, "GET /metrics HTTP/1.1\r\nHost: sut\r\n{header}Connection: close\r\n\r\n").unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        page
    }

    fn end(self) -> Ended {
        self.running.signal(Signal::TERM);
        let ended = self.running.end();
        for address in [Some(self.metrics), self.perfmon].into_iter().flatten() {
            assert!(TcpStream::connect(address).is_err(), "{address} is closed");
        }
        ended
    }
}

#[test]
fn this_machine_is_served_until_a_signal() {
    let room = Room::new();
    let pid = std::process::id();
    let serving = Serving::start(&room, &format!("observe --serve 127.0.0.1:0 --pid {pid}"));
    let has_all = |page: &String| {
        [
            "node_memory_MemAvailable_bytes{source=\"os\"} ",
            "busyhour_stall_",
            &format!("{{source=\"process:{pid}\"}} "),
        ]
        .iter()
        .all(|text| page.contains(*text))
    };
    let page = wait_for("the first readings", || Some(serving.page("")).filter(has_all));
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    assert!(page.contains("content-type: text/plain; version=0.0.4; charset=utf-8\r\n"), "{page}");
    let address = serving.metrics;
    let ended = serving.end().expect(0);
    for source in ["observing os", "observing stall", &format!("observing process:{pid}")] {
        assert!(ended.stderr.contains(source), "{}", ended.stderr);
    }
    let line = format!("busyhour run PLAN --observe http://{address}/metrics");
    assert!(ended.stderr.contains(&line), "{}", ended.stderr);
}

/// Ends when its input ends.
fn java_program(name: &str) -> String {
    format!(
        "public class {name} {{ public static void main(String[] args) throws Exception {{ Thread.sleep(3600_000); }} }}"
    )
}

/// The JVMs have the label `source`. A restarted one keeps it, and is not found a second time.
#[test]
fn jvms_that_start_later_are_served() {
    let room = Room::new();
    let is_compiled =
        ["LateShop", "LaterShop"].iter().all(|name| compile_java(&room, name, &java_program(name)));
    if !is_compiled {
        return;
    }
    let serving = Serving::start(&room, "observe --serve 127.0.0.1:0");
    let start = |name: &str| room.start_command(java(&room, name));
    let start_time = |pid: u32| {
        let series = format!("jvm_start_time_seconds{{source=\"jvm:{pid}\"}} ");
        wait_for(&series, || Some(serving.page("").split(&series).nth(1)?.lines().next()?.to_owned()))
    };
    let first = start("LateShop");
    let (pid, started) = (first.pid(), start_time(first.pid()));
    serving.running.wait_for_stderr(&format!("observing jvm:{pid} (LateShop, JDK "));
    drop(first);
    let restarted = start("LateShop");
    wait_for("the restart", || (start_time(pid) != started).then_some(()));
    // The search that finds this JVM also sees the restarted one.
    let other = start("LaterShop");
    start_time(other.pid());
    let page = serving.page("");
    assert!(!page.contains(&format!("source=\"jvm:{}\"", restarted.pid())), "{page}");
    serving.end().expect(0);
}

#[test]
fn metrics_can_need_a_token() {
    let room = Room::new();
    room.file("token", "s3cret\n");
    // With a token, other machines may connect.
    let mut serving = Serving::start(&room, "observe --serve 0.0.0.0:0 --token-file token");
    serving.metrics.set_ip([127, 0, 0, 1].into());
    assert!(serving.page("").starts_with("HTTP/1.1 401 "), "{}", serving.page(""));
    assert!(serving.page("Authorization: Bearer s3cret\r\n").starts_with("HTTP/1.1 200 "));
    let ended = serving.end().expect(0);
    assert!(
        ended.stderr.contains("elsewhere: BUSYHOUR_OBSERVE_TOKEN=TOKEN busyhour run"),
        "{}",
        ended.stderr
    );
    assert!(!ended.all().contains("s3cret"), "{}", ended.all());
}

#[test]
fn addresses_that_other_machines_can_reach_need_a_token() {
    let room = Room::new();
    let refused = |line: &str, texts: &[&str]| {
        let ended = room.run_line(line).expect(2);
        for text in texts {
            assert!(ended.stderr.contains(text), "{line}: {}", ended.stderr);
        }
    };
    refused(
        "observe --serve 0.0.0.0:0",
        &["can be reached from other machines", "--token-file", "--serve-remote"],
    );
    room.file("token", "s3cret");
    refused(
        "observe --serve 0.0.0.0:0 --token-file token --perfmon 0",
        &["--perfmon: 0.0.0.0:0 can be reached", "no password", "--serve-remote"],
    );
    room.file("empty", "\n");
    refused(
        "observe --serve 127.0.0.1:0 --token-file empty",
        &["--token-file empty: the token must be one word"],
    );
    refused("observe --serve 127.0.0.1:0 --token-file none", &["--token-file: cannot read none"]);
    refused("observe --serve nonsense", &["--serve: \"nonsense\" is not an address of the form HOST:PORT"]);
    refused("observe --serve 127.0.0.1:0 --tls-cert a.pem", &["--tls-key"]);
    refused("observe --perfmon 4444", &["--serve"]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    refused(&format!("observe --serve {address}"), &["cannot listen at", "in use"]);
}

#[test]
fn the_metrics_are_encrypted_with_a_certificate() {
    let room = Room::new();
    let tls = format!("{}/../observe/tests/tls", env!("CARGO_MANIFEST_DIR"));
    let line =
        format!("observe --serve 127.0.0.1:0 --tls-cert {tls}/certificate.pem --tls-key {tls}/key.pem");
    let running = room.start(line.split_whitespace());
    let address: SocketAddr = wait_for("the address", || {
        running
            .stdout()
            .trim_end()
            .strip_prefix("listening on https://")?
            .strip_suffix("/metrics")?
            .parse()
            .ok()
    });
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: sut\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "requests without encryption are not answered");
    running.signal(Signal::INT);
    running.end().expect(0);
    room.file("key.pem", "no key");
    let ended = room.run_line(&line.replace(&format!("{tls}/key.pem"), "key.pem")).expect(2);
    assert!(ended.stderr.contains("--tls-cert: "), "{}", ended.stderr);
}

/// Whether the series file of the run in progress contains a text, such as the name of a series.
fn has_series(room: &Room, text: &str) -> bool {
    room.has_run_dir()
        && std::fs::read(room.run_dir().path().join("series.bho"))
            .is_ok_and(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
}

#[test]
fn a_run_elsewhere_observes_what_is_served_with_token_and_encryption() {
    let tls = format!("{}/../observe/tests/tls", env!("CARGO_MANIFEST_DIR"));
    let (room, server) = (Room::new(), Server::quick());
    room.file("token", "s3cret");
    let line = format!(
        "observe --serve 127.0.0.1:0 --token-file token --tls-cert {tls}/certificate.pem --tls-key {tls}/key.pem"
    );
    let serving = room.start(line.split_whitespace());
    let url = wait_for("the address", || {
        Some(serving.stdout().trim_end().strip_prefix("listening on ")?.to_owned())
            .filter(|url| url.ends_with("/metrics"))
    });
    room.file("plan.jmx", perfmon_plan(""));
    let mut command = Command::new(env!("CARGO_BIN_EXE_busyhour"));
    command.args(["run", "plan.jmx", &format!("-JPORT={}", server.port()), "--observe", &url]);
    command.args(["--observe-ca", &format!("{tls}/authority.pem")]).env("BUSYHOUR_OBSERVE_TOKEN", "s3cret");
    let run = room.start_command(command);
    wait_for("a scraped value", || has_series(&room, "node_memory_MemAvailable_bytes").then_some(()));
    run.signal(Signal::INT);
    let ended = run.end();
    assert!(ended.stderr.contains(&format!("observing prometheus:{url}")), "{}", ended.stderr);
    assert!(!ended.all().contains("s3cret"), "{}", ended.all());
    serving.signal(Signal::INT);
    serving.end().expect(0);
}

#[test]
fn the_perfmon_agent_answers_and_executes_nothing() {
    let room = Room::new();
    let serving = Serving::start(&room, "observe --serve 127.0.0.1:0 --perfmon 0");
    let mut stream = TcpStream::connect(serving.perfmon.unwrap()).unwrap();
    write!(stream, "test\nmetrics-single:memory:free\texec:/bin/true\t\n").unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert_eq!(lines.next().as_deref(), Some("Yep"));
    let values = lines.next().unwrap();
    let (free, refused) = values.split_once('\t').unwrap();
    assert!(free.parse::<f64>().unwrap() > 0.0, "{values}");
    assert_eq!(refused.trim_end(), "exec is refused: this agent runs no programs");
    serving.running.wait_for_stderr("perfmon: metric `exec:/bin/true`: exec is refused");
    serving.end().expect(0);
}

/// A PerfMon Metrics Collector with a row per metric; host and port come from variables and properties.
fn collector(file: &str, metrics: &[(&str, &str)]) -> String {
    let row = |at: usize, metric: &str, parameters: &str| {
        let cells = ["${HOST}", "${__P(AGENT)}", metric, parameters];
        let cells: String =
            (0..).zip(cells).map(|(at, cell): (usize, _)| text(&at.to_string(), cell)).collect();
        format!("<collectionProp name=\"{at}\">{cells}</collectionProp>\n")
    };
    let table: String =
        metrics.iter().enumerate().map(|(at, (metric, parameters))| row(at, metric, parameters)).collect();
    let save = "<objProp><name>saveConfig</name><value class=\"SampleSaveConfiguration\"><time>true</time>\
                <timestamp>true</timestamp><success>true</success><label>true</label><message>true</message>\
                <fieldNames>true</fieldNames></value></objProp>\n";
    let properties = format!(
        "{save}{}<collectionProp name=\"metricConnections\">\n{table}</collectionProp>\n",
        text("filename", file)
    );
    element("kg.apc.jmeter.perfmon.PerfMonCollector", "watch", &properties, "")
}

fn perfmon_plan(collectors: &str) -> String {
    let variables = "<collectionProp name=\"Arguments.arguments\"><elementProp name=\"HOST\" elementType=\"Argument\">\
                     <stringProp name=\"Argument.name\">HOST</stringProp>\
                     <stringProp name=\"Argument.value\">127.0.0.1</stringProp></elementProp></collectionProp>\n";
    let variables = element("Arguments", "Variables", variables, "");
    let timer = element("ConstantTimer", "Pause", &text("ConstantTimer.delay", "50"), "");
    plan(&format!("{variables}{}{collectors}", group("1", "-1", &format!("{timer}{}", get("home", "/")))))
}

#[test]
fn a_collector_of_a_plan_writes_its_file() {
    let room = Room::new();
    let serving = Serving::start(&room, "observe --serve 127.0.0.1:0 --perfmon 0");
    let agent = serving.perfmon.unwrap().port();
    let server = Server::quick();
    let metrics = [("Memory", "usedperc"), ("CPU", "label=busy:idle"), ("EXEC", "/bin/true")];
    let collectors = format!("{}{}", collector("perfmon.csv", &metrics), collector("", &[("Swap", "free")]));
    room.file("plan.jmx", perfmon_plan(&collectors));
    let line =
        format!("run plan.jmx -JPORT={} -JAGENT={agent} -JforcePerfmonFile=true --observe os", server.port());
    let run = room.start(line.split_whitespace());
    let written = || std::fs::read_to_string(room.path().join("perfmon.csv")).unwrap_or_default();
    // The value of the CPU needs an interval.
    wait_for("values of all metrics", || {
        written().contains("127.0.0.1 CPU busy").then_some(()).filter(|()| written().lines().count() > 6)
    });
    // The run is observed, so the values are series, too.
    wait_for("the series", || has_series(&room, "busyhour_perfmon_value").then_some(()));
    assert!(has_series(&room, &format!("perfmon:127.0.0.1:{agent}")));
    run.signal(Signal::INT);
    let ended = run.end();
    assert!(ended.stderr.contains("has no value of 127.0.0.1 EXEC /bin/true"), "{}", ended.stderr);
    assert_eq!(
        ended.stderr.matches("has no value of").count(),
        1,
        "a warning is shown once: {}",
        ended.stderr
    );
    let text = written();
    // The listeners of jmeter-plugins always save the numbers of users.
    assert_eq!(
        text.lines().next(),
        Some("timeStamp,elapsed,label,responseMessage,success,grpThreads,allThreads")
    );
    let rows = rows(&text);
    for row in &rows {
        let elapsed: i64 = row["elapsed"].parse().unwrap();
        match row["label"].as_str() {
            "127.0.0.1 EXEC /bin/true" => assert_eq!((elapsed, row["success"].as_str()), (-1000, "false")),
            "127.0.0.1 Memory usedperc" | "127.0.0.1 CPU busy" => {
                assert!((0..=100_000).contains(&elapsed) && row["success"] == "true", "{row:?}");
            }
            other => panic!("label {other:?}"),
        }
    }
    let automatic: Vec<String> = std::fs::read_dir(room.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("perfMon_") && name.ends_with(".csv"))
        .collect();
    let [automatic] = &automatic[..] else { panic!("{automatic:?}") };
    assert!(room.read(automatic).contains(",127.0.0.1 Swap free,"), "{}", room.read(automatic));
    serving.end().expect(0);
}

#[test]
fn an_unreachable_agent_raises_one_warning() {
    let room = Room::new();
    let server = Server::quick();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let plan = perfmon_plan(&collector("perfmon.csv", &[("CPU", "")]));
    room.file("plan.jmx", plan.replace(">-1<", ">20<"));
    let line = format!("run plan.jmx -JPORT={} -JAGENT={port}", server.port());
    let ended = room.run_line(&line).expect(0);
    let warning = format!("warning: the agent 127.0.0.1:{port} of the collector \"watch\" does not answer");
    assert_eq!(ended.stderr.matches(&warning).count(), 1, "{}", ended.stderr);
    assert!(room.read("perfmon.csv").contains(",-1000,java.net.ConnectException: Connection refused,"));
    assert_eq!(server.requests(), 20);
}

#[test]
fn a_collector_is_supported_and_one_without_a_file_is_reported() {
    let room = Room::new();
    room.file("plan.jmx", perfmon_plan(&collector("perfmon.csv", &[("CPU", "")])));
    let checked = room.run_line("check plan.jmx -JPORT=1 -JAGENT=1").expect(0);
    assert!(checked.stdout.starts_with("plan.jmx: supported\n"), "{}", checked.all());
    assert!(!checked.all().contains("warning"), "{}", checked.all());
    room.file("plan.jmx", perfmon_plan(&collector("", &[("CPU", "")])));
    let checked =
        room.run_line("check plan.jmx -JPORT=1 -JAGENT=1 -JjmeterPlugin.perfmon.useUDP=true").expect(0);
    for text in ["the collector has no file name", "jmeterPlugin.perfmon.useUDP is ignored"] {
        assert!(checked.all().contains(text), "{}", checked.all());
    }
}
