//! What a script sees of the user that runs it.

use busyhour_engine::run;
use busyhour_engine::user::UserState;
use busyhour_script::{Level, SampleFacts, Scope};
use rand::RngCore as _;

/// A user as the world of a script: `vars`, `props`, `log`, `ctx`, the clock, the random stream and the last
/// result.
pub struct UserScope<'a> {
    user: &'a mut UserState,
}

impl std::fmt::Debug for UserScope<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserScope").field("number", &self.user.number).finish_non_exhaustive()
    }
}

impl<'a> UserScope<'a> {
    /// The world of a script that this user runs.
    pub fn new(user: &'a mut UserState) -> Self {
        Self { user }
    }

    fn wall_ms(&self, at: busyhour_engine::Nanos) -> i64 {
        i64::try_from(self.user.run.clock.wall_ms(at)).unwrap_or(i64::MAX)
    }
}

impl Scope for UserScope<'_> {
    fn get(&self, name: &str) -> Option<String> {
        self.user.variables.get(name).map(str::to_owned)
    }

    fn set(&mut self, name: &str, value: &str) {
        self.user.variables.set(name, value);
    }

    fn remove(&mut self, name: &str) {
        self.user.variables.remove(name);
    }

    fn property(&self, name: &str) -> Option<String> {
        self.user.run.properties.get(name)
    }

    fn set_property(&mut self, name: &str, value: &str) {
        self.user.run.properties.set(name, value);
    }

    fn log(&mut self, level: Level, message: &str) {
        let level = match level {
            Level::Trace | Level::Debug => run::Level::Debug,
            Level::Info => run::Level::Info,
            Level::Warn => run::Level::Warn,
            Level::Error => run::Level::Error,
        };
        self.user.log(level, message);
    }

    fn thread_number(&self) -> u32 {
        self.user.number
    }

    fn thread_name(&self) -> String {
        let mut name = String::new();
        if self.user.run.groups.get(self.user.group as usize).is_some() {
            self.user.thread_name(&mut name);
        }
        name
    }

    fn wall_clock_ms(&self) -> i64 {
        self.wall_ms(self.user.now())
    }

    fn random_bits(&mut self) -> u64 {
        self.user.random.next_u64()
    }

    fn sample(&self) -> Option<&dyn SampleFacts> {
        self.user.has_result.then_some(self as &dyn SampleFacts)
    }

    fn sample_mut(&mut self) -> Option<&mut dyn SampleFacts> {
        self.user.has_result.then_some(self as &mut dyn SampleFacts)
    }
}

/// Nanoseconds as JMeter's milliseconds.
fn whole_ms(ns: u64) -> i64 {
    i64::try_from(ns / 1_000_000).unwrap_or(i64::MAX)
}

impl SampleFacts for UserScope<'_> {
    fn label(&self) -> String {
        self.user.result.label.clone()
    }

    fn response_code(&self) -> String {
        self.user.result.code.clone()
    }

    fn response_message(&self) -> String {
        self.user.result.message.clone()
    }

    fn response_data_as_string(&self) -> String {
        self.user.result.body_text().into_owned()
    }

    fn response_headers(&self) -> String {
        self.user.result.response_headers.clone()
    }

    fn url(&self) -> String {
        self.user.result.url.clone()
    }

    fn is_successful(&self) -> bool {
        self.user.result.success
    }

    fn elapsed_ms(&self) -> i64 {
        i64::try_from(self.user.result.elapsed_ms()).unwrap_or(i64::MAX)
    }

    fn latency_ms(&self) -> i64 {
        whole_ms(self.user.result.latency_ns)
    }

    fn connect_ms(&self) -> i64 {
        whole_ms(self.user.result.connect_ns)
    }

    fn start_time_ms(&self) -> i64 {
        self.wall_ms(self.user.result.start)
    }

    fn end_time_ms(&self) -> i64 {
        self.wall_ms(self.user.result.end)
    }

    fn received_bytes(&self) -> i64 {
        i64::try_from(self.user.result.bytes()).unwrap_or(i64::MAX)
    }

    fn set_successful(&mut self, successful: bool) {
        self.user.result.success = successful;
    }

    fn set_response_code(&mut self, code: &str) {
        self.user.result.code.clear();
        self.user.result.code.push_str(code);
    }

    fn set_response_message(&mut self, message: &str) {
        self.user.result.message.clear();
        self.user.result.message.push_str(message);
    }

    fn set_label(&mut self, label: &str) {
        self.user.result.label.clear();
        self.user.result.label.push_str(label);
    }
}
