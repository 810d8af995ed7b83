//! Tests exports of runs, during the run and afterwards.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use rustix::process::Signal;

use crate::plans::{element, get, group, plan, text};
use crate::program::{Room, wait_for};
use crate::servers::Server;

/// Starts a server that responds to each request with 204. Returns its port and the bodies of the requests.
pub(crate) fn database() -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let came: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&came);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let kept = Arc::clone(&kept);
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream);
                loop {
                    let (mut head, mut length) = (String::new(), 0);
                    loop {
                        let from = head.len();
                        if reader.read_line(&mut head).unwrap_or(0) == 0 {
                            return;
                        }
                        let line = head[from..].trim().to_ascii_lowercase();
                        if let Some(value) = line.strip_prefix("content-length: ") {
                            length = value.parse().unwrap();
                        }
                        if line.is_empty() {
                            break;
                        }
                    }
                    let mut body = vec![0; length];
                    reader.read_exact(&mut body).unwrap();
                    let request = head.lines().next().unwrap_or_default();
                    kept.lock().unwrap().push(format!("{request}\n{}", String::from_utf8_lossy(&body)));
                    reader.get_mut().write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
                }
            });
        }
    });
    (port, came)
}

fn backend(class: &str, name: &str, arguments: &[(&str, &str)]) -> String {
    let argument = |(name, value): &(&str, &str)| {
        format!(
            "<elementProp name=\"{name}\" elementType=\"Argument\">{}{}</elementProp>\n",
            text("Argument.name", name),
            text("Argument.value", value)
        )
    };
    let all: String = arguments.iter().map(argument).collect();
    let properties = format!(
        "<elementProp name=\"arguments\" elementType=\"Arguments\">\n<collectionProp name=\"Arguments.arguments\">\n{all}\
         </collectionProp>\n</elementProp>\n{}",
        text("classname", &format!("org.apache.jmeter.visualizers.backend.{class}"))
    );
    element("BackendListener", name, &properties, "")
}

#[test]
fn the_backend_listeners_of_a_plan_send_what_jmeter_sends() {
    let (room, server) = (Room::new(), Server::quick());
    let (influx_port, came) = database();
    let graphite = TcpListener::bind("127.0.0.1:0").unwrap();
    let graphite_port = graphite.local_addr().unwrap().port().to_string();
    let lines = std::thread::spawn(move || {
        let mut text = String::new();
        graphite.accept().unwrap().0.read_to_string(&mut text).unwrap();
        text
    });
    let url = format!("http://127.0.0.1:${{__P(INFLUX,{influx_port})}}/write?db=jmeter");
    let listeners = backend(
        "influxdb.InfluxdbBackendListenerClient",
        "To Influx",
        &[
            ("influxdbMetricsSender", "org.apache.jmeter.visualizers.backend.influxdb.HttpMetricsSender"),
            ("influxdbUrl", &url),
            ("application", "my shop"),
            ("measurement", "jmeter"),
            ("summaryOnly", "false"),
            ("samplersRegex", "^ho"),
            ("percentiles", "99;95"),
            ("testTitle", "Shop"),
            ("TAG_build", "7"),
        ],
    ) + &backend(
        "graphite.GraphiteBackendListenerClient",
        "To Graphite",
        &[
            (
                "graphiteMetricsSender",
                "org.apache.jmeter.visualizers.backend.graphite.TextGraphiteMetricsSender",
            ),
            ("graphiteHost", "127.0.0.1"),
            ("graphitePort", &graphite_port),
            ("rootMetricsPrefix", "jmeter."),
            ("summaryOnly", "false"),
            ("samplersList", "cart"),
            ("percentiles", "90"),
        ],
    ) + &backend("influxdb.InfluxdbBackendListenerClient", "Nowhere", &[("influxdbUrl", "")]);
    room.file("plan.jmx", plan(&(group("2", "5", &(get("home", "/") + &get("cart", "/"))) + &listeners)));
    let port = format!("-JPORT={}", server.port());
    room.run(["run", "plan.jmx", &port])
        .expect(0)
        .reports(&["warning: the backend listener Nowhere sends nothing: its influxdbUrl is empty"]);

    let came = came.lock().unwrap();
    assert!(came.iter().all(|request| request.starts_with("POST /write?db=jmeter HTTP/1.1\n")), "{came:?}");
    let all = came.concat();
    let count = |text: &str| all.matches(text).count();
    assert_eq!(
        count("events,application=my\\ shop,title=ApacheJMeter,build=7 text=\"Shop started\" "),
        1,
        "{all}"
    );
    assert_eq!(count("text=\"Shop ended\" "), 1, "{all}");
    assert!(
        all.contains("jmeter,application=my\\ shop,transaction=home,statut=ok,build=7 count=10,avg="),
        "{all}"
    );
    assert!(all.contains(",transaction=all,statut=all,build=7 count=20,countError=0,"), "{all}");
    assert!(all.contains(",hit=10,") && all.contains(",pct99.0=") && all.contains(",pct95.0="), "{all}");
    assert!(
        all.contains(",transaction=internal,build=7 minAT=") && all.contains(",startedT=2,endedT=2 "),
        "{all}"
    );
    assert!(!all.contains("transaction=cart"), "{all}");
    let graphite = lines.join().unwrap();
    let sum: u64 = graphite
        .lines()
        .filter_map(|line| line.strip_prefix("jmeter.all.a.count ")?.split(' ').next()?.parse::<u64>().ok())
        .sum();
    assert_eq!(sum, 20, "{graphite}");
    assert!(graphite.contains("jmeter.cart.ok.pct90 ") && !graphite.contains("jmeter.home."), "{graphite}");
}

#[test]
fn prometheus_can_scrape_a_running_test() {
    let (room, server) = (Room::new(), Server::quick());
    room.file("plan.jmx", plan(&group("2", "-1", &get("home", "/"))));
    let port = format!("-JPORT={}", server.port());
    let running = room.start(["run", "plan.jmx", &port, "--prometheus", "127.0.0.1:0"]);
    running.wait_for_stderr("/metrics");
    let stderr = running.stderr();
    let address = stderr.split("metrics at http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let scraped = wait_for("a scrape with samples", || {
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.contains("busyhour_samples_total{label=\"home\"").then_some(answer)
    });
    assert!(scraped.starts_with("HTTP/1.1 200 OK"), "{scraped}");
    assert!(scraped.contains("busyhour_run_info{plan=\"Plan\""), "{scraped}");
    assert!(
        scraped
            .contains("busyhour_response_time_seconds_bucket{label=\"home\",kind=\"request\",le=\"+Inf\"}")
    );
    running.signal(Signal::INT);
    running.end().expect(4);
    assert!(TcpStream::connect(&address).is_err(), "the server ends with the run");
}

#[test]
fn a_failed_export_is_reported_and_the_run_continues() {
    let (room, server) = (Room::new(), Server::quick());
    room.file("plan.jmx", plan(&group("1", "3", &get("home", "/"))));
    let closed = crate::servers::ClosedPort::new();
    let (port, nowhere) = (format!("-JPORT={}", server.port()), format!("127.0.0.1:{}", closed.port()));
    room.run(["run", "plan.jmx", &port, "--graphite", &nowhere])
        .expect(0)
        .reports(&["warning: the export graphite failed ", &format!("cannot write to {nowhere}")]);
    room.run(["run", "plan.jmx", &port, "--prometheus", "nowhere"])
        .expect(2)
        .reports(&["cannot listen at nowhere"]);
}

#[test]
fn run_directories_and_logs_are_exported_to_files() {
    let (room, server) = (Room::new(), Server::quick());
    room.file("plan.jmx", plan(&group("2", "5", &(get("home", "/") + &get("cart", "/")))));
    room.run(["run", "plan.jmx", &format!("-JPORT={}", server.port())]).expect(0);
    let dir = room.run_dir().path().display().to_string();
    let jtl = room.run_dir().jtl_path().display().to_string();
    for source in [&dir, &jtl] {
        room.run(["export", source, "--to", "csv", "-o", "seconds.csv"])
            .expect(0)
            .reports(&["wrote seconds.csv"]);
        let csv = room.read("seconds.csv");
        assert!(csv.starts_with("time_ms,second,label,kind,samples,errors,"), "{csv}");
        let of = |kind: &str| -> u64 {
            let mine =
                csv.lines().map(|line| line.split(',').collect::<Vec<_>>()).filter(|cells| cells[3] == kind);
            mine.map(|cells| cells[4].parse::<u64>().unwrap()).sum()
        };
        assert_eq!((of("total"), of("request")), (20, 20), "{csv}");
        room.run(["export", source, "--to", "hgrm", "--label", "cart"]).expect(0).prints(&[
            "       Value     Percentile TotalCount 1/(1-Percentile)",
            "Total count    =           10]",
        ]);
        room.run(["export", source, "--to", "prometheus"])
            .expect(0)
            .prints(&["busyhour_samples_total{label=\"cart\",kind=\"request\",outcome=\"passed\"} 10\n"]);
        room.run(["export", source, "--to", "hlog"])
            .expect(0)
            .prints(&["#[Histogram log format", "Tag=response/request/home,"]);
        room.run(["export", source, "--to", "influx", "--export-name", "shop"])
            .expect(0)
            .prints(&["jmeter,application=shop,transaction=cart,statut=all count=10,"]);
        room.run(["export", source, "--to", "graphite", "--export-name", "a b"])
            .expect(0)
            .prints(&["jmeter.a-b.cart.ok.count "]);
    }
    let (port, came) = database();
    room.run(["export", &jtl, "--to", "influx", "-o", &format!("http://127.0.0.1:{port}/write?db=x")])
        .expect(0);
    assert!(came.lock().unwrap().concat().contains("transaction=cart,statut=ok count=10,"));

    for source in [&dir, &jtl] {
        room.run(["export", source, "--to", "parquet", "-o", "samples.parquet"])
            .expect(0)
            .reports(&["20 samples", "wrote samples.parquet"]);
        let bytes = std::fs::read(room.path().join("samples.parquet")).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    }
    room.file("broken.jtl", "no,result\nfile\n");
    room.run(["export", "broken.jtl", "--to", "parquet", "-o", "none.parquet"])
        .expect(3)
        .reports(&["cannot read the samples: broken.jtl"]);
    assert!(!room.path().join("none.parquet").exists());
    room.run(["export", &dir, "--to", "parquet", "-o", "no/such/folder.parquet"])
        .expect(1)
        .reports(&["cannot write to no/such/folder.parquet"]);
    room.run(["export", &dir, "--to", "csv", "--label", "cart"])
        .expect(2)
        .reports(&["--label is for --to hgrm"]);

    room.run(["export", &dir, "--to", "hgrm", "--label", "typo"])
        .expect(2)
        .reports(&["there is no sample of the label \"typo\"; there are: cart, home"]);
    room.run(["export", &dir, "--to", "csv", "-o", "http://127.0.0.1/"])
        .expect(2)
        .reports(&["only influx and graphite"]);
    room.run(["export", "nothing", "--to", "csv"]).expect(3).reports(&["no such file or run directory"]);
}
