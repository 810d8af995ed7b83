//! Parameters of a model with several values, such as `class.web.users=10..500:20`.

use crate::error::CapacityError;
use busyhour_queueing::network::{TimeLaw, nearest};
use toml::{Table, Value};

/// Maximum number of values of one parameter.
const VALUES_MAX: f64 = 100_000.0;

/// A parameter and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Vary {
    /// The path of the parameter, for instance `class.web.users`.
    pub path: String,
    /// The values as the user wrote them.
    pub values: Vec<String>,
}

impl Vary {
    /// A short name for headings, for instance `web.users`.
    #[must_use]
    pub fn short(&self) -> &str {
        self.path.split_once('.').map_or(self.path.as_str(), |(_, rest)| rest)
    }
}

/// Parses `PATH=VALUES`. The values are separated by commas; a range is written as `FROM..TO:STEP` with one unit.
pub fn vary(text: &str) -> Result<Vary, CapacityError> {
    let (path, values) =
        text.split_once('=').ok_or("expected PATH=VALUES, such as class.web.users=10..500:20")?;
    let path = path.trim();
    if path.split('.').count() < 2 || path.split('.').any(|step| step.trim().is_empty()) {
        return Err(format!("{path:?} is not a path such as class.web.users or station.db.servers").into());
    }
    let values = parts(values).into_iter().map(range).collect::<Result<Vec<_>, _>>()?.concat();
    Ok(Vary { path: path.to_owned(), values })
}

/// Splits a list of values at commas that are not within parentheses.
fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut from, mut found) = (0_i32, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                found.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(text[from..].trim());
    found
}

/// Parses one value or range.
fn range(text: &str) -> Result<Vec<String>, CapacityError> {
    if text.is_empty() {
        return Err("a value is missing".into());
    }
    let Some((from, rest)) = text.split_once("..") else { return Ok(vec![text.to_owned()]) };
    let (to, step) = rest.split_once(':').map_or((rest, None), |(to, step)| (to, Some(step)));
    let (from, unit) = number(from)?;
    let (to, to_unit) = number(to)?;
    let (step, step_unit) = step.map_or(Ok((1.0, unit)), number)?;
    // The unit may be given with only one of the three numbers of a range.
    let unit = [unit, to_unit, step_unit].into_iter().find(|unit| !unit.is_empty()).unwrap_or_default();
    if [to_unit, step_unit].iter().any(|other| !other.is_empty() && *other != unit) {
        return Err(format!("the units in {text:?} differ").into());
    }
    if step <= 0.0 || to < from {
        return Err(format!(
            "{text:?} must increase: FROM..TO:STEP with FROM ≤ TO and a step greater than 0"
        )
        .into());
    }
    let steps = ((to - from) / step + 1e-9).floor();
    if steps >= VALUES_MAX {
        return Err(format!("{text:?} has too many values").into());
    }
    Ok((0..=steps as u32)
        .map(|at| {
            let value = from + f64::from(at) * step;
            // Rounding removes the error of binary floating-point numbers.
            let rounded = format!("{value:.10}");
            format!("{}{unit}", rounded.trim_end_matches('0').trim_end_matches('.'))
        })
        .collect())
}

/// Splits a text into its number and its unit.
fn number(text: &str) -> Result<(f64, &str), CapacityError> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_alphabetic() || c == '/' || c == 'µ');
    let value: f64 = digits.trim().parse().map_err(|_| format!("{text:?} is not a number"))?;
    Ok((value, &text[digits.len()..]))
}

/// Sets the parameter at `path` to `value`.
pub(crate) fn set(model: &mut Table, path: &str, value: &str) -> Result<(), CapacityError> {
    let mut steps: Vec<&str> = path.split('.').map(str::trim).collect();
    let last = steps.pop().unwrap_or_default();
    let names = element_paths(model);
    let mut here: Option<&mut Value> = None;
    for (depth, step) in steps.iter().enumerate() {
        let next = match here {
            None => model.get_mut(*step),
            Some(Value::Array(elements)) => {
                let named = |element: &Value| {
                    ["name", "from"].iter().any(|key| element.get(key).and_then(Value::as_str) == Some(*step))
                };
                let at = elements.iter().position(named).or_else(|| step.parse().ok());
                at.and_then(|at: usize| elements.get_mut(at))
            }
            Some(Value::Table(table)) => table.get_mut(*step),
            Some(_) => None,
        };
        here = Some(next.ok_or_else(|| {
            let hint = hint(&names, &steps, depth, last);
            format!("there is no {:?} in the model (in the path {path}){hint}", steps[..=depth].join("."))
        })?);
    }
    let table = match here {
        None => model,
        Some(Value::Table(table)) => table,
        Some(_) => {
            let parent = steps.join(".");
            return Err(format!("{path} is not a parameter: {parent:?} is not a table of parameters").into());
        }
    };
    let new = new_value(table.get(last), value)?;
    table.insert(last.to_owned(), new);
    Ok(())
}

/// The path of each class, station and route, such as `class.buyers`, with its name.
fn element_paths(model: &Table) -> Vec<(String, String)> {
    let mut paths = Vec::new();
    for (kind, value) in model {
        for element in value.as_array().into_iter().flatten() {
            let name = ["name", "from"].iter().find_map(|key| element.get(key)?.as_str());
            paths.extend(name.map(|name| (kind.clone(), name.to_owned())));
        }
    }
    paths
}

/// A suggestion for a path whose step at `depth` does not exist: the path with the kind of element before it, or the path with
/// the most similar name. If no name is similar, the list of all elements.
fn hint(names: &[(String, String)], steps: &[&str], depth: usize, last: &str) -> String {
    let (name, rest) = match depth {
        0 => (steps[0], &steps[1..]),
        1 => (steps[1], &steps[2..]),
        _ => return String::new(),
    };
    let kind_fits = |kind: &str| depth == 0 || kind == steps[0];
    let known = || names.iter().filter(|(kind, _)| kind_fits(kind)).map(|(_, name)| name.as_str());
    let Some(near) = known().find(|known| *known == name).or_else(|| nearest(name, known())) else {
        let all: Vec<String> = names.iter().map(|(kind, name)| format!("{kind}.{name}")).collect();
        return if all.is_empty() { String::new() } else { format!("; there are {}", all.join(", ")) };
    };
    let meant: Vec<String> = names
        .iter()
        .filter(|(kind, name)| name == near && kind_fits(kind))
        .map(|(kind, name)| [&[kind.as_str(), name.as_str()], rest, &[last]].concat().join("."))
        .collect();
    format!("; did you mean {}?", meant.join(" or "))
}

/// The new value of a parameter in TOML. If the parameter is a distribution of times and the text is only a time, the time
/// replaces the mean of the distribution.
fn new_value(old: Option<&Value>, text: &str) -> Result<Value, CapacityError> {
    if let Some(Value::String(old)) = old
        && old.contains('(')
        && !text.contains('(')
        && let (Ok(law), Ok(TimeLaw::Exponential { mean_s })) =
            (old.parse::<TimeLaw>(), text.parse::<TimeLaw>())
    {
        if matches!(law, TimeLaw::Replay { .. }) || law.mean_s() <= 0.0 {
            return Err(
                format!("{old} has no mean to change; give a law, such as exponential({text})").into()
            );
        }
        return Ok(Value::String(law.scaled(mean_s / law.mean_s()).to_string()));
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Ok(Value::Integer(whole));
    }
    Ok(text.parse::<f64>().map_or_else(|_| Value::String(text.to_owned()), Value::Float))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_parsed() {
        let values = |text: &str| vary(&format!("class.web.users={text}")).map(|vary| vary.values);
        assert_eq!(values("10..50:20").unwrap(), ["10", "30", "50"]);
        assert_eq!(values("1,2,4").unwrap(), ["1", "2", "4"]);
        assert_eq!(values("1..3").unwrap(), ["1", "2", "3"]);
        assert_eq!(values("0.1s..0.3s:0.1").unwrap(), ["0.1s", "0.2s", "0.3s"]);
        assert_eq!(values("10..20:5ms").unwrap(), ["10ms", "15ms", "20ms"]);
        assert_eq!(values("20/s..30/s:10/s").unwrap(), ["20/s", "30/s"]);
        assert_eq!(values("erlang(5ms, 2),constant(5ms)").unwrap(), ["erlang(5ms, 2)", "constant(5ms)"]);
        for wrong in ["10..", "5..1", "1..2:0", "1ms..2s:1ms", "", "a..b", "0..1:0.000001"] {
            assert!(values(wrong).is_err(), "{wrong}");
        }
        assert!(vary("users=1").is_err() && vary("class.web.users").is_err());
    }

    #[test]
    fn parameters_are_found_by_name() {
        let mut model: Table = "[[class]]\nname = \"web\"\nusers = 5\nthink = \"constant(2s)\"\n\
                                [[station]]\nname = \"db\"\nservice = { web = \"5ms\" }\n\
                                [[route]]\nfrom = \"outside\"\nto = \"db\"\n"
            .parse()
            .unwrap();
        for (path, value) in [
            ("class.web.users", "7"),
            ("class.web.think", "500ms"),
            ("station.db.servers", "2"),
            ("station.db.service.web", "erlang(5ms, 2)"),
            ("route.outside.strategy", "round-robin"),
        ] {
            set(&mut model, path, value).unwrap();
        }
        insta::assert_snapshot!(model.to_string());
        assert_eq!(
            set(&mut model, "station.dv.servers", "2").unwrap_err().to_string(),
            "there is no \"station.dv\" in the model (in the path station.dv.servers); did you mean station.db.servers?"
        );
        assert_eq!(
            set(&mut model, "web.users", "2").unwrap_err().to_string(),
            "there is no \"web\" in the model (in the path web.users); did you mean class.web.users?"
        );
        assert_eq!(
            set(&mut model, "class.nobody.users", "2").unwrap_err().to_string(),
            "there is no \"class.nobody\" in the model (in the path class.nobody.users); there are class.web, \
             route.outside, station.db"
        );
        assert!(set(&mut model, "class.web.users.more", "2").is_err());
    }
}
