//! What the library classes with their own files declare: their methods and constructors.

use super::super::classes::Class;
use super::super::fault::{Fault, Outcome, unsupported};
use super::super::machine::Machine;
pub use super::super::model::Instance;
use super::super::value::V;

/// The members of a class that scripts can use.
pub struct Offer {
    /// Simple name of the class.
    pub class: &'static str,
    /// Its static methods, separated by blanks.
    pub statics: &'static str,
    /// Least and greatest number of arguments of its constructor; `None`: scripts cannot make one.
    pub made: Option<(usize, usize)>,
    /// Methods of its objects, separated by blanks.
    pub methods: &'static str,
    /// Calls a static method.
    pub call: fn(&mut Machine<'_>, &str, &[V]) -> Outcome,
    /// Makes an object.
    pub make: fn(&mut Machine<'_>, &[V]) -> Outcome,
}

/// Whether a list of words, separated by blanks, has the word.
pub fn lists(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

/// For classes without static methods.
pub fn no_static(_: &mut Machine<'_>, method: &str, _: &[V]) -> Outcome {
    Err(unsupported(format!("the static method `{method}`")))
}

/// For classes that scripts cannot make objects of.
pub fn not_made(_: &mut Machine<'_>, _: &[V]) -> Outcome {
    Err(unsupported("a new object of this class"))
}

/// The constant of an enumeration.
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
