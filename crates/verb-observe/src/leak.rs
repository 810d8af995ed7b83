//! `busyhour observe leak`: searches for memory leaks in rounds of load, or in the memory that a run recorded.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use busyhour_leak::{
    ClassSize, LeakOutcome, LeakRounds, LeakSettings, MemoryOutcome, MemorySize, ROUNDS_MAX, memory_outcome,
};
use busyhour_observe::ProcRoot;
use busyhour_observe::jvm::{AttachedJvm, HistogramScope};
use busyhour_report::{JudgedMemory, leak_html, memory_html};
use busyhour_series::{ProgramNames, SERIES_FILE_NAME, SeriesQuery, SeriesSet};
use busyhour_terminal::exit::{Exit, complain, hinted, note, print};
use busyhour_terminal::outputs::{OutputFile, OutputKind, note_written, requested, write_files};
use clap::Args;
use serde_json::{Value, json};

use super::leak_text::{leak_text, memory_text};

/// The longest time that a command of the JVM may take.
const JVM_TIMEOUT: Duration = Duration::from_secs(60);

/// The kinds of files that the verb writes.
const WRITTEN: [OutputKind; 2] = [OutputKind::Html, OutputKind::Json];

/// The metric of the memory of a process and its descendants.
const MEMORY: &str = "process_resident_memory_bytes";

/// Maximum number of points of a series that are read.
const POINTS_MAX: usize = 4_096;

#[derive(Debug, Args)]
#[command(
    after_help = "A round is a run of the plan, a pause in which sessions end and caches expire, and a forced collection with a \
    histogram of the live classes. The collection stops the JVM: do not use it on a system that serves others. After the \
    first round, which is ignored, at least 7 rounds are needed for a result with a few dozen growing classes.\n\n\
    Without --plan, the recorded memory of the processes of a run is judged.\n\n\
    Examples:\n  busyhour observe leak --jvm 4711 --plan shop.jmx --rounds 10 --idle 30s\n  \
    busyhour observe leak --jvm 4711 --plan http://127.0.0.1:8080/ -- -n 500\n  \
    busyhour observe leak busyhour-runs/shop-20260101-120000 -o leak.html\n\n\
    Exit codes: 0 no leak, or no result yet; 1 a round or a command of the JVM failed; 2 the command line is wrong; \
    8 a leak was found"
)]
pub(crate) struct LeakArgs {
    /// Run directory with a series file, to judge the memory of its processes.
    #[arg(value_name = "DIR", conflicts_with_all = ["jvm", "plan"], required_unless_present = "jvm")]
    dir: Option<PathBuf>,
    /// Process ID of the JVM.
    #[arg(long, value_name = "PID", requires = "plan")]
    jvm: Option<u32>,
    /// Plan (JMX) or URL with the load of a round.
    #[arg(long, value_name = "PLAN|URL", requires = "jvm")]
    plan: Option<PathBuf>,
    /// Number of rounds; the first one is the warm-up and is ignored.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=ROUNDS_MAX as u64))]
    rounds: u64,
    /// Pause after the load of a round; it must be longer than the lifetime of sessions.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = busyhour_terminal::quantities::time_s)]
    idle: f64,
    /// Directory of the runs of the rounds (default: a temporary one).
    #[arg(long = "keep", value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Write a page with plots (.html) or the result (.json) to a file; may be given several times.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    /// Options of `busyhour run` for each round.
    #[arg(last = true, value_name = "RUN OPTIONS")]
    run: Vec<String>,
}

/// Runs the verb.
pub(crate) fn main(args: &LeakArgs) -> Exit {
    // Paths that cannot be written are reported before the rounds, which take minutes.
    let output = match requested(&args.output, args.json, None, &WRITTEN) {
        Ok((files, prints_json)) => Output { files, prints_json },
        Err(exit) => return exit,
    };
    match (args.jvm, &args.plan, &args.dir) {
        (Some(pid), Some(plan), _) => rounds(args, pid, plan, &output),
        (_, _, Some(dir)) => recorded(dir, &output),
        _ => complain(Exit::Usage, "give --jvm PID and --plan PLAN, or a run directory"),
    }
}

/// Where the result goes.
struct Output {
    files: Vec<OutputFile>,
    prints_json: bool,
}

impl Output {
    /// Prints the result, and writes the files.
    fn write(&self, text: &str, json: &Value, page: &dyn Fn() -> String) -> Result<(), Exit> {
        let json = format!("{json:#}\n");
        print(if self.prints_json { &json } else { text });
        write_files(&self.files, &mut |kind| {
            Ok(match kind {
                OutputKind::Html => page(),
                _ => json.clone(),
            })
        })?;
        note_written(&self.files);
        Ok(())
    }
}

/// Runs rounds of load, and judges the classes of the JVM.
fn rounds(args: &LeakArgs, pid: u32, plan: &Path, output: &Output) -> Exit {
    let jvm = match AttachedJvm::connect(&ProcRoot::live(), pid, JVM_TIMEOUT) {
        Ok(jvm) => jvm,
        Err(error) => {
            let hint = "run as the user of the JVM, or as root; JVMs other than HotSpot have no histogram";
            return complain(Exit::Refused, &hinted(format!("process {pid}: {error}"), hint));
        }
    };
    let temporary = match tempfile::tempdir() {
        Ok(directory) => directory,
        Err(error) => return complain(Exit::Internal, &format!("no temporary directory: {error}")),
    };
    let directory = args.keep.clone().unwrap_or_else(|| temporary.path().to_owned());
    let mut found = LeakRounds::new();
    let mut failure = None;
    let started = Instant::now();
    for round in 1..=args.rounds {
        match add_round(args, &jvm, plan, &directory.join(format!("round-{round}")), &mut found) {
            Ok((requests, bytes)) => {
                let left = started.elapsed().as_secs_f64() / round as f64 * (args.rounds - round) as f64;
                note(&format!(
                    "round {round} of {}: {requests} requests, {} live, about {left:.0} s left",
                    args.rounds,
                    busyhour_report::numbers::size(bytes)
                ));
            }
            Err(reason) => {
                failure = Some(format!("round {round}: {reason}"));
                break;
            }
        }
    }
    let report = found.search(&LeakSettings::default());
    let json = json!({ "version": 1, "jvm": pid, "incomplete": failure, "report": report });
    let text = if found.is_empty() { String::new() } else { leak_text(&report) };
    let title = format!("Memory of JVM {pid} under {}", plan.display());
    if let Err(exit) = output.write(&text, &json, &|| leak_html(&title, &found, &report)) {
        return exit;
    }
    match (failure, report.outcome) {
        (Some(reason), _) => {
            complain(Exit::Internal, &format!("{reason}; the result is that of the rounds before"))
        }
        (None, LeakOutcome::Leak) => Exit::Worse,
        (None, _) => Exit::Completed,
    }
}

/// Runs a round; returns its number of requests, and the live bytes after it.
fn add_round(
    args: &LeakArgs,
    jvm: &AttachedJvm,
    plan: &Path,
    directory: &Path,
    found: &mut LeakRounds,
) -> Result<(u64, u64), String> {
    let program = std::env::current_exe().map_err(|error| format!("this program is not found: {error}"))?;
    let mut command = Command::new(program);
    command
        .arg("run")
        .arg(plan)
        .args(["--observe", "none", "--quiet", "--dir"])
        .arg(directory)
        .args(&args.run);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    let status = status.map_err(|error| format!("the run did not start: {error}"))?;
    if !status.success() {
        return Err(format!("the run ended with {status}"));
    }
    let requests = requests_of(directory)?;
    // Sessions time out and caches expire.
    pause(Duration::from_secs_f64(args.idle));
    let histogram = jvm.class_histogram(HistogramScope::Live).map_err(|error| error.to_string())?;
    let classes = histogram.rows.iter().map(|row| ClassSize {
        class: &row.class,
        module: row.module.as_deref(),
        instances: row.instances,
        bytes: row.bytes,
    });
    found.push(requests, classes).map_err(|error| error.to_string())?;
    Ok((requests, histogram.bytes))
}

/// Waits for this time; no event ends the wait early.
fn pause(time: Duration) {
    let end = Instant::now() + time;
    while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        std::thread::park_timeout(left);
    }
}

/// The number of requests of a run that succeeded.
fn requests_of(run: &Path) -> Result<u64, String> {
    let text = std::fs::read_to_string(run.join("summary.json"));
    successes(&text.map_err(|error| format!("the run has no summary: {error}"))?)
}

/// The number of requests that succeeded, from the summary of a run. Requests that fail may not reach the JVM, so that a round needs at
/// least one success.
fn successes(summary: &str) -> Result<u64, String> {
    let summary: Value = serde_json::from_str(summary).map_err(|error| format!("the summary: {error}"))?;
    let total = |name: &str| summary.pointer(&format!("/total/{name}")).and_then(Value::as_u64);
    match total("samples").zip(total("errors")) {
        Some((samples, errors)) if samples > errors => Ok(samples - errors),
        Some((samples, _)) => Err(format!(
            "none of the {samples} requests succeeded, so that nothing can be said about leaks; check the address in the plan"
        )),
        None => Err("the summary of the run has no number of requests".to_owned()),
    }
}

/// Judges the memory that a run recorded for each process.
fn recorded(dir: &Path, output: &Output) -> Exit {
    let path = dir.join(SERIES_FILE_NAME);
    let query = SeriesQuery {
        points_max: POINTS_MAX,
        select: |_, info| info.name == MEMORY || ProgramNames::is_naming(&info.name),
        ..SeriesQuery::default()
    };
    let read = File::open(&path).map_err(|error| error.to_string()).and_then(|file| {
        SeriesSet::from_reader(BufReader::new(file), &query).map_err(|error| error.to_string())
    });
    let set = match read {
        Ok(set) => set,
        Err(error) => {
            let hint = "only runs that observed their system have recorded memory: busyhour run --observe";
            return complain(Exit::Refused, &hinted(format!("{}: {error}", path.display()), hint));
        }
    };
    let processes = judged(&set);
    if processes.is_empty() {
        return complain(Exit::Refused, &format!("{}: no process was observed", path.display()));
    }
    let listed: Vec<Value> = processes
        .iter()
        .map(|process| json!({ "source": process.source, "memory": process.outcome }))
        .collect();
    let json = json!({ "version": 1, "processes": listed });
    let title = format!("Memory of {}", dir.display());
    if let Err(exit) = output.write(&memory_text(&processes), &json, &|| memory_html(&title, &processes)) {
        return exit;
    }
    let has_leak = processes.iter().any(|process| matches!(process.outcome, MemoryOutcome::Leak(_)));
    if has_leak { Exit::Worse } else { Exit::Completed }
}

/// The memory of each observed process with its verdict.
fn judged(set: &SeriesSet) -> Vec<JudgedMemory> {
    let mut names = ProgramNames::default();
    let source = |info: &busyhour_series::SeriesInfo| set.sources.get(info.source as usize).cloned();
    for series in set.series.iter().filter(|series| ProgramNames::is_naming(&series.info.name)) {
        let name = series.info.labels.iter().find(|(label, _)| label == "name");
        if let Some((source, (_, name))) = source(&series.info).zip(name) {
            names.take("", &source, &series.info.name, name);
        }
    }
    let memory = set.series.iter().filter(|series| series.info.name == MEMORY);
    memory
        .filter_map(|series| {
            let size = |point: &busyhour_series::SeriesPoint| MemorySize {
                at: point.from.0 as f64 / 1e9,
                bytes: point.mean,
            };
            let sizes: Vec<MemorySize> = series.points.iter().map(size).collect();
            let source = source(&series.info)?;
            let name = names.of("", &source).unwrap_or_default().to_owned();
            let outcome = memory_outcome(&sizes);
            Some(JudgedMemory { source, name, sizes, outcome })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_that_succeeded_count() {
        let summary = |samples: u64, errors: u64| {
            successes(&json!({ "total": { "samples": samples, "errors": errors } }).to_string())
        };
        assert_eq!(summary(10, 0), Ok(10));
        assert_eq!(summary(10, 4), Ok(6));
        assert!(summary(6, 6).unwrap_err().starts_with("none of the 6 requests succeeded"));
        assert!(successes("{}").is_err());
    }
}
