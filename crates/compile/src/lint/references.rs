//! References to variables and functions in texts.

/// A reference in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reference<'t> {
    /// `${name}`: everything between the braces.
    Variable(&'t str),
    /// `${__name`: the name of a function.
    Function(&'t str),
}

/// The references in a text, including nested ones, in the order of their ends. Takes linear time.
pub(super) fn references(text: &str) -> Vec<Reference<'_>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    // Start of the name of the last variable whose end has not been found yet.
    let mut open: Option<usize> = None;
    // Number of backslashes directly before this position.
    let mut backslashes = 0_usize;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'\\' => {
                backslashes += 1;
                continue;
            }
            b'$' if bytes.get(at + 1) == Some(&b'{') => {
                let inside = &text[at + 2..];
                let function = inside.strip_prefix("__").filter(|rest| rest.starts_with(is_word));
                // JMeter leaves `\${` unchanged.
                let is_escaped = backslashes % 2 == 1;
                open = (!is_escaped && function.is_none()).then_some(at + 2);
                if let Some(function) = function.filter(|_| !is_escaped) {
                    let end = function.find(|c| !is_word(c)).unwrap_or(function.len());
                    found.push(Reference::Function(&inside[..end + 2]));
                }
            }
            b'}' => {
                let name = open.take().map(|begin| &text[begin..at]);
                found.extend(name.filter(|name| !name.is_empty()).map(Reference::Variable));
            }
            _ => {}
        }
        backslashes = 0;
    }
    found
}

/// Whether a character can be part of a name.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Calls nested deeper than this are ignored: no plan with them is supported.
const CALL_DEPTH_MAX: usize = 64;

/// The calls of functions in a text, including nested ones: names, and all arguments as written.
pub(super) fn calls(text: &str) -> Vec<(&str, &str)> {
    let bytes = text.as_bytes();
    let mut found: Vec<(&str, &str)> = Vec::new();
    // Calls whose end has not been found yet: index in `found`, start of the arguments, number of enclosing parentheses.
    let mut open: Vec<(usize, usize, i64)> = Vec::new();
    let mut parentheses = 0_i64;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'$' if text[at..].starts_with("${__") && open.len() < CALL_DEPTH_MAX => {
                let call = &text[at + 2..];
                let end = call.find(|c| !is_word(c)).unwrap_or(call.len());
                if call[end..].starts_with('(') {
                    let begin = at + 2 + end + 1;
                    open.push((found.len(), begin, parentheses));
                    found.push((&call[..end], &text[begin..]));
                }
            }
            b'(' => parentheses += 1,
            b')' => {
                parentheses -= 1;
                while let Some((call, begin, _)) = open.pop_if(|(.., around)| parentheses <= *around) {
                    found[call].1 = &text[begin..at];
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_references_and_calls_are_found() {
        use Reference::{Function, Variable};
        let text = r"${a}\${b}\\${c}${__P(x${d},${__V(e_${f})})}${g${h}}${}${open";
        assert_eq!(
            references(text),
            [
                Variable("a"),
                Variable("c"),
                Function("__P"),
                Variable("d"),
                Function("__V"),
                Variable("f"),
                Variable("h")
            ]
        );
        assert_eq!(calls(text), [("__P", "x${d},${__V(e_${f})}"), ("__V", "e_${f}")]);
        assert_eq!(
            calls("${__a((1)(2))} ${__b(${__c(} ${__d} )"),
            [("__a", "(1)(2)"), ("__b", "${__c(} ${__d} )"), ("__c", "} ${__d} ")]
        );
    }

    #[test]
    fn a_million_parts_take_linear_time() {
        let count = 1_000_000;
        assert_eq!(references(&("${".repeat(count) + &"}".repeat(count))), []);
        assert_eq!(references(&"${a}".repeat(count)).len(), count);
        assert_eq!(references(&("\\".repeat(count) + "${a}")).len(), 1);
        assert_eq!(calls(&("${__a(".repeat(count) + &")}".repeat(count))).len(), CALL_DEPTH_MAX);
        assert_eq!(calls(&"${__a(1)}".repeat(count)).len(), count);
    }
}
