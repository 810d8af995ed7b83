//! Interprets a tree of brackets as an event.

use super::spaces::{generation_sizes, is_old_mark};
use super::stamps::stamped;
use super::tree::{Node, parse};
use crate::event::{CauseId, Collector, EventKind, GcEvent, GenerationSizes};
use crate::log::LogBuilder;
use crate::stamp::LineStamp;

/// The names with which an event begins. Each is followed by something other than a letter.
const STARTS: [&str; 5] = ["Full GC", "Inc GC", "GC", "Pause", "Concurrent"];

/// The stamps of a line and what follows them.
pub(crate) fn start(line: &str) -> (LineStamp, &str) {
    let (stamp, _, rest) = stamped(line);
    (stamp, rest)
}

/// Whether a text without its stamps begins with an event.
pub(crate) fn is_event(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('[') else { return false };
    // Details of G1.
    if inner.starts_with("GC Worker") {
        return false;
    }
    let starts_with = |name: &&str| {
        let rest = inner.strip_prefix(*name)?;
        Some(!rest.starts_with(|next: char| next.is_ascii_alphabetic()))
    };
    STARTS.iter().any(|name| starts_with(name) == Some(true))
}

/// The content of one text in brackets.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// Events inside the text that ended before its own event: a young collection before a remark.
    pub before: Vec<GcEvent>,
    /// The event of the text. Absent for the start of a phase.
    pub event: Option<GcEvent>,
    /// Whether the sizes of the event may follow on further lines.
    pub may_have_details: bool,
}

/// Reads the text of an event with its stamps. `None` if it is damaged.
pub(crate) fn events(text: &str, log: &mut LogBuilder) -> Option<Read> {
    let (stamp, gc_id, rest) = stamped(text);
    let node = parse(rest)?;
    if node.full_name().is_empty() {
        return None;
    }
    if is_phase_start(rest) {
        return Some(Read::default());
    }
    let mut event = GcEvent::new(kind(&node)?, stamp);
    event.gc_id = gc_id;
    event.heap = node.sizes;
    event.duration_s = node.duration_s();
    event.cause = cause(&node, log);
    event.is_failure = is_failure(&node) || event.kind == EventKind::Degenerated;
    let spaces = spaces(&node, log);
    if event.kind == EventKind::Young && spaces.is_some_and(|spaces| spaces.count() > 1) {
        event.kind = EventKind::Full;
    }
    event.spaces = spaces.map(Box::new);
    if let Some(collector) = collector(&node, event.kind) {
        log.collector(collector);
    }
    let may_have_details = may_have_details(&node, event.spaces.as_deref());
    let mut read = Read { may_have_details, ..Read::default() };
    if event.kind.is_pause() {
        event.duration_s?;
    }
    for child in &node.children {
        if child.name() == "GC"
            && let (Some(sizes), Some(duration_s)) = (child.sizes, child.duration_s())
        {
            let stamp = if child.stamp.is_present() { child.stamp } else { stamp };
            let mut inner = GcEvent::new(EventKind::Young, stamp);
            inner.heap = Some(sizes);
            inner.duration_s = Some(duration_s);
            inner.cause = cause(child, log);
            inner.spaces = self::spaces(child, log).map(Box::new);
            read.before.push(inner);
            // The pause of the remark includes the young collection.
            event.duration_s = event.duration_s.map(|s| (s - duration_s).max(0.0));
        }
    }
    read.event = Some(event);
    Some(read)
}

/// Shenandoah writes `[Pause Init Mark, start]` before an event.
fn is_phase_start(text: &str) -> bool {
    text.trim_end().ends_with(", start]")
}

fn kind(node: &Node<'_>) -> Option<EventKind> {
    let name = node.name().trim_end_matches('-');
    let has = |wanted: &str| node.groups().any(|group| group == wanted);
    Some(match name {
        // Up to JDK 1.3: `Full GC invoke=1 size=80 …`
        name if name.starts_with("Full GC") => EventKind::Full,
        "GC pause" if has("mixed") || has("partial") => EventKind::Mixed,
        "GC pause" if has("initial-mark") => EventKind::YoungConcurrentStart,
        "GC pause" | "Inc GC" => EventKind::Young,
        "GC remark" => EventKind::Remark,
        "GC cleanup" => EventKind::Cleanup,
        "GC" => node.children.iter().find_map(|child| is_old_mark(child.name())).unwrap_or(EventKind::Young),
        "Pause Full" => EventKind::Full,
        "Pause Init Mark" => EventKind::InitialMark,
        "Pause Final Mark" => EventKind::Remark,
        "Pause Degenerated GC" => EventKind::Degenerated,
        name if name.starts_with("Concurrent ") => EventKind::Concurrent,
        name if name.starts_with("Pause ") => EventKind::ShortPause,
        _ => return None,
    })
}

fn may_have_details(node: &Node<'_>, spaces: Option<&GenerationSizes>) -> bool {
    // G1 writes the sizes of a pause on the lines that follow; from JDK 8 also those of a full collection.
    node.name() == "GC pause" || node.name() == "Full GC" && spaces.is_none()
}

fn collector(node: &Node<'_>, kind: EventKind) -> Option<Collector> {
    if matches!(node.name(), "GC pause" | "GC remark" | "GC cleanup") {
        return Some(Collector::G1);
    }
    if node.name().starts_with("Pause ") || kind == EventKind::Degenerated {
        return Some(Collector::Shenandoah);
    }
    node.children.iter().find_map(|child| match child.name() {
        "PSYoungGen" | "ParOldGen" | "PSOldGen" => Some(Collector::Parallel),
        "CMS" | "ASCMS" | "ParNew" | "ASParNew" | "CMS-initial-mark" | "CMS-remark" => Some(Collector::Cms),
        "DefNew" | "Tenured" => Some(Collector::Serial),
        _ => None,
    })
}

/// The cause that `-XX:+PrintGCCause` prints.
fn cause(node: &Node<'_>, log: &mut LogBuilder) -> Option<CauseId> {
    let is_cause = |group: &&str| {
        !matches!(
            *group,
            "young" | "mixed" | "partial" | "initial-mark" | "to-space overflow" | "to-space exhausted"
        ) && !is_failure_text(group)
    };
    if node.name().starts_with("Pause ") {
        return None;
    }
    let cause = node.groups().find(is_cause)?;
    log.cause(cause)
}

fn is_failure_text(group: &str) -> bool {
    matches!(
        group,
        "promotion failed"
            | "concurrent mode failure"
            | "concurrent mode interrupted"
            | "to-space overflow"
            | "to-space exhausted"
    )
}

fn is_failure(node: &Node<'_>) -> bool {
    // `[GC--` and `[Full GC--`: the promotion failed.
    node.name().ends_with("--")
        || node.groups().any(is_failure_text)
        || node.children.iter().any(|child| child.groups().any(is_failure_text))
}

/// The sizes of the generations inside an event.
fn spaces(node: &Node<'_>, log: &mut LogBuilder) -> Option<GenerationSizes> {
    let mut spaces = GenerationSizes { collected_only: true, ..GenerationSizes::default() };
    for child in &node.children {
        generation_sizes(child, &mut spaces);
        // If threads mixed their lines, one generation is inside the other: `[ParNew1.2: [CMS: …`.
        for inner in &child.children {
            generation_sizes(inner, &mut spaces);
        }
        if child.name() == "GC ref-proc"
            && let Some(duration_s) = child.duration_s()
        {
            log.push_phase(duration_s);
        }
    }
    (spaces.count() > 0).then_some(spaces)
}
