//! The compared generators, and their command lines for the same load.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};
use xtask_common::project;

use super::bare;
use super::options::{Generator, Options};
use super::probe::Probe;
use super::setup::Bench;

/// The names of plans in the `plans` folder.
const CONSTANT: &str = "pacing-constant.jmx";
const PRECISE: &str = "pacing-precise.jmx";

/// The time before a start at which the kernel wakes the bare loop, without and with active waiting. These are the values
/// of Busyhour, without and with `--spin`.
const LEAD_NS: &str = "10000";
const SPIN_NS: &str = "50000";

/// The arrival process of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// A Poisson process.
    Poisson,
    /// Even arrivals.
    Even,
}

/// The number of threads of plans in which a timer controls the rate.
const THREADS: u32 = 200;

/// A generator and its mode of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// This project's binary, with as many users as necessary, or with a fixed number of users that serve a queue of
    /// arrivals.
    Busyhour {
        /// The number of users with the policy `queue`; `None`: the number grows.
        users: Option<u32>,
        /// Whether it waits actively before each start.
        spin: bool,
    },
    /// A bare loop with the kernel's timer, which only waits and writes: the limit of the machine.
    Bare {
        /// Whether it waits actively before each start, as long as the binary does with `--spin`.
        spin: bool,
    },
    /// This project's binary with JMeter's plan for such a load: 200 users and one of JMeter's timers.
    BusyhourPlan(Load),
    /// JMeter's Constant Throughput Timer with this number of threads.
    JMeterConstant(u32),
    /// JMeter's Precise Throughput Timer with this number of threads.
    JMeterPrecise(u32),
    /// JMeter's Open Model Thread Group with random arrivals.
    JMeterOpen,
    /// k6 with its executor `constant-arrival-rate`.
    K6,
    /// vegeta at a constant rate.
    Vegeta,
    /// wrk2 at a constant rate on 64 connections.
    Wrk2,
}

/// A prepared run.
#[derive(Debug)]
pub struct Prepared {
    /// Starts the generator in a separate directory.
    pub command: Command,
    /// The output of the generator.
    pub log: PathBuf,
    /// The working folder of the generator.
    pub folder: PathBuf,
}

impl Prepared {
    /// The run directory of Busyhour.
    pub fn run_dir(&self) -> PathBuf {
        self.folder.join("run")
    }

    /// The result file of JMeter.
    pub fn rows(&self) -> PathBuf {
        self.folder.join("rows.jtl")
    }

    /// The summary file of k6.
    pub fn summary(&self) -> PathBuf {
        self.folder.join("summary.json")
    }

    /// The result file of vegeta.
    pub fn results(&self) -> PathBuf {
        self.folder.join("results.bin")
    }
}

impl Tool {
    /// The tools that can generate a load.
    fn all(load: Load) -> Vec<Self> {
        let busyhour = |spin| Self::Busyhour { users: None, spin };
        let bare = |spin| Self::Bare { spin };
        let own = [bare(false), busyhour(false), bare(true), busyhour(true), Self::BusyhourPlan(load)];
        let others = match load {
            Load::Poisson => vec![Self::JMeterPrecise(THREADS), Self::JMeterOpen],
            Load::Even => vec![Self::JMeterConstant(THREADS), Self::K6, Self::Vegeta, Self::Wrk2],
        };
        own.into_iter().chain(others).collect()
    }

    /// The usable tools for a load, this project's first.
    pub fn usable(load: Load, bench: &Bench) -> Vec<Self> {
        Self::all(load).into_iter().filter(|tool| tool.is_usable(bench)).collect()
    }

    /// The duration of a run, and the duration of the part at its start that is ignored.
    pub fn durations(self, options: &Options) -> (Duration, Duration) {
        let calibration = self.calibration();
        if !calibration.is_zero() {
            return (options.run() + calibration, calibration);
        }
        if self.runs_on_jvm() {
            // The JVM compiles hot code for ten seconds and more.
            (options.jmeter_run(), options.jmeter_run() / 2)
        } else {
            (options.run(), Duration::from_secs(1))
        }
    }

    /// The usable tools for the section with a server that stalls.
    pub fn usable_stalled(bench: &Bench) -> Vec<Self> {
        Self::all_stalled().into_iter().filter(|tool| tool.is_usable(bench)).collect()
    }

    fn all_stalled() -> Vec<Self> {
        let busyhour = |users| Self::Busyhour { users, spin: false };
        vec![
            busyhour(None),
            busyhour(Some(50)),
            busyhour(Some(500)),
            Self::JMeterConstant(50),
            Self::JMeterConstant(THREADS),
            Self::JMeterPrecise(THREADS),
            Self::JMeterOpen,
            Self::K6,
            Self::Vegeta,
            Self::Wrk2,
        ]
    }

    /// The name in tables.
    pub fn name(self) -> String {
        match self {
            Self::Busyhour { users, spin } => {
                let users = users.map_or(String::new(), |users| format!(", {users} users"));
                format!("Busyhour{users}{}", if spin { " --spin" } else { "" })
            }
            Self::Bare { spin } => format!("bare timer loop{}", if spin { ", spinning" } else { "" }),
            Self::BusyhourPlan(Load::Poisson) => "Busyhour, the plan with Precise Throughput".to_owned(),
            Self::BusyhourPlan(Load::Even) => "Busyhour, the plan with Constant Throughput".to_owned(),
            Self::JMeterConstant(threads) => format!("JMeter Constant Throughput, {threads} threads"),
            Self::JMeterPrecise(threads) => format!("JMeter Precise Throughput, {threads} threads"),
            Self::JMeterOpen => "JMeter Open Model".to_owned(),
            Self::K6 => "k6 constant-arrival-rate".to_owned(),
            Self::Vegeta => "vegeta".to_owned(),
            Self::Wrk2 => "wrk2".to_owned(),
        }
    }

    /// Whether the tool was found and is not excluded.
    fn is_usable(self, bench: &Bench) -> bool {
        match self {
            Self::Bare { .. } => bench.options.allows(Generator::Bare),
            Self::Busyhour { .. } | Self::BusyhourPlan(_) => bench.options.allows(Generator::Busyhour),
            Self::JMeterConstant(_) | Self::JMeterPrecise(_) | Self::JMeterOpen => bench.jmeter.is_some(),
            Self::K6 => bench.k6.is_some(),
            Self::Vegeta => bench.vegeta.is_some(),
            Self::Wrk2 => bench.wrk2.is_some(),
        }
    }

    /// Whether it runs on the JVM, which becomes faster during a run.
    fn runs_on_jvm(self) -> bool {
        matches!(self, Self::JMeterConstant(_) | Self::JMeterPrecise(_) | Self::JMeterOpen)
    }

    /// The duration of its calibration, during which it records nothing.
    pub fn calibration(self) -> Duration {
        if self == Self::Wrk2 { Duration::from_secs(10) } else { Duration::ZERO }
    }

    /// Whether it has one schedule of even starts, with which the server can compare.
    pub fn has_even_schedule(self) -> bool {
        matches!(self, Self::K6 | Self::Vegeta)
    }

    /// Prepares a run with a load on the probe.
    pub fn prepare(self, bench: &Bench, load: Load, run: Duration, probe: &Probe) -> Result<Prepared> {
        let folder = tempfile::tempdir_in(bench.work.path())?.keep();
        let log = folder.join("output.log");
        let mut prepared = Prepared { command: Command::new("false"), log, folder };
        let rate = bench.options.rate_per_s;
        prepared.command = match self {
            Self::Busyhour { users, spin } => {
                let mut command = Command::new(&bench.busyhour);
                command.arg("run").arg(probe.url()).arg("--dir").arg(prepared.run_dir());
                command.arg("--arrivals").arg(process_text(load, rate, run));
                if let Some(users) = users {
                    command.args(["-c", &users.to_string(), "--no-free-user", "queue"]);
                }
                command.args(spin.then_some("--spin"));
                command
            }
            Self::Bare { spin } => {
                let mut command = Command::new(&bench.bare);
                command.args([bare::CLIENT, &probe.port.to_string(), &process_text(load, rate, run)]);
                command.arg(if spin { SPIN_NS } else { LEAD_NS });
                command
            }
            Self::BusyhourPlan(load) => {
                let plan = if load == Load::Poisson { PRECISE } else { CONSTANT };
                let mut command = Command::new(&bench.busyhour);
                plan_arguments(&mut command, bench, plan, &prepared, probe, run, THREADS)?;
                command
            }
            Self::JMeterConstant(threads) => jmeter(bench, CONSTANT, &prepared, probe, run, threads)?,
            Self::JMeterPrecise(threads) => jmeter(bench, PRECISE, &prepared, probe, run, threads)?,
            Self::JMeterOpen => jmeter(bench, "pacing-open.jmx", &prepared, probe, run, 0)?,
            Self::K6 => {
                let script = prepared.folder.join("script.js");
                std::fs::write(&script, k6_script(rate, run, &probe.url()))?;
                let mut command = Command::new(bench.k6.as_ref().context("k6 is missing")?);
                command.args(["run", "--quiet", "--summary-export"]).arg(prepared.summary()).arg(script);
                command
            }
            Self::Vegeta => {
                let targets = prepared.folder.join("targets.txt");
                std::fs::write(&targets, format!("GET {}\n", probe.url()))?;
                let mut command = Command::new(bench.vegeta.as_ref().context("vegeta is missing")?);
                command.args(["attack", &format!("-rate={rate}"), &format!("-duration={}s", run.as_secs())]);
                command.arg(flag("-targets", &targets)).arg(flag("-output", &prepared.results()));
                command
            }
            Self::Wrk2 => {
                let mut command = Command::new(bench.wrk2.as_ref().context("wrk2 is missing")?);
                command.args([
                    "-t1",
                    "-c64",
                    &format!("-R{rate}"),
                    &format!("-d{}s", run.as_secs()),
                    "--latency",
                ]);
                command.arg(probe.url());
                command
            }
        };
        prepared.command.current_dir(&prepared.folder);
        Ok(prepared)
    }
}

/// The arrival process of a load, in Busyhour's notation.
pub fn process_text(load: Load, rate_per_s: u32, run: Duration) -> String {
    let law = if load == Load::Poisson { "poisson" } else { "even" };
    format!("{law}({rate_per_s}/s) for {}s", run.as_secs())
}

fn flag(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}

fn jmeter(
    bench: &Bench,
    plan: &str,
    prepared: &Prepared,
    probe: &Probe,
    run: Duration,
    threads: u32,
) -> Result<Command> {
    let mut command = bench.jmeter.as_ref().context("JMeter is missing")?.command();
    plan_arguments(&mut command, bench, plan, prepared, probe, run, threads)?;
    command.arg("-j").arg(prepared.folder.join("jmeter.log"));
    // The threads of an Open Model Thread Group would delay the end of the process by a minute.
    command.arg("-Jjmeterengine.force.system.exit=true");
    Ok(command)
}

/// Adds the arguments of a plan, which are the same for JMeter and Busyhour.
fn plan_arguments(
    command: &mut Command,
    bench: &Bench,
    plan: &str,
    prepared: &Prepared,
    probe: &Probe,
    run: Duration,
    threads: u32,
) -> Result<()> {
    command.arg("-n").arg("-t").arg(project::root().join("plans").join(plan)).arg("-l").arg(prepared.rows());
    let rate = bench.options.rate_per_s;
    for (name, value) in [
        ("PORT", u32::from(probe.port)),
        ("USERS", threads),
        ("RATE", rate),
        ("RATE_PER_MIN", rate * 60),
        ("DURATION", u32::try_from(run.as_secs())?),
    ] {
        command.arg(format!("-J{name}={value}"));
    }
    Ok(())
}

/// The script for k6. It starts enough users for a stall of two seconds.
fn k6_script(rate: u32, run: Duration, url: &str) -> String {
    format!(
        "import http from 'k6/http';\n\
         export const options = {{\n  discardResponseBodies: true,\n  \
         summaryTrendStats: ['med', 'p(95)', 'p(99)', 'max'],\n  scenarios: {{ even: {{\n    \
         executor: 'constant-arrival-rate', rate: {rate}, timeUnit: '1s', duration: '{}s',\n    \
         preAllocatedVUs: 200, maxVUs: {},\n  }} }},\n}};\n\
         export default function () {{ http.get('{url}'); }}\n",
        run.as_secs(),
        rate.max(200)
    )
}
