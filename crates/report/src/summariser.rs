//! The lines of JMeter's summariser, with identical text.

use busyhour_sample::IntervalCounts;

use crate::numbers::clock;

/// The numbers of users of a run at one moment, counted like JMeter's threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThreadCounts {
    /// Users that are running.
    pub active: u64,
    /// Users started since the start of the run.
    pub started: u64,
    /// Users that have finished.
    pub finished: u64,
}

/// The lines at the end of an interval: the samples since the last call, and the sum if there were earlier intervals. Empty if
/// there were no samples. `name` is the name of the summariser (`summariser.name`, by default `summary` in JMeter). Lines end
/// with `\n`.
#[must_use]
pub fn summariser_interval(
    name: &str,
    delta: &IntervalCounts,
    total: &IntervalCounts,
    users: ThreadCounts,
) -> String {
    if delta.samples == 0 {
        return String::new();
    }
    let mut out = line(name, '+', delta, Some(users));
    if total.samples != delta.samples {
        out += &line(name, '=', total, None);
    }
    out
}

/// The lines at the end of a run: the last interval if there were earlier ones, and the sum.
#[must_use]
pub fn summariser_end(
    name: &str,
    delta: &IntervalCounts,
    total: &IntervalCounts,
    users: ThreadCounts,
) -> String {
    let mut out = String::new();
    if delta.samples > 0 && total.samples > delta.samples {
        out += &line(name, '+', delta, Some(users));
    }
    out + &line(name, '=', total, None)
}

fn line(name: &str, kind: char, counts: &IntervalCounts, users: Option<ThreadCounts>) -> String {
    let length_ms = if counts.samples == 0 { 0 } else { counts.length_ms() };
    let rate = if length_ms > 0 {
        format!("{:6.1}", counts.samples as f64 / length_ms as f64 * 1000.0)
    } else {
        "******".into()
    };
    let errors = if counts.samples == 0 { 0.0 } else { counts.errors as f64 / counts.samples as f64 };
    let mut out = format!(
        "{name} {kind} {:6} in {} = {rate}/s Avg: {:5} Min: {:5} Max: {:5} Err: {:5} ({:.2}%)",
        counts.samples,
        clock((length_ms + 500) / 1000),
        counts.mean_ms(),
        counts.elapsed.min,
        counts.elapsed.max,
        counts.errors,
        errors * 100.0,
    );
    if let Some(users) = users {
        out += &format!(" Active: {} Started: {} Finished: {}", users.active, users.started, users.finished);
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use busyhour_sample::{ElapsedMs, Nanos};

    use super::*;

    fn counts(samples: u64, errors: u64, (sum, min, max): (i64, i64, i64), until_ms: u64) -> IntervalCounts {
        IntervalCounts {
            samples,
            errors,
            elapsed: ElapsedMs { sum, min, max },
            since: Nanos::ZERO,
            until: Nanos::from_millis(until_ms),
        }
    }

    #[test]
    fn lines_equal_those_of_jmeter() {
        let delta = counts(30_080, 0, (30_080 * 14 + 7, 1, 404), 30_000);
        let users = ThreadCounts { active: 500, started: 500, finished: 1 };
        assert_eq!(
            summariser_interval("summary", &delta, &delta, users),
            "summary +  30080 in 00:00:30 = 1002.7/s Avg:    14 Min:     1 Max:   404 Err:     0 (0.00%) \
             Active: 500 Started: 500 Finished: 1\n"
        );
        let total = counts(40_000, 100, (400_000, 0, 404), 61_499);
        let lines = summariser_interval("summary", &delta, &total, users);
        assert_eq!(
            lines.lines().nth(1),
            Some(
                "summary =  40000 in 00:01:01 =  650.4/s Avg:    10 Min:     0 Max:   404 Err:   100 (0.25%)"
            )
        );
        let nothing = counts(0, 0, (0, i64::MAX, i64::MIN), 5_000);
        assert_eq!(summariser_interval("summary", &nothing, &total, users), "");
        assert_eq!(summariser_end("summary", &nothing, &total, users).lines().count(), 1);
        assert_eq!(summariser_end("summary", &delta, &total, users).lines().count(), 2);
        assert!(
            summariser_end("s", &nothing, &nothing, users)
                .starts_with("s =      0 in 00:00:00 = ******/s Avg:     0 Min: 9223372036854775807")
        );
    }
}
