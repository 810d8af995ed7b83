//! The environment of a script: what it may read and change of the virtual user that runs it.

use busyhour_program::ElementError;
use busyhour_program::user::Thrown;
use busyhour_request::{RequestAccess, UrlRequest, UrlResponse};
use std::any::Any;
use std::rc::Rc;

use jiff::tz::TimeZone;

use crate::{ScriptResult, Value};

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

/// The environment of a script: JMeter's `vars`, `props`, `log`, `ctx`, the clock and a stream of random numbers.
///
/// A script gets its clock and its random numbers only from here, so that a run can be repeated.
pub trait Scope {
    /// The value of a variable; `None` where JMeter's `vars.get` returns `null`.
    fn get(&self, name: &str) -> Option<String>;
    /// `vars.put`.
    fn set(&mut self, name: &str, value: &str);
    /// `vars.remove`: removes the variable if it exists.
    fn remove(&mut self, name: &str);
    /// `props.get` / `props.getProperty`.
    fn property(&self, name: &str) -> Option<String>;
    /// `props.put` / `props.setProperty`; properties are shared by all virtual users.
    fn set_property(&mut self, name: &str, value: &str);
    /// `log.info` and the methods of the other levels.
    fn log(&mut self, level: Level, message: &str);
    /// `ctx.getThreadNum()`: counts from 0 within the thread group, unlike `${__threadNum}`, which counts from 1.
    fn thread_number(&self) -> u32;
    /// `threadName`: `Thread Group 1-1`.
    fn thread_name(&self) -> String;
    /// Milliseconds since 1970 (`System.currentTimeMillis()`).
    fn wall_clock_ms(&self) -> i64;
    /// The next 64 random bits of the virtual user's stream.
    fn random_bits(&mut self) -> u64;
    /// The sample result that the script processes: `prev` (Groovy, BeanShell), `SampleResult` (BeanShell functions) or
    /// `sampleResult` (JEXL, JavaScript). `None` before the first sample.
    fn sample(&self) -> Option<&dyn SampleFacts> {
        None
    }
    /// [`Scope::sample`], mutable; `None` where the script may not change the result.
    fn sample_mut(&mut self) -> Option<&mut dyn SampleFacts> {
        None
    }
    /// The result of the preceding sample. It differs from [`Scope::sample`] only in a sampler's script.
    fn previous(&self) -> Option<&dyn SampleFacts> {
        self.sample()
    }
    /// [`Scope::previous`], mutable.
    fn previous_mut(&mut self) -> Option<&mut dyn SampleFacts> {
        self.sample_mut()
    }
    /// The names of all variables.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }
    /// An object that was stored with `vars.putObject`.
    fn object(&self, _name: &str) -> Option<Rc<dyn Any>> {
        None
    }
    /// `vars.putObject` of an object that is not a string; `text` is the result of its `toString`.
    fn set_object(&mut self, _name: &str, _object: Rc<dyn Any>, _text: &str) {}
    /// `vars.put` of null: the variable exists and has no value.
    fn set_null(&mut self, name: &str) {
        self.remove(name);
    }
    /// The names of the variables that hold objects.
    fn object_names(&self) -> Vec<String> {
        Vec::new()
    }
    /// Writes exactly this text to standard output.
    fn print(&mut self, text: &str) {
        self.log(Level::Info, text.trim_end_matches('\n'));
    }
    /// Writes to standard error.
    fn print_error(&mut self, text: &str) {
        self.log(Level::Info, text.trim_end_matches('\n'));
    }
    /// Evaluates the variables and functions (`${…}`) in a text.
    fn evaluate_text(&mut self, text: &str) -> String {
        text.to_owned()
    }
    /// The names of all properties.
    fn property_names(&self) -> Vec<String> {
        Vec::new()
    }
    /// The value of a property that is not a string, such as a number that a script stored.
    fn property_value(&self, _name: &str) -> Option<Value> {
        None
    }
    /// Sets a property to a value that is not a string. Elements and functions do not see such a property, as in JMeter.
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
    fn request(&mut self) -> Option<Box<dyn RequestAccess + '_>> {
        None
    }
    /// Numbers of virtual users.
    fn users(&self) -> UserCounts {
        UserCounts::default()
    }
    /// The start of the test, in milliseconds since 1970.
    fn test_start_ms(&self) -> i64 {
        0
    }
    /// `Thread.sleep`: the script's clock advances at once; the virtual user waits for the same time after the script.
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
    /// Records that the script used an unsupported operation at run time.
    fn note_unsupported(&mut self, _what: &str) {}
    /// The result that an assertion's script sets; `None` for other scripts.
    fn verdict(&mut self) -> Option<&mut Verdict> {
        None
    }
    /// Formats a time in milliseconds since 1970 with a pattern of Java's `SimpleDateFormat`.
    ///
    /// # Errors
    /// If the pattern is not supported.
    fn format_date(&self, pattern: &str, _ms: i64, _zone: &TimeZone) -> Result<String, ElementError> {
        Err(format!("the date format `{pattern}`").into())
    }
    /// Parses a text with such a pattern; returns milliseconds since 1970, or `None` if the text does not match.
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
    /// Active users of all thread groups.
    pub active: u32,
    /// Active users of this thread group.
    pub active_of_group: u32,
    /// Users that this thread group starts (`getNumThreads`).
    pub of_group: u32,
    /// Users that all thread groups start.
    pub planned: u32,
}

/// A stop that a script requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopRequest {
    /// No stop: withdraws an earlier request for the iteration or the loop.
    Nothing,
    /// The iteration of the nearest loop.
    LoopIteration,
    /// The nearest loop.
    Loop,
    /// The virtual user's iteration of its thread group.
    Iteration,
    /// The virtual user.
    User,
    /// The test; samples in flight finish.
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
    /// The reason for the failure.
    pub message: String,
}

/// The outcome of an assertion of a sample.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssertionFacts {
    /// Name of the assertion.
    pub name: String,
    /// Its result.
    pub verdict: Verdict,
    /// Whether it set a message.
    pub has_message: bool,
}

/// The names for which [`SampleFacts::fact`] returns a value.
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

/// The names that [`SampleFacts::change`] supports.
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

/// A sample result as scripts read and change it. Times are in milliseconds.
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
    /// `setResponseData(…)`. An empty `encoding` means JMeter's default encoding, `None` leaves the encoding unchanged.
    fn set_response_data(&mut self, _data: &[u8], _encoding: Option<&str>) {}
    /// Any other property, by its getter without `get`: `RequestHeaders`, `SamplerData`, `ContentType`, ….
    fn fact(&self, _name: &str) -> Option<Value> {
        None
    }
    /// Changes any other property, by its setter without `set`, or calls a method without arguments. Returns whether the
    /// property or method exists.
    fn change(&mut self, _name: &str, _value: Value) -> bool {
        false
    }
    /// The outcomes of the assertions that have run so far.
    fn assertions(&self) -> Vec<AssertionFacts> {
        Vec::new()
    }
    /// Adds a result that the script created to this result. With `extends`, the end of this result is extended to the end
    /// of the added result, and its sizes are added, as by `addSubResult`. Returns the index of the added sub-result;
    /// `None` if results cannot be added here.
    fn add_sub_result(&mut self, _result: &ScriptResult, _extends: bool) -> Option<usize> {
        None
    }
    /// Replaces the sub-result at this index by a later state of the same result.
    fn replace_sub_result(&mut self, _at: usize, _result: &ScriptResult) {}
    /// Number of sub-results.
    fn sub_results(&self) -> usize {
        0
    }
    /// The value of a getter of the sub-result at this index.
    fn sub_result(&self, _at: usize, _getter: &str) -> Option<Value> {
        None
    }
}
