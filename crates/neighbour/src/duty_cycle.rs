//! The duty cycle: in each period, work for a share of the time, then pause.

use std::fmt;
use std::time::Duration;

/// The length of a period.
pub const PERIOD: Duration = Duration::from_millis(100);

/// The share of each period in which a neighbour works, in percent, from 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Intensity(u8);

impl Intensity {
    /// All of the time.
    pub const FULL: Self = Self(100);

    /// The number of percent.
    pub fn percent(self) -> u8 {
        self.0
    }

    /// An intensity in percent; `None` above 100.
    pub fn from_percent(percent: u8) -> Option<Self> {
        (percent <= 100).then_some(Self(percent))
    }

    /// The time per period in which the neighbour works.
    pub fn active(self) -> Duration {
        PERIOD * u32::from(self.0) / 100
    }
}

impl fmt::Display for Intensity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.0)
    }
}

/// The next action of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DutyPhase {
    /// Do one step of work.
    Work,
    /// Pause until this time after the start.
    PauseUntil(Duration),
}

/// Decides when a thread works. Steps of work that exceed the active part of a period shorten the following periods, so
/// that the share of work is correct over time. A thread does not compensate for time in which it could not work.
#[derive(Debug)]
pub struct DutyCycle {
    period_ns: i128,
    active_ns: i128,
    /// The index of the current period.
    index: i128,
    /// The remaining active time of the current period; negative after a long step.
    budget_ns: i128,
    working_since_ns: Option<i128>,
    busy_ns: i128,
}

impl DutyCycle {
    /// The cycle of a thread that has not worked yet.
    pub fn new(intensity: Intensity) -> Self {
        let active_ns = nanoseconds(intensity.active());
        Self {
            period_ns: nanoseconds(PERIOD),
            active_ns,
            index: 0,
            budget_ns: active_ns,
            working_since_ns: None,
            busy_ns: 0,
        }
    }

    /// Ends the current step of work, if any, and decides what to do at `now`, a time after the start.
    pub fn next(&mut self, now: Duration) -> DutyPhase {
        self.end_step(now);
        let now_ns = nanoseconds(now);
        let index = now_ns / self.period_ns;
        if index > self.index {
            let refill = (index - self.index) * self.active_ns;
            self.budget_ns = (self.budget_ns + refill).min(self.active_ns);
            self.index = index;
        }
        if self.budget_ns > 0 {
            self.working_since_ns = Some(now_ns);
            return DutyPhase::Work;
        }
        DutyPhase::PauseUntil(PERIOD * u32::try_from(index + 1).unwrap_or(u32::MAX))
    }

    /// Ends the current step of work, if any.
    pub fn end_step(&mut self, now: Duration) {
        if let Some(since_ns) = self.working_since_ns.take() {
            let step_ns = (nanoseconds(now) - since_ns).max(0);
            self.budget_ns -= step_ns;
            self.busy_ns += step_ns;
        }
    }

    /// Total time of all steps that have ended.
    pub fn busy(&self) -> Duration {
        Duration::from_nanos(u64::try_from(self.busy_ns).unwrap_or(u64::MAX))
    }
}

fn nanoseconds(time: Duration) -> i128 {
    i128::try_from(time.as_nanos()).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Runs a cycle with steps of this length for `length`, without any delay; returns its busy time, and the end of the last
    /// step.
    fn simulate(percent: u8, length: Duration, mut step: impl FnMut() -> Duration) -> (Duration, Duration) {
        let mut cycle = DutyCycle::new(Intensity::from_percent(percent).unwrap());
        let mut now = Duration::ZERO;
        while now < length {
            now = match cycle.next(now) {
                DutyPhase::Work => now + step(),
                DutyPhase::PauseUntil(time) => time,
            };
        }
        cycle.end_step(now);
        (cycle.busy(), now)
    }

    #[test]
    fn work_fills_the_active_part_of_each_period() {
        let mut cycle = DutyCycle::new(Intensity::from_percent(30).unwrap());
        assert_eq!(cycle.next(ms(0)), DutyPhase::Work);
        assert_eq!(cycle.next(ms(29)), DutyPhase::Work);
        assert_eq!(cycle.next(ms(30)), DutyPhase::PauseUntil(ms(100)));
        assert_eq!(cycle.next(ms(60)), DutyPhase::PauseUntil(ms(100)));
        assert_eq!(cycle.next(ms(100)), DutyPhase::Work);
        assert_eq!(cycle.next(ms(131)), DutyPhase::PauseUntil(ms(200)));
        assert_eq!(cycle.busy(), ms(61));
    }

    #[test]
    fn the_limits_are_no_work_and_no_pause() {
        let (busy, end) = simulate(0, ms(1_000), || panic!("a step"));
        assert_eq!((busy, end), (ms(0), ms(1_000)));
        let mut cycle = DutyCycle::new(Intensity::FULL);
        for now in (0..1_000).map(|now| ms(now * 7)) {
            assert_eq!(cycle.next(now), DutyPhase::Work, "{now:?}");
        }
    }

    #[test]
    fn a_long_step_shortens_the_following_periods() {
        let mut cycle = DutyCycle::new(Intensity::from_percent(50).unwrap());
        assert_eq!(cycle.next(ms(0)), DutyPhase::Work);
        // 170 ms of work: the budgets of three periods, and 20 ms of the fourth.
        assert_eq!(cycle.next(ms(170)), DutyPhase::PauseUntil(ms(200)));
        assert_eq!(cycle.next(ms(200)), DutyPhase::PauseUntil(ms(300)));
        assert_eq!(cycle.next(ms(300)), DutyPhase::Work);
        assert_eq!(cycle.next(ms(329)), DutyPhase::Work);
        assert_eq!(cycle.next(ms(330)), DutyPhase::PauseUntil(ms(400)));
    }

    #[test]
    fn time_without_work_is_not_compensated() {
        let mut cycle = DutyCycle::new(Intensity::from_percent(50).unwrap());
        assert_eq!(cycle.next(ms(1_000)), DutyPhase::Work);
        assert_eq!(cycle.next(ms(1_050)), DutyPhase::PauseUntil(ms(1_100)));
    }

    #[test]
    fn the_active_time_is_a_share_of_the_period() {
        for (percent, active) in [(0, ms(0)), (7, ms(7)), (50, ms(50)), (100, ms(100))] {
            assert_eq!(Intensity::from_percent(percent).map(Intensity::active), Some(active), "{percent}");
        }
        assert_eq!(Intensity::from_percent(101), None);
        assert_eq!(Intensity::FULL.to_string(), "100 %");
    }

    proptest! {
        /// The share of work differs from the intensity by less than one period and one step, whatever the steps.
        #[test]
        fn the_share_of_work_is_the_intensity(
            percent in 1u8..=100,
            steps_us in proptest::collection::vec(1u64..250_000, 1..40),
        ) {
            let mut steps = steps_us.iter().cycle();
            let step = || Duration::from_micros(*steps.next().unwrap());
            let (busy, end) = simulate(percent, ms(60_000), step);
            let longest = Duration::from_micros(*steps_us.iter().max().unwrap());
            let expected = end.as_secs_f64() * f64::from(percent) / 100.0;
            let slack = (longest + PERIOD).as_secs_f64();
            prop_assert!((busy.as_secs_f64() - expected).abs() <= slack, "{busy:?} instead of {expected}");
        }
    }
}
