//! Statements.

use std::sync::Arc;

use super::ast::{Binary, Expr, Kind, Local, Stmt, Tree, Type};
use super::token::{Token, TokenKind, scan};
use super::{Dialect, names, syntax_error, unsupported};
use crate::{ScriptError, Value};

/// How deep expressions and statements may be nested; the interpreter's stack depends on it.
pub(super) const DEPTH_MAX: u32 = 150;
/// How long a script may be, in bytes.
const TEXT_BYTES_MAX: usize = 1 << 20;

pub(super) struct Parser<'t> {
    pub text: &'t str,
    pub dialect: Dialect,
    pub tokens: Vec<Token>,
    /// Whether the text ends in a comment, which in BeanShell hides the last semicolon that JMeter adds.
    comment_at_end: bool,
    pub at: usize,
    pub depth: u32,
    pub names: Vec<Arc<str>>,
    pub types: Vec<Type>,
    /// Names in sight, innermost block last; names that are merely assigned to belong to the outermost.
    pub scopes: Vec<Vec<(Arc<str>, Local)>>,
    /// Locals that something is assigned to, by index.
    pub assigned: Vec<bool>,
    pub declared: Vec<bool>,
    pub first_use: Vec<usize>,
    pub join_seen: bool,
    pub equals_seen: Option<usize>,
    /// Objects of wrapper classes, and comparisons that may be by identity: together they are refused.
    pub wrapper_seen: bool,
    pub identity_seen: Option<usize>,
    loops: u32,
    /// Whether an end of a range is being read.
    pub in_range: bool,
}

/// Parses a script of the dialect.
pub(crate) fn parse(text: &str, dialect: Dialect) -> Result<Tree, ScriptError> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(unsupported(text, 0, "a script of more than 1 MiB"));
    }
    let (tokens, comment_at_end) = scan(text, 0, text.len(), dialect)?;
    let mut parser = Parser {
        text,
        dialect,
        tokens,
        comment_at_end,
        at: 0,
        depth: 0,
        names: Vec::new(),
        types: Vec::new(),
        scopes: vec![Vec::new()],
        assigned: Vec::new(),
        declared: Vec::new(),
        first_use: Vec::new(),
        join_seen: false,
        equals_seen: None,
        wrapper_seen: false,
        identity_seen: None,
        loops: 0,
        in_range: false,
    };
    let mut statements = Vec::new();
    while !parser.is_end() {
        statements.push(parser.statement()?);
    }
    if let Some(Stmt::Expr(Expr { kind: Kind::List(_) | Kind::Binary(Binary::Range, ..), .. })) =
        statements.last()
        && dialect.is_jexl()
    {
        return Err(unsupported(text, 0, "an array as the script's value"));
    }
    parser.check_names()?;
    Ok(Tree { dialect, text: text.into(), statements, names: parser.names, types: parser.types })
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

    pub fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), TokenKind::Sign(found) if *found == sign)
    }

    pub fn sign_at(&self, ahead: usize, sign: &str) -> bool {
        matches!(self.peek_at(ahead), TokenKind::Sign(found) if *found == sign)
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), TokenKind::Name(found) if **found == *word)
    }

    pub fn accept(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
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

    pub fn expect(&mut self, sign: &str) -> Result<(), ScriptError> {
        if self.accept(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    /// JEXL's grammar is all here, so that what does not fit is wrong; of Groovy and BeanShell only a part is.
    pub fn unexpected(&self, expected: &str) -> ScriptError {
        let found = self.describe();
        let message = format!("expected {expected}, found {found}");
        if self.dialect.is_jexl() || self.is_end() {
            syntax_error(self.text, self.place(), message)
        } else {
            unsupported(self.text, self.place(), format!("{found} where {expected} was expected"))
        }
    }

    fn describe(&self) -> String {
        match self.peek() {
            TokenKind::End => "the end".into(),
            TokenKind::Sign(sign) => format!("`{sign}`"),
            TokenKind::Name(name) => format!("`{name}`"),
            TokenKind::Literal(value) => format!("the value `{}`", value.to_java_string()),
            TokenKind::Join(_) => "a text".into(),
        }
    }

    pub fn unsupported_here(&self, what: impl Into<String>) -> ScriptError {
        unsupported(self.text, self.place(), what)
    }

    pub fn enter(&mut self) -> Result<(), ScriptError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(
                self.unsupported_here(format!("an expression of more than {DEPTH_MAX} steps of depth"))
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
        if self.is_sign("{") {
            if self.dialect == Dialect::Groovy {
                return Err(self.unsupported_here("a closure or a block of its own"));
            }
            if self.dialect.is_jexl() && self.looks_like_map() {
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
                    return Err(syntax_error(self.text, self.place(), format!("`{word}` outside of a loop")));
                }
                self.advance();
                self.end_of_statement()?;
                Ok(if &*word == "break" { Stmt::Break } else { Stmt::Continue })
            }
            "import" if !self.dialect.is_jexl() => self.import(),
            "do" | "function" | "new" if self.dialect.is_jexl() => {
                Err(self.unsupported_here(format!("`{word}`")))
            }
            "var" if self.dialect.is_jexl() => {
                self.advance();
                self.declaration_rest(Type::Any, false)
            }
            "do" | "switch" | "try" | "throw" | "class" | "interface" | "enum" | "synchronized"
            | "static" | "private" | "public" | "protected" | "final" | "assert" | "void" | "package"
            | "abstract"
                if !self.dialect.is_jexl() =>
            {
                Err(self.unsupported_here(format!("`{word}`")))
            }
            _ => self.declaration_or_expression(&word),
        }
    }

    fn looks_like_map(&self) -> bool {
        // `{}`, `{:}`, `{1, 2}` and `{'a': 1}` are values, all else is a block.
        self.sign_at(1, ":")
            || self.sign_at(1, "}")
            || matches!(self.peek_at(1), TokenKind::Literal(_))
                && (self.sign_at(2, ":") || self.sign_at(2, ","))
    }

    fn declaration_or_expression(&mut self, word: &str) -> Result<Stmt, ScriptError> {
        if !self.dialect.is_jexl()
            && let Some(declared) = names::type_of(word)
            && !(self.dialect == Dialect::BeanShell && matches!(word, "def"))
        {
            if matches!(self.peek_at(1), TokenKind::Name(_)) {
                self.advance();
                return self.declaration_rest(declared, names::is_wrapper(word));
            }
            if declared == Type::Text && self.sign_at(1, "[") && self.sign_at(2, "]") {
                for _ in 0..3 {
                    self.advance();
                }
                return self.declaration_rest(Type::TextArray, false);
            }
        }
        if !self.dialect.is_jexl()
            && matches!(self.peek_at(1), TokenKind::Name(_))
            && !self.tokens[self.at + 1].after_newline
            && matches!(self.peek_at(2), TokenKind::Sign("=" | ";"))
        {
            return Err(self.unsupported_here(format!("the type `{word}`")));
        }
        self.expression_statement()
    }

    fn declaration_rest(&mut self, declared: Type, wrapper: bool) -> Result<Stmt, ScriptError> {
        self.wrapper_seen |= wrapper;
        let mut declarations = Vec::new();
        loop {
            let TokenKind::Name(name) = self.peek().clone() else {
                return Err(self.unexpected("a name"));
            };
            self.advance();
            if self.is_sign("(") {
                return Err(self.unsupported_here("a method of the script's own"));
            }
            // The name is not yet in sight of its own first value.
            let value = if self.accept("=") { Some(self.expression()?) } else { None };
            if let Some(value) = &value {
                self.check_assigned(declared, value)?;
            }
            let is_null = matches!(&value, None | Some(Expr { kind: Kind::Literal(Value::Null), .. }));
            if wrapper && is_null {
                return Err(self.unsupported_here("an object of a wrapper class that is null"));
            }
            let local = self.declare(&name, declared)?;
            declarations.push(Stmt::Declare(local, declared, value));
            if self.dialect.is_jexl() || !self.accept(",") {
                break;
            }
        }
        self.end_of_statement()?;
        if declarations.len() == 1 {
            return Ok(declarations.remove(0));
        }
        if self.at_script_end() {
            return Err(self.unsupported_here("a declaration of many names as the script's value"));
        }
        // Not a scope of its own: the names are resolved already.
        Ok(Stmt::Block(declarations))
    }

    fn at_script_end(&self) -> bool {
        self.is_end()
    }

    fn expression_statement(&mut self) -> Result<Stmt, ScriptError> {
        let expr = self.expression()?;
        self.end_of_statement()?;
        Ok(Stmt::Expr(expr))
    }

    fn end_of_statement(&mut self) -> Result<(), ScriptError> {
        if self.accept(";") || self.is_sign("}") {
            return Ok(());
        }
        if self.is_end() {
            if self.dialect == Dialect::BeanShell && self.comment_at_end {
                return Err(syntax_error(self.text, self.place(), "expected `;`, found a comment"));
            }
            return Ok(());
        }
        match self.dialect {
            Dialect::Groovy if self.tokens[self.at].after_newline || self.is_word("else") => Ok(()),
            Dialect::Jexl2 | Dialect::Jexl3 if self.at > 0 && self.keyword_ahead() => Ok(()),
            // BeanShell's own error too.
            Dialect::BeanShell => {
                let found = self.describe();
                Err(syntax_error(self.text, self.place(), format!("expected `;`, found {found}")))
            }
            _ => Err(self.unexpected("the end of the statement")),
        }
    }

    fn keyword_ahead(&self) -> bool {
        matches!(self.peek(), TokenKind::Name(name)
            if matches!(&**name, "if" | "else" | "for" | "while" | "return" | "var" | "break" | "continue"))
    }

    fn block(&mut self) -> Result<Stmt, ScriptError> {
        self.expect("{")?;
        self.scopes.push(Vec::new());
        let mut statements = Vec::new();
        while !self.is_sign("}") {
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
        let body = if self.is_sign("{") { self.block() } else { self.statement() };
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
        self.scopes.push(Vec::new());
        let statement = self.for_rest()?;
        self.scopes.pop();
        Ok(statement)
    }

    fn for_rest(&mut self) -> Result<Stmt, ScriptError> {
        // `for (String s : list)`, `for (s in list)`, `for (var x : list)`.
        let typed = usize::from(
            matches!(self.peek(), TokenKind::Name(name) if names::type_of(name).is_some())
                && matches!(self.peek_at(1), TokenKind::Name(_)),
        );
        let separator_is_in = self.dialect == Dialect::Groovy
            && matches!(self.peek_at(typed + 1), TokenKind::Name(word) if **word == *"in");
        if self.sign_at(typed + 1, ":") || separator_is_in {
            if typed == 1 {
                self.advance();
            }
            let TokenKind::Name(name) = self.peek().clone() else {
                return Err(self.unexpected("a name"));
            };
            self.advance();
            self.advance();
            let items = self.range_or_expression()?;
            self.expect(")")?;
            let local = self.declare(&name, Type::Any)?;
            return Ok(Stmt::ForEach(local, items, self.loop_body()?));
        }
        if self.dialect.is_jexl() {
            return Err(self.unexpected("`name :`"));
        }
        let first = self.statement()?;
        if !matches!(self.tokens[self.at - 1].kind, TokenKind::Sign(";")) {
            return Err(self.unexpected("`;`"));
        }
        let condition = if self.is_sign(";") { None } else { Some(self.expression()?) };
        self.expect(";")?;
        let mut steps = Vec::new();
        if !self.is_sign(")") {
            loop {
                steps.push(self.expression()?);
                if !self.accept(",") {
                    break;
                }
            }
        }
        self.expect(")")?;
        Ok(Stmt::For(Box::new(first), condition, steps, self.loop_body()?))
    }

    /// Groovy's `0..2`, which is known behind `in` only.
    fn range_or_expression(&mut self) -> Result<Expr, ScriptError> {
        let first = self.range_end()?;
        if self.dialect != Dialect::Groovy || !self.is_sign("..") {
            return Ok(first);
        }
        let at = self.place() as u32;
        self.advance();
        let last = self.range_end()?;
        Ok(Expr { at, kind: Kind::Binary(Binary::Range, Box::new(first), Box::new(last)) })
    }

    fn return_statement(&mut self) -> Result<Stmt, ScriptError> {
        self.advance();
        let bare = self.is_end()
            || self.is_sign(";")
            || self.is_sign("}")
            || (self.dialect == Dialect::Groovy && self.tokens[self.at].after_newline);
        if bare && self.dialect.is_jexl() {
            return Err(self.unexpected("an expression"));
        }
        let value = if bare { None } else { Some(self.expression()?) };
        self.end_of_statement()?;
        Ok(Stmt::Return(value))
    }

    /// An import of a class that is known, or of a package, changes nothing; others are refused where they are used.
    fn import(&mut self) -> Result<Stmt, ScriptError> {
        let at = self.place();
        self.advance();
        let mut path = String::new();
        while let TokenKind::Name(part) = self.peek().clone() {
            path.push_str(&part);
            self.advance();
            if !self.accept(".") {
                break;
            }
            path.push('.');
        }
        let wildcard = self.accept("*");
        let known = names::class(&path).is_some();
        let package = wildcard && (path == "java.util." || path == "java.lang." || path == "java.io.");
        if !known && !package {
            return Err(unsupported(
                self.text,
                at,
                format!("the class `{path}{}`", if wildcard { "*" } else { "" }),
            ));
        }
        self.end_of_statement()?;
        Ok(Stmt::Empty)
    }

    /// Parses the expression that stands in `text[from..to]`.
    pub fn embedded(&mut self, from: usize, to: usize) -> Result<super::ast::Expr, ScriptError> {
        let (inner, _) = scan(self.text, from, to, self.dialect)?;
        let outer = std::mem::replace(&mut self.tokens, inner);
        let at = std::mem::replace(&mut self.at, 0);
        let expr = self.expression();
        let complete = self.is_end();
        let rest = self.unexpected("`}`");
        self.tokens = outer;
        self.at = at;
        let expr = expr?;
        if complete { Ok(expr) } else { Err(rest) }
    }
}
