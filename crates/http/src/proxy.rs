//! The proxy of a request.

use std::sync::Arc;

use busyhour_program::user::UserState;

use crate::client::Client;
use crate::origin::Origin;
use crate::proxy_address::ProxyAddress;
use crate::settings::{HttpSampler, Proxy, SharedHttp};

/// The proxy for `origin`: that of the sampler, or else that of the command line if the host is not excluded.
pub(crate) fn proxy_for(
    sampler: &HttpSampler,
    user: &mut UserState,
    origin: &Origin,
) -> Option<Arc<ProxyAddress>> {
    if let Some(proxy) = &sampler.proxy
        && let Some(address) = address(proxy, user)
    {
        return Some(address);
    }
    let proxy = sampler.shared.proxy.as_ref()?;
    let host = origin.bare_host();
    if sampler.client == Client::Java && is_this_machine(host) {
        return None;
    }
    if is_excluded(&sampler.shared, host) { None } else { address(proxy, user) }
}

/// Whether the proxy of the command line is not used for a host.
fn is_excluded(shared: &SharedHttp, host: &str) -> bool {
    shared.no_proxy.iter().any(|pattern| match pattern.strip_prefix('*') {
        Some(suffix) => host.ends_with(suffix),
        None => host.eq_ignore_ascii_case(pattern),
    })
}

/// Whether Java's own client uses the proxy of the command line for a host.
pub(crate) fn java_uses_proxy(shared: &SharedHttp, host: &str) -> bool {
    shared.proxy.is_some() && !is_this_machine(host) && !is_excluded(shared, host)
}

/// Whether a host is one for which Java's own client never uses the proxy of the command line.
fn is_this_machine(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.starts_with("127.")
        || matches!(host, "::1" | "::0" | "0.0.0.0")
}

fn address(proxy: &Proxy, user: &mut UserState) -> Option<Arc<ProxyAddress>> {
    let host = proxy.host.text(user).trim().to_owned();
    let port = u16::try_from(proxy.port.integer(user, 0)).ok().filter(|port| *port > 0)?;
    if host.is_empty() {
        return None;
    }
    let name = proxy.user.text(user).into_owned();
    let authorization = (!name.is_empty()).then(|| crate::auth::basic(&name, &proxy.password.text(user)));
    Some(Arc::new(ProxyAddress { host, port, authorization }))
}
