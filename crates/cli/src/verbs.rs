//! The verbs in groups, and the options that all verbs have.

#[cfg(feature = "observe")]
use busyhour_verb_observe as observe;
use clap::{CommandFactory as _, Parser, Subcommand};

use crate::args::{CheckArgs, RunArgs};
use crate::lab::{DemoArgs, LabArgs, ServerArgs};
#[cfg(not(feature = "observe"))]
use crate::observe_missing as observe;
use crate::old_names;

/// The verbs that the help shows, by group.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Load", &["run", "check", "demo"]),
    ("Results", &["report", "compare", "export"]),
    ("Answers", &["capacity", "observe", "experiment"]),
    ("Machines", &["cluster", "lab", "doctor", "config", "help"]),
];

/// Runs Apache JMeter test plans.
#[derive(Debug, Parser)]
#[command(
    name = "busyhour",
    version,
    about = "Load generator that runs Apache JMeter test plans on an event-driven core",
    after_help = concat!(
        "JMeter's own command line works unchanged:\n",
        "  busyhour -n -t plan.jmx -l results.jtl -JUSERS=100 -JHOST=127.0.0.1\n\n",
        "First steps:\n",
        "  busyhour demo              load-test a ticket shop, in half a minute\n",
        "  busyhour check plan.jmx    check whether a plan is supported\n",
        "  busyhour run plan.jmx      run it\n",
        "  busyhour run http://127.0.0.1:8080/ --rate 100/s --for 30s\n",
        "  busyhour report busyhour-runs/plan-20260101-120000\n\n",
        "Each command has examples: busyhour run --help\n"
    ),
    max_term_width = 80
)]
pub(crate) struct Cli {
    /// Print only results, errors and warnings.
    #[arg(long, global = true, conflicts_with = "verbose", display_order = 900)]
    pub(crate) quiet: bool,
    /// Print more messages: phases of runs, time for reading.
    #[arg(short = 'v', long, global = true, display_order = 901)]
    pub(crate) verbose: bool,
    #[command(subcommand)]
    pub(crate) verb: AnyVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AnyVerb {
    #[command(flatten)]
    Shown(Verb),
    #[command(flatten)]
    Old(OldVerb),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run a test plan, or send requests to a URL.
    Run(RunArgs),
    /// Check test plans: structure, mistakes, unsupported elements.
    Check(CheckArgs),
    /// Load-test a ticket shop on this machine and show the result.
    Demo(DemoArgs),
    /// Report results of any kind, and check them against thresholds.
    Report(crate::report::ReportArgs),
    /// Compare runs before and after a change, or a history of runs.
    Compare(crate::compare::CompareArgs),
    /// Export a run for other programs: CSV, Parquet, databases.
    Export(crate::export::ExportArgs),
    /// Fit, solve, simulate and verify models of a system's capacity.
    Capacity(busyhour_verb_capacity::CapacityArgs),
    /// Watch the system under test: serve its metrics, read its garbage-collection logs.
    Observe(observe::ObserveArgs),
    /// Execute experiments: which settings change response times, with intervals.
    Experiment(busyhour_verb_experiment::ExperimentArgs),
    /// Run load from several machines: hub, agents.
    Cluster(crate::cluster::ClusterArgs),
    /// Start servers to test, and neighbours that disturb them.
    Lab(LabArgs),
    /// Show what can be watched on this machine, and what is missing.
    Doctor(observe::doctor::DoctorArgs),
    /// Shell completions, man pages and schemas of files.
    Config(crate::config::ConfigArgs),
}

/// The old names of verbs, which the help does not show.
#[derive(Debug, Subcommand)]
pub(crate) enum OldVerb {
    /// Check finished runs against thresholds.
    #[command(hide = true)]
    Judge(crate::judge::JudgeArgs),
    /// Find lasting changes in a history of runs.
    #[command(hide = true)]
    Trend(crate::trend::TrendArgs),
    /// Show arrival statistics of logs.
    #[command(hide = true)]
    Arrivals(crate::arrivals::ArrivalsArgs),
    /// Find numbers of users and think times for a request rate.
    #[command(hide = true)]
    PlanLoad(busyhour_verb_capacity::PlanArgs),
    /// Estimate how many real web users a measured load corresponds to.
    #[command(hide = true)]
    Users(busyhour_verb_capacity::UsersArgs),
    /// Solve, simulate and fit capacity models.
    #[command(hide = true)]
    Model(busyhour_verb_capacity::ModelArgs),
    /// Start one of the demo servers.
    #[command(hide = true)]
    DemoServer(ServerArgs),
}

/// The complete command line. Its help shows the verbs in groups.
pub(crate) fn command() -> clap::Command {
    let cli = old_names::with_bare_times(Cli::command());
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\nOptions:\n{{options}}{{after-help}}",
        groups(&cli)
    );
    cli.help_template(template)
}

/// The command line without old names, for completions and man pages.
pub(crate) fn shown_command() -> clap::Command {
    let cli = Cli::command();
    let shown = clap::Command::new("busyhour")
        .version(env!("CARGO_PKG_VERSION"))
        .about(cli.get_about().cloned().unwrap_or_default())
        .after_help(cli.get_after_help().cloned().unwrap_or_default())
        .args(cli.get_arguments().cloned());
    Verb::augment_subcommands(shown)
}

fn groups(cli: &clap::Command) -> String {
    let about = |verb: &str| match cli.find_subcommand(verb).and_then(clap::Command::get_about) {
        Some(about) => about.to_string(),
        None => "Print the help of a command".to_owned(),
    };
    let mut out = String::new();
    for (heading, verbs) in GROUPS {
        out += &format!("\n{heading}:\n");
        for verb in verbs {
            out += &format!("  {verb:<10} {}\n", about(verb));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_is_in_one_group_and_old_names_are_hidden() {
        let cli = command();
        cli.clone().debug_assert();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| *verbs).copied().collect();
        for verb in cli.get_subcommands() {
            let count = grouped.iter().filter(|name| **name == verb.get_name()).count();
            let is_old = old_names::new_name(&[verb.get_name()]).is_some()
                || old_names::new_name(&[verb.get_name(), "solve"]).is_some();
            assert_eq!(count, usize::from(!verb.is_hide_set()), "{}", verb.get_name());
            assert_eq!(is_old, verb.is_hide_set(), "{}", verb.get_name());
        }
    }
}
