//! Tests with result files that have one unusual property each.

use busyhour_analysis::incidents::{Incident, Unsteady};
use busyhour_analysis::{Caveat, RunFacts, Summary, steady_part};
use busyhour_sample::{
    ActiveUsers, Aggregator, Labels, Nanos, Sample, SampleOutcome, SampleSizes, SampleTimes, TotalsSettings,
};

use crate::simulate::Random;

const LENGTH_S: f64 = 300.0;

/// A row of a result file.
struct Row {
    at_s: f64,
    ms: f64,
    success: bool,
    label: &'static str,
}

/// Poisson arrivals at 100 per second with lognormal times, changed by `change`, which returns whether the row remains.
fn rows(mut change: impl FnMut(&mut Row, &mut Random) -> bool) -> Vec<Row> {
    let mut random = Random::new(1);
    let mut rows = Vec::new();
    let mut at_s = random.exponential(0.01);
    while at_s < LENGTH_S {
        let ms = 50.0 * random.lognormal(0.4);
        let label = match (random.uniform() * 20.0) as u32 {
            0..10 => "home",
            10..16 => "buy",
            16..19 => "pay",
            _ => "login",
        };
        let mut row = Row { at_s, ms, success: true, label };
        if change(&mut row, &mut random) {
            rows.push(row);
        }
        at_s += random.exponential(0.01);
    }
    rows.sort_by(|a, b| (a.at_s + a.ms / 1e3).total_cmp(&(b.at_s + b.ms / 1e3)));
    rows
}

/// The summary of a result file with these rows.
fn summary(rows: &[Row], window_s: Option<(f64, f64)>) -> Summary {
    let ms_from_start = |at_s: f64| (at_s * 1e3) as u64;
    let first_ms = rows.iter().map(|row| ms_from_start(row.at_s)).min().unwrap_or(0);
    let window = window_s.map(|(from, to)| {
        let at = |second: f64| Nanos((second * 1e9) as u64);
        (at(from), at(to))
    });
    let labels = Labels::new();
    // A result file contains one clock, and times in whole milliseconds since the first start.
    let settings = TotalsSettings { only_actual_starts: true, window, ..TotalsSettings::default() };
    let mut aggregator = Aggregator::new(labels.clone(), settings);
    for (at, row) in rows.iter().enumerate() {
        let start = Nanos::from_millis(ms_from_start(row.at_s) - first_ms);
        let end = start + row.ms.round() as u64 * 1_000_000;
        aggregator.add(&Sample {
            label: labels.intern(row.label),
            user: at as u32 % 50 + 1,
            times: SampleTimes { intended: start, start, end, ..SampleTimes::default() },
            outcome: SampleOutcome::new(
                if row.success { "200" } else { "500" },
                if row.success { "OK" } else { "Server Error" },
                row.success,
            ),
            error_count: u32::from(!row.success),
            sizes: SampleSizes::of_row(1_000, 0),
            users: ActiveUsers { group: 50, all: 50 },
            ..Sample::default()
        });
    }
    aggregator.close_all();
    let facts =
        RunFacts { only_actual_starts: true, wall_anchor_ms: 1_700_000_000_000, ..RunFacts::default() };
    Summary::new(facts, &aggregator.finish(Vec::new()))
}

fn found(change: impl FnMut(&mut Row, &mut Random) -> bool) -> Vec<Incident> {
    summary(&rows(change), None).incidents
}

/// Returns the only incident. Asserts that it lasts from about `from_s` to about `to_s`; `None` is the end of the run.
#[track_caller]
fn only(incidents: &[Incident], from_s: f64, to_s: Option<f64>) -> Incident {
    assert_eq!(incidents.len(), 1, "{incidents:#?}");
    let incident = &incidents[0];
    assert!((incident.from_s - from_s).abs() <= 4.0, "{incident:?}");
    assert_eq!(incident.to_s.is_some(), to_s.is_some(), "{incident:?}");
    if let (Some(end_s), Some(to_s)) = (incident.to_s, to_s) {
        assert!((end_s - to_s).abs() <= 6.0, "{incident:?}");
    }
    incident.clone()
}

fn slower(from_s: f64, to_s: f64) -> impl FnMut(&mut Row, &mut Random) -> bool {
    move |row, _| {
        row.ms *= if row.at_s > from_s && row.at_s < to_s { 3.0 } else { 1.0 };
        true
    }
}

fn failing(from_s: f64, to_s: f64, share: f64, usual: f64) -> impl FnMut(&mut Row, &mut Random) -> bool {
    move |row, random| {
        let share = if row.at_s > from_s && row.at_s < to_s { share } else { usual };
        row.success = random.uniform() >= share;
        true
    }
}

#[test]
fn a_change_that_lasts_to_the_end_is_found_wherever_it_begins() {
    for share in [0.2, 0.35, 0.4, 0.45, 0.49] {
        let incident = only(&found(slower(share * LENGTH_S, 1e9)), share * LENGTH_S, None);
        let factor = incident.p95_factor.unwrap();
        assert!((2.7..3.3).contains(&factor) && incident.all_labels, "{incident:?}");
    }
}

#[test]
fn a_change_that_lasts_for_most_of_the_run_is_found() {
    let incident = only(&found(slower(60.0, 220.0)), 60.0, Some(220.0));
    let (p95, usual) = (incident.p95_ms.unwrap(), incident.usual_p95_ms.unwrap());
    assert!((270.0..310.0).contains(&p95) && (90.0..105.0).contains(&usual), "{incident:?}");
}

#[test]
fn an_outage_is_found_however_long_it_lasts() {
    for (from_s, to_s, share) in [
        (180.0, None, 1.0),
        (180.0, None, 0.1),
        (180.0, None, 0.02),
        (90.0, None, 1.0),
        (100.0, Some(178.0), 1.0),
        (30.0, Some(270.0), 1.0),
    ] {
        let incident = only(&found(failing(from_s, to_s.unwrap_or(1e9), share, 0.0)), from_s, to_s);
        let percent = incident.error_percent.unwrap();
        assert!((percent / 100.0 - share).abs() < 0.1 * share, "{incident:?}");
        assert_eq!(incident.main_error.as_deref(), Some("500 Server Error"));
    }
}

#[test]
fn a_moderate_share_of_errors_is_one_incident() {
    let incident = only(&found(failing(100.0, 160.0, 0.05, 0.002)), 100.0, Some(160.0));
    assert!((4.0..6.0).contains(&incident.error_percent.unwrap()), "{incident:?}");
    assert!(incident.p95_ms.is_none() && incident.all_labels, "{incident:?}");
}

#[test]
fn one_label_that_fails_is_one_incident() {
    let incidents = found(|row, _| {
        row.success = !(row.label == "login" && row.at_s > 100.0 && row.at_s < 160.0);
        true
    });
    let incident = only(&incidents, 100.0, Some(160.0));
    assert_eq!(incident.labels, ["login"]);
}

#[test]
fn an_incident_of_a_fast_label_is_found_beside_a_slow_label() {
    let incidents = found(|row, _| {
        let is_slow = row.at_s > 100.0 && row.at_s < 160.0;
        row.ms *= match row.label {
            "buy" => 10.0,
            "home" => {
                if is_slow {
                    2.0
                } else {
                    0.1
                }
            }
            _ => 1.0,
        };
        true
    });
    let incident = only(&incidents, 100.0, Some(160.0));
    assert_eq!(incident.labels, ["home"]);
    assert!(incident.p95_factor.unwrap() > 15.0, "{incident:?}");
}

#[test]
fn a_lower_rate_at_an_unchanged_number_of_users_is_found() {
    let incident = only(&found(|row, random| row.at_s <= 200.0 || random.uniform() <= 0.3), 200.0, None);
    assert!((0.25..0.35).contains(&incident.rate_factor.unwrap()), "{incident:?}");
}

#[test]
fn a_drift_is_a_caveat() {
    let summary = summary(
        &rows(|row, _| {
            row.ms *= 1.0 + 2.0 * row.at_s / LENGTH_S;
            true
        }),
        None,
    );
    assert!(summary.incidents.is_empty(), "{:#?}", summary.incidents);
    let drift = summary.caveats.iter().find_map(|reported| match &reported.caveat {
        Caveat::Unsteady(drift) => Some(drift.clone()),
        _ => None,
    });
    let Some(Unsteady::Drift { from_ms, to_ms }) = drift else { panic!("{drift:?}") };
    assert!((80.0..130.0).contains(&from_ms) && (250.0..320.0).contains(&to_ms), "{from_ms} {to_ms}");
}

#[test]
fn late_responses_after_the_last_start_are_no_incident() {
    let incidents = found(|row, random| {
        if row.at_s > 292.0 && random.uniform() < 0.004 {
            row.ms = 15_000.0;
        }
        true
    });
    assert!(incidents.is_empty(), "{incidents:#?}");
}

#[test]
fn groups_of_errors_at_a_constant_rate_are_no_incident() {
    let mut left = 0;
    let incidents = found(|row, random| {
        if left == 0 && random.uniform() < 1.0 / 500.0 {
            left = 5;
        }
        row.success = left == 0;
        left = left.max(1) - 1;
        true
    });
    assert!(incidents.is_empty(), "{incidents:#?}");
}

#[test]
fn seconds_outside_of_the_measured_part_are_not_searched() {
    let rows = rows(|row, _| {
        row.ms *= if row.at_s > 40.0 && row.at_s < 70.0 { 4.0 } else { 1.0 };
        true
    });
    only(&summary(&rows, None).incidents, 40.0, Some(70.0));
    let part = summary(&rows, Some((100.0, 300.0)));
    assert!(part.incidents.is_empty(), "{:#?}", part.incidents);
}

#[test]
fn a_warm_up_is_not_an_incident() {
    let rows = rows(|row, _| {
        row.ms *= 1.0 + (-row.at_s / 15.0).exp();
        true
    });
    let whole = summary(&rows, None);
    assert!(whole.incidents.is_empty(), "{:#?}", whole.incidents);
    let steady = steady_part(&whole.series, &whole.incidents);
    let part = summary(&rows, steady.window_s);
    assert!(part.incidents.is_empty(), "{:#?}", part.incidents);
}

#[test]
fn incidents_are_not_excluded_from_the_steady_part() {
    let slower = summary(&rows(slower(120.0, 1e9)), None);
    let steady = steady_part(&slower.series, &slower.incidents);
    assert_eq!(steady.window_s, None, "{}", steady.reason);
    assert!(steady.reason.contains("the run is not steady: from 1"), "{}", steady.reason);
    let failing = summary(&rows(failing(180.0, 1e9, 1.0, 0.0)), None);
    let steady = steady_part(&failing.series, &failing.incidents);
    assert_eq!(steady.window_s, None, "{}", steady.reason);
    assert!(steady.reason.contains("100 % of the requests failed"), "{}", steady.reason);
}

#[test]
fn reasons_for_parts_that_are_not_searched_are_reported() {
    let short: Vec<Row> = rows(|row, _| row.at_s < 15.0);
    let summary_of_short = summary(&short, None);
    let reasons: Vec<String> = summary_of_short.not_searched.iter().map(ToString::to_string).collect();
    assert_eq!(
        reasons,
        ["not searched: 13 whole seconds are too few to compare parts of the run (20 are needed)"]
    );
    let few = summary(&rows(|_, random| random.uniform() < 0.01), None);
    let reasons: Vec<String> = few.not_searched.iter().map(ToString::to_string).collect();
    assert!(reasons[0].starts_with("only errors and pauses were searched: "), "{reasons:?}");
    let whole = summary(&rows(|_, _| true), None);
    assert!(whole.not_searched.is_empty(), "{:?}", whole.not_searched);
}
