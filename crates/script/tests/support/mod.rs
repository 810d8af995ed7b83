//! A virtual user for the tests, with the variables that were used for the recordings.

use std::collections::BTreeMap;

use busyhour_java::format::{DateFormat, Defaults, Moment};
use busyhour_program::ElementError;
use busyhour_program::user::Thrown;
use busyhour_request::{UrlRequest, UrlResponse};
use busyhour_script::{
    LineSeverity, SampleChanges, SampleFacts, ScriptClock, ScriptOutput, ScriptPlan, ScriptProperties,
    ScriptRequests, ScriptSamples, ScriptThread, ScriptVariables, Value,
};
use jiff::tz::TimeZone;

/// The variables before each script.
pub const VARIABLES: &[(&str, &str)] = &[
    ("big", "3000000000"),
    ("dec", "1.5"),
    ("empty", ""),
    ("name_1", "Ann"),
    ("one", "1"),
    ("t", "true"),
    ("two", "2"),
    ("word", "hello"),
];

#[derive(Debug)]
pub struct Sample {
    pub successful: bool,
    pub code: String,
    pub label: String,
    pub message: String,
    pub start_ms: i64,
}

impl SampleFacts for Sample {
    fn label(&self) -> String {
        self.label.clone()
    }
    fn response_code(&self) -> String {
        self.code.clone()
    }
    fn response_message(&self) -> String {
        self.message.clone()
    }
    fn response_data_as_string(&self) -> String {
        "body text".into()
    }
    fn response_headers(&self) -> String {
        String::new()
    }
    fn url(&self) -> String {
        String::new()
    }
    fn is_successful(&self) -> bool {
        self.successful
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
        self.start_ms
    }
    fn end_time_ms(&self) -> i64 {
        0
    }
    fn received_bytes(&self) -> i64 {
        9
    }
}

impl SampleChanges for Sample {
    fn change(&mut self, name: &str, value: Value) -> bool {
        match (name, value) {
            ("StartTime", Value::Long(ms)) => self.start_ms = ms,
            _ => return false,
        }
        true
    }
    fn set_successful(&mut self, successful: bool) {
        self.successful = successful;
    }
    fn set_response_code(&mut self, code: &str) {
        self.code = code.into();
    }
    fn set_response_message(&mut self, message: &str) {
        self.message = message.into();
    }
    fn set_label(&mut self, label: &str) {
        self.label = label.into();
    }
}

/// Variables, properties, log lines and a sample, all in memory.
#[derive(Debug)]
pub struct User {
    pub variables: BTreeMap<String, String>,
    pub properties: BTreeMap<String, String>,
    pub log: Vec<(LineSeverity, String)>,
    pub result: Sample,
    values: BTreeMap<String, Value>,
    objects: BTreeMap<String, std::rc::Rc<dyn std::any::Any>>,
    random: u64,
}

impl User {
    pub fn new() -> User {
        let owned =
            |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        User {
            variables: owned(VARIABLES),
            properties: owned(&[("prop", "pv")]),
            log: Vec::new(),
            result: Sample {
                successful: true,
                code: "200".into(),
                label: "lab".into(),
                message: "OK".into(),
                start_ms: 0,
            },
            values: BTreeMap::new(),
            objects: BTreeMap::new(),
            random: 1,
        }
    }

    /// The changes of the variables since the start: `name=value` for set variables and `-name` for removed variables.
    pub fn changes(&self) -> String {
        let before: BTreeMap<&str, &str> = VARIABLES.iter().copied().collect();
        let set =
            self.variables.iter().filter(|(name, value)| before.get(name.as_str()) != Some(&value.as_str()));
        let removed = before.keys().filter(|name| !self.variables.contains_key(**name));
        let set = set.map(|(name, value)| format!("{name}={value}"));
        set.chain(removed.map(|name| format!("-{name}"))).collect::<Vec<_>>().join(" ")
    }
}

impl ScriptVariables for User {
    fn get(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }
    fn names(&self) -> Vec<String> {
        self.variables.keys().cloned().collect()
    }
    fn object(&self, name: &str) -> Option<std::rc::Rc<dyn std::any::Any>> {
        self.objects.get(name).cloned()
    }
    fn set_object(&mut self, name: &str, object: std::rc::Rc<dyn std::any::Any>, text: &str) {
        self.objects.insert(name.into(), object);
        self.variables.insert(name.into(), text.into());
    }
    fn object_names(&self) -> Vec<String> {
        self.objects.keys().cloned().collect()
    }
    fn set(&mut self, name: &str, value: &str) {
        self.objects.remove(name);
        self.variables.insert(name.into(), value.into());
    }
    fn remove(&mut self, name: &str) {
        self.variables.remove(name);
    }
}

impl ScriptProperties for User {
    fn property_names(&self) -> Vec<String> {
        self.properties.keys().cloned().collect()
    }
    fn property_value(&self, name: &str) -> Option<Value> {
        self.values.get(name).cloned()
    }
    fn set_property_value(&mut self, name: &str, value: Value) {
        self.values.insert(name.into(), value.clone());
        self.properties.insert(name.into(), value.to_java_string());
    }
    fn property(&self, name: &str) -> Option<String> {
        self.properties.get(name).cloned()
    }
    fn set_property(&mut self, name: &str, value: &str) {
        self.properties.insert(name.into(), value.into());
    }
}

impl ScriptOutput for User {
    fn log(&mut self, level: LineSeverity, message: &str) {
        self.log.push((level, message.into()));
    }
}

impl ScriptClock for User {
    fn format_date(&self, pattern: &str, ms: i64, zone: &TimeZone) -> Result<String, ElementError> {
        let format = DateFormat::new(pattern).map_err(|error| error.to_string())?;
        let mut out = String::new();
        format
            .format(&Moment::of_instant(i128::from(ms) * 1_000_000, zone), &mut out)
            .map_err(|error| error.to_string())?;
        Ok(out)
    }
    fn parse_date(&self, pattern: &str, text: &str, zone: &TimeZone) -> Result<Option<i64>, ElementError> {
        let format = DateFormat::new(pattern).map_err(|error| error.to_string())?;
        let defaults = Defaults { date_in_year: Some(1970), ..Defaults::default() };
        let Ok(moment) = format.parse(text, defaults) else { return Ok(None) };
        let date = moment.date.unwrap_or(jiff::civil::date(1970, 1, 1));
        let time = moment.time.unwrap_or(jiff::civil::Time::midnight());
        let zoned = date.to_datetime(time).to_zoned(zone.clone()).map_err(|error| error.to_string())?;
        Ok(Some(zoned.timestamp().as_millisecond()))
    }
    fn wall_clock_ms(&self) -> i64 {
        1_700_000_000_000
    }
    fn random_bits(&mut self) -> u64 {
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl ScriptThread for User {
    fn thread_number(&self) -> u32 {
        0
    }
    fn thread_name(&self) -> String {
        "Thread Group 1-1".into()
    }
}

impl ScriptSamples for User {
    fn sample(&self) -> Option<&dyn SampleFacts> {
        Some(&self.result)
    }
    fn sample_mut(&mut self) -> Option<&mut dyn SampleChanges> {
        Some(&mut self.result)
    }
}

impl ScriptRequests for User {
    /// A server that returns a description of the request, 404 for `/missing`, and that refuses connections for `/refused`.
    fn exchange(&mut self, request: UrlRequest) -> Result<UrlResponse, Thrown> {
        if request.url.ends_with("/refused") {
            let message = "Connection refused".to_owned();
            return Err(Thrown { class: "java.net.ConnectException", message });
        }
        let code = if request.url.ends_with("/missing") { 404 } else { 200 };
        let body = request.body.unwrap_or_default();
        let headers: Vec<String> =
            request.headers.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let text = format!("{}|{}|{}", request.method, headers.join(","), String::from_utf8_lossy(&body));
        Ok(UrlResponse {
            url: request.url,
            method: request.method,
            status_line: format!("HTTP/1.1 {code} Status"),
            code,
            message: "Status".to_owned(),
            headers: vec![("X-A".into(), "1".into()), ("X-A".into(), "2".into())],
            body: text.into_bytes(),
            ..UrlResponse::default()
        })
    }
}

impl ScriptPlan for User {
    fn evaluate_text(&mut self, text: &str) -> String {
        let sums = text.replace("${__intSum(2,3)}", "5").replace("${__intSum(1,2)}", "3");
        self.variables.iter().fold(sums, |text, (name, value)| text.replace(&format!("${{{name}}}"), value))
    }
    fn environment(&self, name: &str) -> Option<String> {
        (name == "PATH").then(|| "/usr/bin".to_owned())
    }
}
