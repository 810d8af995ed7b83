//! Patterns that describe the lines of a log, as in the configuration of nginx, Apache, Tomcat and Envoy.

use crate::entry::StampKind;
use crate::field::{Field, MS, NS, S, US, is_id};
use crate::format_error::LogFormatError;

/// The server that a pattern is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `log_format` of nginx.
    Nginx,
    /// `LogFormat` of Apache.
    Apache,
    /// `pattern` of Tomcat's `AccessLogValve` before version 10.1: `%D` in ms.
    Tomcat,
    /// `pattern` of Tomcat's `AccessLogValve` since version 10.1: `%D` in µs.
    Tomcat101,
    /// Text format of Envoy.
    Envoy,
}

impl Dialect {
    /// The name of the server.
    pub(crate) const fn server(self) -> &'static str {
        match self {
            Dialect::Nginx => "nginx",
            Dialect::Apache => "Apache",
            Dialect::Tomcat | Dialect::Tomcat101 => "Tomcat",
            Dialect::Envoy => "Envoy",
        }
    }
}

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// A text that lines contain as it is.
    Text(String),
    /// A field that ends where the next text begins.
    Field(Field),
}

/// Maximum length of a pattern in bytes.
const PATTERN_BYTES_MAX: usize = 16 * 1024;

/// The parts of a pattern.
pub(crate) fn parse(dialect: Dialect, pattern: &str) -> Result<Vec<Part>, LogFormatError> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(LogFormatError::Long);
    }
    let mut parts = Parts::default();
    let mut rest = pattern;
    let sign = if dialect == Dialect::Nginx { '$' } else { '%' };
    while let Some(at) = rest.find(sign) {
        parts.text(&rest[..at]);
        let from = pattern.len() - rest.len() + at;
        let directive = &rest[at + 1..];
        let (fields, length) = match dialect {
            Dialect::Nginx => nginx(directive),
            Dialect::Envoy => envoy(directive),
            Dialect::Apache | Dialect::Tomcat | Dialect::Tomcat101 => percent(dialect, directive),
        }
        .ok_or_else(|| LogFormatError::Directive {
            directive: std::iter::once(sign).chain(directive.chars().take(24)).collect(),
            column: pattern[..from].chars().count() + 1,
        })?;
        for field in fields {
            match field {
                Part::Text(text) => parts.text(&text),
                Part::Field(field) => parts.field(field)?,
            }
        }
        rest = &directive[length..];
    }
    parts.text(rest);
    parts.0.iter().any(is_time).then_some(parts.0).ok_or(LogFormatError::NoTime)
}

fn is_time(part: &Part) -> bool {
    matches!(part, Part::Field(Field::Stamp(_) | Field::Since1970(..)))
}

#[derive(Default)]
struct Parts(Vec<Part>);

impl Parts {
    fn text(&mut self, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Text(before)) => before.push_str(text),
            _ => self.0.push(Part::Text(text.to_owned())),
        }
    }

    fn field(&mut self, field: Field) -> Result<(), LogFormatError> {
        match self.0.last_mut() {
            // `%U%q` and `$uri$is_args$args`.
            Some(Part::Field(before)) if (*before, field) == (Field::Path, Field::Query) => {
                *before = Field::Target
            }
            Some(Part::Field(_)) => return Err(LogFormatError::Adjacent),
            _ => self.0.push(Part::Field(field)),
        }
        Ok(())
    }
}

fn one(field: Field, length: usize) -> Option<(Vec<Part>, usize)> {
    Some((vec![Part::Field(field)], length))
}

/// A variable of nginx, after its `$`: `name` or `{name}`.
fn nginx(text: &str) -> Option<(Vec<Part>, usize)> {
    let (name, length) = match text.strip_prefix('{') {
        Some(inner) => {
            let end = inner.find('}')?;
            (&inner[..end], end + 2)
        }
        None => {
            let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
            (&text[..end], end)
        }
    };
    let field = match name {
        "" => return None,
        "is_args" => return Some((Vec::new(), length)),
        "request" => Field::RequestLine,
        "request_uri" => Field::Target,
        "uri" | "document_uri" => Field::Path,
        "args" | "query_string" => Field::Query,
        "status" => Field::Status,
        "remote_addr" => Field::Client,
        "time_local" | "time_iso8601" => Field::Stamp(StampKind::End),
        "msec" => Field::Since1970(StampKind::End, S),
        "request_time" => Field::Duration(S),
        name if is_id(name) => Field::Id,
        _ => Field::Unused,
    };
    one(field, length)
}

/// A directive of Apache or Tomcat, after its `%`: modifiers, an optional name in braces and one or two letters.
fn percent(dialect: Dialect, text: &str) -> Option<(Vec<Part>, usize)> {
    if text.starts_with('%') {
        return Some((vec![Part::Text("%".to_owned())], 1));
    }
    let modifiers = text.find(|c: char| !matches!(c, '<' | '>' | '!' | ',' | '0'..='9'))?;
    let (name, letters) = match text[modifiers..].strip_prefix('{') {
        Some(inner) => {
            let end = inner.find('}')?;
            (Some(&inner[..end]), modifiers + end + 2)
        }
        None => (None, modifiers),
    };
    let rest = &text[letters..];
    let letter = rest.chars().next().filter(char::is_ascii_alphabetic)?;
    // `%^ti` and `%^to` of Apache, `%{c}a` of both: only the first letter matters here.
    let length = letters + letter.len_utf8();
    let is_tomcat = dialect != Dialect::Apache;
    let field = match (letter, name) {
        ('t', name) => return stamp(dialect, name).map(|parts| (parts, length)),
        ('r', _) => Field::RequestLine,
        ('U', _) => Field::Path,
        ('q', _) => Field::Query,
        ('s', _) => Field::Status,
        ('h' | 'a', None) => Field::Client,
        ('i' | 'o', Some(header)) if is_id(header) => Field::Id,
        ('D', _) if dialect == Dialect::Tomcat => Field::Duration(MS),
        ('D', _) => Field::Duration(US),
        ('T', Some("us")) => Field::Duration(US),
        ('T', Some("ms")) => Field::Duration(MS),
        ('T', Some("ns")) if is_tomcat => Field::Duration(NS),
        ('T', _) => Field::Duration(S),
        _ => Field::Unused,
    };
    one(field, length)
}

/// The time of Apache or Tomcat, whose directive is `%t` or `%{name}t`.
fn stamp(dialect: Dialect, name: Option<&str>) -> Option<Vec<Part>> {
    let usual = if dialect == Dialect::Apache { StampKind::Start } else { StampKind::End };
    let Some(name) = name else {
        let stamp = Part::Field(Field::Stamp(usual));
        return Some(vec![Part::Text("[".to_owned()), stamp, Part::Text("]".to_owned())]);
    };
    let (kind, name) = match (name.strip_prefix("begin:"), name.strip_prefix("end:")) {
        (Some(name), _) => (StampKind::Start, name),
        (_, Some(name)) => (StampKind::End, name),
        _ => (usual, name),
    };
    let field = match name {
        "sec" => Field::Since1970(kind, S),
        "msec" => Field::Since1970(kind, MS),
        "usec" => Field::Since1970(kind, US),
        "msec_frac" => Field::Fraction(MS),
        "usec_frac" => Field::Fraction(US),
        // Formats of strftime and SimpleDateFormat: the notation is recognized from the text.
        _ => Field::Stamp(kind),
    };
    Some(vec![Part::Field(field)])
}

/// A command of Envoy, after its `%`: `NAME%` or `NAME(…)%` or `NAME(…):12%`.
fn envoy(text: &str) -> Option<(Vec<Part>, usize)> {
    if text.starts_with('%') {
        return Some((vec![Part::Text("%".to_owned())], 1));
    }
    let name_end = text.find(|c: char| !c.is_ascii_uppercase() && !c.is_ascii_digit() && c != '_')?;
    let name = &text[..name_end];
    let (argument, after) = match text[name_end..].strip_prefix('(') {
        Some(inner) => {
            let end = inner.find(')')?;
            (&inner[..end], name_end + end + 2)
        }
        None => ("", name_end),
    };
    let length = after + text[after..].find('%')? + 1;
    let field = match name {
        "START_TIME" => Field::Stamp(StampKind::Start),
        "RESPONSE_CODE" => Field::Status,
        "DURATION" => Field::Duration(MS),
        "DOWNSTREAM_REMOTE_ADDRESS" | "DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT" => Field::Client,
        "REQ" if argument.to_ascii_uppercase().ends_with(":PATH") => Field::Target,
        "REQ" if is_id(argument) => Field::Id,
        _ => Field::Unused,
    };
    one(field, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(dialect: Dialect, pattern: &str) -> Vec<Field> {
        let used = |part| match part {
            Part::Field(Field::Unused) | Part::Text(_) => None,
            Part::Field(field) => Some(field),
        };
        parse(dialect, pattern).unwrap().into_iter().filter_map(used).collect()
    }

    #[test]
    fn nginx_variables_are_known() {
        let pattern = r#"$remote_addr - $remote_user [$time_local] "$request" $status ${body_bytes_sent} $request_time $http_x_request_id"#;
        let expected = [
            Field::Client,
            Field::Stamp(StampKind::End),
            Field::RequestLine,
            Field::Status,
            Field::Duration(S),
            Field::Id,
        ];
        assert_eq!(fields(Dialect::Nginx, pattern), expected);
    }

    #[test]
    fn apache_and_tomcat_differ_in_stamps_and_durations() {
        let pattern = r#"%h %l %u %t "%r" %>s %b %D %{X-Request-ID}i %{User-agent}i"#;
        let expected = |kind, unit| {
            vec![
                Field::Client,
                Field::Stamp(kind),
                Field::RequestLine,
                Field::Status,
                Field::Duration(unit),
                Field::Id,
            ]
        };
        assert_eq!(fields(Dialect::Apache, pattern), expected(StampKind::Start, US));
        assert_eq!(fields(Dialect::Tomcat, pattern), expected(StampKind::End, MS));
        assert_eq!(fields(Dialect::Tomcat101, pattern), expected(StampKind::End, US));
        assert_eq!(
            fields(Dialect::Apache, "%{sec}t.%{msec_frac}t %{end:usec}t %!200,304{ms}T"),
            [
                Field::Since1970(StampKind::Start, S),
                Field::Fraction(MS),
                Field::Since1970(StampKind::End, US),
                Field::Duration(MS)
            ]
        );
    }

    #[test]
    fn commands_of_envoy_are_known() {
        let pattern = r#"[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%" %RESPONSE_CODE% %DURATION% %REQ(X-REQUEST-ID)% %REQ(USER-AGENT):20%"#;
        let expected =
            [Field::Stamp(StampKind::Start), Field::Target, Field::Status, Field::Duration(MS), Field::Id];
        assert_eq!(fields(Dialect::Envoy, pattern), expected);
    }

    #[test]
    fn errors_name_the_place() {
        let error = |dialect, pattern: &str| parse(dialect, pattern).unwrap_err().to_string();
        assert!(error(Dialect::Nginx, "$status").contains("time"));
        assert!(error(Dialect::Apache, "%t %{x").contains("column 4"));
        assert!(error(Dialect::Nginx, "$msec$status").contains("between"));
        assert!(error(Dialect::Nginx, &"x".repeat(100_000)).contains("longer"));
    }
}
