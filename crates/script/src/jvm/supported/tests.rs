//! Calls every method name on a sample of every kind of receiver.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use jiff::tz::TimeZone;

use super::super::classes::Class;
use super::super::fault::Cause;
use super::super::library;
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::tree::{Function, Parameter, Tree, Type};
use super::super::value::{Order, V};
use super::super::{Language, known, patterns, random, stack};
use crate::{Level, Scope};

/// A user without anything.
pub(in crate::jvm) struct Nobody;

impl Scope for Nobody {
    fn get(&self, _name: &str) -> Option<String> {
        None
    }
    fn set(&mut self, _name: &str, _value: &str) {}
    fn remove(&mut self, _name: &str) {}
    fn property(&self, _name: &str) -> Option<String> {
        None
    }
    fn set_property(&mut self, _name: &str, _value: &str) {}
    fn log(&mut self, _level: Level, _message: &str) {}
    fn thread_number(&self) -> u32 {
        0
    }
    fn thread_name(&self) -> String {
        String::new()
    }
    fn wall_clock_ms(&self) -> i64 {
        0
    }
    fn random_bits(&mut self) -> u64 {
        7
    }
    fn format_date(&self, _pattern: &str, _ms: i64, _zone: &TimeZone) -> Result<String, String> {
        Ok(String::new())
    }
    fn parse_date(&self, _pattern: &str, _text: &str, _zone: &TimeZone) -> Result<Option<i64>, String> {
        Ok(Some(0))
    }
}

fn tree() -> Tree {
    let names = vec![Arc::from("it"), Arc::from("other")];
    Tree {
        language: Language::Groovy,
        text: Arc::from(""),
        statements: Vec::new(),
        names,
        classes: Vec::new(),
        warnings: Vec::new(),
        opens_request: false,
    }
}

/// A closure that gives null.
fn closure(machine: &Machine<'_>, parameters: u32) -> V {
    let parameter = |name| Parameter { name, declared: Type::ANY, default: None };
    let function = Function {
        name: "closure".into(),
        parameters: (0..parameters).map(parameter).collect(),
        implicit: false,
        body: Vec::new(),
        result: Type::ANY,
    };
    machine.closure(&Arc::new(function), &std::rc::Rc::default())
}

fn receivers(machine: &Machine<'_>) -> Vec<(&'static str, V)> {
    let items = || vec![V::int(3), V::int(1)];
    vec![
        ("String", V::text("a1")),
        ("Integer", V::int(2)),
        ("Long", V::long(2)),
        ("BigDecimal", V::Plain(crate::Value::Decimal(crate::java_like::Decimal::whole(2)))),
        ("Double", V::double(2.5)),
        ("Boolean", V::truth(true)),
        ("List", V::list(items())),
        ("Range", V::range(vec![V::int(1), V::int(2)], "1..2")),
        ("Set", V::set(items(), Order::Added)),
        ("Map", V::map(vec![(V::text("a"), V::int(1))])),
        ("Array", V::array(items(), super::super::tree::Base::Int)),
        ("Closure", closure(machine, 0)),
        (
            "StringBuilder",
            V::object(Object::Builder(RefCell::new("ab".into()), Class::known("StringBuilder"))),
        ),
        ("Date", V::object(Object::Date(Cell::new(0)))),
        ("Random", V::object(Object::Random(RefCell::new(random::JavaRandom::new(1))))),
        ("SimpleDateFormat", V::object(Object::DateFormat("yyyy".into(), RefCell::default()))),
        ("Pattern", V::object(Object::Pattern("a".into()))),
        ("Matcher", V::object(Object::Matcher(patterns::Matcher::new("a(.)", "a1")))),
        ("JsonSlurper", V::object(Object::Slurper)),
        ("Atomic", V::object(Object::Atomic(Cell::new(1), Class::known("AtomicInteger")))),
        ("Entry", V::object(Object::Entry(V::text("a"), V::int(1)))),
        ("Iterator", V::object(Object::Iterator(RefCell::new(items().into_iter().collect())))),
    ]
}

fn arguments(machine: &Machine<'_>) -> Vec<V> {
    vec![
        V::int(1),
        V::text("a"),
        closure(machine, 1),
        closure(machine, 2),
        V::list(vec![V::int(1)]),
        V::map(vec![(V::text("a"), V::int(1))]),
        V::truth(true),
        V::Plain(crate::Value::Character(97)),
        V::object(Object::Date(Cell::new(1))),
        V::object(Object::Zone(TimeZone::UTC, "UTC".into())),
        V::Class(Class::known("String")),
        V::NULL,
    ]
}

/// Lists of so many arguments to try.
fn combinations(machine: &Machine<'_>, count: u32) -> Vec<Vec<V>> {
    let all = arguments(machine);
    let few = &all[..6];
    match count {
        0 => vec![Vec::new()],
        1 => all.into_iter().map(|one| vec![one]).collect(),
        2 => few.iter().flat_map(|a| few.iter().map(move |b| vec![a.clone(), b.clone()])).collect(),
        _ => vec![
            vec![V::int(1), V::int(1), V::int(1)],
            vec![V::int(5), V::int(1), closure(machine, 1)],
            vec![V::int(0), V::int(1), V::text("a")],
            vec![V::text("a"), V::int(1), V::text("a")],
        ],
    }
}

/// What the interpreter has, in the notation of the table.
fn probed() -> String {
    let tree = tree();
    let mut scope = Nobody;
    let kinds: Vec<&str> =
        receivers(&Machine::new(&tree, &mut scope)).iter().map(|(kind, _)| *kind).collect();
    let given: Vec<Vec<Vec<V>>> =
        (0..=3).map(|count| combinations(&Machine::new(&tree, &mut scope), count)).collect();
    let mut found: BTreeMap<&str, BTreeMap<&str, BTreeSet<u32>>> = BTreeMap::new();
    for (at, kind) in kinds.into_iter().enumerate() {
        for method in known::methods() {
            for count in 0..=3_u32 {
                let any = given[count as usize].iter().any(|given| {
                    let _run = stack::begin();
                    let mut machine = Machine::new(&tree, &mut scope);
                    let object = receivers(&machine).swap_remove(at).1;
                    let outcome = library::dispatch(&mut machine, &object, method, given);
                    !matches!(outcome, Err(fault) if matches!(fault.cause, Cause::Unsupported(_)))
                });
                if any {
                    found.entry(kind).or_default().entry(method).or_default().insert(count);
                }
            }
        }
    }
    let mut text = String::new();
    for (kind, methods) in found {
        let words: Vec<String> = methods
            .into_iter()
            .map(|(method, counts)| {
                format!("{method}/{}", counts.iter().map(u32::to_string).collect::<String>())
            })
            .collect();
        writeln!(text, "{kind}: {}", words.join(" ")).expect("text");
    }
    text
}

#[test]
fn what_check_accepts_is_there() {
    let (table, found) = (include_str!("../supported_methods.txt"), probed());
    if table != found {
        let made = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/supported_methods.txt");
        std::fs::write(made, &found).expect("written");
        for (listed, called) in table.lines().zip(found.lines()) {
            assert_eq!(listed, called, "supported_methods.txt differs; the right one is {made}");
        }
    }
    assert_eq!(table, found);
    assert!(super::has("List", "collect", 1) && !super::has("List", "toUpperCase", 0));
}
