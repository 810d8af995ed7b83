//! One sample: the request, its response, and the redirects that follow.

use std::sync::Arc;
use std::time::Duration;

use busyhour_engine::Nanos;
use busyhour_engine::result::{HttpFacts, Keep, SampleResult};
use busyhour_engine::run::Level;
use busyhour_engine::template::Template;
use busyhour_engine::user::UserState;

use crate::cache::WhenFresh;
use crate::connection::{ConnectOptions, Connection};
use crate::failure::Failure;
use crate::head::Rendered;
use crate::origin::Origin;
use crate::proxy::{ProxyAddress, ProxyAuth, proxy_for};
use crate::redirect::{auto, follow};
use crate::render::render;
use crate::response::ResponseReader;
use crate::sampler::{HttpSampler, Redirects};
use crate::session::HttpSession;
use crate::sink::{Head, ResponseSink, forget_answer, latin, look_for_encoding};
use crate::tunnel::{self, Wanted};

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
            if keep.http {
                let method = (!request.url.is_empty()).then(|| request.method.clone());
                user.result.http = Some(Box::new(HttpFacts { method, ..HttpFacts::default() }));
            }
            failure.write_to(&mut user.result, keep.body);
            if request.url.is_empty() {
                // JMeter has no sampler's name either when there is no URL.
                user.result.label.clear();
            }
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

/// One exchange; gives the `Location` when the response is a redirect that is to be followed.
pub(crate) async fn one(
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
    if keep.http {
        user.result.http = Some(Box::new(HttpFacts {
            method: Some(request.method.clone()),
            cookies: latin(&request.cookies).into_owned(),
            query_string: latin(&request.body).into_owned(),
            redirect_location: None,
        }));
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
    // A tunnel's proxy is told who is there when the tunnel is asked for.
    let asking = proxy.as_ref().filter(|proxy| !origin.secure && proxy.authorization.is_some());
    let said = asking.map_or(ProxyAuth::Unasked, |proxy| session.proxy_auth(origin, proxy));
    request.proxy_authorized = said == ProxyAuth::Accepted;
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
    request.headers.truncate(own_headers);
    let mut head = Head::new(sampler);
    let mut outcome =
        transfer(sampler, user, session, request, origin, proxy.as_ref(), &mut head, keep).await;
    if let Some(proxy) = asking
        && outcome.is_ok()
    {
        let (mut now_said, again) = said.after(head.status, head.proxy_asks, false);
        if again {
            request.proxy_authorized = true;
            request.assemble(origin, Some(&**proxy), sampler.keep_alive);
            forget_answer(&mut user.result);
            head = Head::new(sampler);
            outcome = transfer(sampler, user, session, request, origin, Some(proxy), &mut head, keep).await;
            if outcome.is_ok() {
                now_said = said.after(head.status, head.proxy_asks, true).0;
            }
        }
        if outcome.is_ok() {
            session.proxy_said(origin, proxy, now_said);
        }
    }
    let result = &mut user.result;
    if let Err(failure) = outcome {
        // JMeter notes what was sent only once there is an answer.
        result.sent_bytes = 0;
        failure.write_to(result, keep.body);
        return None;
    }
    result.success = (200..400).contains(&head.status);
    if keep.body {
        look_for_encoding(result);
    }
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
    if matches!(head.status, 301..=303 | 307 | 308)
        && (head.status != 307 || matches!(request.method.as_str(), "GET" | "HEAD"))
        && let Some(http) = &mut user.result.http
    {
        http.redirect_location.clone_from(&head.location);
    }
    let redirects = match head.status {
        301..=303 => true,
        307 => matches!(request.method.as_str(), "GET" | "HEAD") || sampler.redirects == Redirects::Auto,
        308 => true,
        _ => false,
    };
    if !redirects || (sampler.redirects == Redirects::None && head.location.is_some()) {
        return None;
    }
    if head.location.is_none() {
        let version = if head.http_1_0 { "HTTP/1.0" } else { "HTTP/1.1" };
        let message =
            format!("Missing location header in redirect for {} {} {version}", request.method, request.url);
        user.result.sent_bytes = 0;
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
    let clock = &user.run.clock.clone();
    let result = &mut user.result;
    let started = result.start;
    let mut reader = ResponseReader::new(request.method == "HEAD");
    let outcome = async {
        let mut connection = match session.take(origin, proxy, started) {
            Some(connection) => connection,
            None => {
                let options = ConnectOptions { shared: &sampler.shared, clock, timeout: connect_timeout };
                match proxy.filter(|_| origin.secure) {
                    Some(proxy) => {
                        let wanted =
                            Wanted { sampler, origin, proxy, options, response_timeout, started, keep };
                        let opening = tunnel::open(&wanted, session, result, head, &mut reader);
                        let Some(connection) = Box::pin(opening).await? else { return Ok(()) };
                        reader = ResponseReader::new(request.method == "HEAD");
                        connection
                    }
                    None => {
                        let opened = Connection::open(origin, proxy, &options).await;
                        result.connect_ns = clock.now().since(started);
                        opened?
                    }
                }
            }
        };
        connection.send(&request.wire).await?;
        result.sent_bytes = request.wire.len() as u64;
        let mut sink = ResponseSink { head, result, keep };
        let received = connection.receive(&mut reader, &mut sink, clock, response_timeout).await;
        if let Some((first, last)) = received? {
            result.latency_ns = first.since(started);
            result.end = last;
        }
        if reader.keeps_alive && sampler.keep_alive && !request.closes {
            if let Some(seconds) = reader.keep_alive_s {
                connection.promised(clock.now(), seconds);
            }
            session.keep(connection);
        }
        Ok(())
    }
    .await;
    if outcome.is_err() || result.end == Nanos::ZERO {
        result.end = clock.now();
    }
    result.header_bytes = reader.head_bytes;
    result.body_bytes = reader.body_bytes;
    outcome?;
    match head.decoding.take() {
        Some(decoding) if reader.has_body && reader.content_length != Some(0) => decoding.end(),
        _ => Ok(()),
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
