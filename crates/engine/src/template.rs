//! Text with variables and functions in it, compiled once to segments.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::user::UserState;
use crate::variables::Slot;

/// A function call inside a template, such as `${__Random(1,6)}`.
///
/// Like JMeter's, a function never fails: what goes wrong is logged and the text that stands for the
/// failure is appended.
pub trait Function: Send + Sync + fmt::Debug {
    /// Appends the function's value to `out`.
    fn evaluate(&self, user: &mut UserState, out: &mut String);
}

/// One piece of a template.
#[derive(Clone, Debug)]
pub enum Segment {
    /// Text as it is.
    Text(Box<str>),
    /// A variable; while it is unset, `${name}` stays as text.
    Variable(Slot),
    /// A function call.
    Function(Arc<dyn Function>),
}

/// A compiled text.
#[derive(Clone, Debug, Default)]
pub struct Template {
    segments: Box<[Segment]>,
    source: Box<str>,
}

impl Template {
    /// Text without variables or functions.
    pub fn literal(text: &str) -> Self {
        let segments = if text.is_empty() { Vec::new() } else { vec![Segment::Text(text.into())] };
        Self { segments: segments.into_boxed_slice(), source: text.into() }
    }

    /// A template of these segments; `source` is what the plan says, for messages.
    pub fn new(source: &str, segments: Vec<Segment>) -> Self {
        Self { segments: segments.into_boxed_slice(), source: source.into() }
    }

    /// The text if nothing in it varies.
    pub fn as_literal(&self) -> Option<&str> {
        match &*self.segments {
            [] => Some(""),
            [Segment::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// What the plan says.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether the text is empty whatever the variables are.
    pub fn is_empty(&self) -> bool {
        self.as_literal() == Some("")
    }

    /// The pieces.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Appends the text as it is for this user now.
    pub fn render(&self, user: &mut UserState, out: &mut String) {
        for segment in &self.segments {
            match segment {
                Segment::Text(text) => out.push_str(text),
                Segment::Variable(slot) => match user.variables.slot(*slot) {
                    Some(text) => out.push_str(text),
                    None => {
                        out.push_str("${");
                        out.push_str(user.variables.names().name(*slot));
                        out.push('}');
                    }
                },
                Segment::Function(function) => function.evaluate(user, out),
            }
        }
    }

    /// The text as it is for this user now; borrowed if nothing in it varies.
    pub fn text(&self, user: &mut UserState) -> Cow<'_, str> {
        match self.as_literal() {
            Some(text) => Cow::Borrowed(text),
            None => {
                let mut out = String::new();
                self.render(user, &mut out);
                Cow::Owned(out)
            }
        }
    }

    /// The text as a number, read as `Long.parseLong` of the trimmed text; `default` when it is none.
    pub fn integer(&self, user: &mut UserState, default: i64) -> i64 {
        self.text(user).trim().parse().unwrap_or(default)
    }
}
