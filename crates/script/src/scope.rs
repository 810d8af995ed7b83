//! What a script may see and change of the virtual user that runs it.

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
}

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
}
