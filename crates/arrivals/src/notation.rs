//! The notation of arrival processes: parsing and printing.

mod grammar;
mod limits;
mod print;
mod scanner;

pub(crate) use limits::{check_duration, check_listed, check_rate};

use crate::error::ParseError;

/// Parses a time in the notation of arrival processes (`60s`, `1min 30s`, `250ms`), in nanoseconds.
///
/// # Errors
/// The text is not a time.
pub fn time_ns(text: &str) -> Result<u64, ParseError> {
    let mut scanner = scanner::Scanner { text, at: 0 };
    let ns = scanner.time()?;
    scanner.skip_space();
    if scanner.rest().is_empty() {
        Ok(ns)
    } else {
        Err(ParseError::new(scanner.at, "unexpected text after the time")
            .with_hint("write for example 1min 30s"))
    }
}
