//! Values of the options that name sources, intervals and metrics, for `observe` and for the observation of a run.

use std::path::PathBuf;
use std::time::Duration;

use busyhour_diagnostic::io_hints::chain;
use busyhour_observation::{SourceSpec, parse_sources};
use busyhour_observe::INTERVAL_MIN;
use busyhour_observe::prometheus::{FetchOptions, MetricSelection};
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::quantities::time_ns;

/// The environment variable with the token for metrics that are scraped.
pub(crate) const TOKEN_VARIABLE: &str = "BUSYHOUR_OBSERVE_TOKEN";

/// Reads lists of sources.
pub fn sources_of(option: &str, lists: &[String]) -> Result<Vec<SourceSpec>, CommandError> {
    let mut sources = Vec::new();
    for list in lists {
        sources.extend(parse_sources(list).map_err(|error| format!("{option}: {error}"))?);
    }
    Ok(sources)
}

/// Reads an interval between readings.
pub fn interval_of(option: &str, text: &str) -> Result<Duration, CommandError> {
    let interval = Duration::from_nanos(time_ns(option, text)?);
    if interval < INTERVAL_MIN {
        return Err(format!("{option} {text:?}: at least 100ms").into());
    }
    Ok(interval)
}

/// Reads patterns of metrics. Without any, the usual metrics are selected.
pub fn metrics_of(patterns: &[String]) -> Result<MetricSelection, CommandError> {
    if patterns.is_empty() {
        return Ok(MetricSelection::default());
    }
    let parsed = MetricSelection::parse(patterns.iter().map(String::as_str));
    parsed.map_err(|error| format!("--observe-metrics: {}", chain(&error)).into())
}

/// The options for metrics of other programs. The token comes from the environment, because other users can read command lines.
pub fn fetch_options(authorities: Option<&PathBuf>) -> Result<FetchOptions, CommandError> {
    let authorities = authorities
        .map(|path| {
            busyhour_limits::files::read_regular(path, busyhour_limits::files::TEXT_FILE_BYTES)
                .map_err(|error| format!("--observe-ca: cannot read {}: {error}", path.display()))
        })
        .transpose()?;
    let bearer_token = std::env::var(TOKEN_VARIABLE).ok().filter(|token| !token.is_empty());
    Ok(FetchOptions { bearer_token, authorities, timeout: None })
}
