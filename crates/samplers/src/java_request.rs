//! The Java Request sampler with the two classes that JMeter provides: `JavaTest` and `SleepTest`.

use std::fmt::Write as _;

use busyhour_java::{decode_long, length};
use busyhour_program::run::LogLevel;
use busyhour_program::template::Template;
use busyhour_program::user::{StateId, UserState};
use busyhour_sample::DataType;

use crate::other::{OtherSampler, SampleRequest, Sampling, sleep};

/// A class that is part of JMeter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JavaClass {
    /// `org.apache.jmeter.protocol.java.test.JavaTest`
    JavaTest,
    /// `org.apache.jmeter.protocol.java.test.SleepTest`
    SleepTest,
}

impl JavaClass {
    /// Returns the class with this name, if it is part of JMeter.
    pub fn named(name: &str) -> Option<Self> {
        match name.trim() {
            "org.apache.jmeter.protocol.java.test.JavaTest" => Some(Self::JavaTest),
            "org.apache.jmeter.protocol.java.test.SleepTest" => Some(Self::SleepTest),
            _ => None,
        }
    }
}

/// The Java Request sampler.
#[derive(Debug)]
pub struct JavaRequest {
    /// `classname`
    pub class: JavaClass,
    /// `arguments`: names and values; those of the sampler come before those of its defaults.
    pub arguments: Box<[(Template, Template)]>,
    /// State per user: the settings that the user's instance of the class read when it was created.
    pub client: StateId,
}

/// The settings that a user's instance of `SleepTest` read when it was created. It reads its parameters only once.
#[derive(Clone, Debug)]
struct SleepSettings {
    sleep_ms: i64,
    mask: i64,
    label: String,
}

/// Parameters of one sample; if a name occurs several times, the first value is used.
struct Parameters(Vec<(String, String)>);

impl Parameters {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or("")
    }

    fn long(&self, user: &UserState, name: &str, default: i64) -> i64 {
        let Some(text) = self.get(name) else { return default };
        decode_long(text).unwrap_or_else(|| {
            let line =
                format!("Value for parameter '{name}' not a long: '{text}'.  Using default: '{default}'.");
            user.log(LogLevel::Warn, &line);
            default
        })
    }
}

/// The time to sleep in milliseconds. As in JMeter, it is "semi-random": derived from the wall clock.
fn sleep_ms(user: &UserState, base: i64, mask: i64) -> i64 {
    if base > 0 && mask > 0 {
        let now = i64::try_from(user.run.clock.wall_ms(user.now())).unwrap_or(i64::MAX);
        base.saturating_add(now % mask)
    } else {
        base
    }
}

impl JavaRequest {
    fn parameters(&self, request: &mut SampleRequest<'_>) -> Parameters {
        let user = &mut *request.user;
        let rendered = self
            .arguments
            .iter()
            .map(|(name, value)| (name.text(user).into_owned(), value.text(user).into_owned()));
        Parameters(rendered.collect())
    }

    async fn java_test(&self, mut request: SampleRequest<'_>) {
        let parameters = self.parameters(&mut request);
        let SampleRequest { user, label, intended, .. } = request;
        let base = parameters.long(user, "Sleep_Time", 100);
        let mask = parameters.long(user, "Sleep_Mask", 0xff);
        user.begin_result(label, intended);
        let result = &mut user.result;
        if !parameters.text("Label").is_empty() {
            result.label.clear();
            result.label.push_str(parameters.text("Label"));
        }
        result.outcome.code.push_str(parameters.text("ResponseCode"));
        result.outcome.message.push_str(parameters.text("ResponseMessage"));
        result.outcome.success = parameters.get("Status").unwrap_or("OK").eq_ignore_ascii_case("OK");
        result.request_data.push_str(parameters.text("SamplerData"));
        result.sizes.sent_bytes = length(parameters.text("SamplerData")) as u64;
        let data = parameters.text("ResultData");
        if !data.is_empty() {
            result.content.encoding.push_str("UTF-8");
            result.body.extend_from_slice(data.as_bytes());
            result.sizes.body_bytes = data.len() as u64;
        }
        result.content.data_type = DataType::Text;
        let pause = sleep_ms(user, base, mask);
        sleep(user, pause).await;
        user.result.times.end = user.now();
    }

    async fn sleep_test(&self, mut request: SampleRequest<'_>) {
        let parameters = self.parameters(&mut request);
        let SampleRequest { user, label, intended, .. } = request;
        let settings = match user.existing_state::<SleepSettings>(self.client) {
            Some(settings) => settings.clone(),
            None => {
                let name = label.text(user).into_owned();
                let created = SleepSettings {
                    sleep_ms: parameters.long(user, "SleepTime", 1000),
                    mask: parameters.long(user, "SleepMask", 0x3ff),
                    label: parameters.get("TestElement.name").map_or(name, str::to_owned),
                };
                user.state(self.client, || created).clone()
            }
        };
        user.begin_result(label, intended);
        let pause = sleep_ms(user, settings.sleep_ms, settings.mask);
        let result = &mut user.result;
        if !settings.label.is_empty() {
            result.label.clone_from(&settings.label);
        }
        let _ = write!(result.request_data, "Sleep Test: time = {pause}");
        sleep(user, pause).await;
        user.result.times.end = user.now();
    }
}

impl OtherSampler for JavaRequest {
    fn sample<'a>(&'a self, request: SampleRequest<'a>) -> Sampling<'a> {
        match self.class {
            JavaClass::JavaTest => Box::pin(self.java_test(request)),
            JavaClass::SleepTest => Box::pin(self.sleep_test(request)),
        }
    }
}
