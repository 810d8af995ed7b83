//! The columns and contents of result files, with JMeter's names.

use crate::columns::CustomColumns;
use crate::jtl_columns::{JtlColumn, JtlColumns};

/// The save configuration of a listener or of the main log.
///
/// The defaults are those of JMeter 5.6.3. [`SaveConfig::from_properties`] applies the properties
/// `jmeter.save.saveservice.*`. [`SaveConfig::set`] sets the fields of a listener's `saveConfig` element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaveConfig {
    /// The columns of CSV files, and the attributes of XML files.
    pub shown: JtlColumns,
    /// Whether sub-results are written.
    pub subresults: bool,
    /// Whether a new CSV file starts with the names of its columns.
    pub field_names: bool,
    /// Whether the file is XML; otherwise it is CSV.
    pub xml: bool,
    /// In XML: whether assertion results are written.
    pub assertions: bool,
    /// In XML: whether response data are written.
    pub response_data: bool,
    /// In XML: whether the response data of failed samples are written.
    pub response_data_on_error: bool,
    /// In XML: whether sampler data are written.
    pub sampler_data: bool,
    /// In XML: whether response headers are written.
    pub response_headers: bool,
    /// In XML: whether request headers are written.
    pub request_headers: bool,
    /// In XML: which assertion results are written (0: none, 1: the first, 2: all).
    pub assertions_results_to_save: i32,
    /// Format of the time stamps.
    pub timestamp_format: TimestampFormat,
    /// The delimiter between columns.
    pub delimiter: char,
    /// Whether `timeStamp` is the start of the sample, as in the `jmeter.properties` that JMeter ships, or its end
    /// (`sampleresult.timestamp.start`).
    pub timestamp_is_start: bool,
    /// The content of the `Encoding` column if the response has no encoding (`sampleresult.default.encoding`).
    pub default_encoding: String,
    /// Whether every row is flushed at once (`jmeter.save.saveservice.autoflush`).
    pub autoflush: bool,
    /// In XML: a processing instruction for the start of the file (`jmeter.save.saveservice.xml_pi`); empty if there is none.
    pub xml_pi: String,
    /// A custom format with the columns of the plan, instead of CSV or XML.
    pub columns: Option<Box<CustomColumns>>,
}

/// Format of the time stamps in a result file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimestampFormat {
    /// Milliseconds since 1970.
    Millis,
    /// No time stamp (`none`). The file of a listener that includes the column contains its name but no values, as in JMeter.
    None,
    /// A pattern of Java's `SimpleDateFormat`, in local time.
    Pattern(String),
}

impl Default for SaveConfig {
    fn default() -> Self {
        SaveConfig {
            shown: JtlColumns::default(),
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
        self.shown.names()
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
        config.shown.apply_properties(get);
        switch("subresults", &mut config.subresults);
        switch("assertions", &mut config.assertions);
        switch("samplerData", &mut config.sampler_data);
        switch("responseHeaders", &mut config.response_headers);
        switch("requestHeaders", &mut config.request_headers);
        switch("print_field_names", &mut config.field_names);
        switch("response_data", &mut config.response_data);
        switch("response_data.on_error", &mut config.response_data_on_error);
        switch("autoflush", &mut config.autoflush);
        if let Some(format) = get("timestamp_format") {
            if format.eq_ignore_ascii_case("none") {
                config.shown.set(JtlColumn::Timestamp, false);
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
        // The default in JMeter's code is false, but the jmeter.properties that JMeter ships sets it to true.
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
        if self.shown.set_field(name, on) {
            return true;
        }
        let field = match name {
            "assertions" => &mut self.assertions,
            "subresults" => &mut self.subresults,
            "responseData" => &mut self.response_data,
            "samplerData" => &mut self.sampler_data,
            "xml" => &mut self.xml,
            "fieldNames" => &mut self.field_names,
            "responseHeaders" => &mut self.response_headers,
            "requestHeaders" => &mut self.request_headers,
            "responseDataOnError" => &mut self.response_data_on_error,
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

    /// If functional test mode is `on`, XML files always contain response data and sampler data.
    pub fn in_functional_mode(&mut self, on: bool) {
        if on && self.xml {
            self.response_data = true;
            self.sampler_data = true;
        }
    }

    /// A configuration without columns, which keeps the settings that listeners cannot change.
    fn nothing(&self) -> SaveConfig {
        SaveConfig {
            shown: JtlColumns::NONE,
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
