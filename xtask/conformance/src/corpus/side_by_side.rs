//! Runs plans in JMeter and in Busyhour against the stand-in, and compares the results.
//!
//! No request leaves the machine: the stand-in is the proxy for all hosts, and JMeter does not resolve names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};
use busyhour_standin::{
    CaseSettings, ConformanceCase, OrderRule, Recording, RemovedParts, StandIn, cases, differences, shape,
};
use xtask_common::jmeter::JMeter;
use xtask_common::project;

use super::bounded::{Bounded, bounded};
use super::check::Verdict;
use crate::jmeter_plugins::JMeterPlugins;
use crate::launch;

/// Busyhour's exit code for rejected plans; plans that are run here are supported, except for missing files.
const EXIT_REJECTED: i32 = 3;
/// Texts in plans that use random numbers, the time, or addresses of Java objects.
const RANDOM_MARKERS: [&str; 9] = [
    "andom",
    "__UUID",
    "__time",
    "DummySampler",
    "number\">0<",
    "currentTimeMillis",
    "new Date",
    "START.MS",
    "DebugSampler",
];
/// Plugins that plans use, but no conformance case.
const PLUGINS: [&str; 2] =
    ["kg.apc:jmeter-plugins-extras-libs:1.4.0", "kg.apc:jmeter-plugins-standard:1.4.0"];
const JMETER_TIME_MAX: Duration = Duration::from_secs(60);
const BUSYHOUR_TIME_MAX: Duration = Duration::from_secs(20);

/// The outcome of running a plan in both programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Requests and rows are equal.
    Same,
    /// They are equal except for random values, in which two runs of JMeter differ, too; contains the differences.
    RandomDifferences(String),
    /// They differ; contains the differences.
    Differs(String),
    /// The reason why the plan was not run or not compared.
    Skipped(String),
}

/// Runs plans in both programs and compares the results.
pub(super) struct Comparator {
    jmeter: JMeter,
    busyhour: PathBuf,
    plugins: Vec<PathBuf>,
    /// The cache of JMeter's recordings, by a hash of all inputs.
    cache: PathBuf,
    /// The source code of the stand-in, because another version could respond differently.
    server: Vec<Vec<u8>>,
}

impl Comparator {
    /// Creates a comparator for this program. JMeter gets the plugins of the conformance cases and a few more, if they
    /// can be fetched.
    ///
    /// # Errors
    /// JMeter cannot be installed, or the cases cannot be read.
    pub(super) fn new(busyhour: &Path) -> Result<Self> {
        let root = project::root();
        let of_cases =
            cases(&root.join("conformance/cases"))?.into_iter().flat_map(|case| case.settings.plugins);
        let coordinates: BTreeSet<String> = of_cases.chain(PLUGINS.map(str::to_owned)).collect();
        let mut known = JMeterPlugins::default();
        let mut plugins = Vec::new();
        for coordinate in coordinates {
            match known.obtain(std::slice::from_ref(&coordinate)) {
                Ok(jars) => plugins.extend(jars),
                Err(error) => eprintln!("missing plugin: {error:#}"),
            }
        }
        plugins.sort();
        let cache = root.join("target/corpus");
        fs::create_dir_all(&cache)?;
        let server = sources(&root.join("crates/standin/src"))?;
        Ok(Self { jmeter: JMeter::obtain()?, busyhour: busyhour.to_owned(), plugins, cache, server })
    }

    /// Runs one plan in both programs.
    ///
    /// # Errors
    /// A program cannot be started, or a file cannot be written.
    pub(super) fn run(&self, verdict: &Verdict) -> Result<Outcome> {
        let path = &verdict.plan.path;
        let folder = path.parent().unwrap_or(path);
        let bounded = match bounded(&fs::read(path)?, folder) {
            Ok(bounded) => bounded,
            Err(why) => return Ok(Outcome::Skipped(why.to_string())),
        };
        let first = match self.run_in_jmeter(&bounded, 1)? {
            Ok(recording) => recording,
            Err(NotRun(why)) => return Ok(Outcome::Skipped(why)),
        };
        let ours = match self.run_in_busyhour(&bounded)? {
            Ok(recording) => recording,
            Err(NotRun(why)) => return Ok(Outcome::Differs(why)),
        };
        if ours.exit_code == EXIT_REJECTED && first.exit_code != EXIT_REJECTED {
            return Ok(Outcome::Skipped(
                "Busyhour rejects the shortened copy (missing files, WebSockets through a proxy)".into(),
            ));
        }
        let Some(difference) = differences(&first, &ours) else { return Ok(Outcome::Same) };
        let Ok(second) = self.run_in_jmeter(&bounded, 2)? else {
            return Ok(Outcome::Skipped("a second run in JMeter failed".into()));
        };
        let text = String::from_utf8_lossy(&bounded.text);
        let is_random = RANDOM_MARKERS.iter().any(|marker| text.contains(marker));
        if !is_random && differences(&first, &second).is_none() {
            return Ok(Outcome::Differs(difference));
        }
        // Each shape contains less than the previous one. Outcomes of samples are only ignored if JMeter's own runs
        // differ.
        let is_reproducible = differences(&first, &second).is_none();
        let mut is_same_shape = true;
        for removed in [RemovedParts::Values, RemovedParts::Counts, RemovedParts::Outcomes] {
            if removed == RemovedParts::Outcomes && is_reproducible {
                break;
            }
            let shapes = [&first, &second, &ours].map(|recording| shape(recording, removed));
            if differences(&shapes[0], &shapes[2]).is_none() {
                return Ok(Outcome::RandomDifferences(difference));
            }
            is_same_shape = shapes[0] == shapes[1];
        }
        Ok(if is_same_shape {
            Outcome::Differs(difference)
        } else {
            Outcome::Skipped("completely random".into())
        })
    }

    fn run_in_jmeter(&self, bounded: &Bounded, time: u8) -> Result<Result<Recording, NotRun>> {
        let mut hasher = DefaultHasher::new();
        (&bounded.text, &bounded.files, time, &self.plugins, &self.server).hash(&mut hasher);
        let cache = self.cache.join(format!("{:016x}.json", hasher.finish()));
        if let Ok(text) = fs::read(&cache)
            && let Ok(known) = serde_json::from_slice(&text)
        {
            return Ok(known);
        }
        let home = tempfile::tempdir()?;
        let hosts = home.path().join("hosts");
        fs::write(&hosts, "127.0.0.1 localhost\n")?;
        let mut command = launch::jmeter(&self.jmeter, home.path(), &self.plugins);
        command.arg(format!("-Djdk.net.hosts.file={}", hosts.display()));
        let done = match run(command, bounded, JMETER_TIME_MAX)? {
            Ok((recording, log)) => load_error(&log).map_or(Ok(recording), |why| Err(NotRun(why))),
            Err(_) => Err(NotRun("does not terminate in JMeter".to_owned())),
        };
        fs::write(cache, serde_json::to_string(&done)?)?;
        Ok(done)
    }

    fn run_in_busyhour(&self, bounded: &Bounded) -> Result<Result<Recording, NotRun>> {
        let home = tempfile::tempdir()?;
        let mut command = Command::new(&self.busyhour);
        command.current_dir(home.path());
        Ok(run(command, bounded, BUSYHOUR_TIME_MAX)?.map(|(recording, _)| recording))
    }
}

/// The reason why there is no recording of a plan.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct NotRun(String);

/// The contents of the files in a folder, ordered by name.
fn sources(folder: &Path) -> Result<Vec<Vec<u8>>> {
    let files = fs::read_dir(folder).with_context(|| format!("{} is missing", folder.display()))?;
    let mut paths = files.map(|file| Ok(file?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths.into_iter().map(fs::read).collect::<Result<_, _>>()?)
}

/// The reason in JMeter's log why it did not load the plan.
fn load_error(log: &str) -> Option<String> {
    let line = log.lines().find(|line| {
        ["CannotResolveClassException", "Error in NonGUIDriver", "NoClassDefFoundError"]
            .iter()
            .any(|name| line.contains(name))
    })?;
    let class = line.rsplit("CannotResolveClassException: ").next().unwrap_or(line).trim();
    Some(match class.contains(' ') {
        true => "JMeter does not load it".to_owned(),
        false => format!("JMeter does not load it without the jar of {class}"),
    })
}

/// Runs the plan with a command that accepts JMeter's command line; returns the recording and the log, or that the
/// command did not terminate.
fn run(
    mut command: Command,
    bounded: &Bounded,
    time_max: Duration,
) -> Result<Result<(Recording, String), NotRun>> {
    let (folder, out) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let server = StandIn::start_application()?;
    fs::write(folder.path().join("plan.jmx"), &bounded.text)?;
    for (name, content) in &bounded.files {
        fs::write(folder.path().join(name), content)?;
    }
    let settings = CaseSettings {
        order: OrderRule::Connections,
        mask_columns: ["grpThreads", "allThreads"].map(str::to_owned).to_vec(),
        properties: BTreeMap::new(),
        arguments: ["-H", "127.0.0.1", "-P", "{PORT}"].map(str::to_owned).to_vec(),
        ..CaseSettings::default()
    };
    let case = ConformanceCase { name: "plan".into(), dir: folder.path().to_owned(), settings };
    command.args(case.command_line(&server, out.path()));
    let status = match launch::run_to_end(command, time_max) {
        Ok(status) => status,
        Err(error) => return Ok(Err(NotRun(error.to_string()))),
    };
    let recording = case.collect(&server, out.path(), status.code().unwrap_or(-1))?;
    let log = fs::read_to_string(out.path().join("jmeter.log")).unwrap_or_default();
    Ok(Ok((recording, log)))
}
