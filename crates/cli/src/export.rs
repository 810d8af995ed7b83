//! Exports a run to other programs: during the run, and afterwards with `busyhour export`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use busyhour_compile::{BackendKind, BackendListener};
use busyhour_export::{
    BackendSettings, Clock, CsvExporter, ExportError, Exporter, Followed, GraphiteExporter, HistogramForm,
    HistogramLogExporter, HttpPost, InfluxExporter, InfluxNames, NowMs, Origin, OtlpExporter,
    PercentileExporter, RemoteWriteExporter, SamplerFilter, ScrapeServer, Sender, TcpText, UdpText,
    UserCounts, WriteText, export_parquet, follow,
};
use busyhour_record::{
    InputFacts, Manifest, ReadSettings, RecordReading, ResultsError, ResultsInput, RunDir, Snapshot,
    SnapshotSender, read_snapshots, run_start_ms, snapshot_channel,
};
use busyhour_runs::{record_reading, run_dir_hint};
use clap::{Args, ValueEnum};

use crate::command_error::CommandError;
use crate::exit::{Exit, READ_TABLE, complain, hinted, say};
use crate::inputs::{Inputs, is_stdin, warn_about_unfinished_runs};
use crate::io_hints::chain;
use crate::results_args::ResultsArgs;

/// Maximum seconds of metrics queued for an export while its database is unavailable; older ones are lost.
const BEHIND_MAX: usize = 120;

/// The percentiles of databases, as JMeter's default.
const PERCENTILES: [f64; 3] = [90.0, 95.0, 99.0];

/// Interval between two sets of metrics, as in JMeter's InfluxDB listener.
const INFLUX_INTERVAL_S: u64 = 5;

/// How long to wait for exports after a forced end of the run.
const EXPORT_PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Sending metrics every second")]
pub(crate) struct LiveExportArgs {
    /// Serve metrics to Prometheus at http://ADDRESS/metrics (port 0 selects a free port).
    #[arg(long, value_name = "ADDRESS:PORT")]
    prometheus: Option<String>,
    /// Send metrics by Prometheus remote write, e.g. to http://HOST:9090/api/v1/write.
    #[arg(long, value_name = "URL")]
    remote_write: Option<String>,
    /// Send native histograms by remote write (bucket bounds 2.2 % apart); they must be enabled in Prometheus.
    #[arg(long, requires = "remote_write")]
    native_histograms: bool,
    /// Send OTLP metrics (HTTP, protobuf) to a collector, e.g. http://HOST:4318/v1/metrics.
    #[arg(long, value_name = "URL")]
    otlp: Option<String>,
    /// Send metrics to InfluxDB with the names of JMeter's listener: http://HOST:8086/write?db=jmeter, or udp://HOST:PORT.
    #[arg(long, value_name = "URL")]
    influx: Option<String>,
    /// Send metrics to Graphite with the names of JMeter's listener.
    #[arg(long, value_name = "HOST:PORT")]
    graphite: Option<String>,
    /// Name of the run in exported metrics (default: the plan's name).
    #[arg(long, value_name = "NAME")]
    export_name: Option<String>,
}

/// The exports of a running test.
#[derive(Default)]
pub(crate) struct Exports {
    threads: Vec<(String, JoinHandle<Followed>)>,
    scrapes: Vec<ScrapeServer>,
}

type BoxedExporter = Box<dyn Exporter + Send>;

impl Exports {
    /// Starts the exports of the command line and of the plan's backend listeners. The senders are for the recorder.
    pub(crate) fn start(
        args: &LiveExportArgs,
        listeners: &[BackendListener],
        plan: &str,
        origin: Origin,
        now_ms: &NowMs,
        users: &UserCounts,
    ) -> Result<(Exports, Vec<SnapshotSender>), CommandError> {
        let (mut exports, mut senders) = (Exports::default(), Vec::new());
        let name = args.export_name.as_deref().unwrap_or(plan);
        if let Some(address) = &args.prometheus {
            let (server, exporter) = ScrapeServer::start(address, name).map_err(|error| {
                format!("--prometheus: cannot listen at {address}: {}", crate::io_hints::with_hint(&error))
            })?;
            say(&format!("metrics at http://{}/metrics", server.address()));
            exports.scrapes.push(server);
            exports.follow("prometheus", Box::new(exporter), &mut senders)?;
        }
        if let Some(url) = &args.remote_write {
            let form = if args.native_histograms { HistogramForm::Native } else { HistogramForm::Classic };
            let exporter = RemoteWriteExporter::new(url, origin, name, form, Arc::clone(now_ms));
            exports.follow("remote write", Box::new(exporter), &mut senders)?;
        }
        if let Some(url) = &args.otlp {
            exports.follow(
                "otlp",
                Box::new(OtlpExporter::new(url, origin, name, Arc::clone(now_ms))),
                &mut senders,
            )?;
        }
        if let Some(url) = &args.influx {
            let settings = settings(INFLUX_INTERVAL_S, users);
            exports.follow("influx", influx(sender_of(url), origin, settings, name), &mut senders)?;
        }
        if let Some(address) = &args.graphite {
            let sender = TcpText::new(address);
            let exporter = GraphiteExporter::new(sender, origin, settings(1, users), &graphite_prefix(name));
            exports.follow("graphite", Box::new(exporter), &mut senders)?;
        }
        for listener in listeners {
            match backend_listener(listener, origin, users) {
                Ok(exporter) => exports.follow(&listener.name, exporter, &mut senders)?,
                // As in JMeter, a listener that cannot work does not keep the test from running.
                Err(error) => {
                    say(&format!("warning: the backend listener {} sends nothing: {error}", listener.name))
                }
            }
        }
        Ok((exports, senders))
    }

    fn follow(
        &mut self,
        name: &str,
        mut exporter: BoxedExporter,
        senders: &mut Vec<SnapshotSender>,
    ) -> Result<(), CommandError> {
        let (sender, seconds) = snapshot_channel(BEHIND_MAX);
        let thread = std::thread::Builder::new()
            .name("export".into())
            .spawn(move || follow(&seconds, &mut *exporter))
            .map_err(|error| format!("cannot start the export {name}: {error}"))?;
        senders.push(sender);
        self.threads.push((name.to_owned(), thread));
        Ok(())
    }

    /// Waits until everything is sent, and returns messages about what could not be sent. Must be called after the recorder has
    /// ended.
    ///
    /// Once the end `is_forced`, it waits for at most one second.
    pub(crate) fn finish(self, is_forced: impl Fn() -> bool) -> Vec<String> {
        let mut reported = Vec::new();
        for (name, thread) in self.threads {
            if !has_ended(&thread, &is_forced) {
                reported.push(format!(
                    "the export {name} had not sent everything when the run was stopped at once"
                ));
                continue;
            }
            let Ok(followed) = thread.join() else {
                reported.push(format!("the export {name} failed"));
                continue;
            };
            if let Some(error) = &followed.first_error {
                reported.push(format!(
                    "the export {name} failed {} times in {} s, first: {}",
                    followed.failed,
                    followed.seconds,
                    chain(error)
                ));
            }
            if followed.lost > 0 {
                reported.push(format!(
                    "the export {name} was too slow: {} seconds are missing there",
                    followed.lost
                ));
            }
        }
        reported
    }
}

/// Waits for the end of a thread; at most one second once the end `is_forced`.
fn has_ended<T>(thread: &std::thread::JoinHandle<T>, is_forced: impl Fn() -> bool) -> bool {
    let mut forced_since = None;
    while !thread.is_finished() {
        let now = std::time::Instant::now();
        if is_forced() && now - *forced_since.get_or_insert(now) >= EXPORT_PATIENCE {
            return false;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(2));
    }
    true
}

fn settings(interval_s: u64, users: &UserCounts) -> BackendSettings {
    BackendSettings {
        summary_only: false,
        samplers: SamplerFilter::all(),
        percentiles: PERCENTILES.to_vec(),
        interval_s,
        users: Arc::clone(users),
    }
}

/// The sender for a URL: datagrams for `udp://`, otherwise HTTP requests.
fn sender_of(url: &str) -> Box<dyn Sender + Send> {
    match url.strip_prefix("udp://") {
        Some(address) => Box::new(UdpText::new(address.trim_end_matches('/'))),
        None => Box::new(HttpPost::new(url, Vec::new())),
    }
}

fn influx(
    sender: Box<dyn Sender + Send>,
    origin: Origin,
    settings: BackendSettings,
    application: &str,
) -> BoxedExporter {
    let names =
        InfluxNames { measurement: "jmeter", application, title: application, event_tags: "", tags: &[] };
    Box::new(InfluxExporter::new(sender, origin, settings, names))
}

/// The metric prefix of JMeter, followed by the name of the run.
fn graphite_prefix(name: &str) -> String {
    let part: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    format!("jmeter.{part}.")
}

/// The exporter for a backend listener of the plan.
fn backend_listener(
    listener: &BackendListener,
    origin: Origin,
    users: &UserCounts,
) -> Result<BoxedExporter, CommandError> {
    let get = |name: &str| {
        listener.arguments.iter().rfind(|(known, _)| known == name).map(|(_, value)| value.as_str())
    };
    let text = |name: &str, default: &'static str| get(name).unwrap_or(default).to_owned();
    let flag =
        |name: &str, default: bool| get(name).map_or(default, |value| value.eq_ignore_ascii_case("true"));
    let pattern = |text: &str| {
        regex::Regex::new(text)
            .map_err(|error| format!("its pattern {text:?} is not a valid regular expression: {error}"))
    };
    let percentiles = BackendSettings::percentiles_of(get("percentiles").unwrap_or_default());
    let is_graphite = listener.kind == BackendKind::Graphite;
    let (summary_only, users) = (flag("summaryOnly", is_graphite), Arc::clone(users));
    if is_graphite {
        let named = text("samplersList", "");
        let samplers = if flag("useRegexpForSamplersList", false) {
            SamplerFilter::Find(pattern(&format!("^(?:{named})$"))?)
        } else {
            SamplerFilter::Named(named.split(';').map(str::to_owned).collect())
        };
        let (host, port) = (text("graphiteHost", ""), text("graphitePort", "2003"));
        if host.is_empty() {
            return Err("its graphiteHost is empty".into());
        }
        if text("graphiteMetricsSender", "").contains("Pickle") {
            return Err("Graphite's pickle protocol is not supported; use TextGraphiteMetricsSender".into());
        }
        let interval_s = listener.send_interval_s.unwrap_or(1);
        let settings = BackendSettings { summary_only, samplers, percentiles, interval_s, users };
        let prefix = text("rootMetricsPrefix", "jmeter.");
        return Ok(Box::new(GraphiteExporter::new(
            TcpText::new(format!("{host}:{port}")),
            origin,
            settings,
            &prefix,
        )));
    }
    let url = text("influxdbUrl", "");
    if url.is_empty() {
        return Err("its influxdbUrl is empty".into());
    }
    let sender: Box<dyn Sender + Send> = if text("influxdbMetricsSender", "").contains("Udp") {
        Box::new(UdpText::new(url))
    } else {
        let token = get("influxdbToken").map(str::trim).filter(|token| !token.is_empty());
        let headers =
            token.map(|token| ("Authorization".to_owned(), format!("Token {token}"))).into_iter().collect();
        Box::new(HttpPost::new(url, headers))
    };
    let samplers = SamplerFilter::Find(pattern(&text("samplersRegex", ""))?);
    let interval_s = listener.send_interval_s.unwrap_or(INFLUX_INTERVAL_S);
    let settings = BackendSettings { summary_only, samplers, percentiles, interval_s, users };
    let tags: Vec<_> = listener
        .arguments
        .iter()
        .filter_map(|(name, value)| {
            Some((name.trim().strip_prefix("TAG_")?.to_owned(), value.trim().to_owned()))
        })
        .filter(|(name, value)| !name.is_empty() && !value.is_empty())
        .collect();
    let names = InfluxNames {
        measurement: &text("measurement", "jmeter"),
        application: &text("application", ""),
        title: &text("testTitle", "Test"),
        event_tags: &text("eventTags", ""),
        tags: &tags,
    };
    Ok(Box::new(InfluxExporter::new(sender, origin, settings, names)))
}

/// Export formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// CSV, one row per second and label.
    Csv,
    /// HdrHistogram percentile distribution.
    Hgrm,
    /// HdrHistogram log, one interval per second, label and clock.
    Hlog,
    /// InfluxDB line protocol with the names of JMeter's listener.
    Influx,
    /// Graphite plain text with the names of JMeter's listener.
    Graphite,
    /// Prometheus exposition format, as scraped at the end.
    Prometheus,
    /// Apache Parquet, one row per sample, both clocks in nanoseconds.
    Parquet,
}

#[derive(Debug, Args)]
#[command(after_help = format!(
    "Examples:\n  busyhour export busyhour-runs/shop-20260101-120000 --to csv -o seconds.csv\n  \
     busyhour export results.jtl --to hgrm --label checkout -o checkout.hgrm\n  \
     busyhour export generator-*.jtl.gz --to parquet -o samples.parquet\n  \
     busyhour export run.jtl --to influx -o 'http://127.0.0.1:8086/write?db=jmeter'\n  \
     busyhour export results.jtl --to graphite -o tcp://127.0.0.1:2003\n\n{READ_TABLE}"
))]
pub(crate) struct ExportArgs {
    /// Run directories and JTL files; several are merged as results of one test; - is standard input.
    #[arg(required = true, value_name = "FILE|DIR")]
    inputs: Vec<PathBuf>,
    /// Export format.
    #[arg(long)]
    to: Format,
    /// Output file, or for influx and graphite a URL: http://…, tcp://HOST:PORT or udp://HOST:PORT (default: standard
    /// output).
    #[arg(short = 'o', long, value_name = "FILE|URL")]
    output: Option<String>,
    /// Label to export, for hgrm only (default: all requests).
    #[arg(long)]
    label: Option<String>,
    /// Clock to export, for hgrm only.
    #[arg(long, value_parser = ["response", "service"], default_value = "response")]
    clock: String,
    /// Name of the run in databases (default: the name of the plan or file).
    #[arg(long, value_name = "NAME")]
    export_name: Option<String>,
    #[command(flatten, next_help_heading = "Reading results")]
    results: ResultsArgs,
}

pub(crate) fn main(args: &ExportArgs) -> Exit {
    match export(args) {
        Ok(Some(path)) => {
            let what = if path.contains("://") { "sent to" } else { "wrote" };
            say(&format!("{what} {path}"));
            Exit::Completed
        }
        Ok(None) => Exit::Completed,
        Err((exit, message)) => complain(exit, &message),
    }
}

fn export(args: &ExportArgs) -> Result<Option<String>, (Exit, String)> {
    let url = args.output.as_deref().filter(|output| output.contains("://"));
    if url.is_some() && !matches!(args.to, Format::Influx | Format::Graphite) {
        return Err((
            Exit::Usage,
            "only influx and graphite can be sent to a URL; give the name of a file".into(),
        ));
    }
    if args.label.is_some() && args.to != Format::Hgrm {
        return Err((
            Exit::Usage,
            "--label is for --to hgrm only; the other formats contain all labels".into(),
        ));
    }
    let options = args.results.options().map_err(|error| (Exit::Usage, error.into()))?;
    let inputs = Inputs::kept(&args.inputs)?;
    warn_about_unfinished_runs(&args.inputs, "exported");
    let name = match &args.export_name {
        Some(name) => name.clone(),
        None => plan_name(&args.inputs[0])?,
    };
    let reading = record_reading(&inputs.all, &options)
        .map_err(|error| (Exit::Refused, hinted(chain(&error), error.hint())))?;
    if args.to == Format::Parquet {
        return parquet(&inputs.all, &reading, args.output.as_deref(), &name).map(|()| args.output.clone());
    }
    let wall_anchor_ms = run_start_ms(&inputs.all, &reading.read).map_err(|error| unreadable(&error))?;
    // Known now, so reading does not search for it again.
    let read = ReadSettings { start_ms: Some(wall_anchor_ms), ..reading.read };
    let reading = RecordReading { read, ..reading };
    let origin = Origin { wall_anchor_ms };
    let target = args.output.clone().unwrap_or_else(|| "standard output".into());
    let mut exporter = exporter(args, url, origin, &name).map_err(|error| (Exit::Internal, error.into()))?;
    let mut failure = None;
    let read = read_snapshots(&inputs.all, &reading, |snapshot: Snapshot| {
        if failure.is_none() {
            failure = exporter.second(&snapshot).err();
        }
    })
    .map_err(|error| unreadable(&error))?;
    read.inputs.iter().for_each(warn_about_missing_parts);
    let failure = failure.or_else(|| exporter.finish().err());
    match failure {
        // The reader of a pipe, such as `head`, has ended.
        Some(error) if is_broken_pipe(&error) => Ok(None),
        Some(error @ ExportError::Settings(_)) => Err((Exit::Usage, error.to_string())),
        Some(error) => Err((Exit::Internal, format!("{target}: {}", chain(&error)))),
        None => Ok(args.output.clone()),
    }
}

fn is_broken_pipe(error: &ExportError) -> bool {
    matches!(error, ExportError::Io { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe)
}

/// The name of the plan or file.
fn plan_name(source: &Path) -> Result<String, (Exit, String)> {
    if is_stdin(source) {
        return Ok("results".into());
    }
    if source.is_dir() {
        let plan = manifest(source)?.plan;
        return Ok(if plan.name.is_empty() { plan.path } else { plan.name });
    }
    Ok(source.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default())
}

fn manifest(dir: &Path) -> Result<Manifest, (Exit, String)> {
    let manifest = RunDir::open(dir).read_manifest();
    manifest.map_err(|error| (Exit::Refused, hinted(chain(&error), run_dir_hint(&error))))
}

fn unreadable(error: &ResultsError) -> (Exit, String) {
    (Exit::Refused, hinted(format!("cannot read {}", chain(error)), error.source.hint()))
}

/// Writes the samples of a run as an Apache Parquet file.
fn parquet(
    inputs: &[ResultsInput],
    reading: &RecordReading,
    output: Option<&str>,
    name: &str,
) -> Result<(), (Exit, String)> {
    let Some(path) = output else {
        if std::io::IsTerminal::is_terminal(&std::io::stdout()) {
            let text = "a Parquet file cannot be written to a terminal: add -o samples.parquet";
            return Err((Exit::Usage, text.into()));
        }
        let exported = export_parquet(inputs, reading, || Ok(std::io::stdout()), name, "standard output");
        return match exported {
            Ok(exported) => {
                exported.found.iter().for_each(warn_about_missing_parts);
                Ok(())
            }
            Err(error) if is_broken_pipe(&error) => Ok(()),
            Err(error) => Err(refusal(&error)),
        };
    };
    let began = std::cell::Cell::new(false);
    let create = || {
        let file = File::create(path)?;
        began.set(true);
        Ok(file)
    };
    match export_parquet(inputs, reading, create, name, path) {
        Ok(exported) => {
            exported.found.iter().for_each(warn_about_missing_parts);
            say(&format!("{} samples", exported.rows));
            Ok(())
        }
        Err(error) => {
            // A Parquet file without its footer is unreadable.
            if began.get() && Path::new(path).is_file() {
                let _ = std::fs::remove_file(path);
            }
            Err(refusal(&error))
        }
    }
}

/// Warns about parts of the run that were not exported.
fn warn_about_missing_parts(input: &InputFacts) {
    if input.cut_at.is_some() {
        warn_about_cut_input(&input.name);
    }
    if input.bad_rows > 0 {
        let first = input.first_bad.first().map(|bad| format!("; the first: {bad}")).unwrap_or_default();
        let (name, rows) = (&input.name, input.bad_rows);
        say(&format!("warning: {rows} unreadable rows of {name} were skipped{first}"));
    }
}

fn warn_about_cut_input(name: &str) {
    say(&format!("warning: {name} is cut off or damaged at its end; the part before was exported"));
}

/// The exit code and message of an export that failed.
fn refusal(error: &ExportError) -> (Exit, String) {
    let exit = match error {
        ExportError::Samples(_) => Exit::Refused,
        ExportError::Settings(_) => Exit::Usage,
        _ => Exit::Internal,
    };
    (exit, hinted(chain(error), error.hint()))
}

fn exporter(
    args: &ExportArgs,
    url: Option<&str>,
    origin: Origin,
    name: &str,
) -> Result<BoxedExporter, CommandError> {
    let nobody: UserCounts = Arc::new(|| None);
    if let Some(url) = url {
        let sender: Box<dyn Sender + Send> = match url.strip_prefix("tcp://") {
            Some(address) => Box::new(TcpText::new(address.trim_end_matches('/'))),
            None => sender_of(url),
        };
        return Ok(match args.to {
            Format::Graphite => {
                Box::new(GraphiteExporter::new(sender, origin, settings(1, &nobody), &graphite_prefix(name)))
            }
            _ => influx(sender, origin, settings(INFLUX_INTERVAL_S, &nobody), name),
        });
    }
    let writer: Box<dyn Write + Send> = match &args.output {
        Some(path) => {
            let file = File::create(path)
                .map_err(|error| format!("cannot write {path}: {}", crate::io_hints::with_hint(&error)))?;
            Box::new(BufWriter::new(file))
        }
        None => Box::new(std::io::stdout()),
    };
    let clock = if args.clock == "service" { Clock::Service } else { Clock::Response };
    let text = |writer| Box::new(WriteText::new(writer, "the output")) as Box<dyn Sender + Send>;
    Ok(match args.to {
        Format::Csv => Box::new(CsvExporter::new(writer, origin)),
        Format::Hgrm => Box::new(PercentileExporter::new(writer, args.label.clone(), clock)),
        Format::Hlog => Box::new(HistogramLogExporter::new(writer, origin)),
        Format::Influx => influx(text(writer), origin, settings(INFLUX_INTERVAL_S, &nobody), name),
        Format::Graphite => Box::new(GraphiteExporter::new(
            text(writer),
            origin,
            settings(1, &nobody),
            &graphite_prefix(name),
        )),
        Format::Prometheus => Box::new(busyhour_export::ExpositionExporter::new(text(writer), name)),
        // Contains samples, not seconds, so `parquet` writes it.
        Format::Parquet => return Err("Parquet files are not written second by second".into()),
    })
}
