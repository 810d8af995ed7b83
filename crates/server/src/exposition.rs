//! Writes metrics in Prometheus's text format 0.0.4, the response to a scrape.

use std::fmt::Write as _;

/// The `Content-Type` of a text that [`write_exposition`] has written.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The type of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpositionType {
    /// Only increases, except for resets; its name should end in `_total`.
    Counter,
    /// Any value.
    Gauge,
    /// Counts of observations by upper bound, with their number and sum.
    Histogram,
}

impl ExpositionType {
    /// The name of the type in the format.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// All series of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpositionFamily<'e> {
    /// The name with unit and, for a counter, `_total`.
    pub name: &'e str,
    /// The type, which determines what kind of values the samples have.
    pub family_type: ExpositionType,
    /// One sentence about the quantity; empty for none.
    pub help: &'e str,
    /// The series. Each has a different set of labels.
    pub samples: Vec<ExpositionSample<'e>>,
}

/// The value of one series.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpositionSample<'e> {
    /// Names and values of the labels.
    pub labels: Vec<(&'e str, &'e str)>,
    /// The value.
    pub value: ExpositionValue,
    /// When the value was taken, in ms since 1970; `None` if it is current at the time of the scrape.
    pub stamp_ms: Option<i64>,
}

/// The value or the histogram of one series.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpositionValue {
    /// The value of a counter or gauge.
    Number(f64),
    /// The state of a histogram, which is written as `_bucket`, `_sum` and `_count`.
    Histogram {
        /// The upper bound of each bucket and the count of observations up to it, ordered; the last bound is infinite.
        buckets: Vec<(f64, u64)>,
        /// Sum of the observations.
        sum: f64,
        /// Number of observations.
        count: u64,
    },
}

impl From<f64> for ExpositionValue {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

/// Appends the families to `out`. Families without samples are left out. Names that are not valid in the format of
/// Prometheus 2 are written in quotes, which Prometheus 3 reads.
pub fn write_exposition(families: &[ExpositionFamily<'_>], out: &mut String) {
    for family in families.iter().filter(|family| !family.samples.is_empty()) {
        if !family.help.is_empty() {
            out.push_str("# HELP ");
            write_name(out, family.name, is_plain_name(family.name, true));
            out.push(' ');
            write_escaped(out, family.help, false);
            out.push('\n');
        }
        out.push_str("# TYPE ");
        write_name(out, family.name, is_plain_name(family.name, true));
        out.push(' ');
        out.push_str(family.family_type.as_str());
        out.push('\n');
        for sample in &family.samples {
            write_sample(out, family.name, sample);
        }
    }
}

fn write_sample(out: &mut String, name: &str, sample: &ExpositionSample<'_>) {
    let stamp = sample.stamp_ms;
    match &sample.value {
        ExpositionValue::Number(value) => write_line(out, name, &sample.labels, *value, stamp),
        ExpositionValue::Histogram { buckets, sum, count } => {
            let bucket_name = format!("{name}_bucket");
            for (bound, count) in buckets {
                let bound = format_bound(*bound);
                let mut labels = sample.labels.clone();
                labels.push(("le", &bound));
                write_line(out, &bucket_name, &labels, *count as f64, stamp);
            }
            write_line(out, &format!("{name}_sum"), &sample.labels, *sum, stamp);
            write_line(out, &format!("{name}_count"), &sample.labels, *count as f64, stamp);
        }
    }
}

fn write_line(out: &mut String, name: &str, labels: &[(&str, &str)], value: f64, stamp_ms: Option<i64>) {
    let is_plain = is_plain_name(name, true);
    if is_plain {
        out.push_str(name);
    }
    if !is_plain || !labels.is_empty() {
        out.push('{');
        if !is_plain {
            write_name(out, name, false);
        }
        for (at, (label, value)) in labels.iter().enumerate() {
            if at > 0 || !is_plain {
                out.push(',');
            }
            write_name(out, label, is_plain_name(label, false));
            out.push_str("=\"");
            write_escaped(out, value, true);
            out.push('"');
        }
        out.push('}');
    }
    out.push(' ');
    write_value(out, value);
    if let Some(stamp) = stamp_ms {
        let _ = write!(out, " {stamp}");
    }
    out.push('\n');
}

/// The upper bound of a bucket as the value of the label `le`.
#[must_use]
pub fn format_bound(bound: f64) -> String {
    let mut text = String::new();
    write_value(&mut text, bound);
    text
}

fn write_value(out: &mut String, value: f64) {
    if value.is_nan() {
        out.push_str("NaN");
    } else if value.is_infinite() {
        out.push_str(if value > 0.0 { "+Inf" } else { "-Inf" });
    } else if value != 0.0 && !(1e-6..1e21).contains(&value.abs()) {
        let _ = write!(out, "{value:e}");
    } else {
        let _ = write!(out, "{value}");
    }
}

fn write_name(out: &mut String, name: &str, is_plain: bool) {
    if is_plain {
        out.push_str(name);
    } else {
        out.push('"');
        write_escaped(out, name, true);
        out.push('"');
    }
}

fn write_escaped(out: &mut String, text: &str, in_quotes: bool) {
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '"' if in_quotes => out.push_str("\\\""),
            other => out.push(other),
        }
    }
}

fn is_plain_name(name: &str, with_colon: bool) -> bool {
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || (with_colon && byte == b':');
    name.bytes().next().is_some_and(|first| !first.is_ascii_digit()) && name.bytes().all(belongs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_with_labels_and_stamps() {
        let sample = |labels: &[(&'static str, &'static str)], value, stamp_ms| ExpositionSample {
            labels: labels.to_vec(),
            value: ExpositionValue::Number(value),
            stamp_ms,
        };
        let families = [
            ExpositionFamily {
                name: "disk_read_bytes_total",
                family_type: ExpositionType::Counter,
                help: "Bytes read\nfrom \\ disks \"x\".",
                samples: vec![sample(&[("device", "a\"\\\n")], 1e15, Some(-3)), sample(&[], f64::NAN, None)],
            },
            ExpositionFamily {
                name: "http.load",
                family_type: ExpositionType::Gauge,
                help: "",
                samples: vec![sample(&[], 0.25, None), sample(&[("k8s.pod", "é")], f64::NEG_INFINITY, None)],
            },
            ExpositionFamily { name: "none", family_type: ExpositionType::Gauge, help: "x", samples: vec![] },
        ];
        let mut out = String::new();
        write_exposition(&families, &mut out);
        let expected = "\
            # HELP disk_read_bytes_total Bytes read\\nfrom \\\\ disks \"x\".\n\
            # TYPE disk_read_bytes_total counter\n\
            disk_read_bytes_total{device=\"a\\\"\\\\\\n\"} 1000000000000000 -3\n\
            disk_read_bytes_total NaN\n\
            # TYPE \"http.load\" gauge\n\
            {\"http.load\"} 0.25\n\
            {\"http.load\",\"k8s.pod\"=\"é\"} -Inf\n";
        assert_eq!(out, expected);
    }

    #[test]
    fn histograms_with_and_without_labels() {
        let value =
            ExpositionValue::Histogram { buckets: vec![(0.005, 1), (f64::INFINITY, 3)], sum: 1.5, count: 3 };
        let sample = |labels, stamp_ms| ExpositionSample { labels, value: value.clone(), stamp_ms };
        let mut out = String::new();
        let samples = vec![sample(vec![], None), sample(vec![("path", "/")], Some(7))];
        let name = "wait_seconds";
        let family =
            ExpositionFamily { name, family_type: ExpositionType::Histogram, help: "Waits.", samples };
        write_exposition(&[family], &mut out);
        let expected = "\
            # HELP wait_seconds Waits.\n\
            # TYPE wait_seconds histogram\n\
            wait_seconds_bucket{le=\"0.005\"} 1\n\
            wait_seconds_bucket{le=\"+Inf\"} 3\n\
            wait_seconds_sum 1.5\n\
            wait_seconds_count 3\n\
            wait_seconds_bucket{path=\"/\",le=\"0.005\"} 1 7\n\
            wait_seconds_bucket{path=\"/\",le=\"+Inf\"} 3 7\n\
            wait_seconds_sum{path=\"/\"} 1.5 7\n\
            wait_seconds_count{path=\"/\"} 3 7\n";
        assert_eq!(out, expected);
    }

    #[test]
    fn values_are_short_and_exact() {
        for value in [0.0, 1e-300, 5e-324, 0.1, 1e20, 1e21, f64::MAX, f64::MIN, -1e-7] {
            let mut out = String::new();
            write_value(&mut out, value);
            assert!(out.len() < 25, "{out}");
            assert_eq!(out.parse(), Ok(value));
        }
    }
}
