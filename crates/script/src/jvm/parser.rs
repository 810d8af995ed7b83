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
use super::lexer::{Token, Word, scan};
use super::library::sampler;
use super::tree::{Base, Expr, Kind, Name, Stmt, Tree, Type};
use super::{known, library, stack};
use crate::java_like::Language;
use crate::{ScriptError, Value};

/// Deepest nesting of expressions and statements.
const DEPTH_MAX: u32 = 120;

/// Most warnings about one script; further ones are left out.
const WARNINGS_MAX: usize = 100;

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
    /// Static members by the name they have here: their class and their own name.
    pub statics: HashMap<String, (Class, String)>,
    /// Classes all of whose static members are imported.
    pub static_classes: Vec<Class>,
    /// Errors that JMeter reports only when the script runs.
    pub warnings: Vec<Warning>,
    /// Whether the script may read more of the current sampler than its name.
    pub opens_request: bool,
    /// Names that are neither classes nor variables.
    pub nowhere: std::collections::HashSet<String>,
    /// Variables that hold a `JsonBuilder`, whose methods may have any name.
    pub builders: std::collections::HashSet<Name>,
    /// Closures around this place: a function may be one of the closure's delegate.
    pub closures: u32,
    /// Classes that the script defines, as values of the tree and by their names.
    pub classes: Vec<Arc<super::tree::Definition>>,
    pub own_classes: Vec<Class>,
    /// Names that members of these classes may have.
    pub own_members: std::collections::HashSet<String>,
    /// The class around this place.
    pub in_class: Option<Arc<str>>,
    /// What `super` means here.
    pub parent_class: Option<Class>,
    /// What kinds of objects variables hold, where that is certain.
    pub kinds: HashMap<Name, super::supported::Receiver>,
    /// How often a name is assigned or declared in the whole script.
    pub assigned: HashMap<Arc<str>, u32>,
    pub depth: u32,
    /// Where the stack was when parsing began.
    stack_base: u64,
    /// How the script uses its names anywhere.
    pub uses: uses::Uses,
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
        uses: uses::Uses::of(&tokens),
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
        opens_request: false,
        nowhere: std::collections::HashSet::new(),
        builders: std::collections::HashSet::new(),
        closures: 0,
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
        whole: std::collections::HashSet::new(),
        boxed: std::collections::HashSet::new(),
        doubles: std::collections::HashSet::new(),
    };
    parser.check_end()?;
    parser.find_declared();
    parser.find_classes()?;
    let mut statements = Vec::new();
    while !matches!(parser.peek(), Word::End) {
        parser.statement_into(&mut statements)?;
    }
    parser.check_twice(&statements)?;
    Ok(Tree {
        dialect: language.into(),
        text: text.into(),
        statements,
        names: parser.names,
        classes: parser.classes,
        warnings: parser.warnings,
        opens_request: parser.opens_request,
    })
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

    /// Rejects calculations for which Groovy uses primitive numbers because of the declaration.
    pub(super) fn check_quotient(&self, declared: Type, value: &Expr) -> Result<(), ScriptError> {
        let whole = |expr: &Expr| match &expr.kind {
            Kind::Literal(Value::Integer(_) | Value::Long(_)) => true,
            Kind::Name(name) => self.whole.contains(name),
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
            return Err(unsupported(self.text, value.at as usize, "a quotient of whole numbers as a double"));
        }
        Ok(())
    }

    /// Names that may be declared or assigned in the script, and are therefore not unknown classes.
    fn find_declared(&mut self) {
        for pair in self.tokens.windows(2) {
            if let (Word::Name(name), Word::Sign("=" | ":" | ";" | "," | ")" | "->")) =
                (&pair[0].word, &pair[1].word)
            {
                self.declared.insert(name.clone());
            }
            if let (Word::Name(name), Word::Sign("=" | "->" | "+=" | "-=" | "<<=")) =
                (&pair[0].word, &pair[1].word)
            {
                *self.assigned.entry(name.clone()).or_default() += 1;
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
        if stack::is_too_deep(self.stack_base) {
            return self.refuse("such deep nesting");
        }
        Ok(())
    }

    /// Parses the script between two offsets, such as code in a text.
    pub(super) fn nested(&mut self, from: usize, to: usize) -> Result<Expr, ScriptError> {
        self.within(from, to, Self::expression)
    }

    /// The same of a closure without braces.
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
            "var" if matches!(self.peek(), Word::Name(_)) => (Base::Any, true),
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
        while self.is("[") && matches!(self.ahead(1), Word::Sign("]")) {
            self.advance();
            self.advance();
            arrays = arrays.checked_add(1)?;
        }
        Some(Type { base, boxed, arrays })
    }

    /// A class of a qualified name, or one inside another that is imported: `Map.Entry`.
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

    /// BeanShell has no types in angle brackets: JMeter's parser fails on a declaration with them.
    pub(super) fn refuse_generics(&mut self) -> Result<(), ScriptError> {
        if self.groovy() || !matches!((self.peek(), self.ahead(1)), (Word::Name(_), Word::Sign("<"))) {
            return Ok(());
        }
        let start = self.at;
        self.advance();
        let is_declaration = self.skip_generics() && matches!(self.peek(), Word::Name(_));
        self.at = start;
        if is_declaration {
            self.advance();
            let error = self.unexpected("the end of the statement");
            self.at = start;
            return Err(error);
        }
        Ok(())
    }

    /// Counts a dimension of an array. Java allows 255.
    pub(super) fn one_more_dimension(&self, dimensions: u8) -> Result<u8, ScriptError> {
        match dimensions.checked_add(1) {
            Some(dimensions) => Ok(dimensions),
            None => self.refuse("an array with more than 255 dimensions"),
        }
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
        if known::is_method(name) || self.own_members.contains(name) {
            return Ok(());
        }
        Err(unsupported(self.text, at, format!("the method `{name}`")))
    }

    /// Likewise a function; Groovy finds out only when it is called.
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
            if self.closures > 0 {
                return Ok(());
            }
            self.warn(
                format!("there is no function `{name}`: JMeter starts the script, which fails there"),
                at,
            );
            return Ok(());
        }
        Err(unsupported(self.text, at, format!("the function `{name}`")))
    }

    fn warn(&mut self, what: String, at: usize) {
        if self.warnings.len() < WARNINGS_MAX {
            let place = crate::Place::of(self.text, at);
            self.warnings.push(Warning { what, place });
        }
    }

    /// Whether a name with a capital letter is certainly no class, so that JMeter finds out when the script runs.
    pub(super) fn is_no_class(&mut self, name: &str, at: usize) -> bool {
        let without_import = known::is_class_without_import(name, self.groovy());
        let packages = ["java.lang", "java.util", "java.io", "java.net"];
        let is_known = self.packages.iter().all(|package| packages.contains(&package.as_str()));
        if without_import || !is_known || !self.static_classes.is_empty() {
            return false;
        }
        self.warn(
            format!(
                "`{name}` is neither a class nor a variable: JMeter starts the script, which fails there"
            ),
            at,
        );
        self.nowhere.insert(name.to_owned());
        true
    }

    /// The static member that a name was imported as: a method for `calls`, else a constant.
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
        let of_any = matches!(
            (self.ahead(1), self.ahead(2)),
            (Word::Sign("." | "?."), Word::Name(member)) if sampler::OF_ANY_SAMPLER.contains(&&**member)
        );
        self.opens_request |= !of_any;
    }

    /// Likewise for `ctx.getCurrentSampler()`: at the method's name.
    pub(super) fn note_sampler_behind_call(&mut self) {
        let behind = if matches!(self.ahead(1), Word::Sign("(")) { 3 } else { 1 };
        let of_any = matches!(
            (self.ahead(behind), self.ahead(behind + 1)),
            (Word::Sign("." | "?."), Word::Name(member)) if sampler::OF_ANY_SAMPLER.contains(&&**member)
        );
        self.opens_request |= !of_any;
    }

    /// Whether a word is an operator: `in` and `as` are names in BeanShell.
    pub(super) fn is_operator(&self, word: &str) -> bool {
        word == "instanceof" || self.groovy() && matches!(word, "in" | "as")
    }

    pub(super) fn text_literal(&self, text: &str, at: u32) -> Expr {
        Expr { at, kind: Kind::Literal(Value::text(text)) }
    }
}

/// Whether a word is `in`.
pub(super) fn is_in(word: &Word) -> bool {
    matches!(word, Word::Name(name) if &**name == "in")
}
