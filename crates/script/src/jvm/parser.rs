//! From words to statements.

use std::collections::HashMap;
use std::sync::Arc;

use super::classes::Class;
use super::lexer::{Token, Word, scan};
use super::tree::{Base, Catch, Expr, Function, Item, Kind, Name, Parameter, Stmt, Tree, Type};
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
            if let (Word::Name(name), Word::Sign(sign)) = (&pair[0].word, &pair[1].word) {
                match *sign {
                    "=" | ":" | ";" | "," | ")" | "->" => {
                        self.declared.insert(name.clone());
                    }
                    _ => {}
                }
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

    // Statements.

    fn end_of_statement(&mut self) -> Result<(), ScriptError> {
        if self.accept(";") || matches!(self.peek(), Word::End) || self.is("}") {
            return Ok(());
        }
        if self.groovy() && (self.token().fresh || self.is_word("else")) {
            return Ok(());
        }
        Err(self.unexpected("the end of the statement"))
    }

    pub(super) fn block(&mut self) -> Result<Vec<Stmt>, ScriptError> {
        self.expect("{")?;
        let mut statements = Vec::new();
        while !self.accept("}") {
            if matches!(self.peek(), Word::End) {
                return Err(self.unexpected("`}`"));
            }
            self.statement_into(&mut statements)?;
        }
        self.check_twice(&statements)?;
        Ok(statements)
    }

    fn statement(&mut self) -> Result<Stmt, ScriptError> {
        let mut statements = Vec::new();
        self.statement_into(&mut statements)?;
        Ok(if statements.len() == 1 { statements.remove(0) } else { Stmt::Block(statements) })
    }

    /// One statement; a declaration of several variables is several.
    pub(super) fn statement_into(&mut self, out: &mut Vec<Stmt>) -> Result<(), ScriptError> {
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
            self.annotation()?;
            return self.statement_within(out);
        }
        let Word::Name(word) = self.peek().clone() else {
            return self.expression_statement(out);
        };
        if matches!(self.ahead(1), Word::Sign("." | "=" | "++" | "--"))
            && !matches!(&*word, "import" | "package")
        {
            return self.declaration_or_expression(out);
        }
        match &*word {
            "import" => return self.import(),
            "package" => {
                while !self.accept(";") && !self.token().fresh && !matches!(self.peek(), Word::End) {
                    self.advance();
                }
                return Ok(());
            }
            "class" | "interface" | "enum" | "trait" => return self.refuse(format!("`{word}`")),
            "if" => {
                self.advance();
                self.expect("(")?;
                let condition = self.expression()?;
                self.expect(")")?;
                let then = Box::new(self.statement()?);
                if self.is(";") && matches!(self.ahead(1), Word::Name(name) if &**name == "else") {
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
            "for" => {
                let statement = self.for_loop()?;
                out.push(statement);
            }
            "switch" => {
                let statement = self.switch()?;
                out.push(statement);
            }
            "try" => {
                let statement = self.attempt()?;
                out.push(statement);
            }
            "return" => {
                self.advance();
                let ends = matches!(self.peek(), Word::End | Word::Sign(";" | "}"))
                    || (self.groovy() && self.token().fresh);
                let value = if ends { None } else { Some(self.expression()?) };
                out.push(Stmt::Return(value));
                self.end_of_statement()?;
            }
            "break" | "continue" => {
                self.advance();
                if matches!(self.peek(), Word::Name(_)) && !self.token().fresh {
                    return self.refuse("a label");
                }
                out.push(if &*word == "break" { Stmt::Break } else { Stmt::Continue });
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
                let message =
                    if self.accept(":") || self.accept(",") { Some(self.expression()?) } else { None };
                out.push(Stmt::Assert(condition, message, source));
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

    fn annotation(&mut self) -> Result<(), ScriptError> {
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
        Ok(())
    }

    fn import(&mut self) -> Result<(), ScriptError> {
        let at = self.place();
        self.advance();
        if self.is_word("static") {
            return self.refuse("`import static`");
        }
        let mut name = self.any_name()?.to_string();
        let mut all = false;
        while self.accept(".") {
            if self.accept("*") {
                all = true;
                break;
            }
            name.push('.');
            name.push_str(&self.any_name()?);
        }
        if all {
            self.packages.push(name);
        } else {
            let class = Class::qualified(&name);
            let own = name.rsplit('.').next().unwrap_or("").to_owned();
            let alias = if self.accept_word("as") { self.any_name()?.to_string() } else { own };
            let certain =
                ["java.", "javax.", "groovy.", "org.apache.jmeter.", "org.apache.commons.", "org.slf4j."];
            if class.is_none() && self.groovy() && !certain.iter().any(|start| name.starts_with(start)) {
                return Err(unsupported(self.text, at, format!("the class `{name}`")));
            }
            self.imports.insert(alias, class);
        }
        self.end_of_statement()
    }

    /// Words before a declaration that change nothing here.
    fn skip_modifiers(&mut self) -> bool {
        let mut any = false;
        while matches!(self.peek(), Word::Name(name) if matches!(&**name, "final" | "static" | "public" | "private" | "protected"))
        {
            self.advance();
            any = true;
        }
        any
    }

    fn declaration_or_expression(&mut self, out: &mut Vec<Stmt>) -> Result<(), ScriptError> {
        let start = self.at;
        let modified = self.skip_modifiers();
        if self.is_word("def") && matches!(self.ahead(1), Word::Sign("(")) {
            self.advance();
            return self.declare_all(out);
        }
        let type_at = self.at;
        // A method without a type: `f(a) {` in BeanShell.
        if !self.groovy() || modified {
            if let (Word::Name(name), Word::Sign("(")) = (self.peek().clone(), self.ahead(1))
                && self.method_body_follows(self.at + 1)
                && !matches!(&*name, "if" | "while" | "for" | "switch" | "catch" | "synchronized")
            {
                self.advance();
                return self.method(name, Type::ANY, out);
            }
        }
        if let Some(declared) = self.type_here() {
            if let Word::Name(name) = self.peek().clone()
                && !self.token().fresh
                && !matches!(&*name, "instanceof" | "in" | "as")
            {
                match self.ahead(1).clone() {
                    Word::Sign("(") if self.method_body_follows(self.at + 1) => {
                        self.advance();
                        return self.method(name, declared, out);
                    }
                    Word::Sign("=" | ";" | "," | "}" | "[") | Word::End => {
                        return self.declarations(declared, out);
                    }
                    _ if self.groovy() && self.tokens[self.at + 1].fresh => {
                        return self.declarations(declared, out);
                    }
                    _ => {}
                }
            }
        } else if matches!((self.peek(), self.ahead(1)), (Word::Name(_), Word::Name(name)) if !matches!(&**name, "instanceof" | "in" | "as"))
            && matches!(self.ahead(2), Word::Sign("=" | ";"))
        {
            self.at = type_at;
            if let Word::Name(name) = self.peek().clone() {
                return self.refuse(format!("the class `{name}`"));
            }
        }
        if modified {
            // `final x = 5`
            self.at = type_at;
            if matches!((self.peek(), self.ahead(1)), (Word::Name(_), Word::Sign("=" | ";"))) {
                return self.declarations(Type::ANY, out);
            }
        }
        self.at = start;
        self.expression_statement(out)
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

    fn method(&mut self, name: Arc<str>, result: Type, out: &mut Vec<Stmt>) -> Result<(), ScriptError> {
        self.expect("(")?;
        let parameters = self.parameters(")")?;
        self.expect(")")?;
        if self.accept_word("throws") {
            while !self.is("{") && !matches!(self.peek(), Word::End) {
                self.advance();
            }
        }
        let body = self.block()?;
        out.push(Stmt::Method(Arc::new(Function { name, parameters, implicit: false, body, result })));
        Ok(())
    }

    /// Parameters up to `end`, which stays.
    pub(super) fn parameters(&mut self, end: &str) -> Result<Vec<Parameter>, ScriptError> {
        let mut parameters = Vec::new();
        while !self.is(end) {
            self.skip_modifiers();
            let typed = matches!(self.ahead(1), Word::Name(_) | Word::Sign("<" | "." | "[" | "..."));
            let declared = if typed {
                match self.type_here() {
                    Some(declared) => declared,
                    None => return self.refuse("this type of a parameter"),
                }
            } else {
                Type::ANY
            };
            if self.is("...") {
                return self.refuse("`...`");
            }
            let name = self.any_name()?;
            let name = self.id(&name);
            let default = if self.accept("=") { Some(self.expression()?) } else { None };
            parameters.push(Parameter { name, declared, default });
            if !self.accept(",") {
                break;
            }
        }
        Ok(parameters)
    }

    fn declarations(&mut self, declared: Type, out: &mut Vec<Stmt>) -> Result<(), ScriptError> {
        loop {
            let name = self.any_name()?;
            self.declared.insert(name.clone());
            let name = self.id(&name);
            let mut declared = declared;
            while self.is("[") && matches!(self.ahead(1), Word::Sign("]")) {
                self.advance();
                self.advance();
                declared.arrays += 1;
            }
            let value = if self.accept("=") {
                if declared.arrays > 0 && self.is("{") {
                    Some(self.array_of(declared)?)
                } else {
                    Some(self.expression()?)
                }
            } else {
                None
            };
            if matches!(declared.base, Base::Int | Base::Long) && !declared.boxed && declared.arrays == 0 {
                self.whole.insert(name);
            }
            let number = matches!(
                declared.base,
                Base::Int | Base::Long | Base::Short | Base::Double | Base::Float | Base::Char
            );
            if declared.boxed && number && declared.arrays == 0 {
                self.boxed.insert(name);
            }
            if matches!(declared.base, Base::Double | Base::Float) && !declared.boxed {
                self.doubles.insert(name);
            }
            if let Some(value) = &value {
                self.check_quotient(declared, value)?;
            }
            out.push(Stmt::Declare(name, declared, value));
            if !self.accept(",") {
                break;
            }
        }
        self.end_of_statement()
    }

    /// `{1, 2}`
    pub(super) fn array_of(&mut self, declared: Type) -> Result<Expr, ScriptError> {
        let at = self.place() as u32;
        self.expect("{")?;
        let inner = Type { arrays: declared.arrays.saturating_sub(1), ..declared };
        let mut items = Vec::new();
        while !self.accept("}") {
            items.push(if inner.arrays > 0 && self.is("{") {
                self.array_of(inner)?
            } else {
                self.expression()?
            });
            if !self.accept(",") && !self.is("}") {
                return Err(self.unexpected("`}`"));
            }
        }
        Ok(Expr { at, kind: Kind::Array(inner, items) })
    }

    fn declare_all(&mut self, out: &mut Vec<Stmt>) -> Result<(), ScriptError> {
        self.expect("(")?;
        let mut targets = Vec::new();
        while !self.accept(")") {
            let typed = matches!(self.ahead(1), Word::Name(_));
            let declared = if typed { self.type_here().unwrap_or(Type::ANY) } else { Type::ANY };
            let name = self.any_name()?;
            targets.push((self.id(&name), declared));
            if !self.accept(",") && !self.is(")") {
                return Err(self.unexpected("`)`"));
            }
        }
        self.expect("=")?;
        let value = self.expression()?;
        out.push(Stmt::DeclareAll(targets, value));
        self.end_of_statement()
    }

    fn for_loop(&mut self) -> Result<Stmt, ScriptError> {
        self.advance();
        self.expect("(")?;
        let start = self.at;
        self.skip_modifiers();
        let between =
            |word: &Word| matches!(word, Word::Sign(":")) || matches!(word, Word::Name(n) if &**n == "in");
        let declared = match (self.peek(), self.ahead(1)) {
            (Word::Name(_), next) if between(next) => Some(Type::ANY),
            _ => self.type_here(),
        };
        if let (Some(declared), Word::Name(name)) = (declared, self.peek().clone())
            && between(self.ahead(1))
        {
            self.advance();
            self.advance();
            self.declared.insert(name.clone());
            let name = self.id(&name);
            let items = self.expression()?;
            self.expect(")")?;
            return Ok(Stmt::ForEach(name, declared, items, Box::new(self.statement()?)));
        }
        self.at = start;
        let mut first = Vec::new();
        if !self.accept(";") {
            self.declaration_or_expression(&mut first)?;
            while !matches!(self.tokens[self.at - 1].word, Word::Sign(";")) {
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
                if matches!(self.peek(), Word::End) {
                    return Err(self.unexpected("`}`"));
                }
                self.statement_into(&mut body)?;
            }
            cases.push((label, body));
        }
        Ok(Stmt::Switch(value, cases))
    }

    fn attempt(&mut self) -> Result<Stmt, ScriptError> {
        self.advance();
        if self.is("(") {
            return self.refuse("`try` with resources");
        }
        let body = self.block()?;
        let mut catches = Vec::new();
        while self.accept_word("catch") {
            self.expect("(")?;
            self.skip_modifiers();
            let mut classes = Vec::new();
            if !matches!(self.ahead(1), Word::Sign(")")) {
                loop {
                    let at = self.place();
                    match self.type_here() {
                        Some(Type { base: Base::Class(class), .. }) => classes.push(class),
                        _ => {
                            let mut name = self.any_name()?.to_string();
                            while self.accept(".") {
                                name.push('.');
                                name.push_str(&self.any_name()?);
                            }
                            // An exception that nothing here throws is never caught.
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

    /// Groovy's `println x` and `log.info "x"`: a call without parentheses.
    fn command(&mut self, expr: Expr) -> Result<Expr, ScriptError> {
        let begins = match self.peek() {
            Word::Name(name) => {
                !matches!(&**name, "else" | "while" | "catch" | "finally" | "in" | "as" | "instanceof")
            }
            Word::Literal(_) | Word::Join(_) => true,
            _ => false,
        };
        if self.token().fresh || !begins {
            return Ok(expr);
        }
        let at = expr.at;
        let make = |kind: Kind| Expr { at, kind };
        match expr.kind {
            Kind::Name(name) => {
                let name = self.names[name as usize].clone();
                self.check_function(&name, at as usize)?;
                let items = self.command_arguments()?;
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
