//! The front end of JEXL: a scanner and a parser for both versions of the language, which build the interpreter's tree.
//!
//! Each declaration of a variable has its own name in the tree, so that blocks need no frames.

mod expression;
mod locals;
pub(super) mod methods;
mod names;
mod parser;
mod postfix;
mod token;

pub(super) use parser::parse;
pub(super) use token::identifiers;
