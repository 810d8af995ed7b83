//! Texts that are evaluated when a test starts, before any user starts.
//!
//! At the start of the test, JMeter prepares the test beans that are notified of this event. It evaluates the functions
//! in the properties of JSR223 and BeanShell elements once, in plan order, with the plan's own variables. The variables
//! that these functions set are initial variables of every user.

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
    /// Adds the texts of an element that call functions, unless the element was added before.
    pub(crate) fn add(&mut self, element: ElementId, texts: [&Template; 3]) {
        let calls =
            |text: &&&Template| text.segments().iter().any(|segment| matches!(segment, Segment::Function(_)));
        let texts: Vec<Template> = texts.iter().filter(calls).map(|text| (*text).clone()).collect();
        if !texts.is_empty() {
            self.0.entry(element).or_insert(texts);
        }
    }

    /// Whether texts of this element were added.
    pub(crate) fn contains(&self, element: ElementId) -> bool {
        self.0.contains_key(&element)
    }

    /// Evaluates the texts. `known` contains the variables of `user` so far; the variables that functions set are
    /// added.
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
