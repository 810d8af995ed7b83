//! Tests servers that refuse, reset, stall or send invalid responses: samples fail as in JMeter, and the run continues.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::TcpStream;

use busyhour_record::RequestDeadline;

use crate::plans::{element, get, get_with, group, plan, text};
use crate::program::{Room, rows};
use crate::servers::{ClosedPort, Server, answer};

/// Runs one user with a request that fails and one that succeeds; returns both rows.
fn run_failing_and_good_request(
    behaviour: impl Fn(&mut TcpStream) -> bool + Send + Sync + 'static,
    more: &str,
) -> [BTreeMap<String, String>; 2] {
    let server = Server::start(
        move |stream, head| {
            if head[0].contains("/bad") { behaviour(stream) } else { answer(stream) }
        },
    );
    let room = Room::new();
    let steps = get_with("bad", "/bad", more, "") + &get("good", "/good");
    room.file("plan.jmx", plan(&group("1", "1", &steps)));
    let port = format!("-JPORT={}", server.port());
    room.run(["run", "plan.jmx", "-l", "out.jtl", &port]).expect(0);
    let rows = rows(&room.read("out.jtl"));
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(rows[1]["success"], "true", "the next request is sent and answered: {rows:?}");
    rows.try_into().unwrap()
}

#[track_caller]
fn failed(row: &BTreeMap<String, String>, class: &str, message: &str) {
    assert_eq!(row["success"], "false");
    assert_eq!(row["responseCode"], format!("Non HTTP response code: {class}"));
    assert_eq!(row["responseMessage"], format!("Non HTTP response message: {message}"));
}

#[test]
fn a_refused_connection_fails_the_sample() {
    let closed = ClosedPort::new();
    let room = Room::new();
    room.file("plan.jmx", plan(&group("2", "2", &get("nobody", "/"))));
    let port = format!("-JPORT={}", closed.port());
    let ended = room.run(["run", "plan.jmx", "-l", "out.jtl", &port]).expect(0);
    let ended = ended.prints(&[
        "All 4 requests failed",
        "100.00",
        "Errors",
        "connection refused",
        "Connection refused",
    ]);
    assert!(ended.stdout.contains("Caveats"), "{}", ended.all());
    let rows = rows(&room.read("out.jtl"));
    assert_eq!(rows.len(), 4);
    let class = "org.apache.http.conn.HttpHostConnectException";
    let at = format!("Connect to 127.0.0.1:{} [/127.0.0.1] failed: Connection refused", closed.port());
    failed(&rows[0], class, &at);
}

#[test]
fn a_reset_connection_fails_the_sample() {
    let [bad, _] = run_failing_and_good_request(
        |stream| {
            // Closing a socket with unread data sends a reset.
            let _ = rustix::net::sockopt::set_socket_linger(&*stream, Some(std::time::Duration::ZERO));
            false
        },
        "",
    );
    failed(&bad, "java.net.SocketException", "Connection reset");
}

#[test]
fn a_connection_closed_without_a_response_fails_the_sample() {
    let [bad, _] = run_failing_and_good_request(|_| false, "");
    assert_eq!(bad["responseCode"], "Non HTTP response code: org.apache.http.NoHttpResponseException");
    assert!(bad["responseMessage"].ends_with(" failed to respond"), "{bad:?}");
}

#[test]
fn a_response_timeout_fails_the_sample() {
    let timeout = text("HTTPSampler.response_timeout", "200");
    // Parking can end spuriously, so it is repeated.
    let forever = |stream: &mut TcpStream| loop {
        std::thread::park();
        let _ = stream.flush();
    };
    let [bad, _] = run_failing_and_good_request(forever, &timeout);
    failed(&bad, "java.net.SocketTimeoutException", "Read timed out");
    assert!(bad["elapsed"].parse::<u32>().unwrap() >= 200);
}

#[test]
fn a_timeout_in_the_middle_of_a_body_fails_the_sample() {
    let timeout = text("HTTPSampler.response_timeout", "200");
    let half = |stream: &mut TcpStream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        loop {
            std::thread::park();
        }
    };
    let [bad, _] = run_failing_and_good_request(half, &timeout);
    failed(&bad, "java.net.SocketTimeoutException", "Read timed out");
}

#[test]
fn an_invalid_response_fails_the_sample() {
    let garbage = |stream: &mut TcpStream| {
        let _ = stream.write_all(&[0xff, 0, b'\n', 7].repeat(100));
        false
    };
    let [bad, _] = run_failing_and_good_request(garbage, "");
    assert_eq!(bad["success"], "false");
    assert!(bad["responseCode"].starts_with("Non HTTP response code: "), "{bad:?}");
}

#[test]
fn endless_headers_fail_the_sample() {
    let endless = |stream: &mut TcpStream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        let line = b"X-More: and more and more and more and more and more and more\r\n".repeat(100);
        while stream.write_all(&line).is_ok() {}
        false
    };
    let [bad, _] = run_failing_and_good_request(endless, "");
    assert_eq!(bad["success"], "false");
    assert!(bad["responseCode"].starts_with("Non HTTP response code: "), "{bad:?}");
}

#[test]
fn an_endless_header_fails_the_sample() {
    let endless = |stream: &mut TcpStream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX-More: ");
        while stream.write_all(&[b'x'; 10_000]).is_ok() {}
        false
    };
    let [bad, _] = run_failing_and_good_request(endless, "");
    assert_eq!(bad["success"], "false");
}

#[test]
fn a_truncated_body_fails_the_sample() {
    let cut = |stream: &mut TcpStream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        false
    };
    let [bad, _] = run_failing_and_good_request(cut, "");
    let class = "org.apache.http.ConnectionClosedException";
    failed(
        &bad,
        class,
        "Premature end of Content-Length delimited message body (expected: 100; received: 4)",
    );
}

#[test]
fn a_truncated_chunk_fails_the_sample() {
    let cut = |stream: &mut TcpStream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf");
        false
    };
    let [bad, _] = run_failing_and_good_request(cut, "");
    assert_eq!(bad["success"], "false", "{bad:?}");
    assert!(bad["responseCode"].starts_with("Non HTTP response code: "), "{bad:?}");
}

#[test]
fn an_invalid_compressed_body_fails_the_sample() {
    let server = Server::start(|stream, _| {
        let text = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 7\r\n\r\nrubbish";
        stream.write_all(text.as_bytes()).is_ok()
    });
    let room = Room::new();
    // The body is decompressed only if an element uses it.
    let extractor = text("BoundaryExtractor.lboundary", "a")
        + &text("BoundaryExtractor.rboundary", "b")
        + &text("BoundaryExtractor.refname", "x");
    let step = get_with("bad", "/", "", &element("BoundaryExtractor", "Look", &extractor, ""));
    room.file("plan.jmx", plan(&group("1", "1", &step)));
    room.run_line(&format!("run plan.jmx -l out.jtl -JPORT={}", server.port())).expect(0);
    failed(&rows(&room.read("out.jtl"))[0], "java.util.zip.ZipException", "Not in GZIP format");
}

#[test]
fn an_unknown_host_fails_the_sample() {
    let room = Room::new();
    room.file("plan.jmx", plan(&group("1", "1", &get("a", "/"))));
    let ended =
        room.run(["run", "plan.jmx", "-JHOST=nobody.invalid", "-JPORT=80", "-l", "out.jtl"]).expect(0);
    let rows = rows(&room.read("out.jtl"));
    assert_eq!(
        rows[0]["responseCode"],
        "Non HTTP response code: java.net.UnknownHostException",
        "{}",
        ended.all()
    );
}

#[test]
fn a_hundred_thousand_stacked_encodings_are_a_failed_sample_and_a_caveat() {
    let server = Server::start(|stream, head| {
        if !head[0].contains("/bad") {
            return answer(stream);
        }
        let names = vec!["gzip"; 100_000].join(",");
        let text = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {names}\r\nContent-Length: 1\r\n\r\nx");
        stream.write_all(text.as_bytes()).is_ok()
    });
    let room = Room::new();
    room.file("plan.jmx", plan(&group("1", "3", &(get("bad", "/bad") + &get("good", "/good")))));
    let ended = room.run_line(&format!("run plan.jmx -l out.jtl -JPORT={}", server.port())).expect(0);
    let words = "a limit of the generator was exceeded 3 times: encodings stacked in Content-Encoding";
    ended.prints(&["Caveats", words, "limits.md"]);
    let rows = rows(&room.read("out.jtl"));
    assert_eq!(rows.len(), 6);
    let class = "org.apache.http.MessageConstraintException";
    failed(&rows[0], class, "Maximum number of content encodings exceeded (5)");
    assert_eq!(rows[1]["success"], "true");
    let limits = room.manifest().outcome.unwrap().generator.exceeded_limits;
    assert_eq!(limits, [("encodings stacked in Content-Encoding".to_owned(), 3)].into_iter().collect());
}

/// Sends a response byte by byte until the client closes the connection.
fn trickle(stream: &mut TcpStream) -> bool {
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    while stream.write_all(b"1\r\nx\r\n").is_ok() {
        std::thread::yield_now();
    }
    false
}

#[test]
fn a_request_deadline_ends_an_endless_response() {
    let server = Server::start(|stream, _| trickle(stream));
    let room = Room::new();
    room.file("plan.jmx", plan(&group("1", "2", &get("endless", "/"))));
    let run = format!("run plan.jmx -l out.jtl --request-deadline 150ms -JPORT={}", server.port());
    room.run_line(&run)
        .expect(0)
        .prints(&["a limit of the generator was exceeded 2 times: request deadline"]);
    let rows = rows(&room.read("out.jtl"));
    let words = "The request took longer than its deadline of 150ms (--request-deadline)";
    assert_eq!(rows.len(), 2);
    for row in rows {
        failed(&row, "java.net.SocketTimeoutException", words);
        assert!(row["elapsed"].parse::<u32>().unwrap() >= 150);
    }
    assert_eq!(room.manifest().request_deadline, Some(RequestDeadline::Ns(150_000_000)));
    for wrong in ["soon", "0s"] {
        let refused = room.run_line(&format!("run plan.jmx --request-deadline {wrong}")).expect(2);
        assert!(refused.stderr.contains("--request-deadline"), "{}", refused.all());
    }
}
