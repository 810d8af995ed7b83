//! Slows a run of a URL down while every request fails.
//!
//! A closed load against a server that refuses connections sends as many requests as the generator can. Such a run measures
//! nothing and fills the disk. Only runs of a URL with a closed load are slowed down. Plans are executed unchanged, and open
//! loads keep the requested rate.

use busyhour_record::PlanNote;
use busyhour_report::numbers::{clock, rate};

/// Users are slowed down if only failures occur for this time.
const FAILING_S: f64 = 10.0;

/// Users are not slowed down after fewer failures than this.
const FAILURES_MIN: u64 = 100;

/// Time that each user waits after a failure.
pub(crate) const PAUSE_NS: u64 = 1_000_000_000;

/// A change in whether users wait after failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Users wait after each failure from now on.
    SlowDown,
    /// A request succeeded: users no longer wait.
    SpeedUp,
}

/// Watches the counts of a run.
#[derive(Debug, Default)]
pub(crate) struct BackOff {
    successes: u64,
    /// Time and number of requests at the last observation with a success.
    since_s: f64,
    requests_at: u64,
    /// The first period in which users waited.
    first: Option<Slow>,
    periods: u64,
    is_slow: bool,
}

#[derive(Clone, Copy, Debug)]
struct Slow {
    from_s: f64,
    /// Number of requests before the period.
    before: u64,
    /// Time and number of requests at the first observation that includes all requests from before the period. `latest`
    /// has the same values at the latest observation.
    settled: Option<(f64, u64)>,
    latest: (f64, u64),
}

/// The recorder counts a request at most this time after its end.
const SETTLING_S: f64 = 2.0;

impl BackOff {
    /// Compares the counts at the time `at_s` with earlier ones.
    pub(crate) fn observe(&mut self, at_s: f64, requests: u64, errors: u64) -> Option<Change> {
        let successes = requests.saturating_sub(errors);
        if self.is_slow
            && self.periods == 1
            && let Some(slow) = &mut self.first
        {
            if at_s >= slow.from_s + SETTLING_S {
                slow.settled.get_or_insert((at_s, requests));
            }
            slow.latest = (at_s, requests);
        }
        if successes > self.successes {
            (self.successes, self.since_s, self.requests_at) = (successes, at_s, requests);
            return std::mem::take(&mut self.is_slow).then_some(Change::SpeedUp);
        }
        let failures = requests - self.requests_at;
        if self.is_slow || at_s - self.since_s < FAILING_S || failures < FAILURES_MIN {
            return None;
        }
        self.is_slow = true;
        self.periods += 1;
        self.first.get_or_insert(Slow {
            from_s: at_s,
            before: requests,
            settled: None,
            latest: (at_s, requests),
        });
        Some(Change::SlowDown)
    }

    /// The caveat of a run in which users waited.
    pub(crate) fn note(&self) -> Option<PlanNote> {
        let slow = self.first?;
        let before = rate(slow.before as f64 / slow.from_s.max(1e-9));
        let during = slow.settled.filter(|(from_s, _)| slow.latest.0 > *from_s).map(|(from_s, requests)| {
            let per_s = (slow.latest.1 - requests) as f64 / (slow.latest.0 - from_s);
            format!(" and {}/s from then on", rate(per_s))
        });
        let during = during.unwrap_or_default();
        let again = match self.periods {
            1 => String::new(),
            periods => format!("; this happened {periods} times"),
        };
        Some(PlanNote {
            code: "backed-off".into(),
            message: format!(
                "all requests failed for {FAILING_S} s, so from {} on each user waited 1 s after a failure; the rate was \
                 {before}/s until then{during}{again}",
                clock(slow.from_s.round() as u64)
            ),
            hint: Some("repeat the run when the target responds; --no-back-off keeps the load".into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_wait_while_everything_fails() {
        let mut back_off = BackOff::default();
        for half in 0..20u64 {
            assert_eq!(back_off.observe(half as f64 / 2.0, half * 1_000, half * 1_000), None, "{half}");
        }
        assert!(back_off.note().is_none());
        assert_eq!(back_off.observe(10.0, 20_000, 20_000), Some(Change::SlowDown));
        for half in 1..=8u64 {
            assert_eq!(
                back_off.observe(10.0 + half as f64 / 2.0, 21_000 + half * 3, 21_000 + half * 3),
                None
            );
        }
        let note = back_off.note().map(|note| note.message).unwrap_or_default();
        assert!(
            note.contains("from 00:00:10 on") && note.contains("2,000/s until then and 6.0/s from then"),
            "{note}"
        );
        assert_eq!(back_off.observe(14.5, 22_012, 22_011), Some(Change::SpeedUp));
        assert_eq!(back_off.observe(15.0, 23_000, 22_999), None);
        assert_eq!(back_off.observe(24.5, 40_000, 39_999), Some(Change::SlowDown));
        assert!(back_off.note().is_some_and(|note| note.message.contains("2 times")));
    }

    #[test]
    fn users_do_not_wait_after_some_successes_or_few_failures() {
        let mut back_off = BackOff::default();
        assert!((0..100u64).all(|s| back_off.observe(s as f64, s * 100, s * 99).is_none()));
        let mut back_off = BackOff::default();
        assert!((0..60u64).all(|s| back_off.observe(s as f64, s, s).is_none()));
    }
}
