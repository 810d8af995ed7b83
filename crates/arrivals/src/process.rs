//! An arrival process: its stages and their expected numbers of arrivals.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::generate::even;
use crate::law::Law;
use crate::schedule::Schedule;
use crate::stage::{Process, Rate, Replay, Stage};

/// An arrival process: a sequence of stages. The crate's documentation describes the notation.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrivalProcess {
    stages: Arc<[Stage]>,
}

/// Serializes the process in its notation, which contains the names of replayed files but not their start times.
impl Serialize for ArrivalProcess {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ArrivalProcess {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ArrivalProcess, D::Error> {
        let text = String::deserialize(deserializer)?;
        ArrivalProcess::parse(&text).map_err(|error| serde::de::Error::custom(error.render(&text)))
    }
}

/// A stage before its start in the process is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) process: Process,
    pub(crate) rate_begin: Rate,
    pub(crate) rate_end: Rate,
    pub(crate) duration_ns: u64,
}

impl ArrivalProcess {
    /// A process with these arrivals, in nanoseconds, which ends at `end_ns`. The notation of the process contains `name` as the
    /// source of the arrivals; parsing the notation does not restore the arrivals.
    pub fn from_times(name: &str, mut arrivals_ns: Vec<u64>, end_ns: u64) -> ArrivalProcess {
        arrivals_ns.sort_unstable();
        let end_ns = end_ns.max(arrivals_ns.last().map_or(0, |last| last.saturating_add(1)));
        let replay = Replay {
            file: name.to_owned(),
            speed: 1.0,
            limit_ns: Some(end_ns),
            offsets_ns: Some(arrivals_ns.into()),
        };
        let (process, rate) = (Process::Replay(replay), Rate::ZERO);
        ArrivalProcess::assemble([Piece { process, rate_begin: rate, rate_end: rate, duration_ns: end_ns }])
    }

    /// Concatenates pieces. Pieces of length 0 are removed, except replays whose file has not been read yet.
    pub(crate) fn assemble(pieces: impl IntoIterator<Item = Piece>) -> ArrivalProcess {
        ArrivalProcess::assemble_from(0.0, pieces)
    }

    /// Concatenates pieces. If the first even stage continues an earlier one, its first arrival is at the time at which Λ has
    /// increased by `phase`.
    pub(crate) fn assemble_from(mut phase: f64, pieces: impl IntoIterator<Item = Piece>) -> ArrivalProcess {
        let mut stages: Vec<Stage> = Vec::new();
        let mut begin_ns = 0_u64;
        let mut cumulative_begin = 0.0;
        for piece in pieces {
            if piece.duration_ns == 0 && !matches!(piece.process, Process::Replay(_)) {
                continue;
            }
            let mut stage = Stage {
                process: piece.process,
                rate_begin: piece.rate_begin,
                rate_end: piece.rate_end,
                begin_ns,
                end_ns: begin_ns.saturating_add(piece.duration_ns),
                cumulative_begin,
                phase: 0.0,
            };
            let expected = stage.expected_until(stage.duration_ns());
            match stage.process {
                Process::Even { count: None } => {
                    stage.phase = phase;
                    phase = even::phase_after(phase, expected);
                }
                Process::Pause => {}
                _ => phase = 0.0,
            }
            begin_ns = stage.end_ns;
            cumulative_begin += expected;
            stages.push(stage);
        }
        ArrivalProcess { stages: stages.into() }
    }

    /// The stages in order of time.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// End of the last stage in nanoseconds.
    pub fn duration_ns(&self) -> u64 {
        self.stages.last().map_or(0, |stage| stage.end_ns)
    }

    /// Λ(end): the expected number of arrivals in the whole process.
    pub fn expected_count(&self) -> f64 {
        self.cumulative(self.duration_ns())
    }

    /// The rate λ(t) in arrivals per second; 0 after the end. For an MMPP it is the mean over its states, for a replay the mean
    /// over the stage.
    pub fn rate_at(&self, at_ns: u64) -> f64 {
        let stage = &self.stages[..];
        let next = stage.partition_point(|stage| stage.begin_ns <= at_ns);
        match stage[..next].last() {
            Some(stage) if at_ns < stage.end_ns => stage.rate_at(at_ns - stage.begin_ns),
            _ => 0.0,
        }
    }

    /// Λ(t): the expected number of arrivals in [0, t), which never decreases. For a replay it is the exact number.
    pub fn cumulative(&self, at_ns: u64) -> f64 {
        let next = self.stages.partition_point(|stage| stage.begin_ns <= at_ns);
        self.stages[..next].last().map_or(0.0, |stage| {
            stage.cumulative_begin + stage.expected_until(at_ns.min(stage.end_ns) - stage.begin_ns)
        })
    }

    /// The law of all stages with arrivals; [`Law::Mixed`] if they differ.
    pub fn law(&self) -> Law {
        let mut laws = self.stages.iter().filter_map(Stage::law);
        let Some(first) = laws.next() else { return Law::NoArrivals };
        if laws.all(|law| law == first) { first } else { Law::Mixed }
    }

    /// An iterator over the arrivals. The same seed yields the same arrivals on every machine.
    ///
    /// A replay whose file has not been [read](ArrivalProcess::resolve) has no arrivals.
    pub fn schedule(&self, seed: u64) -> Schedule {
        Schedule::new(Arc::clone(&self.stages), seed)
    }

    /// The name of the first replayed file that has not been read yet.
    pub fn unresolved(&self) -> Option<&str> {
        self.stages.iter().find_map(|stage| match &stage.process {
            Process::Replay(replay) if replay.offsets_ns.is_none() => Some(replay.file.as_str()),
            _ => None,
        })
    }

    /// Reads the replayed files. `read` returns the start times in a file in nanoseconds, in any order and relative to any
    /// origin. The stages after a replay are moved to its end.
    pub fn resolve<E>(&mut self, mut read: impl FnMut(&str) -> Result<Vec<u64>, E>) -> Result<(), E> {
        let mut pieces = Vec::with_capacity(self.stages.len());
        for stage in self.stages.iter() {
            let mut piece = Piece {
                process: stage.process.clone(),
                rate_begin: stage.rate_begin,
                rate_end: stage.rate_end,
                duration_ns: stage.duration_ns(),
            };
            if let Process::Replay(replay) = &mut piece.process {
                if replay.offsets_ns.is_none() {
                    replay.set_start_times(read(&replay.file)?);
                }
                piece.duration_ns = replay.duration_ns();
            }
            pieces.push(piece);
        }
        *self = ArrivalProcess::assemble(pieces);
        Ok(())
    }
}
