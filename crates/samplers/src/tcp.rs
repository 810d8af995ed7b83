//! The TCP Sampler: sends text or bytes and reads the response until its end.

mod client;
mod status;

use std::any::Any;
use std::time::Duration;

use busyhour_http::{Failure, connect_plainly};
use busyhour_java::{parse_boolean, parse_int};
use busyhour_program::run::LogLevel;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::DataType;
pub use client::{TcpClient, TcpProperties};
use socket2::SockRef;
pub use status::StatusProperties;
use tokio::net::TcpStream;

use crate::other::{OtherSampler, SampleRequest, Sampling};
use crate::session::SamplerSession;

/// The TCP Sampler, with the defaults of its scope.
#[derive(Debug)]
pub struct Tcp {
    /// `TCPSampler.classname`: how the request and the response are framed.
    pub client: TcpClient,
    /// `TCPSampler.server`
    pub server: Template,
    /// `TCPSampler.port`
    pub port: Template,
    /// `TCPSampler.reUseConnection`; missing: true.
    pub reuse: Template,
    /// `TCPSampler.closeConnection`
    pub close: Template,
    /// `TCPSampler.nodelay`
    pub no_delay: Template,
    /// `TCPSampler.soLinger`, seconds; empty: the system's default.
    pub linger: Template,
    /// `TCPSampler.EolByte`; empty: the value of the property.
    pub end: Template,
    /// `TCPSampler.ctimeout`, milliseconds.
    pub connect_timeout: Template,
    /// `TCPSampler.timeout`, milliseconds.
    pub timeout: Template,
    /// `TCPSampler.request`
    pub request: Template,
    /// User name and password of a Login Config: connections with a different login are not shared.
    pub login: (Template, Template),
    /// `tcp.*`
    pub properties: TcpProperties,
    /// `tcp.status.*`
    pub status: StatusProperties,
}

/// Java's exception for an invalid port.
const BAD_PORT: &str = "java.lang.IllegalArgumentException";

/// Open connections of a user, by the same keys as in Java's sampler.
#[derive(Debug, Default)]
struct Connections(Vec<(String, TcpStream)>);

impl SamplerSession for Connections {
    fn begin_arrival(&mut self, keep_connections: bool) {
        if !keep_connections {
            self.0.clear();
        }
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

impl Connections {
    fn take(&mut self, key: &str) -> Option<TcpStream> {
        let at = self.0.iter().position(|(known, _)| known == key)?;
        Some(self.0.swap_remove(at).1)
    }
}

/// The rendered settings of one sample.
struct Call {
    server: String,
    port: i32,
    reuse: bool,
    close: bool,
    no_delay: bool,
    linger: Option<i32>,
    end: i32,
    connect_timeout: Option<Duration>,
    timeout: Option<Duration>,
    request: String,
    key: String,
}

fn milliseconds(text: &str) -> Option<Duration> {
    let ms = parse_int(text).and_then(|ms| u64::try_from(ms).ok()).filter(|ms| *ms > 0)?;
    Some(Duration::from_millis(ms))
}

impl Call {
    fn new(sampler: &Tcp, user: &mut UserState) -> Self {
        let server = sampler.server.text(user).into_owned();
        let port = parse_int(&sampler.port.text(user)).unwrap_or(0);
        let (name, password) = &sampler.login;
        let key = format!("{server}#{port}#{}#{}", name.text(user), password.text(user));
        let reuse = sampler.reuse.text(user);
        Self {
            port,
            reuse: reuse.is_empty() || parse_boolean(&reuse),
            close: parse_boolean(&sampler.close.text(user)),
            no_delay: parse_boolean(&sampler.no_delay.text(user)),
            linger: Some(sampler.linger.text(user))
                .filter(|text| !text.is_empty())
                .map(|text| parse_int(&text).unwrap_or(0)),
            end: parse_int(&sampler.end.text(user)).unwrap_or(0),
            connect_timeout: milliseconds(&sampler.connect_timeout.text(user)),
            timeout: milliseconds(&sampler.timeout.text(user)),
            request: sampler.request.text(user).into_owned(),
            server,
            key,
        }
    }

    /// A description of the request, for a sample that sent no request.
    fn describe(&self) -> String {
        let Self { server, port, reuse, close, no_delay, end, .. } = self;
        let linger = self.linger.unwrap_or(0);
        format!(
            "Host: {server} Port: {port}\nReuse: {reuse} Close: {close}\n[SOLINGER: {linger} EOL: {end} noDelay: {no_delay}]"
        )
    }
}

/// Formats an exception as Java does.
fn printed(failure: &Failure) -> String {
    format!("{}: {}", failure.class, failure.message)
}

impl Tcp {
    async fn run(&self, request: SampleRequest<'_>) {
        let SampleRequest { user, session, label, intended, .. } = request;
        let call = Call::new(self, user);
        let end = self.client.end_byte(&self.end.text(user), &self.properties);
        user.begin_result(label, intended);
        let start = user.result.times.start;
        user.result.request_data = call.describe();
        user.result.outcome.success = false;
        let connections = session.others.session_of::<Connections>();
        let known = connections.take(&call.key).filter(|_| call.reuse);
        let connected = match known {
            Some(stream) => Ok(stream),
            None => connect(&call, user).await,
        };
        user.result.times.connect_ns = user.now().since(start);
        match connected {
            Err(failure) => {
                user.result.outcome.code.push_str("500");
                user.result.outcome.message = printed(&failure);
                if failure.class == BAD_PORT {
                    user.result.content.data_type = DataType::Text;
                    user.result.content.encoding.push_str("UTF-8");
                }
            }
            Ok(mut stream) => {
                let _ = stream.set_nodelay(call.no_delay);
                user.result.request_data.clone_from(&call.request);
                let exchanged = self.client.exchange(
                    &mut stream,
                    &call.request,
                    end,
                    call.timeout,
                    &self.properties,
                    user,
                );
                let exchanged = exchanged.await;
                let broken = exchanged.error.is_some();
                let usable = self.finish(user, exchanged);
                if call.reuse && !call.close && !broken && usable {
                    connections.0.push((call.key, stream));
                }
            }
        }
        user.result.times.end = user.now();
    }

    /// Writes the response into the result; returns whether the connection can be reused.
    fn finish(&self, user: &mut UserState, exchanged: client::Exchanged) -> bool {
        if let Some(error) = &exchanged.error {
            user.log(LogLevel::Error, error);
        }
        let result = &mut user.result;
        result.content.data_type = DataType::Text;
        result.content.encoding.push_str("UTF-8");
        result.body = exchanged.text.into_bytes();
        result.body_memory = exchanged.memory;
        result.sizes.body_bytes = result.body.len() as u64;
        match exchanged.error {
            None => {
                result.outcome.success = true;
                result.outcome.code.push_str("200");
                result.outcome.message.push_str("OK");
            }
            Some(error) => {
                result.outcome.code.push_str("500");
                result.outcome.message.push_str(&error);
            }
        }
        self.status.apply(result)
    }
}

async fn connect(call: &Call, user: &UserState) -> Result<TcpStream, Failure> {
    let Ok(port) = u16::try_from(call.port) else {
        let message = format!("port out of range:{}", call.port);
        return Err(Failure::new(BAD_PORT, message));
    };
    let stream = connect_plainly(&call.server, port, call.connect_timeout, &user.run.clock).await?;
    if let Some(seconds) = call.linger {
        let seconds = u64::try_from(seconds).ok().map(Duration::from_secs);
        let _ = SockRef::from(&stream).set_linger(seconds);
    }
    Ok(stream)
}

impl OtherSampler for Tcp {
    fn sample<'a>(&'a self, request: SampleRequest<'a>) -> Sampling<'a> {
        Box::pin(self.run(request))
    }
}
