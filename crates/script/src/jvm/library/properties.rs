//! Properties of JMeter's test elements, and `CompoundVariable`, which evaluates text with `${…}`.

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::V;
use super::instance::{Instance, LibraryClass, no_constructor, no_static_method};
use super::{print, text_of, unknown};
use crate::Value;

const PROPERTY_METHODS: &str = "getName getStringValue getIntValue getLongValue getDoubleValue getBooleanValue getObjectValue \
                      setObjectValue getElement";

const fn property_class(
    class: &'static str,
    construct: fn(&mut Machine<'_>, &[V]) -> Outcome,
) -> LibraryClass {
    LibraryClass {
        class,
        statics: "",
        constructor_arguments: Some((2, 2)),
        methods: PROPERTY_METHODS,
        call_static: no_static_method,
        construct,
    }
}

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[
    LibraryClass {
        class: "CompoundVariable",
        statics: "",
        constructor_arguments: Some((0, 1)),
        methods: "execute setParameters getRawParameters hasFunction",
        call_static: no_static_method,
        construct: |machine, arguments| {
            let text = match arguments {
                [] => String::new(),
                [text, ..] => text_of(machine, text)?,
            };
            Ok(new_object(CompoundVariable(text.into())))
        },
    },
    property_class("StringProperty", |machine, given| new_property(machine, "StringProperty", given)),
    property_class("IntegerProperty", |machine, given| new_property(machine, "IntegerProperty", given)),
    property_class("LongProperty", |machine, given| new_property(machine, "LongProperty", given)),
    property_class("BooleanProperty", |machine, given| new_property(machine, "BooleanProperty", given)),
    property_class("TestElementProperty", |machine, given| {
        new_property(machine, "TestElementProperty", given)
    }),
    LibraryClass {
        class: "CollectionProperty",
        statics: "",
        constructor_arguments: Some((0, 2)),
        methods: "size get iterator getName getObjectValue getStringValue addItem clear isEmpty",
        call_static: no_static_method,
        construct: |machine, arguments| {
            let (name, items) = match arguments {
                [] => (String::new(), Vec::new()),
                [name, items, ..] => (text_of(machine, name)?, items.items().unwrap_or_default()),
                [_] => return Err(super::unknown(&V::NULL, "new CollectionProperty")),
            };
            Ok(collection(&name, items))
        },
    },
    LibraryClass {
        class: "PropertyIterator",
        statics: "",
        constructor_arguments: None,
        methods: "hasNext next",
        call_static: no_static_method,
        construct: no_constructor,
    },
];

fn new_object(instance: impl Instance + 'static) -> V {
    V::object(Object::Library(Box::new(instance)))
}

/// A property of the class that JMeter uses for the value.
pub fn property_for(name: &str, value: V) -> V {
    let class = match &value {
        V::Plain(Value::Integer(_)) => "IntegerProperty",
        V::Plain(Value::Long(_)) => "LongProperty",
        V::Plain(Value::Boolean(_)) => "BooleanProperty",
        V::Object(_) => "TestElementProperty",
        _ => "StringProperty",
    };
    new_object(Property { class, name: name.to_owned(), value: std::cell::RefCell::new(value) })
}

/// A collection of properties with these values.
pub fn collection(name: &str, items: Vec<V>) -> V {
    let items = items.into_iter().map(|item| property_for("", item)).collect();
    new_object(Collection { name: name.to_owned(), items: std::cell::RefCell::new(items) })
}

fn new_property(machine: &mut Machine<'_>, class: &'static str, arguments: &[V]) -> Outcome {
    let [name, value] = arguments else { return Err(unknown(&V::NULL, class)) };
    let name = text_of(machine, name)?;
    Ok(new_object(Property { class, name, value: std::cell::RefCell::new(value.clone()) }))
}

/// A `CompoundVariable`, whose text may contain `${…}`.
#[derive(Debug)]
struct CompoundVariable(std::cell::RefCell<String>);

impl From<String> for CompoundVariable {
    fn from(text: String) -> CompoundVariable {
        CompoundVariable(text.into())
    }
}

impl Instance for CompoundVariable {
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

/// A property with a single value.
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

/// A property that contains properties.
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
                self.items.borrow_mut().push(property_for("", value.clone()));
                Ok(V::NULL)
            }
            ("clear", []) => {
                self.items.borrow_mut().clear();
                Ok(V::NULL)
            }
            _ => super::lists::call_reading(machine, object, &self.items.borrow().clone(), method, arguments),
        }
    }

    fn index(&self, _: &mut Machine<'_>, index: &V) -> Option<Outcome> {
        let at = usize::try_from(index.as_long()?).ok()?;
        Some(Ok(self.items.borrow().get(at).cloned().unwrap_or(V::NULL)))
    }
}
