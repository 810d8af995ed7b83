//! The format of an access log.

use crate::entry::StampKind;
use crate::format_error::LogFormatError;
use crate::json_line::JsonFields;
use crate::pattern::{Dialect, Part, parse};

/// The format of an access log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFormat {
    /// How the format is named in reports.
    name: String,
    pub(crate) lines: LineFormat,
}

/// The form of the lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LineFormat {
    /// Lines of a pattern.
    Pattern(Vec<Part>),
    /// JSON objects.
    Json(JsonFields),
    /// The common log format with any fields after it; the server is unknown.
    Common(StampKind),
}

/// The combined format of nginx.
const NGINX: &str = r#"$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent""#;

/// The default text format of Envoy, up to its last field that is used.
const ENVOY: &str = r#"[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" %TAIL%"#;

impl LogFormat {
    /// Reads a description: a name (`nginx`, `apache`, `tomcat`, `tomcat10.1`, `envoy`, `json`, `common`, `combined`), a pattern of nginx (with
    /// `$`), Apache (with `%`) or Envoy (with `%START_TIME%`), a pattern after `nginx:`, `apache:`, `tomcat:`, `tomcat10.1:` or
    /// `envoy:`, or the names of fields after `json:`.
    ///
    /// # Errors
    /// The text is none of these.
    pub fn parse(text: &str) -> Result<LogFormat, LogFormatError> {
        let named = |lines| LogFormat { name: text.to_owned(), lines };
        let pattern = |dialect: Dialect, pattern: &str| {
            let lines = parse(dialect, pattern).map(LineFormat::Pattern)?;
            Ok(LogFormat { name: format!("pattern of {}", dialect.server()), lines })
        };
        match text {
            "common" | "combined" => return Ok(named(LineFormat::Common(StampKind::Between))),
            "apache" => return Ok(named(LineFormat::Common(StampKind::Start))),
            "tomcat" | "tomcat10.1" => return Ok(named(LineFormat::Common(StampKind::End))),
            "nginx" => return pattern(Dialect::Nginx, NGINX),
            "envoy" => return pattern(Dialect::Envoy, ENVOY),
            "json" => return Ok(named(LineFormat::Json(JsonFields::default()))),
            _ => {}
        }
        match text.split_once(':') {
            Some(("nginx", given)) => pattern(Dialect::Nginx, given),
            Some(("apache", given)) => pattern(Dialect::Apache, given),
            Some(("tomcat", given)) => pattern(Dialect::Tomcat, given),
            Some(("tomcat10.1", given)) => pattern(Dialect::Tomcat101, given),
            Some(("envoy", given)) => pattern(Dialect::Envoy, given),
            Some(("json", given)) => Ok(named(LineFormat::Json(JsonFields::parse(given)?))),
            _ if text.contains("%START_TIME") => pattern(Dialect::Envoy, text),
            _ if text.contains('$') => pattern(Dialect::Nginx, text),
            _ if text.contains('%') => pattern(Dialect::Apache, text),
            _ => Err(LogFormatError::Unknown(text.to_owned())),
        }
    }

    /// The format of a log that begins with `line`: JSON, the default text of Envoy, or the common log format of an unknown server.
    #[must_use]
    pub fn detect(line: &str) -> LogFormat {
        let of = |name: &str, lines| LogFormat { name: name.to_owned(), lines };
        let line = line.trim_start();
        if line.starts_with('{') {
            return of("JSON", LineFormat::Json(JsonFields::default()));
        }
        let digits =
            |text: &str| text.as_bytes().get(..4).is_some_and(|year| year.iter().all(u8::is_ascii_digit));
        if let Some(rest) = line.strip_prefix('[')
            && digits(rest)
            && let Ok(envoy) = parse(Dialect::Envoy, ENVOY)
        {
            return of("text of Envoy", LineFormat::Pattern(envoy));
        }
        of("common log format", LineFormat::Common(StampKind::Between))
    }

    /// The name of the format in reports.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}
