//! The options of `busyhour run` and `busyhour check`.

use std::path::PathBuf;

use busyhour_launch::{PropertySources, RunRequest, assignment};
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::RUN_TABLE;
use busyhour_terminal::outputs::{OutputKind, output_files};
use clap::Args;

use crate::headings::OUTPUT;
use crate::load_args::UrlArgs;
use crate::own_args::OwnArgs;
use crate::run_command::RunCommand;

/// Heading of the options that have the same meaning in JMeter's command line.
const JMETER_HEADING: &str = "Files and properties (as in JMeter)";

/// Examples of the most common commands, for the short and the long help.
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
