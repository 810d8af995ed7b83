//! Destinations for text: files and network connections.

use std::io::{self, Write};
use std::net::{TcpStream, ToSocketAddrs as _, UdpSocket};
use std::time::Duration;

use crate::ExportError;

/// Timeout for establishing a connection; the default of JMeter's `backend_influxdb.connection_timeout`.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Timeout for a response; the default of JMeter's `backend_influxdb.socket_timeout`.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// Maximum length of a server's error message in our messages.
const ANSWER_MAX: usize = 300;

/// Maximum size of a datagram in bytes, which every network transfers without fragmentation.
const DATAGRAM_MAX: usize = 1_400;

/// A destination for lines of text.
pub trait Sender {
    /// Sends `text`, which consists of complete lines.
    ///
    /// # Errors
    /// If the text was not delivered or was rejected.
    fn send(&mut self, text: &str) -> Result<(), ExportError>;
}

impl<S: Sender + ?Sized> Sender for Box<S> {
    fn send(&mut self, text: &str) -> Result<(), ExportError> {
        (**self).send(text)
    }
}

/// Writes to a file or another writer.
pub struct WriteText<W> {
    writer: W,
    name: String,
}

impl<W: Write> WriteText<W> {
    /// Creates a destination that writes to `writer`; `name` is its name in messages.
    pub fn new(writer: W, name: impl Into<String>) -> Self {
        Self { writer, name: name.into() }
    }
}

impl<W: Write> Sender for WriteText<W> {
    fn send(&mut self, text: &str) -> Result<(), ExportError> {
        let written = self.writer.write_all(text.as_bytes()).and_then(|()| self.writer.flush());
        written.map_err(|source| ExportError::Io { target: self.name.clone(), source })
    }
}

/// Sends data to a URL with POST requests.
pub struct HttpPost {
    agent: ureq::Agent,
    url: String,
    headers: Vec<(String, String)>,
}

impl HttpPost {
    /// Creates a destination for POST requests to `url` with these headers.
    #[must_use]
    pub fn new(url: impl Into<String>, headers: Vec<(String, String)>) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_global(Some(CONNECT_TIMEOUT + ANSWER_TIMEOUT))
            .http_status_as_error(false)
            .user_agent(concat!("busyhour/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.new_agent(), url: url.into(), headers }
    }

    /// The URL as shown in messages.
    pub(crate) fn target(&self) -> String {
        shown(&self.url)
    }

    /// Sends `body` in a POST request; returns the body of the response.
    ///
    /// # Errors
    /// If the server cannot be reached, or its status is not 2xx.
    pub fn post(&self, content_type: &str, body: &[u8]) -> Result<Vec<u8>, ExportError> {
        let mut request = self.agent.post(&self.url).header("Content-Type", content_type);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut answer = request
            .send(body)
            .map_err(|source| ExportError::Http { target: self.target(), source: Box::new(source) })?;
        let status = answer.status().as_u16();
        let body = answer.body_mut().read_to_vec().unwrap_or_default();
        if (200..300).contains(&status) {
            return Ok(body);
        }
        let text = String::from_utf8_lossy(&body);
        let end = text.char_indices().nth(ANSWER_MAX).map_or(text.len(), |(at, _)| at);
        Err(ExportError::Refused { target: self.target(), status, answer: text[..end].trim().to_owned() })
    }
}

/// A URL for messages: without user name, password and parameters.
fn shown(url: &str) -> String {
    let plain = url.split('?').next().unwrap_or_default();
    match plain.split_once("://") {
        Some((scheme, rest)) => {
            let authority = rest.split('/').next().unwrap_or_default();
            let host = authority.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{}", &rest[authority.len()..])
        }
        None => plain.to_owned(),
    }
}

impl Sender for HttpPost {
    fn send(&mut self, text: &str) -> Result<(), ExportError> {
        self.post("text/plain; charset=utf-8", text.as_bytes()).map(drop)
    }
}

/// Sends text over a TCP connection. The connection is reused, and opened again if it fails.
pub struct TcpText {
    address: String,
    stream: Option<TcpStream>,
}

impl TcpText {
    /// Creates a destination at `address` (`host:port`).
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into(), stream: None }
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in self.address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
                Ok(stream) => {
                    stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.connect()?,
        };
        stream.write_all(text.as_bytes())?;
        self.stream = Some(stream);
        Ok(())
    }
}

impl Sender for TcpText {
    fn send(&mut self, text: &str) -> Result<(), ExportError> {
        // The server may have closed a reused connection in the meantime.
        let kept = self.stream.is_some();
        let sent = self.write(text).or_else(|error| if kept { self.write(text) } else { Err(error) });
        sent.map_err(|source| ExportError::Io { target: self.address.clone(), source })
    }
}

/// Sends text as datagrams of complete lines.
pub struct UdpText {
    address: String,
    socket: Option<UdpSocket>,
}

impl UdpText {
    /// Creates a destination at `address` (`host:port`).
    #[must_use]
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into(), socket: None }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let socket = match &self.socket {
            Some(socket) => socket,
            None => {
                let mut addresses = self.address.to_socket_addrs()?;
                let to = addresses.next().ok_or_else(|| io::Error::other("the name has no address"))?;
                let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
                let socket = UdpSocket::bind(any)?;
                socket.connect(to)?;
                self.socket.insert(socket)
            }
        };
        let (mut from, mut end) = (0, 0);
        for line in text.split_inclusive('\n') {
            if end > from && end + line.len() - from > DATAGRAM_MAX {
                socket.send(&text.as_bytes()[from..end])?;
                from = end;
            }
            end += line.len();
        }
        if end > from {
            socket.send(&text.as_bytes()[from..end])?;
        }
        Ok(())
    }
}

impl Sender for UdpText {
    fn send(&mut self, text: &str) -> Result<(), ExportError> {
        self.write(text).map_err(|source| ExportError::Io { target: self.address.clone(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_show_no_password() {
        assert_eq!(
            shown("https://me:secret@db.example:8086/write?db=x&p=secret"),
            "https://db.example:8086/write"
        );
        assert_eq!(shown("http://db:8086"), "http://db:8086");
    }

    #[test]
    fn datagrams_contain_complete_lines() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        receiver.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut sender = UdpText::new(receiver.local_addr().unwrap().to_string());
        let text: String = (0..200).map(|n| format!("line {n:04} of a text that is long\n")).collect();
        sender.send(&text).unwrap();
        let (mut got, mut buffer) = (String::new(), [0; 65_536]);
        while got.len() < text.len() {
            let len = receiver.recv(&mut buffer).unwrap();
            assert!(len <= DATAGRAM_MAX && buffer[len - 1] == b'\n');
            got.push_str(std::str::from_utf8(&buffer[..len]).unwrap());
        }
        assert_eq!(got, text);
    }
}
