//! The whole of what is asked for: stages, and what can be known of them without a random number.

use std::str::FromStr;
use std::sync::Arc;

use crate::error::ParseError;
use crate::generate::even;
use crate::notation;
use crate::schedule::Schedule;
use crate::stage::{Process, Rate, Replay, Stage};

/// What arrivals are asked for: stages one after another. See the crate's page for the text.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrivalProcess {
    stages: Arc<[Stage]>,
}

/// What the gaps between arrivals should look like once time is measured by Λ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Independent exponential gaps.
    Poisson,
    /// Equal gaps.
    Even,
    /// One uniform point per cell: gaps are the sum of two uniforms, with CoV √(1/6) ≈ 0.41.
    Jittered,
    /// Independent gaps with this coefficient of variation.
    Renewal {
        /// Standard deviation over mean.
        cov: f64,
    },
    /// Two rates taking turns: more than Poisson at every scale.
    Bursty,
    /// Whatever a file had.
    Replay,
    /// Independent points whose number is fixed: Poisson gaps, but counts that cannot vary as a Poisson process's.
    FixedCount,
    /// Stages of different laws: each has to be judged by itself.
    Mixed,
    /// Pauses only.
    NoArrivals,
}

/// A stage before it has its place in time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) process: Process,
    pub(crate) rate_begin: Rate,
    pub(crate) rate_end: Rate,
    pub(crate) duration_ns: u64,
}

impl ArrivalProcess {
    /// Reads the text form.
    pub fn parse(text: &str) -> Result<ArrivalProcess, ParseError> {
        notation::parse(text, None)
    }

    /// Reads the text form when its length is given elsewhere: a last stage without a time lasts `last_ns`.
    pub fn parse_for(text: &str, last_ns: u64) -> Result<ArrivalProcess, ParseError> {
        notation::parse(text, Some(last_ns))
    }

    /// A process with these arrivals, in nanoseconds; it is over at `end_ns`. `name` stands for their source in its
    /// text, which cannot be read back.
    pub fn listed(name: &str, mut arrivals_ns: Vec<u64>, end_ns: u64) -> ArrivalProcess {
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

    /// Puts the pieces one after another. Pieces of no length disappear, save files that were not read yet.
    pub(crate) fn assemble(pieces: impl IntoIterator<Item = Piece>) -> ArrivalProcess {
        ArrivalProcess::assemble_from(0.0, pieces)
    }

    /// The same where even arrivals go on: the expected number grows by `phase` until the first of them.
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

    /// Λ(end): the expected number of arrivals of the whole.
    pub fn expected_count(&self) -> f64 {
        self.cumulative(self.duration_ns())
    }

    /// λ(t) in arrivals per second; 0 after the end. Of an MMPP the mean over its states, of a replay the mean over
    /// the stage.
    pub fn rate_at(&self, at_ns: u64) -> f64 {
        let stage = &self.stages[..];
        let next = stage.partition_point(|stage| stage.begin_ns <= at_ns);
        match stage[..next].last() {
            Some(stage) if at_ns < stage.end_ns => stage.rate_at(at_ns - stage.begin_ns),
            _ => 0.0,
        }
    }

    /// Λ(t): the expected number of arrivals in [0, t). Never decreases. Of a replay the number itself.
    pub fn cumulative(&self, at_ns: u64) -> f64 {
        let next = self.stages.partition_point(|stage| stage.begin_ns <= at_ns);
        self.stages[..next].last().map_or(0.0, |stage| {
            stage.cumulative_begin + stage.expected_until(at_ns.min(stage.end_ns) - stage.begin_ns)
        })
    }

    /// The law of all stages that have arrivals, or [`Law::Mixed`].
    pub fn law(&self) -> Law {
        let mut laws = self.stages.iter().filter_map(Stage::law);
        let Some(first) = laws.next() else { return Law::NoArrivals };
        if laws.all(|law| law == first) { first } else { Law::Mixed }
    }

    /// The arrivals, generated as they are asked for. The same seed gives the same arrivals on every machine.
    ///
    /// A file that was not [resolved](ArrivalProcess::resolve) has no arrivals.
    pub fn schedule(&self, seed: u64) -> Schedule {
        Schedule::new(Arc::clone(&self.stages), seed)
    }

    /// The name of the first file to replay that was not read yet.
    pub fn unresolved(&self) -> Option<&str> {
        self.stages.iter().find_map(|stage| match &stage.process {
            Process::Replay(replay) if replay.offsets_ns.is_none() => Some(replay.file.as_str()),
            _ => None,
        })
    }

    /// Reads the files to replay: `read` is handed each name and returns the file's stamps in nanoseconds, in any
    /// order and from any origin. Later stages move to the end of the file's stamps.
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
                    replay.take_stamps(read(&replay.file)?);
                }
                piece.duration_ns = replay.duration_ns();
            }
            pieces.push(piece);
        }
        *self = ArrivalProcess::assemble(pieces);
        Ok(())
    }
}

impl FromStr for ArrivalProcess {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<ArrivalProcess, ParseError> {
        ArrivalProcess::parse(text)
    }
}
