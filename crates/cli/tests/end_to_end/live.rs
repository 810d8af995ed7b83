//! The live page of a real run: its events, its orders, and what of them stands in the record.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use busyhour_record::{ChangedFrom, LoadChange, RunEnd};
use serde_json::Value;

use crate::plans::{get, group, plan};
use crate::program::{Room, Running, wait_for};
use crate::servers::Server;

/// Where a run's page is: its address, and the token.
struct Page {
    address: String,
    token: String,
}

impl Page {
    fn of(running: &Running) -> Page {
        let url = wait_for("the page's address", || {
            let said = running.stderr();
            let (_, rest) = said.split_once("live page: http://")?;
            // The whole line has been written.
            rest.split_once('\n').map(|(url, _)| url.to_owned())
        });
        let (address, token) = url.split_once("/?token=").unwrap();
        Page { address: address.to_owned(), token: token.to_owned() }
    }

    fn send(&self, head: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let text =
            format!("{head}\r\nHost: {}\r\nContent-Length: {}\r\n\r\n{body}", self.address, body.len());
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    fn ask(&self, head: &str, body: &str) -> String {
        let mut answer = String::new();
        self.send(head, body).read_to_string(&mut answer).unwrap();
        answer
    }

    fn order(&self, body: &str) -> String {
        let head = format!(
            "POST /order HTTP/1.1\r\nX-Busyhour-Token: {}\r\nOrigin: http://{}",
            self.token, self.address
        );
        self.ask(&head, body)
    }

    fn ordered(&self, body: &str) {
        let answer = self.order(body);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{body}: {answer}");
    }

    fn events(&self) -> Events {
        Events(BufReader::new(self.send(&format!("GET /events?token={} HTTP/1.1", self.token), "")))
    }
}

struct Events(BufReader<TcpStream>);

impl Events {
    /// The next event's name and data; `None` when there is none any more.
    fn next(&mut self) -> Option<(String, Value)> {
        let (mut name, mut line) = (String::new(), String::new());
        loop {
            line.clear();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(text) = line.strip_prefix("event: ") {
                name = text.trim().to_owned();
            } else if let Some(text) = line.strip_prefix("data: ") {
                return Some((name, serde_json::from_str(text).unwrap()));
            }
        }
    }

    /// What stands beside the plots, of the first event for which `is_it` says so.
    fn until(&mut self, what: &str, is_it: impl Fn(&str, &Value) -> bool) -> Value {
        loop {
            let (name, mut data) = self.next().unwrap_or_else(|| panic!("no event in which {what}"));
            let tell = if data["tell"].is_null() { data } else { data["tell"].take() };
            if is_it(&name, &tell) {
                return tell;
            }
        }
    }
}

fn completed(tell: &Value) -> u64 {
    tell["words"]["completed-all"].as_str().unwrap().replace(',', "").parse().unwrap_or(0)
}

#[test]
fn the_page_of_a_run_shows_and_changes_it_and_all_of_that_is_recorded() {
    let server = Server::quick();
    let room = Room::new();
    let url = format!("http://127.0.0.1:{}/", server.port());
    let line = ["run", &url, "--arrivals", "poisson(300/s) for 1h", "--live", "--cores", "2", "--seed", "3"];
    let running = room.start(line);
    let page = Page::of(&running);
    for head in
        ["GET / HTTP/1.1", "GET /events?token=0 HTTP/1.1", "POST /order HTTP/1.1\r\nX-Busyhour-Token: 1"]
    {
        assert!(page.ask(head, r#"{"order":"stop"}"#).starts_with("HTTP/1.1 403 "), "{head}");
    }
    let html = page.ask(&format!("GET /?token={} HTTP/1.1", page.token), "");
    assert!(html.contains("poisson(300/s) for 1h") && html.contains("id=\"rate-form\""));
    let mut events = page.events();
    let first = events.until("something has ended", |_, tell| completed(tell) > 0);
    let more = events.until("more has ended", |_, tell| completed(tell) > completed(&first));
    assert_eq!((&more["state"], &more["factor"]), (&Value::from("running"), &Value::from(1.0)));
    page.ordered(r#"{"order":"rate","factor":2.5}"#);
    events.until("the rate is another", |_, tell| tell["factor"] == 2.5);
    page.ordered(r#"{"order":"pause"}"#);
    events.until("it is paused", |_, tell| tell["state"] == "paused");
    // Within a second of the pause nothing arrives any more, and seconds still come.
    events.until("nothing is offered", |name, tell| name != "tell" && tell["words"]["offered-now"] == "0");
    page.ordered(r#"{"order":"resume"}"#);
    let before = events.until("it goes on", |_, tell| tell["state"] == "running");
    events.until("more has ended", |_, tell| completed(tell) > completed(&before));
    assert!(page.order(r#"{"order":"rate","factor":0}"#).starts_with("HTTP/1.1 409 "));
    page.ordered(r#"{"order":"stop"}"#);
    let end = events.until("it has ended", |name, _| name == "end");
    assert_eq!(end["state"], "ended");
    assert!(events.next().is_none());
    running
        .end()
        .expect(4)
        .prints(&[
            "the rate became 2.5 times what was asked for (from the page)",
            "left out while the run was paused",
        ])
        .says(&["stopping: the page asked for it"]);
    let manifest = room.manifest();
    let changes: Vec<LoadChange> = manifest.events.iter().map(|event| event.change).collect();
    let rate = LoadChange::Rate { factor: 2.5 };
    assert_eq!(changes, [rate, LoadChange::Pause, LoadChange::Resume, LoadChange::Stop]);
    assert!(manifest.events.iter().all(|event| event.from == ChangedFrom::Page));
    let outcome = manifest.outcome.unwrap();
    assert_eq!(outcome.end, RunEnd::Interrupted);
    assert!(outcome.arrivals.unwrap().not_offered > 0);
    let report = std::fs::read_to_string(room.run_dir().report_path()).unwrap();
    assert!(report.contains("the load was paused") && report.contains("\"marks\":[{"));
    // The same is made again from the directory.
    let dir = room.run_dir().path().display().to_string();
    room.run(["report", &dir, "-o", "again.html"]).expect(0).prints(&["the load went on (from the page)"]);
    assert!(room.read("again.html").contains("the load was paused"));
}

#[test]
fn users_with_work_of_their_own_are_paused_and_their_rate_is_not_the_pages() {
    let server = Server::quick();
    let room = Room::new();
    room.file("plan.jmx", plan(&group("2", "-1", &get("get", "/"))));
    let port = format!("-JPORT={}", server.port());
    let running = room.start(["run", "plan.jmx", &port, "--live=127.0.0.1:0"]);
    let page = Page::of(&running);
    let mut events = page.events();
    events.until("something has ended", |_, tell| completed(tell) > 0);
    let refused = page.order(r#"{"order":"rate","factor":2}"#);
    assert!(refused.starts_with("HTTP/1.1 409 ") && refused.contains("--arrivals"), "{refused}");
    page.ordered(r#"{"order":"pause"}"#);
    events.until("nobody sends", |name, tell| name == "second" && tell["words"]["completed-now"] == "0");
    let held = server.requests();
    events.until("another second has gone by", |name, _| name == "second");
    assert_eq!(server.requests(), held);
    page.ordered(r#"{"order":"resume"}"#);
    wait_for("users go on", || (server.requests() > held + 100).then_some(()));
    page.ordered(r#"{"order":"stop"}"#);
    running.end().expect(4);
}

#[test]
fn other_machines_are_let_in_only_when_that_was_said() {
    let room = Room::new();
    let url = "http://127.0.0.1:1/";
    room.run(["run", url, "--live=0.0.0.0:0"]).expect(2).says(&["--live-remote allows it"]);
    room.run(["run", url, "--live=nowhere"]).expect(2).says(&["--live: nowhere is no address"]);
    room.run(["run", url, "--view", "screen"])
        .expect(2)
        .says(&["--view screen: standard error is no terminal"]);
    room.run(["run", url, "--live-remote"]).expect(2).says(&["--live"]);
}
