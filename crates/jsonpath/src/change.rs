//! Changes and removes the values that a path selects, for the methods `set`, `put`, `add` and `delete` of Jayway's document
//! context.

use crate::error::PathError;
use crate::syntax::{JsonPath, Step};
use crate::value::Value;

impl JsonPath {
    /// Calls `edit` with each value that the path selects. Missing members and items are not created.
    ///
    /// # Errors
    /// The path contains steps other than members, indexes and wildcards.
    pub fn change(&self, document: &mut Value, edit: &mut dyn FnMut(&mut Value)) -> Result<(), PathError> {
        walk(&self.steps, document, edit)
    }

    /// Removes the values that the path selects.
    ///
    /// # Errors
    /// The same as for [`JsonPath::change`]. It is also an error if the path selects the whole document.
    pub fn remove(&self, document: &mut Value) -> Result<(), PathError> {
        let Some((last, before)) = self.steps.split_last() else {
            return Err(PathError::Unsupported("removing the whole document".to_owned()));
        };
        let mut outcome = Ok(());
        walk(before, document, &mut |parent| {
            if let Err(error) = remove_from(parent, last) {
                outcome = Err(error);
            }
        })?;
        outcome
    }
}

/// Converts an index to a position in an array of `len` items; `None` if there is no such item. A negative index counts from
/// the end.
fn array_position(index: i64, len: usize) -> Option<usize> {
    let index = if index < 0 { index + i64::try_from(len).ok()? } else { index };
    usize::try_from(index).ok().filter(|at| *at < len)
}

fn unsupported_step() -> PathError {
    PathError::Unsupported("changing values that slices, filters and `..` select".to_owned())
}

fn walk(steps: &[Step], value: &mut Value, edit: &mut dyn FnMut(&mut Value)) -> Result<(), PathError> {
    let Some((step, rest)) = steps.split_first() else {
        edit(value);
        return Ok(());
    };
    match (step, value) {
        (Step::Members(names), Value::Object(members)) => {
            for (_, member) in members.iter_mut().filter(|(name, _)| names.contains(name)) {
                walk(rest, member, edit)?;
            }
        }
        (Step::Indexes(indexes), Value::Array(items)) => {
            for index in indexes {
                if let Some(at) = array_position(*index, items.len()) {
                    walk(rest, &mut items[at], edit)?;
                }
            }
        }
        (Step::Wildcard, Value::Array(items)) => {
            for item in items {
                walk(rest, item, edit)?;
            }
        }
        (Step::Wildcard, Value::Object(members)) => {
            for (_, member) in members {
                walk(rest, member, edit)?;
            }
        }
        (Step::Members(_) | Step::Indexes(_) | Step::Wildcard, _) => {}
        (Step::Slice(..) | Step::Filter(_) | Step::Descend | Step::Function(_), _) => {
            return Err(unsupported_step());
        }
    }
    Ok(())
}

fn remove_from(parent: &mut Value, step: &Step) -> Result<(), PathError> {
    match (step, parent) {
        (Step::Members(names), Value::Object(members)) => members.retain(|(name, _)| !names.contains(name)),
        (Step::Indexes(indexes), Value::Array(items)) => {
            let mut positions: Vec<usize> =
                indexes.iter().filter_map(|index| array_position(*index, items.len())).collect();
            positions.sort_unstable();
            for at in positions.into_iter().rev() {
                items.remove(at);
            }
        }
        (Step::Wildcard, Value::Array(items)) => items.clear(),
        (Step::Wildcard, Value::Object(members)) => members.clear(),
        (Step::Members(_) | Step::Indexes(_) | Step::Wildcard, _) => {}
        (Step::Slice(..) | Step::Filter(_) | Step::Descend | Step::Function(_), _) => {
            return Err(unsupported_step());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    fn json_text(value: &Value) -> String {
        let mut out = String::new();
        value.write_json(&mut out);
        out
    }

    #[test]
    fn values_are_set_and_removed() {
        let path = |text: &str| JsonPath::compile(text).expect("a path");
        let mut document = read(r#"{"a":[{"b":1},{"b":2}],"c":3}"#).expect("JSON");
        path("$.a[*].b").change(&mut document, &mut |value| *value = Value::Integer(7)).expect("plain steps");
        path("$.absent.b").change(&mut document, &mut |value| *value = Value::Null).expect("plain steps");
        path("$.a[-1]").remove(&mut document).expect("plain steps");
        path("$.c").remove(&mut document).expect("plain steps");
        assert_eq!(json_text(&document), r#"{"a":[{"b":7}]}"#);
        assert!(path("$..b").remove(&mut document).is_err());
    }
}
