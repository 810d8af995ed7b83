//! The options of a run's observation, and the lines about its sources.

use std::path::PathBuf;

use busyhour_launch::{Prepared, RunEvent, RunObserver as _};
use busyhour_observation::{
    Observation, ObservationRequest, ObservedSeries, SourceLine, SourceSpec, SystemObserver,
};
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::{is_quiet, is_verbose};
use busyhour_verb_observe::source_options::{fetch_options, interval_of, metrics_of, sources_of};
use clap::Args;

use crate::events::ShownEvents;
use crate::headings::OBSERVATION;

/// Options of a run's observation.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = OBSERVATION)]
pub(crate) struct ObserveRunArgs {
    /// What to observe: auto (default), none, os, jvm, …
    ///
    /// Sources: none, auto (the processes behind the hosts and ports of the plan, and this machine), os, process:PID or process:NAME, jvm or jvm:NAME,
    /// gc:FILE, log:FILE, journal:UNIT, prometheus:URL or just the URL, postgres://USER:PASSWORD@HOST/DATABASE, mysql://USER:PASSWORD@HOST/DATABASE, rdt, perf:PID,
    /// stacks:jvm:NAME. A comma in a value is written `\,`.
    #[arg(long, value_name = "SOURCES")]
    observe: Vec<String>,
    /// Time between readings, at least 100ms (default: 1s).
    #[arg(long, value_name = "TIME", hide_short_help = true)]
    observe_interval: Option<String>,
    /// Record these metrics of exporters instead of the usual ones; may be given several times.
    ///
    /// Patterns such as 'node_disk_*_total', 'container_*{pod="shop-*"}' or '!node_disk_discard*'; '*' stands for any text, and '!' excludes.
    #[arg(long, value_name = "PATTERN", hide_short_help = true)]
    observe_metrics: Vec<String>,
    /// PEM file of certificate authorities that are trusted for scraped metrics and databases.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    observe_ca: Option<PathBuf>,
}

/// The sources that a run observes.
#[derive(Clone, Debug)]
pub(crate) struct RunObservation {
    request: ObservationRequest,
    /// Whether the user named the sources. If so, each of them is reported.
    is_explicit: bool,
}

impl Default for RunObservation {
    fn default() -> Self {
        let request = ObservationRequest { sources: vec![SourceSpec::Auto], ..ObservationRequest::default() };
        Self { request, is_explicit: false }
    }
}

impl ObserveRunArgs {
    /// Reads the options.
    pub(crate) fn read(&self, keep_secrets: bool) -> Result<RunObservation, CommandError> {
        let mut run = RunObservation::default();
        run.request.keep_secrets = keep_secrets;
        run.request.is_generator = true;
        run.request.fetch = fetch_options(self.observe_ca.as_ref())?;
        run.request.metrics = metrics_of(&self.observe_metrics)?;
        if let Some(interval) = &self.observe_interval {
            run.request.interval = interval_of("--observe-interval", interval)?;
        }
        if !self.observe.is_empty() {
            run.request.sources = sources_of("--observe", &self.observe)?;
            run.is_explicit = true;
        }
        Ok(run)
    }
}

impl RunObservation {
    /// The observation of the sources in a list in the notation of `--observe`. Each source is reported.
    #[cfg_attr(not(feature = "demo"), allow(dead_code, reason = "only the demo names sources itself"))]
    pub(crate) fn of_list(list: &str) -> Result<RunObservation, CommandError> {
        ObserveRunArgs { observe: vec![list.to_owned()], ..ObserveRunArgs::default() }.read(false)
    }

    /// The observation of a run on agents. This process then makes no load: its connections lead to the hub, not to the system.
    pub(crate) fn without_load(&mut self) {
        self.request.is_generator = false;
    }

    /// Leaves out a server that this process is connected to, but which is not under test.
    #[cfg_attr(not(feature = "cluster"), allow(dead_code, reason = "only runs on agents have a hub"))]
    pub(crate) fn leave_out(&mut self, host: String, port: u16) {
        self.request.own_servers.push((host, port));
    }

    /// Whether anything is observed.
    pub(crate) fn is_on(&self) -> bool {
        !self.request.sources.is_empty()
    }

    /// Finds the sources, reports them, and adds the observer to the run. Returns the series of the run.
    pub(crate) fn attach(
        &self,
        prepared: &Prepared,
        events: &ShownEvents,
        is_silent: bool,
    ) -> Result<Option<ObservedSeries>, CommandError> {
        if self.request.sources.is_empty() {
            return Ok(None);
        }
        let mut request = self.request.clone();
        request.targets =
            prepared.info().targets.iter().map(|target| (target.host.clone(), target.port)).collect();
        let is_silent = is_silent || is_quiet();
        let notice = move |events: &mut ShownEvents, text: String| {
            if !is_silent {
                events.event(&RunEvent::Notice(text));
            }
        };
        let mut later = events.clone();
        let sink = Box::new(move |line: &str| notice(&mut later, format!("observing {line}")));
        let mut observer = if self.is_explicit {
            let observation = Observation::prepare(request, prepared.clock());
            let mut now = events.clone();
            observation.lines().iter().for_each(|line| notice(&mut now, format!("observing {line}")));
            SystemObserver::new(observation, sink)
        } else {
            // The search takes a tenth of a second or more, so the load does not wait for it.
            let mut found = events.clone();
            let report = move |lines: &[SourceLine]| {
                texts(lines).into_iter().for_each(|text| notice(&mut found, text));
            };
            SystemObserver::after_start(request, prepared.clock(), Box::new(report), sink)
        };
        let mut neighbours = events.clone();
        observer.on_neighbour(Box::new(move |text| {
            if !is_silent {
                neighbours.event(&RunEvent::Neighbour(text.to_owned()));
            }
        }));
        let series = observer.series();
        prepared
            .observe("the observation", Box::new(observer))
            .map_err(|error| busyhour_diagnostic::io_hints::chain(&error))?;
        Ok(Some(series))
    }
}

/// Messages about sources that the user did not name: one line, or one for each source with `-v`.
fn texts(lines: &[SourceLine]) -> Vec<String> {
    match is_verbose() {
        true => lines.iter().map(|line| format!("observing {line}")).collect(),
        false => overview(lines).into_iter().collect(),
    }
}

/// One line about all sources; `None` if nothing is observed.
fn overview(lines: &[SourceLine]) -> Option<String> {
    let (watched, others): (Vec<_>, Vec<_>) = lines.iter().partition(|line| line.is_watched());
    if watched.is_empty() {
        return None;
    }
    let watched: Vec<String> = watched.iter().map(|line| short(line)).collect();
    let mut text = format!("observing {}", watched.join(", "));
    if !others.is_empty() {
        let others: Vec<&str> = others.iter().map(|line| line.name.as_str()).collect();
        text += &format!("; not {} (--observe auto prints the reasons)", others.join(", "));
    }
    Some(text)
}

fn short(line: &SourceLine) -> String {
    match line.name.starts_with("process:") {
        true => format!("{} ({})", line.name, line.about.split(" (").next().unwrap_or_default()),
        false => line.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use busyhour_observation::LineState;

    use super::*;

    #[test]
    fn patterns_of_metrics_replace_the_usual_ones() {
        let of = |patterns: &[&str]| {
            let observe_metrics = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
            ObserveRunArgs { observe_metrics, ..ObserveRunArgs::default() }.read(false)
        };
        let metrics = of(&["go_*", "!go_gc_*"]).unwrap().request.metrics;
        assert!(metrics.selects("go_goroutines", &[]) && !metrics.selects("go_gc_duration_seconds", &[]));
        assert!(!metrics.selects("node_load1", &[]));
        assert!(of(&[]).unwrap().request.metrics.selects("node_load1", &[]));
        let error = of(&["go_*{"]).unwrap_err().to_string();
        assert!(error.starts_with("--observe-metrics: the pattern `go_*{` is not"), "{error}");
    }

    #[test]
    fn the_connections_of_a_controller_are_not_followed() {
        let mut observation = ObserveRunArgs::default().read(false).unwrap();
        assert!(observation.request.is_generator);
        observation.without_load();
        assert!(!observation.request.is_generator);
    }

    #[test]
    fn the_overview_names_watched_and_unwatched_sources() {
        let line =
            |name: &str, about: &str, state| SourceLine { name: name.into(), about: about.into(), state };
        let missing =
            || LineState::NotObserved { reason: "it needs credentials".into(), advice: String::new() };
        let lines = [
            line("os", "this machine", LineState::Observed),
            line("process:7", "java (JVM), target shop:80", LineState::Observed),
            line("postgres", "", missing()),
        ];
        assert_eq!(
            overview(&lines).as_deref(),
            Some("observing os, process:7 (java); not postgres (--observe auto prints the reasons)")
        );
        assert_eq!(overview(&lines[2..]), None);
    }
}
