//! Assertions on a sample's result.

use std::sync::Arc;

use crate::element::{Assertion, AssertionScope};
use crate::result::{AssertionResult, SampleResult};
use crate::user::UserState;

/// How deep sub-results are looked at by an assertion of scope "sub-samples", as in JMeter.
const ASSERTION_DEPTH: u32 = 3;

/// Runs assertions over a result, in order; what fails is noted in it.
pub(crate) fn check_assertions(
    user: &mut UserState,
    assertions: &[Arc<dyn Assertion>],
    result: &mut SampleResult,
) {
    for assertion in assertions {
        let scope = assertion.scope();
        if scope != AssertionScope::Children {
            check_one(user, assertion.as_ref(), result);
        }
        if scope != AssertionScope::Parent {
            check_children(user, assertion.as_ref(), result, ASSERTION_DEPTH);
        }
    }
}

fn check_one(user: &mut UserState, assertion: &dyn Assertion, result: &mut SampleResult) {
    if assertion.assumes_success() {
        result.success = true;
    }
    let outcome = assertion.check(user, result);
    if outcome.failure || outcome.error {
        result.success = false;
        let name = assertion.name(user);
        result.assertions.push(AssertionResult { name, ..outcome });
    }
}

fn check_children(user: &mut UserState, assertion: &dyn Assertion, result: &mut SampleResult, depth: u32) {
    let mut children = std::mem::take(&mut result.sub_results);
    let mut failed = false;
    for child in &mut children {
        check_one(user, assertion, child);
        if depth > 0 {
            check_children(user, assertion, child, depth - 1);
        }
        failed |= !child.success;
    }
    result.sub_results = children;
    if failed && result.success {
        result.success = false;
        let name = assertion.name(user);
        let message = String::from("One or more sub-samples failed");
        result.assertions.push(AssertionResult { name, failure: true, error: false, message });
    }
}
