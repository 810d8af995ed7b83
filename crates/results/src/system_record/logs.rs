//! The logs of a run, limited to a size that a page can show.

use std::error::Error;
use std::path::Path;

use busyhour_logs::{CountSeries, EntrySeverity, GroupCounts, LOGS_FILE_NAME, LoggedSource, LogsFile};

use super::grid::figures;
use super::model::{Aspect, LogRecord, LogTemplate, Panel, PanelLine, Resource, TimeAxis, Unit};

/// Maximum number of logs that are shown.
const LOGS_MAX: usize = 8;

/// Maximum number of templates, and of stack traces, that are shown for a log. The most severe ones come first, then
/// the most frequent ones.
const TEMPLATES_MAX: usize = 25;

/// Reads `logs.json` of a run directory; `None` if there is none.
///
/// # Errors
/// A description of why the file cannot be read.
pub(super) fn read(run_dir: &Path, file: Option<&str>) -> Result<Option<LogsFile>, String> {
    let path = run_dir.join(file.unwrap_or(LOGS_FILE_NAME));
    if !path.is_file() {
        return Ok(None);
    }
    LogsFile::read(&path).map(Some).map_err(|error| match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    })
}

/// End of all logs, in s since the start of the run.
pub(super) fn last_s(file: &LogsFile) -> f64 {
    file.sources.iter().map(end_s).fold(0.0, f64::max)
}

/// End of a log in s since the start of the run: the end of the run if it is known, otherwise that of the last
/// interval.
fn end_s(source: &LoggedSource) -> f64 {
    let counts = &source.counts;
    let last = counts.entries_over_time.counts.last();
    let end = last.map_or(0.0, |(start, _)| f64::from(*start) + f64::from(counts.interval_s.totals));
    counts.length_s.unwrap_or(end)
}

/// The logs with their templates.
pub(super) fn logs(file: &LogsFile, axis: &TimeAxis) -> Vec<LogRecord> {
    file.sources.iter().take(LOGS_MAX).map(|source| log(source, axis)).collect()
}

/// The name of the file of a source, without its folders.
pub(super) fn short_name(source: &str) -> &str {
    source.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(source)
}

fn log(source: &LoggedSource, axis: &TimeAxis) -> LogRecord {
    let counts = &source.counts;
    let (templates, templates_further) = largest(&counts.templates, counts.interval_s.templates, axis);
    let (traces, traces_further) = largest(&counts.traces, counts.interval_s.traces, axis);
    LogRecord {
        name: source.name.clone(),
        query: counts.query.clone(),
        lines: counts.lines,
        entries: counts.entries,
        matching: counts.matching,
        without_time: counts.without_time.values().sum(),
        templates,
        templates_further: templates_further as u64 + source.omitted.templates,
        traces,
        traces_further: traces_further as u64 + source.omitted.traces,
    }
}

fn largest(groups: &[GroupCounts], interval_s: u32, axis: &TimeAxis) -> (Vec<LogTemplate>, usize) {
    let mut order: Vec<&GroupCounts> = groups.iter().collect();
    order.sort_by_key(|group| std::cmp::Reverse((group.severity, group.count)));
    let template = |group: &&GroupCounts| LogTemplate {
        text: group.text.clone(),
        severity: group.severity.map(severity_name),
        example: group.example.clone(),
        count: group.count,
        first_s: group.over_time.counts.first().map(|(start, _)| f64::from(*start)),
        last_s: group.over_time.counts.last().map(|(start, _)| f64::from(*start)),
        per_s: per_second(&group.over_time, interval_s, axis),
    };
    let shown: Vec<LogTemplate> = order.iter().take(TEMPLATES_MAX).map(template).collect();
    let further = order.len() - shown.len();
    (shown, further)
}

const fn severity_name(severity: EntrySeverity) -> &'static str {
    match severity {
        EntrySeverity::Trace => "trace",
        EntrySeverity::Debug => "debug",
        EntrySeverity::Info => "info",
        EntrySeverity::Warn => "warning",
        EntrySeverity::Error => "error",
        EntrySeverity::Fatal => "fatal",
    }
}

/// The rate per second in each slice. An interval is spread over the slices that it covers.
fn per_second(series: &CountSeries, interval_s: u32, axis: &TimeAxis) -> Vec<f64> {
    let mut rates = vec![0.0; axis.count];
    let interval_s = f64::from(interval_s.max(1));
    for (start, count) in &series.counts {
        let (from, to) = (f64::from(*start), f64::from(*start) + interval_s);
        let first = (from / axis.step_s) as usize;
        let last = ((to / axis.step_s).ceil() as usize).max(first + 1);
        for (slice, rate) in rates.iter_mut().enumerate().take(last).skip(first) {
            let begin = slice as f64 * axis.step_s;
            let common = (to.min(begin + axis.step_s) - from.max(begin)).max(0.0);
            *rate += f64::from(*count) / interval_s * common / axis.step_s;
        }
    }
    rates
}

/// A panel for each log with entries, with a line for all entries and a line for those that match the query.
pub(super) fn panels(file: &LogsFile, axis: &TimeAxis, measured: &std::ops::Range<usize>) -> Vec<Panel> {
    let panel = |source: &LoggedSource| {
        let counts = &source.counts;
        let line = |name: &str, series: &CountSeries| {
            let rates = per_second(series, counts.interval_s.totals, axis);
            // Nothing is known about the time after the end.
            let is_over = |slice: usize| (slice as f64 + 0.5) * axis.step_s > end_s(source);
            let values: Vec<Option<f64>> = rates
                .into_iter()
                .enumerate()
                .map(|(slice, rate)| (!is_over(slice)).then_some(rate))
                .collect();
            let figures = figures(&values, measured.clone());
            PanelLine { name: name.to_owned(), values, figures, is_limit: false }
        };
        Panel {
            resource: Resource::Log,
            source: String::new(),
            aspect: Aspect::Errors,
            title: short_name(&source.name).to_owned(),
            help: "Entries per second, and those that report a problem.".to_owned(),
            unit: Unit::PerSecond,
            is_stacked: false,
            lines: vec![
                line("problems", &counts.matching_over_time),
                line("all entries", &counts.entries_over_time),
            ],
            has_leading_line: true,
            further: 0,
            zero: Vec::new(),
        }
    };
    let has_entries = |source: &&LoggedSource| !source.counts.entries_over_time.counts.is_empty();
    file.sources.iter().take(LOGS_MAX).filter(has_entries).map(panel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_spread_over_slices() {
        let series = CountSeries { counts: vec![(0, 4), (4, 6)] };
        let fine = TimeAxis { from_s: 0.0, step_s: 0.5, count: 6 };
        assert_eq!(per_second(&series, 2, &fine), [2.0, 2.0, 2.0, 2.0, 0.0, 0.0]);
        let coarse = TimeAxis { from_s: 0.0, step_s: 5.0, count: 2 };
        assert_eq!(per_second(&series, 2, &coarse), [1.4, 0.6]);
    }
}
