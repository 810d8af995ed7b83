//! The HTTP Request sampler's settings.

use std::sync::{Arc, OnceLock};

use busyhour_engine::Nanos;
use busyhour_engine::program::Protocol;
use busyhour_engine::result::Keep;
use busyhour_engine::template::Template;
use busyhour_engine::user::UserState;

use crate::auth::AuthManager;
use crate::cache::CacheManager;
use crate::cookies::CookieManager;
use crate::embedded::{Embedded, EmbeddedRules};
use crate::exchange;
use crate::failure::Failure;
use crate::files::FileStore;
use crate::session::HttpSession;
use crate::tls::{TlsPolicy, tls_config};

/// What all HTTP samplers of a run share.
#[derive(Debug, Default)]
pub struct SharedHttp {
    /// Which servers are trusted.
    pub tls_policy: TlsPolicy,
    /// Files to upload.
    pub files: Arc<FileStore>,
    /// `httpclient.reset_state_on_thread_group_iteration`: a new visitor makes new connections.
    pub reset_on_iteration: bool,
    /// The proxy of the command line (`-H`, `-P`), and hosts it is not used for (`-N`).
    pub proxy: Option<Proxy>,
    /// Hosts that are reached without the command line's proxy; a leading `*` stands for anything.
    pub no_proxy: Vec<String>,
    /// `httpsampler.max_redirects`; `None`: JMeter's 20.
    pub redirects_max: Option<u32>,
    /// How embedded resources are found and judged.
    pub embedded: EmbeddedRules,
    /// `httpsampler.max_bytes_to_store_per_request`; 0: all.
    pub body_bytes_max: usize,
    tls: OnceLock<Result<Arc<rustls::ClientConfig>, rustls::Error>>,
}

impl SharedHttp {
    /// Settings of a run.
    #[must_use]
    pub fn new(tls_policy: TlsPolicy, files: Arc<FileStore>, reset_on_iteration: bool) -> Self {
        Self { tls_policy, files, reset_on_iteration, ..Self::default() }
    }

    /// The TLS configuration, made when the first connection needs it.
    ///
    /// # Errors
    /// When the cryptography provider has no common protocol version.
    pub fn tls(&self) -> Result<Arc<rustls::ClientConfig>, rustls::Error> {
        self.tls.get_or_init(|| tls_config(self.tls_policy)).clone()
    }
}

/// A proxy, of the command line or of a sampler.
#[derive(Debug, Clone)]
pub struct Proxy {
    /// Host.
    pub host: Template,
    /// Port.
    pub port: Template,
    /// User name; empty: no credentials.
    pub user: Template,
    /// Password.
    pub password: Template,
}

/// How texts become bytes (`HTTPSampler.contentEncoding`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8, JMeter's default.
    #[default]
    Utf8,
    /// ISO-8859-1.
    Latin1,
    /// US-ASCII.
    Ascii,
}

impl Charset {
    /// The charset of that name, if it is supported.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.trim();
        let is = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        if is(&["", "UTF-8", "UTF8"]) {
            Some(Self::Utf8)
        } else if is(&["ISO-8859-1", "ISO8859-1", "ISO8859_1", "latin1"]) {
            Some(Self::Latin1)
        } else if is(&["US-ASCII", "ASCII"]) {
            Some(Self::Ascii)
        } else {
            None
        }
    }

    /// Java's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Latin1 => "ISO-8859-1",
            Self::Ascii => "US-ASCII",
        }
    }

    /// Appends `text`; what the charset lacks becomes `?`, as in Java.
    pub(crate) fn encode(self, text: &str, out: &mut Vec<u8>) {
        let most = match self {
            Self::Utf8 => {
                out.extend_from_slice(text.as_bytes());
                return;
            }
            Self::Latin1 => 0xFF,
            Self::Ascii => 0x7F,
        };
        out.extend(text.chars().map(|character| match u32::from(character) {
            code if code <= most => code as u8,
            _ => b'?',
        }));
    }
}

/// One argument of a sampler.
#[derive(Debug, Clone)]
pub struct Argument {
    /// `Argument.name`
    pub name: Template,
    /// `Argument.value`
    pub value: Template,
    /// `HTTPArgument.always_encode`
    pub encode: bool,
    /// `HTTPArgument.use_equals`
    pub use_equals: bool,
    /// `HTTPArgument.content_type`, for multipart.
    pub content_type: Template,
}

/// One file to upload.
#[derive(Debug, Clone)]
pub struct FileArgument {
    /// `File.path`
    pub path: Template,
    /// `File.paramname`
    pub parameter: Template,
    /// `File.mimetype`
    pub mime: Template,
}

/// One header of the header managers in scope, merged.
#[derive(Debug, Clone)]
pub struct Header {
    /// `Header.name`
    pub name: Template,
    /// `Header.value`
    pub value: Template,
}

/// What to do with redirects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Redirects {
    /// Nothing: the redirect is the response.
    #[default]
    None,
    /// Each is a sample within the sample (`follow_redirects`).
    Follow,
    /// The client follows unseen (`auto_redirects`).
    Auto,
}

/// An HTTP Request sampler with the config elements of its scope merged in.
#[derive(Debug)]
pub struct HttpSampler {
    /// What all samplers share.
    pub shared: Arc<SharedHttp>,
    /// `HTTPSampler.method`
    pub method: Template,
    /// `HTTPSampler.protocol`; empty: http.
    pub protocol: Template,
    /// `HTTPSampler.domain`
    pub domain: Template,
    /// `HTTPSampler.port`; empty: the protocol's.
    pub port: Template,
    /// `HTTPSampler.path`: path, perhaps with a query, or a whole URL.
    pub path: Template,
    /// `HTTPsampler.Arguments`
    pub arguments: Box<[Argument]>,
    /// `HTTPSampler.postBodyRaw`
    pub raw_body: bool,
    /// `HTTPsampler.Files`
    pub files: Box<[FileArgument]>,
    /// `HTTPSampler.DO_MULTIPART_POST`
    pub multipart: bool,
    /// `HTTPSampler.BROWSER_COMPATIBLE_MULTIPART`
    pub browser_compatible: bool,
    /// `HTTPSampler.contentEncoding`
    pub charset: Charset,
    /// `HTTPSampler.follow_redirects`, `HTTPSampler.auto_redirects`
    pub redirects: Redirects,
    /// `HTTPSampler.use_keepalive`
    pub keep_alive: bool,
    /// `HTTPSampler.connect_timeout`, milliseconds.
    pub connect_timeout: Template,
    /// `HTTPSampler.response_timeout`, milliseconds.
    pub response_timeout: Template,
    /// `HTTPSampler.proxyHost` and so on.
    pub proxy: Option<Proxy>,
    /// Headers of the header managers, merged.
    pub headers: Box<[Header]>,
    /// The nearest cookie manager.
    pub cookies: Option<Arc<CookieManager>>,
    /// The nearest cache manager.
    pub cache: Option<Arc<CacheManager>>,
    /// The nearest authorization manager.
    pub auth: Option<Arc<AuthManager>>,
    /// `HTTPSampler.image_parser`: resources of pages are fetched, too.
    pub embedded: Option<Box<Embedded>>,
    /// `HTTPSampler.md5`: of a body its MD5 sum is kept.
    pub md5: bool,
}

impl HttpSampler {
    /// What the sampler itself needs to be kept of a response.
    #[must_use]
    pub fn keep(&self) -> Keep {
        Keep { body: self.embedded.is_some() || self.md5, ..Keep::default() }
    }
}

impl Protocol for HttpSampler {
    type Session = HttpSession;

    fn session(_user: &UserState) -> HttpSession {
        HttpSession::default()
    }

    fn iteration_started(session: &mut HttpSession, user: &mut UserState, same_user: bool) {
        session.iteration_started(user, same_user);
    }

    fn visitor_changed(session: &mut HttpSession, keep_connections: bool) {
        session.visitor_changed(keep_connections);
    }

    async fn sample(
        &self,
        user: &mut UserState,
        session: &mut HttpSession,
        label: &Template,
        intended: Nanos,
        keep: Keep,
    ) {
        exchange::sample(self, user, session, label, intended, keep).await;
    }

    fn branch(session: &HttpSession, branch: &mut HttpSession) {
        session.branch(branch);
    }

    fn rejoin(session: &mut HttpSession, branch: &mut HttpSession) {
        session.rejoin(branch);
    }

    fn interrupted(&self, user: &mut UserState, _session: &mut HttpSession, keep: Keep) {
        let result = &mut user.result;
        // As with every failure: what was sent is noted only once there is an answer.
        result.sent_bytes = 0;
        Failure::interrupted().write_to(result, keep.body);
    }
}
