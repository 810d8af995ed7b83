//! Classes that a Groovy script defines.

use std::sync::Arc;

use super::super::classes::Class;
use super::super::diagnostic::unsupported;
use super::super::functional;
use super::super::lexer::TokenKind;
use super::super::tree::{Base, Definition, Expr, Field, Function, Item, Kind, Name, Stmt, Type};
use super::Parser;
use crate::ScriptError;

/// Methods by which a class changes the behaviour of Groovy's operators and properties. The interpreter does not call them.
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

/// Maximum number of classes that a script defines.
const CLASSES_MAX: usize = 1_000;
/// Maximum number of supertypes of a class.
const SUPERTYPES_MAX: usize = 100;
/// Maximum number of fields, and of methods, of a class.
const MEMBERS_MAX: usize = 10_000;

/// Modifiers of a class member.
#[derive(Default)]
struct Modifiers {
    any: bool,
    is_static: bool,
    is_final: bool,
    has_visibility: bool,
}

/// The supertypes of a class, nearest first, and the one that `super` refers to.
#[derive(Default)]
struct Supertypes {
    classes: Vec<Class>,
    parent: Option<Class>,
}

/// The members of a class that have been parsed so far.
#[derive(Default)]
struct Members {
    fields: Vec<Field>,
    methods: Vec<(Arc<Function>, bool)>,
    constructors: Vec<Arc<Function>>,
    without_body: Vec<Arc<str>>,
}

impl Parser<'_> {
    /// Collects the names of the script's classes, which may be used before they are defined.
    pub(super) fn find_classes(&mut self) -> Result<(), ScriptError> {
        for at in 1..self.tokens.len() {
            let (TokenKind::Name(word), TokenKind::Name(name)) =
                (&self.tokens[at - 1].kind, &self.tokens[at].kind)
            else {
                continue;
            };
            let is_keyword = &**word == "class" || self.groovy() && matches!(&**word, "interface" | "enum");
            let is_definition = is_keyword
                && matches!(
                    self.tokens.get(at + 1).map(|token| &token.kind),
                    Some(TokenKind::Symbol("{") | TokenKind::Name(_))
                )
                && (at < 2 || !matches!(self.tokens[at - 2].kind, TokenKind::Symbol(".")));
            if !is_definition {
                continue;
            }
            let class = Class::own(name).filter(|_| self.own_classes.len() < CLASSES_MAX);
            let Some(class) = class else {
                return Err(unsupported(self.text, self.tokens[at].at, "a script with so many classes"));
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
            let TokenKind::Name(name) = &token.kind else { continue };
            let mut letters = name.chars();
            let rest =
                letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str());
            let accessors =
                ["get", "set", "is"].map(|start| format!("{start}{}", rest.as_deref().unwrap_or("")));
            self.own_members.extend(accessors);
            let calls =
                matches!(self.tokens.get(at + 1).map(|next| &next.kind), Some(TokenKind::Symbol("(")));
            if calls && self.uses.body_follows(at + 1) || self.declared.contains(name) {
                self.own_members.insert(name.to_string());
            }
        }
        Ok(())
    }

    /// Parses `class P { … }`; the current token is `class`, `interface`, `enum` or `abstract`.
    pub(super) fn class_definition(&mut self) -> Result<(), ScriptError> {
        let outer = self.in_class.clone();
        if self.closure_depth > 0 || self.depth > 1 && outer.is_none() {
            return self.refuse("a class inside a block or a closure");
        }
        self.accept_word("abstract");
        let is_enum = self.is_word("enum");
        self.advance();
        let at = self.place();
        let name = self.any_name()?;
        let Some(class) = self.own_classes.iter().find(|class| class.name() == &*name).copied() else {
            return Err(unsupported(self.text, at, format!("the class `{name}`")));
        };
        if self.is("<") {
            return self.refuse("a generic class");
        }
        let supertypes = self.supertypes()?;
        self.expect("{")?;
        let mut members = Members::default();
        self.in_class = Some(name);
        let outer_parent = std::mem::replace(&mut self.parent_class, supertypes.parent);
        let constants = if is_enum { self.constants()? } else { Vec::new() };
        while !self.accept("}") {
            if matches!(self.peek(), TokenKind::End) {
                return Err(self.unexpected("`}`"));
            }
            self.member(&mut members)?;
            if members.fields.len().max(members.methods.len()) > MEMBERS_MAX {
                return self.refuse(format!("a class with more than {MEMBERS_MAX} fields or methods"));
            }
        }
        self.in_class = outer;
        self.parent_class = outer_parent;
        self.inherit(&supertypes, is_enum, &mut members);
        let Members { fields, methods, constructors, without_body } = members;
        let definition = Definition {
            class,
            fields,
            methods,
            constructors,
            above: supertypes.classes,
            without_body,
            constants,
        };
        self.classes.push(Arc::new(definition));
        Ok(())
    }

    /// Parses `extends A implements B, C`.
    fn supertypes(&mut self) -> Result<Supertypes, ScriptError> {
        let mut supertypes = Supertypes::default();
        for word in ["extends", "implements"] {
            if !self.accept_word(word) {
                continue;
            }
            loop {
                self.supertype(&mut supertypes)?;
                if supertypes.classes.len() > SUPERTYPES_MAX {
                    return self.refuse(format!("a class with more than {SUPERTYPES_MAX} supertypes"));
                }
                if !self.accept(",") {
                    break;
                }
            }
        }
        Ok(supertypes)
    }

    fn supertype(&mut self, supertypes: &mut Supertypes) -> Result<(), ScriptError> {
        if INTERFACES.iter().any(|known| self.is_word(known)) {
            self.advance();
            return Ok(());
        }
        let at = self.place();
        let class = match self.optional_type() {
            Some(Type { base: Base::Class(class), .. }) => class,
            Some(Type { base: Base::Any, .. }) => return Ok(()),
            _ => return self.refuse("a subclass of this type"),
        };
        if !class.is_own() {
            let is_exception = class.is_a(Class::known("Throwable"));
            if !is_exception && !functional::is_interface(class.name()) {
                let what = format!("a subclass of `{}`", class.name());
                return Err(unsupported(self.text, at, what));
            }
            supertypes.classes.push(class);
            if is_exception {
                supertypes.parent = Some(class);
            }
            return Ok(());
        }
        let Some(definition) = self.classes.iter().find(|known| known.class == class) else {
            let what = format!("a subclass of `{}`, which is defined further down,", class.name());
            return Err(unsupported(self.text, at, what));
        };
        supertypes.classes.push(class);
        supertypes.classes.extend(&definition.above);
        // An interface as the parent has no effect, since it has neither fields nor constructors.
        supertypes.parent = supertypes.parent.or(Some(class));
        Ok(())
    }

    /// Adds the inherited fields and methods, and the fields of enumerations and exceptions.
    fn inherit(&mut self, supertypes: &Supertypes, is_enum: bool, members: &mut Members) {
        let names: &[&str] = if is_enum {
            &["$name", "$ordinal"]
        } else if supertypes
            .classes
            .iter()
            .any(|class| !class.is_own() && class.is_a(Class::known("Throwable")))
        {
            &["$message", "$cause"]
        } else {
            &[]
        };
        for name in names {
            let name = self.id(&Arc::from(*name));
            members.fields.push(Field {
                name,
                declared: Type::ANY,
                value: None,
                is_property: false,
                is_static: false,
                is_final: false,
            });
        }
        for class in &supertypes.classes {
            let Some(definition) = self.classes.iter().find(|known| known.class == *class) else { continue };
            for field in definition.fields.iter().filter(|field| !field.is_static) {
                if !members.fields.iter().any(|known| known.name == field.name) {
                    members.fields.push(field.clone());
                }
            }
            members.methods.extend(definition.methods.iter().cloned());
        }
    }

    /// Parses the constants `A(1), B(2);` at the beginning of an enumeration.
    fn constants(&mut self) -> Result<Vec<(Name, Vec<Item>)>, ScriptError> {
        let mut constants = Vec::new();
        while let TokenKind::Name(name) = self.peek().clone() {
            if !matches!(self.ahead(1), TokenKind::Symbol("(" | "," | ";" | "}" | "{"))
                && !self.tokens[self.at + 1].after_newline
            {
                break;
            }
            self.advance();
            self.declared.insert(name.clone());
            let items = if self.is("(") { self.arguments()? } else { Vec::new() };
            if self.is("{") {
                return self.refuse("an enumeration constant with a body");
            }
            constants.push((self.id(&name), items));
            if !self.accept(",") {
                break;
            }
        }
        self.accept(";");
        Ok(constants)
    }

    /// Parses `super.method(…)` or `super(…)`; the current token is `super`.
    pub(in crate::jvm) fn super_call(&mut self) -> Result<Expr, ScriptError> {
        let at = self.place() as u32;
        let Some(parent) = self.parent_class else { return self.refuse("`super`") };
        self.advance();
        let name = if self.accept(".") { Some(self.any_name()?) } else { None };
        if !self.is("(") {
            return self.refuse("a property of `super`");
        }
        let items = self.arguments()?;
        Ok(Expr { at, kind: Kind::Super(parent, name, items) })
    }

    fn modifiers(&mut self) -> Result<Modifiers, ScriptError> {
        let mut found = Modifiers::default();
        while let TokenKind::Name(word) = self.peek() {
            match &**word {
                "static" => found.is_static = true,
                "final" => found.is_final = true,
                "private" | "protected" | "public" => found.has_visibility = true,
                "synchronized" | "transient" | "volatile" | "abstract" | "default" => {}
                "class" | "interface" | "enum" => break,
                "trait" | "native" => {
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
            return self.refuse("an initializer block");
        }
        let at = self.place();
        let modifiers = self.modifiers()?;
        if self.is("{") {
            return self.refuse("an initializer block");
        }
        if ["class", "interface", "enum"].iter().any(|word| self.is_word(word))
            && matches!(self.ahead(1), TokenKind::Name(_))
        {
            return self.class_definition();
        }
        if let (TokenKind::Name(name), TokenKind::Symbol("(")) = (self.peek().clone(), self.ahead(1)) {
            let is_constructor = self.in_class.as_deref() == Some(&*name);
            self.advance();
            let function = self.member_function(name, Type::ANY)?;
            if is_constructor {
                members.constructors.push(function);
                return Ok(());
            }
            return self.add_method(members, function, modifiers.is_static, at);
        }
        let declared = match self.optional_type() {
            Some(declared) if matches!(self.peek(), TokenKind::Name(_)) => declared,
            // As in `final x = 5`.
            _ if modifiers.any && matches!(self.ahead(1), TokenKind::Symbol("=")) => Type::ANY,
            _ => return self.refuse("this type of a member"),
        };
        if let (TokenKind::Name(name), TokenKind::Symbol("(")) = (self.peek().clone(), self.ahead(1)) {
            self.advance();
            if !self.uses.body_follows(self.at) {
                members.without_body.push(name);
                return self.without_body();
            }
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

    /// Skips the rest of a method without a body. Classes that implement the interface define the method.
    fn without_body(&mut self) -> Result<(), ScriptError> {
        self.expect("(")?;
        self.parameters(")")?;
        self.expect(")")?;
        if self.accept_word("throws") {
            while !self.is(";")
                && !self.is("}")
                && !self.token().after_newline
                && !matches!(self.peek(), TokenKind::End)
            {
                self.advance();
            }
        }
        self.end_of_statement()
    }

    pub(in crate::jvm) fn member_function(
        &mut self,
        name: Arc<str>,
        result: Type,
    ) -> Result<Arc<Function>, ScriptError> {
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
            let what = format!("a class that defines the method `{}`", function.name);
            return Err(unsupported(self.text, at, what));
        }
        members.methods.push((function, is_static));
        Ok(())
    }
}
