//! Tests that evaluations of all kinds give the same results with and without suspension, while other evaluations run.

use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread::Thread;

use busyhour_jsonpath::JsonPath;
use busyhour_program::symbols::Symbols;
use busyhour_slices::{Polled, SlicedPoll, need_coroutines, slices, suspend_every};
use busyhour_xml::ReadOptions;

use crate::html::{Selector, TextBudget, parse};
use crate::jmespath::{self, JmesPath};
use crate::testing::user_logging;

type Evaluate = fn() -> String;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn matches(pattern: &str, text: &str) -> String {
    let pattern = busyhour_oro::cached(pattern).expect("a pattern");
    let mut all = Vec::new();
    let found = pattern.each_match(text, |groups| {
        all.push(format!("{:?}-{}", groups.whole(), groups.get(1).unwrap_or("")));
        ControlFlow::Continue(())
    });
    format!("{all:?} {found:?} {:?} {:?}", pattern.contains(text), pattern.matches(text))
}

fn json() -> String {
    let items: Vec<String> =
        (0..300).map(|n| format!(r#"{{"id":{n},"tags":["a{n}",{{"b":{}}}]}}"#, n % 7)).collect();
    format!("[{}]", items.join(","))
}

fn markup() -> String {
    let items: Vec<String> =
        (0..60).map(|n| format!(r#"<p id="p{n}"><b>{n}</b> and <i>more</i></p>"#)).collect();
    format!("<div>{}</div>", items.join("<div>").to_owned() + &"</div>".repeat(59))
}

fn evaluate_text(text: &str) -> String {
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let mut user = user_logging(&Symbols::default(), 0, Arc::clone(&log));
    user.variables.set("again", "<${__eval(${once})}>");
    user.variables.set("once", "<${__groovy((1..300).sum())}>");
    let value = busyhour_functions::evaluate_text(text, &mut user);
    format!("{value} {:?}", log.lock().expect("no panic while logging"))
}

/// An evaluation of each kind. Each takes thousands of steps.
const EVALUATIONS: &[(&str, Evaluate)] = &[
    ("backtracking expression", || matches("(a|b|ab)*(?=c)", &"abababx".repeat(20))),
    ("the same expression", || matches("(a|b|ab)*(?=c)", &"abcabx".repeat(30))),
    ("expression without steps", || matches("([a-z]+)[0-9]", &"some1 words2 ".repeat(500))),
    ("empty matches", || matches("x*", &"axxb".repeat(100))),
    ("JSON path", || {
        let document = busyhour_jsonpath::read(&json()).expect("JSON");
        let path = JsonPath::compile("$..[?(@.b > 3)]").expect("a path");
        format!("{:?}", path.find_all(&document).map(|found| found.len()))
    }),
    ("JMESPath", || {
        let document = jmespath::read(&json()).expect("JSON");
        let path = JmesPath::compile("sort_by([?id > `5`], &id)[].tags[1].b | sum(@)").expect("a path");
        format!("{:?}", path.search(&document))
    }),
    ("XPath", || {
        let page = markup();
        let document = busyhour_xml::read(&page, ReadOptions::default()).expect("XML");
        format!("{:?}", busyhour_xml::evaluate(&document, "//p[../../div//b > 30]/i | //b", &[]))
    }),
    ("CSS selector", || {
        let tree = parse(&markup()).expect("a page");
        let found = Selector::parse("div div:has(b) > p:contains(5) b").expect("a selector").select(&tree);
        let mut budget = TextBudget::default();
        let texts = found.expect("few steps").into_iter().map(|id| budget.element_text(&tree, id));
        texts.map(|text| text.expect("few steps")).collect::<Vec<_>>().join(" ")
    }),
    ("Groovy", || {
        evaluate_text(
            "${__groovy(def m = [:]; (1..400).each { m['k' + it] = it * 2 }; m.values().sum() + ('ab' * 9 =~ /(a|b)+(?=b)/).size())}",
        )
    }),
    ("Groovy that nests too deeply", || {
        evaluate_text(
            "${__groovy(def f; f = { n -> n == 0 ? 0 : 1 + f(n - 1) }; try { f(100000) } catch (StackOverflowError e) { 'deep' })}",
        )
    }),
    ("JEXL", || evaluate_text("${__jexl3(var n = 0; for (var i : 1..2000) { n = n + i }; n)}")),
    ("JavaScript", || {
        evaluate_text("${__javaScript(var n = 0; for (var i = 0; i < 60000; i++) { n += i % 7 } n)}")
    }),
    ("JavaScript with Java's objects", || {
        evaluate_text(
            "${__javaScript(var all = ''; for (var i = 0; i < 30000; i++) { vars.put('v'\\, '' + i); if (i % 1000 == 0) { all += vars.get('v') + ' ' } } all)}",
        )
    }),
    ("texts in texts", || evaluate_text("${__eval(${again})}${__eval(${once})}")),
];

#[test]
fn interleaved_evaluations_give_the_same_results() {
    let alone: Vec<String> = EVALUATIONS.iter().map(|(_, evaluate)| evaluate()).collect();
    assert!(alone.iter().all(|found| !found.contains("JMeter would fail")), "{alone:?}");
    need_coroutines();
    suspend_every(20);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    // Run two evaluations of each kind at the same time.
    let twice = EVALUATIONS.iter().zip(&alone).flat_map(|evaluation| [evaluation, evaluation]);
    let mut running: Vec<_> = twice
        .map(|((name, evaluate), alone)| {
            let poll: Pin<Box<_>> = Box::pin(SlicedPoll::new(async { evaluate() }));
            (*name, alone, poll, 0)
        })
        .collect();
    let before = slices();
    while !running.is_empty() {
        running.retain_mut(|(name, alone, evaluation, suspensions)| {
            match evaluation.as_mut().poll(&Context::from_waker(&waker), || 0) {
                Polled::Ready(found) => {
                    assert_eq!(found, **alone, "{name}");
                    assert!(*suspensions > 0, "{name} was not suspended");
                    false
                }
                Polled::Pending | Polled::Suspended => {
                    *suspensions += 1;
                    true
                }
            }
        });
    }
    assert!(slices() - before > 1_000, "{}", slices() - before);
    suspend_every(0);
}

#[test]
fn dropped_evaluations_do_not_affect_later_ones() {
    let alone: Vec<String> = EVALUATIONS.iter().map(|(_, evaluate)| evaluate()).collect();
    need_coroutines();
    suspend_every(20);
    for (_, evaluate) in EVALUATIONS {
        let mut evaluation = Box::pin(SlicedPoll::new(async { evaluate() }));
        for _ in 0..4 {
            let polled = evaluation.as_mut().poll(&Context::from_waker(Waker::noop()), || 0);
            assert!(matches!(polled, Polled::Suspended | Polled::Pending), "{polled:?}");
        }
    }
    suspend_every(0);
    for ((name, evaluate), alone) in EVALUATIONS.iter().zip(&alone) {
        assert_eq!(evaluate(), **alone, "{name}");
    }
}
