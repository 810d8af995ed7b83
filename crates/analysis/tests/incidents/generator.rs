//! Tests that delays of the generator are attributed to the generator, both in incidents and in the verdict on the
//! generator.

use busyhour_analysis::incidents::IncidentCause;
use busyhour_analysis::{GeneratorState, RunFacts, Summary, generator_mark};
use busyhour_sample::{ArrivalCounts, CoreFacts, GeneratorFacts, Stall};

use crate::recorded::{Request, summary};
use crate::simulate::Random;

/// Requests of a fast system for 40 s. Each starts late by `late_s` of its intended start.
fn requests(late_s: impl Fn(f64) -> f64) -> Vec<Request> {
    let mut random = Random::new(7);
    let mut at_s = 0.0;
    let mut found = Vec::new();
    while at_s < 40.0 {
        at_s += random.exponential(1.0 / 200.0);
        let start_s = at_s + late_s(at_s);
        let end_s = start_s + 0.002 * random.lognormal(0.4);
        found.push(Request { intended_s: at_s, start_s, end_s, label: 0, success: true, users: 50 });
    }
    found
}

/// The facts of a generator that was hardly busy.
fn idle() -> RunFacts {
    let core = CoreFacts { busy: Some(0.02), busy_second_max: Some(0.1), ..CoreFacts::default() };
    RunFacts {
        generator: GeneratorFacts { cores: vec![core], ..GeneratorFacts::default() },
        ..RunFacts::default()
    }
}

fn state(summary: &Summary) -> (GeneratorState, String) {
    let mark = generator_mark(summary);
    (mark.state, mark.words)
}

#[test]
fn a_stall_of_the_generator_is_no_incident_of_the_system() {
    let late = requests(|at_s| if (18.0..22.6).contains(&at_s) { 22.6 - at_s } else { 0.0 });
    let mut facts = idle();
    let stall = Stall { core: None, at_ns: 18_000_000_000, length_ns: 4_600_000_000 };
    facts.generator.stalls = vec![stall];
    let summary = summary(&late, 1, true, facts);
    assert!(!summary.incidents.is_empty(), "the pause is an incident");
    for incident in &summary.incidents {
        let cause = incident.cause;
        assert!(
            matches!(cause, Some(IncidentCause::GeneratorStalled { seconds }) if (seconds - 4.6).abs() < 0.01),
            "{incident:?}"
        );
        // Requests ended in seconds 18 and 22.
        assert_eq!((incident.pause_s, incident.rate_per_s), (Some(3.0), None), "{incident:?}");
        assert!(incident.longest_ms.is_some_and(|ms| (4_500.0..4_620.0).contains(&ms)), "{incident:?}");
    }
    assert_eq!(state(&summary).0, GeneratorState::Doubtful);
}

#[test]
fn a_system_that_stops_answering_has_a_pause_until_the_end_of_the_run() {
    let mut random = Random::new(3);
    let mut requests = Vec::new();
    for user in 0..50 {
        let mut at_s = f64::from(user) / 100.0;
        while at_s < 36.0 {
            let end_s = at_s + 0.05 * random.lognormal(0.4);
            requests.push(Request {
                intended_s: at_s,
                start_s: at_s,
                end_s,
                label: 0,
                success: true,
                users: 50,
            });
            at_s = end_s + random.exponential(0.1);
        }
    }
    let mut facts = RunFacts { duration_s: Some(60.0), ..idle() };
    facts.generator.interrupted_samples = 50;
    let stuck = summary(&requests, 1, false, facts.clone());
    assert_eq!(stuck.incidents.len(), 1, "{:?}", stuck.incidents);
    let incident = &stuck.incidents[0];
    assert!((35.0..38.0).contains(&incident.from_s) && incident.to_s.is_none(), "{incident:?}");
    assert!(
        incident.pause_s.is_some_and(|pause_s| pause_s >= 22.0) && incident.cause.is_none(),
        "{incident:?}"
    );
    // If the users had finished, there would be no pause.
    facts.generator.interrupted_samples = 1;
    let finished = summary(&requests, 1, false, facts);
    assert!(finished.incidents.is_empty(), "{:?}", finished.incidents);
}

#[test]
fn late_starts_are_attributed_to_the_generator() {
    let late = requests(|at_s| if (12.0..22.0).contains(&at_s) { 0.03 } else { 0.0 });
    let summary = summary(&late, 1, true, idle());
    assert_eq!(summary.incidents.len(), 1, "{:?}", summary.incidents);
    let incident = &summary.incidents[0];
    assert!(
        matches!(incident.cause, Some(IncidentCause::GeneratorLate { service_ms, .. }) if service_ms < 3.0),
        "{incident:?}"
    );
    assert_eq!(state(&summary).0, GeneratorState::Doubtful);
}

#[test]
fn a_pause_does_not_change_the_usual_values_of_another_incident() {
    // The system sends no responses from 10 s to 14 s; delayed requests end after 14 s. The generator is late from 25 s to 30 s.
    let mut requests = requests(|at_s| if (25.0..30.0).contains(&at_s) { 0.05 } else { 0.0 });
    for request in &mut requests {
        if (10.0..14.0).contains(&request.end_s) {
            request.end_s = 14.001;
        }
    }
    let summary = summary(&requests, 1, true, idle());
    let late = summary.incidents.iter().find(|incident| incident.from_s >= 24.0).unwrap();
    assert!(matches!(late.cause, Some(IncidentCause::GeneratorLate { .. })), "{late:?}");
    assert!(late.usual_p95_ms.is_some_and(|ms| ms < 10.0), "{late:?}");
    let pause = summary.incidents.iter().find(|incident| incident.pause_s.is_some()).unwrap();
    assert!(pause.cause.is_none(), "{pause:?}");
    assert_eq!(state(&summary).0, GeneratorState::Doubtful);
}

#[test]
fn changes_below_the_resolution_do_not_extend_a_pause() {
    // A fast system: response times are 0.07 ms until 15 s and 0.04 ms afterwards; no request ends from 8 s to 12 s.
    let mut random = Random::new(11);
    let mut requests = requests(|_| 0.0);
    for request in &mut requests {
        let usual_s = if request.start_s < 15.0 { 0.000_07 } else { 0.000_04 };
        request.end_s = request.start_s + usual_s * random.lognormal(0.3);
        if (8.0..12.0).contains(&request.end_s) {
            request.end_s = 12.001;
        }
    }
    let summary = summary(&requests, 1, true, idle());
    let [incident] = &summary.incidents[..] else { panic!("{:?}", summary.incidents) };
    assert!(incident.pause_s.is_some() && (7.0..=9.0).contains(&incident.from_s), "{incident:?}");
    assert!(incident.to_s.is_some_and(|to_s| to_s <= 14.0), "{incident:?}");
}

#[test]
fn late_starts_are_detected_below_a_slow_tail() {
    // A third of the requests start 20 ms late. A tenth have a service time of 5 s, which determines p95 and p99.
    let mut requests = requests(|at_s| if ((at_s * 1e3) as u64).is_multiple_of(3) { 0.02 } else { 0.0 });
    for request in requests.iter_mut().step_by(10) {
        request.end_s += 5.0;
    }
    let summary = summary(&requests, 1, true, idle());
    assert_eq!(state(&summary), (GeneratorState::Doubtful, "started requests late".to_owned()));
}

#[test]
fn arrivals_that_wait_for_users_are_not_attributed_to_the_generator() {
    let late = requests(|at_s| if (12.0..22.0).contains(&at_s) { 0.03 } else { 0.0 });
    let arrivals =
        ArrivalCounts { scheduled: 8_000, begun: 8_000, waited: 2_000, ..ArrivalCounts::default() };
    let facts = RunFacts { arrivals: Some(arrivals), ..idle() };
    let summary = summary(&late, 1, true, facts);
    let cause = summary.incidents[0].cause;
    assert!(matches!(cause, Some(IncidentCause::WaitedForUsers { .. })), "{cause:?}");
    assert_eq!(state(&summary).0, GeneratorState::WaitedForUsers);
}

#[test]
fn the_verdict_depends_on_percentiles_of_response_and_service_times() {
    let mark = |late_s: f64| {
        // Every tenth request starts late.
        let late = requests(|at_s| if ((at_s * 1e6) as u64).is_multiple_of(10) { late_s } else { 0.0 });
        state(&summary(&late, 1, true, idle()))
    };
    assert_eq!(mark(0.0), (GeneratorState::Fine, "not the bottleneck".to_owned()));
    // A delay of 0.1 ms in a tenth of the requests changes no conclusion.
    assert_eq!(mark(0.000_1).0, GeneratorState::Fine);
    assert_eq!(mark(0.012), (GeneratorState::Doubtful, "started requests late".to_owned()));
}
