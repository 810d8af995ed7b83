//! Tests JMeter's command line.

use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use busyhour_standin::StandIn;

use crate::plans::{get, group, plan};
use crate::program::{Ended, Room, rows};
use crate::servers::{ClosedPort, Server, answer};

/// A directory with a plan, and a server.
struct Bench {
    room: Room,
    server: StandIn,
}

impl Bench {
    fn new(path: &str) -> Self {
        let room = Room::new();
        room.file("plan.jmx", plan(&group("1", "2", &get("a", path))));
        Self { room, server: StandIn::start().unwrap() }
    }

    fn run(&self, more: &str) -> Ended {
        let port = self.server.port();
        self.room.run_line(&format!("-n -t plan.jmx -Jjmeterengine.nongui.port=0 -JPORT={port} {more}"))
    }

    fn targets(&self) -> Vec<String> {
        self.server.take_requests().iter().map(|received| received.request.target()).collect()
    }
}

#[test]
fn a_typical_command_line_works() {
    let bench = Bench::new("/${__P(x)}/${__P(y)}");
    bench.room.file("user.properties", "y=from-a-file\n");
    let ended =
        bench.run("-l out.jtl -j jmeter.log -q user.properties -Jx=1 -Gx=2 -Dsun.net=3 -LDEBUG").expect(0);
    let ended = ended.prints(&[
        "Created the tree successfully using plan.jmx\n",
        "Starting standalone test @ ",
        "summary =      2 in ",
        "... end of run\n",
    ]);
    ended.reports(&["-G has no effect", "-L has no effect"]);
    assert_eq!(bench.targets(), ["/1/from-a-file", "/1/from-a-file"]);
    let ended = bench.run("-d home -i log4j2.xml -X").expect(0);
    ended.reports(&["-d has no effect", "-i has no effect", "-X has no effect"]);
    assert_eq!(bench.targets().len(), 2);
    assert_eq!(rows(&bench.room.read("out.jtl")).len(), 2);
    assert!(bench.room.read("jmeter.log").contains("the run ended"));
}

#[test]
fn long_flags_work() {
    let bench = Bench::new("/");
    let port = bench.server.port();
    let line = format!(
        "--nongui --testfile plan.jmx --logfile=out.jtl --forceDeleteResultFile --jmeterproperty PORT={port} \
         --jmeterproperty jmeterengine.nongui.port=0 --jmeterlogfile my.log"
    );
    bench.room.run_line(&line).expect(0);
    bench.room.run_line(&line).expect(0);
    assert_eq!(rows(&bench.room.read("out.jtl")).len(), 2, "-f replaced the file");
    assert_eq!(bench.targets().len(), 4);
}

fn is_a_dashboard(dir: &Path, samples: u64) {
    let html = std::fs::read_to_string(dir.join("index.html")).unwrap();
    assert!(html.contains("</html>"));
    let statistics = std::fs::read(dir.join("statistics.json")).unwrap();
    let statistics: serde_json::Value = serde_json::from_slice(&statistics).unwrap();
    assert_eq!(statistics["Total"]["sampleCount"].as_u64(), Some(samples));
    // The pages of JMeter's dashboard redirect to sections of the page.
    for page in ["OverTime", "ResponseTimes", "Throughput", "CustomsGraphs"] {
        let path = dir.join(format!("content/pages/{page}.html"));
        let page = std::fs::read_to_string(&path).unwrap();
        let targets: Vec<&str> =
            page.split("../../index.html#").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        assert!(targets.len() >= 2, "{page}");
        let first = targets[0];
        assert!(html.contains(&format!("id=\"{first}\"")), "{}: #{first}", path.display());
    }
    assert!(dir.join("sbadmin2-1.0.7/README.txt").is_file());
}

#[test]
fn missing_additional_property_files_are_a_warning_as_in_jmeter() {
    let bench = Bench::new("/");
    bench.run("-q missing.properties -S gone.properties").expect(0).reports(&[
        "warning: the properties file missing.properties does not exist",
        "gone.properties does not exist",
    ]);
    assert_eq!(bench.targets().len(), 2);
}

#[test]
fn dashboards_are_written_for_a_run_and_for_a_file() {
    let bench = Bench::new("/");
    bench.run("-l out.jtl -e -o report").expect(0).prints(&["report/index.html", "report/statistics.json"]);
    is_a_dashboard(&bench.room.path().join("report"), 2);
    bench.room.run_line("-g out.jtl -o again").expect(0).prints(&["again/index.html"]);
    is_a_dashboard(&bench.room.path().join("again"), 2);
    // JMeter refuses these command lines, too.
    bench.room.run_line("-g out.jtl -o again").expect(2).reports(&["again"]);
    bench.run("-l out.jtl -e -o third").expect(2).reports(&["out.jtl is not empty", "-f"]);
    bench.run("-l other.jtl -e").expect(2).reports(&["-o"]);
    bench.room.run_line("-g out.jtl").expect(2).reports(&["-o"]);
    bench.room.run_line("-g missing.jtl -o fourth").expect(3).reports(&["missing.jtl"]);
    bench.room.file("page.jtl", "<html>");
    bench.room.run_line("-g page.jtl -o fifth").expect(3).reports(&["page.jtl"]);
    assert_eq!(bench.targets().len(), 2);
}

#[test]
fn unsupported_flags_are_refused_with_a_reason() {
    let bench = Bench::new("/");
    for (more, printed) in [
        ("-r", "agents take the place of JMeter's servers"),
        ("-R host1,host2", "--on busyhour-hub/controller.json"),
        ("-E https", "proxy"),
        ("--nonsense", "--nonsense"),
        ("-Z", "-Z"),
        ("stray", "stray"),
        ("-J =x", "without a name"),
        ("-p missing.properties", "missing.properties"),
        ("-H proxy.example", "-P"),
        ("-H proxy.example -P many", "many"),
        ("-l", "-l (--logfile) needs a value"),
    ] {
        bench.run(more).expect(2).reports(&[printed]);
    }
    for (line, printed) in [
        ("-t plan.jmx", "-n"),
        ("-n", "-t"),
        ("-s", "busyhour cluster agent"),
        ("-n -t missing.jmx", "missing.jmx"),
    ] {
        let ended = bench.room.run_line(line);
        assert!(matches!(ended.status.code(), Some(2 | 3)), "{}", ended.all());
        ended.reports(&[printed]);
    }
    assert!(bench.targets().is_empty());
    bench.room.run_line("-v").expect(0).prints(&["busyhour"]);
    bench.room.run_line("-?").expect(0).prints(&["-t", "--testfile", "Exit codes"]);
}

#[test]
fn a_proxy_can_be_given_on_the_command_line() {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heads);
    let proxy = Server::start(move |stream, head| {
        kept.lock().unwrap().push(head.to_vec());
        // me:secret
        if head.iter().any(|line| line == "Proxy-Authorization: Basic bWU6c2VjcmV0") {
            return answer(stream);
        }
        let text =
            "HTTP/1.1 407 Who are you?\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n";
        stream.write_all(text.as_bytes()).is_ok()
    });
    let bench = Bench::new("/through");
    // The origin refuses connections, so the response must come from the proxy.
    let nowhere = ClosedPort::new();
    let origin = format!("-JHOST=localhost -JPORT={}", nowhere.port());
    bench.run(&format!("{origin} -H 127.0.0.1 -P {} -u me -a secret -l out.jtl", proxy.port())).expect(0);
    let asked = format!("GET http://localhost:{}/through HTTP/1.1", nowhere.port());
    assert!(heads.lock().unwrap().iter().all(|head| head[0] == asked));
    let rows_of = |name: &str| rows(&bench.room.read(name));
    assert_eq!(rows_of("out.jtl").iter().filter(|row| row["responseCode"] == "200").count(), 2);
    // Without the password the sample contains the proxy's response.
    bench.run(&format!("{origin} -H 127.0.0.1 -P {} -l closed.jtl", proxy.port())).expect(0);
    assert!(rows_of("closed.jtl").iter().all(|row| row["responseCode"] == "407"));
    // Some hosts are reached without the proxy.
    bench.run(&format!("-l direct.jtl -H 127.0.0.1 -P {} -N 127.0.0.1|localhost", nowhere.port())).expect(0);
    assert_eq!(bench.targets(), ["/through", "/through"]);
}

#[test]
fn an_empty_name_disables_the_summariser() {
    let bench = Bench::new("/");
    let ended = bench.run("-Jsummariser.name=").expect(0);
    assert!(!ended.stdout.contains(" in 00:00:0"), "{}", ended.all());
    bench.run("-Jsummariser.name=mine").expect(0).prints(&["mine =      2 in "]);
}

#[test]
fn the_summariser_prints_at_intervals() {
    let server = Server::start(|stream, _| {
        std::thread::sleep(std::time::Duration::from_millis(600));
        answer(stream)
    });
    let room = Room::new();
    room.file("plan.jmx", plan(&group("1", "4", &get("a", "/"))));
    let line = format!(
        "-n -t plan.jmx -JPORT={} -Jsummariser.interval=1 -Jjmeterengine.nongui.port=0",
        server.port()
    );
    room.run_line(&line).expect(0).prints(&[
        "summary + ",
        " Active: 1 Started: 1 Finished: 0\n",
        "summary =      4 in ",
    ]);
}
