//! The probe of a JVM.

use std::time::Duration;

use busyhour_sample::Nanos;
use busyhour_series::{Mark, MarkKind};

use super::allocation::Allocation;
use super::counters::CounterIndex;
use super::identity::JvmIdentity;
use super::locate::{CounterFileLocateError, OpenJvm};
use super::metrics as m;
use super::pauses::PauseTracker;
use super::process::{ProcessError, start_ticks};
use super::quantity::{JvmMetrics, Quantity};
use super::successor::{Successor, Wanted};
use super::watched::WatchedJvms;
use crate::probe::{Probe, ProbeError};
use crate::proc_root::{KeptFile, ProcRoot};
use crate::process_stat::STAT_MAX;
use crate::reading::Reading;
use crate::series_id::SeriesId;

/// Pauses of at least this length are marked, unless [`JvmProbe::with_pause_mark_min`] sets another length.
const PAUSE_MARK_MIN: Duration = Duration::from_millis(10);
/// If the file of a running JVM was deleted, the probe searches for a new one at every 60th reading. A search takes a
/// millisecond.
const LOOK_FOR_FILE_EVERY: u32 = 60;

/// Reads the performance counters of a JVM.
///
/// Reading does not affect the JVM. It needs the JVM's user or root. If the JVM ends, the probe looks for one that starts later with the
/// same command line and user, continues with it and records a mark. Series of counters then restart at 0.
#[derive(Debug)]
pub struct JvmProbe {
    root: ProcRoot,
    source: String,
    pause_mark_min: Duration,
    state: State,
    watched: WatchedJvms,
}

#[derive(Debug)]
enum State {
    Watching(Box<Watched>),
    /// The JVM has ended.
    Waiting(Box<Successor>),
    /// The JVM has ended and cannot be recognised again.
    Ended,
}

#[derive(Debug)]
struct Watched {
    jvm: OpenJvm,
    stat: KeptFile,
    plan: Plan,
    last_read: Nanos,
    /// The creation time, in ms since 1970, of the JVM whose start needs no further mark.
    created_is_marked: Option<u64>,
    /// Readings since the file was deleted.
    readings_without_file: u32,
}

/// The metrics that are read at each reading. Valid until the index of the file changes.
#[derive(Debug)]
struct Plan {
    metrics: JvmMetrics,
    /// One per quantity; declared with its first value.
    series: Vec<Option<SeriesId>>,
    /// The series of `jvm_info` and of the start time.
    fixed: Option<(SeriesId, SeriesId)>,
    allocation: Option<(Allocation, Option<SeriesId>)>,
    pauses: Option<PauseTracker>,
}

impl JvmProbe {
    /// Opens the counters of a process.
    ///
    /// # Errors
    /// The process is not a JVM, publishes no counters or belongs to another user. The error contains advice.
    pub fn open(root: &ProcRoot, pid: u32) -> Result<JvmProbe, CounterFileLocateError> {
        let jvm = OpenJvm::open(root, pid)?;
        let watched = Watched::new(root, jvm, PAUSE_MARK_MIN, Nanos(0));
        Ok(JvmProbe {
            root: root.clone(),
            source: format!("jvm:{pid}"),
            pause_mark_min: PAUSE_MARK_MIN,
            state: State::Watching(Box::new(watched)),
            watched: WatchedJvms::default(),
        })
    }

    /// Keeps the process ID of the JVM in a list while the probe reads it.
    #[must_use]
    pub fn listed_in(mut self, watched: &WatchedJvms) -> JvmProbe {
        self.watched = watched.clone();
        if let Some(pid) = self.pid() {
            self.watched.add(pid);
        }
        self
    }

    /// The process that is being read.
    fn pid(&self) -> Option<u32> {
        match &self.state {
            State::Watching(watched) => Some(watched.jvm.facts.pid),
            State::Waiting(_) | State::Ended => None,
        }
    }

    /// Marks pauses of at least this length; 10 ms by default. Zero marks every interval with a pause.
    #[must_use]
    pub fn with_pause_mark_min(mut self, shortest: Duration) -> JvmProbe {
        self.pause_mark_min = shortest;
        if let State::Watching(watched) = &mut self.state {
            watched.plan = Plan::new(&watched.jvm, shortest);
        }
        self
    }

    /// The name, version and collector of the JVM; `None` after it has ended and before its successor is found.
    #[must_use]
    pub fn identity(&self) -> Option<&JvmIdentity> {
        match &self.state {
            State::Watching(watched) => Some(&watched.jvm.identity),
            State::Waiting(_) | State::Ended => None,
        }
    }

    /// The metrics of the JVM, also those that it does not provide, with the reason. `None` whenever [`Self::identity`] is.
    #[must_use]
    pub fn metrics(&self) -> Option<&JvmMetrics> {
        match &self.state {
            State::Watching(watched) => Some(&watched.plan.metrics),
            State::Waiting(_) | State::Ended => None,
        }
    }

    /// Records the end of the JVM and starts to look for its successor.
    fn ended(&mut self, reading: &mut Reading<'_>, wanted: Wanted, what: String) -> State {
        let now = reading.time();
        reading.mark(Mark { kind: MarkKind::End, from: now, to: now, text: format!("{what} ended") });
        match wanted.command {
            Some(_) => State::Waiting(Box::new(Successor::new(wanted, what))),
            None => State::Ended,
        }
    }
}

impl Probe for JvmProbe {
    fn source(&self) -> &str {
        &self.source
    }

    fn interval_min(&self) -> Duration {
        Duration::from_millis(100)
    }

    /// The `/tmp` of a container may be on a network file system.
    fn may_block(&self) -> bool {
        true
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        if let State::Watching(watched) = &mut self.state {
            if watched.is_alive() {
                return watched.read(&self.root, reading, self.pause_mark_min);
            }
            let wanted = watched.wanted(reading.clock().wall_start_ms());
            let what = watched.title();
            self.watched.remove(watched.jvm.facts.pid);
            self.state = self.ended(reading, wanted, what);
        }
        if let State::Waiting(successor) = &mut self.state {
            let Some(jvm) = successor.find(&self.root) else {
                return Err(successor.waiting());
            };
            let mut watched = Watched::new(&self.root, jvm, self.pause_mark_min, reading.time());
            watched.mark_restart(reading);
            self.watched.add(watched.jvm.facts.pid);
            let result = watched.read(&self.root, reading, self.pause_mark_min);
            self.state = State::Watching(Box::new(watched));
            return result;
        }
        Err(ProbeError::Ended { what: self.source.clone() })
    }
}

impl Drop for JvmProbe {
    fn drop(&mut self) {
        if let Some(pid) = self.pid() {
            self.watched.remove(pid);
        }
    }
}

impl Watched {
    fn new(root: &ProcRoot, jvm: OpenJvm, pause_mark_min: Duration, now: Nanos) -> Watched {
        let stat = KeptFile::new(root.process(jvm.facts.pid, "stat"), STAT_MAX);
        let plan = Plan::new(&jvm, pause_mark_min);
        let created_is_marked = jvm.identity.created_ms;
        Watched { jvm, stat, plan, last_read: now, created_is_marked, readings_without_file: 0 }
    }

    fn title(&self) -> String {
        let name = self.jvm.identity.name.as_deref().unwrap_or("JVM");
        format!("{name} (process {})", self.jvm.facts.pid)
    }

    /// Whether the process still runs, and is still the same.
    fn is_alive(&mut self) -> bool {
        let started = self.jvm.started;
        self.stat.read().ok().and_then(start_ticks) == Some(started)
    }

    fn wanted(&self, wall_start_ms: u64) -> Wanted {
        Wanted {
            command: self.jvm.identity.command.clone(),
            user: self.jvm.facts.effective_uid,
            // Times rounded to whole milliseconds may differ by one.
            not_before_ms: (wall_start_ms + self.last_read.0 / 1_000_000).saturating_sub(1),
        }
    }

    fn read(
        &mut self,
        root: &ProcRoot,
        reading: &mut Reading<'_>,
        pause_mark_min: Duration,
    ) -> Result<(), ProbeError> {
        if self.jvm.file.is_removed() {
            self.look_for_new_file(root, pause_mark_min)?;
        }
        self.jvm.file.read().map_err(probe_error)?;
        let bytes = self.jvm.file.bytes();
        if !self.jvm.index.describes(bytes) {
            let index = CounterIndex::parse(bytes).map_err(|error| {
                ProbeError::format(self.jvm.file.path.display().to_string(), error.to_string())
            })?;
            self.jvm.identity = JvmIdentity::read(&index, bytes);
            self.jvm.index = index;
            self.plan = Plan::new(&self.jvm, pause_mark_min);
        }
        if self.jvm.identity.created_ms != self.created_is_marked {
            self.mark_restart(reading);
        }
        self.plan.read(&self.jvm, reading);
        self.last_read = reading.time();
        Ok(())
    }

    /// Called if the process runs, but its file was deleted: the process has become another program, or its `/tmp` was
    /// cleaned. In the latter case the JVM still writes to the deleted file, and the probe still reads it.
    fn look_for_new_file(&mut self, root: &ProcRoot, pause_mark_min: Duration) -> Result<(), ProbeError> {
        let is_due = self.readings_without_file.is_multiple_of(LOOK_FOR_FILE_EVERY);
        self.readings_without_file = self.readings_without_file.wrapping_add(1);
        if !is_due {
            return Ok(());
        }
        match OpenJvm::open(root, self.jvm.facts.pid) {
            Ok(jvm) => {
                self.jvm = jvm;
                self.plan = Plan::new(&self.jvm, pause_mark_min);
                self.readings_without_file = 0;
                Ok(())
            }
            Err(CounterFileLocateError::NoFile { .. }) => Ok(()),
            Err(error) => {
                // The process is examined again at the next reading.
                self.readings_without_file = 0;
                Err(probe_error(error))
            }
        }
    }

    fn mark_restart(&mut self, reading: &mut Reading<'_>) {
        let now = reading.time();
        let created = self.jvm.identity.created_ms.and_then(|created| reading.at_wall_ms(created));
        let at = created.unwrap_or(now).min(now);
        let text = format!("{} started", self.title());
        reading.mark(Mark { kind: MarkKind::Restart, from: at, to: at, text });
        self.created_is_marked = self.jvm.identity.created_ms;
    }
}

impl Plan {
    fn new(jvm: &OpenJvm, pause_mark_min: Duration) -> Plan {
        let (index, bytes) = (&jvm.index, jvm.file.bytes());
        let metrics = JvmMetrics::plan(index, bytes, &jvm.identity);
        Plan {
            series: vec![None; metrics.quantities().len()],
            metrics,
            fixed: None,
            allocation: Allocation::of(index, jvm.identity.collector).map(|allocation| (allocation, None)),
            pauses: PauseTracker::new(index, bytes, &jvm.identity, pause_mark_min),
        }
    }

    fn read(&mut self, jvm: &OpenJvm, reading: &mut Reading<'_>) {
        let (index, bytes) = (&jvm.index, jvm.file.bytes());
        self.set_fixed(&jvm.identity, reading);
        for (quantity, series) in self.metrics.quantities().iter().zip(&mut self.series) {
            match quantity.value(index, bytes) {
                Some(value) => {
                    let id = *series.get_or_insert_with(|| declare(reading, quantity));
                    reading.set(id, value);
                }
                None => reading.unavailable(quantity.metric, Quantity::NOT_YET),
            }
        }
        for (metric, reason) in self.metrics.unavailable() {
            reading.unavailable(metric, reason);
        }
        if let Some((allocation, series)) = &mut self.allocation
            && let Some(allocated) = allocation.read(index, bytes)
        {
            let id = *series.get_or_insert_with(|| reading.series(&m::ALLOCATED, &[]));
            reading.set(id, allocated);
        }
        let wall_start_ms = reading.clock().wall_start_ms();
        let pause =
            self.pauses.as_mut().and_then(|pauses| pauses.read(index, bytes, reading.time(), wall_start_ms));
        if let Some(mark) = pause {
            reading.mark(mark);
        }
    }

    fn set_fixed(&mut self, identity: &JvmIdentity, reading: &mut Reading<'_>) {
        let (info, start) = *self.fixed.get_or_insert_with(|| {
            let version = identity.version.as_ref().map(ToString::to_string);
            let labels = [
                ("name", identity.name.as_deref()),
                ("version", version.as_deref()),
                ("vm", identity.vm.as_deref()),
                ("vendor", identity.vendor.as_deref()),
                ("collector", Some(identity.collector.name())),
            ];
            let labels: Vec<(&str, &str)> =
                labels.iter().filter_map(|(name, value)| value.map(|value| (*name, value))).collect();
            (reading.series(&m::INFO, &labels), reading.series(&m::START, &[]))
        });
        reading.set(info, 1.0);
        match identity.created_ms {
            #[expect(clippy::cast_precision_loss, reason = "ms since 1970 are below 2^53")]
            Some(created) => reading.set(start, created as f64 / 1e3),
            None => reading.unavailable(&m::START, "the JVM does not publish it"),
        }
    }
}

fn declare(reading: &mut Reading<'_>, quantity: &Quantity) -> SeriesId {
    let labels: Vec<(&str, &str)> =
        quantity.labels.iter().map(|(name, value)| (*name, value.as_str())).collect();
    reading.series(quantity.metric, &labels)
}

fn probe_error(error: CounterFileLocateError) -> ProbeError {
    match error {
        CounterFileLocateError::Read { path, source } => ProbeError::Read { path, source },
        CounterFileLocateError::Process(ProcessError::Denied { pid }) => ProbeError::Denied {
            what: format!("the counters of the JVM {pid}"),
            advice: "run as the user of the JVM or as root".to_owned(),
        },
        other => ProbeError::Other { what: "counters of the JVM".to_owned(), source: Box::new(other) },
    }
}
