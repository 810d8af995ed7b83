//! The languages that the interpreter runs.

/// A language whose syntax and library are based on Java's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JavaLike {
    /// BeanShell 2.0b6 (`__BeanShell`, BeanShell elements).
    BeanShell,
    /// Groovy 3.0 (`__groovy`, JSR223 elements).
    Groovy,
}

/// A language of the interpreter. It determines the operators, the truth of conditions and the meaning of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    BeanShell,
    Groovy,
    /// Commons JEXL 2.1.
    Jexl2,
    /// Commons JEXL 3.2.
    Jexl3,
}

impl From<JavaLike> for Dialect {
    fn from(language: JavaLike) -> Dialect {
        match language {
            JavaLike::BeanShell => Dialect::BeanShell,
            JavaLike::Groovy => Dialect::Groovy,
        }
    }
}
