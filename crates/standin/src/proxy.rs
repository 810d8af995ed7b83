//! The stand-in as a proxy: authentication and tunnels.
//!
//! The host of the request decides: `guarded.test` requires `me:secret` by Basic authentication, `closing.test` as
//! well and closes the connection with each challenge, `silent.test` responds with 407 without a challenge,
//! `forbidden.test` is refused. All others are accepted. A tunnel leads back to the stand-in, over TLS.

use crate::request::Request;
use crate::response::{Answer, Response};

/// How an answer begins that opens a tunnel.
pub(crate) const GRANTED: &[u8] = b"HTTP/1.1 200 ";

/// The proxy's own response; `None` if the request is passed to the server.
pub(crate) fn answer(request: &Request) -> Option<Answer> {
    let target = request.target();
    let tunnel = request.method() == "CONNECT";
    let authority = if tunnel { &target } else { target.strip_prefix("http://")? };
    let host = authority.split([':', '/', '?']).next().unwrap_or_default();
    let knows = request.header("proxy-authorization").as_deref() == Some("Basic bWU6c2VjcmV0");
    let unknown = Response::new(407, "text/plain; charset=utf-8", "who are you?");
    let challenge = |response: Response| response.with("Proxy-Authenticate", "Basic realm=\"gate\"");
    let refusal = match host {
        "guarded.test" if !knows => challenge(unknown),
        "closing.test" if !knows => {
            let mut answer = challenge(unknown).with("Connection", "close").sized(request);
            answer.close = true;
            return Some(answer);
        }
        "silent.test" => unknown,
        "forbidden.test" => Response::new(403, "text/plain; charset=utf-8", "not for you"),
        _ if tunnel => {
            let bytes = [GRANTED, b"Connection established\r\n\r\n"].concat();
            return Some(Answer { bytes, close: false, delay: None });
        }
        _ => return None,
    };
    Some(refusal.sized(request))
}
