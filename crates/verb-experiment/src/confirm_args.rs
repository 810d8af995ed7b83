//! The command line of `busyhour experiment confirm`.

use std::path::PathBuf;

use clap::Args;

use super::shown_args::ShownArgs;

#[derive(Debug, Args)]
#[command(
    after_help = "The trials alternate between the system as it is and the system without the suspected cause. The first line of the result \
    states whether the response times differ, with an interval. Without an option that removes a cause, this command names the cause \
    that the run's explanation found, and the option to remove it. Other processes are affected only if you name \
    them.\n\n\
    Examples:\n  busyhour experiment confirm runs/slow\n  \
    busyhour experiment confirm runs/slow --start 'exec java -jar shop.jar' --ready http://127.0.0.1:8080/ --jvm-option -Xmx2g\n  \
    busyhour experiment confirm runs/slow --property POOL=50\n  \
    busyhour experiment confirm runs/slow --pause 4711 --repetitions 10\n  \
    busyhour experiment confirm runs/slow --lift-quota /sys/fs/cgroup/shop --dry-run\n\n\
    Exit codes: those of `busyhour experiment run`; 2 if no option removes a cause."
)]
pub(super) struct ConfirmArgs {
    /// Directory of the run.
    #[arg(value_name = "RUN")]
    pub(super) run: PathBuf,
    /// Stop this process while the cause is removed (SIGSTOP, then SIGCONT); may be given several times.
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(2..))]
    pub(super) pause: Vec<u32>,
    /// Remove the CPU quota of this control group while the cause is removed.
    #[arg(long, value_name = "GROUP")]
    pub(super) lift_quota: Option<String>,
    /// Property of the plan while the cause is removed; may be given several times.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(super) property: Vec<String>,
    /// Environment variable of the system while the cause is removed (with --start).
    #[arg(long, value_name = "NAME=VALUE")]
    pub(super) environment: Vec<String>,
    /// Option of the system's Java virtual machine while the cause is removed (with --start).
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub(super) jvm_option: Vec<String>,
    /// Command that starts the system for each trial.
    #[arg(long, value_name = "COMMAND", requires = "ready")]
    pub(super) start: Option<String>,
    /// URL or command that determines when the system is ready (with --start).
    #[arg(long, value_name = "URL")]
    pub(super) ready: Option<String>,
    /// Length of the load of each trial (default: that of the run, at most 60s).
    #[arg(long = "for", short = 'z', value_name = "TIME")]
    pub(super) length: Option<String>,
    /// Number of trials with and without the cause.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(super) repetitions: u32,
    /// Show the trials, and execute nothing.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Directory for journal and trials (default: busyhour-experiments/confirm-RUN).
    #[arg(long, value_name = "DIR")]
    pub(super) dir: Option<PathBuf>,
    #[command(flatten)]
    pub(super) shown: ShownArgs,
}
