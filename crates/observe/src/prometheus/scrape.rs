//! The probe that scrapes a page of metrics.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

use busyhour_series::{Metric, MetricKind};

use super::fetch::{FetchError, FetchOptions, Fetcher};
use super::histogram::HistogramBuckets;
use super::line_error::LineError;
use super::page::{Page, PageHistogram, PageValue};
use super::selection::MetricSelection;
use crate::probe::{Probe, ProbeError};
use crate::reading::Reading;
use crate::series_id::SeriesId;

/// Quantiles of the observations of an interval, as label and number.
const QUANTILES: [(&str, f64); 2] = [("0.5", 0.5), ("0.99", 0.99)];

static DURATION: Metric =
    Metric::gauge("busyhour_scrape_duration_seconds", "Time to fetch and read the page of metrics.");
static SAMPLES: Metric = Metric::gauge("busyhour_scrape_samples", "Samples on the page, selected or not.");
static BAD_LINES: Metric =
    Metric::gauge("busyhour_scrape_unreadable_lines", "Lines of the page that are not in its format.");
static OMITTED: Metric =
    Metric::gauge("busyhour_scrape_omitted_series", "Selected series beyond the limit, not recorded.");

/// Why a page of metrics cannot be scraped.
#[derive(Debug, thiserror::Error)]
pub enum ScrapeError {
    /// The page cannot be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// No line is in the format.
    #[error("the page at {url} has no metrics in Prometheus's text format")]
    NoMetrics {
        /// The address, without secrets.
        url: String,
        /// The first line that is not in the format; `None` for an empty page.
        #[source]
        source: Option<LineError>,
    },
    /// The end of the page is missing.
    #[error("the page at {url} was cut: it does not end with # EOF")]
    Cut {
        /// The address, without secrets.
        url: String,
    },
}

/// Scrapes a page of metrics, in Prometheus's text format or OpenMetrics, over HTTP or HTTPS.
///
/// Each selected series keeps its name and labels. Values with a time stamp are recorded at this time, and only once per stamp.
/// A histogram becomes two gauges with the label `quantile` (0.5 and 0.99), computed from the observations between two scrapes,
/// besides its sum and count. Series with the time of a creation (`_created`) are left out.
#[derive(Debug)]
pub struct ScrapeProbe {
    fetcher: Fetcher,
    selection: MetricSelection,
    source: String,
    /// The latest stamp of series whose values have stamps, in s since 1970.
    stamps: HashMap<SeriesId, f64>,
    /// The buckets of the previous scrape, by name and labels.
    histograms: HashMap<(String, Vec<(String, String)>), HistogramBuckets>,
}

impl ScrapeProbe {
    /// A probe that scrapes `url`, such as `http://host:9100/metrics`.
    ///
    /// # Errors
    /// The address is not an HTTP address, or the certificate authorities cannot be read.
    pub fn new(url: &str, options: &FetchOptions, selection: MetricSelection) -> Result<Self, FetchError> {
        let fetcher = Fetcher::new(url, options)?;
        let source = format!("prometheus:{}", fetcher.shown());
        Ok(Self { fetcher, selection, source, stamps: HashMap::new(), histograms: HashMap::new() })
    }

    fn scrape(&self) -> Result<Page, ScrapeError> {
        let (text, format) = self.fetcher.fetch()?;
        let page = Page::read(&text, format, &self.selection);
        let url = || self.fetcher.shown().to_owned();
        if page.samples == 0 {
            return Err(ScrapeError::NoMetrics { url: url(), source: page.first_error });
        }
        if page.is_truncated {
            return Err(ScrapeError::Cut { url: url() });
        }
        Ok(page)
    }

    fn record_value(&mut self, reading: &mut Reading<'_>, value: &PageValue) {
        let kind = if value.is_cumulative { MetricKind::Counter } else { MetricKind::Gauge };
        let series = declare(reading, &value.name, kind, &value.help, &value.labels);
        let Some(stamp) = value.stamp_seconds else {
            reading.set(series, value.value);
            return;
        };
        let last = self.stamps.entry(series).or_insert(f64::NEG_INFINITY);
        if stamp <= *last {
            return;
        }
        *last = stamp;
        // A value from before the start of the run has no time in the run.
        if stamp >= 0.0
            && let Some(time) = reading.at_wall_ms((stamp * 1e3) as u64)
        {
            reading.set_at(series, time, value.value);
        }
    }

    fn record_histogram(&mut self, reading: &mut Reading<'_>, histogram: PageHistogram) {
        let PageHistogram { name, help, labels, buckets } = histogram;
        let key = (name, labels);
        if let Some(earlier) = self.histograms.get(&key) {
            let interval = buckets.since(earlier);
            for (text, q) in QUANTILES {
                let mut labels = key.1.clone();
                labels.push(("quantile".to_owned(), text.to_owned()));
                let series = declare(reading, &key.0, MetricKind::Gauge, &help, &labels);
                reading.set_if(series, interval.quantile(q));
            }
        }
        self.histograms.insert(key, buckets);
    }
}

impl Probe for ScrapeProbe {
    fn source(&self) -> &str {
        &self.source
    }

    fn interval_min(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn may_block(&self) -> bool {
        true
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let page = self.scrape().map_err(|error| ProbeError::Other {
            what: "cannot scrape metrics".to_owned(),
            source: Box::new(ChainedMessage(error)),
        })?;
        let duration = reading.clock().now().since(reading.time());
        for (metric, value) in [
            (&DURATION, duration as f64 / 1e9),
            (&SAMPLES, page.samples as f64),
            (&BAD_LINES, page.bad_lines as f64),
            (&OMITTED, page.omitted as f64),
        ] {
            let series = reading.series(metric, &[]);
            reading.set(series, value);
        }
        for value in &page.values {
            self.record_value(reading, value);
        }
        // Histograms that are no longer on the page are discarded.
        let before = std::mem::take(&mut self.histograms);
        self.histograms = before
            .into_iter()
            .filter(|((name, labels), _)| {
                page.histograms.iter().any(|now| now.name == *name && now.labels == *labels)
            })
            .collect();
        for histogram in page.histograms {
            self.record_histogram(reading, histogram);
        }
        Ok(())
    }
}

/// An error whose text includes its causes: the state of a source is one line.
#[derive(Debug)]
struct ChainedMessage(ScrapeError);

impl std::fmt::Display for ChainedMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = std::error::Error::source(&self.0);
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl std::error::Error for ChainedMessage {}

fn declare(
    reading: &mut Reading<'_>,
    name: &str,
    kind: MetricKind,
    help: &str,
    labels: &[(String, String)],
) -> SeriesId {
    let metric = Metric { name: Cow::Owned(name.to_owned()), kind, help: Cow::Owned(help.to_owned()) };
    let labels: Vec<(&str, &str)> = labels.iter().map(|(name, value)| (&**name, &**value)).collect();
    reading.series(&metric, &labels)
}
