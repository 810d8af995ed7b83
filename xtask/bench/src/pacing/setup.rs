//! The shared setup of the sections: options, cores, programs.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use xtask_common::jmeter::JMeter;

use super::options::{Generator, Options};
use crate::machine::{self, Cores};

/// The options, cores and programs of the bench.
#[derive(Debug)]
pub struct Bench {
    /// The options.
    pub options: Options,
    /// A folder for the runs.
    pub work: tempfile::TempDir,
    /// The assignment of cores.
    pub cores: Cores,
    /// This project's program, which also runs as the probe.
    pub busyhour: PathBuf,
    /// An optimized build of this program, which runs as the bare generator.
    pub bare: PathBuf,
    /// JMeter, if it is used.
    pub jmeter: Option<JMeter>,
    /// k6, if it is used.
    pub k6: Option<PathBuf>,
    /// vegeta, if it is used.
    pub vegeta: Option<PathBuf>,
    /// wrk2, if it is used.
    pub wrk2: Option<PathBuf>,
}

impl Bench {
    /// Finds the generators, and prints which are missing and how to install them.
    ///
    /// # Errors
    /// A program cannot be built, or the machine has a single core.
    pub fn prepare(options: Options) -> Result<Self> {
        let mut missing = Vec::new();
        let mut find = |generator: Generator, name: &str, hint: &str| {
            if !options.allows(generator) {
                return None;
            }
            let found = machine::find(name);
            if found.is_none() {
                missing.push(format!("{name} is not installed ({hint})"));
            }
            found
        };
        let k6 = find(Generator::K6, "k6", "go install go.k6.io/k6@latest");
        let vegeta = find(Generator::Vegeta, "vegeta", "go install github.com/tsenart/vegeta/v12@latest");
        let wrk2 =
            find(Generator::Wrk2, "wrk2", "build it from github.com/giltene/wrk2 and rename its wrk to wrk2");
        let jmeter = match options.allows(Generator::Jmeter) {
            true => JMeter::obtain().map_err(|error| missing.push(format!("JMeter: {error:#}"))).ok(),
            false => None,
        };
        let busyhour = options.program.obtain()?;
        let bare = options.program.build(&["--package", "xtask-bench"], "xtask-bench")?;
        let cores = Cores::choose()?;
        ensure!(cores.server != cores.generator, "the bench needs two cores");
        machine::raise_open_files()?;
        machine::pin(cores.server)?;
        println!("{}", machine::describe(&cores));
        for reason in &missing {
            println!("skipped: {reason}");
        }
        Ok(Self { work: tempfile::tempdir()?, options, cores, busyhour, bare, jmeter, k6, vegeta, wrk2 })
    }
}
