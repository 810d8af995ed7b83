//! JMeter's variables and functions in texts: `${name}` and `${__function(a,b)}`.
//!
//! [`parse`] turns a text of the plan into a [`Template`] once; a user only renders it. What cannot be had is a
//! [`Problem`] with its place in the text, before the first request. [`evaluate_text`] is for texts that come up
//! while the run goes on. The functions stand one family per file; [`supported`] lists them. Texts and dates that
//! are formatted as Java does it: [`java_text`].

mod arguments;
mod csv_read;
mod dates;
mod digest;
mod encode;
mod entities;
mod file;
pub mod java_text;
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
mod scope;
mod script;
mod text;
mod thread;
mod time;
mod tst_feedback;
mod unicode;
mod variable;
mod xpath;

use std::sync::Arc;

use busyhour_engine::run::Level;
use busyhour_engine::symbols::Symbols;
use busyhour_engine::template::Template;
use busyhour_engine::user::UserState;

pub use entities::unescape_html;
pub use problem::{Problem, ProblemKind};
pub use registry::{FunctionInfo, supported};
pub use scope::UserScope;
pub use script::ALLOW_UNSUPPORTED_PROPERTY;
pub use thread::PLAN_NAME_PROPERTY;

use parser::{Context, Place};

/// Compiles a text of the plan.
///
/// # Errors
/// All that is wrong with the text, in the order of the functions' ends.
pub fn parse(text: &str, symbols: &mut Symbols) -> Result<Template, Vec<Problem>> {
    if !needs_parsing(text) {
        return Ok(Template::literal(text));
    }
    let mut context = Context { place: Place::Program(symbols), problems: Vec::new() };
    let template = parser::template(text, 0, &mut context);
    if context.problems.is_empty() { Ok(template) } else { Err(context.problems) }
}

/// The text that `text`, which came up while the run goes on, stands for. What is wrong with it is logged; the text
/// is then empty, as JMeter's is.
pub fn evaluate_text(text: &str, user: &mut UserState) -> String {
    let mut out = String::new();
    render_text(text, user, &mut out);
    out
}

/// Appends what [`evaluate_text`] gives.
pub fn render_text(text: &str, user: &mut UserState, out: &mut String) {
    if !needs_parsing(text) {
        out.push_str(text);
        return;
    }
    let names = Arc::clone(user.variables.names());
    let mut context = Context { place: Place::Run(&names), problems: Vec::new() };
    let template = parser::template(text, 0, &mut context);
    let problems = context.problems;
    if problems.is_empty() {
        template.render(user, out);
    }
    for problem in problems {
        user.log(Level::Error, &format!("in {text:?}: {problem}"));
        if problem.kind != ProblemKind::Invalid {
            script::stop_unsupported(user);
        }
    }
}

/// Whether a text holds anything but itself.
fn needs_parsing(text: &str) -> bool {
    text.contains("${") || text.contains('\\')
}
