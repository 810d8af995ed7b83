//! Follows redirects, either as sub-results or without recording them.

use std::sync::Arc;

use busyhour_program::result::{Retention, SampleResult};
use busyhour_sample::HttpDetail;

use crate::detail;
use crate::encode;
use crate::exchange_context::{ExchangeContext, has_resources};
use crate::failure::Failure;
use crate::origin::Origin;
use crate::url_parts;
use crate::wire_request::WireRequest;

/// Follows redirects, each as a sub-result (`follow_redirects`).
pub(crate) async fn follow(
    context: &mut impl ExchangeContext,
    request: &mut WireRequest,
    location: String,
    keep: Retention,
) {
    let mut total = std::mem::take(context.result());
    let label = total.label.clone();
    // The sample's own body is that of the last response.
    let body = std::mem::take(&mut total.body);
    let body_memory = std::mem::take(&mut total.body_memory);
    let mut first = SampleResult { body, body_memory, ..total.clone() };
    first.label = format!("{label}-0");
    first.marks.unnamed_thread = true;
    total.sub_results.push(first);
    let mut next = Some(location);
    let mut count = 0;
    let most = context.sampler().shared.redirects_max.unwrap_or(REDIRECTS_MAX);
    while let Some(location) = next.take() {
        count += 1;
        if count > most {
            let message = format!("Exceeded maximum number of redirects: {most}");
            // As in JMeter, add one more result: a copy of the last one with this failure.
            let result = context.result();
            Failure::new("java.io.IOException", message).write_to(result, keep.body);
            result.label = format!("{label}-{}", total.sub_results.len());
            total.sizes.sent_bytes += result.sizes.sent_bytes;
            total.sub_results.push(result.clone());
            break;
        }
        let now = context.now();
        let result = context.result();
        result.reset();
        result.label.push_str(&label);
        result.times.start = now;
        result.times.intended = now;
        result.outcome.success = true;
        match prepare_redirect(context, request, &location) {
            Ok(origin) => next = context.exchange(request, &origin, keep).await,
            Err(failure) => {
                let now = context.now();
                let result = context.result();
                result.url.push_str(&request.url);
                result.times.end = now;
                failure.write_to(result, keep.body);
            }
        }
        if context.result().marks.ignore {
            // The page is fresh in the cache and yields no sample, so the redirect to it is the last response, as in
            // JMeter.
            if let Some(last) = total.sub_results.last() {
                *context.result() = last.clone();
            }
            break;
        }
        if has_resources(context) {
            context.fetch_resources(request, keep).await;
        }
        let result = context.result();
        let mut parts = std::mem::take(&mut result.sub_results);
        if parts.is_empty() {
            parts.push(result.clone());
        }
        // The resources of a page are on the same level as its redirects.
        for mut part in parts {
            part.label = format!("{label}-{}", total.sub_results.len());
            total.sizes += part.sizes;
            total.times.end = total.times.end.max(part.times.end);
            part.marks.unnamed_thread = false;
            total.sub_results.push(part);
        }
    }
    let mut last = std::mem::take(context.result());
    let last_detail = detail::take(&mut last);
    total.url = last.url;
    total.request_headers = last.request_headers;
    total.request_data = last.request_data;
    if let (Some(own), Some(last)) = (detail::of(&mut total), last_detail) {
        // The cookies and the redirect location remain those of the first request.
        own.method = last.method;
        own.query_string = last.query_string;
    }
    total.body = last.body;
    total.body_memory = last.body_memory;
    total.outcome = last.outcome;
    total.content = last.content;
    total.response_headers = last.response_headers;
    total.content_type = last.content_type;
    *context.result() = total;
}

/// Follows redirects within the client, without recording them (`auto_redirects`).
pub(crate) async fn auto(
    context: &mut impl ExchangeContext,
    request: &mut WireRequest,
    location: String,
    keep: Retention,
) {
    let mut next = Some(location);
    request.is_client_redirect = true;
    let first_detail = detail::take(context.result());
    let connect_ns = context.result().times.connect_ns;
    let most = context.sampler().shared.redirects_max.unwrap_or(REDIRECTS_MAX);
    let first_url = request.url.clone();
    // The first request does not count: a redirect back to it is followed once.
    let mut seen: Vec<String> = Vec::new();
    while let Some(location) = next.take() {
        let prepared = prepare_redirect(context, request, &location).and_then(|origin| {
            // HttpClient rejects circular redirects.
            if seen.contains(&request.url) || seen.len() > most as usize {
                context.result().sizes.sent_bytes = 0;
                return Err(Failure::protocol());
            }
            seen.push(request.url.clone());
            Ok(origin)
        });
        let result = context.result();
        for text in [
            &mut result.url,
            &mut result.response_headers,
            &mut result.content_type,
            &mut result.content.encoding,
        ] {
            text.clear();
        }
        if let Some(budget) = &request.body_budget {
            budget.release(result.body.len());
        }
        result.body.clear();
        match prepared {
            Ok(origin) => next = context.exchange(request, &origin, keep).await,
            Err(failure) => {
                let now = context.now();
                let result = context.result();
                result.url.push_str(&first_url);
                result.times.end = now;
                failure.write_to(result, keep.body);
            }
        }
    }
    let result = context.result();
    if result.times.connect_ns == 0 {
        result.times.connect_ns = connect_ns;
    }
    // The recorded request data is that of the original request.
    match first_detail {
        Some(first) => detail::set(result, HttpDetail { redirect_location: None, ..first }),
        None => result.protocol_detail = None,
    }
}

fn prepare_redirect(
    context: &mut impl ExchangeContext,
    request: &mut WireRequest,
    location: &str,
) -> Result<Arc<Origin>, Failure> {
    let url = url_parts::resolve(&request.url, &location.replace(' ', "%20"));
    if request.method != "HEAD" {
        request.method.clear();
        request.method.push_str("GET");
    }
    request.clear_entity();
    request.url = encode::sanitized(url);
    context.locate(request)
}

/// The default maximum number of redirects in one sample (`httpsampler.max_redirects`).
const REDIRECTS_MAX: u32 = 20;
