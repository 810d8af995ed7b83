//! Text for terminals: bold text, colours, and shortened labels.

/// How text is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Look {
    /// Number of columns of the terminal; `None` if the output is not a terminal. In this case, labels are not shortened.
    pub width: Option<usize>,
    /// Whether the output can show colours and bold text.
    pub colour: bool,
}

/// Minimum number of characters to which a label is cut.
pub(crate) const LABEL_MIN: usize = 12;

pub(crate) const BOLD: &str = "1";

pub(crate) const DIM: &str = "2";

pub(crate) const RED: &str = "31";

pub(crate) const GREEN: &str = "32";

pub(crate) const YELLOW: &str = "33";

impl Look {
    pub(crate) fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint(BOLD, text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.paint(GREEN, text)
    }

    pub(crate) fn warn(self, text: &str) -> String {
        self.paint(YELLOW, text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.paint(RED, text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint(DIM, text)
    }
}

pub(crate) use busyhour_diagnostic::printable;

/// A label on one line with at most 120 characters; the middle of a longer label is omitted.
#[must_use]
pub fn shown_label(label: &str) -> String {
    shown_text(label, LABEL_MAX)
}

/// A text on one line with at most `most` characters. The middle of a longer text is omitted, because the labels of one plan
/// mostly have similar beginnings.
pub(crate) fn shown_text(text: &str, most: usize) -> String {
    let tail = most / 4;
    let ends = text.char_indices().nth(most).map(|_| {
        let head = text.char_indices().nth(most - tail - 1).map_or(0, |(at, _)| at);
        let tail = text.char_indices().rev().nth(tail - 1).map_or(text.len(), |(at, _)| at);
        format!("{}…{}", &text[..head], &text[tail..])
    });
    printable(ends.as_deref().unwrap_or(text))
}

/// The lines of a text that is wrapped between words; all lines but the first begin with `indent`. A word that is longer than a
/// line is not broken. Without a width there is one line.
pub(crate) fn wrap(text: &str, width: Option<usize>, indent: &str) -> Vec<String> {
    let Some(width) = width else { return vec![text.to_owned()] };
    let begin = &text[..text.len() - text.trim_start().len()];
    let mut lines = vec![begin.to_owned()];
    let (mut used, mut is_empty) = (begin.chars().count(), true);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if !is_empty && used + 1 + length > width {
            lines.push(indent.to_owned());
            (used, is_empty) = (indent.chars().count(), true);
        }
        if let Some(line) = lines.last_mut() {
            if !is_empty {
                line.push(' ');
            }
            line.push_str(word);
        }
        used += length + usize::from(!is_empty);
        is_empty = false;
    }
    lines
}

/// A text that begins with a capital letter.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The first `width` characters of `text`.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Maximum number of characters of a label that are shown, because labels can contain any text. JSON and CSV contain the whole
/// labels.
pub(crate) const LABEL_MAX: usize = 120;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_broken_between_words() {
        assert_eq!(
            wrap("the times are 7.3 times longer", Some(13), "  "),
            ["the times are", "  7.3 times", "  longer"]
        );
        assert_eq!(wrap("  ab cd", Some(5), "  "), ["  ab", "  cd"]);
        assert_eq!(wrap("abcdefgh ij", Some(4), ""), ["abcdefgh", "ij"]);
        assert_eq!(wrap("a b", None, ""), ["a b"]);
        assert_eq!(wrap("", Some(4), ""), [""]);
    }
}
