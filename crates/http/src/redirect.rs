//! Following redirects, each as a sample within the sample or unseen.

use std::sync::Arc;

use busyhour_program::result::{Retention, SampleResult};
use busyhour_record::HttpDetail;

use crate::encode;
use crate::failure::Failure;
use crate::origin::Origin;
use crate::url_parts;
use crate::visit::{Visit, has_resources};
use crate::wire_request::WireRequest;

/// Follows redirects one sample after another (`follow_redirects`).
pub(crate) async fn follow(
    visit: &mut impl Visit,
    request: &mut WireRequest,
    location: String,
    keep: Retention,
) {
    let mut total = std::mem::take(visit.result());
    let label = total.label.clone();
    // The sample's own body is that of the last response.
    let body = std::mem::take(&mut total.body);
    let body_memory = std::mem::take(&mut total.body_memory);
    let mut first = SampleResult { body, body_memory, ..total.clone() };
    first.label = format!("{label}-0");
    first.unnamed_thread = true;
    total.sub_results.push(first);
    let mut next = Some(location);
    let mut count = 0;
    let most = visit.sampler().shared.redirects_max.unwrap_or(REDIRECTS_MAX);
    while let Some(location) = next.take() {
        count += 1;
        if count > most {
            let message = format!("Exceeded maximum number of redirects: {most}");
            // As in JMeter: one more result, a copy of the last with this failure in it.
            let result = visit.result();
            Failure::new("java.io.IOException", message).write_to(result, keep.body);
            result.label = format!("{label}-{}", total.sub_results.len());
            total.sent_bytes += result.sent_bytes;
            total.sub_results.push(result.clone());
            break;
        }
        let now = visit.now();
        let result = visit.result();
        result.reset();
        result.label.push_str(&label);
        result.times.start = now;
        result.times.intended = now;
        result.success = true;
        match prepare_redirect(visit, request, &location) {
            Ok(origin) => next = visit.one(request, &origin, keep).await,
            Err(failure) => {
                let now = visit.now();
                let result = visit.result();
                result.url.push_str(&request.url);
                result.times.end = now;
                failure.write_to(result, keep.body);
            }
        }
        if visit.result().ignore {
            // The page is fresh in the cache and makes no sample: the redirect to it is the last response, as in JMeter.
            if let Some(last) = total.sub_results.last() {
                *visit.result() = last.clone();
            }
            break;
        }
        if has_resources(visit) {
            visit.fetch_resources(request, keep).await;
        }
        let result = visit.result();
        let mut parts = std::mem::take(&mut result.sub_results);
        if parts.is_empty() {
            parts.push(result.clone());
        }
        // The resources of a page are on the same level as its redirects.
        for mut part in parts {
            part.label = format!("{label}-{}", total.sub_results.len());
            total.header_bytes += part.header_bytes;
            total.body_bytes += part.body_bytes;
            total.sent_bytes += part.sent_bytes;
            total.times.end = total.times.end.max(part.times.end);
            part.unnamed_thread = false;
            total.sub_results.push(part);
        }
    }
    let last = std::mem::take(visit.result());
    total.url = last.url;
    total.request_headers = last.request_headers;
    total.request_data = last.request_data;
    if let (Some(own), Some(last)) = (&mut total.http, last.http) {
        // Cookies and the place redirected to stay those of the first.
        own.method = last.method;
        own.query_string = last.query_string;
    }
    total.body = last.body;
    total.body_memory = last.body_memory;
    total.code = last.code;
    total.success = last.success;
    total.message = last.message;
    total.data_type = last.data_type;
    total.response_headers = last.response_headers;
    total.content_type = last.content_type;
    total.encoding = last.encoding;
    *visit.result() = total;
}

/// Follows redirects unseen (`auto_redirects`).
pub(crate) async fn auto(
    visit: &mut impl Visit,
    request: &mut WireRequest,
    location: String,
    keep: Retention,
) {
    let mut next = Some(location);
    request.led_here = true;
    let http = visit.result().http.take();
    let connect_ns = visit.result().times.connect_ns;
    let most = visit.sampler().shared.redirects_max.unwrap_or(REDIRECTS_MAX);
    let first_url = request.url.clone();
    // The first request is no redirect: a way back to it is taken once.
    let mut seen: Vec<String> = Vec::new();
    while let Some(location) = next.take() {
        let prepared = prepare_redirect(visit, request, &location).and_then(|origin| {
            // HttpClient follows no circle.
            if seen.contains(&request.url) || seen.len() > most as usize {
                visit.result().sent_bytes = 0;
                return Err(Failure::protocol());
            }
            seen.push(request.url.clone());
            Ok(origin)
        });
        let result = visit.result();
        for text in
            [&mut result.url, &mut result.response_headers, &mut result.content_type, &mut result.encoding]
        {
            text.clear();
        }
        if let Some(room) = &request.room {
            room.release(result.body.len());
        }
        result.body.clear();
        match prepared {
            Ok(origin) => next = visit.one(request, &origin, keep).await,
            Err(failure) => {
                let now = visit.now();
                let result = visit.result();
                result.url.push_str(&first_url);
                result.times.end = now;
                failure.write_to(result, keep.body);
            }
        }
    }
    let result = visit.result();
    if result.times.connect_ns == 0 {
        result.times.connect_ns = connect_ns;
    }
    // The request data is that of the plan.
    result.http = http.map(|http| Box::new(HttpDetail { redirect_location: None, ..*http }));
}

fn prepare_redirect(
    visit: &mut impl Visit,
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
    visit.locate(request)
}

/// Default maximum of redirects in one sample (`httpsampler.max_redirects`).
const REDIRECTS_MAX: u32 = 20;
