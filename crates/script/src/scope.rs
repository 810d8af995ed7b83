//! What a script may see and change of the virtual user that runs it.

use busyhour_program::ElementError;
use busyhour_program::url_client::{UrlRequest, UrlResponse};
use busyhour_program::user::Thrown;
use std::any::Any;
use std::rc::Rc;

use jiff::tz::TimeZone;

use crate::{MadeResult, RequestFacts, Value};

/// Severity of a line that a script writes to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// `log.trace`
    Trace,
    /// `log.debug`
    Debug,
    /// `log.info`
    Info,
    /// `log.warn`
    Warn,
    /// `log.error`
    Error,
}

/// The world of a script: JMeter's `vars`, `props`, `log`, `ctx`, the clock and a stream of random numbers.
///
/// Object-safe, and asked for everything: a script reads no clock and draws no random number of its own, so that a
/// run can be repeated.
pub trait Scope {
    /// The value of a variable; `None` where JMeter's `vars.get` gives `null`.
    fn get(&self, name: &str) -> Option<String>;
    /// `vars.put`.
    fn set(&mut self, name: &str, value: &str);
    /// `vars.remove`: the variable, if any, is gone afterwards.
    fn remove(&mut self, name: &str);
    /// `props.get` / `props.getProperty`.
    fn property(&self, name: &str) -> Option<String>;
    /// `props.put` / `props.setProperty`; properties are shared by all virtual users.
    fn set_property(&mut self, name: &str, value: &str);
    /// `log.info` and its like.
    fn log(&mut self, level: Level, message: &str);
    /// `ctx.getThreadNum()`: counts from 0 within the thread group, unlike `${__threadNum}`, which counts from 1.
    fn thread_number(&self) -> u32;
    /// `threadName`: `Thread Group 1-1`.
    fn thread_name(&self) -> String;
    /// Milliseconds since 1970 (`System.currentTimeMillis()`).
    fn wall_clock_ms(&self) -> i64;
    /// The next 64 random bits of the virtual user's stream.
    fn random_bits(&mut self) -> u64;
    /// The result that the script is about: `prev` (Groovy, BeanShell), `SampleResult` (BeanShell functions) or
    /// `sampleResult` (JEXL, JavaScript). `None` before the first sample.
    fn sample(&self) -> Option<&dyn SampleFacts> {
        None
    }
    /// The same, to be changed by the script; `None` where the result is not the script's to change.
    fn sample_mut(&mut self) -> Option<&mut dyn SampleFacts> {
        None
    }
    /// The result of the sample before; only in a sampler's script another one than [`Scope::sample`].
    fn previous(&self) -> Option<&dyn SampleFacts> {
        self.sample()
    }
    /// The same, to be changed.
    fn previous_mut(&mut self) -> Option<&mut dyn SampleFacts> {
        self.sample_mut()
    }
    /// The names of all variables.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }
    /// What `vars.putObject` put there.
    fn object(&self, _name: &str) -> Option<Rc<dyn Any>> {
        None
    }
    /// `vars.putObject` of anything but a text; `text`: what its `toString` gives.
    fn set_object(&mut self, _name: &str, _object: Rc<dyn Any>, _text: &str) {}
    /// `vars.put` of null: the variable exists and has no value.
    fn set_null(&mut self, name: &str) {
        self.remove(name);
    }
    /// The names of the variables that hold objects.
    fn object_names(&self) -> Vec<String> {
        Vec::new()
    }
    /// Writes to standard output, exactly this text.
    fn print(&mut self, text: &str) {
        self.log(Level::Info, text.trim_end_matches('\n'));
    }
    /// Writes to standard error.
    fn print_error(&mut self, text: &str) {
        self.log(Level::Info, text.trim_end_matches('\n'));
    }
    /// A text with `${…}` as it is evaluated now.
    fn evaluate_text(&mut self, text: &str) -> String {
        text.to_owned()
    }
    /// The names of all properties.
    fn property_names(&self) -> Vec<String> {
        Vec::new()
    }
    /// A property that is no text, such as a number that a script put there.
    fn property_value(&self, _name: &str) -> Option<Value> {
        None
    }
    /// Sets a property that is no text: elements and functions do not see it, as in JMeter.
    fn set_property_value(&mut self, name: &str, value: Value) {
        self.set_property(name, &value.to_java_string());
    }
    /// `props.remove`
    fn remove_property(&mut self, _name: &str) {}
    /// An environment variable.
    fn environment(&self, _name: &str) -> Option<String> {
        None
    }
    /// `vars.getIteration()`: started iterations of the thread group.
    fn iteration(&self) -> u32 {
        0
    }
    /// Name of the thread group.
    fn group_name(&self) -> String {
        String::new()
    }
    /// Name of the current sampler.
    fn sampler_name(&self) -> String {
        String::new()
    }
    /// Folder of the plan, an absolute path; empty where there is no plan.
    fn plan_directory(&self) -> String {
        String::new()
    }
    /// File name of the plan, without its folder; empty where there is no plan.
    fn plan_file(&self) -> String {
        String::new()
    }
    /// The current sampler, if it sends requests that scripts may change.
    fn request(&mut self) -> Option<&mut dyn RequestFacts> {
        None
    }
    /// Numbers of virtual users.
    fn users(&self) -> UserCounts {
        UserCounts::default()
    }
    /// When the test began, in milliseconds since 1970.
    fn test_start_ms(&self) -> i64 {
        0
    }
    /// `Thread.sleep`: time passes for the script at once; the virtual user makes up for it when the script has ended.
    fn pause_ms(&mut self, _ms: u64) {}
    /// Sends a request to a server and waits for its response; other users continue meanwhile.
    ///
    /// # Errors
    /// Java's exception.
    fn exchange(&mut self, _request: UrlRequest) -> Result<UrlResponse, Thrown> {
        let message = "a URL connection is not supported here".to_owned();
        Err(Thrown { class: "java.lang.UnsupportedOperationException", message })
    }
    /// Requests a stop after the current sample.
    fn stop(&mut self, _what: StopRequest) {}
    /// Notes an operation that the interpreter lacks and that the script met at run time.
    fn note_unsupported(&mut self, _what: &str) {}
    /// What an assertion's script finds; `None` elsewhere.
    fn verdict(&mut self) -> Option<&mut Verdict> {
        None
    }
    /// Milliseconds since 1970 by a pattern of Java's `SimpleDateFormat`.
    ///
    /// # Errors
    /// If the pattern is not supported.
    fn format_date(&self, pattern: &str, _ms: i64, _zone: &TimeZone) -> Result<String, ElementError> {
        Err(format!("the date format `{pattern}`").into())
    }
    /// The time of a text by such a pattern; `None` for a text that does not match.
    ///
    /// # Errors
    /// If the pattern is not supported.
    fn parse_date(&self, pattern: &str, _text: &str, _zone: &TimeZone) -> Result<Option<i64>, ElementError> {
        Err(format!("the date format `{pattern}`").into())
    }
}

/// Numbers of virtual users, JMeter's threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UserCounts {
    /// Active ones of all thread groups.
    pub active: u32,
    /// Active ones of this thread group.
    pub active_of_group: u32,
    /// Those that this thread group starts (`getNumThreads`).
    pub of_group: u32,
    /// Those that all thread groups start.
    pub planned: u32,
}

/// A stop that a script requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopRequest {
    /// Nothing: an earlier request for the iteration or the loop is taken back.
    Nothing,
    /// The iteration of the nearest loop.
    LoopIteration,
    /// The nearest loop.
    Loop,
    /// The virtual user's iteration of its thread group.
    Iteration,
    /// The virtual user.
    User,
    /// The test; samples under way finish.
    Test,
    /// The test, at once.
    TestNow,
}

/// The result that an assertion's script sets (`AssertionResult`, `Failure`, `FailureMessage`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The sample failed.
    pub failure: bool,
    /// The assertion itself failed.
    pub error: bool,
    /// Why.
    pub message: String,
}

/// The outcome of an assertion of a sample.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssertionFacts {
    /// Name of the assertion.
    pub name: String,
    /// What it found.
    pub verdict: Verdict,
    /// Whether it set a message.
    pub has_message: bool,
}

/// What [`SampleFacts::fact`] gives for a result of JMeter.
pub const SAMPLE_FACTS: &[&str] = &[
    "RequestHeaders",
    "SamplerData",
    "ContentType",
    "MediaType",
    "DataType",
    "DataEncodingNoDefault",
    "BodySizeAsLong",
    "BodySize",
    "HeadersSize",
    "SentBytes",
    "IdleTime",
    "GroupThreads",
    "AllThreads",
    "ErrorCount",
    "SampleCount",
    "FirstAssertionFailureMessage",
    "TestLogicalAction",
];

/// What [`SampleFacts::change`] does for a result of JMeter.
pub const SAMPLE_CHANGES: &[&str] = &[
    "RequestHeaders",
    "ResponseHeaders",
    "SamplerData",
    "ContentType",
    "DataEncoding",
    "DataType",
    "StartTime",
    "TestLogicalAction",
    "StopThread",
    "StopTest",
    "StopTestNow",
    "Latency",
    "ConnectTime",
    "BodySize",
    "SentBytes",
    "setIgnore",
    "sampleStart",
    "sampleEnd",
    "latencyEnd",
];

/// The getters that [`SampleFacts::sub_result`] supports.
pub const SUB_RESULT_GETTERS: &[&str] = &[
    "getSampleLabel",
    "getResponseCode",
    "getResponseMessage",
    "getResponseDataAsString",
    "getResponseHeaders",
    "getRequestHeaders",
    "getSamplerData",
    "getUrlAsString",
    "getURL",
    "isSuccessful",
    "getTime",
    "getLatency",
];

/// The facts of a sample result that plain scripts read or change. Times are milliseconds.
pub trait SampleFacts {
    /// `getSampleLabel()`
    fn label(&self) -> String;
    /// `getResponseCode()`
    fn response_code(&self) -> String;
    /// `getResponseMessage()`
    fn response_message(&self) -> String;
    /// `getResponseDataAsString()`
    fn response_data_as_string(&self) -> String;
    /// `getResponseHeaders()`
    fn response_headers(&self) -> String;
    /// `getUrlAsString()`
    fn url(&self) -> String;
    /// `isSuccessful()`
    fn is_successful(&self) -> bool;
    /// `getTime()`: elapsed, in milliseconds.
    fn elapsed_ms(&self) -> i64;
    /// `getLatency()`, in milliseconds.
    fn latency_ms(&self) -> i64;
    /// `getConnectTime()`, in milliseconds.
    fn connect_ms(&self) -> i64;
    /// `getStartTime()`, milliseconds since 1970.
    fn start_time_ms(&self) -> i64;
    /// `getEndTime()`, milliseconds since 1970.
    fn end_time_ms(&self) -> i64;
    /// `getBytesAsLong()`: size of the response in bytes.
    fn received_bytes(&self) -> i64;
    /// `setSuccessful(boolean)`
    fn set_successful(&mut self, successful: bool);
    /// `setResponseCode(String)`
    fn set_response_code(&mut self, code: &str);
    /// `setResponseMessage(String)`
    fn set_response_message(&mut self, message: &str);
    /// `setSampleLabel(String)`
    fn set_label(&mut self, label: &str);
    /// `getResponseData()`
    fn response_data(&self) -> Vec<u8> {
        self.response_data_as_string().into_bytes()
    }
    /// `setResponseData(…)`; `encoding`: the encoding, empty for JMeter's default, `None` to leave it.
    fn set_response_data(&mut self, _data: &[u8], _encoding: Option<&str>) {}
    /// Any other fact, by its getter without `get`: `RequestHeaders`, `SamplerData`, `ContentType`, ….
    fn fact(&self, _name: &str) -> Option<Value> {
        None
    }
    /// Changes any other fact, by its setter without `set`, or does what a method without arguments does; whether there
    /// is such a thing.
    fn change(&mut self, _name: &str, _value: Value) -> bool {
        false
    }
    /// The outcomes of its assertions so far.
    fn assertions(&self) -> Vec<AssertionFacts> {
        Vec::new()
    }
    /// Adds a result that the script made to this one; `extends`: the time of this one extends to the end of the result,
    /// whose sizes are added, as `addSubResult` does. Returns its place among the sub-results; `None` where results
    /// cannot be added.
    fn add_sub_result(&mut self, _result: &MadeResult, _extends: bool) -> Option<usize> {
        None
    }
    /// Replaces the sub-result at that place by a later state of it.
    fn replace_sub_result(&mut self, _at: usize, _result: &MadeResult) {}
    /// Number of results inside this one.
    fn sub_results(&self) -> usize {
        0
    }
    /// What a getter of one of them gives.
    fn sub_result(&self, _at: usize, _getter: &str) -> Option<Value> {
        None
    }
}
