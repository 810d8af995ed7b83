//! The parser of primary expressions: names, literals, lists, closures, new objects.

use std::sync::Arc;

use super::super::classes::Class;
use super::super::diagnostic::{syntax, unsupported};
use super::super::lexer::{Piece, TokenKind};
use super::super::parser::Parser;
use super::super::tree::{Base, Expr, Item, Kind, Operator};
use super::super::{known, supported};
use super::make;
use crate::{ScriptError, Value};

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Result<Expr, ScriptError> {
        let at = self.place();
        match self.peek().clone() {
            TokenKind::Literal(value) => {
                self.advance();
                Ok(make(at, Kind::Literal(value)))
            }
            TokenKind::Join(pieces) => {
                self.advance();
                let mut parts = Vec::new();
                let mut is_lazy = false;
                for piece in pieces {
                    match piece {
                        Piece::Text(text) if text.is_empty() => {}
                        Piece::Text(text) => parts.push(make(at, Kind::Literal(Value::Text(text.into())))),
                        Piece::Code(from, to) if self.text[from..to].trim().is_empty() => {
                            parts.push(make(at, Kind::Literal(Value::Null)));
                        }
                        Piece::Code(from, to) => {
                            let code = self.text[from..to].trim_start();
                            let after_name = code
                                .trim_start_matches(|c: char| c.is_alphanumeric() || c == '_')
                                .trim_start();
                            let is_closure = after_name.starts_with("->");
                            is_lazy |= is_closure;
                            parts.push(if is_closure {
                                self.nested_closure(from, to)?
                            } else {
                                self.nested(from, to)?
                            });
                        }
                    }
                }
                Ok(make(at, if is_lazy { Kind::LazyJoin(parts) } else { Kind::Join(parts) }))
            }
            TokenKind::Symbol("(") => {
                self.advance();
                let expr = self.expression()?;
                self.expect(")")?;
                Ok(expr)
            }
            TokenKind::Symbol("[") if self.groovy() => self.list_or_map(),
            TokenKind::Symbol("{") if self.groovy() => self.closure(),
            TokenKind::Name(name) => self.name(&name),
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn list_or_map(&mut self) -> Result<Expr, ScriptError> {
        let at = self.place();
        self.expect("[")?;
        if self.accept(":") {
            self.expect("]")?;
            return Ok(make(at, Kind::Map(Vec::new())));
        }
        let mut items = Vec::new();
        let mut entries = Vec::new();
        let mut maps = Vec::new();
        while !self.accept("]") {
            let spread = self.accept("*");
            if spread && self.accept(":") {
                maps.push(make(at, Kind::Map(std::mem::take(&mut entries))));
                maps.push(self.expression()?);
                if !self.accept(",") && !self.is("]") {
                    return Err(self.unexpected("`]`"));
                }
                continue;
            }
            let key_at = self.place() as u32;
            let named = match (self.peek().clone(), self.ahead(1)) {
                (TokenKind::Name(name), TokenKind::Symbol(":")) => Some(name),
                _ => None,
            };
            if let Some(name) = named {
                self.advance();
                self.advance();
                entries.push((self.text_literal(&name, key_at), self.expression()?));
            } else {
                let first = self.expression()?;
                if self.accept(":") {
                    entries.push((first, self.expression()?));
                } else {
                    items.push(Item { spread, expr: first });
                }
            }
            if !self.accept(",") && !self.is("]") {
                return Err(self.unexpected("`]`"));
            }
        }
        if !maps.is_empty() {
            maps.push(make(at, Kind::Map(entries)));
            let add = Operator::Plain(crate::plain::Binary::Add);
            let joined = maps
                .into_iter()
                .reduce(|left, right| make(at, Kind::Binary(add, Box::new(left), Box::new(right))));
            return joined.ok_or_else(|| self.unexpected("a map"));
        }
        if !entries.is_empty() {
            if !items.is_empty() {
                return Err(syntax(self.text, at, "a list with entries of a map"));
            }
            return Ok(make(at, Kind::Map(entries)));
        }
        Ok(make(at, Kind::List(items)))
    }

    /// Parses a value that begins with a keyword; `None` for other names.
    fn keyword(&mut self, name: &Arc<str>, at: usize) -> Result<Option<Expr>, ScriptError> {
        match &**name {
            "true" | "false" => {
                self.advance();
                Ok(Some(make(at, Kind::Literal(Value::Boolean(&**name == "true")))))
            }
            "null" => {
                self.advance();
                Ok(Some(make(at, Kind::Literal(Value::Null))))
            }
            "new" => self.creation().map(Some),
            "this" if self.in_class.is_some() => {
                self.advance();
                if self.is("(") {
                    let items = self.arguments()?;
                    return Ok(Some(make(at, Kind::Call(None, name.clone(), items, false, false))));
                }
                Ok(Some(make(at, Kind::This)))
            }
            "super" if self.in_class.is_some() => self.super_call().map(Some),
            "this" | "super" => {
                if matches!(self.ahead(1), TokenKind::Symbol("."))
                    && matches!(self.ahead(3), TokenKind::Symbol("("))
                {
                    self.advance();
                    self.advance();
                    let TokenKind::Name(method) = self.peek().clone() else { return self.refuse("`this`") };
                    return self.name(&method).map(Some);
                }
                if &**name == "this" && self.groovy() && matches!(self.ahead(1), TokenKind::Symbol(")")) {
                    // As in `synchronized (this)`.
                    self.advance();
                    return Ok(Some(make(at, Kind::Literal(Value::Null))));
                }
                self.refuse(format!("`{name}`"))
            }
            "def" | "class" | "import" | "return" | "if" | "else" | "for" | "while" | "switch" | "case"
            | "try" | "catch" => Err(self.unexpected("an expression")),
            "bsh" if !self.groovy() => {
                if matches!(self.ahead(1), TokenKind::Symbol("."))
                    && matches!(self.ahead(2), TokenKind::Name(name) if &**name == "args")
                {
                    self.advance();
                    self.advance();
                    self.advance();
                    let id = self.id(&Arc::from("bsh.args"));
                    return Ok(Some(make(at, Kind::Name(id))));
                }
                self.refuse("`bsh`")
            }
            _ => Ok(None),
        }
    }

    fn name(&mut self, name: &Arc<str>) -> Result<Expr, ScriptError> {
        let at = self.place();
        if let Some(value) = self.keyword(name, at)? {
            return Ok(value);
        }
        if known::is_unsupported_binding(name) && !self.uses.assigns(name) {
            return self.refuse(format!("`{name}`"));
        }
        // A qualified class: `java.util.UUID`.
        if matches!(&**name, "java" | "javax" | "groovy" | "org" | "com" | "net" | "io")
            && matches!(self.ahead(1), TokenKind::Symbol("."))
            && !self.uses.assigns(name)
        {
            return self.qualified();
        }
        let calls = matches!(self.ahead(1), TokenKind::Symbol("("))
            && !(self.groovy() && self.tokens[self.at + 1].after_newline);
        let braces = self.groovy()
            && matches!(self.ahead(1), TokenKind::Symbol("{"))
            && !self.tokens[self.at + 1].after_newline;
        if braces && self.uses.makes_builder(name) {
            return self.refuse(format!("a builder's call with a closure (`{name} {{ … }}`)"));
        }
        let trailing = braces;
        if calls
            && !self.uses.assigns(name)
            && let Some((class, member)) = self.static_member(name, true)
        {
            self.advance();
            let items = self.arguments()?;
            let class = Box::new(make(at, Kind::Class(class)));
            return Ok(make(at, Kind::Call(Some(class), member.into(), items, false, false)));
        }
        if calls || trailing {
            self.check_function(name, at)?;
            self.advance();
            let items = self.arguments()?;
            self.check_category(name, &items, at)?;
            return Ok(make(at, Kind::Call(None, name.clone(), items, false, false)));
        }
        if !self.uses.assigns(name)
            && let Some((class, member)) = self.static_member(name, false)
        {
            self.advance();
            let class = Box::new(make(at, Kind::Class(class)));
            return Ok(make(at, Kind::Property(class, member.into(), false, false)));
        }
        if &**name == "sampler" {
            self.note_sampler();
        }
        // In Groovy, an imported class hides an object that JMeter binds to the same name.
        let is_imported = self.groovy() && self.imports.contains_key(&**name);
        let is_variable = self.uses.assigns(name) || known::is_bound(name) && !is_imported;
        let capital = name.starts_with(|c: char| c.is_ascii_uppercase());
        if capital && !is_variable {
            match self.class_of(name) {
                Some(Some(class)) => {
                    self.advance();
                    return Ok(make(at, Kind::Class(class)));
                }
                Some(None) => return self.refuse(format!("the class `{name}`")),
                None if Class::exists(name) => {
                    return Err(syntax(self.text, at, format!("the class `{name}` is not imported")));
                }
                None if (!self.declared.contains(name)
                    || matches!(self.ahead(1), TokenKind::Symbol(".")))
                    && !self.is_unknown_class(name, at) =>
                {
                    return self.refuse(format!("the class or object `{name}`"));
                }
                None => {}
            }
        }
        let primitive =
            matches!(&**name, "int" | "long" | "double" | "float" | "boolean" | "char" | "byte" | "short");
        if primitive {
            return self.refuse(format!("`{name}` as a value"));
        }
        self.advance();
        let id = self.id(name);
        Ok(make(at, Kind::Name(id)))
    }

    fn qualified(&mut self) -> Result<Expr, ScriptError> {
        let at = self.place();
        let mut name = self.any_name()?.to_string();
        while self.accept(".") {
            let part = self.any_name()?;
            name.push('.');
            name.push_str(&part);
            if part.starts_with(|c: char| c.is_ascii_uppercase()) {
                break;
            }
        }
        match Class::qualified(&name) {
            Some(class) => Ok(make(at, Kind::Class(class))),
            None => Err(unsupported(self.text, at, format!("the class `{name}`"))),
        }
    }

    fn creation(&mut self) -> Result<Expr, ScriptError> {
        self.advance();
        let at = self.place();
        let start = self.at;
        let Some(mut created) = self.optional_type() else {
            let mut name = self.any_name()?.to_string();
            while self.accept(".") {
                name.push('.');
                name.push_str(&self.any_name()?);
            }
            return Err(unsupported(self.text, at, format!("`new {name}`")));
        };
        if !self.groovy()
            && self.tokens[start..self.at].iter().any(|token| matches!(token.kind, TokenKind::Symbol("<")))
        {
            self.at = start + 1;
            return Err(self.unexpected("`(`"));
        }
        if created.arrays > 0 {
            // `new int[] {1, 2}`
            return self.array_literal(created);
        }
        if self.accept("[") {
            let mut sizes = vec![self.expression()?];
            self.expect("]")?;
            while self.accept("[") {
                if self.accept("]") {
                    created.arrays = self.add_dimension(created.arrays)?;
                    continue;
                }
                sizes.push(self.expression()?);
                self.expect("]")?;
            }
            return Ok(make(at, Kind::NewArray(created, sizes)));
        }
        if !self.is("(") {
            return Err(self.unexpected("`(`"));
        }
        let class = match created.base {
            Base::Class(class) => class,
            Base::Text => Class::known("String"),
            Base::Int => Class::known("Integer"),
            Base::Long => Class::known("Long"),
            Base::Double => Class::known("Double"),
            Base::Boolean => Class::known("Boolean"),
            Base::Any => Class::known("Object"),
            _ => {
                self.at = start;
                return self.refuse("`new` of this class");
            }
        };
        if let Some(function) = self.anonymous_class(class, at)? {
            return Ok(function);
        }
        let items = self.arguments()?;
        if self.is("{") && !self.groovy() {
            return self.refuse("an anonymous class");
        }
        if !class.is_own() && !supported::has_constructor(class.name(), items.len()) {
            return Err(unsupported(
                self.text,
                at,
                format!("`new {}` with {}", class.name(), supported::argument_count(items.len())),
            ));
        }
        Ok(make(at, Kind::New(class, items)))
    }
}
