//! The names of a script: which variable they mean, and whether it has a value when it is read.

use std::sync::Arc;

use super::ast::{Local, Type};
use super::parser::Parser;
use super::{Dialect, names, syntax_error, unsupported};
use crate::ScriptError;

impl Parser<'_> {
    pub(super) fn name_text(&self, local: Local) -> Arc<str> {
        self.names[local as usize].clone()
    }

    pub(super) fn add_local(&mut self, name: &Arc<str>, scope: usize) -> Local {
        let local = self.names.len() as Local;
        self.names.push(name.clone());
        self.types.push(Type::Any);
        self.assigned.push(false);
        self.declared.push(false);
        // The name itself has just been passed.
        self.first_use.push(self.tokens[self.at.saturating_sub(1)].at);
        self.scopes[scope].push((name.clone(), local));
        local
    }

    /// The local of that name; one that is declared nowhere is made in the outermost scope, as yet without a value.
    pub(super) fn local(&mut self, name: &Arc<str>) -> Local {
        let found =
            self.scopes.iter().rev().flat_map(|scope| scope.iter().rev()).find(|(known, _)| known == name);
        match found {
            Some((_, local)) => {
                let local = *local;
                let index = local as usize;
                if !self.assigned[index] && self.first_use[index] == usize::MAX {
                    self.first_use[index] = self.tokens[self.at.saturating_sub(1)].at;
                }
                local
            }
            None => self.add_local(name, 0),
        }
    }

    pub(super) fn is_declared(&self, name: &str) -> bool {
        self.scopes.iter().flatten().any(|(known, local)| **known == *name && self.assigned[*local as usize])
    }

    pub(super) fn is_assigned(&self, local: Local) -> bool {
        self.assigned[local as usize]
    }

    pub(super) fn type_of_local(&self, local: Local) -> Type {
        self.types[local as usize]
    }

    /// The name at that place is about to be assigned to: its mention there was no reading. In BeanShell a name that
    /// is new belongs to the block.
    pub(super) fn forget_read(&mut self, local: Local, at: usize) {
        let is_new = !self.assigned[local as usize] && self.first_use[local as usize] == at;
        if !is_new || self.dialect != Dialect::BeanShell {
            return;
        }
        self.first_use[local as usize] = usize::MAX;
        if let Some(index) = self.scopes[0].iter().position(|(_, known)| *known == local) {
            let entry = self.scopes[0].remove(index);
            if let Some(innermost) = self.scopes.last_mut() {
                innermost.push(entry);
            }
        }
    }

    pub(super) fn assign_to(&mut self, local: Local) -> Result<(), ScriptError> {
        let name = self.name_text(local);
        if names::host(&name, self.dialect).is_some()
            || names::is_foreign_object(&name, self.dialect)
            || &*name == "threadName"
        {
            return Err(self.unsupported_here(format!("assigning to `{name}`")));
        }
        let read_before = !self.assigned[local as usize] && self.first_use[local as usize] < self.place();
        if self.dialect == Dialect::BeanShell && read_before {
            // The interpreter keeps variables between its runs, so that the value is that of the run before.
            return Err(self.unsupported_here(format!("reading `{name}` before it has a value")));
        }
        self.assigned[local as usize] = true;
        Ok(())
    }

    pub(super) fn declare(&mut self, name: &Arc<str>, declared: Type) -> Result<Local, ScriptError> {
        let scope = self.scopes.len() - 1;
        let in_sight = self
            .scopes
            .iter()
            .flatten()
            .any(|(known, local)| known == name && self.declared[*local as usize]);
        if in_sight && self.dialect == Dialect::Groovy {
            return Err(syntax_error(self.text, self.place(), format!("`{name}` is declared twice")));
        }
        let local = self.add_local(name, scope);
        self.declared[local as usize] = true;
        self.first_use[local as usize] = usize::MAX;
        self.types[local as usize] = declared;
        self.assign_to(local)?;
        Ok(local)
    }

    pub(super) fn check_names(&self) -> Result<(), ScriptError> {
        if let (true, Some(at)) = (self.join_seen, self.equals_seen) {
            // A GString equals no String, whatever its content.
            return Err(unsupported(self.text, at, "`equals` in a script with `${…}` inside of texts"));
        }
        if self.dialect.is_jexl() {
            return Ok(());
        }
        if let (true, Some(at)) =
            (self.wrapper_seen && self.dialect == Dialect::BeanShell, self.identity_seen)
        {
            return Err(unsupported(
                self.text,
                at,
                "comparing objects by identity (`==` instead of `equals`)",
            ));
        }
        for (local, name) in self.names.iter().enumerate() {
            if !self.assigned[local] && name.starts_with(|c: char| c.is_ascii_uppercase()) {
                return Err(unsupported(
                    self.text,
                    self.first_use[local],
                    format!("the class or object `{name}`"),
                ));
            }
        }
        Ok(())
    }
}
