//! Makes texts from plans, files and servers safe to display.

use std::borrow::Cow;

/// A zero-width space that makes a workflow command ineffective. It is invisible in terminals and logs.
const BREAK: char = '\u{200B}';

/// Converts an untrusted text to one line that cannot control a terminal, change the direction of the text around it, or be
/// executed as a command by a CI system.
///
/// Control characters become blanks, bidirectional controls become `·`, and commands are made ineffective by
/// [`without_commands`].
///
/// ```
/// assert_eq!(busyhour_diagnostic::printable("a\u{1b}[2J\nb\u{202e}c"), "a [2J b·c");
/// assert_eq!(busyhour_diagnostic::printable("::error::x"), ":\u{200b}:error::x");
/// assert_eq!(busyhour_diagnostic::printable("std::fmt, a ## b"), "std::fmt, a ## b");
/// ```
#[must_use]
pub fn printable(text: &str) -> String {
    let line: String = text.chars().map(|c| shown(c, ' ')).collect();
    without_commands(&line).into_owned()
}

/// Like [`printable`], for several lines of untrusted text: line ends are retained.
#[must_use]
pub fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// The character itself if it can be displayed, `·` for a bidirectional control, and `instead` for other control characters.
pub(crate) fn shown(character: char, instead: char) -> char {
    match character {
        '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => '·',
        '\u{2028}' | '\u{2029}' => instead,
        character if character.is_control() => instead,
        character => character,
    }
}

/// Makes the workflow commands of CI systems in a text ineffective. An invisible character is inserted after the first
/// character of a command: `::name` at the beginning of a word (GitHub), `##[`, `##vso[`, `##teamcity[` (GitHub, Azure,
/// TeamCity).
#[must_use]
pub fn without_commands(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut copied = 0;
    for at in 0..bytes.len().saturating_sub(1) {
        if is_command(text, at) {
            out.push_str(&text[copied..=at]);
            out.push(BREAK);
            copied = at + 1;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Maximum length, in bytes, of the name of a command after `##`.
const NAME_BYTES_MAX: usize = 32;

/// Whether a workflow command begins at byte `at`.
fn is_command(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    match (bytes[at], bytes[at + 1]) {
        // CI runners skip blanks at the beginning of a line, and a text may be wrapped before any word.
        (b':', b':') => {
            let begins = text[..at]
                .chars()
                .next_back()
                .is_none_or(|before| !before.is_alphanumeric() && before != ':');
            begins && bytes.get(at + 2).is_some_and(u8::is_ascii_alphabetic)
        }
        (b'#', b'#') => {
            let mut rest = bytes[at + 2..].iter().take(NAME_BYTES_MAX);
            rest.find(|byte| !byte.is_ascii_alphabetic()) == Some(&b'[')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_workflow_commands_are_changed() {
        for text in
            ["::error::a", "  ::stop-commands::x", "a ::set-env name=b::c", "- ::add-mask::a", "…::error::x"]
        {
            let shown = without_commands(text);
            assert!(shown.contains(":\u{200B}:") && !shown.contains(" ::"), "{text}");
            assert_eq!(shown.replace(BREAK, ""), text);
        }
        for text in ["##[command]a", "x ##vso[task.complete]", "##teamcity[testFailed]", "###[a]"] {
            assert!(without_commands(text).contains("#\u{200B}#"), "{text}");
        }
        for text in [
            "a::b",
            "std::fmt::Write",
            "::",
            "a:: b",
            "::1",
            "[::1]:80",
            "## Heading",
            "#[a]",
            "",
            "#",
            "é::",
            "##",
        ] {
            assert_eq!(without_commands(text), text);
        }
    }

    #[test]
    fn bidirectional_controls_become_visible() {
        assert_eq!(printable("a\u{202E}b\u{2066}c\u{200F}\u{2028}d\te"), "a·b·c· d e");
        assert_eq!(printable("שלום é 日本"), "שלום é 日本");
    }
}
