//! JMeter's variables and functions in texts: `${name}` and `${__function(a,b)}`.
//!
//! [`parse`] compiles a text of the plan into a [`Template`] once; a user only renders it. Unsupported and invalid
//! calls are reported as a [`Problem`] with the position in the text, before the first request. [`evaluate_text`] is for
//! texts that are built during the run. Each family of functions has its own file; [`supported`] lists all functions.

mod arguments;
mod context;
mod csv_read;
mod dates;
mod digest;
mod encode;
mod entities;
mod file;
mod log;
mod number;
mod parser;
mod plugins;
mod problem;
mod property;
mod queue;
mod random;
mod regex;
mod registry;
mod sample_facts;
mod scope;
mod script;
mod sub_result;
mod text;
mod thread;
mod time;
mod tst_feedback;
mod unicode;
mod variable;
mod xpath;

use std::sync::Arc;

use busyhour_limits::{Limit, count_exceeded};
use busyhour_program::run::LogLevel;
use busyhour_program::symbols::Symbols;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_slices::Number;
pub use context::RenderText;
use context::{Context, NameLookup};
pub use entities::unescape_html;
pub use problem::{Problem, ProblemKind};
pub use registry::{FunctionInfo, call_left_as_text, supported};
pub use scope::UserScope;
pub use script::{ALLOW_UNSUPPORTED_PROPERTY, end_user, retention_for};
pub use thread::{PLAN_DIRECTORY_PROPERTY, PLAN_NAME_PROPERTY, plan_directory};

/// Compiles a text of the plan.
///
/// # Errors
/// All problems of the text, in the order in which the calls end.
pub fn parse(text: &str, symbols: &mut Symbols) -> Result<Template, Vec<Problem>> {
    if !needs_parsing(text) {
        return Ok(Template::literal(text));
    }
    let mut context = Context::new(NameLookup::Program(symbols), render_text);
    let template = parser::template(text, 0, &mut context);
    let problems = context.into_problems();
    if problems.is_empty() { Ok(template) } else { Err(problems) }
}

/// Limit of texts that are evaluated within one another. Without it, a variable whose value evaluates the same variable
/// would recurse endlessly.
const EVALUATION_DEPTH_MAX: u64 = 50;
/// Limit of texts that are evaluated within one text, at all depths.
const EVALUATIONS_MAX: u64 = 10_000;

/// A guard for the evaluation of a text on this thread; the evaluation ends when the guard is dropped.
struct Evaluation;

impl Evaluation {
    /// Begins an evaluation; `None` if a limit is exceeded.
    fn begin(user: &UserState) -> Option<Self> {
        let depth = Number::TextDepth.get();
        let count = if depth == 0 { 0 } else { Number::TextCount.get() };
        if depth < EVALUATION_DEPTH_MAX && count < EVALUATIONS_MAX {
            Number::TextDepth.set(depth + 1);
            Number::TextCount.set(count + 1);
            return Some(Self);
        }
        // The limit is logged once for each outermost text; later texts within it are skipped silently.
        if count <= EVALUATIONS_MAX {
            count_exceeded(Limit::FunctionDepth);
            let message = format!(
                "a text evaluates nested texts deeper than {EVALUATION_DEPTH_MAX} or more than {EVALUATIONS_MAX} texts \
                 in total; the texts beyond this limit are empty"
            );
            user.log(LogLevel::Error, &message);
        }
        Number::TextCount.set(EVALUATIONS_MAX + 1);
        None
    }
}

impl Drop for Evaluation {
    fn drop(&mut self) {
        Number::TextDepth.set(Number::TextDepth.get() - 1);
    }
}

/// Compiles a text of a request. Problems for which JMeter fails the sample are returned with the template, which
/// throws when it is rendered.
///
/// # Errors
/// The problems of the text, if the plan cannot run because of any of them.
pub fn parse_in_request(text: &str, symbols: &mut Symbols) -> Result<(Template, Vec<Problem>), Vec<Problem>> {
    if !needs_parsing(text) {
        return Ok((Template::literal(text), Vec::new()));
    }
    let mut context = Context::new(NameLookup::Program(symbols), render_text);
    let template = parser::template(text, 0, &mut context);
    let problems = context.into_problems();
    let can_run = problems.iter().all(|problem| problem.kind == ProblemKind::FailsSample);
    if can_run { Ok((template, problems)) } else { Err(problems) }
}

/// Evaluates a text that was built during the run. Problems are logged, and the result is then empty, as in
/// JMeter.
pub fn evaluate_text(text: &str, user: &mut UserState) -> String {
    let mut out = String::new();
    render_text(text, user, &mut out);
    out
}

/// Appends the result of [`evaluate_text`].
pub fn render_text(text: &str, user: &mut UserState, out: &mut String) {
    if !needs_parsing(text) {
        out.push_str(text);
        return;
    }
    let Some(_evaluation) = Evaluation::begin(user) else { return };
    let names = Arc::clone(user.variables.names());
    let mut context = Context::new(NameLookup::Run(&names), render_text);
    let template = parser::template(text, 0, &mut context);
    let problems = context.into_problems();
    if problems.is_empty() {
        template.render(user, out);
    }
    for problem in problems {
        user.log(LogLevel::Error, &format!("in {:?}: {problem}", parser::excerpt(text)));
        if !matches!(problem.kind, ProblemKind::Invalid | ProblemKind::FailsSample) {
            script::stop_unsupported(user);
        }
    }
}

/// Whether a text contains references or escapes.
fn needs_parsing(text: &str) -> bool {
    text.contains("${") || text.contains('\\')
}
