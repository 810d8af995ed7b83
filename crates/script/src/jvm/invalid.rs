//! Finds texts that are certainly not valid scripts, so that JMeter's parser rejects them as well.
//!
//! The parser implements only a part of Groovy's grammar, so its errors alone do not prove that a text is invalid. An
//! unclosed bracket, quote or comment proves it, and so do two tokens that can never follow each other.

use super::lexer::{self, Token, TokenKind};
use crate::language::JavaLike;

/// Operators that need an operand on their right and have no other meaning.
const NEEDS_OPERAND: &[&str] = &[
    "=", "+", "-", "/", "%", "==", "!=", "<=", ">=", "&&", "||", "&", "|", "^", "<=>", "=~", "==~", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "**", "**=", "!", "~", ".", "?.",
];

/// Tokens that end an expression.
const ENDS: &[&str] = &[")", "]", "}", ";", ","];

/// Operators that need an operand on their left, so that no expression begins with them.
const NEEDS_LEFT: &[&str] =
    &["=", "%", "==", "!=", "<=", ">=", "&&", "||", "^", "<=>", "=~", "==~", "+=", "-="];

/// Whether a text with a syntax error is certainly not a valid script of the language.
pub(super) fn is_certain(text: &str, language: JavaLike) -> bool {
    if language == JavaLike::BeanShell {
        // The parser implements all of BeanShell's grammar except operators such as `@gt`.
        return !text.contains('@');
    }
    match lexer::scan(text, 0, text.len(), language) {
        Ok(tokens) => {
            tokens.windows(2).any(|pair| is_impossible(&pair[0], &pair[1]))
                || has_open_bracket(&tokens) && !has_bare_slash(text)
        }
        // A slash may begin a string or be a division. The ends of strings and brackets depend on this.
        Err(_) => !has_bare_slash(text),
    }
}

/// Whether a bracket is not closed.
fn has_open_bracket(tokens: &[Token]) -> bool {
    let signs = tokens.iter().filter_map(|token| match token.kind {
        TokenKind::Symbol(sign) => Some(sign),
        _ => None,
    });
    let depth = signs.fold(0_i64, |depth, sign| match sign {
        "(" | "[" | "{" => depth + 1,
        ")" | "]" | "}" => depth - 1,
        _ => depth,
    });
    depth > 0
}

fn is_impossible(first: &Token, second: &Token) -> bool {
    match (&first.kind, &second.kind) {
        (TokenKind::Symbol(operator), TokenKind::Symbol(end)) => {
            NEEDS_OPERAND.contains(operator) && ENDS.contains(end)
                || NEEDS_LEFT.contains(operator) && NEEDS_LEFT.contains(end)
                || matches!(*operator, "(" | "[" | ",") && NEEDS_LEFT.contains(end)
        }
        (TokenKind::Symbol(operator), TokenKind::End) => NEEDS_OPERAND.contains(operator),
        (TokenKind::Name(word), TokenKind::Symbol(sign)) => {
            // As a key or a member, such a word is a name.
            matches!(&**word, "if" | "while" | "switch")
                && !matches!(*sign, "(" | ":" | ")" | "," | ";" | "." | "=")
        }
        _ => false,
    }
}

/// Whether the text contains a slash outside quoted strings and comments.
fn has_bare_slash(text: &str) -> bool {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.find("*/").map_or("", |at| &comment[at + 2..]);
        } else if c == '/' {
            return true;
        } else if c == '"' || c == '\'' {
            rest = after_quotes(rest, c);
        } else {
            rest = &rest[c.len_utf8()..];
        }
    }
    false
}

fn after_quotes(text: &str, quote: char) -> &str {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return &text[at + c.len_utf8()..],
            _ => {}
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certain_errors_are_distinguished_from_unsupported_syntax() {
        for text in [
            "def a = ",
            "foo(1",
            "x = )",
            "if true) { }",
            "'unclosed",
            "a + ;",
            "[1, == 2]",
            "/* no end",
            "def x = {",
            "a = = 5",
        ] {
            assert!(is_certain(text, JavaLike::Groovy), "{text}");
        }
        for text in [
            "x = cond ? /a(/ : 1",
            "List<?> a",
            "[*a]",
            "import a.*;",
            "m.if",
            "[if: 1]",
            "new ArrayList<>()",
            "a ? b : c",
            "trait T { }",
        ] {
            assert!(!is_certain(text, JavaLike::Groovy), "{text}");
        }
        assert!(is_certain("x = ;", JavaLike::BeanShell));
        assert!(!is_certain("a @gt b", JavaLike::BeanShell));
    }
}
