//! Checks for members that certainly do not exist, so that the script is rejected before it runs.

use super::super::diagnostic::unsupported;
use super::super::parser::Parser;
use super::super::tree::{Expr, Item, Kind, Name};
use super::super::{known, library, patterns, places, supported};
use crate::{ScriptError, Value};

impl Parser<'_> {
    pub(super) fn check_call(
        &self,
        object: &Expr,
        name: &str,
        items: &[Item],
        at: usize,
    ) -> Result<(), ScriptError> {
        if let Kind::Class(class) = &object.kind {
            let has_fixed_count = items.iter().all(|item| !item.spread);
            let exists = known::is_class_method(name)
                || known::has_static(class.name(), name)
                    && (!has_fixed_count || supported::has_static(class.name(), name, items.len()));
            if !class.is_own() && !exists {
                if class.name() == "Thread" && name == "start" {
                    let what = "`Thread.start` (JMeter runs the code in parallel to the user's samples)";
                    return Err(unsupported(self.text, at, what));
                }
                let what = match known::has_static(class.name(), name) {
                    true => {
                        format!("`{}.{name}` with {}", class.name(), supported::argument_count(items.len()))
                    }
                    false => format!("`{}.{name}`", class.name()),
                };
                return Err(unsupported(self.text, at, what));
            }
        } else if let Kind::Name(id) = &object.kind
            && (self.builders.contains(id) || self.unknown_names.contains(&*self.names[*id as usize]))
        {
            return Ok(());
        } else {
            let receiver = self.receiver(object);
            let is_missing =
                receiver.is_some_and(|receiver| supported::is_missing(receiver, name, items, self.groovy()));
            if !is_missing {
                self.check_method(name, at)?;
            }
            let refusal =
                receiver.and_then(|receiver| supported::refusal(receiver, name, items, self.groovy()));
            if let Some(what) = refusal {
                return Err(unsupported(self.text, at, what));
            }
        }
        let reads_property = name.starts_with("getPropertyAs");
        if let (
            true,
            Some(("sampler", _)),
            Some(Item { expr: Expr { kind: Kind::Literal(Value::Text(property)), .. }, .. }),
        ) = (reads_property, self.receiver(object), items.first())
            && !library::sampler_properties::is_known(property)
        {
            return Err(unsupported(self.text, at, format!("the property `{property}` of a sampler")));
        }
        let is_put = matches!(name, "put" | "putIfAbsent" | "putAt");
        if let (true, [_, value], Some(("props", _))) = (is_put, items, self.receiver(object)) {
            let kind = self.receiver(&value.expr).map(|(kind, _)| kind);
            let is_collection = match &value.expr.kind {
                Kind::New(class, _) => !class.is_own() && library::create::is_collection(class.name()),
                _ => matches!(
                    kind,
                    Some("List" | "Map" | "Set" | "Range" | "Closure" | "StringBuilder" | "Date")
                ),
            };
            if is_collection {
                let what = "an object other than a string, a number or a boolean as a property (all users share properties)";
                return Err(unsupported(self.text, at, what));
            }
        }
        let joined = |expr: &Expr| matches!(expr.kind, Kind::Join(_));
        if name == "equals" && (joined(object) || items.first().is_some_and(|item| joined(&item.expr))) {
            return Err(unsupported(self.text, at, "`equals` with a string that contains `${…}`"));
        }
        let pattern = matches!(
            name,
            "matches"
                | "replaceAll"
                | "replaceFirst"
                | "split"
                | "findAll"
                | "find"
                | "compile"
                | "eachMatch"
        );
        if let (true, Some(first)) = (pattern, items.first()) {
            self.check_pattern(&first.expr)?;
        }
        Ok(())
    }

    /// Rejects `use` with a category other than `TimeCategory`.
    pub(in crate::jvm) fn check_category(
        &self,
        name: &str,
        items: &[Item],
        at: usize,
    ) -> Result<(), ScriptError> {
        if name != "use" || !self.groovy() || self.uses.defines(name) {
            return Ok(());
        }
        let is_time =
            |item: &Item| matches!(item.expr.kind, Kind::Class(class) if class.name() == "TimeCategory");
        match items {
            [category, _] if is_time(category) => Ok(()),
            _ => {
                Err(unsupported(self.text, at, "`use` with a category other than `groovy.time.TimeCategory`"))
            }
        }
    }

    /// The kind of object to which an expression certainly evaluates.
    fn receiver(&self, object: &Expr) -> Option<supported::Receiver> {
        supported::kind_of(object, &|name| {
            let text = &self.names[name as usize];
            if let Some(kind) = self.kinds.get(&name) {
                return Some(*kind);
            }
            if self.in_class.is_some() || self.assigned.contains_key(text) {
                return None;
            }
            supported::kind_of_host(text)
        })
    }

    /// Rejects a property that its class, or JMeter's object, does not have.
    pub(super) fn check_property(&self, object: &Expr, name: &str, at: usize) -> Result<(), ScriptError> {
        if let Kind::Class(class) = &object.kind {
            let getter = places::getter(name);
            let exists = class.is_own()
                || library::statics::constant(*class, name).is_ok()
                || (self.groovy() && known::has_static(class.name(), &getter));
            if !exists {
                return Err(unsupported(self.text, at, format!("`{}.{name}`", class.name())));
            }
        }
        match self.receiver(object) {
            Some(receiver) if supported::lacks_property(receiver, name) => {
                Err(unsupported(self.text, at, format!("the property `{name}` of `{}`", receiver.0)))
            }
            _ => Ok(()),
        }
    }

    /// Records the kind of object that a variable holds, if the variable is assigned only once.
    pub(in crate::jvm) fn note_kind(&mut self, name: Name, value: Option<&Expr>) {
        let is_assigned_once = self.assigned.get(&self.names[name as usize]) == Some(&1);
        let kind = value.and_then(|value| self.receiver(value)).filter(|_| is_assigned_once);
        match kind {
            Some(kind) => self.kinds.insert(name, kind),
            None => self.kinds.remove(&name),
        };
    }

    pub(super) fn check_pattern(&self, pattern: &Expr) -> Result<(), ScriptError> {
        if let Kind::Literal(Value::Text(text)) = &pattern.kind
            && let Err(error) = patterns::check(text)
        {
            return Err(unsupported(self.text, pattern.at as usize, error.to_string()));
        }
        Ok(())
    }
}
