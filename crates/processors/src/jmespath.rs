//! JMESPath with the behaviour of jmespath-java and Jackson, the libraries of JMeter's JMESPath elements. The crate
//! `jmespath` parses the paths. They are evaluated here, because the order of object members and the types of numbers must be
//! preserved.

mod error;
mod eval;
mod functions;
mod json;
mod values;

use jmespath::ast::Ast;

use busyhour_limits::{Limit, count_exceeded};

use crate::jsonpath::{StepBudget, Value};
pub(crate) use error::JmesPathError;

pub(crate) use json::{read, write};

/// Limit of steps for an evaluation. A visited or copied value is one step, and so are 16 bytes of text. A copied value takes
/// about 100 bytes of memory.
const STEPS_MAX: u64 = 3_000_000;

/// Maximum number of punctuation characters in a path, because parsing and evaluation are recursive.
const PUNCTUATION_MAX: usize = 200;

/// A compiled path.
#[derive(Clone, Debug)]
pub(crate) struct JmesPath {
    ast: Ast,
}

impl JmesPath {
    /// Compiles a path.
    ///
    /// # Errors
    /// The syntax is invalid, or the path calls an unknown function.
    pub(crate) fn compile(text: &str) -> Result<Self, JmesPathError> {
        let error =
            |why: &str| JmesPathError::from(format!("Unable to compile expression \"{text}\": {why}"));
        if count_punctuation(text) > PUNCTUATION_MAX {
            return Err(error(&format!("it has more than {PUNCTUATION_MAX} punctuation characters")));
        }
        let ast = jmespath::parse(text).map_err(|cause| error(&cause.reason.to_string()))?;
        match unknown_function(&ast) {
            Some(name) => Err(error(&format!("unknown function \"{name}\""))),
            None => Ok(Self { ast }),
        }
    }

    /// Evaluates the path. The result is null if nothing is found.
    ///
    /// # Errors
    /// An argument of a function has the wrong type, or the evaluation exceeds the limit of steps.
    pub(crate) fn search(&self, document: &Value) -> Result<Value, JmesPathError> {
        self.search_within(document, STEPS_MAX)
    }

    fn search_within(&self, document: &Value, steps_max: u64) -> Result<Value, JmesPathError> {
        let budget = StepBudget::new(steps_max);
        let found = eval::evaluate_owned(&self.ast, document, &budget);
        if budget.is_exhausted() {
            count_exceeded(Limit::JmesPathSteps);
            return Err(format!(
                "the JMESPath expression needs more than {steps_max} steps on this document"
            )
            .into());
        }
        found
    }
}

/// Counts the punctuation characters outside quotes. Each of them may add a level of recursion.
fn count_punctuation(text: &str) -> usize {
    let mut count = 0;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' | '\'' | '`' => {
                while let Some(inside) = characters.next() {
                    match inside {
                        '\\' => drop(characters.next()),
                        end if end == character => break,
                        _ => {}
                    }
                }
            }
            '_' => {}
            sign if sign.is_ascii_punctuation() => count += 1,
            _ => {}
        }
    }
    count
}

fn unknown_function(ast: &Ast) -> Option<&str> {
    match ast {
        Ast::Function { name, args, .. } => {
            if functions::is_known(name) {
                args.iter().find_map(unknown_function)
            } else {
                Some(name)
            }
        }
        Ast::Comparison { lhs, rhs, .. }
        | Ast::Projection { lhs, rhs, .. }
        | Ast::And { lhs, rhs, .. }
        | Ast::Or { lhs, rhs, .. }
        | Ast::Subexpr { lhs, rhs, .. } => unknown_function(lhs).or_else(|| unknown_function(rhs)),
        Ast::Condition { predicate, then, .. } => {
            unknown_function(predicate).or_else(|| unknown_function(then))
        }
        Ast::Expref { ast, .. } => unknown_function(ast),
        Ast::Flatten { node, .. } | Ast::Not { node, .. } | Ast::ObjectValues { node, .. } => {
            unknown_function(node)
        }
        Ast::MultiList { elements, .. } => elements.iter().find_map(unknown_function),
        Ast::MultiHash { elements, .. } => elements.iter().find_map(|pair| unknown_function(&pair.value)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
