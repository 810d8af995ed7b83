//! Collected changes to one element of a plan.

use busyhour_plan::{ElementId, PropertyId, TestPlan};

/// Changes to one element.
#[derive(Default)]
pub(super) struct Edits {
    texts: Vec<(&'static str, String)>,
    values: Vec<(PropertyId, String)>,
}

impl Edits {
    /// Sets a property to a text; adds it if it is missing.
    pub(super) fn set(&mut self, name: &'static str, text: impl Into<String>) {
        self.texts.push((name, text.into()));
    }

    /// Sets a nested property to a text.
    pub(super) fn value(&mut self, property: PropertyId, text: impl Into<String>) {
        self.values.push((property, text.into()));
    }

    /// Applies the changes.
    ///
    /// # Errors
    /// A change cannot be applied to the plan.
    pub(super) fn apply(self, plan: &mut TestPlan, id: ElementId) -> anyhow::Result<()> {
        for (name, text) in self.texts {
            plan.set_text(id, name, &text)?;
        }
        for (id, text) in self.values {
            plan.set_value(id, &text)?;
        }
        Ok(())
    }
}
