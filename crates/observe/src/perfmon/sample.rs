//! Values in the form in which JMeter's PerfMon collector records them. `busyhour_record::ValueFile` writes them to files.

use busyhour_record::ValueRow;

/// A sample of the collector: the value of a metric in place of an elapsed time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerfMonSample {
    /// When the value arrived, in ms since 1970.
    pub stamp_ms: i64,
    /// Host, type and parameters of the metric.
    pub label: String,
    /// 1000 times the value, truncated to an integer; −1000 for an error.
    pub elapsed: i64,
    /// Why there is no value; `None` if there is one.
    pub error: Option<String>,
}

impl PerfMonSample {
    /// The sample of a value. As in Java, NaN becomes 0, and a value that is too large becomes the largest number.
    #[must_use]
    pub fn of_value(stamp_ms: i64, label: &str, value: f64) -> Self {
        Self { stamp_ms, label: label.to_owned(), elapsed: (value * 1000.0) as i64, error: None }
    }

    /// The sample as a row of a result file.
    #[must_use]
    pub fn row(&self) -> ValueRow<'_> {
        ValueRow {
            stamp_ms: self.stamp_ms,
            value: self.elapsed,
            label: &self.label,
            message: self.error.as_deref().unwrap_or_default(),
            success: self.error.is_none(),
        }
    }

    /// The sample of an error. The text of the error has the form of a Java exception.
    #[must_use]
    pub fn of_error(stamp_ms: i64, label: &str, error: String) -> Self {
        Self { stamp_ms, label: label.to_owned(), elapsed: -1000, error: Some(error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_converted_as_in_java() {
        let elapsed = |value| PerfMonSample::of_value(0, "", value).elapsed;
        assert_eq!([0.0019, -0.0019, f64::NAN, 1e300].map(elapsed), [1, -1, 0, i64::MAX]);
    }
}
