//! Digest authorization on the server's side: `user:secret` for realm `vault`.

use md5::Md5;
use sha2::{Digest, Sha256};

use crate::request::Request;
use crate::response::Response;

const NONCE: &str = "dcd98b7102dd2f0e8b11d0f600bfb0c0";

/// The response to `/digest/KIND`: a challenge, or the result of the check.
pub(crate) fn answer(kind: &str, request: &Request) -> Response {
    let printed = request.header("authorization").unwrap_or_default();
    if printed.starts_with("Digest ") && kind != "stale" && is_right(&printed, request) {
        return Response::text(format!("welcome by {kind}"));
    }
    if kind == "stale" && printed.contains("nonce=\"second\"") && is_right(&printed, request) {
        return Response::text("welcome after all");
    }
    let base = format!("Digest realm=\"vault\", nonce=\"{NONCE}\"");
    let asked = match kind {
        "sess" => format!("{base}, qop=\"auth\", algorithm=MD5-sess, opaque=\"o\\\"p\""),
        "sha256" => format!("{base}, qop=\"auth\", algorithm=SHA-256"),
        "old" => format!("{base}, opaque=\"5ccc069c\""),
        "int" => format!("{base}, qop=\"auth-int,auth\""),
        "unknown" => format!("{base}, qop=\"auth\", algorithm=ROT-13"),
        "token" => format!("{base}, qop=\"token\""),
        "stale" if printed.starts_with("Digest ") => {
            "Digest realm=\"vault\", nonce=\"second\", qop=\"auth\", stale=true".to_owned()
        }
        _ => format!("{base}, qop=\"auth\", algorithm=MD5"),
    };
    let mut response = Response::new(401, "text/plain; charset=utf-8", "who are you?");
    if kind == "both" {
        response = response.with("WWW-Authenticate", "Basic realm=\"vault\"");
    }
    response.with("WWW-Authenticate", asked)
}

fn hex<D: Digest>(text: &[u8]) -> String {
    D::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether the response to the challenge proves the password.
fn is_right(printed: &str, request: &Request) -> bool {
    let parameter = |name: &str| {
        let at = printed.find(&format!(" {name}=")).map(|at| at + name.len() + 2)?;
        let rest = &printed[at..];
        let end = rest.find(", ").unwrap_or(rest.len());
        Some(rest[..end].trim_matches('"').to_owned())
    };
    let of = |name: &str| parameter(name).unwrap_or_default();
    let algorithm = of("algorithm");
    let hash = |text: &str| match algorithm.as_str() {
        "SHA-256" => hex::<Sha256>(text.as_bytes()),
        _ => hex::<Md5>(text.as_bytes()),
    };
    let mut whose = hash("user:vault:secret");
    if algorithm == "MD5-sess" {
        whose = hash(&format!("{whose}:{}:{}", of("nonce"), of("cnonce")));
    }
    let mut what = format!("{}:{}", request.method(), of("uri"));
    if of("qop") == "auth-int" {
        what = format!("{what}:{}", hex::<Md5>(&request.body));
    }
    let what = hash(&what);
    let right = match parameter("qop") {
        None => format!("{whose}:{}:{what}", of("nonce")),
        Some(qop) => format!("{whose}:{}:{}:{}:{qop}:{what}", of("nonce"), of("nc"), of("cnonce")),
    };
    of("uri") == request.target() && of("response") == hash(&right)
}
