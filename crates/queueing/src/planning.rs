//! Selection of N and Z for a target rate: Principle A of Brady & Gunther.
//!
//! A closed load of N users with think time Z offers λ(N, Z) = N/Z − Q(N)/Z (their equation 8), with Q requests in the
//! system. If N and Z grow with constant N/Z, then Q/Z decreases, and so does the influence of the system under test on
//! the rate. The closed load approaches an open load.

use rand::Rng;

use crate::closed_loop::ClosedLoop;
use crate::cycle::{Cycle, Think, ThinkDistribution};
use crate::{mva, superposition};

/// Largest R/Z that [`choose`] accepts: if the system becomes twice as slow, the rate decreases by at most this share. In
/// the published runs against WEB.gov, the gaps had a CoV of 1.00 to 1.01 up to R/(R+Z) = 0.018, and of 1.03 to 1.17 above.
pub const FEEDBACK_MAX: f64 = 0.01;

/// Largest difference of the CoV of the gaps from 1 that [`choose`] accepts.
pub const COV_BAND: f64 = 0.05;

/// R/(R+Z) up to which users count as independent, although they share a system with known service demands.
pub const INDEPENDENT_MAX: f64 = 0.01;

/// Maximum number of users of a pair.
pub const USERS_MAX: u64 = 10_000_000;

/// Maximum number of users that are simulated.
const SIMULATED_USERS_MAX: u64 = 20_000;

/// Z/R of the pairs of [`TargetLoad::candidate_pairs`].
const THINK_RATIOS: [f64; 16] =
    [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6, 1e7];

/// Number of ratios that are always evaluated, even if [`choose`] accepts the pair of a smaller ratio.
const THINK_RATIOS_MIN: usize = 10;

/// The known properties of the system.
#[derive(Clone, Debug, PartialEq)]
pub enum System {
    /// The response time R in seconds at the target rate.
    Response(f64),
    /// The service demand of each station in seconds.
    Demands(Vec<f64>),
}

/// The target load of users with a think time.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetLoad {
    /// Target rate in requests per second.
    pub rate_per_s: f64,
    /// The known properties of the system.
    pub system: System,
    /// The distribution of think times.
    pub think: ThinkDistribution,
}

/// Why a load cannot be planned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A number is out of its range.
    #[error("{what} must be {must}, not {value}")]
    Number {
        /// Name of the number.
        what: &'static str,
        /// The range of valid values.
        must: &'static str,
        /// The rejected value.
        value: f64,
    },
    /// Equation (11), λ ≤ 1/S_max, does not hold.
    #[error(
        "the station with a demand of {demand_s} s serves {saturation_per_s:.2}/s at most; {rate_per_s}/s cannot be reached"
    )]
    Saturated {
        /// The largest demand.
        demand_s: f64,
        /// The largest rate that it allows.
        saturation_per_s: f64,
        /// The target rate.
        rate_per_s: f64,
    },
    /// The users cannot reach the rate even without think time.
    #[error(
        "{users} users are too few: {in_system:.2} requests are in the system on average (Q = λR), each from a different user"
    )]
    TooFew {
        /// Number of users.
        users: u64,
        /// Mean number of requests in the system, Q.
        in_system: f64,
    },
    /// The pair needs more users than [`USERS_MAX`].
    #[error("the load needs {users:.0} users, more than the maximum of {USERS_MAX}")]
    TooMany {
        /// Number of users.
        users: f64,
    },
}

/// The expected coefficient of variation of the gaps between arrivals, by method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExpectedCov {
    /// Computed as the superposition of independent users with a constant response time.
    Superposition(f64),
    /// From a simulation of the closed network.
    Simulation {
        /// The value.
        cov: f64,
        /// Standard error of the coefficient of variation.
        standard_error: f64,
        /// Number of simulated gaps.
        gaps: u64,
    },
    /// Unknown, because there are too many users to simulate, and they are not independent.
    Unavailable,
}

impl ExpectedCov {
    /// The value.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Superposition(cov) | Self::Simulation { cov, .. } => Some(*cov),
            Self::Unavailable => None,
        }
    }
}

/// A number of users and a think time, with the resulting load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Number of users N.
    pub users: u64,
    /// Think time Z in seconds.
    pub think_s: f64,
    /// Rate λ = N/Z − Q/Z in requests per second.
    pub rate_per_s: f64,
    /// Response time R in seconds.
    pub response_s: f64,
    /// CoV of the gaps between arrivals.
    pub cov: ExpectedCov,
}

impl Pair {
    /// Q = λR: requests in the system.
    pub fn in_system(&self) -> f64 {
        self.rate_per_s * self.response_s
    }

    /// N/Z in requests per second: the load if responses took no time. Infinite without think time.
    pub fn rate_max_per_s(&self) -> f64 {
        self.users as f64 / self.think_s
    }

    /// Q/Z in requests per second, the difference between N/Z and the rate. Infinite without think time.
    pub fn q_over_z_per_s(&self) -> f64 {
        self.in_system() / self.think_s
    }

    /// R/(R+Z): the share of time for which users wait for responses.
    pub fn waiting_share(&self) -> f64 {
        self.response_s / (self.response_s + self.think_s)
    }

    fn is_nearly_open(&self) -> bool {
        let is_in_band = self.cov.value().is_none_or(|cov| (cov - 1.0).abs() <= COV_BAND);
        is_in_band && self.response_s <= FEEDBACK_MAX * self.think_s * (1.0 + 1e-9)
    }
}

/// The pair with the fewest users that is nearly an open load: R/Z is at most [`FEEDBACK_MAX`], and the CoV is within
/// [`COV_BAND`] of 1. `None` if there is no such pair.
pub fn choose(pairs: &[Pair]) -> Option<&Pair> {
    pairs.iter().filter(|pair| pair.is_nearly_open()).min_by_key(|pair| pair.users)
}

impl TargetLoad {
    /// Checks the target load.
    ///
    /// # Errors
    /// A number is out of its range, or the rate exceeds the capacity of the system.
    pub fn check(&self) -> Result<(), PlanError> {
        positive("the rate", self.rate_per_s)?;
        match &self.system {
            System::Response(response_s) => positive("the response time", *response_s),
            System::Demands(demands_s) => {
                demands_s.iter().try_for_each(|demand_s| positive("a service demand", *demand_s))?;
                let demand_s = demands_s.iter().copied().fold(0.0, f64::max);
                positive("the largest service demand", demand_s)?;
                if self.rate_per_s * demand_s > 1.0 + 1e-9 {
                    let saturation_per_s = 1.0 / demand_s;
                    return Err(PlanError::Saturated {
                        demand_s,
                        saturation_per_s,
                        rate_per_s: self.rate_per_s,
                    });
                }
                Ok(())
            }
        }
    }

    /// Whether a station is always busy at the target rate. The rate is then only approached, because Q grows with N
    /// without limit.
    pub fn is_at_saturation(&self) -> bool {
        self.open_response_s().is_none()
    }

    /// The response time of an open load with the target rate: as given, or ΣD/(1−λD) for independent M/M/1 queues.
    /// `None` at saturation.
    pub fn open_response_s(&self) -> Option<f64> {
        match &self.system {
            System::Response(response_s) => Some(*response_s),
            System::Demands(demands_s) => {
                let largest = demands_s.iter().copied().fold(0.0, f64::max);
                if self.rate_per_s * largest > 1.0 - 1e-9 {
                    return None;
                }
                Some(demands_s.iter().map(|demand_s| demand_s / (1.0 - self.rate_per_s * demand_s)).sum())
            }
        }
    }

    /// The pair for a think time in seconds: N = λ(R + Z), rounded up to an integer, with Z adjusted to N.
    ///
    /// # Errors
    /// The errors of [`Self::check`], a negative think time, or more than [`USERS_MAX`] users.
    pub fn for_think(&self, think_s: f64, random: &mut impl Rng) -> Result<Pair, PlanError> {
        self.check()?;
        if !(think_s.is_finite() && think_s >= 0.0) {
            return Err(PlanError::Number { what: "the think time", must: "at least 0", value: think_s });
        }
        let users = (self.rate_per_s * (self.base_response_s() + think_s) - 1e-9).ceil().max(1.0);
        if users > USERS_MAX as f64 {
            return Err(PlanError::TooMany { users });
        }
        self.for_users(users as u64, random)
    }

    /// The pair for a number of users: Z = N/λ − R.
    ///
    /// # Errors
    /// The errors of [`Self::check`], fewer users than requests in the system, or more than [`USERS_MAX`] users.
    pub fn for_users(&self, users: u64, random: &mut impl Rng) -> Result<Pair, PlanError> {
        self.check()?;
        if users > USERS_MAX {
            return Err(PlanError::TooMany { users: users as f64 });
        }
        let think_s = users as f64 / self.rate_per_s - self.base_response_s();
        if think_s < -1e-9 || users == 0 {
            return Err(PlanError::TooFew { users, in_system: self.rate_per_s * self.base_response_s() });
        }
        let think = Think { mean_s: think_s.max(0.0), law: self.think };
        Ok(match &self.system {
            System::Response(response_s) => {
                let cycle = Cycle { think, response_s: *response_s };
                let cov = independent_cov(&cycle, users);
                Pair {
                    users,
                    think_s: think.mean_s,
                    rate_per_s: self.rate_per_s,
                    response_s: *response_s,
                    cov,
                }
            }
            System::Demands(demands_s) => {
                let found = mva::single::exact(users, think.mean_s, demands_s);
                let cycle = Cycle { think, response_s: found.response_s };
                let cov = if found.response_s <= INDEPENDENT_MAX * cycle.mean_s() {
                    independent_cov(&cycle, users)
                } else {
                    simulated_cov(users, think, demands_s, random)
                };
                let (rate_per_s, response_s) = (found.rate_per_s, found.response_s);
                Pair { users, think_s: think.mean_s, rate_per_s, response_s, cov }
            }
        })
    }

    /// Pairs with think times of one to a thousand times the response time, and longer ones until [`choose`] accepts one;
    /// fewest users first.
    ///
    /// # Errors
    /// The errors of [`Self::check`].
    pub fn candidate_pairs(&self, random: &mut impl Rng) -> Result<Vec<Pair>, PlanError> {
        self.check()?;
        let response_s = match &self.system {
            System::Response(response_s) => *response_s,
            System::Demands(demands_s) => self.open_response_s().unwrap_or_else(|| demands_s.iter().sum()),
        };
        let mut pairs: Vec<Pair> = Vec::new();
        for (number, ratio) in THINK_RATIOS.into_iter().enumerate() {
            if number >= THINK_RATIOS_MIN && choose(&pairs).is_some() {
                break;
            }
            match self.for_think(ratio * response_s, random) {
                Ok(pair) if pairs.last().is_none_or(|last| last.users < pair.users) => pairs.push(pair),
                Ok(_) | Err(PlanError::TooMany { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(pairs)
    }

    /// R in N = λ(R + Z). At saturation, no finite R satisfies this equation. R is then 0, so that N/Z is the target rate, as in
    /// the published table.
    fn base_response_s(&self) -> f64 {
        self.open_response_s().unwrap_or(0.0)
    }
}

fn positive(what: &'static str, value: f64) -> Result<(), PlanError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(PlanError::Number { what, must: "greater than 0", value })
}

fn independent_cov(cycle: &Cycle, users: u64) -> ExpectedCov {
    superposition::gap_cov(cycle, users).map_or(ExpectedCov::Unavailable, ExpectedCov::Superposition)
}

/// Simulates enough gaps for a standard error of about 0.005 and for about 20 cycles of every user.
fn simulated_cov(users: u64, think: Think, demands_s: &[f64], random: &mut impl Rng) -> ExpectedCov {
    let Ok(simulated_users) = u32::try_from(users.min(SIMULATED_USERS_MAX + 1)) else {
        return ExpectedCov::Unavailable;
    };
    if users > SIMULATED_USERS_MAX {
        return ExpectedCov::Unavailable;
    }
    let gaps = (users * 20).max(40_000);
    let network = ClosedLoop { users: simulated_users, think, demands_s: demands_s.to_vec() };
    network.simulate(gaps, random).map_or(ExpectedCov::Unavailable, |observed| ExpectedCov::Simulation {
        cov: observed.cov,
        standard_error: observed.cov_standard_error,
        gaps: observed.gaps,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn random() -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(1)
    }

    fn target(rate_per_s: f64, system: System) -> TargetLoad {
        TargetLoad { rate_per_s, system, think: ThinkDistribution::Uniform }
    }

    #[test]
    fn all_pairs_have_the_target_rate_and_q_over_z_decreases() {
        let pairs = target(20.0, System::Response(0.05)).candidate_pairs(&mut random()).unwrap();
        assert_eq!(pairs.first().map(|pair| pair.users), Some(2));
        assert_eq!(pairs.last().map(|pair| pair.users), Some(1001));
        for two in pairs.windows(2) {
            assert!(two[1].q_over_z_per_s() < two[0].q_over_z_per_s());
        }
        for pair in &pairs {
            let by_equation_8 = pair.rate_max_per_s() - pair.q_over_z_per_s();
            assert!((by_equation_8 - 20.0).abs() < 1e-6, "{pair:?}");
        }
        let chosen = choose(&pairs).unwrap();
        assert_eq!((chosen.users, format!("{:.3}", chosen.think_s)), (101, "5.000".to_owned()));
    }

    #[test]
    fn the_published_pairs_at_saturation() {
        // Table 1 with N/Z = 20, by the exact solution (the published table is approximate): λ = N/Z − Q/Z holds for both.
        let target = target(20.0, System::Demands(vec![0.05, 0.04, 0.03]));
        assert!(target.is_at_saturation());
        let mut previous = 0.0;
        for (think_s, users, printed) in
            [(5.0, 100, 17.80), (10.0, 200, 18.46), (20.0, 400, 18.93), (50.0, 1000, 19.34)]
        {
            let pair = target.for_think(think_s, &mut random()).unwrap();
            assert_eq!((pair.users, pair.rate_max_per_s()), (users, 20.0));
            assert!((pair.rate_per_s - (20.0 - pair.q_over_z_per_s())).abs() < 1e-9);
            // The approximation is slightly below the exact rate.
            assert!((0.0..0.4).contains(&(pair.rate_per_s - printed)), "{pair:?}");
            assert!(pair.rate_per_s > previous);
            previous = pair.rate_per_s;
        }
    }

    #[test]
    fn a_system_with_spare_capacity_reaches_the_rate() {
        let target = target(10.0, System::Demands(vec![0.05, 0.02]));
        let pair = target.for_think(20.0, &mut random()).unwrap();
        assert!((pair.rate_per_s - 10.0).abs() < 0.01, "{pair:?}");
        assert!((pair.response_s - (0.1 + 0.025)).abs() < 0.002, "{pair:?}");
        assert!(matches!(pair.cov, ExpectedCov::Superposition(cov) if (cov - 1.0).abs() < 0.01), "{pair:?}");
        let short = target.for_think(0.5, &mut random()).unwrap();
        assert!(matches!(short.cov, ExpectedCov::Simulation { .. }), "{short:?}");
    }

    #[test]
    fn impossible_loads_are_rejected_with_the_reason() {
        let reason = |rate, system| target(rate, system).check().unwrap_err().to_string();
        assert_eq!(reason(0.0, System::Response(0.05)), "the rate must be greater than 0, not 0");
        assert_eq!(
            reason(1.0, System::Response(f64::NAN)),
            "the response time must be greater than 0, not NaN"
        );
        assert_eq!(
            reason(30.0, System::Demands(vec![0.05])),
            "the station with a demand of 0.05 s serves 20.00/s at most; 30/s cannot be reached"
        );
        let few = target(100.0, System::Response(0.5)).for_users(10, &mut random()).unwrap_err();
        assert_eq!(
            few.to_string(),
            "10 users are too few: 50.00 requests are in the system on average (Q = λR), each from a different user"
        );
        assert!(target(1e6, System::Response(1.0)).for_think(100.0, &mut random()).is_err());
        assert!(target(1.0, System::Response(1.0)).for_think(-1.0, &mut random()).is_err());
        assert!(target(1.0, System::Demands(Vec::new())).check().is_err());
    }

    #[test]
    fn with_constant_think_times_a_few_users_are_not_an_open_load() {
        let target =
            TargetLoad { think: ThinkDistribution::Constant, ..target(1.0, System::Response(0.001)) };
        // Seven users with a think time of seven seconds: R ≪ Z, but the arrivals are far too even.
        let pair = target.for_users(7, &mut random()).unwrap();
        assert!(pair.cov.value().unwrap() < 0.9);
        assert_eq!(choose(&[pair]), None);
        let pairs = target.candidate_pairs(&mut random()).unwrap();
        assert!(choose(&pairs).unwrap().users >= 20);
    }

    proptest! {
        #[test]
        fn pairs_satisfy_littles_law(rate in 0.1..500.0_f64, response in 0.001..5.0_f64, think in 0.0..100.0_f64) {
            let pair = target(rate, System::Response(response)).for_think(think, &mut random()).unwrap();
            let users = pair.rate_per_s * (pair.response_s + pair.think_s);
            prop_assert!((users - pair.users as f64).abs() < 1e-6 * users.max(1.0));
            // Rounding N up increases the think time by less than 1/λ.
            prop_assert!(pair.think_s >= think - 1e-6 && pair.think_s <= think + 1.0 / rate + 1e-6);
        }
    }
}
