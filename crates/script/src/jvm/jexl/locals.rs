//! Resolves the names of a script to variables.

use std::sync::Arc;

use super::super::supported::Receiver;
use super::super::tree::{Expr, Name};
use super::names;
use super::parser::Parser;
use crate::ScriptError;

impl Parser<'_> {
    pub(super) fn name_text(&self, name: Name) -> Arc<str> {
        self.names[name as usize].clone()
    }

    fn add_name(&mut self, text: &Arc<str>) -> Name {
        let name = self.names.len() as Name;
        self.names.push(text.clone());
        self.assigned.push(false);
        name
    }

    fn add_local(&mut self, text: &Arc<str>, scope: usize) -> Name {
        let local = self.add_name(text);
        self.scopes[scope].insert(text.clone(), local);
        local
    }

    /// The local with this name; an undeclared name is added to the outermost scope, without a value.
    pub(super) fn local(&mut self, text: &Arc<str>) -> Name {
        let found = self.scopes.iter().rev().find_map(|scope| scope.get(text));
        match found {
            Some(local) => *local,
            None => self.add_local(text, 0),
        }
    }

    /// A name that JMeter binds.
    pub(super) fn bound(&mut self, text: &Arc<str>) -> Name {
        if let Some(name) = self.bound.get(text) {
            return *name;
        }
        let name = self.add_name(text);
        self.bound.insert(text.clone(), name);
        name
    }

    pub(super) fn is_declared(&self, text: &str) -> bool {
        self.scopes.iter().filter_map(|scope| scope.get(text)).any(|local| self.assigned[*local as usize])
    }

    pub(super) fn assign_to(&mut self, local: Name) -> Result<(), ScriptError> {
        let name = self.name_text(local);
        if names::is_reserved(&name) {
            return Err(self.unsupported_here(format!("assigning to `{name}`")));
        }
        self.assigned[local as usize] = true;
        Ok(())
    }

    pub(super) fn declare(&mut self, text: &Arc<str>) -> Result<Name, ScriptError> {
        let local = self.add_local(text, self.scopes.len() - 1);
        self.assign_to(local)?;
        Ok(local)
    }

    /// The kind of object that an expression evaluates to, if it is certain.
    pub(super) fn receiver(&self, expr: &Expr) -> Option<Receiver> {
        super::super::supported::kind_of(expr, &|name| names::host(&self.names[name as usize]))
    }
}
