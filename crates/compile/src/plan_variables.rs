//! The user defined variables of a plan.

use std::path::Path;

use busyhour_diagnostic::Diagnostic;
use busyhour_limits::files::{TEXT_FILE_BYTES, read_regular};
use busyhour_plan::{Element, Property};
use busyhour_program::template::Template;

use crate::context::Context;
use crate::setting_error::SettingError;
use crate::variables::VariableSet;

/// The variables of an inner element `Arguments`.
pub(crate) fn from_property<'p>(context: &mut Context<'p>, property: Property<'p>) -> Option<VariableSet> {
    Some(from_list(context, property.property("Arguments.arguments")?))
}

/// The variables of a list of arguments.
pub(crate) fn from_list<'p>(context: &mut Context<'p>, list: Property<'p>) -> VariableSet {
    let mut set = Vec::new();
    for item in list.items() {
        let name = item.item_text("Argument.name").unwrap_or_else(|| item.name());
        let name = if name.contains("${") { context.now(name) } else { name.to_owned() };
        if name.is_empty() {
            continue;
        }
        let value = context.item(item, "Argument.value");
        set.push((context.symbols.slot(&name), value));
    }
    VariableSet(set)
}

/// The variables of a file with a name and a value in each line (jmeter-plugins). The file is read immediately.
pub(crate) fn from_file<'p>(context: &mut Context<'p>, element: Element<'p>) -> VariableSet {
    if context.flag(element, "storeSysProp", false) {
        let what = "the variables are not set as system properties";
        context.findings.unsupported_setting(element, "storeSysProp", what);
    }
    let name = context.at_start(element, "filename");
    let separator = context.at_start(element, "delimiter");
    let skip = context.number(element, "skipLines", 0);
    let prefix = context.at_start(element, "variablesPrefix");
    match read(&name, &separator, usize::try_from(skip).unwrap_or(0)) {
        Ok(pairs) => {
            let variable = |(name, value): (String, String)| {
                (context.symbols.slot(&format!("{prefix}{name}")), Template::literal(&value))
            };
            VariableSet(pairs.into_iter().map(variable).collect())
        }
        Err(error) => {
            let finding = Diagnostic::error("missing-file", error.message);
            context.findings.add_at(element, "filename", finding);
            VariableSet::default()
        }
    }
}

fn read(name: &str, separator: &str, skip: usize) -> Result<Vec<(String, String)>, SettingError> {
    if separator.is_empty() {
        return Err(SettingError::new("the separator is empty"));
    }
    let bytes = read_regular(Path::new(name.trim()), TEXT_FILE_BYTES)
        .map_err(|error| SettingError::new(format!("the file {name:?} cannot be read: {error}")))?;
    Ok(pairs(&String::from_utf8_lossy(&bytes), separator, skip))
}

/// The names and values in the lines of a text, parsed as by jmeter-plugins. A value that begins with a quote continues
/// until a line ends with a quote.
fn pairs(text: &str, separator: &str, skip: usize) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in text.lines().skip(skip).filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (name, rest) = match line.split_once(separator) {
            Some((name, rest)) => (name, Some(rest.split(separator).next().unwrap_or(""))),
            None => (line, None),
        };
        match (rest, &mut open) {
            (None, Some((of, value))) => {
                if let Some(last) = name.strip_suffix('"') {
                    value.push_str(last);
                    all.push((std::mem::take(of), std::mem::take(value)));
                    open = None;
                } else {
                    value.push_str(name);
                    value.push('\n');
                }
            }
            (None, None) => all.push((name.to_owned(), String::new())),
            (Some(value), open) => match value.strip_prefix('"') {
                Some(first) => {
                    let before = open.take().map_or(String::new(), |(_, value)| value);
                    *open = Some((name.to_owned(), format!("{before}{first}\n")));
                }
                None => all.push((name.to_owned(), value.to_owned())),
            },
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::pairs;

    #[test]
    fn names_and_values_are_read_from_lines() {
        let text = "skipped\n# comment,1\na,1,rest\nb\n\nc,\"one\ntwo\nthree\"\nd,x y\r\n";
        let all = pairs(text, ",", 1);
        let all: Vec<_> = all.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(all, [("a", "1"), ("b", ""), ("c", "one\ntwo\nthree"), ("d", "x y")]);
    }
}
