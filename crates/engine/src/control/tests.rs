//! Compares the walk with a simple model, and checks that random plans neither panic nor hang.

use std::sync::Arc;

use busyhour_program::clock::Clock;
use busyhour_program::controller::{Condition, Throughput, ThroughputCounts, TransactionSettings};
use busyhour_program::symbols::LAST_SAMPLE_OK;
use busyhour_program::template::{Segment, Template};
use busyhour_program::variables::Names;
use proptest::prelude::*;

use super::*;
use crate::testing::{
    Act, Fake, Node, Script, always, group, leaf, lone_user, looped, run_with_stopped_clock, shared_with,
};

#[derive(Debug)]
struct Fixed(bool);

impl Condition for Fixed {
    fn holds(&self, _user: &mut UserState) -> bool {
        self.0
    }
}

fn literal(number: i64) -> Template {
    Template::literal(&number.to_string())
}

fn script() -> Script {
    always(|| Act::Done)
}

/// Labels of the first samplers that a user runs, `most` at most, and whether the walk ended with them.
fn walked(group: &Group<Fake>, user: &mut UserState, most: usize) -> (Vec<String>, bool) {
    let mut place = UserPosition::new(group.controllers.len());
    Walk::new(group, &mut place, user).initialize(ROOT);
    let mut labels = Vec::new();
    for _ in 0..most {
        let next = Walk::new(group, &mut place, user).next_sampler(ROOT).unwrap();
        match next {
            Next::Sampler(id) => {
                labels.push(group.samplers[id.0 as usize].label.source().to_owned());
            }
            Next::Nothing if Walk::new(group, &mut place, user).is_over(ROOT) => return (labels, true),
            Next::Nothing | Next::Yield | Next::Transaction(_) => {}
        }
    }
    (labels, false)
}

fn labels(loops: &str, nodes: Vec<Node>) -> String {
    let (labels, over) = walked(
        &group(1, loops, nodes, &script()),
        &mut lone_user(&run_with_stopped_clock(&Clock::manual(0)), 0),
        10_000,
    );
    assert!(over, "the walk ends");
    labels.join(" ")
}

fn inner(kind: ControllerKind, children: Vec<Node>) -> Node {
    Node::Inner(kind, children)
}

fn interleave() -> ControllerKind {
    ControllerKind::Interleave { use_sub_controllers: false, across_users: false }
}

fn percent(share: f64) -> ControllerKind {
    let amount = Throughput::Percent(Template::literal(&share.to_string()));
    ControllerKind::Throughput { amount, per_user: true, shared: Arc::default() }
}

fn total(most: i64) -> ControllerKind {
    ControllerKind::Throughput {
        amount: Throughput::Total(literal(most)),
        per_user: true,
        shared: Arc::default(),
    }
}

/// The behaviour of a plan, written without JMeter's state machine: one call is one pass.
enum Model {
    Leaf(String),
    Simple(Vec<Model>, u32),
    Loop(u32, Vec<Model>),
    If(bool, Vec<Model>, u32),
    Once(Vec<Model>),
    Take(Vec<Model>, usize),
    Share(f64, Vec<Model>, u32, u32),
    Total(u32, Vec<Model>, u32),
}

impl Model {
    /// `first`: whether this is the first pass of the enclosing controller (of a loop: the first one of this round).
    fn pass(&mut self, first: bool, out: &mut Vec<String>) {
        let all = |children: &mut Vec<Model>, first: bool, out: &mut Vec<String>| {
            for child in children {
                child.pass(first, out);
            }
        };
        match self {
            Self::Leaf(label) => out.push(label.clone()),
            Self::Simple(children, passes) => {
                all(children, *passes == 0, out);
                *passes += 1;
            }
            Self::Loop(count, children) => {
                for round in 0..*count {
                    all(children, round == 0, out);
                }
            }
            Self::If(holds, children, passes) => {
                if *holds {
                    all(children, *passes == 0, out);
                    *passes += 1;
                }
            }
            Self::Once(children) => {
                if first {
                    all(children, false, out);
                }
            }
            Self::Take(children, next) => {
                if !children.is_empty() {
                    let count = children.len();
                    children[*next % count].pass(false, out);
                    *next += 1;
                }
            }
            Self::Share(share, children, passes, runs) => {
                *passes += 1;
                // The share closest to the requested one after this number of passes.
                if (f64::from(*runs) + 0.5) / f64::from(*passes) < *share / 100.0 {
                    *runs += 1;
                    all(children, false, out);
                }
            }
            Self::Total(most, children, runs) => {
                if *runs < *most {
                    *runs += 1;
                    all(children, false, out);
                }
            }
        }
    }
}

/// A plan that can be built both as nodes and as a [`Model`].
#[derive(Clone, Debug)]
enum Spec {
    Leaf,
    Simple(Vec<Spec>),
    Loop(u32, Vec<Spec>),
    If(bool, Vec<Spec>),
    Once,
    Take(usize),
    Any(usize),
    Shuffle(usize),
    Share(u32),
    Total(u32),
}

impl Spec {
    fn node(&self, name: &mut u32) -> Node {
        let many = |children: &[Spec], name: &mut u32| children.iter().map(|spec| spec.node(name)).collect();
        let mut own = || {
            *name += 1;
            leaf(&name.to_string())
        };
        match self {
            Spec::Leaf => own(),
            Spec::Once => inner(ControllerKind::OnceOnly, vec![own()]),
            Spec::Take(count) => inner(interleave(), (0..*count).map(|_| own()).collect()),
            // The model does not predict which child is drawn, only how often one is drawn: all children have the same name.
            Spec::Any(count) => {
                *name += 1;
                let kind = ControllerKind::Random { use_sub_controllers: false };
                inner(kind, (0..*count).map(|_| leaf(&name.to_string())).collect())
            }
            Spec::Shuffle(count) => {
                *name += 1;
                inner(ControllerKind::RandomOrder, (0..*count).map(|_| leaf(&name.to_string())).collect())
            }
            Spec::Share(share) => inner(percent(f64::from(*share)), vec![own()]),
            Spec::Total(most) => inner(total(i64::from(*most)), vec![own()]),
            Spec::Simple(children) => inner(ControllerKind::Simple, many(children, name)),
            Spec::Loop(count, children) => looped(&count.to_string(), many(children, name)),
            Spec::If(holds, children) => {
                let kind = ControllerKind::If { condition: Box::new(Fixed(*holds)), evaluate_all: false };
                inner(kind, many(children, name))
            }
        }
    }

    fn model(&self, name: &mut u32) -> Model {
        let many = |children: &[Spec], name: &mut u32| children.iter().map(|spec| spec.model(name)).collect();
        let mut own = || {
            *name += 1;
            Model::Leaf(name.to_string())
        };
        match self {
            Spec::Leaf => own(),
            Spec::Once => Model::Once(vec![own()]),
            Spec::Take(count) => Model::Take((0..*count).map(|_| own()).collect(), 0),
            Spec::Any(count) => {
                *name += 1;
                let one = (*count > 0).then(|| Model::Leaf(name.to_string()));
                Model::Simple(one.into_iter().collect(), 0)
            }
            Spec::Shuffle(count) => {
                *name += 1;
                Model::Simple((0..*count).map(|_| Model::Leaf(name.to_string())).collect(), 0)
            }
            Spec::Share(share) => Model::Share(f64::from(*share), vec![own()], 0, 0),
            Spec::Total(most) => Model::Total(*most, vec![own()], 0),
            Spec::Simple(children) => Model::Simple(many(children, name), 0),
            Spec::Loop(count, children) => Model::Loop(*count, many(children, name)),
            Spec::If(holds, children) => Model::If(*holds, many(children, name), 0),
        }
    }
}

fn specs(depth: u32) -> BoxedStrategy<Vec<Spec>> {
    let flat = prop_oneof![
        4 => Just(Spec::Leaf),
        1 => Just(Spec::Once),
        1 => (0_usize..4).prop_map(Spec::Take),
        1 => (0_usize..4).prop_map(Spec::Any),
        1 => (0_usize..4).prop_map(Spec::Shuffle),
        1 => (1_u32..=100).prop_map(Spec::Share),
        1 => (0_u32..5).prop_map(Spec::Total),
    ];
    if depth == 0 {
        return prop::collection::vec(flat, 0..4).boxed();
    }
    let below = specs(depth - 1);
    let one = prop_oneof![
        3 => flat,
        1 => below.clone().prop_map(Spec::Simple),
        1 => (0_u32..4, below.clone()).prop_map(|(count, below)| Spec::Loop(count, below)),
        1 => (any::<bool>(), below).prop_map(|(holds, below)| Spec::If(holds, below)),
    ];
    prop::collection::vec(one, 0..4).boxed()
}

proptest! {
    #[test]
    fn plans_run_the_samplers_that_the_model_predicts(specs in specs(2), loops in 1_u32..5) {
        let nodes: Vec<Node> = specs.iter().scan(0, |name, spec| Some(spec.node(name))).collect();
        let models = specs.iter().scan(0, |name, spec| Some(spec.model(name))).collect();
        let mut expected = Vec::new();
        Model::Loop(loops, models).pass(true, &mut expected);
        prop_assert_eq!(labels(&loops.to_string(), nodes), expected.join(" "));
    }
}

/// A controller of any kind with arbitrary children.
fn wild(depth: u32) -> BoxedStrategy<Wild> {
    let text = prop::sample::select(vec!["-1", "0", "1", "3", "2147483647", "99999999999", "", "x", "false"]);
    let leaf = Just(Wild { kind: 0, text: "", flags: (false, false), below: Vec::new() });
    if depth == 0 {
        return leaf.boxed();
    }
    let below = prop::collection::vec(wild(depth - 1), 0..4);
    let node = (1_u8..12, text, any::<(bool, bool)>(), below).prop_map(|(kind, text, flags, below)| Wild {
        kind,
        text,
        flags,
        below,
    });
    prop_oneof![1 => leaf, 3 => node].boxed()
}

#[derive(Clone, Debug)]
struct Wild {
    kind: u8,
    text: &'static str,
    flags: (bool, bool),
    below: Vec<Wild>,
}

impl Wild {
    fn node(&self) -> Node {
        let text = || Template::literal(self.text);
        let (a, b) = self.flags;
        let kind = match self.kind {
            0 => return leaf("leaf"),
            1 => ControllerKind::Simple,
            2 => ControllerKind::Loop { count: text(), forever: a },
            3 => ControllerKind::If { condition: Box::new(Fixed(a)), evaluate_all: b },
            4 => ControllerKind::While { condition: text() },
            5 => ControllerKind::ForEach {
                input: Template::literal("in"),
                output: Template::literal("out"),
                start: text(),
                end: if a { text() } else { Template::default() },
                separator: b,
            },
            6 => ControllerKind::OnceOnly,
            7 => ControllerKind::Interleave { use_sub_controllers: a, across_users: b },
            8 => ControllerKind::Random { use_sub_controllers: a },
            9 => ControllerKind::RandomOrder,
            10 => {
                let amount = if a { Throughput::Total(text()) } else { Throughput::Percent(text()) };
                let shared = Arc::<ThroughputCounts>::default();
                ControllerKind::Throughput { amount, per_user: b, shared }
            }
            _ => ControllerKind::Transaction(Box::new(TransactionSettings {
                parent: a,
                include_timers: b,
                assertions: Box::default(),
                listeners: 0,
                sample_listeners: Box::default(),
            })),
        };
        inner(kind, self.below.iter().map(Wild::node).collect())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Each call returns after a bounded number of turns, for every plan and also after jumps.
    #[test]
    fn no_plan_panics_or_hangs(
        plan in prop::collection::vec(wild(4), 0..4),
        jumps in prop::collection::vec((0_u8..6, 0_usize..4), 60),
        number in 0_u32..5,
    ) {
        let group = group(1, "-1", plan.iter().map(Wild::node).collect(), &script());
        let mut user = lone_user(&run_with_stopped_clock(&Clock::manual(0)), number);
        for (name, value) in [("in_1", "a"), ("in_2", "b"), ("in1", "c"), (LAST_SAMPLE_OK, "true")] {
            user.variables.set(name, value);
        }
        let mut place = UserPosition::new(group.controllers.len());
        Walk::new(&group, &mut place, &mut user).initialize(ROOT);
        for (jump, level) in jumps {
            let mut walk = Walk::new(&group, &mut place, &mut user);
            let next = walk.next_sampler(ROOT).unwrap();
            let Next::Sampler(id) = next else {
                let _ = walk.is_over(ROOT);
                continue;
            };
            let ancestors = &group.samplers[id.0 as usize].ancestors;
            if jump < 3 {
                for id in ancestors.iter().take(level) {
                    walk.leave(*id);
                }
                let target = ancestors[level.min(ancestors.len() - 1)];
                match jump {
                    0 => walk.start_next_loop(target),
                    1 => walk.break_loop(target),
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn loops_repeat_their_children_and_run_once_only_children_once() {
    assert_eq!(labels("2", vec![leaf("a"), looped("3", vec![leaf("b")])]), "a b b b a b b b");
    let once = || inner(ControllerKind::OnceOnly, vec![leaf("o")]);
    assert_eq!(labels("3", vec![once(), leaf("a")]), "o a a a");
    assert_eq!(labels("2", vec![looped("2", vec![once(), leaf("a")])]), "o a a o a a");
    assert_eq!(labels("0", vec![leaf("a")]), "");
    assert_eq!(labels("x", vec![leaf("a")]), "");
}

#[test]
fn interleave_takes_turns_and_users_begin_with_different_children() {
    let nodes = || ["a", "b", "c"].map(leaf).into();
    assert_eq!(labels("4", vec![inner(interleave(), nodes()), leaf("-")]), "a - b - c - a -");
    let kind = ControllerKind::Interleave { use_sub_controllers: false, across_users: true };
    let group = group(3, "3", vec![inner(kind, nodes())], &script());
    let shared = run_with_stopped_clock(&Clock::manual(0));
    let of = |number| walked(&group, &mut lone_user(&shared, number), 100).0.join(" ");
    assert_eq!([of(0), of(1), of(2), of(3)], ["a b c", "b c a", "c a b", "a b c"]);
}

#[test]
fn interleave_of_blocks_and_of_their_samplers() {
    let blocks = || {
        vec![
            inner(ControllerKind::Simple, vec![leaf("a"), leaf("b")]),
            inner(ControllerKind::Simple, vec![leaf("c"), leaf("d")]),
        ]
    };
    let style = |use_sub_controllers| ControllerKind::Interleave { use_sub_controllers, across_users: false };
    assert_eq!(labels("4", vec![inner(style(false), blocks())]), "a c b d");
    assert_eq!(labels("4", vec![inner(style(true), blocks())]), "a b c d a b c d");
}

#[test]
fn random_draws_evenly() {
    let kind = ControllerKind::Random { use_sub_controllers: false };
    let drawn = labels("4000", vec![inner(kind, ["a", "b", "c", "d"].map(leaf).into())]);
    for label in ["a", "b", "c", "d"] {
        let count = drawn.split(' ').filter(|drawn| *drawn == label).count();
        // 1000 expected, standard deviation √(4000·¼·¾) ≈ 27.
        assert!((900..1100).contains(&count), "{label}: {count}");
    }
}

#[test]
fn random_order_shuffles_evenly_and_omits_no_child() {
    let nodes = ["a", "b", "c"].map(leaf).into();
    let walked = labels("1200", vec![inner(ControllerKind::RandomOrder, nodes)]).replace(' ', "");
    let passes: Vec<&str> = (0..1200).map(|pass| &walked[pass * 3..pass * 3 + 3]).collect();
    for order in ["abc", "acb", "bac", "bca", "cab", "cba"] {
        let count = passes.iter().filter(|pass| **pass == order).count();
        // 200 expected, standard deviation √(1200·⅙·⅚) ≈ 13.
        assert!((140..260).contains(&count), "{order}: {count}");
    }
}

#[test]
fn throughput_controllers_count_over_all_users() {
    for (amount, expected) in [
        (Throughput::Total(literal(7)), 7),
        (Throughput::Percent(literal(25)), 10),
        (Throughput::Percent(literal(0)), 0),
        (Throughput::Percent(literal(100)), 40),
    ] {
        let kind = ControllerKind::Throughput { amount, per_user: false, shared: Arc::default() };
        let group = group(4, "10", vec![inner(kind, vec![leaf("x")]), leaf("-")], &script());
        let shared = run_with_stopped_clock(&Clock::manual(0));
        let mut places: Vec<_> = (0..4).map(|_| UserPosition::new(group.controllers.len())).collect();
        let mut users: Vec<_> = (0..4).map(|number| lone_user(&shared, number)).collect();
        for (place, user) in places.iter_mut().zip(&mut users) {
            Walk::new(&group, place, user).initialize(ROOT);
        }
        let mut count = 0;
        for _ in 0..50 {
            for (place, user) in places.iter_mut().zip(&mut users) {
                let next = Walk::new(&group, place, user).next_sampler(ROOT).unwrap();
                let Next::Sampler(id) = next else { continue };
                count += usize::from(group.samplers[id.0 as usize].label.source() == "x");
            }
        }
        assert_eq!(count, expected);
    }
}

/// Names with a slot for `v`, and a template of `${v}`.
fn variable() -> (Names, Template) {
    let mut names = Names::default();
    let slot = names.slot("v");
    (names, Template::new("${v}", vec![Segment::Variable(slot)]))
}

#[test]
fn while_ends_at_a_false_condition_or_with_a_blank_one_at_a_failed_sample() {
    let run = |condition: Template, names: Names, change: &dyn Fn(usize, &mut UserState)| {
        let kind = ControllerKind::While { condition };
        let group = group(1, "1", vec![inner(kind, vec![leaf("a"), leaf("b")]), leaf("end")], &script());
        let mut user = lone_user(&shared_with(Clock::manual(0), 1, 1, names, 0).0, 0);
        user.variables.set("v", "true");
        user.variables.set(LAST_SAMPLE_OK, "true");
        change(0, &mut user);
        let mut place = UserPosition::new(group.controllers.len());
        Walk::new(&group, &mut place, &mut user).initialize(ROOT);
        let mut out = String::new();
        for step in 1..100 {
            match Walk::new(&group, &mut place, &mut user).next_sampler(ROOT).unwrap() {
                Next::Sampler(id) => out.push_str(group.samplers[id.0 as usize].label.source()),
                _ => return out,
            }
            change(step, &mut user);
        }
        out
    };
    let (names, condition) = variable();
    let stops_in_third_pass = |step: usize, user: &mut UserState| {
        if step == 5 {
            user.variables.set("v", " False ");
        }
    };
    assert_eq!(run(condition, names, &stops_in_third_pass), "abababend");
    let fails_at = |at: usize| {
        move |step: usize, user: &mut UserState| {
            user.variables.set(LAST_SAMPLE_OK, if step == at { "false" } else { "true" });
        }
    };
    assert_eq!(run(Template::default(), Names::default(), &fails_at(4)), "ababend");
    // If the condition is blank, samples before the loop are ignored; with LAST, they count.
    assert_eq!(run(Template::default(), Names::default(), &fails_at(2)), "abend");
    assert_eq!(run(Template::literal("LAST"), Names::default(), &fails_at(0)), "end");
}

#[test]
fn for_each_ends_at_the_first_missing_variable() {
    let run = |start: &str, end: &str, values: &[(&str, &str)]| {
        let kind = ControllerKind::ForEach {
            input: Template::literal("in"),
            output: Template::literal("out"),
            start: Template::literal(start),
            end: Template::literal(end),
            separator: true,
        };
        let group = group(1, "2", vec![inner(kind, vec![leaf("a")]), leaf("-")], &script());
        let mut user = lone_user(&run_with_stopped_clock(&Clock::manual(0)), 0);
        for (name, value) in values {
            user.variables.set(name, value);
        }
        let mut place = UserPosition::new(group.controllers.len());
        Walk::new(&group, &mut place, &mut user).initialize(ROOT);
        let mut out = String::new();
        for _ in 0..40 {
            match Walk::new(&group, &mut place, &mut user).next_sampler(ROOT).unwrap() {
                Next::Sampler(id) if group.samplers[id.0 as usize].label.source() == "a" => {
                    out.push_str(user.variables.get("out").unwrap_or("?"));
                }
                Next::Sampler(_) => out.push('-'),
                _ => {}
            }
        }
        out
    };
    let values = [("in_1", "x"), ("in_2", "y"), ("in_3", "z"), ("in_5", "gap")];
    assert_eq!(run("", "", &values), "xyz-xyz-");
    assert_eq!(run("1", "2", &values), "y-y-");
    assert_eq!(run("0", "9", &values), "xyz-xyz-");
    assert_eq!(run("", "", &[]), "--");
}

#[test]
fn an_empty_endless_loop_yields_its_core() {
    let kind = ControllerKind::While { condition: Template::literal("true") };
    let never = ControllerKind::If { condition: Box::new(Fixed(false)), evaluate_all: false };
    let plan = vec![inner(kind, vec![inner(never, vec![leaf("a")])])];
    let group = group(1, "1", plan, &script());
    let mut user = lone_user(&run_with_stopped_clock(&Clock::manual(0)), 0);
    let mut place = UserPosition::new(group.controllers.len());
    Walk::new(&group, &mut place, &mut user).initialize(ROOT);
    for _ in 0..3 {
        assert_eq!(Walk::new(&group, &mut place, &mut user).next_sampler(ROOT), Ok(Next::Yield));
    }
}

#[test]
fn a_walk_depends_only_on_the_user_s_number_and_the_seed() {
    let nodes = || {
        let random = ControllerKind::Random { use_sub_controllers: true };
        vec![
            inner(random, ["a", "b", "c", "d", "e"].map(leaf).into()),
            inner(ControllerKind::RandomOrder, ["1", "2", "3", "4"].map(leaf).into()),
        ]
    };
    let group = group(3, "30", nodes(), &script());
    let shared = run_with_stopped_clock(&Clock::manual(0));
    let of = |number| walked(&group, &mut lone_user(&shared, number), 1000).0;
    assert_eq!(of(0), of(0));
    assert_ne!(of(0), of(1));
    let other = shared_with(Clock::manual(0), 7, 1, Names::default(), 0).0;
    assert_ne!(of(0), walked(&group, &mut lone_user(&other, 0), 1000).0);
}

mod choosing;
