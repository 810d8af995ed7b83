//! Functions without a name: lambda expressions, method references, and anonymous classes with a single method.

use std::sync::Arc;

use super::super::classes::Class;
use super::super::diagnostic::unsupported;
use super::super::lexer::TokenKind;
use super::super::parser::Parser;
use super::super::tree::{Expr, Function, Item, Kind, Parameter, Stmt, Type};
use super::super::{functional, known};
use super::make;
use crate::ScriptError;

impl Parser<'_> {
    /// Parses a lambda expression, `(a, b) -> a + b`; `None` if no lambda expression begins here.
    pub(super) fn lambda(&mut self) -> Result<Option<Expr>, ScriptError> {
        let at = self.place();
        let parameters = match (self.peek(), self.ahead(1)) {
            (TokenKind::Name(name), TokenKind::Symbol("->")) => {
                let name = name.clone();
                self.advance();
                let name = self.id(&name);
                vec![Parameter { name, declared: Type::ANY, default: None, is_rest: false }]
            }
            (TokenKind::Symbol("("), _) if self.arrow_after_parentheses() => {
                self.advance();
                let parameters = self.parameters(")")?;
                self.expect(")")?;
                parameters
            }
            _ => return Ok(None),
        };
        self.expect("->")?;
        self.closure_depth += 1;
        let body = if self.is("{") {
            self.block()
        } else {
            self.expression().map(|expression| vec![Stmt::Expr(expression)])
        };
        self.closure_depth -= 1;
        let function =
            Function { name: "closure".into(), parameters, implicit: false, body: body?, result: Type::ANY };
        Ok(Some(make(at, Kind::Closure(Arc::new(function)))))
    }

    fn arrow_after_parentheses(&self) -> bool {
        let mut depth = 0_i32;
        for (at, token) in self.tokens.iter().enumerate().skip(self.at) {
            match &token.kind {
                TokenKind::Symbol("(") => depth += 1,
                TokenKind::Symbol(")") => {
                    depth -= 1;
                    if depth == 0 {
                        return matches!(
                            self.tokens.get(at + 1).map(|next| &next.kind),
                            Some(TokenKind::Symbol("->"))
                        );
                    }
                }
                TokenKind::Name(_) | TokenKind::Literal(_) => {}
                TokenKind::Symbol("," | "=" | "." | "<" | ">" | "?" | "[" | "]" | "..." | "-") => {}
                _ => return false,
            }
        }
        false
    }

    /// Parses the method name of `object.&method` or `Class::method`, after the operator.
    pub(super) fn reference(&mut self, object: Expr) -> Result<Expr, ScriptError> {
        let at = self.place();
        let method = self.any_name()?;
        let (first, rest) = (self.id(&Arc::from("first")), self.id(&Arc::from("rest")));
        let parameter = |name, is_rest| {
            let arrays = u8::from(is_rest);
            Parameter { name, declared: Type { arrays, ..Type::ANY }, default: None, is_rest }
        };
        let name = |name| make(at, Kind::Name(name));
        let others = vec![Item { spread: true, expr: name(rest) }];
        let (parameters, value) = match &object.kind {
            Kind::Class(class) if &*method == "new" => {
                (vec![parameter(rest, true)], Kind::New(*class, others))
            }
            Kind::Class(class) if !class.is_own() && !known::has_static(class.name(), &method) => {
                self.check_method(&method, at)?;
                let is_comparison = method.starts_with("compareTo");
                let call = Kind::Call(Some(Box::new(name(first))), method, others, false, false);
                (vec![parameter(first, false), parameter(rest, !is_comparison)], call)
            }
            Kind::Class(_) if method.starts_with("compare") => {
                let items = [first, rest].map(|id| Item { spread: false, expr: name(id) });
                let call = Kind::Call(Some(Box::new(object)), method, items.into(), false, false);
                (vec![parameter(first, false), parameter(rest, false)], call)
            }
            Kind::Class(_) => {
                let call = Kind::Call(Some(Box::new(object)), method, others, false, false);
                (vec![parameter(rest, true)], call)
            }
            _ => {
                self.check_method(&method, at)?;
                let call = Kind::Call(Some(Box::new(object)), method, others, false, false);
                (vec![parameter(rest, true)], call)
            }
        };
        let body = vec![Stmt::Expr(make(at, value))];
        let function =
            Function { name: "closure".into(), parameters, implicit: false, body, result: Type::ANY };
        Ok(make(at, Kind::Closure(Arc::new(function))))
    }

    /// Parses an anonymous class, `new Runnable() { … }`. The current token is the opening parenthesis. `None` if no body
    /// follows.
    pub(super) fn anonymous_class(&mut self, class: Class, at: usize) -> Result<Option<Expr>, ScriptError> {
        let has_body =
            matches!((self.ahead(1), self.ahead(2)), (TokenKind::Symbol(")"), TokenKind::Symbol("{")));
        let is_interface = class.is_own() || functional::is_interface(class.name());
        if !has_body || !is_interface {
            return Ok(None);
        }
        self.advance();
        self.advance();
        self.expect("{")?;
        let mut method = None;
        while !self.accept("}") {
            if self.accept(";") {
                continue;
            }
            if self.is("@") {
                self.annotation()?;
                continue;
            }
            self.skip_modifiers();
            let result = self.optional_type();
            let (Some(result), TokenKind::Name(name), TokenKind::Symbol("(")) =
                (result, self.peek().clone(), self.ahead(1))
            else {
                return self.refuse("an anonymous class with more than one method");
            };
            self.advance();
            self.closure_depth += 1;
            let function = self.member_function(name, result);
            self.closure_depth -= 1;
            if method.replace(function?).is_some() {
                return Err(unsupported(self.text, at, "an anonymous class with more than one method"));
            }
        }
        match method {
            Some(function) => Ok(Some(make(at, Kind::Closure(function)))),
            None => self.refuse("an anonymous class without methods"),
        }
    }
}
