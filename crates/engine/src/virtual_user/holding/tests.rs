//! Users on several cores that wait for one another.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use busyhour_program::controller::{ControllerKind, CriticalSection};
use busyhour_program::element::{Processor, Timer};
use busyhour_program::sampler::FailureAction;
use busyhour_program::template::Template;
use busyhour_program::user::{LogicalAction, StateId};

use crate::barrier::SynchronizingTimer;
use crate::queues::{PopIntoVariable, PutIntoQueue};
use crate::testing::{Act, Node, Script, group, leaf, program, run_on};

fn section(state: u32, lock: &str, children: Vec<Node>) -> Node {
    let section = CriticalSection { lock: Template::literal(lock), held: StateId(state) };
    Node::Inner(ControllerKind::Critical(section), children)
}

#[test]
fn one_user_at_a_time_is_in_a_critical_section() {
    let inside = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&inside);
    let script: Script = Arc::new(move |user| {
        match user.result.label.as_str() {
            "in" => assert_eq!(seen.fetch_add(1, Ordering::SeqCst), 0, "alone"),
            "out" => assert_eq!(seen.fetch_sub(1, Ordering::SeqCst), 1, "alone"),
            _ => assert_eq!(seen.load(Ordering::SeqCst), 1, "inside"),
        }
        Act::Yield
    });
    // The inner section uses a lock that the user already holds.
    let nodes =
        || vec![section(0, "one", vec![leaf("in"), section(1, "one", vec![leaf("deep")]), leaf("out")])];
    let ran = run_on(3, program(vec![group(8, "5", nodes(), &script), group(4, "5", nodes(), &script)]));
    assert_eq!(ran.totals.total.samples, 12 * 5 * 3);
    assert_eq!(ran.report.cores.iter().map(|core| core.died).sum::<u64>(), 0, "{:?}", ran.log);
    assert_eq!(inside.load(Ordering::SeqCst), 0);
}

#[test]
fn users_meet_at_a_synchronizing_timer() {
    let arrived = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&arrived);
    let script: Script = Arc::new(move |user| {
        if user.result.label == "before" {
            seen.fetch_add(1, Ordering::SeqCst);
        } else {
            assert!(seen.load(Ordering::SeqCst) >= 3, "three users have arrived before one continues");
        }
        Act::Done
    });
    for (size, users) in [("3", 6), ("0", 3)] {
        arrived.store(0, Ordering::SeqCst);
        let timer = SynchronizingTimer::new("meet".into(), Template::literal(size), Template::literal("0"));
        let mut group = group(users, "1", vec![leaf("before"), leaf("together")], &script);
        group.samplers[1].timers = vec![Arc::new(timer) as Arc<dyn Timer>].into();
        let ran = run_on(2, program(vec![group]));
        assert_eq!(ran.totals.total.samples, u64::from(users) * 2);
        assert_eq!(ran.report.cores.iter().map(|core| core.died).sum::<u64>(), 0, "{:?}", ran.log);
    }
}

#[test]
fn if_the_wait_of_one_user_times_out_all_users_continue() {
    let script: Script = Arc::new(|_| Act::Done);
    let timer = SynchronizingTimer::new("meet".into(), Template::literal("9"), Template::literal("20"));
    let mut group = group(2, "1", vec![leaf("alone")], &script);
    group.samplers[0].timers = vec![Arc::new(timer) as Arc<dyn Timer>].into();
    let ran = run_on(2, program(vec![group]));
    assert_eq!(ran.totals.total.samples, 2);
    assert!(ran.log.iter().any(|line| line.contains("meet timeouted waiting for users after: 20ms")));
}

#[test]
fn a_user_waits_for_a_text_that_another_one_puts_into_a_queue() {
    let script: Script = Arc::new(|user| {
        if user.result.label == "read" {
            assert_eq!(user.variables.get("x"), Some("text"));
        }
        Act::Yield
    });
    let mut reader = group(3, "2", vec![leaf("read")], &script);
    let literal = Template::literal;
    let pop = PopIntoVariable { queue: literal("q"), variable: literal("x"), timeout_s: literal("") };
    reader.samplers[0].before = vec![Arc::new(pop) as Arc<dyn Processor>].into();
    let mut writer = group(2, "3", vec![leaf("write")], &script);
    let put = PutIntoQueue { queue: literal("q"), value: literal("text") };
    writer.samplers[0].after = vec![Arc::new(put) as Arc<dyn Processor>].into();
    let ran = run_on(2, program(vec![reader, writer]));
    assert_eq!(ran.totals.total.samples, 12);
    assert_eq!(ran.report.cores.iter().map(|core| core.died).sum::<u64>(), 0, "{:?}", ran.log);
    assert!(ran.shared.queues.named("q").is_empty());
}

#[test]
fn a_sample_that_takes_too_long_is_abandoned() {
    let script: Script = Arc::new(|user| if user.result.label == "stuck" { Act::Never } else { Act::Done });
    let mut group = group(2, "2", vec![leaf("stuck"), leaf("after")], &script);
    for sampler in &mut group.samplers {
        sampler.timeouts_ms = vec![Template::literal("0"), Template::literal("10")].into();
    }
    let ran = run_on(1, program(vec![group]));
    assert_eq!((ran.totals.total.samples, ran.totals.total.errors), (8, 4));
    assert_eq!(ran.report.cores[0].interrupted, 0, "the abandoned sample is recorded");
}

#[test]
fn a_failure_triggers_the_action_of_its_handler() {
    let script: Script = Arc::new(|user| if user.result.label == "fails" { Act::Fail } else { Act::Done });
    for (action, samples) in [
        (FailureAction::Jump(LogicalAction::NextIterationOfThread), 3),
        (FailureAction::StopUser, 1),
        (FailureAction::Jump(LogicalAction::Continue), 6),
    ] {
        let mut group = group(1, "3", vec![leaf("fails"), leaf("behind")], &script);
        group.samplers[0].on_failure = vec![action].into();
        assert_eq!(run_on(1, program(vec![group])).totals.total.samples, samples, "{action:?}");
    }
}
