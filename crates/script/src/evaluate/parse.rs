//! Numbers in texts, as `Integer.parseInt` and the like read them.

use super::fault::{Fault, Outcome};
use crate::Value;
use crate::number::{java_parse_double, java_parse_long};

fn no_number(text: &str) -> Fault {
    Fault::new(format!("`{text}` is no number"))
}

pub(super) fn parse_integer(text: &str) -> Outcome {
    let value = java_parse_long(text).and_then(|value| i32::try_from(value).ok());
    value.map(Value::Integer).ok_or_else(|| no_number(text))
}

pub(super) fn parse_long(text: &str) -> Outcome {
    java_parse_long(text).map(Value::Long).ok_or_else(|| no_number(text))
}

pub(super) fn parse_double(text: &str) -> Outcome {
    java_parse_double(text).map(Value::Double).ok_or_else(|| no_number(text))
}
