//! The ticket workload on the ticket shop, compared with a client that only transfers the bytes, and with JMeter after
//! its warm-up.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use xtask_common::process::free_port;
use xtask_common::results;
use xtask_common::table::{Table, median, number};

use super::floor;
use super::peers::Peer;
use super::setup::Bench;
use crate::process::{self, Usage};

const SHOP: [&str; 4] = ["--package", "busyhour-demo", "--example", "shop"];

/// The number of users, each with a separate connection and without pauses, so that the shop is the bottleneck.
const USERS: u64 = 64;

/// A rate in requests per second that the shop cannot reach.
const UNREACHABLE_RATE_PER_S: u64 = 10_000_000;

/// Runs the section and prints the results.
pub fn run(bench: &Bench) -> Result<()> {
    if Peer::available(bench).is_empty() {
        println!("\n## Ticket workload: skipped, because no generator can run its plan");
        return Ok(());
    }
    let shop = bench.options.program.build(&SHOP, "examples/shop")?;
    for (plan, title) in [("monsterdr.jmx", "with images"), ("monsterdr-no-images.jmx", "without images")] {
        println!(
            "\n## Ticket workload {title}: {USERS} users without a pause, median of {} rounds\n",
            bench.options.rounds
        );
        let mut runs = Vec::new();
        for _ in 0..bench.options.rounds {
            for peer in Peer::available(bench) {
                runs.extend(measure(bench, &shop, plan, peer)?);
            }
        }
        print!("{}", table(&runs));
        for run in runs.iter().filter(|run| run.failures > run.usage.whole.requests / 100) {
            let share = 100.0 * run.failures as f64 / run.usage.whole.requests as f64;
            println!(
                "{}: {share:.0} % of the samples of a run failed; its row does not represent the ticket workload",
                run.name
            );
        }
    }
    Ok(())
}

/// A run of a generator, or of the lower bound.
struct Run {
    name: &'static str,
    usage: Usage,
    requests_per_cpu_s: f64,
    cpu_s_per_100k: f64,
    rate: f64,
    failures: u64,
}

/// Measures a run, and for the first generator also the lower bound for the rows that it wrote.
fn measure(bench: &Bench, shop: &Path, plan: &str, peer: Peer) -> Result<Vec<Run>> {
    // Each run has a separate shop, because bookings deleted by one run would be missing in the next.
    let port = free_port()?;
    let mut command = Command::new(shop);
    command.args(["--full", "--port", &port.to_string()]);
    let server = process::serve(command, &bench.cores, &bench.work.path().join("shop.log"), port)?;
    let run = peer.run_duration(bench);
    let properties = [
        ("HOST", "127.0.0.1".to_owned()),
        ("PORT", port.to_string()),
        ("USERS", USERS.to_string()),
        ("RAMPUP", "1".to_owned()),
        ("STEADYSTATE", (run.as_secs() - 1).to_string()),
        ("IR", UNREACHABLE_RATE_PER_S.to_string()),
        ("DATAGEN", "0".to_owned()),
    ];
    let prepared = peer.prepare(bench, &bench.plan(plan), &properties)?;
    let window = peer.warm_after(bench)..run.mul_f64(0.9);
    let mut usage = process::measure(prepared.command, &bench.cores, &prepared.log, window, &mut || Ok(0))?;
    drop(server);

    let (mut ends_ms, mut failures) = (Vec::new(), 0);
    results::each_row(&prepared.rows, |row| {
        ends_ms.push(row.end_ms);
        failures += u64::from(!row.success);
    })?;
    usage.count_requests(&ends_ms);
    let mut runs = vec![run_of(peer.name(), usage, failures)];
    if peer == Peer::available(bench)[0] {
        runs.push(measure_lower_bound(bench, &prepared.rows)?);
    }
    std::fs::remove_file(&prepared.rows)?;
    Ok(runs)
}

/// Measures the lower bound for the rows of a run.
fn measure_lower_bound(bench: &Bench, rows: &Path) -> Result<Run> {
    let mix = bench.work.path().join("mix");
    floor::write_mix(rows, |label| label.ends_with("Keepalive=F"), &mix)?;
    let port = floor::serve()?;
    let run = bench.options.run();
    // Not this program itself, because its profile is optimized for build time.
    let program = bench.options.program.build(&["--package", "xtask-bench"], "xtask-bench")?;
    let mut command = Command::new(program);
    command.args([floor::CLIENT, &port.to_string()]).arg(&mix);
    command.args([USERS.to_string(), run.as_secs().to_string()]);
    let log = bench.work.path().join("floor.log");
    // The client reports its count at its end.
    let window = run.mul_f64(0.1)..run.mul_f64(0.9);
    let mut usage = process::measure(command, &bench.cores, &log, window, &mut || Ok(0))?;
    usage.whole.requests =
        std::fs::read_to_string(&log)?.trim().parse().context("the floor client did not report a count")?;
    let mut run = run_of("bare receive loop", usage, 0);
    run.cpu_s_per_100k = usage.cpu_s_per_100k();
    run.requests_per_cpu_s = 100_000.0 / run.cpu_s_per_100k;
    run.rate = usage.whole.requests as f64 / usage.whole.at_s;
    Ok(run)
}

fn run_of(name: &'static str, usage: Usage, failures: u64) -> Run {
    let cpu_s_per_100k = usage.window_cpu_s_per_100k();
    Run {
        name,
        usage,
        cpu_s_per_100k,
        requests_per_cpu_s: 100_000.0 / cpu_s_per_100k,
        rate: usage.window_rate(),
        failures,
    }
}

fn table(runs: &[Run]) -> Table {
    let mut table = Table::new(&[
        "generator",
        "requests/s",
        "warm CPU-s per 100,000",
        "× floor",
        "requests per CPU-s",
        "core used",
        "peak MiB",
        "failures",
    ]);
    let mut names: Vec<&str> = Vec::new();
    for run in runs {
        if !names.contains(&run.name) {
            names.push(run.name);
        }
    }
    let floors: Vec<f64> = runs_named(runs, "bare receive loop").map(|run| run.cpu_s_per_100k).collect();
    for name in names {
        let median_of = |pick: fn(&Run) -> f64| median(runs_named(runs, name).map(pick));
        let ratio =
            median(runs_named(runs, name).zip(&floors).map(|(run, floor)| run.cpu_s_per_100k / floor));
        table.row([
            name.to_owned(),
            number(median_of(|run| run.rate)),
            number(median_of(|run| run.cpu_s_per_100k)),
            number(ratio),
            number(median_of(|run| run.requests_per_cpu_s)),
            format!("{:.0} %", 100.0 * median_of(|run| run.usage.window_load())),
            number(median_of(|run| run.usage.peak_kib as f64 / 1024.0)),
            runs_named(runs, name).map(|run| run.failures).sum::<u64>().to_string(),
        ]);
    }
    table
}

fn runs_named<'a>(runs: &'a [Run], name: &str) -> impl Iterator<Item = &'a Run> {
    runs.iter().filter(move |run| run.name == name)
}
