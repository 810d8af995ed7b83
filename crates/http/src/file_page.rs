//! `file:` URLs, which JMeter's HTTP sampler reads from the disk like pages.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use busyhour_limits::Limit;
use busyhour_program::clock::Clock;
use busyhour_program::result::{Retention, SampleResult};
use busyhour_sample::{DataType, HttpDetail};

use crate::detail;
use crate::failure::Failure;
use crate::limits::BodyLimit;
use crate::settings::HttpSampler;
use crate::wire_request::WireRequest;

/// The default number of retained bytes of a file, as in JMeter.
const RETAINED_BYTES_MAX: usize = 10 * 1024 * 1024;

/// Reads the file to which the URL of the request refers; relative names are resolved in the working directory. The
/// content has the encoding of the sampler.
pub(crate) async fn read(
    sampler: &HttpSampler,
    (request, encoding): (&WireRequest, &str),
    result: &mut SampleResult,
    clock: &Clock,
    keep: Retention,
) {
    let url = request.url.as_str();
    result.url.push_str(url);
    result.label.clear();
    result.label.push_str(url);
    if keep.protocol_detail {
        let method = Some("GET".to_owned());
        detail::set(result, HttpDetail { method, ..HttpDetail::default() });
    }
    let name = url.strip_prefix("file:").unwrap_or(url);
    let name = if name.starts_with("//") {
        name.trim_start_matches('/').split_once('/').map_or("", |(_, path)| path)
    } else {
        name
    };
    let name = name.split(['?', '#']).next().unwrap_or(name).to_owned();
    let path = PathBuf::from(&name);
    let most = match sampler.shared.body_limit {
        BodyLimit::Truncate(most) => most,
        BodyLimit::Refuse(_) | BodyLimit::Unlimited => RETAINED_BYTES_MAX,
    };
    let content = match tokio::task::spawn_blocking(move || read_file(&path, most)).await {
        Ok(content) => content,
        Err(error) => Err(std::io::Error::other(error)),
    };
    result.times.end = clock.now();
    match content {
        Ok((content, bytes)) => {
            if let Some(budget) = request.body_budget.as_ref().filter(|_| keep.body)
                && let Err(failure) = budget.reserve(content.len())
            {
                failure.write_to(result, keep.body);
                busyhour_limits::count_exceeded(Limit::SampleBodyBytes);
                return;
            }
            result.outcome.code.push_str("200");
            result.outcome.message.push_str("OK");
            result.outcome.success = true;
            result.sizes.body_bytes = bytes;
            result.content.data_type = DataType::Text;
            result.content.encoding.push_str(encoding);
            result.content_type = format!("text/html; charset={encoding}");
            if keep.body
                && let Err(no_memory) = result.body_memory.append(&mut result.body, &content)
            {
                let failure = Failure::no_memory(no_memory);
                failure.write_to(result, keep.body);
                busyhour_limits::count_exceeded(Limit::BodyMemory);
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

/// Returns the first `most` bytes of a file, and its size. Redirects and pages may refer to any file, and a device or a
/// pipe could be endless.
fn read_file(path: &Path, most: usize) -> io::Result<(Vec<u8>, u64)> {
    let kind = std::fs::metadata(path)?;
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut file = std::fs::File::open(path)?;
    let mut start = Vec::new();
    let read = (&mut file).take(most as u64).read_to_end(&mut start)? as u64;
    let rest = io::copy(&mut file, &mut io::sink())?;
    Ok((start, read + rest))
}
