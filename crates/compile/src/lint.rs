//! Likely mistakes in a plan that JMeter accepts without a message: misspelt property names, invalid Boolean values,
//! variables that look like functions, variables that nothing defines or reads.

mod properties;
mod reads;
mod references;
mod script_variables;
mod variable_use;
mod variables;

use busyhour_diagnostic::{Diagnostic, edit_distance};
use busyhour_plan::{Property, PropertyKind, TestPlan};

pub use reads::property_reads;

use properties::each_property;
use references::{Reference, references};

use crate::options::Options;
use crate::{elements, save_settings};

/// Finds likely mistakes in a plan. They are warnings, because JMeter runs such a plan. `options` contains the properties
/// and the plan's folder, in which data files define variables.
#[must_use]
pub fn lint(plan: &TestPlan, options: &Options) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let active = || plan.elements().filter(|element| element.is_active());
    for element in active() {
        each_property(element, &mut |property| {
            found.extend(unknown_name(property));
            found.extend(invalid_boolean(property));
            found.extend(calls_of_variables(property));
        });
    }
    let shown = save_settings::sample_variables(&options.properties);
    found.extend(variables::mistakes(plan, &options.base_dir, &shown));
    found
}

/// Reports a property name of a known family that JMeter does not have.
fn unknown_name(property: Property<'_>) -> Option<Diagnostic> {
    // The fields of an object are not properties, and items of a map may have any name.
    if matches!(property.kind(), PropertyKind::Other | PropertyKind::Object) {
        return None;
    }
    let name = property.written_name();
    // JMeter itself replaces outdated names.
    if property.name() != name {
        return None;
    }
    let (family, _) = name.split_once('.')?;
    let of_family =
        |known: &&&str| known.split_once('.').is_some_and(|(known, _)| known.eq_ignore_ascii_case(family));
    let names = elements::property_names();
    if names.binary_search(&name).is_ok() || !names.iter().any(|known| of_family(&known)) {
        return None;
    }
    // `HTTPsampler.Arguments` is mostly misspelt as `HTTPSampler.Arguments`.
    let nearest = names.iter().filter(of_family).min_by_key(|known| edit_distance(known, name))?;
    let diagnostic = Diagnostic::warning(
        "unknown-property",
        format!("no element of JMeter has a property `{name}`: its value is ignored"),
    );
    let diagnostic = property.locate(diagnostic);
    let is_near = edit_distance(nearest, name) * 4 <= name.len();
    Some(if is_near { diagnostic.with_hint(format!("did you mean `{nearest}`?")) } else { diagnostic })
}

/// Reports a Boolean whose value is neither `true` nor `false`, which JMeter reads as false.
fn invalid_boolean(property: Property<'_>) -> Option<Diagnostic> {
    let text = property.text().filter(|_| property.kind() == PropertyKind::Boolean)?;
    let is_boolean = ["true", "false", ""].iter().any(|known| text.eq_ignore_ascii_case(known));
    if is_boolean || text.contains("${") {
        return None;
    }
    let name = property.name();
    let diagnostic = Diagnostic::warning(
        "no-boolean",
        format!("the value `{text}` of `{name}` is neither true nor false: JMeter reads it as false"),
    );
    Some(property.locate(diagnostic).with_hint("write true or false, without other characters"))
}

/// Reports variables whose names look like calls of functions.
fn calls_of_variables(property: Property<'_>) -> Vec<Diagnostic> {
    let Some(text) = property.text() else { return Vec::new() };
    let calls = references(text).into_iter().filter_map(|reference| match reference {
        Reference::Variable(name) => name.split_once('(').map(|(function, _)| function.trim()),
        Reference::Function(_) => None,
    });
    let diagnostic = |function: &str| {
        let message =
            format!("`${{{function}(…)}}` is the name of a variable, not a call: it is left unchanged");
        let bare = function.trim_start_matches('_');
        property
            .locate(Diagnostic::warning("misspelt-function", message))
            .with_hint(format!("names of functions begin with two underscores: `${{__{bare}(…)}}`"))
    };
    // Scripts contain parentheses and braces.
    let is_name = |name: &&str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    calls.filter(is_name).map(diagnostic).collect()
}

#[cfg(test)]
mod tests;
