//! The text form of an arrival process: reading and printing.

mod grammar;
mod limits;
mod print;
mod scanner;

pub(crate) use grammar::parse;
