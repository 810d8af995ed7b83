//! `busyhour observe --pid …`: watches a system while another program generates the load.

use std::path::PathBuf;
use std::time::Duration;

use busyhour_observation::{Observation, ObservationRequest, ProcessName, SourceSpec};
use busyhour_program::clock::Clock;
use busyhour_record::RunDir;
use busyhour_series::FileStart;
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::{Exit, complain, say};
use busyhour_terminal::outputs::{OutputFile, OutputKind};
use busyhour_terminal::quantities::time_ns;
use busyhour_terminal::signals::Signals;
use busyhour_verb_inputs::observed_dir;
use clap::Args;

use crate::source_options::{fetch_options, interval_of, metrics_of, sources_of};

/// Options of a watch without a run.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Watch without a run")]
pub(crate) struct WatchArgs {
    /// Watch this process, its descendants and the processes it has connections to; may be given several times.
    #[arg(long, value_name = "PID")]
    pid: Vec<u32>,
    /// Watch these sources: a list in the notation of `busyhour run --observe`, such as os,jvm:shop,log:server.log.
    #[arg(long, value_name = "SOURCES")]
    sources: Vec<String>,
    /// Find and watch the system behind this address.
    #[arg(long, value_name = "HOST:PORT")]
    target: Vec<String>,
    /// How long to watch (default: until Ctrl-C).
    #[arg(long = "for", value_name = "TIME")]
    duration: Option<String>,
    /// Directory for the files (default: a new one in busyhour-runs).
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Time between readings, at least 100ms (default: 1s).
    #[arg(long, value_name = "TIME")]
    interval: Option<String>,
    /// Record these metrics of exporters instead of the usual ones: patterns; may be given several times.
    #[arg(long, value_name = "PATTERN")]
    observe_metrics: Vec<String>,
    /// PEM file of certificate authorities that are trusted for scraped metrics and databases.
    #[arg(long, value_name = "FILE")]
    observe_ca: Option<PathBuf>,
    /// Store secrets of logs instead of "[redacted]".
    #[arg(long)]
    keep_secrets: bool,
}

impl WatchArgs {
    /// Whether any source is named.
    pub(crate) fn has_sources(&self) -> bool {
        !(self.pid.is_empty() && self.sources.is_empty() && self.target.is_empty())
    }

    /// The observation that the options request.
    pub(crate) fn request(&self) -> Result<ObservationRequest, CommandError> {
        let mut request = ObservationRequest {
            sources: sources_of("--sources", &self.sources)?,
            keep_secrets: self.keep_secrets,
            fetch: fetch_options(self.observe_ca.as_ref())?,
            metrics: metrics_of(&self.observe_metrics)?,
            ..ObservationRequest::default()
        };
        if !self.pid.is_empty() {
            request.sources.push(SourceSpec::Os);
            request.sources.extend(self.pid.iter().map(|pid| SourceSpec::Process(ProcessName::Pid(*pid))));
        }
        for target in &self.target {
            let (host, port) = target
                .rsplit_once(':')
                .and_then(|(host, port)| Some((host, port.parse().ok()?)))
                .ok_or_else(|| format!("--target {target:?}: expected HOST:PORT, such as 127.0.0.1:8080"))?;
            request.targets.push((host.to_owned(), port));
        }
        if !request.targets.is_empty() && !request.sources.contains(&SourceSpec::Auto) {
            request.sources.push(SourceSpec::Auto);
        }
        if let Some(interval) = &self.interval {
            request.interval = interval_of("--interval", interval)?;
        }
        Ok(request)
    }
}

/// Watches until the time is over or a signal arrives.
pub(crate) fn main(args: &WatchArgs) -> Exit {
    let (request, duration) =
        match (args.request(), args.duration.as_deref().map(|text| time_ns("--for", text))) {
            (Ok(request), None) => (request, None),
            (Ok(request), Some(Ok(ns))) => (request, Some(Duration::from_nanos(ns))),
            (Err(error), _) | (_, Some(Err(error))) => return complain(Exit::Usage, &error),
        };
    let clock = Clock::start();
    let mut observation = Observation::prepare(request, &clock);
    observation.on_neighbour(Box::new(say));
    observation.lines().iter().for_each(|line| say(&format!("observing {line}")));
    let is_watched = |pid: &u32| {
        let name = format!("process:{pid}");
        observation.lines().iter().any(|line| line.name == name && line.is_watched())
    };
    if let Some(pid) = args.pid.iter().find(|pid| !is_watched(pid)) {
        return complain(Exit::Usage, &format!("--pid {pid}: there is no such process"));
    }
    if !observation.watches_anything() {
        return complain(Exit::Usage, "none of the sources can be watched");
    }
    let dir = match create_dir(args.dir.as_ref(), &clock) {
        Ok(dir) => dir,
        Err(message) => return complain(Exit::Usage, &message),
    };
    let start = FileStart {
        wall_anchor_ms: i64::try_from(clock.wall_start_ms()).unwrap_or(i64::MAX),
        hostname: std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned(),
        program: concat!("busyhour ", env!("CARGO_PKG_VERSION")).into(),
    };
    let sink = Box::new(|line: &str| say(&format!("observing {line}")));
    let running = match observation.start(&dir, &start, Some(sink)) {
        Ok(running) => running,
        Err(error) => return complain(Exit::Internal, &busyhour_diagnostic::io_hints::chain(&error)),
    };
    let until = match duration {
        Some(duration) => format!("for {} s", duration.as_secs_f64()),
        None => "until Ctrl-C".to_owned(),
    };
    say(&format!("watching {until}; files: {}", dir.display()));
    if let Err(error) = wait(duration) {
        return complain(Exit::Internal, &format!("cannot wait for signals: {error}"));
    }
    let unread = running.unread_sources();
    let errors = running.stop();
    if errors.is_empty() && unread.is_some() {
        return complain(Exit::Internal, "none of the sources could be read");
    }
    match errors.as_slice() {
        [] => {
            let page = OutputFile { path: RunDir::open(&dir).report_path(), kind: OutputKind::Html };
            observed_dir::show(&dir, false, &[page])
        }
        errors => {
            let errors: Vec<String> =
                errors.iter().map(|error| busyhour_diagnostic::io_hints::chain(error)).collect();
            complain(Exit::ResultsLost, &errors.join("\nerror: "))
        }
    }
}

fn wait(duration: Option<Duration>) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut signals = Signals::new()?;
        match duration {
            // A signal ends the watch early, and the files are complete.
            Some(duration) => drop(tokio::time::timeout(duration, signals.next_stop()).await),
            None => signals.next_stop().await,
        }
        Ok(())
    })
}

fn create_dir(dir: Option<&PathBuf>, clock: &Clock) -> Result<PathBuf, String> {
    let created = match dir {
        Some(dir) if dir.join(busyhour_series::SERIES_FILE_NAME).exists() => {
            return Err(format!(
                "{} already contains an observation\n  hint: name another directory",
                dir.display()
            ));
        }
        Some(dir) => RunDir::create(dir),
        None => {
            let wall = i64::try_from(clock.wall_start_ms()).unwrap_or(0);
            RunDir::create_in(std::path::Path::new("busyhour-runs"), "observe", wall)
        }
    };
    created.map(|dir| dir.path().to_owned()).map_err(|error| busyhour_diagnostic::io_hints::chain(&error))
}
