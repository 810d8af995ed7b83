//! What a run can be told beyond JMeter's flags: in `busyhour run`, and behind JMeter's own command line.

use std::path::PathBuf;
use std::time::Duration;

use busyhour_report::RunShow;
use clap::Args;

use crate::export::LiveExportArgs;
use crate::live::LiveArgs;
use crate::load_args::{LoadArgs, UrlArgs};
use crate::run_request::RunRequest;
use crate::thresholds::ThresholdArgs;

/// Options of a run that JMeter does not have.
#[derive(Debug, Default, Args)]
pub(crate) struct OwnArgs {
    #[command(flatten)]
    load: LoadArgs,
    /// Directory for the run's files (default: a new one in busyhour-runs).
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Seed of every random choice (default: a new one, which the run directory tells).
    #[arg(long)]
    seed: Option<u64>,
    /// Cores that make load (default: all this process may use).
    #[arg(long)]
    cores: Option<usize>,
    /// Leave out what is not supported instead of refusing the plan.
    #[arg(long)]
    allow_unsupported: bool,
    /// Accept only servers whose certificates the usual roots vouch for (JMeter accepts all).
    #[arg(long)]
    verify_tls: bool,
    /// Store passwords, tokens, keys, cookies and Authorization headers of the command line and the properties in the run
    /// directory instead of "[redacted]".
    #[arg(long)]
    keep_secrets: bool,
    /// How long users may take to finish their samples after a stop request (default: 30s); then they are given up.
    #[arg(long, value_name = "TIME")]
    grace: Option<String>,
    /// At the end, show a table for each thread group and one of all groups.
    #[arg(long)]
    by_group: bool,
    /// Longest time of one HTTP request: connecting, sending and the whole response, e.g. 30s; 'none' for no limit
    /// (default: 60s for a URL, none for a plan).
    #[arg(long, value_name = "TIME")]
    request_deadline: Option<String>,
    #[command(flatten)]
    thresholds: ThresholdArgs,
    #[command(flatten)]
    exports: LiveExportArgs,
    #[command(flatten)]
    live: LiveArgs,
}

impl OwnArgs {
    /// Puts them into a request, whose plan, or URL with what `url` says of it, is there already.
    pub(crate) fn apply(self, url: UrlArgs, request: &mut RunRequest) -> Result<(), String> {
        if self.cores == Some(0) {
            return Err("--cores must be at least 1".into());
        }
        if let Some(text) = &self.grace {
            let time = busyhour_arrivals::time_ns(text);
            let grace_ns = time.map_err(|error| format!("--grace: {}", error.render(text)))?;
            request.grace = Some(std::time::Duration::from_nanos(grace_ns));
        }
        request.dir = self.dir;
        request.seed = self.seed;
        request.cores = self.cores;
        request.allow_unsupported = self.allow_unsupported;
        request.verify_tls = self.verify_tls;
        request.keep_secrets = self.keep_secrets;
        request.show = RunShow { by_group: self.by_group };
        request.thresholds = self.thresholds.read()?;
        request.exports = self.exports;
        request.live = self.live;
        let is_url = request.is_for_url();
        request.request_deadline = match self.request_deadline.as_deref() {
            None => is_url.then_some(URL_REQUEST_DEADLINE),
            Some("none") => None,
            Some(text) => Some(deadline(text)?),
        };
        self.load.apply(url, request)
    }
}

/// Longest time of a request to a URL when nothing is said.
const URL_REQUEST_DEADLINE: Duration = Duration::from_secs(60);

fn deadline(text: &str) -> Result<Duration, String> {
    let time = busyhour_arrivals::time_ns(text);
    let ns = time.map_err(|error| format!("--request-deadline: {}", error.render(text)))?;
    if ns < 1_000_000 {
        return Err(format!("--request-deadline {text:?}: at least 1ms, or 'none' for no limit"));
    }
    Ok(Duration::from_nanos(ns))
}
