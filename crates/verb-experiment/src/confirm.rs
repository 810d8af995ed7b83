//! `busyhour experiment confirm`: repeats the load of a run with and without the suspected cause of slow requests.

use std::path::{Path, PathBuf};

use busyhour_analysis::Summary;
use busyhour_analysis::explanation::{Cause, Explanation};
use busyhour_diagnostic::{io_hints, io_hints::chain};
use busyhour_record::{Manifest, RunDir, plan_hash};
use busyhour_terminal::exit::{Exit, complain, hinted, note, say};
use busyhour_trials::PauseCommands;
use serde_json::{Value, json};

use super::args::RunArgs;
use super::checks::TrialProgram;
use super::confirm_args::ConfirmArgs;
use super::run;

/// Longest load of a trial without `--for`, in s.
const LENGTH_S: f64 = 60.0;

/// Options of a run that the experiment sets itself, and those for files and displays.
const OWN_OPTIONS: [&str; 27] = [
    "--dir",
    "--seed",
    "--grace",
    "--for",
    "--requests",
    "--observe",
    "--threshold",
    "--thresholds",
    "--fail-if",
    "--output",
    "--results",
    "--force-delete-results",
    "--log",
    "--arrivals",
    "--rate",
    "--users",
    "--details",
    "--open-report",
    "--quiet",
    "--verbose",
    "--json",
    "--live",
    "--live-remote",
    "--keep-secrets",
    "--leave-records",
    "--send",
    "--export-name",
];

/// Runs the verb.
pub(super) fn main(args: ConfirmArgs, program: TrialProgram) -> Exit {
    match prepare(&args, program) {
        Ok((file, dir)) => {
            let args = RunArgs {
                file,
                dry_run: args.dry_run,
                short: false,
                skip_unavailable: false,
                dir: Some(dir),
                seed: None,
                shown: args.shown,
            };
            run::main(&args, program)
        }
        Err(exit) => exit,
    }
}

/// Writes the file of the experiment. Returns its path, and the directory of the experiment.
fn prepare(args: &ConfirmArgs, program: TrialProgram) -> Result<(PathBuf, PathBuf), Exit> {
    let directory = RunDir::open(&args.run);
    let refused = |message: String| complain(Exit::Refused, &message);
    let manifest = directory.read_manifest().map_err(|error| refused(chain(&error)))?;
    let summary = std::fs::read_to_string(directory.summary_path()).ok();
    let summary = summary.and_then(|text| Summary::from_json(&text).ok());
    let explanation = summary.as_ref().and_then(|summary| summary.explanation.as_ref());
    if !removes_something(args) {
        return Err(say_what_to_remove(explanation));
    }
    let run = std::path::absolute(&args.run)
        .map_err(|error| refused(format!("{}: {error}", args.run.display())))?;
    let content = experiment(args, program, &run, &manifest, explanation)
        .map_err(|message| complain(Exit::Usage, &message))?;
    let text =
        toml::to_string_pretty(&content).map_err(|error| complain(Exit::Internal, &error.to_string()))?;
    let dir = args.dir.clone().unwrap_or_else(|| {
        let mut name = std::ffi::OsString::from("confirm-");
        name.push(run.file_name().unwrap_or_default());
        Path::new("busyhour-experiments").join(name)
    });
    let failed = |path: &Path, error: &std::io::Error| {
        complain(Exit::Internal, &format!("{}: {}", path.display(), io_hints::with_hint(error)))
    };
    let files = dir.join("files");
    std::fs::create_dir_all(&files).map_err(|error| failed(&files, &error))?;
    let path = files.join("confirm.toml");
    std::fs::write(&path, text).map_err(|error| failed(&path, &error))?;
    note(&format!("the experiment is in {}", path.display()));
    Ok((path, dir))
}

fn removes_something(args: &ConfirmArgs) -> bool {
    args.lift_quota.is_some()
        || [&args.property, &args.environment, &args.jvm_option].iter().any(|list| !list.is_empty())
        || !args.pause.is_empty()
}

/// Names the cause that the explanation of the run found, and the option that removes it.
fn say_what_to_remove(explanation: Option<&Explanation>) -> Exit {
    let Some(explanation) = explanation else {
        let message = "the run has no explanation, because nothing was observed".to_owned();
        let hint = "repeat it with --observe auto, or name what to change: --property, --jvm-option, --environment, --pause or --lift-quota";
        return complain(Exit::Usage, &hinted(message, hint));
    };
    let option = removing_option(explanation.cause);
    let message =
        format!("no option removes the cause. The explanation of the run: {}", explanation.sentence);
    complain(Exit::Usage, &hinted(message, option))
}

/// How a cause is removed.
const fn removing_option(cause: Cause) -> &'static str {
    match cause {
        Cause::GcPauses | Cause::MemoryLeak => {
            "--start COMMAND --ready URL with --jvm-option -Xmx… (more heap) or another collector, such as --jvm-option -XX:+UseZGC"
        }
        Cause::CpuNeighbour | Cause::MemoryBandwidth => {
            "--pause PID stops the neighbour during half of the trials"
        }
        Cause::CpuQuota => {
            "--lift-quota GROUP removes the quota of the control group during half of the trials"
        }
        Cause::PoolExhausted | Cause::DatabaseLock | Cause::LockContention => {
            "--property NAME=VALUE, or --start COMMAND --ready URL with --environment NAME=VALUE, sets a larger pool"
        }
        Cause::CpuSaturation
        | Cause::DatabaseWork
        | Cause::SlowDependency
        | Cause::Disk
        | Cause::MemoryPressure
        | Cause::Errors => {
            "--start COMMAND --ready URL with --environment NAME=VALUE starts the system with other settings"
        }
        Cause::Generator | Cause::Arrivals => {
            "the cause is in the generator: repeat the run with more cores for it (--cores)"
        }
        Cause::Steal | Cause::NetworkLoss => {
            "the cause is outside of this machine's control; compare runs at another time or on another machine"
        }
        Cause::None => "no cause was found; name what to change, for example with --property or --jvm-option",
    }
}

/// The file of the experiment.
fn experiment(
    args: &ConfirmArgs,
    program: TrialProgram,
    run: &Path,
    manifest: &Manifest,
    explanation: Option<&Explanation>,
) -> Result<Value, String> {
    check_properties(args, run, manifest)?;
    let without = removed_level(args)?;
    let mut system = serde_json::Map::new();
    if let (Some(start), Some(ready)) = (&args.start, &args.ready) {
        system.insert("start".to_owned(), json!(start));
        system.insert("ready".to_owned(), json!(ready));
        let here =
            std::env::current_dir().map_err(|error| format!("the working directory is unknown: {error}"))?;
        system.insert("directory".to_owned(), json!(here));
    }
    let cause = explanation.map(|explanation| explanation.cause).filter(|cause| *cause != Cause::None);
    let cause = cause.map_or("suspected cause", Cause::id);
    Ok(json!({
        "version": 1,
        "title": format!("{}: with and without {cause}", run.file_name().unwrap_or_default().display()),
        "responses": ["p95", "median", "p99", "mean", "throughput", "errors"],
        "system": system,
        "load": load(program, run, manifest)?,
        "trials": {
            "design": "paired",
            "duration": length(args, manifest),
            "repetitions": args.repetitions,
            "order": "mirrored",
        },
        "factor": [{ "name": "cause", "level": [{ "name": "present" }, without] }],
        "treatment": treatments(args)?,
    }))
}

/// Refuses properties for a run without a plan, and names those that the plan does not contain.
fn check_properties(args: &ConfirmArgs, run: &Path, manifest: &Manifest) -> Result<(), String> {
    if args.property.is_empty() {
        return Ok(());
    }
    if manifest.plan.url.is_some() {
        return Err(hinted(
            "--property has no effect: the run requested a URL, which has no properties".to_owned(),
            "use --start COMMAND --ready URL with --environment NAME=VALUE, --pause or --lift-quota",
        ));
    }
    let plan = std::fs::read(run.join("plan.jmx")).unwrap_or_default();
    let plan = String::from_utf8_lossy(&plan);
    for text in &args.property {
        let name = text.split('=').next().unwrap_or(text);
        if !name.is_empty() && !plan.contains(name) {
            say(&format!(
                "warning: the plan does not contain the property {name}; unless something else reads it, both cases are the same"
            ));
        }
    }
    Ok(())
}

/// The level without the cause.
fn removed_level(args: &ConfirmArgs) -> Result<Value, String> {
    let pairs = |option: &str, list: &[String]| -> Result<serde_json::Map<String, Value>, String> {
        let pair = |text: &String| {
            let (name, value) =
                text.split_once('=').ok_or_else(|| format!("--{option} {text:?} is not NAME=VALUE"))?;
            Ok((name.to_owned(), json!(value)))
        };
        list.iter().map(pair).collect()
    };
    if args.start.is_none() && !(args.environment.is_empty() && args.jvm_option.is_empty()) {
        return Err(hinted(
            "--environment and --jvm-option need a system that the experiment starts".to_owned(),
            "add --start COMMAND and --ready URL",
        ));
    }
    let names: Vec<String> =
        treatments(args)?.iter().filter_map(|one| one["name"].as_str().map(str::to_owned)).collect();
    Ok(json!({
        "name": "removed",
        "properties": pairs("property", &args.property)?,
        "environment": pairs("environment", &args.environment)?,
        "jvm-options": args.jvm_option,
        "treatments": names,
    }))
}

fn treatments(args: &ConfirmArgs) -> Result<Vec<Value>, String> {
    let pause = |pid: &u32| {
        let PauseCommands { apply, undo } =
            PauseCommands::new(*pid).map_err(|error| format!("--pause {pid}: {error}"))?;
        Ok(json!({ "name": format!("pause-{pid}"), "kind": "command", "apply": apply, "undo": undo }))
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let quota = args.lift_quota.iter().map(|group| {
        // A quota of all cores has no effect.
        Ok(json!({ "name": "lift-quota", "kind": "cgroup", "target": group, "cpu-max": cores as f64 }))
    });
    args.pause.iter().map(pause).chain(quota).collect()
}

/// The length of a trial: that of the run, at most a minute.
fn length(args: &ConfirmArgs, manifest: &Manifest) -> String {
    let measured_s = manifest.outcome.as_ref().map_or(LENGTH_S, |outcome| outcome.duration_ns as f64 / 1e9);
    args.length.clone().unwrap_or_else(|| format!("{:.0}s", measured_s.clamp(1.0, LENGTH_S).floor()))
}

/// The load of the run: its plan or URL, and the options of its command line that determine the load.
fn load(program: TrialProgram, run: &Path, manifest: &Manifest) -> Result<Value, String> {
    let words = &manifest.command_line;
    if words.iter().any(|word| word.contains("[redacted]")) {
        return Err(hinted(
            "the command line of the run contained secrets, which its directory does not have".to_owned(),
            "repeat the run with --keep-secrets, or write an experiment (docs/experiments.md)",
        ));
    }
    let command = (program.read_run)(words).map_err(|error| {
        hinted(
            format!("the command line of the run cannot be repeated: {error}"),
            "write an experiment (docs/experiments.md)",
        )
    })?;
    let mut load = serde_json::Map::new();
    match manifest.plan.url.is_some() {
        true => load.insert("url".to_owned(), json!(command.target)),
        false => load.insert("plan".to_owned(), json!(plan_path(run, manifest))),
    };
    if let Some(users) = command.value("--users").and_then(|users| users.parse::<u64>().ok()) {
        load.insert("users".to_owned(), json!(users));
    }
    let rate = command.value("--rate").map(|rate| format!("poisson({rate})"));
    if let Some(schedule) = command.value("--arrivals").map(str::to_owned).or(rate) {
        load.insert("schedule".to_owned(), json!(schedule));
    }
    load.insert("options".to_owned(), json!(command.words_without(&OWN_OPTIONS)));
    Ok(Value::Object(load))
}

/// The plan: the file that was executed if its content is the same, because its files are relative to its directory. Otherwise the copy in
/// the directory of the run.
fn plan_path(run: &Path, manifest: &Manifest) -> PathBuf {
    let original = std::path::absolute(&manifest.plan.path).ok();
    let is_same =
        |path: &PathBuf| std::fs::read(path).is_ok_and(|content| plan_hash(&content) == manifest.plan.sha256);
    original.filter(is_same).unwrap_or_else(|| {
        say(&format!(
            "warning: {} was changed or is not here, so the copy in the run directory is used; files with relative paths are missing there",
            manifest.plan.path
        ));
        run.join("plan.jmx")
    })
}

#[cfg(test)]
mod tests {
    use super::super::recorded_command::RecordedCommand;
    use super::*;

    #[test]
    fn the_load_is_kept_and_files_are_not() {
        let option = |name: &str, values: &[&str]| {
            (name.to_owned(), values.iter().map(|&value| value.to_owned()).collect())
        };
        let command = RecordedCommand {
            target: "plan.jmx".to_owned(),
            options: vec![
                option("-J", &["HOST=a"]),
                option("--dir", &["runs/x"]),
                option("--seed", &["7"]),
                option("--output", &["a.html"]),
                option("--no-back-off", &[]),
                option("--live", &[]),
                option("--observe", &["auto"]),
            ],
        };
        let mut kept = command.words_without(&OWN_OPTIONS);
        kept.sort();
        assert_eq!(kept, ["--no-back-off", "-J", "HOST=a"]);
    }

    #[test]
    fn every_cause_has_advice() {
        assert!(Cause::ALL.into_iter().chain([Cause::None]).all(|cause| !removing_option(cause).is_empty()));
    }
}
