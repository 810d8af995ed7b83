//! The class `Optional`, and the classes `AtomicReference` and `AtomicBoolean`, whose objects hold a value that can be
//! replaced.

use std::cell::RefCell;

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, thrown};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::truth::truth;
use super::super::value::V;
use super::instance::{Instance, LibraryClass, no_constructor, no_static_method};
use super::{print, unknown};

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[
    LibraryClass {
        class: "Optional",
        statics: "of ofNullable empty",
        constructor_arguments: None,
        methods: "get orElse orElseGet orElseThrow isPresent isEmpty ifPresent ifPresentOrElse map flatMap filter or stream",
        call_static: |_, method, arguments| match (method, arguments) {
            ("empty", []) => Ok(optional(None)),
            ("of", [value]) if value.is_null() => {
                Err(super::super::fault::thrown_without_message("NullPointerException"))
            }
            ("of" | "ofNullable", [value]) => {
                Ok(optional(Some(value.clone()).filter(|value| !value.is_null())))
            }
            _ => Err(super::super::fault::unsupported(format!("`Optional.{method}` with these arguments"))),
        },
        construct: no_constructor,
    },
    LibraryClass {
        class: "AtomicReference",
        statics: "",
        constructor_arguments: Some((0, 1)),
        methods: "get set getAndSet compareAndSet updateAndGet getAndUpdate lazySet getPlain",
        call_static: no_static_method,
        construct: |_, given| Ok(holder("AtomicReference", given.first().cloned().unwrap_or(V::NULL))),
    },
    LibraryClass {
        class: "AtomicBoolean",
        statics: "",
        constructor_arguments: Some((0, 1)),
        methods: "get set getAndSet compareAndSet lazySet getPlain",
        call_static: no_static_method,
        construct: |_, given| Ok(holder("AtomicBoolean", given.first().cloned().unwrap_or(V::truth(false)))),
    },
];

/// An `Optional` with the value, or an empty one.
pub fn optional(value: Option<V>) -> V {
    V::object(Object::Library(Box::new(Optional(value))))
}

fn holder(class: &'static str, value: V) -> V {
    V::object(Object::Library(Box::new(Holder { class, value: RefCell::new(value) })))
}

#[derive(Debug)]
struct Optional(Option<V>);

impl Instance for Optional {
    fn class(&self) -> Class {
        Class::known("Optional")
    }

    fn is_true(&self) -> bool {
        self.0.is_some()
    }

    fn is_equal(&self, other: &V) -> bool {
        let V::Object(other) = other else { return false };
        let Some(text) = other.library().filter(|other| other.class() == self.class()) else { return false };
        match (&self.0, text.items()) {
            (Some(own), Some(items)) => items.first().is_some_and(|item| item.equals(own)),
            (None, Some(items)) => items.is_empty(),
            _ => false,
        }
    }

    fn items(&self) -> Option<Vec<V>> {
        Some(self.0.iter().cloned().collect())
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let own = self.0.clone();
        match (method, arguments) {
            ("isPresent", []) => Ok(V::truth(own.is_some())),
            ("isEmpty", []) => Ok(V::truth(own.is_none())),
            ("get" | "orElseThrow", []) => {
                own.ok_or_else(|| thrown("NoSuchElementException", "No value present"))
            }
            ("orElse", [other]) => Ok(own.unwrap_or_else(|| other.clone())),
            ("orElseGet", [closure]) => match own {
                Some(value) => Ok(value),
                None => machine.call_value(closure, Vec::new()),
            },
            ("orElseThrow", [closure]) => match own {
                Some(value) => Ok(value),
                None => {
                    let exception = machine.call_value(closure, Vec::new())?;
                    Err(Fault { cause: super::super::fault::Cause::Thrown(exception), at: None })
                }
            },
            ("ifPresent", [closure]) => {
                if let Some(value) = own {
                    machine.call_value(closure, vec![value])?;
                }
                Ok(V::NULL)
            }
            ("ifPresentOrElse", [closure, otherwise]) => {
                match own {
                    Some(value) => machine.call_value(closure, vec![value])?,
                    None => machine.call_value(otherwise, Vec::new())?,
                };
                Ok(V::NULL)
            }
            ("map" | "flatMap", [closure]) => {
                let Some(value) = own else { return Ok(optional(None)) };
                let value = machine.call_value(closure, vec![value])?;
                Ok(if method == "map" {
                    optional(Some(value).filter(|value| !value.is_null()))
                } else {
                    value
                })
            }
            ("filter", [closure]) => {
                let Some(value) = own else { return Ok(optional(None)) };
                let fits = machine.call_value(closure, vec![value.clone()])?;
                Ok(optional(truth(machine, &fits)?.then_some(value)))
            }
            ("or", [closure]) => match own {
                Some(value) => Ok(optional(Some(value))),
                None => machine.call_value(closure, Vec::new()),
            },
            ("stream", []) => Ok(V::list(own.into_iter().collect())),
            _ => Err(unknown(object, method)),
        }
    }

    fn text(&self, machine: &mut Machine<'_>) -> Result<String, Fault> {
        Ok(match &self.0 {
            Some(value) => format!("Optional[{}]", print::java(machine, value)?),
            None => "Optional.empty".to_owned(),
        })
    }
}

/// An object that holds a value, which can be replaced.
#[derive(Debug)]
struct Holder {
    class: &'static str,
    value: RefCell<V>,
}

impl Instance for Holder {
    fn class(&self) -> Class {
        Class::known(self.class)
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let old = self.value.borrow().clone();
        match (method, arguments) {
            ("get" | "getPlain", []) => Ok(old),
            ("set" | "lazySet", [value]) => {
                self.value.replace(value.clone());
                Ok(V::NULL)
            }
            ("getAndSet", [value]) => {
                self.value.replace(value.clone());
                Ok(old)
            }
            ("compareAndSet", [expected, value]) => {
                let fits = old.equals(expected);
                if fits {
                    self.value.replace(value.clone());
                }
                Ok(V::truth(fits))
            }
            ("updateAndGet" | "getAndUpdate", [closure]) => {
                let new = machine.call_value(closure, vec![old.clone()])?;
                self.value.replace(new.clone());
                Ok(if method == "updateAndGet" { new } else { old })
            }
            _ => Err(unknown(object, method)),
        }
    }

    fn text(&self, machine: &mut Machine<'_>) -> Result<String, Fault> {
        let value = self.value.borrow().clone();
        print::java(machine, &value)
    }
}
