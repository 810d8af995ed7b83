//! The stand-in server as a proxy, with authentication and tunnels.
//!
//! The response depends on the host of the request. `guarded.test` requires Basic authentication with `me:secret`.
//! `closing.test` requires it, too, and closes the connection after each challenge. `silent.test` responds with 407 without a
//! challenge. `forbidden.test` is rejected. All other hosts are accepted. The other end of a tunnel is the stand-in server
//! itself, over TLS.

use crate::request::ReceivedRequest;
use crate::response::{Response, WireResponse};

/// The start of a response that opens a tunnel.
pub(crate) const TUNNEL_OPENED: &[u8] = b"HTTP/1.1 200 ";

/// The response of the proxy itself; `None` if the request is passed on to the server.
pub(crate) fn respond(request: &ReceivedRequest) -> Option<WireResponse> {
    let target = request.target();
    let tunnel = request.method() == "CONNECT";
    let authority = if tunnel { &target } else { target.strip_prefix("http://")? };
    let host = authority.split([':', '/', '?']).next().unwrap_or_default();
    let is_authorized = request.header("proxy-authorization").as_deref() == Some("Basic bWU6c2VjcmV0");
    let unauthorized = Response::new(407, "text/plain; charset=utf-8", "who are you?");
    let challenge = |response: Response| response.with("Proxy-Authenticate", "Basic realm=\"gate\"");
    let rejection = match host {
        "guarded.test" if !is_authorized => challenge(unauthorized),
        "closing.test" if !is_authorized => {
            let mut response = challenge(unauthorized).with("Connection", "close").sized(request);
            response.close = true;
            return Some(response);
        }
        "silent.test" => unauthorized,
        "forbidden.test" => Response::new(403, "text/plain; charset=utf-8", "not for you"),
        _ if tunnel => {
            let bytes = [TUNNEL_OPENED, b"Connection established\r\n\r\n"].concat();
            return Some(WireResponse { bytes, close: false, delay: None });
        }
        _ => return None,
    };
    Some(rejection.sized(request))
}
