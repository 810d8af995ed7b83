//! `cargo xtask bench simulate`: measures the number of events per CPU second in the simulator of queueing networks.

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};

use xtask_common::project;
use xtask_common::table::{Table, median, number};

use crate::machine::{self, Cores};
use crate::process;

/// A time limit that no run here should reach.
const LIMIT: Duration = Duration::from_secs(600);

/// The models of the example `endless`, with descriptions.
const MODELS: [(&str, &str); 7] = [
    ("mm1", "M/M/1, 75 % busy"),
    ("mm1-ps", "processor sharing, two classes, 80 % busy"),
    ("priorities", "preemptive priorities, two classes, 80 % busy"),
    ("three-tiers", "200 users, three stations of two servers"),
    ("shortest-of-16", "the shortest of 16 queues"),
    ("closed-10000", "10,000 users, 64 servers"),
    ("100-classes", "100 classes through ten stations"),
];

/// The options of `simulate`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Events of a run
    #[arg(long, value_name = "N", default_value_t = 20_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    events: u64,
    /// Rounds of each model
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
    /// Profile to build with
    #[arg(long, value_name = "NAME", default_value = "dist")]
    profile: String,
}

/// Runs the bench and prints the results. The times of a run with a tenth of the events are subtracted, so that the
/// start of the process is not counted; its memory is printed next to that of the long run.
///
/// # Errors
/// The simulator cannot be built, or a run fails.
pub fn run(options: &Options) -> Result<()> {
    let selection = ["--package", "busyhour-simulation", "--example", "endless"];
    let program = project::build(&options.profile, &selection, "examples/endless")?;
    let cores = Cores::choose()?;
    println!("{}\n", machine::describe(&cores));
    let work = tempfile::tempdir()?;
    let log = work.path().join("endless.log");
    let short = options.events / 10;
    let simulate = |model: &str, events: u64| -> Result<process::ProcessUsage> {
        let mut command = Command::new(&program);
        command.args([model, &events.to_string()]);
        let used = process::run_and_measure(command, &cores, &log, LIMIT)?;
        let output_text = fs::read_to_string(&log)?;
        ensure!(
            output_text.starts_with(&format!("{events} events")),
            "unexpected output of {model}: {output_text}"
        );
        Ok(used)
    };
    let mut table =
        Table::new(&["model", "million events per CPU-s", "ns per event", "peak MiB", "peak MiB of a tenth"]);
    for (model, description) in MODELS {
        let mut rounds = Vec::new();
        for _ in 0..options.rounds {
            rounds.push((simulate(model, options.events)?, simulate(model, short)?));
        }
        let events = (options.events - short) as f64;
        let cpu_s = median(rounds.iter().map(|(long, short)| long.cpu_s - short.cpu_s));
        table.row([
            description.to_owned(),
            number(events / cpu_s / 1e6),
            number(cpu_s / events * 1e9),
            number(median(rounds.iter().map(|(long, _)| long.peak_kib as f64 / 1024.0))),
            number(median(rounds.iter().map(|(_, short)| short.peak_kib as f64 / 1024.0))),
        ]);
    }
    print!("{table}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::parse;

    #[test]
    fn options_are_parsed_and_invalid_values_rejected() {
        assert_eq!(parse::<Options>("--events 1000 --rounds 1").unwrap().events, 1_000);
        for invalid in ["--events", "--rounds 0", "--fast yes"] {
            assert!(parse::<Options>(invalid).is_err(), "{invalid}");
        }
    }
}
