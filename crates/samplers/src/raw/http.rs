//! The HTTP Raw Request sampler: sends a text over TCP and reads until the peer closes the connection.

use std::any::Any;
use std::io;
use std::path::Path;
use std::time::Duration;

use busyhour_http::{Failure, connect_plainly};
use busyhour_java::{parse_boolean, parse_int};
use busyhour_limits::files::{UPLOAD_BYTES, count_too_large, read_regular};
use busyhour_program::ElementError;
use busyhour_program::result::SampleResult;
use busyhour_program::template::Template;
use busyhour_program::user::{StateId, UserState};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{begin, fail, printed};
use crate::limits::LimitedResponse;
use crate::other::{OtherSampler, SampleRequest, Sampling};
use crate::session::SamplerSession;

/// The HTTP Raw Request sampler of jmeter-plugins.
#[derive(Debug)]
pub struct RawHttp {
    /// `hostname`
    pub host: Template,
    /// `port`; 80 if it is not a number.
    pub port: Template,
    /// `timeout`, milliseconds, for connecting and for reading; 0: none.
    pub timeout: Template,
    /// `data`
    pub data: Template,
    /// `fileName`: sent after the data.
    pub file: Template,
    /// `keepalive`: the connection is reused while it is open.
    pub keep: Template,
    /// `parse`: whether the response is split into code, headers and body.
    pub parse: Template,
    /// Identifies this sampler's connection among those of a user.
    pub id: StateId,
}

/// Connections of a user, by sampler; `None` if the connection is closed, which the plugin does not notice.
#[derive(Debug, Default)]
struct Connections(Vec<(StateId, Option<TcpStream>)>);

impl SamplerSession for Connections {
    fn begin_arrival(&mut self, _keep_connections: bool) {
        self.0.clear();
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

impl RawHttp {
    async fn run(&self, request: SampleRequest<'_>) {
        let SampleRequest { user, session, label, intended, .. } = request;
        let call = Call {
            host: self.host.text(user).into_owned(),
            port: parse_int(&self.port.text(user)).unwrap_or(80),
            timeout: parse_int(&self.timeout.text(user))
                .and_then(|ms| u64::try_from(ms).ok())
                .filter(|ms| *ms > 0)
                .map(Duration::from_millis),
            data: self.data.text(user).into_owned(),
            file: self.file.text(user).into_owned(),
        };
        let keeps = parse_boolean(&self.keep.text(user));
        let parses = parse_boolean(&self.parse.text(user));
        user.begin_result(label, intended);
        begin(user, &call.data);
        let connections = session.others.session_of::<Connections>();
        let known = connections.0.iter().position(|(id, _)| *id == self.id);
        let known = known.map(|at| connections.0.swap_remove(at).1).filter(|_| keeps);
        let connected = match known {
            Some(Some(stream)) => Ok(stream),
            Some(None) => Err("java.nio.channels.ClosedChannelException".into()),
            None => call.connect(user).await,
        };
        let mut open_connection = None;
        let exchanged = match connected {
            Ok(mut stream) => {
                let exchanged = call.exchange(&mut stream, user).await;
                // The connection is closed if it failed or received nothing.
                open_connection = Some(stream)
                    .filter(|_| exchanged.as_ref().is_ok_and(|received| !received.bytes.is_empty()));
                exchanged
            }
            Err(exception) => Err(exception),
        };
        connections.0.push((self.id, open_connection));
        user.result.times.end = user.now();
        match exchanged {
            Ok(LimitedResponse { bytes, memory }) => {
                let received = bytes.len() as u64;
                (user.result.body, user.result.body_memory) = (bytes, memory);
                if parses {
                    parse(&mut user.result);
                }
                // If the parsed body is empty, all received bytes are counted.
                let remaining = user.result.body.len() as u64;
                user.result.sizes.body_bytes = if remaining == 0 { received } else { remaining };
            }
            Err(exception) => {
                fail(user, exception.message());
                if parses {
                    parse(&mut user.result);
                }
            }
        }
    }
}

/// The rendered settings of one sample.
struct Call {
    host: String,
    port: i32,
    timeout: Option<Duration>,
    data: String,
    file: String,
}

impl Call {
    async fn connect(&self, user: &UserState) -> Result<TcpStream, ElementError> {
        let port = u16::try_from(self.port)
            .map_err(|_| format!("java.lang.IllegalArgumentException: port out of range:{}", self.port))?;
        let connected = connect_plainly(&self.host, port, self.timeout, &user.run.clock).await;
        connected.map_err(|failure| match failure.class {
            "java.net.SocketTimeoutException" => {
                format!("{}: Failed to connect to {}:{port}", failure.class, self.host).into()
            }
            _ => printed(&failure).into(),
        })
    }

    async fn exchange(
        &self,
        stream: &mut TcpStream,
        user: &mut UserState,
    ) -> Result<LimitedResponse, ElementError> {
        let broken = |error: io::Error| match error.kind() {
            io::ErrorKind::BrokenPipe => "java.io.IOException: Broken pipe".to_owned(),
            _ => printed(&Failure::socket(&error)),
        };
        stream.write_all(self.data.as_bytes()).await.map_err(broken)?;
        if !self.file.is_empty() {
            let bytes = tokio::task::spawn_blocking({
                let path = self.file.clone();
                move || read_regular(Path::new(&path), UPLOAD_BYTES)
            });
            let bytes = bytes.await.map_err(|error| error.to_string())?.map_err(|error| {
                count_too_large(&error);
                let text = error.to_string();
                let why = text.split(" (os error").next().unwrap_or(&text);
                format!("java.io.FileNotFoundException: {} ({why})", self.file)
            })?;
            stream.write_all(&bytes).await.map_err(broken)?;
        }
        let mut received = LimitedResponse::default();
        let mut buffer = [0; 8 << 10];
        loop {
            let read = stream.read(&mut buffer);
            let count = match self.timeout {
                None => read.await,
                Some(limit) => tokio::time::timeout(limit, read).await.map_err(|_| {
                    "java.net.SocketTimeoutException: Timeout exceeded while reading from socket".to_owned()
                })?,
            };
            match count.map_err(broken)? {
                0 => return Ok(received),
                count => {
                    if received.bytes.is_empty() {
                        user.result.times.latency_ns = user.now().since(user.result.times.start);
                    }
                    received.append(&buffer[..count]).map_err(|why| format!("java.io.IOException: {why}"))?;
                }
            }
        }
    }
}

/// Parses code, message, headers and body from a response that begins with a status line. Only the first line of the
/// body (up to CR LF) is retained, as in the plugin.
fn parse(result: &mut SampleResult) {
    let text = String::from_utf8_lossy(&result.body).into_owned();
    let Some((status, mut rest)) = next_line(&text) else { return };
    let Some(first) = status.find(' ') else { return };
    let Some(second) = status[first + 1..].find(' ').map(|at| first + 1 + at) else { return };
    let code = status[first..second].trim();
    if !parse_int(code).is_some_and(|code| (100..=599).contains(&code)) {
        return;
    }
    result.outcome.code = code.to_owned();
    result.outcome.message = status[second..].trim().to_owned();
    if rest.is_empty() {
        return;
    }
    let mut headers = String::new();
    while let Some((line, after)) = next_line(rest) {
        rest = after;
        if line.is_empty() {
            break;
        }
        headers.push_str(line);
        headers.push_str("\r\n");
    }
    result.response_headers = headers;
    let body = rest.strip_prefix("\r\n").unwrap_or(rest);
    result.body = body.split("\r\n").next().unwrap_or_default().as_bytes().to_vec();
}

/// Returns the first line of a text and the rest; `None` if the text is empty.
fn next_line(text: &str) -> Option<(&str, &str)> {
    if text.is_empty() {
        return None;
    }
    let ends = ['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}'];
    match text.find(ends) {
        None => Some((text, "")),
        Some(at) => {
            let after = &text[at..];
            let end =
                if after.starts_with("\r\n") { 2 } else { after.chars().next().map_or(0, char::len_utf8) };
            Some((&text[..at], &after[end..]))
        }
    }
}

impl OtherSampler for RawHttp {
    fn sample<'a>(&'a self, request: SampleRequest<'a>) -> Sampling<'a> {
        Box::pin(self.run(request))
    }
}

#[cfg(test)]
mod tests {
    use busyhour_sample::SampleOutcome;

    use super::*;

    fn parsed(text: &str) -> (String, String, String, String) {
        let mut result = SampleResult {
            body: text.into(),
            outcome: SampleOutcome { code: "200".into(), ..SampleOutcome::default() },
            ..SampleResult::default()
        };
        parse(&mut result);
        let body = String::from_utf8(result.body).unwrap();
        (result.outcome.code, result.outcome.message, result.response_headers, body)
    }

    #[test]
    fn responses_are_parsed_as_in_the_plugin() {
        let texts = |code: &str, message: &str, headers: &str, body: &str| {
            (code.to_owned(), message.to_owned(), headers.to_owned(), body.to_owned())
        };
        assert_eq!(
            parsed("HTTP/1.1 404 Not Found\r\nA: b\r\n\r\nbody\nmore\r\nrest"),
            texts("404", "Not Found", "A: b\r\n", "body\nmore")
        );
        assert_eq!(parsed("HTTP/1.1 200 OK\r\nA: b\r\n\r\n"), texts("200", "OK", "A: b\r\n", ""));
        assert_eq!(parsed("SSH-2.0-x y\r\n"), texts("200", "", "", "SSH-2.0-x y\r\n"));
        assert_eq!(parsed("HTTP/1.1 999 Odd\r\n"), texts("200", "", "", "HTTP/1.1 999 Odd\r\n"));
        assert_eq!(parsed(""), texts("200", "", "", ""));
    }
}
