//! Logs of JDK 9 and later (`-Xlog:gc`, `-Xlog:gc*`).
//!
//! A collection has a number `GC(n)`. Lines with details come before the line that ends the collection, and lines of
//! different collections alternate. [`OpenCollections`] therefore stores details until their collection ends.

mod heap;
mod message;
mod open;
mod pause;

use crate::decorations::{Decorated, Level, has_gc_id};
use crate::event::{Collector, EventKind, GcEvent};
use crate::log::{LineClass, LogBuilder, Safepoints};
use crate::size::{SizeChange, amount, duration_s, number};
use crate::stamp::LineStamp;

use message::{Ending, Message};
use open::OpenCollections;

/// Reads the lines of a unified log.
#[derive(Debug, Default)]
pub(crate) struct UnifiedReader {
    open: OpenCollections,
}

/// The topic of a line, from its tags. It determines how the line is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Topic {
    /// `gc`, or no tags: events.
    Events,
    /// `gc,start`.
    Start,
    /// `gc,phases`: parts of pauses, and the pauses of ZGC.
    Phases,
    /// `gc,heap`, `gc,metaspace`: sizes.
    Heap,
    /// `gc,init` and `safepoint`.
    Facts,
    /// `gc,cpu`.
    Cpu,
    /// Other tags that begin with `gc`.
    OtherGc,
    /// Lines about something else.
    Other,
}

fn topic(tags: Option<&str>) -> Topic {
    match tags {
        None | Some("gc") => Topic::Events,
        Some("gc,start") => Topic::Start,
        Some("gc,phases") => Topic::Phases,
        Some("gc,heap" | "gc,metaspace") => Topic::Heap,
        Some("gc,init" | "safepoint") => Topic::Facts,
        Some("gc,cpu") => Topic::Cpu,
        Some(tags) if tags.starts_with("gc,") => Topic::OtherGc,
        Some(_) => Topic::Other,
    }
}

impl UnifiedReader {
    /// Reads a line.
    pub fn line(&mut self, line: &Decorated<'_>, log: &mut LogBuilder) -> LineClass {
        log.log.is_unified = true;
        log.log.has_stamps |= line.stamp.is_present();
        let topic = topic(line.tags);
        if line.level == Some(Level::Debug) {
            return if topic == Topic::Other { LineClass::Other } else { LineClass::Detail };
        }
        let Some((gc_id, text)) = split_id(line.message) else { return LineClass::Damaged };
        match topic {
            Topic::Events => self.event_or_detail(gc_id, text, line, log),
            Topic::Phases => self.phase(gc_id, text, line, log),
            Topic::Heap | Topic::Facts => {
                fact(text, line.stamp, log).unwrap_or_else(|| heap::line(&mut self.open, gc_id, text, log))
            }
            Topic::Cpu => cpu(text, log),
            Topic::Start | Topic::OtherGc => LineClass::Detail,
            Topic::Other => LineClass::Other,
        }
    }

    fn event_or_detail(
        &mut self,
        gc_id: Option<u64>,
        text: &str,
        line: &Decorated<'_>,
        log: &mut LogBuilder,
    ) -> LineClass {
        let message = message::parse(text.trim_end());
        let Some(kind) = pause::kind(&message) else {
            if let Some(class) = fact(text, line.stamp, log) {
                return class;
            }
            if text.starts_with("To-space exhausted")
                && let Some(id) = gc_id
            {
                self.open.of(id).is_failure = true;
                return LineClass::Detail;
            }
            // Without tags, details are known by their text only.
            let is_gc = line.tags.is_some() || gc_id.is_some();
            return if line.tags.is_none() && gc_id.is_some() {
                self.untagged_detail(gc_id, text, log)
            } else if is_gc {
                LineClass::Detail
            } else {
                LineClass::Other
            };
        };
        self.event(kind, gc_id, &message, line, log)
    }

    fn untagged_detail(&mut self, gc_id: Option<u64>, text: &str, log: &mut LogBuilder) -> LineClass {
        heap::line(&mut self.open, gc_id, text, log)
    }

    fn event(
        &mut self,
        kind: EventKind,
        gc_id: Option<u64>,
        message: &Message<'_>,
        line: &Decorated<'_>,
        log: &mut LogBuilder,
    ) -> LineClass {
        if let Some(collector) = pause::collector(message) {
            log.collector(collector);
        }
        match message.ending {
            // This is the start of a pause.
            Ending::None if kind.is_pause() || kind == EventKind::AllocationStall => {
                // The end of the event follows on a separate line. A line that was cut off looks the same.
                LineClass::Detail
            }
            Ending::None => {
                let mut event = GcEvent::new(EventKind::ConcurrentStart, line.stamp);
                event.gc_id = gc_id;
                log.push(event);
                LineClass::Event
            }
            Ending::Damaged => LineClass::Damaged,
            Ending::Complete { .. } => {
                pause::push(&mut self.open, kind, gc_id, message, line.stamp, log);
                LineClass::Event
            }
        }
    }

    fn phase(
        &mut self,
        gc_id: Option<u64>,
        text: &str,
        line: &Decorated<'_>,
        log: &mut LogBuilder,
    ) -> LineClass {
        let message = message::parse(text.trim());
        let Ending::Complete { duration_s, .. } = message.ending else { return LineClass::Detail };
        match pause::kind(&message) {
            Some(EventKind::CyclePause) => self.event(EventKind::CyclePause, gc_id, &message, line, log),
            Some(EventKind::Concurrent) => self.event(EventKind::Concurrent, gc_id, &message, line, log),
            _ => {
                // More deeply indented lines are parts of these parts.
                if let Some(duration_s) = duration_s
                    && gc_id.is_some()
                    && text.len() - text.trim_start().len() <= 3
                {
                    log.push_phase(duration_s);
                }
                LineClass::Detail
            }
        }
    }
}

/// Splits `GC(12) y: text` into its number and its text. `None` if the number is damaged.
fn split_id(message: &str) -> Option<(Option<u64>, &str)> {
    if !has_gc_id(message) {
        return Some((None, message));
    }
    let (digits, text) = message.get(3..)?.split_once(')')?;
    let id = digits.parse().ok()?;
    let text = text.strip_prefix(' ').unwrap_or(text);
    // The generation of ZGC: y in a minor collection, Y and O in a major one.
    let text = ["y: ", "Y: ", "O: "].iter().find_map(|prefix| text.strip_prefix(prefix)).unwrap_or(text);
    Some((Some(id), text))
}

/// Reads settings and safepoints.
fn fact(text: &str, stamp: LineStamp, log: &mut LogBuilder) -> Option<LineClass> {
    if let Some(rest) = text.strip_prefix("Total time for which application threads were stopped: ") {
        let Some((stopped_s, _)) = duration_s(rest) else { return Some(LineClass::Damaged) };
        let mut event = GcEvent::new(EventKind::Safepoint, stamp);
        event.duration_s = Some(stopped_s);
        log.push(event);
        return Some(LineClass::Event);
    }
    if let Some(rest) = text.strip_prefix("Heap: ")
        && let Some(event) = heap_use(rest, stamp)
    {
        log.push(event);
        return Some(LineClass::Event);
    }
    if text.starts_with("Safepoint \"") {
        return Some(safepoint(text, log));
    }
    if let Some(name) = text.strip_prefix("Using ") {
        if let Some(collector) = named_collector(name.trim_end()) {
            log.collector(collector);
        }
        return Some(LineClass::Detail);
    }
    if let Some(version) = text.strip_prefix("Version: ") {
        let word = version.split_whitespace().next().unwrap_or_default();
        log.log.jvm_version.get_or_insert_with(|| word.chars().take(64).collect());
        return Some(LineClass::Detail);
    }
    if let Some(size) = text.strip_prefix("Heap Max Capacity: ") {
        if let Some((kib, _)) = amount(size) {
            log.heap_max(kib);
        }
        return Some(LineClass::Detail);
    }
    None
}

/// Epsilon: `65536K reserved, 65536K (100.00%) committed, 42670K (65.11%) used`.
fn heap_use(text: &str, stamp: LineStamp) -> Option<GcEvent> {
    let mut parts = text.split(", ");
    let mut part = |name: &str| {
        let (kib, rest) = amount(parts.next()?)?;
        rest.ends_with(name).then_some(kib)
    };
    part("reserved")?;
    let (committed_kib, used_kib) = (part("committed")?, part("used")?);
    let mut event = GcEvent::new(EventKind::HeapUse, stamp);
    event.heap =
        Some(SizeChange { before_kib: used_kib, after_kib: used_kib, capacity_kib: Some(committed_kib) });
    Some(event)
}

/// The CPU times of the collection or phase that ended before.
fn cpu(text: &str, log: &mut LogBuilder) -> LineClass {
    let is_pause = log.log.events.last().is_some_and(|event| event.kind.is_pause());
    if log.cpu(text, is_pause) { LineClass::Detail } else { LineClass::Damaged }
}

fn safepoint(text: &str, log: &mut LogBuilder) -> LineClass {
    let nanoseconds = |name: &str| {
        let (value, rest) = number(text.split_once(name)?.1)?;
        rest.starts_with(" ns").then_some(value / 1e9)
    };
    let (Some(total_s), Some(reaching_s)) = (nanoseconds("Total: "), nanoseconds("Reaching safepoint: "))
    else {
        return LineClass::Damaged;
    };
    let sum = log.log.safepoints.get_or_insert_with(Safepoints::default);
    sum.count += 1;
    sum.total_s += total_s;
    sum.reaching_s += reaching_s;
    LineClass::Detail
}

fn named_collector(name: &str) -> Option<Collector> {
    Some(match name {
        "Serial" => Collector::Serial,
        "Parallel" => Collector::Parallel,
        "Concurrent Mark Sweep" => Collector::Cms,
        "G1" => Collector::G1,
        "The Z Garbage Collector" => Collector::Zgc,
        "Shenandoah" => Collector::Shenandoah,
        "Epsilon" => Collector::Epsilon,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
