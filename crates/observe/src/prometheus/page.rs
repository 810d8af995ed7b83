//! The selected values of a page of metrics, without input or output.

use std::collections::HashMap;

use busyhour_series::SERIES_MAX;

use super::histogram::HistogramBuckets;
use super::line_error::LineError;
use super::selection::MetricSelection;
use super::text::{Label, MetricSample, Samples, SeriesRole, TextFormat};

/// The largest number of histograms of a page for which quantiles are computed.
const HISTOGRAMS_MAX: usize = 200;

/// The largest number of buckets of one histogram.
const BUCKETS_MAX: usize = 500;

/// The selected part of a page.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// Values in the order of the page.
    pub(super) values: Vec<PageValue>,
    /// Histograms by name and labels.
    pub(super) histograms: Vec<PageHistogram>,
    /// The number of samples, selected or not.
    pub(super) samples: u64,
    /// The number of lines that cannot be read.
    pub(super) bad_lines: u64,
    /// The error of the first line that cannot be read.
    pub(super) first_error: Option<LineError>,
    /// The number of selected series beyond the limits.
    pub(super) omitted: u64,
    /// Whether the end of an OpenMetrics page is missing.
    pub(super) is_truncated: bool,
}

/// The value of a series.
#[derive(Debug, PartialEq)]
pub(super) struct PageValue {
    pub(super) name: String,
    pub(super) is_cumulative: bool,
    pub(super) help: String,
    pub(super) labels: Vec<(String, String)>,
    pub(super) value: f64,
    pub(super) stamp_seconds: Option<f64>,
}

/// The buckets of a histogram.
#[derive(Debug, PartialEq)]
pub(super) struct PageHistogram {
    /// The name of the family, without `_bucket`.
    pub(super) name: String,
    pub(super) help: String,
    /// The labels without `le`.
    pub(super) labels: Vec<(String, String)>,
    pub(super) buckets: HistogramBuckets,
}

/// Collects the selected values of a page.
struct Collector<'s> {
    selection: &'s MetricSelection,
    page: Page,
    /// Positions in the page's values of the sums over a label, by name and remaining labels.
    sums: HashMap<(String, Vec<(String, String)>), usize>,
    histograms: HashMap<(String, Vec<(String, String)>), usize>,
    /// Upper bounds and counts of each histogram.
    counts: Vec<Vec<(f64, f64)>>,
    /// The name that was looked up last, and whether all its series are rejected. Pages list families one by one.
    last_name: (String, bool),
}

impl Page {
    /// Reads a page.
    pub(super) fn read(text: &str, format: TextFormat, selection: &MetricSelection) -> Page {
        let mut collector = Collector {
            selection,
            page: Page::default(),
            sums: HashMap::new(),
            histograms: HashMap::new(),
            counts: Vec::new(),
            last_name: (String::new(), true),
        };
        let mut samples = Samples::new(text, format);
        while let Some(item) = samples.next() {
            match item {
                Ok(sample) => {
                    collector.page.samples += 1;
                    collector.add(&sample, &samples);
                }
                Err(error) => {
                    collector.page.bad_lines += 1;
                    collector.page.first_error.get_or_insert(error);
                }
            }
        }
        let mut page = collector.page;
        for (histogram, counts) in page.histograms.iter_mut().zip(collector.counts) {
            histogram.buckets = HistogramBuckets::new(counts);
        }
        page.is_truncated = format == TextFormat::OpenMetrics && !samples.is_complete();
        page
    }
}

impl Collector<'_> {
    fn add(&mut self, sample: &MetricSample<'_>, samples: &Samples<'_>) {
        if sample.role == SeriesRole::Created {
            return;
        }
        if sample.role == SeriesRole::Bucket {
            let family = sample.name.strip_suffix("_bucket").unwrap_or(&sample.name);
            if self.is_selected(family, &sample.labels) {
                self.add_bucket(family, sample, samples);
                return;
            }
        }
        if !self.is_selected(&sample.name, &sample.labels) {
            return;
        }
        let summed = self.selection.summed_label(&sample.name);
        let labels = owned_labels(&sample.labels, summed);
        let is_full = self.page.values.len() == SERIES_MAX;
        if summed.is_some() {
            let key = (sample.name.to_string(), labels.clone());
            if let Some(at) = self.sums.get(&key) {
                self.page.values[*at].value += sample.value;
                return;
            }
            if !is_full {
                self.sums.insert(key, self.page.values.len());
            }
        }
        if is_full {
            self.page.omitted += 1;
            return;
        }
        self.page.values.push(PageValue {
            name: sample.name.to_string(),
            is_cumulative: sample.role.is_cumulative(),
            help: samples.help(&sample.name).unwrap_or_default().to_owned(),
            labels,
            value: sample.value,
            stamp_seconds: sample.stamp_seconds,
        });
    }

    fn add_bucket(&mut self, family: &str, sample: &MetricSample<'_>, samples: &Samples<'_>) {
        let Some(bound) = sample.label("le").and_then(|bound| bound.parse().ok()) else { return };
        let key = (family.to_owned(), owned_labels(&sample.labels, Some("le")));
        let at = match self.histograms.get(&key) {
            Some(at) => *at,
            None if self.counts.len() == HISTOGRAMS_MAX => {
                self.page.omitted += 1;
                return;
            }
            None => {
                self.page.histograms.push(PageHistogram {
                    name: key.0.clone(),
                    help: samples.help(family).unwrap_or_default().to_owned(),
                    labels: key.1.clone(),
                    buckets: HistogramBuckets::default(),
                });
                self.counts.push(Vec::new());
                self.histograms.insert(key, self.counts.len() - 1);
                self.counts.len() - 1
            }
        };
        if self.counts[at].len() < BUCKETS_MAX {
            self.counts[at].push((bound, sample.value));
        }
    }

    fn is_selected(&mut self, name: &str, labels: &[Label<'_>]) -> bool {
        if self.last_name.0 != name {
            self.last_name = (name.to_owned(), self.selection.rejects_name(name));
        }
        !self.last_name.1 && self.selection.selects(name, labels)
    }
}

fn owned_labels(labels: &[Label<'_>], without: Option<&str>) -> Vec<(String, String)> {
    let kept = labels.iter().filter(|(name, _)| Some(&**name) != without);
    kept.map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, patterns: &[&str]) -> Page {
        let selection = MetricSelection::parse(patterns.iter().copied()).unwrap();
        Page::read(text, TextFormat::Prometheus, &selection)
    }

    #[test]
    fn values_have_kind_help_and_labels() {
        let text =
            "# HELP a_total All of them.\n# TYPE a_total counter\na_total{x=\"1\"} 4 1000\nb 5\nc 6\n{bad\n";
        let page = read(text, &["a_*", "b"]);
        assert_eq!((page.samples, page.bad_lines, page.values.len()), (3, 1, 2));
        assert_eq!(page.first_error.unwrap().line, 6);
        let expected = PageValue {
            name: "a_total".into(),
            is_cumulative: true,
            help: "All of them.".into(),
            labels: vec![("x".into(), "1".into())],
            value: 4.0,
            stamp_seconds: Some(1.0),
        };
        assert_eq!(page.values[0], expected);
        assert!(!page.values[1].is_cumulative);
    }

    #[test]
    fn buckets_become_histograms_and_their_sum_and_count_stay() {
        let text = "# TYPE h histogram\n\
            h_bucket{z=\"1\",le=\"0.5\"} 1\nh_bucket{z=\"1\",le=\"+Inf\"} 4\nh_sum{z=\"1\"} 9\nh_count{z=\"1\"} 4\n\
            h_bucket{le=\"x\"} 1\nh_created{z=\"1\"} 1\n";
        let page = read(text, &["h*"]);
        assert_eq!(page.values.iter().map(|value| &*value.name).collect::<Vec<_>>(), ["h_sum", "h_count"]);
        assert_eq!(page.histograms.len(), 1);
        assert_eq!(page.histograms[0].buckets, HistogramBuckets::new([(0.5, 1.0), (f64::INFINITY, 4.0)]));
        assert_eq!(page.histograms[0].labels, [("z".to_owned(), "1".to_owned())]);
        let raw = read(text, &["h_bucket"]);
        assert_eq!(
            (raw.values.len(), raw.histograms.len()),
            (3, 0),
            "buckets that a pattern names are series"
        );
    }

    #[test]
    fn cores_are_added_up_by_default() {
        let text: String = (0..64)
            .flat_map(|cpu| {
                ["idle", "user"]
                    .map(|mode| format!("node_cpu_seconds_total{{cpu=\"{cpu}\",mode=\"{mode}\"}} {cpu}\n"))
            })
            .collect();
        let page = Page::read(&text, TextFormat::Prometheus, &MetricSelection::default());
        let values: Vec<_> =
            page.values.iter().map(|value| (value.labels[0].1.as_str(), value.value)).collect();
        assert_eq!(values, [("idle", 2016.0), ("user", 2016.0)]);
        assert!(page.values[0].is_cumulative);
    }

    #[test]
    fn series_beyond_the_limit_are_counted() {
        let text: String = (0..SERIES_MAX + 7).map(|n| format!("a{{n=\"{n}\"}} 1\n")).collect();
        let page = read(&text, &[]);
        assert_eq!((page.values.len(), page.omitted), (SERIES_MAX, 7));
        let cut = Page::read("a 1\n", TextFormat::OpenMetrics, &MetricSelection::default());
        assert!(cut.is_truncated);
    }
}
