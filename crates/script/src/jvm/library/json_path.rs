//! Jayway's `JsonPath` and its document context.

use std::cell::RefCell;

use busyhour_jsonpath::{self as jsonpath, PathError, ReadError, Value as Json};

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, limit, thrown, unsupported};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::value::V;
use super::instance::{Instance, LibraryClass, no_constructor, no_static_method};
use super::json_value::{json_of, value_of};
use super::{print, text_of, unknown};
use crate::Value;

/// The classes of this file.
pub const CLASSES: &[LibraryClass] = &[
    LibraryClass {
        class: "JsonPath",
        statics: "read parse compile isPathDefinite",
        constructor_arguments: None,
        methods: "read parse isDefinite getPath",
        call_static: static_call,
        construct: no_constructor,
    },
    LibraryClass {
        class: "DocumentContext",
        statics: "",
        constructor_arguments: None,
        methods: "read json jsonString set put add delete",
        call_static: no_static_method,
        construct: no_constructor,
    },
];

/// The object that `JsonPath.compile(…)` returns.
#[derive(Debug)]
struct CompiledPath(jsonpath::JsonPath);

/// The object that `JsonPath.parse(…)` returns.
#[derive(Debug)]
struct Document(RefCell<Json>);

fn new_object(instance: impl Instance + 'static) -> V {
    V::object(Object::Library(Box::new(instance)))
}

fn static_call(machine: &mut Machine<'_>, method: &str, arguments: &[V]) -> Outcome {
    // A BeanShell script without filters must pass an empty array of them: `new Predicate[0]`.
    let arguments = match arguments {
        [rest @ .., V::Array(filters)] if filters.items.borrow().is_empty() => rest,
        arguments => arguments,
    };
    match (method, arguments) {
        ("read", [source, path]) => {
            let path = compile_argument(machine, path)?;
            let document = document(machine, source)?;
            find_value(&path, &document)
        }
        ("parse", [source]) => Ok(new_object(Document(RefCell::new(document(machine, source)?)))),
        ("compile", [path]) => Ok(new_object(CompiledPath(compile_argument(machine, path)?))),
        ("isPathDefinite", [path]) => Ok(V::truth(compile_argument(machine, path)?.is_definite())),
        _ => Err(unsupported(format!("`JsonPath.{method}` with these arguments"))),
    }
}

fn compile_argument(machine: &mut Machine<'_>, path: &V) -> Result<jsonpath::JsonPath, Fault> {
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
    compile_path(&text)
}

fn compile_path(text: &str) -> Result<jsonpath::JsonPath, Fault> {
    jsonpath::JsonPath::compile(text).map_err(path_fault)
}

fn path_fault(error: PathError) -> Fault {
    match error {
        PathError::Invalid(why) => thrown("InvalidPathException", why),
        PathError::Unsupported(what) => unsupported(format!("a JSON path with {what}")),
    }
}

/// The document of an argument: JSON text, a file, or maps and lists.
fn document(machine: &mut Machine<'_>, source: &V) -> Result<Json, Fault> {
    let text = match source {
        V::Plain(Value::Null) => String::new(),
        V::Plain(Value::Text(text)) => text.to_string(),
        V::Object(object) => match &**object {
            Object::File(path) => super::files::text(path)?,
            Object::Builder(..) => text_of(machine, source)?,
            _ => return json_of(machine, source, 0),
        },
        other => return json_of(machine, other, 0),
    };
    machine.spend_text(text.len().saturating_mul(4))?;
    if text.is_empty() {
        return Err(thrown("IllegalArgumentException", "json string can not be null or empty"));
    }
    jsonpath::read(&text).map_err(|error| thrown("InvalidJsonException", error.to_string()))
}

fn find_value(path: &jsonpath::JsonPath, document: &Json) -> Outcome {
    match path.find(document) {
        Ok(value) => Ok(value_of(&value)),
        Err(ReadError::NotFound(why)) => Err(thrown("PathNotFoundException", why)),
        Err(ReadError::Failed(why)) => Err(thrown("JsonPathException", why)),
        Err(error @ ReadError::Limit) => Err(limit(error.to_string())),
    }
}

impl Instance for CompiledPath {
    fn class(&self) -> Class {
        Class::known("JsonPath")
    }

    fn call(&self, machine: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("read", [source]) => find_value(&self.0, &document(machine, source)?),
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
                    V::Object(_) | V::Plain(_) => compile_argument(machine, path)?,
                    _ => return Err(unknown(object, method)),
                };
                find_value(&path, &self.0.borrow())
            }
            ("json", []) => Ok(value_of(&self.0.borrow())),
            ("jsonString", []) => {
                let mut out = String::new();
                self.0.borrow().write_json(&mut out);
                Ok(V::text(out))
            }
            ("set" | "add", [path, value]) => {
                let (path, value) = (compile_argument(machine, path)?, json_of(machine, value, 0)?);
                self.check_exists(&path)?;
                let appends = method == "add";
                self.change(&path, &mut |found| match found {
                    Json::Array(items) if appends => items.push(value.clone()),
                    found if !appends => *found = value.clone(),
                    _ => {}
                })?;
                Ok(object.clone())
            }
            ("put", [path, key, value]) => {
                let (path, value) = (compile_argument(machine, path)?, json_of(machine, value, 0)?);
                let key = print::groovy(machine, key)?;
                self.check_exists(&path)?;
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
                let path = compile_argument(machine, path)?;
                self.check_exists(&path)?;
                path.remove(&mut self.0.borrow_mut()).map_err(path_fault)?;
                Ok(object.clone())
            }
            _ => Err(unknown(object, method)),
        }
    }
}

impl Document {
    /// Fails if a definite path matches nothing.
    fn check_exists(&self, path: &jsonpath::JsonPath) -> Result<(), Fault> {
        find_value(path, &self.0.borrow()).map(drop)
    }

    fn change(&self, path: &jsonpath::JsonPath, edit: &mut dyn FnMut(&mut Json)) -> Result<(), Fault> {
        path.change(&mut self.0.borrow_mut(), edit).map_err(path_fault)
    }
}
