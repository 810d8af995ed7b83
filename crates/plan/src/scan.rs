//! Splits a text into the pieces of XML: tags, text, comments.
//!
//! The scanner never fails and reads each byte at most a few times. A damaged piece is returned as the kind of piece that
//! was probably intended, with a description of the damage. A tag ends at the latest before the next `<`, which XML forbids
//! inside tags, so a missing quote damages one tag and not the rest of the file.

use std::ops::Range;

use memchr::{memchr, memchr2, memmem};

/// The kind of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// Text with references not yet resolved.
    Text,
    /// `<![CDATA[…]]>`, with the range of its content.
    CData(Range<usize>),
    /// `<a …>` or `<a …/>`.
    Start { self_closed: bool },
    /// `</a>`
    End,
    /// A comment or a processing instruction.
    Ignored,
    /// `<!DOCTYPE …>`
    DocType,
}

/// The damage of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// A `<` that does not begin a tag.
    StrayLessThan,
    /// A tag without its `>`.
    UnclosedTag,
    /// A comment, CDATA section, instruction or document type that is not closed before the end of the file.
    Unterminated(&'static str),
    /// `--` inside a comment.
    DoubleDash,
}

/// A piece of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) range: Range<usize>,
    pub(crate) token: Token,
    /// The position and kind of its damage.
    pub(crate) damage: Option<(usize, Damage)>,
}

/// Iterates over the pieces of a text in order. The concatenated pieces are the text.
pub(crate) struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str, at: usize) -> Self {
        Self { text, at }
    }

    /// Returns the piece from the current position to `end`, and advances to its end.
    fn piece(&mut self, end: usize, token: Token, damage: Option<(usize, Damage)>) -> Option<Piece> {
        let range = self.at..end;
        self.at = end;
        Some(Piece { range, token, damage })
    }

    /// Returns a piece that ends with the first `closing` after `from`, or with the text if there is none.
    fn scan_until(&mut self, from: usize, closing: &'static str, token: Token) -> Option<Piece> {
        match memmem::find(&self.text.as_bytes()[from..], closing.as_bytes()) {
            Some(distance) => self.piece(from + distance + closing.len(), token, None),
            None => self.piece(self.text.len(), token, Some((self.at, Damage::Unterminated(closing)))),
        }
    }

    fn comment(&mut self) -> Option<Piece> {
        let from = self.at + "<!--".len();
        let mut comment = self.scan_until(from, "-->", Token::Ignored)?;
        if comment.damage.is_none() {
            let inside = &self.text.as_bytes()[from..comment.range.end - 1];
            // The last two bytes here are the dashes of `-->`.
            comment.damage = memmem::find(inside, b"--")
                .filter(|&place| place + 2 < inside.len())
                .map(|place| (from + place, Damage::DoubleDash));
        }
        Some(comment)
    }

    fn cdata(&mut self) -> Option<Piece> {
        let from = self.at + "<![CDATA[".len();
        let mut piece = self.scan_until(from, "]]>", Token::Text)?;
        let end = if piece.damage.is_some() { piece.range.end } else { piece.range.end - "]]>".len() };
        piece.token = Token::CData(from..end);
        Some(piece)
    }

    fn doctype(&mut self) -> Option<Piece> {
        let bytes = self.text.as_bytes();
        let mut brackets = 0_usize;
        let mut at = self.at + 2;
        while let Some(&byte) = bytes.get(at) {
            let skip = |closing: &[u8], from: usize| {
                memmem::find(&bytes[from..], closing).map(|distance| from + distance + closing.len())
            };
            let next = match byte {
                b'[' => {
                    brackets += 1;
                    Some(at + 1)
                }
                b']' => {
                    brackets = brackets.saturating_sub(1);
                    Some(at + 1)
                }
                b'>' if brackets == 0 => return self.piece(at + 1, Token::DocType, None),
                b'"' | b'\'' => skip(&[byte], at + 1),
                b'<' if bytes[at..].starts_with(b"<!--") => skip(b"-->", at + 4),
                _ => Some(at + 1),
            };
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        self.piece(bytes.len(), Token::DocType, Some((self.at, Damage::Unterminated("]>"))))
    }
}

impl Iterator for Scanner<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let bytes = &self.text.as_bytes()[self.at..];
        let text_end =
            |from: usize| memchr(b'<', &bytes[from..]).map_or(bytes.len(), |distance| from + distance);
        let start = self.at;
        match bytes {
            [] => None,
            [b'<', b'!', rest @ ..] => match rest {
                [b'-', b'-', ..] => self.comment(),
                _ if rest.starts_with(b"[CDATA[") => self.cdata(),
                _ if rest.get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b"DOCTYPE")) => {
                    self.doctype()
                }
                _ => self.piece(start + text_end(1), Token::Text, Some((start, Damage::StrayLessThan))),
            },
            [b'<', b'?', ..] => self.scan_until(start + 2, "?>", Token::Ignored),
            [b'<', b'/', byte, ..] if starts_name(*byte) => {
                let end = tag_end(self.text, start);
                self.piece(end.offset, Token::End, (!end.closed).then_some((start, Damage::UnclosedTag)))
            }
            [b'<', byte, ..] if starts_name(*byte) => {
                let end = tag_end(self.text, start);
                let token = Token::Start { self_closed: end.self_closed };
                self.piece(end.offset, token, (!end.closed).then_some((start, Damage::UnclosedTag)))
            }
            [b'<', ..] => {
                // Several `<` in a row are one piece, without the last one if it can begin a tag.
                let run = bytes.iter().take_while(|&&byte| byte == b'<').count();
                let begins = |byte: &u8| starts_name(*byte) || matches!(byte, b'/' | b'!' | b'?');
                let end = if run > 1 && bytes.get(run).is_some_and(begins) { run - 1 } else { text_end(run) };
                self.piece(start + end, Token::Text, Some((start, Damage::StrayLessThan)))
            }
            _ => self.piece(start + text_end(0), Token::Text, None),
        }
    }
}

/// The end of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TagEnd {
    /// The offset of the first byte after the tag.
    pub(crate) offset: usize,
    /// Whether the tag ends with `/>`.
    pub(crate) self_closed: bool,
    /// Whether the tag ends with `>`.
    pub(crate) closed: bool,
}

/// The end of the tag that starts at this offset.
pub(crate) fn tag_end(text: &str, offset: usize) -> TagEnd {
    let bytes = text.as_bytes();
    let mut at = (offset + 1).min(bytes.len());
    let mut quote = None;
    loop {
        let found = match quote {
            None => bytes[at..].iter().position(|byte| matches!(byte, b'>' | b'<' | b'"' | b'\'')),
            Some(quote) => memchr2(quote, b'<', &bytes[at..]),
        };
        let Some(distance) = found else {
            return TagEnd { offset: bytes.len(), self_closed: false, closed: false };
        };
        at += distance;
        match bytes[at] {
            b'<' => return TagEnd { offset: at, self_closed: false, closed: false },
            b'>' if quote.is_none() => {
                let self_closed = bytes[at - 1] == b'/' && bytes[at - 2] != b'<';
                return TagEnd { offset: at + 1, self_closed, closed: true };
            }
            byte => quote = if quote.is_some() { None } else { Some(byte) },
        }
        at += 1;
    }
}

/// Whether a byte can begin the name of a tag.
pub(crate) fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':' | 0x80..)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pieces(text: &str) -> Vec<(&str, Token, Option<Damage>)> {
        Scanner::new(text, 0)
            .map(|piece| (&text[piece.range], piece.token, piece.damage.map(|(_, damage)| damage)))
            .collect()
    }

    #[test]
    fn pieces_are_distinguished() {
        let start = |self_closed| Token::Start { self_closed };
        assert_eq!(
            pieces(
                "<?xml?><!DOCTYPE a [<!ENTITY b \"]>\"><!-- ' -->]><a b='>/>'>x &amp;<b/><![CDATA[<]]]]><!-- - --></a >"
            ),
            [
                ("<?xml?>", Token::Ignored, None),
                ("<!DOCTYPE a [<!ENTITY b \"]>\"><!-- ' -->]>", Token::DocType, None),
                ("<a b='>/>'>", start(false), None),
                ("x &amp;", Token::Text, None),
                ("<b/>", start(true), None),
                ("<![CDATA[<]]]]>", Token::CData(79..82), None),
                ("<!-- - -->", Token::Ignored, None),
                ("</a >", Token::End, None),
            ]
        );
    }

    #[test]
    fn damage_is_limited_to_one_piece() {
        let start = Token::Start { self_closed: false };
        assert_eq!(
            pieces("1 < 2<a b=\"c><d>"),
            [
                ("1 ", Token::Text, None),
                ("< 2", Token::Text, Some(Damage::StrayLessThan)),
                ("<a b=\"c>", start.clone(), Some(Damage::UnclosedTag)),
                ("<d>", start, None),
            ]
        );
        assert_eq!(pieces("<<<a>")[0].0, "<<");
        assert_eq!(pieces("<<<<<<< HEAD\n<a>")[0].0, "<<<<<<< HEAD\n");
        assert_eq!(pieces("<!-- a -- b -->")[0].2, Some(Damage::DoubleDash));
        assert_eq!(pieces("<!-- a --->")[0].2, Some(Damage::DoubleDash));
        assert_eq!(pieces("<!-- a -->")[0].2, None);
        assert_eq!(pieces("<!---->")[0].2, None);
        assert_eq!(pieces("<!--->")[0].2, Some(Damage::Unterminated("-->")));
        assert_eq!(pieces("<![CDATA[a")[0].1, Token::CData(9..10));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn the_pieces_are_the_text(text in "[<>/!?a\"'& \\[\\]-]{0,40}|(<!DOCTYPE|<!--|-->|<!\\[CDATA\\[|\\]\\]>|<a|</a>|/>|'|é){0,12}") {
            let mut at = 0;
            for piece in Scanner::new(&text, 0) {
                prop_assert_eq!(piece.range.start, at);
                prop_assert!(piece.range.end > at);
                at = piece.range.end;
            }
            prop_assert_eq!(at, text.len());
        }
    }
}
