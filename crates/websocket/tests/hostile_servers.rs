//! Servers that exceed the limits of a WebSocket sampler: the sample fails, its message names the limit, and the
//! connection is closed.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use busyhour_http::SharedHttp;
use busyhour_limits::Limit;
use busyhour_program::clock::Clock;
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::run::{GroupShared, JmeterProperties, RunShared};
use busyhour_program::sampler::Protocol as _;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_program::variables::Names;
use busyhour_samplers::{AnySampler, AnySession};
use busyhour_websocket::limits::FILTERED_FRAMES_MAX;
use busyhour_websocket::{Action, FrameFilter, PingKind, Target, WebSocketSampler};
use sha1::{Digest as _, Sha1};

/// Starts a server that reads a handshake request and calls `behaviour` with its key; returns the port.
fn start_server(behaviour: impl Fn(&mut TcpStream, &str) + Send + 'static) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let head: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            let key = head.iter().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "));
            behaviour(&mut stream, key.unwrap_or_default());
        }
    });
    port
}

/// Starts a server that accepts the handshake and then sends these bytes repeatedly; returns the port.
fn start_sending_server(bytes: Vec<u8>, times: usize) -> u16 {
    start_server(move |stream, key| {
        let accept =
            BASE64_STANDARD.encode(Sha1::digest(format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11")));
        let head = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {accept}\r\n\r\n"
        );
        let _ = stream.write_all(head.as_bytes());
        // The client closes the connection at its limit.
        let _ = (0..times).try_for_each(|_| stream.write_all(&bytes));
    })
}

fn text(text: &str) -> Template {
    Template::literal(text)
}

fn read_sampler(port: u16, filters: Vec<FrameFilter>) -> WebSocketSampler {
    WebSocketSampler {
        action: Action::Read {
            data_type: text("Text"),
            binary: Template::default(),
            optional: Template::default(),
        },
        target: Target {
            secure: Template::default(),
            server: text("127.0.0.1"),
            port: text(&port.to_string()),
            path: text("/"),
        },
        fresh: text("true"),
        connect_timeout: text("20000"),
        read_timeout: text("60000"),
        headers: Box::default(),
        cookies: None,
        filters: filters.into_boxed_slice(),
        size_of_filtered: false,
        shared: Arc::new(SharedHttp::default()),
    }
}

fn ping_filter() -> Vec<FrameFilter> {
    vec![FrameFilter::Ping { kind: PingKind::All, replies: false }]
}

/// Makes one sample.
fn sample(sampler: WebSocketSampler) -> SampleResult {
    let run = RunShared::new(
        1,
        Clock::start(),
        Arc::new(JmeterProperties::new(HashMap::new())),
        Arc::new(Names::default()),
        vec![GroupShared::new("group".into(), 1, Vec::new())],
        0,
        Box::new(|_, _| {}),
    );
    let mut user = UserState::new(Arc::new(run), None, 0, 0);
    let mut session = AnySession::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (label, intended) = (text("label"), user.now());
    let sampler = AnySampler::Other(Box::new(sampler));
    runtime.block_on(sampler.sample(&mut user, &mut session, &label, intended, Retention::ALL));
    user.result
}

#[track_caller]
fn assert_limited(result: &SampleResult, limit: Limit, message: &str) {
    assert!(!result.outcome.success);
    assert_eq!(
        (result.outcome.code.as_str(), &*result.outcome.message),
        ("Sampler error", &*format!("Sampler error: {message}"))
    );
    assert_eq!(busyhour_limits::take_counts(), [(limit, 1)]);
}

#[test]
fn endless_handshake_responses_are_limited() {
    let port = start_server(|stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 101 Switching Protocols\r\n");
        // Many small headers: parsing must not scan all of them again for each received piece.
        let line = b"a: b\r\n".repeat(1000);
        let _ = (0..1000).try_for_each(|_| stream.write_all(&line));
    });
    let result = sample(read_sampler(port, Vec::new()));
    assert_limited(&result, Limit::HeadBytes, "The handshake response is longer than 1 MiB");
}

#[test]
fn frame_lengths_are_limited() {
    let mut head = vec![0x81, 127];
    head.extend_from_slice(&(1_u64 << 30).to_be_bytes());
    let result = sample(read_sampler(start_sending_server(head, 1), Vec::new()));
    assert_limited(&result, Limit::FrameBytes, "The frames of the sample exceed the limit of 64 MiB");
}

#[test]
fn the_number_of_control_frames_is_limited() {
    let ping = [0x89, 0].repeat(1000);
    let result = sample(read_sampler(start_sending_server(ping, 1000), ping_filter()));
    assert_limited(&result, Limit::FilteredFrames, "Filters discarded more than 10000 frames in one sample");
    assert_eq!(result.sub_results.len(), FILTERED_FRAMES_MAX as usize);
}

#[test]
fn the_total_size_of_filtered_frames_is_limited() {
    let mut ping = vec![0x89, 127];
    ping.extend_from_slice(&(1_u64 << 20).to_be_bytes());
    ping.resize(ping.len() + (1 << 20), b'x');
    let result = sample(read_sampler(start_sending_server(ping, 100), ping_filter()));
    assert_limited(&result, Limit::FrameBytes, "The frames of the sample exceed the limit of 64 MiB");
    assert_eq!(result.sub_results.len(), 63);
}

#[test]
fn many_frames_within_the_limits_are_received() {
    let mut frames = [0x89, 0].repeat(5000);
    frames.extend_from_slice(&[0x81, 2, b'o', b'k']);
    let result = sample(read_sampler(start_sending_server(frames, 1), ping_filter()));
    assert!(result.outcome.success, "{} {}", result.outcome.code, result.outcome.message);
    assert_eq!((result.body.as_slice(), result.sub_results.len()), (b"ok".as_slice(), 5000));
    assert!(busyhour_limits::take_counts().is_empty());
}
