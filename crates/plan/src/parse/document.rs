//! The outermost tags, and files that are not plans.

use std::ops::Range;

use busyhour_diagnostic::{Diagnostic, Severity, Span};
use memchr::memmem;

use super::builder::{Builder, Document, Open, OpenKind, Tree, is_tree_tag};
use crate::findings::{quoted, shortened};
use crate::xml;

impl Builder<'_> {
    /// Checks the beginning of the file; returns the offset at which the parser starts.
    pub(super) fn check_head(&mut self, source: &[u8]) -> Option<usize> {
        let text = self.text.strip_prefix('\u{FEFF}').unwrap_or(self.text);
        let start = self.text.len() - text.len();
        let head = text.trim_start();
        if head.starts_with('<') {
            if head.starts_with("<?xml") && head.len() < text.len() {
                let blank = text.len() - head.len();
                self.findings.add(start, blank, None, Severity::Warning, || {
                    Diagnostic::warning("jmx-xml", "there are blanks before `<?xml`")
                        .with_cause("XML allows nothing before it; JMeter would not load the plan")
                        .with_hint("delete them")
                });
            }
            return Some(start);
        }
        let at = self.text.len() - head.len();
        if head.is_empty() {
            // A file of 4 GiB or more has already been rejected, and it has no text either.
            if source.len() < u32::MAX as usize {
                self.findings.error(start, 0, None, || {
                    Diagnostic::error("jmx-empty", "the file is empty")
                        .with_hint("get it again, or save it again in JMeter")
                });
            }
            return None;
        }
        let plan = memmem::find(head.as_bytes(), b"<jmeterTestPlan");
        self.findings.error(at, 1, None, || {
            let finding = Diagnostic::error("jmx-not-xml", "the file is not XML: it does not begin with `<`");
            match known_format(source) {
                Some(format) => {
                    finding.with_cause(format!("it looks like {}", format.name)).with_hint(format.hint)
                }
                None if plan.is_some() => {
                    finding.with_hint(format!("remove {} before the plan", quoted(head)))
                }
                None => finding.with_hint("give a test plan that JMeter saved (.jmx)"),
            }
        });
        plan.map(|distance| at + distance)
    }

    /// Handles a tag at the top level.
    pub(super) fn start_document(&mut self, range: Range<usize>, self_closed: bool) {
        let tag = xml::tag_at(self.text, range.start);
        if self.document == Document::End {
            self.report_ignored(&range, "content after the end of the plan");
            self.stopped = true;
            return;
        }
        if matches!(tag, "jmeterTestPlan" | "org.apache.jmeter.save.ScriptWrapper") {
            self.document = if self_closed { Document::End } else { Document::InPlan };
            self.plan_attributes(&range);
            if self_closed {
                let span = self.findings.span(range.start, range.len());
                self.report_no_tree(span);
            } else {
                self.open(OpenKind::Plan { has_tree: false }, &range);
            }
            return;
        }
        let is_element = ["guiclass", "testclass"]
            .iter()
            .any(|attribute| xml::attribute_at(self.text, range.start, attribute).is_some());
        if is_tree_tag(tag) || is_element {
            self.document = Document::Fragment;
            self.findings.error(range.start, range.len(), None, || {
                Diagnostic::error("jmx-fragment", format!("the file is a part of a plan: it begins with <{}>", shortened(tag)))
                    .with_cause("JMeter loads only files whose outermost tag is <jmeterTestPlan>")
                    .with_hint("put it into <jmeterTestPlan version=\"1.2\"><hashTree>…</hashTree></jmeterTestPlan>, below a TestPlan")
            });
            self.open_missing_tree(range.start);
            if is_tree_tag(tag) {
                if !self_closed {
                    self.open(OpenKind::Tree(Tree::default()), &range);
                }
            } else {
                self.start_element(range, self_closed, Tree::default());
            }
            return;
        }
        self.findings.error(range.start, range.len(), None, || {
            let finding = Diagnostic::error(
                "jmx-not-a-plan",
                format!(
                    "the file is not a test plan: its outermost tag is <{}>, not <jmeterTestPlan>",
                    shortened(tag)
                ),
            );
            match tag.to_ascii_lowercase().as_str() {
                "html" => finding.with_hint("this is a web page; download the file itself"),
                "testresults" => finding.with_hint("these are results (JTL), not a plan"),
                _ => finding.with_hint("give a test plan that JMeter saved (.jmx)"),
            }
        });
        self.document = Document::End;
        self.stopped = true;
    }

    pub(super) fn report_no_tree(&mut self, plan: Span) {
        self.findings.error(plan.offset, plan.len, None, || {
            Diagnostic::error("jmx-not-a-plan", "the plan is empty: it has no `hashTree`")
                .with_hint("get the whole file again, or save it again in JMeter")
        });
    }

    /// Handles a tag directly inside `jmeterTestPlan`.
    pub(super) fn start_in_plan(&mut self, range: Range<usize>, self_closed: bool, has_tree: bool) {
        if has_tree {
            self.report_ignored(&range, "content after the plan's `hashTree`");
            if !self_closed {
                self.open(OpenKind::Skipped, &range);
            }
            return;
        }
        if let Some(Open { what: OpenKind::Plan { has_tree }, .. }) = self.stack.last_mut() {
            *has_tree = true;
        }
        if is_tree_tag(xml::tag_at(self.text, range.start)) {
            if !self_closed {
                self.open(OpenKind::Tree(Tree::default()), &range);
            }
            return;
        }
        self.findings.error(range.start, range.len(), None, || {
            Diagnostic::error("jmx-tree", "the elements of the plan are not in a `hashTree`")
                .with_cause("JMeter expects one directly inside <jmeterTestPlan> and would not load the plan")
        });
        self.open_missing_tree(range.start);
        self.start_element(range, self_closed, Tree::default());
    }

    pub(super) fn doctype(&mut self, range: Range<usize>) {
        self.entities_declared |= memmem::find(self.text[range.clone()].as_bytes(), b"<!ENTITY").is_some();
        let declares = self.entities_declared;
        self.findings.add(range.start, range.len(), None, Severity::Warning, || {
            let finding =
                Diagnostic::warning("jmx-doctype", "the document type declaration is ignored, as in JMeter");
            if declares {
                finding.with_cause("the entities that it declares are not expanded")
            } else {
                finding
            }
        });
    }
}

/// A file format that is not a plan, and the hint for it.
struct Format {
    name: &'static str,
    hint: &'static str,
}

/// Recognizes common file formats that are not plans.
fn known_format(source: &[u8]) -> Option<Format> {
    const PACKED: &str = "unpack it and give the plan inside";
    const OTHER: &str = "give a test plan that JMeter saved (.jmx)";
    const FORMATS: &[(&[u8], &str, &str)] = &[
        (b"PK\x03\x04", "a ZIP archive", PACKED),
        (b"\x1F\x8B", "a gzip file", PACKED),
        (b"BZh", "a bzip2 file", PACKED),
        (b"\xFD7zXZ", "an xz file", PACKED),
        (b"\x28\xB5\x2F\xFD", "a zstd file", PACKED),
        (b"7z\xBC\xAF", "a 7z archive", PACKED),
        (b"%PDF", "a PDF document", OTHER),
        (b"\x7FELF", "a program", OTHER),
        (b"\xCA\xFE\xBA\xBE", "a Java class file", OTHER),
        (b"\x89PNG", "an image", OTHER),
        (b"{", "JSON", OTHER),
        (b"[", "JSON", OTHER),
        (b"timeStamp,", "a result file (JTL in CSV)", "give the plan that produced the results"),
        (b"version https://git-lfs", "a pointer of Git LFS", "run `git lfs pull`"),
    ];
    let source = source.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(source).trim_ascii_start();
    let found = FORMATS.iter().find(|(magic, ..)| source.starts_with(magic));
    found.map(|&(_, name, hint)| Format { name, hint })
}
