//! Result files of values that are not samples of the run, in JMeter's formats.

use std::io;

use busyhour_sample::{Labels, RecorderEvent, RunNames};

use crate::csv_row::RowFormat;
use crate::jtl_columns::ValueRow;
use crate::output_file::OutputFile;
use crate::outputs::{open_csv, open_xml};
use crate::pipe::PipeRelease;
use crate::recorder_config::ResultFileConfig;
use crate::xml;

/// A CSV or XML file of values, such as the file of a PerfMon Metrics Collector. Write errors are counted and do not
/// stop the run.
pub struct ValueFile {
    file: OutputFile,
    format: Format,
}

impl std::fmt::Debug for ValueFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ValueFile").field("path", &self.file.name()).finish_non_exhaustive()
    }
}

enum Format {
    Csv(Box<RowFormat>),
    Xml { config: Box<ResultFileConfig>, hostname: String },
}

impl ValueFile {
    /// Opens the file: continues an existing one, or writes the start of a new one. `hostname` is the name of this machine. Columns of the
    /// Flexible File Writer and the filter of the configuration are not used.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(output: ResultFileConfig, hostname: &str) -> io::Result<ValueFile> {
        let pipes = PipeRelease::default();
        if output.config.xml {
            let file = open_xml(&output, &pipes)?;
            let format = Format::Xml { config: Box::new(output), hostname: hostname.to_owned() };
            return Ok(ValueFile { file, format });
        }
        let names = RunNames { hostname: hostname.to_owned(), ..RunNames::default() };
        let rows = RowFormat::new(output.config.clone(), &names, Labels::new(), 0);
        Ok(ValueFile { file: open_csv(&output, &rows, &pipes)?, format: Format::Csv(Box::new(rows)) })
    }

    /// Appends a value.
    pub fn append(&mut self, value: &ValueRow<'_>) {
        match &mut self.format {
            Format::Csv(rows) => rows.value_row(value, self.file.unit()),
            Format::Xml { config, hostname } => {
                xml::value_element(&config.config, hostname, value, self.file.unit());
            }
        }
        self.file.end_unit(1);
    }

    /// Writes the buffered values.
    pub fn flush(&mut self) {
        self.file.flush();
    }

    /// Completes the file. Returns an event if values could not be written.
    #[must_use]
    pub fn finish(mut self) -> Option<RecorderEvent> {
        if matches!(self.format, Format::Xml { .. }) {
            xml::tail(self.file.unit());
            self.file.end_unit(0);
        }
        self.file.flush();
        self.file.event()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SaveConfig;
    use crate::jtl_columns::JtlColumn;
    use crate::recorder_config::SampleFilter;

    const VALUE: ValueRow<'_> =
        ValueRow { stamp_ms: 1_700_000_000_000, value: 12_345, label: "h CPU", message: "", success: true };

    /// The content of a file after several runs, each of which appended its values.
    fn written(change: impl Fn(&mut SaveConfig), runs: &[&[ValueRow<'_>]]) -> String {
        let dir = tempfile::tempdir().unwrap();
        let mut config = SaveConfig { field_names: true, ..SaveConfig::default() };
        change(&mut config);
        let output =
            ResultFileConfig { path: dir.path().join("sub/values.jtl"), config, filter: SampleFilter::All };
        for values in runs {
            let mut file = ValueFile::open(output.clone(), "here").unwrap();
            values.iter().for_each(|value| file.append(value));
            assert_eq!(file.finish(), None);
        }
        std::fs::read_to_string(output.path).unwrap()
    }

    #[test]
    fn rows_are_those_of_jmeter() {
        // Recorded from jmeter-plugins-perfmon 2.1 in JMeter 5.6.3.
        let columns = |config: &mut SaveConfig| {
            for hidden in [
                JtlColumn::DataType,
                JtlColumn::FailureMessage,
                JtlColumn::SentBytes,
                JtlColumn::Url,
                JtlColumn::IdleTime,
            ] {
                config.shown.set(hidden, false);
            }
            config.shown.set(JtlColumn::Hostname, true);
        };
        let text = "java.net.ConnectException: \"Connection\", refused";
        let error = ValueRow { stamp_ms: 5, value: -1000, label: text, message: text, success: false };
        let quoted = "\"java.net.ConnectException: \"\"Connection\"\", refused\"";
        let header = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,grpThreads,allThreads,\
                      Latency,Hostname,Connect\n";
        let rows = format!(
            "1700000000000,12345,h CPU,,,,true,0,0,0,0,here,0\n5,-1000,{quoted},,{quoted},,false,0,0,0,0,here,0\n"
        );
        assert_eq!(written(columns, &[&[VALUE], &[error]]), format!("{header}{rows}"));
    }

    #[test]
    fn all_columns_and_the_largest_value() {
        let all = |config: &mut SaveConfig| {
            for hidden in
                [JtlColumn::FileName, JtlColumn::Encoding, JtlColumn::SampleCount, JtlColumn::Hostname]
            {
                config.shown.set(hidden, true);
            }
        };
        let large = ValueRow { value: i64::MAX, label: "a,b", success: false, ..VALUE };
        let text = written(all, &[&[large]]);
        let row = text.lines().nth(1).unwrap();
        let expected =
            format!("1700000000000,{},\"a,b\",,,,,false,,0,0,0,0,null,,0,{},1,1,here,0,0", i64::MAX, "UTF-8");
        assert_eq!(row, expected);
        assert_eq!(
            row.replace("\"a,b\"", "").split(',').count(),
            text.lines().next().unwrap().split(',').count()
        );
    }

    #[test]
    fn elements_are_written_and_a_file_is_continued() {
        let error = ValueRow { label: "a<b", message: "x\"y", success: false, value: -1000, ..VALUE };
        let text = written(|config| config.xml = true, &[&[VALUE], &[error]]);
        let attributes = |value: &str, s: &str, label: &str, message: &str| {
            format!(
                "<sample t=\"{value}\" it=\"0\" lt=\"0\" ct=\"0\" ts=\"1700000000000\" s=\"{s}\" lb=\"{label}\" rc=\"\" \
                 rm=\"{message}\" tn=\"\" dt=\"\" by=\"0\" sby=\"0\" ng=\"0\" na=\"0\"/>\n"
            )
        };
        let expected = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n{}\n{}\n</testResults>\n",
            attributes("12345", "true", "h CPU", ""),
            attributes("-1000", "false", "a&lt;b", "x&quot;y"),
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let output = ResultFileConfig {
            path: dir.path().to_owned(),
            config: SaveConfig::default(),
            filter: SampleFilter::All,
        };
        assert!(ValueFile::open(output, "here").is_err());
    }
}
