//! Groovy and BeanShell as JMeter's plans use them: statements, closures, collections, texts, dates, JSON, files, and
//! JMeter's own objects.
//!
//! `lexer`, `parser` and `expression` build a `tree` and reject unknown classes, methods and functions (`known`). `run`
//! executes the tree.
//!
//! Each layer imports only from those before it: `tree`; `model`, the types of values, objects, errors and the state of
//! a run; their methods (`value`, `objects`, `fault`, `machine`); texts and conversions (`library::print`, `types`,
//! `operators`); the classes of the `library`; `library::dispatch`, which selects the class of a call; `run`. Lower
//! layers call `run` and `dispatch` through the function table `model::Interpreter`. `bridge` makes the library
//! available to JavaScript.

mod asserted;
pub(crate) mod bridge;
mod classes;
mod diagnostic;
mod durations;
mod evaluate;
mod expression;
mod fault;
mod known;
mod lexer;
mod library;
mod machine;
mod missing;
mod model;
mod objects;
mod operators;
mod parser;
mod patterns;
mod places;
mod random;
mod run;
mod stack;
mod supported;
mod tree;
mod truth;
mod types;
mod value;

use std::sync::Arc;

use crate::java_like::Language;
use crate::{Identifiers, Scope, ScriptError, Value};

pub use diagnostic::Warning;
pub use run::{Binding, Memory};

/// A parsed script; copies share it.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    tree: Arc<tree::Tree>,
}

pub(crate) fn compile(text: &str, language: Language) -> Result<Script, ScriptError> {
    Ok(Script { tree: Arc::new(parser::parse(text, language)?) })
}

impl Script {
    /// Errors that JMeter reports only when the script runs.
    pub(crate) fn warnings(&self) -> &[Warning] {
        &self.tree.warnings
    }

    /// Whether the script may read more of the current sampler than its name.
    pub(crate) fn opens_request(&self) -> bool {
        self.tree.opens_request
    }

    /// The names that the script refers to.
    pub(crate) fn identifiers(&self) -> Identifiers {
        lexer::identifiers(&self.tree.text, self.tree.language)
    }

    /// Runs the script with these names bound; gives its value and what the names in `back` hold afterwards. `memory`: what
    /// the runs before left behind.
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
