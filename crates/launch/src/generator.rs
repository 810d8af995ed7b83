//! Generators of a run's load: the engine of this process, or generators on other machines.

use std::sync::Arc;

use busyhour_engine::runner::{self, RunReport};
use busyhour_program::run::RunShared;
use busyhour_record::{LiveFigures, PlanNote};
use busyhour_sample::{ArrivalCounts, BatchWriter, GeneratorFacts, Labels, SnapshotSender};

use crate::control::RunControl;

/// Generates the load of a run on other machines. It takes the place of the engine, see
/// [`Prepared::start_remote`](crate::Prepared::start_remote).
///
/// # Duties
///
/// [`generate`](Self::generate) is called once, on its own thread, and blocks until the run has ended and all records have been
/// passed to the writers:
///
/// * During the run, it sends each merged second to [`RemoteRun::seconds`], in increasing order, updates [`RemoteRun::figures`]
///   and the numbers of users of [`RemoteRun::shared`].
/// * It often checks the stop request, pauses and the factor of the rate in [`RemoteRun::shared`] and passes them on.
/// * At the end, it records all samples, arrivals and changes of the number of users with [`RemoteRun::writers`]. The totals,
///   files and reports of the run are computed from them, exactly as for a run on this machine. A writer that is
///   [`Full`](busyhour_sample::Full) accepts the sample a little later.
///
/// A failure does not panic; it is returned as [`Generated::failure`], with everything that was recorded until then.
pub trait RemoteGenerator: Send {
    /// Number of writers that it needs, usually one for each machine.
    fn writers(&self) -> usize;

    /// Generates the load and records it.
    fn generate(self: Box<Self>, run: RemoteRun) -> Generated;
}

/// The parts of a run that a remote generator uses.
#[derive(Debug)]
pub struct RemoteRun {
    /// The clock, stop requests and numbers of users of the run.
    pub shared: Arc<RunShared>,
    /// The labels, to which recording adds labels.
    pub labels: Labels,
    /// Records samples, arrivals and users.
    pub writers: Vec<BatchWriter>,
    /// Receives the seconds of the run; `None` if nobody follows the run.
    pub seconds: Option<SnapshotSender>,
    /// The figures of the run so far.
    pub figures: LiveFigures,
    /// The control of the run.
    pub control: RunControl,
    /// The thread groups of each open workload of the plan.
    pub open_groups: Vec<Vec<u32>>,
}

/// The outcome of a run's load.
#[derive(Debug, Default)]
pub struct Generated {
    /// When the load ended, when its schedules began, and the stop request that ended it early. The reports of cores are only
    /// used for an engine in this process.
    pub report: RunReport,
    /// Facts that other machines reported; `None` for an engine in this process.
    pub remote: Option<RemoteFacts>,
    /// The reason why the load is not complete, if it failed.
    pub failure: Option<String>,
}

/// Facts about generators on other machines.
#[derive(Debug, Default)]
pub struct RemoteFacts {
    /// The health of all generators.
    pub generator: GeneratorFacts,
    /// Arrivals of open workloads; `None` without them.
    pub arrivals: Option<ArrivalCounts>,
    /// Number of users that generated no load.
    pub users_without_load: u64,
    /// Notes for the manifest.
    pub notes: Vec<PlanNote>,
    /// The part of the load that is missing, if a generator was lost.
    pub lost_load: Option<String>,
    /// Whether some results of a generator are lost, although it generated its load.
    pub is_incomplete: bool,
}

impl Generated {
    /// The outcome of the engine in this process.
    pub(crate) fn local(report: RunReport, log_path: &std::path::Path) -> Self {
        let died: u64 = report.cores.iter().map(|core: &runner::CoreReport| core.died).sum();
        let failure = (died > 0).then(|| {
            format!(
                "{died} users ended because of a bug in busyhour, see {}; please report it",
                log_path.display()
            )
        });
        Self { report, remote: None, failure }
    }
}
