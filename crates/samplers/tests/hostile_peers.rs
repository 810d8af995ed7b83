//! Peers that send, or announce, a response beyond the limit: the sample fails and its message names the limit.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;

use busyhour_limits::Limit;
use busyhour_program::clock::Clock;
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::run::{GroupShared, JmeterProperties, RunShared};
use busyhour_program::sampler::Protocol as _;
use busyhour_program::template::Template;
use busyhour_program::user::{StateId, UserState};
use busyhour_program::variables::Names;
use busyhour_sample::Nanos;
use busyhour_samplers::limits::RESPONSE_BYTES_MAX;
use busyhour_samplers::{AnySampler, AnySession, RawHttp, StatusProperties, Tcp, TcpClient, TcpProperties};

/// Accepts one connection after another and passes each to `behaviour`; returns the port.
fn peer(behaviour: impl Fn(&mut TcpStream) + Send + 'static) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 1024];
            if stream.read(&mut request).is_ok_and(|count| count > 0) {
                behaviour(&mut stream);
            }
        }
    });
    port
}

/// Sends this number of bytes, or fewer if the peer closes the connection.
fn send(stream: &mut TcpStream, bytes: usize) {
    let piece = [b'x'; 1 << 16];
    let mut left = bytes;
    while left > 0 {
        let count = left.min(piece.len());
        if stream.write_all(&piece[..count]).is_err() {
            return;
        }
        left -= count;
    }
}

fn text(text: &str) -> Template {
    Template::literal(text)
}

fn tcp(client: TcpClient, port: u16) -> Tcp {
    Tcp {
        client,
        server: text("127.0.0.1"),
        port: text(&port.to_string()),
        reuse: text("true"),
        close: Template::default(),
        no_delay: Template::default(),
        linger: Template::default(),
        end: Template::default(),
        connect_timeout: Template::default(),
        timeout: Template::default(),
        request: text("00"),
        login: (Template::default(), Template::default()),
        properties: TcpProperties { prefix_bytes: 4, ..TcpProperties::default() },
        status: StatusProperties::default(),
    }
}

fn raw(port: u16) -> RawHttp {
    RawHttp {
        host: text("127.0.0.1"),
        port: text(&port.to_string()),
        timeout: Template::default(),
        data: text("GET / HTTP/1.0\r\n\r\n"),
        file: Template::default(),
        keep: text("true"),
        parse: Template::default(),
        id: StateId(0),
    }
}

/// Makes one sample.
fn sample(sampler: AnySampler) -> SampleResult {
    sample_until(sampler, None)
}

/// Makes one sample with a Sample Timeout.
fn sample_until(sampler: AnySampler, interrupt_at: Option<Nanos>) -> SampleResult {
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
    user.interrupt_at = interrupt_at;
    let mut session = AnySession::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (label, intended) = (text("label"), user.now());
    runtime.block_on(sampler.sample(&mut user, &mut session, &label, intended, Retention::ALL));
    user.result
}

#[track_caller]
fn assert_rejected(result: &SampleResult, class: &str) {
    let message = format!("{class}: The response is longer than the 64 MiB that are retained in memory");
    assert_eq!(
        (result.outcome.success, result.outcome.code.as_str(), result.outcome.message.as_str()),
        (false, "500", &*message)
    );
    assert!(result.body.len() < 1000, "{}", result.body.len());
    assert_eq!(busyhour_limits::take_counts(), [(Limit::BodyBytes, 1)]);
}

#[test]
fn an_endless_text_is_rejected() {
    let port = peer(|stream| send(stream, RESPONSE_BYTES_MAX + 1));
    for client in [TcpClient::Text, TcpClient::Binary] {
        let result = sample(AnySampler::Other(Box::new(tcp(client, port))));
        assert_rejected(&result, "org.apache.jmeter.protocol.tcp.sampler.ReadException");
    }
    assert_rejected(&sample(AnySampler::Other(Box::new(raw(port)))), "java.io.IOException");
}

#[test]
fn no_memory_is_allocated_for_an_announced_length() {
    // Announces two GiB and sends none of it.
    let port = peer(|stream| stream.write_all(&[0x7f, 0xff, 0xff, 0xff]).unwrap());
    let result = sample(AnySampler::Other(Box::new(tcp(TcpClient::LengthPrefixed, port))));
    assert_rejected(&result, "org.apache.jmeter.protocol.tcp.sampler.ReadException");
}

/// The deadline can pass before the request is sent if connecting takes long or the core is late.
#[test]
fn a_timeout_that_has_passed_interrupts_a_silent_peer() {
    let port = peer(|stream| {
        let _ = stream.read(&mut [0]);
    });
    for client in [TcpClient::Text, TcpClient::Binary, TcpClient::LengthPrefixed] {
        let result = sample_until(AnySampler::Other(Box::new(tcp(client, port))), Some(Nanos::ZERO));
        assert_eq!(
            (result.outcome.success, result.outcome.code.as_str()),
            (false, "500"),
            "{}",
            result.outcome.message
        );
    }
}

#[test]
fn long_responses_within_the_limit_are_kept() {
    let port = peer(|stream| send(stream, 1 << 20));
    let result = sample(AnySampler::Other(Box::new(tcp(TcpClient::Text, port))));
    assert_eq!((result.outcome.success, result.body.len()), (true, 1 << 20), "{}", result.outcome.message);
    let result = sample(AnySampler::Other(Box::new(raw(port))));
    assert_eq!((result.outcome.success, result.body.len()), (true, 1 << 20), "{}", result.outcome.message);
    assert!(busyhour_limits::take_counts().is_empty());
}
