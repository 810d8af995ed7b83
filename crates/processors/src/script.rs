//! JSR223, BSF and BeanShell elements: samplers, processors, assertions, timers and listeners that run scripts.

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
use busyhour_limits::{Limit, count_exceeded};
use busyhour_program::result::Retention;
use busyhour_program::run::{LogLevel, ScriptIssue};
use busyhour_program::template::{Segment, Template};
use busyhour_program::user::{StateId, UserState};
use busyhour_script::java_like::{self, JavaLike};
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
    /// `TestElement.name`: the name of the element.
    pub name: String,
    /// Family of the element.
    pub family: Family,
    /// `scriptLanguage`, as parsed by [`language_of`]; BeanShell for BeanShell elements.
    pub language: Language,
    /// The text of the script: `script`, or `BeanShell….query` of BeanShell samplers and assertions.
    pub script: Template,
    /// `parameters`: the parameters that are passed to the script.
    pub parameters: Template,
    /// `filename`: the file with the script, which replaces the text.
    pub filename: Template,
    /// `resetInterpreter` of BeanShell elements: delete the variables of the interpreter before each run.
    pub resets_interpreter: bool,
    /// Whether the script is compiled once for each user, so that later changes of the text have no effect. True if
    /// `cacheKey` of a JSR223 element is not `false`.
    pub caches: bool,
    /// The folder in which a file is searched for after the working directory.
    pub base_dir: PathBuf,
    /// The element's state in each user: the variables of a BeanShell interpreter, or the first script of an element that
    /// caches it.
    pub state: StateId,
}

/// A parsed script.
#[derive(Debug, Clone)]
enum Parsed {
    JavaLike(java_like::Script),
    JavaScript(javascript::Script),
    Jexl(jexl::Script),
    /// There is no script. The text is the error that JMeter reports each time.
    Missing(String),
    /// A script with a syntax error, which fails in JMeter each time that it runs.
    Invalid(ScriptError),
    /// JMeter has no engine with this name.
    NoEngine(String),
}

/// The text to which BSF converts Rhino's undefined value. The address of the object is arbitrary.
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

/// The source of a script.
#[derive(Debug)]
enum Source {
    /// A constant script.
    Constant(Parsed),
    /// A text with variables or functions.
    Varying(Template),
    /// A file whose name varies.
    File,
}

/// The script of an element.
#[derive(Debug)]
struct ScriptText {
    name: String,
    family: Family,
    language: Language,
    source: Source,
    parameters: Template,
    filename: Template,
    base_dir: PathBuf,
    resets_interpreter: bool,
    caches: bool,
    state: StateId,
    /// Whether the script may read the result, so that all parts of the result must be retained.
    reads_result: bool,
    /// Whether the script may read the result of the previous sample.
    reads_previous: bool,
    /// Whether the script may read more of the current sampler than its name.
    accesses_request: bool,
    facts: ScriptFacts,
}

/// Facts about the script of an element that the compiler of a plan needs.
#[derive(Debug)]
pub struct ScriptFacts {
    /// The parts that the script may read of any result, including the previous one.
    pub reads: Retention,
    /// Whether the script may read any variable by its name.
    pub reads_any_variable: bool,
    /// Problems that JMeter reports only when the script runs.
    pub warnings: Vec<String>,
}

/// The result of analysing a script before it runs.
#[derive(Debug)]
struct ScriptAnalysis {
    accesses_request: bool,
    warnings: Vec<String>,
    /// The names that the script refers to; `None` if they are not known before it runs.
    identifiers: Option<Identifiers>,
}

impl ScriptAnalysis {
    /// The analysis of a script whose text is not known before it runs.
    fn unknown() -> Self {
        Self { accesses_request: true, warnings: Vec::new(), identifiers: None }
    }

    fn new(parsed: &Parsed) -> Self {
        let (identifiers, accesses_request, warnings) = match parsed {
            Parsed::JavaLike(script) => {
                let warnings =
                    script.warnings().iter().map(|warning| format!("{}: {}", warning.place, warning.what));
                (script.identifiers(), script.accesses_request(), warnings.collect())
            }
            Parsed::JavaScript(script) => {
                let identifiers = script.identifiers();
                let accesses_request = identifiers.contains("sampler");
                (identifiers, accesses_request, Vec::new())
            }
            Parsed::Jexl(script) => (script.identifiers(), false, Vec::new()),
            Parsed::Invalid(error) => {
                let warning = format!("{error}: JMeter runs the script, which fails with this syntax error");
                (Identifiers::default(), false, vec![warning])
            }
            Parsed::Missing(_) | Parsed::NoEngine(_) => (Identifiers::default(), false, Vec::new()),
        };
        Self { accesses_request, warnings, identifiers: Some(identifiers) }
    }

    /// Whether the script may refer to one of these names.
    fn may_refer_to(&self, names: &[&str]) -> bool {
        self.identifiers.as_ref().is_none_or(|identifiers| identifiers.contains_any(names))
    }

    /// The parts that the script may read of any result.
    fn reads(&self) -> Retention {
        let reads = match &self.identifiers {
            Some(identifiers) => identifiers.reads_of_results(),
            None => ResultReads::ALL,
        };
        busyhour_functions::retention_for(reads)
    }
}

/// Whether a script that cannot be parsed also fails in JMeter, which reports the error each time the script runs.
fn fails_in_jmeter(error: &ScriptError, text: &str, language: &Language) -> bool {
    let is_syntax = matches!(error, ScriptError::Syntax { .. });
    is_syntax
        && match language {
            Language::JavaLike(java_like) => java_like::is_certainly_invalid(text, *java_like),
            _ => true,
        }
}

/// Parses a constant script. A script that JMeter cannot parse either is not refused, but fails when it runs.
fn parse_constant(language: &Language, text: &str) -> Result<Parsed, Refusal> {
    match parse(language, text) {
        Err(error) if fails_in_jmeter(&error, text, language) => Ok(Parsed::Invalid(error)),
        other => other.map_err(|error| refusal(&error, language)),
    }
}

/// A cached script, or its error.
type CachedScript = Rc<Result<Parsed, ScriptError>>;

/// The text and the script of a user's first run of an element.
#[derive(Default)]
struct FirstScript(Option<(String, CachedScript)>);

/// Number of scripts with variables that each thread caches.
const CACHED_MAX: usize = 500;

thread_local! {
    static CACHE: RefCell<HashMap<(Language, String), CachedScript>> = RefCell::default();
}

fn cached_script(language: &Language, text: &str) -> CachedScript {
    CACHE.with_borrow_mut(|cache| {
        let key = (language.clone(), text.to_owned());
        if let Some(script) = cache.get(&key) {
            return Rc::clone(script);
        }
        if cache.len() >= CACHED_MAX {
            cache.clear();
        }
        let script = Rc::new(parse(language, text));
        cache.insert(key, Rc::clone(&script));
        script
    })
}

/// Reads the file of a script from the working directory or the plan's folder.
fn read_file(name: &str, base_dir: &Path) -> Option<String> {
    let read = |path: &Path| read_in_run(path, TEXT_FILE_BYTES);
    let bytes = read(Path::new(name)).or_else(|_| read(&base_dir.join(name))).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The text of a script with `value` in place of each variable and function.
fn with_values(script: &Template, value: &str) -> String {
    let segments = script.segments().iter();
    segments.map(|segment| if let Segment::Text(text) = segment { text } else { value }).collect()
}

fn refusal(error: &ScriptError, language: &Language) -> Refusal {
    let cannot_be_run = || format!("has a script that is not supported: {error}");
    let refusal = match language {
        // The parser supports only a part of Groovy's grammar.
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
    refusal.with_hint("scripts run without a JVM; docs/scripts.md lists the supported classes and methods")
}

impl ScriptText {
    fn new(settings: ScriptSettings) -> Result<Self, Refusal> {
        let (source, analysis) = Self::analyse(&settings)?;
        let reads_result = analysis.may_refer_to(&[
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
        let reads_previous = analysis.may_refer_to(&["prev", "ctx"]);
        let ScriptSettings {
            name,
            family,
            language,
            parameters,
            filename,
            base_dir,
            resets_interpreter,
            caches,
            state,
            ..
        } = settings;
        Ok(Self {
            name,
            family,
            language,
            source,
            parameters,
            filename,
            base_dir,
            resets_interpreter,
            caches,
            state,
            reads_result,
            reads_previous,
            accesses_request: analysis.accesses_request,
            facts: ScriptFacts {
                reads: analysis.reads(),
                reads_any_variable: analysis.may_refer_to(&["vars", "ctx", "CompoundVariable"]),
                warnings: analysis.warnings,
            },
        })
    }

    /// Parses and analyses the script as far as its text is known, with `1` for each variable and function.
    fn analyse(settings: &ScriptSettings) -> Result<(Source, ScriptAnalysis), Refusal> {
        if !settings.filename.is_empty() {
            let Some(name) = settings.filename.as_literal() else {
                return Ok((Source::File, ScriptAnalysis::unknown()));
            };
            let Some(text) = read_file(name, &settings.base_dir) else {
                return Err(Refusal::missing_file(format!("names the script {name}, which cannot be read"))
                    .with_hint(
                        "relative names are looked up in the working directory and in the plan's directory",
                    ));
            };
            let parsed = parse_constant(&settings.language, &text)?;
            let analysis = ScriptAnalysis::new(&parsed);
            return Ok((Source::Constant(parsed), analysis));
        }
        // The value 1 is valid both inside and outside quotes.
        let with_ones = with_values(&settings.script, "1");
        if with_ones.is_empty() && settings.family == Family::Jsr223 {
            let message = format!("Both script file and script text are empty for element:{}", settings.name);
            let missing = Parsed::Missing(format!("javax.script.ScriptException: {message}"));
            let analysis = ScriptAnalysis::new(&missing);
            return Ok((Source::Constant(missing), analysis));
        }
        let is_constant = settings.script.as_literal().is_some();
        if is_constant {
            let parsed = parse_constant(&settings.language, &with_ones)?;
            let analysis = ScriptAnalysis::new(&parsed);
            return Ok((Source::Constant(parsed), analysis));
        }
        let varying = |analysis| Ok((Source::Varying(settings.script.clone()), analysis));
        match parse(&settings.language, &with_ones) {
            Ok(parsed) => varying(ScriptAnalysis::new(&parsed)),
            Err(error) if error.is_unsupported() => Err(refusal(&error, &settings.language)),
            Err(error) => Self::analyse_with_values(settings, &with_ones, &error).and_then(varying),
        }
    }

    /// Analyses a script that cannot be parsed with `1` for each variable. The value of a variable may be a name or empty, so
    /// other values are tried.
    fn analyse_with_values(
        settings: &ScriptSettings,
        with_ones: &str,
        error: &ScriptError,
    ) -> Result<ScriptAnalysis, Refusal> {
        for value in ["x1", "", "true"] {
            let text = with_values(&settings.script, value);
            if let Ok(parsed) = parse(&settings.language, &text) {
                return Ok(ScriptAnalysis {
                    identifiers: None,
                    accesses_request: true,
                    ..ScriptAnalysis::new(&parsed)
                });
            }
        }
        if !fails_in_jmeter(error, with_ones, &settings.language) {
            return Err(refusal(error, &settings.language));
        }
        let warning = format!(
            "{error}: JMeter fails with this syntax error unless the values of the variables make the script valid"
        );
        Ok(ScriptAnalysis { warnings: vec![warning], ..ScriptAnalysis::unknown() })
    }

    /// Runs the script. `rendered` is its text if the caller has already rendered it. Returns the script's value and the
    /// values of the variables in `outputs`.
    fn run(
        &self,
        user: &mut UserState,
        rendered: Option<&str>,
        role: ScriptRole,
        element_bindings: &[(&'static str, Binding)],
        outputs: &[&str],
    ) -> Result<ScriptOutcome, ScriptError> {
        let parameters = self.parameters.text(user).into_owned();
        let filename = self.filename.text(user).into_owned();
        let script: CachedScript = match &self.source {
            Source::Constant(parsed) => Rc::new(Ok(parsed.clone())),
            Source::Varying(template) => {
                // Render the text only once per sample, because functions in it may count or draw random numbers.
                let text = rendered.map_or_else(|| template.text(user).into_owned(), str::to_owned);
                if self.caches { self.first_script(user, text) } else { cached_script(&self.language, &text) }
            }
            Source::File => match read_file(&filename, &self.base_dir) {
                Some(text) => cached_script(&self.language, &text),
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
        let mut memory = self.take_memory(user);
        let has_result = user.has_result;
        let mut scope = match role {
            ScriptRole::Other => UserScope::new(user, render_text),
            ScriptRole::Sampler(previous) => {
                UserScope::for_sampler(user, render_text, previous.map(|result| *result))
            }
            ScriptRole::Assertion => UserScope::for_assertion(user, render_text),
        };
        let bindings = || {
            let args = parameters.split(' ').filter(|part| !part.is_empty()).map(str::to_owned).collect();
            let args_name = if self.family == Family::BeanShell { "bsh.args" } else { "args" };
            let prev = if has_result { Binding::Previous } else { Binding::Value(Value::Null) };
            let text = |text: &str| Binding::Value(Value::text(text));
            let mut bindings: Vec<(&str, Binding)> = element_bindings.to_vec();
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
            Parsed::JavaLike(script) => script.run(&mut scope, &bindings(), outputs, memory.as_mut()),
            Parsed::JavaScript(script) => {
                let is_bsf = self.family == Family::Bsf;
                let undefined = if is_bsf { Value::text(UNDEFINED_OF_BSF) } else { Value::Null };
                script.run(&mut scope, &bindings(), undefined).map(|value| (value, Vec::new()))
            }
            Parsed::Jexl(script) => script.evaluate(&mut scope).map(|value| (value, Vec::new())),
            Parsed::Invalid(error) => Err(error.clone()),
            Parsed::Missing(message) => Err(ScriptError::Missing { message: message.clone() }),
            Parsed::NoEngine(name) => Err(ScriptError::Missing {
                message: if self.family == Family::Bsf {
                    // Groovy no longer contains its engine for BSF.
                    let reason = if name == "groovy" { "unable to load" } else { "unsupported" };
                    format!("org.apache.bsf.BSFException: {reason} language: {name}")
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
            count_exceeded(Limit::Script);
        }
        let outcome = outcome.map_err(|error| match error {
            // JMeter calls BeanShell by reflection, which wraps errors in exceptions.
            ScriptError::Fatal { message, place }
                if self.language == Language::JavaLike(JavaLike::BeanShell) =>
            {
                ScriptError::Evaluation { message, place }
            }
            error => error,
        });
        outcome.map(|(value, outputs)| ScriptOutcome { value, outputs, verdict })
    }

    /// The first script that the user ran in this element. JMeter caches it even if the text changes.
    fn first_script(&self, user: &mut UserState, text: String) -> CachedScript {
        let first = user.state(self.state, FirstScript::default);
        let has_changed = match &first.0 {
            Some((first_text, _)) => *first_text != text,
            None => {
                first.0 = Some((text.clone(), cached_script(&self.language, &text)));
                false
            }
        };
        let script = first
            .0
            .as_ref()
            .map_or_else(|| cached_script(&self.language, &text), |(_, script)| Rc::clone(script));
        if has_changed {
            user.run.note_script_issue(&self.name, ScriptIssue::CachedText);
        }
        script
    }

    /// Takes the variables of the user's BeanShell interpreter of this element; `None` if it does not retain them.
    fn take_memory(&self, user: &mut UserState) -> Option<Memory> {
        let retains_variables = self.family == Family::BeanShell && !self.resets_interpreter;
        retains_variables.then(|| std::mem::take(user.state(self.state, Memory::default)))
    }

    /// Logs an error. An unsupported operation is also recorded, so that the results mention it.
    fn report(&self, user: &mut UserState, error: &ScriptError) {
        let (level, message) = match self.family {
            Family::Jsr223 => (LogLevel::Error, "Problem in JSR223 script"),
            Family::Bsf => (LogLevel::Warn, "Problem in BSF script"),
            Family::BeanShell => (LogLevel::Warn, "Problem in BeanShell script"),
        };
        user.log(level, &format!("{message} {}, message: {error}", self.name));
        match error {
            ScriptError::Unsupported { what, .. } => {
                user.run.note_script_issue(&self.name, ScriptIssue::Unsupported(what.clone()));
            }
            ScriptError::Fatal { message, .. } => end_user(user, message),
            _ => {}
        }
    }

    /// Java's message for an error, which is stored in the result. The message in the log also has the position.
    fn exception_text(&self, error: &ScriptError) -> String {
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

/// The role of the element, which selects the scope of its script.
enum ScriptRole {
    Other,
    /// A sampler, with the result of the previous sample.
    Sampler(Option<Box<busyhour_program::result::SampleResult>>),
    Assertion,
}

/// The result of running a script.
struct ScriptOutcome {
    value: Value,
    /// The values of the output variables.
    outputs: Vec<Value>,
    verdict: busyhour_script::AssertionVerdict,
}
