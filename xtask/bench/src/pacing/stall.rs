//! The figures that generators report about a server that stalls.

use std::process::Command;

use anyhow::Result;
use xtask_common::table::{Table, median, number};

use super::arrivals::PATIENCE;
use super::generators::{Load, Tool};
use super::probe::Probe;
use super::reported::{self, Reported};
use super::setup::Bench;
use crate::process;

/// Runs the section and prints the results.
pub fn run(bench: &Bench) {
    let run_s = bench.options.run().as_secs_f64();
    // A tenth of the run, shortly before its middle.
    let stall_s = run_s / 10.0;
    println!(
        "\n## Stall: a server that stalls for {stall_s} s in a run of {run_s} s with {} even arrivals per second; \
         figures reported by each tool, median of {} rounds\n",
        bench.options.rate_per_s, bench.options.rounds
    );
    let tools: Vec<Tool> = Tool::usable_stalled(bench);
    let mut reports: Vec<Vec<(String, Reported)>> = tools.iter().map(|_| Vec::new()).collect();
    let mut failed: Vec<String> = Vec::new();
    for _ in 0..bench.options.rounds {
        for (tool, reports) in tools.iter().zip(&mut reports) {
            match measure(bench, *tool, stall_s) {
                Ok(found) => reports.extend(found),
                Err(error) => failed.push(format!("{}: {error:#}", tool.name())),
            }
        }
    }
    let mut table =
        Table::new(&["reported by", "p50 ms", "p95 ms", "p99 ms", "max ms", "requests", "dropped"]);
    table.row(row("(exact)", &[exact_figures(run_s, stall_s, bench.options.rate_per_s)]));
    for reports in &reports {
        // A tool can report figures of two clocks.
        let mut names: Vec<&String> = Vec::new();
        for (name, _) in reports {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        for name in names {
            let matching: Vec<Reported> =
                reports.iter().filter(|report| report.0 == *name).map(|report| report.1).collect();
            table.row(row(name, &matching));
        }
    }
    print!("{table}");
    println!(
        "\nExact: for a server that responds immediately except during the stall, and processes the backlog immediately."
    );
    failed.iter().for_each(|failure| println!("FAILED: {failure}"));
}

fn measure(bench: &Bench, tool: Tool, stall_s: f64) -> Result<Vec<(String, Reported)>> {
    let run = bench.options.run() + tool.calibration();
    let after_s = tool.calibration().as_secs_f64() + bench.options.run().as_secs_f64() * 0.4;
    let probe = Probe::start(bench, Some(&format!("{stall_s}s@{after_s}s")))?;
    let mut prepared = tool.prepare(bench, Load::Even, run, &probe)?;
    let command = std::mem::replace(&mut prepared.command, Command::new("false"));
    process::run_to_end(command, &bench.cores, &prepared.log, run + PATIENCE)?;
    probe.end()?;
    reported::read(bench, tool, &prepared)
}

/// The exact figures. Requests during the stall wait for its end: a share d/T of all, with times that are uniform over
/// (0, d]. The quantile at p is thus d − (1 − p)T, or 0.
fn exact_figures(run_s: f64, stall_s: f64, rate_per_s: u32) -> Reported {
    let at = |share: f64| (stall_s - (1.0 - share) * run_s).max(0.0) * 1_000.0;
    Reported {
        p50_ms: at(0.5),
        p95_ms: at(0.95),
        p99_ms: at(0.99),
        max_ms: at(1.0),
        requests: f64::from(rate_per_s) * run_s,
        dropped: 0.0,
    }
}

fn row(name: &str, reports: &[Reported]) -> Vec<String> {
    let median_of = |value_of: fn(&Reported) -> f64| number(median(reports.iter().map(value_of)));
    vec![
        name.to_owned(),
        median_of(|report| report.p50_ms),
        median_of(|report| report.p95_ms),
        median_of(|report| report.p99_ms),
        median_of(|report| report.max_ms),
        median_of(|report| report.requests),
        median_of(|report| report.dropped),
    ]
}

#[cfg(test)]
mod tests {
    use super::exact_figures;

    #[test]
    fn a_stall_of_two_seconds_in_twenty() {
        let exact = exact_figures(20.0, 2.0, 1_000);
        let ms = [exact.p50_ms, exact.p95_ms, exact.p99_ms, exact.max_ms].map(f64::round);
        assert_eq!(ms, [0.0, 1_000.0, 1_800.0, 2_000.0]);
        assert_eq!(exact.requests, 20_000.0);
    }
}
