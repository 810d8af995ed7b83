//! The parser of the expressions with the highest precedence: literals, names, calls, properties, indices.

use std::sync::Arc;

use super::super::diagnostic::unsupported;
use super::super::tree::{Expr, Item, Kind, Type};
use super::parser::Parser;
use super::token::TokenKind;
use super::{methods, names};
use crate::language::Dialect;
use crate::{ScriptError, Value};

/// The receiver before a dot.
enum Base {
    Value(Expr),
    /// A package, such as `java.util` in `java.util.UUID`.
    Package(String),
}

fn make(at: usize, kind: Kind) -> Expr {
    Expr { at: at as u32, kind }
}

impl Parser<'_> {
    pub(super) fn postfix(&mut self) -> Result<Expr, ScriptError> {
        let start = self.place();
        let mut base = self.primary()?;
        let mut chain = 0_u32;
        loop {
            let at = self.place();
            chain += 1;
            if self.depth + chain > super::parser::DEPTH_MAX {
                return Err(self.unsupported_here("such a long chain of calls"));
            }
            if self.is_symbol(".") || self.is_symbol("?.") {
                let safe = self.is_symbol("?.");
                self.advance();
                base = self.member(base, at, safe)?;
            } else if self.is_symbol("[") && !self.tokens[self.at].after_newline {
                self.advance();
                if self.dialect == Dialect::Jexl2 {
                    return Err(self.unsupported_here("an index"));
                }
                let index = self.expression()?;
                self.expect("]")?;
                base = Base::Value(self.indexed(base, index, at)?);
            } else if self.is_symbol("(") && !self.tokens[self.at].after_newline {
                return Err(self.unsupported_here("calling a function defined in the script"));
            } else {
                break;
            }
        }
        self.finish(base, start)
    }

    /// Rejects one of JMeter's objects as a value, unless it is compared with null.
    fn finish(&mut self, base: Base, start: usize) -> Result<Expr, ScriptError> {
        match base {
            Base::Value(expr) => {
                let is_jmeter_object =
                    self.receiver(&expr).is_some_and(|(kind, _)| methods::is_jmeter_object(kind));
                if is_jmeter_object && !self.null_comparison_ahead() {
                    return Err(unsupported(self.text, start, "this object as a value"));
                }
                Ok(expr)
            }
            Base::Package(path) => {
                if self.dialect == Dialect::Jexl3 {
                    // An undefined variable is null if its name contains dots, otherwise an error.
                    return Ok(make(start, Kind::Literal(Value::Null)));
                }
                let local = self.local(&Arc::from(path));
                Ok(make(start, Kind::Name(local)))
            }
        }
    }

    fn null_comparison_ahead(&self) -> bool {
        (self.is_symbol("==") || self.is_symbol("!="))
            && matches!(self.peek_at(1), TokenKind::Name(word) if **word == *"null")
    }

    fn primary(&mut self) -> Result<Base, ScriptError> {
        let at = self.place();
        match self.peek().clone() {
            TokenKind::Literal(value) => {
                self.advance();
                Ok(Base::Value(make(at, Kind::Literal(value))))
            }
            TokenKind::Symbol("(") => {
                self.advance();
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(Base::Value(inner))
            }
            TokenKind::Symbol("[") => self.list(at).map(Base::Value),
            TokenKind::Symbol("{") => Err(self.unsupported_here("a map, a set or a closure")),
            TokenKind::Symbol(symbol @ ("`" | "@" | "#" | "~")) => {
                Err(self.unsupported_here(format!("`{symbol}`")))
            }
            TokenKind::Name(name) => self.name(&name, at),
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn name(&mut self, name: &Arc<str>, at: usize) -> Result<Base, ScriptError> {
        let literal = match &**name {
            "true" => Some(Value::Boolean(true)),
            "false" => Some(Value::Boolean(false)),
            "null" => Some(Value::Null),
            "NaN" if self.dialect == Dialect::Jexl3 => Some(Value::Double(f64::NAN)),
            _ => None,
        };
        if let Some(value) = literal {
            self.advance();
            return Ok(Base::Value(make(at, Kind::Literal(value))));
        }
        if matches!(
            &**name,
            "if" | "else"
                | "for"
                | "while"
                | "var"
                | "return"
                | "div"
                | "mod"
                | "eq"
                | "ne"
                | "lt"
                | "gt"
                | "le"
                | "ge"
                | "and"
                | "or"
        ) {
            return Err(self.unexpected("an expression"));
        }
        if &**name == "new" {
            return Err(self.unsupported_here("`new`"));
        }
        if matches!(&**name, "function" if self.dialect == Dialect::Jexl3) {
            return Err(self.unsupported_here("a function defined in the script"));
        }
        if self.symbol_at(1, "(") {
            return Err(self.unsupported_here(format!("the function `{name}`")));
        }
        if self.symbol_at(1, "->") {
            return Err(self.unsupported_here("a function defined in the script"));
        }
        self.advance();
        if self.is_declared(name) {
            return Ok(Base::Value(make(at, Kind::Name(self.local(name)))));
        }
        if names::is_foreign_object(name) {
            return Err(unsupported(self.text, at, format!("`{name}`")));
        }
        let name = if names::is_reserved(name) { self.bound(name) } else { self.local(name) };
        Ok(Base::Value(make(at, Kind::Name(name))))
    }

    fn list(&mut self, at: usize) -> Result<Expr, ScriptError> {
        self.expect("[")?;
        let mut items = Vec::new();
        if self.is_symbol(":") {
            return Err(self.unsupported_here("a map"));
        }
        while !self.is_symbol("]") {
            items.push(self.expression()?);
            if self.is_symbol(":") {
                return Err(self.unsupported_here("a map"));
            }
            if !self.accept(",") {
                break;
            }
        }
        self.expect("]")?;
        Ok(make(at, Kind::Array(Type::ANY, items)))
    }

    fn arguments(&mut self) -> Result<Vec<Expr>, ScriptError> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        if !self.is_symbol(")") {
            loop {
                arguments.push(self.expression()?);
                if !self.accept(",") {
                    break;
                }
            }
        }
        self.expect(")")?;
        Ok(arguments)
    }

    fn indexed(&self, base: Base, index: Expr, at: usize) -> Result<Expr, ScriptError> {
        let Base::Value(value) = base else { return Err(unsupported(self.text, at, "an index here")) };
        match self.receiver(&value) {
            Some(("vars" | "props", _)) => Ok(make(at, call_of(value, "get", vec![index], false))),
            Some((kind, _)) if methods::is_jmeter_object(kind) => {
                Err(unsupported(self.text, at, "an index here"))
            }
            _ => Ok(make(at, Kind::Index(Box::new(value), Box::new(index)))),
        }
    }

    fn member(&mut self, base: Base, at: usize, safe: bool) -> Result<Base, ScriptError> {
        let name = match self.peek().clone() {
            TokenKind::Name(name) => name,
            // As in `vars.'my name'`.
            TokenKind::Literal(Value::Text(name)) if !self.symbol_at(1, "(") => name,
            _ => return Err(self.unexpected("a name")),
        };
        self.advance();
        let is_call = self.is_symbol("(") && !self.tokens[self.at].after_newline;
        if is_call {
            let arguments = self.arguments()?;
            return self.call(base, &name, arguments, at, safe);
        }
        self.property(base, &name, at)
    }

    fn call(
        &mut self,
        base: Base,
        name: &str,
        arguments: Vec<Expr>,
        at: usize,
        safe: bool,
    ) -> Result<Base, ScriptError> {
        let count = arguments.len();
        let known = match base {
            Base::Value(receiver) if methods::is_known(self.receiver(&receiver), name, count) => receiver,
            _ => {
                let what = format!("the method `{name}` with {count} arguments");
                return Err(unsupported(self.text, at, what));
            }
        };
        if let ("matches" | "replaceAll" | "replaceFirst" | "split", Some(first)) = (name, arguments.first())
            && let Kind::Literal(Value::Text(pattern)) = &first.kind
        {
            self.check_pattern(pattern, at)?;
        }
        Ok(Base::Value(make(at, call_of(known, name, arguments, safe))))
    }

    fn property(&mut self, base: Base, name: &str, at: usize) -> Result<Base, ScriptError> {
        let refused = || Err(unsupported(self.text, at, format!("the property `{name}`")));
        let value = match base {
            Base::Package(path) => return Ok(Base::Package(format!("{path}.{name}"))),
            Base::Value(value) => value,
        };
        match self.receiver(&value) {
            // JMeter's variables and properties have a method `get`, which JEXL 3 calls for every property of them.
            Some(("vars" | "props", _)) if self.dialect == Dialect::Jexl3 => {
                if matches!(
                    name,
                    "class" | "empty" | "properties" | "iterator" | "entrySet" | "iteration" | "threadName"
                ) {
                    return refused();
                }
                let argument = make(at, Kind::Literal(Value::text(name)));
                Ok(Base::Value(make(at, call_of(value, "get", vec![argument], false))))
            }
            Some((kind, _)) if methods::is_jmeter_object(kind) => match methods::getter(kind, name) {
                Some(getter) => Ok(Base::Value(make(at, call_of(value, &getter, Vec::new(), false)))),
                None => refused(),
            },
            _ => match value.kind {
                Kind::Name(local) if !self.is_declared(&self.name_text(local)) => {
                    Ok(Base::Package(format!("{}.{name}", self.name_text(local))))
                }
                _ => refused(),
            },
        }
    }
}

/// A method call. With `safe`, a call on null returns null.
fn call_of(receiver: Expr, method: &str, arguments: Vec<Expr>, safe: bool) -> Kind {
    let items = arguments.into_iter().map(|expr| Item { spread: false, expr }).collect();
    Kind::Call(Some(Box::new(receiver)), method.into(), items, safe, false)
}
