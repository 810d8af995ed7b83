//! Changes to one element of a plan, collected before they are made.

use busyhour_plan::{ElementId, PropertyId, TestPlan};

/// Changes to one element.
#[derive(Default)]
pub(super) struct Edits {
    texts: Vec<(&'static str, String)>,
    values: Vec<(PropertyId, String)>,
}

impl Edits {
    /// Gives one of its properties a text, whether it is there yet or not.
    pub(super) fn set(&mut self, name: &'static str, text: impl Into<String>) {
        self.texts.push((name, text.into()));
    }

    /// Gives a property deep inside it a text.
    pub(super) fn value(&mut self, property: PropertyId, text: impl Into<String>) {
        self.values.push((property, text.into()));
    }

    /// Makes the changes.
    ///
    /// # Errors
    /// Returns the reason why the plan does not take one of them.
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
