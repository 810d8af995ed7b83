//! JMeter's timers.
//!
//! Delays are truncated to whole milliseconds as in JMeter, so that a plan waits as long as it does there.

use std::sync::Mutex;

use busyhour_program::element::{Delay, Timer};
use busyhour_program::template::Template;
use busyhour_program::user::{StateId, UserState};
use busyhour_sample::Nanos;
use rand::Rng as _;
use rand_distr::{Distribution as _, Poisson, StandardNormal};

const MILLISECOND_NS: u64 = 1_000_000;

fn wait_ms(ms: i64) -> Delay {
    Delay { wait_ns: u64::try_from(ms).unwrap_or(0).saturating_mul(MILLISECOND_NS), slot: None }
}

/// Evaluates a template as a `double`. As in JMeter's properties, anything that is not a number counts as 0.
pub(crate) fn number(template: &Template, user: &mut UserState) -> f64 {
    template.text(user).trim().parse().unwrap_or(0.0)
}

/// The distribution of a random timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// Always the offset (Constant Timer).
    Constant,
    /// |U·range + offset| with U uniform on [0, 1) (Uniform Random Timer).
    Uniform,
    /// |Z·range + offset| with Z standard normal (Gaussian Random Timer).
    Gaussian,
    /// N + offset with N Poisson of mean range (Poisson Random Timer: the *delay* has a Poisson distribution; this
    /// does not make the arrivals a Poisson process).
    Poisson,
}

/// Constant, Uniform, Gaussian and Poisson Random Timer.
#[derive(Debug)]
pub struct ThinkTime {
    /// The distribution of the delay.
    pub draw: Draw,
    /// `ConstantTimer.delay` in milliseconds.
    pub offset_ms: Template,
    /// `RandomTimer.range` in milliseconds.
    pub range_ms: Template,
    /// JMeter's property `timer.factor`, by which the delays of all these timers are multiplied.
    pub factor: f64,
}

impl Timer for ThinkTime {
    fn delay(&self, user: &mut UserState) -> Delay {
        let offset = self.offset_ms.integer(user, 0);
        let ms = match self.draw {
            Draw::Constant => offset,
            Draw::Uniform => {
                let range = number(&self.range_ms, user);
                (user.random.random::<f64>() * range + offset as f64).abs() as i64
            }
            Draw::Gaussian => {
                let range = number(&self.range_ms, user);
                let z: f64 = StandardNormal.sample(&mut user.random);
                (z * range + offset as f64).abs() as i64
            }
            Draw::Poisson => {
                let mean = number(&self.range_ms, user);
                // For a mean of 0, which the constructor of the distribution rejects, the only outcome is 0.
                let drawn = Poisson::new(mean).map_or(0.0, |poisson| poisson.sample(&mut user.random));
                (drawn as i64).saturating_add(offset)
            }
        };
        if (self.factor - 1.0).abs() < f64::EPSILON {
            return wait_ms(ms);
        }
        wait_ms((ms as f64 * self.factor).round() as i64)
    }
}

/// How a Constant Throughput Timer divides its rate among users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThroughputMode {
    /// Each user has the whole rate.
    ThisThreadOnly,
    /// The rate is divided by the number of all active users.
    AllActive,
    /// The rate is divided by the number of active users of the group.
    ActiveInGroup,
    /// All users share one schedule.
    AllActiveShared,
    /// The users of each group share one schedule.
    ActiveInGroupShared,
}

/// The time of the next free slot of a shared schedule, in nanoseconds since the start of the run.
#[derive(Debug, Default)]
pub struct SharedSlots(Mutex<Option<u64>>);

impl SharedSlots {
    /// Takes the next slot; returns the time until it, in nanoseconds.
    fn take(&self, now: u64, interval: u64) -> u64 {
        let mut last = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let next = last.map_or(now, |last| now.max(last.saturating_add(interval)));
        *last = Some(next);
        next - now
    }
}

/// Constant Throughput Timer: limits users to a number of samples per minute. A rate that users share is the rate of the whole
/// run; each share of the load has its part of it.
#[derive(Debug)]
pub struct ConstantThroughput {
    /// `throughput`, in samples per minute.
    pub per_minute: Template,
    /// `calcMode`.
    pub mode: ThroughputMode,
    /// The schedule that all users share. As in JMeter, the whole test has one, for any number of timers.
    pub shared_all: std::sync::Arc<SharedSlots>,
    /// The schedules of the groups, by number of the group.
    pub shared_group: std::sync::Arc<[SharedSlots]>,
    /// Where the time of each user's previous sample is stored.
    pub state: StateId,
}

impl ConstantThroughput {
    /// The part of the rate that this process generates.
    fn part_of_rate(&self, user: &UserState) -> f64 {
        match self.mode {
            ThroughputMode::ThisThreadOnly => 1.0,
            ThroughputMode::AllActive
            | ThroughputMode::ActiveInGroup
            | ThroughputMode::AllActiveShared
            | ThroughputMode::ActiveInGroupShared => user.run.share_of(user.group).size(),
        }
    }
}

impl Timer for ConstantThroughput {
    fn delay(&self, user: &mut UserState) -> Delay {
        use std::sync::atomic::Ordering::Relaxed;
        let per_minute = number(&self.per_minute, user) * self.part_of_rate(user);
        let ms_per_sample = 60_000.0 / per_minute;
        // Java's Math.round of an infinite double is Long.MAX_VALUE, so a rate of 0 waits forever.
        let interval = |users: f64| {
            ((users * ms_per_sample + 0.5).floor().max(0.0) as u64).saturating_mul(MILLISECOND_NS)
        };
        let now = user.now();
        let wait = match self.mode {
            ThroughputMode::ThisThreadOnly => interval(1.0),
            ThroughputMode::AllActive => interval(f64::from(user.run.active.load(Relaxed))),
            ThroughputMode::ActiveInGroup => {
                interval(f64::from(user.run.groups[user.group as usize].active.load(Relaxed)))
            }
            ThroughputMode::AllActiveShared => self.shared_all.take(now.0, interval(1.0)),
            ThroughputMode::ActiveInGroupShared => match self.shared_group.get(user.group as usize) {
                Some(schedule) => schedule.take(now.0, interval(1.0)),
                None => interval(1.0),
            },
        };
        let previous = user.state(self.state, || None::<Nanos>);
        // JMeter's previous time is 1970 before the first sample, so the first sample is always behind schedule.
        let target = previous.map(|previous| previous + wait);
        match target {
            Some(target) if now <= target => {
                *previous = Some(target);
                Delay { wait_ns: target.since(now), slot: Some(target) }
            }
            late => {
                *previous = Some(now);
                Delay { wait_ns: 0, slot: late }
            }
        }
    }
}

#[cfg(test)]
mod tests;
