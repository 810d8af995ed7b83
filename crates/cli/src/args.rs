//! The command line in busyhour's own form.

use std::path::PathBuf;
use std::time::Duration;

use busyhour_demo::Stall;
use clap::{Args, Parser, Subcommand};

use crate::command_error::CommandError;
use crate::exit::RUN_TABLE;
use crate::load_args::UrlArgs;
use crate::own_args::OwnArgs;
use crate::run_command::RunCommand;
use busyhour_launch::{PropertySources, RunRequest, assignment};

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
        "  busyhour run http://127.0.0.1:8080/ --arrivals 'poisson(100/s) for 30s'\n",
        "  busyhour report busyhour-runs/plan-20260101-120000\n\n",
        "Each command has examples: busyhour run --help\n"
    ),
    max_term_width = 80
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a test plan, or send requests to a URL.
    Run(RunArgs),
    /// Check test plans: show their structure and what is not supported.
    Check(CheckArgs),
    /// Report the results of a test from run directories or result files.
    Report(crate::report::ReportArgs),
    /// Check finished runs against thresholds.
    Judge(crate::judge::JudgeArgs),
    /// Compare runs before and after a change, or plan how many runs a comparison needs.
    Compare(crate::compare::CompareArgs),
    /// Find lasting changes in a history of runs.
    Trend(crate::trend::TrendArgs),
    /// Export a run for other programs: CSV, Parquet, HdrHistogram, InfluxDB, Graphite, Prometheus.
    Export(crate::export::ExportArgs),
    /// Show arrival statistics of logs: JTL files and run directories.
    Arrivals(crate::arrivals::ArrivalsArgs),
    /// Find numbers of users and think times for a request rate.
    PlanLoad(crate::plan_load::PlanLoadArgs),
    /// Estimate how many real web users a measured load corresponds to.
    Users(crate::users::UsersArgs),
    /// Solve, simulate and fit capacity models (queueing networks).
    Model(crate::model::ModelArgs),
    /// Load-test a ticket shop on this machine and show the result.
    Demo(DemoArgs),
    /// Start one of the demo servers.
    DemoServer(ServerArgs),
}

/// Options of JMeter's own command line with the same meaning.
const JMETER_HEADING: &str = "Files and properties (as in JMeter)";

#[derive(Debug, Args)]
#[command(after_help = format!(
    "Examples:\n  busyhour run plan.jmx\n  busyhour run plan.jmx -J USERS=100 -J HOST=127.0.0.1 -l results.jtl\n  \
     busyhour run plan.jmx --dir runs/before --seed 7 --cores 1\n  \
     busyhour run plan.jmx --arrivals 'poisson(200/s) for 60s, pause 10s'\n  \
     busyhour run http://127.0.0.1:8080/ --arrivals 'poisson(500/s) for 60s'\n  \
     busyhour run http://127.0.0.1:8080/ -c 50 --think 'exponential(1s)' --for 60s\n  \
     busyhour run plan.jmx --arrivals 'poisson(200/s) for 10min' --live\n  \
     busyhour run plan.jmx --threshold 'p95 of checkout < 800ms' --junit out.xml\n\n{RUN_TABLE}"
))]
pub(crate) struct RunArgs {
    /// Test plan (JMX), or a URL to send requests to.
    #[arg(value_name = "PLAN|URL")]
    plan: PathBuf,
    #[command(flatten)]
    own: OwnArgs,
    #[command(flatten)]
    url: UrlArgs,
    /// JMeter CSV results file (default: samples.jtl in the run directory); an existing file is appended to.
    #[arg(help_heading = JMETER_HEADING, short = 'l', long = "results", value_name = "FILE")]
    results: Option<PathBuf>,
    /// Overwrite an existing results file and an existing report in the directory of -o.
    #[arg(help_heading = JMETER_HEADING, short = 'f', long = "force-delete-results")]
    force: bool,
    /// Set a JMeter property.
    #[arg(help_heading = JMETER_HEADING, short = 'J', value_name = "NAME=VALUE")]
    jmeter_property: Vec<String>,
    /// Set a system property.
    #[arg(help_heading = JMETER_HEADING, short = 'D', value_name = "NAME=VALUE")]
    system_property: Vec<String>,
    /// Additional JMeter properties file; may be given several times.
    #[arg(help_heading = JMETER_HEADING, short = 'q', long = "addprop", value_name = "FILE")]
    additional: Vec<PathBuf>,
    /// JMeter properties file that is read first.
    #[arg(help_heading = JMETER_HEADING, short = 'p', long = "propfile", value_name = "FILE")]
    base: Option<PathBuf>,
    /// Log file (default: run.log in the run directory).
    #[arg(help_heading = JMETER_HEADING, short = 'j', long = "log", value_name = "FILE")]
    log: Option<PathBuf>,
    /// Also write a report with JMeter's statistics.json into this directory.
    #[arg(help_heading = JMETER_HEADING, short = 'o', long = "report", value_name = "DIR")]
    dashboard: Option<PathBuf>,
}

impl RunArgs {
    pub(crate) fn into_command(self) -> Result<RunCommand, CommandError> {
        let mut properties =
            PropertySources { base: self.base, additional: self.additional, ..PropertySources::default() };
        for text in self.jmeter_property {
            if !text.contains('=') {
                return Err(format!(
                    "-J {text} has no value; write -J {text}=VALUE, or -J {text}= to remove the property"
                )
                .into());
            }
            properties.jmeter.push(assignment("-J", &text).map_err(|error| error.to_string())?);
        }
        for text in self.system_property {
            properties.system.push(assignment("-D", &text).map_err(|error| error.to_string())?);
        }
        let run = RunRequest {
            plan: self.plan,
            results: self.results,
            properties,
            log: self.log,
            ..RunRequest::default()
        };
        let mut command =
            RunCommand { run, force: self.force, dashboard: self.dashboard, ..RunCommand::default() };
        self.own.apply(self.url, &mut command)?;
        Ok(command)
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  busyhour check plan.jmx\n  busyhour check --json plans/*.jmx\n  busyhour check --supported\n\n\
    Exit codes: 0 all plans are supported, 2 the command line is wrong, 3 a plan is not supported"
)]
pub(crate) struct CheckArgs {
    /// Test plans (JMX).
    #[arg(required_unless_present = "supported", value_name = "PLAN")]
    pub(crate) plans: Vec<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print verdicts and findings only, no outlines.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Set a JMeter property.
    #[arg(short = 'J', value_name = "NAME=VALUE")]
    pub(crate) jmeter_property: Vec<String>,
    /// Additional JMeter properties file; may be given several times.
    #[arg(short = 'q', long = "addprop", value_name = "FILE")]
    pub(crate) additional: Vec<PathBuf>,
    /// List the supported elements and functions as Markdown.
    #[arg(long)]
    pub(crate) supported: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The load is open: visitors arrive as a Poisson process, whether or not the shop is fast. With --closed a fixed \
    number of users is paced by the plan's Constant Throughput Timer, as in JMeter: compare the line \"Arrivals\" of both.\n\n\
    Examples:\n  busyhour demo\n  busyhour demo --seconds 10 --rate 200\n  busyhour demo --closed --users 50"
)]
pub(crate) struct DemoArgs {
    /// Seconds of load; with --closed, after all users have started.
    #[arg(long, default_value_t = 25)]
    pub(crate) seconds: u32,
    /// A fixed number of users that wait for each response, instead of visitors that arrive at random.
    #[arg(long)]
    pub(crate) closed: bool,
    /// Number of users (default: 100).
    #[arg(long, requires = "closed")]
    pub(crate) users: Option<u32>,
    /// Approximate rate in requests per second.
    #[arg(long, default_value_t = 400)]
    pub(crate) rate: u32,
    /// Directory for the run's files (default: a new one in busyhour-runs).
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Seed of all random choices.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "ticket-monster is a ticket shop. probe responds ok to every request and records its arrival time: the moment \
    when its first byte could be read, in nanoseconds of the monotonic clock. It prints arrival statistics when it ends.\n\n\
    Examples:\n  busyhour demo-server ticket-monster --port 8080 --full\n  \
    busyhour demo-server --backend \"2 x exponential(4ms)\"\n  \
    busyhour demo-server probe --port 0 --stamps stamps.txt --stall 2s@10s"
)]
pub(crate) struct ServerArgs {
    /// Server to start.
    #[arg(value_parser = ["ticket-monster", "probe"], default_value = "ticket-monster")]
    pub(crate) server: String,
    /// Port on 127.0.0.1; 0 selects a free port.
    #[arg(long, default_value_t = 8080)]
    pub(crate) port: u16,
    /// Database file (default: in memory).
    #[arg(long, value_name = "FILE")]
    pub(crate) db: Option<PathBuf>,
    /// Respond to errors as the original application does.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Start with 10 venues and 10 events.
    #[arg(long, conflicts_with = "full")]
    pub(crate) small: bool,
    /// Start with 100 venues and 100 events.
    #[arg(long)]
    pub(crate) full: bool,
    /// ticket-monster: each response occupies one of N connections to a simulated backend for a random time that uses no
    /// CPU: constant(5ms), exponential(5ms), "2 x exponential(5ms)".
    #[arg(long, value_name = "[N x] LAW", value_parser = crate::backend_notation::backend)]
    pub(crate) backend: Option<busyhour_demo::BackendOptions>,
    /// probe: stall for LENGTH, starting AFTER the first request (2s@10s); may be given several times.
    #[arg(long, value_name = "LENGTH@AFTER", value_parser = crate::quantities::stall)]
    pub(crate) stall: Vec<Stall>,
    /// probe: delay of each response.
    #[arg(long, value_name = "TIME", value_parser = crate::quantities::duration)]
    pub(crate) delay: Option<Duration>,
    /// probe: write the arrival times to this file at the end.
    #[arg(long, value_name = "FILE")]
    pub(crate) stamps: Option<PathBuf>,
    /// End when standard input is closed.
    #[arg(long, hide = true)]
    pub(crate) until_stdin_closes: bool,
}
