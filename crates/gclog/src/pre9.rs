//! Logs of JDK 1.3 to 8 (`-verbose:gc`, `-XX:+PrintGCDetails` and other options).
//!
//! An event is text in nested square brackets, often over several lines, with lines of other options and events of
//! concurrent threads between and inside them. The reader
//!
//! 1. takes events of concurrent threads and safepoints out of a line ([`embedded`]),
//! 2. drops the output of other options ([`noise`]),
//! 3. joins lines until the brackets of an event are balanced,
//! 4. reads the brackets as a tree ([`tree`]) and the tree as an event ([`interpret`]).

mod embedded;
mod interpret;
mod noise;
mod spaces;
mod stamps;
mod tree;

use crate::event::{EventKind, GcEvent};
use crate::log::{LineClass, LogBuilder};
use crate::stamp::{LineStamp, leading};

use spaces::DetailLine;

/// The largest number of lines and of bytes of one event, without the lines that are dropped.
const LINES_MAX: u32 = 200;
const TEXT_MAX: usize = 64 * 1024;

/// An event whose brackets are not balanced yet.
#[derive(Debug, Default)]
struct Pending {
    text: String,
    depth: i64,
    lines: u32,
    /// Whether one of its lines was counted as a detail. A line into which another event was written was counted as an event.
    has_counted_line: bool,
}

/// Reads the lines of a log of JDK 8 or earlier.
#[derive(Debug, Default)]
pub(crate) struct Pre9Reader {
    pending: Option<Pending>,
    /// An event whose sizes may follow on indented lines (G1).
    held: Option<GcEvent>,
}

impl Pre9Reader {
    /// Reads a line.
    pub fn line(&mut self, line: &str, log: &mut LogBuilder) -> LineClass {
        if line.trim().is_empty() {
            return LineClass::Other;
        }
        if let Some((before, times)) = line.split_once("[Times:") {
            log.cpu(times, !before.contains("concurrent"));
        }
        let (rest, extracted) = embedded::extract(line);
        let mut class = None;
        for event in extracted {
            class = Some(LineClass::Event);
            self.extracted(event, log);
        }
        let rest = noise::without(&rest);
        if rest.trim().is_empty() {
            return class.unwrap_or(LineClass::Detail);
        }
        let of_rest = self.rest(&rest, log);
        if class.is_some() && matches!(of_rest, LineClass::Event | LineClass::Damaged) {
            log.log.lines.interleaved += 1;
        }
        if let (None, LineClass::Detail, Some(pending)) = (class, of_rest, &mut self.pending) {
            pending.has_counted_line = true;
        }
        class.unwrap_or(of_rest)
    }

    /// Ends the log.
    pub fn finish(&mut self, log: &mut LogBuilder) {
        self.end_unbalanced(log);
        self.release(log);
    }

    fn extracted(&mut self, event: embedded::Extracted, log: &mut LogBuilder) {
        let collector = event.collector;
        if let Some(collector) = collector {
            log.collector(collector);
        }
        if event.event.kind == EventKind::Safepoint {
            // The safepoint contains the pause before it, which must be added first.
            self.release(log);
        }
        log.push(event.event);
    }

    /// Reads what is left of a line.
    fn rest(&mut self, line: &str, log: &mut LogBuilder) -> LineClass {
        let (stamp, start) = interpret::start(line);
        // `      [GC Worker Start (ms): …` is a detail of G1.
        let is_indented = line.starts_with([' ', '\t']) && !stamp.is_present();
        let is_start = !is_indented && interpret::is_event(start);
        if self.held.is_some() {
            // If threads mixed their lines, details may be at the start of a line, or behind a stamp.
            if !is_start && (line.starts_with([' ', '\t', ':', '[']) || line.contains("[Eden:")) {
                return self.detail(line, log);
            }
            if is_start {
                self.release(log);
            }
        }
        if let Some(pending) = &mut self.pending {
            // A young collection before a remark is written into the remark.
            let is_nested = pending.text.contains("YG occupancy");
            if !is_start || is_nested {
                return self.continue_with(line, log);
            }
            self.end_unbalanced(log);
        }
        if is_start {
            self.pending = Some(Pending::default());
            return self.continue_with(line, log);
        }
        other(line, stamp, log)
    }

    fn continue_with(&mut self, line: &str, log: &mut LogBuilder) -> LineClass {
        let Some(pending) = &mut self.pending else { return LineClass::Other };
        if pending.lines > 0 && noise::is_detail(line) {
            return LineClass::Detail;
        }
        pending.text.push_str(line);
        pending.lines += 1;
        pending.depth += tree::depth_change(line);
        if pending.depth > 0 {
            if pending.lines > LINES_MAX || pending.text.len() > TEXT_MAX {
                self.pending = None;
                return LineClass::Damaged;
            }
            return LineClass::Detail;
        }
        let text = self.pending.take().map(|pending| pending.text).unwrap_or_default();
        self.complete(&text, log)
    }

    fn complete(&mut self, text: &str, log: &mut LogBuilder) -> LineClass {
        let Some(read) = interpret::events(text, log) else { return LineClass::Damaged };
        for event in read.before {
            log.push(event);
        }
        if let Some(event) = read.event {
            if read.may_have_details {
                self.held = Some(event);
            } else {
                log.push(event);
            }
            return LineClass::Event;
        }
        LineClass::Detail
    }

    fn detail(&mut self, line: &str, log: &mut LogBuilder) -> LineClass {
        let Some(event) = &mut self.held else { return LineClass::Detail };
        match spaces::detail_line(line) {
            DetailLine::SizeChange { heap, spaces } => {
                event.heap = Some(heap);
                if let Some(found) = spaces {
                    event.spaces = Some(Box::new(found));
                }
            }
            DetailLine::Damaged => return LineClass::Damaged,
            DetailLine::Other => {}
        }
        if line.contains("[Times") {
            self.release(log);
        }
        LineClass::Detail
    }

    /// Adds the event whose details are complete.
    fn release(&mut self, log: &mut LogBuilder) {
        if let Some(event) = self.held.take() {
            log.push(event);
        }
    }

    /// Ends an event whose brackets were never balanced.
    fn end_unbalanced(&mut self, log: &mut LogBuilder) {
        if let Some(pending) = self.pending.take()
            && pending.has_counted_line
        {
            log.damage_later(&pending.text);
        }
    }
}

/// Classifies a line outside events.
fn other(line: &str, stamp: LineStamp, log: &mut LogBuilder) -> LineClass {
    if noise::is_detail(line) || leading(line).1.is_empty() {
        noise::facts(line, log);
        return LineClass::Detail;
    }
    // This may be the middle or the end of an event whose start is missing.
    let looks_like_event = stamp.is_present() || line.contains("->") || line.contains(" secs]");
    if looks_like_event { LineClass::Damaged } else { LineClass::Other }
}

#[cfg(test)]
mod tests;
