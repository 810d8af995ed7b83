//! Groovy, BeanShell and JEXL as JMeter plans use them: statements, closures, collections, strings, dates, JSON, files,
//! and JMeter's own objects.
//!
//! `lexer`, `parser` and `expression` build a `tree` of a script in Groovy or BeanShell and reject unknown classes, methods
//! and functions (`library::known`); `jexl` does so for JEXL. `run` executes the tree. The tree's dialect determines the operators,
//! the truth of conditions, and the meaning of an undefined name.
//!
//! Each layer imports only from the layers before it:
//!
//! 1. `tree`
//! 2. `stack`: the limits of a run
//! 3. `counted`, `index` and `table`: the building blocks of lists and maps
//! 4. `model`: the types of values, objects, errors and the state of a run
//! 5. `release`, which frees values
//! 6. the methods of these types (`value`, `collection`, `objects`, `fault`, `machine`)
//! 7. texts and conversions (`print`, `types`, `operators`)
//! 8. the classes of the `library`
//! 9. `dispatch`, which selects the class of a call
//! 10. `run`
//!
//! Lower layers call `run` and `dispatch` through the function table `model::Interpreter`. `bridge` makes the library
//! available to JavaScript.

mod asserted;
pub(crate) mod bridge;
mod classes;
mod collection;
mod counted;
mod curry;
mod diagnostic;
mod dispatch;
mod durations;
mod evaluate;
mod expression;
mod fault;
mod functional;
mod index;
mod invalid;
mod jexl;
mod json_value;
mod lexer;
mod library;
mod literals;
mod machine;
mod missing;
mod model;
mod objects;
mod operators;
mod parser;
mod patterns;
mod places;
mod power_assert;
mod print;
mod random;
mod release;
#[cfg(test)]
mod repeated;
mod run;
mod stack;
mod supported;
mod table;
mod text_units;
mod tree;
mod truth;
mod types;
mod value;

use std::sync::Arc;

use crate::language::{Dialect, JavaLike};
use crate::{Identifiers, Scope, ScriptError, Value};

use library::known;

pub use diagnostic::Warning;
pub use run::{Binding, Memory};

/// A parsed script. Clones share the parsed form.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    tree: Arc<tree::Tree>,
}

pub(crate) fn compile(text: &str, dialect: Dialect) -> Result<Script, ScriptError> {
    let tree = match dialect {
        Dialect::BeanShell => parser::parse(text, JavaLike::BeanShell)?,
        Dialect::Groovy => parser::parse(text, JavaLike::Groovy)?,
        Dialect::Jexl2 | Dialect::Jexl3 => jexl::parse(text, dialect)?,
    };
    Ok(Script { tree: Arc::new(tree) })
}

/// Whether JMeter's parser certainly rejects a text that this crate's parser rejects.
pub(crate) fn is_certainly_invalid(text: &str, language: JavaLike) -> bool {
    invalid::is_certain(text, language)
}

impl Script {
    /// Errors that JMeter reports only when the script runs.
    pub(crate) fn warnings(&self) -> &[Warning] {
        &self.tree.warnings
    }

    /// Whether the script may read more of the current sampler than its name.
    pub(crate) fn accesses_request(&self) -> bool {
        self.tree.accesses_request
    }

    /// The names that the script refers to.
    pub(crate) fn identifiers(&self) -> Identifiers {
        let text = &self.tree.text;
        match self.tree.dialect {
            Dialect::BeanShell => lexer::identifiers(text, JavaLike::BeanShell),
            Dialect::Groovy => lexer::identifiers(text, JavaLike::Groovy),
            dialect @ (Dialect::Jexl2 | Dialect::Jexl3) => jexl::identifiers(text, dialect),
        }
    }

    /// Whether the script uses this name for a variable or an object of JMeter.
    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.tree.names.iter().any(|known| **known == *name)
    }

    /// Runs the script with the names in `bindings` bound. Returns its value and the final values of the names in `back`.
    /// `memory` holds the variables of earlier runs.
    pub(crate) fn run(
        &self,
        scope: &mut dyn Scope,
        bindings: &[(&str, Binding)],
        back: &[&str],
        memory: Option<&mut Memory>,
    ) -> Result<(Value, Vec<Value>), ScriptError> {
        run::run(&self.tree, scope, bindings, back, memory)
    }
}
