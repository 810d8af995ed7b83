//! Evaluates a path over a document.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::compare::{OperandValue, compare};
use crate::error::{FunctionFailure, ReadError};
use crate::functions::apply;
use crate::steps::StepBudget;
use crate::syntax::{Comparison, Filter, JsonPath, Operand, Step};
use crate::value::Value;

/// Why the evaluation of a path ends early.
enum Stop {
    NotFound(String),
    Failed(String),
    Limit,
}

struct Walk<'p, 'v> {
    steps: &'p [Step],
    root: &'v Value,
    budget: &'p StepBudget,
    results: Vec<Cow<'v, Value>>,
}

/// Returns all values that the path selects, starting at `start`.
///
/// # Errors
/// [`ReadError::NotFound`] if a definite path selects no value, or if a value on the path has the wrong type.
pub(crate) fn select<'v>(
    path: &JsonPath,
    start: &'v Value,
    root: &'v Value,
    budget: &StepBudget,
) -> Result<Vec<Cow<'v, Value>>, ReadError> {
    let mut walk = Walk { steps: &path.steps, root, budget, results: Vec::new() };
    let outcome = walk.apply_steps(0, start, true);
    if budget.is_exhausted() {
        return Err(ReadError::Limit);
    }
    match outcome {
        Ok(()) if path.is_definite() && walk.results.is_empty() => {
            Err(ReadError::NotFound(format!("No results for path: {}", path_text(&path.steps))))
        }
        Ok(()) => Ok(walk.results),
        Err(Stop::NotFound(why)) => Err(ReadError::NotFound(why)),
        Err(Stop::Failed(why)) => Err(ReadError::Failed(why)),
        Err(Stop::Limit) => Err(ReadError::Limit),
    }
}

/// The value of a path in a filter: for a definite path, the selected value; for an indefinite path, an array of the selected
/// values.
fn operand_value<'v>(
    path: &JsonPath,
    start: &'v Value,
    root: &'v Value,
    budget: &StepBudget,
) -> Option<Cow<'v, Value>> {
    let mut found = select(path, start, root, budget).ok()?;
    if path.is_definite() {
        return found.pop();
    }
    // Spend the steps first: if they exhaust the budget, nothing is copied.
    found.iter().all(|value| budget.spend(value.size())).then_some(())?;
    Some(Cow::Owned(Value::Array(found.into_iter().map(Cow::into_owned).collect())))
}

/// The number of steps for a linear search of each name in the members.
fn lookup_steps(names: &[String], members: &[(String, Value)]) -> usize {
    names.len().saturating_mul(members.len() / 8)
}

/// The path in Jayway's format, such as `$['a'][0]`.
fn path_text(steps: &[Step]) -> String {
    let mut out = String::from("$");
    for step in steps {
        out.push_str(&step_text(step));
    }
    out
}

fn step_text(step: &Step) -> String {
    match step {
        Step::Members(names) => format!("['{}']", names.join("','")),
        Step::Indexes(indexes) => {
            let indexes: Vec<String> = indexes.iter().map(i64::to_string).collect();
            format!("[{}]", indexes.join(","))
        }
        Step::Slice(from, to) => {
            let mut out = String::from("[");
            let bound = |out: &mut String, bound: &Option<i64>| {
                if let Some(bound) = bound {
                    let _ = write!(out, "{bound}");
                }
            };
            bound(&mut out, from);
            out.push(':');
            bound(&mut out, to);
            out.push(']');
            out
        }
        Step::Wildcard => "[*]".to_owned(),
        Step::Filter(_) => "[?]".to_owned(),
        Step::Descend => "..".to_owned(),
        Step::Function(_) => String::new(),
    }
}

impl<'v> Walk<'_, 'v> {
    /// Applies the steps from index `at` on to a value. `definite` is true if the preceding steps can select only one value.
    fn apply_steps(&mut self, at: usize, value: &'v Value, definite: bool) -> Result<(), Stop> {
        if !self.budget.spend(1) {
            return Err(Stop::Limit);
        }
        let steps = self.steps;
        let Some(step) = steps.get(at) else {
            self.results.push(Cow::Borrowed(value));
            return Ok(());
        };
        match step {
            Step::Members(names) => self.members(at, names, value, definite),
            Step::Wildcard => {
                match value {
                    Value::Object(members) => {
                        for (_, member) in members {
                            self.apply_steps_if_found(at + 1, member)?;
                        }
                    }
                    Value::Array(items) => {
                        for item in items {
                            self.apply_steps_if_found(at + 1, item)?;
                        }
                    }
                    _ => {}
                }
                Ok(())
            }
            Step::Indexes(indexes) => {
                let Some(items) = self.array(at, value, definite)? else { return Ok(()) };
                let definite = definite && indexes.len() == 1;
                for &index in indexes {
                    self.item(at, items, index, definite)?;
                }
                Ok(())
            }
            Step::Slice(from, to) => {
                let Some(items) = self.array(at, value, definite)? else { return Ok(()) };
                let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
                let from_end = |bound: i64| if bound < 0 { length + bound } else { bound };
                let (from, to) = match (*from, *to) {
                    // With two bounds, Jayway does not resolve a negative bound, but wraps each index.
                    (Some(from), Some(to)) => (from, to.min(length)),
                    (Some(from), None) => (from_end(from).max(0), length),
                    (None, Some(to)) => (0, from_end(to).min(length)),
                    (None, None) => (0, length),
                };
                if length > 0 {
                    for index in from.max(-length)..to {
                        self.item(at, items, index, false)?;
                    }
                }
                Ok(())
            }
            Step::Filter(filter) => match value {
                Value::Object(_) => {
                    if filter.accepts(value, self.root, self.budget) {
                        self.apply_steps(at + 1, value, false)?;
                    }
                    Ok(())
                }
                Value::Array(items) => {
                    for item in items.iter().filter(|item| filter.accepts(item, self.root, self.budget)) {
                        self.apply_steps(at + 1, item, false)?;
                    }
                    Ok(())
                }
                _ if definite => Err(Stop::Failed(format!(
                    "Filter: [?] can not be applied to primitives. Current context is: {}",
                    self.message_text(value)?
                ))),
                _ => Ok(()),
            },
            Step::Descend => self.descend(at + 1, value),
            Step::Function(function) => {
                let result =
                    apply(function, value).map_err(|FunctionFailure(message)| Stop::Failed(message))?;
                self.results.push(Cow::Owned(result));
                Ok(())
            }
        }
    }

    /// Like [`Self::apply_steps`], but ignores a value in which the remaining steps find nothing.
    fn apply_steps_if_found(&mut self, at: usize, value: &'v Value) -> Result<(), Stop> {
        match self.apply_steps(at, value, false) {
            Err(Stop::NotFound(_)) => Ok(()),
            other => other,
        }
    }

    fn members(&mut self, at: usize, names: &[String], value: &'v Value, definite: bool) -> Result<(), Stop> {
        let Value::Object(members) = value else {
            if !definite {
                return Ok(());
            }
            return Err(Stop::NotFound(format!(
                "Expected to find an object with property {} in path {} but found '{}'. This is not a json object \
                 according to the JsonProvider: 'com.jayway.jsonpath.spi.json.JsonSmartJsonProvider'.",
                step_text(&self.steps[at]),
                path_text(&self.steps[..at]),
                value.java_class()
            )));
        };
        if !self.budget.spend(lookup_steps(names, members)) {
            return Err(Stop::Limit);
        }
        let is_leaf = at + 1 == self.steps.len();
        if names.len() > 1 && is_leaf {
            let chosen: Vec<(String, Value)> = names
                .iter()
                .filter_map(|name| members.iter().find(|(key, _)| key == name))
                .cloned()
                .collect();
            self.results.push(Cow::Owned(Value::Object(chosen)));
            return Ok(());
        }
        let definite = definite && names.len() == 1;
        for name in names {
            match value.member(name) {
                Some(member) => self.apply_steps(at + 1, member, definite)?,
                None if is_leaf || !definite => {}
                None => {
                    return Err(Stop::NotFound(format!(
                        "Missing property in path {}",
                        path_text(&self.steps[..=at])
                    )));
                }
            }
        }
        Ok(())
    }

    fn array(&self, at: usize, value: &'v Value, definite: bool) -> Result<Option<&'v [Value]>, Stop> {
        match value {
            Value::Array(items) => Ok(Some(items)),
            _ if !definite => Ok(None),
            Value::Null => Err(Stop::NotFound(format!("The path {} is null", path_text(&self.steps[..at])))),
            _ => Err(Stop::NotFound(format!(
                "Filter: {} can only be applied to arrays. Current context is: {}",
                step_text(&self.steps[at]),
                self.message_text(value)?
            ))),
        }
    }

    /// The text of a value in a message. It costs steps because a path in a filter may produce such a message for each item.
    fn message_text(&self, value: &Value) -> Result<String, Stop> {
        if self.budget.spend(value.size()) { Ok(value.java_text()) } else { Err(Stop::Limit) }
    }

    fn item(&mut self, at: usize, items: &'v [Value], index: i64, definite: bool) -> Result<(), Stop> {
        let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
        let index = if index < 0 { length + index } else { index };
        match usize::try_from(index).ok().and_then(|index| items.get(index)) {
            Some(item) => self.apply_steps(at + 1, item, definite),
            None => Ok(()),
        }
    }

    /// Applies step `at` to the value and to all its descendants.
    fn descend(&mut self, at: usize, value: &'v Value) -> Result<(), Stop> {
        if !self.budget.spend(1) {
            return Err(Stop::Limit);
        }
        let applies = match (&self.steps[at], value) {
            (Step::Members(names), Value::Object(members)) => {
                if !self.budget.spend(lookup_steps(names, members)) {
                    return Err(Stop::Limit);
                }
                let is_leaf = at + 1 == self.steps.len();
                (names.len() > 1 && !is_leaf) || names.iter().all(|name| value.member(name).is_some())
            }
            (Step::Indexes(_) | Step::Slice(..), Value::Array(_)) => true,
            (Step::Wildcard, _) => true,
            (Step::Filter(filter), Value::Object(_) | Value::Array(_)) => {
                filter.accepts(value, self.root, self.budget)
            }
            _ => false,
        };
        if applies {
            self.apply_steps(at, value, false)?;
        }
        match value {
            Value::Object(members) => {
                for (_, member) in members {
                    self.descend_into(at, member)?;
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.descend_into(at, item)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn descend_into(&mut self, at: usize, value: &'v Value) -> Result<(), Stop> {
        match value {
            Value::Object(_) | Value::Array(_) => self.descend(at, value),
            _ => Ok(()),
        }
    }
}

impl Operand {
    fn evaluate<'v>(&'v self, item: &'v Value, root: &'v Value, budget: &StepBudget) -> OperandValue<'v> {
        let (path, start) = match self {
            Self::Item(path) => (path, item),
            Self::Root(path) => (path, root),
            Self::Literal(value) => return OperandValue::Value(Cow::Borrowed(value)),
            Self::Pattern(_) => return OperandValue::Undefined,
        };
        match operand_value(path, start, root, budget) {
            Some(value) => OperandValue::Value(value),
            None => OperandValue::Undefined,
        }
    }
}

impl Filter {
    /// Whether the item satisfies the filter.
    fn accepts(&self, item: &Value, root: &Value, budget: &StepBudget) -> bool {
        if !budget.spend(1) {
            return false;
        }
        match self {
            Self::And(parts) => parts.iter().all(|part| part.accepts(item, root, budget)),
            Self::Or(parts) => parts.iter().any(|part| part.accepts(item, root, budget)),
            Self::Not(part) => !part.accepts(item, root, budget),
            Self::Exists(operand) => matches!(operand.evaluate(item, root, budget), OperandValue::Value(_)),
            Self::Compare(left, Comparison::Matches, Operand::Pattern(pattern)) => {
                match left.evaluate(item, root, budget) {
                    OperandValue::Value(value) if !budget.spend(value.size()) => false,
                    OperandValue::Value(value) => match value.as_ref() {
                        Value::Text(text) => pattern.is_match(text),
                        Value::Integer(_) | Value::Double(_) | Value::Bool(_) => {
                            pattern.is_match(&value.asserted())
                        }
                        _ => false,
                    },
                    OperandValue::Undefined => false,
                }
            }
            Self::Compare(left, comparison, right) => {
                let (left, right) = (left.evaluate(item, root, budget), right.evaluate(item, root, budget));
                budget.spend(comparison.steps(&left, &right)) && compare(&left, *comparison, &right)
            }
        }
    }
}
