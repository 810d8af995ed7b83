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
use crate::embedded::rules::{Embedded, EmbeddedRules};
use crate::files::FileStore;
use crate::keystore::{ClientKeys, Shown};
use crate::limits::{BodyLimit, SAMPLE_BYTES_KEPT_MAX};
use crate::modifier::Modifier;
use crate::source::Source;
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
    /// Hosts that bypass the proxy of the command line; a leading `*` matches any prefix.
    pub no_proxy: Vec<String>,
    /// `httpsampler.max_redirects`; `None`: JMeter's 20.
    pub redirects_max: Option<u32>,
    /// How embedded resources are found and judged.
    pub embedded: EmbeddedRules,
    /// `httpclient4.time_to_live`, milliseconds: no connection is used for longer. `None`: JMeter's 60 seconds.
    pub connection_ms_max: Option<u64>,
    /// `httpclient4.idletimeout`, milliseconds: lifetime of an idle connection if the server does not set one; 0:
    /// unlimited.
    pub idle_ms_max: u64,
    /// `httpclient4.default_user_agent_disabled`
    pub no_user_agent: bool,
    /// How much of a body is kept: `httpsampler.max_bytes_to_store_per_request`, or Busyhour's own limit.
    pub body_limit: BodyLimit,
    /// Bytes kept of all bodies of one sample; `None`: [`SAMPLE_BYTES_KEPT_MAX`].
    pub sample_bytes_max: Option<usize>,
    /// Longest time of one request, from its start to the last byte of its response; `None`: no limit, as in JMeter.
    pub request_deadline: Option<Duration>,
    /// The certificates for servers that request one.
    pub client_keys: Option<Arc<ClientKeys>>,
    /// Some script may look at cookies: they are shown to scripts after each sample.
    pub shows_cookies_to_scripts: AtomicBool,
    /// Some script has changed a header manager.
    pub scripts_change_headers: AtomicBool,
    tls: OnceLock<Result<Arc<rustls::ClientConfig>, rustls::Error>>,
}

impl SharedHttp {
    /// Settings of a run.
    #[must_use]
    pub fn new(tls_policy: TlsPolicy, files: Arc<FileStore>, reset_on_iteration: bool) -> Self {
        Self { tls_policy, files, reset_on_iteration, ..Self::default() }
    }

    /// Limit of the retained bodies of one sample; `None`: unlimited, if the plan disables the limit of single
    /// bodies.
    pub(crate) fn sample_body_limit(&self) -> Option<usize> {
        match self.body_limit {
            BodyLimit::Unlimited => None,
            BodyLimit::Refuse(_) | BodyLimit::Truncate(_) => {
                Some(self.sample_bytes_max.unwrap_or(SAMPLE_BYTES_KEPT_MAX))
            }
        }
    }

    /// The TLS configuration, made when the first connection needs it.
    ///
    /// # Errors
    /// When the cryptography provider has no common protocol version.
    pub fn tls(&self) -> Result<Arc<rustls::ClientConfig>, rustls::Error> {
        self.tls.get_or_init(|| tls_config(self.tls_policy)).clone()
    }

    /// What a connection is secured with whose user names this key.
    pub(crate) fn shown(&self, alias: Option<&str>) -> Result<Shown, rustls::Error> {
        match &self.client_keys {
            Some(keys) => keys.shown(alias, self.tls_policy),
            None => self.tls().map(Shown::nothing),
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

/// The header managers in scope of a sampler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderManagers {
    /// None.
    #[default]
    None,
    /// One, by its number in the plan. What scripts change of it holds for all samplers in its scope.
    One(u32),
    /// Several, which are merged for each sample.
    Several,
}

/// An HTTP Request sampler with the config elements of its scope merged in.
#[derive(Debug, Clone)]
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
    pub encoding: ContentEncoding,
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
    /// The managers that these headers come from.
    pub header_managers: HeaderManagers,
    /// The nearest cookie manager.
    pub cookies: Option<Arc<CookieManager>>,
    /// The nearest cache manager.
    pub cache: Option<Arc<CacheManager>>,
    /// The nearest authorization manager.
    pub auth: Option<Arc<AuthManager>>,
    /// Pre-processors in scope that change the sampler, in their order.
    pub modifiers: Box<[Modifier]>,
    /// The nearest DNS cache manager.
    pub dns: Option<Arc<DnsManager>>,
    /// `HTTPSampler.ipSource`: the address that connections are made from.
    pub source: Option<Box<Source>>,
    /// `HTTPSampler.image_parser`: resources of pages are fetched, too.
    pub embedded: Option<Box<Embedded>>,
    /// `HTTPSampler.md5`: of a body its MD5 sum is kept.
    pub md5: bool,
    /// Scripts around the sampler may look at it and change it.
    pub is_open: bool,
    /// JMeter's client selected by the plan.
    pub client: Client,
}

impl HttpSampler {
    /// What the sampler itself needs to be kept of a response.
    #[must_use]
    pub fn keep(&self) -> Retention {
        Retention { body: self.embedded.is_some() || self.md5, ..Retention::default() }
    }
}
