//! The observations of the system during a run, limited to a size that a page can show.
//!
//! [`SystemRecord::read`] reads the series file of a run directory twice. The first reading computes figures of each
//! series, from which the panels are chosen. The second reading returns the values of the chosen series.

mod catalogue;
mod catalogue_servers;
mod cpu;
mod gc_logs;
mod grid;
mod lines;
mod logs;
mod marks;
mod model;
mod panels;
mod rule;
pub(crate) mod source_list;
mod sources;
mod survey;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use busyhour_analysis::Summary;
use busyhour_gclog::{GC_PART_KIND, GcSource};
use busyhour_logs::{LOGS_PART_KIND, LogsFile};
use busyhour_record::{Manifest, RunDir};
use busyhour_sample::Nanos;
use busyhour_series::{ProgramNames, SERIES_FILE_NAME, SeriesFileError, SeriesQuery, SeriesSet};

pub use model::{
    Aspect, LineFigures, LogRecord, LogTemplate, MarkCount, OmittedMetric, Panel, PanelLine, PanelName,
    ProcessRates, Resource, SourceOutcome, SourceRow, SystemMark, TimeAxis, Unavailable, Unit,
};
use source_list::ListedSource;
use survey::{Survey, Surveyed};

/// Maximum number of metrics that are listed as not shown. Further metrics are only counted.
const OMITTED_MAX: usize = 200;

/// Maximum number of panels that are listed because all their values are 0.
const QUIET_MAX: usize = 60;

/// Maximum number of processes whose rates are shown.
const PROCESSES_MAX: usize = 50;

/// The observations of the system during a run.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemRecord {
    /// Name of the machine that recorded the series; empty if it is unknown.
    pub hostname: String,
    /// CPUs of the machine; `None` if they were not recorded.
    pub cpus: Option<u32>,
    /// The time axis of the panels.
    pub axis: TimeAxis,
    /// Time of the last value, in s since the start of the run. The axis ends with the slice that contains it.
    pub last_s: f64,
    /// The slices in the measured part of the run.
    pub measured: std::ops::Range<usize>,
    /// The shortest interval between two readings, in s.
    pub interval_s: Option<f64>,
    /// Plots, in the order of resources.
    pub panels: Vec<Panel>,
    /// Panels that are not shown because all their values are 0.
    pub quiet: Vec<PanelName>,
    /// Panels whose values are unavailable, with the reason.
    pub missing: Vec<(PanelName, String)>,
    /// Metrics that are not shown.
    pub omitted: Vec<OmittedMetric>,
    /// Number of metrics that are neither shown nor in `omitted`.
    pub omitted_further: usize,
    /// Rates of the processes with the most CPU time.
    pub processes: Vec<ProcessRates>,
    /// Display names of sources that differ from the names of the sources.
    pub names: BTreeMap<String, String>,
    /// The longest marks of each kind, in order of time.
    pub marks: Vec<SystemMark>,
    /// The number of marks of each kind.
    pub mark_counts: Vec<MarkCount>,
    /// The sources.
    pub sources: Vec<SourceRow>,
    /// Number of sources that are not in `sources`.
    pub sources_further: usize,
    /// Metrics without values.
    pub unavailable: Vec<Unavailable>,
    /// Number of reasons that are not in `unavailable`.
    pub unavailable_further: usize,
    /// The logs.
    pub logs: Vec<LogRecord>,
    /// The garbage-collection logs.
    pub gc_logs: Vec<GcSource>,
    /// CPU time of the observation in %; 100 % is one core.
    pub cost_percent: Option<f64>,
    /// Problems of the files: damage and exceeded limits.
    pub problems: Vec<String>,
}

impl SystemRecord {
    /// Reads the observations of a run. `window_s` is the measured part in s since the start of the run. Figures cover
    /// this part, but panels show the whole run. `None` if the run was not observed. Files that cannot be read are
    /// listed as problems of the record.
    #[must_use]
    pub fn read(dir: &RunDir, window_s: Option<(f64, f64)>) -> Option<SystemRecord> {
        let manifest = dir.read_manifest().ok();
        let file = |kind| {
            manifest.as_ref().and_then(|manifest: &Manifest| manifest.part(kind)).map(|part| &*part.file)
        };
        // A run that was killed may lack the entries in its manifest.
        let path = dir.path().join(file("series").unwrap_or(SERIES_FILE_NAME));
        let mut problems = Vec::new();
        let logs = logs::read(dir.path(), file(LOGS_PART_KIND)).unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        let gc_logs = gc_logs::read(dir.path(), file(GC_PART_KIND)).unwrap_or_else(|problem| {
            problems.push(problem);
            Vec::new()
        });
        if !path.is_file() && logs.is_none() && gc_logs.is_empty() && problems.is_empty() {
            return None;
        }
        let listed = source_list::read(dir.path()).unwrap_or_else(|problem| {
            problems.push(problem);
            Vec::new()
        });
        let files = Files { series: path.is_file().then_some(&*path), logs: logs.as_ref(), listed: &listed };
        let mut record = read_files(&files, window_s, problems);
        record.gc_logs = gc_logs;
        Some(record)
    }

    /// Reads the observations of a run like [`SystemRecord::read`], with the measured part of its summary.
    #[must_use]
    pub fn of_summary(dir: &RunDir, summary: &Summary) -> Option<SystemRecord> {
        SystemRecord::read(dir, summary.window.as_ref().map(|window| (window.from_s, window.to_s)))
    }
}

/// The files of an observation.
struct Files<'f> {
    series: Option<&'f Path>,
    logs: Option<&'f LogsFile>,
    listed: &'f [ListedSource],
}

impl Files<'_> {
    fn survey(&self, window: Option<(Nanos, Nanos)>, problems: &mut Vec<String>) -> Survey {
        let Some(path) = self.series else { return Survey::default() };
        let survey = Survey::read(path, window).unwrap_or_else(|error| {
            problems.push(format!("the recorded series cannot be read: {}", described(&error)));
            Survey::default()
        });
        if let Some(end) = survey.damaged_end {
            let last = survey.ends.map_or(0.0, |(_, last)| last.0 as f64 / 1e9);
            let how = if end.is_torn { "ends in the middle of a reading" } else { "is damaged" };
            problems.push(format!(
                "the series file {how} at byte {}: values after {last:.1} s are missing",
                end.at
            ));
        }
        if survey.discarded > 0 {
            problems.push(format!("{} marks and reasons beyond the limits were not read", survey.discarded));
        }
        survey
    }

    /// The time of the last value.
    fn last(&self, survey: &Survey) -> Nanos {
        let logs = Nanos((self.logs.map_or(0.0, logs::last_s) * 1e9) as u64);
        survey.ends.map_or(Nanos(0), |(_, last)| last).max(logs)
    }
}

fn read_files(files: &Files<'_>, window_s: Option<(f64, f64)>, mut problems: Vec<String>) -> SystemRecord {
    let ns = |seconds: f64| Nanos((seconds.max(0.0) * 1e9) as u64);
    let window = window_s.map(|(from_s, to_s)| (ns(from_s), ns(to_s)));
    let mut survey = files.survey(window, &mut problems);
    let listed = files.listed;
    let names = names(&survey, listed);
    let name = |source: &str| names.get(source).cloned().unwrap_or_else(|| source.to_owned());
    let last = files.last(&survey);
    let axis = grid::axis(last, survey.interval_ns);
    let measured = axis.part(window_s);
    let mut plan = panels::choose(&survey, &name);
    let planned = std::mem::take(&mut plan.panels);
    let mut panels = match files.series.map(|path| read_panels(path, planned, &axis, &measured, &survey)) {
        None => Vec::new(),
        Some(Ok(panels)) => panels,
        Some(Err(error)) => {
            problems.push(format!("the values of the series cannot be read: {}", described(&error)));
            Vec::new()
        }
    };
    // If there are panels of logs from the series, `logs.json` is not used for panels, because the readings of the
    // series use the clock of the run.
    if !panels.iter().any(|panel| panel.resource == Resource::Log) {
        panels.extend(files.logs.iter().flat_map(|file| logs::panels(file, &axis, &measured)));
    }
    panels.sort_by_key(|panel| panel.resource);
    let (sources, sources_further) = sources::sources(&survey, listed);
    let (unavailable, unavailable_further) = sources::unavailable(&survey);
    let (marks, mark_counts) = marks::marks(&mut survey, &name);
    plan.quiet.truncate(QUIET_MAX);
    let omitted_further = plan.omitted.len().saturating_sub(OMITTED_MAX);
    plan.omitted.truncate(OMITTED_MAX);
    SystemRecord {
        hostname: survey.start.as_ref().map(|start| start.hostname.clone()).unwrap_or_default(),
        cpus: u32::try_from(cpus(&survey)).ok().filter(|cpus| *cpus > 0),
        axis,
        last_s: last.0 as f64 / 1e9,
        measured,
        interval_s: survey.interval_ns.map(|ns| ns as f64 / 1e9),
        panels,
        quiet: plan.quiet,
        missing: plan.missing,
        omitted: plan.omitted,
        omitted_further,
        processes: processes(&survey),
        marks,
        mark_counts,
        sources,
        sources_further,
        unavailable,
        unavailable_further,
        logs: files.logs.map(|file| logs::logs(file, &axis)).unwrap_or_default(),
        gc_logs: Vec::new(),
        cost_percent: sources::cost_percent(&survey),
        problems,
        names,
    }
}

/// An error with its cause in one line.
fn described(error: &SeriesFileError) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// Reads the values of the planned panels.
fn read_panels(
    path: &Path,
    planned: Vec<panels::PlannedPanel>,
    axis: &TimeAxis,
    measured: &std::ops::Range<usize>,
    survey: &Survey,
) -> Result<Vec<Panel>, SeriesFileError> {
    let mut needed = vec![false; survey.series.len()];
    planned.iter().flat_map(panels::PlannedPanel::needed).for_each(|number| needed[number] = true);
    let query =
        SeriesQuery { points_max: grid::SLICES_MAX * 2, width_ns: axis.step_ns(), ..SeriesQuery::default() };
    let set = SeriesSet::from_reader_where(
        BufReader::with_capacity(1 << 16, File::open(path)?),
        &query,
        &|number| needed.get(number).copied().unwrap_or(false),
    )?;
    let mut panels: Vec<Panel> =
        planned.into_iter().map(|panel| panel.read(&set.series, axis, measured)).collect();
    panels::add_cpu_limit(&mut panels, cpus(survey), axis, measured);
    panels.retain(|panel| panel.lines.iter().any(|line| !line.is_limit && line.figures.is_some()));
    Ok(panels)
}

/// Number of CPUs of the observing machine.
fn cpus(survey: &Survey) -> usize {
    let is_own = |number: &usize| survey.source(survey.series[*number].info.source) == "os";
    let own: Vec<usize> = (0..survey.series.len()).filter(is_own).collect();
    cpu::cpus(survey, &own).len()
}

/// Display names of sources: the last part of a path, or the program of a process.
fn names(survey: &Survey, listed: &[ListedSource]) -> BTreeMap<String, String> {
    let mut programs = source_list::programs(listed);
    for one in &survey.series {
        if let Some(name) = one.label("name").filter(|_| ProgramNames::is_naming(&one.info.name)) {
            programs.take("", survey.source(one.info.source), &one.info.name, name);
        }
    }
    let mut names = BTreeMap::new();
    for source in &survey.sources {
        let Some((kind, rest)) = source.split_once(':') else { continue };
        let name = match kind {
            // The last part of a path: a service, a container, a file.
            "cgroup" => Some(short_id(logs::short_name(rest))),
            "gc" | "log" => Some(logs::short_name(rest).to_owned()),
            _ => programs.of("", source).map(|program| format!("{program} ({rest})")),
        };
        names.extend(name.map(|name| (source.clone(), name)));
    }
    names
}

/// Shortens the identifier of a container in a name to twelve digits, as container programs show it.
fn short_id(name: &str) -> String {
    const DIGITS_MIN: usize = 32;
    const DIGITS_SHOWN: usize = 12;
    let is_digit = |byte: &u8| byte.is_ascii_hexdigit();
    let bytes = name.as_bytes();
    let mut from = 0;
    while from < bytes.len() {
        let digits = bytes[from..].iter().take_while(|byte| is_digit(byte)).count();
        if digits >= DIGITS_MIN {
            // Digits are ASCII, so both positions are between characters.
            return format!("{}{}", &name[..from + DIGITS_SHOWN], &name[from + digits..]);
        }
        from += digits.max(1);
    }
    name.to_owned()
}

/// Rates of the processes with the most CPU time.
fn processes(survey: &Survey) -> Vec<ProcessRates> {
    let mut by_source: BTreeMap<u32, Vec<&Surveyed>> = BTreeMap::new();
    for one in &survey.series {
        if survey.source(one.info.source).starts_with("process:") {
            by_source.entry(one.info.source).or_default().push(one);
        }
    }
    let mut rows: Vec<(f64, ProcessRates)> = by_source
        .into_iter()
        .map(|(source, series)| {
            let rate = |metric: &str, label: Option<(&str, &str)>| {
                let is_of = |one: &&&Surveyed| {
                    one.info.name == metric
                        && label.is_none_or(|(name, value)| one.label(name) == Some(value))
                };
                series.iter().find(is_of).and_then(|one| one.mean())
            };
            let switches = |kind| rate("process_context_switches_total", Some(("kind", kind)));
            let rates = ProcessRates {
                source: survey.source(source).to_owned(),
                read_per_s: rate("process_io_read_bytes_total", None),
                written_per_s: rate("process_io_written_bytes_total", None),
                voluntary_per_s: switches("voluntary"),
                involuntary_per_s: switches("involuntary"),
            };
            (rate("process_cpu_seconds_total", None).unwrap_or(0.0), rates)
        })
        .collect();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    rows.into_iter().take(PROCESSES_MAX).map(|(_, rates)| rates).collect()
}
