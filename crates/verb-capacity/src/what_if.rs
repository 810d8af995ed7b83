//! `busyhour capacity what-if`: solves or simulates a model for varied parameters.

use std::path::PathBuf;

use busyhour_capacity::numbers::{figure_or_dash, ms};
use busyhour_capacity::{
    ModelFile, ModelResult, NoResult, Point, ResultValue, Vary, WhatIf, WhatIfError, WhatIfResults, vary,
};
use busyhour_queueing::solve::SolveSettings;
use busyhour_report::{PlotLine, TerminalPlot, what_if_html};
use busyhour_simulation::SimulationSettings;
use busyhour_terminal::columns::Columns;
use busyhour_terminal::exit::{Exit, complain, print};
use busyhour_terminal::outputs::{OutputKind, note_written, requested, write_files};
use busyhour_terminal::quantities::share;
use clap::Args;
use serde_json::{Value, json};

use super::model_input::{read_model, say_all};
use super::solve::MethodArg;
use super::what_if_page::page;

/// Size of a plot in columns and rows of characters.
const PLOT_COLUMNS: usize = 72;
const PLOT_ROWS: usize = 14;

#[derive(Debug, Args)]
#[command(
    after_help = "A path consists of keys and names in the file: class.NAME.users, class.NAME.think, class.NAME.rate, \
    station.NAME.servers, station.NAME.service, station.NAME.service.CLASS, route.FROM.strategy. If the parameter is a law and \
    the value is a time, the mean of the law is changed.\n\n\
    Examples:\n  busyhour capacity what-if shop.toml --vary class.web.users=10..300:10 --plot\n  \
    busyhour capacity what-if shop.toml --vary station.db.servers=1,2,4\n  \
    busyhour capacity what-if shop.toml --vary station.db.scheduling=fcfs,ps\n  \
    busyhour capacity what-if a.toml --compare b.toml --vary class.web.users=9,99"
)]
pub(crate) struct WhatIfArgs {
    /// The model (TOML, .jsimg or .jmva).
    #[arg(value_name = "FILE")]
    model: PathBuf,
    /// Parameter to vary: PATH=FROM..TO:STEP or PATH=VALUE,VALUE,…; several parameters give all combinations.
    #[arg(long, value_name = "PATH=VALUES", required = true, value_parser = vary)]
    vary: Vec<Vary>,
    /// Method for closed classes.
    #[arg(long, value_enum, default_value_t = MethodArg::Auto)]
    method: MethodArg,
    /// Solve models without product form as if they had one, instead of simulating them; the result lists what was ignored.
    #[arg(long)]
    approximate: bool,
    /// Simulate all points, even those that can be solved.
    #[arg(long, conflicts_with_all = ["approximate", "method"])]
    simulate: bool,
    /// Seed of simulations, which is the same for all points, so that only the parameters differ.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Required relative half-width of the confidence intervals of simulations.
    #[arg(long, default_value = "1%", value_parser = share)]
    precision: f64,
    /// Maximum number of events of a simulation.
    #[arg(long, value_name = "N", default_value_t = 50_000_000)]
    events_max: u64,
    /// Second model with the same varied parameters, for comparison.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Also plot X and R over the first parameter.
    #[arg(long)]
    plot: bool,
    /// Write all points as JSON (.json), or a page with plots of X, R, U and Q over the first parameter, and tables of all points
    /// (.html); may be given several times.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Print all points as JSON.
    #[arg(long)]
    json: bool,
    #[arg(long, value_name = "FILE", hide = true)]
    json_file: Option<PathBuf>,
    #[arg(long, value_name = "FILE", hide = true)]
    html: Option<PathBuf>,
}

pub(crate) fn main(args: &WhatIfArgs) -> Exit {
    let output: Vec<PathBuf> = args.output.iter().chain(&args.html).cloned().collect();
    let kinds = [OutputKind::Json, OutputKind::Html];
    let (files, json_to_stdout) = match requested(&output, args.json, args.json_file.as_ref(), &kinds) {
        Ok(requested) => requested,
        Err(exit) => return exit,
    };
    let mut all = Vec::new();
    for path in std::iter::once(&args.model).chain(&args.compare) {
        let evaluated = read_model(path)
            .and_then(|model| args.what_if().evaluate(model, path).map_err(|error| refuse(&error)));
        let varied = match evaluated {
            Ok(varied) => varied,
            Err(exit) => return exit,
        };
        if let Some(error) = varied.unanswered() {
            return match error {
                NoResult::Unsolved(error) => super::solve::unsolved(&varied.model.name, error),
                NoResult::Simulation(error) => {
                    complain(Exit::ModelFails, &format!("{} cannot be simulated: {error}", varied.model.name))
                }
            };
        }
        all.push(varied);
    }
    if json_to_stdout {
        print(&format!("{:#}\n", json_of(args, &all)));
    } else {
        let texts: Vec<String> = all.iter().map(|varied| text(args, &varied.model, &varied.points)).collect();
        print(&texts.join("\n"));
    }
    let written = write_files(&files, &mut |kind| match kind {
        OutputKind::Html => Ok(what_if_html(&page(&args.vary, &all))),
        _ => Ok(format!("{:#}\n", json_of(args, &all))),
    });
    if let Err(exit) = written {
        return exit;
    }
    note_written(&files);
    Exit::Completed
}

impl WhatIfArgs {
    fn what_if(&self) -> WhatIf<'_> {
        let solve = SolveSettings { method: self.method.method(), approximate: self.approximate };
        WhatIf {
            vary: &self.vary,
            solve: (!self.simulate).then_some(solve),
            simulation: SimulationSettings {
                seed: self.seed,
                precision: self.precision,
                events_max: self.events_max,
                ..SimulationSettings::default()
            },
        }
    }
}

/// Prints the reason why the analysis has no results.
fn refuse(error: &WhatIfError) -> Exit {
    match error {
        WhatIfError::Invalid { findings, .. } => {
            complain(Exit::Refused, &error.to_string());
            say_all(findings);
            Exit::Refused
        }
        WhatIfError::TooMany(_) | WhatIfError::Parameter { .. } => complain(Exit::Usage, &error.to_string()),
    }
}

/// The tables and plots of the points.
fn text(args: &WhatIfArgs, model: &ModelFile, points: &[Point]) -> String {
    let solved: Vec<&ModelResult> = points.iter().filter_map(|point| point.result.as_ref().ok()).collect();
    let Some(first) = solved.first() else { return String::new() };
    let mut out = format!("{}\n", model.title());
    let mut methods: Vec<&str> = solved.iter().map(|answer| answer.method.as_str()).collect();
    methods.sort_unstable();
    methods.dedup();
    out += &format!("Solved by: {}\n", methods.join("; "));
    let mut ignored: Vec<String> = solved
        .iter()
        .flat_map(|solution| {
            solution.ignored.iter().map(|broken| format!("{broken}; {}", broken.ignored_as()))
        })
        .collect();
    ignored.sort();
    ignored.dedup();
    for reported in ignored {
        out += &format!("Approximate: {reported}\n");
    }
    out.push('\n');
    out += &classes_table(args, points, first);
    out.push('\n');
    out += &stations_table(args, points, first);
    if args.plot {
        for plot in plots(args, points, first) {
            out.push('\n');
            out += &plot.render(PLOT_COLUMNS, PLOT_ROWS);
        }
    }
    out
}

fn classes_table(args: &WhatIfArgs, points: &[Point], first: &ModelResult) -> String {
    let is_single = first.classes.len() == 1;
    let named = |what: &str, class: &str| if is_single { what.to_owned() } else { format!("{what} {class}") };
    let mut heading: Vec<String> = args.vary.iter().map(|vary| vary.short().to_owned()).collect();
    let bounded: Vec<bool> = (0..first.classes.len())
        .map(|at| {
            points.iter().flat_map(|point| &point.result).any(|found| found.classes[at].bounds.is_some())
        })
        .collect();
    for (class, bounded) in first.classes.iter().zip(&bounded) {
        heading.push(named("X per s", &class.name));
        heading.push(named("R ms", &class.name));
        heading.push(named("Q", &class.name));
        if *bounded {
            heading.extend(["X at most".into(), "R at least".into(), "N*".into()]);
        }
    }
    let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
    let mut table = Columns::new(0, &heading);
    for point in points {
        let mut row = point.values.clone();
        match &point.result {
            Err(error) => {
                row.resize(heading.len(), "–".into());
                row.push(error.short());
            }
            Ok(solution) => {
                for (class, bounded) in solution.classes.iter().zip(&bounded) {
                    row.extend([
                        shown(class.throughput_per_s, 1.0),
                        shown(class.response_s, 1e3),
                        shown(class.customers, 1.0),
                    ]);
                    if *bounded {
                        let bounds = class.bounds.as_ref();
                        row.extend([
                            figure_or_dash(bounds.map(|bounds| bounds.asymptotic_rate_per_s.to)),
                            ms(bounds.map(|bounds| bounds.asymptotic_response_s.from)),
                            figure_or_dash(bounds.map(|bounds| bounds.users_optimal)),
                        ]);
                    }
                }
            }
        }
        table.row(row);
    }
    table.render()
}

/// Formats a value in a unit; unknown values are shown as a dash.
fn shown(value: Option<ResultValue>, factor: f64) -> String {
    value.map_or_else(|| "–".into(), |value| value.times(factor).text())
}

fn stations_table(args: &WhatIfArgs, points: &[Point], first: &ModelResult) -> String {
    let mut heading: Vec<String> = args.vary.iter().map(|vary| vary.short().to_owned()).collect();
    for station in &first.stations {
        if station.has_servers {
            heading.push(format!("U % {}", station.name));
        }
        heading.push(format!("Q {}", station.name));
    }
    let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
    let mut table = Columns::new(0, &heading);
    for point in points {
        let mut row = point.values.clone();
        if let Ok(solution) = &point.result {
            for station in &solution.stations {
                if station.has_servers {
                    row.push(shown(station.utilization, 100.0));
                }
                row.push(shown(station.customers, 1.0));
            }
        }
        table.row(row);
    }
    table.render()
}

/// The number at the start of a value. Its unit is omitted, because it is the same for all values of a range.
fn leading_number(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || ".-+".contains(c))).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// Plots of X and R over the first parameter. Each combination of the other parameters and each class has a line.
fn plots(args: &WhatIfArgs, points: &[Point], first: &ModelResult) -> Vec<TerminalPlot> {
    let is_single = first.classes.len() == 1;
    let mut throughput: Vec<PlotLine> = Vec::new();
    let mut response: Vec<PlotLine> = Vec::new();
    let mut bound: Vec<PlotLine> = Vec::new();
    for point in points {
        let Some(x) = leading_number(&point.values[0]) else { return Vec::new() };
        let others = point.values[1..].join(", ");
        let Ok(solution) = &point.result else { continue };
        for class in &solution.classes {
            let name = match (is_single, others.is_empty()) {
                (true, true) => "model".to_owned(),
                (true, false) => others.clone(),
                (false, true) => class.name.clone(),
                (false, false) => format!("{}, {others}", class.name),
            };
            add(&mut throughput, &name, (x, number(class.throughput_per_s)));
            add(&mut response, &name, (x, number(class.response_s) * 1e3));
            if let Some(bounds) = class.bounds.as_ref().filter(|_| others.is_empty()) {
                add(&mut bound, "bound", (x, bounds.asymptotic_rate_per_s.to));
            }
        }
    }
    throughput.extend(bound);
    let x_name = args.vary[0].short().to_owned();
    let plot = |title: &str, lines| TerminalPlot { title: title.into(), x_name: x_name.clone(), lines };
    vec![plot("X per s", throughput), plot("R ms", response)]
}

/// The value for a plot; NaN, which leaves a gap in the line, if the value is unknown.
fn number(value: Option<ResultValue>) -> f64 {
    value.map_or(f64::NAN, |value| value.value)
}

fn add(lines: &mut Vec<PlotLine>, name: &str, point: (f64, f64)) {
    match lines.iter_mut().find(|line| line.name == name) {
        Some(line) => line.points.push(point),
        None => lines.push(PlotLine { name: name.to_owned(), points: vec![point], is_dotted: false }),
    }
}

fn json_of(args: &WhatIfArgs, all: &[WhatIfResults]) -> Value {
    let mut models = all.iter().map(|varied| model_json(args, varied));
    let mut reported = json!({ "version": 1 });
    let first = models.next().unwrap_or_default();
    if let (Some(reported), Value::Object(first)) = (reported.as_object_mut(), first) {
        reported.extend(first);
        reported.extend(models.next().map(|second| ("compared".to_owned(), second)));
    }
    reported
}

fn model_json(args: &WhatIfArgs, WhatIfResults { model, points }: &WhatIfResults) -> Value {
    let points: Vec<Value> = points
        .iter()
        .map(|point| {
            let values: serde_json::Map<String, Value> = args
                .vary
                .iter()
                .zip(&point.values)
                .map(|(vary, value)| {
                    let value = value.parse::<f64>().map_or_else(|_| json!(value), |number| json!(number));
                    (vary.path.clone(), value)
                })
                .collect();
            let mut reported = json!({ "values": values });
            if let (Some(reported), Ok(ModelResult { json: Value::Object(found), .. })) =
                (reported.as_object_mut(), &point.result)
            {
                reported.extend(found.clone());
            } else if let (Some(reported), Err(error)) = (reported.as_object_mut(), &point.result) {
                reported.insert("solution".into(), Value::Null);
                reported.insert("error".into(), error.long().into());
            }
            reported
        })
        .collect();
    json!({ "model": model.title(), "file": model.name, "points": points })
}
