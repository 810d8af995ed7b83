//! The thread group, JMeter's thread counts, and the action that a script requests after the sample.

use super::super::fault::{Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::{Host, V};
use super::instance::{Constant, LibraryClass, no_constructor, no_static_method};
use super::unknown;
use crate::StopRequest;

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[
    LibraryClass {
        class: "TestLogicalAction",
        statics: "valueOf",
        constructor_arguments: None,
        methods: "setTestLogicalAction getTestLogicalAction name",
        call_static: |machine, method, arguments| match (method, arguments) {
            ("valueOf", [name]) => {
                let name = super::text_of(machine, name)?;
                action(&name)
                    .ok_or_else(|| thrown("IllegalArgumentException", format!("No enum constant {name}")))
            }
            _ => no_static_method(machine, method, arguments),
        },
        construct: no_constructor,
    },
    LibraryClass {
        class: "JMeterContextService",
        statics: "getContext getNumberOfThreads getTotalThreads getTestStartTime",
        constructor_arguments: None,
        methods: "getNumThreads getNumberOfThreads",
        call_static: call_context_service,
        construct: no_constructor,
    },
];

const ACTIONS: &[(&str, Option<StopRequest>)] = &[
    ("CONTINUE", None),
    ("START_NEXT_ITERATION_OF_THREAD", Some(StopRequest::Iteration)),
    ("START_NEXT_ITERATION_OF_CURRENT_LOOP", Some(StopRequest::LoopIteration)),
    ("BREAK_CURRENT_LOOP", Some(StopRequest::Loop)),
];

/// A constant of `TestLogicalAction`, such as `BREAK_CURRENT_LOOP`.
pub fn action(name: &str) -> Option<V> {
    let (name, _) = ACTIONS.iter().find(|(known, _)| *known == name)?;
    Some(V::object(Object::Library(Box::new(Constant { class: "TestLogicalAction", name }))))
}

/// Implements `ctx.setTestLogicalAction(…)`.
pub fn set_action(machine: &mut Machine<'_>, wanted: &V) -> Outcome {
    let name = super::print::java(machine, wanted)?;
    let Some((_, request)) = ACTIONS.iter().find(|(known, _)| *known == name) else {
        return Err(thrown(
            "MissingMethodException",
            format!("No signature of method: setTestLogicalAction() is applicable for {}", wanted.kind()),
        ));
    };
    machine.scope.stop(request.unwrap_or(StopRequest::Nothing));
    Ok(V::NULL)
}

fn call_context_service(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("getContext", []) => Ok(V::Host(Host::Context)),
        ("getNumberOfThreads", []) => Ok(V::int(i64::from(machine.scope.users().active))),
        ("getTotalThreads", []) => Ok(V::int(i64::from(machine.scope.users().planned))),
        ("getTestStartTime", []) => Ok(V::long(machine.scope.test_start_ms())),
        _ => Err(unsupported(format!("`JMeterContextService.{method}` with these arguments"))),
    }
}

/// Calls a method of the thread group.
pub fn call_group(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("getName", []) => Ok(V::text(machine.scope.group_name())),
        ("getNumThreads", []) => Ok(V::int(i64::from(machine.scope.users().of_group))),
        ("getNumberOfThreads", []) => Ok(V::int(i64::from(machine.scope.users().active_of_group))),
        _ => Err(unknown(&V::Host(Host::Group), method)),
    }
}
