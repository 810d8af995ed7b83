//! Imports of classes and of their static members.

use super::super::classes::Class;
use super::super::diagnostic::unsupported;
use super::super::lexer::TokenKind;
use super::super::{known, library};
use super::Parser;
use crate::ScriptError;

impl Parser<'_> {
    /// Parses `import a.b.C`; the current token is `import`.
    pub(super) fn import(&mut self) -> Result<(), ScriptError> {
        let at = self.place();
        self.advance();
        if self.is_word("static") {
            self.advance();
            return self.import_static(at);
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

    /// Parses an import such as `import static java.lang.Math.max as most`; `import static` has been read.
    fn import_static(&mut self, at: usize) -> Result<(), ScriptError> {
        let mut class = self.any_name()?.to_string();
        let mut member = None;
        while self.accept(".") {
            if self.accept("*") {
                member = None;
                break;
            }
            if let Some(part) = member.replace(self.any_name()?.to_string()) {
                class.push('.');
                class.push_str(&part);
            }
            if self.is(".")
                && matches!(self.ahead(1), TokenKind::Symbol("*"))
                && let Some(part) = member.take()
            {
                class.push('.');
                class.push_str(&part);
            }
        }
        let Some(found) = Class::qualified(&class) else {
            return Err(unsupported(self.text, at, format!("the class `{class}`")));
        };
        match member {
            None => self.static_classes.push(found),
            // BeanShell can import only all static members of a class.
            Some(_) if !self.groovy() => {
                return Err(unsupported(self.text, at, "`import static` of one member in BeanShell"));
            }
            Some(member) => {
                let alias =
                    if self.accept_word("as") { self.any_name()?.to_string() } else { member.clone() };
                let is_there = known::has_static(found.name(), &member)
                    || library::statics::constant(found, &member).is_ok();
                if !is_there {
                    return Err(unsupported(self.text, at, format!("`{class}.{member}`")));
                }
                self.statics.insert(alias, (found, member));
            }
        }
        self.end_of_statement()
    }
}
