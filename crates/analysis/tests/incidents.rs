//! Incidents are found in synthetic runs with injected ones, and none in runs without.
//!
//! A run is simulated request by request: Poisson arrivals with three labels, which wait for one server or have independent
//! times. A fault multiplies service times or fails requests.

use busyhour_analysis::incidents::{Incident, incidents};
use busyhour_analysis::{Row, RunFacts, Summary};
use busyhour_record::{LabelId, Nanos, Recorder, RecorderConfig, Sample, SampleTimes};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

/// What happens to a simulated system.
#[derive(Clone, Copy, Default)]
struct Fault {
    from_s: f64,
    to_s: f64,
    /// Factor of service times.
    slower: f64,
    /// Probability that a request fails.
    fails: f64,
    /// Only this label, if any.
    label: Option<usize>,
}

struct System {
    seed: u64,
    length_s: f64,
    rate_per_s: f64,
    mean_ms: f64,
    /// Requests wait for one server; otherwise times are independent.
    queue: bool,
    /// Errors without a fault.
    errors: f64,
    fault: Option<Fault>,
}

const LABELS: [&str; 3] = ["home", "search", "buy"];

/// Runs a system and returns the summary's series and labels.
fn run(system: &System) -> Summary {
    let mut random = StdRng::seed_from_u64(system.seed);
    let config = RecorderConfig::default();
    let labels = config.labels.clone();
    let ids: Vec<LabelId> = LABELS.iter().map(|label| labels.intern(label)).collect();
    let (recorder, mut writers) = Recorder::start(config).unwrap();
    let exponential = |random: &mut StdRng, mean: f64| -mean * (1.0 - random.random::<f64>()).ln();
    let (mut now_s, mut free_s) = (0.0, 0.0_f64);
    let mut ended: Vec<(f64, f64, usize, bool)> = Vec::new();
    while now_s < system.length_s {
        now_s += exponential(&mut random, 1.0 / system.rate_per_s);
        let label = random.random_range(0..LABELS.len());
        let fault = system.fault.filter(|fault| {
            (fault.from_s..fault.to_s).contains(&now_s) && fault.label.is_none_or(|only| only == label)
        });
        let factor = fault.map_or(1.0, |fault| fault.slower.max(1.0));
        let service_s = exponential(&mut random, system.mean_ms / 1e3) * factor;
        let end_s = if system.queue {
            free_s = free_s.max(now_s) + service_s;
            free_s
        } else {
            now_s + system.mean_ms / 1e3 + service_s
        };
        let fails = random.random::<f64>() < system.errors + fault.map_or(0.0, |fault| fault.fails);
        ended.push((end_s, now_s, label, !fails));
    }
    ended.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (end_s, start_s, label, success) in ended {
        let at = |seconds: f64| Nanos((seconds * 1e9) as u64);
        let times = SampleTimes {
            start: at(start_s),
            intended: at(start_s),
            end: at(end_s),
            ..SampleTimes::default()
        };
        let sample = Sample {
            label: ids[label],
            times,
            success,
            error_count: u32::from(!success),
            ..Sample::default()
        };
        while writers[0].record(&sample).is_err() {
            writers[0].flush(at(end_s));
        }
    }
    drop(writers);
    Summary::new(RunFacts::default(), &recorder.finish())
}

fn found(system: &System) -> Vec<Incident> {
    let summary = run(system);
    let labels: &[Row] = &summary.labels;
    incidents(&summary.series, labels)
}

/// Twenty systems of different load, length and noise.
fn systems() -> Vec<System> {
    (0..20)
        .map(|at| System {
            seed: 100 + at,
            length_s: [120.0, 300.0, 600.0, 900.0][at as usize % 4],
            rate_per_s: [20.0, 50.0, 100.0, 200.0, 30.0][at as usize % 5],
            mean_ms: if at % 2 == 0 {
                0.5 * 1e3 / [20.0, 50.0, 100.0, 200.0, 30.0][at as usize % 5]
            } else {
                40.0
            },
            queue: at % 2 == 0,
            errors: if at % 3 == 0 { 0.01 } else { 0.0 },
            fault: None,
        })
        .collect()
}

#[test]
fn runs_without_a_fault_have_no_incident() {
    let all: Vec<(u64, Vec<Incident>)> = systems()
        .iter()
        .map(|system| (system.seed, found(system)))
        .filter(|(_, found)| !found.is_empty())
        .collect();
    assert!(all.is_empty(), "{all:#?}");
}

#[test]
fn every_injected_fault_is_found_and_nothing_else() {
    let mut wrong = Vec::new();
    for (at, mut system) in systems().into_iter().enumerate() {
        let from_s = (system.length_s * 0.4).round();
        let to_s = from_s + [15.0, 20.0, 30.0, 60.0][at % 4];
        let fault = match at % 3 {
            // A queue becomes unstable when its service takes more than twice as long.
            0 => Fault { from_s, to_s, slower: if system.queue { 1.8 } else { 3.0 }, ..Fault::default() },
            1 => Fault { from_s, to_s, fails: 0.3, ..Fault::default() },
            _ => Fault { from_s, to_s, slower: 2.5, fails: 0.2, label: None },
        };
        system.fault = Some(fault);
        let found = found(&system);
        let is_right = found.len() == 1 && {
            let incident = &found[0];
            let end_s = incident.to_s.unwrap_or(system.length_s);
            // The queue is longer for a while after the fault.
            (incident.from_s - from_s).abs() <= 12.0
                && end_s >= to_s - 8.0
                && (incident.error_percent.is_some() == (fault.fails > 0.0))
                && (fault.slower == 0.0 || incident.p95_factor.is_some())
        };
        if !is_right {
            wrong.push(format!("{} {from_s} to {to_s}: {found:#?}", system.seed));
        }
    }
    assert!(wrong.is_empty(), "{} of 20: {}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_lasting_change_has_no_end() {
    let mut system =
        System { length_s: 600.0, rate_per_s: 100.0, mean_ms: 20.0, queue: false, ..systems().remove(1) };
    system.fault = Some(Fault { from_s: 360.0, to_s: 1e9, slower: 2.0, ..Fault::default() });
    let found = found(&system);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((found[0].from_s - 360.0).abs() < 6.0 && found[0].to_s.is_none(), "{found:?}");
    assert!(found[0].all_labels && found[0].labels.is_empty(), "{found:?}");
}

#[test]
fn only_the_affected_labels_are_named() {
    let mut system =
        System { length_s: 600.0, rate_per_s: 150.0, mean_ms: 20.0, queue: false, ..systems().remove(1) };
    system.fault = Some(Fault { from_s: 200.0, to_s: 260.0, slower: 8.0, fails: 0.5, label: Some(1) });
    let found = found(&system);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].labels, ["search"], "{found:?}");
}
