//! The text form of an arrival process: reading and printing.

mod grammar;
mod limits;
mod print;
mod scanner;

pub(crate) use grammar::parse;
pub(crate) use limits::{check_duration, check_listed, check_rate};

use crate::error::ParseError;

/// Reads a time alone, as it stands in the text form of a process (`60s`, `1min 30s`, `250ms`), in nanoseconds.
///
/// # Errors
/// The text is no time.
pub fn time_ns(text: &str) -> Result<u64, ParseError> {
    let mut scanner = scanner::Scanner { text, at: 0 };
    let ns = scanner.time()?;
    scanner.skip_space();
    if scanner.rest().is_empty() {
        Ok(ns)
    } else {
        Err(ParseError::new(scanner.at, "something follows the time")
            .with_hint("write for instance 1min 30s"))
    }
}
