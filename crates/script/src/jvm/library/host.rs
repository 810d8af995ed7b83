//! JMeter's objects: variables, properties, log, context.

use std::rc::Rc;

use super::super::fault::{Outcome, thrown};
use super::super::literals;
use super::super::machine::Machine;
use super::super::missing;
use super::super::objects::Object;
use super::super::value::{Host, V};
use super::{print, result, text_of, unknown};
use crate::{LineSeverity, StopRequest, Value};

/// The value of a variable: a string, or the object that a script stored.
pub fn variable(machine: &mut Machine<'_>, name: &str) -> V {
    if let Some(object) = machine.scope.object(name)
        && let Ok(value) = object.downcast::<V>()
    {
        machine.reads_objects = true;
        return (*value).clone();
    }
    V::text_or_null(machine.scope.get(name))
}

/// The result of `vars.get`: the variable's string, or the text of its object.
pub fn text_of_variable(machine: &mut Machine<'_>, name: &str) -> V {
    // JEXL cannot call methods that change an object, so the stored text is up to date.
    if machine.jexl() {
        return V::text_or_null(machine.scope.get(name));
    }
    let object = machine.scope.object(name).and_then(|object| object.downcast::<V>().ok());
    match object {
        Some(value) if value.as_text().is_some() => (*value).clone(),
        Some(value) => V::text(text_of_object(machine, &value)),
        None => V::text_or_null(machine.scope.get(name)),
    }
}

/// Java's text of an object. If it would contain the object's address, an arbitrary address is used.
fn text_of_object(machine: &mut Machine<'_>, value: &V) -> String {
    print::java(machine, value).unwrap_or_else(|_| format!("{}@6ccccc3c", missing::class_name(value)))
}

/// Updates the stored texts of the variables whose objects the script may have changed.
pub fn refresh_objects(machine: &mut Machine<'_>) {
    // A BeanShell variable of an earlier run may refer to the object of a JMeter variable.
    if !machine.reads_objects && !machine.beanshell() {
        return;
    }
    for name in machine.scope.object_names() {
        let object = machine.scope.object(&name);
        let changes = |value: &V| !matches!(value, V::Plain(_));
        if let Some(object) = object
            && let Ok(value) = object.clone().downcast::<V>()
            && changes(&value)
        {
            let text = text_of_object(machine, &value);
            machine.scope.set_object(&name, object, &text);
        }
    }
}

/// All variables as entries.
pub fn variables(machine: &mut Machine<'_>) -> Vec<V> {
    let names = machine.scope.names();
    names
        .into_iter()
        .map(|name| {
            let value = variable(machine, &name);
            V::object(Object::Entry(V::text(name), value))
        })
        .collect()
}

pub fn call(machine: &mut Machine<'_>, host: Host, method: &str, arguments: &[V]) -> Outcome {
    match host {
        Host::Vars => call_vars(machine, method, arguments),
        Host::Props => super::test_properties::call(machine, method, arguments),
        Host::Log => call_log(machine, method, arguments),
        Host::Context => call_context(machine, method, arguments),
        Host::Sample => result::call(machine, false, method, arguments),
        Host::Previous => result::call(machine, true, method, arguments),
        Host::Sampler => super::sampler::call(machine, method, arguments),
        Host::Out | Host::Err => call_stream(machine, host, method, arguments),
        Host::Assertion => call_assertion(machine, method, arguments),
        Host::Event => match (method, arguments) {
            ("getResult", []) => Ok(V::Host(Host::Sample)),
            ("getThreadGroup", []) => Ok(V::text(machine.scope.group_name())),
            ("getVarValue", _) => Err(unknown(&V::Host(host), method)),
            _ => Err(unknown(&V::Host(host), method)),
        },
        Host::Thread => match (method, arguments) {
            ("getName" | "getThreadName", []) => Ok(V::text(machine.scope.thread_name())),
            ("getThreadNum", []) => Ok(V::int(i64::from(machine.scope.thread_number()))),
            ("sleep", [ms]) => {
                machine.scope.pause_ms(u64::try_from(ms.as_long().unwrap_or(0)).unwrap_or(0));
                Ok(V::NULL)
            }
            ("getId" | "threadId", []) => Ok(V::long(i64::from(machine.scope.thread_number()) + 20)),
            ("isInterrupted" | "isDaemon", []) => Ok(V::truth(false)),
            ("isAlive", []) => Ok(V::truth(true)),
            ("getPriority", []) => Ok(V::int(5)),
            ("interrupt", []) => Ok(V::NULL),
            ("stop", []) => {
                machine.scope.stop(StopRequest::User);
                Ok(V::NULL)
            }
            _ => Err(unknown(&V::Host(host), method)),
        },
        Host::Engine => match (method, arguments) {
            ("stopTest" | "askThreadsToStop", rest) => {
                let now = method == "stopTest" && !matches!(rest, [V::Plain(Value::Boolean(false))]);
                machine.scope.stop(if now { StopRequest::TestNow } else { StopRequest::Test });
                Ok(V::NULL)
            }
            _ => Err(unknown(&V::Host(host), method)),
        },
        Host::Group => super::threads::call_group(machine, method, arguments),
    }
}

/// Calls a method of `System.out` or `System.err`.
fn call_stream(machine: &mut Machine<'_>, host: Host, method: &str, arguments: &[V]) -> Outcome {
    let mut text = match (method, arguments) {
        ("println" | "print", [value]) => print::groovy(machine, value)?,
        ("printf" | "format", [pattern, rest @ ..]) => {
            let pattern = print::groovy(machine, pattern)?;
            super::format::format(machine, &pattern, rest)?
        }
        ("println" | "flush", []) => String::new(),
        _ => return Err(unknown(&V::Host(host), method)),
    };
    if method == "println" {
        text.push('\n');
    }
    match (text.is_empty(), host) {
        (true, _) => {}
        (false, Host::Err) => machine.scope.print_error(&text),
        (false, _) => machine.scope.print(&text),
    }
    Ok(V::NULL)
}

fn call_vars(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("get", [V::Plain(Value::Null)]) => Ok(V::NULL),
        ("get", [name]) => {
            let name = text_of(machine, name)?;
            Ok(text_of_variable(machine, &name))
        }
        ("getObject", [name]) => {
            let name = text_of(machine, name)?;
            Ok(variable(machine, &name))
        }
        ("put", [name, V::Plain(Value::Null)]) => {
            let name = text_of(machine, name)?;
            machine.scope.set_null(&name);
            Ok(V::NULL)
        }
        ("put", [name, value]) => {
            let (Some(name), Some(value)) = (name.as_text(), value.as_text()) else {
                let object = V::Host(Host::Vars);
                return Err(if machine.groovy() {
                    missing::exception(machine, &object, method, arguments)
                } else {
                    thrown("RuntimeException", format!("`vars.put` takes a String, not {}", value.kind()))
                });
            };
            // A string literal keeps its identity, which BeanShell's `==` compares.
            if let V::Plain(Value::Text(literal)) = &arguments[1]
                && machine.beanshell()
                && literals::is_interned(literal)
            {
                machine.scope.set_object(name, Rc::new(arguments[1].clone()), value);
            } else {
                machine.scope.set(name, value);
            }
            Ok(V::NULL)
        }
        ("putObject", [name, value]) => {
            let name = text_of(machine, name)?;
            match value {
                V::Plain(Value::Text(text)) => machine.scope.set(&name, text),
                V::Plain(Value::Null) => machine.scope.set_null(&name),
                value => {
                    let text = text_of_object(machine, value);
                    machine.reads_objects = true;
                    machine.leaves_objects |= !matches!(value, V::Plain(_));
                    machine.scope.set_object(&name, Rc::new(value.clone()), &text);
                }
            }
            Ok(V::NULL)
        }
        ("remove", [name]) => {
            let name = text_of(machine, name)?;
            let old = variable(machine, &name);
            machine.scope.remove(&name);
            Ok(old)
        }
        ("getIteration", []) => Ok(V::int(i64::from(machine.scope.iteration()))),
        ("getThreadName", []) => Ok(V::text(machine.scope.thread_name())),
        ("entrySet", []) => Ok(V::list(variables(machine))),
        ("getIterator", []) => {
            let variables = variables(machine);
            Ok(V::object(Object::Iterator(std::cell::RefCell::new(variables.into()))))
        }
        ("isSameUserOnNextIteration", []) => Err(unknown(&V::Host(Host::Vars), method)),
        ("getAt", [name]) if machine.groovy() => {
            let name = text_of(machine, name)?;
            Ok(text_of_variable(machine, &name))
        }
        ("putAll", [V::Map(map)]) => {
            for (key, value) in map.ordered() {
                call_vars(machine, "putObject", &[key, value])?;
            }
            Ok(V::NULL)
        }
        _ => Err(unknown(&V::Host(Host::Vars), method)),
    }
}

fn call_log(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    let level = match method {
        "trace" => LineSeverity::Trace,
        "debug" => LineSeverity::Debug,
        "info" => LineSeverity::Info,
        "warn" => LineSeverity::Warn,
        "error" | "fatalError" => LineSeverity::Error,
        "isDebugEnabled" | "isTraceEnabled" => return Ok(V::truth(false)),
        "isInfoEnabled" | "isWarnEnabled" | "isErrorEnabled" => return Ok(V::truth(true)),
        _ => return Err(unknown(&V::Host(Host::Log), method)),
    };
    let [message, rest @ ..] = arguments else { return Err(unknown(&V::Host(Host::Log), method)) };
    let mut text = match message {
        V::Plain(Value::Null) => "null".to_owned(),
        V::Plain(Value::Text(text)) => text.to_string(),
        other if machine.groovy() || other.as_text().is_some() => {
            return Err(thrown(
                "MissingMethodException",
                format!("`log.{method}` takes a String, not {}", other.kind()),
            ));
        }
        other => {
            return Err(thrown(
                "RuntimeException",
                format!("`log.{method}` takes a String, not {}", other.kind()),
            ));
        }
    };
    // Replaces SLF4J's placeholders `{}`; further arguments, such as an exception, are appended.
    let rest = match rest {
        [V::Array(array)] => array.items.borrow().clone(),
        rest => rest.to_vec(),
    };
    for value in &rest {
        let value = match value {
            V::Array(_) => print::groovy(machine, value)?,
            value => print::java(machine, value)?,
        };
        match text.find("{}") {
            Some(at) => text.replace_range(at..at + 2, &value),
            None => {
                text.push_str(": ");
                text.push_str(&value);
            }
        }
    }
    machine.scope.log(level, &text);
    Ok(V::NULL)
}

fn call_context(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    match (method, arguments) {
        ("getThreadNum", []) => Ok(V::int(i64::from(machine.scope.thread_number()))),
        ("getVariables", []) => Ok(V::Host(Host::Vars)),
        ("getProperties", []) => Ok(V::Host(Host::Props)),
        ("getPreviousResult", []) => {
            Ok(if machine.scope.previous().is_some() { V::Host(Host::Previous) } else { V::NULL })
        }
        ("getCurrentSampler" | "getPreviousSampler", []) => Ok(V::Host(Host::Sampler)),
        ("getThread", []) => Ok(V::Host(Host::Thread)),
        ("getThreadGroup", []) => Ok(V::Host(Host::Group)),
        ("getEngine", []) => Ok(V::Host(Host::Engine)),
        ("setTestLogicalAction", [action]) => super::threads::set_action(machine, action),
        ("setStartNextThreadLoop" | "setRestartNextLoop", [V::Plain(Value::Boolean(next))]) => {
            if *next {
                machine.scope.stop(StopRequest::Iteration);
            }
            Ok(V::NULL)
        }
        _ => Err(unknown(&V::Host(Host::Context), method)),
    }
}

fn call_assertion(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    let wrong = || unknown(&V::Host(Host::Assertion), method);
    match (method, arguments) {
        ("setFailureMessage", [message]) => {
            let message = match message {
                V::Plain(Value::Null) => String::new(),
                message => text_of(machine, message)?,
            };
            machine.scope.verdict().ok_or_else(wrong)?.message = message;
            Ok(V::NULL)
        }
        ("setFailure", [V::Plain(Value::Boolean(failure))]) => {
            machine.scope.verdict().ok_or_else(wrong)?.failure = *failure;
            Ok(V::NULL)
        }
        ("setError", [V::Plain(Value::Boolean(error))]) => {
            machine.scope.verdict().ok_or_else(wrong)?.error = *error;
            Ok(V::NULL)
        }
        ("setResultForFailure", [message]) => {
            let message = text_of(machine, message)?;
            let verdict = machine.scope.verdict().ok_or_else(wrong)?;
            verdict.failure = true;
            verdict.message = message;
            Ok(V::NULL)
        }
        ("isFailure", []) => Ok(V::truth(machine.scope.verdict().ok_or_else(wrong)?.failure)),
        ("isError", []) => Ok(V::truth(machine.scope.verdict().ok_or_else(wrong)?.error)),
        ("getFailureMessage", []) => Ok(V::text(machine.scope.verdict().ok_or_else(wrong)?.message.clone())),
        _ => Err(wrong()),
    }
}
