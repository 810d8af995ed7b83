//! `file:` URLs, which JMeter's HTTP sampler reads from the disk as if they were pages.

use std::path::PathBuf;

use busyhour_engine::clock::Clock;
use busyhour_engine::result::{HttpFacts, Keep, SampleResult};
use busyhour_record::DataType;

use crate::failure::Failure;
use crate::limits::BodyLimit;
use crate::sampler::HttpSampler;

/// Bytes of a file that are kept unless the properties say otherwise, as in JMeter.
const KEPT_MAX: usize = 10 * 1024 * 1024;

/// Reads the file that `url` names; a relative one is looked for in the working directory.
pub(crate) async fn read(
    sampler: &HttpSampler,
    url: &str,
    result: &mut SampleResult,
    clock: &Clock,
    keep: Keep,
) {
    result.url.push_str(url);
    result.label.clear();
    result.label.push_str(url);
    if keep.http {
        let method = Some("GET".to_owned());
        result.http = Some(Box::new(HttpFacts { method, ..HttpFacts::default() }));
    }
    let name = url.strip_prefix("file:").unwrap_or(url);
    let name = if name.starts_with("//") {
        name.trim_start_matches('/').split_once('/').map_or("", |(_, path)| path)
    } else {
        name
    };
    let name = name.split(['?', '#']).next().unwrap_or(name).to_owned();
    let path = PathBuf::from(&name);
    let content = match tokio::task::spawn_blocking(move || std::fs::read(path)).await {
        Ok(content) => content,
        Err(error) => Err(std::io::Error::other(error)),
    };
    result.end = clock.now();
    match content {
        Ok(content) => {
            result.code.push_str("200");
            result.message.push_str("OK");
            result.success = true;
            result.body_bytes = content.len() as u64;
            result.data_type = DataType::Text;
            result.encoding.push_str(sampler.charset.name());
            result.content_type = format!("text/html; charset={}", sampler.charset.name());
            if keep.body {
                let most = match sampler.shared.body_limit {
                    BodyLimit::Truncate(most) => most,
                    BodyLimit::Refuse(_) | BodyLimit::Unlimited => KEPT_MAX,
                };
                result.body.extend_from_slice(&content[..content.len().min(most)]);
            }
        }
        Err(error) => {
            let why = match error.kind() {
                std::io::ErrorKind::NotFound => "No such file or directory".to_owned(),
                std::io::ErrorKind::PermissionDenied => "Permission denied".to_owned(),
                _ => error.to_string(),
            };
            Failure::new("java.io.FileNotFoundException", format!("{name} ({why})"))
                .write_to(result, keep.body);
        }
    }
}
