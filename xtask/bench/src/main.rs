//! `cargo xtask bench`: measures Busyhour and other load generators from outside. See `benches/README.md`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool that prints its results")]

mod capacity;
mod explain;
mod http;
mod logs;
mod machine;
mod options;
mod pacing;
mod process;
mod report;
mod simulate;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser as _;

const EXAMPLES: &str = "\
Examples:
  cargo xtask bench http --only throughput --without jmeter
  cargo xtask bench pacing --rounds 1 --seconds 6 --jmeter-seconds 12
  cargo xtask bench capacity --backend none --keep target/capacity
  cargo xtask bench explain --only lock,row-locks --seeds 2 --clean 8";

/// Measure Busyhour and other load generators on this machine (see benches/README.md)
#[derive(Debug, clap::Parser)]
#[command(name = "bench", bin_name = "cargo xtask bench", after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Debug, clap::Subcommand)]
enum Bench {
    /// Measure the cost of requests and users, compared with wrk and JMeter
    Http(http::Options),
    /// Measure the arrival times of requests at the server, compared with JMeter, k6, vegeta and wrk2
    Pacing(pacing::Options),
    /// Measure the time to create a report from a result file, compared with `jmeter -g`
    Report(report::Options),
    /// Measure the number of simulated events of queueing networks per CPU second
    Simulate(simulate::Options),
    /// Measure the number of log lines that are counted per CPU second
    Logs(logs::Options),
    /// Check whether a fitted capacity model predicts loads that it was not fitted to
    Capacity(capacity::Options),
    /// Count which causes the reports name when faults are injected into real servers (as root)
    Explain(explain::Options),
    /// Server of the explain bench, a separate process so that it can be observed
    #[command(name = explain::LAB_SERVER, hide = true)]
    LabServer(explain::LabServer),
    /// Client of the ticket section, a separate process so that its CPU time can be measured
    #[command(name = http::FLOOR_CLIENT, hide = true)]
    FloorClient(http::FloorClient),
    /// Generator of the pacing bench, a separate process so that its CPU time can be measured
    #[command(name = pacing::BARE_CLIENT, hide = true)]
    BareClient(pacing::BareClient),
}

fn main() -> ExitCode {
    match run(Arguments::parse().bench) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(bench: Bench) -> Result<()> {
    match bench {
        Bench::Http(options) => http::run(options),
        Bench::Pacing(options) => pacing::run(options),
        Bench::Report(options) => report::run(&options),
        Bench::Simulate(options) => simulate::run(&options),
        Bench::Logs(options) => logs::run(&options),
        Bench::Capacity(options) => capacity::run(&options),
        Bench::Explain(options) => explain::run(&options),
        Bench::LabServer(server) => server.run(),
        Bench::FloorClient(client) => client.run(),
        Bench::BareClient(client) => client.run(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
