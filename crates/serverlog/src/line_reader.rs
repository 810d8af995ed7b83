//! Reads the lines of an access log.

use busyhour_logs::{DurationUnit, EntryTime, StampReader, StampSettings, read_access};

use crate::entry::{LoggedRequest, StampKind};
use crate::field::{Field, number, stamp_tick_ns};
use crate::format::{LineFormat, LogFormat};
use crate::pattern::Part;
use crate::sent::{target_key, text_key};

/// Maximum length of a line in bytes; longer lines cannot be read.
pub const LINE_BYTES_MAX: usize = 64 * 1024;

/// Times outside of this range, in ns since 1970 (up to the year 2116), are not read, so that sums of times do not overflow.
const STAMPS_NS: std::ops::Range<i64> = 0..1 << 62;

/// Maximum duration in ns, about ten years.
const DURATION_NS_MAX: u64 = 300_000_000_000_000_000;

/// Why a line cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableLine {
    /// The line differs from the format.
    #[error("the line differs from the format")]
    Form,
    /// The time cannot be read.
    #[error("the line has no time that can be read")]
    Time,
    /// The line is too long.
    #[error("the line is longer than 64 KiB")]
    Long,
}

/// Reads the lines of one log.
#[derive(Debug)]
pub struct LineReader {
    format: LogFormat,
    stamps: StampReader,
    /// Unit of a duration without a decimal point at the end of a line in the common log format.
    unit: Option<DurationUnit>,
}

/// The texts of a line while it is read.
#[derive(Default)]
struct Line {
    stamp: Option<(i64, u64, StampKind)>,
    fraction: (i64, u64),
    duration: Option<(u64, u64)>,
    target: Option<(u64, u64)>,
    path: Option<String>,
    query: Option<String>,
    status: u16,
    client: u64,
    id: u64,
}

impl LineReader {
    /// Creates a reader of lines in this format. `stamps` supplies the information that stamps may lack.
    #[must_use]
    pub fn new(format: LogFormat, stamps: StampSettings) -> LineReader {
        let unit = match format.name() {
            "apache" | "tomcat10.1" => Some(DurationUnit::Microseconds),
            "tomcat" => Some(DurationUnit::Milliseconds),
            _ => None,
        };
        LineReader { format, stamps: StampReader::new(stamps), unit }
    }

    /// The format.
    #[must_use]
    pub fn format(&self) -> &LogFormat {
        &self.format
    }

    /// Reads a line without its end.
    ///
    /// # Errors
    /// The line is not in the format.
    pub fn read(&mut self, text: &str) -> Result<LoggedRequest, UnreadableLine> {
        if text.len() > LINE_BYTES_MAX {
            return Err(UnreadableLine::Long);
        }
        let mut line = Line::default();
        match &self.format.lines {
            LineFormat::Pattern(parts) => {
                let mut rest = text;
                for (at, part) in parts.iter().enumerate() {
                    match part {
                        // Fields at the end that are not used may be missing.
                        Part::Text(text) => match rest.strip_prefix(text.as_str()) {
                            Some(after) => rest = after,
                            None if all_unused(&parts[at..]) => break,
                            None => return Err(UnreadableLine::Form),
                        },
                        Part::Field(field) => {
                            let length = match parts.get(at + 1) {
                                Some(Part::Text(next)) => match field_length(rest, next) {
                                    Some(length) => length,
                                    None if all_unused(&parts[at + 1..]) => rest.len(),
                                    None => return Err(UnreadableLine::Form),
                                },
                                _ => rest.len(),
                            };
                            line.set_field(*field, &rest[..length], &mut self.stamps);
                            rest = &rest[length..];
                        }
                    }
                }
            }
            LineFormat::Json(fields) => {
                let object = serde_json::from_str(text).map_err(|_| UnreadableLine::Form)?;
                fields.read(&object, |field, value| line.set_field(field, value, &mut self.stamps));
            }
            LineFormat::Common(kind) => self.read_common(text, *kind, &mut line)?,
        }
        line.finish().ok_or(UnreadableLine::Time)
    }

    fn read_common(&mut self, text: &str, kind: StampKind, line: &mut Line) -> Result<(), UnreadableLine> {
        let found = self.stamps.find(text).ok_or(UnreadableLine::Time)?;
        let stamp = &text[found.range.clone()];
        line.set_field(Field::Stamp(kind), stamp, &mut self.stamps);
        let record = read_access(&text[found.range.end..], self.unit).ok_or(UnreadableLine::Form)?;
        line.target = Some(target_key(record.target));
        line.status = record.status;
        let client = text.split(' ').next().unwrap_or_default();
        line.set_field(Field::Client, client, &mut self.stamps);
        if let Some(duration_ns) = record.duration_ns {
            let last = text.trim_end().rsplit(' ').next().unwrap_or_default().trim_matches('"');
            let unit = match self.unit {
                _ if last.contains('.') => crate::field::S,
                Some(DurationUnit::Milliseconds) => crate::field::MS,
                Some(DurationUnit::Microseconds) => crate::field::US,
                _ => crate::field::S,
            };
            let tick = number(last, unit).map_or(unit, |(_, tick)| tick);
            line.duration = Some((duration_ns, tick));
        }
        Ok(())
    }
}

fn all_unused(parts: &[Part]) -> bool {
    parts.iter().all(|part| matches!(part, Part::Text(_) | Part::Field(Field::Unused)))
}

/// The length of a field that ends before `next`. Within quotes, an escaped quote does not end it.
fn field_length(rest: &str, next: &str) -> Option<usize> {
    if !next.starts_with('"') {
        return rest.find(next);
    }
    let mut from = 0;
    loop {
        let at = from + rest[from..].find(next)?;
        let backslashes = rest.as_bytes()[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        if backslashes.is_multiple_of(2) {
            return Some(at);
        }
        from = at + 1;
    }
}

impl Line {
    fn set_field(&mut self, field: Field, text: &str, stamps: &mut StampReader) {
        match field {
            Field::Unused => {}
            Field::RequestLine => {
                let target = text.split(' ').nth(1).unwrap_or_default();
                self.target = (!target.is_empty()).then(|| target_key(target));
            }
            Field::Target => self.target = Some(target_key(text)),
            Field::Path => self.path = Some(text.to_owned()),
            Field::Query => self.query = Some(text.trim_start_matches('?').to_owned()),
            Field::Status => self.status = text.parse().unwrap_or(0),
            Field::Client => {
                let address = without_port(text);
                self.client = if matches!(address, "" | "-") { 0 } else { text_key(address) };
            }
            Field::Id => self.id = if matches!(text, "" | "-") { 0 } else { text_key(text) },
            Field::Stamp(kind) => {
                let text = text.trim_matches(['[', ']']);
                if let EntryTime::UnixNs(ns) = stamps.read_whole(text) {
                    self.set_stamp(ns, stamp_tick_ns(text), kind);
                }
            }
            Field::Since1970(kind, unit_ns) => {
                if let Some((ns, tick)) = number(text, unit_ns) {
                    self.set_stamp(ns, tick, kind);
                }
            }
            Field::Fraction(unit_ns) => {
                if let Some((ns, tick)) = number(text, unit_ns) {
                    self.fraction = (ns, tick);
                }
            }
            Field::Duration(unit_ns) => {
                if let Some((ns, tick)) = number(text, unit_ns) {
                    self.duration = u64::try_from(ns).ok().map(|ns| (ns, tick));
                }
            }
        }
    }

    /// Sets the stamp, unless the current one is better. A stamp that marks the start or the end of a request is better than one
    /// that marks an unknown instant between them; otherwise, the finer stamp is better.
    fn set_stamp(&mut self, ns: i64, tick: u64, kind: StampKind) {
        let is_better = |(_, known_tick, known_kind): (i64, u64, StampKind)| {
            let rank = |kind| kind == StampKind::Between;
            (rank(kind), tick) < (rank(known_kind), known_tick)
        };
        if self.stamp.is_none_or(is_better) {
            self.stamp = Some((ns, tick.max(1), kind));
        }
    }

    fn finish(self) -> Option<LoggedRequest> {
        let (stamp_ns, tick_ns, kind) = self.stamp?;
        let (stamp_ns, tick_ns) = match self.fraction {
            (_, 0) => (stamp_ns, tick_ns),
            (ns, tick) => (stamp_ns.saturating_add(ns), tick),
        };
        if !STAMPS_NS.contains(&stamp_ns) {
            return None;
        }
        let duration = self.duration.filter(|(ns, _)| *ns <= DURATION_NS_MAX);
        let (target, path) = match (self.target, &self.path) {
            (Some(keys), _) => keys,
            (None, Some(path)) => match &self.query {
                Some(query) => target_key(&format!("{path}?{query}")),
                None => target_key(path),
            },
            (None, None) => (0, 0),
        };
        Some(LoggedRequest {
            stamp_ns,
            tick_ns,
            kind,
            duration_ns: duration.map(|(ns, _)| ns),
            duration_tick_ns: duration.map_or(0, |(_, tick)| tick),
            target,
            path,
            status: self.status,
            client: self.client,
            id: self.id,
        })
    }
}

/// The address without its port: `10.0.0.1:4711`, `[::1]:4711`.
fn without_port(text: &str) -> &str {
    if let Some(inner) = text.strip_prefix('[') {
        return inner.split(']').next().unwrap_or(inner);
    }
    match text.split_once(':') {
        Some((address, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => address,
        _ => text,
    }
}

#[cfg(test)]
mod tests;
