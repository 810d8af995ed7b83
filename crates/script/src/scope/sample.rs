//! The result of a sample in scripts.

use crate::{ScriptResult, Value};

/// The result that an assertion's script sets (`AssertionResult`, `Failure`, `FailureMessage`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssertionVerdict {
    /// Whether the sample failed.
    pub failure: bool,
    /// Whether the assertion itself failed.
    pub error: bool,
    /// The reason for the failure.
    pub message: String,
}

/// The outcome of an assertion of a sample.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssertionFacts {
    /// Name of the assertion.
    pub name: String,
    /// The result of the assertion.
    pub verdict: AssertionVerdict,
    /// Whether the assertion set a message.
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

/// The names that [`SampleChanges::change`] supports.
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

/// A sample result as scripts read it. Times are in milliseconds.
///
/// A script reads a result only while the script runs, on the thread of its user's core. Values are copies, so that a script can retain
/// them; a later call returns a later state of the same result. A property that the result does not have is `None`.
///
/// # Example
/// ```
/// use busyhour_script::{SampleChanges, SampleFacts};
///
/// /// A result with a code only.
/// struct Coded(String);
///
/// impl SampleFacts for Coded {
///     fn response_code(&self) -> String {
///         self.0.clone()
///     }
///     fn is_successful(&self) -> bool {
///         self.0 == "200"
///     }
///     // The other methods.
/// #   fn label(&self) -> String { String::new() }
/// #   fn response_message(&self) -> String { String::new() }
/// #   fn response_data_as_string(&self) -> String { String::new() }
/// #   fn response_headers(&self) -> String { String::new() }
/// #   fn url(&self) -> String { String::new() }
/// #   fn elapsed_ms(&self) -> i64 { 0 }
/// #   fn latency_ms(&self) -> i64 { 0 }
/// #   fn connect_ms(&self) -> i64 { 0 }
/// #   fn start_time_ms(&self) -> i64 { 0 }
/// #   fn end_time_ms(&self) -> i64 { 0 }
/// #   fn received_bytes(&self) -> i64 { 0 }
/// }
///
/// impl SampleChanges for Coded {
///     fn set_response_code(&mut self, code: &str) {
///         self.0 = code.to_owned();
///     }
///     // The other methods.
/// #   fn set_successful(&mut self, _: bool) {}
/// #   fn set_response_message(&mut self, _: &str) {}
/// #   fn set_label(&mut self, _: &str) {}
/// }
///
/// let mut result = Coded("404".to_owned());
/// assert!(!result.is_successful());
/// result.set_response_code("200");
/// assert!(result.is_successful());
/// ```
pub trait SampleFacts {
    /// The result of `getSampleLabel()`.
    fn label(&self) -> String;
    /// The result of `getResponseCode()`.
    fn response_code(&self) -> String;
    /// The result of `getResponseMessage()`.
    fn response_message(&self) -> String;
    /// The result of `getResponseDataAsString()`.
    fn response_data_as_string(&self) -> String;
    /// The result of `getResponseHeaders()`.
    fn response_headers(&self) -> String;
    /// The result of `getUrlAsString()`.
    fn url(&self) -> String;
    /// The result of `isSuccessful()`.
    fn is_successful(&self) -> bool;
    /// The result of `getTime()`: the elapsed time in milliseconds.
    fn elapsed_ms(&self) -> i64;
    /// The result of `getLatency()`, in milliseconds.
    fn latency_ms(&self) -> i64;
    /// The result of `getConnectTime()`, in milliseconds.
    fn connect_ms(&self) -> i64;
    /// The result of `getStartTime()`, in milliseconds since 1970.
    fn start_time_ms(&self) -> i64;
    /// The result of `getEndTime()`, in milliseconds since 1970.
    fn end_time_ms(&self) -> i64;
    /// The result of `getBytesAsLong()`: the size of the response in bytes.
    fn received_bytes(&self) -> i64;
    /// The result of `getResponseData()`.
    fn response_data(&self) -> Vec<u8> {
        self.response_data_as_string().into_bytes()
    }
    /// The value of any other property. `_name` is the name of its getter without `get`: `RequestHeaders`, `SamplerData`,
    /// `ContentType`, ….
    fn fact(&self, _name: &str) -> Option<Value> {
        None
    }
    /// The outcomes of the assertions that have run so far.
    fn assertions(&self) -> Vec<AssertionFacts> {
        Vec::new()
    }
    /// Number of sub-results.
    fn sub_results(&self) -> usize {
        0
    }
    /// The value of a getter of the sub-result at this index.
    fn sub_result(&self, _at: usize, _getter: &str) -> Option<Value> {
        None
    }
}

/// A sample result as scripts change it. Changes are visible to the elements that run after the script, and are recorded.
/// Invalid values are ignored, as by JMeter's setters. Only [`change`](Self::change) reports an unknown name; the script then
/// throws Java's exception.
pub trait SampleChanges: SampleFacts {
    /// Implements `setSuccessful(boolean)`.
    fn set_successful(&mut self, successful: bool);
    /// Implements `setResponseCode(String)`.
    fn set_response_code(&mut self, code: &str);
    /// Implements `setResponseMessage(String)`.
    fn set_response_message(&mut self, message: &str);
    /// Implements `setSampleLabel(String)`.
    fn set_label(&mut self, label: &str);
    /// Implements `setResponseData(…)`. An empty `encoding` means JMeter's default encoding; `None` leaves the encoding
    /// unchanged.
    fn set_response_data(&mut self, _data: &[u8], _encoding: Option<&str>) {}
    /// Changes any other property, or calls a method without arguments. `_name` is the name of the method, without `set` for a
    /// setter. Returns whether the property or method exists.
    fn change(&mut self, _name: &str, _value: Value) -> bool {
        false
    }
    /// Adds a result that the script created to this result. With `extends`, the end of this result is extended to the end
    /// of the added result, and its sizes are added, as by `addSubResult`. Returns the index of the added sub-result;
    /// `None` if results cannot be added here.
    fn add_sub_result(&mut self, _result: &ScriptResult, _extends: bool) -> Option<usize> {
        None
    }
    /// Replaces the sub-result at this index by a later state of the same result.
    fn replace_sub_result(&mut self, _at: usize, _result: &ScriptResult) {}
}
