//! JSR223, BSF and BeanShell elements: samplers, processors, assertions, timers and listeners that are scripts.

mod elements;
mod language;
mod sampler;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use busyhour_functions::{UserScope, end_user, render_text};
use busyhour_limits::files::{TEXT_FILE_BYTES, read_in_run};
use busyhour_limits::{Limit, exceeded};
use busyhour_program::result::Retention;
use busyhour_program::run::{Level, ScriptIssue};
use busyhour_program::template::{Segment, Template};
use busyhour_program::user::{StateId, UserState};
use busyhour_script::java_like::{self, Language as JavaLike};
use busyhour_script::{
    Binding, Identifiers, Memory, ResultReads, ScriptError, Value, javascript, jexl, refuse_unbound,
};
pub use elements::{ScriptAssertion, ScriptProcessor, ScriptTimer};
pub use language::{Family, Language, language_of};
pub use sampler::ScriptSampler;

use crate::refusal::Refusal;

/// Settings of a scripted element.
#[derive(Clone, Debug)]
pub struct ScriptSettings {
    /// `TestElement.name`
    pub name: String,
    /// Which kind of element.
    pub family: Family,
    /// `scriptLanguage`, through [`language_of`]; BeanShell for BeanShell elements.
    pub language: Language,
    /// The text: `script`, of BeanShell samplers and assertions `BeanShell….query`.
    pub script: Template,
    /// `parameters`
    pub parameters: Template,
    /// `filename`: if there is one, the text is that of the file.
    pub filename: Template,
    /// `resetInterpreter` of BeanShell elements: they forget their variables before each run.
    pub forgets: bool,
    /// Whether the script is compiled once for each user, so that the text of the first run stays: `cacheKey` of JSR223
    /// elements is anything but `false`.
    pub caches: bool,
    /// Where a file is looked for besides the working directory.
    pub base_dir: PathBuf,
    /// Where a user keeps what a BeanShell interpreter remembers.
    pub state: StateId,
}

/// A parsed script.
#[derive(Debug, Clone)]
enum Parsed {
    JavaLike(java_like::Script),
    JavaScript(javascript::Script),
    Jexl(jexl::Script),
    /// Its error, which JMeter reports each time.
    Missing(String),
    /// A text with a syntax error, on which JMeter fails each time, too.
    Broken(ScriptError),
    /// JMeter has no engine of this name.
    NoEngine(String),
}

/// What BSF makes of a value that Rhino calls undefined; the object's address is as good as any other.
const UNDEFINED_OF_BSF: &str = "org.mozilla.javascript.Undefined@6ccccc3c";

fn parse(language: &Language, text: &str) -> Result<Parsed, ScriptError> {
    if *language == Language::Jexl {
        refuse_unbound(text)?;
    }
    Ok(match language {
        Language::JavaLike(java_like) => Parsed::JavaLike(java_like::compile(text, *java_like)?),
        Language::JavaScript(imitated) => Parsed::JavaScript(javascript::compile_element(text, *imitated)?),
        Language::Jexl => Parsed::Jexl(jexl::compile(text, jexl::Version::Two)?),
        Language::Missing(name) => Parsed::NoEngine(name.clone()),
    })
}

#[derive(Debug)]
enum Text {
    Fixed(Parsed),
    Varying(Template),
    /// That of a file whose name varies.
    File,
}

/// A script as an element holds it.
#[derive(Debug)]
struct ScriptText {
    name: String,
    family: Family,
    language: Language,
    text: Text,
    parameters: Template,
    filename: Template,
    base_dir: PathBuf,
    forgets: bool,
    caches: bool,
    state: StateId,
    /// The parts of the result that it may read must be retained.
    looks_at_result: bool,
    /// It reads the result before its own.
    looks_at_previous: bool,
    /// The parts that it may read of any result, including the previous one.
    reads: Retention,
    /// It may read any variable by its name.
    reads_any_variable: bool,
    /// It may read more of the current sampler than its name.
    opens_request: bool,
    /// Problems that JMeter reports only when the script runs.
    warnings: Vec<String>,
}

/// What is known of a script before it runs.
#[derive(Debug)]
struct Seen {
    opens_request: bool,
    warnings: Vec<String>,
    /// The names it refers to; `None`: not known before it runs.
    identifiers: Option<Identifiers>,
}

impl Seen {
    /// Of a script that is known only when it runs.
    fn unknown() -> Seen {
        Seen { opens_request: true, warnings: Vec::new(), identifiers: None }
    }

    fn of(parsed: &Parsed) -> Seen {
        let (identifiers, opens_request, warnings) = match parsed {
            Parsed::JavaLike(script) => {
                let warnings =
                    script.warnings().iter().map(|warning| format!("{}: {}", warning.place, warning.what));
                (script.identifiers(), script.opens_request(), warnings.collect())
            }
            Parsed::JavaScript(script) => {
                let identifiers = script.identifiers();
                let opens_request = identifiers.contains("sampler");
                (identifiers, opens_request, Vec::new())
            }
            Parsed::Jexl(script) => (script.identifiers(), false, Vec::new()),
            Parsed::Broken(error) => {
                let warning = format!("{error}: JMeter starts the script, which fails on this syntax error");
                (Identifiers::default(), false, vec![warning])
            }
            Parsed::Missing(_) | Parsed::NoEngine(_) => (Identifiers::default(), false, Vec::new()),
        };
        Seen { opens_request, warnings, identifiers: Some(identifiers) }
    }

    /// Whether the script may refer to one of these names.
    fn may_refer_to(&self, names: &[&str]) -> bool {
        self.identifiers.as_ref().is_none_or(|identifiers| identifiers.contains_any(names))
    }

    /// What the script may read of any result.
    fn reads(&self) -> Retention {
        let reads = match &self.identifiers {
            Some(identifiers) => identifiers.reads_of_results(),
            None => ResultReads::ALL,
        };
        busyhour_functions::retention_for(reads)
    }
}

/// Whether a script that cannot be parsed fails in JMeter, too, which then reports it each time that it runs.
fn fails_in_jmeter(error: &ScriptError, text: &str, language: &Language) -> bool {
    let is_syntax = matches!(error, ScriptError::Syntax { .. });
    is_syntax
        && match language {
            Language::JavaLike(java_like) => java_like::is_certainly_invalid(text, *java_like),
            _ => true,
        }
}

/// Parses a text that does not vary; one that JMeter cannot parse either is a script that fails.
fn parsed(language: &Language, text: &str) -> Result<Parsed, Refusal> {
    match parse(language, text) {
        Err(error) if fails_in_jmeter(&error, text, language) => Ok(Parsed::Broken(error)),
        other => other.map_err(|error| refusal(&error, language)),
    }
}

type Kept = Rc<Result<Parsed, ScriptError>>;

/// The text and the script of a user's first run of an element.
#[derive(Default)]
struct FirstScript(Option<(String, Kept)>);

/// Scripts kept per thread that are made of variables.
const KEPT_MAX: usize = 500;

thread_local! {
    static KEPT: RefCell<HashMap<(Language, String), Kept>> = RefCell::default();
}

fn kept(language: &Language, text: &str) -> Kept {
    KEPT.with_borrow_mut(|kept| {
        let key = (language.clone(), text.to_owned());
        if let Some(script) = kept.get(&key) {
            return Rc::clone(script);
        }
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        let script = Rc::new(parse(language, text));
        kept.insert(key, Rc::clone(&script));
        script
    })
}

/// Reads a script's file from the working directory or the plan's directory.
fn read_file(name: &str, base_dir: &Path) -> Option<String> {
    let read = |path: &Path| read_in_run(path, TEXT_FILE_BYTES);
    let bytes = read(Path::new(name)).or_else(|_| read(&base_dir.join(name))).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The text of a script with the same value in place of everything that varies.
fn with_values(script: &Template, value: &str) -> String {
    let segments = script.segments().iter();
    segments.map(|segment| if let Segment::Text(text) = segment { text } else { value }).collect()
}

fn refusal(error: &ScriptError, language: &Language) -> Refusal {
    let cannot_be_run = || format!("has a script that is not supported: {error}");
    let refusal = match language {
        // Groovy's grammar is larger than the part that is read here.
        Language::JavaLike(JavaLike::Groovy) if !error.is_unsupported() => {
            let message = format!("has a script that cannot be parsed: {error}");
            return Refusal::unsupported(message).with_hint(
                "check the syntax: JMeter fails too if the script is not valid Groovy; otherwise it uses syntax that is not supported",
            );
        }
        _ if !error.is_unsupported() => {
            Refusal::invalid(format!("has a script with a syntax error: {error}"))
        }
        Language::JavaLike(_) => Refusal::needs_java(cannot_be_run()),
        _ => Refusal::unsupported(cannot_be_run()),
    };
    refusal.with_hint(
        "scripts run without a Java machine; docs/scripts.md lists the supported classes and methods",
    )
}

impl ScriptText {
    fn new(settings: ScriptSettings) -> Result<Self, Refusal> {
        let (text, seen) = Self::text(&settings)?;
        let looks_at_result = seen.may_refer_to(&[
            "prev",
            "SampleResult",
            "data",
            "ctx",
            "sampleResult",
            "sampleEvent",
            "Response",
            "ResponseData",
            "ResponseHeaders",
            "RequestHeaders",
            "SamplerData",
        ]);
        let looks_at_previous = seen.may_refer_to(&["prev", "ctx"]);
        let reads_any_variable = seen.may_refer_to(&["vars", "ctx", "CompoundVariable"]);
        let reads = seen.reads();
        let ScriptSettings {
            name,
            family,
            language,
            parameters,
            filename,
            base_dir,
            forgets,
            caches,
            state,
            ..
        } = settings;
        Ok(Self {
            name,
            family,
            language,
            text,
            parameters,
            filename,
            base_dir,
            forgets,
            caches,
            state,
            looks_at_result,
            looks_at_previous,
            reads,
            reads_any_variable,
            opens_request: seen.opens_request,
            warnings: seen.warnings,
        })
    }

    /// The text, parsed as far as it is known now, with `1` for what varies.
    fn text(settings: &ScriptSettings) -> Result<(Text, Seen), Refusal> {
        let checked = |text: &str| parse(&settings.language, text);
        if !settings.filename.is_empty() {
            let Some(name) = settings.filename.as_literal() else {
                return Ok((Text::File, Seen::unknown()));
            };
            let Some(text) = read_file(name, &settings.base_dir) else {
                return Err(Refusal::missing_file(format!("names the script {name}, which cannot be read"))
                    .with_hint(
                        "relative names are searched in the working directory and in the plan's directory",
                    ));
            };
            let parsed = parsed(&settings.language, &text)?;
            let seen = Seen::of(&parsed);
            return Ok((Text::Fixed(parsed), seen));
        }
        // With 1 for everything that varies the script fits within quotes and without.
        let probe = with_values(&settings.script, "1");
        if probe.is_empty() && settings.family == Family::Jsr223 {
            let message = format!("Both script file and script text are empty for element:{}", settings.name);
            let missing = Parsed::Missing(format!("javax.script.ScriptException: {message}"));
            let seen = Seen::of(&missing);
            return Ok((Text::Fixed(missing), seen));
        }
        let is_fixed = settings.script.as_literal().is_some();
        if is_fixed {
            let parsed = parsed(&settings.language, &probe)?;
            let seen = Seen::of(&parsed);
            return Ok((Text::Fixed(parsed), seen));
        }
        let varying = |seen| Ok((Text::Varying(settings.script.clone()), seen));
        match checked(&probe) {
            Ok(parsed) => varying(Seen::of(&parsed)),
            Err(error) if error.is_unsupported() => Err(refusal(&error, &settings.language)),
            Err(error) => Self::varying_text(settings, &probe, &error).and_then(varying),
        }
    }

    /// What is known of a script that varies and that cannot be parsed with `1` for what varies: it may stand for a name,
    /// or for nothing.
    fn varying_text(settings: &ScriptSettings, probe: &str, error: &ScriptError) -> Result<Seen, Refusal> {
        for value in ["x1", "", "true"] {
            let text = with_values(&settings.script, value);
            if let Ok(parsed) = parse(&settings.language, &text) {
                return Ok(Seen { identifiers: None, opens_request: true, ..Seen::of(&parsed) });
            }
        }
        if !fails_in_jmeter(error, probe, &settings.language) {
            return Err(refusal(error, &settings.language));
        }
        let warning =
            format!("{error}: JMeter fails on this syntax error unless the values that it holds mend it");
        Ok(Seen { warnings: vec![warning], ..Seen::unknown() })
    }

    /// Runs the script (`source`, where its text has been rendered already); gives its value and what the names in `back`
    /// hold afterwards.
    fn run(
        &self,
        user: &mut UserState,
        source: Option<&str>,
        world: World,
        own: &[(&'static str, Binding)],
        back: &[&str],
    ) -> Result<Ran, ScriptError> {
        let parameters = self.parameters.text(user).into_owned();
        let filename = self.filename.text(user).into_owned();
        let script: Kept = match &self.text {
            Text::Fixed(parsed) => Rc::new(Ok(parsed.clone())),
            Text::Varying(template) => {
                // Functions in it count and draw once per sample.
                let text = source.map_or_else(|| template.text(user).into_owned(), str::to_owned);
                if self.caches { self.first(user, text) } else { kept(&self.language, &text) }
            }
            Text::File => match read_file(&filename, &self.base_dir) {
                Some(text) => kept(&self.language, &text),
                None => Rc::new(Ok(Parsed::Missing(format!(
                    "javax.script.ScriptException: Script file '{filename}' is not a file for element: {}",
                    self.name
                )))),
            },
        };
        let parsed = match script.as_ref() {
            Ok(parsed) => parsed,
            Err(error) => return Err(error.clone()),
        };
        let mut memory = self.remembered(user);
        let has_result = user.has_result;
        let mut scope = match world {
            World::Plain => UserScope::new(user, render_text),
            World::Sampler(previous) => {
                UserScope::for_sampler(user, render_text, previous.map(|result| *result))
            }
            World::Assertion => UserScope::for_assertion(user, render_text),
        };
        let bindings = || {
            let args = parameters.split(' ').filter(|part| !part.is_empty()).map(str::to_owned).collect();
            let args_name = if self.family == Family::BeanShell { "bsh.args" } else { "args" };
            let prev = if has_result { Binding::Previous } else { Binding::Value(Value::Null) };
            let text = |text: &str| Binding::Value(Value::text(text));
            let mut bindings: Vec<(&str, Binding)> = own.to_vec();
            bindings.extend([
                ("Label", text(&self.name)),
                ("FileName", text(&filename)),
                ("Parameters", text(&parameters)),
                (args_name, Binding::Texts(args)),
                ("prev", prev),
            ]);
            if self.family != Family::BeanShell {
                bindings.extend([("sampler", Binding::Sampler), ("OUT", Binding::Out)]);
            }
            bindings
        };
        let outcome = match parsed {
            Parsed::JavaLike(script) => script.run(&mut scope, &bindings(), back, memory.as_mut()),
            Parsed::JavaScript(script) => {
                let is_bsf = self.family == Family::Bsf;
                let undefined = if is_bsf { Value::text(UNDEFINED_OF_BSF) } else { Value::Null };
                script.run(&mut scope, &bindings(), undefined).map(|value| (value, Vec::new()))
            }
            Parsed::Jexl(script) => script.evaluate(&mut scope).map(|value| (value, Vec::new())),
            Parsed::Broken(error) => Err(error.clone()),
            Parsed::Missing(why) => Err(ScriptError::Missing { message: why.clone() }),
            Parsed::NoEngine(name) => Err(ScriptError::Missing {
                message: if self.family == Family::Bsf {
                    // Groovy has left its engine for BSF out.
                    let what = if name == "groovy" { "unable to load" } else { "unsupported" };
                    format!("org.apache.bsf.BSFException: {what} language: {name}")
                } else {
                    format!(
                        "javax.script.ScriptException: Cannot find engine named: '{name}', ensure you set language field in JSR223 Test Element: {}",
                        self.name
                    )
                },
            }),
        };
        let verdict = scope.take_verdict();
        scope.report_unsupported(&self.name);
        drop(scope);
        if let Some(memory) = memory {
            *user.state(self.state, Memory::default) = memory;
        }
        if matches!(outcome, Err(ScriptError::LimitReached { .. })) {
            exceeded(Limit::Script);
        }
        let outcome = outcome.map_err(|error| match error {
            // JMeter calls BeanShell by reflection, which wraps errors into exceptions.
            ScriptError::Fatal { message, place }
                if self.language == Language::JavaLike(JavaLike::BeanShell) =>
            {
                ScriptError::Evaluation { message, place }
            }
            error => error,
        });
        outcome.map(|(value, values)| Ran { value, values, verdict })
    }

    /// The script that the user ran first in this element: JMeter caches it even if the text changes.
    fn first(&self, user: &mut UserState, text: String) -> Kept {
        let first = user.state(self.state, FirstScript::default);
        let changed = match &first.0 {
            Some((known, _)) => *known != text,
            None => {
                first.0 = Some((text.clone(), kept(&self.language, &text)));
                false
            }
        };
        let script =
            first.0.as_ref().map_or_else(|| kept(&self.language, &text), |(_, script)| Rc::clone(script));
        if changed {
            user.run.note_script_issue(&self.name, ScriptIssue::CachedText);
        }
        script
    }

    /// What the user's BeanShell interpreter of this element remembers.
    fn remembered(&self, user: &mut UserState) -> Option<Memory> {
        let keeps = self.family == Family::BeanShell && !self.forgets;
        keeps.then(|| std::mem::take(user.state(self.state, Memory::default)))
    }

    /// Logs an error. What only this program cannot run is noted besides, so that the results name it.
    fn report(&self, user: &mut UserState, error: &ScriptError) {
        let (level, words) = match self.family {
            Family::Jsr223 => (Level::Error, "Problem in JSR223 script"),
            Family::Bsf => (Level::Warn, "Problem in BSF script"),
            Family::BeanShell => (Level::Warn, "Problem in BeanShell script"),
        };
        user.log(level, &format!("{words} {}, message: {error}", self.name));
        match error {
            ScriptError::Unsupported { what, .. } => {
                user.run.note_script_issue(&self.name, ScriptIssue::Unsupported(what.clone()));
            }
            ScriptError::Fatal { message, .. } => end_user(user, message),
            _ => {}
        }
    }

    /// Java's message for an error in a result; the log has the place.
    fn thrown(&self, error: &ScriptError) -> String {
        let text = match error {
            ScriptError::Missing { message } => return message.clone(),
            ScriptError::Evaluation { message, .. } | ScriptError::Fatal { message, .. } => message.clone(),
            other => other.to_string(),
        };
        match (self.family, &self.language) {
            (Family::Jsr223, _) => format!("javax.script.ScriptException: {text}"),
            (Family::Bsf, Language::JavaScript(_)) => {
                format!("org.apache.bsf.BSFException: JavaScript Error: {text}")
            }
            (Family::Bsf, _) => format!("org.apache.bsf.BSFException: {text}"),
            (Family::BeanShell, _) => {
                format!("org.apache.jorphan.util.JMeterException: Error invoking bsh method: eval\t{text}")
            }
        }
    }
}

/// What a script sees besides the user.
enum World {
    Plain,
    /// The result of the sample before.
    Sampler(Option<Box<busyhour_program::result::SampleResult>>),
    Assertion,
}

/// What a run of a script gave.
struct Ran {
    value: Value,
    values: Vec<Value>,
    verdict: busyhour_script::Verdict,
}
