//! `busyhour capacity simulate`: simulates a model.

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use busyhour_capacity::ModelFile;
use busyhour_capacity::numbers::{figure, two_digits};
use busyhour_queueing::solve::{SolveSettings, solve};
use busyhour_simulation::{
    ClassResult, Ending, MeasureKind, Percentile, Reason, SimulationError, SimulationResult,
    SimulationSettings, SimulationWatch, StationMeasures, Unconverged, simulate_watched,
};
use busyhour_stats::Estimate;
use busyhour_terminal::columns::Columns;
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::{Exit, complain, print, say};
use busyhour_terminal::outputs::{OutputKind, note_written, requested, write_files};
use busyhour_terminal::quantities::share;
use busyhour_terminal::signals::Signals;
use clap::Args;
use serde_json::json;

use super::model_input::read_model;

/// Interval between updates of the progress line.
const STEP: Duration = Duration::from_millis(500);

#[derive(Debug, Args)]
#[command(
    after_help = "Runs independent replications on all cores, excludes the start-up, and continues until all confidence intervals \
    are narrow enough or the maximum number of events is reached. Ctrl-C ends the simulation and shows the results so far. The \
    result depends on the seed, but not on the number of cores.\n\n\
    Examples:\n  busyhour capacity simulate plans/models/seed-study-two-servers.toml\n  \
    busyhour capacity simulate shop.toml --precision 1% --confidence 99% --seed 7\n  \
    busyhour capacity simulate shop.toml --events-max 500M -o result.json\n\n\
    Exit codes: 0 simulated, 3 the model is invalid, 4 stopped (the results so far were shown), 9 there is no steady state: \
    a station is saturated, or there is a deadlock of blocked customers"
)]
pub(crate) struct SimulateArgs {
    /// The model (TOML, or .jsimg or .jmva of Java Modelling Tools; see docs/capacity-models.md).
    #[arg(value_name = "FILE")]
    model: PathBuf,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Required relative half-width of the confidence intervals.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "2%")]
    precision: f64,
    /// Confidence of the intervals.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "95%")]
    confidence: f64,
    /// Maximum number of events in all replications; k, M and G are thousands, millions and billions.
    #[arg(long, value_name = "N", value_parser = count, default_value = "100M")]
    events_max: u64,
    /// Number of independent replications.
    #[arg(long, value_name = "R", default_value_t = 8)]
    replications: u32,
    /// Number of cores (default: all).
    #[arg(long, value_name = "N")]
    cores: Option<usize>,
    /// Write the result as JSON to FILE.json.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    #[arg(long, value_name = "FILE", hide = true)]
    json_file: Option<PathBuf>,
}

/// Parses a count such as 5000000, 500k or 20M.
fn count(text: &str) -> Result<u64, CommandError> {
    let text = text.trim();
    let (digits, factor) = match text.chars().last() {
        Some('k') => (&text[..text.len() - 1], 1_000),
        Some('M') => (&text[..text.len() - 1], 1_000_000),
        Some('G') => (&text[..text.len() - 1], 1_000_000_000),
        _ => (text, 1),
    };
    let number: u64 =
        digits.trim().parse().map_err(|_| format!("{text:?} is not a count such as 500k or 20M"))?;
    number.checked_mul(factor).ok_or_else(|| format!("{text} is too large").into())
}

impl SimulateArgs {
    fn settings(&self) -> SimulationSettings {
        SimulationSettings {
            seed: self.seed,
            confidence: self.confidence,
            precision: self.precision,
            replications: self.replications,
            events_max: self.events_max,
            threads: self.cores,
        }
    }
}

pub(crate) fn main(args: &SimulateArgs) -> Exit {
    let (files, json_to_stdout) =
        match requested(&args.output, args.json, args.json_file.as_ref(), &[OutputKind::Json]) {
            Ok(requested) => requested,
            Err(exit) => return exit,
        };
    let model = match read_model(&args.model) {
        Ok(model) => model,
        Err(exit) => return exit,
    };
    let result = match run(&model, &args.settings()) {
        Ok(result) => result,
        Err(error) => return unsimulated(&model.name, &error),
    };
    let json = format!("{:#}\n", json_of(&model, &result));
    print(&if json_to_stdout { json.clone() } else { report(&model, &result) });
    if let Err(exit) = write_files(&files, &mut |_| Ok(json.clone())) {
        return exit;
    }
    note_written(&files);
    exit_of(&result)
}

fn exit_of(result: &SimulationResult) -> Exit {
    let not_steady = result.unconverged.iter().any(|measure| measure.reason == Reason::NotSteady);
    match result.ending {
        Ending::Stopped => Exit::Stopped,
        Ending::TooManyCustomers => Exit::ModelFails,
        Ending::EventsMax if not_steady => Exit::ModelFails,
        Ending::Precise | Ending::EventsMax => Exit::Completed,
    }
}

fn unsimulated(name: &str, error: &SimulationError) -> Exit {
    let exit = match error {
        SimulationError::Settings(_) => Exit::Usage,
        SimulationError::Deadlock { .. } | SimulationError::Standstill { .. } => Exit::ModelFails,
        _ => Exit::Refused,
    };
    if exit == Exit::Usage {
        return complain(exit, &error.to_string());
    }
    complain(exit, &format!("{name}: {error}"))
}

/// Simulates on separate threads, while this thread shows the progress and waits for Ctrl-C.
fn run(model: &ModelFile, settings: &SimulationSettings) -> Result<SimulationResult, SimulationError> {
    let watch = SimulationWatch::default();
    std::thread::scope(|scope| {
        let (done, end) = tokio::sync::oneshot::channel::<()>();
        let simulation = scope.spawn(|| {
            let result = simulate_watched(&model.network, settings, &watch);
            // If the runtime could not be created, there is no receiver.
            let _ = done.send(());
            result
        });
        if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
            runtime.block_on(follow(&watch, settings.events_max, end));
        }
        match simulation.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

async fn follow(watch: &SimulationWatch, events_max: u64, mut end: tokio::sync::oneshot::Receiver<()>) {
    let Ok(mut signals) = Signals::new() else { return };
    let on_terminal = std::io::stderr().is_terminal();
    let begun = Instant::now();
    let mut line_shown = false;
    // In a log, a line is printed after 1, 2, 4, … seconds.
    let mut next_line_s = 1.0;
    loop {
        tokio::select! {
            _ = &mut end => break,
            () = signals.next_stop() => watch.stop(),
            () = tokio::time::sleep(STEP) => {}
        }
        let passed_s = begun.elapsed().as_secs_f64();
        let events = watch.events() as f64;
        let line = format!(
            "{} million events of at most {}, {} million/s; Ctrl-C ends the simulation and shows the results",
            figure_short(events / 1e6),
            figure_short(events_max as f64 / 1e6),
            figure_short(events / 1e6 / passed_s),
        );
        if on_terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[2K{line}");
            line_shown = true;
        } else if passed_s >= next_line_s {
            say(&line);
            next_line_s *= 2.0;
        }
    }
    if line_shown {
        let _ = write!(std::io::stderr(), "\r\x1b[2K");
    }
}

/// Formats a number with one decimal, or without decimals if it is large.
fn figure_short(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn json_of(model: &ModelFile, result: &SimulationResult) -> serde_json::Value {
    let mut value = json!({ "version": 1, "model": model.title(), "file": model.name });
    if let (Some(object), Ok(serde_json::Value::Object(fields))) =
        (value.as_object_mut(), serde_json::to_value(result))
    {
        object.extend(fields);
    }
    value
}

/// Formats a value and the half-width of its interval with the significant digits: `135.21 ± 0.38`.
pub(crate) fn with_interval(found: Option<Estimate>, unit: f64) -> String {
    let Some(found) = found.map(|found| found.scaled(unit)) else { return "–".into() };
    let half = found.half_width();
    if !half.is_finite() {
        return format!("{} ± ?", figure(found.value));
    }
    // The half-width is smaller than the rounding error.
    if half <= 1e-9 * found.value.abs() {
        return figure(found.value);
    }
    // Two significant digits of the half-width are shown.
    let decimals = usize::try_from(1 - half.log10().floor() as i32).unwrap_or(0).min(12);
    format!("{:.decimals$} ± {half:.decimals$}", found.value)
}

fn report(model: &ModelFile, result: &SimulationResult) -> String {
    let mut out = format!("{}\n", model.title());
    out += &format!(
        "Simulated: {} events in {} replications, seed {}; {} s of simulated time, of which the first {} % were excluded \
         as start-up.\n",
        grouped(result.events),
        result.replications,
        result.seed,
        figure_short(result.simulated_s),
        figure_short(100.0 * result.transient_s / result.simulated_s.max(f64::MIN_POSITIVE)),
    );
    let (precision, confidence) = (100.0 * result.precision, 100.0 * result.confidence);
    out += &match result.ending {
        Ending::Precise if result.unconverged.iter().any(|measure| measure.reason.is_caused_by_laws()) => {
            format!(
                "All measures with valid intervals have a precision of ± {} % or better; the laws of this model make other \
             intervals invalid (see below). The confidence of the intervals is {} %.\n",
                figure(precision),
                figure(confidence)
            )
        }
        Ending::Precise => format!(
            "All measures have a precision of ± {} % or better; the confidence of the intervals is {} %.\n",
            figure(precision),
            figure(confidence)
        ),
        Ending::EventsMax => format!(
            "Ended at the maximum number of events; the confidence of the intervals is {} %.\n",
            figure(confidence)
        ),
        Ending::Stopped => format!(
            "STOPPED before the requested precision was reached; the confidence of the intervals is {} %.\n",
            figure(confidence)
        ),
        Ending::TooManyCustomers => {
            "Ended because the number of customers grew without limit: a station is saturated.\n".to_owned()
        }
    };
    out.push('\n');
    out += &classes(result);
    out.push('\n');
    out += &stations(model, result);
    out += &unconverged(result);
    out += &exact_means(model, result);
    out
}

/// The mean response times of the exact solution, if there is one and the simulation cannot estimate them.
fn exact_means(model: &ModelFile, result: &SimulationResult) -> String {
    let is_caused_by_laws = |measure: &Unconverged| measure.reason.is_caused_by_laws();
    if !result.unconverged.iter().any(is_caused_by_laws) {
        return String::new();
    }
    let Ok(solution) = solve(&model.network, SolveSettings::default()) else { return String::new() };
    if !solution.method.is_exact() || !solution.ignored.is_empty() {
        return String::new();
    }
    let means: Vec<String> = solution
        .classes
        .iter()
        .filter_map(|class| Some(format!("{} {} ms", class.name, figure(class.response_s? * 1e3))))
        .collect();
    format!(
        "  `busyhour capacity solve` computes the means exactly ({}): R of {}\n",
        solution.method.description(),
        means.join(", ")
    )
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn percentile(percentiles: &[Percentile], share: f64) -> String {
    let found = percentiles.iter().find(|percentile| (percentile.share - share).abs() < 1e-9);
    with_interval(found.map(|percentile| percentile.time_s), 1e3)
}

fn classes(result: &SimulationResult) -> String {
    let loses = result.classes.iter().any(|class| class.lost_per_s.is_some());
    let mut heading = vec!["class", "X per s", "R ms", "Q", "p50 ms", "p95 ms", "p99 ms"];
    if loses {
        heading.extend(["lost per s", "lost %"]);
    }
    let mut table = Columns::new(1, &heading);
    let row = |class: &ClassResult| {
        let mut row = vec![
            class.name.clone(),
            with_interval(class.throughput_per_s, 1.0),
            with_interval(class.response_s, 1e3),
            with_interval(class.customers, 1.0),
        ];
        row.extend([0.5, 0.95, 0.99].map(|share| percentile(&class.percentiles, share)));
        if loses {
            row.push(with_interval(class.lost_per_s, 1.0));
            row.push(with_interval(class.lost_share, 100.0));
        }
        row
    };
    result.classes.iter().for_each(|class| table.row(row(class)));
    table.render()
}

fn stations(model: &ModelFile, result: &SimulationResult) -> String {
    let several = model.network.classes.len() > 1;
    let loses = result.stations.iter().any(|station| station.total.lost_per_s.is_some());
    let mut heading = vec!["station"];
    if several {
        heading.push("class");
    }
    heading.extend(["X per s", "U %", "Q", "R ms", "residence ms", "p95 ms"]);
    if loses {
        heading.extend(["lost per s", "lost %"]);
    }
    let mut table = Columns::new(if several { 2 } else { 1 }, &heading);
    let mut add = |station: &str, class: Option<&str>, measures: &StationMeasures| {
        let mut row = vec![station.to_owned()];
        row.extend(class.map(str::to_owned));
        row.extend([
            with_interval(measures.throughput_per_s, 1.0),
            with_interval(measures.utilization, 100.0),
            with_interval(measures.customers, 1.0),
            with_interval(measures.response_s, 1e3),
            with_interval(measures.residence_s, 1e3),
            percentile(&measures.percentiles, 0.95),
        ]);
        if loses {
            row.push(with_interval(measures.lost_per_s, 1.0));
            row.push(with_interval(measures.lost_share, 100.0));
        }
        table.row(row);
    };
    for station in &result.stations {
        if !several {
            add(&station.name, None, &station.total);
            continue;
        }
        for (class, measures) in &station.classes {
            add(&station.name, Some(class), measures);
        }
        if station.classes.len() != 1 {
            add(&station.name, Some("all"), &station.total);
        }
    }
    table.render()
}

/// The measures that did not reach the requested precision, with reasons and advice.
fn unconverged(result: &SimulationResult) -> String {
    if result.unconverged.is_empty() {
        return String::new();
    }
    let mut out = "\nLess precise than requested:\n".to_owned();
    for item in &result.unconverged {
        out += &format!("  {}\n", unconverged_line(item));
    }
    let hints: BTreeSet<&str> = result.unconverged.iter().map(|item| advice(item.reason)).collect();
    for advice in hints {
        out += &format!("  {advice}\n");
    }
    out
}

fn unconverged_line(item: &Unconverged) -> String {
    let place = match (&item.station, &item.class) {
        (Some(station), _) => format!("station {station}"),
        (None, Some(class)) => format!("class {class}"),
        (None, None) => "the system".to_owned(),
    };
    let measure = match item.measure {
        MeasureKind::Throughput => "X",
        MeasureKind::Response => "R",
        MeasureKind::Customers => "Q",
        MeasureKind::Utilization => "U",
    };
    let width = item.relative.map(|relative| format!("± {} %", two_digits(100.0 * relative)));
    let tail = item.heavy_tail.as_ref().map_or_else(String::new, |tail| {
        let times = if tail.place == "outside" {
            "interarrival or think times".to_owned()
        } else {
            format!("service times at {}", tail.place)
        };
        format!("{times} have finite moments only below order {}", figure(tail.tail_index))
    });
    let reason = match (item.reason, width) {
        (Reason::InfiniteMean, _) => format!("is infinite: {tail}"),
        (Reason::InfiniteVariance, _) => format!("interval not valid, the variance is infinite: {tail}"),
        (Reason::LongMemory, _) => {
            format!("interval not valid, the error decreases more slowly than the interval assumes: {tail}")
        }
        (Reason::Wide, Some(width)) => width,
        (Reason::NotSteady, Some(width)) => format!("still changed at the end ({width})"),
        (Reason::NotSteady, None) => "still changed at the end".to_owned(),
        (Reason::TooLittle | Reason::Wide, _) => "has too few observations".to_owned(),
    };
    format!("{place}: {measure} {reason}")
}

fn advice(reason: Reason) -> &'static str {
    match reason {
        Reason::InfiniteMean | Reason::InfiniteVariance | Reason::LongMemory => {
            "hint: more events do not make these intervals valid: rare, very long times determine the mean, and most \
             simulated values are too low; use recorded times (replay), whose maximum is limited, or compare percentiles"
        }
        Reason::Wide | Reason::TooLittle => "hint: more events narrow the intervals: --events-max",
        Reason::NotSteady => {
            "hint: a saturated station (U near 100 %) has no steady state; otherwise far more events are needed: \
             --events-max"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use busyhour_stats::IntervalMethod;

    fn shown(value: f64, half: f64) -> String {
        let estimate = Estimate {
            value,
            low: value - half,
            high: value + half,
            confidence: 0.95,
            method: IntervalMethod::Spectral,
        };
        with_interval(Some(estimate), 1.0)
    }

    #[test]
    fn values_have_the_digits_that_their_intervals_support() {
        assert_eq!(shown(135.2083, 0.3812), "135.21 ± 0.38");
        assert_eq!(shown(1234.5, 37.2), "1234 ± 37");
        assert_eq!(shown(0.012_345, 0.000_067), "0.012345 ± 0.000067");
        assert_eq!(shown(3.0, 0.0), "3");
        assert_eq!(shown(3.0, f64::INFINITY), "3 ± ?");
        assert_eq!(with_interval(None, 1.0), "–");
    }

    #[test]
    fn a_reported_width_is_never_zero() {
        let item = Unconverged {
            station: None,
            class: Some("users".into()),
            measure: MeasureKind::Throughput,
            relative: Some(0.000_364),
            reason: Reason::Wide,
            heavy_tail: None,
        };
        assert_eq!(unconverged_line(&item), "class users: X ± 0.036 %");
        assert_eq!(
            unconverged_line(&Unconverged { relative: Some(0.057), ..item }),
            "class users: X ± 5.7 %"
        );
    }

    #[test]
    fn counts_may_have_suffixes() {
        assert_eq!((count("500k"), count("20M"), count("7")), (Ok(500_000), Ok(20_000_000), Ok(7)));
        assert!(count("M").is_err() && count("1.5M").is_err() && count("99999999999G").is_err());
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
