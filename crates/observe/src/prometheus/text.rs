//! A parser for Prometheus's text format 0.0.4 and OpenMetrics 1.0.
//!
//! The parser does no input or output, and its time and memory are linear in the length of the text. It follows
//! Prometheus's own parsers where the specification is silent: blanks are allowed around all tokens, a trailing comma is
//! allowed in a list of labels, unknown escapes are kept. Names in quotes (`{"http.latency", zone="a"} 1`) are read as
//! Prometheus 3 does. A line that cannot be read is skipped and returned as a [`LineError`]; the following lines are
//! read. Sources: the pages "Exposition formats" and "OpenMetrics 1.0" of the Prometheus project.

use std::borrow::Cow;
use std::collections::HashMap;

use super::line_error::TEXT_MAX;
pub use super::line_error::{LABELS_MAX, LineError, LineProblem};
use super::scan::{Scanner, number, unescape_help};

/// The format of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TextFormat {
    /// Prometheus's text format: stamps are in ms.
    #[default]
    Prometheus,
    /// OpenMetrics: stamps are in s, the text ends with `# EOF`, the type of a counter belongs to its name without `_total`.
    OpenMetrics,
}

impl TextFormat {
    /// The format that a `Content-Type` header names; Prometheus's text format if it names neither.
    #[must_use]
    pub fn of_content_type(content_type: &str) -> Self {
        let media = content_type.split(';').next().unwrap_or_default().trim();
        if media.eq_ignore_ascii_case("application/openmetrics-text") {
            TextFormat::OpenMetrics
        } else {
            TextFormat::Prometheus
        }
    }

    /// The number of units of time stamps per second.
    const fn stamps_per_second(self) -> f64 {
        match self {
            TextFormat::Prometheus => 1e3,
            TextFormat::OpenMetrics => 1.0,
        }
    }
}

/// The declared type of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyType {
    /// Only increases, except for resets.
    Counter,
    /// Any value.
    Gauge,
    /// Cumulative buckets by upper bound (`le`), a sum and a count.
    Histogram,
    /// Buckets whose counts may also decrease (OpenMetrics).
    GaugeHistogram,
    /// Quantiles, a sum and a count.
    Summary,
    /// Constant 1 with labels (OpenMetrics).
    Info,
    /// One series per state, 0 or 1 (OpenMetrics).
    StateSet,
    /// `untyped`, `unknown`, or not declared.
    Unknown,
}

impl FamilyType {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "counter" => FamilyType::Counter,
            "gauge" => FamilyType::Gauge,
            "histogram" => FamilyType::Histogram,
            "gaugehistogram" => FamilyType::GaugeHistogram,
            "summary" => FamilyType::Summary,
            "info" => FamilyType::Info,
            "stateset" => FamilyType::StateSet,
            "unknown" | "untyped" => FamilyType::Unknown,
            _ => return None,
        })
    }
}

/// The role of a series in its family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeriesRole {
    /// A counter: only differences of its values are meaningful, and a decrease is a reset.
    Counter,
    /// A gauge, or a series of unknown type.
    Gauge,
    /// A bucket of a histogram: a cumulative counter with the label `le`.
    Bucket,
    /// The count of a histogram or summary: a counter.
    Count,
    /// The sum of a histogram or summary: a counter, unless negative values are observed.
    Sum,
    /// A quantile of a summary: a gauge with the label `quantile`.
    Quantile,
    /// When the series was created (`_created` of OpenMetrics), in s since 1970: a gauge.
    Created,
}

impl SeriesRole {
    /// Whether only differences of the values are meaningful, not the values themselves.
    #[must_use]
    pub const fn is_cumulative(self) -> bool {
        matches!(self, SeriesRole::Counter | SeriesRole::Bucket | SeriesRole::Count | SeriesRole::Sum)
    }
}

/// The name and value of a label.
pub type Label<'t> = (Cow<'t, str>, Cow<'t, str>);

/// One sample of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricSample<'t> {
    /// The name of the series, with the suffix of its role (`_total`, `_bucket`, `_sum`, `_count`).
    pub name: Cow<'t, str>,
    /// The labels in the order of the text.
    pub labels: Vec<Label<'t>>,
    /// The value. NaN is a value of this format: "no observation".
    pub value: f64,
    /// When the value was taken, in s since 1970; `None` means at the time of the scrape.
    pub stamp_seconds: Option<f64>,
    /// The role of the series, from the declared type, or from `_total` if none was declared.
    pub role: SeriesRole,
}

impl MetricSample<'_> {
    /// The value of a label.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }
}

/// Reads the samples of a text in its order.
///
/// ```
/// use busyhour_observe::prometheus::text::{Samples, SeriesRole, TextFormat};
///
/// let text = "# TYPE jobs_total counter\njobs_total{queue=\"a,}\"} 4 1700000000000\n";
/// let samples: Result<Vec<_>, _> = Samples::new(text, TextFormat::Prometheus).collect();
/// let sample = &samples?[0];
/// assert_eq!((&*sample.name, sample.label("queue"), sample.value), ("jobs_total", Some("a,}"), 4.0));
/// assert_eq!((sample.role, sample.stamp_seconds), (SeriesRole::Counter, Some(1.7e9)));
/// # Ok::<(), busyhour_observe::prometheus::text::LineError>(())
/// ```
#[derive(Debug)]
pub struct Samples<'t> {
    rest: &'t str,
    line: usize,
    format: TextFormat,
    families: HashMap<Cow<'t, str>, Family<'t>>,
    is_ended: bool,
}

/// The declarations of a family in comments.
#[derive(Debug, Default)]
struct Family<'t> {
    family_type: Option<FamilyType>,
    help: Option<Cow<'t, str>>,
}

impl<'t> Samples<'t> {
    /// Reads `text`. A byte order mark is skipped.
    #[must_use]
    pub fn new(text: &'t str, format: TextFormat) -> Self {
        let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self { rest, line: 0, format, families: HashMap::new(), is_ended: false }
    }

    /// Whether the text so far had the line `# EOF`. An OpenMetrics text without it was cut.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.is_ended
    }

    /// The help text of the family to which a series of this name belongs, if it was declared so far.
    #[must_use]
    pub fn help(&self, series: &str) -> Option<&str> {
        let of = |name: &str| self.families.get(name)?.help.as_deref();
        of(series).or_else(|| base_name(series).and_then(|(base, _)| of(base)))
    }

    fn next_line(&mut self) -> Option<&'t str> {
        if self.is_ended || self.rest.is_empty() {
            return None;
        }
        self.line += 1;
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        Some(line.strip_suffix('\r').unwrap_or(line))
    }

    fn read_line(&mut self, line: &'t str) -> Result<Option<MetricSample<'t>>, LineProblem> {
        let mut scanner = Scanner::new(line);
        scanner.skip_blanks();
        if scanner.is_at_end() {
            return Ok(None);
        }
        if scanner.take(b'#') {
            return self.read_comment(scanner).map(|()| None);
        }
        let mut sample = read_sample(scanner, self.format)?;
        sample.role = self.role(&sample);
        Ok(Some(sample))
    }

    fn read_comment(&mut self, mut scanner: Scanner<'t>) -> Result<(), LineProblem> {
        scanner.skip_blanks();
        match scanner.word() {
            "EOF" if self.format == TextFormat::OpenMetrics && scanner.is_at_end() => self.is_ended = true,
            keyword @ ("HELP" | "TYPE") => {
                scanner.skip_blanks();
                let name = read_family_name(&mut scanner)?;
                scanner.skip_blanks();
                let family = self.families.entry(name).or_default();
                if keyword == "HELP" {
                    family.help = Some(unescape_help(scanner.rest()));
                } else {
                    let word = scanner.rest().trim_end_matches([' ', '\t']);
                    family.family_type = Some(FamilyType::parse(word).ok_or(LineProblem::BadType)?);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn role(&self, sample: &MetricSample<'_>) -> SeriesRole {
        let of = |name: &str| self.families.get(name)?.family_type;
        let name = &*sample.name;
        if let Some(own) = of(name).filter(|own| *own != FamilyType::Unknown) {
            return match own {
                FamilyType::Counter => SeriesRole::Counter,
                FamilyType::Summary if sample.label("quantile").is_some() => SeriesRole::Quantile,
                _ => SeriesRole::Gauge,
            };
        }
        let Some((base, suffix)) = base_name(name) else { return SeriesRole::Gauge };
        match (of(base), suffix) {
            (Some(FamilyType::Histogram), "_bucket") => SeriesRole::Bucket,
            (Some(FamilyType::Histogram | FamilyType::Summary), "_count") => SeriesRole::Count,
            (Some(FamilyType::Histogram | FamilyType::Summary), "_sum") => SeriesRole::Sum,
            (Some(FamilyType::Histogram | FamilyType::Summary | FamilyType::Counter), "_created") => {
                SeriesRole::Created
            }
            (Some(FamilyType::Counter) | None, "_total") => SeriesRole::Counter,
            (Some(FamilyType::Unknown), "_total") => SeriesRole::Counter,
            _ => SeriesRole::Gauge,
        }
    }
}

impl<'t> Iterator for Samples<'t> {
    type Item = Result<MetricSample<'t>, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.next_line()?;
            match self.read_line(line) {
                Ok(None) => {}
                Ok(Some(sample)) => return Some(Ok(sample)),
                Err(problem) => return Some(Err(LineError { line: self.line, problem })),
            }
        }
    }
}

/// The name of the family to which a series with a suffix may belong, and the suffix.
fn base_name(series: &str) -> Option<(&str, &'static str)> {
    ["_total", "_bucket", "_count", "_sum", "_created"]
        .into_iter()
        .find_map(|suffix| Some((series.strip_suffix(suffix)?, suffix)))
}

fn read_family_name<'t>(scanner: &mut Scanner<'t>) -> Result<Cow<'t, str>, LineProblem> {
    if scanner.peek() == Some(b'"') {
        return scanner.quoted();
    }
    let name = scanner.plain_name(true).ok_or(LineProblem::NoName)?;
    if name.len() > TEXT_MAX {
        return Err(LineProblem::TooLong);
    }
    Ok(Cow::Borrowed(name))
}

fn read_sample(mut scanner: Scanner<'_>, format: TextFormat) -> Result<MetricSample<'_>, LineProblem> {
    let mut name = match scanner.peek() {
        Some(b'{') => None,
        _ => Some(read_family_name(&mut scanner)?),
    };
    scanner.skip_blanks();
    let mut labels = Vec::new();
    if scanner.take(b'{') {
        read_labels(&mut scanner, &mut name, &mut labels)?;
        scanner.skip_blanks();
    }
    let name = name.ok_or(LineProblem::NoName)?;
    let value = number(scanner.word()).ok_or(LineProblem::NoValue)?;
    scanner.skip_blanks();
    let mut stamp_seconds = None;
    if scanner.peek().is_some_and(|next| next != b'#') {
        let stamp = number(scanner.word()).filter(|stamp| stamp.is_finite()).ok_or(LineProblem::BadStamp)?;
        stamp_seconds = Some(stamp / format.stamps_per_second());
        scanner.skip_blanks();
    }
    // An exemplar begins with `#`; Busyhour does not use exemplars.
    if !scanner.is_at_end() && scanner.peek() != Some(b'#') {
        return Err(LineProblem::TrailingText);
    }
    Ok(MetricSample { name, labels, value, stamp_seconds, role: SeriesRole::Gauge })
}

/// Reads labels up to and including `}`. A text in quotes without `=` is the name of the metric.
fn read_labels<'t>(
    scanner: &mut Scanner<'t>,
    metric: &mut Option<Cow<'t, str>>,
    labels: &mut Vec<Label<'t>>,
) -> Result<(), LineProblem> {
    loop {
        scanner.skip_blanks();
        if scanner.take(b'}') {
            return Ok(());
        }
        let is_quoted = scanner.peek() == Some(b'"');
        let name = if is_quoted {
            scanner.quoted()?
        } else {
            Cow::Borrowed(scanner.plain_name(false).ok_or(LineProblem::NoName)?)
        };
        if name.len() > TEXT_MAX {
            return Err(LineProblem::TooLong);
        }
        scanner.skip_blanks();
        if scanner.take(b'=') {
            scanner.skip_blanks();
            let value = scanner.quoted()?;
            if labels.iter().any(|(known, _)| *known == name) {
                return Err(LineProblem::RepeatedLabel);
            }
            if labels.len() == LABELS_MAX {
                return Err(LineProblem::TooManyLabels);
            }
            labels.push((name, value));
        } else if !is_quoted {
            return Err(LineProblem::NoEquals);
        } else if metric.replace(name).is_some() {
            return Err(LineProblem::RepeatedName);
        }
        scanner.skip_blanks();
        if !scanner.take(b',') && scanner.peek() != Some(b'}') {
            return Err(LineProblem::NoBrace);
        }
    }
}

#[cfg(test)]
mod tests;
