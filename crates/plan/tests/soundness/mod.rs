//! Properties that hold for any input of the reader. Used by the tests here and by the fuzz target.

use busyhour_diagnostic::has_errors;
use busyhour_plan::{DIAGNOSTICS_MAX, Element, Property, TestPlan, parse};

/// Reads, walks, edits and writes a plan.
///
/// # Panics
/// If the reader violates one of the properties that hold for any input.
pub fn check(source: &[u8]) {
    let (mut plan, diagnostics) = parse(source, "any.jmx");
    assert!(plan.write() == source, "the file is written back unchanged");
    assert!(!plan.is_edited());
    // Beyond the limit, one finding counts the omitted findings, and one is about the encoding.
    assert!(diagnostics.len() <= DIAGNOSTICS_MAX + 2);
    for diagnostic in &diagnostics {
        assert!(!diagnostic.message.is_empty());
        assert!(diagnostic.message.len() < 1000, "{diagnostic}");
        if let Some(span) = diagnostic.span {
            assert!(span.end() <= plan.source().len() && span.line > 0 && span.column > 0, "{diagnostic}");
        }
    }
    if plan.is_empty() && !has_errors(&diagnostics) {
        assert!(plan.source().contains("ashTree"), "nothing was read, and there is no finding");
    }
    check_tree(&plan);
    check_edits(&mut plan, !has_errors(&diagnostics));
}

/// Checks that all links of the tree are consistent and that all spans match the text.
pub fn check_tree(plan: &TestPlan) {
    let mut next = 0;
    for root in plan.roots() {
        assert!(root.parent().is_none());
        check_element(plan, root, &mut next);
    }
    assert_eq!(next, plan.len());
}

fn check_element(plan: &TestPlan, element: Element<'_>, next: &mut usize) {
    assert_eq!(element.id().index(), *next, "elements are numbered in document order");
    *next += 1;
    let span = element.span();
    assert!(plan.source()[span.offset..].starts_with(&format!("<{}", element.tag())));
    assert!(span.end() <= plan.source().len());
    assert!(!element.kind().is_empty());
    assert_eq!(element.path().len(), element.ancestors().count() + 1);
    let _ =
        (element.name(), element.gui_kind(), element.is_active(), element.comments(), element.test_class());
    for property in element.properties() {
        check_property(plan, property);
        if property.written_name() == property.name() {
            assert_eq!(element.property(property.name()).map(|found| found.name()), Some(property.name()));
        }
    }
    let before = *next;
    for child in element.children() {
        assert_eq!(child.parent(), Some(element));
        check_element(plan, child, next);
    }
    assert_eq!(element.descendants().len(), *next - before);
}

fn check_property(plan: &TestPlan, property: Property<'_>) {
    let span = property.span();
    assert!(plan.source()[span.offset..].starts_with(&format!("<{}", property.tag())));
    assert!(span.end() <= plan.source().len());
    let _ = (property.text(), property.boolean(), property.integer(), property.number(), property.class());
    for item in property.items() {
        check_property(plan, item);
    }
}

const HARD: &str = " ${a,b}\\ <&>\"' \t]]>\n\u{FC}+%41 ";

/// Checks that an edit changes only its own place; in an undamaged file, reading it again gives the value that was
/// set.
fn check_edits(plan: &mut TestPlan, is_sound: bool) {
    let before = plan.source().to_owned();
    let ids: Vec<_> = plan.elements().map(|element| element.id()).step_by(3).take(5).collect();
    let mut set = Vec::new();
    for id in ids {
        let first = plan.element(id).properties().next().map(|property| property.name().to_owned());
        for name in [first.as_deref().unwrap_or("a"), "added \"here\""] {
            if plan.set_text(id, name, HARD).is_ok() {
                assert_eq!(plan.element(id).text(name), Some(HARD));
                set.push((id, name.to_owned()));
            }
        }
    }
    check_tree_after_edit(plan);
    if !is_sound || plan.encoding() != "UTF-8" {
        let _ = plan.write();
        return;
    }
    let (again, diagnostics) = parse(&plan.write(), "edited.jmx");
    assert!(!has_errors(&diagnostics), "{diagnostics:?}\n{before}");
    assert_eq!(again.len(), plan.len());
    for (id, name) in set {
        assert_eq!(again.element(id).text(&name), Some(HARD), "{name} in\n{}", again.source());
    }
}

fn check_tree_after_edit(plan: &TestPlan) {
    for element in plan.elements() {
        for property in element.properties() {
            assert!(!property.tag().is_empty());
            let _ = (property.attribute("name"), property.class());
        }
    }
}
