//! The parts of a parsed JSON path.

use crate::error::PathError;
use crate::value::Value;

/// Limit of steps in a path, because evaluation recurses for each step.
const PATH_STEPS_MAX: usize = 500;

/// A parsed path.
#[derive(Clone, Debug)]
pub struct JsonPath {
    pub(crate) text: String,
    pub(crate) steps: Vec<Step>,
    pub(crate) definite: bool,
}

/// One step of a path.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Members: `.name`, `['name']`, `['a','b']`.
    Members(Vec<String>),
    /// All members or items: `.*`, `[*]`.
    Wildcard,
    /// Items: `[0]`, `[0,2]`; negative indexes count from the end.
    Indexes(Vec<i64>),
    /// Consecutive items: `[from:to]`.
    Slice(Option<i64>, Option<i64>),
    /// The items that satisfy a filter: `[?(…)]`.
    Filter(Filter),
    /// All descendants: `..` before the next step.
    Descend,
    /// A function: `.name(…)`.
    Function(Function),
}

/// A function at the end of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Length,
    Min,
    Max,
    Avg,
    Sum,
    StdDev,
    First,
    Last,
    Index(i64),
    Concat,
    /// A function that does not exist in Jayway; its evaluation fails.
    Unknown(String),
}

/// A condition on an item.
#[derive(Clone, Debug)]
pub(crate) enum Filter {
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Not(Box<Filter>),
    /// The path of the operand selects at least one value.
    Exists(Operand),
    Compare(Operand, Comparison, Operand),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Matches,
    In,
    NotIn,
    Contains,
    Size,
    Empty,
    AnyOf,
    NoneOf,
    SubsetOf,
}

/// One side of a comparison.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    /// `@…`: a path from the item.
    Item(JsonPath),
    /// `$…`: a path from the root of the document.
    Root(JsonPath),
    Literal(Value),
    Pattern(regex::Regex),
}

impl JsonPath {
    pub(crate) fn from_steps(text: &str, steps: Vec<Step>, in_filter: bool) -> Result<Self, PathError> {
        if steps.len() > PATH_STEPS_MAX {
            return Err(PathError::Unsupported(format!("more than {PATH_STEPS_MAX} steps")));
        }
        let last = steps.len().saturating_sub(1);
        let mut definite = true;
        for (at, step) in steps.iter().enumerate() {
            match step {
                Step::Members(names) => definite &= names.len() == 1 || at == last,
                Step::Indexes(indexes) => definite &= indexes.len() == 1,
                Step::Wildcard | Step::Slice(..) | Step::Filter(_) => definite = false,
                Step::Descend => {
                    definite = false;
                    if matches!(steps.get(at + 1), Some(Step::Wildcard)) && at + 1 != last {
                        return Err(PathError::Unsupported("steps after ..*".to_owned()));
                    }
                    if matches!(steps.get(at + 1), None | Some(Step::Function(_) | Step::Descend)) {
                        return Err(PathError::Unsupported("this use of ..".to_owned()));
                    }
                }
                Step::Function(_) if !definite => {
                    return Err(PathError::Unsupported("a function after an indefinite path".to_owned()));
                }
                Step::Function(_) if in_filter && at != last => {
                    return Err(PathError::Unsupported("steps after a function".to_owned()));
                }
                Step::Function(_) => {}
            }
        }
        Ok(Self { text: text.to_owned(), steps, definite })
    }

    /// The path as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the path can select at most one value.
    pub fn is_definite(&self) -> bool {
        self.definite
    }
}
