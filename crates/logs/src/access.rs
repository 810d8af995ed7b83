//! Records of access logs.
//!
//! The common and combined formats of Apache, nginx and Tomcat, with an optional duration at the end. A last field of
//! digits is the duration in the unit that the caller specifies. A last field with a decimal point is in seconds
//! (`$request_time` of nginx).
//!
//! The stamp of Apache is the start of the request, that of nginx and of Tomcat its end.

use serde::{Deserialize, Serialize};

/// The unit of a whole-number duration at the end of a line. The format does not determine it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DurationUnit {
    /// `%D` of Tomcat before version 10.1, `%T` with `ms`.
    Milliseconds,
    /// `%D` of Apache and of Tomcat since version 10.1.
    Microseconds,
    /// `%T`.
    Seconds,
}

/// A request in an access log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessRecord<'a> {
    /// Method, such as `GET`.
    pub method: &'a str,
    /// Path and query as logged.
    pub target: &'a str,
    /// Status code of the response.
    pub status: u16,
    /// Length of the response body in bytes; `None` if the log has `-`.
    pub response_bytes: Option<u64>,
    /// Duration in nanoseconds; `None` if the line ends without one, or its unit is unknown.
    pub duration_ns: Option<u64>,
}

/// Reads the record in the text after the stamp of an access log: `] "GET /a HTTP/1.1" 200 12 …`. `unit` is the unit of a duration
/// without a decimal point; without a unit, such a duration is not read.
#[must_use]
pub fn read_access(after_stamp: &str, unit: Option<DurationUnit>) -> Option<AccessRecord<'_>> {
    let text = after_stamp.strip_prefix(']')?.trim_start().strip_prefix('"')?;
    let end = closing_quote(text)?;
    let (request, rest) = (&text[..end], &text[end + 1..]);
    let mut words = request.split(' ');
    let (method, target) = (words.next()?, words.next().unwrap_or(""));
    let mut fields = rest.split_ascii_whitespace();
    let status: u16 = fields.next()?.parse().ok().filter(|status| (100..1_000).contains(status))?;
    let response_bytes = fields.next().and_then(|field| field.parse().ok());
    let duration_ns = fields.next_back().and_then(|field| duration_ns(field, unit));
    Some(AccessRecord { method, target, status, response_bytes, duration_ns })
}

/// The position of the first quote that is not escaped.
fn closing_quote(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'"', bytes).find(|at| {
        let backslashes = bytes[..*at].iter().rev().take_while(|byte| **byte == b'\\').count();
        backslashes % 2 == 0
    })
}

/// `0.012` is in seconds; `12` is in the unit.
fn duration_ns(field: &str, unit: Option<DurationUnit>) -> Option<u64> {
    let unquoted = field.strip_prefix('"').and_then(|field| field.strip_suffix('"'));
    let field = unquoted.unwrap_or(field);
    if !field.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    if field.contains('.') {
        let seconds: f64 = field.parse().ok()?;
        return (seconds < 1e9).then_some((seconds * 1e9).round() as u64);
    }
    let value: u64 = field.parse().ok()?;
    value.checked_mul(match unit? {
        DurationUnit::Milliseconds => 1_000_000,
        DurationUnit::Microseconds => 1_000,
        DurationUnit::Seconds => 1_000_000_000,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_format_has_a_status_and_a_length() {
        let record = read_access("] \"GET /shop?a=b HTTP/1.1\" 404 -", None).unwrap();
        let expected = AccessRecord {
            method: "GET",
            target: "/shop?a=b",
            status: 404,
            response_bytes: None,
            duration_ns: None,
        };
        assert_eq!(record, expected);
    }

    #[test]
    fn a_duration_at_the_end_is_read_in_its_unit() {
        let combined = "] \"POST /a HTTP/1.1\" 500 12 \"-\" \"curl/8 (x \\\" y)\" ";
        let duration = |end: &str, unit| read_access(&format!("{combined}{end}"), unit).unwrap().duration_ns;
        assert_eq!(duration("0.012", None), Some(12_000_000));
        assert_eq!(duration("\"0.5\"", None), Some(500_000_000));
        assert_eq!(duration("12", None), None);
        assert_eq!(duration("12", Some(DurationUnit::Milliseconds)), Some(12_000_000));
        assert_eq!(duration("12", Some(DurationUnit::Microseconds)), Some(12_000));
        assert_eq!(duration("99999999999999999999", Some(DurationUnit::Seconds)), None);
        assert_eq!(duration("9999999999999999999.5", None), None);
    }

    #[test]
    fn an_escaped_quote_does_not_end_the_request() {
        let record = read_access("] \"GET /a\\\"b HTTP/1.1\" 200 5", None).unwrap();
        assert_eq!((record.target, record.status), ("/a\\\"b", 200));
    }

    #[test]
    fn other_texts_are_no_records() {
        for text in
            ["", "]", "] \"GET / HTTP/1.1\"", "] \"GET / HTTP/1.1\" abc 5", "] no quote", "] \"a\" 99 1"]
        {
            assert_eq!(read_access(text, None), None, "{text}");
        }
    }
}
