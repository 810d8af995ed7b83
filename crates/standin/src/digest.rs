//! Digest authorization of the server. It accepts the user `user` with the password `secret` in the realm `vault`.

use md5::Md5;
use sha2::{Digest, Sha256};

use crate::request::ReceivedRequest;
use crate::response::Response;

const NONCE: &str = "dcd98b7102dd2f0e8b11d0f600bfb0c0";

/// The response to `/digest/KIND`: a challenge, or the result of checking the request's authorization.
pub(crate) fn respond(kind: &str, request: &ReceivedRequest) -> Response {
    let authorization = request.header("authorization").unwrap_or_default();
    if authorization.starts_with("Digest ") && kind != "stale" && is_correct(&authorization, request) {
        return Response::text(format!("welcome by {kind}"));
    }
    if kind == "stale" && authorization.contains("nonce=\"second\"") && is_correct(&authorization, request) {
        return Response::text("welcome after all");
    }
    let base = format!("Digest realm=\"vault\", nonce=\"{NONCE}\"");
    let challenge = match kind {
        "sess" => format!("{base}, qop=\"auth\", algorithm=MD5-sess, opaque=\"o\\\"p\""),
        "sha256" => format!("{base}, qop=\"auth\", algorithm=SHA-256"),
        "old" => format!("{base}, opaque=\"5ccc069c\""),
        "int" => format!("{base}, qop=\"auth-int,auth\""),
        "unknown" => format!("{base}, qop=\"auth\", algorithm=ROT-13"),
        "token" => format!("{base}, qop=\"token\""),
        "stale" if authorization.starts_with("Digest ") => {
            "Digest realm=\"vault\", nonce=\"second\", qop=\"auth\", stale=true".to_owned()
        }
        _ => format!("{base}, qop=\"auth\", algorithm=MD5"),
    };
    let mut response = Response::new(401, "text/plain; charset=utf-8", "who are you?");
    if kind == "both" {
        response = response.with("WWW-Authenticate", "Basic realm=\"vault\"");
    }
    response.with("WWW-Authenticate", challenge)
}

fn hex<D: Digest>(text: &[u8]) -> String {
    D::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether the request's authorization is the correct response to the challenge.
fn is_correct(authorization: &str, request: &ReceivedRequest) -> bool {
    let parameter = |name: &str| {
        let at = authorization.find(&format!(" {name}=")).map(|at| at + name.len() + 2)?;
        let rest = &authorization[at..];
        let end = rest.find(", ").unwrap_or(rest.len());
        Some(rest[..end].trim_matches('"').to_owned())
    };
    let value = |name: &str| parameter(name).unwrap_or_default();
    let algorithm = value("algorithm");
    let hash = |text: &str| match algorithm.as_str() {
        "SHA-256" => hex::<Sha256>(text.as_bytes()),
        _ => hex::<Md5>(text.as_bytes()),
    };
    let mut ha1 = hash("user:vault:secret");
    if algorithm == "MD5-sess" {
        ha1 = hash(&format!("{ha1}:{}:{}", value("nonce"), value("cnonce")));
    }
    let mut ha2 = format!("{}:{}", request.method(), value("uri"));
    if value("qop") == "auth-int" {
        ha2 = format!("{ha2}:{}", hex::<Md5>(&request.body));
    }
    let ha2 = hash(&ha2);
    let expected = match parameter("qop") {
        None => format!("{ha1}:{}:{ha2}", value("nonce")),
        Some(qop) => format!("{ha1}:{}:{}:{}:{qop}:{ha2}", value("nonce"), value("nc"), value("cnonce")),
    };
    value("uri") == request.target() && value("response") == hash(&expected)
}
