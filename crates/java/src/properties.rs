//! Parsing of Java's properties files.

/// Parses the text of a properties file, as `java.util.Properties.load` does. Entries have the form `key=value`,
/// `key: value` or `key value`. Comments begin with `#` or `!`, and a backslash at the end of a line joins it to the
/// next line. The escapes are `\uXXXX` and the usual ones.
#[must_use]
pub fn parse_properties(text: &str) -> Vec<(String, String)> {
    let mut properties = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = line.trim_start();
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        let mut logical = line.to_owned();
        while ends_with_odd_backslashes(&logical) {
            logical.pop();
            match lines.next() {
                Some(next) => logical.push_str(next.trim_start()),
                None => break,
            }
        }
        let (key, value) = split(&logical);
        properties.push((unescape(key), unescape(value)));
    }
    properties
}

fn ends_with_odd_backslashes(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    for (at, character) in line.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        match character {
            '\\' => escaped = true,
            '=' | ':' => return (&line[..at], line[at + 1..].trim_start()),
            ' ' | '\t' | '\u{c}' => {
                let rest = line[at..].trim_start();
                let value = rest.strip_prefix(['=', ':']).map_or(rest, str::trim_start);
                return (&line[..at], value);
            }
            _ => {}
        }
    }
    (line, "")
}

fn unescape(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let digits: String = characters.by_ref().take(4).collect();
                out.push(
                    u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).unwrap_or('\u{fffd}'),
                );
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_lines_are_parsed() {
        let text = "# no\n! no\na=1\nb : 2\nc 3\n  d=x\\\n    y\ne\\ f=\\u0041\\tB\ng\nh=a=b\nj=C:\\\\x\n";
        let expected = [
            ("a", "1"),
            ("b", "2"),
            ("c", "3"),
            ("d", "xy"),
            ("e f", "A\tB"),
            ("g", ""),
            ("h", "a=b"),
            ("j", "C:\\x"),
        ];
        let expected: Vec<_> = expected.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        assert_eq!(parse_properties(text), expected);
    }
}
