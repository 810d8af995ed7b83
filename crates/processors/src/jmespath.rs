//! JMESPath with the behaviour of jmespath-java over Jackson, the libraries of JMeter's JMESPath elements. A library
//! parses the paths; they are evaluated here, because objects keep the order of their members and numbers their type.

mod error;
mod eval;
mod functions;
mod json;
mod values;

use jmespath::ast::Ast;

use busyhour_limits::{Limit, exceeded};

use crate::jsonpath::{StepBudget, Value};
pub(crate) use error::JmesPathError;

pub(crate) use json::{read, write};

/// Maximum steps of an evaluation: visited or copied values, or 16 bytes of text. A copy of a value takes about 100
/// bytes.
const STEPS_MAX: u64 = 3_000_000;

/// Maximum number of signs in a path, because parsing and evaluation are recursive.
const SIGNS_MAX: usize = 200;

/// A compiled path.
#[derive(Clone, Debug)]
pub(crate) struct JmesPath {
    ast: Ast,
}

impl JmesPath {
    /// Compiles a path.
    ///
    /// # Errors
    /// If the syntax is wrong or the path calls an unknown function.
    pub(crate) fn compile(text: &str) -> Result<Self, JmesPathError> {
        let unable =
            |why: &str| JmesPathError::from(format!("Unable to compile expression \"{text}\": {why}"));
        if signs(text) > SIGNS_MAX {
            return Err(unable(&format!("it has more than {SIGNS_MAX} signs")));
        }
        let ast = jmespath::parse(text).map_err(|error| unable(&error.reason.to_string()))?;
        match unknown_function(&ast) {
            Some(name) => Err(unable(&format!("unknown function \"{name}\""))),
            None => Ok(Self { ast }),
        }
    }

    /// Evaluates the path; the result is null if it finds nothing.
    ///
    /// # Errors
    /// If an argument of a function has the wrong type, or the steps are used up.
    pub(crate) fn search(&self, document: &Value) -> Result<Value, JmesPathError> {
        self.search_within(document, STEPS_MAX)
    }

    fn search_within(&self, document: &Value, most: u64) -> Result<Value, JmesPathError> {
        let steps = StepBudget::new(most);
        let found = eval::evaluate_own(&self.ast, document, &steps);
        if steps.is_exhausted() {
            exceeded(Limit::JmesPathSteps);
            return Err(
                format!("the JMESPath expression needs more than {most} steps on this document").into()
            );
        }
        found
    }
}

/// Signs outside of texts in quotes: each may take a level of recursion.
fn signs(text: &str) -> usize {
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
