//! Lines that are JSON objects, as the JSON layouts of Logback, log4j, zap, pino, structlog, Serilog and .NET write them.

use serde_json::{Map, Value};

use crate::severity::EntrySeverity;

/// The fields of an entry in JSON.
#[derive(Debug, Default, PartialEq)]
pub(super) struct JsonEntry {
    pub(super) time: JsonTime,
    pub(super) severity: Option<EntrySeverity>,
    pub(super) logger: Option<String>,
    pub(super) message: String,
    /// The stack trace, with line breaks; or the message of an error if there is only that.
    pub(super) stack: Option<String>,
}

/// The time in a JSON entry.
#[derive(Debug, Default, PartialEq)]
pub(super) enum JsonTime {
    #[default]
    Missing,
    Text(String),
    UnixNs(i64),
}

const TIMES: &[&str] =
    &["@timestamp", "timestamp", "time", "ts", "@t", "Timestamp", "datetime", "asctime", "date"];
const LEVELS: &[&str] = &["level", "severity", "log.level", "levelname", "@l", "LogLevel", "lvl", "loglevel"];
const LOGGERS: &[&str] =
    &["logger_name", "logger", "log.logger", "loggerName", "name", "Category", "SourceContext"];
const MESSAGES: &[&str] = &["message", "msg", "@m", "@mt", "Message", "event", "short_message"];
const STACKS: &[&str] = &[
    "stack_trace",
    "stacktrace",
    "error.stack_trace",
    "@x",
    "exception",
    "exc_info",
    "stack",
    "Exception",
    "err",
    "error",
    "thrown",
];

/// Reads the line of a JSON layout; `None` if it is not a JSON object with a message.
pub(super) fn read(line: &str) -> Option<JsonEntry> {
    if !line.starts_with('{') || !line.ends_with('}') {
        return None;
    }
    let fields: Map<String, Value> = serde_json::from_str(line).ok()?;
    let first = |names: &[&str]| names.iter().find_map(|name| fields.get(*name));
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let stack = STACKS.iter().filter_map(|name| fields.get(*name)).find_map(stack_text);
    let message = MESSAGES.iter().filter_map(|name| fields.get(*name)).find_map(text);
    let message = match (message, &stack) {
        (Some(message), _) => message,
        (None, Some(_)) => String::new(),
        (None, None) => return None,
    };
    Some(JsonEntry {
        time: first(TIMES).map_or(JsonTime::Missing, time),
        severity: first(LEVELS).and_then(severity),
        logger: LOGGERS.iter().filter_map(|name| fields.get(*name)).find_map(text),
        message,
        stack,
    })
}

/// The stack trace in the value of a field: the text itself, or the field of an object that describes an error. Some layouts
/// write only the message of the error, which is one line.
fn stack_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Object(fields) => ["stack", "stack_trace", "stacktrace", "extendedStackTrace"]
            .iter()
            .find_map(|name| fields.get(*name)?.as_str())
            .map(str::to_owned),
        _ => None,
    }
}

/// The time in a field. The size of a number determines whether it is in seconds, milliseconds, microseconds or
/// nanoseconds since 1970.
fn time(value: &Value) -> JsonTime {
    match value {
        Value::String(text) => JsonTime::Text(text.clone()),
        Value::Number(number) => {
            let Some(value) = number.as_f64().filter(|value| *value > 0.0) else { return JsonTime::Missing };
            let ns_per_unit = match value {
                value if value < 1e11 => 1_000_000_000,
                value if value < 1e14 => 1_000_000,
                value if value < 1e17 => 1_000,
                _ => 1,
            };
            match number.as_i64() {
                Some(whole) => whole.checked_mul(ns_per_unit).map_or(JsonTime::Missing, JsonTime::UnixNs),
                None => JsonTime::UnixNs((value * ns_per_unit as f64).round() as i64),
            }
        }
        _ => JsonTime::Missing,
    }
}

/// The severity in a field: a name, or a number from 0 to 7 as in syslog (GELF) or from 10 to 69 as in Bunyan and pino.
fn severity(value: &Value) -> Option<EntrySeverity> {
    match value {
        Value::String(name) => EntrySeverity::named(name),
        Value::Number(number) => match number.as_u64()? {
            priority @ 0..=7 => Some(EntrySeverity::of_priority(priority as u32)),
            10..=19 => Some(EntrySeverity::Trace),
            20..=29 => Some(EntrySeverity::Debug),
            30..=39 => Some(EntrySeverity::Info),
            40..=49 => Some(EntrySeverity::Warn),
            50..=59 => Some(EntrySeverity::Error),
            60..=69 => Some(EntrySeverity::Fatal),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_layouts_are_read() {
        let logstash = read(
            r#"{"@timestamp":"2024-03-18T10:00:00Z","level":"ERROR","logger_name":"a.B","message":"no seat","stack_trace":"a.E: x\n\tat a.B.c(B.java:1)"}"#,
        );
        let expected = JsonEntry {
            time: JsonTime::Text("2024-03-18T10:00:00Z".into()),
            severity: Some(EntrySeverity::Error),
            logger: Some("a.B".into()),
            message: "no seat".into(),
            stack: Some("a.E: x\n\tat a.B.c(B.java:1)".into()),
        };
        assert_eq!(logstash, Some(expected));
        let zap = read(r#"{"level":"warn","ts":1710763200.5,"msg":"slow"}"#).unwrap();
        assert_eq!(
            (zap.time, zap.severity),
            (JsonTime::UnixNs(1_710_763_200_500_000_000), Some(EntrySeverity::Warn))
        );
        let pino = read(r#"{"level":50,"time":1710763200123,"msg":"x","err":{"type":"E","stack":"E: y\n    at f (a.js:1:2)"}}"#).unwrap();
        assert_eq!(
            (pino.time, pino.severity),
            (JsonTime::UnixNs(1_710_763_200_123_000_000), Some(EntrySeverity::Error))
        );
        assert_eq!(pino.stack.as_deref(), Some("E: y\n    at f (a.js:1:2)"));
    }

    #[test]
    fn other_objects_are_no_entries() {
        for line in ["{}", "{\"a\":1}", "{not json}", "{\"message\":5}", "[1]", "{\"msg\":\"a\"", ""] {
            assert_eq!(read(line), None, "{line}");
        }
        let deep = format!("{{\"msg\":{}1{}}}", "[".repeat(50_000), "]".repeat(50_000));
        assert_eq!(read(&deep), None, "deep nesting is refused");
    }
}
