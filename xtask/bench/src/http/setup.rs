//! What the sections of the bench share: options, cores, programs.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use xtask_common::jmeter::JMeter;
use xtask_common::project;

use crate::machine::{self, Cores};
use crate::options::Program;

/// What is compared.
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

/// A generator that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Generator {
    /// wrk.
    Wrk,
    /// Apache JMeter.
    Jmeter,
    /// This project's program.
    Busyhour,
}

/// Options of `http`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Section to measure; repeat it for several (default: all)
    #[arg(long, value_name = "SECTION")]
    pub only: Vec<Section>,
    /// Generator to leave out; repeat it for several
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
    /// Whether a section is to be measured.
    pub fn wants(&self, section: Section) -> bool {
        self.only.is_empty() || self.only.contains(&section)
    }

    /// Length of a run of wrk and Busyhour.
    pub fn run(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// Length of a run of JMeter.
    pub fn jmeter_run(&self) -> Duration {
        Duration::from_secs(self.jmeter_seconds)
    }

    fn allows(&self, generator: Generator) -> bool {
        !self.without.contains(&generator)
    }
}

/// Options, cores and programs.
#[derive(Debug)]
pub struct Bench {
    /// The options.
    pub options: Options,
    /// A folder for the runs.
    pub work: tempfile::TempDir,
    /// Which core does what.
    pub cores: Cores,
    /// wrk, if it is used.
    pub wrk: Option<PathBuf>,
    /// The server of two sections.
    pub nginx: Option<PathBuf>,
    /// JMeter, if it is used.
    pub jmeter: Option<JMeter>,
    /// This project's program, if it is used.
    pub busyhour: Option<PathBuf>,
}

impl Bench {
    /// Finds or fetches the programs, and prints which are missing and why.
    ///
    /// # Errors
    /// Fails when the machine has a single core or a program that the options name does not exist.
    pub fn prepare(options: Options) -> Result<Self> {
        let mut missing = Missing::default();
        let needs_nginx = options.wants(Section::Throughput) || options.wants(Section::Users);
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
            // A wrong path is a mistake; after a build that fails, the other programs are still measured.
            true if options.program.is_given() => Some(options.program.obtain()?),
            true => missing.note("Busyhour", options.program.obtain()),
        };
        let cores = Cores::choose()?;
        machine::raise_open_files()?;
        machine::pin(cores.server)?;
        println!("{}", machine::describe(&cores));
        for reason in &missing.0 {
            println!("left out: {reason}");
        }
        Ok(Self { work: tempfile::tempdir()?, options, cores, wrk, nginx, jmeter, busyhour })
    }

    /// A plan of the `plans` folder.
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
    fn sections_and_lengths_are_read_and_mistakes_refused() {
        let options: Options =
            parse("--only users --only launch --without jmeter --rounds 1 --seconds 5").unwrap();
        assert!(options.wants(Section::Users) && !options.wants(Section::Ticket));
        assert!(options.allows(Generator::Wrk) && !options.allows(Generator::Jmeter));
        assert_eq!((options.rounds, options.run()), (1, Duration::from_secs(5)));
        assert!(parse::<Options>("").unwrap().wants(Section::Ticket));
        for wrong in ["--only beer", "--rounds", "--rounds 0", "--seconds x", "--without sleep", "--fast yes"]
        {
            assert!(parse::<Options>(wrong).is_err(), "{wrong}");
        }
    }
}
