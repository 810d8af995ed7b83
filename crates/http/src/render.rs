//! Renders a request: URL, headers, body.

use std::sync::Arc;

use busyhour_program::user::UserState;

use crate::client::Client;
use crate::encode;
use crate::failure::Failure;
use crate::form;
use crate::origin::{InvalidHost, Origin};
use crate::session::HttpSession;
use crate::settings::HttpSampler;
use crate::url_parts;
use crate::wire_request::WireRequest;

/// Renders the URL, headers and body of a request; returns its origin.
pub(crate) async fn render(
    sampler: &HttpSampler,
    user: &mut UserState,
    session: &mut HttpSession,
    request: &mut WireRequest,
) -> Result<Arc<Origin>, Failure> {
    user.thrown = None;
    request.client = sampler.client;
    sampler.method.render(user, &mut request.method);
    let origin = render_url(sampler, user, session, request)?;
    if user.thrown.is_some() {
        request.url.clear();
        return Err(thrown(user));
    }
    check_method(sampler.client, &request.method)?;
    render_headers(sampler, user, request, &origin);
    let has_body = match (sampler.client, request.method.as_str()) {
        (Client::Java, "PUT") => get_has_body(sampler, user),
        (Client::Java, method) => method == "POST",
        (Client::HttpClient4, method) => client4_has_body(method, sampler, user),
    };
    if has_body {
        form::body(sampler, user, request).await?;
    }
    if user.thrown.is_some() { Err(thrown(user)) } else { Ok(origin) }
}

/// The exception that a function in the request has thrown.
fn thrown(user: &mut UserState) -> Failure {
    match user.thrown.take() {
        Some(thrown) => Failure::new(thrown.class, thrown.message),
        None => Failure::new("java.lang.IllegalArgumentException", "null"),
    }
}

fn client4_has_body(method: &str, sampler: &HttpSampler, user: &mut UserState) -> bool {
    match method {
        "GET" => get_has_body(sampler, user),
        "HEAD" | "TRACE" | "OPTIONS" => false,
        // Requests with other methods have a body, which may be empty, because HttpClient has no class for these methods.
        _ => true,
    }
}

/// Checks whether the client sends requests with this method. HttpClient 4 accepts every HTTP token, so the request line never
/// contains line ends or blanks from the method.
fn check_method(client: Client, method: &str) -> Result<(), Failure> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    match client {
        Client::HttpClient4 if !method.is_empty() && method.bytes().all(is_token) => Ok(()),
        Client::HttpClient4 => {
            let message = format!("Unexpected method: '{method}'");
            Err(Failure::new("java.lang.IllegalArgumentException", message))
        }
        Client::Java => match method {
            "GET" | "POST" | "HEAD" | "OPTIONS" | "PUT" | "DELETE" | "TRACE" => Ok(()),
            other => {
                let message = format!("Invalid HTTP method: {other}");
                Err(Failure::new("java.net.ProtocolException", message))
            }
        },
    }
}

fn get_has_body(sampler: &HttpSampler, user: &mut UserState) -> bool {
    (sampler.raw_body || !sampler.arguments.is_empty() || !sampler.files.is_empty())
        && (form::sends_values_as_body(sampler, user) || sends_file(sampler, user))
}

/// Adds the body that JMeter sends with a GET request, if the sampler has one.
pub(crate) async fn with_entity_of_get(
    sampler: &HttpSampler,
    user: &mut UserState,
    request: &mut WireRequest,
) -> Result<(), Failure> {
    if get_has_body(sampler, user) { form::body(sampler, user, request).await } else { Ok(()) }
}

fn sends_file(sampler: &HttpSampler, user: &mut UserState) -> bool {
    sampler.arguments.is_empty()
        && sampler.files.len() == 1
        && !sampler.files[0].path.text(user).is_empty()
        && sampler.files[0].parameter.text(user).is_empty()
}

fn render_url(
    sampler: &HttpSampler,
    user: &mut UserState,
    session: &mut HttpSession,
    request: &mut WireRequest,
) -> Result<Arc<Origin>, Failure> {
    let mut path = user.take_buffer();
    sampler.path.render(user, &mut path);
    if path.contains(' ') {
        path = path.replace(' ', "%20");
    }
    if path.starts_with("http://") || path.starts_with("https://") {
        request.url.push_str(&path);
        user.give_back(path);
        return locate(session, request, sampler.client);
    }
    let mut key = user.take_buffer();
    sampler.protocol.render(user, &mut key);
    key.push('|');
    sampler.domain.render(user, &mut key);
    key.push('|');
    sampler.port.render(user, &mut key);
    let origin = match session.origin(&key) {
        Some(origin) => Ok(Arc::clone(origin)),
        None => {
            let origin = parse_origin(&key)?;
            if let Ok(origin) = &origin {
                session.remember_origin(&key, Arc::clone(origin));
            }
            origin
        }
    };
    user.give_back(key);
    match &origin {
        Ok(origin) => request.url.push_str(&origin.prefix),
        Err(scheme) => {
            request.url.push_str(scheme);
            request.url.push(':');
        }
    }
    request.path_at = request.url.len();
    if !path.starts_with('/') && !origin.as_ref().is_ok_and(|origin| origin.is_file) {
        request.url.push('/');
    }
    request.url.push_str(&path);
    let had_query = path.contains('?');
    user.give_back(path);
    if !sampler.arguments.is_empty() && matches!(request.method.as_str(), "GET" | "DELETE" | "OPTIONS") {
        let mut query = user.take_buffer();
        form::query(sampler, user, &mut query);
        if !query.is_empty() {
            request.url.push(if had_query { '&' } else { '?' });
            request.url.push_str(&query);
        }
        user.give_back(query);
    }
    match origin {
        Ok(origin) => {
            check_url(request, &origin, sampler.client)?;
            Ok(origin)
        }
        // JMeter parses the whole URI before it detects that the host is missing.
        Err(_) => {
            check_characters(request, sampler.client)?;
            if sampler.cookies.is_some() {
                // A host is required for cookies.
                return Err(Failure::new("java.lang.IllegalArgumentException", "Host may not be blank"));
            }
            let message = format!("URI does not specify a valid host name: {}", request.url);
            Err(Failure::new("org.apache.http.client.ClientProtocolException", message))
        }
    }
}

/// Parses the rendered `protocol|domain|port`; returns only the scheme if there is no domain.
fn parse_origin(key: &str) -> Result<Result<Arc<Origin>, &'static str>, Failure> {
    let mut parts = key.split('|');
    let (protocol, domain, port) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    let secure = match protocol.trim() {
        "" => false,
        scheme if scheme.eq_ignore_ascii_case("http") => false,
        scheme if scheme.eq_ignore_ascii_case("https") => true,
        scheme if scheme.eq_ignore_ascii_case("file") => return Ok(Ok(Origin::file())),
        scheme => {
            let message = format!("unknown protocol: {}", scheme.to_lowercase());
            return Err(Failure::new("java.net.MalformedURLException", message));
        }
    };
    if domain.contains('/') {
        let message = "Illegal character found in host: '/'";
        return Err(Failure::new("java.net.MalformedURLException", message));
    }
    if domain.is_empty() {
        return Ok(Err(if secure { "https" } else { "http" }));
    }
    let standard = if secure { 443 } else { 80 };
    // As in JMeter, a text that is not a number is ignored.
    let port = port.trim().parse::<i64>().ok().filter(|port| *port != 0 && *port != standard);
    let port = match port {
        None => None,
        Some(port) => Some(u16::try_from(port).map_err(|_| {
            Failure::new("java.lang.IllegalArgumentException", format!("port out of range:{port}"))
        })?),
    };
    let host = if domain.contains(':') && !domain.starts_with('[') {
        format!("[{domain}]")
    } else {
        domain.to_owned()
    };
    Ok(Ok(Origin::new(secure, &host, port)))
}

/// The origin of the absolute URL in `request.url`.
pub(crate) fn locate(
    session: &mut HttpSession,
    request: &mut WireRequest,
    client: Client,
) -> Result<Arc<Origin>, Failure> {
    if request.url.starts_with("file:") {
        request.path_at = "file:".len();
        return Ok(Origin::file());
    }
    let parts = url_parts::split(&request.url)?;
    if parts.host.is_empty() {
        return Err(Failure::new("org.apache.http.client.ClientProtocolException", "null"));
    }
    let path_at = request.url.len() - parts.rest.len();
    let key = &request.url[..path_at];
    let origin = match session.origin(key) {
        Some(origin) => Arc::clone(origin),
        None => {
            let origin = Origin::new(parts.secure, parts.host, parts.port);
            let key: Box<str> = key.into();
            session.remember_origin(&key, Arc::clone(&origin));
            origin
        }
    };
    request.path_at = path_at;
    check_url(request, &origin, client)?;
    Ok(origin)
}

fn check_url(request: &mut WireRequest, origin: &Origin, client: Client) -> Result<(), Failure> {
    if let Some(invalid) = origin.invalid_host {
        let message = match invalid {
            InvalidHost::At(what, index) => format!("{what} at index {index}: {}", request.url),
            InvalidHost::Contains(character) => {
                format!("Illegal character found in host: '{character}': {}", origin.authority)
            }
        };
        return Err(Failure::new("java.net.URISyntaxException", message));
    }
    check_characters(request, client)
}

/// Checks the part of the URL after the origin. HttpClient 4 converts it to a `java.net.URI`; Java's client sends it unchanged.
fn check_characters(request: &mut WireRequest, client: Client) -> Result<(), Failure> {
    if client == Client::Java {
        request.is_literal = true;
        if request.url.contains(|character: char| character.is_control()) {
            return Err(Failure::new("java.net.MalformedURLException", "Illegal character in URL"));
        }
        return Ok(());
    }
    match encode::illegal(&request.url, request.path_at) {
        None => Ok(()),
        Some((index, "%")) => {
            let message = format!("Malformed escape pair at index {index}: {}", request.url);
            Err(Failure::new("java.net.URISyntaxException", message))
        }
        Some((index, part)) => {
            let message = format!("Illegal character in {part} at index {index}: {}", request.url);
            Err(Failure::new("java.net.URISyntaxException", message))
        }
    }
}

fn render_headers(sampler: &HttpSampler, user: &mut UserState, request: &mut WireRequest, origin: &Origin) {
    let mut text = std::mem::take(&mut request.scratch);
    for header in &sampler.headers {
        text.clear();
        header.name.render(user, &mut text);
        let name_end = text.len();
        header.value.render(user, &mut text);
        let (name, value) = text.split_at(name_end);
        if name.eq_ignore_ascii_case("content-length") {
            continue;
        }
        // A line break would start a new header.
        let clean = |byte: &u8| if matches!(*byte, b'\r' | b'\n') { b' ' } else { *byte };
        request.headers.extend(name.as_bytes().iter().map(clean));
        request.headers.extend_from_slice(b": ");
        if name.eq_ignore_ascii_case("host") {
            request.has_host = true;
        }
        if name.eq_ignore_ascii_case("host") && sampler.client == Client::HttpClient4 {
            host_header(value, origin, &mut request.headers);
        } else {
            request.headers.extend(value.as_bytes().iter().map(clean));
        }
        request.headers.extend_from_slice(b"\r\n");
        request.closes |=
            name.eq_ignore_ascii_case("connection") && value.trim().eq_ignore_ascii_case("close");
        request.has_user_agent |= name.eq_ignore_ascii_case("user-agent");
        request.has_authorization |= name.eq_ignore_ascii_case("authorization");
        request.has_proxy_connection |= name.eq_ignore_ascii_case("proxy-connection");
        request.has_accept |= name.eq_ignore_ascii_case("accept");
        let is_content_type = name.eq_ignore_ascii_case("content-type");
        request.names_content_type |= is_content_type;
        request.has_content_type |= is_content_type && !value.is_empty();
    }
    request.scratch = text;
    // With `httpclient4.default_user_agent_disabled`, the client does not add this header.
    request.has_user_agent |= sampler.shared.no_user_agent;
}

/// Writes a `Host` header of the plan, with the port in its value or else that of the URL. The scheme's default port is omitted.
fn host_header(value: &str, origin: &Origin, out: &mut Vec<u8>) {
    use std::io::Write as _;
    let (host, own) = match value.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit()) => {
            (host, port.parse().ok())
        }
        _ => (value, None),
    };
    let named = origin.authority.len() > origin.host.len();
    let port = own.or_else(|| named.then_some(u32::from(origin.port)));
    let standard = if origin.secure { 443 } else { 80 };
    out.extend_from_slice(host.as_bytes());
    if let Some(port) = port.filter(|port| *port != standard) {
        let _ = write!(out, ":{port}");
    }
}
