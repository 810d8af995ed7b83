//! Assembles a plan from several files: replaces references to modules and included files by copies of their
//! elements.
//!
//! An assembled plan is only for running. Its elements come from several files, each with a position in its own file,
//! so the plan cannot be written back.

use std::sync::Arc;

use crate::element::Element;
use crate::parse::{DEPTH_MAX, ELEMENTS_MAX};
use crate::slice::Slice;
use crate::test_plan::TestPlan;
use crate::tree::{ElementData, ElementId, PropertyData, PropertyId};

/// The children of an element of an assembled plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Below {
    /// The children in the file.
    AsWritten,
    /// Copies of elements with their descendants, in this order.
    Copies {
        /// The elements to copy.
        of: Vec<ElementId>,
        /// Whether the copies are enabled even if the originals are not.
        enabled: bool,
    },
}

/// Why a plan cannot be assembled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssemblyError {
    /// An element would contain a copy of itself.
    #[error("this element would contain a copy of itself")]
    Endless(ElementId),
    /// The assembled plan would exceed the maximum number of elements.
    #[error("the assembled plan would have more than {ELEMENTS_MAX} elements")]
    TooLarge(ElementId),
}

impl TestPlan {
    /// Appends the elements of another plan without placing them in the tree; returns their roots.
    pub fn absorb(&mut self, other: &TestPlan) -> Vec<ElementId> {
        let base = self.text.len() + 1;
        self.text = [&*self.text, "\n", &*other.text].concat().into();
        self.parts.push((base, Arc::clone(&other.file)));
        let first_element = self.elements.len() as u32;
        let first_property = self.properties.len() as u32;
        let text = |slice: &Slice| match slice {
            Slice::Source { start, len } => Slice::Source { start: start + base as u32, len: *len },
            Slice::Owned(text) => Slice::Owned(text.clone()),
        };
        let optional = |slice: &Option<Slice>| slice.as_ref().map(text);
        let element = |id: ElementId| ElementId(id.0 + first_element);
        let property = |id: PropertyId| PropertyId(id.0 + first_property);
        for data in &other.elements {
            let mut span = data.span;
            span.offset += base;
            self.elements.push(ElementData {
                span,
                content_start: data.content_start + base as u32,
                content_end: data.content_end + base as u32,
                self_closed: data.self_closed,
                tag: text(&data.tag),
                class: optional(&data.class),
                name: optional(&data.name),
                test_class: optional(&data.test_class),
                gui_class: optional(&data.gui_class),
                enabled: optional(&data.enabled),
                has_special_property: data.has_special_property,
                first_property: data.first_property.map(property),
                children: data.children.iter().copied().map(element).collect(),
                parent: data.parent.map(element),
                subtree_end: data.subtree_end + first_element,
            });
        }
        for data in &other.properties {
            let mut span = data.span;
            span.offset += base;
            self.properties.push(PropertyData {
                span,
                name: text(&data.name),
                text: text(&data.text),
                value: data.value.start + base as u32..data.value.end + base as u32,
                self_closed: data.self_closed,
                kind: data.kind,
                first_child: data.first_child.map(property),
                next: data.next.map(property),
            });
        }
        other.roots.iter().copied().map(element).collect()
    }

    /// Returns a copy of the plan in which `below` determines the children of each element. `below` is called with each
    /// element that is reached, and with whether the element is active in its new place.
    ///
    /// # Errors
    /// An element would contain a copy of itself, or the plan would exceed the maximum number of elements.
    pub fn assembled(
        &self,
        below: &mut dyn FnMut(Element<'_>, bool) -> Below,
    ) -> Result<TestPlan, AssemblyError> {
        let mut assembly = Assembly { source: self, below, elements: Vec::new(), open: Vec::new() };
        let mut roots = Vec::new();
        for root in &self.roots {
            roots.push(assembly.copy(*root, None, true, false)?);
        }
        let elements = assembly.elements;
        let mut plan = self.clone();
        plan.elements = elements;
        plan.roots = roots;
        Ok(plan)
    }
}

struct Assembly<'p, 'b> {
    source: &'p TestPlan,
    below: &'b mut dyn FnMut(Element<'_>, bool) -> Below,
    elements: Vec<ElementData>,
    /// The elements being copied, outermost first.
    open: Vec<ElementId>,
}

impl Assembly<'_, '_> {
    fn copy(
        &mut self,
        id: ElementId,
        parent: Option<ElementId>,
        active: bool,
        enable: bool,
    ) -> Result<ElementId, AssemblyError> {
        if self.open.contains(&id) || self.open.len() > DEPTH_MAX {
            return Err(AssemblyError::Endless(id));
        }
        if self.elements.len() >= ELEMENTS_MAX {
            return Err(AssemblyError::TooLarge(id));
        }
        let element = Element { plan: self.source, id };
        let active = active && (enable || element.enabled());
        let mut data = self.source.elements[id.index()].clone();
        data.parent = parent;
        if enable {
            data.enabled = None;
        }
        let new = ElementId(self.elements.len() as u32);
        let original_children = std::mem::take(&mut data.children);
        self.elements.push(data);
        let (children, enable) = match (self.below)(element, active) {
            Below::AsWritten => (original_children, false),
            Below::Copies { of, enabled } => (of, enabled),
        };
        self.open.push(id);
        let mut copies = Vec::with_capacity(children.len());
        for child in children {
            copies.push(self.copy(child, Some(new), active, enable)?);
        }
        self.open.pop();
        let end = self.elements.len() as u32;
        let data = &mut self.elements[new.index()];
        data.children = copies;
        data.subtree_end = end;
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn plan(inner: &str, file: &str) -> TestPlan {
        let text = format!(
            "<jmeterTestPlan version=\"1.2\"><hashTree><TestPlan testclass=\"TestPlan\" testname=\"P\"/><hashTree>{inner}</hashTree></hashTree></jmeterTestPlan>"
        );
        let (plan, findings) = parse(text.as_bytes(), file);
        assert!(
            findings.iter().all(|finding| finding.severity != busyhour_diagnostic::Severity::Error),
            "{findings:?}"
        );
        plan
    }

    fn names(plan: &TestPlan) -> Vec<String> {
        plan.elements().map(|element| element.path().join("/")).collect()
    }

    #[test]
    fn copies_can_be_in_two_places_and_refer_to_their_file() {
        let mut library = plan("<A testname=\"a\"/><hashTree/><B testname=\"b\"/><hashTree/>", "main.jmx");
        let other = plan(
            "<C testname=\"c\" enabled=\"false\"><stringProp name=\"x\">1</stringProp></C><hashTree><D testname=\"d\"/><hashTree/></hashTree>",
            "other.jmx",
        );
        let roots = library.absorb(&other);
        let c = library.element(roots[0]).children().next().unwrap().id();
        let assembled = library
            .assembled(&mut |element, _| match element.name() {
                "a" | "b" => Below::Copies { of: vec![c], enabled: element.name() == "b" },
                _ => Below::AsWritten,
            })
            .unwrap();
        assert_eq!(names(&assembled), ["P", "P/a", "P/a/c", "P/a/c/d", "P/b", "P/b/c", "P/b/c/d"]);
        let copies: Vec<_> = assembled.elements().filter(|element| element.name() == "c").collect();
        assert_eq!(copies.iter().map(|copy| copy.enabled()).collect::<Vec<_>>(), [false, true]);
        assert_eq!(copies[1].text("x"), Some("1"));
        assert_ne!(copies[0].id(), copies[1].id());
        let finding = copies[0].locate(busyhour_diagnostic::Diagnostic::error("x", "y"));
        assert_eq!(finding.file.as_deref(), Some("other.jmx"));
        let own = other.elements().find(|element| element.name() == "c").unwrap();
        assert_eq!(finding.span, Some(own.span()));
        let a = assembled.elements().nth(1).unwrap();
        assert_eq!(a.descendants().count(), 2);
        let finding = a.locate(busyhour_diagnostic::Diagnostic::error("x", "y"));
        assert_eq!(finding.file.as_deref(), Some("main.jmx"));
    }

    #[test]
    fn an_element_that_would_contain_itself_is_rejected() {
        let library =
            plan("<A testname=\"a\"/><hashTree><B testname=\"b\"/><hashTree/></hashTree>", "main.jmx");
        let a = library.elements().nth(1).unwrap().id();
        let endless = library.assembled(&mut |element, _| match element.name() {
            "b" => Below::Copies { of: vec![a], enabled: true },
            _ => Below::AsWritten,
        });
        assert_eq!(endless.map(|_| ()), Err(AssemblyError::Endless(a)));
    }
}
