//! Assertions on a sample's result.

use std::sync::Arc;

use busyhour_program::element::{Assertion, AssertionScope};
use busyhour_program::result::SampleResult;
use busyhour_program::user::UserState;
use busyhour_sample::AssertionResult;

/// Maximum depth of the sub-results that an assertion with the scope "sub-samples" checks, as in JMeter.
const ASSERTION_DEPTH: u32 = 3;

/// Runs the assertions on a result, in order. Failures are added to the result; with `note_all`, assertions that pass are added,
/// too.
pub(crate) fn check_assertions(
    user: &mut UserState,
    assertions: &[Arc<dyn Assertion>],
    result: &mut SampleResult,
    note_all: bool,
) {
    for assertion in assertions {
        let scope = assertion.scope();
        if scope != AssertionScope::Children {
            check_one(user, assertion.as_ref(), result, note_all);
        }
        if scope != AssertionScope::Parent {
            check_children(user, assertion.as_ref(), result, note_all, ASSERTION_DEPTH);
        }
    }
}

fn check_one(user: &mut UserState, assertion: &dyn Assertion, result: &mut SampleResult, note_all: bool) {
    if assertion.assumes_success() {
        result.outcome.success = true;
    }
    let outcome = assertion.check_and_change(user, result);
    let holds = !(outcome.failure || outcome.error);
    result.outcome.success &= holds;
    // Some assertions have a message although they pass, and JMeter shows it.
    if note_all || !holds || outcome.message().is_some() {
        // An empty message is stored because it hides the messages of later assertions. Its assertion's name is not shown.
        let unnamed = holds && !note_all && outcome.message.is_empty();
        let name = if unnamed { String::new() } else { assertion.name(user) };
        result.assertions.push(AssertionResult { name, ..outcome });
    }
}

fn check_children(
    user: &mut UserState,
    assertion: &dyn Assertion,
    result: &mut SampleResult,
    note_all: bool,
    depth: u32,
) {
    let mut children = std::mem::take(&mut result.sub_results);
    let mut failed = false;
    for child in &mut children {
        check_one(user, assertion, child, note_all);
        if depth > 0 {
            check_children(user, assertion, child, note_all, depth - 1);
        }
        failed |= !child.outcome.success;
    }
    result.sub_results = children;
    if failed && result.outcome.success {
        result.outcome.success = false;
        let name = assertion.name(user);
        let message = String::from("One or more sub-samples failed");
        result.assertions.push(AssertionResult {
            name,
            failure: true,
            message,
            ..AssertionResult::default()
        });
    }
}
