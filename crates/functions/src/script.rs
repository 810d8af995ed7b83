//! `__jexl3`, `__jexl2`, `__jexl`, `__javaScript`, `__groovy`, `__BeanShell`.
//!
//! A script that does not vary is compiled with the plan, and refused with it. One that holds `${…}` is tried with
//! `1` in each place, so that what can never run is refused early; the text it becomes is compiled when it comes up
//! and kept by its thread.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use busyhour_limits::{Limit, exceeded};
use busyhour_program::result::Keep;
use busyhour_program::run::{Level, ScriptDoubt, Stop};
use busyhour_program::template::{Function, Segment, Template};
use busyhour_program::user::UserState;
use busyhour_script::{ResultReads, ScriptError, Value, java_like, javascript, jexl};

use crate::arguments::{Arguments, Made, Target, with_text};
use crate::problem::{Problem, ProblemKind};
use crate::scope::UserScope;

/// A language, as its function's name says it.
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
    /// What a script is that goes beyond what runs here.
    fn beyond(self) -> ProblemKind {
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
            Language::Groovy => Compiled::JavaLike(java_like::compile(text, java_like::Language::Groovy)?),
            Language::BeanShell => {
                Compiled::JavaLike(java_like::compile(text, java_like::Language::BeanShell)?)
            }
        })
    }

    /// The text of a value: scripts of Rhino say `null` and `undefined`, the others nothing.
    fn text(self, value: &Value) -> String {
        if self == Language::JavaScript { value.to_java_string() } else { value.to_function_result() }
    }

    /// How JMeter logs a script that fails.
    fn severity(self) -> Level {
        match self {
            Language::Groovy | Language::BeanShell => Level::Warn,
            _ => Level::Error,
        }
    }
}

impl Compiled {
    fn evaluate(&self, user: &mut UserState, function: &str) -> Result<Value, ScriptError> {
        let mut scope = UserScope::new(user);
        let value = match self {
            Compiled::Jexl(script) => script.evaluate(&mut scope),
            Compiled::JavaScript(script) => script.evaluate(&mut scope),
            Compiled::JavaLike(script) => script.evaluate(&mut scope),
        };
        scope.report_gaps(function);
        value
    }
}

#[derive(Debug)]
struct Script {
    name: &'static str,
    language: Language,
    text: Text,
    target: Target,
}

#[derive(Debug)]
enum Text {
    Constant(Compiled),
    Varying(Template),
}

/// `${__jexl3(expression, variable)}`
pub(crate) fn jexl3(arguments: &mut Arguments<'_, '_>) -> Made {
    script(arguments, Language::Jexl3)
}

/// `${__jexl2(expression, variable)}`
pub(crate) fn jexl2(arguments: &mut Arguments<'_, '_>) -> Made {
    script(arguments, Language::Jexl2)
}

/// `${__javaScript(expression, variable)}`
pub(crate) fn java_script(arguments: &mut Arguments<'_, '_>) -> Made {
    script(arguments, Language::JavaScript)
}

/// `${__groovy(expression, variable)}`
pub(crate) fn groovy(arguments: &mut Arguments<'_, '_>) -> Made {
    script(arguments, Language::Groovy)
}

/// `${__BeanShell(expression, variable)}`
pub(crate) fn bean_shell(arguments: &mut Arguments<'_, '_>) -> Made {
    script(arguments, Language::BeanShell)
}

fn script(arguments: &mut Arguments<'_, '_>, language: Language) -> Made {
    let template = arguments.take(0);
    let text = match template.as_literal() {
        Some(text) => match language.compile(text) {
            Ok(compiled) => {
                note_reads(arguments, &compiled);
                Text::Constant(compiled)
            }
            Err(error) if error.is_unsupported() => {
                let hint = "scripts beyond plain expressions need JMeter's own interpreters";
                return Err(Problem {
                    kind: language.beyond(),
                    ..arguments.unsupported(error.to_string(), hint)
                });
            }
            Err(error) => {
                return Err(arguments.invalid(error.to_string(), "JMeter would fail each time it runs it"));
            }
        },
        None => {
            // A probe that is no sentence of the language says nothing: the real text may be one.
            match language.compile(&probe(&template)) {
                Ok(compiled) => note_reads(arguments, &compiled),
                Err(error) if error.is_unsupported() && !arguments.at_run_time() => {
                    let hint = "tried with 1 in the place of each ${…}; a fixed script that reads vars.get(…) can be checked better";
                    return Err(Problem {
                        kind: language.beyond(),
                        ..arguments.unsupported(error.to_string(), hint)
                    });
                }
                Err(_) => arguments.note_reads(Keep::ALL, true),
            }
            Text::Varying(template)
        }
    };
    Ok(Arc::new(Script { name: arguments.name, language, text, target: arguments.target(1) }))
}

/// Notes what a script of the plan may read. One that is made while the run goes on belongs to a function that has been
/// noted.
fn note_reads(arguments: &mut Arguments<'_, '_>, compiled: &Compiled) {
    if arguments.at_run_time() {
        return;
    }
    let identifiers = match compiled {
        Compiled::Jexl(script) => script.identifiers(),
        Compiled::JavaScript(script) => script.identifiers(),
        Compiled::JavaLike(script) => script.identifiers(),
    };
    let reads_any_variable = identifiers.contains_any(&["vars", "ctx"]);
    arguments.note_reads(keep_of(identifiers.reads_of_results()), reads_any_variable);
}

/// What has to be kept of a result for a script to read these parts of it.
#[must_use]
pub fn keep_of(reads: ResultReads) -> Keep {
    Keep {
        body: reads.body,
        response_headers: reads.response_headers,
        request: reads.request,
        http: reads.http,
    }
}

/// The script with `1` for everything that varies: it fits within quotes and without.
fn probe(template: &Template) -> String {
    template
        .segments()
        .iter()
        .map(|segment| if let Segment::Text(text) = segment { text } else { "1" })
        .collect()
}

/// Scripts kept per thread and language; JMeter's own expression cache has the same size.
const KEPT_SCRIPTS: usize = 512;

/// Compiled scripts by their text, or why there is none.
type Kept = HashMap<Box<str>, Rc<Result<Compiled, ScriptError>>>;

thread_local! {
    static KEPT: RefCell<HashMap<Language, Kept>> = RefCell::new(HashMap::new());
}

/// The compiled form of a text that came up while the run goes on.
fn kept(language: Language, text: &str) -> Rc<Result<Compiled, ScriptError>> {
    KEPT.with_borrow_mut(|languages| {
        let scripts = languages.entry(language).or_default();
        if let Some(script) = scripts.get(text) {
            return Rc::clone(script);
        }
        if scripts.len() >= KEPT_SCRIPTS {
            scripts.clear();
        }
        let script = Rc::new(language.compile(text));
        scripts.insert(text.into(), Rc::clone(&script));
        script
    })
}

/// Property that, when `true`, keeps a run going although a text came up that is not supported.
pub const ALLOW_UNSUPPORTED_PROPERTY: &str = "busyhour.allow_unsupported";

/// Ends the run, unless it was told to go on, because a text came up that means something only to JMeter: the
/// result would be wrong.
pub(crate) fn stop_unsupported(user: &UserState) {
    if !user.run.properties.flag(ALLOW_UNSUPPORTED_PROPERTY, false) {
        user.log(Level::Error, "a text came up that is not supported, see the line above; the test stops");
        let why = "a text came up that means something only to JMeter, see the log";
        user.run.stop_because_of_error(Stop::Graceful, why);
    }
}

/// Ends a user whose script threw a `java.lang.Error`: JMeter's elements catch exceptions only.
pub fn end_user(user: &mut UserState, message: &str) {
    let mut thread = String::new();
    user.thread_name(&mut thread);
    user.log(Level::Error, &format!("Uncaught exception in thread {thread}: {message}"));
    user.running = false;
    user.result.ignore = true;
}

impl Function for Script {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let value = match &self.text {
            Text::Constant(script) => script.evaluate(user, self.name),
            Text::Varying(template) => {
                with_text(template, user, |user, text| match &*kept(self.language, text) {
                    Ok(script) => script.evaluate(user, self.name),
                    Err(error) => Err(error.clone()),
                })
            }
        };
        match value {
            Ok(value) => {
                let start = out.len();
                out.push_str(&self.language.text(&value));
                self.target.store(user, &out[start..]);
            }
            Err(error) => self.report(user, &error),
        }
    }
}

impl Script {
    /// A script that fails is logged and leaves an empty text. What only this program cannot run is noted besides, so
    /// that the results name it; a `java.lang.Error` ends the user, as in JMeter.
    fn report(&self, user: &mut UserState, error: &ScriptError) {
        if matches!(error, ScriptError::LimitReached { .. }) {
            exceeded(Limit::Script);
        }
        user.log(self.language.severity(), &format!("{}: {error}", self.name));
        match error {
            ScriptError::Unsupported { what, .. } => {
                user.run.doubt_script(self.name, ScriptDoubt::Unsupported(what.clone()));
            }
            ScriptError::Fatal { message, .. } if self.language == Language::Groovy => {
                end_user(user, message)
            }
            _ => {}
        }
    }
}
