//! The resources to which style sheets refer, as far as JMeter finds them: imports in files, quoted URLs in attributes.

use busyhour_slices::tick;

/// The quoted address in a `style` attribute: JMeter's pattern is greedy and extends from the first quote of the first
/// `url(` to the last quote before a closing parenthesis.
pub(super) fn quoted_url(style: &str) -> Option<String> {
    let is_closing =
        |(at, quote): &(usize, &str)| style[at + quote.len()..].trim_start_matches(white).starts_with(')');
    let (end, _) = style.match_indices(['\'', '"']).rev().find(is_closing)?;
    let lower = style.to_ascii_lowercase();
    let mut from = 0;
    while let Some(at) = lower[from..end].find("url(") {
        from += at + "url(".len();
        let inner = style[from..].trim_start_matches(white);
        let Some(text) = inner.strip_prefix(['\'', '"']) else { continue };
        let begin = style.len() - text.len();
        return (begin <= end).then(|| style[begin..end].to_owned());
    }
    None
}

/// The characters that `\s` matches in the pattern.
fn white(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}

/// The addresses that a style sheet imports, in order, at any position between its rules.
pub(super) fn imports(css: &str) -> Vec<String> {
    let mut found = Vec::new();
    // If an address has no end, the end is searched only once, not again at every import.
    let after_last = css.len() - css.rfind(')').map_or(0, |at| at + 1);
    let mut rest = skip_space(css);
    while !rest.is_empty() {
        if let Some((address, after)) = import(rest, after_last) {
            found.extend(Some(address).filter(|address| !address.is_empty()));
            rest = after;
        }
        tick(1);
        rest = skip_space(after_statement(rest));
    }
    found
}

/// The address of an `@import` at the start, and the rest; `after_last` is the number of bytes after the last
/// closing parenthesis of the style sheet.
fn import(css: &str, after_last: usize) -> Option<(String, &str)> {
    let rest = skip_space(strip_word(css, "@import")?);
    let Some(inner) = strip_word(rest, "url(") else { return string(rest) };
    if inner.len() <= after_last {
        return None;
    }
    let inner = skip_space(inner);
    match string(inner) {
        Some((address, after)) => Some((address, after.split_once(')')?.1)),
        None => {
            let (address, after) = inner.split_once(')')?;
            Some((unescape(address.trim()), after))
        }
    }
}

/// The text after a statement: after its semicolon, or after its block.
fn after_statement(css: &str) -> &str {
    let mut depth = 0_usize;
    let mut rest = css;
    while let Some(first) = rest.chars().next() {
        tick(1);
        if first == '"' || first == '\'' {
            rest = string(rest).map_or("", |(_, after)| after);
            continue;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
            continue;
        }
        rest = &rest[first.len_utf8()..];
        match first {
            ';' if depth == 0 => return rest,
            '{' => depth += 1,
            '}' if depth <= 1 => return rest,
            '}' => depth -= 1,
            _ => {}
        }
    }
    rest
}

fn strip_word<'c>(css: &'c str, word: &str) -> Option<&'c str> {
    let head = css.get(..word.len())?;
    head.eq_ignore_ascii_case(word).then(|| &css[word.len()..])
}

/// Skips white space, comments and SGML comment marks.
fn skip_space(css: &str) -> &str {
    let mut rest = css.trim_start_matches('\u{feff}');
    loop {
        rest = rest.trim_start();
        rest = if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map_or("", |(_, after)| after)
        } else if let Some(after) = rest.strip_prefix("<!--").or_else(|| rest.strip_prefix("-->")) {
            after
        } else {
            return rest;
        };
    }
}

/// Parses a quoted string at the beginning; returns it and the rest.
fn string(css: &str) -> Option<(String, &str)> {
    let quote = css.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let text = &css[1..];
    let mut escaped = false;
    let end = text.char_indices().find(|(_, character)| {
        let ends = *character == quote && !escaped;
        escaped = *character == '\\' && !escaped;
        ends
    })?;
    Some((unescape(&text[..end.0]), &text[end.0 + 1..]))
}

/// Resolves CSS escapes: a backslash before hexadecimal digits, or before the character itself.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let digits = rest.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits > 0 {
            let code = u32::from_str_radix(&rest[..digits], 16).unwrap_or(0);
            out.push(char::from_u32(code).filter(|c| *c != '\0').unwrap_or('\u{fffd}'));
            rest = &rest[digits..];
            rest = rest.strip_prefix(white).unwrap_or(rest);
        } else if let Some(next) = rest.chars().next() {
            if next != '\n' {
                out.push(next);
            }
            rest = &rest[next.len_utf8()..];
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn imports_are_found_between_rules() {
        let css = "/* c */ @charset \"utf-8\";\n@import 'a.css';@IMPORT url( \"b.css\" ) screen; @import url(c\\2e css);\
                   p { background: url(d.png) } @import 'e.css';";
        assert_eq!(imports(css), ["a.css", "b.css", "c.css", "e.css"]);
        assert_eq!(imports("@media x { p { a: '}' } @import 'no'; } @import 'x'"), ["x"]);
        assert_eq!(imports("@import 'only"), [""; 0]);
    }

    #[test]
    fn quoted_urls_are_matched_greedily() {
        assert_eq!(quoted_url("background: URL( 'a.png' )").as_deref(), Some("a.png"));
        assert_eq!(quoted_url("url(a.png)"), None);
        assert_eq!(quoted_url("a:url('b') c:url(\"d\")").as_deref(), Some("b') c:url(\"d"));
    }

    proptest! {
        #[test]
        fn random_text_never_panics(text in "(@import|@charset|url\\(|['\"();/*\\\\<>! a-fé\n-]){0,40}") {
            let _ = imports(&text);
            let _ = quoted_url(&text);
        }
    }
}
