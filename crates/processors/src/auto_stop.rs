//! The AutoStop listener of jmeter-plugins: stops the test if the mean of a metric exceeds a limit for several seconds.

use std::sync::{Mutex, PoisonError};

use busyhour_program::element::Processor;
use busyhour_program::run::{LogLevel, Stop};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;

/// A limit of the plan, and the number of seconds for which it may be exceeded.
#[derive(Clone, Debug, Default)]
pub struct AutoStopLimit {
    /// The limit; 0 or an invalid number means no limit.
    pub limit: Template,
    /// The number of seconds; at least 1.
    pub seconds: Template,
}

/// Settings of an AutoStop listener.
#[derive(Clone, Debug, Default)]
pub struct AutoStopSettings {
    /// `avg_response_time`: limit of the mean elapsed time, in milliseconds.
    pub response_time: AutoStopLimit,
    /// `avg_response_latency`: limit of the mean latency, in milliseconds.
    pub latency: AutoStopLimit,
    /// `error_rate`: limit of the share of failed samples, in percent.
    pub error_rate: AutoStopLimit,
    /// `percentile_response_time`: limit of the percentile of the elapsed times, in milliseconds.
    pub percentile_time: AutoStopLimit,
    /// `percentile_value`: the percentile to compute, in percent.
    pub percentile: Template,
}

/// The AutoStop listener.
#[derive(Debug)]
pub struct AutoStop {
    settings: AutoStopSettings,
    state: Mutex<Option<State>>,
}

/// A limit and its state during the run.
#[derive(Clone, Copy, Debug, Default)]
struct Limit {
    limit: f64,
    seconds: u64,
    /// The last second in which a value within the limit became known. The value is that of the preceding second.
    last_good_s: u64,
}

impl Limit {
    fn new(limit: f64, seconds: &str) -> Self {
        let seconds = seconds.trim().parse::<u64>().ok().filter(|seconds| *seconds > 0).unwrap_or(1);
        Self { limit, seconds, last_good_s: 0 }
    }

    /// Whether the limit has been exceeded for too many seconds. `value` is the value of the previous second.
    fn is_exceeded(&mut self, value: f64, second: u64) -> bool {
        if self.limit <= 0.0 {
            return false;
        }
        if value > self.limit {
            return second.saturating_sub(self.last_good_s) >= self.seconds;
        }
        self.last_good_s = second;
        false
    }
}

/// A mean over the samples of a second.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1.0;
    }

    fn value(self) -> f64 {
        if self.count > 0.0 { self.sum / self.count } else { 0.0 }
    }
}

#[derive(Debug, Default)]
struct State {
    second: u64,
    response_time: (Limit, Mean),
    latency: (Limit, Mean),
    error_rate: (Limit, Mean),
    percentile_time: Limit,
    /// The percentile as a fraction from 0 to 1.
    percentile: f64,
    percentile_ms: f64,
    /// Elapsed times of the first sample of each second, sorted. The plugin ignores the other samples for the percentile.
    first_times_ms: Vec<u64>,
}

impl State {
    fn new(settings: &AutoStopSettings, user: &mut UserState) -> Self {
        let mut limit = |setting: &AutoStopLimit, is_integer: bool, factor: f64| {
            let text = setting.limit.text(user).into_owned();
            let number = match is_integer {
                true => text.parse::<i32>().map_or(0.0, f64::from),
                false => text.trim().parse::<f32>().map_or(0.0, f64::from),
            };
            Limit::new(number * factor, &setting.seconds.text(user))
        };
        let none = Mean::default();
        let response_time = (limit(&settings.response_time, true, 1.0), none);
        let latency = (limit(&settings.latency, true, 1.0), none);
        let error_rate = (limit(&settings.error_rate, false, 0.01), none);
        let percentile_time = limit(&settings.percentile_time, true, 1.0);
        let percentile =
            settings.percentile.text(user).trim().parse().map_or(0.0, |percent: f64| percent / 100.0);
        let percentile = if percentile > 0.0 { percentile } else { 1.0 };
        Self { response_time, latency, error_rate, percentile_time, percentile, ..Self::default() }
    }

    /// The percentile of the times, computed as in JMeter's statistics.
    fn percentile_value(&self) -> f64 {
        let Some(last) = self.first_times_ms.last() else { return 0.0 };
        if self.percentile >= 1.0 {
            return *last as f64;
        }
        let target = (self.first_times_ms.len() as f64 * self.percentile + 0.5).floor() as usize;
        self.first_times_ms.get(target.max(1) - 1).map_or(0.0, |ms| *ms as f64)
    }

    /// Adds a sample. Returns for each limit whether it has been exceeded for too many seconds.
    fn add_sample(&mut self, second: u64, elapsed_ms: u64, latency_ms: u64, ok: bool) -> [bool; 4] {
        let mut exceeded = [false; 4];
        if self.second != second {
            let means = [&mut self.response_time, &mut self.latency, &mut self.error_rate];
            for (at, (limit, mean)) in means.into_iter().enumerate() {
                exceeded[at] = limit.is_exceeded(mean.value(), second);
                *mean = Mean::default();
            }
            if self.percentile_time.limit > 0.0 {
                let at = self.first_times_ms.partition_point(|ms| *ms <= elapsed_ms);
                self.first_times_ms.insert(at, elapsed_ms);
            }
            exceeded[3] = self.percentile_time.is_exceeded(self.percentile_ms, second);
            self.second = second;
            self.percentile_ms = self.percentile_value();
        }
        self.response_time.1.add(elapsed_ms as f64);
        self.latency.1.add(latency_ms as f64);
        self.error_rate.1.add(if ok { 0.0 } else { 1.0 });
        exceeded
    }
}

impl AutoStop {
    /// Creates the listener from its settings.
    pub fn new(settings: AutoStopSettings) -> Self {
        Self { settings, state: Mutex::default() }
    }
}

impl Processor for AutoStop {
    fn process(&self, user: &mut UserState) {
        let lock = || self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if lock().is_none() {
            let state = State::new(&self.settings, user);
            lock().get_or_insert(state);
        }
        let second = user.run.clock.wall_ms(user.now()) / 1_000;
        let result = &user.result;
        let (elapsed_ms, latency_ms, ok) =
            (result.elapsed_ms(), result.times.latency_ns / 1_000_000, result.outcome.success);
        let exceeded = match lock().as_mut() {
            Some(state) => state.add_sample(second, elapsed_ms, latency_ms, ok),
            None => return,
        };
        let limits = [
            ("Average Response Time is more than", &self.settings.response_time),
            ("Average Latency Time is more than", &self.settings.latency),
            ("Error rate more than", &self.settings.error_rate),
            ("Percentile Response more than", &self.settings.percentile_time),
        ];
        for (exceeded, (condition, limit)) in exceeded.into_iter().zip(limits) {
            if exceeded {
                let (limit, seconds) =
                    (limit.limit.text(user).into_owned(), limit.seconds.text(user).into_owned());
                user.log(
                    LogLevel::Info,
                    &format!("{condition} {limit} for {seconds}s. Auto-shutdown test..."),
                );
                user.run.stop_by_plan(Stop::Now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use busyhour_program::symbols::Symbols;

    use super::*;
    use crate::testing::user;

    fn limit(limit: &str, seconds: &str) -> AutoStopLimit {
        AutoStopLimit { limit: Template::literal(limit), seconds: Template::literal(seconds) }
    }

    fn state(settings: &AutoStopSettings) -> State {
        State::new(settings, &mut user(&Symbols::default()))
    }

    #[test]
    fn a_mean_must_exceed_its_limit_for_the_set_seconds() {
        let mut state = state(&AutoStopSettings { response_time: limit("100", "2"), ..Default::default() });
        let mut stops = Vec::new();
        for second in 10..20 {
            // The means exceed the limit from second 12 on. Each mean is known in the next second.
            let elapsed_ms = if second < 12 { 100 } else { 300 };
            stops.push(state.add_sample(second, elapsed_ms, 0, true)[0]);
            state.add_sample(second, if second < 12 { 100 } else { 0 }, 0, true);
        }
        // In second 12, the mean of second 11 is still within the limit. Two seconds later, in the fifth second, the test stops.
        assert_eq!(stops.iter().position(|stop| *stop), Some(4), "{stops:?}");
    }

    #[test]
    fn error_rates_are_percentages() {
        let mut state = state(&AutoStopSettings { error_rate: limit("50.5", ""), ..Default::default() });
        let half = |state: &mut State, second| {
            let first = state.add_sample(second, 1, 1, true)[2];
            state.add_sample(second, 1, 1, false);
            first
        };
        assert!(!half(&mut state, 1) && !half(&mut state, 2) && !half(&mut state, 3));
        state.add_sample(3, 1, 1, false);
        assert!(half(&mut state, 4), "two of three samples failed");
    }

    #[test]
    fn percentiles_use_the_first_sample_of_each_second() {
        let mut state = state(&AutoStopSettings {
            percentile_time: limit("90", "1"),
            percentile: Template::literal("50"),
            ..Default::default()
        });
        let mut stops = Vec::new();
        for (second, elapsed_ms) in (1..).zip([10, 100, 100, 100, 100]) {
            stops.push(state.add_sample(second, elapsed_ms, 0, true)[3]);
        }
        assert_eq!(stops, [false, false, false, true, true]);
    }

    #[test]
    fn an_invalid_number_is_no_limit() {
        let mut state = state(&AutoStopSettings { latency: limit("x", "y"), ..Default::default() });
        assert!((1..9).all(|second| state.add_sample(second, 1_000, 1_000, false) == [false; 4]));
    }
}
