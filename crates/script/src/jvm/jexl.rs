//! JEXL from text to tree: a scanner and a parser for both versions of the language.

pub(crate) mod ast;
mod expression;
mod locals;
pub(crate) mod names;
mod parser;
mod postfix;
mod token;

pub(crate) use parser::parse;
pub(crate) use token::identifiers;

use crate::{Place, ScriptError};

/// The languages whose operators and conversions differ; the parser here is JEXL's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Dialect {
    Jexl2,
    Jexl3,
    Groovy,
    BeanShell,
}

impl Dialect {
    pub(crate) fn is_jexl(self) -> bool {
        matches!(self, Dialect::Jexl2 | Dialect::Jexl3)
    }
}

pub(crate) fn syntax_error(text: &str, at: usize, message: impl Into<String>) -> ScriptError {
    ScriptError::Syntax { message: message.into(), place: Place::of(text, at) }
}

pub(crate) fn unsupported(text: &str, at: usize, what: impl Into<String>) -> ScriptError {
    ScriptError::Unsupported { what: what.into(), place: Place::of(text, at) }
}
