//! Following redirects, each as a sample within the sample or unseen.

use std::sync::Arc;

use busyhour_engine::result::{HttpFacts, Keep};
use busyhour_engine::user::UserState;

use crate::encode;
use crate::exchange::one;
use crate::failure::Failure;
use crate::head::Rendered;
use crate::origin::Origin;
use crate::render::locate;
use crate::sampler::HttpSampler;
use crate::session::HttpSession;
use crate::url_parts;

/// Follows redirects one sample after another (`follow_redirects`).
pub(crate) async fn follow(
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
    let most = sampler.shared.redirects_max.unwrap_or(REDIRECTS_MAX);
    while let Some(location) = next.take() {
        count += 1;
        if count > most {
            let message = format!("Exceeded maximum number of redirects: {most}");
            // As in JMeter: one more result, a copy of the last with this failure in it.
            Failure::new("java.io.IOException", message).write_to(&mut user.result, keep.body);
            user.result.label = format!("{label}-{count}");
            total.sent_bytes += user.result.sent_bytes;
            total.sub_results.push(user.result.clone());
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
    if let (Some(own), Some(last)) = (&mut total.http, last.http) {
        // Cookies and the place redirected to stay those of the first.
        own.method = last.method;
        own.query_string = last.query_string;
    }
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
pub(crate) async fn auto(
    sampler: &HttpSampler,
    user: &mut UserState,
    session: &mut HttpSession,
    request: &mut Rendered,
    location: String,
    keep: Keep,
) {
    let mut next = Some(location);
    let http = user.result.http.take();
    let connect_ns = user.result.connect_ns;
    let most = sampler.shared.redirects_max.unwrap_or(REDIRECTS_MAX);
    let first_url = request.url.clone();
    // The first request is no redirect: a way back to it is taken once.
    let mut seen: Vec<String> = Vec::new();
    while let Some(location) = next.take() {
        let prepared = prepare_redirect(session, request, &location).and_then(|origin| {
            // HttpClient follows no circle.
            if seen.contains(&request.url) || seen.len() > most as usize {
                user.result.sent_bytes = 0;
                return Err(Failure::protocol());
            }
            seen.push(request.url.clone());
            Ok(origin)
        });
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
                user.result.url.push_str(&first_url);
                user.result.end = user.now();
                failure.write_to(&mut user.result, keep.body);
            }
        }
    }
    if user.result.connect_ns == 0 {
        user.result.connect_ns = connect_ns;
    }
    // What was asked is what the plan asked.
    user.result.http = http.map(|http| Box::new(HttpFacts { redirect_location: None, ..*http }));
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
    if let Ok(parts) = url_parts::split(&request.url) {
        let path_at = request.url.len() - parts.rest.len();
        if encode::illegal(&request.url, path_at).is_some() {
            let (prefix, rest) = request.url.split_at(path_at);
            let mut quoted = prefix.to_owned();
            encode::quote_illegal(rest, &mut quoted);
            request.url = quoted;
        }
    }
    locate(session, request)
}

/// Redirects followed in one sample at most, unless `httpsampler.max_redirects` says otherwise.
const REDIRECTS_MAX: u32 = 20;
