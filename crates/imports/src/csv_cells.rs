//! Cells of a row of a CSV file.

use std::borrow::Cow;

/// Maximum number of cells in a row; further cells are ignored.
const CELLS_MAX: usize = 1_000;

/// A cell of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CsvCell<'l> {
    /// Its contents without quotes.
    pub(crate) text: Cow<'l, [u8]>,
    /// Its position in the row in bytes, from 0.
    pub(crate) at: usize,
}

/// Splits a row at commas that are not in quotes.
pub(crate) fn split(line: &[u8]) -> Vec<CsvCell<'_>> {
    let mut cells = Vec::new();
    let mut at = 0;
    loop {
        let (text, end) = match line.get(at) {
            Some(b'"') => quoted(line, at + 1),
            _ => {
                let end = memchr::memchr(b',', &line[at..]).map_or(line.len(), |length| at + length);
                (Cow::Borrowed(&line[at..end]), end)
            }
        };
        cells.push(CsvCell { text, at });
        if end >= line.len() || cells.len() == CELLS_MAX {
            return cells;
        }
        at = end + 1;
    }
}

/// The contents of a quoted cell from `from` on, and the position of the comma after it.
fn quoted(line: &[u8], from: usize) -> (Cow<'_, [u8]>, usize) {
    let mut text = Cow::Borrowed(&line[from..from]);
    let mut at = from;
    loop {
        let Some(length) = memchr::memchr(b'"', &line[at..]) else {
            append(&mut text, &line[at..]);
            return (text, line.len());
        };
        let quote = at + length;
        append(&mut text, &line[at..quote]);
        at = quote + 1;
        if line.get(at) != Some(&b'"') {
            break;
        }
        append(&mut text, b"\"");
        at += 1;
    }
    let end = memchr::memchr(b',', &line[at..]).map_or(line.len(), |length| at + length);
    (text, end)
}

fn append<'l>(text: &mut Cow<'l, [u8]>, part: &'l [u8]) {
    if text.is_empty() {
        *text = Cow::Borrowed(part);
    } else if !part.is_empty() {
        text.to_mut().extend_from_slice(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        split(line.as_bytes()).iter().map(|cell| String::from_utf8_lossy(&cell.text).into_owned()).collect()
    }

    #[test]
    fn commas_in_quotes_do_not_split() {
        assert_eq!(texts("a,,\"b,\"\"c\"\"\",d"), ["a", "", "b,\"c\"", "d"]);
        assert_eq!(texts("\"\""), [""]);
        assert_eq!(texts("a,"), ["a", ""]);
        assert_eq!(texts(""), [""]);
        assert_eq!(texts("\"open,b"), ["open,b"]);
        assert_eq!(split(b"ab,\"c\",d")[2].at, 7);
        assert_eq!(split(&[b','; 5_000]).len(), CELLS_MAX);
    }
}
