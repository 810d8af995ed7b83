//! Tunnels through a proxy (CONNECT).

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use busyhour_program::result::{Retention, SampleResult};
use busyhour_sample::Nanos;

use crate::connection::Connection;
use crate::dial::ConnectOptions;
use crate::failure::Failure;
use crate::origin::Origin;
use crate::proxy_address::{ProxyAddress, ProxyAuth};
use crate::response::ResponseReader;
use crate::retained_body::BodyBudget;
use crate::settings::HttpSampler;
use crate::sink::{Head, ResponseSink, reset_response};

/// The parameters of a tunnel.
pub(crate) struct TunnelRequest<'a> {
    pub(crate) sampler: &'a HttpSampler,
    pub(crate) origin: &'a Arc<Origin>,
    pub(crate) proxy: &'a Arc<ProxyAddress>,
    pub(crate) options: ConnectOptions<'a>,
    /// The proxy's addresses, if they are already known.
    pub(crate) addresses: Option<&'a [SocketAddr]>,
    /// The maximum time without data from the proxy.
    pub(crate) response_timeout: Option<Duration>,
    /// The start of the sample.
    pub(crate) started: Nanos,
    pub(crate) keep: Retention,
    pub(crate) budget: Option<&'a BodyBudget>,
}

/// Requests a tunnel to the origin from the proxy and performs the TLS handshake in it. Credentials are sent if the proxy
/// requests them. Returns `None` if the proxy rejects the tunnel; as in HttpClient, its response is then the response of the
/// sample.
pub(crate) async fn open(
    tunnel: &TunnelRequest<'_>,
    proxy_auth: &mut ProxyAuth,
    result: &mut SampleResult,
    head: &mut Head,
    reader: &mut ResponseReader,
) -> Result<Option<Connection>, Failure> {
    let TunnelRequest { origin, proxy, options, .. } = tunnel;
    let before = *proxy_auth;
    let mut credentials_sent = false;
    let mut usable: Option<Connection> = None;
    loop {
        let mut connection = match usable.take() {
            Some(connection) => connection,
            None => {
                let opened = Connection::open(origin, Some(proxy), tunnel.addresses, options).await;
                // As in JMeter, the time after this counts as latency, including the handshake.
                result.times.connect_ns = options.clock.now().since(tunnel.started);
                opened?
            }
        };
        let known = credentials_sent || before == ProxyAuth::Accepted;
        let request = connect_request(origin, proxy.authorization.as_deref().filter(|_| known));
        connection.send(request.as_bytes()).await?;
        result.sizes.sent_bytes = request.len() as u64;
        *reader = ResponseReader::to_connect();
        let limit = tunnel.sampler.shared.body_limit;
        let mut sink = ResponseSink { head, result, keep: tunnel.keep, limit, budget: tunnel.budget };
        let received = connection.receive(reader, &mut sink, options.clock, tunnel.response_timeout).await?;
        let asks = head.proxy_asks && proxy.authorization.is_some();
        let (new_proxy_auth, again) = before.after(head.status, asks, credentials_sent);
        *proxy_auth = new_proxy_auth;
        if !again && head.status >= 300 {
            if let Some((first, last)) = received {
                result.times.latency_ns = first.since(tunnel.started);
                result.times.end = last;
            }
            return Ok(None);
        }
        let granted = !again;
        if let Some(budget) = tunnel.budget {
            budget.release(result.body.len());
        }
        reset_response(result);
        *head = Head::new(tunnel.sampler);
        if granted {
            return connection.secured(options).await.map(Some);
        }
        credentials_sent = true;
        usable = reader.keeps_alive.then_some(connection);
    }
}

/// The CONNECT request as HttpClient 4.5 writes it.
fn connect_request(origin: &Origin, credentials: Option<&str>) -> String {
    let mut request = format!(
        "CONNECT {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: {}\r\n",
        origin.with_port(),
        origin.authority,
        crate::wire_request::USER_AGENT
    );
    if let Some(credentials) = credentials {
        request.push_str("Proxy-Authorization: ");
        request.push_str(credentials);
        request.push_str("\r\n");
    }
    request.push_str("\r\n");
    request
}
