//! Reports about a server that stalls.

use std::process::Command;

use anyhow::Result;
use xtask_common::table::{Table, median, number};

use super::arrivals::PATIENCE;
use super::generators::{Load, Tool};
use super::probe::Probe;
use super::reported::{self, Reported};
use super::setup::Bench;
use crate::process;

/// Measures and prints.
pub fn run(bench: &Bench) {
    let run_s = bench.options.run().as_secs_f64();
    // A tenth of the run, a little before its middle.
    let stall_s = run_s / 10.0;
    println!(
        "\n## Stall: a server that does nothing for {stall_s} s in {run_s} s of {} even arrivals per second; \
         what each tool reports, median of {} rounds\n",
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
    table.row(row("(the truth)", &[truth(run_s, stall_s, bench.options.rate_per_s)]));
    for reports in &reports {
        // A tool can report two clocks.
        let mut names: Vec<&String> = Vec::new();
        for (name, _) in reports {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        for name in names {
            let of: Vec<Reported> =
                reports.iter().filter(|report| report.0 == *name).map(|report| report.1).collect();
            table.row(row(name, &of));
        }
    }
    print!("{table}");
    println!("\nThe truth: with a server that answers at once otherwise, and catches up at once.");
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
    reported::by(bench, tool, &prepared)
}

/// Requests during the stall wait for its end: a share d/T of all, with times that are uniform over (0, d].
/// The quantile at p is thus d − (1 − p)T, or nothing.
fn truth(run_s: f64, stall_s: f64, rate_per_s: u32) -> Reported {
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
    let middle = |of: fn(&Reported) -> f64| number(median(reports.iter().map(of)));
    vec![
        name.to_owned(),
        middle(|report| report.p50_ms),
        middle(|report| report.p95_ms),
        middle(|report| report.p99_ms),
        middle(|report| report.max_ms),
        middle(|report| report.requests),
        middle(|report| report.dropped),
    ]
}

#[cfg(test)]
mod tests {
    use super::truth;

    #[test]
    fn two_seconds_in_twenty() {
        let truth = truth(20.0, 2.0, 1_000);
        let ms = [truth.p50_ms, truth.p95_ms, truth.p99_ms, truth.max_ms].map(f64::round);
        assert_eq!(ms, [0.0, 1_000.0, 1_800.0, 2_000.0]);
        assert_eq!(truth.requests, 20_000.0);
    }
}
