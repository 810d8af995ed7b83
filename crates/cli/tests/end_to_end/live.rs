//! Tests the live page of a real run: its events, its commands, and the record of the changes.

use busyhour_sample::{ChangedFrom, LoadChange, RunEnd};
use busyhour_standin::{LiveEvents, LivePageClient};
use serde_json::Value;

use crate::plans::{get, group, plan};
use crate::program::{Room, Running, wait_for};
use crate::servers::Server;

/// The live page of a run.
fn page_of(running: &Running) -> LivePageClient {
    let url = wait_for("the page's address", || {
        let printed = running.stderr();
        let (_, rest) = printed.split_once("live page: ")?;
        // Waits until the line is complete.
        rest.split_once('\n').map(|(url, _)| url.to_owned())
    });
    LivePageClient::at(&url).unwrap()
}

fn send_command(page: &LivePageClient, body: &str) {
    let answer = page.send_command(body).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{body}: {answer}");
}

/// Waits for the first event for which `is_it` is true; returns its state.
fn until(events: &mut LiveEvents, what: &str, is_it: impl Fn(&str, &Value) -> bool) -> Value {
    loop {
        let next = events.next_event().unwrap();
        let (name, mut data) = next.unwrap_or_else(|| panic!("no event in which {what}"));
        let status = if data["status"].is_null() { data } else { data["status"].take() };
        if is_it(&name, &status) {
            return status;
        }
    }
}

fn completed(status: &Value) -> u64 {
    let words = status["words"]["completed-all"].as_str().unwrap();
    words.split(' ').next().and_then(|count| count.replace(',', "").parse().ok()).unwrap_or(0)
}

#[test]
fn changes_from_the_page_take_effect_and_are_recorded() {
    let server = Server::quick();
    let room = Room::new();
    let url = format!("http://127.0.0.1:{}/", server.port());
    let line = ["run", &url, "--arrivals", "poisson(300/s) for 1h", "--live", "--cores", "2", "--seed", "3"];
    let running = room.start(line);
    let page = page_of(&running);
    for head in
        ["GET / HTTP/1.1", "GET /events?token=0 HTTP/1.1", "POST /order HTTP/1.1\r\nX-Busyhour-Token: 1"]
    {
        assert!(page.request(head, r#"{"order":"stop"}"#).unwrap().starts_with("HTTP/1.1 403 "), "{head}");
    }
    let html = page.request(&format!("GET /?token={} HTTP/1.1", page.token), "").unwrap();
    assert!(html.contains("poisson(300/s) for 1h") && html.contains("id=\"rate-form\""));
    let mut events = page.events().unwrap();
    let first = until(&mut events, "a request has completed", |_, status| completed(status) > 0);
    let more =
        until(&mut events, "more requests have completed", |_, status| completed(status) > completed(&first));
    assert_eq!((&more["state"], &more["factor"]), (&Value::from("running"), &Value::from(1.0)));
    send_command(&page, r#"{"order":"rate","factor":2.5}"#);
    until(&mut events, "the rate has changed", |_, status| status["factor"] == 2.5);
    send_command(&page, r#"{"order":"pause"}"#);
    until(&mut events, "the run is paused", |_, status| status["state"] == "paused");
    // At most a second after the pause there are no arrivals, but events continue.
    until(&mut events, "no arrival is offered", |name, status| {
        name != "status" && status["words"]["offered-now"] == "0"
    });
    send_command(&page, r#"{"order":"resume"}"#);
    let before = until(&mut events, "the run continues", |_, status| status["state"] == "running");
    until(&mut events, "more requests have completed", |_, status| completed(status) > completed(&before));
    assert!(page.send_command(r#"{"order":"rate","factor":0}"#).unwrap().starts_with("HTTP/1.1 409 "));
    send_command(&page, r#"{"order":"stop"}"#);
    let end = until(&mut events, "the run has ended", |name, _| name == "end");
    assert_eq!(end["state"], "ended");
    assert!(events.next_event().unwrap().is_none());
    running
        .end()
        .expect(4)
        .prints(&[
            "the rate changed to 2.5 times the configured rate (from the page)",
            "not offered while the run was paused",
        ])
        .reports(&["stopping (from the page)"]);
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
    // The same report can be made from the run directory.
    let dir = room.run_dir().path().display().to_string();
    room.run(["report", &dir, "-o", "again.html"])
        .expect(0)
        .prints(&["the load was resumed (from the page)"]);
    assert!(room.read("again.html").contains("the load was paused"));
}

#[test]
fn closed_loads_can_be_paused_but_their_rate_cannot_be_changed() {
    let server = Server::quick();
    let room = Room::new();
    room.file("plan.jmx", plan(&group("2", "-1", &get("get", "/"))));
    let port = format!("-JPORT={}", server.port());
    let running = room.start(["run", "plan.jmx", &port, "--live=127.0.0.1:0"]);
    let page = page_of(&running);
    let mut events = page.events().unwrap();
    until(&mut events, "a request has completed", |_, status| completed(status) > 0);
    let refused = page.send_command(r#"{"order":"rate","factor":2}"#).unwrap();
    assert!(refused.starts_with("HTTP/1.1 409 ") && refused.contains("--arrivals"), "{refused}");
    send_command(&page, r#"{"order":"pause"}"#);
    until(&mut events, "no request is sent", |name, status| {
        name == "second" && status["words"]["completed-now"] == "0"
    });
    let held = server.requests();
    until(&mut events, "another second has ended", |name, _| name == "second");
    assert_eq!(server.requests(), held);
    send_command(&page, r#"{"order":"resume"}"#);
    wait_for("users continue", || (server.requests() > held + 100).then_some(()));
    send_command(&page, r#"{"order":"stop"}"#);
    running.end().expect(4);
}

#[test]
fn listening_on_other_addresses_requires_an_option() {
    let room = Room::new();
    let url = "http://127.0.0.1:1/";
    room.run(["run", url, "--live=0.0.0.0:0"]).expect(2).reports(&["--live-remote allows it"]);
    room.run(["run", url, "--live=nowhere"]).expect(2).reports(&["--live: nowhere is not an address"]);
    room.run(["run", url, "--view", "screen"])
        .expect(2)
        .reports(&["--view screen: standard error is not a terminal"]);
    room.run(["run", url, "--live-remote"]).expect(2).reports(&["--live"]);
}
