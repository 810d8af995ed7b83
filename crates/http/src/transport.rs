//! Sends one request and receives its response: the part of an exchange that does not need the user.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use busyhour_limits::Limit;
use busyhour_program::clock::Clock;
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::Nanos;

use crate::client::Client;
use crate::connection::Connection;
use crate::dial::ConnectOptions;
use crate::dns::Name;
use crate::failure::Failure;
use crate::origin::Origin;
use crate::proxy_address::{ProxyAddress, ProxyAuth};
use crate::response::ResponseReader;
use crate::retained_body::BodyBudget;
use crate::session::HttpSession;
use crate::settings::HttpSampler;
use crate::sink::{Head, ResponseSink};
use crate::tunnel::{self, TunnelRequest};
use crate::wire_request::WireRequest;

/// The route to a server, and the connection to it.
pub(crate) struct Transport<'s> {
    pub(crate) sampler: &'s HttpSampler,
    pub(crate) origin: Arc<Origin>,
    pub(crate) proxy: Option<Arc<ProxyAddress>>,
    /// The state of the proxy authentication of the user.
    pub(crate) proxy_auth: ProxyAuth,
    /// Before the transfer: an idle connection, if there is one. After the transfer: the connection, if it can be reused.
    pub(crate) connection: Option<Connection>,
    pub(crate) keep: Retention,
    /// Settings for name resolution, local address and client key.
    pub(crate) settings: Option<Box<ConnectionSettings>>,
    connect_timeout: Option<Duration>,
    response_timeout: Option<Duration>,
    /// Whether only the MD5 sum of the body is retained.
    pub(crate) md5: bool,
    /// The time at which the request is aborted.
    deadline: Option<Nanos>,
    /// The remaining budget of the sample for bodies, if it has several responses.
    pub(crate) budget: Option<BodyBudget>,
}

/// Connection settings that few plans have.
#[derive(Default)]
pub(crate) struct ConnectionSettings {
    /// The name to resolve under the plan's DNS cache manager.
    pub(crate) name: Option<Name>,
    /// The local address of connections.
    pub(crate) source: Option<IpAddr>,
    /// The alias of the user's key.
    key_alias: Option<String>,
}

impl ConnectionSettings {
    /// The settings for connections to `origin`, if there are any.
    ///
    /// # Errors
    /// If the local address does not exist on this machine.
    pub(crate) fn for_connection(
        sampler: &HttpSampler,
        user: &mut UserState,
        session: &mut HttpSession,
        origin: &Origin,
        proxy: Option<&ProxyAddress>,
    ) -> Result<Option<Box<Self>>, Failure> {
        let keys = sampler.shared.client_keys.as_ref().filter(|keys| !keys.alias_variable().is_empty());
        if sampler.dns.is_none() && sampler.source.is_none() && keys.is_none() {
            return Ok(None);
        }
        let host = proxy.map_or(origin.bare_host(), |proxy| &proxy.host);
        let mut settings = Self::default();
        if let Some(manager) = &sampler.dns {
            let mut name = Name::new(manager, host, user);
            name.addresses = session.known_addresses(&name);
            settings.name = Some(name);
        }
        if let Some(source) = &sampler.source {
            settings.source = source.address(user)?;
        }
        if let Some(keys) = keys {
            settings.key_alias = user.variables.get(keys.alias_variable()).map(str::to_owned);
        }
        Ok(Some(Box::new(settings)))
    }

    /// The addresses of the host, if the plan has a DNS cache manager.
    async fn look_up(&mut self, clock: &Clock) -> Result<Option<Arc<[SocketAddr]>>, Failure> {
        match &mut self.name {
            Some(name) => name.resolve(0, clock.now()).await.map(Some),
            None => Ok(None),
        }
    }
}

/// The route to a server.
pub(crate) struct Route<'o> {
    pub(crate) origin: &'o Arc<Origin>,
    pub(crate) proxy: Option<Arc<ProxyAddress>>,
    /// The state of the proxy authentication of the user.
    pub(crate) proxy_auth: ProxyAuth,
    pub(crate) settings: Option<Box<ConnectionSettings>>,
}

impl<'s> Transport<'s> {
    /// Creates the transport to `origin`, over an idle connection if the user has one.
    #[inline]
    pub(crate) fn new(
        sampler: &'s HttpSampler,
        user: &mut UserState,
        session: &mut HttpSession,
        route: Route<'_>,
        keep: Retention,
    ) -> Self {
        let Route { origin, proxy, proxy_auth, settings } = route;
        let source = settings.as_ref().and_then(|settings| settings.source);
        let milliseconds = |template: &Template, user: &mut UserState| {
            let ms = if template.is_empty() { 0 } else { template.integer(user, 0) };
            u64::try_from(ms).ok().filter(|ms| *ms > 0).map(Duration::from_millis)
        };
        Self {
            sampler,
            origin: Arc::clone(origin),
            proxy_auth,
            connection: session.take_idle(origin, proxy.as_ref(), source, user.result.times.start),
            settings,
            proxy,
            keep,
            connect_timeout: milliseconds(&sampler.connect_timeout, user),
            response_timeout: milliseconds(&sampler.response_timeout, user),
            md5: sampler.md5,
            deadline: sampler.shared.request_deadline.map(|most| user.result.times.start + most),
            budget: None,
        }
    }

    /// Prepares a repetition of the request over the same connection, unless it was closed.
    pub(crate) fn prepare_repetition(&mut self, now: Nanos) {
        self.connection = self.connection.take().and_then(|mut used| used.is_usable(now).then_some(used));
    }

    /// Connects if necessary, sends the request and reads the response.
    pub(crate) async fn transfer(
        &mut self,
        result: &mut SampleResult,
        request: &WireRequest,
        head: &mut Head,
        clock: &Clock,
    ) -> Result<(), Failure> {
        let (sampler, keep) = (self.sampler, self.keep);
        let started = result.times.start;
        let mut reader = ResponseReader::new(request.method == "HEAD");
        let mut is_reusable = false;
        let time_left = self.deadline.map(|deadline| Duration::from_nanos(deadline.since(clock.now())));
        let work = async {
            if self.connection.is_none() {
                // Boxed, because most requests use an existing connection, and this future is larger than all others.
                self.connection = Box::pin(self.connect(result, head, &mut reader, clock, started)).await?;
                if self.connection.is_some() {
                    reader = ResponseReader::new(request.method == "HEAD");
                }
            }
            let Some(connection) = &mut self.connection else { return Ok(()) };
            connection.send(&request.wire).await?;
            // JMeter does not count the bytes that Java's client sends.
            let is_counted = request.client == Client::HttpClient4;
            result.sizes.sent_bytes = if is_counted { request.wire.len() as u64 } else { 0 };
            head.md5 = (self.md5 && keep.body).then(Box::default);
            let (limit, budget) = (sampler.shared.body_limit, self.budget.as_ref());
            let mut sink = ResponseSink { head, result, keep, limit, budget };
            let received = connection.receive(&mut reader, &mut sink, clock, self.response_timeout).await;
            if let Some((first, last)) = received? {
                result.times.latency_ns = first.since(started);
                result.times.end = last;
            }
            if reader.keeps_alive && sampler.keep_alive && !request.closes {
                match reader.keep_alive_s {
                    Some(seconds) => connection.limit_idle_time(clock.now(), seconds.saturating_mul(1000)),
                    None if sampler.shared.idle_ms_max > 0 => {
                        connection.limit_idle_time(clock.now(), sampler.shared.idle_ms_max);
                    }
                    None => {}
                }
                is_reusable = true;
            }
            Ok(())
        };
        let outcome = match time_left {
            None => work.await,
            Some(time_left) => match tokio::time::timeout(time_left, work).await {
                Ok(outcome) => outcome,
                Err(_) => Err(deadline_exceeded(sampler)),
            },
        };
        if !is_reusable {
            self.connection = None;
        }
        if outcome.is_err() || result.times.end == Nanos::ZERO {
            result.times.end = clock.now();
        }
        result.sizes.header_bytes = reader.head_bytes;
        result.sizes.body_bytes = reader.body_bytes;
        outcome?;
        match head.decoding.take() {
            Some(decoding) if reader.has_body && reader.content_length != Some(0) => decoding.end(),
            _ => Ok(()),
        }
    }

    /// Opens a new connection; `None` if the proxy rejected a tunnel. In this case, the proxy's response is the response of the
    /// sample.
    async fn connect(
        &mut self,
        result: &mut SampleResult,
        head: &mut Head,
        reader: &mut ResponseReader,
        clock: &Clock,
        started: Nanos,
    ) -> Result<Option<Connection>, Failure> {
        let sampler = self.sampler;
        let mut options = ConnectOptions {
            shared: &sampler.shared,
            clock,
            timeout: self.connect_timeout,
            source: None,
            key_alias: None,
        };
        let mut addresses = None;
        if let Some(settings) = self.settings.as_deref_mut() {
            let addresses_or_failure = Box::pin(settings.look_up(clock)).await;
            addresses =
                addresses_or_failure.inspect_err(|_| result.times.connect_ns = clock.now().since(started))?;
            options.source = settings.source;
            options.key_alias = settings.key_alias.as_deref();
        }
        let addresses = addresses.as_deref();
        let Some(proxy) = self.proxy.as_ref().filter(|_| self.origin.secure) else {
            let opened = Connection::open(&self.origin, self.proxy.as_ref(), addresses, &options).await;
            result.times.connect_ns = clock.now().since(started);
            return opened.map(Some);
        };
        let tunnel_request = TunnelRequest {
            sampler,
            origin: &self.origin,
            proxy,
            options,
            addresses,
            response_timeout: self.response_timeout,
            started,
            keep: self.keep,
            budget: self.budget.as_ref(),
        };
        Box::pin(tunnel::open(&tunnel_request, &mut self.proxy_auth, result, head, reader)).await
    }
}

fn deadline_exceeded(sampler: &HttpSampler) -> Failure {
    let most = sampler.shared.request_deadline.unwrap_or_default();
    let message = format!("The request took longer than its deadline of {most:?} (--request-deadline)");
    Failure::limited(Limit::RequestDeadline, "java.net.SocketTimeoutException", message)
}
