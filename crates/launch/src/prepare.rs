//! Prepares a run: properties, plan, run directory, log and manifest.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use busyhour_analysis::thresholds::Criterion;
use busyhour_compile::{Compiled, Options, PerfMonListener, Started};
use busyhour_diagnostic::io_hints::chain;
use busyhour_diagnostic::{Diagnostic, Severity};
use busyhour_export::LatestSeries;
use busyhour_http::TlsPolicy;
use busyhour_limits::files::{INPUT_BYTES, read_input};
use busyhour_program::clock::Clock;
use busyhour_program::phase::{Phase, PhaseGate};
use busyhour_program::run::{JmeterProperties, OutputSink};
use busyhour_record::{
    JtlColumn, MANIFEST_VERSION, Machine, Manifest, PlanFile, ResultFileConfig, RunDir, SampleFilter,
    SaveConfig, plan_hash,
};
use busyhour_sample::{ApdexLimits, Nanos};

use crate::control::RunControl;
use crate::error::LaunchError;
use crate::event::RunEvent;
use crate::exports::ExportSettings;
use crate::files::check_results_file;
use crate::forecast;
use crate::log_file::LogFile;
use crate::notes::notes;
use crate::observer::{RunInfo, RunObserver};
use crate::observers::Observers;
use crate::plan_source::parse_and_compile;
use crate::properties::{LoadedProperties, PropertySources};
use crate::redaction;
use crate::replay_times::resolve_replays;
use crate::request::RunRequest;
use crate::system;
use crate::users::RunUserCounts;

/// With [`RunRequest::spin`], the time for which a core polls the clock before a start, in nanoseconds. It is slightly
/// longer than the time that the kernel needs to wake a thread.
const SPIN_NS: u64 = 50_000;

/// Maximum number of a plan's properties that a hint lists.
const READS_SHOWN: usize = 10;

/// The property that adds the column with URLs to results files.
const URL_COLUMN: &str = "jmeter.save.saveservice.url";

/// A run before it is prepared: a request, its observers and its control.
///
/// The crate documentation has an example.
pub struct Launch {
    request: RunRequest,
    control: RunControl,
    observers: Observers,
    clock: Option<Clock>,
}

/// A run that is ready to start. Its directory exists and contains the plan and a manifest without an outcome.
pub struct Prepared {
    pub(crate) request: RunRequest,
    pub(crate) control: RunControl,
    pub(crate) observers: Observers,
    pub(crate) properties: LoadedProperties,
    pub(crate) started: Started,
    pub(crate) manifest: Manifest,
    pub(crate) dir: RunDir,
    pub(crate) main: ResultFileConfig,
    pub(crate) apdex: ApdexLimits,
    pub(crate) log: LogFile,
    pub(crate) log_path: PathBuf,
    pub(crate) info: RunInfo,
    /// Properties of the request that the plan does not read and that a warning has already named.
    pub(crate) unread: Vec<String>,
    /// The observed series of the system under test, for exports.
    pub(crate) series: LatestSeries,
}

impl std::fmt::Debug for Launch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Launch").field("request", &self.request).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("info", &self.info).finish_non_exhaustive()
    }
}

impl Launch {
    /// Creates a run of this request, with a new control.
    #[must_use]
    pub fn new(request: RunRequest) -> Self {
        Self::with_control(request, RunControl::default())
    }

    /// Creates a run with an existing control, so that stop requests during the preparation have an effect.
    #[must_use]
    pub fn with_control(request: RunRequest, control: RunControl) -> Self {
        Self { request, control, observers: Observers::default(), clock: None }
    }

    /// Sets the clock of the run, which may have started before; by default, it starts when the run is prepared.
    pub fn use_clock(&mut self, clock: Clock) {
        self.clock = Some(clock);
    }

    /// The control of the run.
    #[must_use]
    pub fn control(&self) -> &RunControl {
        &self.control
    }

    /// Adds an observer, which receives all events from now on. `name` is its name in messages, for example `the export
    /// influx`.
    ///
    /// # Errors
    /// The thread of the observer cannot be started.
    pub fn observe(&mut self, name: &str, observer: Box<dyn RunObserver>) -> Result<(), LaunchError> {
        add_observer(&self.observers, name, observer)
    }

    /// Reads the properties and the plan, and creates the run directory.
    ///
    /// # Errors
    /// The plan is rejected, a setting is invalid or a file cannot be written. In this case, all events have been delivered
    /// to the observers.
    pub fn prepare(self) -> Result<Prepared, LaunchError> {
        let observers = self.observers.clone();
        let prepared = prepare(self);
        if prepared.is_err() {
            observers.abandon();
        }
        prepared
    }
}

fn add_observer(
    observers: &Observers,
    name: &str,
    observer: Box<dyn RunObserver>,
) -> Result<(), LaunchError> {
    observers.add(name, observer).map_err(|source| LaunchError::Thread { what: "an observer", source })
}

impl Prepared {
    /// The control of the run.
    #[must_use]
    pub fn control(&self) -> &RunControl {
        &self.control
    }

    /// The description of the run that observers receive.
    #[must_use]
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// The clock of the run.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.started.shared.clock
    }

    /// The PerfMon Metrics Collectors of the plan.
    #[must_use]
    pub fn perfmon_listeners(&self) -> &[PerfMonListener] {
        &self.started.perfmon
    }

    /// The value of a JMeter property. Counts as a use of the property.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.used(&self.started.shared.properties, name).map(str::trim)
    }

    /// Sets the sink for the output of scripts in the plan; without a sink, their output is logged.
    pub fn print_to(&self, sink: OutputSink) {
        self.started.shared.print_to(sink);
    }

    /// Sets the observed series of the system under test, which exports send with the metrics of the run.
    pub fn export_series(&mut self, series: LatestSeries) {
        self.series = series;
    }

    /// Lets a gate decide when the phases of the run start.
    pub fn hold_phases(&self, gate: Arc<dyn PhaseGate>) {
        self.started.shared.part.hold_phases(gate);
    }

    /// Returns a function by which this generator joins a load that has started: its part of the load before a time is left out.
    /// It must be called before the main groups start.
    #[must_use]
    pub fn joining(&self) -> Box<dyn Fn(Nanos) + Send + Sync> {
        let shared = Arc::clone(&self.started.shared);
        Box::new(move |at| shared.part.join_at(at))
    }

    /// Whether the plan has thread groups in a phase.
    #[must_use]
    pub fn has_groups(&self, phase: Phase) -> bool {
        self.started.program.groups.iter().any(|group| group.phase == phase)
    }

    /// Returns a function that reads the numbers of users, even while the run is in progress.
    #[must_use]
    pub fn user_counts(&self) -> Box<dyn Fn() -> RunUserCounts + Send + Sync> {
        let shared = Arc::clone(&self.started.shared);
        Box::new(move || RunUserCounts::of(&shared))
    }

    /// The run directory.
    #[must_use]
    pub fn dir(&self) -> &RunDir {
        &self.dir
    }

    /// The properties of the request with the contents of its files, for a run on another machine.
    #[must_use]
    pub fn resolved_properties(&self) -> PropertySources {
        self.properties.resolved()
    }

    /// The request without secrets, for a process that takes the run over: its properties are those of
    /// [`resolved_properties`](Self::resolved_properties), and the plan's text, exports and credentials are missing.
    #[must_use]
    pub fn storable_request(&self) -> RunRequest {
        let request = &self.request;
        let mut properties = self.resolved_properties();
        for (name, value) in properties.jmeter.iter_mut().chain(&mut properties.system) {
            *value = stored_value(request, name, value);
        }
        RunRequest {
            properties,
            plan: PathBuf::from(stored_plan_name(request)),
            plan_text: None,
            seed: Some(self.info.seed),
            dir: Some(self.dir.path().to_owned()),
            exports: ExportSettings::default(),
            proxy: None,
            command_line: stored_command_line(request),
            ..request.clone()
        }
    }

    /// The request for the run.
    #[must_use]
    pub fn request(&self) -> &RunRequest {
        &self.request
    }

    /// The properties of JMeter in the run. Functions and scripts can change them.
    #[must_use]
    pub fn jmeter_properties(&self) -> &Arc<JmeterProperties> {
        &self.started.shared.properties
    }

    /// Adds an observer, as [`Launch::observe`] does.
    ///
    /// # Errors
    /// The thread of the observer cannot be started.
    pub fn observe(&self, name: &str, observer: Box<dyn RunObserver>) -> Result<(), LaunchError> {
        add_observer(&self.observers, name, observer)
    }
}

fn prepare(launch: Launch) -> Result<Prepared, LaunchError> {
    let Launch { mut request, control, observers, clock } = launch;
    let clock = clock.unwrap_or_else(Clock::start);
    let wall_anchor_ms = i64::try_from(clock.wall_start_ms()).unwrap_or(0);
    let loaded = load_properties(&request, &observers, clock.wall_start_ms())?;
    if let Some(open) = &mut request.open {
        resolve_replays(&mut open.process, &mut |warning| observers.warn(warning))?;
    }
    let bytes = plan_bytes(&request)?;
    let properties = Arc::new(JmeterProperties::new(loaded.all.clone()));
    let Accepted { compiled, findings, reads } = compile(&request, &bytes, &properties, &observers)?;
    if let Some(results) = &request.results {
        check_results_file(results, request.existing_results)?;
    }
    let save = save_config(&request, &loaded, &properties, &compiled)?;
    let apdex = ApdexLimits::from_properties(|name| loaded.used(&properties, name))?;
    let unread = warn_of_unread(&request, &properties, reads.as_ref(), &observers);
    let dir = create_dir(&request, wall_anchor_ms)?;
    let log_path = request.log.clone().unwrap_or_else(|| dir.path().join("run.log"));
    let log = LogFile::create(&log_path, clock.clone()).map_err(|source| LaunchError::File {
        action: "write the log",
        path: log_path.clone(),
        source,
    })?;
    let main_path = request.results.clone().unwrap_or_else(|| dir.jtl_path());
    let main = ResultFileConfig { path: main_path, config: save, filter: SampleFilter::All };
    let seed = request.seed.unwrap_or_else(system::new_seed);
    let plan = plan_file(&request, &compiled, &bytes);
    let rate_timers = compiled.rate_timers().map(str::to_owned).collect();
    let started = busyhour_compile::start(compiled, seed, clock, &properties, log.sink());
    started.shared.part.set_share(request.share.clone());
    multiply_users(&started, request.user_factor.unwrap_or(1))?;
    if request.spin {
        started.shared.spin_ns.store(SPIN_NS, Relaxed);
    }
    let cores = request.cores.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    forecast::limits(&started, cores, &observers);
    forecast::share_without_users(&started, &observers);
    forecast::verdicts(&started, &observers);
    let manifest = Manifest {
        version: MANIFEST_VERSION,
        busyhour: env!("CARGO_PKG_VERSION").into(),
        plan,
        seed,
        share: (!request.share.is_whole()).then(|| request.share.to_string()),
        command_line: stored_command_line(&request),
        properties: loaded
            .given
            .iter()
            .map(|(name, value)| (name.clone(), stored_value(&request, name, value)))
            .collect(),
        machine: Machine::this(started.names.hostname.clone()),
        wall_anchor_ms,
        notes: notes(&findings),
        rate_timers,
        request_deadline: Some(request.request_deadline.into()),
        results_file: request.results.as_deref().and_then(|path| std::path::absolute(path).ok()),
        thresholds: request.thresholds.iter().map(Criterion::portable).collect(),
        parts: RunDir::recorder_parts(),
        events: Vec::new(),
        outcome: None,
    };
    dir.write_manifest(&manifest)?;
    // A copy of the plan next to its results makes the run repeatable.
    if let Err(error) = RunDir::write_whole(&dir.plan_path(), &bytes) {
        observers.warn(chain(&error));
    }
    let length = request.length.or_else(|| forecast::length(&started));
    let info = run_info(&manifest, &dir, &started, cores, length);
    let properties = loaded;
    Ok(Prepared {
        request,
        control,
        observers,
        properties,
        started,
        manifest,
        dir,
        main,
        apdex,
        log,
        log_path,
        info,
        unread,
        series: LatestSeries::default(),
    })
}

/// Multiplies the users of the plan's main thread groups.
fn multiply_users(started: &Started, factor: u32) -> Result<(), LaunchError> {
    let program = &started.program;
    let is_scheduled =
        !program.open.is_empty() || program.groups.iter().any(|group| group.population.is_some());
    match factor {
        1 => Ok(()),
        _ if is_scheduled => Err(LaunchError::ScheduledUsers),
        _ => {
            started.shared.part.multiply_users(factor);
            Ok(())
        }
    }
}

fn run_info(
    manifest: &Manifest,
    dir: &RunDir,
    started: &Started,
    cores: usize,
    length: Option<Duration>,
) -> RunInfo {
    let title = [&manifest.plan.name, &manifest.plan.path].into_iter().find(|name| !name.is_empty());
    let report = dir.report_path();
    RunInfo {
        title: title.cloned().unwrap_or_else(|| "Test run".into()),
        plan: manifest.plan.clone(),
        dir: dir.path().to_owned(),
        report: std::path::absolute(&report).unwrap_or(report),
        wall_anchor_ms: manifest.wall_anchor_ms,
        seed: manifest.seed,
        cores,
        length,
        processes: started.program.open.iter().map(|workload| workload.process.to_string()).collect(),
        targets: started.targets.iter().cloned().collect(),
        hostname: started.names.hostname.clone(),
        fixed_rate: fixed_rate(started),
    }
}

/// The reason why the rate of a run cannot be changed; `None` if it can.
fn fixed_rate(started: &Started) -> Option<String> {
    let open = &started.program.open;
    if open.is_empty() {
        return Some(
            "The users of the plan determine the rate. The run can be paused and stopped; with --arrivals the rate can be changed too."
                .into(),
        );
    }
    let is_file = open.iter().any(|workload| !workload.process.has_rate());
    is_file.then(|| "The arrival times come from a file. The run can be paused and stopped.".into())
}

fn load_properties(
    request: &RunRequest,
    observers: &Observers,
    started_ms: u64,
) -> Result<LoadedProperties, LaunchError> {
    let loaded = request.properties.load(started_ms)?;
    for path in &loaded.missing {
        observers.warn(format!(
            "the properties file {} does not exist; like JMeter, the run starts without it",
            path.display()
        ));
    }
    Ok(loaded)
}

fn plan_bytes(request: &RunRequest) -> Result<Vec<u8>, LaunchError> {
    match &request.plan_text {
        Some(text) => Ok(text.as_bytes().to_vec()),
        None => read_input(&request.plan, INPUT_BYTES)
            .map_err(|source| LaunchError::PlanUnreadable { path: request.plan.clone(), source }),
    }
}

fn plan_file(request: &RunRequest, compiled: &Compiled, bytes: &[u8]) -> PlanFile {
    PlanFile {
        path: stored_plan_name(request),
        name: compiled.plan_name().to_owned(),
        sha256: plan_hash(&[bytes, request.hashed_with_plan.as_bytes()].concat()),
        url: request.url_plan.clone(),
    }
}

/// A compiled plan without errors.
struct Accepted {
    compiled: Compiled,
    findings: Vec<Diagnostic>,
    /// The names of the properties that the plan reads, if they are known.
    reads: Option<BTreeSet<String>>,
}

/// Compiles the plan and reports its errors and warnings.
fn compile(
    request: &RunRequest,
    bytes: &[u8],
    properties: &Arc<JmeterProperties>,
    observers: &Observers,
) -> Result<Accepted, LaunchError> {
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
    let is_known = |finding: &Diagnostic| request.known_warnings.iter().any(|code| *code == finding.code);
    findings.retain(|finding| finding.is_error() || !is_known(finding));
    for finding in findings.iter().filter(|finding| finding.severity != Severity::Note) {
        observers.emit(RunEvent::Finding(finding.clone()));
    }
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    let reads = busyhour_compile::property_reads(&plan);
    if errors == 0 {
        refuse_without_request_properties(&plan_name, properties, reads.as_ref())?;
    }
    match compiled.filter(|_| errors == 0) {
        Some(compiled) => Ok(Accepted { compiled, findings, reads }),
        None => Err(LaunchError::PlanRefused { plan: plan_name, errors }),
    }
}

/// Rejects a plan that was generated for a URL and is run again without the values of its request.
fn refuse_without_request_properties(
    plan: &str,
    properties: &JmeterProperties,
    reads: Option<&BTreeSet<String>>,
) -> Result<(), LaunchError> {
    let is_missing = |name: &&String| {
        name.starts_with(redaction::REQUEST_PROPERTY) && properties.with(name, |value| value.is_none())
    };
    let missing: Vec<String> = reads.into_iter().flatten().filter(is_missing).cloned().collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(LaunchError::MissingRequestValues { plan: plan.to_owned(), missing }),
    }
}

/// Warns about properties of `-J` that neither the plan nor the program will read, and returns their names. JMeter's own
/// properties are not reported, because some are read later; their names contain a dot.
fn warn_of_unread(
    request: &RunRequest,
    properties: &JmeterProperties,
    reads: Option<&BTreeSet<String>>,
    observers: &Observers,
) -> Vec<String> {
    let Some(reads) = reads else { return Vec::new() };
    let is_unread = |name: &&String| !name.contains('.') && !reads.contains(*name);
    let unread: Vec<String> = unread(request, properties).filter(is_unread).cloned().collect();
    for name in &unread {
        let own = |name: &&String| !name.starts_with(redaction::REQUEST_PROPERTY);
        let known: Vec<&str> = reads.iter().filter(own).take(READS_SHOWN).map(String::as_str).collect();
        let hint = match known.as_slice() {
            [] => "the plan reads no property: use ${__P(…)}".to_owned(),
            known => format!("the plan reads {}", known.join(", ")),
        };
        observers.warn(format!("the plan does not read the property {name} of -J\n  hint: {hint}"));
    }
    unread
}

/// Properties of `-J` that have not been read so far, without duplicates.
pub(crate) fn unread<'r>(
    request: &'r RunRequest,
    properties: &JmeterProperties,
) -> impl Iterator<Item = &'r String> {
    let given = request
        .properties
        .jmeter
        .iter()
        .filter(|(name, value)| !value.is_empty() && !properties.is_read(name));
    given.map(|(name, _)| name).collect::<BTreeSet<_>>().into_iter()
}

fn save_config(
    request: &RunRequest,
    loaded: &LoadedProperties,
    properties: &JmeterProperties,
    compiled: &Compiled,
) -> Result<SaveConfig, LaunchError> {
    let mut save = SaveConfig::from_properties(|name| loaded.used(properties, name))?;
    if save.xml && request.results.is_none() {
        // The property for XML applies only to a results file of `-l` and to listeners without a format of their own.
        save.xml = false;
    }
    if request.has_secret_url && loaded.used(properties, URL_COLUMN).is_none() {
        save.shown.set(JtlColumn::Url, false);
    }
    save.in_functional_mode(compiled.functional_mode());
    Ok(save)
}

fn create_dir(request: &RunRequest, wall_anchor_ms: i64) -> Result<RunDir, LaunchError> {
    let stem =
        request.plan.file_stem().map_or_else(|| "run".into(), |stem| stem.to_string_lossy().into_owned());
    let dir = match &request.dir {
        Some(dir) => RunDir::create(dir),
        None => RunDir::create_in(Path::new("busyhour-runs"), &stem, wall_anchor_ms),
    };
    Ok(dir?)
}

fn stored_plan_name(request: &RunRequest) -> String {
    let name = request.plan.display().to_string();
    if request.keep_secrets { name } else { redaction::url(&name) }
}

fn stored_command_line(request: &RunRequest) -> Vec<String> {
    let arguments = request.command_line.iter().cloned();
    if request.keep_secrets { arguments.collect() } else { redaction::command_line(arguments) }
}

fn stored_value(request: &RunRequest, name: &str, value: &str) -> String {
    if request.keep_secrets { value.to_owned() } else { redaction::property(name, value) }
}
