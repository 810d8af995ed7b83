use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use busyhour_sample::Nanos;
use busyhour_series::{MetricKind, SeriesData, SeriesInfo, SeriesPoint};

use super::*;
use crate::request_times::TimedRequest;
use crate::signals::{AWAITING, CONNECTIONS};

/// Blocks with rates from `low` to `high`, a background of 0.05, a demand of 1 ms, and noise that is correlated from block to block.
fn blocks(seed: u64, count: usize, (low, high): (f64, f64), noise: f64) -> Vec<Block> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut normal = || {
        let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
        radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
    };
    let mut level = 0.0;
    (0..count)
        .map(|at| {
            let rate_per_s = (low + (high - low) * at as f64 / count as f64) * (1.0 + 0.02 * normal());
            level = 0.3 * level + 0.95 * normal();
            Block { rate_per_s, used: 0.05 + 0.001 * rate_per_s + noise * level }
        })
        .collect()
}

#[test]
fn a_line_gives_background_demand_and_saturation() {
    let line = Line::fit(&blocks(1, 30, (100.0, 400.0), 0.0)).unwrap();
    assert!(line.has_background && (line.background - 0.05).abs() < 1e-9, "{line:?}");
    let (load, interval) = line.reaches(1.0).unwrap();
    assert!((load - 950.0).abs() < 1e-6, "{load}");
    let (low, high) = interval.unwrap();
    assert!(low <= load + 1e-6 && high.unwrap() >= load - 1e-6);
    let falling: Vec<Block> = (0..10)
        .map(|at| Block { rate_per_s: f64::from(at) * 10.0, used: 0.5 - f64::from(at) * 0.01 })
        .collect();
    assert_eq!(Line::fit(&falling).unwrap().reaches(1.0), None, "the use falls with the load");
}

/// The share of 200 intervals that contain the true load of saturation, and their mean width as a share of it.
#[test]
fn intervals_contain_the_true_load() {
    const SEEDS: u64 = 200;
    let mut table = String::new();
    for (rates, count, noise) in [
        ((100.0, 400.0), 30, 0.02),
        ((100.0, 400.0), 10, 0.02),
        ((200.0, 400.0), 30, 0.05),
        ((20.0, 60.0), 30, 0.02),
    ] {
        let (mut covered, mut width, mut bounded) = (0, 0.0, 0);
        for seed in 0..SEEDS {
            let line = Line::fit(&blocks(seed, count, rates, noise)).unwrap();
            match line.reaches(1.0) {
                Some((_, Some((low, high)))) => {
                    covered += u64::from(low <= 950.0 && high.is_none_or(|high| high >= 950.0));
                    width += high.map_or(0.0, |high| (high - low) / 950.0);
                    bounded += 1;
                }
                // A missing claim is not wrong.
                _ => covered += 1,
            }
        }
        table += &format!(
            "| {:.0} to {:.0}/s | {count} | {noise} | {:.1} % | {:.0} % |\n",
            rates.0,
            rates.1,
            covered as f64 / SEEDS as f64 * 100.0,
            width / f64::from(bounded.max(1)) * 100.0
        );
    }
    // The table of docs/explanations.md.
    assert_eq!(
        table,
        "| 100 to 400/s | 30 | 0.02 | 92.5 % | 17 % |\n\
         | 100 to 400/s | 10 | 0.02 | 92.0 % | 32 % |\n\
         | 200 to 400/s | 30 | 0.05 | 91.0 % | 88 % |\n\
         | 20 to 60/s | 30 | 0.02 | 94.5 % | 472 % |\n"
    );
}

#[test]
fn the_sentence_names_the_first_resource_and_the_next() {
    let load = |resource: &str, utilization: f64, at: Option<f64>| ResourceLoad {
        resource: resource.to_owned(),
        source: "os".to_owned(),
        utilization,
        background: 0.0,
        demand_ms: Some(1.0),
        saturation_per_s: at,
        interval_per_s: at.map(|at| (at * 0.9, Some(at * 1.1))),
        reason: None,
    };
    let load = |resource: &str, utilization: f64, at: Option<f64>| JudgedLoad {
        state: if utilization >= SATURATED { LoadState::Saturated } else { LoadState::Free },
        load: load(resource, utilization, at),
    };
    let loads = [load("disk vda", 0.4, Some(640.0)), load("the CPU time of the machine", 0.2, Some(1_250.0))];
    assert_eq!(
        sentence(&loads, 250.0),
        "If the load grows, disk vda saturates first, at about 640/s (576/s to 704/s): 40 % were in use at 250/s; the next one is \
         the CPU time of the machine, at about 1250/s (1125/s to 1375/s)."
    );
    assert_eq!(
        sentence(&[load("disk vda", 0.97, Some(640.0))], 620.0),
        "Disk vda was saturated: 97 % in use at 620/s."
    );
    assert!(sentence(&[load("disk vda", 0.01, None)], 620.0).starts_with("No observed resource"));
}

const SECOND: u64 = 1_000_000_000;

/// A process with a pool of two connections to a database. In each second, the connections await a response for the given mean
/// number of connections, and requests of 1 s start at the given rate.
fn pool(seconds: &[(f64, u64)]) -> (SeriesSet, Requests) {
    let series = |name: &str, value: &dyn Fn(f64) -> f64| SeriesData {
        info: SeriesInfo {
            source: 0,
            name: name.to_owned(),
            labels: vec![("peer".to_owned(), "127.0.0.1:5432".to_owned())],
            kind: MetricKind::Gauge,
            help: String::new(),
        },
        points: seconds
            .iter()
            .enumerate()
            .map(|(at, (awaiting, _))| {
                let (at, value) = (Nanos(at as u64 * SECOND + SECOND / 2), value(*awaiting));
                SeriesPoint { from: at, to: at, mean: value, min: value, max: value }
            })
            .collect(),
        last: None,
        increase: 0.0,
        resets: 0,
    };
    let set = SeriesSet {
        sources: vec!["process:7".to_owned()],
        series: vec![series(CONNECTIONS, &|_| 2.0), series(AWAITING, &|awaiting| awaiting)],
        ..SeriesSet::default()
    };
    let mut requests = Requests::default();
    for (at, (_, rate)) in seconds.iter().enumerate() {
        for number in 0..*rate {
            let start = Nanos(at as u64 * SECOND + number * SECOND / rate);
            requests.add(TimedRequest { start, response_ns: SECOND, label: 0 });
        }
    }
    (set, requests)
}

#[test]
fn an_exhausted_pool_is_not_extrapolated() {
    let seconds: Vec<(f64, u64)> = (0..60).map(|at| if at % 3 == 0 { (2.0, 9) } else { (0.2, 9) }).collect();
    let (set, requests) = pool(&seconds);
    let found = saturation(&set, &requests, (0, 60 * SECOND)).unwrap();
    assert_eq!(
        found.sentence,
        "The pool of 2 connections of process:7 to 127.0.0.1:5432 was exhausted: requests waited for it in 33 % of the time, at up \
         to 9.00/s."
    );
    assert_eq!((found.resources[0].saturation_per_s, found.resources[0].interval_per_s), (None, None));
}

#[test]
fn a_use_that_falls_with_the_load_has_no_demand() {
    let seconds: Vec<(f64, u64)> = (0..60).map(|at| if at < 30 { (0.8, 1) } else { (0.4, 2) }).collect();
    let (set, requests) = pool(&seconds);
    let found = saturation(&set, &requests, (0, 60 * SECOND)).unwrap();
    let load = &found.resources[0];
    assert_eq!((load.demand_ms, load.saturation_per_s), (None, None), "{load:?}");
    assert_eq!(load.reason.as_deref(), Some("its use does not grow with the load"));
}
