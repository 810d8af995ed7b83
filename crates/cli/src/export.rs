//! Exports a run to other programs: during the run, and afterwards with `busyhour export`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use busyhour_diagnostic::io_hints::chain;
use busyhour_export::{
    CsvExporter, ExportError, Exporter, GraphiteExporter, HistogramLogExporter, PercentileExporter, Sender,
    SeriesSelection, TcpText, TimeClock, TimeOrigin, UsersSoFar, WriteText, export_parquet,
};
use busyhour_launch::{
    ExportSettings, INFLUX_INTERVAL_S, backend_settings, graphite_prefix, influx_exporter, sender_of,
};
use busyhour_record::{Manifest, RunDir};
use busyhour_results::{
    InputFacts, ReadSettings, RecordReading, ResultsError, ResultsInput, ResultsOptions, is_observation,
    read_snapshots, record_reading, run_dir_hint, run_start_ms,
};
use busyhour_sample::Snapshot;
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::{Exit, READ_TABLE, complain, hinted, note, say};
use busyhour_terminal::outputs::{OutputFile, OutputKind};
use busyhour_verb_inputs::inputs::{Inputs, is_stdin, warn_about_unfinished_runs};
use busyhour_verb_inputs::results_args::ResultsArgs;
use clap::{Args, ValueEnum};

use crate::export_series::{SeriesExport, export_series};
use crate::export_stacks::export_stacks;
use crate::send_urls;

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Sending metrics every second")]
pub(crate) struct LiveExportArgs {
    /// Send metrics every second, e.g. to graphite://HOST:2003.
    ///
    /// The scheme is the format: prometheus://:9646 serves them at http://127.0.0.1:9646/metrics (port 0 selects a free port),
    /// otlp+http://HOST:4318/v1/metrics is an OpenTelemetry collector, influx+http://HOST:8086/write?db=jmeter and influx+udp://HOST:PORT are
    /// InfluxDB with the names of JMeter's listener, graphite://HOST:2003 is Graphite, remote-write+http://HOST:9090/api/v1/write is Prometheus
    /// remote write. May be given once for each format.
    #[arg(long, value_name = "URL", hide_short_help = true)]
    send: Vec<String>,
    #[arg(long, value_name = "ADDRESS:PORT", hide = true)]
    prometheus: Option<String>,
    #[arg(long, value_name = "URL", hide = true)]
    remote_write: Option<String>,
    /// Send native histograms by remote write (bucket bounds 2.2 % apart); they must be enabled in Prometheus.
    #[arg(long, hide_short_help = true)]
    native_histograms: bool,
    #[arg(long, value_name = "URL", hide = true)]
    otlp: Option<String>,
    #[arg(long, value_name = "URL", hide = true)]
    influx: Option<String>,
    #[arg(long, value_name = "HOST:PORT", hide = true)]
    graphite: Option<String>,
    /// Name of the run in exported metrics (default: the plan's name).
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    export_name: Option<String>,
}

impl LiveExportArgs {
    /// The settings of a run.
    pub(crate) fn settings(self) -> Result<ExportSettings, CommandError> {
        let mut settings = ExportSettings {
            prometheus: self.prometheus,
            remote_write: self.remote_write,
            native_histograms: self.native_histograms,
            otlp: self.otlp,
            influx: self.influx,
            graphite: self.graphite,
            name: self.export_name,
        };
        send_urls::add(&mut settings, &self.send)?;
        if settings.native_histograms && settings.remote_write.is_none() {
            return Err("--native-histograms needs --send remote-write+http://…".into());
        }
        Ok(settings)
    }
}

type BoxedExporter = Box<dyn Exporter + Send>;

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
    /// Stacks of slow windows and of the others as collapsed stacks, for speedscope.
    Collapsed,
}

#[derive(Debug, Args)]
#[command(after_help = format!(
    "Examples:\n  busyhour export busyhour-runs/shop-20260101-120000 -o seconds.csv\n  \
     busyhour export results.jtl --label checkout -o checkout.hgrm\n  \
     busyhour export generator-*.jtl.gz -o samples.parquet\n  \
     busyhour export runs/before --series --metric 'jvm_*' -o series.csv\n  \
     busyhour export runs/before -o stacks.collapsed\n  \
     busyhour export run.jtl -o 'influx+http://127.0.0.1:8086/write?db=jmeter'\n  \
     busyhour export results.jtl -o graphite://127.0.0.1:2003\n\n{READ_TABLE}"
))]
pub(crate) struct ExportArgs {
    /// Run directories and JTL files; several are merged as results of one test; - is standard input.
    #[arg(required = true, value_name = "FILE|DIR")]
    inputs: Vec<PathBuf>,
    /// Export format (default: the extension of the output file, or the scheme of its URL).
    #[arg(long, value_name = "FORMAT", required_unless_present = "output")]
    to: Option<Format>,
    /// Output file (.csv, .hgrm, .hlog, .parquet, .collapsed), or a database: influx+http://…, influx+udp://HOST:PORT, graphite://HOST:PORT
    /// (default: standard output).
    #[arg(short = 'o', long, value_name = "FILE|URL")]
    output: Option<String>,
    /// Export the observed series of the system under test instead (.csv, .parquet): one row per value.
    #[arg(long, conflicts_with_all = ["label", "clock", "steady", "end_stamps", "jmeter_property", "additional"])]
    series: bool,
    /// Metric to export with --series, e.g. 'node_disk_*'; may be given several times (default: all).
    #[arg(long, value_name = "NAME", requires = "series")]
    metric: Vec<String>,
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
    let exported = Target::of(args).and_then(|target| match args.series {
        true => series(args, &target),
        false => export(args, &target),
    });
    match exported {
        Ok(Some(path)) => {
            let what = if path.contains("://") { "sent to" } else { "wrote" };
            note(&format!("{what} {path}"));
            Exit::Completed
        }
        Ok(None) => Exit::Completed,
        Err((exit, message)) => complain(exit, &message),
    }
}

/// The destination of an export.
struct Target {
    format: Format,
    /// The URL of a database; `None` for a file or standard output.
    url: Option<String>,
}

impl Target {
    fn of(args: &ExportArgs) -> Result<Target, (Exit, String)> {
        let output = args.output.as_deref().unwrap_or_default();
        let (format, url) = match output.split_once("://") {
            Some((scheme, rest)) => match scheme.split_once('+') {
                Some(("influx", transport)) => (Some(Format::Influx), Some(format!("{transport}://{rest}"))),
                None if scheme == "graphite" => (Some(Format::Graphite), Some(format!("tcp://{rest}"))),
                Some(_) | None => (None, Some(output.to_owned())),
            },
            None => {
                let extension = Path::new(output).extension().and_then(|extension| extension.to_str());
                (extension.and_then(|extension| Format::from_str(extension, true).ok()), None)
            }
        };
        let Some(format) = args.to.or(format) else {
            let text = format!(
                "the format of {output} is unknown\n  hint: write a .csv, .hgrm, .hlog, .parquet or .collapsed file, or add --to FORMAT"
            );
            return Err((Exit::Usage, text));
        };
        if url.is_some() && !matches!(format, Format::Influx | Format::Graphite) {
            let text = "only influx and graphite can be sent to a URL; give the name of a file";
            return Err((Exit::Usage, text.into()));
        }
        Ok(Target { format, url })
    }
}

/// Exports observed series.
fn series(args: &ExportArgs, target: &Target) -> Result<Option<String>, (Exit, String)> {
    let is_parquet = match target.format {
        Format::Csv => false,
        Format::Parquet => true,
        Format::Hgrm
        | Format::Hlog
        | Format::Influx
        | Format::Graphite
        | Format::Prometheus
        | Format::Collapsed => {
            return Err((Exit::Usage, "--series is for .csv and .parquet files".into()));
        }
    };
    let [input] = &args.inputs[..] else {
        return Err((Exit::Usage, "--series exports one run directory at a time".into()));
    };
    let window_s = args.results.window().map(|window| (window.from_s, window.to_s));
    let selection = SeriesSelection { metrics: args.metric.clone(), window_s };
    let output = args.output.as_deref();
    export_series(&SeriesExport { input, output, is_parquet, name: args.export_name.as_deref(), selection })
        .map(|wrote| output.filter(|_| wrote).map(str::to_owned))
}

fn export(args: &ExportArgs, target: &Target) -> Result<Option<String>, (Exit, String)> {
    if args.label.is_some() && target.format != Format::Hgrm {
        return Err((
            Exit::Usage,
            "--label is for --to hgrm only; the other formats contain all labels".into(),
        ));
    }
    let options = args.results.options().map_err(|error| (Exit::Usage, error.to_string()))?;
    if target.format == Format::Collapsed {
        let [input] = &args.inputs[..] else {
            return Err((Exit::Usage, "stacks are exported from one run directory at a time".into()));
        };
        return export_stacks(input, &options, args.output.as_deref()).map(|()| None);
    }
    if let Some(dir) = args.inputs.iter().find(|input| is_observation(input)) {
        let message = format!("{} has no requests: it was written by `busyhour observe`", dir.display());
        let hint = "add --series to export what was observed; `busyhour report DIR` shows it";
        return Err((Exit::Refused, hinted(message, hint)));
    }
    let inputs = Inputs::kept(&args.inputs)?;
    warn_about_unfinished_runs(&args.inputs, "exported");
    let name = match &args.export_name {
        Some(name) => name.clone(),
        None => plan_name(&args.inputs[0])?,
    };
    let reading = record_reading(&inputs.all, &options)
        .map_err(|error| (Exit::Refused, hinted(chain(&error), error.hint())))?;
    if target.format == Format::Parquet {
        return parquet(&inputs.all, &reading, args.output.as_deref(), &name).map(|()| args.output.clone());
    }
    let wall_anchor_ms = run_start_ms(&inputs.all, &reading.read).map_err(|error| unreadable(&error))?;
    // The start is already known, so reading does not have to search for it again.
    let read = ReadSettings { start_ms: Some(wall_anchor_ms), ..reading.read };
    let reading = RecordReading { read, ..reading };
    let origin = TimeOrigin { wall_anchor_ms };
    let shown_target = args.output.clone().unwrap_or_else(|| "standard output".into());
    let mut exporter =
        exporter(args, target, origin, &name).map_err(|error| (Exit::Internal, error.to_string()))?;
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
        // The reader of the pipe, such as `head`, has ended.
        Some(error) if is_broken_pipe(&error) => Ok(None),
        Some(error @ ExportError::Settings(_)) => Err((Exit::Usage, error.to_string())),
        Some(error) => Err((Exit::Internal, format!("{shown_target}: {}", chain(&error)))),
        None => Ok(args.output.clone()),
    }
}

/// Writes the seconds (.csv) or samples (.parquet) of a run to a file.
pub(crate) fn export_run(dir: &Path, file: &OutputFile) -> Result<(), CommandError> {
    let (inputs, path) = (vec![ResultsInput::path(dir)], file.path.display().to_string());
    let reading = record_reading(&inputs, &ResultsOptions::default()).map_err(|error| chain(&error))?;
    let name = plan_name(dir).map_err(|(_, message)| message)?;
    if file.kind == OutputKind::Parquet {
        return parquet(&inputs, &reading, Some(&path), &name).map_err(|(_, message)| message.into());
    }
    let wall_anchor_ms = run_start_ms(&inputs, &reading.read).map_err(|error| chain(&error))?;
    let out = File::create(&file.path).map_err(|error| {
        format!("cannot write {path}: {}", busyhour_diagnostic::io_hints::with_hint(&error))
    })?;
    let mut csv = CsvExporter::new(BufWriter::new(out), TimeOrigin { wall_anchor_ms });
    let mut failure = None;
    read_snapshots(&inputs, &reading, |snapshot: Snapshot| {
        if failure.is_none() {
            failure = csv.second(&snapshot).err();
        }
    })
    .map_err(|error| chain(&error))?;
    match failure.or_else(|| csv.finish().err()) {
        Some(error) => Err(format!("{path}: {}", chain(&error)).into()),
        None => Ok(()),
    }
}

fn is_broken_pipe(error: &ExportError) -> bool {
    matches!(error, ExportError::Io { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe)
}

/// The name of the plan, or of the file if the plan is unknown.
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
            note(&format!("{} samples", exported.rows));
            Ok(())
        }
        Err(error) => {
            // The file is deleted, because a Parquet file without its footer is unreadable.
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
    say(&format!("warning: {name} is cut off or damaged at its end; the readable part was exported"));
}

/// The exit code and the message for a failed export.
fn refusal(error: &ExportError) -> (Exit, String) {
    let exit = match error {
        ExportError::Samples(_) => Exit::Refused,
        ExportError::Settings(_) | ExportError::NotBuilt { .. } => Exit::Usage,
        _ => Exit::Internal,
    };
    (exit, hinted(chain(error), error.hint()))
}

fn exporter(
    args: &ExportArgs,
    target: &Target,
    origin: TimeOrigin,
    name: &str,
) -> Result<BoxedExporter, CommandError> {
    let nobody: UsersSoFar = Arc::new(|| None);
    if let Some(url) = &target.url {
        let sender: Box<dyn Sender + Send> = match url.strip_prefix("tcp://") {
            Some(address) => Box::new(TcpText::new(address.trim_end_matches('/'))),
            None => sender_of(url),
        };
        return Ok(match target.format {
            Format::Graphite => Box::new(GraphiteExporter::new(
                sender,
                origin,
                backend_settings(1, &nobody),
                &graphite_prefix(name),
            )),
            _ => influx_exporter(sender, origin, backend_settings(INFLUX_INTERVAL_S, &nobody), name),
        });
    }
    let writer: Box<dyn Write + Send> = match &args.output {
        Some(path) => {
            let file = File::create(path).map_err(|error| {
                format!("cannot write {path}: {}", busyhour_diagnostic::io_hints::with_hint(&error))
            })?;
            Box::new(BufWriter::new(file))
        }
        None => Box::new(std::io::stdout()),
    };
    let clock = if args.clock == "service" { TimeClock::Service } else { TimeClock::Response };
    let text = |writer| Box::new(WriteText::new(writer, "the output")) as Box<dyn Sender + Send>;
    Ok(match target.format {
        Format::Csv => Box::new(CsvExporter::new(writer, origin)),
        Format::Hgrm => Box::new(PercentileExporter::new(writer, args.label.clone(), clock)),
        Format::Hlog => Box::new(HistogramLogExporter::new(writer, origin)),
        Format::Influx => {
            influx_exporter(text(writer), origin, backend_settings(INFLUX_INTERVAL_S, &nobody), name)
        }
        Format::Graphite => Box::new(GraphiteExporter::new(
            text(writer),
            origin,
            backend_settings(1, &nobody),
            &graphite_prefix(name),
        )),
        Format::Prometheus => Box::new(busyhour_export::ExpositionExporter::new(text(writer), name)),
        // A Parquet file contains samples rather than seconds, so `parquet` writes it.
        Format::Collapsed => return Err("stacks are not written second by second".into()),
        Format::Parquet => return Err("Parquet files are not written second by second".into()),
    })
}
