//! JMeter's XML: writes each sample as an element in XStream's format.

mod file;
mod text;
mod value;

use busyhour_sample::{DataType, Detail, HttpDetail, Labels, Nanos, RunNames, Sample};

use crate::config::SaveConfig;
use crate::jtl_columns::{JtlColumn, XmlAttributes, write_attributes};

pub(crate) use file::{continued, head, tail};
pub(crate) use value::value_element;

/// The XML format of a save configuration, prepared for one run.
pub(crate) struct XmlFormat {
    config: SaveConfig,
    wall_anchor_ms: i64,
    /// The prefix of the thread names of each group.
    groups: Vec<String>,
    hostname: String,
    /// Names of the variables, encoded as attribute names.
    variables: Vec<String>,
    labels: Labels,
}

impl XmlFormat {
    pub(crate) fn new(
        config: SaveConfig,
        names: &RunNames,
        labels: Labels,
        wall_anchor_ms: i64,
    ) -> XmlFormat {
        XmlFormat {
            config,
            wall_anchor_ms,
            groups: names.groups.iter().map(|group| format!("{} {}-", group.name, group.number)).collect(),
            hostname: names.hostname.clone(),
            variables: names.variables.iter().map(|name| text::name(name)).collect(),
            labels,
        }
    }

    /// Appends the element of `sample` and a line end.
    pub(crate) fn element(&self, sample: &Sample<'_>, detail: Option<&Detail>, out: &mut Vec<u8>) {
        let thread = match self.groups.get(sample.group as usize) {
            Some(prefix) => format!("{prefix}{}", sample.user),
            None => String::new(),
        };
        let mut writer = Writer { format: self, sample, thread, depth: 0, out };
        match detail {
            Some(detail) => writer.result(detail),
            None => writer.result(&Detail::of_sample(sample, &self.labels)),
        }
        out.push(b'\n');
    }
}

/// Writes one element. Line ends and indents are written before the text of a line, as by XStream's printer.
struct Writer<'w> {
    format: &'w XmlFormat,
    sample: &'w Sample<'w>,
    thread: String,
    depth: usize,
    out: &'w mut Vec<u8>,
}

impl Writer<'_> {
    fn result(&mut self, result: &Detail) {
        let config = &self.format.config;
        let tag = if result.http.is_some() { "httpSample" } else { "sample" };
        self.raw("<");
        self.raw(tag);
        self.attributes(result);
        let begin = self.out.len();
        self.raw(">");
        self.depth += 1;
        let empty = self.out.len();
        if config.assertions {
            for assertion in &result.assertions {
                self.line();
                self.raw("<assertionResult>");
                self.depth += 1;
                self.element("name", "", &assertion.name);
                self.element("failure", "", if assertion.failure { "true" } else { "false" });
                self.element("error", "", if assertion.error { "true" } else { "false" });
                if let Some(message) = assertion.message() {
                    self.element("failureMessage", "", message);
                }
                self.depth -= 1;
                self.line();
                self.raw("</assertionResult>");
            }
        }
        if config.subresults {
            for child in &result.children {
                self.line();
                self.result(child);
            }
        }
        self.texts(result);
        self.depth -= 1;
        if self.out.len() == empty {
            self.out.truncate(begin);
            self.raw("/>");
        } else {
            self.line();
            self.raw("</");
            self.raw(tag);
            self.raw(">");
        }
    }

    fn attributes(&mut self, result: &Detail) {
        let format = self.format;
        write_attributes(format.config.shown, format.config.timestamp_is_start, result, self);
        for (at, name) in format.variables.iter().enumerate() {
            // Unset variables have the value `null`, which is written only to CSV files.
            let value = self.sample.variables.get(at).copied().filter(|value| *value != "null");
            self.attribute(name, value.unwrap_or(""));
        }
    }

    /// Writes the elements for headers, data and the URL.
    fn texts(&mut self, result: &Detail) {
        const STRING: &str = " class=\"java.lang.String\"";
        let c = &self.format.config;
        let failed = c.response_data_on_error && !result.outcome.success;
        if c.response_headers {
            self.element("responseHeader", STRING, &result.response_headers);
        }
        if c.request_headers {
            self.element("requestHeader", STRING, &result.request_headers);
        }
        if c.response_data || failed {
            self.element("responseData", STRING, &data(result, &c.default_encoding));
        }
        if c.shown.has(JtlColumn::FileName) {
            self.element("responseFile", STRING, &result.file_name);
        }
        let sampler_data = c.sampler_data || failed;
        match &result.http {
            Some(http) if sampler_data => self.http(http, STRING),
            Some(_) => {}
            None => {
                if let Some(text) = result.sampler_data.as_ref().filter(|_| sampler_data) {
                    self.element("samplerData", STRING, text);
                }
            }
        }
        if c.shown.has(JtlColumn::Url) {
            match &result.url {
                Some(url) => self.element("java.net.URL", "", url),
                None if result.http.is_some() => {
                    self.line();
                    self.raw("<null/>");
                }
                None => {}
            }
        }
    }

    fn http(&mut self, http: &HttpDetail, class: &str) {
        self.element("cookies", class, &http.cookies);
        if let Some(method) = &http.method {
            self.element("method", class, method);
        }
        self.element("queryString", class, &http.query_string);
        if let Some(location) = &http.redirect_location {
            self.element("redirectLocation", class, location);
        }
    }

    fn element(&mut self, tag: &str, attributes: &str, content: &str) {
        self.line();
        self.raw("<");
        self.raw(tag);
        self.raw(attributes);
        self.raw(">");
        text::escape(content, false, self.out);
        self.raw("</");
        self.raw(tag);
        self.raw(">");
    }

    fn line(&mut self) {
        self.raw("\n");
        for _ in 0..self.depth {
            self.raw("  ");
        }
    }

    fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }
}

impl XmlAttributes for Writer<'_> {
    fn number(&mut self, name: &str, value: i64) {
        self.attribute(name, &value.to_string());
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.raw(" ");
        self.raw(name);
        self.raw("=\"");
        text::escape(value, true, self.out);
        self.raw("\"");
    }

    fn stamp(&mut self, name: &str, at: Nanos) {
        self.number(name, self.format.wall_anchor_ms + (at.0 / 1_000_000) as i64);
    }

    fn thread_name(&mut self, name: &str) {
        let thread = std::mem::take(&mut self.thread);
        self.attribute(name, &thread);
        self.thread = thread;
    }

    fn hostname(&mut self, name: &str) {
        self.attribute(name, &self.format.hostname);
    }
}

/// The response body as text.
fn data(result: &Detail, default_encoding: &str) -> String {
    if result.content.data_type != DataType::Text {
        return format!("Non-TEXT response data, cannot record: ({})", result.content.data_type.as_str());
    }
    let name = if result.content.encoding.is_empty() { default_encoding } else { &result.content.encoding };
    match crate::encoding::decode(&result.body, name) {
        Some(text) => text,
        None => format!(
            "Unsupported encoding in response data, cannot record: java.io.UnsupportedEncodingException: {name}"
        ),
    }
}

#[cfg(test)]
mod tests;
