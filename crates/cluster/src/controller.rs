//! A controller: divides a run among agents, follows them, and merges their results.

mod assembly;
mod attachment;
mod claims;
mod collect;
mod csv_rows;
mod facts;
mod figures;
mod follow;
mod incoming;
mod member;
mod plan_files;
mod preparation;
mod replacement;
mod replay;
mod restored;
mod seconds_file;
mod settings;

pub use attachment::AbandonedRun;
pub use plan_files::plan_file_paths;
pub use settings::{AgentOutcome, ControllerSettings, CsvRows, Loss, OnAgentLoss};

use std::path::PathBuf;
use std::sync::Arc;

use busyhour_launch::{Generated, Prepared, RemoteGenerator, RemoteRun};
use busyhour_program::clock::Clock;
use busyhour_program::phase::Phase;

use crate::connection::Say;
use crate::error::ClusterError;
use crate::orders::Orders;
use assembly::Assembled;
use attachment::StoredRun;
use member::Member;
use replacement::Recruiting;

/// A run that agents have prepared and that is ready to start.
pub struct Controller {
    runtime: tokio::runtime::Runtime,
    orders: Arc<Orders>,
    settings: ControllerSettings,
    members: Vec<Member>,
    reports: async_nats::Subscriber,
    serving: tokio::task::JoinHandle<()>,
    recruiting: Option<Recruiting>,
    clock: Clock,
    dir: PathBuf,
    has_tear_down: bool,
    stored: StoredRun,
    say: Say,
}

impl std::fmt::Debug for Controller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Controller").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl Controller {
    /// Finds agents, claims them, gives them their shares of the run and waits until all of them are ready. No request is sent
    /// before that. `say` receives messages for the user.
    ///
    /// # Errors
    /// The hub cannot be reached, too few agents are free, an agent refuses the run, or the run is stopped.
    pub fn assemble(
        prepared: &Prepared,
        settings: ControllerSettings,
        say: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Controller, ClusterError> {
        let runtime = runtime()?;
        let say: Say = Arc::new(say);
        let assembled = runtime.block_on(assembly::assemble(prepared, &settings, &say))?;
        let stored = StoredRun::create(prepared, &settings, &assembled.orders.run, &assembled.members)
            .inspect_err(|_| runtime.block_on(assembly::release(&assembled.orders, &assembled.members)))?;
        Ok(Controller::new(runtime, assembled, prepared, settings, stored, say))
    }

    /// Takes over a run whose controller has ended: the agents continue, and send this process everything that the previous
    /// controller has not received.
    ///
    /// # Errors
    /// The hub cannot be reached, or none of the agents works for the run any more.
    pub fn attach(
        prepared: &Prepared,
        run: AbandonedRun,
        settings: ControllerSettings,
        say: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Controller, ClusterError> {
        let runtime = runtime()?;
        let say: Say = Arc::new(say);
        let stored = run.into_stored();
        let assembled = runtime.block_on(assembly::attach(prepared, &stored, &settings, &say))?;
        Ok(Controller::new(runtime, assembled, prepared, settings, stored, say))
    }

    fn new(
        runtime: tokio::runtime::Runtime,
        assembled: Assembled,
        prepared: &Prepared,
        settings: ControllerSettings,
        stored: StoredRun,
        say: Say,
    ) -> Controller {
        let Assembled { orders, members, reports, serving, recruiting } = assembled;
        Controller {
            runtime,
            orders,
            members,
            reports,
            serving,
            recruiting,
            clock: prepared.clock().clone(),
            dir: prepared.dir().path().to_owned(),
            has_tear_down: prepared.has_groups(Phase::TearDown),
            settings,
            stored,
            say,
        }
    }

    /// Number of agents.
    #[must_use]
    pub fn agent_count(&self) -> usize {
        self.members.len()
    }

    /// Names of the agents with their shares of the load.
    pub fn shares(&self) -> impl Iterator<Item = (&str, String)> {
        self.members.iter().map(|member| (member.info.name.as_str(), member.share.to_string()))
    }
}

fn runtime() -> Result<tokio::runtime::Runtime, ClusterError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("controller")
        .enable_all()
        .build()
        .map_err(ClusterError::Thread)
}

impl RemoteGenerator for Controller {
    fn writers(&self) -> usize {
        // Every share can be given to another agent, which needs a writer.
        let spare = if self.recruiting.is_some() { self.members.len() } else { 0 };
        spare + self.members.iter().map(Member::writers).sum::<usize>()
    }

    fn generate(self: Box<Self>, run: RemoteRun) -> Generated {
        let Controller {
            runtime,
            orders,
            settings,
            members,
            mut reports,
            serving,
            recruiting,
            clock,
            dir,
            has_tear_down,
            mut stored,
            say,
        } = *self;
        let seconds = seconds_file::SecondsFiles::new(&dir.join(collect::AGENTS_DIR));
        members.iter().for_each(|member| seconds.add_agent(&member.directory()));
        let rows_are_kept = recruiting.is_some();
        let follow = follow::Follow {
            orders: &orders,
            settings: &settings,
            clock: clock.clone(),
            has_tear_down,
            seconds,
            recruiting,
            say: &say,
        };
        let collected = runtime.block_on(async {
            let followed = follow.follow(members, &mut reports, &run, &mut stored).await;
            let collected =
                collect::collect(&orders, followed, &dir, &clock, settings.leaves_records, &say).await;
            serving.abort();
            if rows_are_kept {
                plan_files::remove_parts(&dir);
            }
            collected
        });
        let generated = collected.finish(run, &dir, settings.leaves_records, &say);
        stored.remove();
        collect::remove_ends(&dir);
        runtime.shutdown_background();
        generated
    }
}
