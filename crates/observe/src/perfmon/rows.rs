//! Rows of the collector's result file, as JMeter writes them.

/// A sample of the collector: the value of a metric in place of an elapsed time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerfMonSample {
    /// When the value arrived, in ms since 1970.
    pub stamp_ms: i64,
    /// Host, type and parameters of the metric.
    pub label: String,
    /// The value times 1000, cut to a whole number; −1000 for an error.
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

    /// The sample of an error, a text in the words of a Java exception.
    #[must_use]
    pub fn of_error(stamp_ms: i64, label: &str, error: String) -> Self {
        Self { stamp_ms, label: label.to_owned(), elapsed: -1000, error: Some(error) }
    }
}

/// Writes samples as rows of JMeter's CSV.
#[derive(Clone, Debug)]
pub struct PerfMonRows {
    columns: Vec<String>,
    delimiter: char,
    hostname: String,
    encoding: String,
}

impl PerfMonRows {
    /// Rows with the columns of the element's save configuration, named as in JMeter (`timeStamp`, `elapsed`, `label`, …). Columns
    /// that a sample of the collector does not have, such as variables, are empty. `hostname` and `encoding` (JMeter's default
    /// encoding) are the same in all rows.
    #[must_use]
    pub fn new(
        columns: impl IntoIterator<Item = impl Into<String>>,
        delimiter: char,
        hostname: &str,
        encoding: &str,
    ) -> Self {
        Self {
            columns: columns.into_iter().map(Into::into).collect(),
            delimiter,
            hostname: hostname.to_owned(),
            encoding: encoding.to_owned(),
        }
    }

    /// The line of column names, with its line end.
    #[must_use]
    pub fn header(&self) -> String {
        self.line(self.columns.iter().map(String::as_str))
    }

    /// The row of a sample, with its line end.
    #[must_use]
    pub fn row(&self, sample: &PerfMonSample) -> String {
        let is_error = sample.error.is_some();
        let (stamp, elapsed) = (sample.stamp_ms.to_string(), sample.elapsed.to_string());
        let cell = |column: &String| match column.as_str() {
            "timeStamp" => stamp.as_str(),
            "elapsed" => &elapsed,
            "label" => &sample.label,
            "responseMessage" => sample.error.as_deref().unwrap_or_default(),
            "success" => {
                if is_error {
                    "false"
                } else {
                    "true"
                }
            }
            "bytes" | "sentBytes" | "grpThreads" | "allThreads" | "Latency" | "IdleTime" | "Connect" => "0",
            "SampleCount" => "1",
            "ErrorCount" => {
                if is_error {
                    "1"
                } else {
                    "0"
                }
            }
            "URL" => "null",
            "Hostname" => &self.hostname,
            "Encoding" => &self.encoding,
            _ => "",
        };
        self.line(self.columns.iter().map(cell))
    }

    fn line<'c>(&self, cells: impl Iterator<Item = &'c str>) -> String {
        let mut line = String::new();
        for (at, cell) in cells.enumerate() {
            if at > 0 {
                line.push(self.delimiter);
            }
            if cell.contains([self.delimiter, '"', '\r', '\n']) {
                line.push('"');
                line.push_str(&cell.replace('"', "\"\""));
                line.push('"');
            } else {
                line.push_str(cell);
            }
        }
        line.push('\n');
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_jmeter() {
        let columns = [
            "timeStamp",
            "elapsed",
            "label",
            "responseCode",
            "responseMessage",
            "threadName",
            "success",
            "bytes",
            "grpThreads",
            "allThreads",
            "Latency",
            "Hostname",
            "Connect",
        ];
        let rows = PerfMonRows::new(columns, ',', "", "UTF-8");
        assert_eq!(
            rows.header(),
            "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,grpThreads,allThreads,Latency,Hostname,Connect\n"
        );
        let value = PerfMonSample::of_value(1_700_000_000_000, "h CPU", 12.3456);
        assert_eq!(rows.row(&value), "1700000000000,12345,h CPU,,,,true,0,0,0,0,,0\n");
        let text = "java.net.ConnectException: \"Connection\", refused";
        let error = PerfMonSample::of_error(5, text, text.to_owned());
        let quoted = "\"java.net.ConnectException: \"\"Connection\"\", refused\"";
        assert_eq!(rows.row(&error), format!("5,-1000,{quoted},,{quoted},,false,0,0,0,0,,0\n"));
    }

    #[test]
    fn values_are_converted_as_in_java() {
        let elapsed = |value| PerfMonSample::of_value(0, "", value).elapsed;
        assert_eq!([0.0019, -0.0019, f64::NAN, 1e300].map(elapsed), [1, -1, 0, i64::MAX]);
    }
}
