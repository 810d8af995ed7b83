//! The names of a script: which variable they mean.

use std::sync::Arc;

use super::ast::Local;
use super::names;
use super::parser::Parser;
use crate::ScriptError;

impl Parser<'_> {
    pub(super) fn name_text(&self, local: Local) -> Arc<str> {
        self.names[local as usize].clone()
    }

    fn add_local(&mut self, name: &Arc<str>, scope: usize) -> Local {
        let local = self.names.len() as Local;
        self.names.push(name.clone());
        self.assigned.push(false);
        self.scopes[scope].push((name.clone(), local));
        local
    }

    /// The local of that name; one that is declared nowhere is made in the outermost scope, as yet without a value.
    pub(super) fn local(&mut self, name: &Arc<str>) -> Local {
        let found =
            self.scopes.iter().rev().flat_map(|scope| scope.iter().rev()).find(|(known, _)| known == name);
        match found {
            Some((_, local)) => *local,
            None => self.add_local(name, 0),
        }
    }

    pub(super) fn is_declared(&self, name: &str) -> bool {
        self.scopes.iter().flatten().any(|(known, local)| **known == *name && self.assigned[*local as usize])
    }

    pub(super) fn assign_to(&mut self, local: Local) -> Result<(), ScriptError> {
        let name = self.name_text(local);
        if names::host(&name).is_some() || names::is_foreign_object(&name) || &*name == "threadName" {
            return Err(self.unsupported_here(format!("assigning to `{name}`")));
        }
        self.assigned[local as usize] = true;
        Ok(())
    }

    pub(super) fn declare(&mut self, name: &Arc<str>) -> Result<Local, ScriptError> {
        let local = self.add_local(name, self.scopes.len() - 1);
        self.assign_to(local)?;
        Ok(local)
    }
}
