//! The metrics of a run in Prometheus's data model, shared by both scrape formats and remote write.

use std::borrow::Cow;

use busyhour_sample::{SnapshotRow, TimeCounts};
use busyhour_server::exposition::ExpositionType;

use crate::csv_seconds::kind;
use crate::histograms::TimeClock;
use crate::totals::RunSoFar;

/// Upper bounds of the buckets of classic histograms in seconds: 1, 2, 5 in each decade.
pub(crate) const BOUNDS_S: [f64; 17] =
    [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0];

/// Schema of native histograms: their bounds grow by a factor of 2^(2^−SCHEMA), that is by 2.2 %.
pub(crate) const SCHEMA: i32 = 5;

/// Upper limit of the zero bucket of a native histogram: 2^−128 s, as in Prometheus's own clients.
pub(crate) const ZERO_THRESHOLD_S: f64 = 2.938_735_877_055_719e-39;

/// Description of the arrival counts, whose sum has no meaning.
pub(crate) const ARRIVALS_HELP: &str = "Arrivals of open workloads. scheduled: all; begun: a session was started; waited: \
    begun after waiting for an idle user; dropped: discarded.";

/// A metric with all its label values.
pub(crate) struct Family {
    pub(crate) name: Cow<'static, str>,
    pub(crate) help: Cow<'static, str>,
    pub(crate) family_type: ExpositionType,
    pub(crate) metrics: Vec<Metric>,
}

pub(crate) struct Metric {
    /// Names and values of the labels.
    pub(crate) labels: Vec<(Cow<'static, str>, String)>,
    pub(crate) value: MetricValue,
}

pub(crate) enum MetricValue {
    Number(f64),
    Times(TimeCounts),
}

/// The cumulative count of each classic bucket, with its upper bound. The last bucket is unbounded.
pub(crate) fn classic_buckets(times: &TimeCounts) -> impl Iterator<Item = (f64, u64)> {
    let bounded = BOUNDS_S.into_iter().map(|bound| (bound, times.count_up_to_ms(bound * 1e3)));
    bounded.chain([(f64::INFINITY, times.count())])
}

/// The metrics of `run`; `name` is the name of the run.
pub(crate) fn families(run: &RunSoFar, name: &str) -> Vec<Family> {
    let info =
        vec![("plan".into(), name.to_owned()), ("version".into(), env!("CARGO_PKG_VERSION").to_owned())];
    let by_row = |value: fn(&SnapshotRow) -> MetricValue| {
        run.rows.values().map(|row| Metric { labels: labels(row, None), value: value(row) }).collect()
    };
    let outcomes = run.rows.values().flat_map(|row| {
        let passed = row.samples.saturating_sub(row.errors);
        [("passed", passed), ("failed", row.errors)].map(|(outcome, count)| Metric {
            labels: labels(row, Some(("outcome", outcome))),
            value: MetricValue::Number(count as f64),
        })
    });
    let codes = run.rows.values().flat_map(|row| {
        row.codes.iter().map(|code| Metric {
            labels: labels(row, Some(("code", &code.code))),
            value: MetricValue::Number(code.samples as f64),
        })
    });
    let mut families = vec![
        gauge("busyhour_run_info", "The run; always 1.", info, 1.0),
        counter("busyhour_samples_total", "Samples that ended.", outcomes.collect()),
        counter("busyhour_response_codes_total", "Samples that ended, by response code.", codes.collect()),
        counter(
            "busyhour_received_bytes_total",
            "Bytes received.",
            by_row(|row| MetricValue::Number(row.bytes as f64)),
        ),
        counter(
            "busyhour_sent_bytes_total",
            "Bytes sent.",
            by_row(|row| MetricValue::Number(row.sent_bytes as f64)),
        ),
        Family {
            name: "busyhour_response_time_seconds".into(),
            help: "Time from the intended start to the end.".into(),
            family_type: ExpositionType::Histogram,
            metrics: by_row(|row| MetricValue::Times(TimeClock::Response.times(row))),
        },
        Family {
            name: "busyhour_service_time_seconds".into(),
            help: "Time from the actual start to the end.".into(),
            family_type: ExpositionType::Histogram,
            metrics: by_row(|row| MetricValue::Times(TimeClock::Service.times(row))),
        },
    ];
    if let Some(users) = run.users {
        let help = "Active users at the end of the last second.";
        families.push(gauge("busyhour_users", help, Vec::new(), f64::from(users)));
    }
    if let Some(arrivals) = &run.arrivals {
        let outcomes_so_far = arrivals.outcomes_so_far().map(|(fate, count)| Metric {
            labels: vec![("fate".into(), fate.to_owned())],
            value: MetricValue::Number(count as f64),
        });
        families.push(counter("busyhour_arrivals_total", ARRIVALS_HELP, outcomes_so_far.into()));
    }
    if let Some(cov) = run.cov {
        let help = "Coefficient of variation of the gaps between arrivals of the last ten seconds.";
        families.push(gauge("busyhour_arrivals_cov", help, Vec::new(), cov));
    }
    if let Some(second) = run.second {
        let help = "Seconds of the run that these metrics cover.";
        families.push(gauge("busyhour_run_seconds", help, Vec::new(), (second + 1) as f64));
    }
    families
}

fn counter(name: &'static str, help: &'static str, metrics: Vec<Metric>) -> Family {
    Family { name: name.into(), help: help.into(), family_type: ExpositionType::Counter, metrics }
}

fn gauge(
    name: &'static str,
    help: &'static str,
    labels: Vec<(Cow<'static, str>, String)>,
    value: f64,
) -> Family {
    let metrics = vec![Metric { labels, value: MetricValue::Number(value) }];
    Family { name: name.into(), help: help.into(), family_type: ExpositionType::Gauge, metrics }
}

fn labels(row: &SnapshotRow, further: Option<(&'static str, &str)>) -> Vec<(Cow<'static, str>, String)> {
    let own = [("label", row.label.clone()), ("kind", kind(row.kind).to_owned())];
    let all = own.into_iter().chain(further.map(|(name, value)| (name, value.to_owned())));
    all.map(|(name, value)| (name.into(), value)).collect()
}
