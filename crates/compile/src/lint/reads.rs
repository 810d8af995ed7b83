//! The JMeter properties that a plan reads.

use std::collections::BTreeSet;

use busyhour_functions::supported;
use busyhour_plan::{Element, TestPlan};

use super::properties::each_property;
use super::references::is_word;
use crate::elements::controllers::ControllerClass;
use crate::elements::{Role, role};

/// Functions whose argument is the name of a property.
const OF_PROPERTIES: [&str; 5] = ["__P", "__property", "__isPropDefined", "__setProperty", "__GetSecret"];

/// Functions that evaluate a text, which may name any property.
const OF_TEXTS: [&str; 7] =
    ["__BeanShell", "__eval", "__evalVar", "__groovy", "__javaScript", "__jexl2", "__jexl3"];

/// The names of the properties that functions in a plan read, including those in disabled elements. `None` if the plan
/// can read properties whose names it does not contain, because it has scripts, includes other plans, or composes a
/// name.
#[must_use]
pub fn property_reads(plan: &TestPlan) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let mut all_known = true;
    for element in plan.elements() {
        all_known &= !has_script(element);
        each_property(element, &mut |property| {
            all_known &= property.text().is_none_or(|text| add_reads(text, &mut names).is_some());
        });
    }
    all_known.then_some(names)
}

fn has_script(element: Element<'_>) -> bool {
    let role = role(element);
    let evaluates = matches!(
        role,
        Role::Controller(ControllerClass::Include | ControllerClass::If) | Role::Unsupported(_)
    );
    evaluates || role.script_source().is_some()
}

/// Adds the names of the properties that the calls in a text read; `None` if a call can read other properties.
fn add_reads(text: &str, names: &mut BTreeSet<String>) -> Option<()> {
    for (at, _) in text.match_indices("${__") {
        let call = &text[at + 2..];
        let (name, rest) = call.split_at(call.find(|c| !is_word(c)).unwrap_or(call.len()));
        if OF_TEXTS.contains(&name) || !supported().iter().any(|function| function.name == name) {
            return None;
        }
        if OF_PROPERTIES.contains(&name) {
            let argument = rest.strip_prefix('(')?;
            let argument = &argument[..argument.find([',', ')'])?];
            if argument.contains(['$', '\\']) {
                return None;
            }
            names.insert(argument.trim().to_owned());
        }
    }
    Some(())
}
