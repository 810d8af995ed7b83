//! The schedule of JMeter's Precise Throughput Timer: consecutive windows, each with a fixed number of independent uniform points.
//!
//! Within a window, the points are those of a Poisson process conditioned on its count. Over the whole run they are not a
//! Poisson process, because the counts of windows do not vary. JMeter does this on purpose, to match a rate per hour exactly.

use std::fmt;

use crate::generate::{FixedCount, Layers, Listed};
use crate::java_random::JavaRandom;
use crate::notation::{check_duration, check_listed};
use crate::random::Source;

/// Difference in arrivals per second below which JMeter treats two rates as equal.
const RATE_RESOLUTION_PER_S: f64 = 0.00001;

const NS_PER_S: u128 = 1_000_000_000;

/// The schedule of one thread group.
///
/// JMeter stores starts as fractions of seconds and rounds waits to milliseconds. Here, starts are in nanoseconds.
#[derive(Clone, Debug)]
pub struct PreciseSchedule {
    start_source: StartSource,
    /// Number of samples that start together, as configured in JMeter; [`PreciseSchedule::next_ns`] describes values below 1.
    batch_size: i64,
    /// Number of samples of the current batch that have been returned; 0 between batches.
    batch_item: i64,
    /// Rate of samples (not of batches) in the current window.
    rate_per_s: f64,
    points: Points,
    /// The next point of the current window; `None` if there is none.
    next_offset_ns: Option<u64>,
    last_ns: u64,
    window: u32,
    window_begin_ns: u64,
    window_end_ns: u64,
}

/// The random numbers that determine the starts.
#[derive(Clone, Copy, Debug)]
enum StartSource {
    /// The numbers of `java.util.Random`, as in JMeter.
    Java(JavaRandom),
    /// Random numbers derived from the seed of the run.
    Seed(u64),
}

#[derive(Clone, Debug)]
enum Points {
    None,
    Listed(Listed),
    Drawn(FixedCount),
}

/// The reason why the starts of a window cannot be generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreciseError {
    /// The rate or the duration is 0, negative or NaN. (In JMeter, all samplers fail in this case.)
    NoStarts,
    /// The window has too many starts to store them, or is longer than a hundred years. Contains the exceeded limit.
    LimitExceeded(String),
}

impl fmt::Display for PreciseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PreciseError::NoStarts => f.write_str("its throughput and its duration must be above 0"),
            PreciseError::LimitExceeded(what) => write!(f, "it exceeds a limit: {what}"),
        }
    }
}

impl std::error::Error for PreciseError {}

impl PreciseSchedule {
    /// Creates a schedule that starts at time 0.
    ///
    /// If JMeter's `random_seed` is used, the starts are exactly those of JMeter. JMeter ignores a seed whose lower 32 bits are
    /// 0; in this case `seed` is used.
    pub fn new(random_seed: i64, seed: u64, batch_size: i64) -> PreciseSchedule {
        let start_source = match random_seed as i32 {
            0 => StartSource::Seed(seed),
            _ => StartSource::Java(JavaRandom::new(random_seed)),
        };
        PreciseSchedule {
            start_source,
            batch_size,
            batch_item: 0,
            rate_per_s: 0.0,
            points: Points::None,
            next_offset_ns: None,
            last_ns: 0,
            window: 0,
            window_begin_ns: 0,
            window_end_ns: 0,
        }
    }

    /// The next start in nanoseconds since the start of the schedule. `rate_per_s` is the rate of samples, `duration_s` the
    /// length of windows. Starts never decrease.
    ///
    /// As in JMeter:
    ///
    /// - A window has ⌈rate · length⌉ starts of samples or, if several samples start together, ⌈rate / batch size · length⌉ starts
    ///   of batches.
    /// - A new rate discards the rest of the current window; a new length takes effect with the next window.
    /// - With a batch size of 0 or less, all samples are in one batch.
    ///
    /// # Errors
    /// The next window has no starts, or too many.
    pub fn next_ns(&mut self, rate_per_s: f64, duration_s: i64) -> Result<u64, PreciseError> {
        let same = (rate_per_s - self.rate_per_s).abs() < RATE_RESOLUTION_PER_S;
        if !same || (self.batch_item == 0 && self.next_offset_ns.is_none()) {
            self.begin_window(rate_per_s, duration_s)?;
        }
        if self.batch_size != 1 {
            self.batch_item += 1;
            let first = self.batch_item == 1;
            if self.batch_item == self.batch_size {
                self.batch_item = 0;
            }
            if !first {
                return Ok(self.last_ns);
            }
        }
        let Some(offset_ns) = self.next_offset_ns.take() else { return Err(PreciseError::NoStarts) };
        self.next_offset_ns = self.points.next_ns();
        self.last_ns = self.window_begin_ns.saturating_add(offset_ns);
        Ok(self.last_ns)
    }

    fn begin_window(&mut self, rate_per_s: f64, duration_s: i64) -> Result<(), PreciseError> {
        self.rate_per_s = rate_per_s;
        self.batch_item = 0;
        self.next_offset_ns = None;
        let batches_per_s =
            if self.batch_size > 1 { rate_per_s / self.batch_size as f64 } else { rate_per_s };
        if rate_per_s.is_infinite() {
            return Err(PreciseError::LimitExceeded("the rate is infinite".to_owned()));
        }
        // As in Java's cast to int, NaN becomes 0, and large values saturate.
        let count = (batches_per_s * duration_s as f64).ceil() as i32;
        let (Ok(count @ 1..), Ok(duration_s @ 1..)) = (u64::try_from(count), u64::try_from(duration_s))
        else {
            return Err(PreciseError::NoStarts);
        };
        let too_much = |error: crate::ParseError| PreciseError::LimitExceeded(error.message);
        let end_ns = u128::from(duration_s) * NS_PER_S + u128::from(self.window_end_ns);
        let end_ns = check_duration(end_ns, 0).map_err(too_much)?;
        let duration_ns = end_ns - self.window_end_ns;
        let layers = Layers::flat(count);
        self.points = match &mut self.start_source {
            StartSource::Seed(seed) => {
                Points::Drawn(FixedCount::new(Source::new(*seed, self.window), layers, duration_ns))
            }
            StartSource::Java(random) => {
                check_listed(count, 0).map_err(too_much)?;
                let state = random.state();
                *random = random.skip_doubles(count);
                Points::Listed(Listed::new(state, layers, duration_ns))
            }
        };
        self.window = self.window.wrapping_add(1);
        self.window_begin_ns = self.window_end_ns;
        self.window_end_ns = end_ns;
        self.next_offset_ns = self.points.next_ns();
        Ok(())
    }
}

impl Points {
    fn next_ns(&mut self) -> Option<u64> {
        match self {
            Points::None => None,
            Points::Listed(points) => points.next_ns(),
            Points::Drawn(points) => points.next_ns(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn starts(schedule: &mut PreciseSchedule, rate: f64, duration_s: i64, count: usize) -> Vec<f64> {
        (0..count).map(|_| schedule.next_ns(rate, duration_s).unwrap() as f64 / 1e9).collect()
    }

    /// The parameters and starts come from JMeter's test of its generator: 2/s in windows of 5 s, seed 42.
    #[test]
    fn starts_equal_those_of_jmeter() {
        let expected = [
            1.3787403472085118,
            1.3853924503706834,
            1.5435972766632988,
            1.8439145670565282,
            2.3182678790457665,
            3.327744758972868,
            3.416117358799227,
            3.6378184001643405,
            3.914508893950179,
            4.516861323360891,
            5.861089688439262,
            5.886892389546892,
            6.04883784433166,
            6.932834371796743,
            7.182454872116432,
            7.937136908931478,
            7.9717495544484205,
            8.749530906277236,
            9.129829359439105,
            9.596638914343584,
            10.157091194132905,
            11.789599597385642,
            12.088437733764593,
            12.855201742074335,
            12.900124422510304,
            13.567031289116144,
            13.7564020338373,
            13.762549742953254,
            14.088984654178198,
            14.870178407479408,
            16.45828248705902,
        ];
        let mut schedule = PreciseSchedule::new(42, 7, 1);
        for expected in expected {
            let start_ns = schedule.next_ns(2.0, 5).unwrap();
            assert!((start_ns as f64 - expected * 1e9).abs() <= 1.0, "{start_ns} ns is not {expected} s");
        }
    }

    /// Some of these cases come from JMeter's tests.
    #[test]
    fn every_window_has_exactly_its_number_of_samples() {
        for (random_seed, duration_s, throughput, period) in [
            (6217980321110818258, 60, 5.0, 60.0),
            (6812190053835844998, 60, 5.0, 60.0),
            (2110188512211996814, 27, 1.0, 85.0),
            (4389853422207095555, 21, 26.0, 79.0),
            (0, 21, 26.0, 79.0),
        ] {
            for batch in 1..4_i64 {
                let mut schedule = PreciseSchedule::new(random_seed, 3, batch);
                let rate = throughput * batch as f64 / period;
                let per_window = (throughput / period * duration_s as f64).ceil() as i64 * batch;
                for window in 0..100 {
                    for _ in 0..per_window {
                        let start_s = schedule.next_ns(rate, duration_s).unwrap() / 1_000_000_000;
                        assert_eq!(start_s as i64 / duration_s, window, "{random_seed} {batch}");
                    }
                }
            }
        }
    }

    #[test]
    fn samples_of_a_batch_start_together() {
        let singles = starts(&mut PreciseSchedule::new(42, 7, 1), 2.0, 5, 20);
        let triples = starts(&mut PreciseSchedule::new(42, 7, 3), 6.0, 5, 60);
        let expected: Vec<f64> = singles.iter().flat_map(|start| [*start; 3]).collect();
        assert_eq!(triples, expected);
        let endless = starts(&mut PreciseSchedule::new(42, 7, 0), 2.0, 5, 20);
        assert_eq!(endless, [singles[0]; 20], "a batch of size 0 never ends");
    }

    #[test]
    fn a_new_rate_begins_a_window_and_a_new_length_takes_effect_with_the_next_window() {
        let mut schedule = PreciseSchedule::new(42, 7, 1);
        starts(&mut schedule, 2.0, 5, 3);
        let after = starts(&mut schedule, 4.0, 5, 20);
        assert!(after.iter().all(|start| (5.0..10.0).contains(start)), "{after:?}");
        let longer = starts(&mut schedule, 4.0, 10, 40);
        assert!(longer.iter().all(|start| (10.0..20.0).contains(start)), "{longer:?}");
        let mut schedule = PreciseSchedule::new(42, 7, 1);
        let mut expected = PreciseSchedule::new(42, 7, 1);
        starts(&mut schedule, 2.0, 5, 3);
        starts(&mut expected, 2.0, 5, 3);
        assert_eq!(starts(&mut schedule, 2.0, 50, 7), starts(&mut expected, 2.0, 5, 7));
    }

    #[test]
    fn without_a_random_seed_the_seed_places_the_starts() {
        let of = |random_seed, seed| starts(&mut PreciseSchedule::new(random_seed, seed, 1), 50.0, 2, 200);
        assert_eq!(of(0, 1), of(0, 1));
        assert_ne!(of(0, 1), of(0, 2));
        assert_eq!(of(1 << 32, 1), of(0, 1), "JMeter uses only the lower half of the seed");
        assert_eq!(of(5, 1), of(5, 2));
        assert_ne!(of(5, 1), of(0, 1));
    }

    #[test]
    fn invalid_rates_and_durations_are_errors() {
        for (rate, duration_s) in [(0.0, 5), (-1.0, 5), (f64::NAN, 5), (1.0, 0), (1.0, -5), (-1.0, -5)] {
            let mut schedule = PreciseSchedule::new(42, 7, 1);
            assert_eq!(
                schedule.next_ns(rate, duration_s),
                Err(PreciseError::NoStarts),
                "{rate} {duration_s}"
            );
            assert!(schedule.next_ns(2.0, 5).is_ok(), "the schedule continues with valid values");
        }
        for (random_seed, rate, duration_s) in
            [(42, 1e6, 3_600), (42, f64::INFINITY, 1), (0, f64::INFINITY, 1), (42, 1e-9, i64::MAX)]
        {
            let error = PreciseSchedule::new(random_seed, 7, 1).next_ns(rate, duration_s).unwrap_err();
            assert!(matches!(error, PreciseError::LimitExceeded(_)), "{rate} {duration_s}: {error}");
        }
        assert!(
            PreciseSchedule::new(0, 7, 1).next_ns(1e5, 3_600).is_ok(),
            "starts that are not listed in memory have no such limit"
        );
    }

    proptest! {
        #[test]
        fn starts_never_decrease(
            random_seed in any::<i64>(),
            batch in -1..4_i64,
            windows in prop::collection::vec((0.1..50.0_f64, 1..20_i64), 1..200),
        ) {
            let mut schedule = PreciseSchedule::new(random_seed, 1, batch);
            let mut before = 0;
            for (rate, duration_s) in windows {
                let start = schedule.next_ns(rate, duration_s).unwrap();
                prop_assert!(start >= before);
                before = start;
            }
        }
    }
}
