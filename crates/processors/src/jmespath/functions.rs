//! The functions of JMESPath.

use std::cmp::Ordering;

use jmespath::ast::Ast;

use super::error::JmesPathError;
use super::json;
use super::values::{equal, spend, steps_to_compare};
use crate::jsonpath::{StepBudget, Value};

const NAMES: [&str; 26] = [
    "abs",
    "avg",
    "ceil",
    "contains",
    "ends_with",
    "floor",
    "join",
    "keys",
    "length",
    "map",
    "max",
    "max_by",
    "merge",
    "min",
    "min_by",
    "not_null",
    "reverse",
    "sort",
    "sort_by",
    "starts_with",
    "sum",
    "to_array",
    "to_number",
    "to_string",
    "type",
    "values",
];

/// Whether a function with this name exists.
pub(super) fn is_known(name: &str) -> bool {
    NAMES.contains(&name)
}

type FunctionResult = Result<Value, JmesPathError>;

/// Evaluates a node of the path over a value.
pub(super) type Evaluate = fn(&Ast, &Value, &StepBudget) -> FunctionResult;

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Text(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        _ => "number",
    }
}

struct Call<'c> {
    name: &'c str,
    arguments: &'c [Ast],
    data: &'c Value,
    budget: &'c StepBudget,
    evaluate: Evaluate,
}

/// Calls a function. `evaluate` evaluates the arguments over `data`.
pub(super) fn call(
    name: &str,
    arguments: &[Ast],
    data: &Value,
    budget: &StepBudget,
    evaluate: Evaluate,
) -> FunctionResult {
    Call { name, arguments, data, budget, evaluate }.run()
}

impl Call<'_> {
    fn type_error<T>(&self, expected: &str, value: &Value) -> Result<T, JmesPathError> {
        Err(format!(
            "Invalid argument type calling \"{}\": expected {expected} but was {}",
            self.name,
            type_of(value)
        )
        .into())
    }

    fn check_arity(&self, wanted: usize) -> Result<(), JmesPathError> {
        if self.arguments.len() == wanted {
            return Ok(());
        }
        let plural = if wanted == 1 { "" } else { "s" };
        Err(format!(
            "Invalid arity calling \"{}\": expected {wanted} argument{plural} but was {}",
            self.name,
            self.arguments.len()
        )
        .into())
    }

    fn argument(&self, at: usize) -> FunctionResult {
        match self.arguments.get(at) {
            Some(ast) => (self.evaluate)(ast, self.data, self.budget),
            None => Err(format!("Invalid arity calling \"{}\"", self.name).into()),
        }
    }

    fn array(&self, at: usize) -> Result<Vec<Value>, JmesPathError> {
        match self.argument(at)? {
            Value::Array(items) => Ok(items),
            other => self.type_error("array", &other),
        }
    }

    fn object(&self, at: usize) -> Result<Vec<(String, Value)>, JmesPathError> {
        match self.argument(at)? {
            Value::Object(members) => Ok(members),
            other => self.type_error("object", &other),
        }
    }

    fn numbers(&self) -> Result<Vec<(f64, Value)>, JmesPathError> {
        let mut numbers = Vec::new();
        for item in self.array(0)? {
            match item.as_f64() {
                Some(number) => numbers.push((number, item)),
                None => return self.type_error("array of number", &item),
            }
        }
        Ok(numbers)
    }

    fn number(&self) -> Result<f64, JmesPathError> {
        let value = self.argument(0)?;
        match value.as_f64() {
            Some(number) => Ok(number),
            None => self.type_error("number", &value),
        }
    }

    fn text(&self, at: usize) -> Result<String, JmesPathError> {
        match self.argument(at)? {
            Value::Text(text) => Ok(text),
            other => self.type_error("string", &other),
        }
    }

    /// The expression after `&`.
    fn expression(&self, at: usize) -> Result<&Ast, JmesPathError> {
        match self.arguments.get(at) {
            Some(Ast::Expref { ast, .. }) => Ok(ast),
            _ => Err(format!("Invalid argument type calling \"{}\": expected expression", self.name).into()),
        }
    }

    fn run(&self) -> FunctionResult {
        match self.name {
            "not_null" | "merge" => {}
            "contains" | "ends_with" | "join" | "map" | "max_by" | "min_by" | "sort_by" | "starts_with" => {
                self.check_arity(2)?;
            }
            _ => self.check_arity(1)?,
        }
        Ok(match self.name {
            "abs" => integer_or_double(self.number()?.abs()),
            "ceil" => integer_or_double(self.number()?.ceil()),
            "floor" => integer_or_double(self.number()?.floor()),
            "avg" => self.average()?,
            "sum" => Value::Double(self.numbers()?.iter().map(|(number, _)| number).sum()),
            "contains" => Value::Bool(self.contains()?),
            "ends_with" => Value::Bool(self.text(0)?.ends_with(&self.text(1)?)),
            "starts_with" => Value::Bool(self.text(0)?.starts_with(&self.text(1)?)),
            "join" => Value::Text(self.join()?),
            "keys" => Value::Array(self.object(0)?.into_iter().map(|(key, _)| Value::Text(key)).collect()),
            "values" => Value::Array(self.object(0)?.into_iter().map(|(_, value)| value).collect()),
            "length" => self.length()?,
            "map" => Value::Array(self.map()?),
            "max" => self.extreme(Ordering::Greater)?,
            "min" => self.extreme(Ordering::Less)?,
            "max_by" => self.extreme_by(Ordering::Greater)?,
            "min_by" => self.extreme_by(Ordering::Less)?,
            "sort" => {
                let mut items = self.array(0)?;
                self.check_comparable(&items)?;
                items.sort_by(order);
                Value::Array(items)
            }
            "sort_by" => Value::Array(self.sort_by()?),
            "merge" => Value::Object(self.merge()?),
            "not_null" => self.first_not_null()?,
            "reverse" => self.reverse()?,
            "to_array" => match self.argument(0)? {
                Value::Array(items) => Value::Array(items),
                other => Value::Array(vec![other]),
            },
            "to_string" => Value::Text(self.to_text()?),
            "to_number" => match self.argument(0)? {
                Value::Text(text) => text.parse::<f64>().map_or(Value::Null, integer_or_double),
                other if other.as_f64().is_some() => other,
                _ => Value::Null,
            },
            "type" => Value::Text(type_of(&self.argument(0)?).to_owned()),
            other => return Err(format!("unknown function {other}").into()),
        })
    }

    fn average(&self) -> FunctionResult {
        let numbers = self.numbers()?;
        if numbers.is_empty() {
            return Ok(Value::Null);
        }
        #[allow(clippy::cast_precision_loss, reason = "a list is never that long")]
        let count = numbers.len() as f64;
        Ok(Value::Double(numbers.iter().map(|(number, _)| number).sum::<f64>() / count))
    }

    fn contains(&self) -> Result<bool, JmesPathError> {
        let wanted = self.argument(1)?;
        match self.argument(0)? {
            Value::Array(items) => {
                spend(self.budget, items.iter().map(steps_to_compare).sum())?;
                Ok(items.iter().any(|item| equal(item, &wanted)))
            }
            Value::Text(text) => Ok(matches!(wanted, Value::Text(wanted) if text.contains(&wanted))),
            other => self.type_error("array or string", &other),
        }
    }

    fn join(&self) -> Result<String, JmesPathError> {
        let glue = self.text(0)?;
        let mut parts = Vec::new();
        for item in self.array(1)? {
            match item {
                Value::Text(text) => parts.push(text),
                other => return self.type_error("array of string", &other),
            }
        }
        Ok(parts.join(&glue))
    }

    fn length(&self) -> FunctionResult {
        let length = match self.argument(0)? {
            Value::Array(items) => items.len(),
            Value::Object(members) => members.len(),
            Value::Text(text) => busyhour_java::length(&text),
            other => return self.type_error("string, array or object", &other),
        };
        Ok(Value::Integer(i64::try_from(length).unwrap_or(i64::MAX)))
    }

    fn map(&self) -> Result<Vec<Value>, JmesPathError> {
        let expression = self.expression(0)?;
        self.array(1)?.iter().map(|item| (self.evaluate)(expression, item, self.budget)).collect()
    }

    fn sort_by(&self) -> Result<Vec<Value>, JmesPathError> {
        let keys = self.keys(&self.array(0)?)?;
        self.check_comparable(&keys)?;
        let mut pairs: Vec<_> = keys.into_iter().zip(self.array(0)?).collect();
        pairs.sort_by(|left, right| order(&left.0, &right.0));
        Ok(pairs.into_iter().map(|(_, item)| item).collect())
    }

    fn merge(&self) -> Result<Vec<(String, Value)>, JmesPathError> {
        let mut members: Vec<(String, Value)> = Vec::new();
        for at in 0..self.arguments.len() {
            for (key, value) in self.object(at)? {
                spend(self.budget, members.len() / 8)?;
                match members.iter_mut().find(|(known, _)| *known == key) {
                    Some(member) => member.1 = value,
                    None => members.push((key, value)),
                }
            }
        }
        Ok(members)
    }

    fn first_not_null(&self) -> FunctionResult {
        for at in 0..self.arguments.len() {
            let value = self.argument(at)?;
            if !matches!(value, Value::Null) {
                return Ok(value);
            }
        }
        Ok(Value::Null)
    }

    fn reverse(&self) -> FunctionResult {
        match self.argument(0)? {
            Value::Array(mut items) => {
                items.reverse();
                Ok(Value::Array(items))
            }
            Value::Text(text) => Ok(Value::Text(text.chars().rev().collect())),
            other => self.type_error("array or string", &other),
        }
    }

    fn to_text(&self) -> Result<String, JmesPathError> {
        match self.argument(0)? {
            Value::Text(text) => Ok(text),
            other => {
                let mut out = String::new();
                json::write_json(&other, &mut out);
                spend(self.budget, out.len() / 16)?;
                Ok(out)
            }
        }
    }

    fn keys(&self, items: &[Value]) -> Result<Vec<Value>, JmesPathError> {
        let expression = self.expression(1)?;
        items.iter().map(|item| (self.evaluate)(expression, item, self.budget)).collect()
    }

    /// Checks that all values are numbers, or all are strings.
    fn check_comparable(&self, items: &[Value]) -> Result<(), JmesPathError> {
        let kind = |value: &Value| type_of(value);
        match items
            .iter()
            .find(|item| kind(item) != kind(&items[0]) || !matches!(kind(item), "number" | "string"))
        {
            Some(odd) => self.type_error("array of number or string", odd),
            None => Ok(()),
        }
    }

    fn extreme(&self, wanted: Ordering) -> FunctionResult {
        let items = self.array(0)?;
        self.check_comparable(&items)?;
        Ok(find_extreme(items.iter().zip(&items), wanted))
    }

    fn extreme_by(&self, wanted: Ordering) -> FunctionResult {
        let items = self.array(0)?;
        let keys = self.keys(&items)?;
        self.check_comparable(&keys)?;
        Ok(find_extreme(keys.iter().zip(&items), wanted))
    }
}

/// The item with the greatest or the smallest key; the first one if several keys are equal.
fn find_extreme<'v>(pairs: impl Iterator<Item = (&'v Value, &'v Value)>, wanted: Ordering) -> Value {
    let mut best: Option<(&Value, &Value)> = None;
    for pair in pairs {
        if best.is_none_or(|best| order(pair.0, best.0) == wanted) {
            best = Some(pair);
        }
    }
    best.map_or(Value::Null, |(_, item)| item.clone())
}

fn order(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => left.encode_utf16().cmp(right.encode_utf16()),
        _ => left
            .as_f64()
            .unwrap_or(f64::NAN)
            .partial_cmp(&right.as_f64().unwrap_or(f64::NAN))
            .unwrap_or(Ordering::Equal),
    }
}

/// Returns an integer if the number is whole, otherwise a double.
fn integer_or_double(number: f64) -> Value {
    #[allow(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
    if number.fract() == 0.0 && number.abs() < 9e15 {
        Value::Integer(number as i64)
    } else {
        Value::Double(number)
    }
}
