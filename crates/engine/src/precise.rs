//! JMeter's Precise Throughput Timer: a fixed number of samples in each window, at random times that are drawn beforehand.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use busyhour_arrivals::{LoadShare, PreciseError, PreciseSchedule};
use busyhour_program::element::{Delay, Timer};
use busyhour_program::run::LogLevel;
use busyhour_program::template::Template;
use busyhour_program::user::{UserState, stream_key};
use busyhour_sample::Nanos;

use crate::delays::number;

/// Separates the random stream of the starts from other streams that are selected by a group and a number.
const STARTS: u64 = 0x7072_6563_6973_6501;

/// The schedules of a plan's thread groups. As in JMeter, all timers of a group share one schedule. The settings of the first
/// timer and user apply as long as the schedule lasts.
#[derive(Debug)]
pub struct PreciseSchedules(Box<[Mutex<Option<Owned>>]>);

#[derive(Debug)]
struct Owned {
    schedule: PreciseSchedule,
    /// The number of the timer and of the user that reached the schedule first. Only changes of their settings are applied.
    owner: (u32, u32),
    rate_per_s: f64,
    duration_s: i64,
    /// Number of the next start in the schedule of the whole run.
    number: u64,
}

impl Owned {
    /// The next start that belongs to a share of the load, in the schedule of the whole run.
    fn next_ns(&mut self, share: &LoadShare) -> Result<u64, PreciseError> {
        loop {
            let start_ns = self.schedule.next_ns(self.rate_per_s, self.duration_s)?;
            let number = self.number;
            self.number += 1;
            if share.contains_number(number) {
                return Ok(start_ns);
            }
        }
    }
}

impl PreciseSchedules {
    /// Schedules for groups with numbers below `groups`.
    pub fn new(groups: usize) -> PreciseSchedules {
        PreciseSchedules((0..groups).map(|_| Mutex::default()).collect())
    }
}

/// The timer. As in JMeter, its starts are times since the beginning of the run, which includes the setUp groups. A user that is
/// late for a start begins immediately, and the start remains its intended start.
#[derive(Debug)]
pub struct PreciseThroughput {
    /// `throughput`: number of samples per period.
    pub throughput: Template,
    /// `throughputPeriod`, in seconds.
    pub period_s: Template,
    /// `duration`: length of a window, in seconds.
    pub duration_s: Template,
    /// `batchSize`: number of samples that start together.
    pub batch_size: Template,
    /// `randomSeed`: if it is not 0, the starts are the same as JMeter's; if it is 0, they depend on the seed of the run.
    pub random_seed: Template,
    /// The schedules that all timers of the plan share.
    pub schedules: Arc<PreciseSchedules>,
    /// Number of this timer among the timers of the plan.
    pub timer: u32,
}

impl Timer for PreciseThroughput {
    fn delay(&self, user: &mut UserState) -> Delay {
        // Evaluated before the lock is taken, because a text may contain a script.
        let rate_per_s = number(&self.throughput, user) / self.period_s.integer(user, 0) as f64;
        let duration_s = self.duration_s.integer(user, 0);
        let batch_size = self.batch_size.integer(user, 0);
        let random_seed = self.random_seed.integer(user, 0);
        let me = (self.timer, user.number);
        let mut guard = self.schedules.0[user.group as usize].lock().unwrap_or_else(PoisonError::into_inner);
        let owned = guard.get_or_insert_with(|| Owned {
            schedule: PreciseSchedule::new(
                random_seed,
                stream_key(user.run.seed, u64::from(user.group), STARTS, 0),
                batch_size,
            ),
            owner: me,
            rate_per_s,
            duration_s,
            number: 0,
        });
        if owned.owner == me {
            (owned.rate_per_s, owned.duration_s) = (rate_per_s, duration_s);
        }
        let next = owned.next_ns(user.run.share_of(user.group));
        drop(guard);
        match next {
            Ok(start_ns) => {
                let slot = Nanos(user.run.begun_ns.load(Ordering::Relaxed)) + start_ns;
                let now = user.now();
                Delay { wait_ns: if slot > now { slot.since(now) } else { 0 }, slot: Some(slot) }
            }
            Err(error) => {
                user.log(
                    LogLevel::Error,
                    &format!("the Precise Throughput Timer has no next start: {error}"),
                );
                user.running = false;
                Delay::default()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use busyhour_program::clock::Clock;
    use busyhour_program::variables::Names;

    use super::*;
    use crate::testing::{lone_user, run_with_stopped_clock, shared_with};

    /// A timer with `throughput` samples per second in windows of 5 s.
    fn timer(throughput: &str, batch_size: &str, schedules: &Arc<PreciseSchedules>) -> PreciseThroughput {
        PreciseThroughput {
            throughput: Template::literal(throughput),
            period_s: Template::literal("1"),
            duration_s: Template::literal("5"),
            batch_size: Template::literal(batch_size),
            random_seed: Template::literal("42"),
            schedules: Arc::clone(schedules),
            timer: 0,
        }
    }

    fn one_group() -> Arc<PreciseSchedules> {
        Arc::new(PreciseSchedules::new(1))
    }

    /// JMeter's starts for 2 samples per second in windows of 5 s with seed 42, in nanoseconds.
    fn starts(count: usize) -> Vec<u64> {
        let mut schedule = PreciseSchedule::new(42, 0, 1);
        (0..count).map(|_| schedule.next_ns(2.0, 5).unwrap()).collect()
    }

    #[test]
    fn users_take_the_starts_in_order_and_wait_for_them() {
        let clock = Clock::manual(0);
        let shared = run_with_stopped_clock(&clock);
        let timer = timer("2", "1", &one_group());
        let mut users = [0, 1, 2].map(|number| lone_user(&shared, number));
        for (turn, start) in starts(30).into_iter().enumerate() {
            let delay = timer.delay(&mut users[turn % 3]);
            assert_eq!(delay.slot, Some(Nanos(start)));
            assert_eq!(clock.now() + delay.wait_ns, Nanos(start));
            if turn == 0 {
                assert_eq!(start / 1_000, 1_378_740, "the first start in JMeter's own test");
            }
            clock.advance(Duration::from_nanos(delay.wait_ns));
        }
    }

    #[test]
    fn the_shares_of_a_load_divide_the_starts_of_the_whole_load() {
        for (weights, batch_size) in [(vec![1, 1], "1"), (vec![3, 1, 0, 2], "1"), (vec![1, 1, 1], "4")] {
            let taken = |share: LoadShare, count: u64| -> Vec<u64> {
                let (shared, _) = shared_with(Clock::manual(0), 1, 1, Names::default(), 4);
                let starts = share.count_below(count);
                shared.part.set_share(share);
                let timer = timer("2", batch_size, &one_group());
                let mut user = lone_user(&shared, 0);
                (0..starts).map(|_| timer.delay(&mut user).slot.unwrap().0).collect()
            };
            let shares = LoadShare::WHOLE.divide(&weights).unwrap();
            let mut together: Vec<u64> = shares.into_iter().flat_map(|share| taken(share, 60)).collect();
            together.sort_unstable();
            assert_eq!(together, taken(LoadShare::WHOLE, 60), "{weights:?}");
        }
    }

    #[test]
    fn a_late_user_keeps_the_start_it_missed() {
        let clock = Clock::manual(0);
        let timer = timer("2", "1", &one_group());
        let mut user = lone_user(&run_with_stopped_clock(&clock), 0);
        clock.advance(Duration::from_secs(2));
        let starts = starts(5);
        for start in &starts[..4] {
            assert_eq!(timer.delay(&mut user), Delay { wait_ns: 0, slot: Some(Nanos(*start)) });
        }
        let delay = timer.delay(&mut user);
        assert_eq!(delay, Delay { wait_ns: starts[4] - 2_000_000_000, slot: Some(Nanos(starts[4])) });
    }

    #[test]
    fn starts_count_from_the_beginning_of_the_run() {
        let clock = Clock::manual(0);
        let shared = run_with_stopped_clock(&clock);
        clock.advance(Duration::from_secs(7));
        shared.begun_ns.store(3_000_000_000, Ordering::Relaxed);
        let timer = timer("2", "1", &one_group());
        let slot = timer.delay(&mut lone_user(&shared, 0)).slot;
        assert_eq!(
            slot,
            Some(Nanos(starts(1)[0] + 3_000_000_000)),
            "starts count from the beginning of the run, including setUp groups"
        );
    }

    #[test]
    fn each_group_has_a_schedule_that_its_timers_share() {
        let (shared, _) = shared_with(Clock::manual(0), 1, 2, Names::default(), 4);
        let schedules = Arc::new(PreciseSchedules::new(2));
        let first = timer("2", "1", &schedules);
        let second = PreciseThroughput { timer: 1, ..timer("500", "1", &schedules) };
        let mut users = [0, 1].map(|group| UserState::new(Arc::clone(&shared), None, group, 0));
        for (turn, start) in starts(5).into_iter().enumerate() {
            for user in &mut users {
                // The second timer's own rate is ignored.
                let timer = if turn % 2 == 0 { &first } else { &second };
                assert_eq!(timer.delay(user).slot, Some(Nanos(start)));
            }
        }
    }

    #[test]
    fn only_the_rate_of_the_first_user_applies() {
        let mut names = Names::default();
        let slot = names.slot("rate");
        let (shared, _) = shared_with(Clock::manual(0), 1, 1, names, 4);
        let schedules = one_group();
        let varying = PreciseThroughput {
            throughput: Template::new("${rate}", vec![busyhour_program::template::Segment::Variable(slot)]),
            ..timer("", "1", &schedules)
        };
        let mut users = [0, 1].map(|number| lone_user(&shared, number));
        for (user, rate) in users.iter_mut().zip(["2", "7"]) {
            user.variables.set("rate", rate);
        }
        let [first, second] = &mut users;
        let starts = starts(10);
        assert_eq!(varying.delay(first).slot, Some(Nanos(starts[0])));
        assert_eq!(varying.delay(second).slot, Some(Nanos(starts[1])));
        first.variables.set("rate", "7");
        let slot = varying.delay(second).slot;
        assert_eq!(slot, Some(Nanos(starts[2])), "the first user has not evaluated its new rate yet");
        let next = varying.delay(first).slot.unwrap();
        assert!(next >= Nanos::from_secs(5), "a new rate begins a new window, as in JMeter: {next:?}");
    }

    #[test]
    fn without_a_random_seed_the_starts_depend_on_the_seed_of_the_run() {
        let of = |seed, random_seed| {
            let (shared, _) = shared_with(Clock::manual(0), seed, 1, Names::default(), 4);
            let timer = PreciseThroughput {
                random_seed: Template::literal(random_seed),
                ..timer("2", "1", &one_group())
            };
            timer.delay(&mut lone_user(&shared, 0)).slot
        };
        assert_eq!(of(1, "0"), of(1, ""));
        assert_ne!(of(1, "0"), of(2, "0"));
        assert_eq!(of(1, "42"), of(2, "42"));
    }

    #[test]
    fn without_starts_the_user_stops_with_a_message() {
        for throughput in ["0", "-1", "none"] {
            let (shared, log) = shared_with(Clock::manual(0), 1, 1, Names::default(), 4);
            let mut user = lone_user(&shared, 0);
            assert_eq!(timer(throughput, "1", &one_group()).delay(&mut user), Delay::default());
            assert!(!user.running);
            assert!(log.lock().unwrap()[0].contains("throughput and its duration must be above 0"));
        }
    }
}
