//! The observed series of a run, value by value, for exports in tables.

use std::io::Read;

use busyhour_sample::Nanos;
use busyhour_series::{DamagedEnd, MetricKind, SeriesEvent, SeriesFileError, SeriesInfo, SeriesReader};

use crate::ExportError;

/// Which values of a series file are exported.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesSelection {
    /// Names of metrics, in which `*` matches any text. An empty list selects all.
    pub metrics: Vec<String>,
    /// Start (inclusive) and end (exclusive), in seconds from the start of the run; `None` for the whole run.
    pub window_s: Option<(f64, f64)>,
}

impl SeriesSelection {
    fn selects(&self, metric: &str) -> bool {
        self.metrics.is_empty() || self.metrics.iter().any(|pattern| matches(pattern, metric))
    }

    fn contains(&self, time: Nanos) -> bool {
        let ns = |seconds: f64| (seconds.max(0.0) * 1e9).round() as u64;
        self.window_s.is_none_or(|(from, to)| (ns(from)..ns(to)).contains(&time.0))
    }
}

/// Whether a name matches a pattern. The parts between the stars are searched from left to right, which takes linear time for
/// each.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// The result of an export of series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportedSeries {
    /// Number of values, each of which is a row.
    pub rows: u64,
    /// Number of series with at least one value.
    pub series: usize,
    /// Where the file is damaged; everything before was exported.
    pub damaged_end: Option<DamagedEnd>,
}

/// The texts that all rows of a series contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeriesTexts {
    pub(crate) source: String,
    pub(crate) metric: String,
    /// Labels in Prometheus's notation, without braces: `device="sda",mode="idle"`.
    pub(crate) labels: String,
    pub(crate) kind: &'static str,
    has_values: bool,
}

impl SeriesTexts {
    fn of(sources: &[String], info: SeriesInfo) -> SeriesTexts {
        let labels: Vec<String> = info
            .labels
            .iter()
            .map(|(name, value)| {
                let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                format!("{name}=\"{value}\"")
            })
            .collect();
        SeriesTexts {
            source: sources.get(info.source as usize).cloned().unwrap_or_default(),
            metric: info.name,
            labels: labels.join(","),
            kind: match info.kind {
                MetricKind::Counter => "counter",
                MetricKind::Gauge => "gauge",
            },
            has_values: false,
        }
    }
}

/// A value of a series.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeriesRow<'r> {
    pub(crate) series: &'r SeriesTexts,
    /// Time since the start of the run.
    pub(crate) time: Nanos,
    /// Start of the run in ms since 1970; `None` if the file does not state it.
    pub(crate) wall_anchor_ms: Option<i64>,
    /// The value; the total of a counter.
    pub(crate) value: f64,
}

/// Passes the selected values of a series file to `row`, in the order of the file, until it returns an error. Memory is proportional to the
/// number of series.
pub(crate) fn for_each_value(
    input: impl Read,
    selection: &SeriesSelection,
    mut row: impl FnMut(&SeriesRow<'_>) -> Result<(), ExportError>,
) -> Result<ExportedSeries, ExportError> {
    let mut reader = SeriesReader::new(input)?;
    let (mut sources, mut series) = (Vec::new(), Vec::<Option<SeriesTexts>>::new());
    let (mut wall_anchor_ms, mut exported) = (None, ExportedSeries::default());
    while let Some(event) = reader.next_event()? {
        match event {
            SeriesEvent::Start(start) => wall_anchor_ms = Some(start.wall_anchor_ms),
            SeriesEvent::Source(name) => sources.push(name),
            SeriesEvent::Series(info) => {
                let is_selected = selection.selects(&info.name);
                series.push(is_selected.then(|| SeriesTexts::of(&sources, info)));
            }
            SeriesEvent::Values { time, values } if selection.contains(time) => {
                for (number, value) in values {
                    let Some(Some(series)) = series.get_mut(*number as usize) else { continue };
                    exported.rows += 1;
                    exported.series += usize::from(!std::mem::replace(&mut series.has_values, true));
                    row(&SeriesRow { series, time, wall_anchor_ms, value: *value })?;
                }
            }
            SeriesEvent::Values { .. }
            | SeriesEvent::Unavailable(_)
            | SeriesEvent::Mark { .. }
            | SeriesEvent::State(_) => {}
        }
    }
    exported.damaged_end = reader.damaged_end();
    Ok(exported)
}

impl From<SeriesFileError> for ExportError {
    fn from(error: SeriesFileError) -> ExportError {
        ExportError::Series(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        let cases = [
            ("node_*", "node_cpu_seconds_total", true),
            ("node_*", "xnode_cpu", false),
            ("*_bytes", "node_memory_MemTotal_bytes", true),
            ("*_bytes", "node_bytes_total", false),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "acb", false),
            ("ab*ab", "ab", false),
            ("exact", "exact", true),
            ("exact", "exactly", false),
            ("*", "", true),
            ("**", "x", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
