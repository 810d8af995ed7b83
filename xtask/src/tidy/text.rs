//! Separates the code of a Rust source from its comments and literals, so that rules about code do not match texts.

/// The two layers of a source; both contain its line breaks, so that line numbers are the same in both.
#[derive(Debug, Default)]
pub struct Layers {
    /// The code without comments and without the contents of literals.
    pub code: String,
    /// The comments only.
    pub comments: String,
}

/// Separates a source. Unterminated literals and comments are accepted, because the compiler reports them.
pub fn separate(source: &str) -> Layers {
    let mut layers = Layers::default();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let (length, kind) = piece(rest, layers.code.chars().next_back());
        let length = length.clamp(first.len_utf8(), rest.len());
        let (text, after) = rest.split_at(length);
        let breaks = || text.chars().filter(|&c| c == '\n');
        match kind {
            Kind::Code => {
                layers.code.push_str(text);
                layers.comments.extend(breaks());
            }
            Kind::Comment => {
                layers.comments.push_str(text);
                layers.code.extend(breaks());
            }
            Kind::Literal => {
                layers.code.push('"');
                layers.code.extend(breaks());
                layers.code.push('"');
                layers.comments.extend(breaks());
            }
        }
        rest = after;
    }
    layers
}

enum Kind {
    Code,
    Comment,
    Literal,
}

/// The length in bytes and the kind of the first piece of `rest`. `before` is the last character of the code.
fn piece(rest: &str, before: Option<char>) -> (usize, Kind) {
    if rest.starts_with("//") {
        return (rest.find('\n').unwrap_or(rest.len()), Kind::Comment);
    }
    if rest.starts_with("/*") {
        return (block_comment(rest), Kind::Comment);
    }
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if !in_word && let Some(length) = raw_string(rest) {
        return (length, Kind::Literal);
    }
    match rest.as_bytes()[0] {
        b'"' => (quoted(rest, '"'), Kind::Literal),
        b'\'' => character(rest).map_or((1, Kind::Code), |length| (length, Kind::Literal)),
        _ => (1, Kind::Code),
    }
}

fn block_comment(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"/*") => {
                depth += 1;
                at += 2;
            }
            Some(b"*/") => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

/// `r"…"`, `br##"…"##` and the like.
fn raw_string(rest: &str) -> Option<usize> {
    let opened = ["r", "br", "cr"].into_iter().find_map(|prefix| rest.strip_prefix(prefix))?;
    let body = opened.trim_start_matches('#');
    let hashes = opened.len() - body.len();
    let inside = body.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let start = rest.len() - inside.len();
    Some(inside.find(&end).map_or(rest.len(), |at| start + at + end.len()))
}

/// The length of a literal that begins and ends with `quote`; a backslash escapes the next character.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at + c.len_utf8();
        }
    }
    rest.len()
}

/// The length of a character literal; `None` if the quote begins a lifetime.
fn character(rest: &str) -> Option<usize> {
    let mut characters = rest.chars().skip(1);
    let first = characters.next()?;
    if first == '\\' {
        return Some(quoted(rest, '\''));
    }
    (characters.next() == Some('\'')).then(|| 2 + first.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_comments_are_not_code() {
        let source = "let a = \"unsafe \\\" {\"; // unsafe\nlet b = r#\"unsafe \" x\"#; /* unsafe /* two */\n unsafe */ c('\"');\nlet d: &'a str = f();";
        let layers = separate(source);
        assert!(!layers.code.contains("unsafe"), "{}", layers.code);
        let breaks = |text: &str| text.matches('\n').count();
        assert_eq!(breaks(&layers.code), breaks(source));
        assert_eq!(breaks(&layers.comments), breaks(source));
        assert!(layers.code.contains("let d: &'a str = f();"));
        assert_eq!(layers.comments.matches("unsafe").count(), 3);
    }

    #[test]
    fn identifiers_that_end_in_r_are_not_raw_strings() {
        assert_eq!(separate("var\"x\" y").code, "var\"\" y");
        assert_eq!(separate("r\"x\" y").code, "\"\" y");
        assert_eq!(separate("'\\'' y").code, "\"\" y");
    }

    #[test]
    fn unterminated_literals_end_with_the_text() {
        for source in ["\"abc", "/* abc", "r#\"abc\"", "'", "'\\", "ü'ü'"] {
            let layers = separate(source);
            assert!(layers.code.len() + layers.comments.len() <= source.len() + 2);
        }
    }
}
