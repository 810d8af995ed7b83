//! Classes of arrays, such as `int[].class`, as objects that return their name.

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome};
use super::super::machine::Machine;
use super::super::objects::Object;
use super::super::tree::Base;
use super::super::value::V;
use super::instance::Instance;
use super::unknown;

#[derive(Debug)]
struct ArrayClass(Base);

/// The class of the arrays with this type of items.
pub fn of_items(base: Base) -> V {
    V::object(Object::Library(Box::new(ArrayClass(base))))
}

fn simple_name(base: Base) -> String {
    match base {
        Base::Text => "String[]".into(),
        Base::Any | Base::Void => "Object[]".into(),
        Base::Class(class) => format!("{}[]", class.name()),
        other => format!("{other:?}[]").to_lowercase(),
    }
}

impl Instance for ArrayClass {
    fn class(&self) -> Class {
        Class::known("Object")
    }

    fn is_equal(&self, other: &V) -> bool {
        let V::Object(other) = other else { return false };
        other.library().and_then(Instance::own_text) == Some(self.0.array_class_name())
    }

    fn own_text(&self) -> Option<String> {
        Some(self.0.array_class_name())
    }

    fn call(&self, _: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("getName" | "getTypeName", []) => Ok(V::text(self.0.array_class_name())),
            ("getSimpleName", []) => Ok(V::text(simple_name(self.0))),
            ("isArray", []) => Ok(V::truth(true)),
            _ => Err(unknown(object, method)),
        }
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        Ok(format!("class {}", self.0.array_class_name()))
    }
}
