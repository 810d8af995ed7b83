//! Sends the metrics of a run to databases and collectors while it runs.

use std::sync::Arc;

use busyhour_analysis::thresholds::ThresholdResult;
use busyhour_compile::{BackendKind, BackendListener};
use busyhour_export::{
    BackendSettings, ExportError, Exporter, GraphiteExporter, HistogramForm, HttpPost, InfluxExporter,
    InfluxNames, LatestSeries, NowMs, OtlpExporter, RemoteWriteExporter, SamplerFilter, ScrapeServer, Sender,
    TcpText, TimeOrigin, UdpText, UsersSoFar,
};
use busyhour_sample::Snapshot;
use serde::{Deserialize, Serialize};

use crate::error::LaunchError;
use crate::event::RunEvent;
use crate::observer::{ObserverError, RunEnded, RunObserver};
use crate::observers::Observers;

/// Maximum number of seconds whose metrics are queued for an export while its database is unavailable; later ones are lost.
const SECONDS_WAITING_MAX: usize = 120;

/// The percentiles that databases receive; the same as JMeter's defaults.
const PERCENTILES: [f64; 3] = [90.0, 95.0, 99.0];

/// Interval between two sets of metrics, as in JMeter's InfluxDB listener.
pub const INFLUX_INTERVAL_S: u64 = 5;

/// The destinations to which the metrics of a run are sent every second, besides the backend listeners of the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExportSettings {
    /// `ADDRESS:PORT` at which metrics are served to Prometheus; port 0 selects a free port.
    pub prometheus: Option<String>,
    /// URL for Prometheus remote write.
    pub remote_write: Option<String>,
    /// Whether native histograms are sent by remote write.
    pub native_histograms: bool,
    /// URL of an OTLP collector.
    pub otlp: Option<String>,
    /// URL of InfluxDB, `http://…` or `udp://HOST:PORT`.
    pub influx: Option<String>,
    /// `HOST:PORT` of Graphite.
    pub graphite: Option<String>,
    /// Name of the run in the metrics; by default the plan's name.
    pub name: Option<String>,
}

/// The data of a run that exporters need.
pub(crate) struct ExportedRun<'r> {
    pub(crate) listeners: &'r [BackendListener],
    pub(crate) title: &'r str,
    pub(crate) origin: TimeOrigin,
    pub(crate) now_ms: NowMs,
    pub(crate) users: UsersSoFar,
    /// The observed series of the system under test.
    pub(crate) series: LatestSeries,
}

type BoxedExporter = Box<dyn Exporter + Send>;

/// Starts the exports of the settings and of the plan's backend listeners. The servers that Prometheus scrapes run until the
/// returned values are dropped.
pub(crate) fn start_exports(
    settings: &ExportSettings,
    run: &ExportedRun<'_>,
    observers: &Observers,
) -> Result<Vec<ScrapeServer>, LaunchError> {
    let ExportedRun { listeners, title, origin, now_ms, users, series } = run;
    let (origin, mut servers) = (*origin, Vec::new());
    let name = settings.name.as_deref().unwrap_or(title);
    let add = |name: &str, exporter: BoxedExporter| {
        let observer = ExportObserver { exporter, seconds: 0, failed: 0, first_error: None };
        observers
            .add(&format!("the export {name}"), Box::new(observer))
            .map_err(|source| LaunchError::Thread { what: "an export", source })
    };
    if let Some(address) = &settings.prometheus {
        let (server, exporter) = ScrapeServer::start(address, name)
            .map_err(|source| LaunchError::MetricsServer { address: address.clone(), source })?;
        observers.emit(RunEvent::Notice(format!("metrics at http://{}/metrics", server.address())));
        servers.push(server);
        exporter.set_series(series.clone());
        add("prometheus", Box::new(exporter))?;
    }
    if let Some(url) = &settings.remote_write {
        let form = if settings.native_histograms { HistogramForm::Native } else { HistogramForm::Classic };
        let exporter = RemoteWriteExporter::new(url, origin, name, form, Arc::clone(now_ms));
        add("remote write", Box::new(exporter.with_series(series.clone())))?;
    }
    if let Some(url) = &settings.otlp {
        let exporter = OtlpExporter::new(url, origin, name, Arc::clone(now_ms));
        add("otlp", Box::new(exporter.with_series(series.clone())))?;
    }
    if let Some(url) = &settings.influx {
        let settings = backend_settings(INFLUX_INTERVAL_S, users);
        add("influx", influx_exporter(sender_of(url), origin, settings, name))?;
    }
    if let Some(address) = &settings.graphite {
        let sender = TcpText::new(address);
        let settings = backend_settings(1, users);
        add("graphite", Box::new(GraphiteExporter::new(sender, origin, settings, &graphite_prefix(name))))?;
    }
    for listener in *listeners {
        match backend_listener(listener, origin, users) {
            Ok(exporter) => add(&listener.name, exporter)?,
            // As in JMeter, a listener that cannot start does not prevent the test.
            Err(error) => {
                observers.warn(format!("the backend listener {} sends nothing: {error}", listener.name))
            }
        }
    }
    Ok(servers)
}

/// Sends the seconds of a run to an exporter. The export continues after a failure, so that a database that becomes
/// available again receives later seconds.
struct ExportObserver {
    exporter: BoxedExporter,
    seconds: u64,
    failed: u64,
    first_error: Option<ExportError>,
}

impl ExportObserver {
    fn note(&mut self, result: Result<(), ExportError>) {
        if let Err(error) = result {
            self.failed += 1;
            self.first_error.get_or_insert(error);
        }
    }
}

impl RunObserver for ExportObserver {
    fn second(&mut self, snapshot: &Snapshot, _thresholds: &[ThresholdResult]) {
        self.seconds += 1;
        let result = self.exporter.second(snapshot);
        self.note(result);
    }

    fn ended(&mut self, _run: &RunEnded) -> Result<(), ObserverError> {
        let result = self.exporter.finish();
        self.note(result);
        match self.first_error.take() {
            None => Ok(()),
            Some(first) => {
                Err(Box::new(IncompleteExport { failed: self.failed, seconds: self.seconds, first }))
            }
        }
    }

    fn seconds_waiting_max(&self) -> usize {
        SECONDS_WAITING_MAX
    }
}

/// The error of an export that could not send everything.
#[derive(Debug, thiserror::Error)]
#[error("failed {failed} times in {seconds} s, first")]
struct IncompleteExport {
    failed: u64,
    seconds: u64,
    #[source]
    first: ExportError,
}

/// Settings of exports to InfluxDB and Graphite that do not come from an element of a plan.
#[must_use]
pub fn backend_settings(interval_s: u64, users: &UsersSoFar) -> BackendSettings {
    BackendSettings {
        summary_only: false,
        samplers: SamplerFilter::all(),
        percentiles: PERCENTILES.to_vec(),
        interval_s,
        users: Arc::clone(users),
    }
}

/// The sender for a URL: datagrams for `udp://`, otherwise HTTP requests.
#[must_use]
pub fn sender_of(url: &str) -> Box<dyn Sender + Send> {
    match url.strip_prefix("udp://") {
        Some(address) => Box::new(UdpText::new(address.trim_end_matches('/'))),
        None => Box::new(HttpPost::new(url, Vec::new())),
    }
}

/// An exporter that uses the names of JMeter's InfluxDB listener.
#[must_use]
pub fn influx_exporter(
    sender: Box<dyn Sender + Send>,
    origin: TimeOrigin,
    settings: BackendSettings,
    application: &str,
) -> Box<dyn Exporter + Send> {
    let names =
        InfluxNames { measurement: "jmeter", application, title: application, event_tags: "", tags: &[] };
    Box::new(InfluxExporter::new(sender, origin, settings, names))
}

/// The metric prefix of JMeter, followed by the name of the run.
#[must_use]
pub fn graphite_prefix(name: &str) -> String {
    let part: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    format!("jmeter.{part}.")
}

/// The reason why a backend listener of a plan sends nothing.
#[derive(Debug, thiserror::Error)]
enum BackendError {
    #[error("its {0} is empty")]
    Empty(&'static str),
    #[error("Graphite's pickle protocol is not supported; use TextGraphiteMetricsSender")]
    Pickle,
    #[error("its pattern {pattern:?} is not a valid regular expression: {source}")]
    Pattern { pattern: String, source: regex::Error },
}

fn pattern(text: &str) -> Result<regex::Regex, BackendError> {
    regex::Regex::new(text).map_err(|source| BackendError::Pattern { pattern: text.to_owned(), source })
}

/// The arguments of a backend listener.
struct Arguments<'l>(&'l [(String, String)]);

impl<'l> Arguments<'l> {
    fn get(&self, name: &str) -> Option<&'l str> {
        self.0.iter().rfind(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn text(&self, name: &str, default: &'static str) -> &'l str {
        self.get(name).unwrap_or(default)
    }

    /// The argument `name`, which must not be empty.
    fn required(&self, name: &'static str) -> Result<&'l str, BackendError> {
        self.get(name).filter(|text| !text.is_empty()).ok_or(BackendError::Empty(name))
    }

    fn flag(&self, name: &str, default: bool) -> bool {
        self.get(name).map_or(default, |value| value.eq_ignore_ascii_case("true"))
    }
}

/// The exporter for a backend listener of the plan.
fn backend_listener(
    listener: &BackendListener,
    origin: TimeOrigin,
    users: &UsersSoFar,
) -> Result<BoxedExporter, BackendError> {
    let arguments = Arguments(&listener.arguments);
    let settings = |interval_s: u64, samplers: SamplerFilter, summary_only: bool| BackendSettings {
        summary_only: arguments.flag("summaryOnly", summary_only),
        samplers,
        percentiles: BackendSettings::percentiles_of(arguments.text("percentiles", "")),
        interval_s: listener.send_interval_s.unwrap_or(interval_s),
        users: Arc::clone(users),
    };
    match listener.kind {
        BackendKind::Graphite => {
            let named = arguments.text("samplersList", "");
            let samplers = if arguments.flag("useRegexpForSamplersList", false) {
                SamplerFilter::Find(pattern(&format!("^(?:{named})$"))?)
            } else {
                SamplerFilter::Named(named.split(';').map(str::to_owned).collect())
            };
            let host = arguments.required("graphiteHost")?;
            if arguments.text("graphiteMetricsSender", "").contains("Pickle") {
                return Err(BackendError::Pickle);
            }
            let sender = TcpText::new(format!("{host}:{}", arguments.text("graphitePort", "2003")));
            let prefix = arguments.text("rootMetricsPrefix", "jmeter.");
            Ok(Box::new(GraphiteExporter::new(sender, origin, settings(1, samplers, true), prefix)))
        }
        BackendKind::Influx => {
            let url = arguments.required("influxdbUrl")?;
            let samplers = SamplerFilter::Find(pattern(arguments.text("samplersRegex", ""))?);
            let settings = settings(INFLUX_INTERVAL_S, samplers, false);
            let tags = influx_tags(&listener.arguments);
            let names = InfluxNames {
                measurement: arguments.text("measurement", "jmeter"),
                application: arguments.text("application", ""),
                title: arguments.text("testTitle", "Test"),
                event_tags: arguments.text("eventTags", ""),
                tags: &tags,
            };
            Ok(Box::new(InfluxExporter::new(influx_sender(&arguments, url), origin, settings, names)))
        }
    }
}

fn influx_sender(arguments: &Arguments<'_>, url: &str) -> Box<dyn Sender + Send> {
    if arguments.text("influxdbMetricsSender", "").contains("Udp") {
        return Box::new(UdpText::new(url));
    }
    let token = arguments.get("influxdbToken").map(str::trim).filter(|token| !token.is_empty());
    let header = token.map(|token| ("Authorization".to_owned(), format!("Token {token}")));
    Box::new(HttpPost::new(url, header.into_iter().collect()))
}

/// The tags: all arguments with a name of the form `TAG_name`.
fn influx_tags(arguments: &[(String, String)]) -> Vec<(String, String)> {
    let tags = arguments.iter().filter_map(|(name, value)| {
        Some((name.trim().strip_prefix("TAG_")?.to_owned(), value.trim().to_owned()))
    });
    tags.filter(|(name, value)| !name.is_empty() && !value.is_empty()).collect()
}
