//! Open workloads on a simulated clock, with servers that are modelled by a formula.

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use busyhour_arrivals::{ArrivalProcess, RateChange, ScheduleChanges};
use busyhour_program::clock::Clock;
use busyhour_program::controller::{ControllerKind, TransactionSettings};
use busyhour_program::open::{NoFreeUser, OpenWorkload};
use busyhour_program::run::Stop;
use busyhour_program::run_control::PostedChange;
use busyhour_program::sampler::{FlowAction, SamplerKind};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_program::variables::Names;
use busyhour_record::{Recorder, RecorderConfig, RunDir, SamplesReader};
use busyhour_sample::{ArrivalOutcome, ArrivalRecord, Labels, Nanos, RunTotals, Sample, SampleFlags};

use super::ArrivalCounts;
use super::dispatch::OpenStart;
use crate::core::Core;
use crate::runner::{Start, phase};
use crate::testing::{
    Act, BAD_SEED, Fake, Node, SEED, Script, group, leaf, looped, program, recorder_config, shared_with,
    with_timers,
};
use crate::think::{ThinkLaw, ThinkTimer};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;

/// The outcome of a run.
struct TestRun {
    totals: RunTotals,
    counts: ArrivalCounts,
    interrupted: u64,
    died: u64,
    arrivals: Vec<ArrivalRecord>,
    /// Response times of transactions in nanoseconds.
    transactions: Vec<u64>,
    started: u64,
}

fn workload(text: &str, groups: Vec<(u32, f64)>, no_free_user: NoFreeUser) -> OpenWorkload {
    OpenWorkload {
        process: ArrivalProcess::parse(text).unwrap(),
        groups,
        no_free_user,
        users: None,
        seed: None,
        ends_with_schedule: false,
    }
}

/// Runs one open workload on one core in simulated time.
fn run(program: busyhour_program::Program<Fake>, open: OpenWorkload, users: (u32, u32)) -> TestRun {
    run_seeded(SEED, program, open, users)
}

fn run_seeded(
    seed: u64,
    mut program: busyhour_program::Program<Fake>,
    open: OpenWorkload,
    users: (u32, u32),
) -> TestRun {
    let clock = Clock::manual(0);
    let (shared, _) = shared_with(clock, seed, program.groups.len(), Names::default(), 4);
    let folder = tempfile::tempdir().unwrap();
    let labels = Labels::new();
    let config =
        RecorderConfig { dir: Some(folder.path().to_owned()), batches: 4_000, ..RecorderConfig::default() };
    let (recorder, mut writers) = Recorder::start(recorder_config(1, &labels, config)).unwrap();
    let start = OpenStart { workload: 0, first: Nanos(S), users: vec![users; open.groups.len()] };
    program.open = vec![open];
    let program = Arc::new(program);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let (counts, interrupted, died) = runtime.block_on(async {
        let core = Rc::new(Core::new(0, Arc::clone(&shared), labels, writers.remove(0)).unwrap());
        phase(&core, 1, &program, vec![Start::Open(start)]).await;
        core.flush();
        (core.arrivals(), core.interrupted.get(), core.died.get())
    });
    let totals = recorder.finish();
    let (mut arrivals, mut transactions) = (Vec::new(), Vec::new());
    let reader = SamplesReader::open(&RunDir::open(folder.path()).samples_path()).unwrap();
    let see = |_, sample: &Sample<'_>| {
        if sample.flags.contains(SampleFlags::TRANSACTION) {
            transactions.push(sample.response_ns());
        }
    };
    reader.read_with_arrivals(see, |_, arrival| arrivals.push(*arrival)).unwrap();
    let started = shared.started.load(std::sync::atomic::Ordering::Relaxed);
    TestRun { totals, counts, interrupted, died, arrivals, transactions, started }
}

/// A model of a server that answers requests in order, each in `service_ns`, and stalls for a while.
fn queue_with_stall(service_ns: u64, stall: std::ops::Range<u64>) -> Script {
    let free_at = Mutex::new(0);
    Arc::new(move |user: &mut UserState| {
        let now = user.now().0;
        let mut free_at = free_at.lock().unwrap();
        let mut begin = now.max(*free_at);
        if stall.contains(&begin) {
            begin = stall.end;
        }
        *free_at = begin + service_ns;
        Act::Sleep(*free_at - now)
    })
}

/// The response times of the same server for the same schedule, computed without the engine.
fn truth(scheduled: impl Iterator<Item = u64>, service_ns: u64, stall: std::ops::Range<u64>) -> Vec<u64> {
    let mut free_at = 0;
    let mut times: Vec<u64> = scheduled
        .map(|at| {
            let mut begin = at.max(free_at);
            if stall.contains(&begin) {
                begin = stall.end;
            }
            free_at = begin + service_ns;
            free_at - at
        })
        .collect();
    times.sort_unstable();
    times
}

#[test]
fn response_times_include_a_whole_stall_for_any_number_of_users() {
    const SERVICE: u64 = 20_000;
    let stall = 11 * S..13 * S;
    let text = "even(1000/s) for 20s";
    let schedule = ArrivalProcess::parse(text).unwrap().schedule(0).map(|arrival| S + arrival.at_ns);
    let truth = truth(schedule, SERVICE, stall.clone());
    let at = |q: f64| truth[(q * truth.len() as f64).ceil() as usize - 1] as f64 / MS as f64;
    // The arrivals of two seconds wait for up to two seconds; the server catches up quickly.
    assert!(
        (900.0..1_100.0).contains(&at(0.95)) && (1_700.0..1_900.0).contains(&at(0.99)),
        "{} {}",
        at(0.95),
        at(0.99)
    );
    for (policy, users) in [
        (NoFreeUser::Queue, (50, 50)),
        (NoFreeUser::Queue, (500, 500)),
        (NoFreeUser::Grow(10_000), (0, 10_000)),
    ] {
        let script = queue_with_stall(SERVICE, stall.clone());
        let plan = program(vec![group(1, "1", vec![leaf("get")], &script)]);
        let ran = run(plan, workload(text, vec![(0, 1.0)], policy), users);
        assert_eq!((ran.totals.total.samples, ran.counts.begun, ran.counts.dropped), (20_000, 20_000, 0));
        for q in [0.5, 0.9, 0.95, 0.99, 0.999, 1.0] {
            let (measured, true_ms) = (ran.totals.total.response.quantile_ms(q), at(q));
            assert!((measured / true_ms - 1.0).abs() < 0.002, "{policy:?} q {q}: {measured} for {true_ms}");
        }
        // JMeter would report the service times, which show the stall only for the few requests that were in flight.
        if users.1 == 50 {
            assert!(ran.totals.total.service.quantile_ms(0.95) < 30.0);
            assert!(ran.counts.waited > 1_900, "{:?}", ran.counts);
        }
    }
}

#[test]
fn sessions_begin_on_schedule_to_the_nanosecond_and_are_recorded() {
    let script: Script = Arc::new(|_| Act::Sleep(3 * MS));
    let plan = program(vec![group(1, "1", vec![leaf("get")], &script)]);
    let text = "poisson(500/s) for 4s, pause 1s, ramp(100/s -> 900/s) over 2s even";
    let ran = run(plan, workload(text, vec![(0, 1.0)], NoFreeUser::Grow(1_000)), (0, 1_000));
    let seed = busyhour_program::user::stream_key(SEED, u64::MAX, 0, 0);
    let expected: Vec<_> = ArrivalProcess::parse(text)
        .unwrap()
        .schedule(seed)
        .map(|arrival| {
            let at = Nanos(S + arrival.at_ns);
            ArrivalRecord { group: 0, scheduled: at, outcome: ArrivalOutcome::Started { at } }
        })
        .collect();
    assert!(expected.len() > 2_900);
    assert_eq!(ran.arrivals, expected);
    assert_eq!(ran.counts.scheduled, expected.len() as u64);
    assert_eq!((ran.totals.total.samples, ran.started), (expected.len() as u64, expected.len() as u64));
    assert!((ran.totals.total.response.max_ms() - 3.0).abs() < 0.01);
}

#[test]
fn the_end_of_a_schedule_interrupts_no_request() {
    let script: Script = Arc::new(|_| Act::Sleep(2 * S));
    let plan = program(vec![group(1, "1", vec![leaf("get"), leaf("never")], &script)]);
    let mut open = workload("even(10/s) for 500ms", vec![(0, 1.0)], NoFreeUser::Grow(100));
    open.ends_with_schedule = true;
    let ran = run(plan, open, (0, 100));
    // Each session is in its first request when the schedule ends, and does not start a second one.
    assert_eq!((ran.counts.begun, ran.totals.total.samples, ran.interrupted), (5, 5, 0));
    assert_eq!(ran.totals.total.errors, 0);
    assert!((ran.totals.total.service.max_ms() / 2_000.0 - 1.0).abs() < 0.01);
}

#[test]
fn without_an_idle_user_an_arrival_waits_or_is_dropped_as_configured() {
    // One user, 10 ms each, an arrival every 4 ms: only two in five can be served.
    let script: Script = Arc::new(|_| Act::Sleep(10 * MS));
    let plan = || program(vec![group(1, "1", vec![leaf("get")], &script)]);
    let text = "even(250/s) for 2s";
    let dropping = run(plan(), workload(text, vec![(0, 1.0)], NoFreeUser::Drop), (1, 1));
    let counts = dropping.counts;
    assert_eq!((counts.scheduled, counts.begun + counts.dropped, counts.waited), (500, 500, 0));
    assert_eq!(counts.dropped, 333, "a user is free again at every third arrival");
    assert_eq!(
        dropping.arrivals.iter().filter(|arrival| arrival.outcome == ArrivalOutcome::Discarded).count(),
        333
    );
    assert_eq!(dropping.totals.total.samples, 167);
    let waiting = run(plan(), workload(text, vec![(0, 1.0)], NoFreeUser::Queue), (1, 1));
    assert_eq!((waiting.counts.begun, waiting.counts.waited, waiting.counts.dropped), (500, 499, 0));
    // The last one waits until 499 others are done: 499 · 10 ms − 499 · 4 ms, and is served in 10 ms.
    assert!((waiting.totals.total.response.max_ms() / 3_004.0 - 1.0).abs() < 0.002);
    assert!((waiting.totals.total.service.max_ms() - 10.0).abs() < 0.02);
    let growing = run(plan(), workload(text, vec![(0, 1.0)], NoFreeUser::Grow(2)), (0, 2));
    assert_eq!((growing.counts.begun, growing.counts.dropped), (500, 0));
    assert!(growing.counts.waited > 400, "two users are not sufficient, so the other arrivals wait");
}

#[test]
fn think_times_in_a_session_count_from_its_previous_sample() {
    let script: Script = Arc::new(|_| Act::Sleep(5 * MS));
    let body = group(1, "1", vec![leaf("first"), looped("2", vec![leaf("again")])], &script);
    let body = with_timers(body, vec![Arc::new(ThinkTimer(ThinkLaw::Constant(20 * MS)))]);
    let ran = run(
        program(vec![body]),
        workload("even(100/s) for 1s", vec![(0, 1.0)], NoFreeUser::Grow(100)),
        (0, 100),
    );
    assert_eq!((ran.counts.begun, ran.totals.total.samples), (100, 300));
    // No start was late: response time and service time are the same 5 ms for each request.
    assert!((ran.totals.total.response.max_ms() - 5.0).abs() < 0.01);
    assert!(
        (ran.totals.total.span_s() - (0.99 + 3.0 * 0.025 - 0.020)).abs() < 0.001,
        "{}",
        ran.totals.total.span_s()
    );
}

#[test]
fn groups_share_the_arrivals_by_weight() {
    let script: Script = Arc::new(|_| Act::Done);
    let one = |label: &str| group(1, "1", vec![leaf(label)], &script);
    let plan = program(vec![one("browse"), one("buy"), one("never")]);
    let groups = vec![(0, 3.0), (1, 1.0), (2, 0.0)];
    let ran = run(plan, workload("poisson(2000/s) for 10s", groups, NoFreeUser::Grow(100)), (0, 100));
    let count = |group: u32| ran.arrivals.iter().filter(|arrival| arrival.group == group).count() as f64;
    let all = ran.arrivals.len() as f64;
    assert!((count(0) / all - 0.75).abs() < 0.01 && count(2) == 0.0, "{} of {all}", count(0));
    assert_eq!(ran.totals.total.samples as f64, all);
}

#[test]
fn a_pause_before_the_first_request_does_not_hide_that_the_session_began_late() {
    let script: Script = Arc::new(|_| Act::Sleep(10 * MS));
    let mut body = group(1, "1", vec![leaf("pause"), leaf("first"), leaf("pause"), leaf("second")], &script);
    for at in [0, 2] {
        body.samplers[at].kind = SamplerKind::Flow(FlowAction::Pause(Template::literal("10")));
    }
    let ran =
        run(program(vec![body]), workload("even(25/s) for 4s", vec![(0, 1.0)], NoFreeUser::Queue), (1, 1));
    assert_eq!((ran.counts.begun, ran.totals.total.samples), (100, 200));
    assert!((ran.totals.total.response.max_ms() - 10.0).abs() < 0.1, "no session is late");
    // One user needs 20 ms for a pause and a request, and a session arrives every 10 ms: the last of 100 starts 990 ms late.
    let mut body = group(1, "1", vec![leaf("pause"), leaf("first")], &script);
    body.samplers[0].kind = SamplerKind::Flow(FlowAction::Pause(Template::literal("10")));
    let ran =
        run(program(vec![body]), workload("even(100/s) for 1s", vec![(0, 1.0)], NoFreeUser::Queue), (1, 1));
    assert!(
        (ran.totals.total.response.max_ms() / 1_000.0 - 1.0).abs() < 0.002,
        "{}",
        ran.totals.total.response.max_ms()
    );
    assert!((ran.totals.total.service.max_ms() - 10.0).abs() < 0.1);
}

#[test]
fn a_transaction_is_as_late_as_its_session() {
    let script: Script = Arc::new(|_| Act::Sleep(10 * MS));
    for (parent, think) in [(false, false), (true, false), (false, true), (true, true)] {
        let settings = TransactionSettings {
            parent,
            include_timers: false,
            assertions: Box::default(),
            listeners: 0,
            sample_listeners: Box::default(),
        };
        let inside = vec![leaf("first"), leaf("second")];
        let nodes = vec![Node::Inner(ControllerKind::Transaction(Box::new(settings)), inside)];
        let mut body = group(1, "1", nodes, &script);
        if think {
            body = with_timers(body, vec![Arc::new(ThinkTimer(ThinkLaw::Constant(20 * MS)))]);
        }
        let ran = run(
            program(vec![body]),
            workload("even(100/s) for 1s", vec![(0, 1.0)], NoFreeUser::Queue),
            (1, 1),
        );
        // One user serves a session in 20 ms, or in 60 ms with think times. The last session has waited for 99 others and
        // arrived 990 ms after the first. Transactions do not include think times.
        let session_ms = if think { 60 } else { 20 };
        let expected: Vec<u64> = (0..100).map(|n| (n * (session_ms - 10) + 20) * MS).collect();
        assert_eq!(ran.transactions, expected, "parent {parent}, think times {think}");
    }
}

/// Iteration, a random number, and a variable that the previous session set.
type Seen = (u32, u64, Option<String>);

#[test]
fn each_session_is_a_new_user_with_the_random_stream_of_its_arrival() {
    let drawn = |policy: NoFreeUser, users: (u32, u32)| {
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let sink = Arc::clone(&seen);
        let script: Script = Arc::new(move |user: &mut UserState| {
            use rand::Rng as _;
            let left = user.variables.get("left behind").map(str::to_owned);
            user.variables.set("left behind", "by a visitor");
            sink.lock().unwrap().push((user.iteration, user.random.random(), left));
            Act::Sleep(3 * MS)
        });
        let plan = program(vec![group(1, "1", vec![leaf("get")], &script)]);
        run(plan, workload("even(1000/s) for 300ms", vec![(0, 1.0)], policy), users);
        std::mem::take(&mut *seen.lock().unwrap())
    };
    let growing = drawn(NoFreeUser::Grow(1_000), (0, 1_000));
    assert_eq!(growing.len(), 300);
    assert!(growing.iter().all(|(iteration, _, left)| *iteration == 1 && left.is_none()));
    // With a queue, two users serve all arrivals, and serve them later, but the random choices are the same.
    assert_eq!(drawn(NoFreeUser::Queue, (2, 2)), growing);
    let distinct: std::collections::HashSet<u64> = growing.iter().map(|(_, draw, _)| *draw).collect();
    assert_eq!(distinct.len(), 300);
}

#[test]
fn a_stopped_run_reports_the_number_of_waiting_arrivals() {
    let script: Script = Arc::new(|user: &mut UserState| {
        if user.now().0 > S + 500 * MS {
            user.run.stop_by_plan(Stop::Graceful);
        }
        Act::Sleep(100 * MS)
    });
    let plan = program(vec![group(1, "1", vec![leaf("get")], &script)]);
    let ran = run(plan, workload("even(100/s) for 60s", vec![(0, 1.0)], NoFreeUser::Queue), (1, 1));
    assert!(ran.counts.begun < 10 && ran.counts.left_waiting > 40, "{:?}", ran.counts);
    assert_eq!(ran.counts.scheduled, ran.counts.begun + ran.counts.left_waiting);
    assert_eq!(ran.totals.total.samples, ran.counts.begun);
}

#[test]
fn after_a_stop_no_session_begins() {
    for stop in [Stop::Graceful, Stop::Now] {
        let script: Script = Arc::new(move |user: &mut UserState| {
            if user.now().0 > S + 500 * MS {
                user.run.stop_by_plan(stop);
            }
            Act::Sleep(2 * MS)
        });
        let plan = program(vec![group(1, "1", vec![leaf("get")], &script)]);
        let ran = run(plan, workload("even(2000/s) for 60s", vec![(0, 1.0)], NoFreeUser::Queue), (1, 1));
        // One user serves about 250 of the 1,000 arrivals in the half second before the stop; the others are never served.
        assert!(ran.counts.begun < 300 && ran.counts.left_waiting > 700, "{stop:?}: {:?}", ran.counts);
        assert_eq!(ran.counts.scheduled, ran.counts.begun + ran.counts.left_waiting, "{stop:?}");
        assert_eq!(ran.totals.total.samples + ran.interrupted, ran.counts.begun, "{stop:?}");
    }
}

#[test]
fn a_user_that_panics_is_counted_and_does_not_block_the_end() {
    let script: Script = Arc::new(|user: &mut UserState| {
        assert!(user.now().0 < S + 300 * MS, "a panic that the test provokes");
        Act::Sleep(MS)
    });
    let body = || program(vec![group(1, "1", vec![leaf("get")], &script)]);
    let ran = run(body(), workload("even(100/s) for 1s", vec![(0, 1.0)], NoFreeUser::Queue), (2, 2));
    assert_eq!((ran.died, ran.counts.scheduled, ran.counts.begun, ran.counts.left_waiting), (2, 100, 32, 68));
    // Creating the fourth user panics. This ends the dispatcher, so the number of missing arrivals is unknown.
    let script: Script = Arc::new(|_| Act::Sleep(S));
    let body = program(vec![group(1, "1", vec![leaf("get")], &script)]);
    let open = workload("even(100/s) for 1s", vec![(0, 1.0)], NoFreeUser::Grow(100));
    let ran = run_seeded(BAD_SEED, body, open, (0, 100));
    assert!(ran.died >= 1 && ran.counts.begun == 3, "{} {:?}", ran.died, ran.counts);
}

#[test]
fn arrivals_follow_rate_changes_and_pauses_to_the_nanosecond() {
    let text = "poisson(400/s) for 10s, ramp(400/s -> 800/s) over 5s even";
    let posted: Arc<Mutex<Vec<PostedChange>>> = Arc::default();
    let sink = Arc::clone(&posted);
    let script: Script = Arc::new(move |user: &mut UserState| {
        let (now, control) = (user.now(), &user.run.control);
        let mut posted = sink.lock().unwrap();
        // The third change is made while the run is paused: sessions in progress still end.
        let next = match (posted.len(), now.0 / MS) {
            (0, 3_000..) => Some(control.set_rate_factor(now, 2.5).unwrap()),
            (1, 5_000..) => control.pause(now).unwrap(),
            (2, 5_300..) => Some(control.set_rate_factor(now, 0.5).unwrap()),
            (3, 5_900..) => control.resume(now).unwrap(),
            _ => None,
        };
        posted.extend(next);
        Act::Sleep(800 * MS)
    });
    let plan = program(vec![group(1, "1", vec![leaf("get"), leaf("get")], &script)]);
    let ran = run(plan, workload(text, vec![(0, 1.0)], NoFreeUser::Grow(4_000)), (0, 4_000));
    let posted = posted.lock().unwrap();
    let at = |change: usize| posted[change].at.since(Nanos(S));
    let mut changes = ScheduleChanges::default();
    changes.change_rate(RateChange { at_ns: at(0), factor: 2.5 });
    changes.change_rate(RateChange { at_ns: at(2), factor: 0.5 });
    changes.pause(at(1), at(3));
    let process = ArrivalProcess::parse(text).unwrap();
    let expected: Vec<_> = changes
        .schedule(&process, busyhour_program::user::stream_key(SEED, u64::MAX, 0, 0))
        .map(|arrival| {
            let at = Nanos(S + arrival.at_ns);
            ArrivalRecord { group: 0, scheduled: at, outcome: ArrivalOutcome::Started { at } }
        })
        .collect();
    assert_eq!(ran.arrivals, expected);
    assert_eq!(ran.counts.scheduled, expected.len() as u64);
    let all = changes.expected(&process).cumulative(process.duration_ns());
    assert!((expected.len() as f64 - all).abs() < 5.0 * all.sqrt(), "{} of {all}", expected.len());
    // The arrivals in the pause are counted as omitted, and no start is late because of the pause.
    let paused_s = (at(3) - at(1)) as f64 / 1e9;
    let left_out = ran.counts.not_offered as f64;
    assert!(
        left_out > 0.5 * 200.0 * paused_s && left_out < 1.2 * 1_000.0 * paused_s,
        "{left_out} in {paused_s} s"
    );
    assert!((ran.totals.total.response.max_ms() - 800.0).abs() < 1.0);
}
