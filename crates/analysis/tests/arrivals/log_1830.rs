//! Reproduces the published figures of run 1830 in "How to Emulate Web Traffic Using Standard Load Testing Tools" from its
//! published log.

use std::path::Path;

use busyhour_analysis::arrivals::{ArrivalContext, Part, RequestedProcess, Resolution, TallySettings, judge};
use busyhour_stats::{Decision, RoundedExponential, lilliefors_exponential, lilliefors_rounded};
use rand::Rng;

use crate::streams::{generator, observe};

/// Start times in ms between 120 s and 1,320 s after the first; `None`, with a message on stderr, if the log is missing.
fn window() -> Option<Vec<u64>> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/1830_AggRpt.csv");
    let Ok(text) = std::fs::read_to_string(&shared) else {
        // Visible with `cargo test -- --nocapture`, and when the test fails.
        let name = shared.display();
        std::io::Write::write_all(&mut std::io::stderr(), format!("SKIPPED: no {name}\n").as_bytes())
            .unwrap();
        return None;
    };
    let mut stamps: Vec<u64> =
        text.lines().map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    stamps.sort_unstable();
    let first = stamps[0];
    stamps.retain(|stamp| (first + 120_000..=first + 1_320_000).contains(stamp));
    Some(stamps)
}

fn in_ns(stamps: &[u64]) -> Vec<u64> {
    stamps.iter().map(|stamp| stamp * 1_000_000).collect()
}

#[test]
fn the_statistics_equal_the_published_figures() {
    let Some(stamps) = window() else { return };
    let observed = observe(&in_ns(&stamps), TallySettings::new(Resolution::Millisecond));
    assert_eq!((observed.part, observed.gaps, observed.equal_stamps), (Part::Whole, 38_072, 690));
    let (rate, cov) = (observed.rate_per_s.unwrap(), observed.cov.unwrap());
    assert_eq!((format!("{:.2}", rate.value), format!("{:.2}", cov.value)), ("31.73".into(), "1.00".into()));
    assert_eq!(format!("{:.2}", 1e3 / rate.value), "31.52");
    assert!(cov.half_width() < 0.015, "{cov:?}");
    let dispersion: Vec<String> = observed
        .dispersion
        .iter()
        .map(|row| format!("{} s: {:.2} ({})", row.scale_s, row.index.value, row.windows))
        .collect();
    insta::assert_snapshot!(dispersion.join(", "), @"0.01 s: 1.01 (119995), 0.1 s: 1.00 (11999), 1 s: 0.86 (1199), 10 s: 0.40 (119)");
}

#[test]
fn the_unrounded_exponential_test_rejects_because_of_rounding() {
    let Some(stamps) = window() else { return };
    let gaps: Vec<u64> = stamps.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let root = (gaps.len() as f64).sqrt();
    let raw = lilliefors_exponential(&mut gaps.iter().map(|&gap| gap as f64).collect::<Vec<_>>()).unwrap();
    assert_eq!(format!("{:.4} {:.2}", raw.statistic, raw.statistic * root), "0.0204 3.98");
    assert!(raw.p_value < 1e-9);
    for seed in 0..5 {
        let mut random = generator(seed);
        let jittered: Vec<f64> = {
            let mut fine: Vec<f64> = stamps.iter().map(|&ms| ms as f64 + random.random::<f64>()).collect();
            fine.sort_unstable_by(f64::total_cmp);
            fine.windows(2).map(|pair| pair[1] - pair[0]).collect()
        };
        let found = lilliefors_exponential(&mut jittered.clone()).unwrap();
        let modified = found.statistic * root;
        assert!((1.0..1.25).contains(&modified), "seed {seed}: {modified}");
        assert!((0.01..0.12).contains(&found.p_value), "{found:?}");
    }
    // The reference distribution is rounded in the same way, so this test is valid.
    let rounded = lilliefors_rounded(&gaps, 99, &mut generator(1)).unwrap();
    assert_eq!(rounded.n, 38_072);
    assert!((rounded.statistic - raw.statistic).abs() < 1e-12);
    // The test still rejects: gaps of 0 and 1 ms are a tenth more frequent, which is immaterial but significant with 38,072 gaps.
    assert!(rounded.p_value < 0.05, "{rounded:?}");
    let up_to_1_ms = gaps.iter().filter(|&&gap| gap <= 1).count() as f64 / gaps.len() as f64;
    let poisson = RoundedExponential::new(0.03173).unwrap().cumulative_probability(1);
    assert_eq!(format!("{up_to_1_ms:.4} {poisson:.4}"), "0.0516 0.0464");
}

#[test]
fn the_verdict_is_poisson_up_to_a_tenth_of_a_second() {
    let Some(stamps) = window() else { return };
    let observed = observe(&in_ns(&stamps), TallySettings::new(Resolution::Millisecond));
    // The parameters of the paper: 200 users, R = 52.74 ms, Z = 6.25 s.
    let requested =
        RequestedProcess::Closed { users: Some(200.0), response_s: Some(0.05274), think_s: Some(6.25) };
    let found = judge(observed.clone(), requested, &ArrivalContext::default());
    insta::assert_snapshot!(found.line, @"Arrivals: 31.73/s, CoV 1.00 ± 0.01: closed load of 200 users: like independent users up to 0.1 s, more even over 10 s (dispersion 0.40)");
    assert_eq!(found.decision, Decision::Inside);
    assert!((found.r_over_r_plus_z.unwrap() - 0.0084).abs() < 1e-4);
    let reported: Vec<&str> = found.caveats.iter().map(|caveat| caveat.message.as_str()).collect();
    insta::assert_snapshot!(reported.join("\n"), @"");
    insta::assert_snapshot!(found.details().join("\n"), @r"
    CoV of gaps: 1.002 [0.992, 1.013], band 0.950 to 1.050: inside
    dispersion per 0.1 s: 1.001 [0.972, 1.030], band 0.800 to 1.250: inside
    share of gaps < 2 ms: 0.052 [0.049, 0.054], band 0.031 to 0.070: inside
    Lilliefors D (exponential gaps): 0.0242, p = 0.030, 6656 gaps
    Ljung-Box Q (independent gaps): 6.5979, p = 0.252, 19128 gaps
    ");
    // If the process is unknown, longer windows are judged as well.
    let found = judge(observed, RequestedProcess::Unknown, &ArrivalContext::default());
    insta::assert_snapshot!(found.line, @"Arrivals: 31.73/s, CoV 1.00 ± 0.01: Poisson up to 0.1 s, more even over 10 s (dispersion 0.40)");
    assert_eq!(found.decision, Decision::Outside);
}
