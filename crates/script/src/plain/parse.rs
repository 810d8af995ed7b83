//! Parses numbers as `Integer.parseInt` and similar methods do.

use super::fault::{Fault, Outcome};
use crate::Value;

fn no_number(text: &str) -> Fault {
    Fault::new(format!("`{text}` is not a number"))
}

pub(super) fn parse_integer(text: &str) -> Outcome {
    busyhour_java::parse_int(text).map(Value::Integer).ok_or_else(|| no_number(text))
}

pub(super) fn parse_long(text: &str) -> Outcome {
    busyhour_java::parse_long(text).map(Value::Long).ok_or_else(|| no_number(text))
}

pub(super) fn parse_double(text: &str) -> Outcome {
    busyhour_java::parse_double(text).map(Value::Double).ok_or_else(|| no_number(text))
}
