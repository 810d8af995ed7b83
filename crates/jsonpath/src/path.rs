//! The syntax of JSON paths.

use crate::PathError;
use crate::filter::{self, Filter};

/// One step of a path.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// `.name`, `['name']`, `['a','b']`
    Members(Vec<String>),
    /// `.*`, `[*]`
    Wildcard,
    /// `[0]`, `[0,2]`, negative from the end.
    Indexes(Vec<i64>),
    /// `[from:to]`
    Slice(Option<i64>, Option<i64>),
    /// `[?(…)]`
    Filter(Filter),
    /// `..` before the next step.
    Descend,
    /// `.name(…)`
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
    /// One that Jayway does not know: it fails when it is reached.
    Unknown(String),
}

/// The functions that Jayway has.
const KNOWN_FUNCTIONS: [&str; 14] = [
    "avg", "stddev", "sum", "min", "max", "concat", "length", "size", "append", "keys", "first", "last",
    "index", "values",
];

/// Reads the steps behind `$` or `@`.
pub(crate) struct Parser<'p> {
    /// The whole path.
    pub text: &'p str,
    /// Byte offset of what comes next.
    pub at: usize,
    /// The path stands inside a filter and ends where it cannot go on.
    pub inside: bool,
    /// Where the filter that is being read begins and ends, its brackets included.
    pub filter: (usize, usize),
    /// How many filters are being read, one inside the other.
    pub depth: u32,
}

impl<'p> Parser<'p> {
    pub(crate) fn rest(&self) -> &'p str {
        &self.text[self.at..]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn unsupported<T>(&self, what: &str) -> Result<T, PathError> {
        Err(PathError::Unsupported(what.to_owned()))
    }

    /// Number of the character at a byte, as Jayway counts.
    fn position(&self, at: usize) -> usize {
        self.text[..at].encode_utf16().count()
    }

    /// What Jayway says where it has no idea of a bracket.
    fn no_token<T>(&self, open: usize) -> Result<T, PathError> {
        let open = self.position(open);
        Err(PathError::Invalid(format!(
            "Could not parse token starting at position {open}. Expected ?, ', 0-9, * "
        )))
    }

    /// It has read beyond the end.
    fn beyond_end<T>(&self) -> Result<T, PathError> {
        let length = self.position(self.text.len());
        Err(PathError::Invalid(format!(
            "java.lang.StringIndexOutOfBoundsException: String index out of range: {length}"
        )))
    }

    /// Jayway does not look at the last character, if a step is complete before it.
    fn is_tail(&self) -> bool {
        !self.inside && self.rest().chars().nth(1).is_none()
    }

    pub(crate) fn steps(&mut self) -> Result<Vec<Step>, PathError> {
        let mut steps = Vec::new();
        while let Some(next) = self.peek() {
            if !steps.is_empty() && !matches!(steps.last(), Some(Step::Descend)) && self.is_tail() {
                self.at = self.text.len();
                break;
            }
            match next {
                '.' => self.dot(&mut steps)?,
                '[' => {
                    let step = self.bracket()?;
                    steps.push(step);
                }
                _ if self.inside => break,
                _ if steps.is_empty() => {
                    return Err(PathError::Invalid(format!(
                        "Illegal character at position {} expected '.' or '['",
                        self.at
                    )));
                }
                ' ' => {
                    return Err(PathError::Invalid(format!(
                        "Could not parse token starting at position {}",
                        self.at
                    )));
                }
                _ => {
                    let step = self.name()?;
                    steps.push(step);
                }
            }
            if matches!(steps.last(), Some(Step::Function(_))) && !self.inside && !self.rest().is_empty() {
                return self.unsupported("steps behind a function");
            }
        }
        Ok(steps)
    }

    fn dot(&mut self, steps: &mut Vec<Step>) -> Result<(), PathError> {
        self.at += 1;
        if self.peek() == Some('.') {
            self.at += 1;
            steps.push(Step::Descend);
            if self.peek() == Some('[') {
                return Ok(());
            }
        }
        match self.peek() {
            None => Err(PathError::Invalid("Path must not end with a '.' or '..'".to_owned())),
            Some('*') => {
                self.at += 1;
                steps.push(Step::Wildcard);
                Ok(())
            }
            Some('[') => Ok(()),
            Some('.') => {
                Err(PathError::Invalid(format!("Character '.' on position {} is not valid.", self.at)))
            }
            Some(_) => {
                let step = self.name()?;
                steps.push(step);
                Ok(())
            }
        }
    }

    fn name(&mut self) -> Result<Step, PathError> {
        let start = self.at;
        let ends = |next: char| {
            matches!(next, '.' | '[' | '(') || next == ' ' || (self.inside && is_outside_of_name(next))
        };
        let length = self.rest().find(ends).unwrap_or(self.rest().len());
        let name = &self.rest()[..length];
        self.at += length;
        match self.peek() {
            Some('(') => return self.function(name),
            Some(' ') if !self.inside && name.is_empty() => {
                return Err(PathError::Invalid(format!(
                    "Could not parse token starting at position {start}"
                )));
            }
            Some(' ') if !self.inside => {
                return Err(PathError::Invalid(format!(
                    "Use bracket notion ['my prop'] if your property contains blank characters. position: {start}"
                )));
            }
            _ => {}
        }
        if name.is_empty() {
            return self.unsupported("an empty name");
        }
        Ok(Step::Members(vec![name.to_owned()]))
    }

    fn function(&mut self, name: &str) -> Result<Step, PathError> {
        let Some(end) = self.rest().find(')') else {
            return Err(PathError::Invalid(format!(
                "Arguments to function: '{name}' are not closed properly."
            )));
        };
        let arguments = self.rest()[1..end].trim();
        self.at += end + 1;
        let function = match (name, arguments) {
            ("length" | "size", "") => Function::Length,
            ("min", "") => Function::Min,
            ("max", "") => Function::Max,
            ("avg", "") => Function::Avg,
            ("sum", "") => Function::Sum,
            ("stddev", "") => Function::StdDev,
            ("first", "") => Function::First,
            ("last", "") => Function::Last,
            ("concat", "") => Function::Concat,
            ("index", number) => match number.parse() {
                Ok(number) => Function::Index(number),
                Err(_) => return self.unsupported("this argument of index()"),
            },
            (name, _) if !KNOWN_FUNCTIONS.contains(&name) => Function::Unknown(name.to_owned()),
            _ => return self.unsupported(&format!("the function {name}({arguments})")),
        };
        Ok(Step::Function(function))
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches(' ').len();
    }

    fn bracket(&mut self) -> Result<Step, PathError> {
        let open = self.at;
        self.at += 1;
        self.skip_space();
        match self.peek() {
            Some(quote @ ('\'' | '"')) => self.quoted_names(quote),
            Some('*') => {
                self.at += 1;
                let behind = self.at;
                self.skip_space();
                if self.peek() != Some(']') {
                    let behind = self.position(behind);
                    return Err(PathError::Invalid(format!(
                        "Expected wildcard token to end with ']' on position {behind}"
                    )));
                }
                self.at += 1;
                Ok(Step::Wildcard)
            }
            Some('?') => self.filtered(open),
            None => self.beyond_end(),
            Some(next) if next == '-' || next == ':' || next.is_ascii_digit() => self.numbers(open),
            _ => self.no_token(open),
        }
    }

    /// `[?(…)]`, from the question mark on.
    fn filtered(&mut self, open: usize) -> Result<Step, PathError> {
        self.at += 1;
        self.skip_space();
        match self.peek() {
            None => return self.beyond_end(),
            Some(']') => {
                let open = self.position(open);
                return Err(PathError::Invalid(format!(
                    "Not enough predicates supplied for filter [?] at position {open}"
                )));
            }
            Some('(') => {}
            Some(_) => return self.no_token(open),
        }
        // The end is looked for before anything inside is read.
        let Some(length) = filter::length(self.rest()).map_err(|quote| {
            PathError::Invalid(format!(
                "Could not find matching close quote for {quote} when parsing : {}",
                self.text
            ))
        })?
        else {
            return self.no_token(open);
        };
        let behind = &self.rest()[length..];
        if !behind.trim_start_matches(' ').starts_with(']') {
            return self.no_token(open);
        }
        let end = self.at + length + behind.find(']').map_or(0, |at| at + 1);
        let outer = std::mem::replace(&mut self.filter, (open, end));
        let filter = filter::parse(self)?;
        self.filter = outer;
        self.close(open)?;
        Ok(Step::Filter(filter))
    }

    fn close(&mut self, open: usize) -> Result<(), PathError> {
        self.skip_space();
        if self.peek() != Some(']') {
            return self.no_token(open);
        }
        self.at += 1;
        Ok(())
    }

    fn numbers(&mut self, open: usize) -> Result<Step, PathError> {
        let Some(end) = self.rest().find(']') else { return self.no_token(open) };
        let inside = self.rest()[..end].trim();
        if !inside.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '-' | ':' | ' ')) {
            return self.no_token(open);
        }
        let step = if inside.contains(':') {
            let failed = || PathError::Invalid(format!("Failed to parse SliceOperation: {inside}"));
            let (from, to) = inside.split_once(':').ok_or_else(failed)?;
            let bound = |text: &str| match text.trim() {
                "" => Ok(None),
                number => number.parse().map(Some).map_err(|_| failed()),
            };
            if to.contains(':') || (from.trim().is_empty() && to.trim().is_empty()) {
                return Err(failed());
            }
            Step::Slice(bound(from)?, bound(to)?)
        } else {
            let number = |text: &str| {
                let text = text.trim();
                text.parse().map_err(|_| {
                    PathError::Invalid(format!("Failed to parse token in ArrayIndexOperation: {text}"))
                })
            };
            Step::Indexes(inside.split(',').map(number).collect::<Result<Vec<i64>, _>>()?)
        };
        self.at += end;
        self.close(open)?;
        Ok(step)
    }

    fn quoted_names(&mut self, quote: char) -> Result<Step, PathError> {
        let mut names = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                Some(next) if next == quote => {}
                Some(other @ ('\'' | '"')) => {
                    return self.unsupported(&format!("a name in {other} behind {quote}"));
                }
                _ => {
                    let end = self.rest().find(']').map_or(self.text.len(), |end| self.at + end);
                    let end = self.position(end);
                    return Err(PathError::Invalid(format!("Found empty property at index {end}")));
                }
            }
            self.at += 1;
            names.push(quoted(self, quote).ok_or_else(|| {
                PathError::Invalid("Property has not been closed - missing closing '".to_owned())
            })?);
            let behind = self.at;
            self.skip_space();
            match self.peek() {
                Some(',') => self.at += 1,
                Some(']') => {
                    self.at += 1;
                    return Ok(Step::Members(names));
                }
                _ => {
                    let last = self.position(behind) - 1;
                    return Err(PathError::Invalid(format!(
                        "Property must be separated by comma or Property must be terminated close square bracket at \
                         index {last}"
                    )));
                }
            }
        }
    }
}

/// What cannot stand in a name within a filter.
fn is_outside_of_name(next: char) -> bool {
    next.is_whitespace() || matches!(next, ')' | '=' | '!' | '<' | '>' | '&' | '|' | ',' | ']' | '~')
}

/// Reads up to the closing quote, behind it; a backslash takes the meaning from what follows it.
pub(crate) fn quoted(parser: &mut Parser<'_>, quote: char) -> Option<String> {
    let mut out = String::new();
    let mut characters = parser.rest().char_indices();
    while let Some((offset, character)) = characters.next() {
        if character == quote {
            parser.at += offset + quote.len_utf8();
            return Some(out);
        }
        if character == '\\' {
            let (_, escaped) = characters.next()?;
            out.push(match escaped {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                other => other,
            });
        } else {
            out.push(character);
        }
    }
    None
}
