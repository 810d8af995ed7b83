//! One sample: the request, its response, and the redirects that follow.

use std::sync::Arc;

use busyhour_limits::Limit;
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::run::Level;
use busyhour_program::user::UserState;
use busyhour_record::HttpDetail;

use crate::auth::{Reply, Used};
use crate::cache::WhenFresh;
use crate::failure::Failure;
use crate::file_page;
use crate::limits::AUTHENTICATION_ROUNDS_MAX;
use crate::line::{Line, Route, Special};
use crate::origin::Origin;
use crate::proxy::proxy_for;
use crate::proxy_address::ProxyAuth;
use crate::session::HttpSession;
use crate::settings::{HttpSampler, Redirects};
use crate::sink::{Head, latin, look_for_encoding, reset_response};
use crate::source::Source;
use crate::wire_request::WireRequest;
use busyhour_program::ElementError;

/// One exchange; gives the `Location` when the response is a redirect that is to be followed.
pub(crate) async fn one(
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
    // It stays where it was made: a step is half a kilobyte.
    let mut prepared = prepare(sampler, user, session, request, origin, keep);
    let step = prepared.as_mut()?;
    loop {
        let outcome = step.line.transfer(&mut user.result, request, &mut step.head, &clock).await;
        match settle(user, session, request, step, outcome) {
            Next::Again => {}
            Next::Done(location) => return location,
        }
    }
}

/// An exchange under way.
pub(crate) struct Step<'s> {
    pub(crate) line: Line<'s>,
    pub(crate) head: Head,
    now_ms: i64,
    /// The request has been sent once more, with credentials for the proxy.
    credentials_sent: bool,
    /// The state of the proxy authentication before this exchange.
    proxy_auth: ProxyAuth,
    asking: bool,
    /// What the request has been authorized with.
    used: Option<Used>,
    /// Number of repetitions because of authentication.
    rounds: u32,
    /// Length of the plan's own headers: what follows them is for the cache.
    own_headers: usize,
}

/// What follows an exchange.
pub(crate) enum Next {
    /// The request is to be sent once more.
    Again,
    /// Nothing, or the way to where the response redirects.
    Done(Option<String>),
}

/// Everything before the first byte is sent. `None`: the cache has answered.
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
        && !request.led_here
    {
        request.cookies.clear();
        let at = request.path_at;
        let jar = session.jar(manager, user);
        jar.write(origin, &request.url[at..], now_ms, &mut request.cookies);
    }
    if keep.http {
        user.result.http = Some(Box::new(HttpDetail {
            method: Some(request.method.clone()),
            cookies: shown_cookies(request),
            query_string: latin(&request.body).into_owned(),
            redirect_location: None,
        }));
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
    // A tunnel sends the credentials of its proxy with CONNECT.
    let asking = proxy.as_ref().is_some_and(|proxy| !origin.secure && proxy.authorization.is_some());
    let proxy_auth = proxy.as_ref().map_or(ProxyAuth::Unasked, |proxy| session.proxy_auth(origin, proxy));
    request.proxy_authorized = asking && proxy_auth == ProxyAuth::Accepted;
    let lines = request.assemble(origin, proxy.as_deref(), sampler.keep_alive);
    if keep.request {
        describe(request, lines, &mut user.result);
    }
    if !request.cookies.is_empty() && sampler.headers.iter().any(is_cookie) {
        // The manager's cookies take the place of those a header manager names.
        request.headers = without_cookie_lines(&request.headers);
        request.assemble(origin, proxy.as_deref(), sampler.keep_alive);
    }
    let own_headers = request.headers.len() - conditional;
    let used = request.authorization.is_some().then_some(Used::Basic);
    let special = match Special::of(sampler, user, session, origin, proxy.as_deref()) {
        Ok(special) => special,
        Err(failure) => {
            request.headers.truncate(own_headers);
            user.result.times.end = user.now();
            failure.write_to(&mut user.result, keep.body);
            return None;
        }
    };
    let mut line = Line::new(sampler, user, session, Route { origin, proxy, proxy_auth, special }, keep);
    line.room.clone_from(&request.room);
    Some(Step {
        line,
        head: Head::new(sampler),
        now_ms,
        credentials_sent: false,
        proxy_auth,
        asking,
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

/// Everything after the last byte.
pub(crate) fn settle(
    user: &mut UserState,
    session: &mut HttpSession,
    request: &mut WireRequest,
    step: &mut Step<'_>,
    outcome: Result<(), Failure>,
) -> Next {
    let Step { line, head, now_ms, .. } = step;
    let (sampler, keep, now_ms) = (line.sampler, line.keep, *now_ms);
    if let Some(proxy) = line.proxy.clone() {
        if step.asking && outcome.is_ok() {
            let (new_proxy_auth, again) =
                step.proxy_auth.after(head.status, head.proxy_asks, step.credentials_sent);
            if again {
                step.credentials_sent = true;
                request.proxy_authorized = true;
                return once_more(user, request, step);
            }
            line.proxy_auth = new_proxy_auth;
        }
        if line.origin.secure || step.asking {
            session.set_proxy_auth(&line.origin, &proxy, line.proxy_auth);
        }
    }
    if outcome.is_ok()
        && head.status == 401
        && !request.has_authorization
        && let Some(manager) = &sampler.auth
        && let Reply::Again(header, used) = manager.reply(user, request, &head.challenges, step.used.as_ref())
    {
        if step.rounds < AUTHENTICATION_ROUNDS_MAX {
            step.rounds += 1;
            request.authorization = header;
            step.used = Some(used);
            return once_more(user, request, step);
        }
        // A server that finds every answer stale: its last question is the response.
        busyhour_limits::exceeded(Limit::AuthenticationRounds);
    }
    request.headers.truncate(step.own_headers);
    if let Some(name) = line.special.as_mut().and_then(|special| special.name.take()) {
        session.remember_addresses(name);
    }
    if let Some(connection) = line.connection.take() {
        session.keep(connection);
    }
    let origin = &line.origin;
    let result = &mut user.result;
    if let Err(failure) = outcome {
        // JMeter notes what was sent only once there is an answer.
        result.sent_bytes = 0;
        if let Some(room) = &line.room {
            room.release(result.body.len());
        }
        failure.write_to(result, keep.body);
        if let Some(limit) = failure.limit {
            busyhour_limits::exceeded(limit);
        }
        return Next::Done(None);
    }
    result.success = (200..400).contains(&head.status);
    user.http_answered = true;
    let result = &mut user.result;
    if keep.body {
        keep_sum(result, head.md5.take());
    }
    let redirects = is_redirect(head.status, &request.method, sampler.redirects);
    // A hop inside the client is seen by no manager.
    let unseen = redirects && sampler.redirects == Redirects::Auto;
    for cookie in std::mem::take(&mut head.cookies).into_iter().filter(|_| !unseen) {
        if let Some(manager) = &sampler.cookies {
            let at = request.path_at;
            let received = session.jar(manager, user).receive(&cookie, origin, &request.url[at..], now_ms);
            take_cookie(received, manager, user);
            if session.jar(manager, user).take_dropped() {
                busyhour_limits::exceeded(Limit::Cookies);
            }
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
    if matches!(head.status, 301..=303 | 307 | 308)
        && (head.status != 307 || matches!(request.method.as_str(), "GET" | "HEAD"))
        && let Some(http) = &mut user.result.http
    {
        http.redirect_location.clone_from(&head.location);
    }
    if !redirects || (sampler.redirects == Redirects::None && head.location.is_some()) {
        return Next::Done(None);
    }
    if head.location.is_none() {
        let version = if head.http_1_0 { "HTTP/1.0" } else { "HTTP/1.1" };
        let message =
            format!("Missing location header in redirect for {} {} {version}", request.method, request.url);
        user.result.sent_bytes = 0;
        Failure::new("java.lang.IllegalArgumentException", message).write_to(&mut user.result, keep.body);
    }
    Next::Done(head.location.take())
}

/// Assembles the request again for a repetition.
fn once_more(user: &mut UserState, request: &mut WireRequest, step: &mut Step<'_>) -> Next {
    let line = &mut step.line;
    let lines = request.assemble(&line.origin, line.proxy.as_deref(), line.sampler.keep_alive);
    if line.keep.request {
        describe(request, lines, &mut user.result);
    }
    if let Some(room) = &line.room {
        room.release(user.result.body.len());
    }
    reset_response(&mut user.result);
    line.again(user.now());
    step.head = Head::new(line.sampler);
    Next::Again
}

/// Puts the sum of a body in its place, if only that is wanted.
fn keep_sum(result: &mut SampleResult, md5: Option<Box<md5::Md5>>) {
    look_for_encoding(result);
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

fn take_cookie(
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

/// The request as JMeter shows it.
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
    let cookies = shown_cookies(request);
    if cookies.is_empty() {
        data.push_str("\n[no cookies]\n");
    } else {
        data.push_str("\nCookie Data:\n");
        data.push_str(&cookies);
        data.push('\n');
    }
}

/// The cookies of the request, from its manager or from the headers of the plan.
fn shown_cookies(request: &WireRequest) -> String {
    if !request.cookies.is_empty() {
        return latin(&request.cookies).into_owned();
    }
    let lines = request.headers.split_inclusive(|byte| *byte == b'\n').filter(|line| is_cookie_line(line));
    let lines: Vec<u8> = lines.flatten().copied().filter(|byte| *byte != b'\r').collect();
    // JMeter takes the name off the first line, of however many.
    latin(&lines).get("cookie:".len()..).unwrap_or_default().trim().to_owned()
}

fn is_cookie_line(line: &[u8]) -> bool {
    line.len() >= 7 && line[..7].eq_ignore_ascii_case(b"cookie:")
}
