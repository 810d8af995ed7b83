//! Assembles a request, in the order in which HttpClient 4.5 writes it.

use std::cell::RefCell;
use std::io::Write as _;

use crate::client::Client;
use crate::origin::Origin;
use crate::proxy_address::ProxyAddress;
use crate::retained_body::BodyBudget;

/// The default User-Agent of JMeter 5.6.3 on Java 17. Servers can depend on it.
pub(crate) const USER_AGENT: &str = "Apache-HttpClient/4.5.14 (Java/17.0.15)";

/// The default User-Agent of the implementation `Java`.
const USER_AGENT_OF_JAVA: &str = "Java/17.0.15";

/// The default `Accept` header of the implementation `Java`.
const ACCEPT_OF_JAVA: &[u8] = b"text/html, image/gif, image/jpeg, */*; q=0.2";

/// A request that is being rendered. The buffers are pooled per thread, so idle users need no memory for them.
#[derive(Debug, Default)]
pub(crate) struct WireRequest {
    /// Method.
    pub(crate) method: String,
    /// The whole URL, as recorded.
    pub(crate) url: String,
    /// The index in `url` at which the path begins.
    pub(crate) path_at: usize,
    /// The header lines of the plan, each with its line end.
    pub(crate) headers: Vec<u8>,
    /// Whether a header manager sets `Host`.
    pub(crate) has_host: bool,
    /// Whether a header manager requests that the connection is closed.
    pub(crate) closes: bool,
    /// The client of JMeter whose request format is used.
    pub(crate) client: Client,
    /// Whether a header manager sets `Accept`.
    pub(crate) has_accept: bool,
    /// Whether a header manager sets `User-Agent`.
    pub(crate) has_user_agent: bool,
    /// Whether a header manager sets `Authorization`, which takes precedence over an Authorization Manager.
    pub(crate) has_authorization: bool,
    /// Whether path and query are sent unchanged, except for non-ASCII characters.
    pub(crate) is_literal: bool,
    /// Whether a header manager sets `Proxy-Connection`, so that HttpClient adds none.
    pub(crate) has_proxy_connection: bool,
    /// Whether a header manager sets `Content-Type`, even to an empty value. In this case, HttpClient adds no such header.
    pub(crate) names_content_type: bool,
    /// Whether a header manager sets a non-empty `Content-Type`.
    pub(crate) has_content_type: bool,
    /// The content type set by the sampler itself. It takes precedence over that of the entity.
    pub(crate) content_type: String,
    /// The content type of the entity, unless another one is set.
    pub(crate) entity_type: String,
    /// Body.
    pub(crate) body: Vec<u8>,
    /// Whether there is a body, which may be empty.
    pub(crate) has_body: bool,
    /// Whether the request follows a redirect inside the client: its cookies remain unchanged.
    pub(crate) is_client_redirect: bool,
    /// Whether the proxy has requested credentials.
    pub(crate) proxy_authorized: bool,
    /// Value of `Authorization`.
    pub(crate) authorization: Option<String>,
    /// Value of `Cookie`.
    pub(crate) cookies: Vec<u8>,
    /// The complete request, ready to be sent.
    pub(crate) wire: Vec<u8>,
    /// The remaining budget of the sample for bodies, once it has more than one response.
    pub(crate) body_budget: Option<BodyBudget>,
    /// A buffer for temporary texts.
    pub(crate) scratch: String,
}

thread_local! {
    #[expect(clippy::vec_box, reason = "a request goes to its user and back as a pointer, not as 300 bytes")]
    static POOL: RefCell<Vec<Box<WireRequest>>> = const { RefCell::new(Vec::new()) };
}

/// Buffers larger than this are not retained for the next request.
const RETAINED_BYTES_MAX: usize = 64 * 1024;

impl WireRequest {
    /// An empty request with the buffers of an earlier one.
    pub(crate) fn from_pool() -> Box<Self> {
        POOL.with_borrow_mut(Vec::pop).unwrap_or_default()
    }

    /// Returns the buffers to the pool.
    pub(crate) fn recycle(mut self: Box<Self>) {
        if self.body.capacity() > RETAINED_BYTES_MAX || self.wire.capacity() > RETAINED_BYTES_MAX {
            return;
        }
        self.clear();
        POOL.with_borrow_mut(|pool| {
            if pool.len() < 256 {
                pool.push(self);
            }
        });
    }

    /// Creates a GET request with the plan's headers of this request and nothing else.
    pub(crate) fn seed(&self) -> Box<Self> {
        let mut seed = Self::from_pool();
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
        seed.body_budget.clone_from(&self.body_budget);
        seed
    }

    /// Creates a GET request with the plan's headers and the body of this one.
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

    /// Clears the request.
    pub(crate) fn clear(&mut self) {
        self.method.clear();
        self.url.clear();
        self.path_at = 0;
        self.body_budget = None;
        self.clear_entity();
        self.headers.clear();
        self.has_host = false;
        self.closes = false;
        self.is_client_redirect = false;
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

    /// Removes the body (a redirect is followed without it).
    pub(crate) fn clear_entity(&mut self) {
        self.content_type.clear();
        self.entity_type.clear();
        self.body.clear();
        self.has_body = false;
    }

    /// Writes the request into `wire`; returns the range of its header lines (without the request line and the empty
    /// line), which JMeter records.
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
                // HttpClient writes the host in lower case here, and unchanged in `Host`.
                Client::HttpClient4 => {
                    wire.extend(origin.prefix.bytes().map(|byte| byte.to_ascii_lowercase()))
                }
                Client::Java => wire.extend_from_slice(origin.prefix.as_bytes()),
            }
        }
        // HttpClient normalizes the path if it sends the request to the server itself, but not for a proxy.
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

    /// Writes the headers that HttpClient adds to those of the plan; returns their end.
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

    /// Writes the headers that Java's own client adds to those of the plan, in its order; returns the end of the
    /// headers that JMeter records.
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
        let is_unchanged = (to_proxy || self.is_literal) && path.is_ascii();
        if !path.is_empty() && (is_unchanged || crate::encode::is_sent_unchanged(path)) {
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
