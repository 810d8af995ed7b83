//! Pull-based XML event parser and the shared tokenizer behind it.
//!
//! The module has three layers:
//!
//! 1. `Tokenizer` (crate-private): the prolog/content/trailing state machine,
//!    start-tag scanning with namespace checks and QName resolution, text-run
//!    scanning, and the open-element stack. It is driven one syntactic unit at
//!    a time and reports each unit to a `TokenSink`.
//! 2. [`PullParser`] (public): drives the tokenizer with a sink that turns
//!    tokens into [`PullEvent`]s, buffered so one tag can yield several events
//!    (namespace bindings, self-closing elements).
//! 3. `DomSink` (crate-private): a sink that allocates arena nodes directly.
//!    [`Parser::parse`](crate::Parser::parse) uses it, so the DOM path never
//!    materializes a `PullEvent`. [`document_from_pull`](crate::pull::document_from_pull)
//!    remains the explicit
//!    event-stream-to-DOM path used by the differential tests.
//!
//! Both sinks share one tokenizer, so well-formedness checks, namespace rules,
//! entity-expansion budgets, and depth limits have a single implementation.
//! See ADR 0019 for why the DOM path does not consume events.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::Hash;

use crate::dom::{
    Attribute, Document, Element, NodeId, NodeKind, ProcessingInstruction, QName, XmlDeclaration,
};
use crate::error::{ParserLimit, XmlError, XmlResult};
use crate::namespace::NamespaceResolver;
use crate::parser::{
    borrow_from_cow, is_xml_char, parse_cdata, parse_comment, parse_doctype, parse_name, parse_pi,
    parse_quoted_value_with_entities, parse_reference_with_entities, parse_xml_declaration,
    split_qname, Cursor, EntityCache, EntityMap, DEFAULT_MAX_DEPTH, DEFAULT_MAX_ENTITY_EXPANSION, HASHED_NAMES_MIN,
    MAX_ATTRIBUTES, MAX_COPIED_NAMESPACE_BYTES,
};

/// LIMITS: the names of an element's attributes so far. A few are compared, many are looked up by hash.
struct Names<N> {
    few: Vec<N>,
    many: HashSet<N>,
}

impl<N: Eq + Hash> Names<N> {
    fn new() -> Self {
        Names { few: Vec::new(), many: HashSet::new() }
    }

    /// Whether the name is new.
    fn insert(&mut self, name: N) -> bool {
        if !self.many.is_empty() {
            return self.many.insert(name);
        }
        if self.few.contains(&name) {
            return false;
        }
        self.few.push(name);
        if self.few.len() > HASHED_NAMES_MIN {
            self.many.extend(self.few.drain(..));
        }
        true
    }
}

/// Receiver for the syntactic units produced by [`Tokenizer::step`].
///
/// One [`Tokenizer::step`] makes zero, one, or two sink calls:
///
/// - zero when the step only changes phase (skipping the BOM, entering the
///   prolog, leaving content for the trailing section) or when a text run
///   expands to nothing (an entity with empty replacement text);
/// - one for every ordinary unit (declaration, DOCTYPE, start tag, end tag,
///   text, CDATA, comment, PI);
/// - two for a self-closing tag: `start_element` immediately followed by
///   `end_element`.
///
/// Drivers must not infer from `step` returning `Ok(true)` that a token was
/// delivered. Sinks never fail: structural errors are the tokenizer's job,
/// and end-of-document checks belong to whoever drives the tokenizer to
/// completion.
pub(crate) trait TokenSink<'a> {
    fn xml_declaration(&mut self, decl: XmlDeclaration<'a>);
    fn doctype(&mut self, raw: Cow<'a, str>);
    fn start_element(
        &mut self,
        name: QName<'a>,
        attributes: Vec<Attribute<'a>>,
        namespace_declarations: Vec<(Cow<'a, str>, Cow<'a, str>)>,
        byte_start: usize,
        byte_end: usize,
        depth: u32,
    );
    fn end_element(&mut self, byte_start: usize, byte_end: usize, depth: u32);
    fn text(&mut self, content: Cow<'a, str>, byte_start: usize, byte_end: usize);
    fn cdata(&mut self, content: Cow<'a, str>, byte_start: usize, byte_end: usize);
    fn comment(&mut self, content: Cow<'a, str>, byte_start: usize, byte_end: usize);
    fn processing_instruction(
        &mut self,
        pi: ProcessingInstruction<'a>,
        byte_start: usize,
        byte_end: usize,
    );
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Start,
    Prolog,
    Content,
    Trailing,
    Done,
}

/// What the tokenizer must remember about an open element: the raw tag name
/// for end-tag matching and whether this element pushed a namespace scope.
/// Anything a sink needs (resolved name, node id, namespace count) lives on the
/// sink's own stack.
#[derive(Debug)]
struct OpenElement<'a> {
    raw_name: Cow<'a, str>,
    pushed_ns_scope: bool,
}

/// Shared XML tokenizer: one syntactic unit per [`Tokenizer::step`], reported
/// to a [`TokenSink`]. Fuses to the done state after any error.
pub(crate) struct Tokenizer<'a> {
    cursor: Cursor<'a>,
    max_depth: u32,
    forbid_dtd: bool,
    forbid_entities: bool,
    seen_doctype: bool,
    ns_resolver: Option<NamespaceResolver<'a>>,
    entities: EntityMap,
    entity_cache: EntityCache,
    entity_budget: usize,
    copied_namespace_budget: usize,
    stack: Vec<OpenElement<'a>>,
    phase: Phase,
}

impl<'a> Tokenizer<'a> {
    pub(crate) fn new(input: &'a str, namespace_aware: bool) -> Self {
        Tokenizer {
            cursor: Cursor::new(input),
            max_depth: DEFAULT_MAX_DEPTH,
            forbid_dtd: false,
            forbid_entities: false,
            seen_doctype: false,
            ns_resolver: namespace_aware.then(NamespaceResolver::new),
            entities: EntityMap::default(),
            entity_cache: EntityCache::default(),
            entity_budget: DEFAULT_MAX_ENTITY_EXPANSION,
            copied_namespace_budget: MAX_COPIED_NAMESPACE_BYTES,
            stack: Vec::new(),
            phase: Phase::Start,
        }
    }

    pub(crate) fn with_max_depth(mut self, max_depth: u32) -> Self {
        self.max_depth = max_depth;
        self
    }

    pub(crate) fn with_max_entity_expansion(mut self, max_bytes: usize) -> Self {
        self.entity_budget = max_bytes;
        self
    }

    pub(crate) fn with_forbid_dtd(mut self, forbid: bool) -> Self {
        self.forbid_dtd = forbid;
        self
    }

    pub(crate) fn with_forbid_entities(mut self, forbid: bool) -> Self {
        self.forbid_entities = forbid;
        self
    }

    /// Consume one syntactic unit and report it to `sink`.
    ///
    /// Returns `Ok(true)` while more input may follow and `Ok(false)` once the
    /// document is complete. `Ok(true)` does not mean a token was delivered:
    /// a step may make zero sink calls (phase changes, empty text runs) or
    /// two (self-closing tag); see [`TokenSink`]. After an error the
    /// tokenizer is fused: further calls return `Ok(false)`.
    #[inline]
    pub(crate) fn step<S: TokenSink<'a>>(&mut self, sink: &mut S) -> XmlResult<bool> {
        if self.phase == Phase::Done {
            return Ok(false);
        }
        match self.step_inner(sink) {
            Ok(more) => Ok(more),
            Err(err) => {
                self.phase = Phase::Done;
                self.stack.clear();
                Err(err)
            }
        }
    }

    fn step_inner<S: TokenSink<'a>>(&mut self, sink: &mut S) -> XmlResult<bool> {
        match self.phase {
            Phase::Start => {
                self.cursor.skip_bom();
                self.phase = Phase::Prolog;
                if self.cursor.starts_with("<?xml ")
                    || self.cursor.starts_with("<?xml\t")
                    || self.cursor.starts_with("<?xml\r")
                    || self.cursor.starts_with("<?xml\n")
                {
                    let decl = parse_xml_declaration(&mut self.cursor)?;
                    sink.xml_declaration(decl);
                }
                Ok(true)
            }
            Phase::Prolog => {
                self.cursor.skip_whitespace();
                if self.cursor.is_eof() {
                    return Err(XmlError::well_formedness(
                        "Document must have a root element",
                        0,
                        0,
                    ));
                }
                if self.cursor.starts_with("<!--") {
                    self.scan_comment(sink)?;
                    return Ok(true);
                }
                if self.cursor.starts_with("<?") {
                    self.scan_pi(sink)?;
                    return Ok(true);
                }
                if self.cursor.starts_with("<!DOCTYPE") {
                    if self.forbid_dtd {
                        return Err(XmlError::parse(
                            "DOCTYPE declarations are not allowed (forbid_dtd)",
                            self.cursor.line(),
                            self.cursor.column(),
                        ));
                    }
                    if self.seen_doctype {
                        return Err(XmlError::well_formedness(
                            "Only one DOCTYPE declaration is allowed",
                            self.cursor.line(),
                            self.cursor.column(),
                        ));
                    }
                    let start = self.cursor.pos;
                    parse_doctype(
                        &mut self.cursor,
                        &mut self.entities,
                        &mut self.entity_budget,
                        self.forbid_entities,
                        self.max_depth,
                    )?;
                    self.seen_doctype = true;
                    sink.doctype(Cow::Borrowed(&self.cursor.input[start..self.cursor.pos]));
                    return Ok(true);
                }
                if self.cursor.starts_with("<") {
                    self.scan_start_element(sink)?;
                    self.phase = Phase::Content;
                    return Ok(true);
                }
                Err(XmlError::well_formedness(
                    "Content found outside of root element",
                    self.cursor.line(),
                    self.cursor.column(),
                ))
            }
            Phase::Content => {
                if self.stack.is_empty() {
                    self.phase = Phase::Trailing;
                    return Ok(true);
                }
                let bytes = self.cursor.input.as_bytes();
                if bytes.get(self.cursor.pos) == Some(&b'<') {
                    if self.cursor.starts_with("</") {
                        self.scan_end_element(sink)?;
                    } else if self.cursor.starts_with("<![CDATA[") {
                        self.scan_cdata(sink)?;
                    } else if self.cursor.starts_with("<!--") {
                        self.scan_comment(sink)?;
                    } else if self.cursor.starts_with("<?") {
                        self.scan_pi(sink)?;
                    } else {
                        self.scan_start_element(sink)?;
                    }
                } else {
                    // A text run can produce no token (e.g. an entity that
                    // expands to nothing); that is not end-of-document.
                    self.scan_text(sink)?;
                }
                Ok(true)
            }
            Phase::Trailing => {
                self.cursor.skip_whitespace();
                if self.cursor.is_eof() {
                    self.phase = Phase::Done;
                    return Ok(false);
                }
                if self.cursor.starts_with("<!--") {
                    self.scan_comment(sink)?;
                    return Ok(true);
                }
                if self.cursor.starts_with("<?") {
                    self.scan_pi(sink)?;
                    return Ok(true);
                }
                if self.cursor.starts_with("<") {
                    return Err(XmlError::well_formedness(
                        "Only one root element is allowed",
                        self.cursor.line(),
                        self.cursor.column(),
                    ));
                }
                Err(XmlError::well_formedness(
                    "Content found outside of root element",
                    self.cursor.line(),
                    self.cursor.column(),
                ))
            }
            Phase::Done => Ok(false),
        }
    }

    fn scan_comment<S: TokenSink<'a>>(&mut self, sink: &mut S) -> XmlResult<()> {
        let start = self.cursor.pos;
        let content = parse_comment(&mut self.cursor)?;
        sink.comment(content, start, self.cursor.pos);
        Ok(())
    }

    fn scan_pi<S: TokenSink<'a>>(&mut self, sink: &mut S) -> XmlResult<()> {
        let start = self.cursor.pos;
        let pi = parse_pi(&mut self.cursor)?;
        sink.processing_instruction(pi, start, self.cursor.pos);
        Ok(())
    }

    fn scan_cdata<S: TokenSink<'a>>(&mut self, sink: &mut S) -> XmlResult<()> {
        let start = self.cursor.pos;
        let content = parse_cdata(&mut self.cursor)?;
        sink.cdata(content, start, self.cursor.pos);
        Ok(())
    }

    fn scan_text<S: TokenSink<'a>>(&mut self, sink: &mut S) -> XmlResult<()> {
        enum TextBuf {
            Empty,
            Borrowed { start: usize },
            Owned { start: usize, text: String },
        }

        impl TextBuf {
            fn switch_to_owned(&mut self, input: &str, end_pos: usize) {
                match self {
                    TextBuf::Empty => {
                        *self = TextBuf::Owned {
                            start: end_pos,
                            text: String::new(),
                        };
                    }
                    TextBuf::Borrowed { start } => {
                        let owned_start = *start;
                        let text = input[owned_start..end_pos].to_string();
                        *self = TextBuf::Owned {
                            start: owned_start,
                            text,
                        };
                    }
                    TextBuf::Owned { .. } => {}
                }
            }

            fn push_str(&mut self, input: &str, end_pos: usize, s: &str) {
                self.switch_to_owned(input, end_pos);
                if let TextBuf::Owned { text, .. } = self {
                    text.push_str(s);
                }
            }

            fn push_char(&mut self, input: &str, end_pos: usize, c: char) {
                self.switch_to_owned(input, end_pos);
                if let TextBuf::Owned { text, .. } = self {
                    text.push(c);
                }
            }

            fn into_parts<'a>(
                self,
                input: &'a str,
                end_pos: usize,
            ) -> Option<(Cow<'a, str>, usize)> {
                match self {
                    TextBuf::Empty => None,
                    TextBuf::Borrowed { start } if start < end_pos => {
                        Some((Cow::Borrowed(&input[start..end_pos]), start))
                    }
                    TextBuf::Owned { start, text } if !text.is_empty() => {
                        Some((Cow::Owned(text), start))
                    }
                    _ => None,
                }
            }
        }

        let mut text_buf = TextBuf::Empty;
        loop {
            if self.cursor.pos >= self.cursor.input.len() {
                return Err(XmlError::UnexpectedEof);
            }

            let bytes = self.cursor.input.as_bytes();
            let scan_start = self.cursor.pos;
            let (advance, has_non_ascii_or_control) =
                crate::simd::scan_content_delimiters(&bytes[scan_start..]);
            let i = scan_start + advance;

            if i > scan_start {
                if has_non_ascii_or_control {
                    let chunk = &self.cursor.input[scan_start..i];
                    for c in chunk.chars() {
                        if !is_xml_char(c) {
                            return Err(XmlError::well_formedness(
                                format!("Invalid XML character U+{:04X}", c as u32),
                                self.cursor.line(),
                                self.cursor.column(),
                            ));
                        }
                    }
                }
                match &mut text_buf {
                    TextBuf::Empty => text_buf = TextBuf::Borrowed { start: scan_start },
                    TextBuf::Borrowed { .. } => {}
                    TextBuf::Owned { text, .. } => {
                        text.push_str(&self.cursor.input[scan_start..i]);
                    }
                }
                self.cursor.pos = i;
            }

            if self.cursor.pos >= self.cursor.input.len() {
                return Err(XmlError::UnexpectedEof);
            }

            match bytes[self.cursor.pos] {
                b'<' => {
                    let end = self.cursor.pos;
                    if let Some((content, start)) = text_buf.into_parts(self.cursor.input, end) {
                        sink.text(content, start, end);
                    }
                    return Ok(());
                }
                b'&' => {
                    let before_pos = self.cursor.pos;
                    let resolved = parse_reference_with_entities(
                        &mut self.cursor,
                        &self.entities,
                        &mut self.entity_cache,
                        &mut self.entity_budget,
                    )?;
                    text_buf.push_str(self.cursor.input, before_pos, &resolved);
                }
                b'\r' => {
                    let before_pos = self.cursor.pos;
                    self.cursor.pos += 1;
                    if self.cursor.peek_byte() == Some(b'\n') {
                        self.cursor.pos += 1;
                    }
                    text_buf.push_char(self.cursor.input, before_pos, '\n');
                }
                b']' => {
                    if self.cursor.starts_with("]]>") {
                        return Err(XmlError::well_formedness(
                            "']]>' not allowed in element content",
                            self.cursor.line(),
                            self.cursor.column(),
                        ));
                    }
                    match &mut text_buf {
                        TextBuf::Empty => {
                            text_buf = TextBuf::Borrowed {
                                start: self.cursor.pos,
                            };
                        }
                        TextBuf::Borrowed { .. } => {}
                        TextBuf::Owned { text, .. } => text.push(']'),
                    }
                    self.cursor.advance_no_newlines(1);
                }
                _ => {
                    // `scan_content_delimiters` (src/simd.rs) is contracted to
                    // stop only at `<`, `&`, `\r`, or `]`, so the arms above are
                    // exhaustive for the current scanner. Don't encode that
                    // cross-module invariant as `unreachable!()`: if the
                    // scanner's delimiter set ever grows and this consumer is
                    // missed, an `unreachable!()` here would turn every affected
                    // document into a process-killing panic (a DoS on hostile
                    // input). Degrade gracefully instead: validate and append
                    // one whole character as ordinary content, then advance.
                    let Some(tail) = self.cursor.input.get(self.cursor.pos..) else {
                        return Err(XmlError::well_formedness(
                            "Parser stopped at a non-character boundary while scanning text",
                            self.cursor.line(),
                            self.cursor.column(),
                        ));
                    };
                    let Some(ch) = tail.chars().next() else {
                        return Err(XmlError::UnexpectedEof);
                    };
                    if !is_xml_char(ch) {
                        return Err(XmlError::well_formedness(
                            format!("Invalid XML character U+{:04X}", ch as u32),
                            self.cursor.line(),
                            self.cursor.column(),
                        ));
                    }
                    let before_pos = self.cursor.pos;
                    self.cursor.advance_no_newlines(ch.len_utf8());
                    text_buf.push_char(self.cursor.input, before_pos, ch);
                }
            }
        }
    }

    fn scan_start_element<S: TokenSink<'a>>(&mut self, sink: &mut S) -> XmlResult<()> {
        let depth = self.stack.len() as u32;
        if depth >= self.max_depth {
            return Err(XmlError::limit(
                ParserLimit::Depth,
                format!(
                    "Element nesting exceeds maximum depth of {}",
                    self.max_depth
                ),
                self.cursor.line(),
                self.cursor.column(),
            ));
        }
        let start_pos = self.cursor.pos;

        self.cursor.expect("<")?;
        let tag_name = parse_name(&mut self.cursor)?;

        let mut raw_attrs: Vec<(Cow<'a, str>, Cow<'a, str>)> = Vec::new();
        let mut ns_decls: Vec<(Cow<'a, str>, Cow<'a, str>)> = Vec::new();
        let mut names: Names<Cow<'a, str>> = Names::new();

        loop {
            self.cursor.skip_whitespace();
            if self.cursor.is_eof() {
                return Err(XmlError::UnexpectedEof);
            }
            if matches!(self.cursor.peek_byte(), Some(b'>') | Some(b'/')) {
                break;
            }
            let attr_name = parse_name(&mut self.cursor)?;
            self.cursor.skip_whitespace();
            self.cursor.expect("=")?;
            self.cursor.skip_whitespace();
            let attr_value = parse_quoted_value_with_entities(
                &mut self.cursor,
                &self.entities,
                &mut self.entity_cache,
                &mut self.entity_budget,
            )?;

            if raw_attrs.len() + ns_decls.len() >= MAX_ATTRIBUTES {
                return Err(XmlError::limit(
                ParserLimit::Attributes,
                    format!("Element exceeds the limit of {MAX_ATTRIBUTES} attributes"),
                    self.cursor.line(),
                    self.cursor.column(),
                ));
            }
            let is_new = names.insert(attr_name.clone());
            if &*attr_name == "xmlns" {
                if !is_new {
                    return Err(XmlError::well_formedness(
                        format!("Duplicate attribute: {}", attr_name),
                        self.cursor.line(),
                        self.cursor.column(),
                    ));
                }
                if &*attr_value == crate::namespace::XML_NAMESPACE
                    || &*attr_value == crate::namespace::XMLNS_NAMESPACE
                {
                    return Err(XmlError::namespace(
                        "Reserved namespace must not be declared as the default namespace",
                        self.cursor.line(),
                        self.cursor.column(),
                    ));
                }
                ns_decls.push((Cow::Borrowed(""), attr_value));
            } else if let Some(prefix) = attr_name.strip_prefix("xmlns:") {
                if prefix == "xmlns" {
                    return Err(XmlError::namespace(
                        "The prefix 'xmlns' must not be declared",
                        self.cursor.line(),
                        self.cursor.column(),
                    ));
                }
                if !crate::writer::is_valid_xml_ncname(prefix) {
                    return Err(XmlError::namespace(
                        format!("Invalid namespace declaration name: {}", attr_name),
                        self.cursor.line(),
                        self.cursor.column(),
                    ));
                }
                if prefix == "xml" && &*attr_value != crate::namespace::XML_NAMESPACE {
                    return Err(XmlError::namespace(
                        "The prefix 'xml' must not be bound to any other namespace",
                        self.cursor.line(),
                        self.cursor.column(),
                    ));
                }
                if prefix != "xml" && &*attr_value == crate::namespace::XML_NAMESPACE {
                    return Err(XmlError::namespace(
                        "The XML namespace must not be bound to another prefix",
                        self.cursor.line(),
                        self.cursor.column(),
                    ));
                }
                if &*attr_value == crate::namespace::XMLNS_NAMESPACE {
                    return Err(XmlError::namespace(
                        "The xmlns namespace must not be declared",
                        self.cursor.line(),
                        self.cursor.column(),
                    ));
                }
                if !is_new {
                    return Err(XmlError::well_formedness(
                        format!("Duplicate attribute: {}", attr_name),
                        self.cursor.line(),
                        self.cursor.column(),
                    ));
                }
                let prefix_cow: Cow<'a, str> = match &attr_name {
                    Cow::Borrowed(s) => Cow::Borrowed(&s[6..]),
                    Cow::Owned(s) => Cow::Owned(s[6..].to_string()),
                };
                ns_decls.push((prefix_cow, attr_value));
            } else {
                if !is_new {
                    return Err(XmlError::well_formedness(
                        format!("Duplicate attribute: {}", attr_name),
                        self.cursor.line(),
                        self.cursor.column(),
                    ));
                }
                raw_attrs.push((attr_name, attr_value));
            }

            if let Some(b) = self.cursor.peek_byte() {
                if b != b'>' && b != b'/' && b != b' ' && b != b'\t' && b != b'\n' && b != b'\r' {
                    return Err(XmlError::well_formedness(
                        "Expected whitespace between attributes",
                        self.cursor.line(),
                        self.cursor.column(),
                    ));
                }
            }
        }

        let pushed_ns_scope = self.ns_resolver.is_some() && !ns_decls.is_empty();
        if let Some(resolver) = self.ns_resolver.as_mut() {
            if pushed_ns_scope {
                resolver.push_scope();
                for (prefix, uri) in &ns_decls {
                    resolver.declare(prefix.clone(), uri.clone());
                }
            }
        }

        // Resolve names and consume the tag close. Every step here is fallible
        // (undeclared prefix, duplicate attribute, missing `>`), and we have
        // already pushed a namespace scope above — so any error must unwind
        // that scope to keep `push_scope`/`pop_scope` balanced. `step` fuses
        // the tokenizer on error today, which hides an unbalanced resolver,
        // but the balance must not depend on that: keep it correct so the
        // resolver stays reusable and the tokenizer could become resumable.
        let (qname, resolved_attrs, self_closing, byte_end) =
            match self.resolve_and_close_start_tag(&tag_name, raw_attrs) {
                Ok(parts) => parts,
                Err(err) => {
                    if pushed_ns_scope {
                        if let Some(resolver) = self.ns_resolver.as_mut() {
                            resolver.pop_scope();
                        }
                    }
                    return Err(err);
                }
            };

        sink.start_element(qname, resolved_attrs, ns_decls, start_pos, byte_end, depth);

        if self_closing {
            sink.end_element(start_pos, byte_end, depth);
            if pushed_ns_scope {
                if let Some(resolver) = self.ns_resolver.as_mut() {
                    resolver.pop_scope();
                }
            }
        } else {
            self.stack.push(OpenElement {
                raw_name: tag_name,
                pushed_ns_scope,
            });
        }
        Ok(())
    }

    /// Resolve the element and attribute QNames against the current namespace
    /// scope and consume the tag's `>` or `/>`. Split out from
    /// [`Self::scan_start_element`] so its single caller can unwind a
    /// just-pushed namespace scope on any error (see the call site). Returns
    /// the resolved name, resolved attributes, whether the tag self-closes, and
    /// the byte offset immediately after the close.
    #[allow(clippy::type_complexity)]
    fn resolve_and_close_start_tag(
        &mut self,
        tag_name: &Cow<'a, str>,
        raw_attrs: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    ) -> XmlResult<(QName<'a>, Vec<Attribute<'a>>, bool, usize)> {
        let (prefix, local_name) = split_qname(tag_name);
        let mut copied = 0;
        let qname = if let Some(resolver) = self.ns_resolver.as_ref() {
            let ns: Option<Cow<'a, str>> = if let Some(p) = prefix {
                let uri = resolver.resolve(p).ok_or_else(|| {
                    XmlError::namespace(
                        format!("Undeclared namespace prefix: {}", p),
                        self.cursor.line(),
                        self.cursor.column(),
                    )
                })?;
                copied += copied_bytes(uri);
                Some(uri.clone())
            } else {
                copied += resolver.resolve_default().map_or(0, copied_bytes);
                resolver.resolve_default().cloned()
            };
            QName {
                namespace_uri: ns,
                prefix: prefix.map(|s| borrow_from_cow(tag_name, s)),
                local_name: borrow_from_cow(tag_name, local_name),
            }
        } else {
            QName::local(tag_name.clone())
        };

        let mut resolved_attrs = Vec::with_capacity(raw_attrs.len());
        // LIMITS: raw names differ, so that only names with prefixes can be the same.
        let mut names: Names<(u32, Cow<'a, str>)> = Names::new();
        for (attr_name, attr_value) in raw_attrs {
            let (a_prefix, a_local) = split_qname(&attr_name);
            let mut is_new = true;
            let a_qname = if let Some(resolver) = self.ns_resolver.as_ref() {
                if let Some(p) = a_prefix {
                    let (ns_uri, number) = resolver.resolve_numbered(p).ok_or_else(|| {
                        XmlError::namespace(
                            format!("Undeclared namespace prefix: {}", p),
                            self.cursor.line(),
                            self.cursor.column(),
                        )
                    })?;
                    is_new = names.insert((number, borrow_from_cow(&attr_name, a_local)));
                    copied += copied_bytes(ns_uri);
                    if copied > self.copied_namespace_budget {
                        return Err(self.too_many_copied_bytes());
                    }
                    QName {
                        namespace_uri: Some(ns_uri.clone()),
                        prefix: Some(borrow_from_cow(&attr_name, p)),
                        local_name: borrow_from_cow(&attr_name, a_local),
                    }
                } else {
                    QName::local(borrow_from_cow(&attr_name, a_local))
                }
            } else {
                QName::local(attr_name)
            };
            if !is_new {
                return Err(XmlError::well_formedness(
                    format!("Duplicate attribute: {}", a_qname),
                    self.cursor.line(),
                    self.cursor.column(),
                ));
            }
            resolved_attrs.push(Attribute {
                name: a_qname,
                value: attr_value,
            });
        }

        match self.copied_namespace_budget.checked_sub(copied) {
            Some(left) => self.copied_namespace_budget = left,
            None => return Err(self.too_many_copied_bytes()),
        }

        let self_closing = self.cursor.peek_byte() == Some(b'/');
        if self_closing {
            self.cursor.expect("/>")?;
        } else {
            self.cursor.expect(">")?;
        }
        let byte_end = self.cursor.pos;
        Ok((qname, resolved_attrs, self_closing, byte_end))
    }

    fn too_many_copied_bytes(&self) -> XmlError {
        XmlError::limit(
                ParserLimit::NamespaceBytes,
            "Namespace names with references exceed the limit of bytes for a document",
            self.cursor.line(),
            self.cursor.column(),
        )
    }

    fn scan_end_element<S: TokenSink<'a>>(&mut self, sink: &mut S) -> XmlResult<()> {
        let Some(open) = self.stack.pop() else {
            return Err(XmlError::well_formedness(
                "Unexpected end tag",
                self.cursor.line(),
                self.cursor.column(),
            ));
        };
        let start = self.cursor.pos;
        self.cursor.expect("</")?;
        let end_tag_name = parse_name(&mut self.cursor)?;
        self.cursor.skip_whitespace();
        self.cursor.expect(">")?;
        if *end_tag_name != *open.raw_name {
            return Err(XmlError::well_formedness(
                format!(
                    "Mismatched end tag: expected </{}>, found </{}>",
                    open.raw_name, end_tag_name
                ),
                self.cursor.line(),
                self.cursor.column(),
            ));
        }

        // After the pop, the stack length equals this element's depth.
        sink.end_element(start, self.cursor.pos, self.stack.len() as u32);
        if open.pushed_ns_scope {
            if let Some(resolver) = self.ns_resolver.as_mut() {
                resolver.pop_scope();
            }
        }
        Ok(())
    }
}

/// LIMITS: the bytes that a copy of a namespace name takes.
fn copied_bytes(uri: &Cow<'_, str>) -> usize {
    match uri {
        Cow::Borrowed(_) => 0,
        Cow::Owned(uri) => uri.len(),
    }
}

/// Sink that allocates arena nodes directly: each token becomes exactly one
/// `NodeData` move into the arena, with no intermediate event value.
struct DomSink<'a> {
    doc: Document<'a>,
    stack: Vec<NodeId>,
}

impl<'a> DomSink<'a> {
    fn new(input: &'a str) -> Self {
        let mut doc = Document::new();
        doc.input = input;
        // Pre-allocate based on input size. Markup-heavy documents such as
        // plist files can be closer to 14 bytes per node once whitespace text
        // nodes are included, so larger inputs use a denser estimate to avoid
        // repeated arena growth during parsing.
        //
        // Use `try_reserve` (not `reserve`) so a hostile or simply huge input
        // cannot trigger an aborting upfront allocation via the global
        // allocation-error handler. The reservation is only a hint: if the
        // dense estimate fails on a memory-constrained host, fall back to the
        // sparser estimate, and if that also fails just proceed — parsing still
        // succeeds by regrowing the arena on demand.
        let dense = if input.len() >= 256 * 1024 {
            input.len() / 14
        } else {
            input.len() / 40
        };
        let sparse = input.len() / 40;
        if doc.nodes.try_reserve(dense).is_err() && dense != sparse {
            let _ = doc.nodes.try_reserve(sparse);
        }
        let root = doc.root();
        DomSink {
            doc,
            stack: vec![root],
        }
    }

    #[inline]
    fn parent(&self) -> NodeId {
        match self.stack.last() {
            Some(&id) => id,
            None => self.doc.root(),
        }
    }

    #[inline]
    fn append_leaf(&mut self, kind: NodeKind<'a>, byte_start: usize, byte_end: usize) {
        let parent = self.parent();
        let id = self.doc.alloc_node(kind, byte_start);
        self.doc.set_byte_end_pos(id, byte_end);
        self.doc.append_child_unchecked(parent, id);
    }

    fn finish(self, input: &'a str) -> XmlResult<Document<'a>> {
        let DomSink { mut doc, stack } = self;
        if stack.len() != 1 {
            return Err(XmlError::UnexpectedEof);
        }
        if doc.document_element().is_none() {
            return Err(XmlError::well_formedness(
                "Document must have a root element",
                0,
                0,
            ));
        }
        let root = doc.root();
        doc.set_byte_end_pos(root, input.len());
        // Building the arena went through mutators that clear the flag; the
        // finished tree is an exact image of `input`, so source ranges may
        // size serialization buffers until the first edit.
        doc.mark_source_hint_valid();
        Ok(doc)
    }
}

impl<'a> TokenSink<'a> for DomSink<'a> {
    #[inline]
    fn xml_declaration(&mut self, decl: XmlDeclaration<'a>) {
        self.doc.xml_declaration = Some(decl);
    }

    #[inline]
    fn doctype(&mut self, raw: Cow<'a, str>) {
        self.doc.doctype = Some(raw);
    }

    #[inline]
    fn start_element(
        &mut self,
        name: QName<'a>,
        attributes: Vec<Attribute<'a>>,
        namespace_declarations: Vec<(Cow<'a, str>, Cow<'a, str>)>,
        byte_start: usize,
        _byte_end: usize,
        _depth: u32,
    ) {
        let parent = self.parent();
        let id = self.doc.alloc_node(
            NodeKind::Element(Element {
                name,
                attributes,
                namespace_declarations,
            }),
            byte_start,
        );
        self.doc.append_child_unchecked(parent, id);
        self.stack.push(id);
    }

    #[inline]
    fn end_element(&mut self, _byte_start: usize, byte_end: usize, _depth: u32) {
        // Never pop the document root: the tokenizer only reports an end for
        // an element it reported a start for, so this guard is belt-and-braces.
        if self.stack.len() > 1 {
            if let Some(id) = self.stack.pop() {
                self.doc.set_byte_end_pos(id, byte_end);
            }
        }
    }

    #[inline]
    fn text(&mut self, content: Cow<'a, str>, byte_start: usize, byte_end: usize) {
        self.append_leaf(NodeKind::Text(content), byte_start, byte_end);
    }

    #[inline]
    fn cdata(&mut self, content: Cow<'a, str>, byte_start: usize, byte_end: usize) {
        self.append_leaf(NodeKind::CData(content), byte_start, byte_end);
    }

    #[inline]
    fn comment(&mut self, content: Cow<'a, str>, byte_start: usize, byte_end: usize) {
        self.append_leaf(NodeKind::Comment(content), byte_start, byte_end);
    }

    #[inline]
    fn processing_instruction(
        &mut self,
        pi: ProcessingInstruction<'a>,
        byte_start: usize,
        byte_end: usize,
    ) {
        self.append_leaf(NodeKind::ProcessingInstruction(pi), byte_start, byte_end);
    }
}

/// Build a DOM by driving `tokenizer` straight into the arena. This is the
/// path behind [`Parser::parse`](crate::Parser::parse): no `PullEvent` is
/// constructed, buffered, or destructured per node.
pub(crate) fn build_document<'a>(
    input: &'a str,
    mut tokenizer: Tokenizer<'a>,
) -> XmlResult<Document<'a>> {
    let mut sink = DomSink::new(input);
    while tokenizer.step(&mut sink)? {}
    sink.finish(input)
}

