//! The columns and contents of result files, by JMeter's names.

use crate::columns::ColumnsFile;

/// The save configuration of a listener or of the main log.
///
/// The defaults are those of JMeter 5.6.3. [`SaveConfig::from_properties`] applies the properties
/// `jmeter.save.saveservice.*`, [`SaveConfig::set`] the fields of a listener's `saveConfig` element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaveConfig {
    /// `timeStamp`
    pub timestamp: bool,
    /// `elapsed`
    pub time: bool,
    /// `label`
    pub label: bool,
    /// `responseCode`
    pub code: bool,
    /// `responseMessage`
    pub message: bool,
    /// `threadName`
    pub thread_name: bool,
    /// `dataType`
    pub data_type: bool,
    /// `success`
    pub success: bool,
    /// `failureMessage`
    pub failure_message: bool,
    /// `bytes`
    pub bytes: bool,
    /// `sentBytes`
    pub sent_bytes: bool,
    /// `grpThreads` and `allThreads`
    pub thread_counts: bool,
    /// `URL`
    pub url: bool,
    /// `Filename`
    pub file_name: bool,
    /// `Latency`
    pub latency: bool,
    /// `Encoding`
    pub encoding: bool,
    /// `SampleCount` and `ErrorCount`
    pub sample_count: bool,
    /// `Hostname`
    pub hostname: bool,
    /// `IdleTime`
    pub idle_time: bool,
    /// `Connect`
    pub connect_time: bool,
    /// Whether sub-results are written.
    pub subresults: bool,
    /// Whether a new CSV file starts with the names of its columns.
    pub field_names: bool,
    /// XML instead of CSV.
    pub xml: bool,
    /// XML: assertion results.
    pub assertions: bool,
    /// XML: response data.
    pub response_data: bool,
    /// XML: response data of failed samples.
    pub response_data_on_error: bool,
    /// XML: sampler data.
    pub sampler_data: bool,
    /// XML: response headers.
    pub response_headers: bool,
    /// XML: request headers.
    pub request_headers: bool,
    /// XML: number of assertion results (0 none, 1 the first, 2 all).
    pub assertions_results_to_save: i32,
    /// Format of `timeStamp`.
    pub timestamp_format: TimestampFormat,
    /// The delimiter between columns.
    pub delimiter: char,
    /// Whether `timeStamp` is the start (as `jmeter.properties` ships it) or the end of the sample
    /// (`sampleresult.timestamp.start`).
    pub timestamp_is_start: bool,
    /// The `Encoding` column of a response without an encoding (`sampleresult.default.encoding`).
    pub default_encoding: String,
    /// Whether every row is flushed at once (`jmeter.save.saveservice.autoflush`).
    pub autoflush: bool,
    /// XML: a processing instruction for the start of the file (`jmeter.save.saveservice.xml_pi`), or empty.
    pub xml_pi: String,
    /// A custom format with the columns of the plan, instead of CSV or XML.
    pub columns: Option<Box<ColumnsFile>>,
}

/// Format of `timeStamp`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimestampFormat {
    /// Milliseconds since 1970.
    Millis,
    /// No time stamp (`none`). A listener with the column writes its name but no value, as in JMeter.
    None,
    /// A pattern of Java's `SimpleDateFormat`, in local time.
    Pattern(String),
}

impl Default for SaveConfig {
    fn default() -> Self {
        SaveConfig {
            timestamp: true,
            time: true,
            label: true,
            code: true,
            message: true,
            thread_name: true,
            data_type: true,
            success: true,
            failure_message: true,
            bytes: true,
            sent_bytes: true,
            thread_counts: true,
            url: true,
            file_name: false,
            latency: true,
            encoding: false,
            sample_count: false,
            hostname: false,
            idle_time: true,
            connect_time: true,
            subresults: true,
            field_names: true,
            xml: false,
            assertions: true,
            response_data: false,
            response_data_on_error: false,
            sampler_data: false,
            response_headers: false,
            request_headers: false,
            assertions_results_to_save: 0,
            timestamp_format: TimestampFormat::Millis,
            delimiter: ',',
            timestamp_is_start: true,
            default_encoding: String::from("UTF-8"),
            autoflush: false,
            xml_pi: String::new(),
            columns: None,
        }
    }
}

/// An invalid property or field of a save configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SaveConfigError {
    /// The delimiter is alphanumeric, a quote or not printable.
    #[error(
        "the delimiter {0:?} of the result file must be a printable character other than letters, digits and quotes"
    )]
    Delimiter(String),
    /// The time stamp pattern contains letters that `SimpleDateFormat` does not define or that are not supported.
    #[error("the time stamp format {pattern:?} cannot be used: {reason}")]
    Timestamp {
        /// The pattern.
        pattern: String,
        /// The reason.
        reason: String,
    },
}

/// Prefix of the properties.
const PREFIX: &str = "jmeter.save.saveservice.";

impl SaveConfig {
    /// The names of the columns of a CSV file, in order, without variables.
    #[must_use]
    pub fn column_names(&self) -> Vec<&'static str> {
        let c = self;
        let columns: [(bool, &[&'static str]); 20] = [
            (c.timestamp, &["timeStamp"]),
            (c.time, &["elapsed"]),
            (c.label, &["label"]),
            (c.code, &["responseCode"]),
            (c.message, &["responseMessage"]),
            (c.thread_name, &["threadName"]),
            (c.data_type, &["dataType"]),
            (c.success, &["success"]),
            (c.failure_message, &["failureMessage"]),
            (c.bytes, &["bytes"]),
            (c.sent_bytes, &["sentBytes"]),
            (c.thread_counts, &["grpThreads", "allThreads"]),
            (c.url, &["URL"]),
            (c.file_name, &["Filename"]),
            (c.latency, &["Latency"]),
            (c.encoding, &["Encoding"]),
            (c.sample_count, &["SampleCount", "ErrorCount"]),
            (c.hostname, &["Hostname"]),
            (c.idle_time, &["IdleTime"]),
            (c.connect_time, &["Connect"]),
        ];
        columns.iter().filter(|(on, _)| *on).flat_map(|(_, names)| names.iter().copied()).collect()
    }

    /// The configuration from properties; `property` returns the value of a property by its full name.
    ///
    /// # Errors
    /// An invalid delimiter or time stamp format.
    pub fn from_properties<'p>(
        property: impl Fn(&str) -> Option<&'p str>,
    ) -> Result<SaveConfig, SaveConfigError> {
        let mut config = SaveConfig::default();
        let get = |name: &str| property(&format!("{PREFIX}{name}"));
        let switch = |name: &str, field: &mut bool| {
            if let Some(value) = get(name) {
                *field = value.eq_ignore_ascii_case("true");
            }
        };
        switch("subresults", &mut config.subresults);
        switch("assertions", &mut config.assertions);
        switch("latency", &mut config.latency);
        switch("connect_time", &mut config.connect_time);
        switch("samplerData", &mut config.sampler_data);
        switch("responseHeaders", &mut config.response_headers);
        switch("requestHeaders", &mut config.request_headers);
        switch("encoding", &mut config.encoding);
        switch("print_field_names", &mut config.field_names);
        switch("data_type", &mut config.data_type);
        switch("label", &mut config.label);
        switch("response_code", &mut config.code);
        switch("response_data", &mut config.response_data);
        switch("response_data.on_error", &mut config.response_data_on_error);
        switch("response_message", &mut config.message);
        switch("successful", &mut config.success);
        switch("thread_name", &mut config.thread_name);
        switch("bytes", &mut config.bytes);
        switch("sent_bytes", &mut config.sent_bytes);
        switch("url", &mut config.url);
        switch("filename", &mut config.file_name);
        switch("hostname", &mut config.hostname);
        switch("time", &mut config.time);
        switch("assertion_results_failure_message", &mut config.failure_message);
        switch("thread_counts", &mut config.thread_counts);
        switch("sample_count", &mut config.sample_count);
        switch("idle_time", &mut config.idle_time);
        switch("autoflush", &mut config.autoflush);
        if let Some(format) = get("timestamp_format") {
            if format.eq_ignore_ascii_case("none") {
                config.timestamp = false;
                config.timestamp_format = TimestampFormat::None;
            } else if !format.eq_ignore_ascii_case("ms") {
                crate::date_format::DateFormat::parse(format).map_err(|reason| {
                    SaveConfigError::Timestamp { pattern: format.to_owned(), reason: reason.to_string() }
                })?;
                config.timestamp_format = TimestampFormat::Pattern(format.to_owned());
            }
        }
        config.xml = get("output_format") == Some("xml");
        config.assertions_results_to_save = match get("assertion_results") {
            Some("first") => 1,
            Some("all") => 2,
            _ => 0,
        };
        if let Some(text) = get("xml_pi") {
            config.xml_pi = text.to_owned();
        }
        if let Some(text) = get("default_delimiter") {
            config.delimiter = delimiter(text)?;
        }
        // The code's own default is false, but the jmeter.properties that JMeter ships sets it.
        if let Some(value) = property("sampleresult.timestamp.start") {
            config.timestamp_is_start = value.eq_ignore_ascii_case("true");
        }
        if let Some(value) = property("sampleresult.default.encoding") {
            config.default_encoding = value.to_owned();
        }
        Ok(config)
    }

    /// Sets the field `name` of a listener's `saveConfig` element; returns false if there is no such field.
    ///
    /// The delimiter and the time stamp format are not fields: they always come from the properties.
    pub fn set(&mut self, name: &str, value: &str) -> bool {
        let on = value.trim().eq_ignore_ascii_case("true");
        let field = match name {
            "time" => &mut self.time,
            "latency" => &mut self.latency,
            "timestamp" => &mut self.timestamp,
            "success" => &mut self.success,
            "label" => &mut self.label,
            "code" => &mut self.code,
            "message" => &mut self.message,
            "threadName" => &mut self.thread_name,
            "dataType" => &mut self.data_type,
            "encoding" => &mut self.encoding,
            "assertions" => &mut self.assertions,
            "subresults" => &mut self.subresults,
            "responseData" => &mut self.response_data,
            "samplerData" => &mut self.sampler_data,
            "xml" => &mut self.xml,
            "fieldNames" => &mut self.field_names,
            "responseHeaders" => &mut self.response_headers,
            "requestHeaders" => &mut self.request_headers,
            "responseDataOnError" => &mut self.response_data_on_error,
            "saveAssertionResultsFailureMessage" => &mut self.failure_message,
            "bytes" => &mut self.bytes,
            "sentBytes" => &mut self.sent_bytes,
            "url" => &mut self.url,
            "fileName" => &mut self.file_name,
            "hostname" => &mut self.hostname,
            "threadCounts" => &mut self.thread_counts,
            "sampleCount" => &mut self.sample_count,
            "idleTime" => &mut self.idle_time,
            "connectTime" => &mut self.connect_time,
            "assertionsResultsToSave" => {
                self.assertions_results_to_save = value.trim().parse().unwrap_or(0);
                return true;
            }
            _ => return false,
        };
        *field = on;
        true
    }

    /// The configuration from a listener's `saveConfig` element with `fields` (name and text of its children). Fields
    /// that are not named are off, as in JMeter. The delimiter, time stamp format and similar settings are those of
    /// `properties`.
    #[must_use]
    pub fn for_listener<'f>(
        properties: &SaveConfig,
        fields: impl IntoIterator<Item = (&'f str, &'f str)>,
    ) -> SaveConfig {
        let mut config = properties.nothing();
        for (name, value) in fields {
            config.set(name, value);
        }
        config
    }

    /// In functional test mode, XML files always contain response data and sampler data.
    pub fn in_functional_mode(&mut self, on: bool) {
        if on && self.xml {
            self.response_data = true;
            self.sampler_data = true;
        }
    }

    /// The configuration without columns; settings that listeners cannot change are kept.
    fn nothing(&self) -> SaveConfig {
        SaveConfig {
            timestamp: false,
            time: false,
            label: false,
            code: false,
            message: false,
            thread_name: false,
            data_type: false,
            success: false,
            failure_message: false,
            bytes: false,
            sent_bytes: false,
            thread_counts: false,
            url: false,
            file_name: false,
            latency: false,
            encoding: false,
            sample_count: false,
            hostname: false,
            idle_time: false,
            connect_time: false,
            subresults: false,
            field_names: false,
            xml: false,
            assertions: false,
            response_data: false,
            response_data_on_error: false,
            sampler_data: false,
            response_headers: false,
            request_headers: false,
            assertions_results_to_save: self.assertions_results_to_save,
            timestamp_format: self.timestamp_format.clone(),
            delimiter: self.delimiter,
            timestamp_is_start: self.timestamp_is_start,
            default_encoding: self.default_encoding.clone(),
            autoflush: self.autoflush,
            xml_pi: self.xml_pi.clone(),
            columns: None,
        }
    }
}

/// Parses a delimiter: one character, or `\t`.
fn delimiter(text: &str) -> Result<char, SaveConfigError> {
    let unusable = || SaveConfigError::Delimiter(text.to_owned());
    let mut chars = if text == "\\t" { "\t".chars() } else { text.chars() };
    let (Some(delimiter), None) = (chars.next(), chars.next()) else { return Err(unusable()) };
    let usable = delimiter == '\t' || delimiter == ' ' || delimiter.is_ascii_graphic();
    if !usable || delimiter.is_ascii_alphanumeric() || delimiter == '"' {
        return Err(unusable());
    }
    Ok(delimiter)
}
