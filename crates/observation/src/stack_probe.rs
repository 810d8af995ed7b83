//! A probe that records the stacks of a process at random times.

use std::sync::Arc;
use std::time::Duration;

use busyhour_observe::{Metric, Probe, ProbeError, Reading};
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
    dumps: u64,
    dump_ns: u64,
    stopped_ns: u64,
}

impl StackProbe {
    pub(crate) fn new(reader: Box<dyn StackReader>, file: Arc<StackFile>, seed: u64) -> StackProbe {
        StackProbe { reader, file, random: seed, dumps: 0, dump_ns: 0, stopped_ns: 0 }
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
        let before = reading.clock().now();
        let found = self.reader.read()?;
        let took_ns = reading.clock().now().0.saturating_sub(before.0);
        let dump = StackDump {
            source: self.reader.source(),
            time_ns: before.0,
            took_ns,
            stopped_ns: found.stopped_ns,
            threads: &found.threads,
        };
        let lost = self.file.write(&dump).map_err(|source| ProbeError::read(self.file.path(), source))?;
        self.dumps += 1;
        self.dump_ns += took_ns;
        for (metric, value) in [(&DUMPS, self.dumps as f64), (&DUMP_SECONDS, self.dump_ns as f64 / 1e9)] {
            let series = reading.series(metric, &[]);
            reading.set(series, value);
        }
        let series = reading.series(&LOST, &[]);
        reading.set(series, lost as f64);
        match found.stopped_ns {
            Some(stopped_ns) => {
                self.stopped_ns += stopped_ns;
                let series = reading.series(&STOPPED_SECONDS, &[]);
                reading.set(series, self.stopped_ns as f64 / 1e9);
            }
            None => reading.unavailable(&STOPPED_SECONDS, "the JVM does not publish the time of its stops"),
        }
        Ok(())
    }
}

impl std::fmt::Debug for StackProbe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StackProbe").field("source", &self.reader.source()).finish_non_exhaustive()
    }
}
