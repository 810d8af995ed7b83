//! Options of a run that JMeter does not have, for `busyhour run` and for JMeter's command line.

use std::path::PathBuf;
use std::time::Duration;

use busyhour_report::RunShow;
use clap::Args;

use crate::command_error::CommandError;
use crate::export::LiveExportArgs;
use crate::live::LiveArgs;
use crate::load_args::{LoadArgs, UrlArgs};
use crate::run_command::RunCommand;
use crate::thresholds::ThresholdArgs;

/// Options of a run that JMeter does not have.
#[derive(Debug, Default, Args)]
pub(crate) struct OwnArgs {
    #[command(flatten)]
    load: LoadArgs,
    /// Directory for the run's files (default: a new one in busyhour-runs).
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Seed of all random choices (default: a new one, stored in the run directory).
    #[arg(long)]
    seed: Option<u64>,
    /// Number of cores that generate load (default: all that this process may use).
    #[arg(long)]
    cores: Option<usize>,
    /// Skip unsupported elements instead of refusing the plan.
    #[arg(long)]
    allow_unsupported: bool,
    /// Verify server certificates against Mozilla's root certificates (JMeter accepts all certificates).
    #[arg(long)]
    verify_tls: bool,
    /// Store secrets of the command line and the properties in the run directory instead of "[redacted]", and headers, body and
    /// secret parameters of a URL in its plan instead of references to properties.
    #[arg(long)]
    keep_secrets: bool,
    /// Time for users to finish their samples after a stop request (default: 30s).
    #[arg(long, value_name = "TIME")]
    grace: Option<String>,
    /// Also show a table of results for each thread group.
    #[arg(long)]
    by_group: bool,
    /// Print all tables and caveats at the end, as into a pipe or file (default on a terminal: one screen).
    #[arg(long)]
    details: bool,
    /// Open the report with the program of the desktop when the run has ended.
    #[arg(long)]
    open_report: bool,
    /// Maximum time of one HTTP request from connecting to the end of the response, e.g. 30s, or 'none' (default: 60s for a
    /// URL, none for a plan).
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
    /// Applies these options to a command that has its plan or URL already.
    pub(crate) fn apply(self, url: UrlArgs, command: &mut RunCommand) -> Result<(), CommandError> {
        if self.cores == Some(0) {
            return Err("--cores must be at least 1".into());
        }
        if let Some(text) = &self.grace {
            let time = busyhour_arrivals::time_ns(text);
            let grace_ns = time.map_err(|error| format!("--grace: {}", error.render(text)))?;
            command.grace = Some(Duration::from_nanos(grace_ns));
        }
        command.show = RunShow { by_group: self.by_group, details: self.details, lines_below: 0 };
        command.open_report = self.open_report;
        command.live = self.live;
        let is_url = command.is_for_url();
        let run = &mut command.run;
        run.dir = self.dir;
        run.seed = self.seed;
        run.cores = self.cores;
        run.allow_unsupported = self.allow_unsupported;
        run.verify_tls = self.verify_tls;
        run.keep_secrets = self.keep_secrets;
        run.exports = self.exports.settings();
        (run.thresholds, command.threshold_files) = self.thresholds.read()?;
        run.request_deadline = match self.request_deadline.as_deref() {
            None => is_url.then_some(URL_REQUEST_DEADLINE),
            Some("none") => None,
            Some(text) => Some(deadline(text)?),
        };
        self.load.apply(url, command)
    }
}

/// Default of `--request-deadline` for a URL.
const URL_REQUEST_DEADLINE: Duration = Duration::from_secs(60);

fn deadline(text: &str) -> Result<Duration, CommandError> {
    let time = busyhour_arrivals::time_ns(text);
    let ns = time.map_err(|error| format!("--request-deadline: {}", error.render(text)))?;
    if ns < 1_000_000 {
        return Err(format!("--request-deadline {text:?}: at least 1ms, or 'none' for no limit").into());
    }
    Ok(Duration::from_nanos(ns))
}
