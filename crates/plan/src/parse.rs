//! Builds the tree of a plan from the text of the file.
//!
//! The parser makes one pass over the pieces of the file and has a stack of the open tags. The grammar is the structure
//! that JMeter's own reader expects. `jmeterTestPlan` contains one `hashTree`. A `hashTree` contains elements, each
//! followed by the `hashTree` of its children. An element contains properties.

mod attributes;
mod builder;
mod document;
mod reference;
mod value;

use std::ops::Range;
use std::sync::Arc;

use busyhour_diagnostic::{Diagnostic, Severity};

use self::attributes::ElementAttributes;
use self::builder::Value;
use crate::edits::Edits;
use crate::encoding::{Decoded, decode};
use crate::findings::{Findings, quoted, shortened};
use crate::parse::builder::Builder;
use crate::parse::builder::Document;
use crate::parse::builder::Open;
use crate::parse::builder::OpenKind;
use crate::parse::builder::Tree;
use crate::parse::builder::is_tree_tag;
use crate::scan::{Piece, Scanner, Token};
use crate::slice::Slice;
use crate::test_plan::TestPlan;
use crate::tree::{ElementData, ElementId, PropertyData, PropertyId, PropertyKind};
use crate::xml;

/// The maximum nesting depth of tags; deeper tags are not read. Real plans stay below 40.
pub const DEPTH_MAX: usize = 256;

/// Maximum number of elements, in assembled plans, too. It limits the memory, and the time of each pass over all elements.
/// Reading stops with an error when it is exceeded. A plan of 100 MB has about 100,000 elements.
pub(crate) const ELEMENTS_MAX: usize = 250_000;
const PROPERTIES_MAX: usize = 1 << 23;

/// Reads a test plan.
///
/// Never fails: the plan contains everything that could be read, and the findings contain the mistakes of the file, in
/// file order as far as possible. There are at most [`DIAGNOSTICS_MAX`](crate::DIAGNOSTICS_MAX) findings, and up to two
/// more about the whole file. A finding that [is an error](Diagnostic::is_error) means that the file was not read
/// completely or is ambiguous. JMeter would not load such a plan either, and it must not be run. If JMeter rejects the
/// plan for a mistake whose meaning is clear, the finding is a warning.
///
/// Time and memory are linear in the size of the file. A plan of 100 MB takes about 0.8 s and twice its size in memory, an
/// artificially dense file at most 0.8 GB. Entities that the file declares are not expanded, and external resources are not
/// fetched.
#[must_use]
pub fn parse(source: &[u8], file_name: impl Into<Arc<str>>) -> (TestPlan, Vec<Diagnostic>) {
    let Decoded { text, original, diagnostics } = decode(source);
    let mut builder = Builder::new(&text);
    for diagnostic in diagnostics {
        builder.findings.add_unplaced(diagnostic);
    }
    builder.read(source);
    let Builder { elements, properties, roots, version, jmeter_version, aliases, findings, .. } = builder;
    let plan = TestPlan {
        file: file_name.into(),
        text: Arc::clone(&text),
        original,
        version,
        jmeter_version,
        elements,
        properties,
        roots,
        aliases,
        edits: Edits::default(),
        parts: Vec::new(),
    };
    let findings = findings.finish(&plan);
    (plan, findings)
}

impl<'t> Builder<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            findings: Findings::new(text),
            elements: Vec::new(),
            properties: Vec::new(),
            roots: Vec::new(),
            version: None,
            jmeter_version: None,
            document: Document::Begin,
            stack: Vec::new(),
            skipped_depth: 0,
            was_too_deep: false,
            is_tag_damaged: false,
            entities_declared: false,
            is_url_encoded: false,
            aliases: Vec::new(),
            reference_steps: 0,
            stopped: false,
        }
    }

    fn read(&mut self, source: &[u8]) {
        let Some(start) = self.check_head(source) else { return };
        for piece in Scanner::new(self.text, start) {
            self.is_tag_damaged = piece.damage.is_some();
            if let Some((offset, damage)) = piece.damage {
                let owner = self.owner();
                self.findings.damage(offset, damage, &self.text[piece.range.clone()], owner);
            }
            self.read_piece(piece);
            if self.stopped {
                break;
            }
        }
        self.finish();
    }

    fn read_piece(&mut self, piece: Piece) {
        let Piece { range, token, .. } = piece;
        match token {
            Token::Start { self_closed } => self.start_tag(range, self_closed),
            Token::End => self.end_tag(range),
            Token::Text => self.characters(range, true),
            Token::CData(inside) => self.characters(inside, false),
            Token::Ignored => {}
            Token::DocType => self.doctype(range),
        }
    }

    /// The element that contains the current position.
    fn owner(&self) -> Option<ElementId> {
        self.stack.iter().rev().find_map(|open| match open.what {
            OpenKind::Element(id) => Some(id),
            OpenKind::Tree(tree) => tree.waiting.or(tree.parent),
            _ => None,
        })
    }

    fn open(&mut self, what: OpenKind, range: &Range<usize>) {
        let tag = xml::tag_at(self.text, range.start);
        let start = self.findings.span(range.start, range.len());
        self.stack.push(Open {
            what,
            tag: Some(range.start + 1..range.start + 1 + tag.len()),
            start,
            last_property: None,
            is_old_header: None,
            value: Value::default(),
        });
    }

    /// Opens a tree whose tag is missing in the file.
    fn open_missing_tree(&mut self, offset: usize) {
        let start = self.findings.span(offset, 0);
        let what = OpenKind::Tree(Tree::default());
        let (last_property, is_old_header, value) = (None, None, Value::default());
        self.stack.push(Open { what, tag: None, start, last_property, is_old_header, value });
    }

    fn start_tag(&mut self, range: Range<usize>, self_closed: bool) {
        if self.skipped_depth > 0 || self.stack.len() >= DEPTH_MAX {
            self.skipped_depth += usize::from(!self_closed);
            if !std::mem::replace(&mut self.was_too_deep, true) {
                let owner = self.owner();
                self.findings.error(range.start, range.len(), owner, || {
                    Diagnostic::error("jmx-depth", format!("tags are nested more than {DEPTH_MAX} deep"))
                        .with_cause("deeper tags were not read")
                });
            }
            return;
        }
        let is_tree = is_tree_tag(xml::tag_at(self.text, range.start));
        match self.stack.last().map(|open| open.what) {
            None => self.start_document(range, self_closed),
            Some(OpenKind::Plan { has_tree }) => self.start_in_plan(range, self_closed, has_tree),
            Some(OpenKind::Tree(tree)) if is_tree => self.start_tree(range, self_closed, tree),
            Some(OpenKind::Tree(tree)) => self.start_element(range, self_closed, tree),
            Some(OpenKind::Element(id)) if is_tree => {
                self.findings.error(range.start, range.len(), Some(id), || {
                    Diagnostic::error("jmx-tree", "a `hashTree` is nested in an element").with_cause(
                        "JMeter expects it after the element's end tag and would not load the plan",
                    )
                });
                self.start_tree(range, self_closed, Tree { parent: Some(id), waiting: Some(id) });
            }
            Some(OpenKind::Element(_) | OpenKind::Property(_)) => self.start_property(range, self_closed),
            Some(OpenKind::Skipped) if self_closed => {}
            Some(OpenKind::Skipped) => self.open(OpenKind::Skipped, &range),
        }
    }

    fn start_tree(&mut self, range: Range<usize>, self_closed: bool, tree: Tree) {
        if tree.waiting.is_none() {
            self.findings.error(range.start, range.len(), tree.parent, || {
                Diagnostic::error("jmx-tree", "this `hashTree` does not follow an element")
                    .with_cause("JMeter expects exactly one `hashTree` after each element and would not load the plan")
                    .with_hint("delete it, or restore the element that it belonged to")
            });
        }
        if let Some(Open { what: OpenKind::Tree(above), .. }) = self.stack.last_mut() {
            above.waiting = None;
        }
        if !self_closed {
            let parent = tree.waiting.or(tree.parent);
            self.open(OpenKind::Tree(Tree { parent, waiting: None }), &range);
        }
    }

    fn start_element(&mut self, range: Range<usize>, self_closed: bool, tree: Tree) {
        if self.elements.len() >= ELEMENTS_MAX {
            return self.stop_as_too_large(range.start, "elements", ELEMENTS_MAX);
        }
        if let Some(before) = tree.waiting {
            let span = self.elements[before.index()].span;
            self.findings.error(range.start, range.len(), Some(before), || {
                Diagnostic::error(
                    "jmx-tree",
                    format!("the element of line {} is not followed by a `hashTree`", span.line),
                )
                .with_cause(
                    "JMeter expects exactly one `hashTree` after each element and would not load the plan",
                )
                .with_hint("insert <hashTree/> here, after the end of that element")
            });
        }
        let id = ElementId(self.elements.len() as u32);
        let ElementAttributes { name, test_class, gui_class, enabled, class } =
            self.element_attributes(&range, id);
        let tag = xml::tag_at(self.text, range.start);
        self.elements.push(ElementData {
            span: self.findings.span(range.start, range.len()),
            content_start: range.end as u32,
            content_end: range.end as u32,
            self_closed,
            tag: Slice::from_range(range.start + 1..range.start + 1 + tag.len()),
            class,
            name,
            test_class,
            gui_class,
            enabled,
            has_special_property: false,
            first_property: None,
            children: Vec::new(),
            parent: tree.parent,
            subtree_end: id.0 + 1,
        });
        match tree.parent {
            Some(parent) => self.elements[parent.index()].children.push(id),
            None => self.roots.push(id),
        }
        if let Some(Open { what: OpenKind::Tree(tree), .. }) = self.stack.last_mut() {
            tree.waiting = Some(id);
        }
        if !self_closed {
            self.open(OpenKind::Element(id), &range);
        }
    }

    fn start_property(&mut self, range: Range<usize>, self_closed: bool) {
        if self.properties.len() >= PROPERTIES_MAX {
            return self.stop_as_too_large(range.start, "properties", PROPERTIES_MAX);
        }
        let id = PropertyId(self.properties.len() as u32);
        let tag = xml::tag_at(self.text, range.start);
        let kind = PropertyKind::of_tag(tag);
        let (name, reference) = self.property_attributes(&range);
        let is_nameless = name.is_none() && reference.is_none();
        let name = match name {
            Some(name) => name,
            None if kind == PropertyKind::Other => {
                Slice::from_range(range.start + 1..range.start + 1 + tag.len())
            }
            None => Slice::EMPTY,
        };
        self.check_property(&range, kind, is_nameless);
        let value_start = if self_closed { range.end - "/>".len() } else { range.end };
        self.properties.push(PropertyData {
            span: self.findings.span(range.start, range.len()),
            name,
            text: Slice::EMPTY,
            value: value_start as u32..range.end as u32,
            self_closed,
            kind,
            first_child: None,
            next: None,
        });
        if let Some(above) = self.stack.last_mut() {
            match (above.last_property.replace(id), above.what) {
                (Some(last), _) => self.properties[last.0 as usize].next = Some(id),
                (None, OpenKind::Element(element)) => {
                    self.elements[element.index()].first_property = Some(id)
                }
                (None, OpenKind::Property(property)) => {
                    self.properties[property.0 as usize].first_child = Some(id)
                }
                (None, _) => {}
            }
        }
        self.open(OpenKind::Property(id), &range);
        if let Some(reference) = reference {
            self.follow_reference(id, &reference);
        }
        if self_closed {
            self.close(range.end..range.end, true);
        }
    }

    /// Reports problems of a property's start tag that JMeter would not accept.
    fn check_property(&mut self, range: &Range<usize>, kind: PropertyKind, is_nameless: bool) {
        let owner = self.owner();
        let is_in_object = match self.stack.last().map(|open| open.what) {
            Some(OpenKind::Property(above)) => {
                let above = self.properties[above.0 as usize].kind;
                above.nests_its_name() || above == PropertyKind::Other
            }
            _ => false,
        };
        if is_in_object || self.is_tag_damaged {
            return;
        }
        let tag = &self.text[range.clone()];
        if kind == PropertyKind::Other {
            self.findings.add(range.start, range.len(), owner, Severity::Warning, || {
                Diagnostic::warning(
                    "jmx-property",
                    format!("{} is not a property type of JMeter", quoted(tag)),
                )
                .with_cause("JMeter loads it only with the plugin that wrote it")
            });
        } else if is_nameless && !kind.nests_its_name() {
            self.findings.error(range.start, range.len(), owner, || {
                Diagnostic::error("jmx-property", format!("the property {} has no name", quoted(tag)))
                    .with_cause("JMeter would not load the plan")
            });
        }
    }

    fn end_tag(&mut self, range: Range<usize>) {
        if self.skipped_depth > 0 {
            self.skipped_depth -= 1;
            return;
        }
        let closing = self.text[range.start + 2..range.end].trim_end_matches('>').trim_end();
        let is_named = |open: &Open| open.tag.as_ref().is_some_and(|tag| &self.text[tag.clone()] == closing);
        let owner = self.owner();
        let Some(place) = self.stack.iter().rposition(is_named) else {
            // A wrong end tag may already have closed the plan; then it has been reported.
            if self.document != Document::End && !self.is_tag_damaged {
                self.findings.error(range.start, range.len(), owner, || {
                    Diagnostic::error(
                        "jmx-xml",
                        format!("the end tag {} has no start tag", quoted(&format!("</{closing}>"))),
                    )
                    .with_hint("delete it, or restore the start tag")
                });
            }
            return;
        };
        let left_open = self.stack[place + 1..].iter().rev().find(|open| open.tag.is_some());
        if let Some(open) = left_open {
            let (text, line) = (self.text, open.start.line);
            let tag = open.tag.clone().unwrap_or_default();
            self.findings.error(range.start, range.len(), owner, || {
                let tag = quoted(&format!("<{}>", &text[tag]));
                Diagnostic::error("jmx-xml", format!("{tag} of line {line} has no end tag"))
                    .with_cause(format!("it is still open at {}", quoted(&format!("</{closing}>"))))
                    .with_hint("put the end tag after the last part of its content")
            });
        }
        while self.stack.len() > place + 1 {
            self.close(range.start..range.start, false);
        }
        self.close(range, false);
    }

    /// Closes the tag that was opened last. `end` is its end tag.
    fn close(&mut self, end: Range<usize>, self_closed: bool) {
        let Some(open) = self.stack.pop() else { return };
        match open.what {
            OpenKind::Plan { has_tree } => {
                self.document = Document::End;
                if !has_tree {
                    self.report_no_tree(open.start);
                }
            }
            OpenKind::Tree(tree) => {
                if let Some(parent) = tree.parent {
                    self.elements[parent.index()].subtree_end = self.elements.len() as u32;
                }
            }
            OpenKind::Element(id) => {
                let count = self.elements.len() as u32;
                let element = &mut self.elements[id.index()];
                element.content_end = end.start as u32;
                element.span.len = end.end - element.span.offset;
                element.subtree_end = count;
            }
            OpenKind::Property(id) => self.close_property(id, open, end, self_closed),
            OpenKind::Skipped => {}
        }
    }

    fn stop_as_too_large(&mut self, offset: usize, what: &str, limit: usize) {
        self.stopped = true;
        let owner = self.owner();
        let finding = Diagnostic::error(
            "jmx-size",
            format!("the plan has more than {limit} {what}; the rest was not read"),
        );
        let hint = "remove what the test does not need, or split it into several tests";
        self.findings.fatal(offset, owner, finding.with_hint(hint));
    }

    fn finish(&mut self) {
        let end = self.text.len();
        let innermost = self.stack.iter().rev().find(|open| open.tag.is_some());
        if let Some(open) = innermost.filter(|_| !self.stopped) {
            let (text, line) = (self.text, open.start.line);
            let tag = open.tag.clone().unwrap_or_default();
            let owner = self.owner();
            self.findings.error(end, 0, owner, || {
                Diagnostic::error(
                    "jmx-truncated",
                    format!("the file ends inside <{}>", shortened(&text[tag])),
                )
                .with_cause(format!("it was opened in line {line} and has no end tag"))
                .with_hint("the end of the file is missing; get the whole file again")
            });
        }
        while !self.stack.is_empty() {
            self.close(end..end, false);
        }
        if self.document == Document::Begin && !self.stopped {
            self.findings.error(end, 0, None, || {
                Diagnostic::error(
                    "jmx-not-a-plan",
                    "the file does not contain a test plan: there is no <jmeterTestPlan>",
                )
                .with_hint("give a test plan that JMeter saved (.jmx)")
            });
        }
    }

    /// Reports content after the position where JMeter stops reading.
    fn report_ignored(&mut self, range: &Range<usize>, what: &str) {
        self.findings.add(range.start, range.len(), None, Severity::Warning, || {
            Diagnostic::warning("jmx-trailing", format!("{what} is ignored, as in JMeter"))
        });
    }
}
