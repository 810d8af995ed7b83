//! Access to a user for scripts.

use std::any::Any;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use busyhour_java::format::{DateFormat, Defaults, Moment};
use busyhour_program::ElementError;
use busyhour_program::result::SampleResult;
use busyhour_program::run::{self, ScriptIssue, Stream};
use busyhour_program::user::{LogicalAction, Thrown, UserState};
use busyhour_program::variables::{ObjectValue, VariableValue};
use busyhour_request::{RequestAccess, UrlRequest, UrlResponse};
use busyhour_sample::Nanos;
use busyhour_script::{
    AssertionVerdict, LineSeverity, SampleChanges, SampleFacts, ScriptClock, ScriptOutput, ScriptPlan,
    ScriptProperties, ScriptRequests, ScriptSamples, ScriptThread, ScriptVariables, StopRequest,
    ThreadNumbers, Value,
};
use jiff::tz::TimeZone;
use rand::RngCore as _;

use crate::context::RenderText;
use crate::sample_facts::ScriptResultAccess;
use crate::thread::{PLAN_DIRECTORY_PROPERTY, PLAN_NAME_PROPERTY};

/// The scope of a script that a user runs: `vars`, `props`, `log`, `ctx`, the clock, the random numbers and the last
/// result.
pub struct UserScope<'a> {
    pub(crate) user: &'a mut UserState,
    facts: ScriptResultAccess,
    /// The sampler whose request scripts can read and change. Like the result, it is moved out of the user while the script
    /// runs.
    sampler: Option<Box<dyn Any>>,
    /// In a sampler's script: the result of the previous sample.
    previous: Option<ScriptResultAccess>,
    verdict: Option<AssertionVerdict>,
    render_text: RenderText,
    /// Operations that the script used and the interpreter does not support.
    unsupported: Vec<String>,
}

impl std::fmt::Debug for UserScope<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserScope").field("number", &self.user.number).finish_non_exhaustive()
    }
}

impl<'a> UserScope<'a> {
    /// The scope of a script that this user runs. `render_text` evaluates texts that the script composes; pass
    /// [`render_text`](crate::render_text).
    pub fn new(user: &'a mut UserState, render_text: RenderText) -> Self {
        let facts = ScriptResultAccess::take_from(user);
        let sampler = user.request.take();
        Self { user, facts, sampler, previous: None, verdict: None, render_text, unsupported: Vec::new() }
    }

    /// The scope of a sampler's script. The script fills the user's result; `previous` is the result of the previous
    /// sample.
    #[must_use]
    pub fn for_sampler(
        user: &'a mut UserState,
        render_text: RenderText,
        previous: Option<SampleResult>,
    ) -> Self {
        let clock = user.run.clock.clone();
        let previous = previous.map(|result| ScriptResultAccess { result, clock, is_sampler: false });
        let mut scope = Self::new(user, render_text);
        scope.previous = previous;
        scope.facts.is_sampler = true;
        scope
    }

    /// The scope of an assertion's script.
    #[must_use]
    pub fn for_assertion(user: &'a mut UserState, render_text: RenderText) -> Self {
        let mut scope = Self::new(user, render_text);
        scope.verdict = Some(AssertionVerdict::default());
        scope
    }

    /// Records the unsupported operations that the script used, under the name of its element.
    pub fn report_unsupported(&mut self, element: &str) {
        for operation in self.unsupported.drain(..) {
            self.user.run.note_script_issue(element, ScriptIssue::Unsupported(operation));
        }
    }

    /// Sleeps for the time that the script has requested so far, if the user can be suspended.
    fn sleep_requested(&mut self) {
        if self.user.requested_sleep_ns == 0 {
            return;
        }
        let Some(core) = self.user.core.clone() else { return };
        let until = self.user.now() + self.user.requested_sleep_ns;
        if busyhour_slices::wait_for(core.sleep_until(until)).is_ok() {
            self.user.requested_sleep_ns = 0;
        }
    }

    /// Moves the result and the sampler whose request scripts can read and change back to the user, or out of the user again.
    fn swap_user_parts(&mut self) {
        std::mem::swap(&mut self.user.result, &mut self.facts.result);
        std::mem::swap(&mut self.user.request, &mut self.sampler);
    }

    /// The verdict of an assertion's script.
    #[must_use]
    pub fn take_verdict(&mut self) -> AssertionVerdict {
        self.verdict.take().unwrap_or_default()
    }
}

impl Drop for UserScope<'_> {
    fn drop(&mut self) {
        self.swap_user_parts();
    }
}

impl ScriptVariables for UserScope<'_> {
    fn get(&self, name: &str) -> Option<String> {
        self.user.variables.get(name).map(str::to_owned)
    }

    fn set(&mut self, name: &str, value: &str) {
        self.user.variables.set(name, value);
    }

    fn remove(&mut self, name: &str) {
        self.user.variables.remove(name);
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.user.variables.iter().map(|(name, _)| name.to_owned()).collect();
        names.sort_unstable();
        names
    }

    fn object(&self, name: &str) -> Option<Rc<dyn Any>> {
        match self.user.variables.value(name)? {
            VariableValue::Object(value) => Some(value.object.clone()),
            _ => None,
        }
    }

    fn set_object(&mut self, name: &str, object: Rc<dyn Any>, text: &str) {
        let value = ObjectValue { object, text: text.into() };
        self.user.variables.set_value(name, VariableValue::Object(Rc::new(value)));
    }

    fn set_null(&mut self, name: &str) {
        self.user.variables.set_value(name, VariableValue::Null);
    }

    fn object_names(&self) -> Vec<String> {
        self.user.variables.objects().map(str::to_owned).collect()
    }
}

impl ScriptProperties for UserScope<'_> {
    fn property(&self, name: &str) -> Option<String> {
        self.user.run.properties.get(name)
    }

    fn set_property(&mut self, name: &str, value: &str) {
        self.user.run.properties.set(name, value);
    }

    fn property_names(&self) -> Vec<String> {
        self.user.run.properties.names()
    }

    fn property_value(&self, name: &str) -> Option<Value> {
        self.user.run.properties.object(name)?.downcast_ref::<Value>().cloned()
    }

    fn set_property_value(&mut self, name: &str, value: Value) {
        self.user.run.properties.set_object(name, std::sync::Arc::new(value));
    }

    fn remove_property(&mut self, name: &str) {
        self.user.run.properties.remove(name);
    }
}

impl ScriptOutput for UserScope<'_> {
    fn log(&mut self, level: LineSeverity, message: &str) {
        let level = match level {
            LineSeverity::Trace | LineSeverity::Debug => run::LogLevel::Debug,
            LineSeverity::Info => run::LogLevel::Info,
            LineSeverity::Warn => run::LogLevel::Warn,
            LineSeverity::Error => run::LogLevel::Error,
        };
        self.user.log(level, message);
    }

    fn print(&mut self, text: &str) {
        self.user.run.print(Stream::Output, text);
    }

    fn print_error(&mut self, text: &str) {
        self.user.run.print(Stream::Error, text);
    }

    fn note_unsupported(&mut self, what: &str) {
        self.unsupported.push(what.to_owned());
    }
}

impl ScriptClock for UserScope<'_> {
    fn wall_clock_ms(&self) -> i64 {
        // Include the time that the script slept, which the user has not waited for yet.
        self.facts.wall_ms(self.user.now() + self.user.requested_sleep_ns)
    }

    fn test_start_ms(&self) -> i64 {
        self.facts.wall_ms(Nanos(self.user.run.begun_ns.load(Ordering::Relaxed)))
    }

    fn pause_ms(&mut self, ms: u64) {
        self.user.requested_sleep_ns =
            self.user.requested_sleep_ns.saturating_add(ms.saturating_mul(1_000_000));
    }

    fn format_date(&self, pattern: &str, ms: i64, zone: &TimeZone) -> Result<String, ElementError> {
        let format = date_format(pattern)?;
        let mut out = String::new();
        format
            .format(&Moment::of_instant(i128::from(ms) * 1_000_000, zone), &mut out)
            .map_err(String::from)?;
        Ok(out)
    }

    fn parse_date(&self, pattern: &str, text: &str, zone: &TimeZone) -> Result<Option<i64>, ElementError> {
        let format = date_format(pattern)?;
        if let Some(what) = format.unreadable() {
            return Err(format!("parsing {what} with the date format `{pattern}`").into());
        }
        let defaults = Defaults { date_in_year: Some(1970), ..Defaults::default() };
        let Ok(moment) = format.parse(text, defaults) else { return Ok(None) };
        if let Some(instant) = moment.instant() {
            return Ok(i64::try_from(instant / 1_000_000).ok());
        }
        let date = moment.date.unwrap_or(jiff::civil::date(1970, 1, 1));
        let time = moment.time.unwrap_or(jiff::civil::Time::midnight());
        Ok(date.to_datetime(time).to_zoned(zone.clone()).ok().map(|zoned| zoned.timestamp().as_millisecond()))
    }

    fn random_bits(&mut self) -> u64 {
        self.user.random.next_u64()
    }
}

impl ScriptThread for UserScope<'_> {
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

    fn iteration(&self) -> u32 {
        self.user.iteration
    }

    fn group_name(&self) -> String {
        self.user.run.groups.get(self.user.group as usize).map(|group| group.name.clone()).unwrap_or_default()
    }

    fn sampler_name(&self) -> String {
        self.user.sampler_name.clone()
    }

    fn users(&self) -> ThreadNumbers {
        let run = &self.user.run;
        let groups = u32::try_from(run.groups.len()).unwrap_or(u32::MAX);
        let Some(group) = run.groups.get(self.user.group as usize) else { return ThreadNumbers::default() };
        ThreadNumbers {
            active: run.active.load(Ordering::Relaxed),
            active_of_group: group.active.load(Ordering::Relaxed),
            of_group: run.users_of(self.user.group),
            planned: (0..groups).map(|group| run.users_of(group)).sum(),
        }
    }

    fn stop(&mut self, what: StopRequest) {
        match what {
            StopRequest::Nothing => self.user.action = LogicalAction::Continue,
            StopRequest::LoopIteration => self.user.action = LogicalAction::NextIterationOfLoop,
            StopRequest::Loop => self.user.action = LogicalAction::BreakLoop,
            StopRequest::Iteration => self.user.action = LogicalAction::NextIterationOfThread,
            StopRequest::User => self.user.running = false,
            StopRequest::Test => self.user.run.stop_by_plan(run::Stop::Graceful),
            StopRequest::TestNow => self.user.run.stop_by_plan(run::Stop::Now),
        }
    }
}

impl ScriptSamples for UserScope<'_> {
    fn verdict(&mut self) -> Option<&mut AssertionVerdict> {
        self.verdict.as_mut()
    }

    fn sample(&self) -> Option<&dyn SampleFacts> {
        self.user.has_result.then_some(&self.facts as &dyn SampleFacts)
    }

    fn sample_mut(&mut self) -> Option<&mut dyn SampleChanges> {
        self.user.has_result.then_some(&mut self.facts as &mut dyn SampleChanges)
    }

    fn previous(&self) -> Option<&dyn SampleFacts> {
        if self.facts.is_sampler {
            return self.previous.as_ref().map(|facts| facts as &dyn SampleFacts);
        }
        self.sample()
    }

    fn previous_mut(&mut self) -> Option<&mut dyn SampleChanges> {
        if self.facts.is_sampler {
            return self.previous.as_mut().map(|facts| facts as &mut dyn SampleChanges);
        }
        self.sample_mut()
    }
}

impl ScriptRequests for UserScope<'_> {
    fn request(&mut self) -> Option<Box<dyn RequestAccess + '_>> {
        busyhour_request::access(self.sampler.as_deref_mut()?, self.user)
    }

    fn exchange(&mut self, request: UrlRequest) -> Result<UrlResponse, Thrown> {
        let Some(client) = busyhour_request::url_client(&self.user.run) else {
            let message = "a connection before the test starts is not supported".to_owned();
            return Err(Thrown { class: "java.lang.UnsupportedOperationException", message });
        };
        self.sleep_requested();
        client.exchange(&self.user.run.clock, request)
    }
}

impl ScriptPlan for UserScope<'_> {
    fn evaluate_text(&mut self, text: &str) -> String {
        // The text may contain functions, which read the result from the user, and scripts, which access the sampler.
        self.swap_user_parts();
        let mut value = String::new();
        (self.render_text)(text, self.user, &mut value);
        self.swap_user_parts();
        value
    }

    fn environment(&self, name: &str) -> Option<String> {
        crate::text::environment_variable(name)
    }

    fn plan_directory(&self) -> String {
        self.user.run.properties.get(PLAN_DIRECTORY_PROPERTY).unwrap_or_default()
    }

    fn plan_file(&self) -> String {
        self.user.run.properties.get(PLAN_NAME_PROPERTY).unwrap_or_default()
    }
}

fn date_format(pattern: &str) -> Result<DateFormat, ElementError> {
    DateFormat::new(pattern).map_err(|error| format!("the date format `{pattern}` ({error})").into())
}
