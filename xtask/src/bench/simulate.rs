//! `cargo xtask bench simulate`: how many events the simulator of queueing networks makes of a CPU second.

use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail, ensure};

use super::machine::{self, Cores};
use super::process;
use super::table::{Table, median, number};
use crate::options::Given;

/// How to call it.
pub const USAGE: &str = "\
usage: cargo xtask bench simulate [OPTION…]

  --events N         events of a run (default 20000000)
  --rounds N         rounds of each model (default 3)
  --profile NAME     the profile to build with (default release)";

/// Longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(600);

/// The models of the example `endless`, and what they are.
const MODELS: [(&str, &str); 7] = [
    ("mm1", "M/M/1, 75 % busy"),
    ("mm1-ps", "processor sharing, two classes, 80 % busy"),
    ("priorities", "preemptive priorities, two classes, 80 % busy"),
    ("three-tiers", "200 users, three stations of two servers"),
    ("shortest-of-16", "the shortest of 16 queues"),
    ("closed-10000", "10,000 users, 64 servers"),
    ("100-classes", "100 classes through ten stations"),
];

struct Options {
    events: u64,
    rounds: u64,
    profile: String,
}

impl Options {
    fn read(words: &[String]) -> Result<Self> {
        let mut options = Self { events: 20_000_000, rounds: 3, profile: "release".into() };
        let mut given = Given::new(words, USAGE);
        while let Some(name) = given.next() {
            match name {
                "--events" => options.events = given.number(1)?,
                "--rounds" => options.rounds = given.number(1)?,
                "--profile" => options.profile = given.text()?.into(),
                _ => bail!(given.unknown()),
            }
        }
        Ok(options)
    }
}

/// Measures and prints. A run ten times as short is taken off each, so that the start of the process is not counted,
/// and its memory stands beside that of the long one.
pub fn run(words: &[String]) -> Result<()> {
    let options = Options::read(words)?;
    let root = crate::workspace_root();
    let what = ["--package", "busyhour-simulation", "--example", "endless"];
    let program = super::build(&root, &options.profile, &what, "examples/endless")?;
    let cores = Cores::choose()?;
    println!("{}\n", machine::describe(&cores));
    let work = tempfile::tempdir()?;
    let log = work.path().join("endless.log");
    let short = options.events / 10;
    let simulate = |model: &str, events: u64| -> Result<process::Whole> {
        let mut command = Command::new(&program);
        command.args([model, &events.to_string()]);
        let used = process::whole(command, &cores, &log, LIMIT)?;
        let said = fs::read_to_string(&log)?;
        ensure!(said.starts_with(&format!("{events} events")), "{model} did something else: {said}");
        Ok(used)
    };
    let mut table =
        Table::new(&["model", "million events per CPU-s", "ns per event", "peak MiB", "peak MiB of a tenth"]);
    for (model, words) in MODELS {
        let mut rounds = Vec::new();
        for _ in 0..options.rounds {
            rounds.push((simulate(model, options.events)?, simulate(model, short)?));
        }
        let events = (options.events - short) as f64;
        let cpu_s = median(rounds.iter().map(|(long, short)| long.cpu_s - short.cpu_s));
        table.row([
            words.to_owned(),
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

    #[test]
    fn options_are_read_and_mistakes_named() {
        let read = |words: &str| Options::read(&crate::options::words(words));
        assert_eq!(read("--events 1000 --rounds 1").unwrap().events, 1_000);
        for wrong in ["--events", "--rounds 0", "--fast yes"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
