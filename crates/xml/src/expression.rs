//! Which prefixes an XPath expression uses.

fn is_name_start(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

fn name_end(text: &str) -> usize {
    text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '\u{b7}')))
        .unwrap_or(text.len())
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
