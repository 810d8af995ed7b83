//! Assigns the readings of a series file to subjects and quantities.

use std::collections::BTreeMap;

use busyhour_analysis::system::SubjectKind;
use busyhour_sample::Nanos;
use busyhour_series::{
    CounterIncreases, MarkKind, MetricKind, ProgramNames, SeriesEvent, SeriesInfo, SourceRestarts,
    SourceState, StateChange, UnavailableInfo,
};
use rustc_hash::FxHashMap;

use super::gc_logs::GcLogs;
use super::metrics::{Quantity, SeriesUse, SubjectKey, label};
use super::tally::{Increases, Part, ReadingSum, Values};

/// Maximum number of stored reasons. More are not needed, because each metric has one reason.
const REASONS_MAX: usize = 10_000;

/// The readings of one quantity of a subject.
#[derive(Debug, Default)]
pub(super) struct QuantityTally {
    pub(super) increases: Increases,
    pub(super) values: Values,
    is_counter: bool,
    /// Index of the partner's tally.
    partner: Option<usize>,
    /// Whether the value is the sum of two series, both of which must have a value.
    needs_two: bool,
    reading: ReadingSum,
}

/// A subject and the indices of its tallies.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) key: SubjectKey,
    /// Numbers of the sources that describe the subject.
    pub(super) sources: Vec<u32>,
    pub(super) quantities: BTreeMap<Quantity, usize>,
    /// Times of the first and the last reading in ns.
    pub(super) read: Option<(u64, u64)>,
    /// Whether the subject is a machine with a CPU named `all`, which contains the sum over all CPUs.
    has_cpu_all: bool,
    /// Whether the subject is a JVM with ZGC.
    pub(super) is_zgc: bool,
}

/// The tallies to which a series is added.
#[derive(Debug, Default)]
struct Use {
    /// Index of the subject.
    subject: usize,
    /// Indices of tallies, and signs.
    tallies: Vec<(usize, f64)>,
    /// The state of a counter; `None` for gauges.
    rates: Option<CounterIncreases>,
}

/// All subjects of a series file.
#[derive(Debug)]
pub(super) struct Subjects {
    pub(super) part: Part,
    pub(super) subjects: Vec<Subject>,
    pub(super) tallies: Vec<QuantityTally>,
    pub(super) hostname: Option<String>,
    pub(super) programs: ProgramNames,
    pub(super) gc_logs: GcLogs,
    /// Reasons by source number and metric.
    reasons: FxHashMap<(u32, String), String>,
    /// The last state of a source that is not watched.
    states: FxHashMap<u32, String>,
    /// Restarts in the measured part by source number.
    restarts: FxHashMap<u32, u64>,
    last_restarts: SourceRestarts,
    sources: Vec<String>,
    by_key: FxHashMap<SubjectKey, usize>,
    uses: Vec<Option<Use>>,
    /// Tallies with values in the current reading. The memory is reused.
    touched: Vec<usize>,
}

impl Subjects {
    /// Without subjects. `programs` are names that are known already.
    pub(super) fn new(part: Part, programs: ProgramNames) -> Subjects {
        Subjects {
            part,
            programs,
            subjects: Vec::new(),
            tallies: Vec::new(),
            hostname: None,
            gc_logs: GcLogs::default(),
            reasons: FxHashMap::default(),
            states: FxHashMap::default(),
            restarts: FxHashMap::default(),
            last_restarts: SourceRestarts::default(),
            sources: Vec::new(),
            by_key: FxHashMap::default(),
            uses: Vec::new(),
            touched: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, event: SeriesEvent<'_>) {
        match event {
            SeriesEvent::Start(start) => {
                self.hostname = Some(start.hostname).filter(|name| !name.is_empty());
            }
            SeriesEvent::Source(name) => self.sources.push(name),
            SeriesEvent::Series(info) => {
                self.last_restarts.add_series(&info);
                let used = self.declare(&info);
                self.uses.push(used);
            }
            SeriesEvent::Values { time, values } => self.add_values(time, values),
            SeriesEvent::Unavailable(UnavailableInfo { source, metric, reason, .. }) => {
                if self.reasons.len() < REASONS_MAX {
                    self.reasons.entry((source, metric)).or_insert(reason);
                }
            }
            SeriesEvent::Mark { source, mark } => {
                self.last_restarts.add_mark(source, &mark);
                self.gc_logs.add_mark(self.part, source, &mark);
                let is_inside = self.part.from <= mark.from.0 && mark.from.0 <= self.part.to;
                if mark.kind == MarkKind::Restart && is_inside {
                    *self.restarts.entry(source).or_insert(0) += 1;
                }
            }
            SeriesEvent::State(StateChange { source, state, .. }) => {
                match state {
                    SourceState::Watching => self.states.remove(&source),
                    SourceState::Failed(reason) | SourceState::Ended(reason) => {
                        self.states.insert(source, reason)
                    }
                };
            }
        }
    }

    /// Determines the use of a series, whose source was declared before.
    fn declare(&mut self, info: &SeriesInfo) -> Option<Use> {
        let source = self.sources.get(info.source as usize)?.clone();
        self.take_name(&source, info);
        self.gc_logs.add_series(&source, info);
        let used = SeriesUse::of(&source, info)?;
        if used.key.disk.is_some() {
            // Adds the machine first, so that it precedes its disks.
            self.subject(&SeriesUse::machine_of(&used.key), info.source);
        }
        let subject = self.subject(&used.key, info.source);
        if info.name == "node_cpu_seconds_total" {
            match label(info, "cpu") {
                Some("all") => self.subjects[subject].has_cpu_all = true,
                _ if self.subjects[subject].has_cpu_all => return None,
                _ => {}
            }
        }
        let is_counter = info.kind == MetricKind::Counter;
        let tallies = used
            .quantities
            .iter()
            .map(|(quantity, sign)| {
                let partner = quantity.partner().map(|partner| self.tally(subject, partner, is_counter));
                let tally = self.tally(subject, *quantity, is_counter);
                self.tallies[tally].partner = partner;
                self.tallies[tally].needs_two = *quantity == Quantity::MemoryUsed;
                (tally, *sign)
            })
            .collect();
        Some(Use { subject, tallies, rates: is_counter.then(CounterIncreases::default) })
    }

    /// Stores the name of a program, which is a label of a metric without a figure.
    fn take_name(&mut self, source: &str, info: &SeriesInfo) {
        let kind = match info.name.as_str() {
            "jvm_info" => SubjectKind::Jvm,
            "process_info" => SubjectKind::Process,
            _ => return,
        };
        let scraped =
            SeriesUse::of(source, &SeriesInfo { name: first_metric(kind).to_owned(), ..info.clone() });
        if let (Some(name), Some(used)) = (label(info, "name"), &scraped) {
            let observer = used.key.exporter.as_deref().unwrap_or_default();
            self.programs.take(observer, &used.key.source, &info.name, name);
            self.subject(&used.key, info.source);
        }
        // ZGC adds only a part of each pause to its counters.
        if kind == SubjectKind::Jvm
            && label(info, "collector").is_some_and(|collector| collector.starts_with("ZGC"))
            && let Some(used) = scraped
        {
            let subject = self.subject(&used.key, info.source);
            self.subjects[subject].is_zgc = true;
        }
    }

    fn subject(&mut self, key: &SubjectKey, source: u32) -> usize {
        let next = self.subjects.len();
        let index = *self.by_key.entry(key.clone()).or_insert(next);
        if index == next {
            self.subjects.push(Subject {
                key: key.clone(),
                sources: Vec::new(),
                quantities: BTreeMap::new(),
                read: None,
                has_cpu_all: false,
                is_zgc: false,
            });
        }
        let sources = &mut self.subjects[index].sources;
        if !sources.contains(&source) {
            sources.push(source);
        }
        index
    }

    fn tally(&mut self, subject: usize, quantity: Quantity, is_counter: bool) -> usize {
        let next = self.tallies.len();
        let index = *self.subjects[subject].quantities.entry(quantity).or_insert(next);
        if index == next {
            self.tallies.push(QuantityTally { is_counter, ..QuantityTally::default() });
        }
        index
    }

    /// Adds the values of one reading of one source.
    fn add_values(&mut self, time: Nanos, values: &[(u32, f64)]) {
        self.last_restarts.add_values(time, values);
        for (series, value) in values {
            let Some(Some(used)) = self.uses.get_mut(*series as usize) else { continue };
            let read = &mut self.subjects[used.subject].read;
            *read =
                Some(read.map_or((time.0, time.0), |(first, last)| (first.min(time.0), last.max(time.0))));
            let increase = match &mut used.rates {
                Some(rates) => match rates.next_total(time, *value, self.last_restarts.of_series(*series)) {
                    Some(increase) => Some(increase),
                    None => continue,
                },
                None => None,
            };
            for (tally, sign) in &used.tallies {
                let reading = &mut self.tallies[*tally].reading;
                if reading.series().is_none() {
                    self.touched.push(*tally);
                }
                match increase {
                    Some(increase) => reading.add_increase(increase.from.0, increase.amount * sign),
                    None => reading.add_value(value * sign),
                }
            }
        }
        for tally in &self.touched {
            let partner = self.tallies[*tally].partner.map(|partner| self.tallies[partner].reading);
            let (part, tally) = (self.part, &mut self.tallies[*tally]);
            if tally.is_counter {
                tally.increases.add(part, time.0, tally.reading, partner);
            } else {
                let needed =
                    if tally.needs_two { Some(2) } else { partner.and_then(|partner| partner.series()) };
                tally.values.add(part, time.0, tally.reading, needed);
            }
        }
        for tally in self.touched.drain(..) {
            self.tallies[tally].reading = ReadingSum::default();
        }
    }

    /// The reason why a metric of a subject has no values, if its source reported one.
    pub(super) fn reason(&self, subject: &Subject, metric: &str) -> Option<&str> {
        let stated =
            subject.sources.iter().find_map(|source| self.reasons.get(&(*source, metric.to_owned())));
        stated
            .or_else(|| subject.sources.iter().find_map(|source| self.states.get(source)))
            .map(String::as_str)
    }

    /// Number of restarts of a subject in the measured part.
    pub(super) fn restarts(&self, subject: &Subject) -> u64 {
        subject.sources.iter().filter_map(|source| self.restarts.get(source)).sum()
    }

    /// The subject with a key.
    pub(super) fn find(&self, key: &SubjectKey) -> Option<&Subject> {
        self.by_key.get(key).map(|index| &self.subjects[*index])
    }
}

/// A metric that only subjects of this kind have.
fn first_metric(kind: SubjectKind) -> &'static str {
    match kind {
        SubjectKind::Jvm => Quantity::JvmThreads.metric(),
        _ => Quantity::ProcessCpu.metric(),
    }
}
