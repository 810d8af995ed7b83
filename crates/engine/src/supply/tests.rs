//! Groups whose plugins control their number of users, on a simulated clock.

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use busyhour_arrivals::ArrivalProcess;
use busyhour_program::clock::Clock;
use busyhour_program::group::Group;
use busyhour_program::open::{NoFreeUser, OpenWorkload};
use busyhour_program::population::{Level, Lifetimes, Population, lifetimes};
use busyhour_program::run::{RunShared, Stop};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_program::variables::Names;
use busyhour_record::{Recorder, RecorderConfig};
use busyhour_sample::{Labels, Nanos};

use crate::core::Core;
use crate::open::dispatch::OpenStart;
use crate::runner::{Start, phase, plan_lifetimes};
use crate::testing::{
    Act, Fake, SEED, Script, group, leaf, program, recorder_config, shared_with, with_timers,
};
use crate::think::{ThinkLaw, ThinkTimer};

const MS: u64 = 1_000_000;

/// The start in milliseconds and the user of each sample.
type Seen = Vec<(u64, u32)>;

/// A group in which each sample takes 100 ms, and the samples that it records.
fn watched(
    population: Population,
    passes: &str,
    then: fn(&mut UserState),
) -> (Group<Fake>, Arc<Mutex<Seen>>) {
    let seen: Arc<Mutex<Seen>> = Arc::default();
    let sink = Arc::clone(&seen);
    let script: Script = Arc::new(move |user: &mut UserState| {
        sink.lock().unwrap().push((user.now().0 / MS, user.number));
        then(user);
        Act::Sleep(100 * MS)
    });
    let group =
        Group { population: Some(Box::new(population)), ..group(1, passes, vec![leaf("get")], &script) };
    (group, seen)
}

/// Runs one group on one core in simulated time; returns the state that its users share, and the time in ms at which the last
/// one ended.
fn run(group: Group<Fake>, open: Option<OpenWorkload>) -> (Arc<RunShared>, u64) {
    let (shared, _) = shared_with(Clock::manual(0), SEED, 1, Names::default(), 4);
    let labels = Labels::new();
    let (recorder, mut writers) =
        Recorder::start(recorder_config(1, &labels, RecorderConfig::default())).unwrap();
    let start = match (&open, group.population.as_deref()) {
        (Some(open), _) => {
            let most = match open.no_free_user {
                NoFreeUser::Grow(most) | NoFreeUser::GrowOrDrop(most) => most,
                NoFreeUser::Queue | NoFreeUser::Drop => 1,
            };
            Start::Open(OpenStart { workload: 0, first: Nanos(0), users: vec![(0, most)] })
        }
        (None, Some(Population::Lifetimes(lifetimes))) => {
            Start::Closed(plan_lifetimes(&shared, 0, lifetimes, None).unwrap())
        }
        _ => Start::Level(0),
    };
    let mut program = program(vec![group]);
    program.open = open.into_iter().collect();
    let program = Arc::new(program);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let core = Rc::new(Core::new(0, Arc::clone(&shared), labels, writers.remove(0)).unwrap());
        phase(&core, 1, &program, vec![start]).await;
        core.flush();
    });
    let _ = recorder.finish();
    let end = shared.clock.now().0 / MS;
    (shared, end)
}

fn level(target: &str, ramp_up: &str, steps: &str, hold: &str) -> Population {
    let [target, ramp_up, steps, hold] = [target, ramp_up, steps, hold].map(Template::literal);
    Population::Level(Level { target, ramp_up, steps, hold, unit_s: 1 })
}

/// Number of users with a sample at `ms` milliseconds or in the 99 milliseconds before.
fn users_at(seen: &Seen, ms: u64) -> usize {
    let window = ms.saturating_sub(99)..=ms;
    let mut users: Vec<_> =
        seen.iter().filter(|(at, _)| window.contains(at)).map(|(_, user)| *user).collect();
    users.sort_unstable();
    users.dedup();
    users.len()
}

#[test]
fn a_level_is_checked_every_second_and_ends() {
    let (group, seen) = watched(level("10", "10", "", "5"), "-1", |_| {});
    let (shared, end) = run(group, None);
    let seen = seen.lock().unwrap();
    // The first user starts when the ramp reaches half a user, which rounds to one; then the level is checked every second.
    assert_eq!(seen[0], (500, 0));
    let levels: Vec<_> = [400, 600, 1_600, 5_600, 9_400, 11_000, 14_900].map(|ms| users_at(&seen, ms)).into();
    assert_eq!(levels, [0, 1, 2, 6, 9, 10, 10]);
    // The last check is at 15.5 s.
    assert!((15_500..15_700).contains(&end), "{end}");
    assert_eq!(shared.active.load(std::sync::atomic::Ordering::Relaxed), 0);
}

#[test]
fn a_user_that_ends_is_replaced_at_once() {
    let (group, seen) = watched(level("2", "", "", "1"), "3", |_| {});
    run(group, None);
    let seen = seen.lock().unwrap();
    let of = |user: u32| seen.iter().filter(|(_, number)| *number == user).count();
    assert_eq!((of(0), of(1), of(2), of(3), of(4), of(5)), (3, 3, 3, 3, 3, 3));
    assert!(seen.iter().all(|(at, _)| users_at(&seen, *at) <= 2));
}

#[test]
fn users_end_when_the_level_falls() {
    #[derive(Debug)]
    struct Sinking;
    impl busyhour_program::template::Function for Sinking {
        fn evaluate(&self, user: &mut UserState, out: &mut String) {
            out.push_str(if user.now().0 < 2_000 * MS { "8" } else { "3" });
        }
    }
    let target = Template::new("", vec![busyhour_program::template::Segment::Function(Arc::new(Sinking))]);
    let level = Level {
        target,
        ramp_up: Template::literal(""),
        steps: Template::literal(""),
        hold: Template::literal("4"),
        unit_s: 1,
    };
    let (group, seen) = watched(Population::Level(level), "-1", |_| {});
    run(group, None);
    let seen = seen.lock().unwrap();
    let levels: Vec<_> = [1_000, 1_900, 2_300, 3_900].map(|ms| users_at(&seen, ms)).into();
    assert_eq!(levels, [8, 8, 3, 3]);
}

#[test]
fn without_a_target_no_user_starts() {
    for population in [level("0", "", "", "9"), level("5", "soon", "", "9"), level("5", "", "x", "9")] {
        let (group, seen) = watched(population, "-1", |_| {});
        let (_, end) = run(group, None);
        assert!(seen.lock().unwrap().is_empty() && end < 100, "{end}");
    }
}

#[test]
fn a_stop_ends_a_level() {
    let (group, seen) = watched(level("3", "", "", "3600"), "-1", |user| {
        if user.now().0 > 1_000 * MS {
            user.run.stop_by_plan(Stop::Graceful);
        }
    });
    let (_, end) = run(group, None);
    assert!(seen.lock().unwrap().len() <= 36 && end < 3_000, "{end}");
}

#[test]
fn users_start_and_end_at_their_individual_times() {
    let row = lifetimes::UltimateRow {
        users: Template::literal("4"),
        delay_s: Template::literal("1"),
        startup_s: Template::literal("4"),
        hold_s: Template::literal("10"),
        shutdown_s: Template::literal("2"),
    };
    let (group, seen) = watched(Population::Lifetimes(Lifetimes::Ultimate(vec![row])), "-1", |_| {});
    let (_, end) = run(group, None);
    let seen = seen.lock().unwrap();
    let first = |user: u32| seen.iter().find(|(_, number)| *number == user).unwrap().0;
    let last = |user: u32| seen.iter().rfind(|(_, number)| *number == user).unwrap().0;
    assert_eq!([0, 1, 2, 3].map(first), [5_000, 4_000, 3_000, 2_000]);
    // 10 s after the last start, the last user ends after half a second and the first one after two seconds.
    assert_eq!([0, 1, 2, 3].map(last), [16_900, 16_400, 15_900, 15_400]);
    assert_eq!(end, 17_000);
}

#[test]
fn a_think_time_beyond_the_end_of_a_lifetime_ends_the_user() {
    let text = Template::literal;
    let steps = lifetimes::Steps {
        users: text("2"),
        delay_s: text("0"),
        burst: text("0"),
        step_users: text("1"),
        step_period_s: text("1"),
        ramp_up_s: text("0"),
        hold_s: text("5"),
        stop_users: text("1"),
        stop_period_s: text("3"),
    };
    let (group, seen) = watched(Population::Lifetimes(Lifetimes::Stepping(Box::new(steps))), "-1", |_| {});
    let group = with_timers(group, vec![Arc::new(ThinkTimer(ThinkLaw::Constant(3_900 * MS)))]);
    let (_, end) = run(group, None);
    // The second user ends at 9 s, during its third think time, which would last until 12.9 s.
    assert_eq!(*seen.lock().unwrap(), [(3_900, 0), (4_900, 1), (8_900, 1)]);
    assert_eq!(end, 9_000);
}

fn arrivals(at_ms: &[u64], end_ms: u64, no_free_user: NoFreeUser) -> OpenWorkload {
    OpenWorkload {
        process: ArrivalProcess::from_times("test", at_ms.iter().map(|ms| ms * MS).collect(), end_ms * MS),
        groups: vec![(0, 1.0)],
        no_free_user,
        users: None,
        seed: None,
        ends_with_schedule: false,
    }
}

/// Time, user, iteration and a variable of each sample.
type Sampled = Arc<Mutex<Vec<(u64, u32, u32, Option<String>)>>>;

#[test]
fn a_user_continues_with_the_next_arrival() {
    let seen: Sampled = Arc::default();
    let sink = Arc::clone(&seen);
    let script: Script = Arc::new(move |user: &mut UserState| {
        let left = user.variables.get("left").map(str::to_owned);
        user.variables.set("left", &user.iteration.to_string());
        sink.lock().unwrap().push((user.now().0 / MS, user.number, user.iteration, left));
        Act::Sleep(100 * MS)
    });
    let body = Group {
        population: Some(Box::new(Population::Arrivals)),
        ..group(1, "-1", vec![leaf("get")], &script)
    };
    run(body, Some(arrivals(&[0, 200, 250, 400], 1_000, NoFreeUser::Grow(u32::MAX))));
    let seen = seen.lock().unwrap();
    let passes: Vec<_> = seen.iter().map(|(at, user, pass, _)| (*at, *user, *pass)).collect();
    assert_eq!(passes[..3], [(0, 0, 1), (200, 0, 2), (250, 1, 1)]);
    assert_eq!(passes[3].0, 400);
    assert!(
        seen[1].3.as_deref() == Some("1") && seen[2].3.is_none(),
        "the variables of a user are kept for its next arrival"
    );
}

#[test]
fn arrivals_beyond_the_limit_are_lost_and_sessions_end_with_the_schedule() {
    let both = |no_free_user| {
        let (group, seen) = watched(Population::Arrivals, "-1", |_| {});
        let mut body = group;
        // More passes over the same sampler make the session longer.
        body.controllers[0].children = [body.controllers[0].children[0]; 5].into();
        let (_, end) = run(body, Some(arrivals(&[0, 100, 200, 300], 350, no_free_user)));
        (std::mem::take(&mut *seen.lock().unwrap()), end)
    };
    let (seen, end) = both(NoFreeUser::Grow(u32::MAX));
    assert_eq!(seen.len(), 4 + 3 + 2 + 1, "no sample starts after 350 ms: {seen:?}");
    assert_eq!(end, 400);
    let (seen, end) = both(NoFreeUser::GrowOrDrop(1));
    // Because arrivals were lost, the plugin waits for the session to end.
    assert_eq!((seen.len(), end), (5, 500));
}

#[test]
fn a_pause_stops_users_before_their_next_sample_and_delays_no_start() {
    /// A target number of users that is checked every second, also during a pause. It pauses and resumes the run.
    #[derive(Debug)]
    struct Pausing;
    impl busyhour_program::template::Function for Pausing {
        fn evaluate(&self, user: &mut UserState, out: &mut String) {
            let (now, control) = (user.now(), &user.run.control);
            match now.0 / (1_000 * MS) {
                2..5 => control.pause(now).map(drop).unwrap(),
                5.. => control.resume(now).map(drop).unwrap(),
                _ => {}
            }
            out.push('4');
        }
    }
    let target = Template::new("", vec![busyhour_program::template::Segment::Function(Arc::new(Pausing))]);
    let [ramp_up, steps, hold] = ["", "", "8"].map(Template::literal);
    let level = Level { target, ramp_up, steps, hold, unit_s: 1 };
    let (group, seen) = watched(Population::Level(level), "-1", |user| {
        if user.now() > user.result.times.intended {
            user.run.properties.set("late", "somebody");
        }
    });
    let (shared, _) = run(group, None);
    let seen = seen.lock().unwrap();
    let begun = |from: u64, to: u64| seen.iter().filter(|(at, _)| (from..to).contains(at)).count();
    // 4 users with 10 samples per second each. A core notices the end of a pause at its next tick.
    assert_eq!(begun(2_100, 5_000), 0);
    assert!((78..=84).contains(&begun(0, 2_100)), "{}", begun(0, 2_100));
    assert_eq!(begun(5_101, 7_101), 80);
    assert_eq!(shared.properties.get("late"), None);
}
