//! JMeter's three TCP clients: they write the request and detect the end of the response.

use std::io;
use std::time::Duration;

use busyhour_http::Failure;
use busyhour_java::parse_int;
use busyhour_program::ElementError;
use busyhour_program::body_memory::BodyMemory;
use busyhour_program::run::LogLevel;
use busyhour_program::user::UserState;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::hex::{from_hex, hex};
use crate::limits::{LimitedResponse, RESPONSE_BYTES_MAX, too_long};
use crate::other::Interrupt;

/// JMeter's TCP clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpClient {
    /// `TCPClientImpl`: a text that ends with an end byte or with the connection.
    Text,
    /// `BinaryTCPClientImpl`: bytes that end in the same way, written as hexadecimal digits.
    Binary,
    /// `LengthPrefixedBinaryTCPClientImpl`: bytes preceded by their number.
    LengthPrefixed,
}

impl TcpClient {
    /// Returns the client of this class, with or without its package.
    pub fn named(class: &str) -> Option<Self> {
        let class = class.strip_prefix("org.apache.jmeter.protocol.tcp.sampler.").unwrap_or(class);
        match class {
            "TCPClientImpl" => Some(Self::Text),
            "BinaryTCPClientImpl" => Some(Self::Binary),
            "LengthPrefixedBinaryTCPClientImpl" => Some(Self::LengthPrefixed),
            _ => None,
        }
    }
}

/// JMeter's properties for its TCP clients.
#[derive(Clone, Copy, Debug)]
pub struct TcpProperties {
    /// `tcp.eolByte`; a value that is not a byte means none.
    pub end_of_text: i32,
    /// `tcp.BinaryTCPClient.eomByte`; a value that is not a byte means none.
    pub end_of_message: i32,
    /// `tcp.binarylength.prefix.length`: 2 or 4 bytes.
    pub prefix_bytes: usize,
}

impl Default for TcpProperties {
    fn default() -> Self {
        Self { end_of_text: 1000, end_of_message: 1000, prefix_bytes: 2 }
    }
}

/// The response, and the exception that ended it, if there was one.
pub(super) struct Exchanged {
    pub(super) text: String,
    /// The part of the memory for all responses that the text uses.
    pub(super) memory: BodyMemory,
    pub(super) error: Option<String>,
}

impl Exchanged {
    fn failed(error: impl Into<String>) -> Self {
        Self { text: String::new(), memory: BodyMemory::default(), error: Some(error.into()) }
    }

    fn limited(why: &str) -> Self {
        Self::failed(format!("org.apache.jmeter.protocol.tcp.sampler.ReadException: {why}"))
    }

    /// A response as hexadecimal digits.
    fn hexadecimal(mut received: LimitedResponse, error: Option<String>) -> Self {
        match received.reserve(3) {
            Ok(()) => Self { text: hex(&received.bytes), memory: received.memory, error },
            Err(why) => Self::limited(&why),
        }
    }
}

fn printed(failure: &Failure) -> String {
    format!("{}: {}", failure.class, failure.message)
}

/// The bytes that were read, and the error that ended reading, if there was one.
struct Read {
    received: LimitedResponse,
    error: Option<io::Error>,
}

impl TcpClient {
    /// The byte that ends a response, if there is one; `text` is the setting of the sampler.
    pub(super) fn end_byte(self, text: &str, properties: &TcpProperties) -> Option<u8> {
        let byte = |value: i32| i8::try_from(value).ok().map(i8::cast_unsigned);
        match self {
            Self::LengthPrefixed => None,
            _ if !text.is_empty() => byte(parse_int(text).unwrap_or(0)),
            Self::Text => byte(properties.end_of_text),
            Self::Binary => byte(properties.end_of_message),
        }
    }

    /// Writes the request and reads the response; records when its first byte arrived.
    pub(super) async fn exchange(
        self,
        stream: &mut TcpStream,
        request: &str,
        end: Option<u8>,
        timeout: Option<Duration>,
        properties: &TcpProperties,
        user: &mut UserState,
    ) -> Exchanged {
        let bytes = match self.request(request, properties) {
            Ok(bytes) => bytes,
            Err(message) => {
                return Exchanged::failed(format!("java.lang.IllegalArgumentException: {message}"));
            }
        };
        // An interrupt must close the connection.
        let interrupt = &Interrupt::for_user(user);
        let written =
            interrupt.wait_for(stream.write_all(&bytes)).await.unwrap_or_else(|| Err(interrupted()));
        if let Err(error) = written {
            return Exchanged::failed(printed(&Failure::socket(&error)));
        }
        match self {
            Self::Text => {
                let Read { received, error } = match read(stream, end, timeout, interrupt, user).await {
                    Ok(read) => read,
                    Err(why) => return Exchanged::limited(&why),
                };
                let read = received.bytes.len();
                Exchanged {
                    text: String::from_utf8(received.bytes)
                        .unwrap_or_else(|other| String::from_utf8_lossy(other.as_bytes()).into_owned()),
                    memory: received.memory,
                    error: error.map(|_| {
                        format!(
                            "org.apache.jmeter.protocol.tcp.sampler.ReadException: Error reading from server, bytes read: {read}"
                        )
                    }),
                }
            }
            Self::Binary => {
                let Read { received, error } = match read(stream, end, timeout, interrupt, user).await {
                    Ok(read) => read,
                    Err(why) => return Exchanged::limited(&why),
                };
                let error = error.and_then(|error| match (error.kind(), end) {
                    // Without an end byte, a timeout is the regular end of the response.
                    (io::ErrorKind::TimedOut, None) => None,
                    (io::ErrorKind::TimedOut, Some(_)) => Some("Socket timed out while looking for EOM"),
                    _ => Some("Problems while trying to read"),
                });
                let error =
                    error.map(|why| format!("org.apache.jmeter.protocol.tcp.sampler.ReadException: {why}"));
                Exchanged::hexadecimal(received, error)
            }
            Self::LengthPrefixed => {
                read_prefixed(stream, timeout, interrupt, properties.prefix_bytes, user).await
            }
        }
    }

    fn request(self, text: &str, properties: &TcpProperties) -> Result<Vec<u8>, ElementError> {
        match self {
            Self::Text => Ok(text.as_bytes().to_vec()),
            Self::Binary => from_hex(text),
            Self::LengthPrefixed => {
                let length = u32::try_from(text.encode_utf16().count() / 2).unwrap_or(u32::MAX);
                let mut bytes = match properties.prefix_bytes {
                    2 => i16::try_from(length)
                        .map_err(|_| "Value outside range for signed short int.".to_owned())?
                        .to_be_bytes()
                        .to_vec(),
                    4 => length.to_be_bytes().to_vec(),
                    _ => return Err("Length must be specified as either 2 or 4.".into()),
                };
                bytes.extend(from_hex(text)?);
                Ok(bytes)
            }
        }
    }
}

async fn read_some(
    stream: &mut TcpStream,
    buffer: &mut [u8],
    timeout: Option<Duration>,
    interrupt: &Interrupt,
) -> io::Result<usize> {
    let read = async {
        match timeout {
            None => stream.read(buffer).await,
            Some(timeout) => match tokio::time::timeout(timeout, stream.read(buffer)).await {
                Ok(read) => read,
                Err(_) => Err(io::ErrorKind::TimedOut.into()),
            },
        }
    };
    interrupt.wait_for(read).await.unwrap_or_else(|| Err(interrupted()))
}

/// Java's error for a socket that was closed by another thread.
fn interrupted() -> io::Error {
    io::Error::other("Socket closed")
}

/// Reads until the peer closes the connection, a read ends with the end byte, or an error occurs. Fails if the response
/// exceeds a limit.
async fn read(
    stream: &mut TcpStream,
    end: Option<u8>,
    timeout: Option<Duration>,
    interrupt: &Interrupt,
    user: &mut UserState,
) -> Result<Read, String> {
    let mut received = LimitedResponse::default();
    let mut buffer = [0; 4096];
    loop {
        match read_some(stream, &mut buffer, timeout, interrupt).await {
            Err(error) => return Ok(Read { received, error: Some(error) }),
            Ok(0) => return Ok(Read { received, error: None }),
            Ok(count) => {
                if received.bytes.is_empty() {
                    user.result.times.latency_ns = user.now().since(user.result.times.start);
                }
                received.append(&buffer[..count])?;
                if end.is_some() && received.bytes.last().copied() == end {
                    return Ok(Read { received, error: None });
                }
            }
        }
    }
}

async fn read_prefixed(
    stream: &mut TcpStream,
    timeout: Option<Duration>,
    interrupt: &Interrupt,
    prefix_bytes: usize,
    user: &mut UserState,
) -> Exchanged {
    // This Java exception has no message.
    let failed = |message: LimitedResponse| {
        Exchanged::hexadecimal(message, Some("org.apache.jmeter.protocol.tcp.sampler.ReadException: ".into()))
    };
    let mut prefix = vec![0; prefix_bytes];
    match read_some(stream, &mut prefix, timeout, interrupt).await {
        Err(_) => return failed(LimitedResponse::default()),
        Ok(count) if count < prefix_bytes => {
            return Exchanged { text: String::new(), memory: BodyMemory::default(), error: None };
        }
        Ok(_) => {}
    }
    user.result.times.latency_ns = user.now().since(user.result.times.start);
    let length = match *prefix {
        [high, low] => i32::from(i16::from_be_bytes([high, low])),
        [a, b, c, d] => i32::from_be_bytes([a, b, c, d]),
        _ => {
            return Exchanged::failed(
                "java.lang.IllegalArgumentException: Byte array is null or invalid length.",
            );
        }
    };
    let Ok(length) = usize::try_from(length) else {
        return Exchanged::failed(format!("java.lang.NegativeArraySizeException: {length}"));
    };
    if length > RESPONSE_BYTES_MAX {
        return Exchanged::limited(&too_long());
    }
    // No memory is allocated for the announced length before the bytes arrive.
    let mut message = LimitedResponse::default();
    let mut buffer = [0; 4096];
    while message.bytes.len() < length {
        let want = buffer.len().min(length - message.bytes.len());
        match read_some(stream, &mut buffer[..want], timeout, interrupt).await {
            Err(_) => {
                return message
                    .fill(length)
                    .map_or_else(|why| Exchanged::limited(&why), |()| failed(message));
            }
            Ok(0) => {
                let line =
                    format!("Incomplete message read, expected: {length} got: {}", message.bytes.len());
                user.log(LogLevel::Warn, &line);
                if let Err(why) = message.fill(length) {
                    return Exchanged::limited(&why);
                }
            }
            Ok(count) => {
                if let Err(why) = message.append(&buffer[..count]) {
                    return Exchanged::limited(&why);
                }
            }
        }
    }
    Exchanged::hexadecimal(message, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_framed_as_in_jmeter() {
        let with = |prefix_bytes| TcpProperties { prefix_bytes, ..TcpProperties::default() };
        assert_eq!(TcpClient::Text.request("aü", &with(2)), Ok("aü".as_bytes().to_vec()));
        assert_eq!(TcpClient::Binary.request("00ff", &with(2)), Ok(vec![0, 255]));
        assert_eq!(TcpClient::LengthPrefixed.request("0102", &with(2)), Ok(vec![0, 2, 1, 2]));
        assert_eq!(TcpClient::LengthPrefixed.request("01", &with(4)), Ok(vec![0, 0, 0, 1, 1]));
        assert!(TcpClient::LengthPrefixed.request("01", &with(3)).is_err());
        assert!(TcpClient::LengthPrefixed.request(&"00".repeat(40_000), &with(2)).is_err());
        assert!(TcpClient::Binary.request("0", &with(2)).is_err());
    }

    #[test]
    fn the_samplers_end_byte_takes_precedence_over_the_properties() {
        let properties = TcpProperties { end_of_text: 10, ..TcpProperties::default() };
        assert_eq!(TcpClient::Text.end_byte("", &properties), Some(10));
        assert_eq!(TcpClient::Text.end_byte("-1", &properties), Some(255));
        assert_eq!(TcpClient::Text.end_byte("1000", &properties), None);
        assert_eq!(TcpClient::Binary.end_byte("", &properties), None);
        assert_eq!(TcpClient::LengthPrefixed.end_byte("10", &properties), None);
        assert_eq!(
            TcpClient::named("org.apache.jmeter.protocol.tcp.sampler.TCPClientImpl"),
            Some(TcpClient::Text)
        );
        assert_eq!(TcpClient::named("my.Client"), None);
    }
}
