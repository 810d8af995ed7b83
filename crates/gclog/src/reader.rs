//! Reads lines or bytes and returns a log.

use crate::decorations::{behind_prefix, decorated, second_start};
use crate::event::GcEvent;
use crate::log::{GcLog, LineClass, LineCounts, LogBuilder};
use crate::pre9::Pre9Reader;
use crate::stamp::{LineStamp, leading};
use crate::unified::UnifiedReader;

/// The largest part of a line that is read, bytes. The rest is ignored: HotSpot's lines are shorter than 1 KB, apart from lists of
/// times of worker threads, which are not read.
const LINE_MAX: usize = 16 * 1024;

/// Reads a garbage-collection log line by line. It does no I/O, so that files, followed logs and captured output are read
/// alike. The format is recognised by each line.
///
/// ```
/// use busyhour_gclog::GcLogReader;
///
/// let mut reader = GcLogReader::new();
/// reader.line("[0.104s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->1M(96M) 4.086ms");
/// let log = reader.finish();
/// assert_eq!(log.events[0].duration_s, Some(0.004086));
/// ```
#[derive(Debug, Default)]
pub struct GcLogReader {
    log: LogBuilder,
    unified: UnifiedReader,
    pre9: Pre9Reader,
    /// The line that [`GcLogReader::feed`] has not completed, at most [`LINE_MAX`] bytes of it.
    partial: Vec<u8>,
    /// Whether the last byte was a carriage return: a line feed after it ends the same line.
    after_return: bool,
}

impl GcLogReader {
    /// A reader for a new log.
    #[must_use]
    pub fn new() -> GcLogReader {
        GcLogReader::default()
    }

    /// Reads the next line, with or without its line end.
    pub fn line(&mut self, line: &str) {
        let line = shortened(line.trim_end_matches(['\r', '\n']));
        let class = self.class(line);
        self.log.count(class, line);
    }

    /// Reads the next bytes of a file. Lines end with a line feed, a carriage return or both. Bytes that are not UTF-8
    /// are replaced. An incomplete line is completed by later bytes or by [`GcLogReader::finish`]. Only the start of a
    /// long line is kept.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            let is_second_half = rest[end] == b'\n' && end == 0 && self.after_return;
            self.after_return = rest[end] == b'\r';
            if !is_second_half {
                self.keep(line);
                self.end_line();
            }
            rest = after;
        }
        if !rest.is_empty() {
            self.after_return = false;
            self.keep(rest);
        }
    }

    fn keep(&mut self, part: &[u8]) {
        let left = LINE_MAX.saturating_sub(self.partial.len());
        self.partial.extend_from_slice(&part[..part.len().min(left)]);
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.partial);
        self.line(&String::from_utf8_lossy(&line));
        // Reuses the buffer.
        self.partial = line;
        self.partial.clear();
    }

    /// The events so far, for a log that is followed. In formats up to JDK 8, an event is added when its last line was read.
    #[must_use]
    pub fn events(&self) -> &[GcEvent] {
        &self.log.log.events
    }

    /// Whether the lines so far are in the format of JDK 9 and later. In this format, the stamp of an event is the time of its
    /// end; in earlier formats, it is the time of its start.
    #[must_use]
    pub fn is_unified(&self) -> bool {
        self.log.log.is_unified
    }

    /// The name of the cause of an event, if the log prints it.
    #[must_use]
    pub fn cause(&self, event: &GcEvent) -> Option<&str> {
        self.log.log.cause(event)
    }

    /// The counts of lines so far.
    #[must_use]
    pub fn lines(&self) -> LineCounts {
        self.log.log.lines
    }

    /// Ends the log. An event whose last lines are missing is added if its duration is known, and counted as damaged
    /// otherwise.
    #[must_use]
    pub fn finish(mut self) -> GcLog {
        if !self.partial.is_empty() {
            self.end_line();
        }
        self.pre9.finish(&mut self.log);
        self.log.finish()
    }

    fn class(&mut self, line: &str) -> LineClass {
        let (line, found) = match decorated(line) {
            Some(found) => (line, found),
            None => match behind_prefix(line).and_then(|line| Some((line, decorated(line)?))) {
                Some(found) => found,
                None => return self.pre9.line(line, &mut self.log),
            },
        };
        let Some(at) = second_start(line) else { return self.unified.line(&found, &mut self.log) };
        // Another thread wrote its line into this one. At most one of the two is cut off.
        self.log.log.lines.interleaved += 1;
        let classes = [self.class_of_part(&line[..at]), self.class_of_part(&line[at..])];
        match classes {
            [LineClass::Event, _] | [_, LineClass::Event] => LineClass::Event,
            [LineClass::Damaged, _] | [_, LineClass::Damaged] => LineClass::Damaged,
            [first, _] => first,
        }
    }

    fn class_of_part(&mut self, part: &str) -> LineClass {
        decorated(part).map_or(LineClass::Damaged, |found| self.unified.line(&found, &mut self.log))
    }
}

/// The first stamp among lines, to order the parts of a rotated log. Pass the first lines of a file, or all.
#[must_use]
pub fn first_stamp<'l>(lines: impl IntoIterator<Item = &'l str>) -> Option<LineStamp> {
    lines.into_iter().map(stamp_of).find(LineStamp::is_present)
}

fn stamp_of(line: &str) -> LineStamp {
    let line = shortened(line);
    let found = decorated(line).or_else(|| decorated(behind_prefix(line)?));
    found.map_or_else(|| leading(line).0, |found| found.stamp)
}

/// The order of the parts of a rotated log: indices into `stamps`, by first stamp. Rotation is cyclic, so that names of files do not
/// show the order. Parts without a stamp come last, in their order. If only some parts have wall times, uptimes decide.
#[must_use]
pub fn part_order(stamps: &[Option<LineStamp>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..stamps.len()).collect();
    let present = || stamps.iter().flatten();
    let by_wall = present().all(|stamp| stamp.wall_ms.is_some());
    let key = |index: usize| {
        let stamp = stamps[index]?;
        if by_wall { stamp.wall_ms.map(|ms| ms as f64) } else { stamp.uptime_s }
    };
    order.sort_by(|one, two| match (key(*one), key(*two)) {
        (Some(one), Some(two)) => one.total_cmp(&two),
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => std::cmp::Ordering::Equal,
    });
    order
}

fn shortened(line: &str) -> &str {
    if line.len() <= LINE_MAX {
        return line;
    }
    let mut end = LINE_MAX;
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: [&str; 3] = [
        "[0.1s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->1M(96M) 4.086ms",
        "",
        "[0.2s][info][gc] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 6M->1M(96M) 4.086ms",
    ];

    #[test]
    fn files_may_have_any_line_ends_and_come_in_any_pieces() {
        for end in ["\n", "\r\n", "\r"] {
            let text = LINES.join(end);
            for length in [1, 2, 7, 90, 1_000] {
                let mut reader = GcLogReader::new();
                text.as_bytes().chunks(length).for_each(|piece| reader.feed(piece));
                let log = reader.finish();
                assert_eq!((log.lines.events, log.lines.total), (2, 3), "{end:?} {length}");
            }
        }
    }

    #[test]
    fn long_lines_are_shortened() {
        let mut reader = GcLogReader::new();
        for _ in 0..100 {
            reader.feed(&[b'x'; 10_000]);
        }
        assert_eq!(reader.partial.len(), LINE_MAX);
        reader.feed(b"\n");
        reader.feed(LINES[0].as_bytes());
        let log = reader.finish();
        assert_eq!((log.lines.events, log.lines.total), (1, 2));
    }
}
