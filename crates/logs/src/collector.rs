//! Counts the entries of logs, which arrive as bytes.
//!
//! A [`LogCollector`] receives the bytes of one or more sources in pieces of any size, in order per source. It does no I/O.

mod group;
mod settings;
mod source;

use std::collections::BTreeMap;

use crate::access::AccessRecord;
use crate::counts::{FORMAT_VERSION, Intervals, LogCounts, RuleCounts};
use crate::entries::Entry;
use crate::envelopes::Envelope;
use crate::mask::Masking;
use crate::rules::RuleFinder;
use crate::series::CountTable;
use crate::severity::EntrySeverity;
use crate::stamps::{EntryTime, MissingTime, Zone};
use crate::templates::{TemplateId, TemplateMiner};
use group::{Groups, Observation};
pub use settings::{CollectorSettings, RunClock, TemplateScope};
use source::{LineCounts, Source};

/// The number of a source in its collector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SourceId(usize);

/// An entry within the run, as it is counted.
#[derive(Debug, Clone, Copy)]
pub struct CountedEntry<'a> {
    /// Its second since the start of the run.
    pub second: u32,
    /// Its severity, if the log states it.
    pub severity: Option<EntrySeverity>,
    /// The status of the request, if the entry is a line of an access log.
    pub status: Option<u16>,
    /// Whether it matches the query.
    pub is_matching: bool,
    /// Whether it has a stack trace.
    pub has_trace: bool,
    /// Its template, if it was grouped.
    pub template: Option<TemplateId>,
    /// Its message and all further lines.
    pub body: &'a str,
}

/// Counts the entries of logs. Memory is bounded by the settings, for logs of any length and content.
#[derive(Debug, Clone)]
pub struct LogCollector {
    sources: Vec<Source>,
    tally: Tally,
}

impl LogCollector {
    /// Creates a collector without sources.
    #[must_use]
    pub fn new(settings: CollectorSettings) -> LogCollector {
        LogCollector { sources: Vec::new(), tally: Tally::new(settings) }
    }

    /// Adds a source: a file, a container or a journal. If `envelope` is `None`, the first line determines it.
    pub fn add_source(&mut self, envelope: Option<Envelope>) -> SourceId {
        let settings = &self.tally.settings;
        self.sources.push(Source::new(settings.stamps.clone(), settings.duration_unit, envelope));
        SourceId(self.sources.len() - 1)
    }

    /// Reads the next bytes of a source.
    pub fn read(&mut self, source: SourceId, bytes: &[u8]) {
        self.read_each(source, bytes, |_| ());
    }

    /// Reads the next bytes of a source and passes each complete entry within the run to `each`.
    pub fn read_each(&mut self, source: SourceId, bytes: &[u8], mut each: impl FnMut(CountedEntry<'_>)) {
        let Some(source) = self.sources.get_mut(source.0) else { return };
        let tally = &mut self.tally;
        let counts = source.read(bytes, |entry| tally.add(entry, &mut each));
        tally.add_source_counts(counts);
    }

    /// Counts the open entries of a source as complete. Call it if no line has arrived for a while: later lines begin new
    /// entries.
    pub fn complete_entries(&mut self, source: SourceId, mut each: impl FnMut(CountedEntry<'_>)) {
        let Some(source) = self.sources.get_mut(source.0) else { return };
        let tally = &mut self.tally;
        source.complete_entries(|entry| tally.add(entry, &mut each));
    }

    /// Ends a source. Its last line counts even if it has no line break, and its open entries are complete.
    pub fn end(&mut self, source: SourceId) {
        self.end_each(source, |_| ());
    }

    /// Ends a source and passes its last entries within the run to `each`.
    pub fn end_each(&mut self, source: SourceId, mut each: impl FnMut(CountedEntry<'_>)) {
        let Some(source) = self.sources.get_mut(source.0) else { return };
        let tally = &mut self.tally;
        let counts = source.end(|entry| tally.add(entry, &mut each));
        tally.add_source_counts(counts);
    }

    /// Sets the time at which the bytes that follow were written, in nanoseconds since 1970. In a log that is followed, it is the
    /// time of entries without a usable stamp. Entries of such a log are in the run even if their stamps are up to a second before
    /// its start, because stamps are often whole seconds.
    pub fn set_arrival(&mut self, unix_ns: i64) {
        self.tally.arrival_unix_ns = Some(unix_ns);
    }

    /// Sets the zone of the stamps of a source that have no offset.
    pub fn set_zone(&mut self, source: SourceId, zone: Zone) {
        if let Some(source) = self.sources.get_mut(source.0) {
            source.set_zone(zone);
        }
    }

    /// Number of lines so far, of all sources.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.tally.lines.lines
    }

    /// The text of a template so far, without secrets.
    #[must_use]
    pub fn template_text(&self, template: TemplateId) -> String {
        self.tally.settings.redactor.redact(&self.tally.miner.text_at(template.index()))
    }

    /// The counts so far, without the entries that are still open.
    #[must_use]
    pub fn counts(&self) -> LogCounts {
        self.tally.counts()
    }

    /// Ends all sources and returns the counts.
    #[must_use]
    pub fn finish(mut self) -> LogCounts {
        for source in 0..self.sources.len() {
            self.end(SourceId(source));
        }
        self.tally.counts()
    }
}

#[derive(Debug, Clone)]
struct Tally {
    settings: CollectorSettings,
    miner: TemplateMiner,
    lines: LineCounts,
    entries: u64,
    matching: u64,
    outside: u64,
    ungrouped: u64,
    without_time: BTreeMap<MissingTime, u64>,
    by_arrival: u64,
    arrival_unix_ns: Option<i64>,
    last_second: Option<u32>,
    totals: CountTable,
    rules: Option<RuleFinder>,
    /// Number of entries that satisfy each rule.
    by_rule: Vec<u64>,
    templates: Groups,
    traces: Groups,
}

/// Numbers of the series in `totals`: of all entries, of those that match the query, and of those that satisfy its first rule; those
/// of the other rules follow.
const ALL: usize = 0;
const MATCHING: usize = 1;
const FIRST_RULE: usize = 2;

/// The time of an entry, relative to the run.
enum Moment {
    Second(u32),
    Outside,
    Unknown(MissingTime),
}

impl Tally {
    fn new(settings: CollectorSettings) -> Tally {
        let rules = settings.counts_rules.then(|| RuleFinder::new(&settings.query));
        Tally {
            by_rule: vec![0; rules.as_ref().map_or(0, |finder| finder.rules().len())],
            rules,
            miner: TemplateMiner::new(settings.miner),
            lines: LineCounts::default(),
            entries: 0,
            matching: 0,
            outside: 0,
            ungrouped: 0,
            without_time: BTreeMap::new(),
            by_arrival: 0,
            arrival_unix_ns: None,
            last_second: None,
            totals: CountTable::new(settings.counts_max),
            templates: Groups::new(settings.counts_max),
            traces: Groups::new(settings.counts_max),
            settings,
        }
    }

    fn add_source_counts(&mut self, counts: LineCounts) {
        self.lines.lines += counts.lines;
        self.lines.truncated += counts.truncated;
        self.lines.unreadable += counts.unreadable;
    }

    fn moment(&self, time: EntryTime) -> Moment {
        let RunClock { start_unix_ns, end_unix_ns } = self.settings.clock;
        let unix_ns = match (time, self.arrival_unix_ns) {
            (EntryTime::UnixNs(unix_ns), Some(_))
                if (start_unix_ns.saturating_sub(1_000_000_000)..start_unix_ns).contains(&unix_ns) =>
            {
                start_unix_ns
            }
            (EntryTime::UnixNs(unix_ns), _) | (EntryTime::Unavailable(_), Some(unix_ns)) => unix_ns,
            (EntryTime::Unavailable(reason), None) => return Moment::Unknown(reason),
        };
        if unix_ns < start_unix_ns || end_unix_ns.is_some_and(|end| unix_ns >= end) {
            return Moment::Outside;
        }
        let second = (i128::from(unix_ns) - i128::from(start_unix_ns)) / 1_000_000_000;
        u32::try_from(second).map_or(Moment::Outside, Moment::Second)
    }

    fn add(&mut self, entry: &Entry<'_>, each: &mut impl FnMut(CountedEntry<'_>)) {
        self.entries += 1;
        let status = entry.access.map(|access| access.status);
        let matches = self.settings.query.matches(entry.body, entry.severity, status);
        let second = match self.moment(entry.time) {
            Moment::Second(second) => second,
            Moment::Outside => {
                self.outside += u64::from(matches);
                return;
            }
            Moment::Unknown(reason) => {
                if matches {
                    *self.without_time.entry(reason).or_default() += 1;
                }
                return;
            }
        };
        if self.arrival_unix_ns.is_some() && matches!(entry.time, EntryTime::Unavailable(_)) {
            self.by_arrival += 1;
        }
        self.last_second = self.last_second.max(Some(second));
        self.totals.add(ALL, second);
        if matches {
            self.matching += 1;
            self.totals.add(MATCHING, second);
            if let Some(finder) = &mut self.rules {
                finder.find(entry.body, entry.severity, status, |rule| {
                    self.by_rule[rule] += 1;
                    self.totals.add(FIRST_RULE + rule, second);
                });
            }
        }
        let is_grouped = matches || self.settings.scope == TemplateScope::All;
        let template = if is_grouped { self.group(entry, second) } else { None };
        each(CountedEntry {
            second,
            severity: entry.severity,
            status,
            is_matching: matches,
            has_trace: entry.trace.is_some(),
            template,
            body: entry.body,
        });
    }

    fn group(&mut self, entry: &Entry<'_>, second: u32) -> Option<TemplateId> {
        let observation = Observation { entry, second, settings: &self.settings };
        let template = match &entry.access {
            Some(access) => add_request(&mut self.miner, access),
            None => self.miner.add(entry.message),
        };
        match template {
            Some(id) => self.templates.add(id.index(), &observation),
            None => self.ungrouped += 1,
        }
        if let Some(trace) = &entry.trace {
            self.traces.add_trace(trace, self.settings.miner.templates_max, &observation);
        }
        template
    }

    fn counts(&self) -> LogCounts {
        let RunClock { start_unix_ns, end_unix_ns } = self.settings.clock;
        let known_length = end_unix_ns.map(|end| (end - start_unix_ns) as f64 / 1e9);
        let redactor = &self.settings.redactor;
        LogCounts {
            format: FORMAT_VERSION,
            query: self.settings.query.to_string(),
            start_unix_ns,
            length_s: known_length.or_else(|| self.last_second.map(|second| f64::from(second) + 1.0)),
            lines: self.lines.lines,
            entries: self.entries,
            matching: self.matching,
            outside: self.outside,
            without_time: self.without_time.clone(),
            by_arrival: self.by_arrival,
            ungrouped: self.ungrouped,
            truncated_lines: self.lines.truncated,
            unreadable_lines: self.lines.unreadable,
            interval_s: Intervals {
                totals: self.totals.interval_s(),
                templates: self.templates.interval_s(),
                traces: self.traces.interval_s(),
            },
            entries_over_time: self.totals.series(ALL),
            matching_over_time: self.totals.series(MATCHING),
            rules: self.rule_counts(),
            templates: self.templates.counts(|index| redactor.redact(&self.miner.text_at(index))),
            traces: self.traces.counts_of_traces(),
        }
    }

    fn rule_counts(&self) -> Vec<RuleCounts> {
        let rules = self.rules.iter().flat_map(|finder| finder.rules()).zip(&self.by_rule);
        rules
            .enumerate()
            .map(|(at, (rule, count))| RuleCounts {
                rule: rule.clone(),
                count: *count,
                over_time: self.totals.series(FIRST_RULE + at),
            })
            .collect()
    }
}

/// The template of a request: its status and method unchanged, and its path with `<*>` for the values in it.
fn add_request(miner: &mut TemplateMiner, access: &AccessRecord<'_>) -> Option<TemplateId> {
    let path = access.target.split(['?', ';']).next().unwrap_or_default();
    let status = access.status.to_string();
    miner.add_labelled(&[&status, access.method], path, Masking::KeepPaths)
}

#[cfg(test)]
mod tests;
