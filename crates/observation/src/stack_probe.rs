//! A probe that records the stacks of a process at random times.

use std::sync::Arc;
use std::time::Duration;

use busyhour_observe::{Metric, Probe, ProbeError, Reading};
use busyhour_program::clock::Clock;
use busyhour_stacks::{SampledThread, StackDump};

use crate::stack_file::StackFile;

static DUMPS: Metric = Metric::counter("stack_dumps_total", "Dumps of the stacks of all threads.");
static LOST: Metric = Metric::counter(
    "stack_dumps_lost_total",
    "Dumps that were not stored, because the file of stacks had reached its limit.",
);
static DUMP_SECONDS: Metric =
    Metric::counter("stack_dump_seconds_total", "Time from the request of a dump to its end.");
static STOPPED_SECONDS: Metric = Metric::counter(
    "stack_dump_stopped_seconds_total",
    "Time for which the application was stopped during dumps, for any reason.",
);

static SKIPPED: Metric = Metric::counter(
    "stack_dumps_skipped_total",
    "Dumps that were skipped, so that the application is stopped for at most 2 % of the time.",
);

/// The longest share of the time for which dumps stop the application.
const STOPPED_SHARE_MAX: f64 = 0.02;

/// The part of the interval that a dump is delayed at most.
const DELAY_SHARE: f64 = 0.8;

/// The longest delay.
const DELAY_MAX: Duration = Duration::from_millis(800);

/// The threads of a process at one time.
pub(crate) struct StackReading {
    /// The threads, with names without secrets.
    pub(crate) threads: Vec<SampledThread>,
    /// Time for which the application was stopped meanwhile, in ns; `None` if it is unknown.
    pub(crate) stopped_ns: Option<u64>,
}

/// Reads the stacks of one process.
pub(crate) trait StackReader: Send {
    /// The name of the source, such as `stacks:jvm:4711`.
    fn source(&self) -> &str;

    /// Reads the stacks of all threads now.
    ///
    /// # Errors
    /// The process does not answer.
    fn read(&mut self) -> Result<StackReading, ProbeError>;
}

/// Reads the stacks of a process once per interval, at a random time within the interval, so that dumps are not in step with the load.
pub(crate) struct StackProbe {
    reader: Box<dyn StackReader>,
    file: Arc<StackFile>,
    random: u64,
    totals: Totals,
    /// Earlier dumps would stop the application for too large a share of the time.
    not_before_ns: u64,
}

/// Sums over all dumps.
#[derive(Default)]
struct Totals {
    dumps: u64,
    skipped: u64,
    dump_ns: u64,
    stopped_ns: u64,
}

impl StackProbe {
    pub(crate) fn new(reader: Box<dyn StackReader>, file: Arc<StackFile>, seed: u64) -> StackProbe {
        StackProbe { reader, file, random: seed, totals: Totals::default(), not_before_ns: 0 }
    }

    /// Reads and stores a dump; returns the number of dumps that were not stored.
    fn dump(&mut self, clock: &Clock) -> Result<(u64, Option<u64>), ProbeError> {
        let before = clock.now();
        let found = self.reader.read()?;
        let took_ns = clock.now().0.saturating_sub(before.0);
        let dump = StackDump {
            source: self.reader.source(),
            time_ns: before.0,
            took_ns,
            stopped_ns: found.stopped_ns,
            threads: &found.threads,
        };
        let lost = self.file.write(&dump).map_err(|source| ProbeError::read(self.file.path(), source))?;
        let stopped_ns = found.stopped_ns.unwrap_or(took_ns);
        self.not_before_ns = before.0.saturating_add((stopped_ns as f64 / STOPPED_SHARE_MAX) as u64);
        self.totals.dumps += 1;
        self.totals.dump_ns += took_ns;
        self.totals.stopped_ns += stopped_ns;
        Ok((lost, found.stopped_ns))
    }

    /// A number that is uniform between 0 and 1 (SplitMix64).
    fn uniform(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl Probe for StackProbe {
    fn source(&self) -> &str {
        self.reader.source()
    }

    fn interval_min(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn may_block(&self) -> bool {
        true
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let delay = reading.interval().mul_f64(DELAY_SHARE * self.uniform()).min(DELAY_MAX);
        if !self.file.wait(delay) {
            return Ok(());
        }
        let mut values: Vec<(&'static Metric, f64)> = Vec::new();
        if reading.clock().now().0 < self.not_before_ns {
            self.totals.skipped += 1;
        } else {
            let (lost, stopped_ns) = self.dump(reading.clock())?;
            values.push((&LOST, lost as f64));
            match stopped_ns {
                Some(_) => values.push((&STOPPED_SECONDS, self.totals.stopped_ns as f64 / 1e9)),
                None => {
                    reading.unavailable(&STOPPED_SECONDS, "the JVM does not publish the time of its stops");
                }
            }
        }
        values.extend([
            (&DUMPS, self.totals.dumps as f64),
            (&SKIPPED, self.totals.skipped as f64),
            (&DUMP_SECONDS, self.totals.dump_ns as f64 / 1e9),
        ]);
        for (metric, value) in values {
            let series = reading.series(metric, &[]);
            reading.set(series, value);
        }
        Ok(())
    }
}

impl std::fmt::Debug for StackProbe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StackProbe").field("source", &self.reader.source()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use busyhour_observe::{ProbeRunner, SeriesStore};
    use busyhour_stacks::{SampledState, StackRecord};

    use super::*;

    /// A process whose dumps stop it for 40 ms.
    struct Slow(Clock);

    impl StackReader for Slow {
        fn source(&self) -> &str {
            "stacks:jvm:7"
        }

        fn read(&mut self) -> Result<StackReading, ProbeError> {
            self.0.advance(Duration::from_millis(40));
            let thread = SampledThread {
                name: "main".to_owned(),
                state: SampledState::Runnable,
                frames: vec!["Shop.main".to_owned()],
                waits: None,
            };
            Ok(StackReading { threads: vec![thread], stopped_ns: Some(40_000_000) })
        }
    }

    #[test]
    fn dumps_stop_the_application_for_a_small_share_of_the_time() {
        let dir = tempfile::tempdir().unwrap();
        let file = Arc::new(StackFile::create(dir.path()).unwrap());
        let clock = Clock::manual(0);
        let store = SeriesStore::in_memory();
        let probe = StackProbe::new(Box::new(Slow(clock.clone())), file.clone(), 1);
        let mut runner = ProbeRunner::with_interval(&store, Box::new(probe), Duration::from_millis(100));
        for _ in 0..45 {
            runner.read(&clock);
            clock.advance(Duration::from_millis(100));
        }
        file.finish().unwrap();
        runner.read(&clock);
        let stored = std::fs::read(file.path()).unwrap();
        let record = StackRecord::read(&stored[..]).unwrap();
        // 40 ms in 2 s.
        assert!((2..=3).contains(&record.dumps.len()), "{}", record.dumps.len());
        assert_eq!(record.text(record.sources()[0]), "stacks:jvm:7");
    }
}
