//! Tests the coverage of the confidence intervals of comparisons with simulated runs, whose samples are autocorrelated and which
//! vary from run to run.

use busyhour_analysis::RunFacts;
use busyhour_analysis::comparison::{
    Comparison, ComparisonSettings, Measure, MeasuredRun, RunTally, TalliedSample, Verdict,
};
use busyhour_sample::SampleKind;
use rand::{Rng, SeedableRng};
use rand_distr::{Exp1, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

type Random = Xoshiro256PlusPlus;

/// Parameters of simulated runs.
#[derive(Clone, Copy)]
struct System {
    /// Factor of all times.
    factor: f64,
    /// Standard deviation of the logarithm of times from run to run.
    between: f64,
    /// Correlation of the load in consecutive seconds; the load affects times and rate.
    correlation: f64,
    length_s: f64,
    labels: u32,
}

const SYSTEM: System = System { factor: 1.0, between: 0.0, correlation: 0.6, length_s: 120.0, labels: 1 };

/// A run with about 20 requests per second. The logarithm of a time is the sum of effects of the run, the second and the request.
fn run(system: &System, random: &mut Random, bootstrap: bool) -> MeasuredRun {
    let normal = |random: &mut Random| random.sample::<f64, _>(StandardNormal);
    let of_run = system.between * normal(random);
    let mut tally = RunTally::new(None);
    let (mut at_s, mut second, mut load) = (0.0, 0.0, normal(random));
    loop {
        let rate = 20.0 * (0.2_f64 * load).exp();
        at_s += random.sample::<f64, _>(Exp1) / rate;
        if at_s >= system.length_s {
            break;
        }
        while second + 1.0 <= at_s {
            second += 1.0;
            load = system.correlation * load + (1.0 - system.correlation.powi(2)).sqrt() * normal(random);
        }
        let log = of_run + 0.15 * load + 0.5 * normal(random);
        let time_ns = (system.factor * 50e6 * log.exp()) as u64;
        let end_ns = (at_s * 1e9) as i64;
        tally.add(&TalliedSample {
            label: random.random_range(0..system.labels),
            kind: SampleKind::Request,
            start_ns: end_ns - time_ns as i64,
            end_ns,
            time_ns,
            samples: 1,
            errors: u32::from(random.random::<f64>() < 0.02),
            user: None,
        });
    }
    let random = bootstrap.then_some(random);
    MeasuredRun::new("run".into(), RunFacts::default(), tally, 1e-6, |at| format!("label {at}"), random)
        .unwrap()
}

fn compare(base: &System, new: &System, runs: (usize, usize), bootstrap: bool, seed: u64) -> Comparison {
    let mut random = Random::seed_from_u64(seed);
    let mut side = |system, runs| -> Vec<MeasuredRun> {
        (0..runs).map(|_| run(system, &mut random, bootstrap)).collect()
    };
    let (base, new) = (side(base, runs.0), side(new, runs.1));
    Comparison::new(&base, &new, ComparisonSettings::default(), Vec::new()).unwrap()
}

/// The tested measures, without the 99th percentile, for which many of these runs are too short.
const MEASURES: [Measure; 5] =
    [Measure::Mean, Measure::P50, Measure::P95, Measure::Throughput, Measure::ErrorShare];

/// The coverage of the 95 % interval of each measure of the total: the share of replicates in which the interval contains the
/// true difference, 0.
fn coverage(system: &System, runs: (usize, usize), bootstrap: bool, replicates: u64) -> Vec<(Measure, f64)> {
    let mut covered = [0_u64; MEASURES.len()];
    for seed in 0..replicates {
        let comparison = compare(system, system, runs, bootstrap, seed);
        for (covered, measure) in covered.iter_mut().zip(MEASURES) {
            let p = comparison.total.effect(measure).and_then(|effect| effect.p_value);
            *covered += u64::from(p.unwrap_or_else(|| panic!("{measure:?} cannot be compared")) > 0.05);
        }
    }
    MEASURES.into_iter().zip(covered.map(|covered| covered as f64 / replicates as f64)).collect()
}

/// Three standard errors of a share of 0.95 estimated from `replicates` replicates.
fn monte_carlo(replicates: u64) -> f64 {
    3.0 * (0.95 * 0.05 / replicates as f64).sqrt()
}

#[test]
fn intervals_from_one_run_each_cover_the_effect_if_runs_do_not_vary() {
    let replicates = 100;
    for (measure, share) in coverage(&SYSTEM, (1, 1), true, replicates) {
        assert!(share >= 0.95 - monte_carlo(replicates), "{measure:?} {share}");
    }
}

#[test]
fn intervals_from_one_run_each_miss_the_effect_if_runs_vary_and_a_caveat_is_raised() {
    let system = System { between: 0.1, ..SYSTEM };
    let coverage = coverage(&system, (1, 1), true, 40);
    let mean = coverage.iter().find(|(measure, _)| *measure == Measure::Mean).unwrap().1;
    assert!(mean < 0.75, "{mean}");
    let comparison = compare(&system, &system, (1, 1), true, 1);
    assert!(comparison.caveats.iter().any(|caveat| caveat.message.contains("one run on each side")));
}

#[test]
fn intervals_from_several_runs_cover_the_effect_whether_or_not_runs_vary() {
    let replicates = 250;
    for between in [0.0, 0.1] {
        for runs in [(2, 2), (5, 3)] {
            let system = System { between, length_s: 30.0, ..SYSTEM };
            for (measure, share) in coverage(&system, runs, false, replicates) {
                assert!(share >= 0.95 - monte_carlo(replicates), "{between} {runs:?} {measure:?} {share}");
            }
        }
    }
}

#[test]
fn intervals_from_one_run_against_several_cover_the_effect() {
    let replicates = 250;
    let system = System { between: 0.1, length_s: 30.0, ..SYSTEM };
    for (measure, share) in coverage(&system, (4, 1), false, replicates) {
        assert!(share >= 0.95 - monte_carlo(replicates), "{measure:?} {share}");
    }
}

#[test]
fn reported_intervals_cover_a_true_effect() {
    let (replicates, factor) = (200, 1.12);
    let base = System { between: 0.03, length_s: 30.0, ..SYSTEM };
    let new = System { factor, ..base };
    let measures = [Measure::Mean, Measure::P50, Measure::P95];
    let (mut covered, mut confidence) = ([0_u64; 3], [0.0; 3]);
    for seed in 0..replicates {
        let comparison = compare(&base, &new, (4, 4), false, seed);
        for (at, measure) in measures.into_iter().enumerate() {
            let effect = comparison.total.effect(measure).unwrap();
            let ratio = effect.ratio.unwrap();
            covered[at] += u64::from(ratio.low.unwrap() <= factor && factor <= ratio.high.unwrap());
            confidence[at] += effect.confidence / replicates as f64;
        }
    }
    for (covered, confidence) in covered.into_iter().zip(confidence) {
        let share = covered as f64 / replicates as f64;
        assert!(share >= confidence - monte_carlo(replicates), "{share} {confidence}");
    }
}

#[test]
fn a_slower_system_is_reported_as_slower_and_an_equal_one_as_alike() {
    let base = System { between: 0.01, ..SYSTEM };
    let slower = compare(&base, &System { factor: 1.3, ..base }, (5, 5), false, 7);
    let verdict = |comparison: &Comparison, measure| comparison.total.effect(measure).unwrap().verdict;
    assert_eq!(verdict(&slower, Measure::Mean), Verdict::Worse);
    assert_eq!(verdict(&slower, Measure::P95), Verdict::Worse);
    let faster = compare(&System { factor: 1.3, ..base }, &base, (5, 5), false, 7);
    assert_eq!(verdict(&faster, Measure::Mean), Verdict::Better);
    // Equal systems show no difference. With enough runs, the verdict is that they are alike.
    let equal = compare(&base, &base, (12, 12), false, 7);
    assert_eq!(equal.count(Verdict::Worse) + equal.count(Verdict::Better), 0);
    assert_eq!(verdict(&equal, Measure::Mean), Verdict::Equivalent);
}

#[test]
fn with_many_labels_false_differences_are_rare() {
    let system = System { between: 0.03, length_s: 30.0, labels: 12, ..SYSTEM };
    let replicates = 80;
    let false_alarms = (0..replicates)
        .filter(|seed| {
            let comparison = compare(&system, &system, (3, 3), false, *seed);
            comparison.label_tests.differences > 0
        })
        .count();
    // There is no true difference, so at most one of twenty comparisons may report a difference. Then the probability that
    // more than 11 of 80 do so is below one in five hundred.
    assert!(false_alarms <= 11, "{false_alarms}");
}
