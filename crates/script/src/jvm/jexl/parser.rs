//! The parser of statements.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::diagnostic::{syntax, unsupported};
use super::super::tree::{Expr, Kind, Name, Operator, Stmt, Tree, Type};
use super::token::{Token, TokenKind, scan};
use crate::ScriptError;
use crate::language::Dialect;
use crate::plain::Binary;

/// Maximum nesting of expressions and statements; the interpreter's stack usage depends on it.
pub(super) const DEPTH_MAX: u32 = 150;
/// Maximum length of a script in bytes.
const TEXT_BYTES_MAX: usize = 1 << 20;

pub(super) struct Parser<'t> {
    pub text: &'t str,
    pub dialect: Dialect,
    pub tokens: Vec<Token>,
    pub at: usize,
    pub depth: u32,
    pub names: Vec<Arc<str>>,
    /// Names in scope, innermost block last; names that are assigned without a declaration belong to the outermost.
    pub scopes: Vec<HashMap<Arc<str>, Name>>,
    /// The names that JMeter binds and the script uses.
    pub bound: HashMap<Arc<str>, Name>,
    /// Whether a value is assigned to a name, by the name's index.
    pub assigned: Vec<bool>,
    loops: u32,
}

/// Parses a script of a version of JEXL.
pub(in crate::jvm) fn parse(text: &str, dialect: Dialect) -> Result<Tree, ScriptError> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(unsupported(text, 0, "a script of more than 1 MiB"));
    }
    let tokens = scan(text, dialect)?;
    let mut parser = Parser {
        text,
        dialect,
        tokens,
        at: 0,
        depth: 0,
        names: Vec::new(),
        scopes: vec![HashMap::new()],
        bound: HashMap::new(),
        assigned: Vec::new(),
        loops: 0,
    };
    let mut statements = Vec::new();
    while !parser.is_end() {
        statements.push(parser.statement()?);
    }
    if let Some(Stmt::Expr(Expr {
        kind: Kind::Array(..) | Kind::Binary(Operator::Plain(Binary::Range), ..),
        ..
    })) = statements.last()
    {
        return Err(unsupported(text, 0, "an array as the script's value"));
    }
    Ok(Tree {
        dialect,
        text: text.into(),
        statements,
        names: parser.names,
        classes: Vec::new(),
        warnings: Vec::new(),
        accesses_request: false,
    })
}

impl Parser<'_> {
    pub fn peek(&self) -> &TokenKind {
        &self.tokens[self.at].kind
    }

    pub fn peek_at(&self, ahead: usize) -> &TokenKind {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].kind
    }

    pub fn place(&self) -> usize {
        self.tokens[self.at].at
    }

    pub fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn is_end(&self) -> bool {
        matches!(self.peek(), TokenKind::End)
    }

    pub fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), TokenKind::Symbol(found) if *found == symbol)
    }

    pub fn symbol_at(&self, ahead: usize, symbol: &str) -> bool {
        matches!(self.peek_at(ahead), TokenKind::Symbol(found) if *found == symbol)
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), TokenKind::Name(found) if **found == *word)
    }

    pub fn accept(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    pub fn expect(&mut self, symbol: &str) -> Result<(), ScriptError> {
        if self.accept(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    pub fn unexpected(&self, expected: &str) -> ScriptError {
        syntax(self.text, self.place(), format!("expected {expected}, found {}", self.describe()))
    }

    fn describe(&self) -> String {
        match self.peek() {
            TokenKind::End => "the end".into(),
            TokenKind::Symbol(symbol) => format!("`{symbol}`"),
            TokenKind::Name(name) => format!("`{name}`"),
            TokenKind::Literal(value) => format!("the value `{}`", value.to_java_string()),
        }
    }

    pub fn unsupported_here(&self, what: impl Into<String>) -> ScriptError {
        unsupported(self.text, self.place(), what)
    }

    pub fn enter(&mut self) -> Result<(), ScriptError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(
                self.unsupported_here(format!("an expression with more than {DEPTH_MAX} levels of nesting"))
            );
        }
        Ok(())
    }

    fn statement(&mut self) -> Result<Stmt, ScriptError> {
        self.enter()?;
        let statement = self.statement_inner();
        self.depth -= 1;
        statement
    }

    fn statement_inner(&mut self) -> Result<Stmt, ScriptError> {
        if self.accept(";") {
            return Ok(Stmt::Empty);
        }
        if self.is_symbol("{") {
            if self.looks_like_map() {
                return Err(self.unsupported_here("a map or a set"));
            }
            return self.block();
        }
        let word = match self.peek() {
            TokenKind::Name(name) => name.clone(),
            _ => return self.expression_statement(),
        };
        match &*word {
            "if" => self.if_statement(),
            "while" => self.while_statement(),
            "for" => self.for_statement(),
            "foreach" if self.dialect == Dialect::Jexl2 => Err(self.unsupported_here("`foreach`")),
            "return" => self.return_statement(),
            "break" | "continue" if self.dialect != Dialect::Jexl2 => {
                if self.loops == 0 {
                    return Err(syntax(self.text, self.place(), format!("`{word}` outside of a loop")));
                }
                self.advance();
                self.end_of_statement()?;
                Ok(if &*word == "break" { Stmt::Break } else { Stmt::Continue })
            }
            "do" | "function" | "new" => Err(self.unsupported_here(format!("`{word}`"))),
            "var" => {
                self.advance();
                self.declaration()
            }
            _ => self.expression_statement(),
        }
    }

    fn looks_like_map(&self) -> bool {
        // `{}`, `{:}`, `{1, 2}` and `{'a': 1}` are values; anything else is a block.
        self.symbol_at(1, ":")
            || self.symbol_at(1, "}")
            || matches!(self.peek_at(1), TokenKind::Literal(_))
                && (self.symbol_at(2, ":") || self.symbol_at(2, ","))
    }

    fn declaration(&mut self) -> Result<Stmt, ScriptError> {
        let TokenKind::Name(name) = self.peek().clone() else {
            return Err(self.unexpected("a name"));
        };
        self.advance();
        if self.is_symbol("(") {
            return Err(self.unsupported_here("a function defined in the script"));
        }
        // The name is not yet in scope in its own initializer.
        let value = if self.accept("=") { Some(self.expression()?) } else { None };
        let local = self.declare(&name)?;
        self.end_of_statement()?;
        Ok(Stmt::Declare(local, Type::ANY, value))
    }

    fn expression_statement(&mut self) -> Result<Stmt, ScriptError> {
        let expr = self.expression()?;
        self.end_of_statement()?;
        Ok(Stmt::Expr(expr))
    }

    fn end_of_statement(&mut self) -> Result<(), ScriptError> {
        if self.accept(";") || self.is_symbol("}") || self.is_end() || self.keyword_ahead() {
            Ok(())
        } else {
            Err(self.unexpected("the end of the statement"))
        }
    }

    fn keyword_ahead(&self) -> bool {
        matches!(self.peek(), TokenKind::Name(name)
            if matches!(&**name, "if" | "else" | "for" | "while" | "return" | "var" | "break" | "continue"))
    }

    fn block(&mut self) -> Result<Stmt, ScriptError> {
        self.expect("{")?;
        self.scopes.push(HashMap::new());
        let mut statements = Vec::new();
        while !self.is_symbol("}") {
            if self.is_end() {
                return Err(self.unexpected("`}`"));
            }
            statements.push(self.statement()?);
        }
        self.advance();
        self.scopes.pop();
        Ok(Stmt::Block(statements))
    }

    fn body(&mut self) -> Result<Stmt, ScriptError> {
        self.enter()?;
        let body = if self.is_symbol("{") { self.block() } else { self.statement() };
        self.depth -= 1;
        body
    }

    fn if_statement(&mut self) -> Result<Stmt, ScriptError> {
        self.advance();
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        let then = self.body()?;
        let otherwise = if self.accept_word("else") { Some(Box::new(self.body()?)) } else { None };
        Ok(Stmt::If(condition, Box::new(then), otherwise))
    }

    fn loop_body(&mut self) -> Result<Box<Stmt>, ScriptError> {
        self.loops += 1;
        let body = self.body()?;
        self.loops -= 1;
        Ok(Box::new(body))
    }

    fn while_statement(&mut self) -> Result<Stmt, ScriptError> {
        self.advance();
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        Ok(Stmt::While(condition, self.loop_body()?))
    }

    fn for_statement(&mut self) -> Result<Stmt, ScriptError> {
        self.advance();
        self.expect("(")?;
        self.scopes.push(HashMap::new());
        let statement = self.for_rest()?;
        self.scopes.pop();
        Ok(statement)
    }

    /// Parses `x : items)` or `var x : items)` and the loop's body.
    fn for_rest(&mut self) -> Result<Stmt, ScriptError> {
        if self.is_word("var") && matches!(self.peek_at(1), TokenKind::Name(_)) {
            self.advance();
        }
        let TokenKind::Name(name) = self.peek().clone() else {
            return Err(self.unexpected("`name :`"));
        };
        if !self.symbol_at(1, ":") {
            return Err(self.unexpected("`name :`"));
        }
        self.advance();
        self.advance();
        let items = self.expression()?;
        self.expect(")")?;
        let local = self.declare(&name)?;
        Ok(Stmt::ForEach(local, Type::ANY, items, self.loop_body()?))
    }

    fn return_statement(&mut self) -> Result<Stmt, ScriptError> {
        self.advance();
        if self.is_end() || self.is_symbol(";") || self.is_symbol("}") {
            return Err(self.unexpected("an expression"));
        }
        let value = self.expression()?;
        self.end_of_statement()?;
        Ok(Stmt::Return(Some(value)))
    }
}
