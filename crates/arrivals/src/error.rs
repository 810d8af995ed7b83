//! Errors in the notation of an arrival process.

/// A text that is not a valid arrival process.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// Describes what is wrong.
    pub message: String,
    /// Position of the error as a byte offset into the text; the length of the text if something is missing at its end.
    pub at: usize,
    /// A suggestion for the user; `None` if there is none.
    pub hint: Option<String>,
}

impl ParseError {
    pub(crate) fn new(at: usize, message: impl Into<String>) -> ParseError {
        ParseError { message: message.into(), at, hint: None }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> ParseError {
        self.hint = Some(hint.into());
        self
    }

    /// Formats the message, the line of `text` with a caret under the position, and the hint.
    pub fn render(&self, text: &str) -> String {
        let mut at = self.at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let begin = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
        let column = text[begin..at].chars().count();
        let line: String = text[begin..end].chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let line = format!("  {line}");
        let mut page = format!("{}\n{}\n  {:column$}^", self.message, line.trim_end(), "");
        if let Some(hint) = &self.hint {
            page.push_str("\nhint: ");
            page.push_str(hint);
        }
        page
    }
}

/// The candidate that is nearest to a mistyped word; `None` if no candidate is near enough to be a suggestion.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let far = if word.chars().count() <= 4 { 1 } else { 2 };
    candidates
        .iter()
        .map(|candidate| (edit_distance(&word, candidate), *candidate))
        .filter(|(distance, _)| *distance <= far)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The Levenshtein distance, where a transposition of adjacent characters counts as one step (optimal string alignment).
fn edit_distance(a: &str, b: &str) -> usize {
    // A much longer word is not a misspelling, and the table below grows with its length.
    if a.len().abs_diff(b.len()) > 8 {
        return usize::MAX;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let mut least = (last[j] + usize::from(a[i] != b[j])).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_for_misspellings() {
        assert_eq!(nearest("fro", &["for", "over"]), Some("for"));
        assert_eq!(nearest("Poisosn", &["poisson", "pause"]), Some("poisson"));
        assert_eq!(nearest("burst", &["poisson", "pause"]), None);
        assert_eq!((edit_distance("", "abc"), edit_distance("kitten", "sitting")), (3, 3));
    }

    #[test]
    fn the_caret_is_under_the_position() {
        let error = ParseError::new("première\n→ x".len() - 1, "no").with_hint("yes");
        assert_eq!(error.render("première\n→ x\nlast"), "no\n  → x\n    ^\nhint: yes");
        assert_eq!(ParseError::new(99, "no").render(""), "no\n\n  ^");
        assert_eq!(ParseError::new(1, "no").render("→"), "no\n  →\n  ^");
    }
}
