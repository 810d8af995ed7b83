//! The error rates of experiments: how often an effect is claimed that does not exist, and which effects are found.
//!
//! By default, each kind is simulated a few times only, so the tests allow for chance. The bounds apply to 200 seeds and more:
//!
//! ```text
//! BUSYHOUR_STUDY_SEEDS=2000 cargo test --release -p busyhour-experiment --test study -- --nocapture --test-threads 1
//! ```

mod study {
    pub mod sequential;
    pub mod simulate;
}

use std::io::Write as _;

use busyhour_experiment::{
    AnalysisSettings, DesignKind, EffectKind, ResponseScale, TrialOrder, analyse, recovered_loss,
    smallest_effect,
};
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use study::sequential::{Repeated, repeat_until_narrow, stop_when_found};
use study::simulate::{Drift, Noise, Simulated, table};

/// The number of simulated experiments of each kind.
fn seeds() -> u64 {
    option_env!("BUSYHOUR_STUDY_SEEDS").and_then(|seeds| seeds.parse().ok()).unwrap_or(40)
}

/// One in twenty.
const ERROR: f64 = 0.05;

fn print(line: &str) {
    writeln!(std::io::stdout().lock(), "{line}").unwrap();
}

fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// Deviation of a share that chance exceeds once in 30,000 cases.
fn slack(share: f64) -> f64 {
    let n = seeds() as f64;
    4.0 * (share * (1.0 - share) / n).sqrt() + 1.0 / n
}

/// Why a share is above its bound.
fn above(name: &str, share: f64, bound: f64) -> Option<String> {
    (share > bound + slack(bound)).then(|| format!("{name}: {share} is above {bound}"))
}

/// Why a share is below its bound.
fn below(name: &str, share: f64, bound: f64) -> Option<String> {
    (share < bound - slack(bound)).then(|| format!("{name}: {share} is below {bound}"))
}

/// The share of experiments with this property.
fn share(is_counted: impl Fn(u64) -> bool) -> f64 {
    (0..seeds()).filter(|seed| is_counted(*seed)).count() as f64 / seeds() as f64
}

/// The share of paired experiments in which an increase is claimed, or any effect.
fn claimed(simulated: Simulated, slower: f64, increases_only: bool) -> f64 {
    share(|seed| {
        let design = simulated.design(DesignKind::Paired, &[2], seed);
        let values = simulated.values(&design, seed, |case| if case == 2 { slower } else { 1.0 });
        let analysis = analyse(design.cases(), &table(design.cases(), &values), AnalysisSettings::default());
        let effect = &analysis.effects[0];
        effect.is_detected && (!increases_only || effect.change.is_some_and(|change| change > 0.0))
    })
}

#[test]
fn an_effect_of_ten_percent_is_found_and_a_missing_one_is_not_claimed() {
    let mut wrong = Vec::new();
    // The smallest number of blocks with which an effect of 10 % is found in 19 of 20 experiments; `None` if 10 blocks
    // are not enough.
    let kinds = [
        (Noise::Normal(0.02), Some(4)),
        (Noise::Normal(0.03), Some(5)),
        (Noise::Normal(0.05), Some(10)),
        (Noise::HeavyTailed(0.02), Some(4)),
        (Noise::HeavyTailed(0.03), Some(6)),
        (Noise::HeavyTailed(0.05), Some(10)),
        (Noise::Disturbed(0.02), None),
        (Noise::Queue, Some(6)),
    ];
    for (noise, enough) in kinds {
        for blocks in [3, 4, 5, 6, 8, 10] {
            let simulated = Simulated::interleaved(noise, blocks);
            let (without, with) = (claimed(simulated, 1.0, false), claimed(simulated, 1.1, true));
            let name = format!("{}, {blocks} blocks", noise.name());
            print(&format!("| {} | {blocks} | {} | {} |", noise.name(), percent(without), percent(with)));
            wrong.extend(above(&name, without, ERROR));
            if enough.is_some_and(|enough| blocks >= enough) {
                wrong.extend(below(&name, with, 1.0 - ERROR));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_drift_is_an_effect_with_sequential_order_only() {
    let mut wrong = Vec::new();
    let drifts = [Drift::Ramp(0.1), Drift::Ramp(0.2), Drift::Ramp(0.3), Drift::Step(0.1)];
    for (sd, drift) in drifts.iter().flat_map(|drift| [(0.01, *drift), (0.03, *drift)]) {
        for blocks in [3, 6, 10] {
            let noise = Noise::Normal(sd);
            let of = |order| claimed(Simulated { noise, drift, order, blocks }, 1.0, false);
            let [interleaved, mirrored, sequential] =
                [TrialOrder::Interleaved, TrialOrder::Mirrored, TrialOrder::Sequential].map(of);
            let name = format!("{} | {:.0} % | {blocks}", drift.name(), 100.0 * sd);
            print(&format!(
                "| {name} | {} | {} | {} |",
                percent(interleaved),
                percent(mirrored),
                percent(sequential)
            ));
            // With 3 blocks, the orders of all blocks are the same in a quarter of the experiments. If the drift is much larger than
            // the variation of trials, the differences have only two values, for which t intervals are not exact.
            if blocks >= 6 {
                wrong.extend(above(&name, interleaved, if sd < 0.03 { 0.06 } else { ERROR }));
            }
            wrong.extend(above(&name, mirrored, ERROR));
            if matches!(drift, Drift::Ramp(steal) if steal >= 0.2) && blocks >= 6 {
                wrong.extend(below(&name, sequential, 0.95));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_mirrored_order_finds_effects_and_claims_none() {
    let mut wrong = Vec::new();
    let drifts = [Drift::None, Drift::Ramp(0.1), Drift::Ramp(0.3)];
    for (sd, drift) in drifts.iter().flat_map(|drift| [(0.01, *drift), (0.03, *drift)]) {
        for blocks in [3, 4, 6, 10] {
            let noise = Noise::Normal(sd);
            let of = |order, slower| claimed(Simulated { noise, drift, order, blocks }, slower, slower > 1.0);
            let orders = [TrialOrder::Interleaved, TrialOrder::Mirrored];
            let [found, found_mirrored] = orders.map(|order| of(order, 1.1));
            let without = of(TrialOrder::Mirrored, 1.0);
            let name = format!("{} | {:.0} % | {blocks}", drift.name(), 100.0 * sd);
            let (found, shown) = (percent(found), percent(found_mirrored));
            print(&format!("| {name} | {found} | {shown} | {} |", percent(without)));
            wrong.extend(above(&name, without, ERROR));
            if sd < 0.03 && blocks >= 6 || matches!(drift, Drift::None) && blocks >= 10 {
                wrong.extend(below(&name, found_mirrored, 0.95));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn factorial_designs_claim_no_effect_without_one_and_rank_factors() {
    let mut wrong = Vec::new();
    for noise in [Noise::Normal(0.03), Noise::HeavyTailed(0.03)] {
        for blocks in [3, 4, 6, 10] {
            let simulated = Simulated::interleaved(noise, blocks);
            let analysed = |seed: u64, slower: [f64; 2]| {
                let design = simulated.design(DesignKind::FullFactorial, &[2, 3], seed);
                let cases = design.cases().clone();
                let values = simulated.values(&design, seed, |case| {
                    let case = cases.case(case).unwrap();
                    let power = |factor| if cases.level(case, factor) > 0 { slower[factor] } else { 1.0 };
                    power(0) * power(1)
                });
                analyse(design.cases(), &table(design.cases(), &values), AnalysisSettings::default())
            };
            let without =
                share(|seed| analysed(seed, [1.0, 1.0]).effects.iter().any(|effect| effect.is_detected));
            let (mut first, mut false_claims) = (0, 0);
            for seed in 0..seeds() {
                let analysis = analysed(seed, [1.1, 1.0]);
                let largest = &analysis.factors[0];
                first += u64::from(largest.factor == 0 && largest.largest.is_detected);
                let is_other = |kind| !matches!(kind, EffectKind::Main { factor: 0, .. });
                let mut effects = analysis.effects.iter();
                false_claims += u64::from(effects.any(|effect| effect.is_detected && is_other(effect.kind)));
            }
            let of_all = |count: u64| count as f64 / seeds() as f64;
            let name = format!("{}, {blocks} blocks", noise.name());
            print(&format!(
                "| {} | {blocks} | {} | {} | {} |",
                noise.name(),
                percent(without),
                percent(of_all(first)),
                percent(of_all(false_claims))
            ));
            wrong.extend(above(&name, without, ERROR));
            wrong.extend(above(&name, of_all(false_claims), ERROR));
            if blocks >= 6 {
                wrong.extend(below(&name, of_all(first), 1.0 - ERROR));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn repeated_looks_keep_the_error() {
    let mut wrong = Vec::new();
    for noise in
        [Noise::Normal(0.03), Noise::Normal(0.08), Noise::HeavyTailed(0.03), Noise::HeavyTailed(0.08)]
    {
        let all: Vec<Repeated> = (0..seeds()).map(|seed| repeat_until_narrow(noise, seed)).collect();
        let of_all = |count: usize| count as f64 / seeds() as f64;
        let missed = of_all(all.iter().filter(|repeated| repeated.excludes_truth).count());
        let narrow = of_all(all.iter().filter(|repeated| repeated.is_narrow).count());
        let blocks = all.iter().map(|repeated| f64::from(repeated.blocks)).sum::<f64>() / seeds() as f64;
        let planned = share(|seed| stop_when_found(noise, seed, true));
        let naive = share(|seed| stop_when_found(noise, seed, false));
        print(&format!(
            "| {} | {blocks:.1} | {} | {} | {} | {} |",
            noise.name(),
            percent(narrow),
            percent(missed),
            percent(planned),
            percent(naive)
        ));
        wrong.extend(above(&noise.name(), missed, ERROR));
        wrong.extend(above(&noise.name(), planned, ERROR));
        if seeds() >= 200 {
            wrong.extend(below("without a plan", naive, 0.10));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_smallest_effect_is_found_in_nine_of_ten() {
    let mut wrong = Vec::new();
    for noise in [Noise::Normal(0.03), Noise::HeavyTailed(0.03)] {
        for blocks in [3, 4, 6, 10] {
            let sd = 0.03 * 2.0_f64.sqrt();
            let smallest = smallest_effect(ResponseScale::Ratio, blocks as usize, sd, 0.95).unwrap();
            let found = claimed(Simulated::interleaved(noise, blocks), 1.0 + smallest / 100.0, true);
            print(&format!("| {} | {blocks} | {smallest:.1} | {} |", noise.name(), percent(found)));
            wrong.extend(below(&format!("{}, {blocks} blocks", noise.name()), found, 0.9));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whether the bootstrap interval over blocks (the percentiles of 400 resamples) contains the true share.
fn bootstrap_contains(pairs: &[(f64, f64)], truth: f64, seed: u64) -> bool {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut shares: Vec<f64> = (0..400)
        .map(|_| {
            let drawn = (0..pairs.len()).map(|_| pairs[random.random_range(0..pairs.len())]);
            let (gain, loss) = drawn.fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
            gain / loss
        })
        .collect();
    shares.sort_by(f64::total_cmp);
    shares[10] <= truth && truth <= shares[389]
}

#[test]
fn the_recovered_share_is_inside_its_interval() {
    let mut wrong = Vec::new();
    // The study with bzip2: 106.4 s alone, 141.4 s with a neighbour, 118.7 s with the neighbour confined.
    let slower = [1.0, 141.372 / 106.386, 118.695 / 106.386];
    let truth = (slower[2] - slower[1]) / (slower[0] - slower[1]);
    for noise in [Noise::Normal(0.03), Noise::HeavyTailed(0.03), Noise::Normal(0.08)] {
        for blocks in [3, 4, 6, 10] {
            let simulated = Simulated::interleaved(noise, blocks);
            let (mut unknown, mut contained, mut contained_by_bootstrap) = (0.0, 0.0, 0.0);
            for seed in 0..seeds() {
                let design = simulated.design(DesignKind::OneAtATime, &[3], seed);
                let values = simulated.values(&design, seed, |case| slower[case as usize - 1]);
                let table = table(design.cases(), &values);
                match recovered_loss(&table, 1, 2, 3, 0.95) {
                    Ok(found) if found.low <= truth && truth <= found.high => contained += 1.0,
                    Ok(_) => {}
                    Err(_) => unknown += 1.0,
                }
                let pairs: Vec<(f64, f64)> = table
                    .rows()
                    .map(|row| {
                        let value = |at: usize| row[at].unwrap().exp();
                        (value(2) - value(1), value(0) - value(1))
                    })
                    .collect();
                contained_by_bootstrap += f64::from(u8::from(bootstrap_contains(&pairs, truth, seed)));
            }
            let n = seeds() as f64;
            print(&format!(
                "| {} | {blocks} | {} | {} | {} |",
                noise.name(),
                percent(unknown / n),
                percent(contained / (n - unknown).max(1.0)),
                percent(contained_by_bootstrap / n)
            ));
            // An unbounded interval contains every share.
            let name = format!("{}, {blocks} blocks", noise.name());
            wrong.extend(below(&name, (contained + unknown) / n, 1.0 - ERROR));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
