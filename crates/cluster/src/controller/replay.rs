//! Passes the samples in the records of agents to the recorder of the run, in the order of time.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use busyhour_record::{SamplesError, SamplesReader};
use busyhour_sample::{ArrivalRecord, BatchWriter, LabelId, Labels, Nanos, Sample, SampleTimes, Snapshot};

use super::restored::{record, restore};
use crate::clock_table::ClockTable;

/// Time in ns by which the record of one agent may be read ahead of the others.
const AHEAD_NS: u64 = 200_000_000;

/// Time in ns by which the segments of one core can be behind those of others. Cores send their samples every 100 to 200 ms.
const BEHIND_NS: u64 = 5_000_000_000;

/// The samples of one agent.
pub(super) enum Source {
    /// Its record.
    Record(Box<SamplesReader<BufReader<File>>>),
    /// The seconds that it sent, if its record is lost.
    Seconds(VecDeque<Snapshot>),
}

impl Source {
    /// Opens the record of an agent.
    ///
    /// # Errors
    /// The record cannot be read.
    pub(super) fn record(path: &Path) -> Result<Source, SamplesError> {
        Ok(Source::Record(Box::new(SamplesReader::open(path)?)))
    }
}

/// The replay of one agent's samples.
pub(super) struct Replay {
    source: Source,
    /// One writer for each core of the agent; empty when everything is recorded.
    writers: Vec<BatchWriter>,
    clock: ClockTable,
    /// The correction of the times of arrivals. It is that at the start: the schedule was moved by it as a whole, and the lateness of
    /// an arrival is the difference of two times of the same clock.
    schedule_ns: i64,
    /// For each label of the record, the label of the run.
    labels: Vec<LabelId>,
    /// The latest end so far.
    reached: Nanos,
    pub(super) samples: u64,
    /// The reason why the rest of the record is missing.
    pub(super) problem: Option<String>,
}

impl Replay {
    /// Replays a source. `schedule_ns` is the offset by which the agent's schedule was moved.
    pub(super) fn new(
        source: Source,
        clock: ClockTable,
        schedule_ns: i64,
        writers: Vec<BatchWriter>,
    ) -> Replay {
        Replay {
            schedule_ns,
            source,
            writers,
            clock,
            labels: Vec::new(),
            reached: Nanos::ZERO,
            samples: 0,
            problem: None,
        }
    }

    /// Whether everything is recorded.
    fn is_over(&self) -> bool {
        self.writers.is_empty()
    }

    /// Records the next segment of the record, or the next second.
    fn step(&mut self, run_labels: &Labels) {
        if self.record_next(run_labels) {
            // A core that is silent must not hold up the others.
            let passed = Nanos(self.reached.0.saturating_sub(BEHIND_NS));
            self.writers.iter_mut().for_each(|writer| writer.flush(passed));
        } else {
            self.writers.clear();
        }
    }

    /// Returns false if there is nothing more.
    fn record_next(&mut self, run_labels: &Labels) -> bool {
        let Replay { source, writers, clock, schedule_ns, labels, reached, samples, problem } = self;
        let reader = match source {
            Source::Record(reader) => reader,
            Source::Seconds(seconds) => {
                let (Some(second), Some(writer)) = (seconds.pop_front(), writers.first_mut()) else {
                    return false;
                };
                *samples += restore(&second, run_labels, writer);
                *reached = Nanos::from_secs(second.second + 1);
                return true;
            }
        };
        let known = reader.labels().clone();
        let count = writers.len();
        let shared = RefCell::new(&mut *writers);
        let mut see = |core: usize, sample: &Sample<'_>| {
            let label = label_of(sample.label, labels, &known, run_labels);
            let times = corrected(&sample.times, clock);
            *reached = times.end.max(*reached);
            *samples += 1;
            record(&mut shared.borrow_mut()[core % count], &Sample { label, times, ..*sample });
        };
        let mut see_arrival = |core: usize, arrival: &ArrivalRecord| {
            let arrival = arrival.moved(|at| moved(at, *schedule_ns));
            let at = arrival.started_at().unwrap_or(arrival.scheduled);
            shared.borrow_mut()[core % count].record_arrival(&arrival, at);
        };
        let more = reader.next_segment(&mut see, &mut see_arrival);
        for change in reader.take_user_changes() {
            writers[0].record_users(change.change, Nanos::from_secs(change.second));
        }
        match more {
            Ok(true) => return true,
            Ok(false) => {
                *problem = reader.end().cut_at.map(|_| "its record is cut off at the end".to_owned());
            }
            Err(error) => {
                *problem = Some(format!("its record cannot be read to the end: {error}"));
            }
        }
        false
    }
}

/// Replays all records. The record that is furthest behind is read next.
pub(super) fn replay_all(replays: &mut [Replay], labels: &Labels) {
    loop {
        let going = || replays.iter().enumerate().filter(|(_, replay)| !replay.is_over());
        let Some((at, _)) = going().min_by_key(|(_, replay)| replay.reached) else { return };
        let next = going().filter(|(other, _)| *other != at).map(|(_, replay)| replay.reached).min();
        let until = next.map_or(Nanos::MAX, |next| next + AHEAD_NS);
        let replay = &mut replays[at];
        while !replay.is_over() && replay.reached <= until {
            replay.step(labels);
        }
    }
}

fn label_of(label: LabelId, labels: &mut Vec<LabelId>, known: &Labels, run: &Labels) -> LabelId {
    let at = label.0 as usize;
    // Labels are added in the order of the record, so that tables list them in the order of the run.
    while labels.len() <= at && labels.len() < known.len() {
        labels.push(run.intern(&known.name(LabelId(labels.len() as u32))));
    }
    labels.get(at).copied().unwrap_or_else(|| run.intern(&known.name(label)))
}

/// The times by the clock of the run. Durations do not change.
fn corrected(times: &SampleTimes, clock: &ClockTable) -> SampleTimes {
    let correction = clock.correction_ns(signed(times.start));
    SampleTimes {
        intended: moved(times.intended, correction),
        start: moved(times.start, correction),
        end: moved(times.end, correction),
        ..*times
    }
}

fn signed(at: Nanos) -> i64 {
    i64::try_from(at.0).unwrap_or(i64::MAX)
}

fn moved(at: Nanos, correction_ns: i64) -> Nanos {
    Nanos(at.0.saturating_add_signed(correction_ns.saturating_neg()))
}
