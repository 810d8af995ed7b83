//! Simulates a run and explains it.

use busyhour_analysis::explanation::{Cause, Explanation};
use busyhour_analysis::{RunFacts, Summary};
use busyhour_explain::{Observations, Requests, Signal, TimedRequest, explain};
use busyhour_sample::{Aggregator, Labels, Nanos, Sample, SampleOutcome, SampleTimes, TotalsSettings};

use crate::background::{Random, signals};
use crate::kinds::{FaultShape, Kind, Times};

/// Slices of the simulated state.
pub const SLICE_S: f64 = 0.02;

/// Median response time without a fault, in s.
const MEDIAN_S: f64 = 0.02;

/// A fault multiplies response times by this number: it moves the median to twice the usual 95th percentile.
const FACTOR: f64 = 5.4;

/// The explanation of a simulated run.
pub fn explanation_of(kind: &Kind, seed: u64) -> Explanation {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9).wrapping_add(kind.length_s));
    let shape = kind.fault.map(|(_, shape)| shape).or(kind.hidden);
    let intervals = shape.map_or(Vec::new(), |shape| intervals(&mut random, shape, kind.length_s as f64));
    let requests = requests(&mut random, kind, shape, &intervals);
    let load = load_of(&requests, kind.length_s as f64);
    let faulty = match kind.fault {
        Some(_) => covered(&intervals, load.len()),
        None => vec![0.0; load.len()],
    };
    let fault = kind.fault.map(|(cause, _)| cause);
    let mut signals = signals(&mut random, (&load, &faulty, SLICE_S), kind.reading_s, fault);
    signals.push(pauses(&mut random, kind, fault, &intervals));
    let incidents = incidents(&requests, kind.length_s as f64);
    let mut set = Requests::default();
    for (start_s, response_s) in &requests {
        set.add(TimedRequest {
            start: Nanos((start_s * 1e9) as u64),
            response_ns: (response_s * 1e9) as u64,
            label: 0,
        });
    }
    explain(&Observations {
        requests: &set,
        part: (0, kind.length_s * 1_000_000_000),
        is_open: true,
        signals,
        cpu: None,
        incidents,
        generator: None,
        arrivals: None,
        leak: None,
    })
    .unwrap()
}

/// The rate of requests in each slice as a share of its mean.
pub fn load_of(requests: &[(f64, f64)], length_s: f64) -> Vec<f64> {
    let slices = (length_s / SLICE_S).round() as usize;
    let mut load = vec![0.0; slices];
    let mean = requests.len() as f64 / slices as f64;
    for (start_s, _) in requests {
        load[(start_s / SLICE_S) as usize] += 1.0 / mean;
    }
    load
}

/// The times in which a cause of this shape is present.
fn intervals(random: &mut Random, shape: FaultShape, length_s: f64) -> Vec<(f64, f64)> {
    let mut train = |distance_s: f64, low_s: f64, high_s: f64| {
        let mut intervals = Vec::new();
        let mut at_s = random.exponential(distance_s);
        while at_s < length_s {
            let end_s = at_s + low_s + (high_s - low_s) * random.uniform();
            intervals.push((at_s, end_s.min(length_s)));
            at_s = end_s + random.exponential(distance_s);
        }
        intervals
    };
    match shape {
        FaultShape::Pauses => train(2.0, 0.06, 0.18),
        FaultShape::Windows | FaultShape::Third => train(25.0, 2.0, 4.0),
        FaultShape::Block => {
            let from_s = (0.15 + 0.5 * random.uniform()) * length_s;
            vec![(from_s, from_s + 0.2 * length_s)]
        }
        FaultShape::Whole => vec![(0.0, length_s)],
    }
}

/// The share of each slice that the intervals cover.
fn covered(intervals: &[(f64, f64)], slices: usize) -> Vec<f64> {
    let mut covered = vec![0.0; slices];
    for (from_s, to_s) in intervals {
        let last = ((to_s / SLICE_S) as usize).min(slices - 1);
        for (slice, share) in covered.iter_mut().enumerate().take(last + 1).skip((from_s / SLICE_S) as usize)
        {
            let start_s = slice as f64 * SLICE_S;
            *share += ((to_s.min(start_s + SLICE_S) - from_s.max(start_s)) / SLICE_S).max(0.0);
        }
    }
    covered
}

/// Intended starts and response times in s.
fn requests(
    random: &mut Random,
    kind: &Kind,
    shape: Option<FaultShape>,
    intervals: &[(f64, f64)],
) -> Vec<(f64, f64)> {
    let length_s = kind.length_s as f64;
    let mut level = 0.0;
    let (mut second, mut free_s) = (0, 0.0f64);
    let (mut at_s, mut next) = (0.0, 0);
    let mut requests = Vec::new();
    loop {
        let rate = kind.rate_per_s * (1.0 + kind.diurnal * (std::f64::consts::TAU * at_s / length_s).sin());
        at_s += random.exponential(1.0 / rate);
        if at_s >= length_s {
            return requests;
        }
        while second < at_s as u64 {
            second += 1;
            if let Times::Wandering(correlation) = kind.times {
                level = correlation * level + (1.0 - correlation * correlation).sqrt() * random.normal();
            }
        }
        while intervals.get(next).is_some_and(|(_, to_s)| *to_s <= at_s) {
            next += 1;
        }
        let inside = intervals.get(next).filter(|(from_s, _)| *from_s <= at_s);
        let own = match kind.times {
            Times::Independent => MEDIAN_S * (0.6 * random.normal()).exp(),
            Times::Wandering(_) => MEDIAN_S * (0.5 * random.normal() + 0.3 * level).exp(),
            Times::HeavyTail => MEDIAN_S * 0.63 * (1.0 - random.uniform()).powf(-1.0 / 1.5),
            Times::Queue => {
                let begins = free_s.max(at_s);
                free_s = begins + random.exponential(0.8 / kind.rate_per_s);
                free_s - at_s
            }
        };
        let response = match (inside, shape) {
            // Requests wait for the end of the pause; some queue up after it.
            (Some((_, to_s)), Some(FaultShape::Pauses)) => to_s - at_s + own + random.exponential(0.01),
            (Some(_), Some(FaultShape::Third)) if random.uniform() > 1.0 / 3.0 => own,
            (Some(_), _) => own * FACTOR,
            (None, _) => own,
        };
        requests.push((at_s, response.min(30.0)));
    }
}

/// The pauses of a collector: those of the fault, or short ones that slow down no request.
fn pauses(random: &mut Random, kind: &Kind, fault: Option<Cause>, intervals: &[(f64, f64)]) -> Signal {
    let mut pauses: Vec<(u64, u64)> = Vec::new();
    let ns = |seconds: f64| (seconds * 1e9) as u64;
    if fault == Some(Cause::GcPauses) {
        pauses.extend(intervals.iter().map(|(from_s, to_s)| (ns(*from_s), ns(*to_s))));
    } else {
        // The distance is nearly constant, because the load is.
        let mut at_s = random.uniform() * 1.5;
        while at_s < kind.length_s as f64 {
            pauses.push((ns(at_s), ns(at_s + 0.004 + 0.01 * random.uniform())));
            at_s += 1.5 * (1.0 + 0.05 * random.normal());
        }
    }
    let end = kind.length_s * 1_000_000_000;
    Signal::of_intervals((Cause::GcPauses, "gc:gc.log", "paused"), &pauses, ns(MEDIAN_S), (0, end))
}

/// The incidents that the analysis finds.
pub fn incidents(requests: &[(f64, f64)], length_s: f64) -> Vec<(u64, u64)> {
    let labels = Labels::new();
    let mut aggregator = Aggregator::new(labels.clone(), TotalsSettings::default());
    let label = labels.intern("request");
    let mut by_end: Vec<&(f64, f64)> = requests.iter().collect();
    by_end.sort_by(|a, b| (a.0 + a.1).total_cmp(&(b.0 + b.1)));
    for (start_s, response_s) in by_end {
        let start = Nanos((start_s * 1e9) as u64);
        let times = SampleTimes {
            intended: start,
            start,
            end: Nanos(((start_s + response_s) * 1e9) as u64),
            ..SampleTimes::default()
        };
        aggregator.add(&Sample {
            label,
            times,
            outcome: SampleOutcome::new("200", "OK", true),
            ..Sample::default()
        });
        while let Some(second) = aggregator.next_closed() {
            aggregator.recycle(second);
        }
    }
    aggregator.close_all();
    let summary = Summary::new(RunFacts::default(), &aggregator.finish(Vec::new()));
    let ns = |seconds: f64| (seconds * 1e9) as u64;
    summary
        .incidents
        .iter()
        .map(|incident| (ns(incident.from_s), ns(incident.to_s.unwrap_or(length_s).min(length_s))))
        .collect()
}
