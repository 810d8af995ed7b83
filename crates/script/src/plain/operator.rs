//! Trees of JEXL's expressions and statements; Groovy and BeanShell share its operators and types.

use std::sync::Arc;

use super::Dialect;
use super::names::HostMethod;
use crate::Value;

/// An expression and the byte offset in the text where it (or its operator) stands.
#[derive(Debug, Clone)]
pub(crate) struct Expr {
    pub at: u32,
    pub kind: Kind,
}

/// Index of a local variable in the script's table of names.
pub(crate) type Local = u32;

/// Binary operators whose operands are both always evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// JEXL's `=~`, Groovy's `==~`: the whole text matches.
    Matches,
    NotMatches,
    StartsWith,
    NotStartsWith,
    EndsWith,
    NotEndsWith,
    BitAnd,
    BitOr,
    BitXor,
    /// JEXL 3's `1..3`, ends included.
    Range,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unary {
    Not,
    Minus,
    Plus,
    BitNot,
    /// JEXL's `empty x`.
    Empty,
    /// JEXL's `size x`.
    Size,
}

/// Types that a declaration or a cast of Groovy and BeanShell may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Int,
    Long,
    Double,
    Boolean,
    Text,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Literal(Value),
    Local(Local),
    ThreadName,
    /// The result that the script is about, compared with null.
    SampleIsPresent,
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a ?: b`: a if it counts as true.
    Elvis(Box<Expr>, Box<Expr>),
    /// JEXL 3's `a ?? b`: a unless it is null or undefined.
    Coalesce(Box<Expr>, Box<Expr>),
    Assign(Local, Option<Binary>, Box<Expr>),
    HostCall(HostMethod, Vec<Expr>),
    /// Receiver, method, arguments, and whether a null receiver gives null (`?.`).
    Call(Box<Expr>, &'static str, Vec<Expr>, bool),
    Index(Box<Expr>, Box<Expr>),
    List(Vec<Expr>),
}

#[derive(Debug, Clone)]
pub(crate) enum Stmt {
    Expr(Expr),
    Declare(Local, Option<Expr>),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    While(Expr, Box<Stmt>),
    ForEach(Local, Expr, Box<Stmt>),
    Block(Vec<Stmt>),
    Return(Expr),
    Break,
    Continue,
    Empty,
}

/// A parsed script.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    pub dialect: Dialect,
    pub text: Arc<str>,
    pub statements: Vec<Stmt>,
    /// Names of the locals, by index; for messages.
    pub names: Vec<Arc<str>>,
}
