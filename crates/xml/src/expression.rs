//! Which prefixes an XPath expression uses.

fn is_name_start(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

fn name_end(text: &str) -> usize {
    text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '\u{b7}')))
        .unwrap_or(text.len())
}

/// How deep parentheses and brackets may nest in an expression.
const DEPTH_MAX: usize = 50;
/// Signs and words that an expression may have.
const TOKENS_MAX: usize = 1_000;

/// Why an expression is too complex for the library, which reads and evaluates it by recursion.
pub(super) fn too_complex(expression: &str) -> Option<String> {
    let (mut depth, mut tokens) = (0_usize, 0);
    let mut rest = expression;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => rest[1..].find(first).map_or(rest.len(), |end| end + 2),
            _ if is_name_start(first) => name_end(rest),
            _ => first.len_utf8(),
        };
        rest = &rest[length..];
        match first {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_MAX {
            return Some(format!("the expression nests parentheses and brackets deeper than {DEPTH_MAX}"));
        }
        tokens += usize::from(!first.is_whitespace() && !first.is_ascii_digit());
        if tokens > TOKENS_MAX {
            return Some(format!("the expression has more than {TOKENS_MAX} signs and words"));
        }
    }
    None
}

/// The prefixes of an expression's names, each once.
pub(super) fn prefixes_of(expression: &str) -> Vec<String> {
    let mut prefixes: Vec<String> = Vec::new();
    let mut rest = expression;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => rest[1..].find(first).map_or(rest.len(), |end| end + 2),
            _ if is_name_start(first) => name_end(rest),
            _ => first.len_utf8(),
        };
        let (word, behind) = rest.split_at(length);
        rest = behind;
        if !is_name_start(first) || rest.starts_with("::") {
            continue;
        }
        if let Some(local) = rest.strip_prefix(':') {
            if !prefixes.iter().any(|known| known == word) {
                prefixes.push(word.to_owned());
            }
            rest = &local[name_end(local)..];
        }
    }
    prefixes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_collected() {
        assert_eq!(prefixes_of("//s:a[@x:b='c:d']/ancestor::e/y:*/s:z"), ["s", "x", "y"]);
        assert!(prefixes_of("child::a | 'b:c' | \"unclosed:d").is_empty());
    }

    proptest::proptest! {
        #[test]
        fn anything_can_be_looked_at(text in "[a-z:*@/\\[\\]()'\" é.0-9]{0,30}") {
            let _ = prefixes_of(&text);
        }
    }
}
