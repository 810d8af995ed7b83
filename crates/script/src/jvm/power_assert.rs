//! The message of a failed Groovy assertion: its source text, and the value of each part below it, as Groovy's
//! `AssertionRenderer` prints them.

use super::machine::Machine;
use super::model::Host;
use super::print;
use super::tree::{Expr, Kind};
use super::value::V;

/// Stored instead of the offset of an assertion's condition if the condition spans several lines.
pub(super) const NOT_IN_ONE_LINE: u32 = u32::MAX;

/// Length of `assert `, which precedes the condition.
const LEAD: usize = 7;

/// Whether Groovy prints the value of such an expression.
fn is_shown(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Name(_)
            | Kind::Not(_)
            | Kind::Binary(..)
            | Kind::And(..)
            | Kind::Or(..)
            | Kind::Call(..)
            | Kind::Property(..)
            | Kind::Index(..)
            | Kind::Invoke(..)
            | Kind::InstanceOf(..)
    )
}

impl Machine<'_> {
    /// Records the value of a part of the assertion that is being evaluated.
    pub(super) fn note_value(&mut self, expr: &Expr, value: &V) {
        if let Some(recorded) = &mut self.recorded
            && is_shown(&expr.kind)
        {
            recorded.push((expr.at, value.clone()));
        }
    }
}

fn text_of(machine: &mut Machine<'_>, value: &V) -> String {
    match value {
        V::Host(Host::Sample | Host::Previous) => {
            let facts = machine.scope.sample().or(machine.scope.previous());
            facts.map_or_else(|| "null".to_owned(), crate::SampleFacts::label)
        }
        value => print::inspect(machine, value)
            .unwrap_or_else(|_| format!("{}@6ccccc3c", super::missing::class_name(value))),
    }
}

/// The message for an assertion with the condition `source`, which begins at the offset `from`.
pub(super) fn message(machine: &mut Machine<'_>, source: &str, from: u32, values: Vec<(u32, V)>) -> String {
    let text = machine.tree.text.clone();
    let column = |at: u32| {
        let part = text.get(from as usize..at as usize)?;
        Some(LEAD + part.chars().count() + 1)
    };
    let mut shown: Vec<(usize, String)> = Vec::new();
    for (at, value) in values {
        if let Some(column) = column(at) {
            // If a column has several values, the last one belongs to the outermost expression.
            shown.retain(|(known, _)| *known != column);
            let text = text_of(machine, &value);
            shown.push((column, text));
        }
    }
    shown.sort_by_key(|(column, _)| std::cmp::Reverse(*column));
    render(&format!("assert {source}"), &shown)
}

/// Writes `text` at a column of a line, overwriting the existing characters.
fn place(line: &mut Vec<char>, text: &str, column: usize) {
    let from = column - 1;
    let to = from + text.chars().count();
    if line.len() < to {
        line.resize(to, ' ');
    }
    line.splice(from..to, text.chars());
}

fn render(source: &str, values: &[(usize, String)]) -> String {
    let mut lines: Vec<(Vec<char>, usize)> = vec![(Vec::new(), 0)];
    for (column, text) in values {
        let parts: Vec<&str> = text.split('\n').collect();
        let end = if parts.len() == 1 { column + text.chars().count() } else { usize::MAX };
        let mut is_placed = false;
        for (at, (line, start)) in lines.iter_mut().enumerate() {
            if end < *start {
                place(line, text, *column);
                *start = *column;
                is_placed = true;
                break;
            }
            place(line, "|", *column);
            if at > 0 {
                *start = column + 1;
            }
        }
        if !is_placed {
            for part in parts {
                let mut line = Vec::new();
                place(&mut line, part, *column);
                lines.push((line, *column));
            }
        }
    }
    let mut out = source.to_owned();
    for (line, _) in lines {
        out.push('\n');
        out.extend(line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_placed_below_their_expressions() {
        let values = [(18, "false".to_owned()), (10, "2".to_owned()), (8, "[1, 2]".to_owned())];
        assert_eq!(
            render("assert a.size() == 3", &values),
            "assert a.size() == 3\n       | |       |\n       | 2       false\n       [1, 2]"
        );
        assert_eq!(render("assert false", &[]), "assert false\n");
    }
}
