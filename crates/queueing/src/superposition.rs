//! The arrivals of many users without interference: the superposition of independent renewal processes.

use crate::cycle::Cycle;
use crate::quadrature::integrate;

/// Upper limit of the integration in mean gaps: the integrand is less than e⁻⁴⁰ beyond it.
const MEAN_GAPS_MAX: f64 = 40.0;

/// Width of a panel of the integration, in mean gaps.
const PANEL: f64 = 0.5;

/// The coefficient of variation of the gaps between the arrivals of `users` independent users, each of whom repeats
/// `cycle`, in the stationary state. `None` without users or if the cycle takes no time.
///
/// The gap after an arrival is longer than x if the next cycle of the arriving user is longer than x and no other user arrives
/// before:
/// P(gap > x) = (1 − F(x)) G(x)^(N−1) with G the equilibrium survival function (Cox & Smith, *On the superposition of
/// renewal processes*, Biometrika 41, 1954). This equals −(μ/N) d/dx G(x)^N; integration by parts yields
///
/// ```text
///   E[gap²] = 2 ∫ x P(gap > x) dx = (2μ/N) ∫ G(x)^N dx,     E[gap] = μ/N
///   c² = E[gap²]/E[gap]² − 1      = (2N/μ) ∫ G(x)^N dx − 1
/// ```
///
/// c² is (2N−1)/(2N+1) for a uniform think time and R = 0, (N−1)/(N+1) for a constant and 1 for an exponential think
/// time. All tend to 1, as the theorem of Palm and Khintchine states. This applies to short times only: in windows much
/// longer than a cycle, the dispersion of the counts stays that of one user ([`Cycle::cov`]).
pub fn gap_cov(cycle: &Cycle, users: u64) -> Option<f64> {
    let mean_s = cycle.mean_s();
    if users == 0 || mean_s.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
        return None;
    }
    let users = users as f64;
    let gap_s = mean_s / users;
    // Cycles of these laws, and sums of such cycles, are "new better than used in expectation". Therefore G(x) ≤ e^(−x/μ), and
    // the integral beyond this end is negligible (Barlow & Proschan, Statistical Theory of Reliability, 1975, chapter 6).
    let end_s = MEAN_GAPS_MAX * gap_s;
    let mut from_s = 0.0;
    let mut integral_s = 0.0;
    for kink_s in cycle.kinks_s().into_iter().chain([end_s]) {
        let to_s = kink_s.min(end_s);
        integral_s += integrate(from_s, to_s, PANEL * gap_s, |x| cycle.equilibrium_survival(x).powf(users));
        from_s = to_s.max(from_s);
    }
    Some((2.0 * integral_s / gap_s - 1.0).max(0.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycle::{Think, ThinkDistribution};
    use proptest::prelude::*;

    fn cycle(law: ThinkDistribution, think_s: f64, response_s: f64) -> Cycle {
        Cycle { think: Think { mean_s: think_s, law }, response_s }
    }

    fn assert_square(found: Option<f64>, square: f64) {
        let found = found.unwrap();
        assert!((found - square.sqrt()).abs() < 1e-6, "{found} for {}", square.sqrt());
    }

    #[test]
    fn results_agree_with_the_closed_forms() {
        for users in [1_u64, 2, 3, 10, 200, 100_000] {
            let n = users as f64;
            assert_square(
                gap_cov(&cycle(ThinkDistribution::Uniform, 7.0, 0.0), users),
                (2.0 * n - 1.0) / (2.0 * n + 1.0),
            );
            assert_square(
                gap_cov(&cycle(ThinkDistribution::Constant, 7.0, 0.0), users),
                (n - 1.0) / (n + 1.0),
            );
            assert_square(
                gap_cov(&cycle(ThinkDistribution::Constant, 5.0, 2.0), users),
                (n - 1.0) / (n + 1.0),
            );
            assert_square(gap_cov(&cycle(ThinkDistribution::Exponential, 7.0, 0.0), users), 1.0);
        }
    }

    #[test]
    fn one_user_has_the_cov_of_the_cycle() {
        for (law, think_s, response_s) in [
            (ThinkDistribution::Uniform, 10.0, 0.0),
            (ThinkDistribution::Uniform, 6.25, 0.05),
            (ThinkDistribution::Exponential, 1.0, 3.0),
        ] {
            let cycle = cycle(law, think_s, response_s);
            assert_square(gap_cov(&cycle, 1), cycle.cov().powi(2));
        }
        let cov = gap_cov(&cycle(ThinkDistribution::Uniform, 10.0, 0.0), 1).unwrap();
        assert_eq!(format!("{cov:.3}"), "0.577");
    }

    #[test]
    fn uniform_think_times_agree_with_the_log_of_run_1830() {
        // The CoV by number of threads in the published log of run 1830 (see docs/offered-load.md), with Z = 6.25 s and
        // R = 0.053 s.
        let cycle = cycle(ThinkDistribution::Uniform, 6.25, 0.0527);
        for (threads, published) in
            [(1, 0.56), (2, 0.73), (3, 0.80), (4, 0.84), (5, 0.91), (10, 0.96), (200, 1.00)]
        {
            let expected = gap_cov(&cycle, threads).unwrap();
            assert!((expected - published).abs() < 0.05, "{threads} threads: {expected} for {published}");
        }
    }

    #[test]
    fn without_users_or_time_there_is_no_cov() {
        assert_eq!(gap_cov(&cycle(ThinkDistribution::Uniform, 1.0, 1.0), 0), None);
        assert_eq!(gap_cov(&cycle(ThinkDistribution::Uniform, 0.0, 0.0), 5), None);
        assert_eq!(gap_cov(&cycle(ThinkDistribution::Uniform, f64::NAN, 0.0), 5), None);
    }

    proptest! {
        // Palm and Khintchine: for any cycle, the CoV of the gaps tends to 1; for these laws, from below.
        #[test]
        fn many_users_tend_to_poisson(
            law in prop_oneof![Just(ThinkDistribution::Constant), Just(ThinkDistribution::Uniform), Just(ThinkDistribution::Exponential)],
            think_s in 0.001..100.0_f64,
            response_share in 0.0..3.0_f64,
            users in 1_u64..300,
        ) {
            let cycle = cycle(law, think_s, think_s * response_share);
            let few = gap_cov(&cycle, users).unwrap();
            let more = gap_cov(&cycle, users * 2).unwrap();
            let many = gap_cov(&cycle, users * 1_000).unwrap();
            prop_assert!(few <= 1.0 + 1e-6 && few <= more + 1e-6 && more <= many + 1e-6, "{} {} {}", few, more, many);
            prop_assert!((1.0 - many) < 1.5e-3, "{}", many);
        }

        #[test]
        fn the_unit_of_time_does_not_matter(think_s in 0.01..10.0_f64, response_s in 0.0..10.0_f64, users in 1_u64..2_000) {
            let in_seconds = gap_cov(&cycle(ThinkDistribution::Uniform, think_s, response_s), users).unwrap();
            let in_ms = gap_cov(&cycle(ThinkDistribution::Uniform, think_s * 1e3, response_s * 1e3), users).unwrap();
            prop_assert!((in_seconds - in_ms).abs() < 1e-9);
        }
    }
}
