//! Documents in which generated parts are repeated. Shared by the ordinary tests and the fuzz target `parts`.

use busyhour_limits::repeated::GeneratedInput;
use busyhour_xml::{ReadOptions, evaluate, read};

#[rustfmt::skip]
const FRAGMENTS: &[&str] = &[
    "<a>", "</a>", "<b/>", "<b~/>", "<b c='~'>", "</b>", "<p:b xmlns:p='u~'/>", " xmlns:p~='u'", " p~:c='d'", " c~='d'", "<", ">", "&", "&amp;", "&#65;", "&e;", "&e~;",
    "<!DOCTYPE a [", "]>", "<!ENTITY e~ 'x'>", "<!ENTITY e '&e;'>", "<!ELEMENT b~ ANY>", "<!ATTLIST b c~ CDATA 'd'>", "<!--", "-->", "<![CDATA[", "]]>", "<?p", "?>", "'", "\"",
    "text", "\r\n", "é", "\0",
];

const XPATHS: &[&str] =
    &["//b", "count(//b)", "//b[last()]", "//*[preceding-sibling::b]", "//@c", "string(/)"];

/// Maximum size of a document in bytes.
const BYTES_MAX: usize = 2 << 20;

/// Builds a document of at most `count_max` parts selected by `bytes`, parses it, and evaluates an expression over it.
pub fn check(bytes: &[u8], count_max: usize) {
    let (which, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let text = GeneratedInput::new(rest, FRAGMENTS, count_max, BYTES_MAX).0.text();
    for text in [format!("<a>{text}</a>"), text] {
        let options = ReadOptions { namespaces: which % 2 == 0, no_doctype: false, sorted: true };
        match read(&text, options) {
            Ok(document) => {
                let expression = XPATHS[usize::from(*which) % XPATHS.len()];
                let _ = evaluate(&document, expression, &document.declared);
            }
            Err(error) => assert!(error.to_string().len() < 1_000),
        }
    }
    let _ = busyhour_limits::take_counts();
}
