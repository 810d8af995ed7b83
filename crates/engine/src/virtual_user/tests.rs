//! Tests the elements around a sampler, and transactions.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use busyhour_program::clock::Clock;
use busyhour_program::controller::{ControllerKind, TransactionSettings};
use busyhour_program::element::{Assertion, AssertionScope, Delay, Processor, Timer};
use busyhour_program::result::{Retention, SampleResult};
use busyhour_program::sampler::Protocol as _;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::{AssertionResult, Nanos, SampleKind};

use super::VirtualUser;
use crate::phase_users::PanicReport;
use crate::testing::{
    Act, Fake, Node, Script, TestRun, always, group, leaf, lone_user, program, run_on, run_with_stopped_clock,
};

type Order = Arc<Mutex<Vec<String>>>;

/// An element that can take any role and records its calls.
#[derive(Debug)]
struct Note {
    name: &'static str,
    order: Order,
    /// Whether the assertion fails.
    fails: bool,
}

impl Note {
    fn reported(&self, user: &UserState) {
        let line = format!("{} {}{}", self.name, user.iteration, if user.has_result { " r" } else { "" });
        self.order.lock().unwrap().push(line);
    }
}

impl Processor for Note {
    fn process(&self, user: &mut UserState) {
        self.reported(user);
    }
}

impl Timer for Note {
    fn delay(&self, user: &mut UserState) -> Delay {
        self.reported(user);
        Delay::default()
    }
}

impl Assertion for Note {
    fn name(&self, _user: &mut UserState) -> String {
        self.name.to_owned()
    }

    fn scope(&self) -> AssertionScope {
        AssertionScope::Parent
    }

    fn check(&self, user: &mut UserState, _result: &SampleResult) -> AssertionResult {
        self.reported(user);
        AssertionResult { failure: self.fails, message: self.name.to_owned(), ..AssertionResult::default() }
    }

    fn retention(&self) -> Retention {
        Retention::default()
    }
}

#[test]
fn elements_around_a_sampler_run_in_jmeters_order() {
    let order = Order::default();
    let note = |name, fails| Arc::new(Note { name, order: Arc::clone(&order), fails });
    let seen = Arc::clone(&order);
    let script: Script = Arc::new(move |user| {
        seen.lock().unwrap().push(format!("sample {}", user.iteration));
        Act::Done
    });
    let mut one = group(1, "2", vec![leaf("x")], &script);
    let package = &mut one.samplers[0];
    package.before = vec![note("pre a", false) as Arc<dyn Processor>, note("pre b", false)].into();
    package.timers = vec![note("timer", false) as Arc<dyn Timer>].into();
    package.after = vec![note("post", false) as Arc<dyn Processor>].into();
    package.assertions =
        vec![note("good", false) as Arc<dyn Assertion>, note("bad", true), note("worse", true)].into();
    let ran = run_on(1, program(vec![one]));
    let order = order.lock().unwrap();
    let first = ["pre a 1", "pre b 1", "timer 1", "sample 1", "post 1 r", "good 1 r", "bad 1 r", "worse 1 r"];
    assert_eq!(order[..8], first);
    assert_eq!((order.len(), order[8].as_str()), (16, "pre a 2 r"), "the previous result remains available");
    assert_eq!((ran.totals.total.samples, ran.totals.total.errors), (2, 2));
}

fn transaction(parent: bool, children: Vec<Node>) -> Node {
    let settings = TransactionSettings {
        parent,
        include_timers: false,
        assertions: Box::default(),
        listeners: 0,
        sample_listeners: Box::default(),
    };
    Node::Inner(ControllerKind::Transaction(Box::new(settings)), children)
}

/// Label, kind, number of samples and number of errors of each row of the table.
fn rows(ran: &TestRun) -> Vec<(String, SampleKind, u64, u64)> {
    let row = |label: &busyhour_sample::LabelTotals| {
        (label.name.clone(), label.kind, label.totals.samples, label.totals.errors)
    };
    let mut rows: Vec<_> = ran.totals.labels.iter().map(row).collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    rows
}

#[test]
fn a_transaction_is_recorded_in_addition_to_or_instead_of_its_children() {
    for parent in [false, true] {
        let count = AtomicU64::new(0);
        // The second sample of the second pass fails.
        let script = always(move || match count.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            3 => Act::Fail,
            _ => Act::Sleep(1_000_000),
        });
        let nodes = vec![transaction(parent, vec![leaf("a"), leaf("b")])];
        let ran = run_on(1, program(vec![group(1, "3", nodes, &script)]));
        let expected = [
            ("a", SampleKind::Request, 3, 0),
            ("b", SampleKind::Request, 3, 1),
            ("controller 1", SampleKind::Transaction, 3, 1),
        ];
        assert_eq!(
            rows(&ran),
            expected.map(|(name, kind, samples, errors)| (name.into(), kind, samples, errors))
        );
        assert_eq!(ran.totals.total.samples, 6, "the total counts requests");
    }
}

#[test]
fn an_empty_transaction_and_transactions_within_transactions() {
    for parent in [false, true] {
        let script = always(|| Act::Done);
        let inner = transaction(parent, vec![leaf("a"), leaf("b")]);
        let nodes = vec![transaction(parent, vec![inner, leaf("c")]), transaction(parent, Vec::new())];
        let ran = run_on(1, program(vec![group(2, "5", nodes, &script)]));
        let requests = rows(&ran).into_iter().filter(|row| row.1 == SampleKind::Request);
        assert_eq!(requests.map(|row| row.2).collect::<Vec<_>>(), [10, 10, 10]);
        let of = |name: &str| rows(&ran).into_iter().find(|row| row.0 == name).map(|row| row.2);
        assert_eq!((of("controller 1"), of("controller 2")), (Some(10), Some(10)), "parent: {parent}");
    }
}

#[test]
fn a_pause_after_failures_delays_the_next_intended_start() {
    const PAUSE_NS: u64 = 20_000_000;
    let starts = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&starts);
    let script: Script = Arc::new(move |user| {
        user.run.failure_pause_ns.store(PAUSE_NS, std::sync::atomic::Ordering::Relaxed);
        let mut starts = seen.lock().unwrap();
        starts.push((user.result.times.intended, user.now()));
        // The third sample succeeds, so the fourth follows immediately.
        if starts.len() == 3 { Act::Done } else { Act::Fail }
    });
    let ran = run_on(1, program(vec![group(1, "4", vec![leaf("x")], &script)]));
    let starts = starts.lock().unwrap();
    assert_eq!((ran.totals.total.samples, ran.totals.total.errors), (4, 3));
    for pair in starts[..3].windows(2) {
        assert!(pair[1].0 >= pair[0].1 + PAUSE_NS, "{starts:?}");
    }
}

/// The size of the future that a function returns.
fn size_of_user_future<R>(_: fn(VirtualUser<Fake>) -> R) -> usize {
    size_of::<R>()
}

/// The size of a future.
fn size_of_future(future: &impl Future) -> usize {
    size_of_val(future)
}

/// Every user has this memory as long as it exists, and a run may have tens of thousands of users.
#[test]
fn a_user_is_stored_once_and_needs_little_more_than_one_sample() {
    let mut user = lone_user(&run_with_stopped_clock(&Clock::manual(0)), 0);
    let (fake, label) = (Fake(always(|| Act::Done)), Template::literal("a"));
    let sample = size_of_future(&fake.sample(&mut user, &mut (), &label, Nanos::ZERO, Retention::default()));
    let own = size_of::<VirtualUser<Fake>>();
    assert!(own <= 900, "{own} bytes");
    let work = size_of_user_future(VirtualUser::<Fake>::run);
    assert!(
        work <= own + sample + 512,
        "{work} bytes, of which {own} for the user and {sample} for a sample"
    );
    // The memory of a task is a multiple of 128 bytes.
    let report = size_of::<PanicReport>();
    assert!(report <= 56, "{report} bytes");
}
