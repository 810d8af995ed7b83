//! The tokens of an HTML page, read in slices. Only the attributes that a caller needs are retained, and errors are ignored.
//! Therefore at most the longest token takes memory, even if a page repeats parts many times.

use std::io::{self, Read};

use busyhour_slices::tick;
use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{ForwardingEmitter, IoReader, Span, Tokenizer};

/// The number of bytes that the tokenizer reads at a time, which takes less than half a millisecond.
const PIECE_BYTES: usize = 4_096;

/// The parts of a page that a caller needs in addition to the names of tags.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Needs {
    /// Names of attributes, in lower case.
    pub(crate) attributes: &'static [&'static str],
    pub(crate) text: bool,
    pub(crate) comments: bool,
}

/// A part of a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HtmlToken {
    Start(StartTag),
    /// The name of an end tag.
    End(Vec<u8>),
    Text(String),
    Comment(String),
}

/// A start tag with the attributes that are needed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct StartTag {
    pub(crate) name: Vec<u8>,
    /// Each name occurs once: if several attributes have the same name, the first one is used.
    attributes: Vec<(&'static str, Vec<u8>)>,
}

impl StartTag {
    /// The value of an attribute that the caller of [`tokens`] needs.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let (_, value) = self.attributes.iter().find(|(known, _)| *known == name)?;
        Some(text_of(value))
    }
}

/// The tokens of a page. Slices may end between two pieces of it.
pub(crate) fn tokens(html: &str, needs: Needs) -> impl Iterator<Item = HtmlToken> {
    let mut inner = CallbackEmitter::new(Collector { needs, tag: StartTag::default(), is_needed: false });
    inner.naively_switch_states(true);
    let reader = IoReader::new_with_buffer_size::<PIECE_BYTES>(Pieces(html.as_bytes()));
    Tokenizer::new_with_emitter(reader, Emitter { inner, needs }).map_while(Result::ok)
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The rest of a page.
struct Pieces<'h>(&'h [u8]);

impl Read for Pieces<'_> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let length = self.0.read(piece)?;
        tick(length);
        Ok(length)
    }
}

/// Creates tokens from the tokenizer's events.
struct Collector {
    needs: Needs,
    tag: StartTag,
    /// Whether the next value belongs to the last attribute of `tag`.
    is_needed: bool,
}

impl Collector {
    fn begin_attribute(&mut self, name: &[u8]) {
        let needed = self.needs.attributes.iter().find(|needed| needed.as_bytes() == name);
        let fresh = needed.filter(|needed| self.tag.attributes.iter().all(|(known, _)| known != *needed));
        self.is_needed = fresh.is_some();
        self.tag.attributes.extend(fresh.map(|name| (*name, Vec::new())));
    }
}

impl Callback<HtmlToken, ()> for Collector {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<HtmlToken> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                name.clone_into(&mut self.tag.name);
                None
            }
            CallbackEvent::AttributeName { name } => {
                self.begin_attribute(name);
                None
            }
            CallbackEvent::AttributeValue { value } => {
                if self.is_needed
                    && let Some((_, attribute)) = self.tag.attributes.last_mut()
                {
                    attribute.extend_from_slice(value);
                }
                None
            }
            CallbackEvent::CloseStartTag { .. } => Some(HtmlToken::Start(std::mem::take(&mut self.tag))),
            CallbackEvent::EndTag { name } => {
                self.tag.attributes.clear();
                Some(HtmlToken::End(name.to_owned()))
            }
            CallbackEvent::String { value } => self.needs.text.then(|| HtmlToken::Text(text_of(value))),
            CallbackEvent::Comment { value } => {
                self.needs.comments.then(|| HtmlToken::Comment(text_of(value)))
            }
            CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => None,
        }
    }
}

/// Forwards only the needed events. The wrapped emitter would store an error of 88 bytes for each NUL byte of a page.
struct Emitter {
    inner: CallbackEmitter<Collector, HtmlToken>,
    needs: Needs,
}

impl ForwardingEmitter for Emitter {
    type Token = HtmlToken;

    fn inner(&mut self) -> &mut impl html5gum::Emitter<Token = HtmlToken> {
        &mut self.inner
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn emit_error(&mut self, _: html5gum::Error) {}

    fn emit_string(&mut self, text: &[u8]) {
        if self.needs.text {
            html5gum::Emitter::emit_string(&mut self.inner, text);
        }
    }

    fn push_comment(&mut self, text: &[u8]) {
        if self.needs.comments {
            html5gum::Emitter::push_comment(&mut self.inner, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEEDS: Needs = Needs { attributes: &["a", "href"], text: true, comments: true };

    fn all(html: &str) -> Vec<HtmlToken> {
        tokens(html, NEEDS).collect()
    }

    fn start(name: &str, attributes: &[(&'static str, &str)]) -> HtmlToken {
        let attributes = attributes.iter().map(|(name, value)| (*name, value.as_bytes().to_vec()));
        HtmlToken::Start(StartTag { name: name.into(), attributes: attributes.collect() })
    }

    #[test]
    fn tags_have_the_attributes_that_are_needed() {
        let html = "<A b=1 HREF='x&amp;y' a href=z c>t\0&lt;</p a=1><!-- c --><script><q a=1></script><q>";
        let expected = [
            start("a", &[("href", "x&y"), ("a", "")]),
            HtmlToken::Text("t\0<".to_owned()),
            HtmlToken::End(b"p".to_vec()),
            HtmlToken::Comment(" c ".to_owned()),
            start("script", &[]),
            HtmlToken::Text("<q a=1>".to_owned()),
            HtmlToken::End(b"script".to_vec()),
            start("q", &[]),
        ];
        assert_eq!(all(html), expected);
    }

    #[test]
    fn tokens_do_not_depend_on_slice_boundaries() {
        for shift in 0..40 {
            let html =
                format!("{}<!-- x --><a href=\"é&copy;\">\r\n</a>", " ".repeat(PIECE_BYTES - 20 - shift));
            let tokens = all(&html);
            assert_eq!(tokens[1..3], [HtmlToken::Comment(" x ".to_owned()), start("a", &[("href", "é©")])]);
            assert_eq!(tokens[3], HtmlToken::Text("\n".to_owned()));
        }
    }

    #[test]
    fn many_attributes_overflow_neither_stack_nor_memory() {
        let html = format!("<a{} href=\"y\">", " b=\"c\"".repeat(100_000));
        let read = std::thread::Builder::new().stack_size(256 << 10).spawn(move || all(&html));
        assert_eq!(read.unwrap().join().unwrap(), [start("a", &[("href", "y")])]);
    }
}
