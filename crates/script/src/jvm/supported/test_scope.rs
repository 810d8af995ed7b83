//! A scope with a sample and an HTTP request, so that tests can call every method of JMeter's objects.

use busyhour_program::ElementError;
use jiff::tz::TimeZone;

use crate::{
    AssertionVerdict, LineSeverity, RequestAccess, RequestArgument, RequestCookie, RequestFile, RequestFlag,
    RequestText, SAMPLE_CHANGES, SAMPLE_FACTS, SUB_RESULT_GETTERS, SampleChanges, SampleFacts, ScriptClock,
    ScriptOutput, ScriptPlan, ScriptProperties, ScriptRequests, ScriptSamples, ScriptThread, ScriptVariables,
    Value,
};

/// A scope with a sample, a request and a verdict.
#[derive(Default)]
pub struct TestScope {
    sample: Sample,
    verdict: AssertionVerdict,
}

#[derive(Default)]
struct Sample;

impl SampleFacts for Sample {
    fn label(&self) -> String {
        String::new()
    }
    fn response_code(&self) -> String {
        String::new()
    }
    fn response_message(&self) -> String {
        String::new()
    }
    fn response_data_as_string(&self) -> String {
        String::new()
    }
    fn response_headers(&self) -> String {
        String::new()
    }
    fn url(&self) -> String {
        String::new()
    }
    fn is_successful(&self) -> bool {
        true
    }
    fn elapsed_ms(&self) -> i64 {
        0
    }
    fn latency_ms(&self) -> i64 {
        0
    }
    fn connect_ms(&self) -> i64 {
        0
    }
    fn start_time_ms(&self) -> i64 {
        0
    }
    fn end_time_ms(&self) -> i64 {
        0
    }
    fn received_bytes(&self) -> i64 {
        0
    }
    fn fact(&self, name: &str) -> Option<Value> {
        SAMPLE_FACTS.contains(&name).then_some(Value::Null)
    }
    fn sub_results(&self) -> usize {
        1
    }
    fn sub_result(&self, _: usize, getter: &str) -> Option<Value> {
        SUB_RESULT_GETTERS.contains(&getter).then_some(Value::Null)
    }
}

impl SampleChanges for Sample {
    fn set_successful(&mut self, _: bool) {}
    fn set_response_code(&mut self, _: &str) {}
    fn set_response_message(&mut self, _: &str) {}
    fn set_label(&mut self, _: &str) {}
    fn change(&mut self, name: &str, _: Value) -> bool {
        SAMPLE_CHANGES.contains(&name)
    }
    fn add_sub_result(&mut self, _: &crate::ScriptResult, _: bool) -> Option<usize> {
        Some(0)
    }
}

struct Request;

impl RequestAccess for Request {
    fn text(&mut self, _: RequestText) -> String {
        String::new()
    }
    fn set_text(&mut self, _: RequestText, _: &str) -> bool {
        true
    }
    fn flag(&mut self, _: RequestFlag) -> bool {
        false
    }
    fn set_flag(&mut self, _: RequestFlag, _: bool) {}
    fn arguments(&mut self) -> Vec<RequestArgument> {
        Vec::new()
    }
    fn set_arguments(&mut self, _: Vec<RequestArgument>) {}
    fn remove_arguments(&mut self, _: &[usize]) {}
    fn headers(&mut self) -> Option<Vec<(String, String)>> {
        Some(vec![("a".into(), "b".into())])
    }
    fn set_headers(&mut self, _: Vec<(String, String)>) {}
    fn merge_headers(&mut self, _: Vec<(String, String)>) {}
    fn files(&mut self) -> Vec<RequestFile> {
        Vec::new()
    }
    fn set_files(&mut self, _: Vec<RequestFile>) {}
    fn cookies(&mut self) -> Option<Vec<RequestCookie>> {
        Some(vec![RequestCookie::default()])
    }
    fn set_cookies(&mut self, _: Vec<RequestCookie>) {}
    fn clear_cookies(&mut self) {}
}

impl ScriptVariables for TestScope {
    fn get(&self, _name: &str) -> Option<String> {
        None
    }
    fn set(&mut self, _name: &str, _value: &str) {}
    fn remove(&mut self, _name: &str) {}
}

impl ScriptProperties for TestScope {
    fn property(&self, _name: &str) -> Option<String> {
        None
    }
    fn set_property(&mut self, _name: &str, _value: &str) {}
}

impl ScriptOutput for TestScope {
    fn log(&mut self, _level: LineSeverity, _message: &str) {}
}

impl ScriptClock for TestScope {
    fn wall_clock_ms(&self) -> i64 {
        0
    }
    fn random_bits(&mut self) -> u64 {
        7
    }
    fn format_date(&self, _pattern: &str, _ms: i64, _zone: &TimeZone) -> Result<String, ElementError> {
        Ok(String::new())
    }
    fn parse_date(&self, _pattern: &str, _text: &str, _zone: &TimeZone) -> Result<Option<i64>, ElementError> {
        Ok(Some(0))
    }
}

impl ScriptThread for TestScope {
    fn thread_number(&self) -> u32 {
        0
    }
    fn thread_name(&self) -> String {
        String::new()
    }
}

impl ScriptSamples for TestScope {
    fn sample(&self) -> Option<&dyn SampleFacts> {
        Some(&self.sample)
    }
    fn sample_mut(&mut self) -> Option<&mut dyn SampleChanges> {
        Some(&mut self.sample)
    }
    fn verdict(&mut self) -> Option<&mut AssertionVerdict> {
        Some(&mut self.verdict)
    }
}

impl ScriptRequests for TestScope {
    fn request(&mut self) -> Option<Box<dyn RequestAccess + '_>> {
        Some(Box::new(Request))
    }
}

impl ScriptPlan for TestScope {}
