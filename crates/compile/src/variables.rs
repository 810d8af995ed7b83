//! User defined variables before they are evaluated.

use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_program::variables::Slot;

/// The variables of one element. Their values cannot refer to other variables of the same set.
#[derive(Clone, Debug, Default)]
pub(crate) struct VariableSet(pub(crate) Vec<(Slot, Template)>);

impl VariableSet {
    /// The variables and the templates of their values.
    pub(crate) fn templates(&self) -> &[(Slot, Template)] {
        &self.0
    }

    /// Sets these variables of a user; returns their values.
    pub(crate) fn evaluate(&self, user: &mut UserState) -> Vec<(Slot, String)> {
        let values: Vec<_> =
            self.0.iter().map(|(slot, value)| (*slot, value.text(user).into_owned())).collect();
        for (slot, value) in &values {
            user.variables.set_slot(*slot, value);
        }
        values
    }
}
