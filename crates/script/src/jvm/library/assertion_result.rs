//! The results of a sample's assertions: `prev.getAssertionResults()`.

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::tree::Base;
use super::super::value::V;
use super::instance::{Instance, LibraryClass, no_constructor, no_static_method};
use super::unknown;
use crate::AssertionFacts;

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[LibraryClass {
    class: "AssertionResult",
    statics: "",
    constructor_arguments: None,
    methods: "getName isFailure isError getFailureMessage",
    call_static: no_static_method,
    construct: no_constructor,
}];

#[derive(Debug)]
struct Judged(AssertionFacts);

/// The assertion results as an array.
pub fn array(outcomes: Vec<AssertionFacts>) -> V {
    let object = |outcome| V::object(Object::Library(Box::new(Judged(outcome))));
    V::array(outcomes.into_iter().map(object).collect(), Base::Any)
}

impl Instance for Judged {
    fn class(&self) -> Class {
        Class::known("AssertionResult")
    }

    fn call(&self, _: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let Judged(outcome) = self;
        match (method, arguments) {
            ("getName", []) => Ok(V::text(&outcome.name)),
            ("isFailure", []) => Ok(V::truth(outcome.verdict.failure)),
            ("isError", []) => Ok(V::truth(outcome.verdict.error)),
            ("getFailureMessage", []) => Ok(match outcome.has_message {
                true => V::text(&outcome.verdict.message),
                false => V::NULL,
            }),
            _ => Err(unknown(object, method)),
        }
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        Ok(self.0.name.clone())
    }
}
