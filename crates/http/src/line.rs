//! One request over the wire: what an exchange needs between preparing it and looking at its answer, without the user.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use busyhour_limits::Limit;
use busyhour_program::clock::Clock;
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_record::Nanos;

use crate::client::Client;
use crate::connection::Connection;
use crate::dial::ConnectOptions;
use crate::dns::Name;
use crate::failure::Failure;
use crate::kept::Room;
use crate::origin::Origin;
use crate::proxy_address::{ProxyAddress, ProxyAuth};
use crate::response::ResponseReader;
use crate::session::HttpSession;
use crate::settings::HttpSampler;
use crate::sink::{Head, ResponseSink};
use crate::tunnel::{self, Wanted};
use crate::wire_request::WireRequest;

/// The way to a server, and the connection on it.
pub(crate) struct Line<'s> {
    pub(crate) sampler: &'s HttpSampler,
    pub(crate) origin: Arc<Origin>,
    pub(crate) proxy: Option<Arc<ProxyAddress>>,
    /// The state of the proxy authentication of the user.
    pub(crate) proxy_auth: ProxyAuth,
    /// An idle connection before the transfer, one that can be used again after it.
    pub(crate) connection: Option<Connection>,
    pub(crate) keep: Retention,
    /// Settings of names and local addresses.
    pub(crate) special: Option<Box<Special>>,
    connect_timeout: Option<Duration>,
    response_timeout: Option<Duration>,
    /// Of the body only its MD5 sum is kept.
    pub(crate) md5: bool,
    /// The time at which the request is aborted.
    deadline: Option<Nanos>,
    /// What the sample has left for bodies, where it has several.
    pub(crate) room: Option<Room>,
}

/// Connection settings that few plans have.
#[derive(Default)]
pub(crate) struct Special {
    /// The name to look up under the plan's DNS cache manager.
    pub(crate) name: Option<Name>,
    /// What connections come from.
    pub(crate) source: Option<IpAddr>,
    /// The user's key, by its alias.
    key_alias: Option<String>,
}

impl Special {
    /// The settings for connections to `origin`, if there are any.
    ///
    /// # Errors
    /// The local address does not exist on this machine.
    pub(crate) fn of(
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
        let mut special = Self::default();
        if let Some(manager) = &sampler.dns {
            let mut name = Name::new(manager, host, user);
            name.addresses = session.looked_up(&name);
            special.name = Some(name);
        }
        if let Some(source) = &sampler.source {
            special.source = source.address(user)?;
        }
        if let Some(keys) = keys {
            special.key_alias = user.variables.get(keys.alias_variable()).map(str::to_owned);
        }
        Ok(Some(Box::new(special)))
    }

    /// Addresses of the host, if the plan has them looked up.
    async fn look_up(&mut self, clock: &Clock) -> Result<Option<Arc<[SocketAddr]>>, Failure> {
        match &mut self.name {
            Some(name) => name.resolve(0, clock.now()).await.map(Some),
            None => Ok(None),
        }
    }
}

/// The way to a server.
pub(crate) struct Route<'o> {
    pub(crate) origin: &'o Arc<Origin>,
    pub(crate) proxy: Option<Arc<ProxyAddress>>,
    /// Whether the proxy has accepted the credentials.
    pub(crate) proxy_auth: ProxyAuth,
    pub(crate) special: Option<Box<Special>>,
}

impl<'s> Line<'s> {
    /// The way to `origin`, over an idle connection if the user has one.
    #[inline]
    pub(crate) fn new(
        sampler: &'s HttpSampler,
        user: &mut UserState,
        session: &mut HttpSession,
        route: Route<'_>,
        keep: Retention,
    ) -> Self {
        let Route { origin, proxy, proxy_auth, special } = route;
        let source = special.as_ref().and_then(|special| special.source);
        let milliseconds = |template: &Template, user: &mut UserState| {
            let ms = if template.is_empty() { 0 } else { template.integer(user, 0) };
            u64::try_from(ms).ok().filter(|ms| *ms > 0).map(Duration::from_millis)
        };
        Self {
            sampler,
            origin: Arc::clone(origin),
            proxy_auth,
            connection: session.take(origin, proxy.as_ref(), source, user.result.times.start),
            special,
            proxy,
            keep,
            connect_timeout: milliseconds(&sampler.connect_timeout, user),
            response_timeout: milliseconds(&sampler.response_timeout, user),
            md5: sampler.md5,
            deadline: sampler.shared.request_deadline.map(|most| user.result.times.start + most),
            room: None,
        }
    }

    /// The request is to be sent once more: over the same connection, unless that has ended since.
    pub(crate) fn again(&mut self, now: Nanos) {
        self.connection = self.connection.take().and_then(|mut used| used.is_usable(now).then_some(used));
    }

    /// Connects if need be, sends the request and reads the response.
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
        let mut kept = false;
        let time_left = self.deadline.map(|deadline| Duration::from_nanos(deadline.since(clock.now())));
        let work = async {
            if self.connection.is_none() {
                self.connection = self.connect(result, head, &mut reader, clock, started).await?;
                if self.connection.is_some() {
                    reader = ResponseReader::new(request.method == "HEAD");
                }
            }
            let Some(connection) = &mut self.connection else { return Ok(()) };
            connection.send(&request.wire).await?;
            // JMeter does not know the number of bytes that Java's client sends.
            let is_counted = request.client == Client::HttpClient4;
            result.sent_bytes = if is_counted { request.wire.len() as u64 } else { 0 };
            head.md5 = (self.md5 && keep.body).then(Box::default);
            let (limit, room) = (sampler.shared.body_limit, self.room.as_ref());
            let mut sink = ResponseSink { head, result, keep, limit, room };
            let received = connection.receive(&mut reader, &mut sink, clock, self.response_timeout).await;
            if let Some((first, last)) = received? {
                result.times.latency_ns = first.since(started);
                result.times.end = last;
            }
            if reader.keeps_alive && sampler.keep_alive && !request.closes {
                match reader.keep_alive_s {
                    Some(seconds) => connection.promised(clock.now(), seconds.saturating_mul(1000)),
                    None if sampler.shared.idle_ms_max > 0 => {
                        connection.promised(clock.now(), sampler.shared.idle_ms_max);
                    }
                    None => {}
                }
                kept = true;
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
        if !kept {
            self.connection = None;
        }
        if outcome.is_err() || result.times.end == Nanos::ZERO {
            result.times.end = clock.now();
        }
        result.header_bytes = reader.head_bytes;
        result.body_bytes = reader.body_bytes;
        outcome?;
        match head.decoding.take() {
            Some(decoding) if reader.has_body && reader.content_length != Some(0) => decoding.end(),
            _ => Ok(()),
        }
    }

    /// A new connection; `None`: the proxy refused a tunnel, and its refusal is the response.
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
        if let Some(special) = self.special.as_deref_mut() {
            let looked = Box::pin(special.look_up(clock)).await;
            addresses = looked.inspect_err(|_| result.times.connect_ns = clock.now().since(started))?;
            options.source = special.source;
            options.key_alias = special.key_alias.as_deref();
        }
        let addresses = addresses.as_deref();
        let Some(proxy) = self.proxy.as_ref().filter(|_| self.origin.secure) else {
            let opened = Connection::open(&self.origin, self.proxy.as_ref(), addresses, &options).await;
            result.times.connect_ns = clock.now().since(started);
            return opened.map(Some);
        };
        let wanted = Wanted {
            sampler,
            origin: &self.origin,
            proxy,
            options,
            addresses,
            response_timeout: self.response_timeout,
            started,
            keep: self.keep,
            room: self.room.as_ref(),
        };
        Box::pin(tunnel::open(&wanted, &mut self.proxy_auth, result, head, reader)).await
    }
}

fn deadline_exceeded(sampler: &HttpSampler) -> Failure {
    let most = sampler.shared.request_deadline.unwrap_or_default();
    let message = format!("The request took longer than its deadline of {most:?} (--request-deadline)");
    Failure::limited(Limit::RequestDeadline, "java.net.SocketTimeoutException", message)
}
