//! `busyhour capacity solve`: computes the mean values of a model.

use std::path::PathBuf;

use busyhour_capacity::ModelFile;
use busyhour_capacity::numbers::{figure, figure_or_dash, ms, percent};
use busyhour_queueing::network::{ClassLoad, CustomerClass};
use busyhour_queueing::solve::bounds::{BoundedRange, Bounds};
use busyhour_queueing::solve::{
    ClassSolution, Effort, Method, MethodUsed, Solution, SolveError, SolveSettings, exact_effort, solve,
};
use busyhour_terminal::columns::Columns;
use busyhour_terminal::exit::{Exit, complain, print, say};
use busyhour_terminal::outputs::{OutputKind, note_written, requested, write_files};
use clap::{Args, ValueEnum};
use serde_json::json;

use super::model_input::read_model;

/// Minimum number of steps of an exact solution for which a note is printed; they take about ten seconds.
const STEPS_UNNOTICED: f64 = 1e9;

/// Approximate number of steps per second on one core.
const STEPS_PER_S: f64 = 1e8;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  busyhour capacity solve plans/models/web-shop.toml\n  \
    busyhour capacity solve shop.toml --method linearizer -o shop.csv\n  busyhour capacity solve shop.toml --json\n\n\
    Exit codes: 0 solved, 3 the model is invalid or has no product form, 9 a station is saturated")]
pub(crate) struct SolveArgs {
    /// The model (TOML, or .jsimg or .jmva of Java Modelling Tools; see docs/capacity-models.md).
    #[arg(value_name = "FILE")]
    model: PathBuf,
    /// Method for closed classes.
    #[arg(long, value_enum, default_value_t = MethodArg::Auto)]
    pub(crate) method: MethodArg,
    /// Solve models without product form as if they had one; the result lists what was ignored.
    #[arg(long)]
    pub(crate) approximate: bool,
    /// Write the solution as JSON (.json), or as CSV with one line per class and station (.csv); may be given several times.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Print the solution as JSON.
    #[arg(long)]
    json: bool,
    #[arg(long, value_name = "FILE", hide = true)]
    json_file: Option<PathBuf>,
    #[arg(long, hide = true, conflicts_with = "json")]
    csv: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodArg {
    /// Exact if that is feasible, otherwise Linearizer.
    Auto,
    /// Exact: mean value analysis, or convolution.
    Exact,
    /// Linearizer.
    Linearizer,
    /// Bard and Schweitzer.
    Schweitzer,
    /// Bard and Schweitzer with PDQ's stopping rule.
    Pdq,
}

impl MethodArg {
    pub(crate) fn method(self) -> Method {
        match self {
            Self::Auto => Method::Automatic,
            Self::Exact => Method::Exact,
            Self::Linearizer => Method::Linearizer,
            Self::Schweitzer => Method::Schweitzer,
            Self::Pdq => Method::Pdq,
        }
    }
}

pub(crate) fn main(args: &SolveArgs) -> Exit {
    let (files, json_to_stdout) = match requested(
        &args.output,
        args.json,
        args.json_file.as_ref(),
        &[OutputKind::Json, OutputKind::Csv],
    ) {
        Ok(requested) => requested,
        Err(exit) => return exit,
    };
    let model = match read_model(&args.model) {
        Ok(model) => model,
        Err(exit) => return exit,
    };
    let settings = SolveSettings { method: args.method.method(), approximate: args.approximate };
    if let Some(note) = exact_effort(&model.network).and_then(|effort| effort_note(effort, settings.method)) {
        say(&note);
    }
    let solution = match solve(&model.network, settings) {
        Ok(solution) => solution,
        Err(error) => return unsolved(&model.name, &error),
    };
    print(&if args.csv {
        csv(&solution)
    } else if json_to_stdout {
        format!("{:#}\n", json(&model, &solution))
    } else {
        text_report(&model, &solution, settings.method)
    });
    let written = write_files(&files, &mut |kind| match kind {
        OutputKind::Csv => Ok(csv(&solution)),
        _ => Ok(format!("{:#}\n", json(&model, &solution))),
    });
    if let Err(exit) = written {
        return exit;
    }
    note_written(&files);
    Exit::Completed
}

/// The note before a long computation.
fn effort_note(effort: Effort, method: Method) -> Option<String> {
    let is_exact = match method {
        Method::Exact => true,
        Method::Automatic => !effort.linearizer,
        Method::Linearizer | Method::Schweitzer | Method::Pdq => false,
    };
    let other = if effort.linearizer {
        "--method linearizer is much faster"
    } else {
        "`busyhour capacity simulate` may be faster"
    };
    (is_exact && effort.steps > STEPS_UNNOTICED).then(|| {
        format!(
            "note: an exact solution evaluates {:.1e} populations in about {:.0e} steps, which may take {:.0} s; {other}",
            effort.populations,
            effort.steps,
            effort.steps / STEPS_PER_S
        )
    })
}

/// Prints the reason why there is no solution, and a hint.
pub(crate) fn unsolved(name: &str, error: &SolveError) -> Exit {
    match error {
        SolveError::NoProductForm(broken) => {
            complain(Exit::Refused, &format!("{name} has no exact solution:"));
            for assumption in broken {
                say(&format!("  - {assumption}"));
            }
            if broken.iter().all(busyhour_queueing::solve::BrokenAssumption::can_be_ignored) {
                say("  hint: --approximate ignores this and reports it");
            }
            say("  hint: `busyhour capacity simulate` simulates the model without these assumptions");
            Exit::Refused
        }
        SolveError::Saturated(stations) => {
            let worst = stations.iter().map(|station| station.utilization).fold(0.0, f64::max);
            complain(Exit::ModelFails, &format!("{name}: {error}"));
            say(&format!(
                "  hint: queues grow without limit; the station is saturated at {} of these arrival rates",
                percent(Some(1.0 / worst)) + " %"
            ));
            Exit::ModelFails
        }
        SolveError::TooLarge { linearizer: true, .. } => {
            complain(Exit::Refused, &format!("{name}: {error}"));
            say("  hint: --method linearizer");
            Exit::Refused
        }
        error => complain(Exit::Refused, &format!("{name}: {error}")),
    }
}

/// The solution as JSON.
fn json(model: &ModelFile, solution: &Solution) -> serde_json::Value {
    let mut value = json!({ "version": 1, "model": model.title(), "file": model.name });
    if let (Some(object), Ok(serde_json::Value::Object(fields))) =
        (value.as_object_mut(), serde_json::to_value(solution))
    {
        object.extend(fields);
        object.insert("exact".into(), (solution.method.is_exact() && solution.ignored.is_empty()).into());
    }
    value
}

/// The solution as CSV: one line per class (with station `*`), and one per class and station.
fn csv(solution: &Solution) -> String {
    let cell = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let quoted = |text: &str| {
        if text.contains([',', '"', '\n']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.to_owned()
        }
    };
    let mut out = String::from(
        "class,station,throughput_per_s,utilization,queue,visits,service_s,waiting_s,response_s,residence_s\n",
    );
    for class in &solution.classes {
        out += &format!(
            "{},*,{},,{},1,{},{},{},{}\n",
            quoted(&class.name),
            class.throughput_per_s,
            class.in_system,
            class.demand_s,
            cell(class.response_s.map(|response_s| (response_s - class.demand_s).max(0.0))),
            cell(class.response_s),
            cell(class.response_s),
        );
    }
    for station in &solution.stations {
        for class in &station.classes {
            out += &format!(
                "{},{},{},{},{},{},{},{},{},{}\n",
                quoted(&class.class),
                quoted(&station.name),
                class.throughput_per_s,
                cell(class.utilization),
                class.queue,
                class.visits,
                class.service_s,
                cell(class.waiting_s()),
                cell(class.response_s),
                cell(class.residence_s),
            );
        }
    }
    out
}

/// The tables of classes, stations and bounds.
fn text_report(model: &ModelFile, solution: &Solution, asked: Method) -> String {
    let mut out = format!("{}\n", model.title());
    out += &format!("Solved by: {}\n", solution.method.description());
    if asked == Method::Automatic && solution.method == MethodUsed::Linearizer {
        let users = model.network.classes.iter().filter_map(CustomerClass::users);
        let populations: f64 = users.map(|users| users as f64 + 1.0).product();
        out += &format!(
            "An exact solution would evaluate {populations:.1e} populations; --method exact uses it if there is enough \
             memory.\n"
        );
    }
    for broken in &solution.ignored {
        out += &format!("Approximate: {broken}; {}\n", broken.ignored_as());
    }
    out.push('\n');
    out += &classes(model, solution);
    out.push('\n');
    out += &stations(solution);
    for class in &solution.classes {
        if let Some(bounds) = &class.bounds {
            out.push('\n');
            out += &bounds_table(class, bounds);
        }
        if !class.quantiles.is_empty() {
            let reported: Vec<String> = class
                .quantiles
                .iter()
                .map(|quantile| {
                    format!("p{} {}", figure(quantile.share * 100.0), ms(Some(quantile.response_s)))
                })
                .collect();
            out += &format!("\nResponse time of {} in ms: {}\n", class.name, reported.join(", "));
        }
    }
    if let Some(growth) = solution.open_growth_max {
        out += &format!(
            "\nA station is saturated if the arrival rates of all open classes are multiplied by {}.\n",
            figure(growth)
        );
    }
    out
}

fn classes(model: &ModelFile, solution: &Solution) -> String {
    let has_losses = solution.classes.iter().any(|class| class.lost_share.is_some());
    let mut heading = vec!["class", "load", "X per s", "R ms", "Q", "D ms", "R/D"];
    if has_losses {
        heading.extend(["lost per s", "lost %"]);
    }
    let mut table = Columns::new(2, &heading);
    for (class, data) in solution.classes.iter().zip(&model.network.classes) {
        let load = match &data.load {
            ClassLoad::Closed { users, think } if think.mean_s() == 0.0 => {
                format!("{users} users, no think time")
            }
            ClassLoad::Closed { users, think } => {
                format!("{users} users, Z = {} ms", figure(think.mean_s() * 1e3))
            }
            ClassLoad::Open { interarrival } => format!("{} per s", figure(1.0 / interarrival.mean_s())),
        };
        let mut row = vec![
            class.name.clone(),
            load,
            figure(class.throughput_per_s),
            ms(class.response_s),
            figure(class.in_system),
            ms(Some(class.demand_s)),
            figure_or_dash(class.stretch()),
        ];
        if has_losses {
            row.push(figure_or_dash(class.lost_per_s));
            row.push(percent(class.lost_share));
        }
        table.row(row);
    }
    table.render()
}

fn stations(solution: &Solution) -> String {
    let several = solution.classes.len() > 1;
    let mut table = Columns::new(
        2,
        &[
            "station",
            "class",
            "servers",
            "X per s",
            "U %",
            "Q",
            "visits",
            "S ms",
            "waiting ms",
            "residence ms",
        ],
    );
    for station in &solution.stations {
        let servers = figure_or_dash(station.servers);
        for class in &station.classes {
            table.row(vec![
                station.name.clone(),
                class.class.clone(),
                servers.clone(),
                figure(class.throughput_per_s),
                percent(class.utilization),
                figure(class.queue),
                figure(class.visits),
                ms(Some(class.service_s)),
                ms(class.waiting_s()),
                ms(class.residence_s),
            ]);
        }
        if several && station.classes.len() > 1 {
            table.row(vec![
                station.name.clone(),
                "all".into(),
                servers,
                figure(station.classes.iter().map(|class| class.throughput_per_s).sum()),
                percent(station.utilization),
                figure(station.queue),
            ]);
        }
    }
    table.render()
}

fn bounds_table(class: &ClassSolution, bounds: &Bounds) -> String {
    let mut table = Columns::new(1, &["bounds", "at least", "balanced", "found", "balanced", "at most"]);
    let row =
        |name: &str, wide: BoundedRange, narrow: Option<BoundedRange>, found: Option<f64>, unit: f64| {
            let shown = |value: f64| figure(value * unit);
            vec![
                name.to_owned(),
                shown(wide.from),
                narrow.map_or_else(|| "–".into(), |narrow| shown(narrow.from)),
                found.map_or_else(|| "–".into(), shown),
                narrow.map_or_else(|| "–".into(), |narrow| shown(narrow.to)),
                shown(wide.to),
            ]
        };
    table.row(row(
        "X per s",
        bounds.asymptotic_rate_per_s,
        bounds.balanced_rate_per_s,
        Some(class.throughput_per_s),
        1.0,
    ));
    table.row(row("R ms", bounds.asymptotic_response_s, bounds.balanced_response_s, class.response_s, 1e3));
    format!(
        "{}N* = (D + Z)/Dmax = {}: with more users, requests wait; X never exceeds 1/Dmax = {} per s.\n",
        table.render(),
        figure(bounds.users_optimal),
        figure(1.0 / bounds.demand_max_s)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_printed_before_a_long_solution() {
        let effort = |linearizer| Effort { populations: 2e7, steps: 6e9, linearizer };
        let reported = effort_note(effort(true), Method::Exact).unwrap();
        assert_eq!(
            reported,
            "note: an exact solution evaluates 2.0e7 populations in about 6e9 steps, which may take 60 s; \
             --method linearizer is much faster"
        );
        assert_eq!(effort_note(effort(true), Method::Automatic), None, "Linearizer is used");
        assert!(effort_note(effort(false), Method::Automatic).unwrap().ends_with("may be faster"));
        assert_eq!(effort_note(Effort { steps: 1e8, ..effort(true) }, Method::Exact), None);
    }
}
