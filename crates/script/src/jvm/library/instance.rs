//! The declarations of library classes that are implemented in their own source files: their methods and constructors.

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, unsupported};
use super::super::machine::Machine;
pub use super::super::model::Instance;
use super::super::value::V;

/// A class with the members that scripts can use.
pub struct LibraryClass {
    /// Simple name of the class.
    pub class: &'static str,
    /// Its static methods, separated by spaces.
    pub statics: &'static str,
    /// Minimum and maximum number of arguments of its constructor; `None` if scripts cannot create objects of it.
    pub constructor_arguments: Option<(usize, usize)>,
    /// Methods of its objects, separated by spaces.
    pub methods: &'static str,
    /// Calls a static method.
    pub call_static: fn(&mut Machine<'_>, &str, &[V]) -> Outcome,
    /// Creates an object.
    pub construct: fn(&mut Machine<'_>, &[V]) -> Outcome,
}

/// Whether a list of words, separated by spaces, contains the word.
pub fn contains_word(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

/// The implementation of [`LibraryClass::call_static`] for classes without static methods.
pub fn no_static_method(_: &mut Machine<'_>, method: &str, _: &[V]) -> Outcome {
    Err(unsupported(format!("the static method `{method}`")))
}

/// The implementation of [`LibraryClass::construct`] for classes that scripts cannot instantiate.
pub fn no_constructor(_: &mut Machine<'_>, _: &[V]) -> Outcome {
    Err(unsupported("a new object of this class"))
}

/// A constant of an enumeration.
#[derive(Debug)]
pub struct Constant {
    /// Simple name of the enumeration.
    pub class: &'static str,
    /// Name of the constant.
    pub name: &'static str,
}

impl Instance for Constant {
    fn class(&self) -> Class {
        Class::known(self.class)
    }

    fn call(&self, _: &mut Machine<'_>, object: &V, method: &str, arguments: &[V]) -> Outcome {
        match (method, arguments) {
            ("name" | "toString", []) => Ok(V::text(self.name)),
            _ => Err(super::unknown(object, method)),
        }
    }

    fn text(&self, _: &mut Machine<'_>) -> Result<String, Fault> {
        Ok(self.name.to_owned())
    }
}
