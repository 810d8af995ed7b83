//! Elements of values that are not samples.

use busyhour_sample::Nanos;

use super::text;
use crate::config::SaveConfig;
use crate::jtl_columns::{ValueRow, XmlAttributes, write_value_attributes};

/// Appends the element of a value and a line end.
pub(crate) fn value_element(config: &SaveConfig, hostname: &str, value: &ValueRow<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"<sample");
    let at = Nanos::from_millis(u64::try_from(value.stamp_ms).unwrap_or(0));
    write_value_attributes(config.shown, value, at, &mut ValueElement { hostname, out });
    out.extend_from_slice(b"/>\n");
}

struct ValueElement<'o> {
    hostname: &'o str,
    out: &'o mut Vec<u8>,
}

impl XmlAttributes for ValueElement<'_> {
    fn number(&mut self, name: &str, value: i64) {
        self.attribute(name, &value.to_string());
    }

    fn attribute(&mut self, name: &str, value: &str) {
        self.out.push(b' ');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"=\"");
        text::escape(value, true, self.out);
        self.out.push(b'"');
    }

    /// The stamps of values count from 1970.
    fn stamp(&mut self, name: &str, at: Nanos) {
        self.number(name, (at.0 / 1_000_000) as i64);
    }

    fn thread_name(&mut self, name: &str) {
        self.attribute(name, "");
    }

    fn hostname(&mut self, name: &str) {
        self.attribute(name, self.hostname);
    }
}
