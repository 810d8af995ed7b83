//! The settings of HTTP Request samplers.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use busyhour_program::result::Retention;
use busyhour_program::template::Template;

use crate::auth::AuthManager;
use crate::cache::CacheManager;
use crate::charset::ContentEncoding;
use crate::client::Client;
use crate::cookies::CookieManager;
use crate::dns::DnsManager;
use crate::embedded_settings::{Embedded, EmbeddedRules};
use crate::files::FileStore;
use crate::keystore::{ClientKeys, ClientTls};
use crate::limits::{BodyLimit, SAMPLE_BYTES_RETAINED_MAX};
use crate::modifier::Modifier;
use crate::source::Source;
use crate::tls::{TlsPolicy, tls_config};

/// The settings and state that all HTTP samplers of a run share.
#[derive(Debug, Default)]
pub struct SharedHttp {
    /// Which servers are trusted.
    pub tls_policy: TlsPolicy,
    /// Files to upload.
    pub files: Arc<FileStore>,
    /// `httpclient.reset_state_on_thread_group_iteration`: whether new connections are opened when an iteration belongs to a new
    /// user.
    pub reset_on_iteration: bool,
    /// The proxy of the command line (`-H`, `-P`).
    pub proxy: Option<Proxy>,
    /// Hosts that bypass the proxy of the command line (`-N`); a leading `*` matches any prefix.
    pub no_proxy: Vec<String>,
    /// `httpsampler.max_redirects`; `None`: JMeter's default of 20.
    pub redirects_max: Option<u32>,
    /// How embedded resources are found, and how their failures affect the page.
    pub embedded: EmbeddedRules,
    /// `httpclient4.time_to_live`, milliseconds: the age at which a connection is no longer reused. `None`: JMeter's default
    /// of 60 seconds.
    pub connection_ms_max: Option<u64>,
    /// `httpclient4.idletimeout`: lifetime of an idle connection in milliseconds if the server does not specify one; 0:
    /// unlimited.
    pub idle_ms_max: u64,
    /// `httpclient4.default_user_agent_disabled`
    pub no_user_agent: bool,
    /// The limit on the retained part of a body: `httpsampler.max_bytes_to_store_per_request`, or Busyhour's own limit.
    pub body_limit: BodyLimit,
    /// The maximum size of all retained bodies of one sample; `None`: [`SAMPLE_BYTES_RETAINED_MAX`].
    pub sample_bytes_max: Option<usize>,
    /// The maximum time of one request, from its start to the last byte of its response; `None`: no limit, as in
    /// JMeter.
    pub request_deadline: Option<Duration>,
    /// The certificates for servers that request one.
    pub client_keys: Option<Arc<ClientKeys>>,
    /// Whether a script may read cookies, so that they are copied for scripts after each sample.
    pub shows_cookies_to_scripts: AtomicBool,
    /// Whether a script has changed a header manager.
    pub scripts_change_headers: AtomicBool,
    tls: OnceLock<Result<Arc<rustls::ClientConfig>, rustls::Error>>,
}

impl SharedHttp {
    /// Creates the settings of a run.
    #[must_use]
    pub fn new(tls_policy: TlsPolicy, files: Arc<FileStore>, reset_on_iteration: bool) -> Self {
        Self { tls_policy, files, reset_on_iteration, ..Self::default() }
    }

    /// The maximum size of the retained bodies of one sample; `None`: unlimited, if the plan disables the limit of
    /// single bodies.
    pub(crate) fn sample_body_limit(&self) -> Option<usize> {
        match self.body_limit {
            BodyLimit::Unlimited => None,
            BodyLimit::Refuse(_) | BodyLimit::Truncate(_) => {
                Some(self.sample_bytes_max.unwrap_or(SAMPLE_BYTES_RETAINED_MAX))
            }
        }
    }

    /// The TLS configuration, created when the first connection needs it.
    ///
    /// # Errors
    /// If the cryptography provider has no common protocol version.
    pub fn tls(&self) -> Result<Arc<rustls::ClientConfig>, rustls::Error> {
        self.tls.get_or_init(|| tls_config(self.tls_policy)).clone()
    }

    /// The TLS settings of a connection whose user has the key with this alias.
    pub(crate) fn client_tls(&self, alias: Option<&str>) -> Result<ClientTls, rustls::Error> {
        match &self.client_keys {
            Some(keys) => keys.client_tls(alias, self.tls_policy),
            None => self.tls().map(ClientTls::without_key),
        }
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

/// A header; the header managers in scope are merged.
#[derive(Debug, Clone)]
pub struct Header {
    /// `Header.name`
    pub name: Template,
    /// `Header.value`
    pub value: Template,
}

/// The handling of redirects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Redirects {
    /// Not followed: the redirect is the response.
    #[default]
    None,
    /// Each is a sub-result (`follow_redirects`).
    Follow,
    /// The client follows them invisibly (`auto_redirects`).
    Auto,
}

/// The header managers in the scope of a sampler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderManagers {
    /// No header manager.
    #[default]
    None,
    /// One header manager, with its number in the plan. Changes by scripts apply to all samplers in its scope.
    One(u32),
    /// Several header managers, which are merged for each sample.
    Several,
}

/// An HTTP Request sampler with the settings of the config elements in its scope.
#[derive(Debug, Clone)]
pub struct HttpSampler {
    /// The settings that all samplers share.
    pub shared: Arc<SharedHttp>,
    /// `HTTPSampler.method`
    pub method: Template,
    /// `HTTPSampler.protocol`; empty: http.
    pub protocol: Template,
    /// `HTTPSampler.domain`
    pub domain: Template,
    /// `HTTPSampler.port`; empty: the default port of the protocol.
    pub port: Template,
    /// `HTTPSampler.path`: a path, optionally with a query, or a whole URL.
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
    pub encoding: ContentEncoding,
    /// `HTTPSampler.follow_redirects`, `HTTPSampler.auto_redirects`
    pub redirects: Redirects,
    /// `HTTPSampler.use_keepalive`
    pub keep_alive: bool,
    /// `HTTPSampler.connect_timeout`, milliseconds.
    pub connect_timeout: Template,
    /// `HTTPSampler.response_timeout`, milliseconds.
    pub response_timeout: Template,
    /// `HTTPSampler.proxyHost` and the related properties.
    pub proxy: Option<Proxy>,
    /// Headers of the header managers, merged.
    pub headers: Box<[Header]>,
    /// The managers that contain these headers.
    pub header_managers: HeaderManagers,
    /// The innermost cookie manager.
    pub cookies: Option<Arc<CookieManager>>,
    /// The innermost cache manager.
    pub cache: Option<Arc<CacheManager>>,
    /// The innermost authorization manager.
    pub auth: Option<Arc<AuthManager>>,
    /// The pre-processors in scope that change the sampler, in order.
    pub modifiers: Box<[Modifier]>,
    /// The innermost DNS cache manager.
    pub dns: Option<Arc<DnsManager>>,
    /// `HTTPSampler.ipSource`: the local address of connections.
    pub source: Option<Box<Source>>,
    /// `HTTPSampler.image_parser`: the embedded resources of pages are downloaded, too.
    pub embedded: Option<Box<Embedded>>,
    /// `HTTPSampler.md5`: only the MD5 sum of a body is retained.
    pub md5: bool,
    /// Whether scripts can read and change the sampler.
    pub is_accessed_by_scripts: bool,
    /// The client that the plan selects.
    pub client: Client,
}

impl HttpSampler {
    /// The parts of a response that the sampler itself needs.
    #[must_use]
    pub fn retention(&self) -> Retention {
        Retention { body: self.embedded.is_some() || self.md5, ..Retention::default() }
    }
}
