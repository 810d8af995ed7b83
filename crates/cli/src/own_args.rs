//! Options of a run that JMeter does not have, for `busyhour run` and for JMeter's command line.

use std::path::PathBuf;
use std::time::Duration;

use busyhour_report::RunShow;
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::quantities::time_ns;
use busyhour_verb_inputs::thresholds::ThresholdArgs;
use clap::Args;

use crate::agents::OnArgs;
use crate::export::LiveExportArgs;
use crate::headings::{OUTPUT, RUN};
use crate::live::LiveArgs;
use crate::load_args::{LoadArgs, UrlArgs};
use crate::observing::ObserveRunArgs;
use crate::run_command::RunCommand;

/// Options of a run that JMeter does not have.
#[derive(Debug, Default, Args)]
pub(crate) struct OwnArgs {
    #[command(flatten)]
    load: LoadArgs,
    /// Directory for the run's files (default: in busyhour-runs).
    #[arg(help_heading = OUTPUT, long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print all tables and caveats at the end.
    ///
    /// By default, a terminal shows one screen.
    #[arg(help_heading = OUTPUT, long)]
    details: bool,
    /// Open the report when the run has ended.
    #[arg(help_heading = OUTPUT, long)]
    open_report: bool,
    /// Also show a table of results for each thread group.
    #[arg(help_heading = OUTPUT, long, hide_short_help = true)]
    by_group: bool,
    /// Seed of all random choices (default: a new one, stored in the run directory).
    #[arg(help_heading = RUN, long, hide_short_help = true)]
    seed: Option<u64>,
    /// Number of cores that generate load (default: all that this process may use).
    #[arg(help_heading = RUN, long, hide_short_help = true)]
    cores: Option<usize>,
    /// Time for users to finish their samples after a stop request (default: 30s).
    #[arg(help_heading = RUN, long, value_name = "TIME", hide_short_help = true)]
    grace: Option<String>,
    /// Maximum time of one HTTP request from connecting to the end of the response, e.g. 30s, or 'none' (default: 60s for a
    /// URL, none for a plan).
    #[arg(help_heading = RUN, long, value_name = "TIME", hide_short_help = true)]
    request_deadline: Option<String>,
    /// Skip unsupported elements instead of refusing the plan.
    #[arg(help_heading = RUN, long, hide_short_help = true)]
    allow_unsupported: bool,
    /// Verify server certificates against Mozilla's root certificates (JMeter accepts all certificates).
    #[arg(help_heading = RUN, long, hide_short_help = true)]
    verify_tls: bool,
    /// Store secrets of the command line and the properties in the run directory instead of "[redacted]". Also store
    /// headers, body and secret parameters of a URL in its plan instead of references to properties.
    #[arg(help_heading = RUN, long, hide_short_help = true)]
    keep_secrets: bool,
    #[command(flatten)]
    thresholds: ThresholdArgs,
    #[command(flatten)]
    exports: LiveExportArgs,
    #[command(flatten)]
    live: LiveArgs,
    #[command(flatten)]
    observe: ObserveRunArgs,
    #[command(flatten)]
    on: OnArgs,
}

impl OwnArgs {
    /// Applies these options to a command whose plan or URL is already set.
    pub(crate) fn apply(self, url: UrlArgs, command: &mut RunCommand) -> Result<(), CommandError> {
        if self.cores == Some(0) {
            return Err("--cores must be at least 1".into());
        }
        if let Some(text) = &self.grace {
            command.grace = Some(Duration::from_nanos(time_ns("--grace", text)?));
        }
        command.show = RunShow { by_group: self.by_group, details: self.details, lines_below: 0 };
        command.open_report = self.open_report;
        command.live = self.live;
        command.observation = self.observe.read(self.keep_secrets)?;
        let is_url = command.is_for_url();
        let run = &mut command.run;
        run.dir = self.dir;
        run.seed = self.seed;
        run.cores = self.cores;
        run.allow_unsupported = self.allow_unsupported;
        run.verify_tls = self.verify_tls;
        run.keep_secrets = self.keep_secrets;
        run.exports = self.exports.settings()?;
        (run.thresholds, command.threshold_files) = self.thresholds.read()?;
        run.request_deadline = match self.request_deadline.as_deref() {
            None => is_url.then_some(URL_REQUEST_DEADLINE),
            Some("none") => None,
            Some(text) => Some(deadline(text)?),
        };
        run.user_factor = self.on.user_factor();
        command.agents = self.on.settings(command.observation.is_on())?;
        if command.agents.is_some() {
            command.observation.without_load();
        }
        self.load.apply(url, command)
    }
}

/// Default of `--request-deadline` for a URL.
const URL_REQUEST_DEADLINE: Duration = Duration::from_secs(60);

fn deadline(text: &str) -> Result<Duration, CommandError> {
    let ns = time_ns("--request-deadline", text)?;
    if ns < 1_000_000 {
        return Err(format!("--request-deadline {text:?}: at least 1ms, or 'none' for no limit").into());
    }
    Ok(Duration::from_nanos(ns))
}
