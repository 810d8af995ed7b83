//! Entries from lines: messages with their continuation lines.
//!
//! In a source whose lines have stamps, a line without a stamp belongs to the entry before it. In a source without stamps, only
//! lines that are indented or belong to a stack trace do. A crash report (`Exception in thread "main"`, `panic: …`) always begins
//! an entry.

mod continuation;
mod json;

use std::ops::Range;

use crate::access::{AccessRecord, DurationUnit, read_access};
use crate::header::{self, Header};
use crate::severity::EntrySeverity;
use crate::stamps::{EntryTime, MissingTime, Notation, StampReader, StampSettings};
use crate::traces::{TraceKey, TraceReader, is_crash_start};
use continuation::Continuation;
use json::{JsonEntry, JsonTime};

/// Maximum length of the text of an entry, in bytes. Further lines only contribute to the trace key.
pub const ENTRY_BYTES_MAX: usize = 256 * 1024;

/// An entry of a log.
#[derive(Debug)]
pub struct Entry<'a> {
    /// Its time.
    pub time: EntryTime,
    /// Its severity, if the log states it.
    pub severity: Option<EntrySeverity>,
    /// The logger, program or source file that wrote it.
    pub logger: Option<&'a str>,
    /// The first line without stamp, severity, thread and logger.
    pub message: &'a str,
    /// The message and all further lines, joined by line breaks.
    pub body: &'a str,
    /// All lines, joined by line breaks. A line in JSON is replaced by its message and stack trace.
    pub text: &'a str,
    /// The key that identifies its stack trace.
    pub trace: Option<TraceKey>,
    /// The request, if the entry is a line of an access log.
    pub access: Option<AccessRecord<'a>>,
    /// Number of lines.
    pub lines: u64,
    /// Number of lines that are not in `text`, because it is limited to [`ENTRY_BYTES_MAX`].
    pub omitted_lines: u64,
}

/// Information about a line from its transport, such as the log driver of a container.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineContext {
    /// When the transport received the line, in nanoseconds since 1970. It is the time of an entry without a usable stamp.
    pub received_unix_ns: Option<i64>,
    /// The severity according to the transport. It is used if the entry itself states none.
    pub severity: Option<EntrySeverity>,
}

/// The entry whose lines are being read.
#[derive(Debug, Clone)]
struct Open {
    time: EntryTime,
    severity: Option<EntrySeverity>,
    logger: Option<Range<usize>>,
    message: Range<usize>,
    notation: Option<Notation>,
    stamp_end: usize,
    lines: u64,
    omitted_lines: u64,
    continuation: Continuation,
}

/// Joins the lines of one source to entries.
///
/// Lines of different streams, such as standard output and standard error of a container, need a reader each.
#[derive(Debug, Clone)]
pub struct EntryReader {
    stamps: StampReader,
    duration_unit: Option<DurationUnit>,
    text: String,
    /// The logger of an entry in JSON, whose text does not contain it.
    json_logger: Option<String>,
    open: Option<Open>,
    trace: TraceReader,
}

impl EntryReader {
    /// Creates a reader. `duration_unit` is the unit of durations without a decimal point in access logs.
    #[must_use]
    pub fn new(stamps: StampSettings, duration_unit: Option<DurationUnit>) -> EntryReader {
        EntryReader {
            stamps: StampReader::new(stamps),
            duration_unit,
            text: String::new(),
            json_logger: None,
            open: None,
            trace: TraceReader::default(),
        }
    }

    /// Changes what completes the stamps of the lines that follow.
    pub(crate) fn set_stamps(&mut self, stamps: StampSettings) {
        self.stamps = StampReader::new(stamps);
    }

    /// Adds a line. If it begins an entry, the entry before it is complete and passed to `emit`.
    pub fn push(&mut self, line: &str, context: LineContext, mut emit: impl FnMut(&Entry<'_>)) {
        if line.trim_ascii().is_empty() {
            if let Some(open) = &mut self.open {
                open.continuation.add_empty_line();
            }
            return;
        }
        if let Some(entry) = json::read(line) {
            self.finish(&mut emit);
            self.open_json(entry, context);
            // The stack trace is part of the line.
            self.finish(&mut emit);
            return;
        }
        if let Some(found) = self.stamps.find(line) {
            self.finish(&mut emit);
            let header = header::split_stamped(line, found.notation, &found.range);
            self.open(line, header, Some((found.notation, found.range.end)), found.time, context);
            return;
        }
        if let Some(open) = &mut self.open
            && open.continuation.accepts(line, open.severity)
        {
            self.add_line(line);
            return;
        }
        self.finish(&mut emit);
        let header =
            if is_crash_start(line) { header::of_crash(line) } else { header::split_unstamped(line) };
        self.open(line, header, None, EntryTime::Unavailable(MissingTime::NoStamp), context);
    }

    /// Adds a record of several lines. Its further lines belong to the same entry as its first line.
    pub fn push_record(&mut self, text: &str, context: LineContext, emit: impl FnMut(&Entry<'_>)) {
        let mut lines = text.lines();
        self.push(lines.next().unwrap_or_default(), context, emit);
        for line in lines.filter(|line| !line.trim_ascii().is_empty()) {
            self.add_line(line);
        }
    }

    /// Ends the open entry and passes it to `emit`: at the end of a file, or if no line has arrived for a while.
    pub fn finish(&mut self, mut emit: impl FnMut(&Entry<'_>)) {
        let Some(open) = self.open.take() else { return };
        let text = self.text.as_str();
        let access = match open.notation {
            Some(Notation::AccessLog) => {
                let first_line = &text[..open.message.end];
                first_line.get(open.stamp_end..).and_then(|rest| read_access(rest, self.duration_unit))
            }
            _ => None,
        };
        emit(&Entry {
            time: open.time,
            severity: open.severity,
            logger: self.json_logger.as_deref().or_else(|| open.logger.and_then(|logger| text.get(logger))),
            message: text.get(open.message.clone()).unwrap_or_default(),
            body: text.get(open.message.start..).unwrap_or_default(),
            text,
            trace: self.trace.take_key(),
            access,
            lines: open.lines,
            omitted_lines: open.omitted_lines,
        });
        self.json_logger = None;
    }

    fn open(
        &mut self,
        line: &str,
        header: Header,
        stamp: Option<(Notation, usize)>,
        time: EntryTime,
        context: LineContext,
    ) {
        self.text.clear();
        self.text.push_str(line);
        let (notation, stamp_end) = stamp.map_or((None, 0), |(notation, end)| (Some(notation), end));
        if notation != Some(Notation::AccessLog) {
            self.trace.add(&line[header.message..], "");
        }
        self.open = Some(Open {
            time: completed(time, context),
            severity: header.severity.or(context.severity),
            logger: header.logger,
            message: header.message..line.len(),
            notation,
            stamp_end,
            lines: 1,
            omitted_lines: 0,
            continuation: Continuation::begin(&line[header.message..], notation.is_some()),
        });
    }

    fn open_json(&mut self, entry: JsonEntry, context: LineContext) {
        let time = match entry.time {
            JsonTime::Missing => EntryTime::Unavailable(MissingTime::NoStamp),
            JsonTime::UnixNs(unix_ns) => EntryTime::UnixNs(unix_ns),
            JsonTime::Text(text) => self.stamps.read_whole(&text),
        };
        let mut lines = entry.message.lines().chain(entry.stack.as_deref().unwrap_or_default().lines());
        let first = lines.next().unwrap_or_default();
        let header = Header { severity: entry.severity.or(context.severity), logger: None, message: 0 };
        self.open(first, header, None, time, context);
        for line in lines {
            self.add_line(line);
        }
        if let Some(open) = &mut self.open {
            open.lines = 1;
        }
        self.json_logger = entry.logger;
    }

    fn add_line(&mut self, line: &str) {
        let Some(open) = &mut self.open else { return };
        open.lines += 1;
        if self.text.len() + line.len() + 1 > ENTRY_BYTES_MAX {
            open.omitted_lines += 1;
        } else {
            self.text.push('\n');
            if open.lines == 2 && open.message.is_empty() {
                // .NET writes the message below its header.
                let start = self.text.len();
                open.message = start + (line.len() - line.trim_start().len())..start + line.len();
            } else if open.lines == 2 && open.notation == Some(Notation::JavaUtilLogging) {
                // The second line of `java.util.logging` has the severity and the message.
                let header = header::split_unstamped(line);
                open.severity = header.severity.or(open.severity);
                let start = self.text.len();
                open.message = start + header.message..start + line.len();
            }
            self.text.push_str(line);
        }
        let message = self.text.get(open.message.clone()).unwrap_or_default();
        self.trace.add(line, message);
    }
}

/// The time of the stamp, or else the time at which the transport received the line.
fn completed(time: EntryTime, context: LineContext) -> EntryTime {
    match (time, context.received_unix_ns) {
        (EntryTime::Unavailable(_), Some(unix_ns)) => EntryTime::UnixNs(unix_ns),
        (time, _) => time,
    }
}

#[cfg(test)]
mod tests;
