//! The plain subset of Groovy and BeanShell: arithmetic, comparison, texts, variables, a few classes of the JDK.

pub(crate) mod beanshell;
mod decimal;
pub(crate) mod groovy;

pub use decimal::Decimal;

use std::sync::Arc;

use crate::syntax::ast::Tree;
use crate::syntax::{Dialect, parse};
use crate::{Scope, ScriptError, Value, evaluate};

/// Which of the two languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// BeanShell 2.0b6 (`__BeanShell`, BeanShell elements).
    BeanShell,
    /// Groovy 3.0 (`__groovy`, JSR223 elements).
    Groovy,
}

/// A parsed script; copies share it.
#[derive(Debug, Clone)]
pub struct Script {
    tree: Arc<Tree>,
}

/// Parses a script.
///
/// # Errors
/// [`ScriptError::Syntax`] for what is neither, [`ScriptError::Unsupported`] for what may behave otherwise here.
pub fn compile(text: &str, language: Language) -> Result<Script, ScriptError> {
    let dialect = match language {
        Language::BeanShell => Dialect::BeanShell,
        Language::Groovy => Dialect::Groovy,
    };
    Ok(Script { tree: Arc::new(parse(text, dialect)?) })
}

impl Script {
    /// Runs the script; its value is that of the last statement.
    ///
    /// # Errors
    /// [`ScriptError::Evaluation`] where JMeter would log an error and use an empty text as the result.
    pub fn evaluate(&self, scope: &mut dyn Scope) -> Result<Value, ScriptError> {
        evaluate::run(&self.tree, scope)
    }
}
