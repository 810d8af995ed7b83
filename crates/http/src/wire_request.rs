//! Putting a request together, in the order HttpClient 4.5 writes it.

use std::cell::RefCell;
use std::io::Write as _;

use crate::client::Client;
use crate::kept::Room;
use crate::origin::Origin;
use crate::proxy_address::ProxyAddress;

/// The default User-Agent of JMeter 5.6.3 on Java 17. Servers can depend on it.
pub(crate) const USER_AGENT: &str = "Apache-HttpClient/4.5.14 (Java/17.0.15)";

/// The same of the implementation `Java`.
const USER_AGENT_OF_JAVA: &str = "Java/17.0.15";

/// What the implementation `Java` accepts.
const ACCEPT_OF_JAVA: &[u8] = b"text/html, image/gif, image/jpeg, */*; q=0.2";

/// A request being rendered. The buffers are pooled per thread, so that idle users hold none.
#[derive(Debug, Default)]
pub(crate) struct WireRequest {
    /// Method.
    pub(crate) method: String,
    /// Whole URL, as it is recorded.
    pub(crate) url: String,
    /// Index in `url` at which the path begins.
    pub(crate) path_at: usize,
    /// Header lines of the plan, each with its line end.
    pub(crate) headers: Vec<u8>,
    /// A header manager names a `Host`.
    pub(crate) has_host: bool,
    /// A header manager requests that the connection is closed.
    pub(crate) closes: bool,
    /// Which of JMeter's clients the request is written for.
    pub(crate) client: Client,
    /// A header manager names an `Accept`.
    pub(crate) has_accept: bool,
    /// A header manager names a `User-Agent`.
    pub(crate) has_user_agent: bool,
    /// A header manager names an `Authorization`: it takes precedence over an Authorization Manager.
    pub(crate) has_authorization: bool,
    /// Path and query are sent as they are, but for what is not ASCII.
    pub(crate) is_literal: bool,
    /// A header manager names a `Proxy-Connection`: HttpClient then adds none.
    pub(crate) has_proxy_connection: bool,
    /// A header manager names a `Content-Type`, be it an empty one: HttpClient adds none to it.
    pub(crate) names_content_type: bool,
    /// A header manager names a `Content-Type` that is not empty.
    pub(crate) has_content_type: bool,
    /// Content type set by the sampler itself, before the entity's.
    pub(crate) content_type: String,
    /// Content type of the entity, unless another is set.
    pub(crate) entity_type: String,
    /// Body.
    pub(crate) body: Vec<u8>,
    /// There is a body, even if it is empty.
    pub(crate) has_body: bool,
    /// A redirect led here that is followed inside the client: what the client sends along stays as it was.
    pub(crate) led_here: bool,
    /// The proxy has requested credentials.
    pub(crate) proxy_authorized: bool,
    /// `Authorization`.
    pub(crate) authorization: Option<String>,
    /// Value of `Cookie`.
    pub(crate) cookies: Vec<u8>,
    /// Everything, ready to be sent.
    pub(crate) wire: Vec<u8>,
    /// What the sample has left for bodies, once it has more than one response.
    pub(crate) room: Option<Room>,
    /// A text in the making.
    pub(crate) scratch: String,
}

thread_local! {
    #[expect(clippy::vec_box, reason = "a request goes to its user and back as a pointer, not as 300 bytes")]
    static POOL: RefCell<Vec<Box<WireRequest>>> = const { RefCell::new(Vec::new()) };
}

/// Buffers larger than this are not kept for the next request.
const KEEP_BYTES: usize = 64 * 1024;

impl WireRequest {
    /// An empty request with the buffers of an earlier one.
    pub(crate) fn take() -> Box<Self> {
        POOL.with_borrow_mut(Vec::pop).unwrap_or_default()
    }

    /// Gives the buffers back.
    pub(crate) fn give_back(mut self: Box<Self>) {
        if self.body.capacity() > KEEP_BYTES || self.wire.capacity() > KEEP_BYTES {
            return;
        }
        self.clear();
        POOL.with_borrow_mut(|pool| {
            if pool.len() < 256 {
                pool.push(self);
            }
        });
    }

    /// A GET request with the plan's headers, and nothing else of this one.
    pub(crate) fn seed(&self) -> Box<Self> {
        let mut seed = Self::take();
        seed.method.push_str("GET");
        seed.headers.extend_from_slice(&self.headers);
        seed.has_host = self.has_host;
        seed.closes = self.closes;
        seed.client = self.client;
        seed.has_accept = self.has_accept;
        seed.has_user_agent = self.has_user_agent;
        seed.has_authorization = self.has_authorization;
        seed.has_proxy_connection = self.has_proxy_connection;
        seed.names_content_type = self.names_content_type;
        seed.has_content_type = self.has_content_type;
        seed.room.clone_from(&self.room);
        seed
    }

    /// The same with its body.
    pub(crate) fn copy(&self) -> Box<Self> {
        let mut copy = self.seed();
        copy.content_type.push_str(&self.content_type);
        copy.entity_type.push_str(&self.entity_type);
        copy.body.extend_from_slice(&self.body);
        copy.has_body = self.has_body;
        copy
    }

    /// The value of the request's `User-Agent`.
    pub(crate) fn user_agent(&self) -> String {
        const NAME: &[u8] = b"User-Agent: ";
        let lines = self.headers.split(|byte| *byte == b'\n');
        let named = lines.filter_map(|line| line.strip_prefix(NAME)).next();
        named.map_or_else(
            || self.default_user_agent().into(),
            |value| String::from_utf8_lossy(value.trim_ascii()).into_owned(),
        )
    }

    fn default_user_agent(&self) -> &'static str {
        match self.client {
            Client::HttpClient4 => USER_AGENT,
            Client::Java => USER_AGENT_OF_JAVA,
        }
    }

    /// Empties everything.
    pub(crate) fn clear(&mut self) {
        self.method.clear();
        self.url.clear();
        self.path_at = 0;
        self.room = None;
        self.clear_entity();
        self.headers.clear();
        self.has_host = false;
        self.closes = false;
        self.led_here = false;
        self.proxy_authorized = false;
        self.client = Client::default();
        self.has_accept = false;
        self.has_user_agent = false;
        self.has_authorization = false;
        self.is_literal = false;
        self.has_proxy_connection = false;
        self.names_content_type = false;
        self.has_content_type = false;
        self.authorization = None;
        self.cookies.clear();
        self.wire.clear();
        self.scratch.clear();
    }

    /// Takes the body away (a redirect is followed without it).
    pub(crate) fn clear_entity(&mut self) {
        self.content_type.clear();
        self.entity_type.clear();
        self.body.clear();
        self.has_body = false;
    }

    /// Writes the request into `wire`; gives the range of its header lines (without the request line and the empty
    /// line), as JMeter shows them.
    pub(crate) fn assemble(
        &mut self,
        origin: &Origin,
        proxy: Option<&ProxyAddress>,
        keep_alive: bool,
    ) -> std::ops::Range<usize> {
        let mut wire = std::mem::take(&mut self.wire);
        wire.clear();
        wire.extend_from_slice(self.method.as_bytes());
        wire.push(b' ');
        let plain_proxy = proxy.filter(|_| !origin.secure);
        if plain_proxy.is_some() {
            match self.client {
                // HttpClient writes the host in lower case here, and as it is into `Host`.
                Client::HttpClient4 => {
                    wire.extend(origin.prefix.bytes().map(|byte| byte.to_ascii_lowercase()))
                }
                Client::Java => wire.extend_from_slice(origin.prefix.as_bytes()),
            }
        }
        // HttpClient normalises the path of what it sends to the server itself, and leaves it alone on the way to a proxy.
        self.write_target(&mut wire, plain_proxy.is_some());
        wire.extend_from_slice(b" HTTP/1.1\r\n");
        let begin = wire.len();
        wire.extend_from_slice(if keep_alive {
            b"Connection: keep-alive\r\n"
        } else {
            b"Connection: close\r\n"
        });
        wire.extend_from_slice(&self.headers);
        if !self.cookies.is_empty() {
            header(&mut wire, b"Cookie", &self.cookies);
        }
        let end = match self.client {
            Client::HttpClient4 => self.write_own_headers(&mut wire, origin, plain_proxy),
            Client::Java => self.write_headers_of_java(&mut wire, origin, plain_proxy),
        };
        wire.extend_from_slice(b"\r\n");
        wire.extend_from_slice(&self.body);
        self.wire = wire;
        begin..end
    }

    /// Writes the headers that HttpClient adds to those of the plan; gives where they end.
    fn write_own_headers(
        &self,
        wire: &mut Vec<u8>,
        origin: &Origin,
        plain_proxy: Option<&ProxyAddress>,
    ) -> usize {
        if !self.content_type.is_empty() {
            header(wire, b"Content-Type", self.content_type.as_bytes());
        }
        if self.has_body {
            let _ = write!(wire, "Content-Length: {}\r\n", self.body.len());
            if !self.entity_type.is_empty() && self.content_type.is_empty() && !self.names_content_type {
                header(wire, b"Content-Type", self.entity_type.as_bytes());
            }
        }
        if !self.has_host {
            header(wire, b"Host", origin.authority.as_bytes());
        }
        if plain_proxy.is_some() && !self.has_proxy_connection {
            header(wire, b"Proxy-Connection", b"Keep-Alive");
        }
        if !self.has_user_agent {
            header(wire, b"User-Agent", USER_AGENT.as_bytes());
        }
        let known = plain_proxy.filter(|_| self.proxy_authorized);
        if let Some(credentials) = known.and_then(|proxy| proxy.authorization.as_deref()) {
            header(wire, b"Proxy-Authorization", credentials.as_bytes());
        }
        if let Some(credentials) = &self.authorization {
            header(wire, b"Authorization", credentials.as_bytes());
        }
        wire.len()
    }

    /// Writes the headers that Java's own client adds to those of the plan, in its order; gives where those end that JMeter
    /// shows.
    fn write_headers_of_java(
        &self,
        wire: &mut Vec<u8>,
        origin: &Origin,
        plain_proxy: Option<&ProxyAddress>,
    ) -> usize {
        if let Some(credentials) = &self.authorization {
            header(wire, b"Authorization", credentials.as_bytes());
        }
        let end = wire.len();
        let is_multipart = self.entity_type.starts_with("multipart/") && !self.names_content_type;
        if !self.content_type.is_empty() {
            header(wire, b"Content-Type", self.content_type.as_bytes());
        } else if is_multipart {
            header(wire, b"Content-Type", self.entity_type.as_bytes());
        }
        if self.has_body {
            let _ = write!(wire, "Content-Length: {}\r\n", self.body.len());
        }
        if !self.has_user_agent {
            header(wire, b"User-Agent", USER_AGENT_OF_JAVA.as_bytes());
        }
        if !self.has_host {
            header(wire, b"Host", origin.authority.as_bytes());
        }
        if !self.has_accept {
            header(wire, b"Accept", ACCEPT_OF_JAVA);
        }
        if plain_proxy.is_some() && !self.has_proxy_connection {
            header(wire, b"Proxy-Connection", b"keep-alive");
        }
        let known = plain_proxy.filter(|_| self.proxy_authorized);
        if let Some(credentials) = known.and_then(|proxy| proxy.authorization.as_deref()) {
            header(wire, b"Proxy-Authorization", credentials.as_bytes());
        }
        let is_typed = self.names_content_type || is_multipart || !self.content_type.is_empty();
        if self.method == "POST" && !is_typed {
            header(wire, b"Content-type", b"application/x-www-form-urlencoded");
        }
        end
    }

    fn write_target(&mut self, wire: &mut Vec<u8>, to_proxy: bool) {
        let target = &self.url[self.path_at..];
        let target = &target[..target.find('#').unwrap_or(target.len())];
        let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
        let is_left_alone = (to_proxy || self.is_literal) && path.is_ascii();
        if !path.is_empty() && (is_left_alone || crate::encode::is_sent_as_it_is(path)) {
            wire.extend_from_slice(path.as_bytes());
        } else {
            let mut normal = std::mem::take(&mut self.scratch);
            normal.clear();
            crate::encode::normal_path(path, &mut normal);
            wire.extend_from_slice(normal.as_bytes());
            self.scratch = normal;
        }
        if query.is_ascii() {
            wire.extend_from_slice(query.as_bytes());
        } else {
            let mut encoded = std::mem::take(&mut self.scratch);
            encoded.clear();
            crate::encode::ascii(query, &mut encoded);
            wire.extend_from_slice(encoded.as_bytes());
            self.scratch = encoded;
        }
    }
}

fn header(wire: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    wire.extend_from_slice(name);
    wire.extend_from_slice(b": ");
    wire.extend_from_slice(value);
    wire.extend_from_slice(b"\r\n");
}
