//! The UDP Request sampler.

use std::any::Any;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use busyhour_http::resolve_plainly;
use busyhour_java::{parse_boolean, parse_int};
use busyhour_program::ElementError;
use busyhour_program::template::Template;
use busyhour_program::user::{StateId, UserState};
use tokio::net::UdpSocket;

use super::{begin, fail, printed};
use crate::hex::{from_hex, hex};
use crate::other::{OtherSampler, SampleRequest, Sampling};
use crate::session::SamplerSession;

/// How the text of a request is encoded as a packet, and how a packet is decoded as a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UdpCoder {
    /// The request is encoded in Windows-1252; the response is the received bytes.
    Raw,
    /// Request and response are hexadecimal digits.
    Hex,
}

impl UdpCoder {
    /// Returns the coder for this class; `None` if the class needs a JVM.
    pub fn named(class: &str) -> Option<Self> {
        match class.trim() {
            "" => Some(Self::Raw),
            "kg.apc.jmeter.samplers.HexStringUDPDecoder" => Some(Self::Hex),
            _ => None,
        }
    }

    fn encode(self, text: &str) -> Result<Vec<u8>, ElementError> {
        match self {
            Self::Hex => {
                from_hex(text).map_err(|why| format!("java.lang.IllegalArgumentException: {why}").into())
            }
            Self::Raw => {
                let mut bytes = Vec::with_capacity(text.len());
                for character in text.chars() {
                    let mut buffer = [0; 4];
                    let encoded_character = &*character.encode_utf8(&mut buffer);
                    match encoding_rs::WINDOWS_1252.encode(encoded_character) {
                        (encoded, _, false) => bytes.extend_from_slice(&encoded),
                        _ => bytes.push(b'?'),
                    }
                }
                Ok(bytes)
            }
        }
    }

    fn decode(self, bytes: Vec<u8>) -> Vec<u8> {
        match self {
            Self::Raw => bytes,
            Self::Hex => hex(&bytes).into_bytes(),
        }
    }
}

/// The UDP Request sampler of jmeter-plugins.
#[derive(Debug)]
pub struct Udp {
    /// `hostname`
    pub host: Template,
    /// `port`
    pub port: Template,
    /// `waitresponse`: whether the sampler waits for a response.
    pub waits: Template,
    /// `timeout`, milliseconds; 0: none.
    pub timeout: Template,
    /// `data`
    pub data: Template,
    /// `encodeclass`
    pub coder: UdpCoder,
    /// `closechannel`: whether the socket is closed after the sample.
    pub close: Template,
    /// `bind_address`; empty: any address.
    pub bind_address: Template,
    /// `bind_port`; empty: any port.
    pub bind_port: Template,
    /// Identifies this sampler's socket among those of a user.
    pub id: StateId,
}

/// The open sockets of a user, by sampler.
#[derive(Debug, Default)]
struct Sockets(Vec<(StateId, UdpSocket)>);

impl SamplerSession for Sockets {
    fn begin_arrival(&mut self, _keep_connections: bool) {
        // A late response to the previous user must not reach the next one.
        self.0.clear();
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

impl Udp {
    async fn run(&self, request: SampleRequest<'_>) {
        let SampleRequest { user, session, label, intended, .. } = request;
        let data = self.data.text(user).into_owned();
        let waits = parse_boolean(&self.waits.text(user));
        let closes = parse_boolean(&self.close.text(user));
        let address = Address::new(self, user);
        let timeout = parse_int(&self.timeout.text(user)).and_then(|ms| u64::try_from(ms).ok());
        let timeout = timeout.filter(|ms| *ms > 0).map(Duration::from_millis);
        user.begin_result(label, intended);
        begin(user, &data);
        let sockets = session.others.session_of::<Sockets>();
        let known = sockets.0.iter().position(|(id, _)| *id == self.id);
        let socket = match known {
            Some(at) => Ok(sockets.0.swap_remove(at).1),
            None => address.open(user).await,
        };
        let exchanged = match socket {
            Err(exception) => Err(exception),
            Ok(socket) => {
                user.result.times.connect_ns = user.now().since(user.result.times.start);
                let exchanged = self.exchange(&socket, &data, waits.then_some(timeout), user).await;
                // As in the plugin, only a failed read closes the socket.
                let broken = matches!(&exchanged, Err(ExchangeError { reading: true, .. }));
                if !closes && !broken {
                    sockets.0.push((self.id, socket));
                }
                exchanged.map_err(|broken| broken.exception)
            }
        };
        match exchanged {
            Ok(bytes) => {
                user.result.sizes.body_bytes = bytes.len() as u64;
                user.result.body = bytes;
            }
            Err(exception) => fail(user, exception.message()),
        }
        user.result.times.end = user.now();
    }

    /// Sends the packet and, if `wait` is not `None`, waits for a response, with an optional timeout.
    async fn exchange(
        &self,
        socket: &UdpSocket,
        data: &str,
        wait: Option<Option<Duration>>,
        user: &mut UserState,
    ) -> Result<Vec<u8>, ExchangeError> {
        let sending = |exception: ElementError| ExchangeError { reading: false, exception };
        let packet = self.coder.encode(data).map_err(sending)?;
        if !packet.is_empty() {
            socket.send(&packet).await.map_err(|error| sending(exception(&error).into()))?;
        }
        let received = match wait {
            None => Vec::new(),
            Some(timeout) => {
                let mut buffer = vec![0; 4096];
                let receive = socket.recv(&mut buffer);
                let received = match timeout {
                    None => receive.await,
                    Some(limit) => match tokio::time::timeout(limit, receive).await {
                        Ok(received) => received,
                        Err(_) => Err(io::ErrorKind::TimedOut.into()),
                    },
                };
                let count = received
                    .map_err(|error| ExchangeError { reading: true, exception: exception(&error).into() })?;
                buffer.truncate(count);
                self.coder.decode(buffer)
            }
        };
        user.result.times.latency_ns = user.now().since(user.result.times.start);
        Ok(received)
    }
}

/// An exception, and whether it occurred while waiting for the response.
struct ExchangeError {
    reading: bool,
    exception: ElementError,
}

fn exception(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::TimedOut => {
            "java.net.SocketTimeoutException: Timeout exceeded while reading from socket".into()
        }
        io::ErrorKind::ConnectionRefused => "java.net.PortUnreachableException".into(),
        _ => printed(&busyhour_http::Failure::socket(error)),
    }
}

/// The remote and local addresses of the packets.
struct Address {
    host: String,
    port: String,
    bind_address: String,
    bind_port: i32,
}

impl Address {
    fn new(sampler: &Udp, user: &mut UserState) -> Self {
        let bind_address = sampler.bind_address.text(user).into_owned();
        Self {
            host: sampler.host.text(user).into_owned(),
            port: sampler.port.text(user).into_owned(),
            bind_address: if bind_address.is_empty() { "0.0.0.0".into() } else { bind_address },
            bind_port: parse_int(&sampler.bind_port.text(user)).unwrap_or(0),
        }
    }

    async fn open(&self, user: &UserState) -> Result<UdpSocket, ElementError> {
        // In the plugin, writing to a socket that could not be opened causes this exception.
        const NO_CHANNEL: &str = "java.lang.NullPointerException: Cannot invoke \
                                  \"java.nio.channels.DatagramChannel.write(java.nio.ByteBuffer)\" because \
                                  \"this.channel\" is null";
        let clock = &user.run.clock;
        let bind_port = u16::try_from(self.bind_port).map_err(|_| {
            format!("java.lang.IllegalArgumentException: port out of range:{}", self.bind_port)
        })?;
        let from = resolve_plainly(&self.bind_address, bind_port, clock).await.map_err(|f| printed(&f))?;
        let socket = UdpSocket::bind(from).await.map_err(|_| NO_CHANNEL.to_owned())?;
        let number = parse_int(&self.port)
            .ok_or_else(|| format!("java.lang.NumberFormatException: For input string: \"{}\"", self.port))?;
        let port = u16::try_from(number)
            .map_err(|_| format!("java.lang.IllegalArgumentException: port out of range:{number}"))?;
        let to: SocketAddr = resolve_plainly(&self.host, port, clock).await.map_err(|f| printed(&f))?;
        socket.connect(to).await.map_err(|_| NO_CHANNEL.to_owned())?;
        Ok(socket)
    }
}

impl OtherSampler for Udp {
    fn sample<'a>(&'a self, request: SampleRequest<'a>) -> Sampling<'a> {
        Box::pin(self.run(request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_encoded_and_decoded_as_in_the_plugin() {
        assert_eq!(UdpCoder::Raw.encode("aü€\u{4e2d}"), Ok(vec![b'a', 0xfc, 0x80, b'?']));
        assert_eq!(UdpCoder::Hex.encode("00ff"), Ok(vec![0, 255]));
        assert!(
            UdpCoder::Hex
                .encode("0")
                .unwrap_err()
                .message()
                .starts_with("java.lang.IllegalArgumentException: ")
        );
        assert_eq!(UdpCoder::Hex.decode(vec![1, 171]), b"01ab");
        assert_eq!(UdpCoder::named("kg.apc.jmeter.samplers.DNSJavaDecoder"), None);
    }
}
