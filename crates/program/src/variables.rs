//! Variables of one virtual user: slots for the names in the plan, a map for other names.

use std::any::Any;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap as HashMap;

/// Index of a variable whose name occurs in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// The names that have a slot; built by the compiler, immutable and shared afterwards.
#[derive(Debug, Default, Clone)]
pub struct Names {
    by_name: HashMap<Box<str>, Slot>,
    names: Vec<Box<str>>,
}

impl Names {
    /// The slot of `name`, created if it does not exist.
    pub fn slot(&mut self, name: &str) -> Slot {
        if let Some(&slot) = self.by_name.get(name) {
            return slot;
        }
        let slot = Slot(u32::try_from(self.names.len()).expect("fewer than 2^32 variable names"));
        self.by_name.insert(name.into(), slot);
        self.names.push(name.into());
        slot
    }

    /// The slot of `name` if it occurs in the plan.
    pub fn find(&self, name: &str) -> Option<Slot> {
        self.by_name.get(name).copied()
    }

    /// The name of a slot.
    pub fn name(&self, slot: Slot) -> &str {
        &self.names[slot.0 as usize]
    }

    /// Number of slots.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether no name has a slot.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// The value of a variable.
#[derive(Clone, Default)]
pub enum VariableValue {
    /// Not set: `${name}` is not replaced.
    #[default]
    Unset,
    /// A constant of the program.
    Static(&'static str),
    /// Text shared between users (initial values).
    Shared(Arc<str>),
    /// Text of this user; its buffer is reused when the variable is set.
    Owned(String),
    /// Null, set by a script: the variable exists, but `${name}` is not replaced.
    Null,
    /// An opaque object set by a script or element.
    Object(Rc<ObjectValue>),
}

/// An object as the value of a variable.
pub struct ObjectValue {
    /// The object itself.
    pub object: Rc<dyn Any>,
    /// The text for `${name}`.
    pub text: Box<str>,
}

impl VariableValue {
    /// The text, unless the variable is unset or null.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            VariableValue::Unset | VariableValue::Null => None,
            VariableValue::Object(value) => Some(&value.text),
            VariableValue::Static(text) => Some(text),
            VariableValue::Shared(text) => Some(text),
            VariableValue::Owned(text) => Some(text),
        }
    }

    /// Replaces the value by a copy of `text`, reusing the buffer if there is one.
    pub fn set(&mut self, text: &str) {
        if let VariableValue::Owned(own) = self {
            own.clear();
            own.push_str(text);
        } else {
            *self = VariableValue::Owned(text.to_owned());
        }
    }

    /// Whether both values have the same text or are the same object.
    fn is_same(&self, other: &VariableValue) -> bool {
        match (self, other) {
            (VariableValue::Object(own), VariableValue::Object(other)) => {
                Rc::ptr_eq(&own.object, &other.object) && own.text == other.text
            }
            (VariableValue::Unset, VariableValue::Unset) | (VariableValue::Null, VariableValue::Null) => true,
            _ => self.as_str().is_some() && self.as_str() == other.as_str(),
        }
    }

    /// Whether the variable is set.
    pub fn is_set(&self) -> bool {
        !matches!(self, VariableValue::Unset)
    }
}

impl fmt::Debug for VariableValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VariableValue::Object(value) => write!(f, "Object({:?})", value.text),
            VariableValue::Null => f.write_str("Null"),
            other => write!(f, "{:?}", other.as_str()),
        }
    }
}

/// The variables of one user.
#[derive(Debug, Clone)]
pub struct Variables {
    names: Arc<Names>,
    slots: Box<[VariableValue]>,
    /// Most users have no such variables, and a pointer is smaller than an empty map.
    extra: Option<Box<HashMap<String, VariableValue>>>,
}

impl Variables {
    /// Unset variables with slots for these names.
    pub fn new(names: Arc<Names>) -> Self {
        let slots = vec![VariableValue::Unset; names.len()].into_boxed_slice();
        Self { names, slots, extra: None }
    }

    /// Unsets all variables.
    pub fn clear(&mut self) {
        self.slots.fill(VariableValue::Unset);
        self.extra = None;
    }

    /// The names that have slots.
    pub fn names(&self) -> &Arc<Names> {
        &self.names
    }

    /// Text of a slot.
    #[inline]
    pub fn slot(&self, slot: Slot) -> Option<&str> {
        self.slots[slot.0 as usize].as_str()
    }

    /// Sets a slot to a copy of `text`.
    #[inline]
    pub fn set_slot(&mut self, slot: Slot, text: &str) {
        self.slots[slot.0 as usize].set(text);
    }

    /// Sets a slot to any value.
    #[inline]
    pub fn set_slot_value(&mut self, slot: Slot, value: VariableValue) {
        self.slots[slot.0 as usize] = value;
    }

    /// Sets a slot to the text that `write` writes into the slot's empty buffer. If the buffer is large enough, this does not
    /// allocate memory.
    pub fn write_slot(&mut self, slot: Slot, write: impl FnOnce(&mut String)) {
        let value = &mut self.slots[slot.0 as usize];
        if !matches!(value, VariableValue::Owned(_)) {
            *value = VariableValue::Owned(String::new());
        }
        if let VariableValue::Owned(text) = value {
            text.clear();
            write(text);
        }
    }

    /// Text of the variable `name`, whether it has a slot or not.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.value(name).and_then(VariableValue::as_str)
    }

    /// Value of the variable `name`.
    pub fn value(&self, name: &str) -> Option<&VariableValue> {
        let value = match self.names.find(name) {
            Some(slot) => &self.slots[slot.0 as usize],
            None => self.extra.as_ref()?.get(name)?,
        };
        value.is_set().then_some(value)
    }

    /// Sets the variable `name` to a copy of `text`.
    pub fn set(&mut self, name: &str, text: &str) {
        match self.names.find(name) {
            Some(slot) => self.set_slot(slot, text),
            None => {
                let extra = self.extra.get_or_insert_default();
                match extra.get_mut(name) {
                    Some(value) => value.set(text),
                    None => {
                        extra.insert(name.to_owned(), VariableValue::Owned(text.to_owned()));
                    }
                }
            }
        }
    }

    /// Sets the variable `name` to any value.
    pub fn set_value(&mut self, name: &str, value: VariableValue) {
        match self.names.find(name) {
            Some(slot) => self.set_slot_value(slot, value),
            None => {
                let extra = self.extra.get_or_insert_default();
                match extra.get_mut(name) {
                    Some(old) => *old = value,
                    None => {
                        extra.insert(name.to_owned(), value);
                    }
                }
            }
        }
    }

    /// Removes the variable `name`; returns whether it was set.
    pub fn remove(&mut self, name: &str) -> bool {
        match self.names.find(name) {
            Some(slot) => std::mem::take(&mut self.slots[slot.0 as usize]).is_set(),
            None => self.extra.as_mut().is_some_and(|extra| extra.remove(name).is_some()),
        }
    }

    /// Copies the variables that differ between `before` and `changed` from `changed`.
    pub fn take_changes(&mut self, before: &Variables, changed: &Variables) {
        for (own, (before, changed)) in self.slots.iter_mut().zip(before.slots.iter().zip(&changed.slots)) {
            if !before.is_same(changed) {
                own.clone_from(changed);
            }
        }
        for (name, value) in changed.extra.iter().flat_map(|extra| extra.iter()) {
            if before.value(name).is_none_or(|before| !before.is_same(value)) {
                self.set_value(name, value.clone());
            }
        }
        for name in before.extra.iter().flat_map(|extra| extra.keys()) {
            if changed.value(name).is_none() {
                self.remove(name);
            }
        }
    }

    /// Names of the variables that contain objects.
    pub fn objects(&self) -> impl Iterator<Item = &str> {
        let is_object = |value: &VariableValue| matches!(value, VariableValue::Object(_));
        let slots = self.slots.iter().enumerate().filter(move |(_, value)| is_object(value));
        let slots = slots.map(|(index, _)| self.names.name(Slot(u32::try_from(index).unwrap_or(u32::MAX))));
        let extra = self.extra.iter().flat_map(|extra| extra.iter());
        slots.chain(extra.filter(move |(_, value)| is_object(value)).map(|(name, _)| name.as_str()))
    }

    /// Names and texts of all variables that are set; `None`: null.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let slots =
            self.slots.iter().enumerate().filter(|(_, value)| value.is_set()).map(|(index, value)| {
                (self.names.name(Slot(u32::try_from(index).unwrap_or(u32::MAX))), value.as_str())
            });
        let extra = self
            .extra
            .iter()
            .flat_map(|extra| extra.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        slots.chain(extra)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_a_slot_are_kept_separately() {
        let mut names = Names::default();
        let host = names.slot("HOST");
        assert_eq!(names.slot("HOST"), host);
        let mut variables = Variables::new(Arc::new(names));
        assert_eq!(variables.get("HOST"), None);
        variables.set("HOST", "a");
        variables.set("other_1", "b");
        assert_eq!(variables.slot(host), Some("a"));
        assert_eq!(variables.get("other_1"), Some("b"));
        assert_eq!(variables.iter().count(), 2);
        assert!(variables.remove("other_1"));
        assert!(!variables.remove("other_1"));
        assert!(variables.remove("HOST"));
        assert_eq!(variables.iter().count(), 0);
    }

    #[test]
    fn setting_again_keeps_the_buffer() {
        let mut names = Names::default();
        let slot = names.slot("n");
        let mut variables = Variables::new(Arc::new(names));
        variables.set_slot(slot, "12345678");
        let before = variables.slot(slot).map(str::as_ptr);
        variables.write_slot(slot, |text| text.push('9'));
        assert_eq!(variables.slot(slot), Some("9"));
        assert_eq!(variables.slot(slot).map(str::as_ptr), before);
    }

    #[test]
    fn only_changed_variables_of_a_branch_are_merged() {
        let mut names = Names::default();
        let slot = names.slot("slot");
        let before = {
            let mut variables = Variables::new(Arc::new(names));
            variables.set_slot(slot, "old");
            variables.set("kept", "1");
            variables.set("gone", "1");
            variables
        };
        let (mut own, mut one, mut other) = (before.clone(), before.clone(), before.clone());
        one.set_slot(slot, "of one");
        one.set("new", "n");
        other.remove("gone");
        other.set("kept", "1");
        own.take_changes(&before, &one);
        own.take_changes(&before, &other);
        let get = |name| own.get(name);
        assert_eq!(
            (get("slot"), get("kept"), get("gone"), get("new")),
            (Some("of one"), Some("1"), None, Some("n"))
        );
    }
}
