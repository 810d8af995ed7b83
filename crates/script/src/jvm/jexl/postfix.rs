//! What binds tightest: literals, names, calls, properties, indices.

use std::sync::Arc;

use super::Dialect;
use super::ast::{Expr, Kind};
use super::names::Host;
use super::names::{self, HostMethod};
use super::parser::Parser;
use super::token::TokenKind;
use super::unsupported;
use crate::{ScriptError, Value};

/// The receiver before a dot.
enum Base {
    Value(Expr),
    Host(Host),
    /// `java.util` of `java.util.UUID`.
    Package(String),
    /// `ctx.getVariables()`, of which only the next call makes a value.
    ContextVariables,
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
                return Err(self.unsupported_here("so long a chain of calls"));
            }
            if self.is_sign(".") || self.is_sign("?.") {
                let safe = self.is_sign("?.");
                self.advance();
                base = self.member(base, at, safe)?;
            } else if self.is_sign("[") && !self.tokens[self.at].after_newline {
                self.advance();
                if self.dialect == Dialect::Jexl2 {
                    return Err(self.unsupported_here("an index"));
                }
                let index = self.expression()?;
                self.expect("]")?;
                base = Base::Value(self.indexed(base, index, at)?);
            } else if self.is_sign("(") && !self.tokens[self.at].after_newline {
                return Err(self.unsupported_here("calling a method of the script's own"));
            } else {
                break;
            }
        }
        self.finish(base, start)
    }

    /// Host objects are no values; what may still be done with them is done here.
    fn finish(&mut self, base: Base, start: usize) -> Result<Expr, ScriptError> {
        match base {
            Base::Value(expr) => Ok(expr),
            Base::Host(Host::Sample) if self.null_comparison_ahead() => {
                Ok(make(start, Kind::SampleIsPresent))
            }
            Base::Host(_) | Base::ContextVariables => {
                Err(unsupported(self.text, start, "this object as a value"))
            }
            Base::Package(path) => {
                if self.dialect == Dialect::Jexl3 {
                    // An undefined variable with dots in its name is null, one without is an error.
                    return Ok(make(start, Kind::Literal(Value::Null)));
                }
                let local = self.local(&Arc::from(path));
                Ok(make(start, Kind::Local(local)))
            }
        }
    }

    fn null_comparison_ahead(&self) -> bool {
        (self.is_sign("==") || self.is_sign("!="))
            && matches!(self.peek_at(1), TokenKind::Name(word) if **word == *"null")
    }

    fn primary(&mut self) -> Result<Base, ScriptError> {
        let at = self.place();
        match self.peek().clone() {
            TokenKind::Literal(value) => {
                self.advance();
                Ok(Base::Value(make(at, Kind::Literal(value))))
            }
            TokenKind::Sign("(") => {
                self.advance();
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(Base::Value(inner))
            }
            TokenKind::Sign("[") => self.list(at).map(Base::Value),
            TokenKind::Sign("{") => Err(self.unsupported_here("a map, a set or a closure")),
            TokenKind::Sign(sign @ ("`" | "@" | "#" | "~")) => {
                Err(self.unsupported_here(format!("`{sign}`")))
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
            return Err(self.unsupported_here("a function of the script's own"));
        }
        if self.sign_at(1, "(") {
            return Err(self.unsupported_here(format!("the function `{name}`")));
        }
        if self.sign_at(1, "->") {
            return Err(self.unsupported_here("a function of the script's own"));
        }
        self.advance();
        if self.is_declared(name) {
            return Ok(Base::Value(make(at, Kind::Local(self.local(name)))));
        }
        if &**name == "threadName" {
            return Ok(Base::Value(make(at, Kind::ThreadName)));
        }
        if let Some(host) = names::host(name) {
            return Ok(Base::Host(host));
        }
        if names::is_foreign_object(name) {
            return Err(unsupported(self.text, at, format!("`{name}`")));
        }
        Ok(Base::Value(make(at, Kind::Local(self.local(name)))))
    }

    fn list(&mut self, at: usize) -> Result<Expr, ScriptError> {
        self.expect("[")?;
        let mut items = Vec::new();
        if self.is_sign(":") {
            return Err(self.unsupported_here("a map"));
        }
        while !self.is_sign("]") {
            items.push(self.expression()?);
            if self.is_sign(":") {
                return Err(self.unsupported_here("a map"));
            }
            if !self.accept(",") {
                break;
            }
        }
        self.expect("]")?;
        Ok(make(at, Kind::List(items)))
    }

    fn arguments(&mut self) -> Result<Vec<Expr>, ScriptError> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        if !self.is_sign(")") {
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

    fn indexed(&mut self, base: Base, index: Expr, at: usize) -> Result<Expr, ScriptError> {
        match base {
            Base::Value(value) => Ok(make(at, Kind::Index(Box::new(value), Box::new(index)))),
            Base::Host(Host::Vars) | Base::ContextVariables => {
                Ok(make(at, Kind::HostCall(HostMethod::GetVariable, vec![index])))
            }
            Base::Host(Host::Props) => Ok(make(at, Kind::HostCall(HostMethod::GetProperty, vec![index]))),
            _ => Err(unsupported(self.text, at, "an index here")),
        }
    }

    fn member(&mut self, base: Base, at: usize, safe: bool) -> Result<Base, ScriptError> {
        let name = match self.peek().clone() {
            TokenKind::Name(name) => name,
            // `vars.'my name'`
            TokenKind::Literal(Value::Text(name)) if !self.sign_at(1, "(") => name,
            _ => return Err(self.unexpected("a name")),
        };
        self.advance();
        let is_call = self.is_sign("(") && !self.tokens[self.at].after_newline;
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
        let refused =
            |what: &str| Err(unsupported(self.text, at, format!("{what}`{name}` with {count} arguments")));
        match base {
            Base::Host(Host::Context) if name == "getVariables" && count == 0 => Ok(Base::ContextVariables),
            Base::Host(Host::Context) if name == "getPreviousResult" && count == 0 => {
                Ok(Base::Host(Host::Sample))
            }
            Base::Host(Host::Vars) | Base::ContextVariables => {
                match names::host_method(Host::Vars, name, count) {
                    Some(method) => Ok(Base::Value(make(at, Kind::HostCall(method, arguments)))),
                    None => refused("the method of `vars` "),
                }
            }
            Base::Host(host) => match names::host_method(host, name, count) {
                Some(method) => Ok(Base::Value(make(at, Kind::HostCall(method, arguments)))),
                None => refused("the method "),
            },
            Base::Package(_) => refused("the method "),
            Base::Value(receiver) => match names::value_method(name, count) {
                Some(method) => {
                    if let ("matches" | "replaceAll" | "replaceFirst" | "split", Some(first)) =
                        (name, arguments.first())
                        && let Kind::Literal(Value::Text(pattern)) = &first.kind
                    {
                        self.check_text_call(name, pattern, arguments.get(1), at)?;
                    }
                    let receiver = Box::new(receiver);
                    Ok(Base::Value(make(at, Kind::Call(receiver, method, arguments, safe))))
                }
                None => refused("the method "),
            },
        }
    }

    fn property(&mut self, base: Base, name: &str, at: usize) -> Result<Base, ScriptError> {
        match base {
            Base::Package(path) => Ok(Base::Package(format!("{path}.{name}"))),
            // JMeter's variables and properties have `get`, which JEXL 3 takes for all their properties.
            Base::Host(host @ (Host::Vars | Host::Props)) if self.dialect == Dialect::Jexl3 => {
                let method =
                    if host == Host::Vars { HostMethod::GetVariable } else { HostMethod::GetProperty };
                if matches!(
                    name,
                    "class" | "empty" | "properties" | "iterator" | "entrySet" | "iteration" | "threadName"
                ) {
                    return Err(unsupported(self.text, at, format!("the property `{name}`")));
                }
                let argument = make(at, Kind::Literal(Value::text(name)));
                Ok(Base::Value(make(at, Kind::HostCall(method, vec![argument]))))
            }
            Base::Host(host) => match names::property_getter(host, name) {
                Some(method) => Ok(Base::Value(make(at, Kind::HostCall(method, Vec::new())))),
                None => Err(unsupported(self.text, at, format!("the property `{name}`"))),
            },
            Base::Value(Expr { kind: Kind::Local(local), .. })
                if !self.is_declared(&self.name_text(local)) =>
            {
                let path = format!("{}.{name}", self.name_text(local));
                Ok(Base::Package(path))
            }
            _ => Err(unsupported(self.text, at, format!("the property `{name}`"))),
        }
    }
}
