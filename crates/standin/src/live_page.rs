//! A client of a run's live page: sends requests and commands, and receives events.

use std::io::{BufRead as _, BufReader, Read as _, Result, Write as _};
use std::net::TcpStream;

use serde_json::Value;

/// A client of the live page at an address.
#[derive(Debug, Clone)]
pub struct LivePageClient {
    /// Address of the page's server, for instance `127.0.0.1:8080`.
    pub address: String,
    /// The token that authorizes the owner of the run.
    pub token: String,
}

impl LivePageClient {
    /// Parses an address like `http://127.0.0.1:8080/?token=…`; `None` if the address does not have this form.
    #[must_use]
    pub fn at(url: &str) -> Option<LivePageClient> {
        let (address, token) = url.strip_prefix("http://")?.split_once("/?token=")?;
        Some(LivePageClient { address: address.to_owned(), token: token.to_owned() })
    }

    /// Sends a request. `head` consists of the request line and the headers, without a line break at the end.
    ///
    /// # Errors
    /// The connection fails.
    pub fn send(&self, head: &str, body: &str) -> Result<TcpStream> {
        let mut stream = TcpStream::connect(&self.address)?;
        let text =
            format!("{head}\r\nHost: {}\r\nContent-Length: {}\r\n\r\n{body}", self.address, body.len());
        stream.write_all(text.as_bytes())?;
        Ok(stream)
    }

    /// Sends a request and reads the complete response.
    ///
    /// # Errors
    /// The connection fails, or the response is not text.
    pub fn request(&self, head: &str, body: &str) -> Result<String> {
        let mut response = String::new();
        self.send(head, body)?.read_to_string(&mut response)?;
        Ok(response)
    }

    /// Sends a command in the same way as the page's script, and reads the complete response.
    ///
    /// # Errors
    /// As for [`Self::ask`].
    pub fn send_command(&self, body: &str) -> Result<String> {
        let Self { address, token } = self;
        let head = format!("POST /order HTTP/1.1\r\nX-Busyhour-Token: {token}\r\nOrigin: http://{address}");
        self.request(&head, body)
    }

    /// Subscribes to the events of the run.
    ///
    /// # Errors
    /// The connection fails.
    pub fn events(&self) -> Result<LiveEvents> {
        let mut lines = BufReader::new(self.send(&format!("GET /events?token={} HTTP/1.1", self.token), "")?);
        let mut line = String::new();
        // The head of the response ends with an empty line.
        while lines.read_line(&mut line)? > 2 {
            line.clear();
        }
        Ok(LiveEvents(lines))
    }
}

/// The events of one subscriber.
#[derive(Debug)]
pub struct LiveEvents(BufReader<TcpStream>);

impl LiveEvents {
    /// Reads the name and data of the next event; returns `None` at the end.
    ///
    /// # Errors
    /// The connection fails, or the data is not JSON.
    pub fn next_event(&mut self) -> Result<Option<(String, Value)>> {
        let (mut name, mut line) = (String::new(), String::new());
        loop {
            line.clear();
            if self.0.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            if let Some(text) = line.strip_prefix("event: ") {
                name = text.trim().to_owned();
            } else if let Some(text) = line.strip_prefix("data: ") {
                return Ok(Some((name, serde_json::from_str(text)?)));
            }
        }
    }
}
