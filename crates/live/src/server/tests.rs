//! Tests of the server with the requests of a browser. The run only records its commands.

use std::net::TcpListener;

use busyhour_launch::{CommandRefused, LoadState, RunObserver as _, RunPhase};
use busyhour_standin::{LiveEvents, LivePageClient};
use serde_json::Value;

use super::*;
use crate::follow::LiveObserver;
use crate::live_run::tests::snapshot;

#[derive(Default)]
struct Run {
    commands: Mutex<Vec<Command>>,
}

impl CommandHandler for Run {
    fn execute(&self, command: Command, source: CommandSource) -> Result<(), CommandRefused> {
        assert_eq!(source, CommandSource::Page);
        if matches!(command, Command::Rate { factor } if factor > 100.0) {
            return Err(CommandRefused::FixedRate("too fast".into()));
        }
        lock(&self.commands).push(command);
        Ok(())
    }

    fn state(&self) -> LoadState {
        let phase = match lock(&self.commands).last() {
            Some(Command::Pause) => RunPhase::Paused,
            _ => RunPhase::Running,
        };
        LoadState { phase, factor: 1.0, ..LoadState::default() }
    }
}

struct Served {
    server: PageServer,
    observer: LiveObserver,
    run: Arc<Run>,
}

fn served() -> Served {
    let view = LiveView::default();
    let run = Arc::new(Run::default());
    let control: Arc<dyn CommandHandler> = Arc::<Run>::clone(&run);
    let settings = PageSettings { title: "Shop".into(), ..PageSettings::default() };
    let server = PageServer::start("127.0.0.1:0", &settings, &view, control).unwrap();
    Served { server, observer: view.observer(), run }
}

impl Served {
    fn page(&self) -> LivePageClient {
        LivePageClient::at(&self.server.url()).unwrap()
    }

    fn request(&self, head: &str, body: &str) -> String {
        self.page().request(head, body).unwrap()
    }

    fn send_command(&self, body: &str) -> String {
        self.page().send_command(body).unwrap()
    }

    fn listen(&self) -> LiveEvents {
        self.page().events().unwrap()
    }
}

/// The next event's name and data; `None` at the end.
fn next(events: &mut LiveEvents) -> Option<(String, Value)> {
    events.next_event().unwrap()
}

#[test]
fn seconds_and_the_end_are_sent_to_all_clients() {
    let mut served = served();
    let mut first = served.listen();
    assert_eq!(next(&mut first).unwrap().0, "model");
    for number in 0..3 {
        served.observer.second(&snapshot(number, &[("a", &[1_000_000, 2_000_000], 0)]), &[]);
        let (name, data) = next(&mut first).unwrap();
        assert_eq!(name, if number == 0 { "model" } else { "second" });
        assert_eq!(data["status"]["words"]["completed-all"], format!("{} requests", 2 * (number + 1)));
    }
    let mut late = served.listen();
    let (name, data) = next(&mut late).unwrap();
    assert_eq!((name.as_str(), data["model"]["over_time"]["ended"].as_array().unwrap().len()), ("model", 3));
    served.server.finish();
    for mut events in [first, late] {
        assert_eq!(next(&mut events).unwrap().0, "end");
        assert!(next(&mut events).is_none());
    }
}

#[test]
fn orders_are_executed_and_shown_immediately() {
    let served = served();
    let mut events = served.listen();
    next(&mut events).unwrap();
    assert!(served.send_command(r#"{"order":"pause"}"#).starts_with("HTTP/1.1 200 "));
    let (name, data) = next(&mut events).unwrap();
    assert_eq!((name.as_str(), &data["state"]), ("status", &Value::from("paused")));
    assert!(served.send_command(r#"{"order":"rate","factor":2.5}"#).starts_with("HTTP/1.1 200 "));
    let refused = served.send_command(r#"{"order":"rate","factor":1000}"#);
    assert!(refused.starts_with("HTTP/1.1 409 ") && refused.ends_with("too fast"), "{refused}");
    for rubbish in ["", "{}", r#"{"order":"explode"}"#, r#"{"order":"rate"}"#] {
        assert!(served.send_command(rubbish).starts_with("HTTP/1.1 400 "), "{rubbish}");
    }
    assert_eq!(*lock(&served.run.commands), [Command::Pause, Command::Rate { factor: 2.5 }]);
}

#[test]
fn lost_files_and_changes_are_shown_before_the_next_second() {
    let mut served = served();
    let mut events = served.listen();
    next(&mut events).unwrap();
    served.observer.event(&RunEvent::Notice("not shown on the page".into()));
    served.observer.event(&RunEvent::FileLost { failures: 2 });
    let (name, data) = next(&mut events).unwrap();
    assert_eq!(name, "status");
    assert!(data["caveats"].as_array().is_some_and(|caveats| !caveats.is_empty()), "{data}");
}

#[test]
fn requests_without_the_token_are_refused() {
    let served = served();
    let token = served.page().token;
    let heads = [
        "GET / HTTP/1.1".to_owned(),
        format!("GET /?token={} HTTP/1.1", token.replace(|c: char| c.is_ascii_digit(), "x")),
        format!("GET /events?token={} HTTP/1.1", &token[1..]),
        format!("POST /order?token={token} HTTP/1.1"),
        "POST /order HTTP/1.1\r\nX-Busyhour-Token: 0".to_owned(),
        format!("GET /?token={token} HTTP/1.1\r\nOrigin: http://evil.example"),
    ];
    for head in heads {
        let answer = served.request(&head, r#"{"order":"stop"}"#);
        assert!(answer.starts_with("HTTP/1.1 403 ") && !answer.contains("Shop"), "{head}: {answer}");
    }
    assert!(lock(&served.run.commands).is_empty());
    let page = served.request(&format!("GET /?token={token} HTTP/1.1"), "");
    for words in ["HTTP/1.1 200 ", "no-store", "no-referrer", "frame-ancestors 'none'", "Shop"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains(&token), "the page does not contain the token");
    assert!(served.request(&format!("GET /x?token={token} HTTP/1.1"), "").starts_with("HTTP/1.1 404 "));
    assert!(served.request("PUT / HTTP/1.1", "").starts_with("HTTP/1.1 405 "));
    // Browsers request an icon automatically; an error response would be shown in the browser's console.
    assert!(served.request("GET /favicon.ico HTTP/1.1", "").starts_with("HTTP/1.1 204 "));
}

#[test]
fn only_the_loopback_interface_is_used_unless_other_machines_are_allowed() {
    let view = LiveView::default();
    let start = |address: &str, allow_remote| {
        let settings = PageSettings { allow_remote, ..PageSettings::default() };
        PageServer::start(address, &settings, &view, Arc::new(Run::default()))
    };
    assert!(matches!(start("0.0.0.0:0", false), Err(ServeError::Remote(_))));
    assert!(start("0.0.0.0:0", true).is_ok() && start("localhost:0", false).is_ok());
    assert!(matches!(start("nowhere", false), Err(ServeError::Address { .. })));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    assert!(matches!(start(&address, false), Err(ServeError::Listen { .. })));
}
