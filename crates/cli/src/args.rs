//! The command line in busyhour's own form.

use std::path::PathBuf;
use std::time::Duration;

use busyhour_demo::ProbeStall;
use busyhour_launch::{PropertySources, RunRequest, assignment};
use clap::{Args, Subcommand, ValueEnum};

use crate::command_error::CommandError;
use crate::exit::RUN_TABLE;
use crate::load_args::UrlArgs;
use crate::outputs::{OutputKind, output_files};
use crate::own_args::{OUTPUT, OwnArgs};
use crate::run_command::RunCommand;

/// Options of JMeter's own command line with the same meaning.
const JMETER_HEADING: &str = "Files and properties (as in JMeter)";

/// The most common commands, also for the short help.
const RUN_EXAMPLES: &str = "Examples:\n  busyhour run plan.jmx -J USERS=100 -l results.jtl\n  \
     busyhour run http://127.0.0.1:8080/ -c 50 --think 'exponential(1s)' -z 60s\n  \
     busyhour run http://127.0.0.1:8080/ --rate 200/s -z 60s";

#[derive(Debug, Args)]
#[command(
    after_help = format!("{RUN_EXAMPLES}\n\nAll options and exit codes: busyhour run --help"),
    after_long_help = format!(
        "{RUN_EXAMPLES}\n  \
     busyhour run http://127.0.0.1:8080/ -n 1000 -c 10 -H 'Accept: text/html'\n  \
     busyhour run plan.jmx --dir runs/before --seed 7 --cores 1\n  \
     busyhour run plan.jmx --arrivals 'poisson(200/s) for 60s, pause 10s' --live\n  \
     busyhour run plan.jmx --threshold 'p95 of checkout < 800ms' -o junit.xml\n  \
     busyhour run plan.jmx -o report.html -o summary.json -o samples.parquet\n  \
     busyhour run plan.jmx --send prometheus://:9646\n\n{RUN_TABLE}"
))]
pub(crate) struct RunArgs {
    /// Test plan (JMX), or a URL to send requests to.
    #[arg(value_name = "PLAN|URL")]
    plan: PathBuf,
    #[command(flatten)]
    own: OwnArgs,
    #[command(flatten)]
    url: UrlArgs,
    /// Results file, CSV (default: in the run directory).
    ///
    /// JMeter's columns; the default is samples.jtl. An existing file is appended to.
    #[arg(help_heading = JMETER_HEADING, short = 'l', long = "results", value_name = "FILE")]
    results: Option<PathBuf>,
    /// Overwrite an existing results file and an existing report in the directory of -o.
    #[arg(help_heading = JMETER_HEADING, short = 'f', long = "force-delete-results", hide_short_help = true)]
    force: bool,
    /// Set a JMeter property.
    #[arg(help_heading = JMETER_HEADING, short = 'J', value_name = "NAME=VALUE")]
    jmeter_property: Vec<String>,
    /// Set a system property.
    #[arg(help_heading = JMETER_HEADING, short = 'D', value_name = "NAME=VALUE", hide_short_help = true)]
    system_property: Vec<String>,
    /// Additional JMeter properties file; may be given several times.
    #[arg(help_heading = JMETER_HEADING, short = 'q', long = "addprop", value_name = "FILE", hide_short_help = true)]
    additional: Vec<PathBuf>,
    /// JMeter properties file that is read first.
    #[arg(help_heading = JMETER_HEADING, short = 'p', long = "propfile", value_name = "FILE", hide_short_help = true)]
    base: Option<PathBuf>,
    /// Log file (default: run.log in the run directory).
    #[arg(help_heading = JMETER_HEADING, short = 'j', long = "log", value_name = "FILE", hide_short_help = true)]
    log: Option<PathBuf>,
    /// Also write FILE.html, .json, .csv, …, or a dashboard.
    ///
    /// The report (.html, .json, .md), the outcome of thresholds as JUnit XML (.xml), seconds (.csv), samples (.parquet), or a
    /// directory with JMeter's dashboard and its statistics.json; may be given several times.
    #[arg(help_heading = OUTPUT, short = 'o', long = "output", alias = "report", value_name = "FILE|DIR")]
    output: Vec<PathBuf>,
    /// Print the summary as JSON instead of tables.
    #[arg(help_heading = OUTPUT, long, hide_short_help = true)]
    json: bool,
}

/// Kinds of files that a run writes.
const RUN_WRITTEN: [OutputKind; 7] = [
    OutputKind::Html,
    OutputKind::Json,
    OutputKind::Csv,
    OutputKind::Markdown,
    OutputKind::Junit,
    OutputKind::Parquet,
    OutputKind::Dashboard,
];

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
        let files = output_files(&self.output, &RUN_WRITTEN)?;
        let (folders, files): (Vec<_>, Vec<_>) =
            files.into_iter().partition(|file| file.kind == OutputKind::Dashboard);
        if folders.len() > 1 {
            return Err("-o is given twice for JMeter's dashboard; give one directory".into());
        }
        let dashboard = folders.into_iter().next().map(|folder| folder.path);
        let mut command =
            RunCommand { run, force: self.force, dashboard, files, json: self.json, ..RunCommand::default() };
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
    Examples:\n  busyhour demo\n  busyhour demo --for 10s --rate 200/s\n  busyhour demo --closed --users 50"
)]
pub(crate) struct DemoArgs {
    /// Length of the load; with --closed, after all users have started.
    #[arg(short = 'z', long = "for", value_name = "TIME", default_value = "25s", value_parser = crate::quantities::duration)]
    pub(crate) length: Duration,
    #[arg(long, hide = true, conflicts_with = "length")]
    pub(crate) seconds: Option<u64>,
    /// A fixed number of users that wait for each response, instead of visitors that arrive at random.
    #[arg(long)]
    pub(crate) closed: bool,
    /// Number of users (default: 100).
    #[arg(short = 'c', long, requires = "closed")]
    pub(crate) users: Option<u32>,
    /// Approximate rate of requests.
    #[arg(long, value_name = "RATE", default_value = "400/s", value_parser = crate::quantities::whole_rate_per_s)]
    pub(crate) rate: u32,
    /// Directory for the run's files (default: a new one in busyhour-runs).
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Seed of all random choices.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  busyhour lab server shop --port 8080\n  \
    busyhour lab server probe --port 0 --stall 2s@10s\n  \
    busyhour lab server cells --port 0 --collector g1 --heap 256m")]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    pub(crate) verb: LabVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabVerb {
    /// Start a server to test: a ticket shop, a probe that records arrivals, or a Java server with known faults.
    Server(ServerArgs),
}

/// A server to test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabServer {
    /// The ticket shop of the demo.
    #[value(alias = "ticket-monster")]
    Shop,
    /// A server that records the time of each arrival.
    Probe,
    /// A Java server with known leaks, failures and CPU costs.
    Cells,
}

#[derive(Debug, Args)]
#[command(
    after_help = "shop is a ticket shop. probe responds ok to every request and records its arrival time: the moment \
    when its first byte could be read, in nanoseconds of the monotonic clock. It prints arrival statistics when it ends. \
    cells is a Java server, compiled with the JDK of this machine: /cells?config=N calls some of six cells. In its \
    configurations 1 to 10, the numbers 1, 2 and 7 leak memory, 4 and 9 throw exceptions, and the CPU costs are \
    those of a published study. It writes a server log, an access log and a GC log. The plan is plans/cells.jmx.\n\n\
    Examples:\n  busyhour lab server shop --port 8080 --full\n  \
    busyhour lab server --backend \"2 x exponential(4ms)\"\n  \
    busyhour lab server probe --port 0 --stamps stamps.txt --stall 2s@10s\n  \
    busyhour lab server cells --workers 50 --beans 100\n  \
    busyhour lab server cells --port 0 --dir logs --heap 256m --collector parallel"
)]
pub(crate) struct ServerArgs {
    /// Server to start.
    #[arg(value_enum, default_value_t = LabServer::Shop)]
    pub(crate) server: LabServer,
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
    /// shop: each response occupies one of N connections to a simulated backend for a random time that uses no
    /// CPU: constant(5ms), exponential(5ms), "2 x exponential(5ms)".
    #[arg(long, value_name = "[N x] LAW", value_parser = crate::backend_notation::backend)]
    pub(crate) backend: Option<busyhour_demo::BackendOptions>,
    /// probe: stall for LENGTH, starting AFTER the first request (2s@10s); may be given several times.
    #[arg(long, value_name = "LENGTH@AFTER", value_parser = crate::quantities::stall)]
    pub(crate) stall: Vec<ProbeStall>,
    /// probe: delay of each response.
    #[arg(long, value_name = "TIME", value_parser = crate::quantities::duration)]
    pub(crate) delay: Option<Duration>,
    /// probe: write the arrival times to this file at the end.
    #[arg(long, value_name = "FILE")]
    pub(crate) stamps: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cells: crate::cells::CellsArgs,
    /// End when standard input is closed.
    #[arg(long, hide = true)]
    pub(crate) until_stdin_closes: bool,
}
