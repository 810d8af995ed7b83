//! Lateness, discarded arrivals and waits in the verdict, and its serialization as JSON.

use busyhour_analysis::arrivals::{
    ArrivalContext, ArrivalVerdict, JudgedStarts, LatenessTally, RequestedProcess, TallySettings, judge,
};
use rand::Rng;
use rand_distr::Exp1;

use crate::streams::{generator, observe, poisson};

#[test]
fn the_verdict_includes_the_lateness_of_the_delivery() {
    let schedule = poisson(1_000.0, 40_000, 1);
    let mut random = generator(2);
    let mut late = LatenessTally::new();
    let mut delivered: Vec<u64> = schedule
        .iter()
        .map(|&at| {
            let actual = at + (14_000.0 * random.sample::<f64, _>(Exp1)) as u64;
            late.add(at, actual);
            actual
        })
        .collect();
    delivered.sort_unstable();
    let context = ArrivalContext {
        of: Some("Users".into()),
        scope: JudgedStarts::SessionStarts,
        requested_per_s: Some(1_000.0),
        lateness: late.finish(),
        discarded: Some(0),
        waited: Some(0),
        generator_busy: Some(0.12),
        ..ArrivalContext::default()
    };
    let found = judge(observe(&delivered, TallySettings::default()), RequestedProcess::Poisson, &context);
    assert_eq!(found.caveats, []);
    insta::assert_snapshot!(found.line, @"Arrivals: 1,004.4/s, CoV 1.00 ± 0.01: Poisson");
    insta::assert_snapshot!(found.details().last().unwrap(), @"lateness of starts: median 9.7 µs, p99 64.8 µs, max 164 µs");

    let again: ArrivalVerdict = serde_json::from_value(serde_json::to_value(&found).unwrap()).unwrap();
    assert_eq!(again, found);
}

#[test]
fn each_caveat_has_advice() {
    let mut late = LatenessTally::new();
    for at in 0..1_000_u64 {
        late.add(at * 1_000_000, at * 1_000_000 + 5_000 * at);
    }
    let context = ArrivalContext {
        requested_per_s: Some(1_500.0),
        lateness: late.finish(),
        discarded: Some(12),
        waited: Some(340),
        ..ArrivalContext::default()
    };
    let observed = observe(&poisson(1_000.0, 40_000, 3), TallySettings::default());
    let found = judge(observed, RequestedProcess::Poisson, &context);
    let reported: Vec<String> =
        found.caveats.iter().map(|caveat| format!("{}: {}", caveat.message, caveat.advice)).collect();
    insta::assert_snapshot!(reported.join("\n"), @r"
    the achieved rate is 1,003.7/s, the requested rate 1,500.0/s: arrivals waited for users that waited for the system under test: allow more users (--no-free-user 'grow to N')
    starts were late by 2.5 ms at the median and 4.9 ms at p99: use response times instead of service times, because they count from the intended start; use more cores or a less busy machine
    12 arrivals found no free user and were discarded: allow more users: the load was lower than requested exactly when the system under test was slow
    340 arrivals waited for a free user: allow more users; response times include this wait, but the requests reached the system under test later than scheduled
    ");
    let json = serde_json::to_value(&found.caveats[2]).unwrap();
    assert_eq!((json["code"].as_str(), json["doubt"].as_str()), (Some("arrivals"), Some("dropped")));
    let again: ArrivalVerdict = serde_json::from_value(serde_json::to_value(&found).unwrap()).unwrap();
    assert_eq!(again, found);
}

#[test]
fn verdicts_on_few_or_no_arrivals_round_trip_through_json() {
    for n in [0, 1, 2, 5, 50] {
        let observed = observe(&poisson(10.0, n, 4), TallySettings::default());
        let found = judge(observed, RequestedProcess::Unknown, &ArrivalContext::default());
        let again: ArrivalVerdict = serde_json::from_value(serde_json::to_value(&found).unwrap()).unwrap();
        assert_eq!(again, found);
    }
}

#[test]
fn arrivals_that_do_not_follow_their_schedule_are_rejected() {
    // The rate of a replayed file may change; this does not affect the verdict.
    let mut schedule: Vec<u64> = poisson(1_000.0, 40_000, 5);
    let last = schedule[39_999];
    schedule.extend(poisson(200.0, 4_000, 6).iter().map(|at| at - 5_000_000_000 + last));
    let planned = observe(&schedule, TallySettings::default().judging_all());
    let context = ArrivalContext { schedule: Some(&planned), ..ArrivalContext::default() };
    let late: Vec<u64> = schedule.iter().map(|at| at + 10_000).collect();
    let found =
        judge(observe(&late, TallySettings::default().judging_all()), RequestedProcess::Replay, &context);
    insta::assert_snapshot!(found.line, @"Arrivals: 727.8/s, CoV 1.55 ± 0.09: a replay, as requested");
    // All starts are delayed to the next multiple of 5 ms.
    let delivered: Vec<u64> = schedule.iter().map(|at| at.div_ceil(5_000_000) * 5_000_000).collect();
    let found = judge(
        observe(&delivered, TallySettings::default().judging_all()),
        RequestedProcess::Replay,
        &context,
    );
    let both: Vec<String> = found.details().into_iter().filter(|line| line.starts_with("as ")).collect();
    insta::assert_snapshot!(both.join("\n"), @r"
    as scheduled: CoV 1.555, 4.4 % of the gaps < 50 µs, dispersion 1.190 per 1 ms, dispersion 2.928 per 10 ms, dispersion 19.943 per 0.1 s, dispersion 187.211 per 1 s
    as delivered: CoV 2.026, 76 % of the gaps < 50 µs, dispersion 4.874 per 1 ms, dispersion 2.888 per 10 ms, dispersion 19.948 per 0.1 s, dispersion 187.289 per 1 s
    ");
    insta::assert_snapshot!(found.line, @"Arrivals: 727.9/s, CoV 2.03 ± 0.05: a replay was requested and scheduled (CoV 1.55), and not delivered: CoV 2.03, dispersion 4.87 over 1 ms, expected 0.93 to 1.51");
}
