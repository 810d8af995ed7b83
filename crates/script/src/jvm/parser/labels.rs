//! Labels, assignments to several variables, and `try` with resources.

use super::super::lexer::TokenKind;
use super::super::tree::{Expr, Item, Kind, Name, Stmt, Type};
use super::Parser;
use crate::ScriptError;

/// Labels the body of a loop, so that `continue label` ends it.
fn with_label(label: Name, statement: Stmt) -> Stmt {
    let body = |body: Box<Stmt>| Box::new(Stmt::Labelled(label, true, body));
    match statement {
        Stmt::While(condition, inner) => Stmt::While(condition, body(inner)),
        Stmt::DoWhile(inner, condition) => Stmt::DoWhile(body(inner), condition),
        Stmt::For(first, condition, steps, inner) => Stmt::For(first, condition, steps, body(inner)),
        Stmt::ForEach(name, declared, items, inner) => Stmt::ForEach(name, declared, items, body(inner)),
        other => other,
    }
}

impl Parser<'_> {
    /// Parses `name: statement` or `(a, b) = …`; returns whether there was such a statement.
    pub(super) fn label_or_assignments(&mut self, out: &mut Vec<Stmt>) -> Result<bool, ScriptError> {
        if !self.groovy() {
            return Ok(false);
        }
        if let (TokenKind::Name(label), TokenKind::Symbol(":")) = (self.peek().clone(), self.ahead(1))
            && !matches!(&*label, "default" | "case")
        {
            self.advance();
            self.advance();
            let label = self.id(&label);
            let mut statements = Vec::new();
            self.statement_into(&mut statements)?;
            if statements.len() == 1 {
                let statement = with_label(label, statements.remove(0));
                out.push(Stmt::Labelled(label, false, Box::new(statement)));
            } else {
                out.extend(statements);
            }
            return Ok(true);
        }
        let Some(names) = self.targets_ahead() else { return Ok(false) };
        for _ in 0..2 * names + 2 {
            self.advance();
        }
        let from = self.at - 2 * names - 1;
        let mut targets = Vec::new();
        for at in 0..names {
            if let TokenKind::Name(name) = self.tokens[from + 2 * at].kind.clone() {
                targets.push(self.id(&name));
            }
        }
        let value = self.expression()?;
        out.push(Stmt::AssignAll(targets, value));
        self.end_of_statement()?;
        Ok(true)
    }

    /// Parses `(a, b) = …` of `def (a, b) = …`.
    pub(super) fn declare_all(&mut self, out: &mut Vec<Stmt>) -> Result<(), ScriptError> {
        self.expect("(")?;
        let mut targets = Vec::new();
        while !self.accept(")") {
            let typed = matches!(self.ahead(1), TokenKind::Name(_));
            let declared = if typed { self.optional_type().unwrap_or(Type::ANY) } else { Type::ANY };
            let name = self.any_name()?;
            targets.push((self.id(&name), declared));
            if !self.accept(",") && !self.is(")") {
                return Err(self.unexpected("`)`"));
            }
        }
        self.expect("=")?;
        let value = self.expression()?;
        out.push(Stmt::DeclareAll(targets, value));
        self.end_of_statement()
    }

    /// The number of names in `(a, b) =`, if such an assignment begins at the current token.
    fn targets_ahead(&self) -> Option<usize> {
        if !self.is("(") {
            return None;
        }
        for names in 1.. {
            if !matches!(self.ahead(2 * names - 1), TokenKind::Name(_)) {
                return None;
            }
            match self.ahead(2 * names) {
                TokenKind::Symbol(",") => {}
                TokenKind::Symbol(")") if matches!(self.ahead(2 * names + 1), TokenKind::Symbol("=")) => {
                    return Some(names);
                }
                _ => return None,
            }
        }
        None
    }

    /// Parses `break label` or `continue label`; the current token is the label.
    pub(super) fn labelled_jump(&mut self, is_break: bool, out: &mut Vec<Stmt>) -> Result<(), ScriptError> {
        if !self.groovy() {
            return self.refuse("a label");
        }
        let label = self.any_name()?;
        out.push(Stmt::Leave(self.id(&label), is_break));
        self.end_of_statement()
    }

    /// Parses the declarations of `try (…)`; the current token is the parenthesis.
    pub(super) fn resources(&mut self) -> Result<Vec<(Name, Type, Expr)>, ScriptError> {
        self.expect("(")?;
        let mut resources = Vec::new();
        while !self.accept(")") {
            self.skip_modifiers();
            let declared = match (self.peek(), self.ahead(1)) {
                (TokenKind::Name(_), TokenKind::Symbol("=")) => Type::ANY,
                _ => match self.optional_type() {
                    Some(declared) => declared,
                    None => return self.refuse("this type of a resource"),
                },
            };
            let name = self.any_name()?;
            self.declared.insert(name.clone());
            let name = self.id(&name);
            self.expect("=")?;
            resources.push((name, declared, self.expression()?));
            if !self.accept(";") && !self.is(")") {
                return Err(self.unexpected("`)`"));
            }
        }
        Ok(resources)
    }
}

/// The body of a `try` with resources as nested `try` statements, which close the resources in reverse order.
pub(super) fn close_resources(resources: Vec<(Name, Type, Expr)>, body: Vec<Stmt>) -> Vec<Stmt> {
    resources.into_iter().rev().fold(body, |body, (name, declared, value)| {
        let at = value.at;
        let resource = Box::new(Expr { at, kind: Kind::Name(name) });
        let close = Kind::Call(Some(resource), "close".into(), Vec::<Item>::new(), true, false);
        let last = vec![Stmt::Expr(Expr { at, kind: close })];
        vec![Stmt::Declare(name, declared, Some(value)), Stmt::Try(body, Vec::new(), Some(last))]
    })
}
