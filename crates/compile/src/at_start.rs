//! What happens when a test starts, before any user does.
//!
//! JMeter prepares the test beans that listen to the start of the test: the functions in the properties of JSR223 and
//! BeanShell elements are evaluated once, in the order of the plan, with the plan's own variables. Variables that they set
//! are those of every user.

use std::collections::BTreeMap;
use std::sync::Arc;

use busyhour_plan::ElementId;
use busyhour_program::template::{Segment, Template};
use busyhour_program::user::UserState;
use busyhour_program::variables::Slot;

/// Texts that are evaluated when the test starts, by element.
#[derive(Debug, Default)]
pub(crate) struct TextsAtStart(BTreeMap<ElementId, Vec<Template>>);

impl TextsAtStart {
    /// Adds the texts of an element that call functions; those of an element that is there already are known.
    pub(crate) fn add(&mut self, element: ElementId, texts: [&Template; 3]) {
        let calls =
            |text: &&&Template| text.segments().iter().any(|segment| matches!(segment, Segment::Function(_)));
        let texts: Vec<Template> = texts.iter().filter(calls).map(|text| (*text).clone()).collect();
        if !texts.is_empty() {
            self.0.entry(element).or_insert(texts);
        }
    }

    /// Whether the element's texts are there.
    pub(crate) fn contains(&self, element: ElementId) -> bool {
        self.0.contains_key(&element)
    }

    /// Evaluates the texts; `known` are the variables of `user` so far, to which those are added that functions set.
    pub(crate) fn evaluate(&self, user: &mut UserState, known: &mut Vec<(Slot, Arc<str>)>) {
        if self.0.is_empty() {
            return;
        }
        for text in self.0.values().flatten() {
            let _ = text.text(user);
        }
        user.thrown = None;
        let names = user.variables.names().clone();
        let set: Vec<(Slot, Arc<str>)> = user
            .variables
            .iter()
            .filter_map(|(name, value)| Some((names.find(name)?, Arc::from(value?))))
            .collect();
        known.retain(|(slot, _)| !set.iter().any(|(other, _)| other == slot));
        known.extend(set);
    }
}
