//! The figures of a run in progress, from merged seconds.

use busyhour_record::LiveFigures;
use busyhour_sample::{ElapsedMs, IntervalCounts, Nanos, SecondPoint, SecondTimes, Snapshot, TimeCounts};

/// Adds a merged second to the figures.
pub(super) fn add_second(figures: &LiveFigures, snapshot: &Snapshot) {
    let total = snapshot.total();
    let (service, response) = (total.service.all(), total.response.all());
    let end = Nanos::from_secs(snapshot.second + 1);
    figures.update(|live| {
        live.watermark = live.watermark.max(end);
        if total.samples == 0 {
            return;
        }
        let counts = IntervalCounts {
            samples: total.samples,
            errors: total.errors,
            elapsed: elapsed(&service),
            since: Nanos::from_secs(snapshot.second),
            until: end,
        };
        live.total.merge(&counts);
        live.delta.merge(&counts);
        live.last_second = Some(SecondPoint {
            second: snapshot.second,
            requests: total.samples,
            errors: total.errors,
            bytes: total.bytes,
            sent_bytes: total.sent_bytes,
            service: times(&service),
            response: times(&response),
        });
    });
}

fn elapsed(times: &TimeCounts) -> ElapsedMs {
    let ms = |ms: Option<f64>| ms.map_or(0, |ms| ms as i64);
    let sum = i64::try_from(times.sum_ns() / 1_000_000).unwrap_or(i64::MAX);
    ElapsedMs { sum, min: ms(times.min_ms()), max: ms(times.max_ms()) }
}

fn times(times: &TimeCounts) -> SecondTimes {
    let quantile = |q: f64| times.quantile_ms(q).unwrap_or(0.0);
    SecondTimes {
        mean: times.mean_ms().unwrap_or(0.0),
        p50: quantile(0.5),
        p95: quantile(0.95),
        p99: quantile(0.99),
        max: times.max_ms().unwrap_or(0.0),
    }
}
