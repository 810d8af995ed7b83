//! Times of log lines.

use jiff::Timestamp;

use crate::size::number;

/// The times on a line. Unified logs stamp the end of an event, earlier ones its start.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LineStamp {
    /// Seconds since the start of the JVM.
    pub uptime_s: Option<f64>,
    /// Milliseconds since 1970-01-01 UTC.
    pub wall_ms: Option<i64>,
}

impl LineStamp {
    /// Whether the line has any time.
    #[must_use]
    pub fn is_present(&self) -> bool {
        self.uptime_s.is_some() || self.wall_ms.is_some()
    }

    /// Fills missing times with those of another stamp of the same line.
    pub(crate) fn or(self, other: LineStamp) -> LineStamp {
        LineStamp { uptime_s: self.uptime_s.or(other.uptime_s), wall_ms: self.wall_ms.or(other.wall_ms) }
    }
}

/// Reads a text that is an ISO-8601 time, such as `2026-11-21T19:07:32.433+0000`, and nothing else.
pub(crate) fn wall_ms(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.len() < 19 || bytes[4] != b'-' || bytes[7] != b'-' || bytes[10] != b'T' {
        return None;
    }
    let formats = ["%Y-%m-%dT%H:%M:%S%.f%z", "%Y-%m-%dT%H:%M:%S%.f%:z"];
    let parse = |text: &str| formats.iter().find_map(|format| Timestamp::strptime(format, text).ok());
    let stamp = match text.find(',') {
        Some(_) => parse(&text.replace(',', ".")),
        None => parse(text).or_else(|| text.parse().ok()),
    };
    stamp.map(Timestamp::as_millisecond)
}

/// Reads the stamps before an event in logs up to JDK 8 (`2015-05-14T18:55:12.588+0200: 1.157: `); returns them and the
/// rest of the text.
pub(crate) fn leading(text: &str) -> (LineStamp, &str) {
    let mut stamp = LineStamp::default();
    let mut rest = text.trim_start();
    if let Some((wall, after)) = leading_wall(rest) {
        stamp.wall_ms = Some(wall);
        rest = after.trim_start();
    }
    if let Some((uptime, after)) = leading_uptime(rest) {
        stamp.uptime_s = Some(uptime);
        rest = after.trim_start();
    }
    (stamp, rest)
}

fn leading_wall(text: &str) -> Option<(i64, &str)> {
    let bytes = text.as_bytes();
    if bytes.len() < 24 || bytes[4] != b'-' || bytes[10] != b'T' {
        return None;
    }
    // The colons of the time come before the first blank or bracket; the last one ends the stamp.
    let end = bytes.iter().position(|byte| matches!(byte, b' ' | b'[')).unwrap_or(bytes.len());
    let colon = text.get(..end)?.rfind(':')?;
    Some((wall_ms(&text[..colon])?, &text[colon + 1..]))
}

fn leading_uptime(text: &str) -> Option<(f64, &str)> {
    let (uptime, rest) = number(text)?;
    // `0.123: [GC` has a fraction, `12: ` is something else.
    let digits = &text[..text.len() - rest.len()];
    if !digits.contains(['.', ',']) {
        return None;
    }
    Some((uptime, rest.strip_prefix(':')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_times_have_zones() {
        let expected = Some(1_795_288_052_433);
        assert_eq!(wall_ms("2026-11-21T19:07:32.433+0000"), expected);
        assert_eq!(wall_ms("2026-11-21T20:07:32.433+0100"), expected);
        assert_eq!(wall_ms("2026-11-21T20:07:32,433+0100"), expected);
        assert_eq!(wall_ms("2026-11-21T19:07:32.433Z"), expected);
        assert_eq!(wall_ms("2026-11-21T20:07:32.433+01:00"), expected);
        assert_eq!(wall_ms("2026-11-21"), None);
        assert_eq!(wall_ms("2026-13-21T19:07:32.433+0000"), None);
    }

    #[test]
    fn stamps_of_earlier_logs_are_before_the_event() {
        let (stamp, rest) = leading("2015-05-14T18:55:12.588+0200: 1.157: [GC x");
        assert_eq!((stamp.uptime_s, rest), (Some(1.157), "[GC x"));
        assert_eq!(stamp.wall_ms, Some(1_431_622_512_588));
        let (stamp, rest) = leading("0,295: [GC pause");
        assert_eq!((stamp.uptime_s, stamp.wall_ms, rest), (Some(0.295), None, "[GC pause"));
        for text in ["[GC 1K", "12: x", "1.5 secs", "- age   1:   1 bytes"] {
            assert!(!leading(text).0.is_present(), "{text}");
        }
    }
}
