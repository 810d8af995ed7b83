//! The results of one test, from any number of files, as one stream of samples.
//!
//! A file is a JTL in CSV (with or without names of columns) or XML, gzipped or packed with Zstandard or neither, a stream
//! of the same, or a run directory of ours; its bytes tell which. Several are what several generators of one test wrote:
//! they are read side by side, so that the samples come in the order of their ends, roughly, as they stand in one file.
//!
//! Instants count from an origin that is known before the first sample is: a day before the first row, because one further
//! down may have started earlier. [`Results::add_up`] moves them to the run's start at the end.

mod columns;
mod facts;
mod input;
mod replay_run_dir;
mod run;
mod source;
mod unpack;
mod xml;

use rustc_hash::FxHashMap;

pub use facts::{BAD_ROWS_NAMED, InputFacts};
pub use input::{ReadSettings, ResultsError, ResultsFrom, ResultsInput};
pub use unpack::Packing;

pub(crate) use input::Sinks;

use crate::aggregator::Aggregator;
use crate::aggregator_settings::AggregatorSettings;
use crate::aggregator_settings::ApdexLimits;
use crate::arrival::ArrivalRecord;
use crate::labels::Labels;
use crate::replay::Replay;
use crate::run_names::{GroupName, RunNames};
use crate::sample::{Nanos, Sample};
use crate::samples_file::SamplesEnd;
use source::Source;

/// How long before the first row a sample may have started, in s: a day.
const BEFORE_S: u64 = 86_400;

/// How far ahead of the others a file is read, in ns.
const AHEAD_NS: u64 = 100_000_000;

/// How they are added up.
#[derive(Debug, Clone, Copy, Default)]
pub struct AddUpSettings {
    /// What satisfies and what is tolerated.
    pub apdex: ApdexLimits,
    /// In seconds from the run's start: samples that start from the first on, and before the second, count. `None` for
    /// all.
    pub window_s: Option<(f64, f64)>,
}

/// Opened results, ready to be read once.
pub struct Results {
    sources: Vec<Source>,
    labels: Labels,
    origin_ns: i64,
    /// From the origin to the run's start, as far as that is known, in s.
    start_s: u64,
    /// Whether the start is surely that.
    start_known: bool,
}

/// What reading found beside the samples.
#[derive(Debug, Clone)]
pub struct ResultsEnd {
    /// Of each input.
    pub inputs: Vec<InputFacts>,
    /// The names in them; those of the groups of a CSV only where they, or all columns, were read.
    pub names: RunNames,
}

impl Results {
    /// Looks at the inputs.
    ///
    /// # Errors
    /// One of them cannot be read, or is nothing that is understood.
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
            // A run knows its own start.
            (Some(anchor_ns), _) => (anchor_ns, 0),
            (None, Some(first_ns)) => (first_ns.saturating_sub_unsigned(BEFORE_S * 1_000_000_000), BEFORE_S),
            (None, None) => (0, 0),
        };
        let start_known = alone.is_some() || start_ns.is_some();
        Ok(Results { sources, labels, origin_ns, start_s, start_known })
    }

    /// The labels, which fill while the samples are read.
    #[must_use]
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// What stamps count from, in ms since 1970.
    #[must_use]
    pub const fn wall_anchor_ms(&self) -> i64 {
        self.origin_ns / 1_000_000
    }

    /// Size of the files in bytes, packed as they are; `None` when one is a stream.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.sources.iter().map(|source| source.bytes).sum()
    }

    /// Whether every input has one clock, in whole ms: then response times are service times.
    #[must_use]
    pub fn one_clock(&self) -> bool {
        self.sources.iter().all(|source| source.run_anchor_ns().is_none())
    }

    /// Whether the start of the run is known before everything is read.
    pub(crate) const fn start_is_known(&self) -> bool {
        self.start_known
    }

    /// The start of the run, as far as it is known, from the origin.
    pub(crate) const fn start(&self) -> Nanos {
        Nanos::from_secs(self.start_s)
    }

    /// The instants of a window in seconds from the start of the run, as far as that is known.
    #[must_use]
    pub fn instants(&self, (from_s, to_s): (f64, f64)) -> (Nanos, Nanos) {
        let at = |s: f64| self.start() + (s * 1e9).round() as u64;
        (at(from_s), at(to_s))
    }

    /// The coarsest step of the inputs' clocks in ns.
    #[must_use]
    pub fn tick_ns(&self) -> u64 {
        self.sources.iter().map(|source| source.facts.form.tick_ns()).max().unwrap_or(1)
    }

    /// Calls `see` with every sample, and `progress` now and then with the bytes read so far.
    ///
    /// # Errors
    /// An input cannot be read further, or holds nothing that can be understood.
    pub fn read(
        self,
        see: &mut dyn FnMut(&Sample<'_>),
        progress: &mut dyn FnMut(u64),
    ) -> Result<ResultsEnd, ResultsError> {
        self.read_into(&mut Sinks { sample: see, arrival: &mut |_| {} }, progress)
    }

    /// Tells arrivals, too.
    pub(crate) fn read_into(
        mut self,
        sinks: &mut Sinks<'_>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<ResultsEnd, ResultsError> {
        let several = self.sources.len() > 1;
        let mut groups = MergedGroups::default();
        // The one that is least far is read next, until it is ahead of the others.
        while let Some((at, _)) = self.least_far(None) {
            let until = self.least_far(Some(at)).map_or(Nanos::MAX, |(_, end)| end + AHEAD_NS);
            // The users of several generators are users of one test.
            let others = self.sources.iter().enumerate().filter(|(other, _)| *other != at);
            let others = others.fold(0u32, |users, (_, source)| users.saturating_add(source.users));
            let source = &mut self.sources[at];
            let advanced = if several {
                let mut sample = |sample: &Sample<'_>| {
                    let users_all = sample.users_all.saturating_add(others);
                    (sinks.sample)(&Sample { users_all, group: groups.number(at, sample.group), ..*sample });
                };
                let mut sinks = Sinks { sample: &mut sample, arrival: &mut *sinks.arrival };
                source.advance(self.origin_ns, until, &mut sinks)
            } else {
                source.advance(self.origin_ns, until, sinks)
            };
            advanced.map_err(|error| ResultsError { name: source.facts.name.clone(), source: error })?;
            progress(self.sources.iter().map(|source| source.read.get()).sum());
        }
        let mut names = RunNames::default();
        let mut inputs = Vec::new();
        for (at, source) in self.sources.into_iter().enumerate() {
            let (facts, more) = source.finish();
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
        Ok(ResultsEnd { inputs, names })
    }

    /// The input that is to be read further and has come least far, and how far; `but` is passed over.
    fn least_far(&self, but: Option<usize>) -> Option<(usize, Nanos)> {
        let going = self.sources.iter().enumerate().filter(|(at, source)| !source.ended && Some(*at) != but);
        going.map(|(at, source)| (at, source.latest_end)).min_by_key(|(_, end)| *end)
    }

    /// Adds everything up; `see` is called with each request that counts, whose instants count from the origin.
    ///
    /// Where the start of the run turns out to be another than it seemed, and a window was asked for, the window was not
    /// the one that was meant: [`Replay::wall_anchor_ms`] differs from [`Results::start_ms`] then, and the results have to
    /// be read again with the right [`ReadSettings::start_ms`].
    ///
    /// # Errors
    /// As for [`Results::read`].
    pub fn add_up(
        self,
        settings: &AddUpSettings,
        mut see: impl FnMut(&Sample<'_>),
        progress: &mut dyn FnMut(u64),
    ) -> Result<Replay, ResultsError> {
        let start_s = self.start_s;
        let one_clock = self.one_clock();
        let window = settings.window_s.map(|window| self.instants(window));
        let (origin_ms, start_known) = (self.wall_anchor_ms(), self.start_known);
        let book = Aggregator::new(
            self.labels.clone(),
            AggregatorSettings { one_clock, apdex: settings.apdex, window },
        );
        let book = std::cell::RefCell::new(book);
        let mut sample = |sample: &Sample<'_>| {
            let mut book = book.borrow_mut();
            if book.add(sample) {
                see(sample);
            }
            // Nobody waits for the histograms of a second here.
            while let Some(second) = book.next_closed() {
                book.recycle(second);
            }
        };
        let mut arrival = |arrival: &ArrivalRecord| book.borrow_mut().offer(arrival.scheduled);
        let end = self.read_into(&mut Sinks { sample: &mut sample, arrival: &mut arrival }, progress)?;
        let mut book = book.into_inner();
        book.close_all();
        let mut totals = book.finish(Vec::new());
        totals.name_groups(&end.names);
        let start_s = if start_known { start_s } else { totals.first_second().unwrap_or(start_s) };
        totals.move_origin(start_s);
        let mut end = end;
        for (first, last) in end.inputs.iter_mut().filter_map(|facts| facts.ends.as_mut()) {
            let start_ns = Nanos::from_secs(start_s).0;
            (*first, *last) = (*first - start_ns, *last - start_ns);
        }
        let cut_at = end.inputs.iter().find_map(|facts| facts.cut_at);
        let samples = end.inputs.iter().map(|facts| facts.samples).sum();
        Ok(Replay {
            totals,
            end: SamplesEnd { samples, cut_at },
            names: end.names,
            wall_anchor_ms: origin_ms.saturating_add_unsigned(start_s * 1_000),
            inputs: end.inputs,
        })
    }

    /// The run's start in ms since 1970, as far as it is known before everything is read.
    #[must_use]
    pub fn start_ms(&self) -> i64 {
        self.wall_anchor_ms().saturating_add_unsigned(self.start_s * 1_000)
    }
}

/// The groups of several inputs, each of which numbers its own from 0: a number for each that a sample is of.
#[derive(Default)]
struct MergedGroups(FxHashMap<(usize, u32), u32>);

impl MergedGroups {
    fn number(&mut self, input: usize, group: u32) -> u32 {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        *self.0.entry((input, group)).or_insert(next)
    }

    /// Puts the groups of an input into the names of all.
    fn name(&self, input: usize, groups: &[GroupName], apart: &[u32], names: &mut RunNames) {
        names.groups.resize(self.0.len(), GroupName { name: String::new(), number: 0 });
        for (group, name) in (0..).zip(groups) {
            let Some(number) = self.0.get(&(input, group)) else { continue };
            names.groups[*number as usize] = name.clone();
            if apart.contains(&group) {
                names.set_up_and_tear_down.push(*number);
            }
        }
    }
}

#[cfg(test)]
mod tests;
