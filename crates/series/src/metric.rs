//! Measured quantities.

use std::borrow::Cow;

/// How the values of a metric change over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetricKind {
    /// A total. It only increases, except that it begins again at 0 when its source restarts. Readers turn it into rates.
    Counter,
    /// A value that increases and decreases.
    Gauge,
}

impl MetricKind {
    /// The name of the kind in Prometheus' text format.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
        }
    }
}

/// A measured quantity. Its name follows the conventions of Prometheus: base units, and the unit as a suffix (`_seconds`,
/// `_bytes`, `_ratio`), followed by `_total` for counters.
///
/// # Example
/// ```
/// use busyhour_series::Metric;
///
/// static READ: Metric = Metric::counter("busyhour_disk_read_bytes_total", "Bytes read from the device.");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Metric {
    /// Name with unit.
    pub name: Cow<'static, str>,
    /// Counter or gauge.
    pub kind: MetricKind,
    /// One sentence for users.
    pub help: Cow<'static, str>,
}

impl Metric {
    /// A counter.
    #[must_use]
    pub const fn counter(name: &'static str, help: &'static str) -> Metric {
        Metric { name: Cow::Borrowed(name), kind: MetricKind::Counter, help: Cow::Borrowed(help) }
    }

    /// A gauge.
    #[must_use]
    pub const fn gauge(name: &'static str, help: &'static str) -> Metric {
        Metric { name: Cow::Borrowed(name), kind: MetricKind::Gauge, help: Cow::Borrowed(help) }
    }
}
