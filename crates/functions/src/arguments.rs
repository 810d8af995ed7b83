//! The arguments of a function call, and the variable that receives the result.

use std::sync::Arc;

use busyhour_program::result::Retention;
use busyhour_program::run::LogLevel;
use busyhour_program::template::{Function, Template};
use busyhour_program::user::{StateId, UserState};
use busyhour_program::variables::Slot;

use crate::context::{Context, NameLookup, RenderText};
use crate::problem::{Problem, ProblemKind};

/// The arguments from which a function is built.
pub(crate) struct Arguments<'a, 'c> {
    /// The function's name, for messages.
    pub(crate) name: &'static str,
    /// Number of arguments in the call.
    pub(crate) count: usize,
    values: Vec<Template>,
    offset: usize,
    context: &'a mut Context<'c>,
}

/// The function, or the reason why it cannot be built.
pub(crate) type BuildResult = Result<Arc<dyn Function>, Problem>;

impl<'a, 'c> Arguments<'a, 'c> {
    /// The arguments of the function `name`, whose call starts at `offset`.
    pub(crate) fn new(
        name: &'static str,
        values: Vec<Template>,
        offset: usize,
        context: &'a mut Context<'c>,
    ) -> Self {
        Self { name, count: values.len(), values, offset, context }
    }

    /// The argument at `index`, which must be present.
    pub(crate) fn take(&mut self, index: usize) -> Template {
        std::mem::take(&mut self.values[index])
    }

    /// The argument at `index` if it is present.
    pub(crate) fn optional(&mut self, index: usize) -> Option<Template> {
        self.values.get_mut(index).map(std::mem::take)
    }

    /// The argument at `index` if it is present and constant.
    pub(crate) fn literal(&self, index: usize) -> Option<&str> {
        self.values.get(index).and_then(Template::as_literal)
    }

    /// The variable named by the argument at `index`; surrounding blanks are ignored.
    pub(crate) fn target(&mut self, index: usize) -> Target {
        match self.optional(index) {
            None => Target::None,
            Some(template) => self.target_of(template, true),
        }
    }

    /// The variable named by the argument at `index`, including surrounding blanks.
    pub(crate) fn target_untrimmed(&mut self, index: usize) -> Target {
        match self.optional(index) {
            None => Target::None,
            Some(template) => self.target_of(template, false),
        }
    }

    fn target_of(&mut self, template: Template, trimmed: bool) -> Target {
        let Some(name) = template.as_literal() else {
            return Target::Named { name: template, trimmed };
        };
        let name = if trimmed { busyhour_java::trim(name) } else { name };
        if name.is_empty() {
            return Target::None;
        }
        match &mut self.context.lookup {
            NameLookup::Program(symbols) => Target::Slot(symbols.slot(name)),
            NameLookup::Run(names) => match names.find(name) {
                Some(slot) => Target::Slot(slot),
                None => Target::Named { name: Template::literal(name), trimmed: false },
            },
        }
    }

    /// Allocates state in each user; `None` for a function that is built during the run, because it is used only once.
    pub(crate) fn state(&mut self) -> Option<StateId> {
        self.context.state()
    }

    /// Records the data that the function may read besides its arguments.
    pub(crate) fn note_reads(&mut self, result: Retention, any_variable: bool) {
        self.context.note_reads(result, any_variable);
    }

    /// Records a warning: the function fails on every evaluation, as it does in JMeter.
    pub(crate) fn warn(&mut self, message: &str) {
        let message = format!("{}: {message}", self.name);
        self.context.warn(message);
    }

    /// The function that parses and renders a text during the run.
    pub(crate) fn render_text(&self) -> RenderText {
        self.context.render_text
    }

    /// Whether the function is built during the run.
    pub(crate) fn at_run_time(&self) -> bool {
        matches!(self.context.lookup, NameLookup::Run(_))
    }

    /// The slot of a variable whose name is constant.
    pub(crate) fn slot(&mut self, name: &str) -> Option<Slot> {
        match &mut self.context.lookup {
            NameLookup::Program(symbols) => Some(symbols.slot(name)),
            NameLookup::Run(names) => names.find(name),
        }
    }

    /// A problem of a call that is also invalid in JMeter.
    pub(crate) fn invalid(&self, message: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem {
            kind: ProblemKind::Invalid,
            message: format!("{}: {}", self.name, message.into()),
            hint: hint.into(),
            offset: self.offset,
        }
    }

    /// A problem of a call that may work in JMeter.
    pub(crate) fn unsupported(&self, message: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem { kind: ProblemKind::Unsupported, ..self.invalid(message, hint) }
    }
}

/// The variable that receives a function's result.
#[derive(Debug)]
pub(crate) enum Target {
    /// No variable.
    None,
    /// A variable with a slot.
    Slot(Slot),
    /// A variable whose name varies or has no slot; an empty name means no variable.
    Named {
        /// Its name.
        name: Template,
        /// Whether blanks around the name are removed.
        trimmed: bool,
    },
}

impl Target {
    /// Unsets the variable.
    pub(crate) fn remove(&self, user: &mut UserState) {
        match self {
            Target::None => {}
            Target::Slot(slot) => {
                let name = user.variables.names().name(*slot).to_owned();
                user.variables.remove(&name);
            }
            Target::Named { name, trimmed } => with_text(name, user, |user, name| {
                user.variables.remove(if *trimmed { busyhour_java::trim(name) } else { name });
            }),
        }
    }

    /// Sets the variable.
    pub(crate) fn store(&self, user: &mut UserState, value: &str) {
        match self {
            Target::None => {}
            Target::Slot(slot) => user.variables.set_slot(*slot, value),
            Target::Named { name, trimmed } => with_text(name, user, |user, name| {
                let name = if *trimmed { busyhour_java::trim(name) } else { name };
                if !name.is_empty() {
                    user.variables.set(name, value);
                }
            }),
        }
    }
}

/// Calls `work` with the text rendered for this user, without an allocation in steady state.
pub(crate) fn with_text<R>(
    template: &Template,
    user: &mut UserState,
    work: impl FnOnce(&mut UserState, &str) -> R,
) -> R {
    if let Some(text) = template.as_literal() {
        return work(user, text);
    }
    let mut buffer = user.take_buffer();
    template.render(user, &mut buffer);
    let result = work(user, &buffer);
    user.give_back(buffer);
    result
}

/// Logs the message of an exception that the function throws in JMeter. JMeter then abandons the sampler without a result;
/// here the function returns an empty text.
pub(crate) fn log_failure(user: &UserState, name: &str, message: &str) {
    user.log(LogLevel::Error, &format!("{name}: {message}"));
}
