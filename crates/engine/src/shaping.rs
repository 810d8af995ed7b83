//! The Throughput Shaping Timer of the jmeter-plugins project: a table determines the rate of each second.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use busyhour_arrivals::LoadShare;
use busyhour_program::element::{Delay, Timer};
use busyhour_program::run::LogLevel;
use busyhour_program::template::Template;
use busyhour_program::user::UserState;
use busyhour_sample::Nanos;

use crate::delays::number;

/// A row of the timer's table.
#[derive(Clone, Debug)]
pub struct ShapeRow {
    /// Samples per second at the beginning.
    pub from_per_s: Template,
    /// Samples per second at the end; between beginning and end the rate is linear.
    pub to_per_s: Template,
    /// Duration of the row in seconds.
    pub duration_s: Template,
}

/// The rates of a table, second by second, as in the plugin: each second has the rate of its start. The second in which a row
/// ends belongs to that row. Therefore the first rate of a later row is never used, and the schedule is one second longer than
/// its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// For each row: rate at the beginning, rate at the end, duration in whole seconds.
    rows: Vec<(f64, f64, u64)>,
}

impl Shape {
    /// A shape of rows: rate at the beginning, rate at the end (both per second) and duration in whole seconds. Rows without a
    /// duration are ignored.
    pub fn new(rows: impl IntoIterator<Item = (f64, f64, i64)>) -> Shape {
        let lasting = |(from, to, seconds): (f64, f64, i64)| {
            Some((from, to, u64::try_from(seconds).ok().filter(|seconds| *seconds > 0)?))
        };
        Shape { rows: rows.into_iter().filter_map(lasting).collect() }
    }

    /// The rate in second `second`, from 0; `None` after the end of the table. A rate below 0 also ends the table.
    pub fn rate_per_s(&self, second: u64) -> Option<f64> {
        let mut left = second;
        for &(from, to, seconds) in &self.rows {
            if left <= seconds {
                let rate = from + left as f64 * (to - from) / seconds as f64;
                return (rate >= 0.0).then_some(rate);
            }
            left -= seconds;
        }
        None
    }

    /// Number of samples that start in a second with this rate: one at its beginning and then one every 1/rate seconds until the
    /// second ends. This is the rate rounded up, except for floating-point error.
    fn starts_in_second(rate_per_s: f64) -> u64 {
        (rate_per_s * (1.0 - 1e-12)).ceil() as u64
    }

    /// Total number of samples that start if a user is free for each of them.
    pub fn starts(&self) -> u64 {
        let rates = (0..).map_while(|second| self.rate_per_s(second));
        rates.fold(0, |sum, rate| sum.saturating_add(Self::starts_in_second(rate)))
    }

    /// Total duration of all rows in seconds.
    fn duration_s(&self) -> u64 {
        self.rows.iter().fold(0, |sum, (_, _, seconds)| sum.saturating_add(*seconds))
    }

    /// The number of samples that the table requests: the integral of its rates over time.
    pub fn asked(&self) -> f64 {
        self.rows.iter().map(|(from, to, seconds)| (from + to) / 2.0 * *seconds as f64).sum()
    }
}

/// The timer: one schedule for all users in its scope, in all groups.
///
/// The plugin counts seconds of the wall clock and catches up in its first second with a burst; here the schedule starts with
/// the first user. In both, starts for which no user is free are caught up within their second and dropped after it. Users stop
/// at the end of the table.
///
/// With a share of the load, the schedule is that of the whole run, and the users take the starts of their share. The properties
/// describe the whole run; they assume that the other shares start as punctually as this one.
#[derive(Debug)]
pub struct ThroughputShaping {
    name: String,
    rows: Box<[ShapeRow]>,
    /// Whether the plan reads the timer's properties.
    publishes: bool,
    state: Mutex<Option<State>>,
}

/// The values of the timer's properties.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ShapingReport {
    rate_per_s: f64,
    sent: u64,
    waiting: usize,
}

#[derive(Debug)]
struct State {
    begin: Nanos,
    shape: Shape,
    second: u64,
    /// Rate of this second; `None` after the end of the table.
    rate_per_s: Option<f64>,
    /// Number of starts in the previous seconds.
    earlier: u64,
    /// Number of starts of this second that were assigned, here or in other shares of the load.
    given: u64,
    /// Number of starts of this share for which no user was free.
    missed: u64,
    end_told: bool,
    /// Assigned starts in the future; stored only if the properties are read.
    ahead: VecDeque<Nanos>,
    /// Number of starts since the last report.
    sent: u64,
    /// The second of the last report.
    reported: Option<u64>,
}

impl State {
    fn new(begin: Nanos, shape: Shape) -> State {
        let rate_per_s = shape.rate_per_s(0);
        State {
            begin,
            shape,
            second: 0,
            rate_per_s,
            earlier: 0,
            given: 0,
            missed: 0,
            end_told: false,
            ahead: VecDeque::new(),
            sent: 0,
            reported: None,
        }
    }

    /// The next start of a share of the load, in the second of `now` or later; `None` after the end of the table. `publishes`:
    /// whether assigned starts are stored for the report.
    fn next(&mut self, now: Nanos, share: &LoadShare, publishes: bool) -> Option<Nanos> {
        let second_now = now.since(self.begin) / 1_000_000_000;
        loop {
            let rate_per_s = self.rate_per_s?;
            let starts = Shape::starts_in_second(rate_per_s);
            while self.second >= second_now && self.given < starts {
                let offset_ns = (self.given as f64 * 1e9 / rate_per_s) as u64;
                let start = self.begin + Nanos::from_secs(self.second).0 + offset_ns;
                let is_mine = share.contains_number(self.earlier.saturating_add(self.given));
                self.given += 1;
                if publishes {
                    self.ahead.push_back(start);
                }
                if is_mine {
                    return Some(start);
                }
            }
            let below = |starts| share.count_below(self.earlier.saturating_add(starts));
            self.missed = self.missed.saturating_add(below(starts) - below(self.given));
            self.earlier = self.earlier.saturating_add(starts);
            self.second += 1;
            self.given = 0;
            self.rate_per_s = self.shape.rate_per_s(self.second);
        }
    }
}

impl State {
    /// The report, at most once per second.
    fn take_report(&mut self, now: Nanos) -> Option<ShapingReport> {
        while self.ahead.front().is_some_and(|start| *start <= now) {
            self.ahead.pop_front();
            self.sent += 1;
        }
        let second = now.since(self.begin) / 1_000_000_000;
        if self.reported == Some(second) {
            return None;
        }
        self.reported = Some(second);
        let rate_per_s = self.shape.rate_per_s(second)?;
        Some(ShapingReport { rate_per_s, sent: std::mem::take(&mut self.sent), waiting: self.ahead.len() })
    }
}

impl ThroughputShaping {
    /// A timer with this name and these rows. `publishes`: whether it sets the properties `NAME_rps`, `NAME_cntSent`,
    /// `NAME_cntDelayed` and `NAME_totalDuration` every second.
    pub fn new(name: &str, rows: Vec<ShapeRow>, publishes: bool) -> ThroughputShaping {
        ThroughputShaping { name: name.to_owned(), rows: rows.into(), publishes, state: Mutex::default() }
    }

    fn set_properties(&self, user: &UserState, reported: ShapingReport, duration_s: u64) {
        let set =
            |what: &str, value: String| user.run.properties.set(&format!("{}_{what}", self.name), &value);
        set("totalDuration", duration_s.to_string());
        set("cntDelayed", reported.waiting.to_string());
        set("cntSent", reported.sent.to_string());
        // Formatted as in Java's `Double.toString`.
        set("rps", format!("{:?}", reported.rate_per_s));
    }

    fn shape(&self, user: &mut UserState) -> Shape {
        Shape::new(self.rows.iter().map(|row| {
            let rates = (number(&row.from_per_s, user), number(&row.to_per_s, user));
            (rates.0, rates.1, row.duration_s.integer(user, 0))
        }))
    }
}

impl Timer for ThroughputShaping {
    fn delay(&self, user: &mut UserState) -> Delay {
        let lock = || self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = lock().is_some();
        if !begun {
            // Not under the lock, because a text may contain a script. If several users arrive first, the shape of one of them
            // is used.
            let shape = self.shape(user);
            lock().get_or_insert_with(|| State::new(user.now(), shape));
        }
        let now = user.now();
        let mut guard = lock();
        let Some(state) = guard.as_mut() else { return Delay::default() };
        let missed_before = state.missed;
        let reported = if self.publishes { state.take_report(now.max(state.begin)) } else { None };
        let duration_s = state.shape.duration_s();
        let next = state.next(now.max(state.begin), user.run.share_of(user.group), self.publishes);
        let missed = state.missed;
        let tell_end = next.is_none() && !std::mem::replace(&mut state.end_told, next.is_none());
        drop(guard);
        if let Some(reported) = reported {
            self.set_properties(user, reported, duration_s);
        }
        if missed > missed_before {
            let late = missed - missed_before;
            let line = format!(
                "{}: no user was free for {late} starts ({missed} so far): give the thread group more users",
                self.name
            );
            user.log(LogLevel::Warn, &line);
            user.run.count_missed_starts(&self.name, late);
        }
        match next {
            Some(slot) => Delay { wait_ns: if slot > now { slot.since(now) } else { 0 }, slot: Some(slot) },
            None => {
                if tell_end {
                    user.log(LogLevel::Info, &format!("{}: the schedule is over, its users stop", self.name));
                }
                user.running = false;
                Delay::default()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use busyhour_program::clock::Clock;
    use busyhour_program::variables::Names;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{lone_user, shared_with};

    const MS: u64 = 1_000_000;

    fn timer(rows: &[(&str, &str, &str)]) -> ThroughputShaping {
        let row = |(from, to, seconds): &(&str, &str, &str)| ShapeRow {
            from_per_s: Template::literal(from),
            to_per_s: Template::literal(to),
            duration_s: Template::literal(seconds),
        };
        ThroughputShaping::new("shape", rows.iter().map(row).collect(), true)
    }

    /// The rows are those of a test in the plugin.
    #[test]
    fn a_second_has_its_initial_rate_and_belongs_to_the_row_that_ends_in_it() {
        let shape = Shape::new([(1.0, 10.0, 3), (15.0, 15.0, 3), (15.0, 1.0, 3)]);
        let rates: Vec<f64> = (0..).map_while(|second| shape.rate_per_s(second)).collect();
        let third = 14.0 / 3.0;
        let expected = [1.0, 4.0, 7.0, 10.0, 15.0, 15.0, 15.0, 15.0 - third, 15.0 - 2.0 * third, 1.0];
        assert_eq!(rates, expected);
        assert_eq!(shape.starts(), 1 + 4 + 7 + 10 + 45 + 11 + 6 + 1);
        assert_eq!(shape.asked(), 16.5 + 45.0 + 24.0);
    }

    #[test]
    fn rows_without_time_and_rates_below_zero() {
        assert_eq!(Shape::new([]).rate_per_s(0), None);
        assert_eq!(Shape::new([(5.0, 5.0, 0), (5.0, 5.0, -3)]).rate_per_s(0), None);
        let shape = Shape::new([(9.0, 9.0, 0), (2.0, 2.0, 1), (-1.0, -1.0, 5), (3.0, 3.0, 5)]);
        assert_eq!(
            [0, 1, 2, 9].map(|second| shape.rate_per_s(second)),
            [Some(2.0), Some(2.0), None, Some(3.0)]
        );
        assert_eq!(Shape::new([(f64::NAN, 1.0, 5)]).rate_per_s(0), None);
    }

    #[test]
    fn users_take_even_starts_within_each_second() {
        let clock = Clock::manual(0);
        let (shared, log) = shared_with(clock.clone(), 1, 1, Names::default(), 4);
        clock.advance(Duration::from_millis(1_730));
        let timer = timer(&[("4", "4", "1"), ("9", "5", "2")]);
        let mut users = [0, 1, 2].map(|number| lone_user(&shared, number));
        let mut slots = Vec::new();
        for turn in 0.. {
            let user = &mut users[turn % 3];
            let delay = timer.delay(user);
            let Some(slot) = delay.slot else { break };
            assert_eq!(slot, clock.now() + delay.wait_ns);
            slots.push(slot.0 / MS - 1_730);
            clock.advance(Duration::from_nanos(delay.wait_ns));
        }
        // The rates are 4, 4 and, from the row 9 → 5 in two seconds, 7 and 5.
        let expected = [(0, 4), (1, 4), (2, 7), (3, 5)];
        let expected =
            expected.map(|(second, rate)| (0..rate).map(move |k| second * 1_000 + k * 1_000 / rate));
        assert_eq!(slots, expected.into_iter().flatten().collect::<Vec<u64>>());
        assert_eq!(*log.lock().unwrap(), ["Info shape: the schedule is over, its users stop"]);
        assert_eq!(users.each_ref().map(|user| user.running).iter().filter(|runs| !**runs).count(), 1);
        for user in &mut users {
            assert_eq!(timer.delay(user), Delay::default());
            assert!(!user.running);
        }
        assert_eq!(log.lock().unwrap().len(), 1, "the end of the schedule is logged once");
    }

    #[test]
    fn late_starts_are_caught_up_within_their_second_and_dropped_after_it() {
        let clock = Clock::manual(0);
        let (shared, log) = shared_with(clock.clone(), 1, 1, Names::default(), 4);
        let timer = timer(&[("10", "10", "5")]);
        let mut user = lone_user(&shared, 0);
        let mut slot_ms = |clock_ms: u64| {
            clock.advance(Duration::from_millis(clock_ms) - Duration::from_nanos(clock.now().0));
            let delay = timer.delay(&mut user);
            (delay.slot.map(|slot| slot.0 / MS), delay.wait_ns / MS)
        };
        assert_eq!(slot_ms(0), (Some(0), 0));
        assert_eq!(slot_ms(350), (Some(100), 0), "the response time counts from the intended start");
        assert_eq!(slot_ms(350), (Some(200), 0));
        assert_eq!(slot_ms(350), (Some(300), 0));
        assert_eq!(slot_ms(350), (Some(400), 50));
        assert_eq!(slot_ms(2_120), (Some(2_000), 0));
        assert_eq!(slot_ms(2_120), (Some(2_100), 0));
        assert_eq!(slot_ms(2_120), (Some(2_200), 80));
        // 5 starts of the first second and 10 of the second one.
        let expected =
            "Warn shape: no user was free for 15 starts (15 so far): give the thread group more users";
        assert_eq!(*log.lock().unwrap(), [expected]);
        assert_eq!(shared.missed_starts(), [("shape".to_owned(), 15)]);
        assert_eq!(slot_ms(3_600_000), (None, 0));
    }

    #[test]
    fn a_second_without_rate_has_no_starts_and_a_small_rate_one() {
        let clock = Clock::manual(0);
        let (shared, _) = shared_with(clock, 1, 1, Names::default(), 4);
        let timer = timer(&[("0", "0.5", "5")]);
        let mut user = lone_user(&shared, 0);
        let slots = std::iter::from_fn(|| timer.delay(&mut user).slot);
        let expected = [1, 2, 3, 4, 5].map(Nanos::from_secs);
        assert_eq!(slots.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn rows_are_evaluated_for_the_first_user() {
        let mut names = Names::default();
        let slot = names.slot("rate");
        let (shared, _) = shared_with(Clock::manual(0), 1, 1, names, 4);
        let rate = || Template::new("${rate}", vec![busyhour_program::template::Segment::Variable(slot)]);
        let row = ShapeRow { from_per_s: rate(), to_per_s: rate(), duration_s: Template::literal("1") };
        let timer = ThroughputShaping::new("shape", vec![row], false);
        let mut users = [0, 1].map(|number| UserState::new(Arc::clone(&shared), None, 0, number));
        users[0].variables.set("rate", "2");
        let slots: Vec<_> =
            (0..4).map(|turn| timer.delay(&mut users[turn % 2]).slot.unwrap().0 / MS).collect();
        assert_eq!(slots, [0, 500, 1_000, 1_500]);
    }

    proptest! {
        #[test]
        fn starts_are_in_order_and_as_many_as_in_the_table(
            rows in prop::collection::vec((0.0..50.0_f64, 0.0..50.0_f64, -1..5_i64), 0..5),
        ) {
            let shape = Shape::new(rows);
            let mut state = State::new(Nanos(7), shape.clone());
            let starts: Vec<Nanos> =
                std::iter::from_fn(|| state.next(Nanos(7), &LoadShare::WHOLE, false)).collect();
            prop_assert!(starts.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert_eq!(starts.len() as u64, shape.starts());
            prop_assert_eq!(state.missed, 0);
            let mut together = Vec::new();
            for share in LoadShare::WHOLE.divide(&[2, 0, 1, 4]).unwrap() {
                let mut state = State::new(Nanos(7), shape.clone());
                together.extend(std::iter::from_fn(|| state.next(Nanos(7), &share, false)));
                prop_assert_eq!(state.missed, 0);
            }
            together.sort_unstable();
            prop_assert_eq!(together, starts);
        }
    }

    #[test]
    fn a_share_misses_its_own_starts_and_reports_the_whole_run() {
        let clock = Clock::manual(0);
        let (shared, log) = shared_with(clock.clone(), 1, 1, Names::default(), 0);
        shared.part.set_share(LoadShare::part(1, 2).unwrap());
        let mut user = lone_user(&shared, 1);
        let timer = timer(&[("5", "5", "5")]);
        assert_eq!(timer.delay(&mut user).slot, Some(Nanos(200 * MS)));
        assert_eq!(timer.delay(&mut user).slot, Some(Nanos(600 * MS)));
        clock.advance(Duration::from_millis(2_100));
        // The starts 4, 5, …, 9 of the whole run have passed; 5, 7 and 9 of them belong to the share.
        assert_eq!(timer.delay(&mut user).slot, Some(Nanos(2_200 * MS)));
        assert_eq!(shared.missed_starts(), [("shape".to_owned(), 3)]);
        assert_eq!(log.lock().unwrap().len(), 1);
        // The property counts starts 0 to 3 of the whole run; the first and the third belong to the other share.
        assert_eq!(shared.properties.get("shape_cntSent"), Some("4".into()));
        assert_eq!(shared.properties.get("shape_rps"), Some("5.0".into()));
    }

    #[test]
    fn each_second_reports_sent_and_waiting_samples() {
        let clock = Clock::manual(0);
        let (shared, _) = shared_with(clock.clone(), 1, 1, Names::default(), 0);
        let mut user = lone_user(&shared, 0);
        let timer = timer(&[("4", "4", "5"), ("8", "8", "2")]);
        let reported = |user: &UserState| {
            ["rps", "cntSent", "cntDelayed", "totalDuration"]
                .map(|what| user.run.properties.get(&format!("shape_{what}")).unwrap_or_default())
                .join(" ")
        };
        timer.delay(&mut user);
        assert_eq!(reported(&user), "4.0 0 0 7");
        // Six starts up to 1.25 s are assigned. A seventh user arrives at 1.1 s, when five of them have passed.
        for _ in 0..5 {
            timer.delay(&mut user);
        }
        assert_eq!(reported(&user), "4.0 0 0 7", "the properties are set once per second");
        clock.advance(Duration::from_millis(1_100));
        timer.delay(&mut user);
        assert_eq!(reported(&user), "4.0 5 1 7");
    }
}
