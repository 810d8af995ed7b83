//! The compared generators, and their command lines for the same load.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::setup::Bench;

/// A generator that runs JMX plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// This project's binary.
    Busyhour,
    /// Apache JMeter.
    JMeter,
}

/// A prepared run.
#[derive(Debug)]
pub struct Prepared {
    /// Starts the generator in a separate directory.
    pub command: Command,
    /// JMeter's result file.
    pub rows: PathBuf,
    /// The output of the generator.
    pub log: PathBuf,
}

impl Peer {
    /// The available generators, Busyhour first.
    pub fn available(bench: &Bench) -> Vec<Self> {
        let mut peers = Vec::new();
        peers.extend(bench.busyhour.is_some().then_some(Self::Busyhour));
        peers.extend(bench.jmeter.is_some().then_some(Self::JMeter));
        peers
    }

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Busyhour => "Busyhour",
            Self::JMeter => "JMeter 5.6.3",
        }
    }

    /// The duration of a run.
    pub fn run_duration(self, bench: &Bench) -> Duration {
        match self {
            Self::Busyhour => bench.options.run(),
            Self::JMeter => bench.options.jmeter_run(),
        }
    }

    /// The time after which a run is steady: the JVM compiles hot code for ten seconds and more.
    pub fn warm_after(self, bench: &Bench) -> Duration {
        match self {
            Self::Busyhour => Duration::from_secs(1),
            Self::JMeter => self.run_duration(bench) / 2,
        }
    }

    /// Prepares a run with the same command line for both generators, which write results to disk as for any user.
    pub fn prepare(self, bench: &Bench, plan: &Path, properties: &[(&str, String)]) -> Result<Prepared> {
        let folder = tempfile::tempdir_in(bench.work.path())?.keep();
        let mut command = match self {
            Self::Busyhour => Command::new(bench.busyhour.as_ref().context("Busyhour is missing")?),
            Self::JMeter => bench.jmeter.as_ref().context("JMeter is missing")?.command(),
        };
        let rows = folder.join("rows.jtl");
        command.arg("-n").arg("-t").arg(plan).arg("-l").arg(&rows).current_dir(&folder);
        if self == Self::JMeter {
            command.arg("-j").arg(folder.join("jmeter.log"));
        }
        for (name, value) in properties {
            command.arg(format!("-J{name}={value}"));
        }
        let log = folder.join("output.log");
        Ok(Prepared { command, rows, log })
    }
}

/// The command of wrk with this number of connections and duration.
pub fn wrk(program: &Path, connections: usize, run: Duration, url: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["-t1", &format!("-c{connections}"), &format!("-d{}s", run.as_secs()), url]);
    command
}
