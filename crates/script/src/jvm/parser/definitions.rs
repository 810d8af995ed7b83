//! Classes that a Groovy script defines.

use std::sync::Arc;

use super::super::classes::Class;
use super::super::diagnostic::unsupported;
use super::super::lexer::Word;
use super::super::tree::{Definition, Field, Function, Stmt, Type};
use super::Parser;
use crate::ScriptError;

/// Methods that change how Groovy treats an object, which this interpreter does not call.
const SPECIAL_METHODS: &[&str] = &[
    "equals",
    "hashCode",
    "compareTo",
    "asBoolean",
    "asType",
    "isCase",
    "iterator",
    "getAt",
    "putAt",
    "next",
    "previous",
    "negative",
    "positive",
    "bitwiseNegate",
    "getProperty",
    "setProperty",
    "invokeMethod",
    "propertyMissing",
    "methodMissing",
    "getMetaClass",
];

/// Interfaces without methods.
const INTERFACES: &[&str] = &["Serializable", "Cloneable"];

/// Modifiers of a class member.
#[derive(Default)]
struct Modifiers {
    any: bool,
    is_static: bool,
    is_final: bool,
    has_visibility: bool,
}

/// The methods and fields parsed so far of a class.
struct Members {
    fields: Vec<Field>,
    methods: Vec<(Arc<Function>, bool)>,
    constructors: Vec<Arc<Function>>,
}

/// Whether a call may be one of either of two functions: which of them Groovy takes depends on types.
fn overlap(a: &Function, b: &Function) -> bool {
    let least = |function: &Function| {
        function.parameters.iter().filter(|parameter| parameter.default.is_none()).count()
    };
    a.name == b.name && least(a) <= b.parameters.len() && least(b) <= a.parameters.len()
}

impl Parser<'_> {
    /// Finds the names of the script's classes: they may be used before they are defined.
    pub(super) fn find_classes(&mut self) -> Result<(), ScriptError> {
        if !self.groovy() {
            return Ok(());
        }
        for at in 1..self.tokens.len() {
            let (Word::Name(word), Word::Name(name)) = (&self.tokens[at - 1].word, &self.tokens[at].word)
            else {
                continue;
            };
            let is_definition = &**word == "class"
                && matches!(
                    self.tokens.get(at + 1).map(|token| &token.word),
                    Some(Word::Sign("{") | Word::Name(_))
                )
                && (at < 2 || !matches!(self.tokens[at - 2].word, Word::Sign(".")));
            if !is_definition {
                continue;
            }
            let Some(class) = Class::own(name) else {
                return Err(unsupported(self.text, self.tokens[at].at, "so many classes"));
            };
            if self.imports.insert(name.to_string(), Some(class)).is_some() {
                let what = format!("a second class `{name}`");
                return Err(unsupported(self.text, self.tokens[at].at, what));
            }
            self.own_classes.push(class);
        }
        if self.own_classes.is_empty() {
            return Ok(());
        }
        for (at, token) in self.tokens.iter().enumerate() {
            let Word::Name(name) = &token.word else { continue };
            let mut letters = name.chars();
            let rest =
                letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str());
            let accessors =
                ["get", "set", "is"].map(|start| format!("{start}{}", rest.as_deref().unwrap_or("")));
            self.own_members.extend(accessors);
            let calls = matches!(self.tokens.get(at + 1).map(|next| &next.word), Some(Word::Sign("(")));
            if calls && self.method_body_follows(at + 1) || self.declared.contains(name) {
                self.own_members.insert(name.to_string());
            }
        }
        Ok(())
    }

    /// `class P { … }`, at the word.
    pub(super) fn class_definition(&mut self) -> Result<(), ScriptError> {
        if self.depth > 1 || self.closures > 0 || self.in_class.is_some() {
            return self.refuse("a class inside of something");
        }
        self.advance();
        let at = self.place();
        let name = self.any_name()?;
        let Some(class) = self.own_classes.iter().find(|class| class.name() == &*name).copied() else {
            return Err(unsupported(self.text, at, format!("the class `{name}`")));
        };
        if self.is_word("extends") || self.is("<") {
            return self.refuse(format!("a class with `{}`", if self.is("<") { "<" } else { "extends" }));
        }
        if self.accept_word("implements") {
            loop {
                if !INTERFACES.iter().any(|known| self.is_word(known)) {
                    return self.refuse("a class with this interface");
                }
                self.advance();
                if !self.accept(",") {
                    break;
                }
            }
        }
        self.expect("{")?;
        let mut members = Members { fields: Vec::new(), methods: Vec::new(), constructors: Vec::new() };
        self.in_class = Some(name);
        while !self.accept("}") {
            if matches!(self.peek(), Word::End) {
                return Err(self.unexpected("`}`"));
            }
            self.member(&mut members)?;
        }
        self.in_class = None;
        let Members { fields, methods, constructors } = members;
        self.classes.push(Arc::new(Definition { class, fields, methods, constructors }));
        Ok(())
    }

    fn modifiers(&mut self) -> Result<Modifiers, ScriptError> {
        let mut found = Modifiers::default();
        while let Word::Name(word) = self.peek() {
            match &**word {
                "static" => found.is_static = true,
                "final" => found.is_final = true,
                "private" | "protected" | "public" => found.has_visibility = true,
                "synchronized" | "transient" | "volatile" => {}
                "abstract" | "class" | "interface" | "enum" | "trait" | "native" => {
                    return self.refuse(format!("`{word}` in a class"));
                }
                _ => break,
            }
            found.any = true;
            self.advance();
        }
        Ok(found)
    }

    fn member(&mut self, members: &mut Members) -> Result<(), ScriptError> {
        if self.accept(";") {
            return Ok(());
        }
        if self.is("@") {
            return self.annotation().map(|_| ());
        }
        if self.is("{") {
            return self.refuse("a block that initializes");
        }
        let at = self.place();
        let modifiers = self.modifiers()?;
        if self.is("{") {
            return self.refuse("a block that initializes");
        }
        if let (Word::Name(name), Word::Sign("(")) = (self.peek().clone(), self.ahead(1)) {
            let is_constructor = self.in_class.as_deref() == Some(&*name);
            self.advance();
            let function = self.member_function(name, Type::ANY)?;
            if is_constructor {
                if members.constructors.iter().any(|known| overlap(known, &function)) {
                    return Err(unsupported(self.text, at, "constructors that differ in types only"));
                }
                members.constructors.push(function);
                return Ok(());
            }
            return self.add_method(members, function, modifiers.is_static, at);
        }
        let declared = match self.type_here() {
            Some(declared) if matches!(self.peek(), Word::Name(_)) => declared,
            // `final x = 5`
            _ if modifiers.any && matches!(self.ahead(1), Word::Sign("=")) => Type::ANY,
            _ => return self.refuse("this type of a member"),
        };
        if let (Word::Name(name), Word::Sign("(")) = (self.peek().clone(), self.ahead(1)) {
            self.advance();
            let function = self.member_function(name, declared)?;
            return self.add_method(members, function, modifiers.is_static, at);
        }
        let mut declarations = Vec::new();
        self.declarations(declared, &mut declarations)?;
        for declaration in declarations {
            let Stmt::Declare(name, declared, value) = declaration else { continue };
            if members.fields.iter().any(|known| known.name == name) {
                let what = format!("`{}` is declared twice", self.names[name as usize]);
                return Err(super::super::diagnostic::syntax(self.text, at, what));
            }
            members.fields.push(Field {
                name,
                declared,
                value,
                is_property: !modifiers.has_visibility,
                is_static: modifiers.is_static,
                is_final: modifiers.is_final,
            });
        }
        Ok(())
    }

    fn member_function(&mut self, name: Arc<str>, result: Type) -> Result<Arc<Function>, ScriptError> {
        let mut out = Vec::new();
        self.method(name, result, &mut out)?;
        match out.pop() {
            Some(Stmt::Method(function)) => Ok(function),
            _ => Err(self.unexpected("a method")),
        }
    }

    fn add_method(
        &self,
        members: &mut Members,
        function: Arc<Function>,
        is_static: bool,
        at: usize,
    ) -> Result<(), ScriptError> {
        if SPECIAL_METHODS.contains(&&*function.name) && !is_static {
            let what = format!("a class with a method `{}` of its own", function.name);
            return Err(unsupported(self.text, at, what));
        }
        if members.methods.iter().any(|(known, _)| overlap(known, &function)) {
            let what = format!("methods `{}` that differ in types only", function.name);
            return Err(unsupported(self.text, at, what));
        }
        members.methods.push((function, is_static));
        Ok(())
    }
}
