//! JMeter's properties of test elements, and texts with `${…}` that scripts evaluate.

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::V;
use super::instance::{Instance, Offer, no_static, not_made};
use super::{print, text_of, unknown};
use crate::Value;

const VALUES: &str = "getName getStringValue getIntValue getLongValue getDoubleValue getBooleanValue getObjectValue \
                      setObjectValue getElement";

const fn property(class: &'static str, make: fn(&mut Machine<'_>, &[V]) -> Outcome) -> Offer {
    Offer { class, statics: "", made: Some((2, 2)), methods: VALUES, call: no_static, make }
}

/// The classes of this file.
pub const OFFERS: &[Offer] = &[
    Offer {
        class: "CompoundVariable",
        statics: "",
        made: Some((0, 1)),
        methods: "execute setParameters getRawParameters hasFunction",
        call: no_static,
        make: |machine, arguments| {
            let text = match arguments {
                [] => String::new(),
                [text, ..] => text_of(machine, text)?,
            };
            Ok(library(Compound(text.into())))
        },
    },
    property("StringProperty", |machine, given| single(machine, "StringProperty", given)),
    property("IntegerProperty", |machine, given| single(machine, "IntegerProperty", given)),
    property("LongProperty", |machine, given| single(machine, "LongProperty", given)),
    property("BooleanProperty", |machine, given| single(machine, "BooleanProperty", given)),
    property("TestElementProperty", |machine, given| single(machine, "TestElementProperty", given)),
    Offer {
        class: "CollectionProperty",
        statics: "",
        made: Some((0, 2)),
        methods: "size get iterator getName getObjectValue getStringValue addItem clear isEmpty",
        call: no_static,
        make: |machine, arguments| {
            let (name, items) = match arguments {
                [] => (String::new(), Vec::new()),
                [name, items, ..] => (text_of(machine, name)?, items.items().unwrap_or_default()),
                [_] => return Err(super::unknown(&V::NULL, "new CollectionProperty")),
            };
            Ok(collection(&name, items))
        },
    },
    Offer {
        class: "PropertyIterator",
        statics: "",
        made: None,
        methods: "hasNext next",
        call: no_static,
        make: not_made,
    },
];

fn library(instance: impl Instance + 'static) -> V {
    V::object(Object::Library(Box::new(instance)))
}

/// A property with a value, as JMeter's collections hold them.
pub fn of_value(name: &str, value: V) -> V {
    let class = match &value {
        V::Plain(Value::Integer(_)) => "IntegerProperty",
        V::Plain(Value::Long(_)) => "LongProperty",
        V::Plain(Value::Boolean(_)) => "BooleanProperty",
        V::Object(_) => "TestElementProperty",
        _ => "StringProperty",
    };
    library(Property { class, name: name.to_owned(), value: std::cell::RefCell::new(value) })
}

/// A collection of such properties.
pub fn collection(name: &str, items: Vec<V>) -> V {
    let items = items.into_iter().map(|item| of_value("", item)).collect();
    library(Collection { name: name.to_owned(), items: std::cell::RefCell::new(items) })
}

fn single(machine: &mut Machine<'_>, class: &'static str, arguments: &[V]) -> Outcome {
    let [name, value] = arguments else { return Err(unknown(&V::NULL, class)) };
    let name = text_of(machine, name)?;
    Ok(library(Property { class, name, value: std::cell::RefCell::new(value.clone()) }))
}

/// A text with `${…}`.
#[derive(Debug)]
struct Compound(std::cell::RefCell<String>);

impl From<String> for Compound {
    fn from(text: String) -> Compound {
        Compound(text.into())
    }
}

impl Instance for Compound {
    fn class(&self) -> Class {
        Class::known("CompoundVariable")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("execute", []) => {
                let text = self.0.borrow().clone();
                Ok(V::text(machine.scope.evaluate_text(&text)))
            }
            ("setParameters", [text]) => {
                let text = text_of(machine, text)?;
                self.0.replace(text);
                Ok(V::NULL)
            }
            ("getRawParameters", []) => Ok(V::text(&*self.0.borrow())),
            ("hasFunction", []) => Ok(V::truth(self.0.borrow().contains("${"))),
            _ => Err(unknown(object, method)),
        }
    }

    fn text(&self, machine: &mut Machine<'_>) -> Result<String, Fault> {
        let text = self.0.borrow().clone();
        Ok(machine.scope.evaluate_text(&text))
    }
}

/// One property.
#[derive(Debug)]
struct Property {
    class: &'static str,
    name: String,
    value: std::cell::RefCell<V>,
}

impl Instance for Property {
    fn class(&self) -> Class {
        Class::known(self.class)
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        let value = self.value.borrow().clone();
        match (method, arguments) {
            ("getName", []) => Ok(V::text(&self.name)),
            ("getObjectValue" | "getElement", []) => Ok(value),
            ("setObjectValue", [value]) => {
                self.value.replace(value.clone());
                Ok(V::NULL)
            }
            ("getStringValue", []) => Ok(V::text(print::java(machine, &value)?)),
            ("getIntValue" | "getLongValue" | "getDoubleValue" | "getBooleanValue", []) => {
                let text = print::java(machine, &value)?;
                let number = busyhour_java::parse_double(text.trim()).unwrap_or(0.0);
                Ok(match method {
                    "getIntValue" => V::int(number as i64),
                    "getLongValue" => V::long(number as i64),
                    "getDoubleValue" => V::double(number),
                    _ => V::truth(text.eq_ignore_ascii_case("true")),
                })
            }
            _ => Err(unknown(object, method)),
        }
    }

    fn text(&self, machine: &mut Machine<'_>) -> Result<String, Fault> {
        let value = self.value.borrow().clone();
        print::java(machine, &value)
    }
}

/// A property that holds others.
#[derive(Debug)]
struct Collection {
    name: String,
    items: std::cell::RefCell<Vec<V>>,
}

impl Instance for Collection {
    fn class(&self) -> Class {
        Class::known("CollectionProperty")
    }

    fn items(&self) -> Option<Vec<V>> {
        Some(self.items.borrow().clone())
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("size", []) => Ok(V::int(self.items.borrow().len() as i64)),
            ("isEmpty", []) => Ok(V::truth(self.items.borrow().is_empty())),
            ("getName", []) => Ok(V::text(&self.name)),
            ("getStringValue", []) => {
                let items = self.items.borrow().clone();
                Ok(V::text(print::java(machine, &V::list(items))?))
            }
            ("getObjectValue", []) => Ok(V::list(self.items.borrow().clone())),
            ("get", [at]) => {
                let at = at.as_long().and_then(|at| usize::try_from(at).ok()).unwrap_or(usize::MAX);
                Ok(self.items.borrow().get(at).cloned().unwrap_or(V::NULL))
            }
            ("iterator", []) => {
                Ok(V::object(Object::Iterator(std::cell::RefCell::new(self.items.borrow().clone().into()))))
            }
            ("addItem", [value]) => {
                self.items.borrow_mut().push(of_value("", value.clone()));
                Ok(V::NULL)
            }
            ("clear", []) => {
                self.items.borrow_mut().clear();
                Ok(V::NULL)
            }
            _ => super::lists::reading(machine, object, &self.items.borrow().clone(), method, arguments),
        }
    }

    fn index(&self, _: &mut Machine<'_>, index: &V) -> Option<Outcome> {
        let at = usize::try_from(index.as_long()?).ok()?;
        Some(Ok(self.items.borrow().get(at).cloned().unwrap_or(V::NULL)))
    }
}
