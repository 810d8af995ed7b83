//! Tests phases, ramp-up, schedules, stopping, random streams and the recorder on real cores, with a protocol that needs no
//! network.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use busyhour_program::clock::Clock;
use busyhour_program::controller::{Condition, ControllerKind};
use busyhour_program::element::{Delay, Timer};
use busyhour_program::group::{Group, GroupTimes, OnError};
use busyhour_program::sampler::{FlowAction, SamplerKind};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_program::variables::Names;
use busyhour_record::{Recorder, RecorderConfig};
use rand::Rng as _;

use super::planning::GroupStart;
use super::*;
use crate::core::Core;
use crate::delays::{Draw, ThinkTime};
use crate::testing::{
    Act, BAD_SEED, Node, SEED, Script, TestRun, always, group, leaf, looped, program, recorder_config,
    run_on, run_recorded, shared_with, with_timers,
};

/// One sample as recorded by the protocol.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    group: u32,
    user: u32,
    iteration: u32,
    core: u32,
    intended: Nanos,
    start: Nanos,
    drawn: u64,
}

type SeenAll = Arc<Mutex<Vec<Seen>>>;

/// A script that records its input and then performs the result of `act`.
fn watching(act: impl Fn(&mut UserState) -> Act + Send + Sync + 'static) -> (Script, SeenAll) {
    let all = SeenAll::default();
    let seen = Arc::clone(&all);
    let script: Script = Arc::new(move |user| {
        let entry = Seen {
            group: user.group,
            user: user.number,
            iteration: user.iteration,
            core: user.core.as_ref().map_or(u32::MAX, |core| core.index()),
            intended: user.result.times.intended,
            start: user.result.times.start,
            drawn: user.random.random(),
        };
        seen.lock().unwrap().push(entry);
        act(user)
    });
    (script, all)
}

fn taken(seen: &SeenAll) -> Vec<Seen> {
    std::mem::take(&mut seen.lock().unwrap())
}

fn waits(ms: &str) -> Vec<Arc<dyn Timer>> {
    vec![Arc::new(ThinkTime {
        draw: Draw::Constant,
        offset_ms: Template::literal(ms),
        range_ms: Template::default(),
        factor: 1.0,
    })]
}

const HOUR_MS: &str = "3600000";

fn lasting(seconds: &str) -> Option<GroupTimes> {
    Some(GroupTimes { duration: Template::literal(seconds), delay: Template::default() })
}

fn assert_that_all_users_have_ended(ran: &TestRun) {
    assert_eq!(ran.shared.active.load(Relaxed), 0);
    assert_eq!(ran.shared.started.load(Relaxed), ran.shared.finished.load(Relaxed));
    assert!(ran.shared.groups.iter().all(|group| group.active.load(Relaxed) == 0));
    assert!(ran.report.cores.iter().all(|core| core.lost == 0));
}

#[test]
fn every_user_makes_every_iteration_on_its_own_core() {
    for cores in [1, 2, 3] {
        let (script, seen) = watching(|_| Act::Yield);
        let ran = run_on(cores, program(vec![group(7, "5", vec![leaf("a"), leaf("b")], &script)]));
        let seen = taken(&seen);
        assert_eq!(seen.len(), 7 * 5 * 2);
        assert_eq!(ran.totals.total.samples, 70);
        assert_eq!(ran.report.cores.len(), cores);
        assert_eq!(ran.report.stopped, None);
        let cores = u32::try_from(cores).unwrap();
        assert!(seen.iter().all(|sample| sample.core == sample.user % cores));
        assert_eq!(ran.shared.started.load(Relaxed), 7);
        assert_that_all_users_have_ended(&ran);
    }
}

#[test]
fn choices_depend_on_the_seed_and_not_on_the_cores() {
    let choices = |cores, seed| {
        let (script, seen) = watching(|_| Act::Yield);
        let random = ControllerKind::Random { use_sub_controllers: false };
        let nodes = vec![Node::Inner(random, vec![leaf("a"), leaf("b")]), leaf("c")];
        run_recorded(cores, program(vec![group(5, "6", nodes, &script)]), seed, RecorderConfig::default());
        let mut drawn: Vec<_> =
            taken(&seen).into_iter().map(|sample| (sample.user, sample.iteration, sample.drawn)).collect();
        // Samples of one user keep their order; users of several cores do not.
        drawn.sort_by_key(|(user, iteration, _)| (*user, *iteration));
        drawn
    };
    let one = choices(1, SEED);
    assert_eq!(one.len(), 5 * 6 * 2);
    assert_eq!(one, choices(2, SEED));
    assert_eq!(one, choices(4, SEED));
    assert_ne!(one, choices(1, SEED + 1));
    assert_eq!(one.iter().map(|(_, _, drawn)| drawn).collect::<BTreeSet<_>>().len(), one.len());
}

#[test]
fn phases_run_one_after_another() {
    let (script, seen) = watching(|_| Act::Sleep(2_000_000));
    let phased = |phase| Group { phase, ..group(3, "2", vec![leaf("x")], &script) };
    let groups = [Phase::TearDown, Phase::Main, Phase::SetUp, Phase::Main, Phase::TearDown].map(phased);
    let ran = run_on(2, program(groups.into()));
    let order: Vec<u32> = taken(&seen).iter().map(|sample| sample.group).collect();
    let phase = |group: &u32| [2, 1, 0, 1, 2][*group as usize];
    assert!(order.iter().map(phase).is_sorted(), "{order:?}");
    assert_eq!(order.len(), 30);
    assert_that_all_users_have_ended(&ran);
}

#[test]
fn groups_run_one_after_another_if_the_plan_serializes_them() {
    let (script, seen) = watching(|_| Act::Sleep(1_000_000));
    let mut serial = program((0..3).map(|_| group(4, "3", vec![leaf("x")], &script)).collect());
    serial.serialize_groups = true;
    run_on(2, serial);
    let order: Vec<u32> = taken(&seen).iter().map(|sample| sample.group).collect();
    assert!(order.is_sorted() && order.len() == 36, "{order:?}");
}

/// A timer with its own schedule: the `n`-th intended start is at `n` ns.
#[derive(Debug, Default)]
struct Slots(AtomicU64);

impl Timer for Slots {
    fn delay(&self, _user: &mut UserState) -> Delay {
        Delay { wait_ns: 0, slot: Some(Nanos(self.0.fetch_add(1, Relaxed))) }
    }
}

#[test]
fn a_slot_is_the_intended_start_and_think_times_follow_it() {
    for think_ms in [0, 2] {
        let (script, seen) = watching(|_| Act::Done);
        for first in [true, false] {
            let mut timers = waits(&think_ms.to_string());
            timers.insert(usize::from(first), Arc::new(Slots::default()));
            run_on(1, program(vec![with_timers(group(1, "3", vec![leaf("x")], &script), timers)]));
            let intended: Vec<u64> = taken(&seen).iter().map(|sample| sample.intended.0).collect();
            assert_eq!(intended, [0, 1, 2].map(|slot| slot + think_ms * 1_000_000));
        }
    }
}

#[test]
fn ramp_up_spaces_the_starts_evenly() {
    let (script, seen) = watching(|_| Act::Done);
    let ramped = Group { ramp_up: Template::literal("1"), ..group(40, "1", vec![leaf("x")], &script) };
    let ran = run_on(2, program(vec![ramped]));
    let mut seen = taken(&seen);
    seen.sort_by_key(|sample| sample.user);
    assert_eq!(seen.len(), 40);
    for pair in seen.windows(2) {
        assert_eq!(pair[1].intended.since(pair[0].intended), 25_000_000);
    }
    assert!(seen.iter().all(|sample| sample.start >= sample.intended));
    assert_that_all_users_have_ended(&ran);
}

#[test]
fn the_spacing_is_rounded_as_in_jmeter() {
    let clock = Clock::manual(0);
    let (shared, _) = shared_with(clock, SEED, 1, Names::default(), 0);
    let spacing = |users: &str, ramp_up: &str| {
        let mut group = group(0, "1", Vec::new(), &always(|| Act::Done));
        (group.users, group.ramp_up) = (Template::literal(users), Template::literal(ramp_up));
        let start = plan_group(&shared, 0, &group, None).unwrap();
        (start.users, start.spacing_ns)
    };
    assert_eq!(spacing("3", "10"), (3, 3_333_000_000));
    assert_eq!(spacing("7", "1"), (7, 143_000_000));
    assert_eq!(spacing("3000", "1"), (3000, 0), "less than half a millisecond is rounded to 0");
    assert_eq!(spacing("0", "10"), (0, 0));
    assert_eq!(spacing("-4", "-10"), (0, 0));
    assert_eq!(spacing("x", "y"), (0, 0));
}

#[test]
fn the_schedule_ends_users_in_and_between_samples() {
    let (script, seen) =
        watching(|user| if user.number == 2 { Act::Sleep(1_050_000_000) } else { Act::Sleep(10_000_000) });
    let timed = |timers| {
        let forever = group(3, "-1", vec![leaf("x")], &script);
        Group { schedule: lasting("1"), ..with_timers(forever, timers) }
    };
    let ran = run_on(2, program(vec![timed(Vec::new()), timed(waits(HOUR_MS))]));
    let seen = taken(&seen);
    // If a delay extends beyond the end of the schedule, the user ends before its first sample.
    assert!(seen.iter().all(|sample| sample.group == 0));
    let began = seen.iter().map(|sample| sample.intended).min().unwrap();
    for user in 0..3 {
        let late = seen.iter().filter(|sample| sample.user == user && sample.start.since(began) >= SECOND_NS);
        assert!(late.count() <= 1, "the end of the schedule is checked after each sample");
    }
    assert_eq!(seen.iter().filter(|sample| sample.user == 2).count(), 1, "a sample in flight is completed");
    assert_eq!(ran.totals.total.samples, seen.len() as u64);
    assert_eq!(ran.report.stopped, None);
    assert_that_all_users_have_ended(&ran);
}

const SECOND_NS: u64 = 1_000_000_000;

#[test]
fn the_schedule_ends_users_that_find_no_sampler() {
    #[derive(Debug)]
    struct Never;
    impl Condition for Never {
        fn holds(&self, _user: &mut UserState) -> bool {
            false
        }
    }
    let kind = ControllerKind::If { condition: Box::new(Never), evaluate_all: false };
    let idle = group(2, "-1", vec![Node::Inner(kind, vec![leaf("x")])], &always(|| Act::Done));
    let ran = run_on(1, program(vec![Group { schedule: lasting("1"), ..idle }]));
    assert_eq!(ran.totals.total.samples, 0);
    assert_that_all_users_have_ended(&ran);
}

#[test]
fn the_schedule_ends_users_that_only_jump() {
    let actions = [FlowAction::NextIterationOfThread, FlowAction::BreakLoop, FlowAction::NextIterationOfLoop];
    let groups = actions.map(|action| {
        let mut jumps = group(2, "-1", vec![looped("-1", vec![leaf("x")])], &always(|| Act::Done));
        jumps.samplers[0].kind = SamplerKind::Flow(action);
        Group { schedule: lasting("1"), ..jumps }
    });
    let ran = run_on(1, program(groups.into()));
    assert_eq!(ran.totals.total.samples, 0);
    assert_that_all_users_have_ended(&ran);
}

#[test]
fn a_group_without_a_duration_does_not_start_and_others_do() {
    let (script, seen) = watching(|_| Act::Done);
    let bad = Group { schedule: lasting("0"), ..group(1, "1", vec![leaf("x")], &script) };
    let ran = run_on(1, program(vec![bad, group(1, "1", vec![leaf("x")], &script)]));
    let seen = taken(&seen);
    assert!(seen.len() == 1 && seen[0].group == 1);
    assert_eq!(ran.report.stopped, None);
    assert_eq!(ran.log, ["Error Invalid duration 0 set in Thread Group:group 1"]);
}

/// Twenty users do `act` or wait for `others`, and one is planned to start in an hour. When all twenty have arrived, one of them
/// requests a stop. `in_samples`: the number of users that are in a sample at that time.
fn stopped(
    stop: Stop,
    others: Vec<Arc<dyn Timer>>,
    act: fn() -> Act,
    in_samples: u32,
) -> (TestRun, Vec<Seen>) {
    let begun = AtomicU32::new(0);
    let (script, seen) = watching(move |user| {
        if user.group == 0 {
            if user.run.active.load(Relaxed) == 22 && begun.load(Relaxed) >= in_samples {
                user.run.stop_by_plan(stop);
            }
            return Act::Yield;
        }
        begun.fetch_add(u32::from(user.group == 1), Relaxed);
        act()
    });
    let groups = vec![
        group(1, "-1", vec![leaf("x")], &script),
        with_timers(group(20, "-1", vec![leaf("x")], &script), others),
        Group { ramp_up: Template::literal("7200"), ..group(2, "-1", vec![leaf("x")], &script) },
        Group { phase: Phase::TearDown, ..group(2, "1", vec![leaf("x")], &always(|| Act::Done)) },
    ];
    let ran = run_on(2, program(groups));
    assert_that_all_users_have_ended(&ran);
    (ran, taken(&seen))
}

#[test]
fn a_graceful_stop_wakes_sleepers_and_runs_tear_down() {
    let (ran, seen) = stopped(Stop::Graceful, waits(HOUR_MS), || Act::Yield, 0);
    assert!(seen.iter().all(|sample| sample.group != 1), "no sample after waking up");
    assert_eq!(ran.report.stopped, Some(Stop::Graceful));
    assert_eq!(ran.totals.total.samples, seen.len() as u64 + 2);
    assert_eq!(ran.report.cores.iter().map(|core| core.interrupted).sum::<u64>(), 0);
}

#[test]
fn a_stop_at_once_abandons_samples_in_flight() {
    let (ran, seen) = stopped(Stop::Now, Vec::new(), || Act::Never, 20);
    assert_eq!(ran.report.stopped, Some(Stop::Now));
    let interrupted: u64 = ran.report.cores.iter().map(|core| core.interrupted).sum();
    assert!(interrupted >= 20, "samples that never end are interrupted: {interrupted}");
    assert_eq!(ran.totals.total.samples + interrupted, seen.len() as u64 + 2);
}

#[test]
fn tear_down_can_be_left_out_after_a_stop() {
    let (script, seen) = watching(|user| {
        user.run.stop_by_plan(Stop::Graceful);
        Act::Done
    });
    let tear_down = Group { phase: Phase::TearDown, ..group(1, "1", vec![leaf("x")], &script) };
    let groups = vec![group(1, "-1", vec![leaf("x")], &script), tear_down];
    let ran = run_on(1, Program { tear_down_on_stop: false, ..program(groups) });
    assert_eq!(taken(&seen).len(), 1);
    assert_eq!(ran.report.stopped, Some(Stop::Graceful));
}

#[test]
fn a_failed_sample_causes_the_action_of_its_group() {
    let after_error = |on_error| {
        let (script, seen) = watching(|user| if user.iteration == 2 { Act::Fail } else { Act::Done });
        let mut groups =
            vec![Group { on_error, ..group(1, "4", vec![looped("2", vec![leaf("a")]), leaf("b")], &script) }];
        groups.push(with_timers(group(1, "-1", vec![leaf("c")], &script), waits(HOUR_MS)));
        // Without this stop, the second group would continue.
        if matches!(on_error, OnError::Continue | OnError::StartNextLoop | OnError::StopUser) {
            groups.pop();
        }
        let ran = run_on(1, program(groups));
        (taken(&seen).len(), ran.totals.total.errors, ran.report.stopped)
    };
    assert_eq!(after_error(OnError::Continue), (12, 3, None));
    assert_eq!(after_error(OnError::StartNextLoop), (10, 1, None));
    assert_eq!(after_error(OnError::StopUser), (4, 1, None));
    assert_eq!(after_error(OnError::StopTest), (4, 1, Some(Stop::Graceful)));
    assert_eq!(after_error(OnError::StopTestNow), (4, 1, Some(Stop::Now)));
}

#[test]
fn a_slow_recorder_holds_users_back_and_loses_nothing() {
    let config = RecorderConfig { batch_bytes: 256, batches: 2, ..RecorderConfig::default() };
    let (script, seen) = watching(|_| Act::Done);
    let groups = vec![group(50, "200", vec![leaf("x")], &script)];
    let ran = run_recorded(2, program(groups), SEED, config);
    assert_eq!(taken(&seen).len(), 10_000);
    assert_eq!(ran.totals.total.samples, 10_000);
    assert_that_all_users_have_ended(&ran);
}

#[test]
fn a_panic_of_a_user_does_not_end_other_users() {
    let script: Script = Arc::new(|user| {
        assert!(user.number != 1 || user.iteration != 2, "a panic that the test provokes");
        Act::Yield
    });
    let ran = run_on(2, program(vec![group(4, "5", vec![leaf("x")], &script)]));
    assert_eq!(ran.totals.total.samples, 3 * 5 + 1);
    assert!(ran.log.iter().any(|line| line.starts_with("Error group 1 1-2 died")), "{:?}", ran.log);
    assert_eq!(ran.report.cores.iter().map(|core| core.died).sum::<u64>(), 1);
    assert_that_all_users_have_ended(&ran);
}

#[test]
fn users_that_cannot_begin_are_counted() {
    let groups = vec![group(8, "2", vec![leaf("x")], &always(|| Act::Yield))];
    let ran = run_recorded(2, program(groups), BAD_SEED, RecorderConfig::default());
    // The fourth user is on the second core, as are the sixth and the eighth, which would start after it.
    let died: Vec<u64> = ran.report.cores.iter().map(|core| core.died).collect();
    assert_eq!((died, ran.log.len()), (vec![0, 3], 3));
    assert_eq!(ran.totals.total.samples, 5 * 2);
}

/// Number of allocations in a whole run with `iterations` iterations of each user, counted on its core's thread.
fn allocations(iterations: &str, nodes: fn() -> Vec<Node>, think: &str) -> u64 {
    let script = always(|| Act::Yield);
    let users = with_timers(group(10, iterations, nodes(), &script), waits(think));
    let program = Arc::new(program(vec![users]));
    let (shared, _) = shared_with(Clock::start(), SEED, 1, Names::default(), 0);
    let labels = Labels::new();
    let (recorder, mut writers) =
        Recorder::start(recorder_config(1, &labels, RecorderConfig::default())).unwrap();
    let writer = writers.pop().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().unwrap();
    let mut counted = 0;
    runtime.block_on(async {
        let core = Rc::new(Core::new(0, Arc::clone(&shared), labels, writer).unwrap());
        let start = GroupStart {
            group: 0,
            users: 10,
            spacing_ns: 0,
            first: shared.clock.now(),
            end: None,
            lifetimes: None,
        };
        let mut whole = Box::pin(phase(&core, 1, &program, vec![Start::Closed(start)]));
        // Counts the allocations of each poll; allocations of the recorder's thread and of the runtime are not counted.
        std::future::poll_fn(|cx| {
            let mut polled = std::task::Poll::Pending;
            counted += allocation_counter::measure(|| polled = whole.as_mut().poll(cx)).count_total;
            polled
        })
        .await;
        core.flush();
    });
    assert!(recorder.finish().total.samples > 0);
    counted
}

#[test]
fn samples_do_not_allocate_in_steady_state() {
    let plain: fn() -> Vec<Node> = || vec![leaf("x")];
    let nested: fn() -> Vec<Node> = || {
        let random = ControllerKind::Random { use_sub_controllers: false };
        vec![looped("2", vec![leaf("x")]), Node::Inner(random, vec![leaf("y"), leaf("z")])]
    };
    for (nodes, think) in [(plain, "0"), (plain, "1"), (nested, "0")] {
        allocations("1", nodes, think);
        let (few, many) = (allocations("20", nodes, think), allocations("120", nodes, think));
        // A user's memory is allocated once; a thousand more samples need no further allocation.
        assert!(many <= few + 10, "{few} allocations for 20 iterations, {many} for 120");
    }
}

/// A core whose thread blocks outside of the runtime forever.
#[test]
fn a_forced_end_abandons_a_blocked_core_and_keeps_the_samples_of_others() {
    let (block, blocked_for_ever) = blocking::channel::<()>();
    let blocked_for_ever = Mutex::new(blocked_for_ever);
    let (script, seen) = watching(move |user| {
        let core = user.core.as_ref().map_or(0, |core| core.index());
        if core == 1 && user.iteration == 3 {
            user.run.force_end();
            let _ = blocked_for_ever.lock().unwrap().recv();
        }
        Act::Sleep(1_000_000)
    });
    let tear_down = Group { phase: Phase::TearDown, ..group(1, "1", vec![leaf("late")], &script) };
    let ran = run_on(2, program(vec![group(2, "-1", vec![leaf("x")], &script), tear_down]));
    assert_eq!(ran.report.stopped, Some(Stop::Now));
    assert_eq!(ran.report.abandoned.iter().map(|core| core.core).collect::<Vec<_>>(), [1]);
    assert_eq!(ran.report.cores.len(), 2);
    assert!(taken(&seen).iter().all(|sample| sample.group == 0), "no tearDown after a forced end");
    assert!(ran.totals.total.samples > 0, "the samples of the other core are kept");
    assert!(ran.totals.events.is_empty(), "{:?}", ran.totals.events);
    drop(block);
}

/// A core whose users cannot be dropped before an evaluation on another thread has ended.
#[test]
fn a_forced_end_abandons_a_core_that_waits_for_an_evaluation() {
    let (block, blocked_for_ever) = blocking::channel::<()>();
    let blocked_for_ever = Mutex::new(blocked_for_ever);
    let (script, _) = watching(move |user| {
        busyhour_slices::need_coroutines();
        let core = user.core.as_ref().map_or(0, |core| core.index());
        if core == 1 && user.iteration == 3 {
            user.run.force_end();
            let _ = busyhour_slices::run_on_other_thread(1 << 20, || blocked_for_ever.lock().unwrap().recv());
        }
        Act::Sleep(1_000_000)
    });
    let ran = run_on(2, program(vec![group(2, "-1", vec![leaf("x")], &script)]));
    assert_eq!(ran.report.stopped, Some(Stop::Now));
    assert_eq!(ran.report.abandoned.iter().map(|core| core.core).collect::<Vec<_>>(), [1]);
    assert!(ran.totals.total.samples > 0, "the samples of the cores are kept");
    drop(block);
}

#[test]
fn a_graceful_stop_is_forced_after_its_grace_period() {
    let begun = AtomicU32::new(0);
    let (script, _) = watching(move |user| {
        if begun.fetch_add(1, Relaxed) == 2 {
            user.run.stop_within(Stop::Graceful, 1_000_000);
        }
        Act::Never
    });
    let ran = run_on(1, program(vec![group(3, "-1", vec![leaf("x")], &script)]));
    assert_eq!(ran.report.stopped, Some(Stop::Now));
    assert_eq!(ran.report.cores[0].interrupted, 3);
    assert_eq!(ran.report.abandoned, []);
    assert_that_all_users_have_ended(&ran);
}

#[test]
fn a_stop_by_the_plan_is_forced_after_its_grace_period() {
    for stop in [Stop::Graceful, Stop::Now] {
        let begun = AtomicU32::new(0);
        let (script, seen) = watching(move |user| {
            if begun.fetch_add(1, Relaxed) == 2 {
                user.run.limit_plan_stops(1_000_000);
                user.run.stop_by_plan(stop);
            }
            Act::Never
        });
        let tear_down =
            Group { phase: Phase::TearDown, ..group(1, "1", vec![leaf("late")], &always(|| Act::Done)) };
        let ran = run_on(1, program(vec![group(3, "-1", vec![leaf("x")], &script), tear_down]));
        assert_eq!(ran.report.stopped, Some(Stop::Now));
        assert_eq!((ran.report.cores[0].interrupted, taken(&seen).len()), (3, 3));
        assert_that_all_users_have_ended(&ran);
    }
}

#[test]
fn the_grace_period_of_a_stop_by_the_plan_does_not_apply_to_tear_down() {
    let clock = Clock::manual(0);
    let (shared, _) = shared_with(clock.clone(), SEED, 1, Names::default(), 0);
    shared.limit_plan_stops(30);
    shared.stop_by_plan(Stop::Graceful);
    // A later request does not extend the grace period of the first.
    clock.advance(std::time::Duration::from_nanos(10));
    shared.stop_by_plan(Stop::Graceful);
    assert!(!shared.is_forced(Nanos(29)));
    shared.clear_stop();
    assert!(!shared.is_forced(Nanos(1_000)));
    assert_eq!(shared.stop(), Stop::No);
    // A request from outside of the plan applies to tearDown groups as well.
    shared.stop_within(Stop::Graceful, 30);
    shared.clear_stop();
    assert!(shared.is_forced(Nanos(40)));
    assert_eq!(shared.stop(), Stop::Now);
}

#[test]
fn a_core_measures_how_long_its_own_work_blocked_it() {
    // This also applies if the core's last user ends before the next tick.
    for continues_iterating in [true, false] {
        let stalls = stalls_of_a_blocked_core(continues_iterating);
        let [stall] = stalls.stalls() else { panic!("one stall: {stalls:?}") };
        assert_eq!(stall.core, Some(0));
        assert!((1_200_000_000..=1_300_000_000).contains(&stall.length_ns), "{stall:?}");
    }
}

/// The stalls of a core on which a sample uses 1.3 s of CPU time. `continues_iterating`: whether the user continues afterwards.
fn stalls_of_a_blocked_core(continues_iterating: bool) -> StallLog {
    let clock = Clock::manual(0);
    let (shared, _) = shared_with(clock.clone(), SEED, 1, Names::default(), 4);
    let moved = clock.clone();
    let (script, _) = watching(move |user| {
        match user.iteration {
            0..3 => Act::Sleep(150_000_000),
            3 => {
                // The sample uses the CPU for 1.3 s.
                moved.advance(std::time::Duration::from_millis(1_300));
                if continues_iterating { Act::Sleep(150_000_000) } else { Act::Done }
            }
            _ => Act::Done,
        }
    });
    let program = Arc::new(program(vec![group(1, "4", vec![leaf("x")], &script)]));
    let labels = Labels::new();
    let (recorder, mut writers) =
        Recorder::start(recorder_config(1, &labels, RecorderConfig::default())).unwrap();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let stalls = runtime.block_on(async {
        let core = Rc::new(Core::new(0, Arc::clone(&shared), labels, writers.remove(0)).unwrap());
        let start = plan_group(&shared, 0, &program.groups[0], None).unwrap();
        phase(&core, 1, &program, vec![Start::Closed(start)]).await;
        core.stalls.take()
    });
    drop(recorder.finish());
    stalls
}
