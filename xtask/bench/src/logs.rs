//! `cargo xtask bench logs`: measures the number of log lines that are counted per CPU second.

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

/// The logs of the example `count_lines`, with descriptions.
const LOGS: [(&str, &str); 4] = [
    ("java", "Logback, 12 templates"),
    ("traces", "Logback, half of the lines in stack traces"),
    ("access", "access log"),
    ("docker", "Logback in Docker's JSON"),
];

/// The options of `logs`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Lines of a run
    #[arg(long, value_name = "N", default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1_000_000..))]
    lines: u64,
    /// Rounds of each log
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
    /// Profile to build with
    #[arg(long, value_name = "NAME", default_value = "dist")]
    profile: String,
}

/// Runs the bench and prints the results. The times of a run with a tenth of the lines are subtracted, so that the start of
/// the process and the generation of lines are not counted.
///
/// # Errors
/// The example cannot be built, or a run fails.
pub fn run(options: &Options) -> Result<()> {
    let selection = ["--package", "busyhour-logs", "--example", "count_lines"];
    let program = project::build(&options.profile, &selection, "examples/count_lines")?;
    let cores = Cores::choose()?;
    println!("{}\n", machine::describe(&cores));
    let work = tempfile::tempdir()?;
    let log = work.path().join("count_lines.log");
    let short = options.lines / 10;
    let count = |kind: &str, lines: u64| -> Result<process::ProcessUsage> {
        let mut command = Command::new(&program);
        command.args([kind, &lines.to_string()]);
        let used = process::run_and_measure(command, &cores, &log, LIMIT)?;
        let output_text = fs::read_to_string(&log)?;
        ensure!(output_text.contains(" lines, "), "unexpected output of {kind}: {output_text}");
        Ok(used)
    };
    let mut table = Table::new(&["log", "million lines per CPU-s", "ns per line", "peak MiB"]);
    for (kind, description) in LOGS {
        let mut rounds = Vec::new();
        for _ in 0..options.rounds {
            rounds.push((count(kind, options.lines)?, count(kind, short)?));
        }
        let lines = (options.lines - short) as f64;
        let cpu_s = median(rounds.iter().map(|(long, short)| long.cpu_s - short.cpu_s));
        table.row([
            description.to_owned(),
            number(lines / cpu_s / 1e6),
            number(cpu_s / lines * 1e9),
            number(median(rounds.iter().map(|(long, _)| long.peak_kib as f64 / 1024.0))),
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
        assert_eq!(parse::<Options>("--lines 2000000 --rounds 1").unwrap().lines, 2_000_000);
        for invalid in ["--lines", "--lines 5", "--rounds 0"] {
            assert!(parse::<Options>(invalid).is_err(), "{invalid}");
        }
    }
}
