//! Simulates a closed network to find the arrival process if users delay each other.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rand::Rng;

use crate::cycle::{Think, exponential_s};

/// Number of batches of gaps for the standard error.
const BATCHES: usize = 20;

/// N users, each of whom thinks and then visits all stations in sequence. A station serves one user at a time in
/// order of arrival, with exponential service times.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedLoop {
    /// Number of users.
    pub users: u32,
    /// Their think time.
    pub think: Think,
    /// Mean service time at each station in seconds.
    pub demands_s: Vec<f64>,
}

/// The arrival process at the entrance of the system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopObservation {
    /// Number of observed gaps between arrivals.
    pub gaps: u64,
    /// Arrivals per second.
    pub rate_per_s: f64,
    /// Mean response time of completed requests in seconds; `None` if no request was completed.
    pub response_s: Option<f64>,
    /// Coefficient of variation of the gaps.
    pub cov: f64,
    /// Standard error of `cov`, from batch means, so that successive gaps may depend on each other.
    pub cov_standard_error: f64,
}

/// The arrival of a user at a station, or the end of a request (a station index past the last station).
#[derive(Clone, Copy, Debug)]
struct Event {
    at_s: f64,
    /// Number of the event, in the order of scheduling. It determines the order of simultaneous events.
    sequence: u64,
    user: u32,
    station: usize,
}

impl Ord for Event {
    /// Reversed, because `BinaryHeap` returns the greatest item first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.at_s.total_cmp(&self.at_s).then(other.sequence.cmp(&self.sequence))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Event {}

impl ClosedLoop {
    /// Simulates the loop until `gaps` gaps between arrivals are observed, after a warm-up of `gaps`/4 arrivals, but at least
    /// three arrivals per user. Users start at a random point of a think time.
    ///
    /// Returns `None` without users, with a cycle that takes no time, or with fewer than 40 gaps.
    pub fn simulate(&self, gaps: u64, random: &mut impl Rng) -> Option<LoopObservation> {
        let cycle_s = self.think.mean_s + self.demands_s.iter().sum::<f64>();
        if self.users == 0 || !cycle_s.is_finite() || cycle_s <= 0.0 || gaps < 2 * BATCHES as u64 {
            return None;
        }
        let warm_up = (gaps / 4).max(3 * u64::from(self.users));
        let mut simulation = LoopSimulation::new(self, random);
        let mut arrivals = Vec::with_capacity(usize::try_from(gaps).ok()? + 1);
        let mut arrived = 0;
        while arrivals.len() as u64 <= gaps {
            let is_measured = arrived >= warm_up;
            if let Some(at_s) = simulation.step(is_measured, random) {
                arrived += 1;
                if is_measured {
                    arrivals.push(at_s);
                }
            }
        }
        let lengths: Vec<f64> = arrivals.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let span_s = arrivals[arrivals.len() - 1] - arrivals[0];
        let covs: Vec<f64> = lengths.chunks_exact(lengths.len() / BATCHES).take(BATCHES).map(cov).collect();
        let (_, deviation) = mean_and_deviation(&covs);
        Some(LoopObservation {
            gaps,
            rate_per_s: gaps as f64 / span_s,
            response_s: (simulation.completed > 0)
                .then(|| simulation.responses_s / simulation.completed as f64),
            cov: cov(&lengths),
            cov_standard_error: deviation / (BATCHES as f64).sqrt(),
        })
    }
}

/// The state of a simulation.
struct LoopSimulation<'a> {
    network: &'a ClosedLoop,
    events: BinaryHeap<Event>,
    sequence: u64,
    /// The time at which each station has served all customers present.
    free_at_s: Vec<f64>,
    /// The arrival time of each user's current request.
    arrived_at_s: Vec<f64>,
    /// Sum of the response times of `completed` requests.
    responses_s: f64,
    completed: u64,
}

impl<'a> LoopSimulation<'a> {
    fn new(network: &'a ClosedLoop, random: &mut impl Rng) -> Self {
        let mut simulation = Self {
            network,
            events: BinaryHeap::with_capacity(network.users as usize + 1),
            sequence: 0,
            free_at_s: vec![0.0; network.demands_s.len()],
            arrived_at_s: vec![0.0; network.users as usize],
            responses_s: 0.0,
            completed: 0,
        };
        for user in 0..network.users {
            simulation.schedule(network.think.draw_residual_s(random), user, 0);
        }
        simulation
    }

    fn schedule(&mut self, at_s: f64, user: u32, station: usize) {
        self.sequence += 1;
        self.events.push(Event { at_s, sequence: self.sequence, user, station });
    }

    /// Processes the next event. Returns its time if it is the arrival of a request.
    fn step(&mut self, is_measured: bool, random: &mut impl Rng) -> Option<f64> {
        let Event { at_s, user, station, .. } = self.events.pop()?;
        if station == 0 {
            self.arrived_at_s[user as usize] = at_s;
        }
        if let Some(demand_s) = self.network.demands_s.get(station) {
            let done_at_s = at_s.max(self.free_at_s[station]) + exponential_s(*demand_s, random);
            self.free_at_s[station] = done_at_s;
            self.schedule(done_at_s, user, station + 1);
        } else {
            if is_measured {
                self.responses_s += at_s - self.arrived_at_s[user as usize];
                self.completed += 1;
            }
            self.schedule(at_s + self.network.think.draw_s(random), user, 0);
        }
        (station == 0).then_some(at_s)
    }
}

/// Standard deviation over mean.
fn cov(lengths: &[f64]) -> f64 {
    let (mean, deviation) = mean_and_deviation(lengths);
    deviation / mean
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycle::ThinkDistribution;
    use crate::{mva, superposition};
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn run(
        users: u32,
        think_s: f64,
        law: ThinkDistribution,
        demands_s: &[f64],
        seed: u64,
    ) -> LoopObservation {
        let network =
            ClosedLoop { users, think: Think { mean_s: think_s, law }, demands_s: demands_s.to_vec() };
        network.simulate(40_000, &mut Xoshiro256PlusPlus::seed_from_u64(seed)).unwrap()
    }

    #[test]
    fn mean_values_agree_with_the_exact_solution() {
        for (users, think_s, demands_s) in [
            (20, 4.0, &[0.125, 0.3, 0.2][..]),
            (6, 0.0, &[0.605, 2.1, 1.35]),
            (100, 10.0, &[0.05, 0.04, 0.03]),
        ] {
            let expected = mva::single::exact(u64::from(users), think_s, demands_s);
            // The exact solution does not depend on the distribution of the think time.
            for law in [ThinkDistribution::Uniform, ThinkDistribution::Exponential] {
                let found = run(users, think_s, law, demands_s, 7);
                assert!(
                    (found.rate_per_s / expected.rate_per_s - 1.0).abs() < 0.03,
                    "{users} {law:?} {found:?}"
                );
                assert!(
                    (found.response_s.unwrap() / expected.response_s - 1.0).abs() < 0.06,
                    "{users} {law:?} {found:?}"
                );
            }
        }
    }

    #[test]
    fn users_that_rarely_interfere_arrive_as_a_superposition() {
        for (users, law) in [
            (1, ThinkDistribution::Uniform),
            (5, ThinkDistribution::Uniform),
            (50, ThinkDistribution::Uniform),
            (7, ThinkDistribution::Exponential),
        ] {
            let found = run(users, 10.0, law, &[1e-6], 11);
            let cycle = crate::cycle::Cycle { think: Think { mean_s: 10.0, law }, response_s: 1e-6 };
            let expected = superposition::gap_cov(&cycle, u64::from(users)).unwrap();
            assert!(
                (found.cov - expected).abs() < 4.0 * found.cov_standard_error,
                "{users} {law:?} {expected} {found:?}"
            );
            assert!(found.cov_standard_error < 0.01, "{found:?}");
        }
    }

    #[test]
    fn without_think_time_arrivals_are_the_departures_of_a_busy_server() {
        // The departures of a station that is never idle have exponential gaps, and each departure is the next arrival.
        let found = run(4, 0.0, ThinkDistribution::Constant, &[0.1], 5);
        assert!((found.cov - 1.0).abs() < 4.0 * found.cov_standard_error, "{found:?}");
        assert!((found.rate_per_s - 10.0).abs() < 0.2, "{found:?}");
    }

    #[test]
    fn the_seed_determines_the_result() {
        let first = run(10, 1.0, ThinkDistribution::Uniform, &[0.05], 1);
        assert_eq!(first, run(10, 1.0, ThinkDistribution::Uniform, &[0.05], 1));
        assert_ne!(first, run(10, 1.0, ThinkDistribution::Uniform, &[0.05], 2));
    }

    #[test]
    fn invalid_loops_have_no_result() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let think = Think { mean_s: 0.0, law: ThinkDistribution::Uniform };
        let network = |users, demands_s: &[f64]| ClosedLoop { users, think, demands_s: demands_s.to_vec() };
        assert_eq!(network(0, &[0.1]).simulate(1_000, &mut random), None);
        assert_eq!(network(3, &[]).simulate(1_000, &mut random), None);
        assert_eq!(network(3, &[f64::INFINITY]).simulate(1_000, &mut random), None);
        assert_eq!(network(3, &[0.1]).simulate(10, &mut random), None);
    }
}
