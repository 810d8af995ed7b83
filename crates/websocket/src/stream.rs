//! The byte stream of a connection, with or without TLS.

use std::io;
use std::time::Duration;

use busyhour_http::{Failure, SharedHttp, connect_plainly};
use busyhour_program::clock::Clock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The transport of a WebSocket.
pub(crate) enum Stream {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

fn read_timeout() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "Read timed out")
}

impl Stream {
    /// Connects to the first address of the host. Without `read_timeout`, the handshake has no time limit.
    pub(crate) async fn open(
        host: &str,
        port: u16,
        secure: bool,
        timeouts: (Duration, Option<Duration>),
        shared: &SharedHttp,
        clock: &Clock,
    ) -> Result<Self, Failure> {
        let (connect_timeout, read_timeout) = timeouts;
        let plain = connect_plainly(host, port, Some(connect_timeout), clock).await?;
        if !secure {
            return Ok(Self::Plain(plain));
        }
        let handshake_failure =
            |message: String| Failure::new("javax.net.ssl.SSLHandshakeException", message);
        let name = rustls::pki_types::ServerName::try_from(host.to_owned())
            .map_err(|error| handshake_failure(error.to_string()))?;
        let config = shared.tls().map_err(|error| handshake_failure(error.to_string()))?;
        let handshake = TlsConnector::from(config).connect(name, plain);
        let outcome = match read_timeout {
            None => handshake.await,
            Some(limit) => {
                tokio::time::timeout(limit, handshake).await.map_err(|_| Failure::read_timeout())?
            }
        };
        outcome.map(|stream| Self::Secure(Box::new(stream))).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => handshake_failure("Remote host terminated the handshake".into()),
            io::ErrorKind::ConnectionReset => Failure::socket(&error),
            _ => match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
                Some(rustls::Error::InvalidMessage(_)) => {
                    Failure::new("javax.net.ssl.SSLException", "Unsupported or unrecognized SSL message")
                }
                _ => handshake_failure(error.to_string()),
            },
        })
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.write_all(bytes).await,
            Self::Secure(stream) => {
                stream.write_all(bytes).await?;
                stream.flush().await
            }
        }
    }

    /// Appends received bytes to the buffer and returns their number, 0 at the end of the stream. Bytes that were
    /// received before a timeout remain in the buffer.
    pub(crate) async fn receive(
        &mut self,
        buffer: &mut Vec<u8>,
        timeout: Option<Duration>,
    ) -> io::Result<usize> {
        let read = async {
            match self {
                Self::Plain(stream) => stream.read_buf(buffer).await,
                Self::Secure(stream) => stream.read_buf(buffer).await,
            }
        };
        match timeout {
            None => read.await,
            Some(timeout) => match tokio::time::timeout(timeout, read).await {
                Ok(read) => read,
                Err(_) => Err(read_timeout()),
            },
        }
    }
}
