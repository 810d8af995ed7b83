//! `cargo xtask bench explain`: injects faults into real servers under load, and counts which cause the reports name.

mod fault;
mod servers;
mod site;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;
use xtask_common::process::tail;
use xtask_common::table::Table;

use crate::machine::{self, Cores};
use crate::options::Program;
use crate::process;
use fault::{Fault, System};
pub use servers::{LAB_SERVER, LabServer};
use site::{Site, Tools};

/// Time that a run may take beyond its length.
const PATIENCE: Duration = Duration::from_secs(60);

/// Time from the start of the program to the load, roughly.
const START: Duration = Duration::from_millis(1_000);

/// The options of `explain`.
#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    program: Program,
    /// Faults to inject, separated by commas
    #[arg(long, value_delimiter = ',', value_parser = parse_fault)]
    only: Vec<Fault>,
    /// Runs of each fault at each intensity
    #[arg(long, value_name = "N", default_value_t = 20)]
    seeds: u64,
    /// Runs without a fault
    #[arg(long, value_name = "N", default_value_t = 200)]
    clean: u64,
    /// Intensities, from 1 (weak) to 3 (strong)
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1, 2, 3], value_parser = clap::value_parser!(u64).range(1..=3))]
    intensities: Vec<u64>,
    /// Length of the load in seconds
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(10..=600))]
    seconds: u64,
    /// Time between readings of the sources
    #[arg(long, value_name = "TIME", default_value = "200ms")]
    interval: String,
    /// Requests per second
    #[arg(long, value_name = "N", default_value_t = 50)]
    rate: u64,
    /// Keep the run directories here
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

fn parse_fault(name: &str) -> Result<Fault, String> {
    let names: Vec<&str> = Fault::ALL.iter().map(|fault| fault.name()).collect();
    let found = Fault::ALL.into_iter().find(|fault| fault.name() == name);
    found.ok_or_else(|| format!("unknown fault; the faults are {}", names.join(", ")))
}

/// A run to make.
#[derive(Debug, Clone, Copy)]
struct Trial {
    system: System,
    fault: Option<(Fault, u64)>,
    seed: u64,
}

impl Trial {
    fn row(&self) -> String {
        match self.fault {
            Some((fault, intensity)) => format!("{} {intensity}", fault.name()),
            None => format!("none ({:?})", self.system).to_lowercase(),
        }
    }
}

/// Runs the laboratory and prints the confusion table.
///
/// # Errors
/// A program is missing, a server does not start, or a run fails.
pub fn run(options: &Options) -> Result<()> {
    ensure!(rustix::process::geteuid().is_root(), "namespaces and control groups need root");
    let busyhour = options.program.obtain()?;
    let work = tempfile::Builder::new().prefix("explain").permissions(mode(0o755)).tempdir()?;
    let tools = Tools { classes: compile(work.path())?, postgres: postgres(), cores: Cores::choose()? };
    println!("{}\n", machine::describe(&tools.cores));
    let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
    let trials = trials(options);
    let started = Instant::now();
    for (number, trial) in trials.iter().enumerate() {
        let dir = match &options.keep {
            Some(keep) => keep.join(format!("{number:04}-{}", trial.row().replace(' ', "-"))),
            None => work.path().join(format!("{number:04}")),
        };
        let named = run_trial(options, &tools, &busyhour, *trial, &dir)
            .with_context(|| format!("trial {} with seed {}", trial.row(), trial.seed))?;
        let left = started.elapsed() / (number as u32 + 1) * (trials.len() - number - 1) as u32;
        eprintln!(
            "{:4} of {}: {}: {named} ({} min left)",
            number + 1,
            trials.len(),
            trial.row(),
            left.as_secs().div_ceil(60)
        );
        counts.entry(trial.row()).or_default().add(*trial, &named);
        if options.keep.is_none() {
            let _ = std::fs::remove_dir_all(&dir);
        }
    }
    println!("{}", confusion(&trials, &counts));
    Ok(())
}

/// All runs, interleaved, so that a drift of the machine affects all of them.
fn trials(options: &Options) -> Vec<Trial> {
    let faults = if options.only.is_empty() { Fault::ALL.to_vec() } else { options.only.clone() };
    let mut trials = Vec::new();
    for seed in 0..options.seeds {
        for fault in &faults {
            let of_fault = options.intensities.iter().map(|intensity| Trial {
                system: fault.system(),
                fault: Some((*fault, *intensity)),
                seed,
            });
            trials.extend(of_fault);
        }
    }
    let systems = [System::Java, System::Proxy, System::Orders, System::Remote];
    for number in 0..options.clean {
        let system = systems[(number % systems.len() as u64) as usize];
        trials.push(Trial { system, fault: None, seed: 1_000 + number });
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for place in (1..trials.len()).rev() {
        trials.swap(place, random.random_range(0..=place));
    }
    trials
}

/// Makes a run; returns the identifier of the cause that it names.
fn run_trial(options: &Options, tools: &Tools, busyhour: &Path, trial: Trial, dir: &Path) -> Result<String> {
    let fault = trial.fault.map(|(fault, intensity)| (fault, fault.level(intensity as usize - 1)));
    let mut site = Site::start(tools, trial.system, fault, &dir.join("site"))?;
    let (run, log) = (dir.join("run"), dir.join("busyhour.log"));
    let mut command = Command::new(busyhour);
    command
        .args(["run", &site.url, "--rate", &format!("{}/s", options.rate)])
        .args(["--for", &format!("{}s", options.seconds), "--seed", &trial.seed.to_string()])
        .args(["--observe", &site.observe, "--observe-interval", &options.interval, "--quiet", "--dir"])
        .arg(&run);
    let cores = &tools.cores;
    let mut generator = process::start(command, cores.generator, cores, &log)?;
    let started = Instant::now();
    if let Some((fault, level)) = fault.filter(|(fault, _)| !fault.is_constant()) {
        for (from, to) in windows(trial.seed, options.seconds as f64) {
            wait_until(started + START + Duration::from_secs_f64(from));
            site.switch_on(fault, level, generator.pid())?;
            wait_until(started + START + Duration::from_secs_f64(to));
            site.switch_off(fault)?;
        }
    }
    let limit = Duration::from_secs(options.seconds) + PATIENCE;
    let ended = generator.wait(started + limit)?;
    ensure!(ended.is_some(), "the run did not end:\n{}", tail(&log));
    let text = std::fs::read_to_string(run.join("summary.json")).with_context(|| tail(&log))?;
    let summary: Value = serde_json::from_str(&text)?;
    let cause = summary.pointer("/explanation/cause").and_then(Value::as_str);
    Ok(cause.unwrap_or("unavailable").to_owned())
}

/// The times in which a fault is present: 2 to 4 s, with pauses of 3 to 9 s, until 2 s before the end.
fn windows(seed: u64, length_s: f64) -> Vec<(f64, f64)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut windows = Vec::new();
    let mut at = random.random_range(3.0..7.0);
    loop {
        let end = at + random.random_range(2.0..4.0);
        if end > length_s - 2.0 {
            return windows;
        }
        windows.push((at, end));
        at = end + random.random_range(3.0..9.0);
    }
}

fn wait_until(time: Instant) {
    std::thread::sleep(time.saturating_duration_since(Instant::now()));
}

fn mode(bits: u32) -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(bits)
}

/// Compiles the Java server; returns the directory of its classes.
fn compile(work: &Path) -> Result<PathBuf> {
    let (source, classes) = (work.join("LabServer.java"), work.join("classes"));
    std::fs::write(&source, include_str!("explain/LabServer.java"))?;
    let output =
        Command::new("javac").arg("-d").arg(&classes).arg(&source).output().context("javac is missing")?;
    ensure!(output.status.success(), "javac failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(classes)
}

/// The directory of the newest PostgreSQL.
fn postgres() -> Option<PathBuf> {
    let mut versions: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .ok()?
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .collect();
    versions.sort();
    versions.pop()
}

/// How often each cause was named.
#[derive(Debug, Default)]
struct Counts {
    runs: usize,
    right: usize,
    others: BTreeMap<String, usize>,
}

impl Counts {
    fn add(&mut self, trial: Trial, named: &str) {
        self.runs += 1;
        let right: &[&str] = trial.fault.map_or(&["none"], |(fault, _)| fault.causes());
        if right.contains(&named) {
            self.right += 1;
        } else {
            *self.others.entry(named.to_owned()).or_default() += 1;
        }
    }
}

/// The table in Markdown.
fn confusion(trials: &[Trial], counts: &BTreeMap<String, Counts>) -> String {
    let mut table = Table::new(&["fault and intensity", "runs", "right", "no cause", "another cause"]);
    let mut rows: Vec<String> = Vec::new();
    let mut ordered: Vec<&Trial> = trials.iter().collect();
    ordered.sort_by_key(|trial| trial.fault.map(|(fault, intensity)| (fault as usize, intensity)));
    for trial in ordered {
        let row = trial.row();
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    for row in rows {
        let Some(found) = counts.get(&row) else { continue };
        let is_clean = row.starts_with("none");
        let none = if is_clean {
            "–".to_owned()
        } else {
            found.others.get("none").copied().unwrap_or(0).to_string()
        };
        let others = found.others.iter().filter(|(cause, _)| *cause != "none");
        let others: Vec<String> = others.map(|(cause, count)| format!("{cause} {count}")).collect();
        table.row([row, found.runs.to_string(), found.right.to_string(), none, others.join(", ")]);
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_inside_the_run_and_depend_on_the_seed() {
        for seed in 0..100 {
            let windows = windows(seed, 30.0);
            assert!(!windows.is_empty() && windows.last().unwrap().1 <= 28.0, "{windows:?}");
            assert!(windows.windows(2).all(|pair| pair[0].1 + 3.0 <= pair[1].0));
        }
        assert_ne!(windows(1, 30.0), windows(2, 30.0));
    }

    #[test]
    fn right_and_wrong_causes_are_counted() {
        let trial = Trial { system: System::Proxy, fault: Some((Fault::StoppedGenerator, 2)), seed: 1 };
        let mut counts = Counts::default();
        for named in ["generator", "arrivals", "none", "disk"] {
            counts.add(trial, named);
        }
        assert_eq!((counts.runs, counts.right, counts.others["none"], counts.others["disk"]), (4, 2, 1, 1));
        let table = confusion(&[trial], &BTreeMap::from([(trial.row(), counts)]));
        assert!(table.contains("stopped-generator 2") && table.contains("disk 1"), "{table}");
        assert_eq!(parse_fault("row-locks"), Ok(Fault::RowLocks));
        assert!(parse_fault("x").unwrap_err().contains("slow-dependency"));
    }
}
