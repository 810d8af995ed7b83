//! `cargo xtask bench capacity`: checks whether a fitted model predicts loads that were not measured.
//!
//! A shop on one core is loaded from another core with several numbers of users. A model is fitted to loads far below
//! and far above the knee, and predicts loads near the knee. It is compared with the asymptotic bounds, which need no
//! model: min(N/(R₀ + Z), X_max). All loads of a round are measured in a pseudo-random order, so that a drift of the
//! machine's speed does not correlate with the loads.

mod circumstances;
mod options;
mod report;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::machine::{self, Cores};
use crate::process::{self, Running};
use circumstances::{Circumstances, CpuTimes};
pub use options::Options;
use xtask_common::process::free_port;

/// The target for the number of users at the knee: large enough that one user more or less has little effect, small
/// enough for one core.
const KNEE_USERS: f64 = 60.0;

/// The number of users for measuring the maximum throughput of the shop.
const SATURATING_USERS: u64 = 32;

/// The loads for the fit, relative to the estimated knee. None is between 0.7 and 1.3.
const FITTED: [f64; 10] = [0.2, 0.3, 0.4, 0.5, 0.6, 0.68, 1.35, 1.6, 2.0, 2.4];

/// The loads for the prediction, relative to the estimated knee.
const PREDICTED: [f64; 5] = [0.75, 0.87, 1.0, 1.13, 1.25];

/// The shop, the generator and the folder for its runs.
struct Load {
    shop: Running,
    program: PathBuf,
    /// The program that fits and compares.
    fitter: PathBuf,
    url: String,
    cores: Cores,
    runs: PathBuf,
    circumstances: HashMap<String, Circumstances>,
}

/// The think time of users, and the number of users that saturates the shop with it.
struct ThinkTime {
    think_s: f64,
    knee_users: f64,
}

impl Load {
    /// Starts the shop. The runs are stored in `temporary` unless the options contain a folder.
    fn prepare(options: &Options, temporary: &Path) -> Result<Self> {
        let program = options.program.obtain()?;
        let fitter = options.fitted_with.as_deref().map_or_else(|| Ok(program.clone()), canonical)?;
        let cores = Cores::choose()?;
        machine::pin(cores.server)?;
        println!("{}", machine::describe(&cores));
        let busy = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        println!("load before: {}", busy.split(' ').take(3).collect::<Vec<_>>().join(" "));
        let runs = match &options.keep {
            Some(keep) => {
                std::fs::create_dir_all(keep).with_context(|| keep.display().to_string())?;
                canonical(keep)?
            }
            None => temporary.to_owned(),
        };
        let port = free_port()?;
        let mut server = Command::new(&program);
        server.args(["lab", "server", "shop", "--full", "--port", &port.to_string()]);
        server.args(options.backend().iter().flat_map(|law| ["--backend", law]));
        match options.backend() {
            Some(law) => println!("backend of the shop: {law}"),
            None => println!("the shop is limited by its processor"),
        }
        let shop = process::serve(server, &cores, &runs.join("shop.log"), port)?;
        let url = format!("http://127.0.0.1:{port}{}", options.request());
        Ok(Self { shop, program, fitter, url, cores, runs, circumstances: HashMap::new() })
    }

    /// Measures the maximum throughput of the shop and the response time of a single user, and calculates the think
    /// time that results in a knee near [`KNEE_USERS`].
    fn find_think_time(&mut self) -> Result<ThinkTime> {
        let saturated = self.run("saturated", SATURATING_USERS, 0.0, 6)?;
        let (rate_per_s, _) = self.measured(&saturated)?;
        let alone = self.run("alone", 1, 0.0, 4)?;
        let (_, alone_s) = self.measured(&alone)?;
        let think_s = (KNEE_USERS / rate_per_s - alone_s).max(0.005);
        let knee_users = rate_per_s * (alone_s + think_s);
        println!(
            "{SATURATING_USERS} users without a pause: {rate_per_s:.0} requests/s; a single user: {:.2} ms per response; \
             with Z = {:.1} ms the knee is near {knee_users:.0} users\n",
            alone_s * 1e3,
            think_s * 1e3
        );
        Ok(ThinkTime { think_s, knee_users })
    }

    /// Runs a load with this number of users; returns the run directory.
    fn run(&mut self, name: &str, users: u64, think_s: f64, seconds: u64) -> Result<PathBuf> {
        let dir = self.runs.join(name);
        ensure!(!dir.exists(), "{} exists; choose a new directory", dir.display());
        let mut command = Command::new(&self.program);
        command.args([
            "run",
            &self.url,
            "-c",
            &users.to_string(),
            "--for",
            &format!("{seconds}s"),
            "--cores",
            "1",
        ]);
        if think_s > 0.0 {
            command.args(["--think", &format!("exponential({:.3}ms)", think_s * 1e3)]);
        }
        command.arg("--dir").arg(&dir);
        let log = self.runs.join(format!("{name}.log"));
        let before = CpuTimes::now(&self.shop)?;
        let limit = Duration::from_secs(seconds + 60);
        let cpu_s = process::run_to_end(command, &self.cores, &log, limit)?;
        ensure!(dir.exists(), "the run {name} produced no files:\n{}", std::fs::read_to_string(&log)?);
        let found = CpuTimes::now(&self.shop)?.since(&before, cpu_s, seconds as f64);
        self.circumstances.insert(name.to_owned(), found);
        Ok(dir)
    }

    /// Runs a command of the program and returns its JSON output; the exit codes `accepted` are not errors.
    fn json(&self, arguments: &[&str], runs: &[PathBuf], accepted: &[i32]) -> Result<Value> {
        let output = Command::new(&self.fitter).args(arguments).args(runs).arg("--json").output()?;
        let code = output.status.code().unwrap_or(-1);
        ensure!(
            code == 0 || accepted.contains(&code),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// The throughput and the response time of a run, from a model that is fitted only to this run.
    fn measured(&self, run: &Path) -> Result<(f64, f64)> {
        let fit = self.json(&["capacity", "fit", "--model", "best"], &[run.to_owned()], &[])?;
        let point = &fit["points"][0]["point"];
        let number =
            |key: &str| point[key].as_f64().with_context(|| format!("{key} of {} is unknown", run.display()));
        Ok((number("throughput_per_s")?, number("response_s")?))
    }
}

/// Runs the bench and prints the results.
///
/// # Errors
/// A program cannot be built or started, or a run fails.
pub fn run(options: &Options) -> Result<()> {
    let temporary = tempfile::tempdir()?;
    let mut load = Load::prepare(options, temporary.path())?;
    let think_time = load.find_think_time()?;
    let (mut fitted, mut predicted) = (Vec::new(), Vec::new());
    for round in 0..options.rounds {
        for (part, is_fitted) in shuffled_loads(round) {
            let users = (part * think_time.knee_users).round().max(1.0) as u64;
            let kind = if is_fitted { "fitted" } else { "predicted" };
            let name = format!("{kind}-{users}-users-{round}");
            let dir = load.run(&name, users, think_time.think_s, options.seconds)?;
            if is_fitted { fitted.push(dir) } else { predicted.push(dir) }
        }
    }
    let fit = load.json(&["capacity", "fit"], &fitted, &[])?;
    let file = load.runs.join("fit.json");
    std::fs::write(&file, fit.to_string())?;
    let comparison = load.json(&["capacity", "verify", &file.display().to_string()], &predicted, &[9])?;
    print!("{}", report::report(&fit, &comparison, &load.circumstances)?);
    if options.keep.is_some() {
        println!("the runs are stored in {}", load.runs.display());
    }
    Ok(())
}

fn canonical(path: &Path) -> Result<PathBuf> {
    std::fs::canonicalize(path).with_context(|| path.display().to_string())
}

/// The loads of a round and whether they are fitted, in a pseudo-random but reproducible order.
fn shuffled_loads(round: u64) -> Vec<(f64, bool)> {
    let fitted = FITTED.iter().map(|part| (*part, true));
    let mut loads: Vec<(u64, (f64, bool))> =
        (round * 1_000..).map(mix).zip(fitted.chain(PREDICTED.iter().map(|part| (*part, false)))).collect();
    loads.sort_by_key(|(key, _)| *key);
    loads.into_iter().map(|(_, load)| load).collect()
}

/// The mixing step of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
fn mix(number: u64) -> u64 {
    let z = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rounds_have_all_loads_in_different_orders() {
        let rounds: Vec<_> = (0..4).map(shuffled_loads).collect();
        for (at, round) in rounds.iter().enumerate() {
            assert_eq!(round.len(), FITTED.len() + PREDICTED.len());
            assert!(FITTED.iter().all(|part| round.contains(&(*part, true))));
            assert!(PREDICTED.iter().all(|part| round.contains(&(*part, false))));
            assert!(!rounds[..at].contains(round) && round.windows(2).any(|pair| pair[0].0 > pair[1].0));
        }
        assert_eq!(shuffled_loads(1), rounds[1]);
    }

    #[test]
    fn predicted_loads_are_not_fitted() {
        assert!(FITTED.iter().all(|part| !(0.7..=1.3).contains(part)));
        assert!(PREDICTED.iter().all(|part| (0.7..=1.3).contains(part)));
    }
}
