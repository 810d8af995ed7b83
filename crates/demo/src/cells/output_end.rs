//! The last lines of a program's output, for error messages.

/// Maximum number of lines.
const LINES_MAX: usize = 20;

/// The last lines of a text, without blanks at the end.
pub(super) fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(LINES_MAX)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_remain() {
        let lines: Vec<String> = (0..30).map(|n| n.to_string()).collect();
        assert_eq!(last_lines(&(lines.join("\n") + "\n\n")), lines[10..].join("\n"));
        assert_eq!((last_lines("").as_str(), last_lines("a\n").as_str()), ("", "a"));
    }
}
