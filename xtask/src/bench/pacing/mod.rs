//! `cargo xtask bench pacing`: what loads are as a server sees them, and what their makers say of a server that stalls.
//!
//! The server is the probe (`busyhour demo-server probe`), which stamps each request in nanoseconds, on one core; the
//! generator is on the other.

mod arrivals;
pub mod bare;
mod generators;
mod options;
mod probe;
mod reported;
mod stall;
mod stamps;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::machine::{self, Cores};
use crate::jmeter::JMeter;
use generators::{Load, Tool};
pub use options::USAGE;
use options::{Options, Section};

/// Everything that the sections share.
#[derive(Debug)]
struct Bench {
    options: Options,
    root: PathBuf,
    work: tempfile::TempDir,
    cores: Cores,
    /// Also the probe.
    busyhour: PathBuf,
    /// This program, built for speed.
    bare: PathBuf,
    jmeter: Option<JMeter>,
    k6: Option<PathBuf>,
    vegeta: Option<PathBuf>,
    wrk2: Option<PathBuf>,
}

/// Runs what the words ask for.
pub fn run(words: &[String]) -> Result<()> {
    let bench = Bench::prepare(Options::read(words)?)?;
    for section in [Section::Poisson, Section::Even, Section::Stall] {
        if !bench.options.wants(section) {
            continue;
        }
        match section {
            Section::Poisson => arrivals::run(&bench, Load::Poisson),
            Section::Even => arrivals::run(&bench, Load::Even),
            Section::Stall => stall::run(&bench),
        }
    }
    Ok(())
}

impl Bench {
    /// Finds the peers, and says which are lacking and how to get them.
    fn prepare(options: Options) -> Result<Self> {
        let root = crate::workspace_root();
        let mut lacking = Vec::new();
        let mut find = |name: &str, programs: &[&str], how: &str| {
            if !options.allows(name) {
                return None;
            }
            let found = programs.iter().find_map(|program| machine::find(program));
            if found.is_none() {
                lacking.push(format!("{name} is not installed ({how})"));
            }
            found
        };
        let k6 = find("k6", &["k6"], "go install go.k6.io/k6@latest");
        let vegeta = find("vegeta", &["vegeta"], "go install github.com/tsenart/vegeta/v12@latest");
        let wrk2 = find("wrk2", &["wrk2"], "built from github.com/giltene/wrk2, its wrk renamed to wrk2");
        let jmeter = match options.allows("jmeter") {
            true => JMeter::obtain().map_err(|error| lacking.push(format!("JMeter: {error:#}"))).ok(),
            false => None,
        };
        let busyhour = super::busyhour(options.busyhour.as_deref(), &options.profile)?;
        let bare = super::build(&root, &options.profile, &["--package", "xtask"], "xtask")?;
        let cores = Cores::choose()?;
        ensure!(cores.server != cores.generator, "the bench needs two cores");
        machine::raise_open_files()?;
        machine::pin(cores.server)?;
        println!("{}", machine::describe(&cores));
        for lack in &lacking {
            println!("LEFT OUT: {lack}");
        }
        Ok(Self {
            work: tempfile::tempdir()?,
            options,
            root,
            cores,
            busyhour,
            bare,
            jmeter,
            k6,
            vegeta,
            wrk2,
        })
    }

    /// The tools that can offer a load, those under test first.
    fn tools(&self, load: Load) -> Vec<Tool> {
        Tool::all(load).into_iter().filter(|tool| tool.is_there(self)).collect()
    }

    /// How long a tool runs, and how much of its beginning does not count.
    fn length(&self, tool: Tool) -> (Duration, Duration) {
        let calibration = tool.calibration();
        if !calibration.is_zero() {
            return (self.options.run + calibration, calibration);
        }
        if tool.is_virtual_machine() {
            // It compiles what runs often, for ten seconds and more.
            (self.options.jmeter_run, self.options.jmeter_run / 2)
        } else {
            (self.options.run, Duration::from_secs(1))
        }
    }
}
