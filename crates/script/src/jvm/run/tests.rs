//! Tests that the frames of a run are freed.

use super::super::machine::Machine;
use super::super::parser;
use super::super::supported::test_scope::TestScope;
use crate::java_like::JavaLike;

/// Runs a script. Returns the number of captured frames that were alive before and after the release.
fn frames_alive(text: &str, leaves_objects: bool) -> (usize, usize) {
    let tree = parser::parse(text, JavaLike::Groovy).expect("a script");
    let mut scope = TestScope::default();
    let mut machine = Machine::new(&tree, &mut scope);
    machine.leaves_objects = leaves_objects;
    machine.script(&[]).expect("a value");
    let frames = machine.captured.borrow().clone();
    let alive = || frames.iter().filter(|frame| frame.strong_count() > 0).count();
    let before = alive();
    machine.release();
    (before, alive())
}

#[test]
fn frames_with_closures_are_freed() {
    assert_eq!(frames_alive("def c = { 1 }; c()", false), (1, 0));
    assert_eq!(frames_alive("def f() { def c = { 1 }; c() }; f() + f()", false), (2, 0));
    assert_eq!(frames_alive("class A { def c = { 1 } }; new A(); new A().c()", false), (2, 0));
    // A closure that is stored in a variable of the user retains its frame.
    assert_eq!(frames_alive("def c = { 1 }; c()", true), (1, 1));
}
