//! A shop on a free port, and a client that returns every byte of a response.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;

use busyhour_demo::{BASE_PATH, ShopOptions, listen, run_blocking};
use tokio::sync::oneshot;

/// Five times `yada`.
pub const WORDS: &str = "yada yada yada yada yada";

/// A shop that closes when it is dropped.
pub struct TestShop {
    pub address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl TestShop {
    pub fn open(options: ShopOptions) -> Self {
        let listener = listen(([127, 0, 0, 1], 0).into()).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            run_blocking(listener, options, async {
                let _ = stopped.await;
            })
            .expect("a shop");
        });
        Self { address, stop: Some(stop), thread: Some(thread) }
    }

    pub fn client(&self) -> Client {
        Client {
            address: self.address,
            stream: None,
            received: Vec::new(),
            accept: "application/json".into(),
        }
    }
}

impl Drop for TestShop {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join)
            && !std::thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

/// One connection, opened again when the shop has closed it.
pub struct Client {
    address: SocketAddr,
    stream: Option<TcpStream>,
    received: Vec<u8>,
    pub accept: String,
}

/// A response.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
    /// Head, framing and body as received.
    pub wire: Vec<u8>,
}

impl Reply {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

impl Client {
    pub fn get(&mut self, path: &str) -> Reply {
        self.request("GET", path, "", "")
    }

    pub fn get_and_close(&mut self, path: &str) -> Reply {
        self.request("GET", path, "Connection: close\r\n", "")
    }

    pub fn post(&mut self, path: &str, body: &str) -> Reply {
        self.request("POST", path, "Content-Type: application/json;charset=utf-8\r\n", body)
    }

    pub fn put(&mut self, path: &str, body: &str) -> Reply {
        self.request("PUT", path, "Content-Type: application/json\r\n", body)
    }

    pub fn delete(&mut self, path: &str) -> Reply {
        self.request("DELETE", path, "", "")
    }

    /// Sends one request below the base path and reads the response.
    pub fn request(&mut self, method: &str, path: &str, headers: &str, body: &str) -> Reply {
        let length =
            if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        let address = self.address;
        let accept = &self.accept;
        let request = format!(
            "{method} {BASE_PATH}/{path} HTTP/1.1\r\nHost: {address}\r\nAccept: {accept}\r\n{headers}{length}\r\n{body}"
        );
        self.send(request.as_bytes());
        self.receive(method == "HEAD")
    }

    /// Sends bytes unchanged.
    pub fn send(&mut self, bytes: &[u8]) {
        let stream = self.stream.get_or_insert_with(|| {
            self.received.clear();
            let stream = TcpStream::connect(self.address).expect("a connection");
            stream.set_nodelay(true).expect("no delay");
            stream
        });
        stream.write_all(bytes).expect("sent");
    }

    /// Reads one response.
    pub fn receive(&mut self, head_only: bool) -> Reply {
        let head_bytes = loop {
            if let Some(at) = find(&self.received, b"\r\n\r\n") {
                break at + 4;
            }
            assert!(
                self.receive_more(),
                "closed inside a head: {:?}",
                String::from_utf8_lossy(&self.received)
            );
        };
        let head = String::from_utf8(self.received[..head_bytes].to_vec()).expect("a head of text");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let closes = header("Connection") == Some("close");
        let (body, consumed) = if head_only || status == 204 {
            (Vec::new(), head_bytes)
        } else if header("Transfer-Encoding") == Some("chunked") {
            let (mut body, mut at) = (Vec::new(), head_bytes);
            loop {
                while find(&self.received[at..], b"\r\n").is_none() {
                    assert!(self.receive_more(), "closed inside a chunk size");
                }
                let line = find(&self.received[at..], b"\r\n").expect("just found");
                let size = std::str::from_utf8(&self.received[at..at + line]).expect("a size");
                let size = usize::from_str_radix(size, 16).expect("a size");
                at += line + 2;
                while self.received.len() < at + size + 2 {
                    assert!(self.receive_more(), "closed inside a chunk");
                }
                body.extend_from_slice(&self.received[at..at + size]);
                at += size + 2;
                if size == 0 {
                    break (body, at);
                }
            }
        } else if let Some(length) = header("Content-Length") {
            let length: usize = length.parse().expect("a length");
            while self.received.len() < head_bytes + length {
                assert!(self.receive_more(), "closed inside a body");
            }
            (self.received[head_bytes..head_bytes + length].to_vec(), head_bytes + length)
        } else {
            assert!(closes, "no framing: {head}");
            while self.receive_more() {}
            (self.received[head_bytes..].to_vec(), self.received.len())
        };
        let wire = self.received.drain(..consumed).collect();
        if closes {
            assert!(!self.receive_more(), "the shop announced that it would close");
            self.stream = None;
        }
        Reply { status, head, body, wire }
    }

    fn receive_more(&mut self) -> bool {
        let mut buffer = [0; 16 * 1024];
        let read = self.stream.as_mut().expect("a connection").read(&mut buffer).expect("read");
        self.received.extend_from_slice(&buffer[..read]);
        read > 0
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

/// Creates the same entities as the workload's injection, through the interface. Rows and seats of the sections can be
/// chosen. Checks that every response is the one that the plan expects.
pub fn inject(client: &mut Client, venues: u32, events: u32, side: u32) {
    let mut create = |path: &str, body: String| {
        let reply = client.post(path, &body);
        assert_eq!(reply.status, 201, "{path} {body}: {}", reply.text());
        assert!(reply.body.is_empty());
        let location = reply.header("Location").expect("a location").to_owned();
        location.rsplit('/').next().and_then(|id| id.parse::<i64>().ok()).expect("an id")
    };
    let url = "http://127.0.0.1:8080/ticket-monster/resources/img/splash-ticketmonster.png";
    create("mediaitems", format!(r#"{{"mediaType":"IMAGE","url":"{url}"}}"#));
    create("eventcategories", r#"{"description":"event event event"}"#.into());
    create("ticketcategories", r#"{"description":"ticket ticket ticket"}"#.into());
    for event in 1..=events {
        create(
            "forge/events",
            format!(
                r#"{{"name":"event{event}","mediaItem":{{"id":1}},"category":{{"id":1}},"description":"{WORDS}"}}"#
            ),
        );
    }
    let mut bookings = Vec::new();
    for venue in 1..=venues {
        create(
            "forge/venues",
            format!(
                r#"{{"name":"{venue}","mediaItem":{{"id":1}},"description":"{WORDS}","capacity":10000,
                "address":{{"street":"venue street","city":"venue city","country":"venue country"}}}}"#
            ),
        );
        create(
            "sections",
            format!(
                r#"{{"name":"A","description":"{WORDS}","numberOfRows":"{side}","rowCapacity":{side},
                "capacity":50000,"venue":{{"id":{venue}}}}}"#
            ),
        );
        for event in 1..=events {
            let show =
                create("forge/shows", format!(r#"{{"event":{{"id":{event}}},"venue":{{"id":{venue}}}}}"#));
            create(
                "performances",
                format!(r#"{{"show":{{"id":{show}}},"date":"2020-11-13T06:00:00.000Z"}}"#),
            );
            let price = create(
                "ticketprices",
                format!(
                    r#"{{"show":{{"id":{show}}},"section":{{"id":{venue}}},"ticketCategory":{{"id":1}},"price":"200"}}"#
                ),
            );
            bookings.push(price);
        }
    }
    for id in bookings {
        let reply = client.post("bookings", &booking(id, id, 2));
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
}

/// A request for seats, as the workload sends it.
pub fn booking(price: i64, performance: i64, quantity: i64) -> String {
    format!(
        r#"{{"ticketRequests":[{{"ticketPrice":{price},"quantity":{quantity}}}],"email":"a@b.c","performance":"{performance}"}}"#
    )
}
