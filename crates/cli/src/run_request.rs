//! The settings of a run, from either form of the command line.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use busyhour_compile::{OpenOptions, ProxyOption};
use busyhour_record::UrlPlanFacts;
use busyhour_report::RunShow;

use crate::settings::FlagSettings;
use crate::thresholds::Thresholds;

/// The settings of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunRequest {
    /// The plan.
    pub(crate) plan: PathBuf,
    /// The plan's text if it is not a file (for the demo and for a URL).
    pub(crate) plan_text: Option<Cow<'static, str>>,
    /// What the plan requests, if it was made for a URL.
    pub(crate) url_plan: Option<UrlPlanFacts>,
    /// Main results file.
    pub(crate) results: Option<PathBuf>,
    /// Codes of warnings about the plan that are intended and not reported, for the demo.
    pub(crate) known_warnings: &'static [&'static str],
    /// Overwrite an existing results file.
    pub(crate) force: bool,
    /// Properties.
    pub(crate) flags: FlagSettings,
    /// Run directory.
    pub(crate) dir: Option<PathBuf>,
    /// Seed.
    pub(crate) seed: Option<u64>,
    /// Cores.
    pub(crate) cores: Option<usize>,
    /// Skip unsupported elements.
    pub(crate) allow_unsupported: bool,
    /// Verify certificates.
    pub(crate) verify_tls: bool,
    /// Log file.
    pub(crate) log: Option<PathBuf>,
    /// Directory for JMeter's dashboard files.
    pub(crate) dashboard: Option<PathBuf>,
    /// The command line was JMeter's: print JMeter's lines and listen on its stop port.
    pub(crate) as_jmeter: bool,
    /// Proxy of the command line.
    pub(crate) proxy: Option<ProxyOption>,
    /// Maximum time of one HTTP request.
    pub(crate) request_deadline: Option<Duration>,
    /// Schedule of arrivals.
    pub(crate) open: Option<OpenOptions>,
    /// Poll the clock instead of sleeping just before a start.
    pub(crate) spin: bool,
    /// Exports during the run.
    pub(crate) exports: crate::export::LiveExportArgs,
    /// Thresholds.
    pub(crate) thresholds: Thresholds,
    /// Tables to show at the end.
    pub(crate) show: RunShow,
    /// Live view and control.
    pub(crate) live: crate::live::LiveArgs,
    /// Store secrets of the command line and the properties in the run directory.
    pub(crate) keep_secrets: bool,
    /// Open the report at the end.
    pub(crate) open_report: bool,
    /// What belongs to the plan besides its text, for its hash.
    pub(crate) hashed_with_plan: String,
    /// Users wait after failures while all requests fail.
    pub(crate) backs_off: bool,
    /// The URL on the command line contains a secret, so the results file has no column with URLs.
    pub(crate) has_secret_url: bool,
    /// Expected duration in seconds, if known.
    pub(crate) length_s: Option<u64>,
    /// Time for users to finish their samples after a stop request, if given.
    pub(crate) grace: Option<std::time::Duration>,
}

impl RunRequest {
    /// Whether the run is for a URL instead of a plan.
    pub(crate) fn is_for_url(&self) -> bool {
        let target = self.plan.to_string_lossy();
        target.split_once("://").is_some_and(|(scheme, _)| {
            scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
        })
    }
}
