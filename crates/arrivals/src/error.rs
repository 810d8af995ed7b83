//! What is wrong with a text, and where.

/// A text that is no arrival process: what is wrong, where, and what could be written instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// What is wrong.
    pub message: String,
    /// Where, as a byte offset into the text; the text's length when something is missing at its end.
    pub at: usize,
    /// What to write instead.
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

    /// The message, the line of `text` it is about with a caret under the place, and the hint.
    pub fn render(&self, text: &str) -> String {
        let mut at = self.at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let begin = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
        let column = text[begin..at].chars().count();
        let line: String = text[begin..end].chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let mut page = format!("{}\n  {line}\n  {:column$}^", self.message, "");
        if let Some(hint) = &self.hint {
            page.push_str("\nhint: ");
            page.push_str(hint);
        }
        page
    }
}

/// The candidate nearest to a mistyped word, if it is near enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let far = if word.chars().count() <= 4 { 1 } else { 2 };
    candidates
        .iter()
        .map(|candidate| (edit_distance(&word, candidate), *candidate))
        .filter(|(distance, _)| *distance <= far)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance.
fn edit_distance(a: &str, b: &str) -> usize {
    // A long word is no misspelling, and the table below grows with its length.
    if a.len().abs_diff(b.len()) > 8 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
