//! Jayway's `JsonPath` and its document context.

use std::cell::RefCell;

use busyhour_jsonpath::{self as jsonpath, PathError, ReadError, Value as Json};

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, limit, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::{List, V};
use super::instance::{Instance, Offer, no_static, not_made};
use super::{print, text_of, unknown};
use crate::Value;
use crate::java_like::Decimal;

/// The classes of this file.
pub const OFFERS: &[Offer] = &[
    Offer {
        class: "JsonPath",
        statics: "read parse compile isPathDefinite",
        made: None,
        methods: "read parse isDefinite getPath",
        call: static_call,
        make: not_made,
    },
    Offer {
        class: "DocumentContext",
        statics: "",
        made: None,
        methods: "read json jsonString set put add delete",
        call: no_static,
        make: not_made,
    },
];

/// `JsonPath.compile(…)`
#[derive(Debug)]
struct CompiledPath(jsonpath::JsonPath);

/// `JsonPath.parse(…)`
#[derive(Debug)]
struct Document(RefCell<Json>);

fn library(instance: impl Instance + 'static) -> V {
    V::object(Object::Library(Box::new(instance)))
}

fn static_call(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    // Without filters of its own, a script in BeanShell has to give none: `new Predicate[0]`.
    let arguments = match arguments {
        [rest @ .., V::Array(filters)] if filters.items.borrow().is_empty() => rest,
        arguments => arguments,
    };
    match (method, arguments) {
        ("read", [source, path]) => {
            let path = compiled(machine, path)?;
            let document = document(machine, source)?;
            found(&path, &document)
        }
        ("parse", [source]) => Ok(library(Document(RefCell::new(document(machine, source)?)))),
        ("compile", [path]) => Ok(library(CompiledPath(compiled(machine, path)?))),
        ("isPathDefinite", [path]) => Ok(V::truth(compiled(machine, path)?.is_definite())),
        _ => Err(unsupported(format!("`JsonPath.{method}` with these arguments"))),
    }
}

fn compiled(machine: &mut Machine<'_>, path: &V) -> Result<jsonpath::JsonPath, Fault> {
    if let V::Object(object) = path
        && let Object::Library(_) = &**object
    {
        return Err(unsupported("a compiled path as an argument"));
    }
    let text = match path {
        V::Plain(Value::Null) => {
            return Err(thrown("IllegalArgumentException", "json can not be null or empty"));
        }
        path => text_of(machine, path)?,
    };
    path_of(&text)
}

fn path_of(text: &str) -> Result<jsonpath::JsonPath, Fault> {
    jsonpath::JsonPath::compile(text).map_err(path_fault)
}

fn path_fault(error: PathError) -> Fault {
    match error {
        PathError::Invalid(why) => thrown("InvalidPathException", why),
        PathError::Unsupported(what) => unsupported(format!("a JSON path with {what}")),
    }
}

/// A document given as a text, a file, or as maps and lists.
fn document(machine: &mut Machine<'_>, source: &V) -> Result<Json, Fault> {
    let text = match source {
        V::Plain(Value::Null) => String::new(),
        V::Plain(Value::Text(text)) => text.to_string(),
        V::Object(object) => match &**object {
            Object::File(path) => super::files::text(path)?,
            Object::Builder(..) => text_of(machine, source)?,
            _ => return json_of(source, 0),
        },
        other => return json_of(other, 0),
    };
    machine.spend_text(text.len().saturating_mul(4))?;
    if text.is_empty() {
        return Err(thrown("IllegalArgumentException", "json string can not be null or empty"));
    }
    jsonpath::read(&text).map_err(|error| thrown("InvalidJsonException", error.to_string()))
}

fn found(path: &jsonpath::JsonPath, document: &Json) -> Outcome {
    match path.find(document) {
        Ok(value) => Ok(value_of(&value)),
        Err(ReadError::NotFound(why)) => Err(thrown("PathNotFoundException", why)),
        Err(ReadError::Failed(why)) => Err(thrown("JsonPathException", why)),
        Err(error @ ReadError::Limit) => Err(limit(error.to_string())),
    }
}

/// A value of a script as JSON.
fn json_of(value: &V, depth: u32) -> Result<Json, Fault> {
    if depth > 100 {
        return Err(unsupported("JSON of this depth"));
    }
    Ok(match value {
        V::Plain(plain) => match plain {
            Value::Null => Json::Null,
            Value::Boolean(truth) => Json::Bool(*truth),
            Value::Integer(number) => Json::Integer(i64::from(*number)),
            Value::Long(number) => Json::Integer(*number),
            Value::Double(number) => Json::Double(*number),
            Value::Float(number) => Json::Double(f64::from(*number)),
            Value::BigInteger(number) => Json::BigInteger(number.to_string()),
            Value::Decimal(number) => Json::Decimal(number.to_string()),
            other => Json::Text(other.to_java_string()),
        },
        V::List(_) | V::Array(_) => {
            let items = value.items().unwrap_or_default();
            Json::Array(items.iter().map(|item| json_of(item, depth + 1)).collect::<Result<_, _>>()?)
        }
        V::Map(map) => {
            let mut members = Vec::new();
            for (key, value) in map.ordered() {
                let V::Plain(key) = key else { return Err(unsupported("a key that is no text in JSON")) };
                members.push((key.to_java_string(), json_of(&value, depth + 1)?));
            }
            Json::Object(members)
        }
        other => return Err(unsupported(format!("{} as a document of JsonPath", other.kind()))),
    })
}

/// JSON as a value of a script.
fn value_of(json: &Json) -> V {
    match json {
        Json::Null => V::NULL,
        Json::Bool(truth) => V::truth(*truth),
        Json::Integer(number) if i32::try_from(*number).is_ok() => V::int(*number),
        Json::Integer(number) => V::long(*number),
        Json::Double(number) => V::double(*number),
        Json::BigInteger(text) => {
            text.parse().map_or_else(|_| V::text(text), |number| V::Plain(Value::BigInteger(number)))
        }
        Json::Decimal(text) => {
            Decimal::parse(text).map_or_else(|| V::text(text), |number| V::Plain(Value::Decimal(number)))
        }
        Json::Text(text) => V::text(text),
        Json::Array(items) => {
            let items = items.iter().map(value_of).collect();
            V::List(std::rc::Rc::new(List {
                items: RefCell::new(items),
                set: None,
                fixed: false,
                is_json: true,
                range: None,
            }))
        }
        Json::Object(members) => {
            V::map(members.iter().map(|(key, value)| (V::text(key), value_of(value))).collect())
        }
    }
}

/// Whether a value is a `JSONArray`, whose own `toString` Groovy uses.
pub fn is_json_array(value: &V) -> bool {
    matches!(value, V::List(list) if list.is_json)
}

/// What `JSONArray.toString` gives.
pub fn text(machine: &mut Machine<'_>, list: &V) -> Result<String, Fault> {
    let mut out = String::new();
    json_of(list, 0)?.write_json(&mut out);
    machine.spend_text(out.len())?;
    Ok(out)
}

impl Instance for CompiledPath {
    fn class(&self) -> Class {
        Class::known("JsonPath")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("read", [source]) => found(&self.0, &document(machine, source)?),
            ("isDefinite", []) => Ok(V::truth(self.0.is_definite())),
            _ => Err(unknown(object, method)),
        }
    }
}

impl Instance for Document {
    fn class(&self) -> Class {
        Class::known("DocumentContext")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("read", [path]) => {
                let path = match path {
                    V::Object(_) | V::Plain(_) => compiled(machine, path)?,
                    _ => return Err(unknown(object, method)),
                };
                found(&path, &self.0.borrow())
            }
            ("json", []) => Ok(value_of(&self.0.borrow())),
            ("jsonString", []) => {
                let mut out = String::new();
                self.0.borrow().write_json(&mut out);
                Ok(V::text(out))
            }
            ("set" | "add", [path, value]) => {
                let (path, value) = (compiled(machine, path)?, json_of(value, 0)?);
                self.check(&path)?;
                let appends = method == "add";
                self.change(&path, &mut |found| match found {
                    Json::Array(items) if appends => items.push(value.clone()),
                    found if !appends => *found = value.clone(),
                    _ => {}
                })?;
                Ok(object.clone())
            }
            ("put", [path, key, value]) => {
                let (path, value) = (compiled(machine, path)?, json_of(value, 0)?);
                let key = print::groovy(machine, key)?;
                self.check(&path)?;
                self.change(&path, &mut |found| {
                    let Json::Object(members) = found else { return };
                    match members.iter_mut().find(|(known, _)| *known == key) {
                        Some((_, known)) => *known = value.clone(),
                        None => members.push((key.clone(), value.clone())),
                    }
                })?;
                Ok(object.clone())
            }
            ("delete", [path]) => {
                let path = compiled(machine, path)?;
                self.check(&path)?;
                path.remove(&mut self.0.borrow_mut()).map_err(path_fault)?;
                Ok(object.clone())
            }
            _ => Err(unknown(object, method)),
        }
    }
}

impl Document {
    /// A definite path has to lead somewhere.
    fn check(&self, path: &jsonpath::JsonPath) -> Result<(), Fault> {
        found(path, &self.0.borrow()).map(drop)
    }

    fn change(&self, path: &jsonpath::JsonPath, edit: &mut dyn FnMut(&mut Json)) -> Result<(), Fault> {
        path.change(&mut self.0.borrow_mut(), edit).map_err(path_fault)
    }
}
