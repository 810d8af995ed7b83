//! Errors in the description of a format.

/// Why a text does not describe the format of a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogFormatError {
    /// A directive is not known.
    #[error("column {column}: `{directive}` is not a directive of this server")]
    Directive {
        /// The text from the directive on.
        directive: String,
        /// Its column, from 1.
        column: usize,
    },
    /// Two fields follow each other without a text between them.
    #[error(
        "two fields follow each other without a text between them, so that the end of the first is unknown"
    )]
    Adjacent,
    /// The pattern contains no time.
    #[error("the pattern contains no time, such as $msec, %t or %START_TIME%")]
    NoTime,
    /// The pattern is too long.
    #[error("the pattern is longer than 16 KiB")]
    Long,
    /// The text is neither the name of a format nor a pattern.
    #[error(
        "`{0}` is neither a format (common, combined, nginx, apache, tomcat, tomcat10.1, envoy, json) nor a pattern with $ or %"
    )]
    Unknown(String),
    /// A field of JSON lines is not known.
    #[error(
        "`{0}` is not a field of JSON lines; use start, end, time, duration_s, duration_ms, duration_us, duration_ns, request, path, \
         status, client or id, each with a name: json:start=start_time,duration_ms=duration"
    )]
    JsonField(String),
}
