//! The state of the parser, types, and checks of names. `statements` parses statements.

mod definitions;
mod imports;
mod labels;
mod statements;
mod uses;

use std::collections::HashMap;
use std::sync::Arc;

use super::classes::Class;
use super::diagnostic::{Warning, syntax, unsupported};
use super::lexer::{Token, TokenKind, scan};
use super::library::sampler;
use super::tree::{Base, Expr, Kind, Name, Stmt, Tree, Type};
use super::{known, library, stack};
use crate::java_like::JavaLike;
use crate::{ScriptError, Value};

/// Maximum nesting depth of expressions and statements.
const DEPTH_MAX: u32 = 120;

/// Maximum number of warnings for a script; further warnings are discarded.
const WARNINGS_MAX: usize = 100;

pub(super) struct Parser<'t> {
    pub text: &'t str,
    pub language: JavaLike,
    pub tokens: Vec<Token>,
    pub at: usize,
    pub names: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, Name>,
    /// Imported classes by the name that the script uses; `None` for an unknown class.
    pub imports: HashMap<String, Option<Class>>,
    pub packages: Vec<String>,
    /// Imported static members by the name that the script uses: their class and their own name.
    pub statics: HashMap<String, (Class, String)>,
    /// Classes all of whose static members are imported.
    pub static_classes: Vec<Class>,
    /// Errors that JMeter reports only when the script runs.
    pub warnings: Vec<Warning>,
    /// Whether the script may read more of the current sampler than its name.
    pub accesses_request: bool,
    /// Names that are neither classes nor variables.
    pub unknown_names: std::collections::HashSet<String>,
    /// Variables that hold a `JsonBuilder`, whose methods may have any name.
    pub builders: std::collections::HashSet<Name>,
    /// Number of closures around the current token. In a closure a function may be a method of the closure's delegate.
    pub closure_depth: u32,
    /// Classes that the script defines: those parsed so far (`classes`), and all of them (`own_classes`).
    pub classes: Vec<Arc<super::tree::Definition>>,
    pub own_classes: Vec<Class>,
    /// Possible names of members of these classes.
    pub own_members: std::collections::HashSet<String>,
    /// The class around the current token.
    pub in_class: Option<Arc<str>>,
    /// The class that `super` refers to.
    pub parent_class: Option<Class>,
    /// The kinds of objects that variables hold, as far as they are certain.
    pub kinds: HashMap<Name, super::supported::Receiver>,
    /// The number of assignments and declarations of each name in the whole script.
    pub assigned: HashMap<Arc<str>, u32>,
    pub depth: u32,
    /// Position in the stack when parsing began.
    stack_base: u64,
    /// The uses of names in the whole script.
    pub uses: uses::Uses,
    /// Names that are declared, assigned or bound anywhere in the script.
    pub declared: std::collections::HashSet<Arc<str>>,
    /// Names declared as `int` or `long`.
    pub integers: std::collections::HashSet<Name>,
    /// Names declared as boxed numbers, such as `Integer`.
    pub boxed_numbers: std::collections::HashSet<Name>,
    /// Names declared as `double` or `float`.
    pub doubles: std::collections::HashSet<Name>,
}

/// Parses a whole script.
pub(super) fn parse(text: &str, language: JavaLike) -> Result<Tree, ScriptError> {
    let tokens = scan(text, 0, text.len(), language)?;
    let mut parser = Parser {
        uses: uses::Uses::from_tokens(&tokens),
        text,
        language,
        tokens,
        at: 0,
        names: Vec::new(),
        ids: HashMap::new(),
        imports: HashMap::new(),
        packages: Vec::new(),
        statics: HashMap::new(),
        static_classes: Vec::new(),
        warnings: Vec::new(),
        accesses_request: false,
        unknown_names: std::collections::HashSet::new(),
        builders: std::collections::HashSet::new(),
        closure_depth: 0,
        classes: Vec::new(),
        own_classes: Vec::new(),
        own_members: std::collections::HashSet::new(),
        kinds: HashMap::new(),
        assigned: HashMap::new(),
        in_class: None,
        parent_class: None,
        depth: 0,
        stack_base: stack::here(),
        declared: std::collections::HashSet::new(),
        integers: std::collections::HashSet::new(),
        boxed_numbers: std::collections::HashSet::new(),
        doubles: std::collections::HashSet::new(),
    };
    parser.check_end()?;
    parser.find_declared();
    parser.find_classes()?;
    let mut statements = Vec::new();
    while !matches!(parser.peek(), TokenKind::End) {
        parser.statement_into(&mut statements)?;
    }
    parser.check_duplicates(&statements)?;
    Ok(Tree {
        dialect: language.into(),
        text: text.into(),
        statements,
        names: parser.names,
        classes: parser.classes,
        warnings: parser.warnings,
        accesses_request: parser.accesses_request,
    })
}

impl Parser<'_> {
    /// BeanShell appends a semicolon to the script. If the script ends in a comment, the semicolon becomes part of the
    /// comment, and the last statement needs its own.
    fn check_end(&self) -> Result<(), ScriptError> {
        let last = self.text.rsplit('\n').next().unwrap_or("");
        let closed = self
            .tokens
            .iter()
            .rev()
            .nth(1)
            .is_none_or(|token| matches!(token.kind, TokenKind::Symbol(";" | "}")));
        let last_at = self.tokens.iter().rev().nth(1).map_or(0, |token| token.at);
        let comment = last.find("//").is_some_and(|at| self.text.len() - last.len() + at > last_at);
        if !self.groovy() && !closed && comment && !self.text[last_at..].contains('\n') {
            return Err(syntax(self.text, last_at, "the last statement has no semicolon before the comment"));
        }
        Ok(())
    }

    /// Rejects a second declaration of a variable, as Groovy does.
    fn check_duplicates(&self, statements: &[Stmt]) -> Result<(), ScriptError> {
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

    /// Rejects a division of integers whose result is assigned to a `double` or `float` variable: Groovy then divides
    /// primitive numbers.
    pub(super) fn check_quotient(&self, declared: Type, value: &Expr) -> Result<(), ScriptError> {
        let whole = |expr: &Expr| match &expr.kind {
            Kind::Literal(Value::Integer(_) | Value::Long(_)) => true,
            Kind::Name(name) => self.integers.contains(name),
            _ => false,
        };
        if let (
            Base::Double | Base::Float,
            false,
            Kind::Binary(super::tree::Operator::Plain(crate::plain::Binary::Divide), a, b),
        ) = (declared.base, declared.boxed, &value.kind)
            && whole(a)
            && whole(b)
            && self.groovy()
        {
            return Err(unsupported(
                self.text,
                value.at as usize,
                "a quotient of integers assigned to a double",
            ));
        }
        Ok(())
    }

    /// Collects the names that may be declared or assigned in the script, and are therefore not unknown classes.
    fn find_declared(&mut self) {
        for pair in self.tokens.windows(2) {
            if let (TokenKind::Name(name), TokenKind::Symbol("=" | ":" | ";" | "," | ")" | "->")) =
                (&pair[0].kind, &pair[1].kind)
            {
                self.declared.insert(name.clone());
            }
            if let (TokenKind::Name(name), TokenKind::Symbol("=" | "->" | "+=" | "-=" | "<<=")) =
                (&pair[0].kind, &pair[1].kind)
            {
                *self.assigned.entry(name.clone()).or_default() += 1;
            }
        }
    }

    pub(super) fn groovy(&self) -> bool {
        self.language == JavaLike::Groovy
    }

    // Tokens.

    pub(super) fn peek(&self) -> &TokenKind {
        &self.tokens[self.at].kind
    }

    pub(super) fn ahead(&self, by: usize) -> &TokenKind {
        &self.tokens[(self.at + by).min(self.tokens.len() - 1)].kind
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

    pub(super) fn is(&self, symbol: &str) -> bool {
        matches!(self.peek(), TokenKind::Symbol(found) if *found == symbol)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), TokenKind::Name(found) if **found == *word)
    }

    pub(super) fn accept(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
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

    pub(super) fn expect(&mut self, symbol: &str) -> Result<(), ScriptError> {
        if self.accept(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    pub(super) fn unexpected(&self, wanted: &str) -> ScriptError {
        let found = match self.peek() {
            TokenKind::Name(name) => format!("`{name}`"),
            TokenKind::Literal(_) | TokenKind::Join(_) => "a literal".to_owned(),
            TokenKind::Symbol(symbol) => format!("`{symbol}`"),
            TokenKind::End => "the end".to_owned(),
        };
        syntax(self.text, self.place(), format!("expected {wanted}, found {found}"))
    }

    pub(super) fn refuse<T>(&self, what: impl Into<String>) -> Result<T, ScriptError> {
        Err(unsupported(self.text, self.place(), what))
    }

    pub(super) fn any_name(&mut self) -> Result<Arc<str>, ScriptError> {
        match self.peek() {
            TokenKind::Name(name) => {
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
            return self.refuse(format!("nesting of more than {DEPTH_MAX} levels"));
        }
        if stack::is_too_deep(self.stack_base) {
            return self.refuse("such deep nesting");
        }
        Ok(())
    }

    /// Parses an expression between two offsets of the script, such as code embedded in a string.
    pub(super) fn nested(&mut self, from: usize, to: usize) -> Result<Expr, ScriptError> {
        self.within(from, to, Self::expression)
    }

    /// Parses a closure without braces between two offsets of the script.
    pub(super) fn nested_closure(&mut self, from: usize, to: usize) -> Result<Expr, ScriptError> {
        self.within(from, to, |parser| parser.closure_body(from))
    }

    fn within(
        &mut self,
        from: usize,
        to: usize,
        parse: impl FnOnce(&mut Self) -> Result<Expr, ScriptError>,
    ) -> Result<Expr, ScriptError> {
        let tokens = scan(self.text, from, to, self.language)?;
        let outer = std::mem::replace(&mut self.tokens, tokens);
        let at = std::mem::replace(&mut self.at, 0);
        let expr = parse(self);
        let end = expr.is_err() || matches!(self.peek(), TokenKind::End);
        let failed = if end { None } else { Some(self.unexpected("the end of the code in the string")) };
        self.tokens = outer;
        self.at = at;
        match failed {
            Some(error) => Err(error),
            None => expr,
        }
    }

    // Types.

    /// The class of a name: `None` if the name is not a class, `Some(None)` if the class is not known.
    pub(super) fn class_of(&self, name: &str) -> Option<Option<Class>> {
        if let Some(imported) = self.imports.get(name) {
            return Some(*imported);
        }
        Class::simple(name, self.groovy(), &self.packages).map(Some)
    }

    /// Parses a type at the current token; returns `None` without advancing if there is none.
    pub(super) fn optional_type(&mut self) -> Option<Type> {
        let start = self.at;
        let found = self.parse_type();
        if found.is_none() {
            self.at = start;
        }
        found
    }

    fn parse_type(&mut self) -> Option<Type> {
        let TokenKind::Name(first) = self.peek().clone() else { return None };
        self.advance();
        let mut name = first.to_string();
        while self.is(".") && matches!(self.ahead(1), TokenKind::Name(_)) {
            self.advance();
            let TokenKind::Name(part) = self.peek().clone() else { return None };
            name.push('.');
            name.push_str(&part);
            self.advance();
        }
        let (base, boxed) = match name.as_str() {
            "def" | "var" if self.groovy() => (Base::Any, true),
            "var" if matches!(self.peek(), TokenKind::Name(_)) => (Base::Any, true),
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
                let class = if name.contains('.') { self.inner_class(&name) } else { self.class_of(&name)? };
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
        let mut arrays = 0_u8;
        while self.is("[") && matches!(self.ahead(1), TokenKind::Symbol("]")) {
            self.advance();
            self.advance();
            arrays = arrays.checked_add(1)?;
        }
        Some(Type { base, boxed, arrays })
    }

    /// The class of a qualified name, or a class nested in an imported class: `Map.Entry`.
    fn inner_class(&self, name: &str) -> Option<Class> {
        if let Some(class) = Class::qualified(name) {
            return Some(class);
        }
        let (outer, inner) = name.split_once('.')?;
        let outer = self.class_of(outer)??;
        if outer.is_own() {
            return self.own_classes.iter().find(|class| class.name() == inner).copied();
        }
        Class::qualified(&format!("{}.{inner}", outer.qualified_name()))
    }

    /// BeanShell has no generics: JMeter's parser fails on a declaration with type arguments.
    pub(super) fn refuse_generics(&mut self) -> Result<(), ScriptError> {
        if self.groovy()
            || !matches!((self.peek(), self.ahead(1)), (TokenKind::Name(_), TokenKind::Symbol("<")))
        {
            return Ok(());
        }
        let start = self.at;
        self.advance();
        let is_declaration = self.skip_generics() && matches!(self.peek(), TokenKind::Name(_));
        self.at = start;
        if is_declaration {
            self.advance();
            let error = self.unexpected("the end of the statement");
            self.at = start;
            return Err(error);
        }
        Ok(())
    }

    /// Adds a dimension to an array type; Java allows 255.
    pub(super) fn add_dimension(&self, dimensions: u8) -> Result<u8, ScriptError> {
        match dimensions.checked_add(1) {
            Some(dimensions) => Ok(dimensions),
            None => self.refuse("an array with more than 255 dimensions"),
        }
    }

    /// Skips type arguments such as `<String, List<Object>>`; returns whether there were any.
    pub(super) fn skip_generics(&mut self) -> bool {
        let start = self.at;
        let mut depth = 0_i32;
        loop {
            match self.peek() {
                TokenKind::Symbol("<") => depth += 1,
                TokenKind::Symbol(">") => depth -= 1,
                TokenKind::Name(_) | TokenKind::Symbol("," | "." | "?" | "[" | "]") => {}
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

    /// Rejects a method that neither a known class nor the script defines.
    pub(super) fn check_method(&self, name: &str, at: usize) -> Result<(), ScriptError> {
        if known::is_method(name) || self.own_members.contains(name) {
            return Ok(());
        }
        Err(unsupported(self.text, at, format!("the method `{name}`")))
    }

    /// Rejects an unsupported function. For a function that the language lacks too, adds a warning: JMeter reports it only
    /// when it is called.
    pub(super) fn check_function(&mut self, name: &str, at: usize) -> Result<(), ScriptError> {
        let is_own = self.declared.contains(name) || self.uses.defines(name);
        if is_own || known::is_function(name, self.groovy()) {
            return Ok(());
        }
        let is_of_language = match self.groovy() {
            true => known::is_function_of_groovy(name),
            false => known::is_command_of_beanshell(name),
        };
        if self.static_classes.is_empty() && !is_of_language {
            if self.closure_depth > 0 {
                return Ok(());
            }
            self.warn(
                format!("there is no function `{name}`: JMeter starts the script, which fails at this call"),
                at,
            );
            return Ok(());
        }
        Err(unsupported(self.text, at, format!("the function `{name}`")))
    }

    fn warn(&mut self, what: String, at: usize) {
        if self.warnings.len() < WARNINGS_MAX {
            let place = crate::TextPlace::of(self.text, at);
            self.warnings.push(Warning { what, place });
        }
    }

    /// Whether a capitalized name certainly is not a class, so that JMeter reports the error only when the script runs. Adds a
    /// warning in this case.
    pub(super) fn is_unknown_class(&mut self, name: &str, at: usize) -> bool {
        let without_import = known::is_class_without_import(name, self.groovy());
        let packages = ["java.lang", "java.util", "java.io", "java.net"];
        let is_known = self.packages.iter().all(|package| packages.contains(&package.as_str()));
        if without_import || !is_known || !self.static_classes.is_empty() {
            return false;
        }
        self.warn(
            format!(
                "`{name}` is neither a class nor a variable: JMeter starts the script, which fails at this name"
            ),
            at,
        );
        self.unknown_names.insert(name.to_owned());
        true
    }

    /// The imported static member with this name: a method if `calls`, otherwise a constant.
    pub(super) fn static_member(&self, name: &str, calls: bool) -> Option<(Class, String)> {
        let has = |class: Class, member: &str| {
            if calls {
                known::has_static(class.name(), member)
            } else {
                library::statics::constant(class, member).is_ok()
            }
        };
        if let Some((class, member)) = self.statics.get(name) {
            return has(*class, member).then(|| (*class, member.clone()));
        }
        let class = self.static_classes.iter().find(|class| has(**class, name))?;
        Some((*class, name.to_owned()))
    }

    /// Records how the script uses the name `sampler`.
    pub(super) fn note_sampler(&mut self) {
        let is_of_any_sampler = matches!(
            (self.ahead(1), self.ahead(2)),
            (TokenKind::Symbol("." | "?."), TokenKind::Name(member)) if sampler::MEMBERS_OF_ANY_SAMPLER.contains(&&**member)
        );
        self.accesses_request |= !is_of_any_sampler;
    }

    /// Records how the script uses the result of `ctx.getCurrentSampler()`; the current token is the method's name.
    pub(super) fn note_sampler_after_call(&mut self) {
        let next = if matches!(self.ahead(1), TokenKind::Symbol("(")) { 3 } else { 1 };
        let is_of_any_sampler = matches!(
            (self.ahead(next), self.ahead(next + 1)),
            (TokenKind::Symbol("." | "?."), TokenKind::Name(member)) if sampler::MEMBERS_OF_ANY_SAMPLER.contains(&&**member)
        );
        self.accesses_request |= !is_of_any_sampler;
    }

    /// Whether a name is an operator of the language: `in` and `as` are ordinary names in BeanShell.
    pub(super) fn is_operator(&self, word: &str) -> bool {
        word == "instanceof" || self.groovy() && matches!(word, "in" | "as")
    }

    pub(super) fn text_literal(&self, text: &str, at: u32) -> Expr {
        Expr { at, kind: Kind::Literal(Value::text(text)) }
    }
}

/// Whether a token is `in`.
pub(super) fn is_in(word: &TokenKind) -> bool {
    matches!(word, TokenKind::Name(name) if &**name == "in")
}
