//! One repeated request on 64 keep-alive connections: the cost of a request for the generator.

use std::time::Duration;

use anyhow::Result;
use xtask_common::results;
use xtask_common::table::{Table, median, number};

use super::nginx::{BODIES, Nginx, body_path};
use super::peers::{self, Peer};
use super::setup::Bench;
use crate::process::{self, Usage};

const CONNECTIONS: usize = 64;

/// The runs of one generator, one per round.
struct Series {
    name: &'static str,
    runs: Vec<Usage>,
    failures: u64,
}

/// Runs the section and prints the results.
pub fn run(bench: &Bench) -> Result<()> {
    let mut nginx = Nginx::start(bench)?;
    for bytes in BODIES {
        println!(
            "\n## Throughput: {CONNECTIONS} keep-alive connections, {bytes}-byte body, median of {} rounds\n",
            bench.options.rounds
        );
        let series = measure(bench, &mut nginx, bytes)?;
        print!("{}", table(&series));
        for series in series.iter().filter(|series| series.failures > 0) {
            println!("{}: {} failed samples", series.name, series.failures);
        }
    }
    Ok(())
}

fn measure(bench: &Bench, nginx: &mut Nginx, bytes: usize) -> Result<Vec<Series>> {
    let mut all: Vec<Series> = Vec::new();
    let mut add = |name, usage, failures| match all.iter_mut().find(|series| series.name == name) {
        Some(series) => {
            series.runs.push(usage);
            series.failures += failures;
        }
        None => all.push(Series { name, runs: vec![usage], failures }),
    };
    // Interleaved, because the speed of a machine drifts: only runs of the same round are compared with each other.
    for _ in 0..bench.options.rounds {
        if let Some(wrk) = &bench.wrk {
            let url = format!("http://127.0.0.1:{}{}?n=1", nginx.port, body_path(bytes));
            let run = bench.options.run();
            let command = peers::wrk(wrk, CONNECTIONS, run, &url);
            let log = bench.work.path().join("wrk.log");
            let usage = process::measure(
                command,
                &bench.cores,
                &log,
                steady_window(Duration::from_secs(1), run),
                &mut || nginx.requests(),
            )?;
            add("wrk", usage, 0);
        }
        for peer in Peer::available(bench) {
            let run = peer.run_duration(bench);
            let properties = [
                ("HOST", "127.0.0.1".to_owned()),
                ("PORT", nginx.port.to_string()),
                ("USERS", CONNECTIONS.to_string()),
                ("DURATION", run.as_secs().to_string()),
                ("PATH_PREFIX", format!("{}?n=", body_path(bytes))),
            ];
            let prepared = peer.prepare(bench, &bench.plan("one-request.jmx"), &properties)?;
            let window = steady_window(peer.warm_after(bench), run);
            let usage = process::measure(prepared.command, &bench.cores, &prepared.log, window, &mut || {
                nginx.requests()
            })?;
            let (rows, failures) = results::count(&prepared.rows)?;
            if rows != usage.whole.requests {
                println!(
                    "{}: {rows} rows written, but {} requests counted by nginx",
                    peer.name(),
                    usage.whole.requests
                );
            }
            std::fs::remove_file(&prepared.rows)?;
            add(peer.name(), usage, failures);
        }
    }
    Ok(all)
}

/// The steady part of a run: from `warm` until shortly before the end.
fn steady_window(warm: Duration, run: Duration) -> std::ops::Range<Duration> {
    warm..run.saturating_sub(Duration::from_millis(500)).max(warm + Duration::from_millis(500))
}

fn table(all: &[Series]) -> Table {
    let mut table = Table::new(&[
        "generator",
        "requests/s",
        "CPU-s per 100,000",
        "× wrk",
        "warm CPU-s per 100,000",
        "× wrk",
        "core used",
        "peak MiB",
    ]);
    let wrk = all.iter().find(|series| series.name == "wrk");
    for series in all {
        let median_of = |pick: fn(&Usage) -> f64| median(series.runs.iter().map(pick));
        // The ratio of each round, then their median.
        let ratio = |pick: fn(&Usage) -> f64| {
            let pairs = wrk.into_iter().flat_map(|wrk| series.runs.iter().zip(&wrk.runs));
            number(median(pairs.map(|(run, wrk)| pick(run) / pick(wrk))))
        };
        table.row([
            series.name.to_owned(),
            number(median_of(Usage::window_rate)),
            number(median_of(Usage::cpu_s_per_100k)),
            ratio(Usage::cpu_s_per_100k),
            number(median_of(Usage::window_cpu_s_per_100k)),
            ratio(Usage::window_cpu_s_per_100k),
            format!("{:.0} %", 100.0 * median_of(Usage::window_load)),
            number(median_of(|run| run.peak_kib as f64 / 1024.0)),
        ]);
    }
    table
}
