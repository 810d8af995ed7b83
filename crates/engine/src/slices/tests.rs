//! Tests users that share a core with a user that has a long evaluation.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use busyhour_program::Program;
use busyhour_program::element::Processor;
use busyhour_program::group::Group;
use busyhour_program::run::Stop;
use busyhour_program::user::UserState;
use busyhour_slices::{slices, tick};

use crate::testing::{Act, Fake, Script, TestRun, always, group, leaf, program, run_on};

#[derive(Debug)]
struct Nothing;

impl Processor for Nothing {
    fn process(&self, _user: &mut UserState) {}
}

/// Users with one sampler that has a pre-processor.
fn users(count: u32, loops: &str, script: &Script) -> Group<Fake> {
    let mut group = group(count, loops, vec![leaf("x")], script);
    group.samplers[0].before = [Arc::new(Nothing) as Arc<dyn Processor>].into();
    group
}

/// Number of steps after which a long evaluation ends in any case.
const STEPS_MAX: u64 = 1 << 28;

/// An evaluation that lasts until `is_over`; returns the number of slices that its core ended meanwhile.
fn evaluate_until(is_over: impl Fn() -> bool) -> u64 {
    let before = slices();
    for _ in 0..STEPS_MAX {
        tick(1);
        if is_over() {
            break;
        }
    }
    slices() - before
}

/// Users with a sampler that evaluates functions and has no processors.
fn users_of_functions(count: u32, loops: &str, script: &Script) -> Group<Fake> {
    group(count, loops, vec![leaf("x")], script)
}

/// Runs users with a long evaluation each and one user with many short samples on one core.
fn run_together(long_users: u32, samples: u64) -> (TestRun, Vec<u64>) {
    run_both(long_users, samples, users, false)
}

/// As [`run_together`], with users created by `users`. `evaluates`: whether the functions of the program evaluate scripts.
fn run_both(
    long_users: u32,
    samples: u64,
    users: fn(u32, &str, &Script) -> Group<Fake>,
    evaluates: bool,
) -> (TestRun, Vec<u64>) {
    let made = Arc::new(AtomicU64::new(0));
    let taken = Arc::new(std::sync::Mutex::new(Vec::new()));
    let (seen, slices_taken) = (Arc::clone(&made), Arc::clone(&taken));
    let long = always(move || {
        let slices = evaluate_until(|| seen.load(Ordering::Relaxed) >= samples);
        slices_taken.lock().unwrap().push(slices);
        Act::Done
    });
    let counted = Arc::clone(&made);
    let short = always(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        // Continues after the runtime has polled for events, as after a read from a socket.
        Act::Yield
    });
    let groups = vec![users(long_users, "1", &long), users(1, &samples.to_string(), &short)];
    let ran = run_on(1, Program { evaluates, ..program(groups) });
    assert_eq!(made.load(Ordering::Relaxed), samples);
    let taken = taken.lock().unwrap().clone();
    (ran, taken)
}

#[test]
fn a_user_makes_samples_while_another_one_evaluates() {
    let (ran, slices) = run_together(1, 100);
    assert_eq!((ran.totals.total.samples, ran.report.cores[0].died), (101, 0));
    assert!(slices[0] >= 50, "{slices:?}");
}

#[test]
fn the_first_evaluation_of_a_function_is_sliced_too() {
    let (ran, slices) = run_both(1, 100, users_of_functions, true);
    assert_eq!((ran.totals.total.samples, ran.report.cores[0].died), (101, 0));
    assert!(slices[0] >= 50, "{slices:?}");
}

#[test]
fn one_slice_runs_between_two_events_of_a_user_for_any_number_of_evaluations() {
    let (ran, slices) = run_together(20, 60);
    assert_eq!((ran.totals.total.samples, ran.report.cores[0].died), (80, 0));
    // All long evaluations run their first slice before any event; after that, there is one slice per sample of the other user.
    let all = *slices.iter().max().unwrap();
    assert!((60..=20 + 60 + 20).contains(&all), "{slices:?}");
}

#[test]
fn a_run_that_is_stopped_at_once_drops_evaluations_that_are_suspended() {
    struct Held(Arc<AtomicU64>);
    impl Drop for Held {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let dropped = Arc::new(AtomicU64::new(0));
    let held = Arc::clone(&dropped);
    let long: Script = Arc::new(move |user| {
        let _held = Held(Arc::clone(&held));
        user.run.stop_by_plan(Stop::Now);
        evaluate_until(|| false);
        Act::Done
    });
    let ran = run_on(1, program(vec![users(3, "1", &long)]));
    assert_eq!(ran.totals.total.samples, 0);
    let begun = ran.report.cores[0].interrupted;
    assert_eq!(dropped.load(Ordering::Relaxed), begun);
    assert!(begun > 0 && ran.report.cores[0].died == 0 && ran.report.abandoned.is_empty());
}

#[test]
fn a_panic_in_a_slice_ends_its_user_only() {
    let count = AtomicU64::new(0);
    let broken = always(move || {
        evaluate_until(|| slices() > 3);
        if count.fetch_add(1, Ordering::Relaxed) == 0 {
            std::panic::resume_unwind(Box::new("broken"));
        }
        Act::Done
    });
    let ran = run_on(1, program(vec![users(2, "1", &broken)]));
    assert_eq!((ran.report.cores[0].died, ran.totals.total.samples), (1, 1));
}
