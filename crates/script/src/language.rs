//! The two languages that run on the Java virtual machine.

/// Which of the two languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// BeanShell 2.0b6 (`__BeanShell`, BeanShell elements).
    BeanShell,
    /// Groovy 3.0 (`__groovy`, JSR223 elements).
    Groovy,
}
