//! A log that was read, and the counts of its lines.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::cpu::{CpuSums, cpu_times};
use crate::event::{CauseId, Collector, GcEvent};
use crate::size::{SharedSizes, SizeChange};

/// The largest number of events of a log. Further ones are counted but not kept, so that memory is bounded (about 1 GB).
pub const EVENTS_MAX: usize = 4_000_000;

/// The largest number of different causes. Further ones are reported as [`OTHER_CAUSE`].
const CAUSES_MAX: usize = 256;

/// The name of causes beyond the first 255 different ones.
pub const OTHER_CAUSE: &str = "(other)";

/// The largest length of a cause in bytes.
const CAUSE_LENGTH_MAX: usize = 80;

/// Maximum number of damaged lines that are kept as examples, and maximum length of an example in bytes.
const EXAMPLES_MAX: usize = 5;
const EXAMPLE_LENGTH_MAX: usize = 200;

/// If the number of a collection is larger than the previous one by more than this, collections are missing. Smaller
/// steps are possible, because up to this many collections may write their first line before an earlier one does. Two
/// are usual.
const NUMBERS_AHEAD: u64 = 8;

/// The numbers of lines of a log by class. Each line is counted in exactly one of the fields `events` to `damaged`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct LineCounts {
    /// All lines.
    pub total: u64,
    /// Lines with an event.
    pub events: u64,
    /// Lines with details of an event, or with settings.
    pub details: u64,
    /// Empty lines, and lines that are not about garbage collection.
    pub other: u64,
    /// Lines that begin like an event or like its details and cannot be read.
    pub damaged: u64,
    /// Lines into which another thread wrote an event; both were read. They are counted in their class, too.
    pub interleaved: u64,
    /// Lines with an event that is not kept because of [`EVENTS_MAX`]. They are counted in `events`, too.
    pub beyond_limit: u64,
}

/// A line that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct DamagedLine {
    /// Number of the line in the log, counted from 1 over all parts.
    pub line: u64,
    /// Start of the line.
    pub text: String,
}

/// The sum of safepoints as logs from JDK 13 print them (`Safepoint "X", …`). They contain the pauses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, Serialize)]
pub struct Safepoints {
    /// The number of safepoints.
    pub count: u64,
    /// Σ Total, s: the time that application threads were stopped, with the time to reach the safepoint.
    pub total_s: f64,
    /// Σ Reaching safepoint, s.
    pub reaching_s: f64,
}

/// The events of a log in the order of its lines.
#[derive(Debug, Clone, Default)]
pub struct GcLog {
    /// The events. Events without a stamp (damaged lines, or a log without times) are at the position of their line.
    pub events: Vec<GcEvent>,
    /// The collector, if the log names it or its events are specific.
    pub collector: Option<Collector>,
    /// The version of the JVM as the log prints it.
    pub jvm_version: Option<String>,
    /// The largest heap that the JVM may use, KiB, if the log prints it.
    pub heap_max_kib: Option<i64>,
    /// Whether a line has a stamp.
    pub has_stamps: bool,
    /// Whether the log is in the format of JDK 9 and later (`-Xlog`).
    pub is_unified: bool,
    /// Durations of the parts of pauses, s, in the order of the log.
    pub phases_s: Vec<f64>,
    /// Safepoints, if the log prints them in the format of JDK 13.
    pub safepoints: Option<Safepoints>,
    /// Whether capacities of the heap are estimated from shares in whole percent, as ZGC prints them without details.
    pub is_capacity_estimated: bool,
    /// CPU times, if the log prints them.
    pub cpu: Option<CpuSums>,
    /// The number of times that the uptime decreased: the JVM was restarted, or parts are not in order.
    pub restarts: u64,
    /// The number of the first collection. If it is not 0, the start of the log is missing, as in a rotated log.
    pub first_gc_id: Option<u64>,
    /// The number of collections that are missing inside the log, as when a part of a rotated log was left out.
    pub missing_collections: u64,
    /// The counts of lines.
    pub lines: LineCounts,
    /// The first damaged lines.
    pub examples: Vec<DamagedLine>,
    /// The names of causes; [`CauseId`] is an index.
    pub(crate) causes: Vec<String>,
    /// The first wall time of an event, for logs without uptimes.
    first_wall_ms: Option<i64>,
}

impl GcLog {
    /// The name of the cause of an event.
    #[must_use]
    pub fn cause(&self, event: &GcEvent) -> Option<&str> {
        self.causes.get(usize::from(event.cause?.0)).map(String::as_str)
    }

    /// The names of all causes in the order of their first event.
    #[must_use]
    pub fn causes(&self) -> &[String] {
        &self.causes
    }

    /// The time of an event in seconds on the clock of the log: the uptime, or the time since the first stamp.
    #[must_use]
    pub fn time_s(&self, event: &GcEvent) -> Option<f64> {
        event.stamp.uptime_s.or_else(|| {
            let since_ms = event.stamp.wall_ms?.checked_sub(self.first_wall_ms?)?;
            Some(since_ms as f64 / 1000.0)
        })
    }

    /// The times of all events as [`GcLog::time_s`].
    #[must_use]
    pub fn times_s(&self) -> Vec<Option<f64>> {
        self.events.iter().map(|event| self.time_s(event)).collect()
    }
}

/// The class of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineClass {
    Event,
    Detail,
    Other,
    Damaged,
}

/// Collects the events of a log.
#[derive(Debug, Default)]
pub(crate) struct LogBuilder {
    pub log: GcLog,
    cause_ids: HashMap<String, u16>,
    uptime_max_s: f64,
    last_gc_id: Option<u64>,
    /// The range of capacities, KiB, that agree with all shares of the heap in percent so far.
    capacity_range_kib: Option<(f64, f64)>,
    /// Whether no capacity agrees with all shares: the maximum heap changed.
    is_capacity_changed: bool,
    /// The positions of the events whose capacity is estimated.
    estimated: Vec<usize>,
}

impl LogBuilder {
    /// Adds an event.
    pub fn push(&mut self, event: GcEvent) {
        self.log.has_stamps |= event.stamp.is_present();
        self.log.first_wall_ms = self.log.first_wall_ms.or(event.stamp.wall_ms);
        if let Some(uptime) = event.stamp.uptime_s {
            // Threads write their lines up to a few milliseconds out of order.
            if uptime + 1.0 < self.uptime_max_s {
                self.log.restarts += 1;
                self.uptime_max_s = uptime;
                self.last_gc_id = None;
            }
            self.uptime_max_s = self.uptime_max_s.max(uptime);
        }
        if let Some(id) = event.gc_id {
            self.number(id);
        }
        if self.log.events.len() >= EVENTS_MAX {
            self.log.lines.beyond_limit += 1;
            return;
        }
        self.log.events.push(event);
    }

    /// Looks for missing numbers of collections.
    fn number(&mut self, id: u64) {
        self.log.first_gc_id.get_or_insert(id);
        let last = self.last_gc_id.unwrap_or(id);
        if id > last.saturating_add(NUMBERS_AHEAD) {
            self.log.missing_collections = self.log.missing_collections.saturating_add(id - last - 1);
        }
        self.last_gc_id = Some(last.max(id));
    }

    /// Estimates the capacity from shares in whole percent, KiB, for the event that is added next.
    pub fn estimated_capacity(&mut self, shared: &SharedSizes) -> Option<i64> {
        let (before, after) = (shared.sizes.before_kib as f64, shared.sizes.after_kib as f64);
        let (before_percent, after_percent) = shared.percent;
        for (used, percent) in [(before, before_percent), (after, after_percent)] {
            if percent > 0.0 {
                // The JVM rounds the share to whole percent.
                let (low, high) = (used * 100.0 / (percent + 0.5), used * 100.0 / (percent - 0.5));
                let (known_low, known_high) = self.capacity_range_kib.unwrap_or((low, high));
                self.is_capacity_changed |= low > known_high || high < known_low;
                self.capacity_range_kib = Some((low.max(known_low), high.min(known_high)));
            }
        }
        // The larger share gives the better estimate, for a log whose maximum changes.
        let (used, percent) =
            if before_percent >= after_percent { (before, before_percent) } else { (after, after_percent) };
        if percent <= 0.0 {
            return None;
        }
        self.estimated.push(self.log.events.len());
        Some((used * 100.0 / percent) as i64)
    }

    /// Ends the log.
    pub fn finish(mut self) -> GcLog {
        self.log.is_capacity_estimated = !self.estimated.is_empty();
        if let Some((low, high)) = self.capacity_range_kib
            && !self.is_capacity_changed
        {
            for index in self.estimated {
                if let Some(heap) = self.log.events.get_mut(index).and_then(|event| event.heap.as_mut()) {
                    heap.capacity_kib = Some(f64::midpoint(low, high) as i64);
                }
            }
        }
        self.log
    }

    /// Adds the duration of a part of a pause, s.
    pub fn push_phase(&mut self, duration_s: f64) {
        if self.log.phases_s.len() < EVENTS_MAX {
            self.log.phases_s.push(duration_s);
        }
    }

    /// Adds the CPU times in a text; returns whether the text has any.
    pub fn cpu(&mut self, text: &str, is_pause: bool) -> bool {
        let Some(times) = cpu_times(text) else { return false };
        self.log.cpu.get_or_insert_with(CpuSums::default).add(&times, is_pause);
        true
    }

    /// The id of a cause.
    pub fn cause(&mut self, name: &str) -> Option<CauseId> {
        let mut end = name.len().min(CAUSE_LENGTH_MAX);
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        let mut name = name[..end].trim();
        if name.is_empty() {
            return None;
        }
        if !self.cause_ids.contains_key(name) && self.log.causes.len() + 1 >= CAUSES_MAX {
            name = OTHER_CAUSE;
        }
        if let Some(id) = self.cause_ids.get(name) {
            return Some(CauseId(*id));
        }
        let id = u16::try_from(self.log.causes.len()).ok()?;
        self.log.causes.push(name.to_owned());
        self.cause_ids.insert(name.to_owned(), id);
        Some(CauseId(id))
    }

    /// Sets the collector if it is not known yet.
    pub fn collector(&mut self, collector: Collector) {
        let known = &mut self.log.collector;
        // The name in a line `Using The Z Garbage Collector` does not show whether it has generations.
        let is_refined = (*known, collector) == (Some(Collector::Zgc), Collector::GenerationalZgc);
        if known.is_none() || is_refined {
            *known = Some(collector);
        }
    }

    /// Counts a line.
    pub fn count(&mut self, class: LineClass, text: &str) {
        let lines = &mut self.log.lines;
        lines.total += 1;
        *match class {
            LineClass::Event => &mut lines.events,
            LineClass::Detail => &mut lines.details,
            LineClass::Other => &mut lines.other,
            LineClass::Damaged => &mut lines.damaged,
        } += 1;
        if class == LineClass::Damaged {
            self.example(text);
        }
    }

    /// Counts a line as damaged that was counted as a detail before.
    pub fn damage_later(&mut self, text: &str) {
        self.log.lines.details = self.log.lines.details.saturating_sub(1);
        self.log.lines.damaged += 1;
        self.example(text);
    }

    fn example(&mut self, text: &str) {
        if self.log.examples.len() < EXAMPLES_MAX {
            let text = text.chars().take(EXAMPLE_LENGTH_MAX / 4).collect();
            self.log.examples.push(DamagedLine { line: self.log.lines.total, text });
        }
    }

    /// Records the largest capacity of the heap.
    pub fn heap_max(&mut self, kib: i64) {
        let known = self.log.heap_max_kib.unwrap_or(0);
        self.log.heap_max_kib = Some(known.max(kib));
    }
}

/// The sum of two sizes that may be absent.
pub(crate) fn sum(one: Option<SizeChange>, two: Option<SizeChange>) -> Option<SizeChange> {
    match (one, two) {
        (Some(one), Some(two)) => Some(one.plus(&two)),
        (one, two) => one.or(two),
    }
}
