//! Imperative XML writer for constructing XML documents and fragments.
//!
//! [`XmlWriter`] provides a push-based API for building XML output without
//! needing to construct a full DOM tree first. This is useful for generating
//! XML fragments, building templates, or any scenario where streaming
//! construction is more natural than tree manipulation.
//!
//! # Example
//!
//! ```
//! use uppsala::XmlWriter;
//!
//! let mut w = XmlWriter::new();
//! w.write_declaration();
//! w.start_element("root", &[("xmlns", "http://example.com")]);
//! w.start_element("child", &[("id", "1")]);
//! w.text("Hello, world!");
//! w.end_element("child");
//! w.empty_element("empty", &[]);
//! w.end_element("root");
//!
//! let xml = w.into_string();
//! assert!(xml.starts_with("<?xml"));
//! ```


// ─── Structural-markup sanitizers (F-13 / F-14 / F-15) ─────────────────────
//
// These three functions prevent "round-trip injection" attacks where an
// attacker-controlled comment, PI, or CDATA body contains the section's
// own terminator (`-->`, `?>`, `]]>`) and thereby smuggles arbitrary XML
// into the emitted output. Each returns `Cow::Borrowed` when the input is
// already safe (the common case) and `Cow::Owned` only when sanitization
// is needed. Shared between `XmlWriter` and the DOM serializer so both
// entry points close the same hole.

pub(crate) fn is_valid_xml_ncname(s: &str) -> bool {
    // ASCII fast path, single pass: names in real-world XML are overwhelmingly
    // ASCII, and this predicate runs for every element/attribute name on every
    // serialize. Byte checks avoid the char-decode loop. We validate ASCII
    // bytes as we go and only fall through to the exact Unicode-production check
    // the moment a non-ASCII byte appears (an ASCII byte is a whole char, so an
    // invalid one is invalid under either production and can fail fast).
    let bytes = s.as_bytes();
    let Some(&first) = bytes.first() else {
        return false;
    };
    if first.is_ascii() {
        if !(first.is_ascii_alphabetic() || first == b'_') {
            return false;
        }
        // SIMD scan of the continuation bytes: the length of the leading run of
        // ASCII NCName characters (`[0-9A-Za-z_.-]`). A run that ends before the
        // string does means the next byte is either an invalid ASCII byte (the
        // name is invalid) or the start of a non-ASCII character (fall through
        // to the full Unicode production). An all-ASCII valid name is settled in
        // this single pass, with no char-decode.
        let pos = 1 + crate::simd::scan_ncname_continuation(&bytes[1..]);
        if pos == bytes.len() {
            return true;
        }
        if bytes[pos] < 0x80 {
            return false;
        }
        // else: non-ASCII byte present -> fall through to the Unicode check.
    }
    // A non-ASCII byte is present somewhere: validate against the full Unicode
    // NameStartChar / NameChar productions.
    let mut chars = s.chars();
    match chars.next() {
        Some(c) if is_ncname_start_char(c) => {}
        _ => return false,
    }
    chars.all(is_ncname_char)
}

/// XML 1.0 `NCNameStartChar` — the full `NameStartChar` production minus `:`.
///
/// Must mirror the parser's accepted ranges so that names produced by the
/// parser round-trip through serialization without being sanitized to `_`
/// (e.g. `<é/>`). Sanitization only exists to neutralize *invalid*
/// programmatic names, not to reject valid non-ASCII ones.
fn is_ncname_start_char(c: char) -> bool {
    matches!(c,
        'A'..='Z' | '_' | 'a'..='z' |
        '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' |
        '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}' |
        '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' |
        '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}' |
        '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' |
        '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}'
    )
}

/// XML 1.0 `NCNameChar` — the full `NameChar` production minus `:`.
fn is_ncname_char(c: char) -> bool {
    is_ncname_start_char(c)
        || matches!(c,
            '-' | '.' | '0'..='9' | '\u{B7}' |
            '\u{0300}'..='\u{036F}' | '\u{203F}'..='\u{2040}'
        )
}

// ─── Internal escaping helpers (write directly to String, no allocation) ───

