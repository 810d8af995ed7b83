//! The words of a script one by one: what they are, what they may be. The statements stand in `statements`.

mod statements;

use std::collections::HashMap;
use std::sync::Arc;

use super::classes::Class;
use super::lexer::{Token, Word, scan};
use super::tree::{Base, Expr, Kind, Name, Stmt, Tree, Type};
use super::{Language, known, syntax, unsupported};
use crate::{ScriptError, Value};

/// Deepest nesting of expressions and statements.
const DEPTH_MAX: u32 = 120;

pub(super) struct Parser<'t> {
    pub text: &'t str,
    pub language: Language,
    pub tokens: Vec<Token>,
    pub at: usize,
    pub names: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, Name>,
    /// Imported classes by the name they have here; `None`: one that is not known.
    pub imports: HashMap<String, Option<Class>>,
    pub packages: Vec<String>,
    pub depth: u32,
    /// Names that are declared or assigned somewhere, or bound.
    pub declared: std::collections::HashSet<Arc<str>>,
    /// Names declared as `int` or `long`, and those declared as objects of numbers.
    pub whole: std::collections::HashSet<Name>,
    pub boxed: std::collections::HashSet<Name>,
    /// Names declared as `double`.
    pub doubles: std::collections::HashSet<Name>,
}

/// Parses a whole script.
pub(super) fn parse(text: &str, language: Language) -> Result<Tree, ScriptError> {
    let tokens = scan(text, 0, text.len(), language)?;
    let mut parser = Parser {
        text,
        language,
        tokens,
        at: 0,
        names: Vec::new(),
        ids: HashMap::new(),
        imports: HashMap::new(),
        packages: Vec::new(),
        depth: 0,
        declared: std::collections::HashSet::new(),
        whole: std::collections::HashSet::new(),
        boxed: std::collections::HashSet::new(),
        doubles: std::collections::HashSet::new(),
    };
    parser.check_end()?;
    parser.find_declared();
    let mut statements = Vec::new();
    while !matches!(parser.peek(), Word::End) {
        parser.statement_into(&mut statements)?;
    }
    parser.check_twice(&statements)?;
    Ok(Tree { language, text: text.into(), statements, names: parser.names })
}

impl Parser<'_> {
    /// BeanShell gets a semicolon behind the text, which does not help where that ends in a comment.
    fn check_end(&self) -> Result<(), ScriptError> {
        let last = self.text.rsplit('\n').next().unwrap_or("");
        let closed =
            self.tokens.iter().rev().nth(1).is_none_or(|token| matches!(token.word, Word::Sign(";" | "}")));
        let behind = self.tokens.iter().rev().nth(1).map_or(0, |token| token.at);
        let comment = last.find("//").is_some_and(|at| self.text.len() - last.len() + at > behind);
        if !self.groovy() && !closed && comment && !self.text[behind..].contains('\n') {
            return Err(syntax(self.text, behind, "the last statement has no semicolon before the comment"));
        }
        Ok(())
    }

    /// In Groovy a variable is declared once.
    fn check_twice(&self, statements: &[Stmt]) -> Result<(), ScriptError> {
        let mut seen = std::collections::HashSet::new();
        for statement in statements {
            if let Stmt::Declare(name, _, value) = statement
                && self.groovy()
                && !seen.insert(*name)
            {
                let at = value.as_ref().map_or(0, |value| value.at as usize);
                return Err(syntax(
                    self.text,
                    at,
                    format!("`{}` is declared twice", self.names[*name as usize]),
                ));
            }
        }
        Ok(())
    }

    /// What Groovy computes in whole numbers because of the declaration is not told apart here.
    pub(super) fn check_quotient(&self, declared: Type, value: &Expr) -> Result<(), ScriptError> {
        let whole = |expr: &Expr| match &expr.kind {
            Kind::Literal(Value::Integer(_) | Value::Long(_)) => true,
            Kind::Name(name) => self.whole.contains(name),
            _ => false,
        };
        if let (
            Base::Double | Base::Float,
            false,
            Kind::Binary(super::tree::Operator::Plain(crate::syntax::ast::Binary::Divide), a, b),
        ) = (declared.base, declared.boxed, &value.kind)
            && whole(a)
            && whole(b)
            && self.groovy()
        {
            return Err(unsupported(self.text, value.at as usize, "a quotient of whole numbers as a double"));
        }
        Ok(())
    }

    /// Names that stand where a declaration or an assignment may be: such a name is no unknown class.
    fn find_declared(&mut self) {
        for pair in self.tokens.windows(2) {
            if let (Word::Name(name), Word::Sign("=" | ":" | ";" | "," | ")" | "->")) =
                (&pair[0].word, &pair[1].word)
            {
                self.declared.insert(name.clone());
            }
        }
    }

    pub(super) fn groovy(&self) -> bool {
        self.language == Language::Groovy
    }

    // Words.

    pub(super) fn peek(&self) -> &Word {
        &self.tokens[self.at].word
    }

    pub(super) fn ahead(&self, by: usize) -> &Word {
        &self.tokens[(self.at + by).min(self.tokens.len() - 1)].word
    }

    pub(super) fn token(&self) -> &Token {
        &self.tokens[self.at]
    }

    pub(super) fn place(&self) -> usize {
        self.tokens[self.at].at
    }

    pub(super) fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    pub(super) fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Word::Sign(found) if *found == sign)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Word::Name(found) if **found == *word)
    }

    pub(super) fn accept(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect(&mut self, sign: &str) -> Result<(), ScriptError> {
        if self.accept(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    pub(super) fn unexpected(&self, wanted: &str) -> ScriptError {
        let found = match self.peek() {
            Word::Name(name) => format!("`{name}`"),
            Word::Literal(_) | Word::Join(_) => "a literal".to_owned(),
            Word::Sign(sign) => format!("`{sign}`"),
            Word::End => "the end".to_owned(),
        };
        syntax(self.text, self.place(), format!("expected {wanted}, found {found}"))
    }

    pub(super) fn refuse<T>(&self, what: impl Into<String>) -> Result<T, ScriptError> {
        Err(unsupported(self.text, self.place(), what))
    }

    pub(super) fn any_name(&mut self) -> Result<Arc<str>, ScriptError> {
        match self.peek() {
            Word::Name(name) => {
                let name = name.clone();
                self.advance();
                Ok(name)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    pub(super) fn id(&mut self, name: &Arc<str>) -> Name {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = self.names.len() as Name;
        self.names.push(name.clone());
        self.ids.insert(name.clone(), id);
        id
    }

    pub(super) fn enter(&mut self) -> Result<(), ScriptError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self.refuse(format!("more than {DEPTH_MAX} steps of depth"));
        }
        Ok(())
    }

    /// Parses what stands between two offsets, as the code in a text.
    pub(super) fn nested(&mut self, from: usize, to: usize) -> Result<Expr, ScriptError> {
        let tokens = scan(self.text, from, to, self.language)?;
        let outer = std::mem::replace(&mut self.tokens, tokens);
        let at = std::mem::replace(&mut self.at, 0);
        let expr = self.expression();
        let end = expr.is_err() || matches!(self.peek(), Word::End);
        let failed = if end { None } else { Some(self.unexpected("the end of the code in a text")) };
        self.tokens = outer;
        self.at = at;
        match failed {
            Some(error) => Err(error),
            None => expr,
        }
    }

    // Types.

    /// The class of a name, if it names one.
    pub(super) fn class_of(&self, name: &str) -> Option<Option<Class>> {
        if let Some(imported) = self.imports.get(name) {
            return Some(*imported);
        }
        Class::simple(name, self.groovy(), &self.packages).map(Some)
    }

    /// A type at this place, or nothing and no step taken.
    pub(super) fn type_here(&mut self) -> Option<Type> {
        let start = self.at;
        let found = self.type_of_words();
        if found.is_none() {
            self.at = start;
        }
        found
    }

    fn type_of_words(&mut self) -> Option<Type> {
        let Word::Name(first) = self.peek().clone() else { return None };
        self.advance();
        let mut name = first.to_string();
        while self.is(".") && matches!(self.ahead(1), Word::Name(_)) {
            self.advance();
            let Word::Name(part) = self.peek().clone() else { return None };
            name.push('.');
            name.push_str(&part);
            self.advance();
        }
        let (base, boxed) = match name.as_str() {
            "def" | "var" if self.groovy() => (Base::Any, true),
            "int" => (Base::Int, false),
            "long" => (Base::Long, false),
            "short" => (Base::Short, false),
            "byte" => (Base::Byte, false),
            "double" => (Base::Double, false),
            "float" => (Base::Float, false),
            "boolean" => (Base::Boolean, false),
            "char" => (Base::Char, false),
            "void" => (Base::Void, false),
            _ => {
                let class = if name.contains('.') { Class::qualified(&name) } else { self.class_of(&name)? };
                let class = class?;
                match class.name() {
                    "Integer" => (Base::Int, true),
                    "Long" => (Base::Long, true),
                    "Short" => (Base::Short, true),
                    "Byte" => (Base::Byte, true),
                    "Double" => (Base::Double, true),
                    "Float" => (Base::Float, true),
                    "Boolean" => (Base::Boolean, true),
                    "Character" => (Base::Char, true),
                    "String" => (Base::Text, true),
                    "Object" | "CharSequence" | "Iterable" => (Base::Any, true),
                    _ => (Base::Class(class), true),
                }
            }
        };
        if self.is("<") && !self.skip_generics() {
            return None;
        }
        let mut arrays = 0;
        while self.is("[") && matches!(self.ahead(1), Word::Sign("]")) {
            self.advance();
            self.advance();
            arrays += 1;
        }
        Some(Type { base, boxed, arrays })
    }

    /// `<String, List<Object>>`
    pub(super) fn skip_generics(&mut self) -> bool {
        let start = self.at;
        let mut depth = 0_i32;
        loop {
            match self.peek() {
                Word::Sign("<") => depth += 1,
                Word::Sign(">") => depth -= 1,
                Word::Name(_) | Word::Sign("," | "." | "?" | "[" | "]") => {}
                _ => {
                    self.at = start;
                    return false;
                }
            }
            self.advance();
            if depth == 0 {
                return true;
            }
        }
    }

    /// A method that no class has is refused, unless the script has it.
    pub(super) fn check_method(&self, name: &str, at: usize) -> Result<(), ScriptError> {
        if known::is_method(name) {
            return Ok(());
        }
        Err(unsupported(self.text, at, format!("the method `{name}`")))
    }

    /// Likewise a function.
    pub(super) fn check_function(&self, name: &str, at: usize) -> Result<(), ScriptError> {
        let is_own = self.declared.contains(name) || self.defines(name);
        if is_own || known::is_function(name, self.groovy()) {
            return Ok(());
        }
        Err(unsupported(self.text, at, format!("the function `{name}`")))
    }

    /// Whether the parentheses that open here are followed by a body.
    fn method_body_follows(&self, open: usize) -> bool {
        let mut depth = 0_i32;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            match &token.word {
                Word::Sign("(") => depth += 1,
                Word::Sign(")") => {
                    depth -= 1;
                    if depth == 0 {
                        let mut next = at + 1;
                        if matches!(&self.tokens[next].word, Word::Name(name) if &**name == "throws") {
                            while !matches!(self.tokens[next].word, Word::Sign("{") | Word::End) {
                                next += 1;
                            }
                        }
                        return matches!(self.tokens[next].word, Word::Sign("{"));
                    }
                }
                Word::End => return false,
                _ => {}
            }
        }
        false
    }

    /// Whether the script defines a method of that name somewhere.
    fn defines(&self, name: &str) -> bool {
        self.tokens.iter().enumerate().any(|(at, token)| {
            matches!(&token.word, Word::Name(found) if **found == *name)
                && matches!(self.tokens.get(at + 1).map(|next| &next.word), Some(Word::Sign("(")))
                && self.method_body_follows(at + 1)
        })
    }

    pub(super) fn text_literal(&self, text: &str, at: u32) -> Expr {
        Expr { at, kind: Kind::Literal(Value::text(text)) }
    }
}
