//! The ticket workload against the ticket shop, compared with a client that only transfers the bytes, and with warm JMeter.

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

/// Users, each with its own connection; without pauses, so that the shop is the bottleneck.
const USERS: u64 = 64;

/// More requests per second than the shop can answer.
const AS_FAST_AS_IT_GOES: u64 = 10_000_000;

/// Measures and prints.
pub fn run(bench: &Bench) -> Result<()> {
    if Peer::present(bench).is_empty() {
        println!("\n## Ticket workload: left out, no generator that runs its plan");
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
            for peer in Peer::present(bench) {
                runs.extend(measure(bench, &shop, plan, peer)?);
            }
        }
        print!("{}", table(&runs));
        for run in runs.iter().filter(|run| run.failures > run.usage.whole.requests / 100) {
            let share = 100.0 * run.failures as f64 / run.usage.whole.requests as f64;
            println!(
                "{}: {share:.0} % of a run's samples failed; its row is not of the ticket workload",
                run.name
            );
        }
    }
    Ok(())
}

/// One run of a generator, or of the floor below it.
struct Run {
    name: &'static str,
    usage: Usage,
    requests_per_cpu_s: f64,
    cpu_s_per_100k: f64,
    rate: f64,
    failures: u64,
}

/// A run, and for the first peer the floor below the very rows that it wrote.
fn measure(bench: &Bench, shop: &Path, plan: &str, peer: Peer) -> Result<Vec<Run>> {
    // Each run has its own shop: bookings that one run deleted are missing in the next.
    let port = free_port()?;
    let mut command = Command::new(shop);
    command.args(["--full", "--port", &port.to_string()]);
    let server = process::serve(command, &bench.cores, &bench.work.path().join("shop.log"), port)?;
    let run = peer.run(bench);
    let properties = [
        ("HOST", "127.0.0.1".to_owned()),
        ("PORT", port.to_string()),
        ("USERS", USERS.to_string()),
        ("RAMPUP", "1".to_owned()),
        ("STEADYSTATE", (run.as_secs() - 1).to_string()),
        ("IR", AS_FAST_AS_IT_GOES.to_string()),
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
    usage.count(&ends_ms);
    let mut runs = vec![of(peer.name(), usage, failures)];
    if peer == Peer::present(bench)[0] {
        runs.push(below(bench, &prepared.rows)?);
    }
    std::fs::remove_file(&prepared.rows)?;
    Ok(runs)
}

/// The floor below the rows of a run.
fn below(bench: &Bench, rows: &Path) -> Result<Run> {
    let mix = bench.work.path().join("mix");
    floor::write_mix(rows, |label| label.ends_with("Keepalive=F"), &mix)?;
    let port = floor::serve()?;
    let run = bench.options.run();
    // Not this very program, which is built for being built quickly.
    let program = bench.options.program.build(&["--package", "xtask-bench"], "xtask-bench")?;
    let mut command = Command::new(program);
    command.args([floor::CLIENT, &port.to_string()]).arg(&mix);
    command.args([USERS.to_string(), run.as_secs().to_string()]);
    let log = bench.work.path().join("floor.log");
    // It counts and reports at its end.
    let window = run.mul_f64(0.1)..run.mul_f64(0.9);
    let mut usage = process::measure(command, &bench.cores, &log, window, &mut || Ok(0))?;
    usage.whole.requests =
        std::fs::read_to_string(&log)?.trim().parse().context("the floor client reports no count")?;
    let mut run = of("bare receive loop", usage, 0);
    run.cpu_s_per_100k = usage.cpu_s_per_100k();
    run.requests_per_cpu_s = 100_000.0 / run.cpu_s_per_100k;
    run.rate = usage.whole.requests as f64 / usage.whole.at_s;
    Ok(run)
}

fn of(name: &'static str, usage: Usage, failures: u64) -> Run {
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
    let floors: Vec<f64> = named(runs, "bare receive loop").map(|run| run.cpu_s_per_100k).collect();
    for name in names {
        let of = |pick: fn(&Run) -> f64| median(named(runs, name).map(pick));
        let ratio = median(named(runs, name).zip(&floors).map(|(run, floor)| run.cpu_s_per_100k / floor));
        table.row([
            name.to_owned(),
            number(of(|run| run.rate)),
            number(of(|run| run.cpu_s_per_100k)),
            number(ratio),
            number(of(|run| run.requests_per_cpu_s)),
            format!("{:.0} %", 100.0 * of(|run| run.usage.window_load())),
            number(of(|run| run.usage.peak_kib as f64 / 1024.0)),
            named(runs, name).map(|run| run.failures).sum::<u64>().to_string(),
        ]);
    }
    table
}

fn named<'a>(runs: &'a [Run], name: &str) -> impl Iterator<Item = &'a Run> {
    runs.iter().filter(move |run| run.name == name)
}
