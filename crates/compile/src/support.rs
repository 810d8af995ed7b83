//! The supported elements and functions, which `check --supported` prints.

use crate::elements;

/// One supported element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supported {
    /// `thread group`, `controller`, …
    pub kind: &'static str,
    /// JMeter's name of the class.
    pub class: &'static str,
    /// JMeter's name in its menus.
    pub name: &'static str,
    /// The unsupported parts and differences; may be empty.
    pub note: &'static str,
}

/// The supported elements, in the order of JMeter's menus.
pub fn supported() -> Vec<Supported> {
    let listed = elements::all().iter().filter(|descriptor| descriptor.listed);
    listed
        .map(|descriptor| Supported {
            kind: descriptor.role.kind(),
            class: descriptor.class,
            name: descriptor.name,
            note: descriptor.note,
        })
        .collect()
}

/// One supported function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SupportedFunction {
    /// Name with its arguments.
    pub call: String,
    /// The result.
    pub description: String,
    /// The differences from JMeter; may be empty.
    pub note: String,
}

/// The supported functions.
pub fn supported_functions() -> Vec<SupportedFunction> {
    busyhour_functions::supported()
        .iter()
        .map(|function| SupportedFunction {
            call: if function.arguments.is_empty() {
                function.name.to_owned()
            } else {
                format!("{}({})", function.name, function.arguments)
            },
            description: function.description.to_owned(),
            note: function.note.to_owned(),
        })
        .collect()
}
