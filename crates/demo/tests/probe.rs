//! Tests of the probe over real sockets.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use busyhour_demo::{ProbeOptions, ProbeRecord, ProbeServer, ProbeStopper, ServerStall, listen};

struct Running {
    address: SocketAddr,
    stopper: ProbeStopper,
    thread: JoinHandle<ProbeRecord>,
}

impl Running {
    fn start(options: ProbeOptions) -> Self {
        let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        let probe = ProbeServer::new(listener, options).unwrap();
        let stopper = probe.stopper();
        let thread = std::thread::spawn(move || probe.run().unwrap());
        Self { address, stopper, thread }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    fn end(self) -> ProbeRecord {
        self.stopper.stop().unwrap();
        self.thread.join().unwrap()
    }
}

const GET: &[u8] = b"GET /x HTTP/1.1\r\nHost: probe\r\n\r\n";

fn send_request(stream: &mut TcpStream, request: &[u8]) {
    stream.write_all(request).unwrap();
    read_answers(stream, 1);
}

fn read_answers(stream: &mut TcpStream, count: usize) {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    while seen.windows(3).filter(|window| window == b"ok\n").count() < count {
        let length = stream.read(&mut buffer).unwrap();
        assert!(length > 0, "the probe closed after {:?}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&buffer[..length]);
    }
    assert!(seen.starts_with(b"HTTP/1.1 200 OK\r\n"));
}

#[test]
fn every_request_has_a_stamp_on_reused_and_new_connections() {
    let probe = Running::start(ProbeOptions::default());
    let mut reused = probe.connect();
    for _ in 0..5 {
        send_request(&mut reused, GET);
    }
    send_request(&mut reused, b"POST /x HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody");
    for _ in 0..3 {
        let mut fresh = probe.connect();
        send_request(&mut fresh, b"GET / HTTP/1.1\r\nHost: probe\r\nConnection: close\r\n\r\n");
        assert_eq!(fresh.read(&mut [0; 10]).unwrap(), 0, "closed as requested");
    }
    let record = probe.end();
    assert_eq!((record.stamps_ns.len(), record.requests, record.connections), (9, 9, 4));
    assert!(record.stamps_ns.is_sorted());
    assert_eq!(record.stamps_omitted, 0);
}

#[test]
fn split_and_pipelined_requests_are_counted() {
    let probe = Running::start(ProbeOptions::default());
    let mut stream = probe.connect();
    stream.write_all(&GET[..7]).unwrap();
    stream.write_all(&GET[7..]).unwrap();
    read_answers(&mut stream, 1);
    stream.write_all(&[GET, GET, &GET[..5]].concat()).unwrap();
    read_answers(&mut stream, 2);
    send_request(&mut stream, &GET[5..]);
    let record = probe.end();
    assert_eq!((record.stamps_ns.len(), record.requests), (4, 4));
}

#[test]
fn a_stall_sends_no_responses_and_stamps_connected_clients() {
    let length = Duration::from_millis(60);
    let probe = Running::start(ProbeOptions {
        stalls: vec![ServerStall { after: Duration::ZERO, length }],
        ..ProbeOptions::default()
    });
    let mut clients: Vec<TcpStream> = (0..3).map(|_| probe.connect()).collect();
    let before = Instant::now();
    for client in &mut clients {
        client.write_all(GET).unwrap();
    }
    for client in &mut clients {
        read_answers(client, 1);
        // No answer can come before the stall is over, and it begins with the first request.
        assert!(before.elapsed() >= length);
    }
    assert_eq!(probe.end().requests, 3);
}

#[test]
fn in_a_stall_requests_have_stamps_and_new_clients_wait() {
    // It begins right after the first request, which is still answered, and outlasts the test.
    let stall = ServerStall { after: Duration::from_nanos(1), length: Duration::from_secs(3_600) };
    let probe = Running::start(ProbeOptions { stalls: vec![stall], ..ProbeOptions::default() });
    let mut client = probe.connect();
    send_request(&mut client, GET);
    client.write_all(GET).unwrap();
    let mut waiting = probe.connect();
    waiting.write_all(GET).unwrap();
    let record = probe.end();
    assert_eq!((record.stamps_ns.len(), record.requests, record.connections), (2, 1, 1));
}

#[test]
fn a_delayed_answer_does_not_delay_others() {
    let delay = Duration::from_millis(30);
    let probe = Running::start(ProbeOptions { delay, ..ProbeOptions::default() });
    let mut clients: Vec<TcpStream> = (0..4).map(|_| probe.connect()).collect();
    let before = Instant::now();
    for client in &mut clients {
        client.write_all(GET).unwrap();
    }
    // One client disconnects before its response is due.
    drop(clients.pop());
    for client in &mut clients {
        read_answers(client, 1);
        assert!(before.elapsed() >= delay);
    }
    assert_eq!(probe.end().requests, 4);
}

#[test]
fn an_invalid_request_ends_only_its_own_connection() {
    let probe = Running::start(ProbeOptions::default());
    let mut good = probe.connect();
    let mut bad = probe.connect();
    bad.write_all(b"\0\0\0\0 what \r\n\r\n").unwrap();
    assert_eq!(bad.read(&mut [0; 10]).unwrap_or(0), 0);
    send_request(&mut good, GET);
    assert_eq!(probe.end().requests, 1);
}
