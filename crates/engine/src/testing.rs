//! A protocol without a network, and programs that use it, for the tests of this crate.

use std::rc::Rc;
use std::sync::Arc;

use busyhour_program::Program;
use busyhour_program::clock::Clock;
use busyhour_program::controller::{Controller, ControllerKind, IterationListener};
use busyhour_program::element::Timer;
use busyhour_program::group::{Group, OnError, Phase};
use busyhour_program::ids::{Child, ControllerId, SamplerId};
use busyhour_program::result::Retention;
use busyhour_program::run::RunShared;
use busyhour_program::sampler::{Protocol, SamplerKind, SamplerPackage};
use busyhour_program::template::Template;
pub(crate) use busyhour_program::testing::{SEED, lone_user, run_with_stopped_clock, shared_with};
use busyhour_program::user::UserState;
use busyhour_program::variables::Names;
use busyhour_record::{Recorder, RecorderConfig};
use busyhour_sample::{GroupName, Labels, Nanos, RunNames, RunTotals};

use crate::runner::{RunReport, run};

/// With this seed, creating the session of the fourth user panics.
pub(crate) const BAD_SEED: u64 = 666;

/// The behaviour of a fake sample.
pub(crate) enum Act {
    /// Succeeds immediately.
    Done,
    /// Fails immediately.
    Fail,
    /// Succeeds after this number of nanoseconds.
    Sleep(u64),
    /// Succeeds after other users have run.
    Yield,
    /// Never ends.
    Never,
}

/// A protocol whose samples are closures.
pub(crate) struct Fake(pub(crate) Script);

/// Determines the behaviour of each sample.
pub(crate) type Script = Arc<dyn Fn(&mut UserState) -> Act + Send + Sync>;

impl std::fmt::Debug for Fake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fake")
    }
}

impl Protocol for Fake {
    type Session = ();

    fn session(user: &UserState) {
        assert!(user.run.seed != BAD_SEED || user.number != 3, "a panic that the test provokes");
    }

    fn iteration_started(_session: &mut (), _user: &mut UserState, _same_user: bool) {}

    fn begin_arrival(_session: &mut (), _keep_connections: bool) {}

    async fn sample(
        &self,
        user: &mut UserState,
        _: &mut (),
        label: &Template,
        intended: Nanos,
        _: Retention,
    ) {
        user.begin_result(label, intended);
        user.result.outcome.code.push_str("200");
        match (self.0)(user) {
            Act::Done => {}
            Act::Fail => user.result.outcome.success = false,
            Act::Sleep(ns) => {
                if let Some(core) = user.core.as_ref().map(Rc::clone) {
                    core.sleep_until(user.now() + ns).await;
                }
            }
            Act::Yield => tokio::task::yield_now().await,
            Act::Never => std::future::pending().await,
        }
        user.result.times.end = user.now();
    }
}

/// A script that always does the same.
pub(crate) fn always(act: impl Fn() -> Act + Send + Sync + 'static) -> Script {
    Arc::new(move |_| act())
}

/// The children of a controller.
#[derive(Debug)]
pub(crate) enum Node {
    /// A sampler with its label.
    Leaf(String),
    /// A controller.
    Inner(ControllerKind, Vec<Node>),
}

/// A sampler.
pub(crate) fn leaf(label: &str) -> Node {
    Node::Leaf(label.to_owned())
}

/// A loop as JMeter's editor creates it.
pub(crate) fn looped(count: &str, children: Vec<Node>) -> Node {
    Node::Inner(ControllerKind::Loop { count: Template::literal(count), forever: true }, children)
}

/// A group of `users` users, each making `loops` passes over `nodes`.
pub(crate) fn group(users: u32, loops: &str, nodes: Vec<Node>, script: &Script) -> Group<Fake> {
    let kind = ControllerKind::Loop { count: Template::literal(loops), forever: false };
    let mut build = Build { controllers: Vec::new(), samplers: Vec::new(), script };
    build.controller(kind, nodes, &[]);
    Group {
        phase: Phase::Main,
        users: Template::literal(&users.to_string()),
        ramp_up: Template::literal("0"),
        schedule: None,
        population: None,
        delayed_start: false,
        on_error: OnError::Continue,
        same_user: true,
        controllers: build.controllers.into_iter().flatten().collect(),
        samplers: build.samplers.into(),
    }
}

/// Adds timers to every sampler of a group.
pub(crate) fn with_timers(mut group: Group<Fake>, timers: Vec<Arc<dyn Timer>>) -> Group<Fake> {
    for sampler in &mut group.samplers {
        sampler.timers = timers.clone().into();
    }
    group
}

struct Build<'s> {
    controllers: Vec<Option<Controller>>,
    samplers: Vec<SamplerPackage<Fake>>,
    script: &'s Script,
}

impl Build<'_> {
    fn controller(
        &mut self,
        kind: ControllerKind,
        nodes: Vec<Node>,
        around: &[ControllerId],
    ) -> ControllerId {
        let id = ControllerId(u32::try_from(self.controllers.len()).unwrap());
        self.controllers.push(None);
        let ancestors = [&[id], around].concat();
        let (mut children, mut listeners) = (Vec::new(), Vec::new());
        for node in nodes {
            children.push(match node {
                Node::Leaf(label) => Child::Sampler(self.sampler(&label, &ancestors)),
                Node::Inner(kind, nodes) => {
                    let is_notified = !matches!(
                        kind,
                        ControllerKind::Simple
                            | ControllerKind::If { .. }
                            | ControllerKind::Interleave { .. }
                            | ControllerKind::Random { .. }
                            | ControllerKind::RandomOrder
                            | ControllerKind::Transaction(_)
                    );
                    let child = self.controller(kind, nodes, &ancestors);
                    if is_notified {
                        listeners.insert(0, IterationListener::Controller(child));
                    }
                    Child::Controller(child)
                }
            });
        }
        let name = Template::literal(&format!("controller {}", id.0));
        self.controllers[id.0 as usize] = Some(Controller {
            name,
            index_slot: None,
            kind,
            children: children.into(),
            listeners: listeners.into(),
        });
        id
    }

    fn sampler(&mut self, label: &str, ancestors: &[ControllerId]) -> SamplerId {
        self.samplers.push(SamplerPackage {
            label: Template::literal(label),
            label_id: None,
            kind: SamplerKind::Protocol(Fake(Arc::clone(self.script))),
            before: Box::default(),
            timers: Box::default(),
            after: Box::default(),
            assertions: Box::default(),
            keep: Retention::default(),
            listeners: 0,
            listeners_in_transaction: None,
            on_failure: Box::default(),
            timeouts_ms: Arc::default(),
            sample_listeners: busyhour_program::sampler::SampleListeners::default(),
            ancestors: ancestors.into(),
        });
        SamplerId(u32::try_from(self.samplers.len() - 1).unwrap())
    }
}

/// A program of these groups.
pub(crate) fn program(groups: Vec<Group<Fake>>) -> Program<Fake> {
    Program {
        groups,
        open: Vec::new(),
        serialize_groups: false,
        evaluates: false,
        tear_down_on_stop: true,
        sample_variables: Vec::new(),
        shown_details: Vec::new(),
    }
}

/// The outcome of [`run_on`].
pub(crate) struct TestRun {
    pub(crate) report: RunReport,
    pub(crate) totals: RunTotals,
    pub(crate) shared: Arc<RunShared>,
    pub(crate) log: Vec<String>,
}

/// Runs a program on `cores` cores.
pub(crate) fn run_on(cores: usize, program: Program<Fake>) -> TestRun {
    run_recorded(cores, program, SEED, RecorderConfig::default())
}

/// As [`run_on`], with a seed and settings of the recorder.
pub(crate) fn run_recorded(
    cores: usize,
    program: Program<Fake>,
    seed: u64,
    config: RecorderConfig,
) -> TestRun {
    let (shared, log) = shared_with(Clock::start(), seed, program.groups.len(), Names::default(), 4);
    let labels = Labels::new();
    let (recorder, writers) = Recorder::start(recorder_config(cores, &labels, config)).unwrap();
    let report = run(&Arc::new(program), &shared, &labels, writers).unwrap();
    let totals = recorder.finish();
    let log = log.lock().unwrap().clone();
    TestRun { report, totals, shared, log }
}

/// Settings of the recorder for `cores` cores.
pub(crate) fn recorder_config(cores: usize, labels: &Labels, config: RecorderConfig) -> RecorderConfig {
    let groups = (1..4).map(|number| GroupName { name: format!("group {number}"), number }).collect();
    RecorderConfig {
        names: RunNames { groups, ..RunNames::default() },
        labels: labels.clone(),
        writers: cores,
        ..config
    }
}
