//! Tests the server from a client's point of view.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use tokio::sync::mpsc;

use super::*;
use crate::{query_value, single_header};

fn start(handler: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Server {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    Server::start(listener, "test", Arc::new(handler)).unwrap()
}

/// Answers with the parts of the request.
fn echo() -> Server {
    start(|request| {
        let text = format!(
            "{} {} {:?} {:?} {}",
            request.method(),
            request.uri().path(),
            query_value(request, "b"),
            single_header(request, "x-a"),
            String::from_utf8_lossy(request.body())
        );
        respond(StatusCode::OK, "text/plain", text)
    })
}

fn send(server: &Server, parts: &[&str]) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    for part in parts {
        stream.write_all(part.as_bytes()).unwrap();
    }
    stream
}

fn exchange(server: &Server, parts: &[&str]) -> String {
    let mut stream = send(server, parts);
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn a_request_sent_in_pieces_is_complete_for_its_handler() {
    let server = echo();
    let parts =
        ["POST /p?a=1&b=2 HT", "TP/1.1\r\nHost: x\r\nX-A: y\r\nContent-Le", "ngth: 5\r\n\r\nhe", "llo"];
    let response = exchange(&server, &parts);
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    assert!(response.ends_with("\r\n\r\nPOST /p Some(\"2\") Some(\"y\") hello"), "{response}");
}

#[test]
fn invalid_and_long_requests_are_refused() {
    let server = echo();
    let bodies = ["70000", "-1", "x"].map(|n| format!("POST / HTTP/1.1\r\nContent-Length: {n}\r\n\r\n"));
    for text in bodies.iter().map(String::as_str).chain(["rubbish\r\n\r\n"]) {
        assert!(exchange(&server, &[text]).starts_with("HTTP/1.1 400 "), "{text}");
    }
    assert_eq!(exchange(&server, &["GET / HTTP/1.1\r\n"]), "");
    // The rest of a long request is not read, so the response may be lost.
    let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(4 * HEAD_MAX));
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let _ = stream.write_all(long.as_bytes());
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response);
    assert!(response.is_empty() || response.starts_with(b"HTTP/1.1 431 "));
    let repeated = "GET / HTTP/1.1\r\nX-A: 1\r\nX-A: 2\r\n\r\n";
    assert!(exchange(&server, &[repeated]).ends_with("None None "), "a repeated header has no value");
}

#[test]
fn events_are_sent_until_their_sender_is_dropped() {
    let (sender, receiver) = mpsc::channel(4);
    let receiver = Mutex::new(Some(receiver));
    let server = start(move |_| {
        let events = receiver.lock().unwrap().take().unwrap();
        respond(StatusCode::OK, "text/event-stream", Body::events(events))
    });
    let mut stream = send(&server, &["GET / HTTP/1.0\r\n\r\n"]);
    for text in ["data: 1\n\n", "data: 2\n\n"] {
        sender.try_send(Arc::from(text)).unwrap();
    }
    drop(sender);
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert!(response.ends_with("\r\n\r\ndata: 1\n\ndata: 2\n\n"), "{response}");
}

#[test]
fn clients_that_send_slowly_do_not_block_others() {
    let server = echo();
    let slow: Vec<TcpStream> = (0..10 * CONNECTIONS_MAX).map(|_| send(&server, &["GET / HT"])).collect();
    assert!(exchange(&server, &["GET /mine HTTP/1.1\r\nHost: x\r\n\r\n"]).starts_with("HTTP/1.1 200 "));
    drop(slow);
}

#[test]
fn clients_that_do_not_read_events_do_not_block_others() {
    let senders = Mutex::new(Vec::new());
    let server = start(move |request| {
        if request.uri().path() != "/events" {
            return respond(StatusCode::OK, "text/plain", "page");
        }
        let (sender, receiver) = mpsc::channel(4);
        sender.try_send(Arc::from("data: 1\n\n")).unwrap();
        senders.lock().unwrap().push(sender);
        respond(StatusCode::OK, "text/event-stream", Body::events(receiver))
    });
    let subscribe = || {
        let mut stream = send(&server, &["GET /events HTTP/1.1\r\nHost: x\r\n\r\n"]);
        // The server sends the first byte after it has added the client to the receivers of events.
        stream.read_exact(&mut [0; 1]).unwrap();
        stream
    };
    let mut idle: Vec<TcpStream> = (0..CONNECTIONS_MAX).map(|_| subscribe()).collect();
    let response = exchange(&server, &["GET / HTTP/1.1\r\nHost: x\r\n\r\n"]);
    assert!(response.ends_with("page"), "{response}");
    let newest = subscribe();
    drop(newest);
    // The oldest connection was replaced, so its stream ends.
    let mut rest = Vec::new();
    let _ = idle.remove(0).read_to_end(&mut rest);
    assert!(String::from_utf8_lossy(&rest).contains("data: 1"));
}

#[test]
fn the_server_ends_although_clients_are_connected() {
    let server = echo();
    let idle = send(&server, &[]);
    let address = server.address();
    drop(server);
    assert!(TcpStream::connect(address).is_err());
    drop(idle);
}
