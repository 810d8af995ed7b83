//! The interface for code that follows a run.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use busyhour_analysis::thresholds::ThresholdResult;
use busyhour_compile::PlanTarget;
use busyhour_record::{PlanFile, RunPart};
use busyhour_sample::{RunEnd, Snapshot};

use crate::event::RunEvent;

/// The data of a run that an observer receives when the run starts.
#[derive(Clone, Debug, Default)]
pub struct RunInfo {
    /// The plan's name, or its path.
    pub title: String,
    /// The plan.
    pub plan: PlanFile,
    /// The run directory.
    pub dir: PathBuf,
    /// The path of the report to be written.
    pub report: PathBuf,
    /// Start of the run in ms since 1970.
    pub wall_anchor_ms: i64,
    /// Seed of all random choices.
    pub seed: u64,
    /// Number of cores that generate load.
    pub cores: usize,
    /// Length of the whole run, if it is known.
    pub length: Option<Duration>,
    /// The arrival processes of open workloads, in their notation; empty if the plan's users determine the load.
    pub processes: Vec<String>,
    /// Hosts and ports to which the samplers of the plan connect, as far as they are known before the run.
    pub targets: Vec<PlanTarget>,
    /// Name of the machine that generates the load.
    pub hostname: String,
    /// The reason why the rate cannot be changed during the run; `None` if it can.
    pub fixed_rate: Option<String>,
}

/// The data that an observer receives when a run has ended.
#[derive(Clone, Debug)]
pub struct RunEnded {
    /// How the run ended.
    pub end: RunEnd,
    /// Number of seconds that this observer did not receive because it was too slow.
    pub seconds_lost: u64,
}

/// An error of an observer, at the end of a run.
pub type ObserverError = Box<dyn Error + Send + Sync>;

/// Follows a run, for example as a page, an exporter or a probe.
///
/// # Order of calls
///
/// 1. [`event`](Self::event) any number of times, while the run is prepared;
/// 2. [`started`](Self::started) once, before the first request is sent;
/// 3. [`second`](Self::second) for each second of the run, in increasing order, mixed with `event`. A second arrives about two
///    seconds after its end, because results of all cores are combined first;
/// 4. [`ended`](Self::ended) once, after the last second. Nothing follows.
///
/// If the preparation fails, the observer is dropped after the events so far, without `started` or `ended`.
///
/// # Threads and costs
///
/// Each observer has a separate thread, which makes all calls. An observer may therefore block, for instance to send
/// something: neither the run nor other observers wait for it. While it is busy, up to
/// [`seconds_waiting_max`](Self::seconds_waiting_max) seconds are stored; further ones are lost and counted in
/// [`RunEnded::seconds_lost`]. Events are never lost. A snapshot is shared among all observers and must not be retained for
/// long: it contains the times of a whole second.
///
/// At the end, the run waits until all observers have returned from `ended`. After a forced end, it waits for at most one
/// second.
///
/// # Errors
///
/// A failure must not end the run. An observer counts its failures and returns a description from `ended`, which becomes a
/// [`RunEvent::Warning`]. An observer that panics is not called again.
///
/// # Example
///
/// ```
/// use busyhour_analysis::thresholds::ThresholdResult;
/// use busyhour_launch::RunObserver;
/// use busyhour_sample::Snapshot;
///
/// /// Remembers the second with the most requests.
/// #[derive(Default)]
/// struct Busiest {
///     second: u64,
///     requests: u64,
/// }
///
/// impl RunObserver for Busiest {
///     fn second(&mut self, snapshot: &Snapshot, _thresholds: &[ThresholdResult]) {
///         let requests = snapshot.total().samples;
///         if requests > self.requests {
///             (self.second, self.requests) = (snapshot.second, requests);
///         }
///     }
/// }
/// ```
pub trait RunObserver: Send {
    /// Called when the run starts.
    fn started(&mut self, _run: &RunInfo) {}

    /// Called when a second has ended; `thresholds` are the outcomes so far, in the order of the request.
    fn second(&mut self, _snapshot: &Snapshot, _thresholds: &[ThresholdResult]) {}

    /// Called for each event.
    fn event(&mut self, _event: &RunEvent) {}

    /// Called when the run has ended and all its seconds have been delivered.
    ///
    /// # Errors
    /// The observer could not complete its work.
    fn ended(&mut self, _run: &RunEnded) -> Result<(), ObserverError> {
        Ok(())
    }

    /// The files that the observer writes in the run directory. They are listed in the manifest when the run starts, so that
    /// they are found even after a crash. The observer creates them in [`started`](Self::started).
    fn parts(&self) -> Vec<RunPart> {
        Vec::new()
    }

    /// Maximum number of seconds that are queued for this observer. With 0, it receives no seconds. If no observer receives
    /// any and the run has no thresholds, the recorder does not compute them.
    fn seconds_waiting_max(&self) -> usize {
        64
    }
}
