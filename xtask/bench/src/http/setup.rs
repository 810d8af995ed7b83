//! The shared setup of the sections: options, cores, programs.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use xtask_common::jmeter::JMeter;
use xtask_common::project;

use crate::machine::{self, Cores};
use crate::options::Program;

/// A section of the bench.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Section {
    /// One request, repeated on 64 connections.
    Throughput,
    /// Memory of many users.
    Users,
    /// Time from the start of the process to its first request.
    Launch,
    /// The ticket workload.
    Ticket,
}

/// A generator that can be excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Generator {
    /// wrk.
    Wrk,
    /// Apache JMeter.
    Jmeter,
    /// This project's program.
    Busyhour,
}

/// The options of `http`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Section to measure; repeat it for several (default: all)
    #[arg(long, value_name = "SECTION")]
    pub only: Vec<Section>,
    /// Generator to exclude; repeat it for several
    #[arg(long, value_name = "GENERATOR")]
    without: Vec<Generator>,
    /// The program to measure.
    #[command(flatten)]
    pub program: Program,
    /// Interleaved rounds of each comparison
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    pub rounds: u64,
    /// Length of a run of wrk and Busyhour
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(3..))]
    seconds: u64,
    /// Length of a run of JMeter, the first half of which warms it up
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(10..))]
    jmeter_seconds: u64,
}

impl Options {
    /// Whether a section is selected.
    pub fn includes(&self, section: Section) -> bool {
        self.only.is_empty() || self.only.contains(&section)
    }

    /// The duration of a run of wrk and Busyhour.
    pub fn run(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// The duration of a run of JMeter.
    pub fn jmeter_run(&self) -> Duration {
        Duration::from_secs(self.jmeter_seconds)
    }

    fn allows(&self, generator: Generator) -> bool {
        !self.without.contains(&generator)
    }
}

/// The options, cores and programs of the bench.
#[derive(Debug)]
pub struct Bench {
    /// The options.
    pub options: Options,
    /// A folder for the runs.
    pub work: tempfile::TempDir,
    /// The assignment of cores.
    pub cores: Cores,
    /// wrk, if it is used.
    pub wrk: Option<PathBuf>,
    /// nginx, if a section uses it.
    pub nginx: Option<PathBuf>,
    /// JMeter, if it is used.
    pub jmeter: Option<JMeter>,
    /// This project's program, if it is used.
    pub busyhour: Option<PathBuf>,
}

impl Bench {
    /// Finds or installs the programs, and prints which are missing and why.
    ///
    /// # Errors
    /// The machine has a single core, or a program in the options does not exist.
    pub fn prepare(options: Options) -> Result<Self> {
        let mut missing = Missing::default();
        let needs_nginx = options.includes(Section::Throughput) || options.includes(Section::Users);
        let wrk = match options.allows(Generator::Wrk) {
            true => missing.note("wrk", machine::program("wrk", "wrk")),
            false => None,
        };
        let nginx = match needs_nginx {
            true => missing.note("nginx", machine::program("nginx", "nginx-light")),
            false => None,
        };
        let jmeter = match options.allows(Generator::Jmeter) {
            true => missing.note("JMeter", JMeter::obtain()),
            false => None,
        };
        let busyhour = match options.allows(Generator::Busyhour) {
            false => None,
            // A wrong path is an error; if the build fails, the other programs are still measured.
            true if options.program.is_given() => Some(options.program.obtain()?),
            true => missing.note("Busyhour", options.program.obtain()),
        };
        let cores = Cores::choose()?;
        machine::raise_open_files()?;
        machine::pin(cores.server)?;
        println!("{}", machine::describe(&cores));
        for reason in &missing.0 {
            println!("skipped: {reason}");
        }
        Ok(Self { work: tempfile::tempdir()?, options, cores, wrk, nginx, jmeter, busyhour })
    }

    /// The path of a plan in the `plans` folder.
    pub fn plan(&self, name: &str) -> PathBuf {
        project::root().join("plans").join(name)
    }
}

/// Programs that are missing, with reasons.
#[derive(Default)]
struct Missing(Vec<String>);

impl Missing {
    fn note<T>(&mut self, name: &str, found: Result<T>) -> Option<T> {
        found.map_err(|error| self.0.push(format!("{name}: {error:#}"))).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::parse;

    #[test]
    fn options_are_parsed_and_invalid_values_rejected() {
        let options: Options =
            parse("--only users --only launch --without jmeter --rounds 1 --seconds 5").unwrap();
        assert!(options.includes(Section::Users) && !options.includes(Section::Ticket));
        assert!(options.allows(Generator::Wrk) && !options.allows(Generator::Jmeter));
        assert_eq!((options.rounds, options.run()), (1, Duration::from_secs(5)));
        assert!(parse::<Options>("").unwrap().includes(Section::Ticket));
        for invalid in
            ["--only beer", "--rounds", "--rounds 0", "--seconds x", "--without sleep", "--fast yes"]
        {
            assert!(parse::<Options>(invalid).is_err(), "{invalid}");
        }
    }
}
