//! What is asked of a run, whichever form of the command line it came from.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use busyhour_compile::{OpenOptions, ProxyOption};
use busyhour_report::RunShow;

use crate::thresholds::Thresholds;

/// A run to make.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunRequest {
    /// The plan.
    pub(crate) plan: PathBuf,
    /// The plan's text when it is no file (the demo's, that of a URL).
    pub(crate) plan_text: Option<Cow<'static, str>>,
    /// Main results file.
    pub(crate) results: Option<PathBuf>,
    /// Begin it anew when it exists.
    pub(crate) force: bool,
    /// Properties.
    pub(crate) flags: FlagSettings,
    /// Run directory.
    pub(crate) dir: Option<PathBuf>,
    /// Seed.
    pub(crate) seed: Option<u64>,
    /// Cores.
    pub(crate) cores: Option<usize>,
    /// Leave out what is not supported.
    pub(crate) allow_unsupported: bool,
    /// Verify certificates.
    pub(crate) verify_tls: bool,
    /// Log file.
    pub(crate) log: Option<PathBuf>,
    /// Directory for JMeter's dashboard files.
    pub(crate) dashboard: Option<PathBuf>,
    /// The command line was JMeter's: talk as JMeter does, and listen to its stop port.
    pub(crate) as_jmeter: bool,
    /// Proxy of the command line.
    pub(crate) proxy: Option<ProxyOption>,
    /// Longest time of one HTTP request.
    pub(crate) request_deadline: Option<Duration>,
    /// Sessions that begin by schedule.
    pub(crate) open: Option<OpenOptions>,
    /// Watch the clock instead of sleeping just before a start.
    pub(crate) spin: bool,
    /// Where it is sent while it goes on.
    pub(crate) exports: crate::export::LiveExportArgs,
    /// What it is judged by.
    pub(crate) thresholds: Thresholds,
    /// What of its results is shown at the end.
    pub(crate) show: RunShow,
    /// How it is watched and changed while it goes on.
    pub(crate) live: crate::live::LiveArgs,
    /// Store secrets of the command line and the properties in the run directory.
    pub(crate) keep_secrets: bool,
    /// How long the run will take, if the caller knows.
    pub(crate) length_s: Option<u64>,
    /// How long users may take to finish their samples after a stop request, if that was said.
    pub(crate) grace: Option<std::time::Duration>,
}

impl RunRequest {
    /// Whether the plan is a URL that stands in its place.
    pub(crate) fn is_for_url(&self) -> bool {
        let target = self.plan.to_string_lossy();
        target.split_once("://").is_some_and(|(scheme, _)| {
            scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
        })
    }
}

/// Properties as the command line gives them, in the order they override one another.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlagSettings {
    /// `-p`
    pub(crate) base: Option<PathBuf>,
    /// `-q`
    pub(crate) additional: Vec<PathBuf>,
    /// `-S`
    pub(crate) system_files: Vec<PathBuf>,
    /// The command line is JMeter's: missing files of `-q` and `-S` are a warning.
    pub(crate) as_jmeter: bool,
    /// `-J`
    pub(crate) jmeter: Vec<(String, String)>,
    /// `-D`
    pub(crate) system: Vec<(String, String)>,
}
