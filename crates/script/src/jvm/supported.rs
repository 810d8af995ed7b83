//! The methods that the interpreter has for each kind of receiver, by number of arguments: what `check` accepts where
//! the receiver's type is known.
//!
//! `supported_methods.txt` is made by calling each method name on a sample of each kind (`tests`), so that it cannot
//! promise what the interpreter does not have. A test compares; where it fails, it writes the right table to `target`.

#[cfg(test)]
pub(super) mod tests;

use std::collections::HashMap;
use std::sync::OnceLock;

use super::missing;
use super::tree::{Expr, Item, Kind};
use crate::Value;

type Methods = HashMap<&'static str, HashMap<&'static str, &'static str>>;

fn table() -> &'static Methods {
    static TABLE: OnceLock<Methods> = OnceLock::new();
    TABLE.get_or_init(|| {
        let rows = include_str!("supported_methods.txt").lines().filter_map(|line| line.split_once(": "));
        rows.map(|(kind, methods)| {
            (kind, methods.split(' ').filter_map(|word| word.split_once('/')).collect())
        })
        .collect()
    })
}

/// Whether the interpreter has the method for that kind of receiver with so many arguments.
fn has(kind: &str, method: &str, arguments: usize) -> bool {
    let counts = table().get(kind).and_then(|methods| methods.get(method));
    counts.is_some_and(|counts| counts.bytes().any(|count| usize::from(count - b'0') == arguments))
}

/// The kind of receiver that an expression certainly is, and the rows of the original's classes.
fn kind_of(expr: &Expr) -> Option<(&'static str, &'static [&'static str])> {
    Some(match &expr.kind {
        Kind::Literal(value) => match value {
            Value::Text(_) => ("String", &["String", "GString"]),
            Value::Integer(_) => ("Integer", &["Integer"]),
            Value::Long(_) => ("Long", &["Long"]),
            Value::Decimal(_) => ("BigDecimal", &["BigDecimal"]),
            Value::Double(_) => ("Double", &["Double"]),
            Value::Boolean(_) => ("Boolean", &["Boolean"]),
            _ => return None,
        },
        Kind::Join(_) | Kind::LazyJoin(_) => ("String", &["String", "GString"]),
        Kind::List(_) => ("List", &["ArrayList"]),
        Kind::Range(..) => ("Range", &["IntRange"]),
        Kind::Map(_) => ("Map", &["LinkedHashMap"]),
        Kind::Closure(_) => ("Closure", &["Closure"]),
        Kind::New(class, _) => match class.name() {
            "StringBuilder" => ("StringBuilder", &["StringBuilder"]),
            "Date" => ("Date", &["Date"]),
            "Random" => ("Random", &["Random"]),
            "SimpleDateFormat" => ("SimpleDateFormat", &["SimpleDateFormat"]),
            "ArrayList" => ("List", &["ArrayList"]),
            "HashMap" | "LinkedHashMap" => ("Map", &["LinkedHashMap"]),
            "JsonSlurper" => ("JsonSlurper", &["JsonSlurper"]),
            _ => return None,
        },
        // Methods of texts that give texts.
        Kind::Call(Some(object), name, ..)
            if matches!(
                &**name,
                "trim" | "toUpperCase" | "toLowerCase" | "substring" | "replaceAll" | "concat"
            ) && kind_of(object).is_some_and(|(kind, _)| kind == "String") =>
        {
            ("String", &["String", "GString"])
        }
        _ => return None,
    })
}

/// Why a call cannot be run: the method is there in Groovy and not here. A method that Groovy lacks too is an exception
/// when the script runs. `None` also where the receiver's type is not known.
pub(super) fn refusal(object: &Expr, method: &str, items: &[Item], groovy: bool) -> Option<String> {
    let (kind, rows) = kind_of(object)?;
    let is_certain = items.iter().all(|item| !item.spread);
    if !is_certain || has(kind, method, items.len()) {
        return None;
    }
    let missing = missing::original_has(rows, method, items.len(), groovy) == Some(false);
    (!missing).then(|| format!("`{method}` of a {kind} with {} arguments", items.len()))
}

/// Whether the receiver's type is known, and Groovy's class does not have the method either.
pub(super) fn is_missing(object: &Expr, method: &str, items: &[Item], groovy: bool) -> bool {
    kind_of(object).is_some_and(|(kind, rows)| {
        !has(kind, method, items.len())
            && missing::original_has(rows, method, items.len(), groovy) == Some(false)
    })
}
