//! Operators and types that plain values support.

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
    /// JEXL 3's `1..3`, both ends included.
    Range,
}

/// Types that a declaration or a cast may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Int,
    Long,
    Double,
    Boolean,
    Text,
}
