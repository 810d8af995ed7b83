use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use super::*;
use crate::tls::TlsPolicy;

/// A server that answers each request with the next of these responses; for an empty one, it closes the connection. Returns the
/// port and the heads and bodies of the requests.
fn server<const N: usize>(responses: [&'static str; N]) -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, received) = channel();
    let mut responses = responses.into_iter();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            loop {
                let mut request = Vec::new();
                let mut byte = [0];
                while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
                    request.push(byte[0]);
                }
                let head = String::from_utf8_lossy(&request).into_owned();
                let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
                let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
                if head.is_empty() || stream.read_exact(&mut body).is_err() {
                    break;
                }
                let _ = sender.send(head + &String::from_utf8_lossy(&body));
                let Some(response) = responses.next() else { return };
                if stream.write_all(response.as_bytes()).is_err() || response.is_empty() {
                    break;
                }
            }
        }
    });
    (port, received)
}

fn get(port: u16) -> UrlRequest {
    UrlRequest {
        url: format!("http://127.0.0.1:{port}/a?b"),
        method: "GET".to_owned(),
        follows_redirects: true,
        ..UrlRequest::default()
    }
}

/// Performs the exchange outside of a coroutine, so that the thread waits for it.
fn exchange(request: UrlRequest) -> Result<UrlResponse, Thrown> {
    let shared = Arc::new(SharedHttp::new(TlsPolicy::AcceptAny, Arc::default(), true));
    UrlConnections::new(shared).exchange(&Clock::manual(0), request)
}

#[test]
fn a_request_equals_that_of_java() {
    let (port, received) = server(["HTTP/1.1 200 OK\r\nA: 1\r\nA: 2\r\nContent-Length: 2\r\n\r\nhi"]);
    let headers = vec![("X-A".to_owned(), "caf\u{e9}".to_owned())];
    let request = UrlRequest { method: "POST".into(), headers, body: Some(b"sent".to_vec()), ..get(port) };
    let response = exchange(request).unwrap();
    assert_eq!((response.code, response.body.as_slice()), (200, b"hi".as_slice()));
    assert_eq!(response.status_line, "HTTP/1.1 200 OK");
    assert_eq!(response.headers[1], ("A".to_owned(), "2".to_owned()));
    let expected = format!(
        "POST /a?b HTTP/1.1\r\nX-A: caf\u{fffd}\r\nUser-Agent: Java/17.0.15\r\nHost: 127.0.0.1:{port}\r\n\
         Accept: text/html, image/gif, image/jpeg, */*; q=0.2\r\nConnection: keep-alive\r\n\
         Content-type: application/x-www-form-urlencoded\r\nContent-Length: 4\r\n\r\nsent"
    );
    assert_eq!(received.recv().unwrap(), expected);
}

#[test]
fn a_redirected_post_becomes_a_get_unless_the_status_is_307() {
    for (code, method, requests) in [("302 Found", "GET", 2), ("307 Temporary Redirect", "POST", 2)] {
        let redirect = format!("HTTP/1.1 {code}\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n");
        let redirect: &'static str = Box::leak(redirect.into_boxed_str());
        let (port, received) = server([redirect, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]);
        let request = UrlRequest { method: "POST".into(), body: Some(b"sent".to_vec()), ..get(port) };
        let response = exchange(request).unwrap();
        assert_eq!(response.method, method);
        assert_eq!(response.url, format!("http://127.0.0.1:{port}/there"));
        let all: Vec<String> = received.iter().take(requests).collect();
        assert!(all[1].starts_with(&format!("{method} /there HTTP/1.1\r\n")), "{}", all[1]);
        assert_eq!(all[1].ends_with("sent"), method == "POST");
    }
}

#[test]
fn a_request_is_repeated_once_if_the_server_closes_without_a_response() {
    let (port, _) = server(["", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]);
    assert_eq!(exchange(get(port)).unwrap().code, 200);
    let (port, _) = server(["", ""]);
    let thrown = exchange(get(port)).unwrap_err();
    assert_eq!(
        (thrown.class, thrown.message.as_str()),
        ("java.net.SocketException", "Unexpected end of file from server")
    );
}

#[test]
fn the_received_part_of_a_truncated_body_is_returned() {
    let (port, _) = server(["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", ""]);
    let request = UrlRequest { read_timeout: Some(Duration::from_millis(50)), ..get(port) };
    let response = exchange(request).unwrap();
    assert_eq!(response.body, b"short");
    assert_eq!(response.failure.unwrap().message, "Read timed out");
}

#[test]
fn failures_have_the_names_of_java() {
    let (port, _) = server(["this is not HTTP\r\n\r\n"]);
    assert_eq!(exchange(get(port)).unwrap_err().message, "Invalid Http response");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let thrown = exchange(get(closed)).unwrap_err();
    assert_eq!((thrown.class, thrown.message.as_str()), ("java.net.ConnectException", "Connection refused"));
}
