//! One exchange: the request, its response, and its repetitions for authentication.

use std::sync::Arc;

use busyhour_limits::Limit;
use busyhour_program::ElementError;
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::run::LogLevel;
use busyhour_program::user::UserState;
use busyhour_sample::HttpDetail;

use crate::auth::{AuthReply, UsedScheme};
use crate::cache::WhenFresh;
use crate::detail;
use crate::failure::Failure;
use crate::file_page;
use crate::limits::AUTHENTICATION_ROUNDS_MAX;
use crate::origin::Origin;
use crate::proxy::proxy_for;
use crate::proxy_address::ProxyAuth;
use crate::session::HttpSession;
use crate::settings::{HttpSampler, Redirects};
use crate::sink::{Head, detect_encoding, latin, reset_response};
use crate::source::Source;
use crate::transport::{ConnectionSettings, Route, Transport};
use crate::wire_request::WireRequest;

/// Performs one exchange; returns the `Location` if the response is a redirect to be followed.
pub(crate) async fn perform(
    sampler: &HttpSampler,
    user: &mut UserState,
    session: &mut HttpSession,
    request: &mut WireRequest,
    origin: &Arc<Origin>,
    keep: Retention,
) -> Option<String> {
    let clock = user.run.clock.clone();
    if origin.is_file {
        let encoding = sampler.encoding.name(user);
        Box::pin(file_page::read(sampler, (request, &encoding), &mut user.result, &clock, keep)).await;
        return None;
    }
    if let Some(source) = &sampler.source {
        Box::pin(Source::look_up(source.name(user), user.now())).await;
    }
    // `prepared` is used in place and not moved, because a step takes half a kilobyte.
    let mut prepared = prepare(sampler, user, session, request, origin, keep);
    let step = prepared.as_mut()?;
    loop {
        let outcome = step.transport.transfer(&mut user.result, request, &mut step.head, &clock).await;
        match settle(user, session, request, step, outcome) {
            Next::Repeat => {}
            Next::Done(location) => return location,
        }
    }
}

/// An exchange in progress.
pub(crate) struct Step<'s> {
    pub(crate) transport: Transport<'s>,
    pub(crate) head: Head,
    now_ms: i64,
    /// Whether the request was repeated with credentials for the proxy.
    credentials_sent: bool,
    /// The state of the proxy authentication before this exchange.
    proxy_auth: ProxyAuth,
    sends_proxy_credentials: bool,
    /// The scheme with which the request was authorized.
    used: Option<UsedScheme>,
    /// The number of repetitions because of authentication.
    rounds: u32,
    /// The length of the plan's own headers; they are followed by conditional headers of the cache.
    own_headers: usize,
}

/// If there is a response, JMeter's HTTP sampler stores its user token (the thread's name) in this internal variable.
const TOKEN_VARIABLE: &str = "__jmeter.U_T__";

/// The action after an exchange.
pub(crate) enum Next {
    /// Repeat the request.
    Repeat,
    /// The exchange is complete; contains the target if the response is a redirect to be followed.
    Done(Option<String>),
}

/// Prepares an exchange up to sending the request. `None` if the result is already complete, from the cache or because of a
/// failure.
pub(crate) fn prepare<'s>(
    sampler: &'s HttpSampler,
    user: &mut UserState,
    session: &mut HttpSession,
    request: &mut WireRequest,
    origin: &Arc<Origin>,
    keep: Retention,
) -> Option<Step<'s>> {
    let now_ms = i64::try_from(user.run.clock.wall_ms(user.now())).unwrap_or(i64::MAX);
    user.result.url.push_str(&request.url);
    if let Some(manager) = &sampler.cookies
        && !request.is_client_redirect
    {
        request.cookies.clear();
        let at = request.path_at;
        let jar = session.jar(manager, user);
        jar.write(origin, &request.url[at..], now_ms, &mut request.cookies);
    }
    if keep.protocol_detail {
        let own = HttpDetail {
            method: Some(request.method.clone()),
            cookies: recorded_cookies(request),
            query_string: latin(&request.body).into_owned(),
            redirect_location: None,
        };
        detail::set(&mut user.result, own);
    }
    let manager = sampler.auth.as_ref().filter(|_| !request.has_authorization);
    request.authorization = manager.and_then(|manager| manager.header(user, &request.url));
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
            user.result.times.end = user.now();
            return None;
        }
    }
    let proxy = proxy_for(sampler, user, origin);
    // For a tunnel, the credentials for the proxy are sent with CONNECT.
    let sends_proxy_credentials =
        proxy.as_ref().is_some_and(|proxy| !origin.secure && proxy.authorization.is_some());
    let proxy_auth = proxy.as_ref().map_or(ProxyAuth::Unasked, |proxy| session.proxy_auth(origin, proxy));
    request.proxy_authorized = sends_proxy_credentials && proxy_auth == ProxyAuth::Accepted;
    let lines = request.assemble(origin, proxy.as_deref(), sampler.keep_alive);
    if keep.request {
        describe(request, lines, &mut user.result);
    }
    if !request.cookies.is_empty() && sampler.headers.iter().any(is_cookie) {
        // The manager's cookies replace the `Cookie` headers of header managers.
        request.headers = without_cookie_lines(&request.headers);
        request.assemble(origin, proxy.as_deref(), sampler.keep_alive);
    }
    let own_headers = request.headers.len() - conditional;
    let used = request.authorization.is_some().then_some(UsedScheme::Basic);
    let settings = match ConnectionSettings::for_connection(sampler, user, session, origin, proxy.as_deref())
    {
        Ok(settings) => settings,
        Err(failure) => {
            request.headers.truncate(own_headers);
            user.result.times.end = user.now();
            failure.write_to(&mut user.result, keep.body);
            return None;
        }
    };
    let mut transport =
        Transport::new(sampler, user, session, Route { origin, proxy, proxy_auth, settings }, keep);
    transport.budget.clone_from(&request.body_budget);
    Some(Step {
        transport,
        head: Head::new(sampler),
        now_ms,
        credentials_sent: false,
        proxy_auth,
        sends_proxy_credentials,
        used,
        rounds: 0,
        own_headers,
    })
}

/// Whether JMeter follows a response with this status.
fn is_redirect(status: u16, method: &str, redirects: Redirects) -> bool {
    match status {
        301..=303 | 308 => true,
        307 => matches!(method, "GET" | "HEAD") || redirects == Redirects::Auto,
        _ => false,
    }
}

/// Processes the outcome of an exchange in five steps: authentication at the proxy, authentication at the server, the
/// connection, cookies and cache, the redirect. Each of the first two may repeat the request.
pub(crate) fn settle(
    user: &mut UserState,
    session: &mut HttpSession,
    request: &mut WireRequest,
    step: &mut Step<'_>,
    outcome: Result<(), Failure>,
) -> Next {
    if authenticate_at_proxy(session, request, step, outcome.is_ok())
        || (outcome.is_ok() && authenticate(user, request, step))
    {
        return repeat(user, request, step);
    }
    request.headers.truncate(step.own_headers);
    store_connection(session, step);
    if let Err(failure) = outcome {
        record_failure(user, step, &failure);
        return Next::Done(None);
    }
    let (head, sampler) = (&mut step.head, step.transport.sampler);
    let result = &mut user.result;
    result.outcome.success = (200..400).contains(&head.status);
    user.token_variable = Some(TOKEN_VARIABLE);
    let result = &mut user.result;
    if step.transport.keep.body {
        store_md5(result, head.md5.take());
    }
    let redirects = is_redirect(head.status, &request.method, sampler.redirects);
    // The cookie manager does not receive the cookies of redirects that the client follows itself.
    let unseen = redirects && sampler.redirects == Redirects::Auto;
    let cookies = std::mem::take(&mut head.cookies);
    if !unseen {
        store_cookies(user, session, request, step, cookies);
    }
    store_in_cache(user, session, request, step);
    redirect(user, request, step, redirects)
}

/// Processes the proxy's response to credentials; returns whether the request must be repeated with credentials.
fn authenticate_at_proxy(
    session: &mut HttpSession,
    request: &mut WireRequest,
    step: &mut Step<'_>,
    is_answered: bool,
) -> bool {
    let Some(proxy) = step.transport.proxy.clone() else { return false };
    if step.sends_proxy_credentials && is_answered {
        let (status, asks) = (step.head.status, step.head.proxy_asks);
        let (new_proxy_auth, again) = step.proxy_auth.after(status, asks, step.credentials_sent);
        if again {
            step.credentials_sent = true;
            request.proxy_authorized = true;
            return true;
        }
        step.transport.proxy_auth = new_proxy_auth;
    }
    let transport = &step.transport;
    if transport.origin.secure || step.sends_proxy_credentials {
        session.set_proxy_auth(&transport.origin, &proxy, transport.proxy_auth);
    }
    false
}

/// Answers the server's challenge; returns whether the request must be repeated with the answer.
fn authenticate(user: &mut UserState, request: &mut WireRequest, step: &mut Step<'_>) -> bool {
    let head = &step.head;
    if head.status == 401
        && !request.has_authorization
        && let Some(manager) = &step.transport.sampler.auth
        && let AuthReply::Repeat(header, used) =
            manager.reply(user, request, &head.challenges, step.used.as_ref())
    {
        if step.rounds < AUTHENTICATION_ROUNDS_MAX {
            step.rounds += 1;
            request.authorization = header;
            step.used = Some(used);
            return true;
        }
        // The server rejects every answer to its challenges as stale, so its last challenge is recorded as the sample's response.
        busyhour_limits::count_exceeded(Limit::AuthenticationRounds);
    }
    false
}

/// Keeps the connection and the addresses of its host for the next request.
fn store_connection(session: &mut HttpSession, step: &mut Step<'_>) {
    let transport = &mut step.transport;
    if let Some(name) = transport.settings.as_mut().and_then(|settings| settings.name.take()) {
        session.remember_addresses(name);
    }
    if let Some(connection) = transport.connection.take() {
        session.store_idle(connection);
    }
}

fn record_failure(user: &mut UserState, step: &Step<'_>, failure: &Failure) {
    let result = &mut user.result;
    // JMeter records the sent bytes only if there is a response.
    result.sizes.sent_bytes = 0;
    if let Some(budget) = &step.transport.budget {
        budget.release(result.body.len());
    }
    failure.write_to(result, step.transport.keep.body);
    if let Some(limit) = failure.limit {
        busyhour_limits::count_exceeded(limit);
    }
}

fn store_cookies(
    user: &mut UserState,
    session: &mut HttpSession,
    request: &WireRequest,
    step: &Step<'_>,
    cookies: Vec<String>,
) {
    let Some(manager) = &step.transport.sampler.cookies else { return };
    let (origin, path) = (&step.transport.origin, &request.url[request.path_at..]);
    for cookie in cookies {
        let received = session.jar(manager, user).receive(&cookie, origin, path, step.now_ms);
        record_cookie(received, manager, user);
        if session.jar(manager, user).take_dropped() {
            busyhour_limits::count_exceeded(Limit::Cookies);
        }
    }
}

fn store_in_cache(
    user: &mut UserState,
    session: &mut HttpSession,
    request: &WireRequest,
    step: &mut Step<'_>,
) {
    if let Some(manager) = &step.transport.sampler.cache
        && request.method == "GET"
    {
        let code = std::mem::take(&mut user.result.outcome.code);
        let head = std::mem::take(&mut step.head.cache);
        session.cache(manager).save(&request.url, &request.headers, &code, head, step.now_ms);
        user.result.outcome.code = code;
    }
}

/// Records the location of a redirect, and returns it if JMeter follows the redirect (`redirects`).
fn redirect(user: &mut UserState, request: &WireRequest, step: &mut Step<'_>, redirects: bool) -> Next {
    let (head, transport) = (&mut step.head, &step.transport);
    if matches!(head.status, 301..=303 | 307 | 308)
        && (head.status != 307 || matches!(request.method.as_str(), "GET" | "HEAD"))
        && let Some(own) = detail::of(&mut user.result)
    {
        own.redirect_location.clone_from(&head.location);
    }
    if !redirects || (transport.sampler.redirects == Redirects::None && head.location.is_some()) {
        return Next::Done(None);
    }
    if head.location.is_none() {
        let version = if head.http_1_0 { "HTTP/1.0" } else { "HTTP/1.1" };
        let message =
            format!("Missing location header in redirect for {} {} {version}", request.method, request.url);
        user.result.sizes.sent_bytes = 0;
        let failure = Failure::new("java.lang.IllegalArgumentException", message);
        failure.write_to(&mut user.result, transport.keep.body);
    }
    Next::Done(head.location.take())
}

/// Assembles the request again for a repetition.
fn repeat(user: &mut UserState, request: &mut WireRequest, step: &mut Step<'_>) -> Next {
    let transport = &mut step.transport;
    let lines = request.assemble(&transport.origin, transport.proxy.as_deref(), transport.sampler.keep_alive);
    if transport.keep.request {
        describe(request, lines, &mut user.result);
    }
    if let Some(budget) = &transport.budget {
        budget.release(user.result.body.len());
    }
    reset_response(&mut user.result);
    transport.prepare_repetition(user.now());
    step.head = Head::new(transport.sampler);
    Next::Repeat
}

/// Replaces the body by its MD5 sum if only the sum is required.
fn store_md5(result: &mut SampleResult, md5: Option<Box<md5::Md5>>) {
    detect_encoding(result);
    let Some(md5) = md5.filter(|_| !result.body.is_empty()) else { return };
    use std::fmt::Write as _;

    use md5::Digest as _;
    let mut text = String::new();
    for byte in md5.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    result.body = text.into_bytes();
}

fn is_cookie(header: &crate::settings::Header) -> bool {
    header.name.as_literal().is_some_and(|name| name.eq_ignore_ascii_case("cookie"))
}

fn without_cookie_lines(headers: &[u8]) -> Vec<u8> {
    headers
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| !is_cookie_line(line))
        .flatten()
        .copied()
        .collect()
}

fn record_cookie(
    received: Result<(String, String), ElementError>,
    manager: &crate::cookies::CookieManager,
    user: &mut UserState,
) {
    match received {
        Ok((name, value)) => {
            if let Some(prefix) = manager.save_as.as_ref().filter(|_| !name.is_empty()) {
                user.variables.set(&format!("{prefix}{name}"), &value);
            }
        }
        Err(why) => user.log(LogLevel::Info, why.message()),
    }
}

fn answer_from_cache(result: &mut SampleResult, when_fresh: &WhenFresh) {
    result.outcome.success = true;
    match when_fresh {
        WhenFresh::NoSample => result.marks.ignore = true,
        WhenFresh::Sample { code, message } => {
            result.outcome.code.push_str(code);
            result.outcome.message.push_str(message);
        }
    }
}

/// Records the request in JMeter's format.
fn describe(request: &WireRequest, lines: std::ops::Range<usize>, result: &mut SampleResult) {
    result.request_headers.clear();
    for line in request.wire[lines].split_inclusive(|byte| *byte == b'\n') {
        if is_cookie_line(line) {
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
    let cookies = recorded_cookies(request);
    if cookies.is_empty() {
        data.push_str("\n[no cookies]\n");
    } else {
        data.push_str("\nCookie Data:\n");
        data.push_str(&cookies);
        data.push('\n');
    }
}

/// The cookies of the request, from its manager or from the headers of the plan.
fn recorded_cookies(request: &WireRequest) -> String {
    if !request.cookies.is_empty() {
        return latin(&request.cookies).into_owned();
    }
    let lines = request.headers.split_inclusive(|byte| *byte == b'\n').filter(|line| is_cookie_line(line));
    let lines: Vec<u8> = lines.flatten().copied().filter(|byte| *byte != b'\r').collect();
    // JMeter removes the header name only from the first line.
    latin(&lines).get("cookie:".len()..).unwrap_or_default().trim().to_owned()
}

fn is_cookie_line(line: &[u8]) -> bool {
    line.len() >= 7 && line[..7].eq_ignore_ascii_case(b"cookie:")
}
