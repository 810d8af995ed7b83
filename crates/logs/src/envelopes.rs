//! Envelopes: the text that log drivers and journald write around the lines of a program.
//!
//! - Docker's `json-file` driver: `{"log":"…\n","stream":"stdout","time":"…"}`. It cuts lines at 16 KiB; all parts but the last lack
//!   the line break.
//! - CRI (containerd, CRI-O): `2024-03-18T10:11:12.5Z stdout F …`, with `P` for all parts but the last.
//! - journald: the output of `journalctl -o json`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::severity::EntrySeverity;
use crate::stamps::{EntryTime, StampReader, StampSettings};

/// The envelope of the lines of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Envelope {
    /// None: the lines are those of the program.
    Plain,
    /// Docker's `json-file` driver.
    Docker,
    /// The format of the Container Runtime Interface of Kubernetes.
    Cri,
    /// `journalctl -o json`.
    Journal,
}

/// A line, or a part of one, without its envelope.
#[derive(Debug, Clone, PartialEq)]
pub struct Unwrapped<'a> {
    /// The text of the program. In journald, it may have several lines.
    pub text: Cow<'a, str>,
    /// When the driver received it, in nanoseconds since 1970.
    pub received_unix_ns: Option<i64>,
    /// Severity according to the driver.
    pub severity: Option<EntrySeverity>,
    /// The stream of the line. Lines of different streams never belong to the same entry.
    pub stream: LogStream<'a>,
    /// Whether the line continues in the next part with the same stream.
    pub is_partial: bool,
}

/// The stream that a program wrote a line to, or the process that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LogStream<'a> {
    /// Standard output, and lines without an envelope.
    Output,
    /// Standard error.
    Error,
    /// A process in the journal: its systemd unit or program, and its process ID.
    Process(Cow<'a, str>, Cow<'a, str>),
}

impl LogStream<'_> {
    /// The same stream without borrowed texts.
    pub(crate) fn to_owned_stream(&self) -> LogStream<'static> {
        match self {
            LogStream::Output => LogStream::Output,
            LogStream::Error => LogStream::Error,
            LogStream::Process(program, number) => {
                LogStream::Process(Cow::Owned(program.to_string()), Cow::Owned(number.to_string()))
            }
        }
    }
}

/// Why a line is not in the format of its envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// The line is not a JSON object with the fields of the format.
    #[error("the line is not a JSON object with the fields that Docker or journalctl writes")]
    NotAnObject,
    /// The line does not begin with a time, a stream and a tag.
    #[error("the line does not begin with a time, a stream and a tag as in the format of CRI")]
    NotCri,
    /// journalctl omitted the message, because it is longer than 4096 bytes and `--all` was not specified.
    #[error(
        "journalctl omitted the message, because it is longer than 4096 bytes; run journalctl with --all"
    )]
    MessageOmitted,
}

/// Removes the envelopes of the lines of a source.
#[derive(Debug, Clone)]
pub struct Unwrapper {
    envelope: Envelope,
    stamps: StampReader,
}

#[derive(Deserialize)]
struct DockerLine<'a> {
    #[serde(borrow)]
    log: Cow<'a, str>,
    #[serde(borrow, default)]
    stream: Cow<'a, str>,
    #[serde(borrow, default)]
    time: Cow<'a, str>,
}

impl Envelope {
    /// Recognizes the envelope of a line.
    #[must_use]
    pub fn detect(line: &str) -> Envelope {
        let candidates = [Envelope::Docker, Envelope::Cri, Envelope::Journal];
        let has = |envelope: &Envelope| Unwrapper::new(*envelope).unwrap(line).is_ok();
        candidates.into_iter().find(has).unwrap_or(Envelope::Plain)
    }
}

impl Unwrapper {
    /// Creates an unwrapper of lines with this envelope.
    #[must_use]
    pub fn new(envelope: Envelope) -> Unwrapper {
        // Times in envelopes include their UTC offset, so no time zone is needed.
        let stamps = StampReader::new(StampSettings { zone: None, near_unix_ns: 0 });
        Unwrapper { envelope, stamps }
    }

    /// Removes the envelope of a line.
    ///
    /// # Errors
    /// The line has no such envelope.
    pub fn unwrap<'a>(&mut self, line: &'a str) -> Result<Unwrapped<'a>, EnvelopeError> {
        match self.envelope {
            Envelope::Plain => Ok(plain(line)),
            Envelope::Docker => self.docker(line),
            Envelope::Cri => self.cri(line),
            Envelope::Journal => journal(line),
        }
    }

    fn docker<'a>(&mut self, line: &'a str) -> Result<Unwrapped<'a>, EnvelopeError> {
        let line: DockerLine<'a> = serde_json::from_str(line).map_err(|_| EnvelopeError::NotAnObject)?;
        let is_partial = !line.log.ends_with('\n');
        Ok(Unwrapped {
            received_unix_ns: self.time(&line.time),
            severity: None,
            stream: if line.stream == "stderr" { LogStream::Error } else { LogStream::Output },
            is_partial,
            text: without_line_break(line.log),
        })
    }

    fn cri<'a>(&mut self, line: &'a str) -> Result<Unwrapped<'a>, EnvelopeError> {
        let mut fields = line.splitn(4, ' ');
        let mut field = || fields.next().ok_or(EnvelopeError::NotCri);
        let (time, stream, tags) = (field()?, field()?, field()?);
        let text = field().unwrap_or_default();
        let stream = match stream {
            "stdout" => LogStream::Output,
            "stderr" => LogStream::Error,
            _ => return Err(EnvelopeError::NotCri),
        };
        let is_partial = match tags.split(':').next() {
            Some("P") => true,
            Some("F") => false,
            _ => return Err(EnvelopeError::NotCri),
        };
        let received_unix_ns = Some(self.time(time).ok_or(EnvelopeError::NotCri)?);
        Ok(Unwrapped { text: Cow::Borrowed(text), received_unix_ns, severity: None, stream, is_partial })
    }

    fn time(&mut self, text: &str) -> Option<i64> {
        match self.stamps.read_whole(text) {
            EntryTime::UnixNs(unix_ns) => Some(unix_ns),
            EntryTime::Unavailable(_) => None,
        }
    }
}

fn plain(line: &str) -> Unwrapped<'_> {
    Unwrapped {
        text: Cow::Borrowed(line),
        received_unix_ns: None,
        severity: None,
        stream: LogStream::Output,
        is_partial: false,
    }
}

fn without_line_break(text: Cow<'_, str>) -> Cow<'_, str> {
    let end = |text: &str| text.trim_end_matches('\n').trim_end_matches('\r').len();
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[..end(text)]),
        Cow::Owned(mut text) => {
            text.truncate(end(&text));
            Cow::Owned(text)
        }
    }
}

/// A line of `journalctl -o json`. A field may be a string, an array of bytes if it is not UTF-8, an array of such values if the
/// field occurs several times, or null if it is long.
fn journal(line: &str) -> Result<Unwrapped<'_>, EnvelopeError> {
    let fields: Map<String, Value> = serde_json::from_str(line).map_err(|_| EnvelopeError::NotAnObject)?;
    let text = |name: &str| fields.get(name).and_then(field_text);
    let received = text("_SOURCE_REALTIME_TIMESTAMP").or_else(|| text("__REALTIME_TIMESTAMP"));
    let received_us: i64 = received.and_then(|text| text.parse().ok()).ok_or(EnvelopeError::NotAnObject)?;
    let message = match fields.get("MESSAGE") {
        Some(Value::Null) => return Err(EnvelopeError::MessageOmitted),
        Some(value) => field_text(value).ok_or(EnvelopeError::NotAnObject)?,
        None => String::new(),
    };
    let priority: Option<u32> = text("PRIORITY").and_then(|text| text.parse().ok());
    let program = text("_SYSTEMD_UNIT").or_else(|| text("SYSLOG_IDENTIFIER")).unwrap_or_default();
    let process = text("_PID").or_else(|| text("SYSLOG_PID")).unwrap_or_default();
    Ok(Unwrapped {
        text: Cow::Owned(message),
        received_unix_ns: received_us.checked_mul(1_000),
        severity: priority.map(EntrySeverity::of_priority),
        stream: LogStream::Process(Cow::Owned(program), Cow::Owned(process)),
        is_partial: false,
    })
}

fn field_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(values) if values.iter().all(Value::is_number) => {
            let bytes: Option<Vec<u8>> =
                values.iter().map(|value| value.as_u64().and_then(|byte| u8::try_from(byte).ok())).collect();
            Some(String::from_utf8_lossy(&bytes?).into_owned())
        }
        Value::Array(values) => {
            // One level only: a field that occurs several times.
            let texts: Vec<String> = values
                .iter()
                .filter(|value| !value.is_null())
                .filter_map(|value| match value {
                    Value::Array(inner) if inner.iter().any(Value::is_array) => None,
                    value => field_text(value),
                })
                .collect();
            Some(texts.join("\n"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
