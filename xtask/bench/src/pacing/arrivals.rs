//! Measures the arrivals at a requested rate.

use std::time::Duration;

use anyhow::Result;
use xtask_common::table::{Table, median, number};

use super::bare;
use super::generators::{self, Load, Prepared, Tool};
use super::probe::Probe;
use super::reported;
use super::setup::Bench;
use super::stamps::{LoadStatistics, lateness_ns, measured_part, quantile, schedule_ns};
use crate::{machine, process};

/// The time that a generator may take after its end time.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The measurements of a run.
#[derive(Debug, Clone, Copy)]
struct Measured {
    load: LoadStatistics,
    late_ns: (f64, f64),
    own_late_ns: (f64, f64),
    cpu_s: f64,
    /// The CPU time of other processes than the generator and the probe.
    others_cpu_s: f64,
}

impl Measured {
    /// Creates an entry without a run: without lateness, and with unknown cost.
    fn without_run(load: LoadStatistics) -> Self {
        Self { load, late_ns: (0.0, 0.0), own_late_ns: (0.0, 0.0), cpu_s: f64::NAN, others_cpu_s: f64::NAN }
    }
}

/// Runs the section and prints the results.
pub fn run(bench: &Bench, load: Load) {
    let rate = f64::from(bench.options.rate_per_s);
    let (title, ideal) = match load {
        Load::Poisson => ("Poisson", LoadStatistics::poisson(rate)),
        Load::Even => ("even", LoadStatistics::even(rate)),
    };
    println!(
        "\n## Pacing: {title} arrivals, {rate}/s, as measured by the server, median of {} rounds\n",
        bench.options.rounds
    );
    let tools = Tool::usable(load, bench);
    let mut runs: Vec<Vec<Measured>> = tools.iter().map(|_| Vec::new()).collect();
    let mut schedules = Vec::new();
    let mut failed: Vec<String> = Vec::new();
    for _ in 0..bench.options.rounds {
        for (tool, runs) in tools.iter().zip(&mut runs) {
            // A failure of one tool does not affect the others.
            match measure(bench, *tool, load, &mut schedules) {
                Ok(measured) => runs.push(measured),
                Err(error) => failed.push(format!("{}: {error:#}", tool.name())),
            }
        }
    }
    let mut table = Table::new(&[
        "generator",
        "achieved /s",
        "CoV of gaps",
        "dispersion at 100 ms",
        "gaps < 50 µs, %",
        "starts late p50, µs",
        "p99, µs",
        "at the server p50, µs",
        "p99, µs",
        "CPU s",
        "others' CPU s",
    ]);
    table.row(row("(in theory)", &[Measured::without_run(ideal)]));
    let scheduled: Vec<Measured> = schedules.into_iter().map(Measured::without_run).collect();
    if !scheduled.is_empty() {
        table.row(row("(Busyhour's schedules)", &scheduled));
    }
    for (tool, runs) in tools.iter().zip(&runs) {
        table.row(row(&tool.name(), runs));
    }
    print!("{table}");
    println!(
        "\nStarts late: as reported by the generator, measured with its own clock. At the server: relative to the generator's schedule, whose origin is the\n\
         most punctual request; this includes the wake-up time of the server; – if the server does not know the schedule.\n\
         Others' CPU: CPU time of other processes than the generator and the probe. If it exceeds a second or two, they disturbed the run."
    );
    failed.iter().for_each(|failure| println!("FAILED: {failure}"));
}

fn measure(bench: &Bench, tool: Tool, load: Load, schedules: &mut Vec<LoadStatistics>) -> Result<Measured> {
    let (run, skip) = tool.durations(&bench.options);
    let probe = Probe::start(bench, None)?;
    let mut prepared = tool.prepare(bench, load, run, &probe)?;
    let command = std::mem::replace(&mut prepared.command, std::process::Command::new("false"));
    let busy_before_s = machine::busy_s();
    let cpu_s = process::run_to_end(command, &bench.cores, &prepared.log, run + PATIENCE)?;
    let busy_s = machine::busy_s().zip(busy_before_s).map(|(after, before)| after - before);
    let probe_cpu_s = probe.cpu_s()?;
    let stamps = probe.end()?;
    let ns = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let part = measured_part(&stamps, ns(skip), ns(run - skip));
    let scheduled = match tool {
        Tool::Bare { .. } => {
            schedule_ns(&generators::process_text(load, bench.options.rate_per_s, run), bare::SEED)
        }
        _ => tool_schedule_ns(tool, &prepared, &stamps, bench.options.rate_per_s),
    };
    if let (Tool::Busyhour { .. }, Some(scheduled)) = (tool, &scheduled) {
        schedules.push(LoadStatistics::from_stamps(measured_part(scheduled, ns(skip), ns(run - skip))));
    }
    let late = scheduled.and_then(|scheduled| lateness_ns(&stamps, &scheduled)).unwrap_or_default();
    let late_ns = (quantile(&late, 0.5), quantile(&late, 0.99));
    let own_late_ns = reported::own_lateness_ns(tool, &prepared);
    let others_cpu_s = busy_s.map_or(f64::NAN, |busy_s| (busy_s - cpu_s - probe_cpu_s).max(0.0));
    Ok(Measured { load: LoadStatistics::from_stamps(part), late_ns, own_late_ns, cpu_s, others_cpu_s })
}

/// The scheduled time of each request, relative to an origin of the generator.
fn tool_schedule_ns(tool: Tool, prepared: &Prepared, stamps: &[u64], rate_per_s: u32) -> Option<Vec<u64>> {
    if let Tool::Busyhour { .. } = tool {
        let (process, seed) = reported::schedule_of_run(&prepared.run_dir())?;
        return schedule_ns(&process, seed);
    }
    let period_ns = 1e9 / f64::from(rate_per_s);
    tool.has_even_schedule().then(|| (0..stamps.len()).map(|k| (k as f64 * period_ns) as u64).collect())
}

fn row(name: &str, runs: &[Measured]) -> Vec<String> {
    let median_of = |value_of: fn(&Measured) -> f64| median(runs.iter().map(value_of));
    vec![
        name.to_owned(),
        number(median_of(|measured| measured.load.rate_per_s)),
        number(median_of(|measured| measured.load.cov)),
        number(median_of(|measured| measured.load.dispersion)),
        number(100.0 * median_of(|measured| measured.load.short_share)),
        number(median_of(|measured| measured.own_late_ns.0) / 1_000.0),
        number(median_of(|measured| measured.own_late_ns.1) / 1_000.0),
        number(median_of(|measured| measured.late_ns.0) / 1_000.0),
        number(median_of(|measured| measured.late_ns.1) / 1_000.0),
        number(median_of(|measured| measured.cpu_s)),
        number(median_of(|measured| measured.others_cpu_s)),
    ]
}
