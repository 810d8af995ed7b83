//! Prepares a run: settings, plan, run directory, log and manifest.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use busyhour_analysis::thresholds::Criterion;
use busyhour_compile::{Compiled, Options, Started};
use busyhour_diagnostic::{Diagnostic, Severity};
use busyhour_http::TlsPolicy;
use busyhour_limits::files::{INPUT_BYTES, read_input};
use busyhour_program::clock::Clock;
use busyhour_program::run::Properties;
use busyhour_record::{
    MANIFEST_VERSION, Machine, Manifest, PlanFile, ResultFileConfig, RunDir, SampleFilter, SaveConfig,
    plan_hash,
};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::exit::{Exit, say};
use crate::forecast;
use crate::io_hints::{self, chain};
use crate::log_file::LogFile;
use crate::notes::notes;
use crate::plan_source::parse_and_compile;
use crate::redaction;
use crate::run::files;
use crate::run::finish::unread;
use crate::run::refusal::Refusal;
use crate::run_request::RunRequest;
use crate::settings::{self, Settings};
use crate::stop_signals::{SignalEvent, StopRequests, listen};
use crate::system;

/// With `--spin`, how long before a start a core polls the clock, in nanoseconds. A little more than the time in which the
/// kernel wakes a thread.
const SPIN_NS: u64 = 50_000;

/// How many of a plan's properties a hint names.
const READS_SHOWN: usize = 10;

/// The property for the column of URLs in results files.
const URL_COLUMN: &str = "jmeter.save.saveservice.url";

/// A run that is ready to start.
pub(crate) struct Prepared {
    pub(crate) settings: Settings,
    pub(crate) started: Started,
    pub(crate) manifest: Manifest,
    pub(crate) dir: RunDir,
    pub(crate) main: ResultFileConfig,
    pub(crate) log: LogFile,
    pub(crate) log_path: PathBuf,
    pub(crate) cores: usize,
    pub(crate) events: UnboundedReceiver<SignalEvent>,
    /// Properties of `-J` that a warning has named because the plan does not read them.
    pub(crate) unread: Vec<String>,
}

/// Reads the plan and the settings, and creates the run directory.
///
/// # Errors
/// If the plan is refused, a setting is wrong or a file cannot be written.
pub(crate) fn prepare(request: &RunRequest, stops: &StopRequests) -> Result<Prepared, Refusal> {
    let clock = Clock::start();
    let wall_anchor_ms = i64::try_from(clock.wall_start_ms()).unwrap_or(0);
    let settings = settings::load(&request.flags, clock.wall_start_ms()).map_err(Refusal::usage)?;
    let bytes = plan_bytes(request)?;
    let properties = Arc::new(Properties::new(settings.jmeter.clone()));
    let Accepted { compiled, findings, reads } = compile(request, &bytes, &properties)?;
    if let Some(results) = &request.results {
        files::check_results_file(request, results)?;
    }
    let save = save_config(request, &settings, &properties, &compiled)?;
    let unread = warn_of_unread(request, &properties, reads.as_ref());
    // Before the run directory exists, so that a signal cannot leave it without an outcome.
    let events = listen(stops).map_err(Refusal::internal)?;
    let dir = create_dir(request, wall_anchor_ms)?;
    let log_path = request.log.clone().unwrap_or_else(|| dir.path().join("run.log"));
    let log = LogFile::create(&log_path).map_err(|error| {
        Refusal::internal(format!(
            "cannot write the log {}: {}",
            log_path.display(),
            io_hints::with_hint(&error)
        ))
    })?;
    let main_path = request.results.clone().unwrap_or_else(|| dir.jtl_path());
    let main = ResultFileConfig { path: main_path, config: save, filter: SampleFilter::All };
    let seed = request.seed.unwrap_or_else(system::new_seed);
    let plan = PlanFile {
        path: stored_plan_name(request),
        name: compiled.plan_name().to_owned(),
        sha256: plan_hash(&[bytes.as_slice(), request.hashed_with_plan.as_bytes()].concat()),
        url: request.url_plan.clone(),
    };
    let rate_timers = compiled.rate_timers().map(str::to_owned).collect();
    let started = busyhour_compile::start(compiled, seed, clock, &properties, log.sink());
    if request.spin {
        started.shared.spin_ns.store(SPIN_NS, std::sync::atomic::Ordering::Relaxed);
    }
    let cores = request.cores.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    forecast::limits(&started, cores);
    forecast::verdicts(&started);
    let manifest = Manifest {
        version: MANIFEST_VERSION,
        busyhour: env!("CARGO_PKG_VERSION").into(),
        plan,
        seed,
        command_line: stored_command_line(request),
        properties: settings
            .given
            .iter()
            .map(|(name, value)| (name.clone(), stored_value(request, name, value)))
            .collect(),
        machine: Machine::this(started.names.hostname.clone()),
        wall_anchor_ms,
        notes: notes(&findings),
        rate_timers,
        request_deadline: Some(request.request_deadline.into()),
        results_file: request.results.as_deref().and_then(|path| std::path::absolute(path).ok()),
        thresholds: request.thresholds.criteria.iter().map(Criterion::portable).collect(),
        events: Vec::new(),
        outcome: None,
    };
    dir.write_manifest(&manifest).map_err(|error| Refusal::internal(chain(&error)))?;
    // A copy of the plan next to its results makes the run repeatable.
    if let Err(error) = RunDir::write_whole(&dir.plan_path(), &bytes) {
        say(&format!("warning: {}", chain(&error)));
    }
    Ok(Prepared { settings, started, manifest, dir, main, log, log_path, cores, events, unread })
}

fn plan_bytes(request: &RunRequest) -> Result<Vec<u8>, Refusal> {
    match &request.plan_text {
        Some(text) => Ok(text.as_bytes().to_vec()),
        None => read_input(&request.plan, INPUT_BYTES).map_err(|error| {
            let why = io_hints::with_hint(&error);
            Refusal(Exit::Refused, format!("cannot read the plan {}: {why}", request.plan.display()))
        }),
    }
}

/// A plan that can be run.
struct Accepted {
    compiled: Compiled,
    findings: Vec<Diagnostic>,
    /// The properties that it reads, if they are known.
    reads: Option<BTreeSet<String>>,
}

/// Compiles the plan and prints its errors and warnings.
fn compile(request: &RunRequest, bytes: &[u8], properties: &Arc<Properties>) -> Result<Accepted, Refusal> {
    let plan_name = request.plan.display().to_string();
    let file_name =
        request.plan.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    properties.set(busyhour_compile::PLAN_NAME_PROPERTY, &file_name);
    let directory = busyhour_compile::plan_directory(&plan_name);
    properties.set(busyhour_compile::PLAN_DIRECTORY_PROPERTY, &directory);
    properties.set(busyhour_compile::ALLOW_UNSUPPORTED_PROPERTY, &request.allow_unsupported.to_string());
    let options = Options {
        properties: Arc::clone(properties),
        base_dir: request.plan.parent().map(Path::to_owned).unwrap_or_default(),
        allow_unsupported: request.allow_unsupported,
        tls: if request.verify_tls { TlsPolicy::Verify } else { TlsPolicy::AcceptAny },
        proxy: request.proxy.clone(),
        request_deadline: request.request_deadline,
        open: request.open.clone(),
    };
    let (plan, compiled, mut findings) = parse_and_compile(bytes, &plan_name, &options);
    findings.retain(|finding| finding.is_error() || !request.known_warnings.contains(&finding.code));
    for finding in findings.iter().filter(|finding| finding.severity != Severity::Note) {
        say(&format!("{finding}\n"));
    }
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    let reads = busyhour_compile::property_reads(&plan);
    if errors == 0 {
        refuse_without_request_properties(&plan_name, properties, reads.as_ref())?;
    }
    match compiled.filter(|_| errors == 0) {
        Some(compiled) => Ok(Accepted { compiled, findings, reads }),
        None => {
            let count = if errors == 1 { "1 error".to_owned() } else { format!("{errors} errors") };
            let text = format!("{plan_name} is refused because of {count}; no request was sent");
            Err(Refusal(Exit::Refused, text))
        }
    }
}

/// Refuses a plan that was generated for a URL and is repeated without the values of its request.
fn refuse_without_request_properties(
    plan: &str,
    properties: &Properties,
    reads: Option<&BTreeSet<String>>,
) -> Result<(), Refusal> {
    let is_missing = |name: &&String| {
        name.starts_with(redaction::REQUEST_PROPERTY) && properties.with(name, |value| value.is_none())
    };
    let missing: Vec<&String> = reads.into_iter().flatten().filter(is_missing).collect();
    let Some(first) = missing.first() else { return Ok(()) };
    let names = missing.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let text = format!(
        "{plan} was generated for a URL and needs values that are not stored in it: {names}\n  hint: add -J {first}=VALUE, or \
         put them into a file for -q; --keep-secrets stores them"
    );
    Err(Refusal(Exit::Refused, text))
}

/// Warns about properties of `-J` that neither the plan nor the program will read, and returns their names. JMeter's own
/// properties, some of which are read later, have names with a dot.
fn warn_of_unread(
    request: &RunRequest,
    properties: &Properties,
    reads: Option<&BTreeSet<String>>,
) -> Vec<String> {
    let Some(reads) = reads else { return Vec::new() };
    let is_unread = |name: &&String| !name.contains('.') && !reads.contains(*name);
    let unread: Vec<String> = unread(request, properties).filter(is_unread).cloned().collect();
    for name in &unread {
        let own = |name: &&String| !name.starts_with(redaction::REQUEST_PROPERTY);
        let hint = match reads
            .iter()
            .filter(own)
            .take(READS_SHOWN)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .as_slice()
        {
            [] => "the plan reads no property: use ${__P(…)}".to_owned(),
            known => format!("the plan reads {}", known.join(", ")),
        };
        say(&format!("warning: the plan does not read the property {name} of -J\n  hint: {hint}"));
    }
    unread
}

fn save_config(
    request: &RunRequest,
    settings: &Settings,
    properties: &Properties,
    compiled: &Compiled,
) -> Result<SaveConfig, Refusal> {
    let mut save = SaveConfig::from_properties(|name| settings::used(settings, properties, name))
        .map_err(Refusal::usage)?;
    if save.xml && request.results.is_none() {
        // The property is for a results file of `-l` and for listeners without a format of their own.
        save.xml = false;
    }
    if request.has_secret_url && settings::used(settings, properties, URL_COLUMN).is_none() {
        save.url = false;
    }
    save.in_functional_mode(compiled.functional_mode());
    Ok(save)
}

fn create_dir(request: &RunRequest, wall_anchor_ms: i64) -> Result<RunDir, Refusal> {
    let stem =
        request.plan.file_stem().map_or_else(|| "run".into(), |stem| stem.to_string_lossy().into_owned());
    let dir = match &request.dir {
        Some(dir) => RunDir::create(dir),
        None => RunDir::create_in(Path::new("busyhour-runs"), &stem, wall_anchor_ms),
    };
    dir.map_err(|error| Refusal::internal(chain(&error)))
}

fn stored_plan_name(request: &RunRequest) -> String {
    let name = request.plan.display().to_string();
    if request.keep_secrets { name } else { redaction::url(&name) }
}

fn stored_command_line(request: &RunRequest) -> Vec<String> {
    let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    if request.keep_secrets { arguments.collect() } else { redaction::command_line(arguments) }
}

fn stored_value(request: &RunRequest, name: &str, value: &str) -> String {
    if request.keep_secrets { value.to_owned() } else { redaction::property(name, value) }
}
