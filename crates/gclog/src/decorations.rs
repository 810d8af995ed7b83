//! The decorations of unified logs: `[2026-11-21T19:07:32.433+0000][0.005s][info][gc,heap ] message`.
//!
//! Any subset of decorations can be configured: time, UTC time, uptime, time and uptime in milliseconds and nanoseconds, host name,
//! process, thread, level and tags, or none. They are read in any order.

use crate::size::number;
use crate::stamp::{LineStamp, wall_ms};

/// A stamp of at least this many milliseconds counts from 1970 (and is after March 1973). A smaller one counts from the start of the
/// JVM (and is below three years).
const EPOCH_MS: f64 = 1e11;

/// The largest length of a decoration, bytes. A host name has at most 255.
const DECORATION_MAX: usize = 256;

/// The largest number of decorations; the JVM has twelve.
const DECORATIONS_MAX: usize = 16;

/// The level of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// Error, warning or info.
    Info,
    /// Debug or trace.
    Debug,
}

/// A line without its decorations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Decorated<'l> {
    pub stamp: LineStamp,
    pub level: Option<Level>,
    /// The tags without blanks at the end (`gc,heap`).
    pub tags: Option<&'l str>,
    pub message: &'l str,
}

/// The content of one decoration.
enum Decoration<'l> {
    Stamp(LineStamp),
    Level(Level),
    Tags(&'l str),
    Number,
    Unknown,
}

/// The first words of the tags of lines about garbage collection or safepoints.
const TAG_ROOTS: [&str; 2] = ["gc", "safepoint"];

/// Reads the decorations of a line. `None` if it is not a line of a unified log.
pub(crate) fn decorated(line: &str) -> Option<Decorated<'_>> {
    let mut found = Decorated { stamp: LineStamp::default(), level: None, tags: None, message: "" };
    let mut is_recognised = false;
    let mut rest = line;
    for _ in 0..DECORATIONS_MAX {
        let Some(inner) = rest.strip_prefix('[') else { break };
        let end = inner.bytes().take(DECORATION_MAX).position(|byte| matches!(byte, b'[' | b']'));
        let Some((content, Some(after))) = end.map(|end| (&inner[..end], inner[end..].strip_prefix(']')))
        else {
            break;
        };
        match classify(content) {
            Decoration::Stamp(stamp) => {
                found.stamp = found.stamp.or(stamp);
                is_recognised = true;
            }
            Decoration::Level(level) if found.level.is_none() => {
                found.level = Some(level);
                is_recognised = true;
            }
            Decoration::Tags(tags) => {
                found.tags = Some(tags);
                is_recognised = true;
            }
            // A host name or unknown tags. The last decoration after the level contains the tags.
            Decoration::Unknown | Decoration::Level(_) if found.level.is_some() && after.starts_with(' ') => {
                found.tags = Some(content.trim_end());
            }
            Decoration::Number | Decoration::Unknown | Decoration::Level(_) => {}
        }
        rest = after;
    }
    let message = rest.strip_prefix(' ').unwrap_or(rest);
    if !is_recognised && !has_gc_id(message) {
        return None;
    }
    found.message = message;
    Some(found)
}

/// Whether a message begins with the number of a collection, as in logs without decorations.
pub(crate) fn has_gc_id(message: &str) -> bool {
    message.strip_prefix("GC(").is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

/// The position in a line at which the decorations of another line begin, because another thread wrote its line into
/// this one.
pub(crate) fn second_start(line: &str) -> Option<usize> {
    let message = decorated(line)?.message;
    let from = line.len() - message.len();
    let mut searched = from;
    while let Some(at) = line[searched..].find('[').map(|at| at + searched) {
        if at > from
            && decorated(&line[at..]).is_some_and(|inner| inner.level.is_some() && inner.tags.is_some())
        {
            return Some(at);
        }
        searched = at + 1;
        // The search is limited, because a message with thousands of brackets is not an interleaved line.
        if searched - from > 4096 {
            return None;
        }
    }
    None
}

/// The largest number of bytes that another program may have added before the decorations of a line.
const PREFIX_MAX: usize = 256;

/// The part of a line after a prefix that another program added, such as the time and the stream in logs of containers. The
/// decorations must have a level and tags of garbage collection or safepoints.
pub(crate) fn behind_prefix(line: &str) -> Option<&str> {
    let starts = line.bytes().take(PREFIX_MAX).enumerate().filter(|(_, byte)| *byte == b'[').take(4);
    let has_level_and_tags =
        |found: Decorated<'_>| found.level.is_some() && found.tags.is_some_and(is_about_gc);
    starts.map(|(at, _)| &line[at..]).find(|rest| decorated(rest).is_some_and(has_level_and_tags))
}

fn is_about_gc(tags: &str) -> bool {
    TAG_ROOTS.contains(&tags.split(',').next().unwrap_or_default())
}

fn classify(content: &str) -> Decoration<'_> {
    let trimmed = content.trim();
    match trimmed {
        "info" | "warning" | "error" => return Decoration::Level(Level::Info),
        "debug" | "trace" => return Decoration::Level(Level::Debug),
        _ => {}
    }
    if is_about_gc(trimmed) {
        return Decoration::Tags(trimmed);
    }
    if let Some(wall) = wall_ms(trimmed) {
        return Decoration::Stamp(LineStamp { uptime_s: None, wall_ms: Some(wall) });
    }
    match number(trimmed) {
        Some((value, "s")) => uptime(value),
        Some((value, "ms")) if value < EPOCH_MS => uptime(value / 1e3),
        Some((value, "ms")) => wall(value),
        Some((value, "ns")) if value < EPOCH_MS * 1e6 => uptime(value / 1e9),
        Some((value, "ns")) => wall(value / 1e6),
        Some((_, "")) => Decoration::Number,
        _ => Decoration::Unknown,
    }
}

fn uptime<'l>(seconds: f64) -> Decoration<'l> {
    Decoration::Stamp(LineStamp { uptime_s: Some(seconds), wall_ms: None })
}

fn wall<'l>(milliseconds: f64) -> Decoration<'l> {
    Decoration::Stamp(LineStamp { uptime_s: None, wall_ms: Some(milliseconds as i64) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: &str) -> (Option<f64>, Option<i64>, Option<&str>, &str) {
        let found = decorated(line).unwrap_or_else(|| panic!("{line}"));
        (found.stamp.uptime_s, found.stamp.wall_ms, found.tags, found.message)
    }

    #[test]
    fn decorations_come_in_any_order() {
        let message = "GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->1M(96M) 4.086ms";
        let wall = Some(1_795_288_052_433);
        for (decorations, expected) in [
            ("[0.005s][info][gc]", (Some(0.005), None, Some("gc"))),
            ("[0,005s][info   ][gc      ]", (Some(0.005), None, Some("gc"))),
            (
                "[2026-11-21T19:07:32.433+0000][5ms][1795288052433ms][gc,heap]",
                (Some(0.005), wall, Some("gc,heap")),
            ),
            ("[1795288052433ms]", (None, wall, None)),
            ("[5000000ns][1795288052433000000ns]", (Some(0.005), wall, None)),
            ("[host.example][4711][4712][info][gc]", (None, None, Some("gc"))),
            ("[gc][info][0.005s]", (Some(0.005), None, Some("gc"))),
            ("[debug][gc,phases]", (None, None, Some("gc,phases"))),
            ("[info]", (None, None, None)),
        ] {
            let line = format!("{decorations} {message}");
            let (uptime, time, tags) = expected;
            assert_eq!(parts(&line), (uptime, time, tags, message), "{line}");
        }
        assert_eq!(parts(message), (None, None, None, message));
    }

    #[test]
    fn messages_keep_their_brackets_and_indentation() {
        assert_eq!(parts("[0.1s][info][gc,heap] GC(1)      Used:  [x]").3, "GC(1)      Used:  [x]");
        assert_eq!(parts("[0.1s][info][gc,stats] ").3, "");
        assert_eq!(parts("[0.1s][info][startuptime] StubRoutines").2, Some("startuptime"));
    }

    #[test]
    fn lines_of_earlier_logs_have_no_decorations() {
        for line in [
            "[GC 6K->1K(96K), 0.1 secs]",
            "0.1: [GC 6K->1K(96K), 0.1 secs]",
            "[Full GC [Tenured: 1K->1K(2K), 0.1 secs] x",
            "   [Eden: 1M(1M)->0B(1M)]",
            "[Unloading class A]",
            "",
        ] {
            assert_eq!(decorated(line), None, "{line}");
        }
    }

    #[test]
    fn lines_of_container_logs_have_a_prefix() {
        let line = "[0.1s][info][gc] GC(1) Pause Remark 1M->1M(9M) 1.0ms";
        for prefix in
            ["2026-11-27T01:00:00.123456789Z stdout F ", "app-1  | ", "Nov 27 01:00:00 host java[4711]: "]
        {
            assert_eq!(behind_prefix(&format!("{prefix}{line}")), Some(line), "{prefix}");
        }
        assert_eq!(behind_prefix("1.0: [GC [info][x] 1K->1K(2K), 0.1 secs]"), None);
    }

    #[test]
    fn interleaved_lines_are_found() {
        let first = "[0.1s][info][gc] GC(1) Pause You";
        let line = format!("{first}[0.2s][info][gc] GC(0) Concurrent Mark");
        assert_eq!(second_start(&line), Some(first.len()));
        assert_eq!(second_start("[0.1s][info][gc] GC(1) [x] [y]"), None);
    }
}
