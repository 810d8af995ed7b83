//! The command line in busyhour's own form.

use std::path::PathBuf;
use std::time::Duration;

use busyhour_demo::Stall;
use clap::{Args, Parser, Subcommand};

use crate::exit::RUN_TABLE;
use crate::load_args::UrlArgs;
use crate::own_args::OwnArgs;
use crate::run_request::{FlagSettings, RunRequest};

/// Runs Apache JMeter test plans.
#[derive(Debug, Parser)]
#[command(
    name = "busyhour",
    version,
    about = "Runs Apache JMeter test plans on an event-driven core, and shows what came of it",
    after_help = concat!(
        "JMeter's own command line works as it is:\n",
        "  busyhour -n -t plan.jmx -l results.jtl -JUSERS=100 -JHOST=127.0.0.1\n\n",
        "First steps:\n",
        "  busyhour demo              a ticket shop under load, in half a minute\n",
        "  busyhour check plan.jmx    what of a plan is understood\n",
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
    /// Run a test plan, or request a URL over and over.
    Run(RunArgs),
    /// Show how plans are understood, and what of them is not supported.
    Check(CheckArgs),
    /// Show what came of a test, from result files of any kind and size, and make its page.
    Report(crate::report::ReportArgs),
    /// Judge runs that were made before by thresholds.
    Judge(crate::judge::JudgeArgs),
    /// Compare runs before and after a change; say how many runs would show one.
    Compare(crate::compare::CompareArgs),
    /// Show where a history of runs changed.
    Trend(crate::trend::TrendArgs),
    /// Make of a run what other programs read: CSV, Parquet, HdrHistogram, InfluxDB, Graphite, Prometheus.
    Export(crate::export::ExportArgs),
    /// Show the arrival statistics of logs: JTL files and run directories.
    Arrivals(crate::arrivals::ArrivalsArgs),
    /// Show which users and think times make a wanted rate, and how random their arrivals will be.
    PlanLoad(crate::plan_load::PlanLoadArgs),
    /// Show how many real web users a measured load stands for.
    Users(crate::users::UsersArgs),
    /// Capacity models: solve, simulate and fit queueing networks, and hold them against measurements.
    Model(crate::model::ModelArgs),
    /// Start a ticket shop on this machine, run the ticket workload on it, show the result.
    Demo(DemoArgs),
    /// Start one of the demo servers alone.
    DemoServer(ServerArgs),
}

/// Options of JMeter's own command line, which mean here what they mean there.
const JMETERS: &str = "Files and properties, as JMeter has them";

#[derive(Debug, Args)]
#[command(after_help = format!(
    "Examples:\n  busyhour run plan.jmx\n  busyhour run plan.jmx -J USERS=100 -J HOST=127.0.0.1 -l results.jtl\n  \
     busyhour run plan.jmx --dir runs/before --seed 7 --cores 1\n  \
     busyhour run plan.jmx --arrivals 'poisson(200/s) for 60s, pause 10s'\n  \
     busyhour run http://127.0.0.1:8080/ --arrivals 'poisson(500/s) for 60s'\n  \
     busyhour run http://127.0.0.1:8080/ -c 50 --think 'exponential(1s)' --for 60s\n  \
     busyhour run plan.jmx --arrivals 'poisson(200/s) for 10min' --live\n  \
     busyhour run plan.jmx --threshold 'p95 of checkout < 800ms' --junit kept.xml\n\n{RUN_TABLE}"
))]
pub(crate) struct RunArgs {
    /// The test plan (JMX), or a URL to request over and over.
    #[arg(value_name = "PLAN|URL")]
    plan: PathBuf,
    #[command(flatten)]
    own: OwnArgs,
    #[command(flatten)]
    url: UrlArgs,
    /// JMeter CSV results file (default: samples.jtl in the run directory); appended to when it exists.
    #[arg(help_heading = JMETERS, short = 'l', long = "results", value_name = "FILE")]
    results: Option<PathBuf>,
    /// Begin the results file anew when it exists, and take an old report in the way of -o away.
    #[arg(help_heading = JMETERS, short = 'f', long = "force-delete-results")]
    force: bool,
    /// Set a JMeter property.
    #[arg(help_heading = JMETERS, short = 'J', value_name = "NAME=VALUE")]
    jmeter_property: Vec<String>,
    /// Set a system property.
    #[arg(help_heading = JMETERS, short = 'D', value_name = "NAME=VALUE")]
    system_property: Vec<String>,
    /// Additional JMeter properties file; may be given several times.
    #[arg(help_heading = JMETERS, short = 'q', long = "addprop", value_name = "FILE")]
    additional: Vec<PathBuf>,
    /// JMeter properties file to begin with.
    #[arg(help_heading = JMETERS, short = 'p', long = "propfile", value_name = "FILE")]
    base: Option<PathBuf>,
    /// Log file (default: run.log in the run directory).
    #[arg(help_heading = JMETERS, short = 'j', long = "log", value_name = "FILE")]
    log: Option<PathBuf>,
    /// Also write index.html and JMeter's statistics.json into this directory.
    #[arg(help_heading = JMETERS, short = 'o', long = "report", value_name = "DIR")]
    dashboard: Option<PathBuf>,
}

impl RunArgs {
    pub(crate) fn into_request(self) -> Result<RunRequest, String> {
        let mut flags =
            FlagSettings { base: self.base, additional: self.additional, ..FlagSettings::default() };
        for text in self.jmeter_property {
            if !text.contains('=') {
                return Err(format!(
                    "-J {text} gives the property no value; write -J {text}=VALUE, or -J {text}= to take the property away"
                ));
            }
            flags.jmeter.push(crate::settings::assignment("-J", &text)?);
        }
        for text in self.system_property {
            flags.system.push(crate::settings::assignment("-D", &text)?);
        }
        let mut request = RunRequest {
            plan: self.plan,
            results: self.results,
            force: self.force,
            flags,
            log: self.log,
            dashboard: self.dashboard,
            ..RunRequest::default()
        };
        self.own.apply(self.url, &mut request)?;
        Ok(request)
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  busyhour check plan.jmx\n  busyhour check --json plans/*.jmx\n  busyhour check --supported\n\n\
    Exit codes: 0 every plan can be run, 3 some cannot, 2 the command line cannot be understood"
)]
pub(crate) struct CheckArgs {
    /// Test plans (JMX).
    #[arg(required_unless_present = "supported", value_name = "PLAN")]
    pub(crate) plans: Vec<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Only verdicts and findings, no outlines.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Set a JMeter property.
    #[arg(short = 'J', value_name = "NAME=VALUE")]
    pub(crate) jmeter_property: Vec<String>,
    /// Additional JMeter properties file; may be given several times.
    #[arg(short = 'q', long = "addprop", value_name = "FILE")]
    pub(crate) additional: Vec<PathBuf>,
    /// List what is supported, as Markdown.
    #[arg(long)]
    pub(crate) supported: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  busyhour demo\n  busyhour demo --seconds 10 --users 50")]
pub(crate) struct DemoArgs {
    /// How long the load lasts once all users are there.
    #[arg(long, default_value_t = 25)]
    pub(crate) seconds: u32,
    /// How many users.
    #[arg(long, default_value_t = 100)]
    pub(crate) users: u32,
    /// Requests per second to aim for.
    #[arg(long, default_value_t = 400)]
    pub(crate) rate: u32,
    /// Directory for the run's files (default: a new one in busyhour-runs).
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Seed of every random choice.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "ticket-monster is a ticket shop; probe answers ok to everything and notes when each request came: the moment it \
    learnt that the request's first byte can be read, in nanoseconds of the monotonic clock. It says what it saw when it ends.\n\n\
    Examples:\n  busyhour demo-server ticket-monster --port 8080 --full\n  \
    busyhour demo-server --backend \"2 x exponential(4ms)\"\n  \
    busyhour demo-server probe --port 0 --stamps stamps.txt --stall 2s@10s"
)]
pub(crate) struct ServerArgs {
    /// Which server.
    #[arg(value_parser = ["ticket-monster", "probe"], default_value = "ticket-monster")]
    pub(crate) server: String,
    /// Port on 127.0.0.1; 0 takes a free one.
    #[arg(long, default_value_t = 8080)]
    pub(crate) port: u16,
    /// Database file (default: in memory).
    #[arg(long, value_name = "FILE")]
    pub(crate) db: Option<PathBuf>,
    /// Answer errors as the original does.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Begin with 10 venues and 10 events.
    #[arg(long, conflicts_with = "full")]
    pub(crate) small: bool,
    /// Begin with 100 venues and 100 events.
    #[arg(long)]
    pub(crate) full: bool,
    /// Shop: each answer waits for one of several connections to a backend, which it takes for a time that passes on the clock
    /// and costs no CPU: constant(5ms), exponential(5ms), "2 x exponential(5ms)".
    #[arg(long, value_name = "[N x] LAW", value_parser = crate::backend_notation::backend)]
    pub(crate) backend: Option<busyhour_demo::BackendOptions>,
    /// Probe: accept and answer nothing for LENGTH, AFTER the first request (2s@10s); may be given several times.
    #[arg(long, value_name = "LENGTH@AFTER", value_parser = crate::probe::stall)]
    pub(crate) stall: Vec<Stall>,
    /// Probe: how long each answer waits.
    #[arg(long, value_name = "TIME", value_parser = crate::probe::duration)]
    pub(crate) delay: Option<Duration>,
    /// Probe: write the stamps into this file at the end.
    #[arg(long, value_name = "FILE")]
    pub(crate) stamps: Option<PathBuf>,
    /// End when standard input is closed.
    #[arg(long, hide = true)]
    pub(crate) until_stdin_closes: bool,
}
