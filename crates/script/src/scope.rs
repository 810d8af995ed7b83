//! The environment of a script: the data of the virtual user that the script may read and change.

mod clock;
mod output;
mod plan;
mod properties;
mod requests;
mod sample;
mod samples;
mod thread;
mod variables;

pub use clock::ScriptClock;
pub use output::{LineSeverity, ScriptOutput};
pub use plan::ScriptPlan;
pub use properties::ScriptProperties;
pub use requests::ScriptRequests;
pub use sample::{
    AssertionFacts, AssertionVerdict, SAMPLE_CHANGES, SAMPLE_FACTS, SUB_RESULT_GETTERS, SampleChanges,
    SampleFacts,
};
pub use samples::ScriptSamples;
pub use thread::{ScriptThread, StopRequest, ThreadNumbers};
pub use variables::ScriptVariables;

/// The environment of a script. It consists of one trait for each purpose; a type that implements all of them is a scope.
///
/// | trait | objects of JMeter |
/// |---|---|
/// | [`ScriptVariables`] | `vars` |
/// | [`ScriptProperties`] | `props` |
/// | [`ScriptOutput`] | `log`, `OUT`, `System.out` |
/// | [`ScriptClock`] | `System.currentTimeMillis()`, `Thread.sleep`, dates, random numbers |
/// | [`ScriptThread`] | `ctx`, the thread and its group |
/// | [`ScriptSamples`] | `prev`, `SampleResult`, `AssertionResult` |
/// | [`ScriptRequests`] | `sampler`, `URL.openConnection()` |
/// | [`ScriptPlan`] | the plan's file, the environment, `${…}` in texts |
///
/// # Order of calls
/// The interpreter calls a method when the script reaches the corresponding operation, in the order of the script and
/// any number of times. It calls no method before `evaluate` is called or after it returns. Texts in the plan are
/// compiled without a scope.
///
/// All calls are made on the thread of the user's core. Other users of the core wait meanwhile, so a method must not block.
/// [`ScriptRequests::exchange`] is the exception: it suspends the script. A long script is also suspended between
/// two calls. Other users of the core then run, and values that all users share (properties, user counts) may change.
///
/// # Lifetime of objects
/// Between two calls, the interpreter keeps no reference to the scope or to values that its methods returned. It keeps the
/// objects passed to [`ScriptVariables::set_object`] alive as long as the scope stores them. These objects may outlive the
/// script: the next script of the same user receives them.
///
/// # Errors
/// Methods that do not return a `Result` do not fail. As in JMeter, they return `None` or an empty value for something
/// that does not exist, and ignore a change that is not possible. A panic ends the thread of the core. If a script
/// fails, its changes up to that point remain.
///
/// A scope is the only source of time and random numbers, so that a run can be repeated.
///
/// # Example
/// A scope with variables and a log. Most methods have defaults.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use busyhour_script::java_like::{self, JavaLike};
/// use busyhour_script::{
///     LineSeverity, ScriptClock, ScriptOutput, ScriptPlan, ScriptProperties, ScriptRequests, ScriptSamples,
///     ScriptThread, ScriptVariables,
/// };
///
/// #[derive(Default)]
/// struct User {
///     variables: BTreeMap<String, String>,
///     log: Vec<String>,
/// }
///
/// impl ScriptVariables for User {
///     fn get(&self, name: &str) -> Option<String> {
///         self.variables.get(name).cloned()
///     }
///     fn set(&mut self, name: &str, value: &str) {
///         self.variables.insert(name.to_owned(), value.to_owned());
///     }
///     fn remove(&mut self, name: &str) {
///         self.variables.remove(name);
///     }
/// }
///
/// impl ScriptOutput for User {
///     fn log(&mut self, level: LineSeverity, message: &str) {
///         self.log.push(format!("{level:?} {message}"));
///     }
/// }
///
/// impl ScriptProperties for User {
///     fn property(&self, _name: &str) -> Option<String> {
///         None
///     }
///     fn set_property(&mut self, _name: &str, _value: &str) {}
/// }
///
/// impl ScriptClock for User {
///     fn wall_clock_ms(&self) -> i64 {
///         1_700_000_000_000
///     }
///     fn random_bits(&mut self) -> u64 {
///         4
///     }
/// }
///
/// impl ScriptThread for User {
///     fn thread_number(&self) -> u32 {
///         0
///     }
///     fn thread_name(&self) -> String {
///         "Users 1-1".to_owned()
///     }
/// }
///
/// impl ScriptSamples for User {}
/// impl ScriptRequests for User {}
/// impl ScriptPlan for User {}
///
/// let mut user = User::default();
/// user.set("name", "Ann");
/// let text = "vars.put('greeting', 'Hello ' + vars.get('name')); log.info(Thread.currentThread().getName())";
/// let script = java_like::compile(text, JavaLike::Groovy)?;
/// script.evaluate(&mut user)?;
/// assert_eq!(user.get("greeting").as_deref(), Some("Hello Ann"));
/// assert_eq!(user.log, ["Info Users 1-1"]);
/// # Ok::<(), busyhour_script::ScriptError>(())
/// ```
pub trait Scope:
    ScriptVariables
    + ScriptProperties
    + ScriptOutput
    + ScriptClock
    + ScriptThread
    + ScriptSamples
    + ScriptRequests
    + ScriptPlan
{
}

impl<T> Scope for T where
    T: ScriptVariables
        + ScriptProperties
        + ScriptOutput
        + ScriptClock
        + ScriptThread
        + ScriptSamples
        + ScriptRequests
        + ScriptPlan
{
}
