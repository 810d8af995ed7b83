//! The columns of JMeter's result files: their names and switches, and the contents of CSV cells and XML attributes.
//!
//! All properties of a column are described only here. `csv_row` and `xml` write what [`write_cells`] and [`write_attributes`]
//! pass to them.

use busyhour_sample::{Detail, LabelId, Nanos, Sample, SampleFlags};

/// A column, or two columns with a common switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum JtlColumn {
    /// `timeStamp`
    Timestamp,
    /// `elapsed`
    Time,
    /// `label`
    Label,
    /// `responseCode`
    Code,
    /// `responseMessage`
    Message,
    /// `threadName`
    ThreadName,
    /// `dataType`
    DataType,
    /// `success`
    Success,
    /// `failureMessage`
    FailureMessage,
    /// `bytes`
    Bytes,
    /// `sentBytes`
    SentBytes,
    /// `grpThreads` and `allThreads`
    ThreadCounts,
    /// `URL`
    Url,
    /// `Filename`
    FileName,
    /// `Latency`
    Latency,
    /// `Encoding`
    Encoding,
    /// `SampleCount` and `ErrorCount`
    SampleCount,
    /// `Hostname`
    Hostname,
    /// `IdleTime`
    IdleTime,
    /// `Connect`
    ConnectTime,
}

/// The names of a column, and its default.
struct Description {
    column: JtlColumn,
    /// Names in the first line of a CSV file.
    names: &'static [&'static str],
    /// The property `jmeter.save.saveservice.…` that includes the column. The time stamp has none; its format excludes it.
    property: Option<&'static str>,
    /// The field of a listener's `saveConfig` element.
    field: &'static str,
    /// Whether JMeter 5.6.3 includes it by default.
    by_default: bool,
}

const fn described(
    column: JtlColumn,
    names: &'static [&'static str],
    property: Option<&'static str>,
    field: &'static str,
) -> Description {
    Description { column, names, property, field, by_default: true }
}

impl Description {
    const fn hidden(mut self) -> Description {
        self.by_default = false;
        self
    }
}

/// The columns in the order of a CSV file.
const COLUMNS: [Description; 20] = [
    described(JtlColumn::Timestamp, &["timeStamp"], None, "timestamp"),
    described(JtlColumn::Time, &["elapsed"], Some("time"), "time"),
    described(JtlColumn::Label, &["label"], Some("label"), "label"),
    described(JtlColumn::Code, &["responseCode"], Some("response_code"), "code"),
    described(JtlColumn::Message, &["responseMessage"], Some("response_message"), "message"),
    described(JtlColumn::ThreadName, &["threadName"], Some("thread_name"), "threadName"),
    described(JtlColumn::DataType, &["dataType"], Some("data_type"), "dataType"),
    described(JtlColumn::Success, &["success"], Some("successful"), "success"),
    described(
        JtlColumn::FailureMessage,
        &["failureMessage"],
        Some("assertion_results_failure_message"),
        "saveAssertionResultsFailureMessage",
    ),
    described(JtlColumn::Bytes, &["bytes"], Some("bytes"), "bytes"),
    described(JtlColumn::SentBytes, &["sentBytes"], Some("sent_bytes"), "sentBytes"),
    described(JtlColumn::ThreadCounts, &["grpThreads", "allThreads"], Some("thread_counts"), "threadCounts"),
    described(JtlColumn::Url, &["URL"], Some("url"), "url"),
    described(JtlColumn::FileName, &["Filename"], Some("filename"), "fileName").hidden(),
    described(JtlColumn::Latency, &["Latency"], Some("latency"), "latency"),
    described(JtlColumn::Encoding, &["Encoding"], Some("encoding"), "encoding").hidden(),
    described(JtlColumn::SampleCount, &["SampleCount", "ErrorCount"], Some("sample_count"), "sampleCount")
        .hidden(),
    described(JtlColumn::Hostname, &["Hostname"], Some("hostname"), "hostname").hidden(),
    described(JtlColumn::IdleTime, &["IdleTime"], Some("idle_time"), "idleTime"),
    described(JtlColumn::ConnectTime, &["Connect"], Some("connect_time"), "connectTime"),
];

/// A set of columns. The default value is the default set of JMeter 5.6.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JtlColumns(u32);

impl Default for JtlColumns {
    fn default() -> Self {
        let mut shown = JtlColumns::NONE;
        for description in &COLUMNS {
            shown.set(description.column, description.by_default);
        }
        shown
    }
}

impl JtlColumns {
    /// The set without columns.
    pub const NONE: JtlColumns = JtlColumns(0);

    /// Whether the set contains `column`.
    #[must_use]
    pub const fn has(self, column: JtlColumn) -> bool {
        self.0 & 1 << column as u8 != 0
    }

    /// Adds or removes `column`.
    pub const fn set(&mut self, column: JtlColumn, shown: bool) {
        let bit = 1 << column as u8;
        self.0 = if shown { self.0 | bit } else { self.0 & !bit };
    }

    /// Applies the properties; `get` returns the value of a property by its name without the prefix `jmeter.save.saveservice.`.
    pub(crate) fn apply_properties<'p>(&mut self, get: impl Fn(&str) -> Option<&'p str>) {
        for description in &COLUMNS {
            if let Some(value) = description.property.and_then(&get) {
                self.set(description.column, value.eq_ignore_ascii_case("true"));
            }
        }
    }

    /// Sets the field `name` of a listener's `saveConfig` element; returns false if it is not the field of a column.
    pub(crate) fn set_field(&mut self, name: &str, shown: bool) -> bool {
        let found = COLUMNS.iter().find(|description| description.field == name);
        if let Some(description) = found {
            self.set(description.column, shown);
        }
        found.is_some()
    }

    /// The column names of a CSV file, in order.
    pub(crate) fn names(self) -> Vec<&'static str> {
        let shown = COLUMNS.iter().filter(|description| self.has(description.column));
        shown.flat_map(|description| description.names.iter().copied()).collect()
    }
}

/// Converts ns to whole milliseconds, as in JMeter's files.
const fn whole_ms(ns: u64) -> i64 {
    (ns / 1_000_000) as i64
}

/// A row of a CSV file to which cells are appended.
pub(crate) trait CsvRow {
    /// Appends a number.
    fn integer(&mut self, number: i64);
    /// Appends a text, in quotes if needed.
    fn text(&mut self, text: &str);
    /// Appends a word that needs no quotes.
    fn word(&mut self, word: &'static str);
    /// Appends a time stamp in the format of the file.
    fn stamp(&mut self, at: Nanos);
    /// Appends the text of a label.
    fn label(&mut self, label: LabelId);
    /// Appends the name of a thread, or an empty cell if `group` is `None`.
    fn thread_name(&mut self, group: Option<u32>, user: u32);
    /// Appends the configured encoding of responses that have none.
    fn default_encoding(&mut self);
    /// Appends the name of this host.
    fn hostname(&mut self);
}

/// Appends the cells of `sample` to `row` in the order of [`COLUMNS`]. `file_name` is the name of the file that contains its
/// saved response; it is empty if there is none.
#[inline]
pub(crate) fn write_cells(
    shown: JtlColumns,
    timestamp_is_start: bool,
    sample: &Sample<'_>,
    file_name: &str,
    row: &mut impl CsvRow,
) {
    if shown.has(JtlColumn::Timestamp) {
        row.stamp(if timestamp_is_start { sample.times.start } else { sample.times.end });
    }
    if shown.has(JtlColumn::Time) {
        row.integer(sample.elapsed_ms());
    }
    if shown.has(JtlColumn::Label) {
        row.label(sample.label);
    }
    if shown.has(JtlColumn::Code) {
        row.text(sample.outcome.code);
    }
    if shown.has(JtlColumn::Message) {
        row.text(sample.outcome.message);
    }
    if shown.has(JtlColumn::ThreadName) {
        let named = !sample.flags.contains(SampleFlags::NO_THREAD);
        row.thread_name(named.then_some(sample.group), sample.user);
    }
    if shown.has(JtlColumn::DataType) {
        row.text(sample.content.data_type.as_str());
    }
    if shown.has(JtlColumn::Success) {
        row.word(if sample.outcome.success { "true" } else { "false" });
    }
    if shown.has(JtlColumn::FailureMessage) {
        row.text(sample.failure_message);
    }
    if shown.has(JtlColumn::Bytes) {
        row.integer(sample.sizes.bytes() as i64);
    }
    if shown.has(JtlColumn::SentBytes) {
        row.integer(sample.sizes.sent_bytes as i64);
    }
    if shown.has(JtlColumn::ThreadCounts) {
        row.integer(i64::from(sample.users.group));
        row.integer(i64::from(sample.users.all));
    }
    if shown.has(JtlColumn::Url) {
        row.text(if sample.flags.contains(SampleFlags::NO_URL) { "null" } else { sample.url });
    }
    if shown.has(JtlColumn::FileName) {
        row.text(file_name);
    }
    if shown.has(JtlColumn::Latency) {
        row.integer(whole_ms(sample.times.latency_ns));
    }
    if shown.has(JtlColumn::Encoding) {
        match sample.content.encoding {
            "" => row.default_encoding(),
            encoding => row.text(encoding),
        }
    }
    if shown.has(JtlColumn::SampleCount) {
        row.integer(i64::from(sample.sample_count));
        row.integer(i64::from(sample.error_count));
    }
    if shown.has(JtlColumn::Hostname) {
        row.hostname();
    }
    if shown.has(JtlColumn::IdleTime) {
        row.integer(whole_ms(sample.times.idle_ns));
    }
    if shown.has(JtlColumn::ConnectTime) {
        row.integer(whole_ms(sample.times.connect_ns));
    }
}

/// A value that a listener writes in place of a sample, such as those of the PerfMon Metrics Collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueRow<'r> {
    /// When the value was taken, in ms since 1970.
    pub stamp_ms: i64,
    /// The value, in the column of elapsed times.
    pub value: i64,
    /// What the value belongs to.
    pub label: &'r str,
    /// The reason why there is no value; empty if there is one.
    pub message: &'r str,
    /// Whether there is a value.
    pub success: bool,
}

/// Appends the cells of a value to `row` in the order of [`COLUMNS`]. Columns that do not apply to a value have the
/// same content as in JMeter's row of a sample without a request. `at` and `label` are the stamp and the label in the
/// form that the row needs.
pub(crate) fn write_value_cells(
    shown: JtlColumns,
    value: &ValueRow<'_>,
    (at, label): (Nanos, LabelId),
    row: &mut impl CsvRow,
) {
    for description in COLUMNS.iter().filter(|description| shown.has(description.column)) {
        match description.column {
            JtlColumn::Timestamp => row.stamp(at),
            JtlColumn::Time => row.integer(value.value),
            JtlColumn::Label => row.label(label),
            JtlColumn::Message => row.text(value.message),
            JtlColumn::ThreadName => row.thread_name(None, 0),
            JtlColumn::Success => row.word(if value.success { "true" } else { "false" }),
            JtlColumn::Code | JtlColumn::DataType | JtlColumn::FailureMessage | JtlColumn::FileName => {
                row.text("");
            }
            JtlColumn::Bytes
            | JtlColumn::SentBytes
            | JtlColumn::Latency
            | JtlColumn::IdleTime
            | JtlColumn::ConnectTime => row.integer(0),
            JtlColumn::ThreadCounts => {
                row.integer(0);
                row.integer(0);
            }
            JtlColumn::Url => row.text("null"),
            JtlColumn::Encoding => row.default_encoding(),
            JtlColumn::SampleCount => {
                row.integer(1);
                row.integer(i64::from(!value.success));
            }
            JtlColumn::Hostname => row.hostname(),
        }
    }
}

/// Appends the attributes of a value in JMeter's order; `at` is its stamp in the form that the element needs.
pub(crate) fn write_value_attributes(
    shown: JtlColumns,
    value: &ValueRow<'_>,
    at: Nanos,
    to: &mut dyn XmlAttributes,
) {
    let numbers = |to: &mut dyn XmlAttributes, columns: &[(JtlColumn, &str)]| {
        columns.iter().filter(|(column, _)| shown.has(*column)).for_each(|(_, name)| to.number(name, 0));
    };
    let texts = |to: &mut dyn XmlAttributes, columns: &[(JtlColumn, &str, &str)]| {
        let written = columns.iter().filter(|(column, ..)| shown.has(*column));
        written.for_each(|(_, name, text)| to.attribute(name, text));
    };
    if shown.has(JtlColumn::Time) {
        to.number("t", value.value);
    }
    numbers(to, &[(JtlColumn::IdleTime, "it"), (JtlColumn::Latency, "lt"), (JtlColumn::ConnectTime, "ct")]);
    if shown.has(JtlColumn::Timestamp) {
        to.stamp("ts", at);
    }
    texts(
        to,
        &[
            (JtlColumn::Success, "s", if value.success { "true" } else { "false" }),
            (JtlColumn::Label, "lb", value.label),
            (JtlColumn::Code, "rc", ""),
            (JtlColumn::Message, "rm", value.message),
            (JtlColumn::ThreadName, "tn", ""),
            (JtlColumn::DataType, "dt", ""),
            (JtlColumn::Encoding, "de", ""),
        ],
    );
    numbers(to, &[(JtlColumn::Bytes, "by"), (JtlColumn::SentBytes, "sby")]);
    if shown.has(JtlColumn::SampleCount) {
        to.number("sc", 1);
        to.number("ec", i64::from(!value.success));
    }
    numbers(to, &[(JtlColumn::ThreadCounts, "ng"), (JtlColumn::ThreadCounts, "na")]);
    if shown.has(JtlColumn::Hostname) {
        to.hostname("hn");
    }
}

/// An XML element to which attributes are appended.
pub(crate) trait XmlAttributes {
    /// Appends an attribute with a number.
    fn number(&mut self, name: &str, value: i64);
    /// Appends an attribute with a text.
    fn attribute(&mut self, name: &str, value: &str);
    /// Appends an attribute with a time stamp.
    fn stamp(&mut self, name: &str, at: Nanos);
    /// Appends an attribute with the name of the thread.
    fn thread_name(&mut self, name: &str);
    /// Appends an attribute with the name of this host.
    fn hostname(&mut self, name: &str);
}

/// Appends the attributes of `result` in JMeter's order.
pub(crate) fn write_attributes(
    shown: JtlColumns,
    timestamp_is_start: bool,
    result: &Detail,
    to: &mut impl XmlAttributes,
) {
    if shown.has(JtlColumn::Time) {
        to.number("t", result.times.elapsed_ms());
    }
    if shown.has(JtlColumn::IdleTime) {
        to.number("it", whole_ms(result.times.idle_ns));
    }
    if shown.has(JtlColumn::Latency) {
        to.number("lt", whole_ms(result.times.latency_ns));
    }
    if shown.has(JtlColumn::ConnectTime) {
        to.number("ct", whole_ms(result.times.connect_ns));
    }
    if shown.has(JtlColumn::Timestamp) {
        to.stamp("ts", if timestamp_is_start { result.times.start } else { result.times.end });
    }
    if shown.has(JtlColumn::Success) {
        to.attribute("s", if result.outcome.success { "true" } else { "false" });
    }
    if shown.has(JtlColumn::Label) {
        to.attribute("lb", &result.label);
    }
    if shown.has(JtlColumn::Code) {
        to.attribute("rc", &result.outcome.code);
    }
    if shown.has(JtlColumn::Message) {
        to.attribute("rm", &result.outcome.message);
    }
    if shown.has(JtlColumn::ThreadName) {
        if result.unnamed_thread { to.attribute("tn", "") } else { to.thread_name("tn") }
    }
    if shown.has(JtlColumn::DataType) {
        to.attribute("dt", result.content.data_type.as_str());
    }
    if shown.has(JtlColumn::Encoding) {
        to.attribute("de", &result.content.encoding);
    }
    if shown.has(JtlColumn::Bytes) {
        to.number("by", result.sizes.bytes() as i64);
    }
    if shown.has(JtlColumn::SentBytes) {
        to.number("sby", result.sizes.sent_bytes as i64);
    }
    if shown.has(JtlColumn::SampleCount) {
        to.number("sc", i64::from(result.sample_count));
        to.number("ec", i64::from(result.error_count));
    }
    if shown.has(JtlColumn::ThreadCounts) {
        to.number("ng", i64::from(result.users.group));
        to.number("na", i64::from(result.users.all));
    }
    if shown.has(JtlColumn::Hostname) {
        to.hostname("hn");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_column_is_described_once_and_in_the_order_of_its_number() {
        for (at, description) in COLUMNS.iter().enumerate() {
            assert_eq!(description.column as usize, at);
            let same =
                |other: &&Description| other.field == description.field || other.names == description.names;
            assert_eq!(COLUMNS.iter().filter(same).count(), 1);
            let mut shown = JtlColumns::NONE;
            assert!(shown.set_field(description.field, true) && shown.has(description.column));
            assert_eq!((shown.0.count_ones(), shown.names()), (1, description.names.to_vec()));
        }
    }
}
