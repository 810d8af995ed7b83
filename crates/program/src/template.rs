//! Text with variables and functions, compiled to segments.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use busyhour_limits::{Limit, count_exceeded};
use busyhour_sample::Nanos;

use crate::user::UserState;
use crate::variables::Slot;

/// A function call inside a template, such as `${__Random(1,6)}`.
///
/// # Order of calls
/// [`depends_on_properties_only`](Self::depends_on_properties_only) is called while the plan is compiled.
/// [`evaluate`](Self::evaluate) is called each time a text with the call is rendered: in the order of the calls in the text,
/// and in the order in which the element renders its texts. For a text that is evaluated before the run, it is also called
/// once with a user that has no core.
///
/// # Threads
/// All users share one value of the function, and users on different cores call it at the same time. A call runs on the
/// thread of the user's core and must not block it; a long computation calls `busyhour_slices::tick` regularly and is
/// suspended when its time slice is over.
///
/// # What a function may store
/// The state of one user belongs in [`UserState::state`]. The state of all users belongs in
/// [`RunShared::shared`](crate::run::RunShared::shared) or behind a lock in the function, which may be held only during a
/// call. References to the user and `out` must not be stored. `out` may contain text of other segments, which must stay
/// unchanged.
///
/// As in JMeter, a function never fails: errors are logged, and JMeter's text for the failure, if there is one, is appended.
/// If JMeter fails the sample because of an exception, the function sets [`UserState::thrown`].
///
/// # Example
/// A counter for each user:
///
/// ```
/// use std::fmt::Write as _;
/// use std::sync::Arc;
///
/// use busyhour_program::template::{Function, Segment, Template};
/// use busyhour_program::user::{StateId, UserState};
///
/// #[derive(Debug)]
/// struct Counter {
///     state: StateId,
/// }
///
/// impl Function for Counter {
///     fn evaluate(&self, user: &mut UserState, out: &mut String) {
///         let count = user.state(self.state, || 0_u32);
///         *count += 1;
///         let _ = write!(out, "{count}");
///     }
/// }
///
/// # let clock = busyhour_program::clock::Clock::manual(0);
/// # let mut user = busyhour_program::testing::lone_user(&busyhour_program::testing::run_with_stopped_clock(&clock), 0);
/// let call = Segment::Function(Arc::new(Counter { state: StateId(0) }));
/// let template = Template::new("order ${__counter()}", vec![Segment::Text("order ".into()), call]);
/// assert_eq!(template.text(&mut user), "order 1");
/// assert_eq!(template.text(&mut user), "order 2");
/// ```
pub trait Function: Send + Sync + fmt::Debug {
    /// Appends the function's value to `out`.
    fn evaluate(&self, user: &mut UserState, out: &mut String);

    /// Whether the value depends only on JMeter's properties and on texts of the plan, and its evaluation has no side effect.
    /// The value is then known before the run.
    fn depends_on_properties_only(&self) -> bool {
        false
    }
}

/// Maximum length of a rendered text, in bytes. A variable that contains itself twice doubles in length with each pass.
pub const TEXT_MAX: usize = 64 * 1024 * 1024;

/// One piece of a template.
#[derive(Clone, Debug)]
pub enum Segment {
    /// Literal text.
    Text(Box<str>),
    /// A variable. While it is unset, the text is its reference, `${name}`.
    Variable(Slot),
    /// A function call.
    Function(Arc<dyn Function>),
}

/// A compiled text.
#[derive(Clone, Debug, Default)]
pub struct Template {
    segments: Box<[Segment]>,
    source: Box<str>,
    /// The number if the text is constant and a number.
    number: Option<i64>,
}

impl Template {
    /// Text without variables or functions.
    pub fn literal(text: &str) -> Self {
        let segments = if text.is_empty() { Vec::new() } else { vec![Segment::Text(text.into())] };
        Self { segments: segments.into_boxed_slice(), source: text.into(), number: text.trim().parse().ok() }
    }

    /// A template of these segments; `source` is the text in the plan, for messages.
    pub fn new(source: &str, segments: Vec<Segment>) -> Self {
        let mut template =
            Self { segments: segments.into_boxed_slice(), source: source.into(), number: None };
        template.number = template.as_literal().and_then(|text| text.trim().parse().ok());
        template
    }

    /// The text if it is constant.
    pub fn as_literal(&self) -> Option<&str> {
        match &*self.segments {
            [] => Some(""),
            [Segment::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text in the plan.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether the text is empty for all values of the variables.
    pub fn is_empty(&self) -> bool {
        self.as_literal() == Some("")
    }

    /// The segments.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Appends the current text for this user, cut off after [`TEXT_MAX`] bytes.
    pub fn render(&self, user: &mut UserState, out: &mut String) {
        let end = out.len().saturating_add(TEXT_MAX);
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
            if out.len() > end {
                let cut = (0..=end).rev().find(|at| out.is_char_boundary(*at)).unwrap_or(0);
                out.truncate(cut);
                count_exceeded(Limit::TextBytes);
                return;
            }
        }
    }

    /// The current text for this user; borrowed if it is constant.
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

    /// The text as a number, parsed like `Long.parseLong` of the trimmed text; `default` if it is not a number.
    pub fn integer(&self, user: &mut UserState, default: i64) -> i64 {
        match self.number {
            Some(number) => number,
            None => self.text(user).trim().parse().unwrap_or(default),
        }
    }
}

impl UserState {
    /// Clears the result for the next sample. Call this after all texts have been rendered, because they may refer to the
    /// previous result.
    pub fn begin_result(&mut self, label: &Template, intended: Nanos) {
        if let Some(name) = label.as_literal() {
            self.result.reset();
            self.result.label.push_str(name);
        } else {
            let mut name = self.take_buffer();
            label.render(self, &mut name);
            self.result.reset();
            self.result.label.push_str(&name);
            self.give_back(name);
        }
        self.result.times.intended = intended;
        self.result.outcome.success = true;
        self.has_result = true;
        self.result.times.start = self.now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::testing::{lone_user, run_with_stopped_clock, shared_with};
    use crate::variables::{Names, VariableValue};

    /// A function that appends the number of its calls for this user.
    #[derive(Debug)]
    struct Calls;

    impl Function for Calls {
        fn evaluate(&self, user: &mut UserState, out: &mut String) {
            use std::fmt::Write as _;
            let calls = user.state(crate::user::StateId(0), || 0_u32);
            *calls += 1;
            let _ = write!(out, "{calls}");
        }
    }

    fn user_with(name: &str) -> (UserState, Slot) {
        let mut names = Names::default();
        let slot = names.slot(name);
        (lone_user(&shared_with(Clock::manual(0), 1, 1, names, 1).0, 0), slot)
    }

    #[test]
    fn segments_are_rendered_in_order_and_afresh() {
        let (mut user, slot) = user_with("host");
        let segments = vec![
            Segment::Text("http://".into()),
            Segment::Variable(slot),
            Segment::Function(Arc::new(Calls)),
        ];
        let template = Template::new("http://${host}${__calls}", segments);
        assert_eq!(template.as_literal(), None);
        assert!(!template.is_empty());
        assert_eq!(
            template.text(&mut user),
            "http://${host}1",
            "a reference to an unset variable is unchanged"
        );
        user.variables.set("host", "shop");
        assert_eq!(template.text(&mut user), "http://shop2");
        let object = crate::variables::ObjectValue { object: std::rc::Rc::new(1), text: "one".into() };
        user.variables.set_value("host", VariableValue::Object(std::rc::Rc::new(object)));
        assert_eq!(template.text(&mut user), "http://one3");
        user.variables.set_value("host", VariableValue::Null);
        let mut out = String::from("> ");
        template.render(&mut user, &mut out);
        assert_eq!(out, "> http://${host}4");
    }

    #[test]
    fn literals_are_not_copied() {
        let (mut user, _) = user_with("x");
        let template = Template::literal("plain");
        assert!(matches!(template.text(&mut user), Cow::Borrowed("plain")));
        assert_eq!(Template::literal("").as_literal(), Some(""));
        assert!(Template::default().is_empty());
        assert!(Template::new("", Vec::new()).segments().is_empty());
    }

    #[test]
    fn numbers_are_read_as_java_reads_them() {
        let (mut user, _) = user_with("x");
        for (text, expected) in [
            ("12", 12),
            (" 12 ", 12),
            ("-1", -1),
            ("+5", 5),
            ("9223372036854775807", i64::MAX),
            ("9223372036854775808", 7),
            ("1.5", 7),
            ("0x10", 7),
            ("", 7),
        ] {
            assert_eq!(Template::literal(text).integer(&mut user, 7), expected, "{text:?}");
        }
    }

    #[test]
    fn a_text_is_cut_off_when_it_is_too_long() {
        let mut names = Names::default();
        let slot = names.slot("v");
        let mut user = lone_user(&shared_with(Clock::manual(0), 1, 1, names, 1).0, 0);
        user.variables.set("v", &"ä".repeat(TEXT_MAX / 4 + 1));
        let twice = Template::new("${v}${v}x", vec![Segment::Variable(slot), Segment::Variable(slot)]);
        assert_eq!(twice.text(&mut user).len(), TEXT_MAX);
        assert_eq!(busyhour_limits::take_counts(), [(Limit::TextBytes, 1)]);
        user.variables.set("v", "short");
        assert_eq!(twice.text(&mut user), "shortshort");
        assert_eq!(busyhour_limits::take_counts(), []);
    }

    #[test]
    fn a_new_result_is_empty_and_reuses_its_buffers() {
        let clock = Clock::manual(0);
        let mut user = lone_user(&run_with_stopped_clock(&clock), 0);
        user.begin_result(&Template::literal("first label"), Nanos(1));
        user.result.outcome.code.push_str("500");
        user.result.body.extend_from_slice(&[0; 100_000]);
        let buffer = user.result.label.as_ptr();
        clock.advance(std::time::Duration::from_millis(5));
        user.begin_result(&Template::literal("second"), Nanos(2));
        assert_eq!((user.result.label.as_str(), user.result.outcome.code.as_str()), ("second", ""));
        assert_eq!(user.result.label.as_ptr(), buffer);
        assert_eq!(user.result.body.capacity(), 0, "a large body is freed");
        assert_eq!((user.result.times.intended, user.result.times.start), (Nanos(2), Nanos::from_millis(5)));
        assert!(user.has_result && user.result.outcome.success);
    }
}
