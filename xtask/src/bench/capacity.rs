//! `cargo xtask bench capacity`: does a fitted model foresee a load that was not measured?
//!
//! A shop on one core is loaded from another at several numbers of users below and above the knee; a model is fitted to
//! them, says what loads near its knee will be, and is held against what they are. Its rival are the asymptotic
//! bounds, which need no model: min(N/(R₀ + Z), X_max).

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::machine::{self, Cores};
use super::process;
use super::table::Table;
use crate::options::Given;

/// How to call it.
pub const USAGE: &str = "\
usage: cargo xtask bench capacity [OPTION…]

  --busyhour PATH    the program to measure with, which is the shop, too (default: builds the release profile)
  --profile NAME     the profile to build with (default release; dev shows only that the bench works)
  --seconds N        length of a run (default 12)
  --rounds N         runs at each number of users (default 1)";

/// What is asked for: an answer that takes the shop some CPU.
const PATH: &str = "/ticket-monster/rest/shows?maxResults=100";

/// Users that the knee is to lie near: enough that one more or less does not matter, few enough for one core.
const KNEE_USERS: f64 = 60.0;

/// Users that find out what the shop can do at all.
const SATURATING_USERS: u64 = 64;

/// Loads that are fitted, as parts of what the knee seems to be before there is a model.
const FITTED: [f64; 6] = [0.2, 0.5, 0.7, 1.4, 1.8, 2.4];

/// Loads that are foreseen, as parts of the model's knee.
const FORESEEN: [f64; 3] = [0.85, 1.0, 1.15];

/// What a prediction may be off by: throughput, response time.
const GOAL: (f64, f64) = (0.10, 0.25);

#[derive(Debug)]
struct Options {
    busyhour: Option<PathBuf>,
    profile: String,
    seconds: u64,
    rounds: u64,
}

impl Options {
    fn read(words: &[String]) -> Result<Options> {
        let mut options = Options { busyhour: None, profile: "release".into(), seconds: 12, rounds: 1 };
        let mut given = Given::new(words, USAGE);
        while let Some(name) = given.next() {
            match name {
                "--busyhour" => options.busyhour = Some(given.path()?),
                "--profile" => options.profile = given.text()?.into(),
                "--seconds" => options.seconds = given.number(4)?,
                "--rounds" => options.rounds = given.number(1)?,
                _ => bail!(given.unknown()),
            }
        }
        Ok(options)
    }
}

/// The generator and where it puts its runs.
struct Load {
    program: PathBuf,
    url: String,
    cores: Cores,
    work: tempfile::TempDir,
}

impl Load {
    /// Runs so many users and gives the run directory.
    fn run(&self, name: &str, users: u64, think_s: f64, seconds: u64) -> Result<PathBuf> {
        let dir = self.work.path().join(name);
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
        let log = self.work.path().join(format!("{name}.log"));
        let length = std::time::Duration::from_secs(seconds);
        process::measure(command, &self.cores, &log, length / 10..length, &mut || Ok(0))?;
        ensure!(dir.exists(), "the run {name} left nothing:\n{}", std::fs::read_to_string(&log)?);
        Ok(dir)
    }

    /// What a verb of the program prints as JSON; an exit code that `may` be is none of a mistake.
    fn json(&self, words: &[&str], runs: &[PathBuf], may: &[i32]) -> Result<Value> {
        let output = Command::new(&self.program).args(words).args(runs).arg("--json").output()?;
        let code = output.status.code().unwrap_or(-1);
        ensure!(code == 0 || may.contains(&code), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

/// Throughput and response time of a run, by a model of itself.
fn measured(load: &Load, run: &Path) -> Result<(f64, f64)> {
    let fit = load.json(&["model", "fit", "--model", "best"], &[run.to_owned()], &[])?;
    let point = &fit["points"][0]["point"];
    let number =
        |key: &str| point[key].as_f64().with_context(|| format!("{key} of {} is unknown", run.display()));
    Ok((number("throughput_per_s")?, number("response_s")?))
}

/// Measures and prints.
pub fn run(words: &[String]) -> Result<()> {
    let options = Options::read(words)?;
    let program = super::busyhour(options.busyhour.as_deref(), &options.profile)?;
    let cores = Cores::choose()?;
    machine::pin(cores.server)?;
    println!("{}", machine::describe(&cores));
    let busy = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load before: {}", busy.split(' ').take(3).collect::<Vec<_>>().join(" "));
    let work = tempfile::tempdir()?;
    let port = process::free_port()?;
    let mut server = Command::new(&program);
    server.args(["demo-server", "ticket-monster", "--full", "--port", &port.to_string()]);
    let _server = process::serve(server, &cores, &work.path().join("shop.log"), port)?;
    let load = Load { program, url: format!("http://127.0.0.1:{port}{PATH}"), cores, work };

    // What the shop can do at all, and what one user alone waits, say which loads are of interest.
    let (rate_per_s, _) = measured(&load, &load.run("saturated", SATURATING_USERS, 0.0, 6)?)?;
    let (_, alone_s) = measured(&load, &load.run("alone", 1, 0.0, 4)?)?;
    let think_s = (KNEE_USERS / rate_per_s - alone_s).max(0.005);
    let knee = rate_per_s * (alone_s + think_s);
    println!(
        "{SATURATING_USERS} users without a pause make {rate_per_s:.0}/s, one alone waits {:.2} ms: with Z = {:.1} ms the knee is near {knee:.0} users\n",
        alone_s * 1e3,
        think_s * 1e3
    );
    let runs = |parts: &[f64], of: f64, what: &str| -> Result<Vec<PathBuf>> {
        let mut runs = Vec::new();
        for round in 0..options.rounds {
            for part in parts {
                let users = (part * of).round().max(1.0) as u64;
                runs.push(load.run(
                    &format!("{what}-{users}-users-{round}"),
                    users,
                    think_s,
                    options.seconds,
                )?);
            }
        }
        Ok(runs)
    };
    let fit = load.json(&["model", "fit"], &runs(&FITTED, knee, "fitted")?, &[])?;
    let file = load.work.path().join("fit.json");
    std::fs::write(&file, fit.to_string())?;
    let knee = fit["headroom"]["knee_users"]["value"].as_f64().context("the model has no knee")?;
    let foreseen = runs(&FORESEEN, knee, "foreseen")?;
    let judged = load.json(&["model", "compare", &file.display().to_string()], &foreseen, &[9])?;
    print!("{}", report(&fit, &judged)?);
    Ok(())
}

/// The rival: bounds from the lightest and the fastest of the measurements.
struct Rival {
    throughput_max_per_s: f64,
    response_min_s: f64,
}

impl Rival {
    fn of(points: &[Value]) -> Rival {
        let number = |point: &Value, key: &str| point["point"][key].as_f64();
        let fastest = points.iter().filter_map(|point| number(point, "throughput_per_s")).fold(0.0, f64::max);
        let shortest =
            points.iter().filter_map(|point| number(point, "response_s")).fold(f64::INFINITY, f64::min);
        Rival { throughput_max_per_s: fastest, response_min_s: shortest }
    }

    fn predict(&self, users: f64, think_s: f64) -> (f64, f64) {
        let rate = (users / (self.response_min_s + think_s)).min(self.throughput_max_per_s);
        (rate, users / rate - think_s)
    }
}

fn report(fit: &Value, judged: &Value) -> Result<String> {
    let list = |value: &Value| value["points"].as_array().cloned().unwrap_or_default();
    let mut out = String::new();
    for told in fit["findings"].as_array().into_iter().flatten() {
        out += &format!(
            "{}: {}\n",
            told["weight"].as_str().unwrap_or(""),
            told["message"].as_str().unwrap_or("")
        );
    }
    out += &format!("model: {}\n", fit["model"]);
    let mut table = Table::new(&["load", "users", "X /s", "model", "off", "R ms", "model", "off"]);
    let off = |model: f64, measured: f64| format!("{:+.1} %", (model / measured - 1.0) * 100.0);
    for point in list(fit) {
        let number = |value: &Value| value.as_f64().context("a fitted point lacks a number");
        let (x, r) = (number(&point["point"]["throughput_per_s"])?, number(&point["point"]["response_s"])?);
        let (model_x, model_r) =
            (number(&point["model_throughput_per_s"])?, number(&point["model_response_s"])?);
        table.row([
            if point["left_out"].is_null() {
                "fitted".into()
            } else {
                format!("left out: {}", point["left_out"])
            },
            format!("{:.0}", number(&point["users"])?),
            format!("{x:.1}"),
            format!("{model_x:.1}"),
            off(model_x, x),
            format!("{:.2}", r * 1e3),
            format!("{:.2}", model_r * 1e3),
            off(model_r, r),
        ]);
    }
    let rival = Rival::of(&list(fit));
    let mut lines = String::new();
    for point in list(judged) {
        let number = |value: &Value| value.as_f64().context("a foreseen point lacks a number");
        let users = number(&point["users"])?;
        let (x, r) = (number(&point["throughput"]["measured"])?, number(&point["response"]["measured"])?);
        let (model_x, model_r) =
            (number(&point["throughput"]["model"]["value"])?, number(&point["response"]["model"]["value"])?);
        table.row([
            "foreseen".into(),
            format!("{users:.0}"),
            format!("{x:.1}"),
            format!("{model_x:.1}"),
            off(model_x, x),
            format!("{:.2}", r * 1e3),
            format!("{:.2}", model_r * 1e3),
            off(model_r, r),
        ]);
        let (bound_x, bound_r) = rival.predict(users, number(&point["point"]["think_s"])?);
        let is_within = (model_x / x - 1.0).abs() <= GOAL.0 && (model_r / r - 1.0).abs() <= GOAL.1;
        let is_nearer =
            (model_x - x).abs() <= (bound_x - x).abs() && (model_r - r).abs() <= (bound_r - r).abs();
        lines += &format!(
            "{users:.0} users: the bounds say {bound_x:.1}/s ({}) and {:.2} ms ({}); the model is {} the goal and {}\n",
            off(bound_x, x),
            bound_r * 1e3,
            off(bound_r, r),
            if is_within { "within" } else { "OUTSIDE" },
            if is_nearer { "nearer than they in both" } else { "NOT nearer than they in both" },
        );
    }
    out += &format!(
        "\n{table}\n{lines}verdict of `model compare`: {} (p = {})\n",
        judged["verdict"], judged["p_value"]
    );
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rival_is_two_straight_lines() {
        let point =
            |x: f64, r: f64| serde_json::json!({ "point": { "throughput_per_s": x, "response_s": r } });
        let rival = Rival::of(&[point(10.0, 0.1), point(50.0, 0.4)]);
        assert_eq!(rival.predict(11.0, 1.0), (10.0, 11.0 / 10.0 - 1.0));
        let (rate, response_s) = rival.predict(100.0, 1.0);
        assert_eq!((rate, response_s), (50.0, 1.0));
    }

    #[test]
    fn options_are_read_and_mistakes_named() {
        let read = |words: &str| Options::read(&crate::options::words(words));
        let options = read("--seconds 8 --rounds 2 --profile dev").unwrap();
        assert_eq!((options.seconds, options.rounds, options.profile.as_str()), (8, 2, "dev"));
        for wrong in ["--seconds", "--rounds 0", "--fast yes"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
