//! Tests on a simulated clock that the shares of a load together have the users, starts and random choices of the whole load.

use std::rc::Rc;
use std::sync::Mutex;

use busyhour_arrivals::{ArrivalProcess, LoadShare};
use busyhour_program::clock::Clock;
use busyhour_program::controller::{ControllerKind, Throughput};
use busyhour_program::group::Group;
use busyhour_program::open::NoFreeUser;
use busyhour_program::population::{Level, Lifetimes, lifetimes::UltimateRow};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_program::variables::Names;
use busyhour_record::{Recorder, RecorderConfig};
use rand::Rng as _;

use super::*;
use crate::core::Core;
use crate::testing::{Act, Fake, Node, SEED, Script, group, leaf, program, recorder_config, shared_with};

const MS: u64 = 1_000_000;

/// One sample: time in ms, user, iteration and a random number.
type Seen = (u64, u32, u32, u64);

/// Runs a share of a group's load on one core; returns its samples, sorted.
fn run_share(
    share: &LoadShare,
    open: Option<&OpenWorkload>,
    make: &dyn Fn(&Script) -> Group<Fake>,
) -> Vec<Seen> {
    run_share_from(Nanos::ZERO, share, open, make)
}

/// Runs a share of a group's load that is joined at a time.
fn run_share_from(
    joined: Nanos,
    share: &LoadShare,
    open: Option<&OpenWorkload>,
    make: &dyn Fn(&Script) -> Group<Fake>,
) -> Vec<Seen> {
    let (shared, _) = shared_with(Clock::manual(0), SEED, 1, Names::default(), 4);
    shared.part.set_share(share.clone());
    shared.part.join_at(joined);
    let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let sink = Arc::clone(&seen);
    let script: Script = Arc::new(move |user: &mut UserState| {
        let drawn = user.random.random();
        sink.lock().unwrap().push((user.now().0 / MS, user.number, user.iteration, drawn));
        Act::Sleep(100 * MS)
    });
    let mut program = program(vec![make(&script)]);
    program.open = open.cloned().into_iter().collect();
    let program = Arc::new(program);
    let labels = Labels::new();
    // The recorder's thread does not use the clock of the test, so users must not have to wait for it.
    let config = RecorderConfig { batches: 4_000, ..RecorderConfig::default() };
    let (recorder, mut writers) = Recorder::start(recorder_config(1, &labels, config)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let core = Rc::new(Core::new(0, Arc::clone(&shared), labels, writers.remove(0)).unwrap());
        let mut starts = Vec::new();
        let keep = |planned| {
            starts = planned;
            true
        };
        run_groups(&program, &shared, (Phase::Main, None), &mut [None], keep);
        phase(&core, 1, &program, starts).await;
        core.flush();
    });
    let _ = recorder.finish();
    let mut seen = std::mem::take(&mut *seen.lock().unwrap());
    seen.sort_unstable();
    seen
}

/// The samples of all shares together, and the number of samples of each share.
fn run_parts(
    shares: &[LoadShare],
    open: Option<&OpenWorkload>,
    make: &dyn Fn(&Script) -> Group<Fake>,
) -> (Vec<Seen>, Vec<usize>) {
    let parts: Vec<Vec<Seen>> = shares.iter().map(|share| run_share(share, open, make)).collect();
    let counts = parts.iter().map(Vec::len).collect();
    let mut together = parts.concat();
    together.sort_unstable();
    (together, counts)
}

/// Halves, three unequal parts, shares of shares, and more parts than users.
fn divisions() -> [Vec<LoadShare>; 4] {
    let whole = LoadShare::WHOLE;
    let halves = whole.divide(&[1, 1]).unwrap();
    let nested = halves.iter().flat_map(|half| half.divide(&[2, 1]).unwrap()).collect();
    [halves, whole.divide(&[3, 1, 2]).unwrap(), nested, whole.divide(&[1; 11]).unwrap()]
}

fn text(text: &str) -> Template {
    Template::literal(text)
}

#[test]
fn users_of_a_ramp_are_divided() {
    let make = |script: &Script| {
        let random = ControllerKind::Random { use_sub_controllers: false };
        let nodes = vec![Node::Inner(random, vec![leaf("a"), leaf("b")]), leaf("c")];
        Group { ramp_up: text("21"), ..group(7, "3", nodes, script) }
    };
    let whole = run_share(&LoadShare::WHOLE, None, &make);
    assert_eq!(whole.len(), 7 * 3 * 2);
    assert_eq!((whole[0].0, whole[41].1), (0, 6));
    for shares in divisions() {
        let (together, counts) = run_parts(&shares, None, &make);
        assert_eq!(together, whole, "{shares:?}");
        let expected: Vec<u64> = shares.iter().map(|share| share.count_below(7) * 6).collect();
        assert_eq!(counts.iter().map(|count| *count as u64).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn users_with_lifetimes_are_divided() {
    let make = |script: &Script| {
        let row = UltimateRow {
            users: text("8"),
            delay_s: text("1"),
            startup_s: text("4"),
            hold_s: text("3"),
            shutdown_s: text("2"),
        };
        let lifetimes = Lifetimes::Ultimate(vec![row]);
        Group {
            population: Some(Box::new(Population::Lifetimes(lifetimes))),
            ..group(1, "-1", vec![leaf("a")], script)
        }
    };
    let whole = run_share(&LoadShare::WHOLE, None, &make);
    for shares in divisions() {
        assert_eq!(run_parts(&shares, None, &make).0, whole, "{shares:?}");
    }
}

#[test]
fn a_level_is_divided_and_its_users_have_different_numbers() {
    let make = |script: &Script| {
        let [target, ramp_up, steps, hold] = ["9", "6", "3", "4"].map(text);
        let level = Level { target, ramp_up, steps, hold, unit_s: 1 };
        Group {
            population: Some(Box::new(Population::Level(level))),
            ..group(1, "5", vec![leaf("a")], script)
        }
    };
    // Users that run for 0.5 s are replaced immediately, so at any time the number of samples equals the level.
    let active = |seen: &[Seen], at_ms: u64| {
        seen.iter().filter(|(begin_ms, ..)| (*begin_ms..begin_ms + 100).contains(&at_ms)).count()
    };
    let whole = run_share(&LoadShare::WHOLE, None, &make);
    let times = [1_050, 3_050, 5_050, 8_050];
    assert_eq!(times.map(|at_ms| active(&whole, at_ms)), [3, 6, 9, 9]);
    for shares in divisions() {
        let (together, _) = run_parts(&shares, None, &make);
        assert_eq!(times.map(|at_ms| active(&together, at_ms)), [3, 6, 9, 9], "{shares:?}");
        let mut passes: Vec<(u32, u32)> = together.iter().map(|(_, user, pass, _)| (*user, *pass)).collect();
        passes.sort_unstable();
        let count = passes.len();
        passes.dedup();
        assert_eq!(passes.len(), count, "no number is used twice");
    }
}

#[test]
fn arrivals_are_divided_with_their_random_choices() {
    for process in
        ["poisson(40/s) for 5s, even(20/s) for 3s", "gamma(30/s, cov 0.5) for 5s", "fixed(30/s) for 4s"]
    {
        for (is_plugin, no_free_user) in
            [(false, NoFreeUser::Grow(100)), (false, NoFreeUser::Queue), (true, NoFreeUser::GrowOrDrop(50))]
        {
            let open = OpenWorkload {
                process: ArrivalProcess::parse(process).unwrap(),
                groups: vec![(0, 1.0)],
                no_free_user,
                users: Some(text("50")),
                seed: None,
                ends_with_schedule: false,
            };
            let make = |script: &Script| {
                let population = is_plugin.then(|| Box::new(Population::Arrivals));
                let passes = if is_plugin { "-1" } else { "1" };
                Group { population, ..group(1, passes, vec![leaf("a")], script) }
            };
            // The user that serves an arrival depends on other arrivals.
            let starts = |seen: &[Seen]| -> Vec<(u64, u64)> {
                let mut starts: Vec<_> = seen.iter().map(|(at_ms, _, _, drawn)| (*at_ms, *drawn)).collect();
                starts.sort_unstable();
                starts
            };
            let whole = starts(&run_share(&LoadShare::WHOLE, Some(&open), &make));
            for shares in divisions() {
                let (together, _) = run_parts(&shares, Some(&open), &make);
                assert_eq!(starts(&together), whole, "{process} {no_free_user:?} {shares:?}");
            }
        }
    }
}

#[test]
fn total_executions_are_divided() {
    let make = |script: &Script| {
        let amount = Throughput::Total(text("10"));
        let kind = ControllerKind::Throughput { amount, per_user: false, shared: Arc::default() };
        group(11, "20", vec![Node::Inner(kind, vec![leaf("a")])], script)
    };
    for shares in divisions() {
        let (_, counts) = run_parts(&shares, None, &make);
        let expected: Vec<u64> = shares.iter().map(|share| share.count_below(10)).collect();
        assert_eq!(counts.iter().map(|count| *count as u64).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn groups_that_are_not_divided_run_in_one_share() {
    for shares in divisions() {
        let mut runs = Vec::new();
        for share in &shares {
            let (mut shared, log) = shared_with(Clock::manual(0), SEED, 1, Names::default(), 0);
            Arc::get_mut(&mut shared).unwrap().groups[0].is_divided = false;
            shared.part.set_share(share.clone());
            assert_eq!(shared.share_of(0), &LoadShare::WHOLE);
            let script: Script = Arc::new(|_| Act::Done);
            let group = Group { phase: Phase::SetUp, ..group(3, "1", vec![leaf("a")], &script) };
            let program = Arc::new(program(vec![group]));
            run_groups(&program, &shared, (Phase::SetUp, None), &mut [], |starts| {
                runs.push(starts.len());
                true
            });
            let log = log.lock().unwrap();
            let skipped =
                format!("Info the thread group group 1 does not run in the share {share} of the load");
            assert_eq!(*log, if share.is_first() { vec![] } else { vec![skipped] });
        }
        assert_eq!(runs, [1], "{shares:?}");
    }
}

/// A generator that joins later leaves out the arrivals before, and starts the others as the lost one would have done.
#[test]
fn a_joining_generator_continues_the_schedule() {
    let make = |script: &Script| group(40, "1", vec![leaf("a")], script);
    let open = OpenWorkload {
        process: ArrivalProcess::parse("poisson(40/s) for 10s").unwrap(),
        groups: vec![(0, 1.0)],
        no_free_user: NoFreeUser::Grow(100),
        users: Some(text("50")),
        seed: None,
        ends_with_schedule: false,
    };
    let share = LoadShare::part(1, 2).unwrap();
    let times = |seen: &[Seen]| seen.iter().map(|(at, ..)| *at).collect::<Vec<u64>>();
    let whole = times(&run_share(&share, Some(&open), &make));
    let joined = times(&run_share_from(Nanos::from_secs(4), &share, Some(&open), &make));
    let rest: Vec<u64> = whole.into_iter().filter(|at| *at >= 4_000).collect();
    assert!(rest.len() > 80);
    assert_eq!(joined, rest);
}

/// Its users start over the ramp-up.
#[test]
fn users_of_a_joining_generator_start_over_the_ramp_up() {
    let make =
        |script: &Script| Group { ramp_up: Template::literal("8"), ..group(8, "1", vec![leaf("a")], script) };
    let share = LoadShare::part(0, 2).unwrap();
    let seen = run_share_from(Nanos::from_secs(20), &share, None, &make);
    let starts: Vec<(u64, u32)> = seen.iter().map(|(at, user, ..)| (*at, *user)).collect();
    assert_eq!(starts, [(20_000, 0), (22_000, 2), (24_000, 4), (26_000, 6)]);
}
