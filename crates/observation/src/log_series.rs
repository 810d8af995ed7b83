//! The counts of a log per second, as series of the run.

use std::collections::{BTreeMap, VecDeque};

use busyhour_logs::{BurstDetector, CountedEntry, EntrySeverity, LogBurst, Query, TemplateId};
use busyhour_observe::{Mark, MarkKind, Metric, Reading, SeriesId};
use busyhour_sample::Nanos;
use rustc_hash::FxHashMap;

static ENTRIES: Metric = Metric::counter(
    "busyhour_log_entries_total",
    "Entries of the log by severity, at the times of their stamps.",
);
static PROBLEMS: Metric = Metric::counter(
    "busyhour_log_problems_total",
    "Entries that the query selects: exceptions, errors, failed requests.",
);
static EXCEPTIONS: Metric = Metric::counter(
    "busyhour_log_exceptions_total",
    "Selected entries with a stack trace or the word exception.",
);
static RESPONSES: Metric = Metric::counter(
    "busyhour_log_http_responses_total",
    "Requests in the access log by status: the exact one (503) if the query selects it, otherwise its class (2xx).",
);

const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// A second is recorded this number of seconds after its end, because programs write buffered lines late.
const LATE_S: u32 = 2;
/// Maximum number of templates per second whose entries are counted for the description of bursts.
const TEMPLATES_PER_SECOND: usize = 32;
/// Seconds for which these counts are kept: the longest burst and the window before it.
const TEMPLATE_SECONDS: usize = 75;
/// Maximum length of a template in a mark, in characters.
const MARK_TEMPLATE_CHARS: usize = 160;

/// The label of entries whose log states no severity.
const NO_SEVERITY: &str = "unknown";

#[derive(Debug, Default)]
struct SecondCounts {
    severities: FxHashMap<Option<EntrySeverity>, u32>,
    statuses: FxHashMap<Status, u32>,
    problems: u32,
    exceptions: u32,
    templates: Vec<(TemplateId, u32)>,
}

impl SecondCounts {
    fn merge(&mut self, other: SecondCounts) {
        for (severity, count) in other.severities {
            *self.severities.entry(severity).or_default() += count;
        }
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        self.problems += other.problems;
        self.exceptions += other.exceptions;
        self.templates.extend(other.templates);
    }
}

/// The status of a request, or its class: 2 for all statuses from 200 to 299.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Status {
    Exact(u16),
    Class(u16),
}

impl Status {
    fn label(self) -> String {
        match self {
            Status::Exact(status) => status.to_string(),
            Status::Class(class) => format!("{class}xx"),
        }
    }
}

/// A counter that begins at 0 one second before its first value, so that its first increase has a rate.
#[derive(Debug)]
struct Counter {
    id: SeriesId,
    total: u64,
}

impl Counter {
    fn new(reading: &mut Reading<'_>, metric: &Metric, labels: &[(&str, &str)], start: Nanos) -> Counter {
        let id = reading.series(metric, labels);
        reading.set_at(id, start, 0.0);
        Counter { id, total: 0 }
    }

    fn add(&mut self, reading: &mut Reading<'_>, end: Nanos, count: u32) {
        self.total += u64::from(count);
        reading.set_at(self.id, end, self.total as f64);
    }
}

/// The counters of a log.
#[derive(Debug)]
struct Counters {
    problems: Counter,
    exceptions: Counter,
    severities: BTreeMap<Option<EntrySeverity>, Counter>,
    statuses: FxHashMap<Status, Counter>,
}

/// Counts the entries of a log per second, records the seconds that have ended, and finds bursts.
#[derive(Debug)]
pub(crate) struct LogSeries {
    /// The first second that is not recorded yet.
    next_s: u32,
    seconds: BTreeMap<u32, SecondCounts>,
    counters: Option<Counters>,
    exception: Option<Query>,
    bursts: BurstDetector,
    /// The templates of the last seconds.
    templates: VecDeque<(u32, Vec<(TemplateId, u32)>)>,
}

impl LogSeries {
    /// Series that begin in this second of the run.
    pub(crate) fn new(first_s: u32) -> LogSeries {
        LogSeries {
            next_s: first_s,
            seconds: BTreeMap::new(),
            counters: None,
            exception: "exception".parse().ok(),
            bursts: BurstDetector::new(first_s),
            templates: VecDeque::new(),
        }
    }

    /// Counts an entry. If its second has already been recorded, the entry is counted in the first second that has not
    /// been recorded. If its stamp is in the future, it is counted in the current second.
    pub(crate) fn add(&mut self, entry: &CountedEntry<'_>, now_s: u32) {
        let second = entry.second.min(now_s).max(self.next_s);
        let counts = self.seconds.entry(second).or_default();
        *counts.severities.entry(entry.severity).or_default() += 1;
        if let Some(status) = entry.status {
            let status = if entry.is_matching { Status::Exact(status) } else { Status::Class(status / 100) };
            *counts.statuses.entry(status).or_default() += 1;
        }
        if !entry.is_matching {
            return;
        }
        counts.problems += 1;
        let has_word = || self.exception.as_ref().is_some_and(|query| query.matches(entry.body, None, None));
        counts.exceptions += u32::from(entry.status.is_none() && (entry.has_trace || has_word()));
        if let Some(template) = entry.template {
            let known = counts.templates.iter().position(|(known, _)| *known == template);
            match known {
                Some(at) => counts.templates[at].1 += 1,
                None if counts.templates.len() < TEMPLATES_PER_SECOND => counts.templates.push((template, 1)),
                None => {}
            }
        }
    }

    /// Records the seconds that ended at least [`LATE_S`] ago. `text` returns the text of a template.
    pub(crate) fn record(
        &mut self,
        reading: &mut Reading<'_>,
        now_s: u32,
        text: impl Fn(TemplateId) -> String,
    ) {
        let until = now_s.saturating_sub(LATE_S);
        self.declare(reading);
        while self.next_s < until {
            self.record_second(reading, &text);
        }
    }

    /// Records all seconds, including the current one, and a burst that has not ended.
    pub(crate) fn finish(&mut self, reading: &mut Reading<'_>, text: impl Fn(TemplateId) -> String) {
        self.declare(reading);
        // A short part of a second would have an extreme rate. It is added to the second before.
        let last_s = reading.time().0.saturating_sub(NANOS_PER_SECOND / 2) / NANOS_PER_SECOND;
        let last_s = u32::try_from(last_s).unwrap_or(u32::MAX).max(self.next_s);
        for (_, counts) in self.seconds.split_off(&last_s.saturating_add(1)) {
            self.seconds.entry(last_s).or_default().merge(counts);
        }
        while self.next_s < last_s {
            self.record_second(reading, &text);
        }
        self.record_until(reading, reading.time(), &text);
        if let Some(burst) = self.bursts.clone().finish() {
            self.mark(reading, burst, &text);
        }
    }

    fn declare(&mut self, reading: &mut Reading<'_>) {
        if self.counters.is_none() {
            let start = Nanos(u64::from(self.next_s) * NANOS_PER_SECOND);
            self.counters = Some(Counters {
                problems: Counter::new(reading, &PROBLEMS, &[], start),
                exceptions: Counter::new(reading, &EXCEPTIONS, &[], start),
                severities: BTreeMap::new(),
                statuses: FxHashMap::default(),
            });
        }
    }

    fn record_second(&mut self, reading: &mut Reading<'_>, text: &impl Fn(TemplateId) -> String) {
        let end = Nanos((u64::from(self.next_s) + 1) * NANOS_PER_SECOND);
        self.record_until(reading, end, text);
    }

    /// Records the totals after the next second, at the time `end`.
    fn record_until(&mut self, reading: &mut Reading<'_>, end: Nanos, text: &impl Fn(TemplateId) -> String) {
        let Some(counters) = &mut self.counters else { return };
        let second = self.next_s;
        self.next_s += 1;
        let counts = self.seconds.remove(&second).unwrap_or_default();
        let start = Nanos(u64::from(second) * NANOS_PER_SECOND);
        counters.problems.add(reading, end, counts.problems);
        counters.exceptions.add(reading, end, counts.exceptions);
        for severity in counts.severities.keys() {
            counters.severities.entry(*severity).or_insert_with(|| {
                let name = severity.map_or_else(|| NO_SEVERITY.to_owned(), |severity| severity.to_string());
                Counter::new(reading, &ENTRIES, &[("severity", &name)], start)
            });
        }
        for (severity, counter) in &mut counters.severities {
            counter.add(reading, end, counts.severities.get(severity).copied().unwrap_or(0));
        }
        for status in counts.statuses.keys() {
            counters
                .statuses
                .entry(*status)
                .or_insert_with(|| Counter::new(reading, &RESPONSES, &[("code", &status.label())], start));
        }
        for (status, counter) in &mut counters.statuses {
            counter.add(reading, end, counts.statuses.get(status).copied().unwrap_or(0));
        }
        if self.templates.len() == TEMPLATE_SECONDS {
            self.templates.pop_front();
        }
        self.templates.push_back((second, counts.templates));
        if let Some(burst) = self.bursts.add(counts.problems) {
            self.mark(reading, burst, text);
        }
    }

    fn mark(&self, reading: &mut Reading<'_>, burst: LogBurst, text: &impl Fn(TemplateId) -> String) {
        let mut by_template: FxHashMap<TemplateId, u64> = FxHashMap::default();
        let seconds = self.templates.iter().filter(|(second, _)| (burst.from_s..burst.to_s).contains(second));
        for (template, count) in seconds.flat_map(|(_, templates)| templates) {
            *by_template.entry(*template).or_default() += u64::from(*count);
        }
        let most =
            by_template.into_iter().max_by_key(|(template, count)| (*count, std::cmp::Reverse(*template)));
        let most = most.map(|(template, count)| (text(template), count));
        reading.mark(Mark {
            kind: MarkKind::LogBurst,
            from: Nanos(u64::from(burst.from_s) * NANOS_PER_SECOND),
            to: Nanos(u64::from(burst.to_s) * NANOS_PER_SECOND).min(reading.time()),
            text: describe(&burst, most.as_ref()),
        });
    }
}

/// The text of a mark.
fn describe(burst: &LogBurst, most: Option<&(String, u64)>) -> String {
    let length_s = burst.to_s - burst.from_s;
    let minutes = (burst.history_s + 30) / 60;
    let mut out = format!(
        "{} problems in {length_s} s; before, at most {} in any 10 s of {minutes} min",
        burst.entries, burst.usual_max
    );
    if let Some((text, count)) = most {
        let short: String = text.chars().take(MARK_TEMPLATE_CHARS).collect();
        let cut = if short.len() < text.len() { "…" } else { "" };
        out.push_str(&format!("; {count} × {short}{cut}"));
    }
    out
}
