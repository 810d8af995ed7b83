//! The languages that the interpreter runs.

/// Which of the two languages of the Java virtual machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// BeanShell 2.0b6 (`__BeanShell`, BeanShell elements).
    BeanShell,
    /// Groovy 3.0 (`__groovy`, JSR223 elements).
    Groovy,
}

/// A language as the interpreter runs it: it selects operators, conditions and the meaning of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    BeanShell,
    Groovy,
    /// Commons JEXL 2.1.
    Jexl2,
    /// Commons JEXL 3.2.
    Jexl3,
}

impl From<Language> for Dialect {
    fn from(language: Language) -> Dialect {
        match language {
            Language::BeanShell => Dialect::BeanShell,
            Language::Groovy => Dialect::Groovy,
        }
    }
}
