//! One sample: the request, its response, and the redirects that follow.

use std::sync::Arc;
use std::time::Duration;

use busyhour_engine::Nanos;
use busyhour_engine::result::{Keep, SampleResult};
use busyhour_engine::run::Level;
use busyhour_engine::template::Template;
use busyhour_engine::user::UserState;
use busyhour_record::DataType;

use crate::cache::{CacheHeaders, WhenFresh};
use crate::connection::{ConnectOptions, Connection};
use crate::encode;
use crate::failure::Failure;
use crate::form;
use crate::head::Rendered;
use crate::origin::Origin;
use crate::response::{ResponseReader, Sink};
use crate::sampler::{HttpSampler, Proxy, Redirects};
use crate::session::{HttpSession, ProxyAddress};
use crate::url_parts;

/// Redirects followed in one sample at most (`httpsampler.max_redirects`).
const REDIRECTS_MAX: u32 = 20;

/// Makes one sample; the result is in `user.result` afterwards.
pub(crate) async fn sample(
    sampler: &HttpSampler,
    user: &mut UserState,
    session: &mut HttpSession,
    label: &Template,
    intended: Nanos,
    keep: Keep,
) {
    session.greet_visitor(sampler.shared.reset_on_iteration);
    let mut request = Rendered::take();
    let rendered = render(sampler, user, session, &mut request).await;
    user.begin_result(label, intended);
    let mut redirect = None;
    match rendered {
        Ok(origin) => redirect = one(sampler, user, session, &mut request, &origin, keep).await,
        Err(failure) => {
            user.result.url.push_str(&request.url);
            user.result.end = user.now();
            failure.write_to(&mut user.result, keep.body);
        }
    }
    if let Some(location) = redirect {
        if sampler.redirects == Redirects::Follow {
            follow(sampler, user, session, &mut request, location, keep).await;
        } else {
            auto(sampler, user, session, &mut request, location, keep).await;
        }
    }
    request.give_back();
}

/// Renders URL, headers and body; gives where the request goes.
async fn render(
    sampler: &HttpSampler,
    user: &mut UserState,
    session: &mut HttpSession,
    request: &mut Rendered,
) -> Result<Arc<Origin>, Failure> {
    sampler.method.render(user, &mut request.method);
    let origin = render_url(sampler, user, session, request)?;
    render_headers(sampler, user, request, &origin);
    let has_body = match request.method.as_str() {
        "GET" => {
            (sampler.raw_body || !sampler.arguments.is_empty() || !sampler.files.is_empty())
                && (form::sends_values_as_body(sampler, user) || sends_file(sampler, user))
        }
        "HEAD" | "TRACE" | "OPTIONS" => false,
        "POST" | "PUT" | "PATCH" | "DELETE" => true,
        "PROPFIND" | "PROPPATCH" | "MKCOL" | "COPY" | "MOVE" | "LOCK" | "UNLOCK" | "REPORT"
        | "MKCALENDAR" | "SEARCH" => true,
        other => {
            let message = format!("Unexpected method: '{other}'");
            return Err(Failure::new("java.lang.IllegalArgumentException", message));
        }
    };
    if has_body {
        form::body(sampler, user, request).await?;
    }
    Ok(origin)
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
    request: &mut Rendered,
) -> Result<Arc<Origin>, Failure> {
    let mut path = user.take_buffer();
    sampler.path.render(user, &mut path);
    if path.starts_with("http://") || path.starts_with("https://") {
        request.url.push_str(&path);
        user.give_back(path);
        return locate(session, request);
    }
    let mut key = user.take_buffer();
    sampler.protocol.render(user, &mut key);
    key.push('|');
    sampler.domain.render(user, &mut key);
    key.push('|');
    sampler.port.render(user, &mut key);
    let origin = match session.origin(&key) {
        Some(origin) => Arc::clone(origin),
        None => {
            let origin = parse_origin(&key)?;
            session.remember_origin(&key, Arc::clone(&origin));
            origin
        }
    };
    user.give_back(key);
    request.url.push_str(&origin.prefix);
    request.path_at = request.url.len();
    if !path.starts_with('/') {
        request.url.push('/');
    }
    request.url.push_str(&path);
    let had_query = path.contains('?');
    user.give_back(path);
    if !sampler.arguments.is_empty() && matches!(request.method.as_str(), "GET" | "DELETE" | "OPTIONS") {
        let mut query = user.take_buffer();
        form::query(&sampler.arguments, user, &mut query);
        if !query.is_empty() {
            request.url.push(if had_query { '&' } else { '?' });
            request.url.push_str(&query);
        }
        user.give_back(query);
    }
    check_url(request)?;
    Ok(origin)
}

/// `protocol|domain|port` as rendered.
fn parse_origin(key: &str) -> Result<Arc<Origin>, Failure> {
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
        scheme => {
            let message = format!("unknown protocol: {}", scheme.to_lowercase());
            return Err(Failure::new("java.net.MalformedURLException", message));
        }
    };
    if domain.is_empty() {
        // JMeter's HttpClient finds no host in such a URL.
        return Err(Failure::new("org.apache.http.client.ClientProtocolException", "null"));
    }
    let standard = if secure { 443 } else { 80 };
    // What is no number counts as not given, as in JMeter.
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
    Ok(Origin::new(secure, &host, port))
}

/// The origin of the absolute URL in `request.url`.
fn locate(session: &mut HttpSession, request: &mut Rendered) -> Result<Arc<Origin>, Failure> {
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
    check_url(request)?;
    Ok(origin)
}

fn check_url(request: &Rendered) -> Result<(), Failure> {
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

fn render_headers(sampler: &HttpSampler, user: &mut UserState, request: &mut Rendered, origin: &Origin) {
    let mut text = std::mem::take(&mut request.scratch);
    for header in &sampler.headers {
        text.clear();
        header.name.render(user, &mut text);
        let name_end = text.len();
        header.value.render(user, &mut text);
        let (name, value) = text.split_at(name_end);
        if name.is_empty() || name.eq_ignore_ascii_case("content-length") {
            continue;
        }
        // A line end inside would begin a header of its own.
        let clean = |byte: &u8| if matches!(*byte, b'\r' | b'\n') { b' ' } else { *byte };
        request.headers.extend(name.as_bytes().iter().map(clean));
        request.headers.extend_from_slice(b": ");
        if name.eq_ignore_ascii_case("host") {
            request.has_host = true;
            host_header(value, origin, &mut request.headers);
        } else {
            request.headers.extend(value.as_bytes().iter().map(clean));
        }
        request.headers.extend_from_slice(b"\r\n");
        request.has_user_agent |= name.eq_ignore_ascii_case("user-agent");
        request.has_content_type |= name.eq_ignore_ascii_case("content-type") && !value.is_empty();
    }
    request.scratch = text;
}

/// A `Host` of the plan's: its own port or the URL's, unless that is the scheme's.
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

/// One exchange; gives the `Location` when the response is a redirect that is to be followed.
async fn one(
    sampler: &HttpSampler,
    user: &mut UserState,
    session: &mut HttpSession,
    request: &mut Rendered,
    origin: &Arc<Origin>,
    keep: Keep,
) -> Option<String> {
    let now_ms = i64::try_from(user.run.clock.wall_ms(user.now())).unwrap_or(i64::MAX);
    user.result.url.push_str(&request.url);
    request.cookies.clear();
    if let Some(manager) = &sampler.cookies {
        let at = request.path_at;
        let jar = session.jar(manager, user);
        jar.write(origin, &request.url[at..], now_ms, &mut request.cookies);
    }
    request.authorization = sampler.auth.as_ref().and_then(|manager| manager.header(user, &request.url));
    let mut conditional = 0;
    if let Some(manager) = sampler.cache.as_ref() {
        let own_headers = request.headers.len();
        let known = session.cache(manager).look_up(&request.url, &request.headers, now_ms);
        let known = known.map(|known| {
            for (name, value) in [("If-Modified-Since", known.last_modified), ("If-None-Match", known.etag)] {
                if let Some(value) = value {
                    request.headers.extend_from_slice(name.as_bytes());
                    request.headers.extend_from_slice(b": ");
                    request.headers.extend_from_slice(value.as_bytes());
                    request.headers.extend_from_slice(b"\r\n");
                }
            }
            known.fresh
        });
        conditional = request.headers.len() - own_headers;
        if known == Some(true) && request.method == "GET" {
            request.headers.truncate(own_headers);
            answer_from_cache(&mut user.result, &manager.when_fresh);
            user.result.end = user.now();
            return None;
        }
    }
    let proxy = proxy_for(sampler, user, origin);
    let lines = request.assemble(origin, proxy.as_deref(), sampler.keep_alive);
    if keep.request {
        describe(request, lines, &mut user.result);
    }
    if !request.cookies.is_empty() && sampler.headers.iter().any(|header| is_cookie(header)) {
        // The manager's cookies take the place of those a header manager names.
        request.headers = without_cookie_lines(&request.headers);
        request.assemble(origin, proxy.as_deref(), sampler.keep_alive);
    }
    let own_headers = request.headers.len() - conditional;
    request.headers.truncate(own_headers);
    let mut head = Head::new(sampler, keep);
    let outcome = transfer(sampler, user, session, request, origin, proxy.as_ref(), &mut head, keep).await;
    let result = &mut user.result;
    if let Err(failure) = outcome {
        failure.write_to(result, keep.body);
        return None;
    }
    result.success = (200..400).contains(&head.status);
    decode_body(&head, result, keep);
    for cookie in std::mem::take(&mut head.cookies) {
        if let Some(manager) = &sampler.cookies {
            let at = request.path_at;
            let received = session.jar(manager, user).receive(&cookie, origin, &request.url[at..], now_ms);
            take_cookie(received, manager, user);
        }
    }
    if let Some(manager) = &sampler.cache
        && request.method == "GET"
    {
        let code = std::mem::take(&mut user.result.code);
        session.cache(manager).save(
            &request.url,
            &request.headers,
            &code,
            std::mem::take(&mut head.cache),
            now_ms,
        );
        user.result.code = code;
    }
    let redirects = match head.status {
        301..=303 => true,
        307 | 308 => {
            matches!(request.method.as_str(), "GET" | "HEAD") || sampler.redirects == Redirects::Auto
        }
        _ => false,
    };
    if !redirects || (sampler.redirects == Redirects::None && head.location.is_some()) {
        return None;
    }
    if head.location.is_none() {
        let version = if head.http_1_0 { "HTTP/1.0" } else { "HTTP/1.1" };
        let at = request.path_at;
        let line = format!("{} {} {version}", request.method, &request.url[at..]);
        let message = format!("Missing location header in redirect for {line}");
        Failure::new("java.lang.IllegalArgumentException", message).write_to(&mut user.result, keep.body);
    }
    head.location.take()
}

fn is_cookie(header: &crate::sampler::Header) -> bool {
    header.name.as_literal().is_some_and(|name| name.eq_ignore_ascii_case("cookie"))
}

fn without_cookie_lines(headers: &[u8]) -> Vec<u8> {
    headers
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| line.len() < 7 || !line[..7].eq_ignore_ascii_case(b"cookie:"))
        .flatten()
        .copied()
        .collect()
}

fn take_cookie(
    received: Result<(String, String), String>,
    manager: &crate::cookies::CookieManager,
    user: &mut UserState,
) {
    match received {
        Ok((name, value)) => {
            if let Some(prefix) = manager.save_as.as_ref().filter(|_| !name.is_empty()) {
                user.variables.set(&format!("{prefix}{name}"), &value);
            }
        }
        Err(why) => user.log(Level::Info, &why),
    }
}

fn answer_from_cache(result: &mut SampleResult, when_fresh: &WhenFresh) {
    result.success = true;
    match when_fresh {
        WhenFresh::NoSample => result.ignore = true,
        WhenFresh::Sample { code, message } => {
            result.code.push_str(code);
            result.message.push_str(message);
        }
    }
}

/// Connects if need be, sends the request and reads the response.
async fn transfer(
    sampler: &HttpSampler,
    user: &mut UserState,
    session: &mut HttpSession,
    request: &Rendered,
    origin: &Arc<Origin>,
    proxy: Option<&Arc<ProxyAddress>>,
    head: &mut Head,
    keep: Keep,
) -> Result<(), Failure> {
    let milliseconds = |template: &Template, user: &mut UserState| {
        let ms = if template.is_empty() { 0 } else { template.integer(user, 0) };
        u64::try_from(ms).ok().filter(|ms| *ms > 0).map(Duration::from_millis)
    };
    let connect_timeout = milliseconds(&sampler.connect_timeout, user);
    let response_timeout = milliseconds(&sampler.response_timeout, user);
    let run = Arc::clone(&user.run);
    let clock = &run.clock;
    let result = &mut user.result;
    let started = result.start;
    let mut reader = ResponseReader::new(request.method == "HEAD");
    let outcome = async {
        let mut connection = match session.take(origin, proxy, started) {
            Some(connection) => connection,
            None => {
                let options = ConnectOptions { shared: &sampler.shared, clock, timeout: connect_timeout };
                let opened = Connection::open(origin, proxy, &options).await;
                result.connect_ns = clock.now().since(started);
                opened?
            }
        };
        connection.send(&request.wire).await?;
        result.sent_bytes = request.wire.len() as u64;
        let mut sink = ResponseSink { head, result, keep };
        let received = connection.receive(&mut reader, &mut sink, clock, response_timeout).await;
        let first = received?;
        result.latency_ns = first.map_or(0, |first| first.since(started));
        if reader.keeps_alive && sampler.keep_alive {
            if let Some(seconds) = reader.keep_alive_s {
                connection.promised(clock.now(), seconds);
            }
            session.keep(connection);
        }
        Ok(())
    }
    .await;
    result.end = clock.now();
    result.header_bytes = reader.head_bytes;
    result.body_bytes = reader.body_bytes;
    outcome
}

/// What of a response's head the sampler looks at.
struct Head {
    status: u16,
    http_1_0: bool,
    location: Option<String>,
    content_encoding: String,
    wants_cookies: bool,
    wants_cache: bool,
    cookies: Vec<String>,
    cache: CacheHeaders,
}

impl Head {
    fn new(sampler: &HttpSampler, _keep: Keep) -> Self {
        Self {
            status: 0,
            http_1_0: false,
            location: None,
            content_encoding: String::new(),
            wants_cookies: sampler.cookies.is_some(),
            wants_cache: sampler.cache.is_some(),
            cookies: Vec::new(),
            cache: CacheHeaders::default(),
        }
    }
}

struct ResponseSink<'a> {
    head: &'a mut Head,
    result: &'a mut SampleResult,
    keep: Keep,
}

impl Sink for ResponseSink<'_> {
    fn head(&mut self, response: &httparse::Response<'_, '_>) {
        use std::fmt::Write as _;
        let (head, result) = (&mut *self.head, &mut *self.result);
        head.status = response.code.unwrap_or(0);
        head.http_1_0 = response.version == Some(0);
        result.code.clear();
        let _ = write!(result.code, "{}", head.status);
        result.message.clear();
        result.message.push_str(response.reason.unwrap_or_default());
        if self.keep.response_headers {
            let version = if head.http_1_0 { "HTTP/1.0" } else { "HTTP/1.1" };
            let _ = writeln!(result.response_headers, "{version} {} {}", head.status, result.message);
        }
        for header in &*response.headers {
            if self.keep.response_headers {
                let value = latin(header.value);
                let _ = writeln!(result.response_headers, "{}: {value}", header.name);
            }
            let name = header.name;
            let text = || Some(latin(header.value).into_owned());
            match name.len() {
                12 if name.eq_ignore_ascii_case("content-type") => {
                    result.content_type.clear();
                    result.content_type.push_str(&latin(header.value));
                }
                8 if head.status / 100 == 3 && name.eq_ignore_ascii_case("location") => {
                    head.location = text()
                }
                16 if self.keep.body && name.eq_ignore_ascii_case("content-encoding") => {
                    head.content_encoding = latin(header.value).trim().to_ascii_lowercase();
                }
                10 if head.wants_cookies && name.eq_ignore_ascii_case("set-cookie") => {
                    head.cookies.extend(text());
                }
                13 if head.wants_cache && name.eq_ignore_ascii_case("last-modified") => {
                    head.cache.last_modified = text()
                }
                7 if head.wants_cache && name.eq_ignore_ascii_case("expires") => head.cache.expires = text(),
                4 if head.wants_cache && name.eq_ignore_ascii_case("etag") => head.cache.etag = text(),
                13 if head.wants_cache && name.eq_ignore_ascii_case("cache-control") => {
                    head.cache.cache_control = text()
                }
                4 if head.wants_cache && name.eq_ignore_ascii_case("date") => head.cache.date = text(),
                4 if head.wants_cache && name.eq_ignore_ascii_case("vary") => head.cache.vary = text(),
                _ => {}
            }
        }
        set_type(result);
    }

    fn body(&mut self, piece: &[u8]) {
        if self.keep.body {
            self.result.body.extend_from_slice(piece);
        }
    }

    fn ignores_body(&self) -> bool {
        !self.keep.body
    }
}

/// Bytes of a header as text: UTF-8 if they are, else each byte a character.
fn latin(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect::<String>().into(),
    }
}

/// Data type and encoding from the content type (`setEncodingAndType`).
fn set_type(result: &mut SampleResult) {
    const BINARY: [&str; 3] = ["image/", "audio/", "video/"];
    const TEXT: [&str; 4] = ["audio/x-mpegurl", "audio/mpegurl", "video/f4m", "image/svg+xml"];
    let kind = result.content_type.as_str();
    if kind.is_empty() {
        return;
    }
    if let Some(at) = find_ignoring_case(kind, "charset=") {
        let charset = &kind[at + "charset=".len()..];
        let charset = charset.split(';').next().unwrap_or_default();
        result.encoding.clear();
        result.encoding.push_str(charset.trim_matches(['"', '\'']));
    }
    let is_text = TEXT.iter().any(|text| kind.starts_with(text))
        || !BINARY.iter().any(|binary| kind.starts_with(binary));
    result.data_type = if is_text { DataType::Text } else { DataType::Binary };
}

fn find_ignoring_case(text: &str, wanted: &str) -> Option<usize> {
    text.as_bytes().windows(wanted.len()).position(|window| window.eq_ignore_ascii_case(wanted.as_bytes()))
}

fn decode_body(head: &Head, result: &mut SampleResult, keep: Keep) {
    use std::io::Read as _;
    if !keep.body || head.content_encoding.is_empty() || result.body.is_empty() {
        return;
    }
    let mut plain = Vec::new();
    let decoded = match head.content_encoding.as_str() {
        "gzip" | "x-gzip" => flate2::read::MultiGzDecoder::new(&result.body[..]).read_to_end(&mut plain),
        "deflate" => {
            let zlib = flate2::read::ZlibDecoder::new(&result.body[..]).read_to_end(&mut plain);
            if zlib.is_err() {
                // Some servers send the bare format under this name.
                plain.clear();
                flate2::read::DeflateDecoder::new(&result.body[..]).read_to_end(&mut plain)
            } else {
                zlib
            }
        }
        _ => return,
    };
    match decoded {
        Ok(_) => result.body = plain,
        Err(_) => {
            Failure::new("java.util.zip.ZipException", "Not in GZIP format").write_to(result, keep.body)
        }
    }
}

/// The request as JMeter shows it.
fn describe(request: &Rendered, lines: std::ops::Range<usize>, result: &mut SampleResult) {
    result.request_headers.clear();
    for line in request.wire[lines].split_inclusive(|byte| *byte == b'\n') {
        if line.len() >= 7 && line[..7].eq_ignore_ascii_case(b"cookie:") {
            continue;
        }
        result.request_headers.push_str(&latin(line).replace('\r', ""));
    }
    let data = &mut result.request_data;
    data.clear();
    data.push_str(&request.method);
    data.push(' ');
    data.push_str(&request.url);
    data.push_str("\n\n");
    data.push_str(&request.method);
    data.push_str(" data:\n");
    data.push_str(&latin(&request.body));
    data.push('\n');
    if request.cookies.is_empty() {
        data.push_str("\n[no cookies]\n");
    } else {
        data.push_str("\nCookie Data:\n");
        data.push_str(&latin(&request.cookies));
        data.push('\n');
    }
}

fn proxy_for(sampler: &HttpSampler, user: &mut UserState, origin: &Origin) -> Option<Arc<ProxyAddress>> {
    let make = |proxy: &Proxy, user: &mut UserState| {
        let host = proxy.host.text(user).trim().to_owned();
        let port = u16::try_from(proxy.port.integer(user, 0)).ok().filter(|port| *port > 0)?;
        if host.is_empty() {
            return None;
        }
        let name = proxy.user.text(user).into_owned();
        let authorization = (!name.is_empty()).then(|| crate::auth::basic(&name, &proxy.password.text(user)));
        Some(Arc::new(ProxyAddress { host, port, authorization }))
    };
    if let Some(proxy) = &sampler.proxy
        && let Some(address) = make(proxy, user)
    {
        return Some(address);
    }
    let proxy = sampler.shared.proxy.as_ref()?;
    let host = origin.bare_host();
    let excluded = sampler.shared.no_proxy.iter().any(|pattern| match pattern.strip_prefix('*') {
        Some(suffix) => host.ends_with(suffix),
        None => host.eq_ignore_ascii_case(pattern),
    });
    if excluded { None } else { make(proxy, user) }
}

/// Follows redirects one sample after another (`follow_redirects`).
async fn follow(
    sampler: &HttpSampler,
    user: &mut UserState,
    session: &mut HttpSession,
    request: &mut Rendered,
    location: String,
    keep: Keep,
) {
    let mut total = std::mem::take(&mut user.result);
    let label = total.label.clone();
    let mut first = total.clone();
    first.label = format!("{label}-0");
    total.sub_results.push(first);
    let mut next = Some(location);
    let mut count = 0;
    while let Some(location) = next.take() {
        count += 1;
        if count > REDIRECTS_MAX {
            let message = format!("Exceeded maximum number of redirects: {REDIRECTS_MAX}");
            let failure = Failure::new("java.io.IOException", message);
            user.result.sub_results.clear();
            failure.write_to(&mut user.result, keep.body);
            break;
        }
        let (started, intended) = (user.now(), user.now());
        user.result.reset();
        user.result.start = started;
        user.result.intended = intended;
        user.result.success = true;
        match prepare_redirect(session, request, &location) {
            Ok(origin) => next = one(sampler, user, session, request, &origin, keep).await,
            Err(failure) => {
                user.result.url.push_str(&request.url);
                user.result.end = user.now();
                failure.write_to(&mut user.result, keep.body);
            }
        }
        if user.result.ignore {
            break;
        }
        user.result.label = format!("{label}-{count}");
        total.header_bytes += user.result.header_bytes;
        total.body_bytes += user.result.body_bytes;
        total.sent_bytes += user.result.sent_bytes;
        total.end = user.result.end;
        total.sub_results.push(user.result.clone());
    }
    let last = std::mem::take(&mut user.result);
    total.url = last.url;
    total.request_headers = last.request_headers;
    total.request_data = last.request_data;
    total.body = last.body;
    total.code = last.code;
    total.success = last.success;
    total.message = last.message;
    total.data_type = last.data_type;
    total.response_headers = last.response_headers;
    total.content_type = last.content_type;
    total.encoding = last.encoding;
    user.result = total;
}

/// Follows redirects unseen (`auto_redirects`).
async fn auto(
    sampler: &HttpSampler,
    user: &mut UserState,
    session: &mut HttpSession,
    request: &mut Rendered,
    location: String,
    keep: Keep,
) {
    let mut next = Some(location);
    let mut count = 0;
    let connect_ns = user.result.connect_ns;
    while let Some(location) = next.take() {
        count += 1;
        let prepared = if count > REDIRECTS_MAX {
            Err(Failure::protocol())
        } else {
            prepare_redirect(session, request, &location)
        };
        let result = &mut user.result;
        for text in
            [&mut result.url, &mut result.response_headers, &mut result.content_type, &mut result.encoding]
        {
            text.clear();
        }
        result.body.clear();
        match prepared {
            Ok(origin) => next = one(sampler, user, session, request, &origin, keep).await,
            Err(failure) => {
                user.result.url.push_str(&request.url);
                user.result.end = user.now();
                failure.write_to(&mut user.result, keep.body);
            }
        }
    }
    if user.result.connect_ns == 0 {
        user.result.connect_ns = connect_ns;
    }
}

fn prepare_redirect(
    session: &mut HttpSession,
    request: &mut Rendered,
    location: &str,
) -> Result<Arc<Origin>, Failure> {
    let url = url_parts::resolve(&request.url, &location.replace(' ', "%20"));
    if request.method != "HEAD" {
        request.method.clear();
        request.method.push_str("GET");
    }
    request.clear_entity();
    request.url = url;
    locate(session, request)
}
