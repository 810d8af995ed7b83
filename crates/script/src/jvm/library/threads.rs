//! The thread group, JMeter's threads, and what a script asks JMeter to do next.

use super::super::fault::{Outcome, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::{Host, V};
use super::instance::{Constant, Offer, no_static, not_made};
use super::unknown;
use crate::StopRequest;

/// The classes of this file.
pub const OFFERS: &[Offer] = &[
    Offer {
        class: "TestLogicalAction",
        statics: "valueOf",
        made: None,
        methods: "setTestLogicalAction getTestLogicalAction name",
        call: |machine, method, arguments| match (method, arguments) {
            ("valueOf", [name]) => {
                let name = super::text_of(machine, name)?;
                action(&name)
                    .ok_or_else(|| thrown("IllegalArgumentException", format!("No enum constant {name}")))
            }
            _ => no_static(machine, method, arguments),
        },
        make: not_made,
    },
    Offer {
        class: "JMeterContextService",
        statics: "getContext getNumberOfThreads getTotalThreads getTestStartTime",
        made: None,
        methods: "getNumThreads getNumberOfThreads",
        call: service,
        make: not_made,
    },
];

const ACTIONS: &[(&str, Option<StopRequest>)] = &[
    ("CONTINUE", None),
    ("START_NEXT_ITERATION_OF_THREAD", Some(StopRequest::Iteration)),
    ("START_NEXT_ITERATION_OF_CURRENT_LOOP", Some(StopRequest::LoopIteration)),
    ("BREAK_CURRENT_LOOP", Some(StopRequest::Loop)),
];

/// `TestLogicalAction.BREAK_CURRENT_LOOP` and its like.
pub fn action(name: &str) -> Option<V> {
    let (name, _) = ACTIONS.iter().find(|(known, _)| *known == name)?;
    Some(V::object(Object::Library(Box::new(Constant { class: "TestLogicalAction", name }))))
}

/// `ctx.setTestLogicalAction(…)`
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

fn service(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("getContext", []) => Ok(V::Host(Host::Context)),
        ("getNumberOfThreads", []) => Ok(V::int(i64::from(machine.scope.users().active))),
        ("getTotalThreads", []) => Ok(V::int(i64::from(machine.scope.users().planned))),
        ("getTestStartTime", []) => Ok(V::long(machine.scope.test_start_ms())),
        _ => Err(unsupported(format!("`JMeterContextService.{method}` with these arguments"))),
    }
}

/// Methods of the thread group.
pub fn group(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("getName", []) => Ok(V::text(machine.scope.group_name())),
        ("getNumThreads", []) => Ok(V::int(i64::from(machine.scope.users().of_group))),
        ("getNumberOfThreads", []) => Ok(V::int(i64::from(machine.scope.users().active_of_group))),
        _ => Err(unknown(&V::Host(Host::Group), method)),
    }
}
