//! The command line of `busyhour experiment`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::confirm_args::ConfirmArgs;
use super::keep::KeepArgs;
use super::shown_args::ShownArgs;

/// Experiments of a file, or of this program.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  busyhour experiment list\n  busyhour experiment run web-users --short\n  \
    busyhour experiment run heap.toml --dry-run\n  busyhour experiment run heap.toml\n  \
    busyhour experiment report busyhour-experiments/heap -o heap.html\n  \
    busyhour experiment restore busyhour-experiments/heap\n  \
    busyhour experiment schema > experiments.schema.json\n\n\
    docs/experiments.md describes the file and the analysis."
)]
pub struct ExperimentArgs {
    #[command(subcommand)]
    pub(super) verb: ExperimentVerb,
}

#[derive(Debug, Subcommand)]
pub(super) enum ExperimentVerb {
    /// List the experiments that need no file.
    List,
    /// Write the files of such an experiment, to change them.
    Copy(CopyArgs),
    /// Execute the trials of an experiment, or continue an interrupted one.
    Run(RunArgs),
    /// Repeat the load of a run with and without the suspected cause of slow requests.
    Confirm(Box<ConfirmArgs>),
    /// Analyse the trials of an experiment.
    Report(ReportArgs),
    /// Undo the changes that a killed experiment left on this machine.
    Restore(RestoreArgs),
    /// Print the JSON schema of the file of an experiment.
    Schema,
    /// Start a command, and end it with all of its descendants when standard input is closed.
    #[command(hide = true)]
    Keep(KeepArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Each trial starts the system, waits until it is ready, applies the treatments of its case, executes a run, and stops \
    everything. The journal in the directory contains each step. If it is run again, the experiment continues after its last finished \
    trial. Spoiled trials (load not delivered, generator or host disturbed) are repeated and counted. Ctrl-C and SIGTERM stop \
    the trial and the system.\n\n\
    Examples:\n  busyhour experiment run noisy-neighbour --short --skip-unavailable\n  \
    busyhour experiment run heap.toml --dry-run\n  busyhour experiment run heap.toml --dir results/heap\n  \
    busyhour experiment run heap.toml -o heap.html -o heap.csv\n\n\
    Exit codes:\n  0  all trials are finished\n  1  the program or the system failed, trials failed in succession,\n     or trials have no result after all attempts\n  \
    2  the command line is wrong\n  3  the file was refused, or a control is not available\n  \
    4  the experiment was stopped; run it again to continue"
)]
pub(super) struct RunArgs {
    /// File of the experiment (TOML), or a name from `busyhour experiment list`.
    #[arg(value_name = "FILE|NAME")]
    pub(super) file: PathBuf,
    /// Execute the short form: fewer levels, shorter and fewer trials.
    #[arg(long)]
    pub(super) short: bool,
    /// Leave out the levels whose treatments are not available here.
    #[arg(long)]
    pub(super) skip_unavailable: bool,
    /// Show the trials, their duration and the smallest effect they can show, and execute nothing.
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Directory for journal and trials (default: busyhour-experiments/NAME, or NAME-short).
    #[arg(long, value_name = "DIR")]
    pub(super) dir: Option<PathBuf>,
    /// Seed of the orders and arrivals, instead of that of the file.
    #[arg(long)]
    pub(super) seed: Option<u64>,
    #[command(flatten)]
    pub(super) shown: ShownArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Files that exist are not overwritten.\n\n\
    Examples:\n  busyhour experiment copy web-users\n  busyhour experiment copy cells-load cells\n\n\
    Exit codes:\n  0  success\n  1  the program or the system failed\n  2  there is no experiment with this name\n  \
    3  a file exists already")]
pub(super) struct CopyArgs {
    /// Name of the experiment.
    #[arg(value_name = "NAME")]
    pub(super) name: String,
    /// Directory for the files (default: the current one).
    #[arg(value_name = "DIR")]
    pub(super) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The trials are analysed again with the responses of DIR/experiment.toml, which may be changed.\n\n\
    Examples:\n  busyhour experiment report busyhour-experiments/heap\n  \
    busyhour experiment report busyhour-experiments/heap -o heap.html -o heap.csv\n  \
    busyhour experiment report busyhour-experiments/heap --json\n\n\
    Exit codes:\n  0  success\n  1  the program or the system failed, or trials have no result after all attempts\n  2  the command line is wrong\n  \
    3  the directory cannot be read"
)]
pub(super) struct ReportArgs {
    /// Directory of the experiment.
    #[arg(value_name = "DIR")]
    pub(super) dir: PathBuf,
    #[command(flatten)]
    pub(super) shown: ShownArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "An experiment undoes everything at the end of each trial, even on Ctrl-C. After `kill -9`, or if an `undo` command failed, the \
    journals in DIR contain the changes that were not undone. This verb ends the processes of the experiment, and undoes controls (control groups, cache masks, \
    network namespaces), treatments and changes of files, the last one first. If it is run again, it has no effect. `busyhour experiment run` does the same \
    before its first trial.\n\n\
    Examples:\n  busyhour experiment restore busyhour-experiments/heap\n  \
    sudo busyhour experiment restore busyhour-experiments/confined\n\n\
    Exit codes:\n  0  nothing is left to undo\n  1  something could not be undone; it is named\n  2  the command line is wrong\n  \
    3  the directory contains no experiment, or the experiment still runs"
)]
pub(super) struct RestoreArgs {
    /// Directory of the experiment.
    #[arg(value_name = "DIR")]
    pub(super) dir: PathBuf,
}
