//! The functions that run scripts: `__jexl3`, `__jexl2`, `__jexl`, `__javaScript`, `__groovy` and `__BeanShell`.
//!
//! A constant script is compiled with the plan. A script that contains `${…}` is first compiled with `1` in place of each
//! reference, so that a script that can never run is rejected before the run. The actual text is compiled at first use and
//! cached per thread.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use busyhour_limits::{Limit, count_exceeded};
use busyhour_program::result::Retention;
use busyhour_program::run::{LogLevel, ScriptIssue, Stop};
use busyhour_program::template::{Function, Segment, Template};
use busyhour_program::user::UserState;
use busyhour_script::{ResultReads, ScriptError, Value, java_like, javascript, jexl};

use crate::arguments::{Arguments, BuildResult, Target, with_text};
use crate::context::RenderText;
use crate::problem::{Problem, ProblemKind};
use crate::scope::UserScope;

/// The language of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Language {
    Jexl3,
    Jexl2,
    JavaScript,
    Groovy,
    BeanShell,
}

/// A compiled script.
enum Compiled {
    Jexl(jexl::Script),
    JavaScript(javascript::Script),
    JavaLike(java_like::Script),
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compiled::Jexl(_) => "Jexl",
            Compiled::JavaScript(_) => "JavaScript",
            Compiled::JavaLike(_) => "JavaLike",
        })
    }
}

impl Language {
    /// Kind of the problem for a script that is not supported.
    fn unsupported_kind(self) -> ProblemKind {
        match self {
            Language::Groovy | Language::BeanShell => ProblemKind::NeedsJava,
            Language::Jexl2 | Language::Jexl3 | Language::JavaScript => ProblemKind::Unsupported,
        }
    }

    fn compile(self, text: &str) -> Result<Compiled, ScriptError> {
        Ok(match self {
            Language::Jexl3 => Compiled::Jexl(jexl::compile(text, jexl::Version::Three)?),
            Language::Jexl2 => Compiled::Jexl(jexl::compile(text, jexl::Version::Two)?),
            Language::JavaScript => Compiled::JavaScript(javascript::compile(text)?),
            Language::Groovy => Compiled::JavaLike(java_like::compile(text, java_like::JavaLike::Groovy)?),
            Language::BeanShell => {
                Compiled::JavaLike(java_like::compile(text, java_like::JavaLike::BeanShell)?)
            }
        })
    }

    /// Whether a script that cannot be parsed also fails in JMeter, which logs the error each time it runs the script.
    fn fails_in_jmeter(self, error: &ScriptError, text: &str) -> bool {
        let language = match self {
            Language::Groovy => java_like::JavaLike::Groovy,
            Language::BeanShell => java_like::JavaLike::BeanShell,
            // Conditions in these languages decide which elements run, so an invalid script is rejected.
            Language::Jexl2 | Language::Jexl3 | Language::JavaScript => return false,
        };
        matches!(error, ScriptError::Syntax { .. }) && java_like::is_certainly_invalid(text, language)
    }

    /// The text of a value. Rhino converts null and undefined to `null` and `undefined`; the other languages convert them to an
    /// empty text.
    fn text_of(self, value: &Value) -> String {
        if self == Language::JavaScript { value.to_java_string() } else { value.to_function_result() }
    }

    /// The level at which JMeter logs an error of a script.
    fn log_level(self) -> LogLevel {
        match self {
            Language::Groovy | Language::BeanShell => LogLevel::Warn,
            _ => LogLevel::Error,
        }
    }
}

impl Compiled {
    fn evaluate(
        &self,
        user: &mut UserState,
        function: &str,
        render_text: RenderText,
    ) -> Result<Value, ScriptError> {
        let mut scope = UserScope::new(user, render_text);
        let value = match self {
            Compiled::Jexl(script) => script.evaluate(&mut scope),
            Compiled::JavaScript(script) => script.evaluate(&mut scope),
            Compiled::JavaLike(script) => script.evaluate(&mut scope),
        };
        scope.report_unsupported(function);
        value
    }
}

#[derive(Debug)]
struct Script {
    name: &'static str,
    language: Language,
    text: ScriptText,
    target: Target,
    render_text: RenderText,
}

#[derive(Debug)]
enum ScriptText {
    Constant(Compiled),
    /// A constant script that cannot be parsed, and that fails in JMeter each time it runs.
    Invalid(ScriptError),
    /// A script that contains `${…}`.
    Varying(Template),
}

/// Builds `${__jexl3(expression, variable)}`.
pub(crate) fn jexl3(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    script(arguments, Language::Jexl3)
}

/// Builds `${__jexl2(expression, variable)}`.
pub(crate) fn jexl2(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    script(arguments, Language::Jexl2)
}

/// Builds `${__javaScript(expression, variable)}`.
pub(crate) fn java_script(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    script(arguments, Language::JavaScript)
}

/// Builds `${__groovy(expression, variable)}`.
pub(crate) fn groovy(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    script(arguments, Language::Groovy)
}

/// Builds `${__BeanShell(expression, variable)}`.
pub(crate) fn bean_shell(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    script(arguments, Language::BeanShell)
}

fn script(arguments: &mut Arguments<'_, '_>, language: Language) -> BuildResult {
    let template = arguments.take(0);
    let text = match template.as_literal() {
        Some(text) => match language.compile(text) {
            Ok(compiled) => {
                note_reads(arguments, &compiled);
                if let Compiled::JavaLike(script) = &compiled {
                    for warning in script.warnings() {
                        arguments.warn(&format!("{}: {}", warning.place, warning.what));
                    }
                }
                ScriptText::Constant(compiled)
            }
            Err(error) if error.is_unsupported() => {
                let hint = "only JMeter's own interpreter can run this script";
                return Err(Problem {
                    kind: language.unsupported_kind(),
                    ..arguments.unsupported(error.to_string(), hint)
                });
            }
            Err(error) if language.fails_in_jmeter(&error, text) => {
                arguments.warn(&format!("{error}: JMeter fails on this each time it runs the script"));
                ScriptText::Invalid(error)
            }
            Err(error) => {
                return Err(
                    arguments.invalid(error.to_string(), "JMeter would fail each time it runs the script")
                );
            }
        },
        None => {
            // A syntax error of the script with `1` in place of each reference is ignored, because the actual text may be
            // valid.
            match language.compile(&with_ones(&template)) {
                Ok(compiled) => note_reads(arguments, &compiled),
                Err(error) if error.is_unsupported() && !arguments.at_run_time() => {
                    let hint = "the script is checked with 1 in place of each ${…}; with vars.get(…) instead, its exact text is checked";
                    return Err(Problem {
                        kind: language.unsupported_kind(),
                        ..arguments.unsupported(error.to_string(), hint)
                    });
                }
                Err(_) => arguments.note_reads(Retention::ALL, true),
            }
            ScriptText::Varying(template)
        }
    };
    let (target, render_text) = (arguments.target(1), arguments.render_text());
    Ok(Arc::new(Script { name: arguments.name, language, text, target, render_text }))
}

/// Records the data that a script of the plan may read. The reads of a script that is built during the run are already
/// recorded for the function that builds it.
fn note_reads(arguments: &mut Arguments<'_, '_>, compiled: &Compiled) {
    if arguments.at_run_time() {
        return;
    }
    let identifiers = match compiled {
        Compiled::Jexl(script) => script.identifiers(),
        Compiled::JavaScript(script) => script.identifiers(),
        Compiled::JavaLike(script) => script.identifiers(),
    };
    let reads_any_variable = identifiers.contains_any(&["vars", "ctx", "CompoundVariable"]);
    arguments.note_reads(retention_for(identifiers.reads_of_results()), reads_any_variable);
}

/// The parts of a result that must be retained for a script that reads them.
#[must_use]
pub fn retention_for(reads: ResultReads) -> Retention {
    Retention {
        body: reads.body,
        response_headers: reads.response_headers,
        request: reads.request,
        protocol_detail: reads.http,
    }
}

/// The script with `1` in place of each reference, which is valid both inside and outside of quotes.
fn with_ones(template: &Template) -> String {
    template
        .segments()
        .iter()
        .map(|segment| if let Segment::Text(text) = segment { text } else { "1" })
        .collect()
}

/// Number of scripts cached per thread and language; JMeter's expression cache has the same size.
const CACHED_SCRIPTS_MAX: usize = 512;

/// Compiled scripts or their errors, by text.
type ScriptCache = HashMap<Box<str>, Rc<Result<Compiled, ScriptError>>>;

thread_local! {
    static CACHES: RefCell<HashMap<Language, ScriptCache>> = RefCell::new(HashMap::new());
}

/// Compiles a text that was built during the run, or returns it from the cache.
fn compile_cached(language: Language, text: &str) -> Rc<Result<Compiled, ScriptError>> {
    CACHES.with_borrow_mut(|languages| {
        let scripts = languages.entry(language).or_default();
        if let Some(script) = scripts.get(text) {
            return Rc::clone(script);
        }
        if scripts.len() >= CACHED_SCRIPTS_MAX {
            scripts.clear();
        }
        let script = Rc::new(language.compile(text));
        scripts.insert(text.into(), Rc::clone(&script));
        script
    })
}

/// If this property is `true`, the run continues after an unsupported text.
pub const ALLOW_UNSUPPORTED_PROPERTY: &str = "busyhour.allow_unsupported";

/// Stops the run after an unsupported text, which would make the results wrong, unless [`ALLOW_UNSUPPORTED_PROPERTY`] is
/// set.
pub(crate) fn stop_unsupported(user: &UserState) {
    if !user.run.properties.flag(ALLOW_UNSUPPORTED_PROPERTY, false) {
        user.log(
            LogLevel::Error,
            "a text built during the run is not supported, see the line above; the test stops",
        );
        let why = "a text built during the run is not supported, see the log";
        user.run.stop_because_of_error(Stop::Graceful, why);
    }
}

/// Ends a user whose script threw a `java.lang.Error`, because JMeter's elements catch only exceptions.
pub fn end_user(user: &mut UserState, message: &str) {
    let mut thread = String::new();
    user.thread_name(&mut thread);
    user.log(LogLevel::Error, &format!("Uncaught exception in thread {thread}: {message}"));
    user.running = false;
    user.result.marks.ignore = true;
}

impl Function for Script {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let value = match &self.text {
            ScriptText::Constant(script) => script.evaluate(user, self.name, self.render_text),
            ScriptText::Invalid(error) => Err(error.clone()),
            ScriptText::Varying(template) => {
                with_text(template, user, |user, text| match &*compile_cached(self.language, text) {
                    Ok(script) => script.evaluate(user, self.name, self.render_text),
                    Err(error) => Err(error.clone()),
                })
            }
        };
        match value {
            Ok(value) => {
                let start = out.len();
                out.push_str(&self.language.text_of(&value));
                self.target.store(user, &out[start..]);
            }
            Err(error) => self.report(user, &error),
        }
    }
}

impl Script {
    /// Logs the error of a script. An unsupported operation is also recorded for the caveats of the results. A
    /// `java.lang.Error` ends the user, as in JMeter.
    fn report(&self, user: &mut UserState, error: &ScriptError) {
        if matches!(error, ScriptError::LimitReached { .. }) {
            count_exceeded(Limit::Script);
        }
        user.log(self.language.log_level(), &format!("{}: {error}", self.name));
        match error {
            ScriptError::Unsupported { what, .. } => {
                user.run.note_script_issue(self.name, ScriptIssue::Unsupported(what.clone()));
            }
            ScriptError::Fatal { message, .. } if self.language == Language::Groovy => {
                end_user(user, message)
            }
            _ => {}
        }
    }
}
