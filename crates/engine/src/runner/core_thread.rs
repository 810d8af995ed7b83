//! The thread of one core: its runtime, and its share of each phase.

use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc as blocking;

use busyhour_program::Program;
use busyhour_program::run::RunShared;
use busyhour_program::sampler::Protocol;
use busyhour_sample::{BatchWriter, Labels};
use tokio::sync::mpsc;
use tokio::task::LocalSet;

use super::planning::Start;
use super::report::CoreReport;
use super::starts::{start_lifetimes, start_users};
use super::supervisor::Done;
use crate::core::Core;
use crate::open::dispatch::dispatch;
use crate::phase_users::PhaseUsers;
use crate::signs::{CoreActivity, CoreStep};
use crate::supply::supply;

/// The inputs of a core's thread.
pub(super) struct CoreThread<P> {
    /// Number of the core, from 0.
    pub(super) index: u32,
    /// Number of cores.
    pub(super) cores: u32,
    /// The program that the core runs.
    pub(super) program: Arc<Program<P>>,
    /// The state that all cores share.
    pub(super) shared: Arc<RunShared>,
    /// Labels of the record.
    pub(super) labels: Labels,
    /// The core's writer for the recorder.
    pub(super) writer: BatchWriter,
    /// Receives the starts of each phase.
    pub(super) commands: mpsc::UnboundedReceiver<Vec<Start>>,
    /// Reports once whether the core was created.
    pub(super) ready: blocking::Sender<io::Result<()>>,
    /// Reports the end of each phase.
    pub(super) done: blocking::Sender<Done>,
    /// The signs of life that the supervisor reads.
    pub(super) signs: Arc<CoreActivity>,
}

impl<P: Protocol> CoreThread<P> {
    /// Runs phases until there are no more commands.
    pub(super) fn run(self) -> CoreReport {
        let Self { index, cores, program, shared, labels, writer, mut commands, ready, done, signs } = self;
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                let _ = ready.send(Err(error));
                return CoreReport::default();
            }
        };
        crate::turns::request_short_slices();
        crate::slices::prepare(&program);
        let began = shared.clock.now();
        runtime.block_on(async {
            let core = match Core::new(index, shared, labels, writer) {
                Ok(core) => Rc::new(core.with_signs(signs)),
                Err(error) => {
                    let _ = ready.send(Err(error));
                    return CoreReport::default();
                }
            };
            let _ = ready.send(Ok(()));
            while let Some(starts) = commands.recv().await {
                phase(&core, cores, &program, starts).await;
                core.flush();
                if done.send(Done::Phase(index)).is_err() {
                    break;
                }
            }
            core.signs.set_doing(CoreStep::HandingOver);
            if core.is_behind() {
                tokio::select! {
                    () = core.timers.drive() => {}
                    () = core.settle() => {}
                }
            }
            let (stalls, lost) = core.recorder_stalls();
            CoreReport {
                cpu_ns: core.cpu_ns(),
                wall_ns: core.run.clock.now().since(began),
                busiest_second: core.busiest_second(),
                stalls,
                stalled_ns: core.stalled_ns.get(),
                interrupted: core.interrupted.get(),
                died: core.died.get(),
                lag_ns_max: core.lag_ns_max.get(),
                blocked: core.stalls.take(),
                arrivals: core.arrivals(),
                lost,
                exceeded: busyhour_limits::take_counts(),
            }
        })
    }
}

/// Runs this core's share of the given groups until all of its users have ended or the run is stopped immediately.
pub(crate) async fn phase<P: Protocol>(
    core: &Rc<Core>,
    cores: u32,
    program: &Arc<Program<P>>,
    starts: Vec<Start>,
) {
    core.signs.set_doing(CoreStep::Running);
    let set = LocalSet::new();
    let users = Rc::new(PhaseUsers::default());
    for start in starts {
        let counted = users.enter();
        let (core, program, users) = (Rc::clone(core), Arc::clone(program), Rc::clone(&users));
        set.spawn_local(async move {
            match start {
                Start::Closed(start) if start.lifetimes.is_some() => {
                    start_lifetimes(&core, cores, &program, start, &users).await;
                }
                Start::Closed(start) => start_users(&core, cores, &program, start, &users).await,
                Start::Level(group) => supply(&core, cores, &program, group, &users).await,
                Start::Open(start) => dispatch(&core, cores, &program, start, &users).await,
            }
            drop(counted);
        });
    }
    set.run_until(async {
        tokio::select! {
            () = core.timers.drive() => {}
            () = core.tick() => {}
            () = users.have_ended() => core.measure_lag(core.run.clock.now()),
        }
    })
    .await;
    drop(set);
}
