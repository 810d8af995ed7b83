//! The arrivals at a requested rate.

use std::time::Duration;

use anyhow::Result;
use xtask_common::table::{Table, median, number};

use super::bare;
use super::generators::{self, Load, Prepared, Tool};
use super::probe::Probe;
use super::reported;
use super::setup::Bench;
use super::stamps::{Fingerprint, judged, lateness_ns, quantile, schedule_ns};
use crate::{machine, process};

/// How long a generator may continue after its end time.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What one run was.
#[derive(Debug, Clone, Copy)]
struct Seen {
    load: Fingerprint,
    late_ns: (f64, f64),
    own_late_ns: (f64, f64),
    cpu_s: f64,
    /// What neither the generator nor the probe used of the machine.
    others_cpu_s: f64,
}

impl Seen {
    /// Of no run: in time, and at no cost that is known.
    fn of(load: Fingerprint) -> Self {
        Self { load, late_ns: (0.0, 0.0), own_late_ns: (0.0, 0.0), cpu_s: f64::NAN, others_cpu_s: f64::NAN }
    }
}

/// Measures and prints.
pub fn run(bench: &Bench, load: Load) {
    let rate = f64::from(bench.options.rate_per_s);
    let (title, ideal) = match load {
        Load::Poisson => ("Poisson", Fingerprint::poisson(rate)),
        Load::Even => ("even", Fingerprint::even(rate)),
    };
    println!(
        "\n## Pacing: {title} arrivals, {rate}/s, as the server saw them, median of {} rounds\n",
        bench.options.rounds
    );
    let tools = Tool::usable(load, bench);
    let mut runs: Vec<Vec<Seen>> = tools.iter().map(|_| Vec::new()).collect();
    let mut schedules = Vec::new();
    let mut failed: Vec<String> = Vec::new();
    for _ in 0..bench.options.rounds {
        for (tool, runs) in tools.iter().zip(&mut runs) {
            // A failure of one tool does not affect the others.
            match measure(bench, *tool, load, &mut schedules) {
                Ok(seen) => runs.push(seen),
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
    table.row(row("(in theory)", &[Seen::of(ideal)]));
    let scheduled: Vec<Seen> = schedules.into_iter().map(Seen::of).collect();
    if !scheduled.is_empty() {
        table.row(row("(Busyhour's schedules)", &scheduled));
    }
    for (tool, runs) in tools.iter().zip(&runs) {
        table.row(row(&tool.name(), runs));
    }
    print!("{table}");
    println!(
        "\nStarts late: by the generator's own clock, as it reports it. At the server: against the generator's timetable, from its\n\
         most punctual request on, the server's own waking included; – where the server cannot know the timetable.\n\
         Others' CPU: what neither the generator nor the probe used. Where it is more than a second or two, somebody else spoilt the run."
    );
    failed.iter().for_each(|failure| println!("FAILED: {failure}"));
}

fn measure(bench: &Bench, tool: Tool, load: Load, schedules: &mut Vec<Fingerprint>) -> Result<Seen> {
    let (run, skip) = tool.length(&bench.options);
    let probe = Probe::start(bench, None)?;
    let mut prepared = tool.prepare(bench, load, run, &probe)?;
    let command = std::mem::replace(&mut prepared.command, std::process::Command::new("false"));
    let busy_before_s = machine::busy_s();
    let cpu_s = process::run_to_end(command, &bench.cores, &prepared.log, run + PATIENCE)?;
    let busy_s = machine::busy_s().zip(busy_before_s).map(|(after, before)| after - before);
    let probe_cpu_s = probe.cpu_s()?;
    let stamps = probe.end()?;
    let ns = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let part = judged(&stamps, ns(skip), ns(run - skip));
    let scheduled = match tool {
        Tool::Bare { .. } => {
            schedule_ns(&generators::process(load, bench.options.rate_per_s, run), bare::SEED)
        }
        _ => timetable(tool, &prepared, &stamps, bench.options.rate_per_s),
    };
    if let (Tool::Busyhour { .. }, Some(scheduled)) = (tool, &scheduled) {
        schedules.push(Fingerprint::of(judged(scheduled, ns(skip), ns(run - skip))));
    }
    let late = scheduled.and_then(|scheduled| lateness_ns(&stamps, &scheduled)).unwrap_or_default();
    let late_ns = (quantile(&late, 0.5), quantile(&late, 0.99));
    let own_late_ns = reported::own_lateness_ns(tool, &prepared);
    let others_cpu_s = busy_s.map_or(f64::NAN, |busy_s| (busy_s - cpu_s - probe_cpu_s).max(0.0));
    Ok(Seen { load: Fingerprint::of(part), late_ns, own_late_ns, cpu_s, others_cpu_s })
}

/// When each request should have come, from an origin of the generator's.
fn timetable(tool: Tool, prepared: &Prepared, stamps: &[u64], rate_per_s: u32) -> Option<Vec<u64>> {
    if let Tool::Busyhour { .. } = tool {
        let (process, seed) = reported::schedule_of_run(&prepared.run_dir())?;
        return schedule_ns(&process, seed);
    }
    let period_ns = 1e9 / f64::from(rate_per_s);
    tool.has_even_timetable().then(|| (0..stamps.len()).map(|k| (k as f64 * period_ns) as u64).collect())
}

fn row(name: &str, runs: &[Seen]) -> Vec<String> {
    let middle = |of: fn(&Seen) -> f64| median(runs.iter().map(of));
    vec![
        name.to_owned(),
        number(middle(|seen| seen.load.rate_per_s)),
        number(middle(|seen| seen.load.cov)),
        number(middle(|seen| seen.load.dispersion)),
        number(100.0 * middle(|seen| seen.load.short_share)),
        number(middle(|seen| seen.own_late_ns.0) / 1_000.0),
        number(middle(|seen| seen.own_late_ns.1) / 1_000.0),
        number(middle(|seen| seen.late_ns.0) / 1_000.0),
        number(middle(|seen| seen.late_ns.1) / 1_000.0),
        number(middle(|seen| seen.cpu_s)),
        number(middle(|seen| seen.others_cpu_s)),
    ]
}
