//! `busyhour capacity fit`: fits a capacity model to measurements.

use std::path::PathBuf;

use busyhour_capacity::Measurements;
use busyhour_capacity::numbers::figure;
use busyhour_queueing::fit::{
    CapacityFit, FitSettings, ModelChoice, ServiceLawFit, VALUES_MIN, fit_service_law, significant,
};
use busyhour_queueing::network::{PerClass, StationKind, TimeLaw};
use busyhour_report::{capacity_html, capacity_table, refusal_text, service_law_table};
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::{Exit, complain, print, say};
use busyhour_terminal::output::Output;
use busyhour_terminal::outputs::{OutputKind, note_written, output_files, write_files};
use busyhour_terminal::quantities::time_s;
use clap::{Args, ValueEnum};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;

use super::measurements::{self, MeasurementArgs};

/// Significant digits of the think time and of a coefficient of variation in a model file.
const THINK_DIGITS: i32 = 6;
const CV_DIGITS: i32 = 4;

/// Number of simulations for testing a law, which limits p-values to 1/200.
const SIMULATIONS: u32 = 199;

#[derive(Debug, Args)]
#[command(
    after_help = "Measurements are first checked against operational laws, which hold for every system: N = X(R + Z) and \
    U = X·S ≤ 1; and the throughput of queues does not decrease with more users. Violations are reported, and measurements with an \
    impossible number of users are excluded from the fit.\n\n\
    Examples:\n  busyhour capacity fit runs/users-20 runs/users-60 runs/users-100\n  \
    busyhour capacity fit points.csv --think 700ms -o model.toml -o capacity.html\n  \
    busyhour capacity fit runs/* --response-max 300ms --json > fit.json\n  \
    busyhour capacity fit runs/* --cpu cpu.csv --service-law\n\n\
    Exit codes: 0 done, 1 the program or the system failed, 2 the command line cannot be understood, 3 an input cannot be read, \
    or no measurement is usable"
)]
pub(crate) struct FitArgs {
    #[command(flatten)]
    measurements: MeasurementArgs,
    /// Model to fit.
    #[arg(long, value_enum, default_value_t = Choice::Auto)]
    model: Choice,
    /// Number of servers of the queue, if known (default: estimated).
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=4096))]
    servers: Option<u32>,
    /// Coefficient of variation of the service times of a single server, if known (default: constant and exponential times
    /// are compared, and it is estimated if there are enough loads).
    #[arg(long, value_name = "CV", value_parser = coefficient)]
    service_cv: Option<f64>,
    /// Also compute the number of users for which the mean response time is at most this.
    #[arg(long, value_name = "TIME", value_parser = time_s)]
    response_max: Option<f64>,
    /// Also determine the law of the service times in the run with the fewest users.
    #[arg(long)]
    service_law: bool,
    /// Write the model as FILE.toml, the page as FILE.html, or everything as FILE.json; may be given several times.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    /// Seed of bootstrap and simulations.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The model to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// The utilization law if utilization is recorded, otherwise queues, or the best throughput if there are few measurements.
    Auto,
    /// Queues and a latency by least squares.
    Queue,
    /// The Universal Scalability Law.
    Usl,
    /// One queue whose capacity is the highest measured throughput.
    Best,
}

impl From<Choice> for ModelChoice {
    fn from(choice: Choice) -> ModelChoice {
        match choice {
            Choice::Auto => ModelChoice::Auto,
            Choice::Queue => ModelChoice::Queue,
            Choice::Usl => ModelChoice::Usl,
            Choice::Best => ModelChoice::Best,
        }
    }
}

/// Parses a coefficient of variation in the supported range.
fn coefficient(text: &str) -> Result<f64, CommandError> {
    text.parse().ok().filter(|cv| (0.0..=100.0).contains(cv)).ok_or_else(|| {
        format!("{text:?} is not a coefficient of variation: 0 is constant, 1 exponential").into()
    })
}

pub(super) fn main(args: &FitArgs) -> Exit {
    if args.service_cv.is_some() && args.servers.is_some_and(|servers| servers > 1) {
        return complain(
            Exit::Usage,
            "--service-cv needs a single server: with several, service times are exponential",
        );
    }
    let kinds = [OutputKind::Toml, OutputKind::Html, OutputKind::Json];
    let files = match output_files(&args.output, &kinds) {
        Ok(files) => files,
        Err(message) => return complain(Exit::Usage, &message),
    };
    if args.model == Choice::Usl && files.iter().any(|file| file.kind == OutputKind::Toml) {
        let message =
            "the Universal Scalability Law is not a queueing network: write -o FILE.json or FILE.html";
        return complain(Exit::Usage, message);
    }
    let sources = match args.measurements.sources() {
        Ok(sources) => sources,
        Err(exit) => return exit,
    };
    let read = match measurements::read(&sources) {
        Ok(read) => read,
        Err(exit) => return exit,
    };
    let settings = FitSettings {
        check: sources.check,
        choice: args.model.into(),
        servers: args.servers,
        service_scv: args.service_cv.map(|cv| cv * cv),
        response_max_s: args.response_max,
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(args.seed);
    let mut fit = match CapacityFit::new(&read.points, &settings, &mut random) {
        Ok(fit) => fit,
        Err(refusal) => {
            let exit = complain(Exit::Refused, &refusal.to_string());
            say(refusal_text(&refusal, Output::of_stdout().look).trim_end());
            return exit;
        }
    };
    fit.findings.splice(0..0, read.findings.iter().cloned());
    fit.findings.sort_by_key(|reported| std::cmp::Reverse(reported.weight));
    let law = if args.service_law { service_law(&read, &mut random) } else { None };
    let title = sources.title();
    let json = || as_json(&fit, law.as_ref());
    let mut text = if args.json { json() } else { capacity_table(&fit, Output::of_stdout().look) };
    if let (Some((of, law)), false) = (&law, args.json) {
        text += &service_law_table(of, law, Output::of_stdout().look);
    }
    let written = write_files(&files, &mut |kind| match kind {
        OutputKind::Html => Ok(capacity_html(&fit, &title)),
        OutputKind::Json => Ok(json()),
        _ => model_text(&fit, &title),
    });
    if let Err(exit) = written {
        return exit;
    }
    print(&text);
    note_written(&files);
    Exit::Completed
}

/// The distribution of the service times in the run with the fewest users, and the name of that run. Without queueing,
/// response times equal service times.
fn service_law(read: &Measurements, random: &mut Xoshiro256PlusPlus) -> Option<(String, ServiceLawFit)> {
    let Some(run) = read.runs.iter().min_by(|a, b| a.point.users.total_cmp(&b.point.users)) else {
        say("warning: --service-law needs a run: a table of measurements contains no individual times");
        return None;
    };
    let law = fit_service_law(&run.times_s, run.clock_step_s, SIMULATIONS, random);
    if law.is_none() {
        say(&format!(
            "warning: --service-law: {} has fewer than {VALUES_MIN} requests, or all took the same time",
            run.point.name
        ));
    }
    law.map(|law| (run.point.name.clone(), law))
}

fn as_json(fit: &CapacityFit, law: Option<&(String, ServiceLawFit)>) -> String {
    let mut value = fit.to_json();
    if let Some((of, law)) = law {
        value["service_law"] = json!({ "of": of, "fit": law });
    }
    format!("{value:#}\n")
}

/// The text of a model file for `capacity solve`, `simulate` and `what-if`, with estimates and findings as comments.
fn model_text(fit: &CapacityFit, title: &str) -> Result<String, CommandError> {
    let last = fit.headroom.users.round().max(1.0) as u64;
    let mut network = fit
        .fitted
        .rounded_model()
        .network(last, significant(fit.think_s, THINK_DIGITS))
        .ok_or("the model is not a queueing network")?;
    network.name = title.to_owned();
    for station in &mut network.stations {
        if let StationKind::Queue(queue) = &mut station.kind
            && let PerClass::Same(TimeLaw::Gamma { cv, .. }) = &mut queue.service
        {
            // The square root of a rounded number has many digits, so it is rounded again.
            *cv = significant(*cv, CV_DIGITS);
        }
    }
    let body = toml::to_string(&network).map_err(|error| error.to_string())?;
    let mut out = format!(
        "# Fitted by busyhour capacity fit: {}, {}.\n# Users are those of the largest load that was fitted. Fitted numbers have \
         the digits that their intervals support.\n",
        fit.model.description(),
        fit.method.description()
    );
    for parameter in &fit.parameters {
        if let (Some(low), Some(high)) = (parameter.fitted.low, parameter.fitted.high) {
            let (scale, unit) = if parameter.unit == "s" { (1e3, " ms") } else { (1.0, "") };
            let [value, low, high] = [parameter.fitted.rounded(), significant(low, 4), significant(high, 4)]
                .map(|number| figure(number * scale));
            out += &format!("# {}: {value}{unit}, 95 % interval {low} to {high}{unit}\n", parameter.name);
        }
    }
    for reported in &fit.findings {
        out += &format!("# {}\n", reported.message.replace('\n', " "));
    }
    Ok(out + "\n" + &body)
}
