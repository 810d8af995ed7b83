//! The parser of statements.

use std::sync::Arc;

use super::super::classes::Class;
use super::super::diagnostic::unsupported;
use super::super::lexer::TokenKind;
use super::super::tree::{Base, Catch, Expr, Function, Item, Kind, Parameter, Stmt, Type};
use super::labels::close_resources;
use super::{Parser, is_in};
use crate::ScriptError;

impl Parser<'_> {
    pub(super) fn end_of_statement(&mut self) -> Result<(), ScriptError> {
        if self.accept(";") || matches!(self.peek(), TokenKind::End) || self.is("}") {
            return Ok(());
        }
        if self.groovy() && (self.token().after_newline || self.is_word("else")) {
            return Ok(());
        }
        Err(self.unexpected("the end of the statement"))
    }

    pub(in crate::jvm) fn block(&mut self) -> Result<Vec<Stmt>, ScriptError> {
        self.expect("{")?;
        let mut statements = Vec::new();
        while !self.accept("}") {
            if matches!(self.peek(), TokenKind::End) {
                return Err(self.unexpected("`}`"));
            }
            self.statement_into(&mut statements)?;
        }
        self.check_duplicates(&statements)?;
        Ok(statements)
    }

    fn statement(&mut self) -> Result<Stmt, ScriptError> {
        let mut statements = Vec::new();
        self.statement_into(&mut statements)?;
        Ok(if statements.len() == 1 { statements.remove(0) } else { Stmt::Block(statements) })
    }

    /// Parses a statement. A declaration of several variables yields several statements.
    pub(in crate::jvm) fn statement_into(&mut self, out: &mut Vec<Stmt>) -> Result<(), ScriptError> {
        self.enter()?;
        let outcome = self.statement_within(out);
        self.depth -= 1;
        outcome
    }

    fn statement_within(&mut self, out: &mut Vec<Stmt>) -> Result<(), ScriptError> {
        if self.accept(";") {
            out.push(Stmt::Empty);
            return Ok(());
        }
        if self.is("{") {
            let body = self.block()?;
            out.push(Stmt::Block(body));
            return Ok(());
        }
        if self.is("@") {
            let is_field = &*self.annotation()? == "Field";
            let from = out.len();
            self.statement_into(out)?;
            for statement in out.iter_mut().skip(from).filter(|_| is_field) {
                if let Stmt::Declare(name, declared, value) = statement {
                    *statement = Stmt::Field(*name, *declared, value.take());
                }
            }
            return Ok(());
        }
        if self.label_or_assignments(out)? {
            return Ok(());
        }
        let TokenKind::Name(word) = self.peek().clone() else {
            return self.expression_statement(out);
        };
        if matches!(self.ahead(1), TokenKind::Symbol("." | "=" | "++" | "--"))
            && !matches!(&*word, "import" | "package")
        {
            return self.declaration_or_expression(out);
        }
        match &*word {
            "import" => return self.import(),
            "package" => {
                while !self.accept(";")
                    && !self.token().after_newline
                    && !matches!(self.peek(), TokenKind::End)
                {
                    self.advance();
                }
                return Ok(());
            }
            "class" => return self.class_definition(),
            "interface" | "enum" | "abstract" if self.groovy() => return self.class_definition(),
            "interface" | "enum" | "trait" => return self.refuse(format!("`{word}`")),
            "if" => {
                self.advance();
                self.expect("(")?;
                let condition = self.expression()?;
                self.expect(")")?;
                let then = Box::new(self.statement()?);
                if self.is(";") && matches!(self.ahead(1), TokenKind::Name(name) if &**name == "else") {
                    self.advance();
                }
                let otherwise =
                    if self.accept_word("else") { Some(Box::new(self.statement()?)) } else { None };
                out.push(Stmt::If(condition, then, otherwise));
            }
            "while" => {
                self.advance();
                self.expect("(")?;
                let condition = self.expression()?;
                self.expect(")")?;
                out.push(Stmt::While(condition, Box::new(self.statement()?)));
            }
            "do" => {
                self.advance();
                let body = Box::new(self.statement()?);
                if !self.accept_word("while") {
                    return Err(self.unexpected("`while`"));
                }
                self.expect("(")?;
                let condition = self.expression()?;
                self.expect(")")?;
                out.push(Stmt::DoWhile(body, condition));
                self.accept(";");
            }
            _ => return self.jump_or_loop(&word, out),
        }
        Ok(())
    }

    /// Parses statements other than `if` and `while`: other loops, jumps, and declarations or expressions.
    fn jump_or_loop(&mut self, word: &str, out: &mut Vec<Stmt>) -> Result<(), ScriptError> {
        match word {
            "for" => {
                let statement = self.for_loop()?;
                out.push(statement);
            }
            "switch" => {
                let statement = self.switch()?;
                out.push(statement);
            }
            "try" => {
                let statement = self.try_statement()?;
                out.push(statement);
            }
            "return" => {
                self.advance();
                let ends = matches!(self.peek(), TokenKind::End | TokenKind::Symbol(";" | "}"))
                    || (self.groovy() && self.token().after_newline);
                let value = if ends { None } else { Some(self.expression()?) };
                out.push(Stmt::Return(value));
                self.end_of_statement()?;
            }
            "break" | "continue" => {
                self.advance();
                if matches!(self.peek(), TokenKind::Name(_)) && !self.token().after_newline {
                    return self.labelled_jump(word == "break", out);
                }
                out.push(if word == "break" { Stmt::Break } else { Stmt::Continue });
                self.end_of_statement()?;
            }
            "throw" => {
                self.advance();
                let value = self.expression()?;
                out.push(Stmt::Throw(value));
                self.end_of_statement()?;
            }
            "assert" if self.groovy() => {
                self.advance();
                let from = self.place();
                let condition = self.expression()?;
                let to = self.tokens[self.at - 1].at;
                let end = self.text[to..].find(['\n', ';', ':']).map_or(self.text.len(), |len| to + len);
                let source = self.text[from..end].trim().into();
                let is_in_line = !self.text[from..to].contains('\n');
                let start =
                    if is_in_line { from as u32 } else { super::super::power_assert::NOT_IN_ONE_LINE };
                let message =
                    if self.accept(":") || self.accept(",") { Some(self.expression()?) } else { None };
                out.push(Stmt::Assert(condition, message, source, start));
                self.end_of_statement()?;
            }
            "synchronized" => {
                self.advance();
                if self.accept("(") {
                    self.expression()?;
                    self.expect(")")?;
                }
                let body = self.block()?;
                out.push(Stmt::Block(body));
            }
            _ => return self.declaration_or_expression(out),
        }
        Ok(())
    }

    /// Parses an annotation and returns its name.
    pub(in crate::jvm) fn annotation(&mut self) -> Result<Arc<str>, ScriptError> {
        self.expect("@")?;
        let mut name = self.any_name()?;
        while self.accept(".") {
            name = self.any_name()?;
        }
        if !matches!(&*name, "Field" | "CompileStatic" | "TypeChecked" | "SuppressWarnings" | "Override") {
            return self.refuse(format!("the annotation `{name}`"));
        }
        if self.accept("(") {
            while !self.accept(")") {
                self.advance();
            }
        }
        Ok(name)
    }

    /// Skips modifiers of a declaration, which have no effect here; returns whether there were any.
    pub(in crate::jvm) fn skip_modifiers(&mut self) -> bool {
        let mut any = false;
        while matches!(self.peek(), TokenKind::Name(name) if matches!(&**name, "final" | "static" | "public" | "private" | "protected"))
        {
            self.advance();
            any = true;
        }
        any
    }

    fn declaration_or_expression(&mut self, out: &mut Vec<Stmt>) -> Result<(), ScriptError> {
        let start = self.at;
        let modified = self.skip_modifiers();
        let defines = |word: &str| self.is_word(word) && matches!(self.ahead(1), TokenKind::Name(_));
        if modified && (defines("class") || self.groovy() && (defines("enum") || defines("interface"))) {
            return self.class_definition();
        }
        if self.is_word("def") && matches!(self.ahead(1), TokenKind::Symbol("(")) {
            self.advance();
            return self.declare_all(out);
        }
        let type_at = self.at;
        self.refuse_generics()?;
        // A method without a type, such as `f(a) {` in BeanShell.
        if let (TokenKind::Name(name), TokenKind::Symbol("(")) = (self.peek().clone(), self.ahead(1))
            && (!self.groovy() || modified)
            && self.uses.body_follows(self.at + 1)
            && !matches!(&*name, "if" | "while" | "for" | "switch" | "catch" | "synchronized")
        {
            self.advance();
            return self.method(name, Type::ANY, out);
        }
        if let Some(declared) = self.optional_type() {
            if let TokenKind::Name(name) = self.peek().clone()
                && !self.token().after_newline
                && !self.is_operator(&name)
            {
                match self.ahead(1).clone() {
                    TokenKind::Symbol("(") if self.uses.body_follows(self.at + 1) => {
                        self.advance();
                        return self.method(name, declared, out);
                    }
                    TokenKind::Symbol("=" | ";" | "," | "}" | "[") | TokenKind::End => {
                        return self.declarations(declared, out);
                    }
                    _ if self.groovy() && self.tokens[self.at + 1].after_newline => {
                        return self.declarations(declared, out);
                    }
                    _ => {}
                }
            }
        } else if matches!((self.peek(), self.ahead(1)), (TokenKind::Name(_), TokenKind::Name(name)) if !self.is_operator(name))
            && (matches!(self.ahead(2), TokenKind::Symbol("="))
                || matches!(self.ahead(2), TokenKind::Symbol(";")) && !self.calls_without_parentheses())
        {
            self.at = type_at;
            if let TokenKind::Name(name) = self.peek().clone() {
                return self.refuse(format!("the class `{name}`"));
            }
        }
        if modified {
            // As in `final x = 5`.
            self.at = type_at;
            if matches!((self.peek(), self.ahead(1)), (TokenKind::Name(_), TokenKind::Symbol("=" | ";"))) {
                return self.declarations(Type::ANY, out);
            }
        }
        self.at = start;
        self.expression_statement(out)
    }

    /// Whether the current token, which is followed by a name, may start a call without parentheses: `name user`. In Groovy, it
    /// starts a call if the first name begins with a lower-case letter.
    fn calls_without_parentheses(&self) -> bool {
        let Some(TokenKind::Name(first)) = self.tokens.get(self.at).map(|token| &token.kind) else {
            return false;
        };
        self.groovy() && first.starts_with(|c: char| c.is_ascii_lowercase())
    }

    pub(super) fn method(
        &mut self,
        name: Arc<str>,
        result: Type,
        out: &mut Vec<Stmt>,
    ) -> Result<(), ScriptError> {
        self.expect("(")?;
        let parameters = self.parameters(")")?;
        self.expect(")")?;
        if self.accept_word("throws") {
            while !self.is("{") && !matches!(self.peek(), TokenKind::End) {
                self.advance();
            }
        }
        let body = self.block()?;
        out.push(Stmt::Method(Arc::new(Function { name, parameters, implicit: false, body, result })));
        Ok(())
    }

    /// Parses parameters up to `end`, which is not consumed.
    pub(in crate::jvm) fn parameters(&mut self, end: &str) -> Result<Vec<Parameter>, ScriptError> {
        let mut parameters = Vec::new();
        while !self.is(end) {
            self.skip_modifiers();
            let typed =
                matches!(self.ahead(1), TokenKind::Name(_) | TokenKind::Symbol("<" | "." | "[" | "..."));
            let declared = if typed {
                match self.optional_type() {
                    Some(declared) => declared,
                    None => return self.refuse("this type of a parameter"),
                }
            } else {
                Type::ANY
            };
            let is_rest = self.accept("...");
            let declared = if is_rest {
                Type { arrays: self.add_dimension(declared.arrays)?, ..declared }
            } else {
                declared
            };
            let name = self.any_name()?;
            let name = self.id(&name);
            self.kinds.remove(&name);
            let default = if self.accept("=") { Some(self.expression()?) } else { None };
            parameters.push(Parameter { name, declared, default, is_rest });
            if !self.accept(",") {
                break;
            }
        }
        Ok(parameters)
    }

    pub(super) fn declarations(&mut self, declared: Type, out: &mut Vec<Stmt>) -> Result<(), ScriptError> {
        loop {
            let name = self.any_name()?;
            self.declared.insert(name.clone());
            let name = self.id(&name);
            let mut declared = declared;
            while self.is("[") && matches!(self.ahead(1), TokenKind::Symbol("]")) {
                self.advance();
                self.advance();
                declared.arrays = self.add_dimension(declared.arrays)?;
            }
            let value = if self.accept("=") {
                if declared.arrays > 0 && self.is("{") {
                    Some(self.array_literal(declared)?)
                } else {
                    Some(self.expression()?)
                }
            } else {
                None
            };
            if matches!(declared.base, Base::Int | Base::Long) && !declared.boxed && declared.arrays == 0 {
                self.integers.insert(name);
            }
            let number = matches!(
                declared.base,
                Base::Int | Base::Long | Base::Short | Base::Double | Base::Float | Base::Char
            );
            if declared.boxed && number && declared.arrays == 0 {
                self.boxed_numbers.insert(name);
            }
            if matches!(declared.base, Base::Double | Base::Float) && !declared.boxed {
                self.doubles.insert(name);
            }
            if let Some(value) = &value {
                self.check_quotient(declared, value)?;
                if matches!(&value.kind, Kind::New(class, _) if class.name() == "JsonBuilder") {
                    self.builders.insert(name);
                }
            }
            self.note_kind(name, value.as_ref());
            out.push(Stmt::Declare(name, declared, value));
            if !self.accept(",") {
                break;
            }
        }
        self.end_of_statement()
    }

    /// Parses an array literal: `{1, 2}`.
    pub(in crate::jvm) fn array_literal(&mut self, declared: Type) -> Result<Expr, ScriptError> {
        let at = self.place() as u32;
        self.enter()?;
        self.expect("{")?;
        let inner = Type { arrays: declared.arrays.saturating_sub(1), ..declared };
        let mut items = Vec::new();
        while !self.accept("}") {
            items.push(if inner.arrays > 0 && self.is("{") {
                self.array_literal(inner)?
            } else {
                self.expression()?
            });
            if !self.accept(",") && !self.is("}") {
                return Err(self.unexpected("`}`"));
            }
        }
        self.depth -= 1;
        Ok(Expr { at, kind: Kind::Array(inner, items) })
    }

    fn for_loop(&mut self) -> Result<Stmt, ScriptError> {
        self.advance();
        self.expect("(")?;
        let (start, groovy) = (self.at, self.groovy());
        self.skip_modifiers();
        let separates = |word: &TokenKind| matches!(word, TokenKind::Symbol(":")) || groovy && is_in(word);
        let declared = match (self.peek(), self.ahead(1)) {
            (TokenKind::Name(_), next) if separates(next) => Some(Type::ANY),
            _ => self.optional_type(),
        };
        if let (Some(declared), TokenKind::Name(name)) = (declared, self.peek().clone())
            && separates(self.ahead(1))
        {
            self.advance();
            self.advance();
            self.declared.insert(name.clone());
            let name = self.id(&name);
            let items = self.expression()?;
            self.kinds.remove(&name);
            self.expect(")")?;
            return Ok(Stmt::ForEach(name, declared, items, Box::new(self.statement()?)));
        }
        self.at = start;
        let mut first = Vec::new();
        if !self.accept(";") {
            self.declaration_or_expression(&mut first)?;
            while !matches!(self.tokens[self.at - 1].kind, TokenKind::Symbol(";")) {
                if !self.accept(",") {
                    return Err(self.unexpected("`;`"));
                }
                self.declaration_or_expression(&mut first)?;
            }
        }
        let condition = if self.is(";") { None } else { Some(self.expression()?) };
        self.expect(";")?;
        let mut steps = Vec::new();
        while !self.accept(")") {
            steps.push(self.expression()?);
            self.accept(",");
        }
        Ok(Stmt::For(first, condition, steps, Box::new(self.statement()?)))
    }

    fn switch(&mut self) -> Result<Stmt, ScriptError> {
        self.advance();
        self.expect("(")?;
        let value = self.expression()?;
        self.expect(")")?;
        self.expect("{")?;
        let mut cases = Vec::new();
        while !self.accept("}") {
            let label = if self.accept_word("case") {
                Some(self.expression()?)
            } else if self.accept_word("default") {
                None
            } else {
                return Err(self.unexpected("`case`"));
            };
            if self.is("->") {
                return self.refuse("`->` in a switch");
            }
            self.expect(":")?;
            let mut body = Vec::new();
            while !self.is("}") && !self.is_word("case") && !self.is_word("default") {
                if matches!(self.peek(), TokenKind::End) {
                    return Err(self.unexpected("`}`"));
                }
                self.statement_into(&mut body)?;
            }
            cases.push((label, body));
        }
        Ok(Stmt::Switch(value, cases))
    }

    fn try_statement(&mut self) -> Result<Stmt, ScriptError> {
        self.advance();
        let resources = if self.is("(") { self.resources()? } else { Vec::new() };
        let body = close_resources(resources, self.block()?);
        let mut catches = Vec::new();
        while self.accept_word("catch") {
            self.expect("(")?;
            self.skip_modifiers();
            let mut classes = Vec::new();
            if !matches!(self.ahead(1), TokenKind::Symbol(")")) {
                loop {
                    let at = self.place();
                    match self.optional_type() {
                        Some(Type { base: Base::Class(class), .. }) => classes.push(class),
                        _ => {
                            let mut name = self.any_name()?.to_string();
                            while self.accept(".") {
                                name.push('.');
                                name.push_str(&self.any_name()?);
                            }
                            // An exception class that the library lacks is never thrown, so its `catch` never applies.
                            let unknown = self.imports.get(&name) == Some(&None) || name.contains('.');
                            if !unknown || !name.ends_with("Exception") {
                                return Err(unsupported(self.text, at, format!("the class `{name}`")));
                            }
                        }
                    }
                    if !self.accept("|") {
                        break;
                    }
                }
                if classes.is_empty() {
                    classes.push(Class::known("SampleResult"));
                }
            }
            let name = self.any_name()?;
            let name = self.id(&name);
            self.expect(")")?;
            let body = self.block()?;
            catches.push(Catch { classes, name, body });
        }
        let last = if self.accept_word("finally") { Some(self.block()?) } else { None };
        Ok(Stmt::Try(body, catches, last))
    }

    fn expression_statement(&mut self, out: &mut Vec<Stmt>) -> Result<(), ScriptError> {
        let expr = self.expression()?;
        let expr = if self.groovy() { self.command(expr)? } else { expr };
        out.push(Stmt::Expr(expr));
        self.end_of_statement()
    }

    /// Parses the arguments of a call without parentheses: Groovy's `println x` and `log.info "x"`.
    fn command(&mut self, expr: Expr) -> Result<Expr, ScriptError> {
        let begins = match self.peek() {
            TokenKind::Name(name) => {
                !matches!(&**name, "else" | "while" | "catch" | "finally" | "in" | "as" | "instanceof")
            }
            TokenKind::Literal(_) | TokenKind::Join(_) => true,
            _ => false,
        };
        if self.token().after_newline || !begins {
            return Ok(expr);
        }
        let at = expr.at;
        let make = |kind: Kind| Expr { at, kind };
        match expr.kind {
            Kind::Name(name) => {
                let name = self.names[name as usize].clone();
                self.check_function(&name, at as usize)?;
                let items = self.command_arguments()?;
                self.check_category(&name, &items, at as usize)?;
                Ok(make(Kind::Call(None, name, items, false, false)))
            }
            Kind::Property(object, name, safe, spread) => {
                self.check_method(&name, at as usize)?;
                let items = self.command_arguments()?;
                Ok(make(Kind::Call(Some(object), name, items, safe, spread)))
            }
            _ => Ok(expr),
        }
    }

    fn command_arguments(&mut self) -> Result<Vec<Item>, ScriptError> {
        let mut items = Vec::new();
        loop {
            items.push(Item { spread: false, expr: self.expression()? });
            if !self.accept(",") {
                return Ok(items);
            }
        }
    }
}
