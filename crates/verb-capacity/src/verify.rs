//! `busyhour capacity verify`: compares a model with measurements to which it was not fitted.

use std::path::{Path, PathBuf};

use busyhour_limits::files::{INPUT_BYTES, read_input_text};
use busyhour_queueing::fit::{
    FittedModel, FittedValue, JudgeSettings, ModelJudgement, ModelPrediction, ModelVerdict, judge_model,
};
use busyhour_queueing::network::{CustomerClass, QueueingNetwork};
use busyhour_queueing::solve::{Method, SolveSettings, solve};
use busyhour_report::judgement_table;
use busyhour_terminal::exit::{Exit, complain, print};
use busyhour_terminal::output::Output;
use busyhour_terminal::outputs::{OutputKind, note_written, requested, write_files};
use busyhour_terminal::quantities::share;
use clap::Args;
use serde::Deserialize;

use super::measurements::{self, MeasurementArgs};
use super::model_input::read_model;
use super::solve::unsolved;

#[derive(Debug, Args)]
#[command(
    after_help = "The model is a TOML file, or the output of `capacity fit --json`, which also contains the precision of the curve. For \
    each measurement, the number of users and the think time of the model are set to the measured ones.\n\n\
    Examples:\n  busyhour capacity verify model.toml runs/users-120\n  busyhour capacity verify fit.json held-out.csv --allow 10%\n\n\
    Exit codes: 0 the model is not rejected, or it cannot be judged, 1 the program or the system failed, 2 the command line \
    cannot be understood, 3 an input cannot be read, or the model cannot be solved, 9 the model is rejected"
)]
pub(crate) struct VerifyArgs {
    /// The model (TOML or JSON).
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    #[command(flatten)]
    measurements: MeasurementArgs,
    /// Maximum relative error of the model that is acceptable.
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "5%")]
    allow: f64,
    /// Relative standard error of measurements without one.
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    measurement_error: Option<f64>,
    /// p-value below which the model is rejected.
    #[arg(long, value_name = "P", value_parser = share, default_value = "0.01")]
    significance: f64,
    /// Solve models without product form as if they had one.
    #[arg(long)]
    approximate: bool,
    /// Write the result as JSON to FILE.json.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

/// The part of the output of `capacity fit --json` that is needed here.
#[derive(Deserialize)]
struct FitFile {
    fitted: FittedModel,
    think_s: f64,
}

pub(super) fn main(args: &VerifyArgs) -> Exit {
    let (files, json_to_stdout) = match requested(&args.output, args.json, None, &[OutputKind::Json]) {
        Ok(requested) => requested,
        Err(exit) => return exit,
    };
    let sources = match args.measurements.sources() {
        Ok(sources) => sources,
        Err(exit) => return exit,
    };
    let read = match measurements::read(&sources) {
        Ok(read) => read,
        Err(exit) => return exit,
    };
    let settings = JudgeSettings {
        check: sources.check,
        allowed: args.allow,
        measurement_error: args.measurement_error,
        significance: args.significance,
    };
    let is_json = args.model.extension().is_some_and(|ending| ending == "json");
    let judged = if is_json {
        by_fit(&args.model, &read.points, &settings)
    } else {
        by_network(args, &read.points, &settings)
    };
    let (mut judgement, title) = match judged {
        Ok(judged) => judged,
        Err(exit) => return exit,
    };
    judgement.findings.splice(0..0, read.findings.iter().cloned());
    judgement.findings.sort_by_key(|reported| std::cmp::Reverse(reported.weight));
    let json = format!("{:#}\n", judgement.to_json());
    print(&if json_to_stdout {
        json.clone()
    } else {
        judgement_table(&judgement, &title, Output::of_stdout().look)
    });
    if let Err(exit) = write_files(&files, &mut |_| Ok(json.clone())) {
        return exit;
    }
    note_written(&files);
    match judgement.verdict {
        ModelVerdict::Rejected => Exit::ModelFails,
        ModelVerdict::NotRejected | ModelVerdict::NotJudged => Exit::Completed,
    }
}

/// Judges a fit. Its curve has a confidence interval.
fn by_fit(
    path: &Path,
    points: &[busyhour_queueing::fit::LoadPoint],
    settings: &JudgeSettings,
) -> Result<(ModelJudgement, String), Exit> {
    let name = path.display();
    let refuse = |why: String| complain(Exit::Refused, &format!("{name}: {why}"));
    let text = read_input_text(path, INPUT_BYTES)
        .map_err(|error| refuse(format!("the file cannot be read: {error}")))?;
    let file: FitFile = serde_json::from_str(&text).map_err(|error| {
        refuse(format!("the file is not the output of `busyhour capacity fit --json`: {error}"))
    })?;
    let capacity = file.fitted.bounds(file.think_s).map(|bounds| bounds.throughput_max_per_s);
    let judged = judge_model(points, settings, capacity, |users, think_s| {
        let found = file.fitted.predict(users, think_s.unwrap_or(file.think_s));
        Ok(ModelPrediction { throughput_per_s: found.throughput_per_s, response_s: found.response_s })
    })?;
    Ok((judged, format!("{name}: {}", file.fitted.model().description())))
}

/// Judges a network. Its parameters are assumed to be exact.
fn by_network(
    args: &VerifyArgs,
    points: &[busyhour_queueing::fit::LoadPoint],
    settings: &JudgeSettings,
) -> Result<(ModelJudgement, String), Exit> {
    let model = read_model(&args.model)?;
    let [CustomerClass { name, .. }] = &model.network.classes[..] else {
        let count = model.network.classes.len();
        return Err(complain(
            Exit::Refused,
            &format!("{} has {count} classes; a comparison needs a model with one closed class", model.name),
        ));
    };
    let Some(own_think_s) = model.network.classes[0].think_s() else {
        let message = format!(
            "{}: the class {name:?} is open; a comparison needs a model with one closed class",
            model.name
        );
        return Err(complain(Exit::Refused, &message));
    };
    let solved = |users: u64, think_s: f64| -> Result<f64, Exit> {
        let mut network: QueueingNetwork = model.network.clone();
        network.classes[0] = CustomerClass {
            priority: network.classes[0].priority,
            ..CustomerClass::closed(name, users, think_s)
        };
        let settings = SolveSettings { method: Method::Automatic, approximate: args.approximate };
        let solution = solve(&network, settings).map_err(|error| unsolved(&model.name, &error))?;
        let class = &solution.classes[0];
        Ok(class.throughput_per_s)
    };
    let judged = judge_model(points, settings, None, |users, think_s| {
        let think_s = think_s.unwrap_or(own_think_s);
        let below = users.floor().max(1.0);
        let mut x = solved(below as u64, think_s)?;
        if users > below {
            let above = solved(below as u64 + 1, think_s)?;
            x += (users - below) * (above - x);
        }
        Ok(ModelPrediction {
            throughput_per_s: FittedValue { value: x, low: None, high: None },
            response_s: FittedValue { value: (users / x - think_s).max(0.0), low: None, high: None },
        })
    })?;
    Ok((judged, model.title().to_owned()))
}
