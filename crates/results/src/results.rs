//! Reads the results of one test, which can be in several files, as one stream of samples.
//!
//! An input is a file or stream with a JTL in CSV (with or without column names) or XML, plain or compressed with gzip or
//! Zstandard; or it is a run directory. The format is detected from the contents. Several inputs are those of several
//! generators of one test. They are read concurrently, so that samples are returned approximately in the order of their ends,
//! as from a single file.
//!
//! Times count from an origin that is fixed before the first sample is read. It is a year before the first rows, because a
//! later row may have started earlier. At the end, [`Results::add_up`] moves the origin to the start of the run.
//!
//! The rows of a file may be in any order. [`aggregate_inputs`] reads files again if a row shows that the run started earlier than
//! expected, or that seconds were closed before all of their rows were read.

mod any_order;
mod input;
mod merged_groups;
mod run;
mod sample_fields;
mod settings;
mod source;
mod visitor;
mod xml;

pub(crate) use any_order::survey;
pub use any_order::{SampleObserver, aggregate_inputs};
pub use input::{ResultsError, ResultsFrom, ResultsInput};
pub use settings::{AggregateSettings, ReadSettings};

use crate::input_facts::InputFacts;
use crate::replay::ReplayedRun;
use busyhour_record::SamplesEnd;
use busyhour_sample::{
    Aggregator, ArrivalRecord, Labels, Nanos, RunNames, Sample, TotalsSettings, UsersOverTime, sort_groups,
};
use merged_groups::MergedGroups;
use source::Source;
pub(crate) use visitor::Visitor;

/// Maximum time in s by which a sample may start before the first rows: a year.
const BEFORE_S: u64 = 366 * 86_400;

/// Maximum time in ns by which an input is read ahead of the others.
const AHEAD_NS: u64 = 100_000_000;

/// Opened results, ready to be read once.
pub struct Results {
    sources: Vec<Source>,
    labels: Labels,
    origin_ns: i64,
    /// Time from the origin to the start of the run, as far as it is known, in s.
    start_s: u64,
    /// Whether the start of the run is certain.
    start_known: bool,
}

/// Facts about the inputs that are known only after reading.
#[derive(Debug, Clone)]
pub struct ResultsEnd {
    /// Facts about each input.
    pub inputs: Vec<InputFacts>,
    /// The names in the inputs. Thread groups of CSV files are included only if the settings request them or all columns.
    pub names: RunNames,
    /// Active users at the end of each second, counted from the origin.
    pub(crate) users: UsersOverTime,
}

impl Results {
    /// Opens the inputs and detects their formats.
    ///
    /// # Errors
    /// An input cannot be read, or its format is unknown.
    pub fn open(inputs: Vec<ResultsInput>, settings: &ReadSettings) -> Result<Results, ResultsError> {
        let labels = Labels::new();
        let mut sources = Vec::new();
        for input in inputs {
            let name = input.name.clone();
            let opened = Source::open(input, settings, &labels);
            sources.push(opened.map_err(|source| ResultsError { name, source })?);
        }
        let alone = match &sources[..] {
            [source] => source.run_anchor_ns(),
            _ => None,
        };
        let first_ns = sources.iter().filter_map(|source| source.first_ns).min();
        let start_ns = settings.start_ms.map(|ms| ms.saturating_mul(1_000_000));
        let (origin_ns, start_s) = match (alone, start_ns.or(first_ns)) {
            // A samples file contains the start of its run.
            (Some(anchor_ns), _) => (anchor_ns, 0),
            (None, Some(first_ns)) => (first_ns.saturating_sub_unsigned(BEFORE_S * 1_000_000_000), BEFORE_S),
            (None, None) => (0, 0),
        };
        let start_known = alone.is_some() || start_ns.is_some();
        Ok(Results { sources, labels, origin_ns, start_s, start_known })
    }

    /// The table of labels, to which reading adds labels.
    #[must_use]
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The origin of times, in ms since 1970.
    #[must_use]
    pub const fn wall_anchor_ms(&self) -> i64 {
        self.origin_ns / 1_000_000
    }

    /// Total size of the (compressed) files in bytes; `None` if an input is a stream.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.sources.iter().map(|source| source.bytes).sum()
    }

    /// Whether all inputs have only actual starts, in whole ms. Response times then equal service times.
    #[must_use]
    pub fn only_actual_starts(&self) -> bool {
        self.sources.iter().all(|source| source.run_anchor_ns().is_none())
    }

    /// Whether the start of the run is known before reading.
    pub(crate) const fn start_is_known(&self) -> bool {
        self.start_known
    }

    /// The time from the origin to the start of the run, as far as it is known.
    pub(crate) const fn start(&self) -> Nanos {
        Nanos::from_secs(self.start_s)
    }

    /// Converts a window from seconds since the start of the run, as far as the start is known, to times from the origin.
    #[must_use]
    pub fn instants(&self, (from_s, to_s): (f64, f64)) -> (Nanos, Nanos) {
        let at = |s: f64| self.start() + (s * 1e9).round() as u64;
        (at(from_s), at(to_s))
    }

    /// The coarsest clock tick of the inputs in ns.
    #[must_use]
    pub fn tick_ns(&self) -> u64 {
        self.sources.iter().map(|source| source.facts.form.tick_ns()).max().unwrap_or(1)
    }

    /// Calls `see` with every sample. Calls `progress` at intervals with the number of bytes read.
    ///
    /// # Errors
    /// An input cannot be read, or has no valid row.
    pub fn read(
        self,
        see: &mut dyn FnMut(&Sample<'_>),
        progress: &mut dyn FnMut(u64),
    ) -> Result<ResultsEnd, ResultsError> {
        self.read_with_visitor(&mut Visitor { sample: see, arrival: &mut |_| {} }, progress)
    }

    /// Like [`Results::read`], but also passes arrivals to the visitor.
    pub(crate) fn read_with_visitor(
        mut self,
        visitor: &mut Visitor<'_>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<ResultsEnd, ResultsError> {
        let several = self.sources.len() > 1;
        let mut groups = MergedGroups::default();
        // The input that is furthest behind is read next, until it is ahead of the others.
        while let Some((at, _)) = self.most_delayed(None) {
            let until = self.most_delayed(Some(at)).map_or(Nanos::MAX, |(_, end)| end + AHEAD_NS);
            let source = &mut self.sources[at];
            let advanced = if several {
                let mut sample = |sample: &Sample<'_>| {
                    (visitor.sample)(&Sample { group: groups.number(at, sample.group), ..*sample });
                };
                let mut visitor = Visitor { sample: &mut sample, arrival: &mut *visitor.arrival };
                source.advance(self.origin_ns, until, &mut visitor)
            } else {
                source.advance(self.origin_ns, until, visitor)
            };
            advanced.map_err(|error| ResultsError { name: source.facts.name.clone(), source: error })?;
            progress(self.sources.iter().map(|source| source.read.get()).sum());
        }
        let mut names = RunNames::default();
        let (mut inputs, mut users) = (Vec::new(), Vec::new());
        for (at, source) in self.sources.into_iter().enumerate() {
            let (facts, more, counts) = source.finish();
            users.push(counts);
            let facts = facts.check().map_err(|(name, source)| ResultsError { name, source })?;
            names.variables.extend(more.variables);
            if several {
                groups.name(at, &more.groups, &more.set_up_and_tear_down, &mut names);
            } else {
                names.groups = more.groups;
                names.set_up_and_tear_down = more.set_up_and_tear_down;
            }
            if names.hostname.is_empty() {
                names.hostname = more.hostname;
            }
            inputs.push(facts);
        }
        Ok(ResultsEnd { inputs, names, users: UsersOverTime::of(&users) })
    }

    /// The input that is furthest behind, and its latest end so far. Inputs that were read completely and the input `but` are
    /// ignored.
    fn most_delayed(&self, but: Option<usize>) -> Option<(usize, Nanos)> {
        let going = self.sources.iter().enumerate().filter(|(at, source)| !source.ended && Some(*at) != but);
        going.map(|(at, source)| (at, source.latest_end)).min_by_key(|(_, end)| *end)
    }

    /// Computes the totals in one reading. Calls `see` with each request that is included in the totals; its times count from
    /// the origin.
    ///
    /// The start of the run is that of the earliest sample, which is known only at the end. If it differs from the expected
    /// start, the totals start whole seconds before the expected start, and a window was applied at the wrong time.
    /// [`aggregate_inputs`] reads files again in this case.
    ///
    /// # Errors
    /// As for [`Results::read`].
    pub fn add_up(
        self,
        settings: &AggregateSettings,
        see: impl FnMut(&Sample<'_>),
        progress: &mut dyn FnMut(u64),
    ) -> Result<ReplayedRun, ResultsError> {
        Ok(self.aggregate(settings, see, progress)?.into_replay())
    }

    /// Reads and aggregates all samples.
    fn aggregate(
        self,
        settings: &AggregateSettings,
        mut see: impl FnMut(&Sample<'_>),
        progress: &mut dyn FnMut(u64),
    ) -> Result<Aggregated, ResultsError> {
        let (start_s, start_known, only_actual_starts) =
            (self.start_s, self.start_known, self.only_actual_starts());
        let window = settings.window_s.map(|window| self.instants(window));
        let origin_ms = self.wall_anchor_ms();
        let aggregator = Aggregator::new(
            self.labels.clone(),
            TotalsSettings { only_actual_starts, apdex: settings.apdex, window },
        );
        let aggregator = std::cell::RefCell::new(aggregator);
        let mut sample = |sample: &Sample<'_>| {
            let mut aggregator = aggregator.borrow_mut();
            if aggregator.add(sample) {
                see(sample);
            }
            // The closed second is not used, because histograms are not needed.
            while let Some(second) = aggregator.next_closed() {
                aggregator.recycle(second);
            }
        };
        let mut arrival = |arrival: &ArrivalRecord| aggregator.borrow_mut().offer(arrival.scheduled);
        let end =
            self.read_with_visitor(&mut Visitor { sample: &mut sample, arrival: &mut arrival }, progress)?;
        let mut aggregator = aggregator.into_inner();
        aggregator.close_all();
        Ok(Aggregated { aggregator, end, origin_ms, start_s, start_known, only_actual_starts })
    }

    /// The start of the run in ms since 1970, as far as it is known before reading.
    #[must_use]
    pub fn start_ms(&self) -> i64 {
        self.wall_anchor_ms().saturating_add_unsigned(self.start_s * 1_000)
    }
}

/// The totals of all samples, before times are converted.
struct Aggregated {
    aggregator: Aggregator,
    end: ResultsEnd,
    origin_ms: i64,
    /// The expected start of the run in seconds from the origin.
    start_s: u64,
    start_known: bool,
    only_actual_starts: bool,
}

impl Aggregated {
    /// The start of the run in ms since 1970. It is the start of the earliest sample, unless it is known otherwise.
    fn true_start_ms(&self) -> i64 {
        let first = self.aggregator.first_start().filter(|_| !self.start_known);
        let ms = first.map_or(self.start_s * 1_000, |first| first.0 / 1_000_000);
        self.origin_ms.saturating_add_unsigned(ms)
    }

    /// The totals, with times that count from the start of the run.
    fn into_replay(self) -> ReplayedRun {
        let Aggregated { aggregator, mut end, origin_ms, start_s, start_known, only_actual_starts } = self;
        let start_s = match aggregator.first_start() {
            // Seconds were divided according to the expected start, so times can only be moved by whole seconds.
            Some(first) if !start_known => first.second(),
            _ => start_s,
        };
        let mut totals = aggregator.finish(Vec::new());
        totals.users = std::mem::take(&mut end.users);
        totals.name_groups(&end.names);
        if only_actual_starts {
            sort_groups(&mut totals.groups);
        }
        totals.move_origin(start_s);
        let start_ns = Nanos::from_secs(start_s).0;
        for (first, last) in end.inputs.iter_mut().filter_map(|facts| facts.ends.as_mut()) {
            (*first, *last) = (*first - start_ns, *last - start_ns);
        }
        ReplayedRun {
            totals,
            end: SamplesEnd {
                samples: end.inputs.iter().map(|facts| facts.samples).sum(),
                cut_at: end.inputs.iter().find_map(|facts| facts.cut_at),
            },
            names: end.names,
            wall_anchor_ms: origin_ms.saturating_add_unsigned(start_s * 1_000),
            inputs: end.inputs,
        }
    }
}

#[cfg(test)]
mod tests;
