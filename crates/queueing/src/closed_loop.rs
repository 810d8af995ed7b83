//! A closed network as a simulation: what arrives when users do feel each other.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rand::Rng;

use crate::cycle::{Think, exponential_s};

/// Parts into which the gaps are cut for the standard error.
const BATCHES: usize = 20;

/// N users, each of whom thinks and then visits all stations in sequence. A station serves one user at a time in
/// order of arrival, with exponential service times.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedLoop {
    /// How many users.
    pub users: u32,
    /// Their think time.
    pub think: Think,
    /// Mean service time at each station in seconds.
    pub demands_s: Vec<f64>,
}

/// What was seen at the entrance of the system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopObservation {
    /// How many gaps between arrivals were seen.
    pub gaps: u64,
    /// Arrivals per second.
    pub rate_per_s: f64,
    /// Mean response time of the requests that were answered, in seconds; `None` when none was.
    pub response_s: Option<f64>,
    /// Coefficient of variation of the gaps.
    pub cov: f64,
    /// Its standard error, from batch means: dependence within a batch is respected.
    pub cov_standard_error: f64,
}

/// A moment at which a user comes to a station, or (the station after the last) has the response.
#[derive(Clone, Copy, Debug)]
struct Event {
    at_s: f64,
    /// Events at one moment keep the order in which they were planned.
    sequence: u64,
    user: u32,
    station: usize,
}

impl Ord for Event {
    /// The earliest is the greatest, as the heap gives the greatest first.
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
    /// Simulates the loop until `gaps` gaps between arrivals are observed, after a warm-up of a quarter of that
    /// number of arrivals and three for each user. Users start at a random point of a think time.
    ///
    /// `None` without users, with a cycle that takes no time, or with fewer than 40 gaps.
    pub fn simulate(&self, gaps: u64, random: &mut impl Rng) -> Option<LoopObservation> {
        let cycle_s = self.think.mean_s + self.demands_s.iter().sum::<f64>();
        if self.users == 0 || !cycle_s.is_finite() || cycle_s <= 0.0 || gaps < 2 * BATCHES as u64 {
            return None;
        }
        let left_out = (gaps / 4).max(3 * u64::from(self.users));
        let mut world = World::new(self, random);
        let mut arrivals = Vec::with_capacity(usize::try_from(gaps).ok()? + 1);
        let mut seen = 0;
        while arrivals.len() as u64 <= gaps {
            let measured = seen >= left_out;
            if let Some(at_s) = world.step(measured, random) {
                seen += 1;
                if measured {
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
            response_s: (world.answered > 0).then(|| world.responses_s / world.answered as f64),
            cov: cov(&lengths),
            cov_standard_error: deviation / (BATCHES as f64).sqrt(),
        })
    }
}

/// The network as it is at one moment.
struct World<'a> {
    network: &'a ClosedLoop,
    events: BinaryHeap<Event>,
    sequence: u64,
    /// The time at which each station has served all customers present.
    free_at_s: Vec<f64>,
    /// When each user's request came.
    came_at_s: Vec<f64>,
    responses_s: f64,
    answered: u64,
}

impl<'a> World<'a> {
    fn new(network: &'a ClosedLoop, random: &mut impl Rng) -> Self {
        let mut world = Self {
            network,
            events: BinaryHeap::with_capacity(network.users as usize + 1),
            sequence: 0,
            free_at_s: vec![0.0; network.demands_s.len()],
            came_at_s: vec![0.0; network.users as usize],
            responses_s: 0.0,
            answered: 0,
        };
        for user in 0..network.users {
            world.plan(network.think.draw_rest_s(random), user, 0);
        }
        world
    }

    fn plan(&mut self, at_s: f64, user: u32, station: usize) {
        self.sequence += 1;
        self.events.push(Event { at_s, sequence: self.sequence, user, station });
    }

    /// Lets the next thing happen; gives the time when it was the arrival of a request.
    fn step(&mut self, measured: bool, random: &mut impl Rng) -> Option<f64> {
        let Event { at_s, user, station, .. } = self.events.pop()?;
        if station == 0 {
            self.came_at_s[user as usize] = at_s;
        }
        if let Some(demand_s) = self.network.demands_s.get(station) {
            let done_at_s = at_s.max(self.free_at_s[station]) + exponential_s(*demand_s, random);
            self.free_at_s[station] = done_at_s;
            self.plan(done_at_s, user, station + 1);
        } else {
            if measured {
                self.responses_s += at_s - self.came_at_s[user as usize];
                self.answered += 1;
            }
            self.plan(at_s + self.network.think.draw_s(random), user, 0);
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
    use crate::cycle::ThinkLaw;
    use crate::{mva, superposition};
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn run(users: u32, think_s: f64, law: ThinkLaw, demands_s: &[f64], seed: u64) -> LoopObservation {
        let network =
            ClosedLoop { users, think: Think { mean_s: think_s, law }, demands_s: demands_s.to_vec() };
        network.simulate(40_000, &mut Xoshiro256PlusPlus::seed_from_u64(seed)).unwrap()
    }

    #[test]
    fn the_mean_values_are_those_of_the_exact_solution() {
        for (users, think_s, demands_s) in [
            (20, 4.0, &[0.125, 0.3, 0.2][..]),
            (6, 0.0, &[0.605, 2.1, 1.35]),
            (100, 10.0, &[0.05, 0.04, 0.03]),
        ] {
            let promised = mva::single::exact(u64::from(users), think_s, demands_s);
            // The exact solution does not depend on the distribution of the think time.
            for law in [ThinkLaw::Uniform, ThinkLaw::Exponential] {
                let found = run(users, think_s, law, demands_s, 7);
                assert!(
                    (found.rate_per_s / promised.rate_per_s - 1.0).abs() < 0.03,
                    "{users} {law:?} {found:?}"
                );
                assert!(
                    (found.response_s.unwrap() / promised.response_s - 1.0).abs() < 0.06,
                    "{users} {law:?} {found:?}"
                );
            }
        }
    }

    #[test]
    fn users_that_hardly_meet_arrive_as_their_superposition() {
        for (users, law) in [
            (1, ThinkLaw::Uniform),
            (5, ThinkLaw::Uniform),
            (50, ThinkLaw::Uniform),
            (7, ThinkLaw::Exponential),
        ] {
            let found = run(users, 10.0, law, &[1e-6], 11);
            let cycle = crate::cycle::Cycle { think: Think { mean_s: 10.0, law }, response_s: 1e-6 };
            let promised = superposition::gap_cov(&cycle, u64::from(users)).unwrap();
            assert!(
                (found.cov - promised).abs() < 4.0 * found.cov_standard_error,
                "{users} {law:?} {promised} {found:?}"
            );
            assert!(found.cov_standard_error < 0.01, "{found:?}");
        }
    }

    #[test]
    fn without_think_time_arrivals_are_the_departures_of_a_busy_server() {
        // One station that is never idle gives out exponential gaps, and each is at once an arrival.
        let found = run(4, 0.0, ThinkLaw::Constant, &[0.1], 5);
        assert!((found.cov - 1.0).abs() < 4.0 * found.cov_standard_error, "{found:?}");
        assert!((found.rate_per_s - 10.0).abs() < 0.2, "{found:?}");
    }

    #[test]
    fn the_same_seed_gives_the_same_and_another_another() {
        let one = run(10, 1.0, ThinkLaw::Uniform, &[0.05], 1);
        assert_eq!(one, run(10, 1.0, ThinkLaw::Uniform, &[0.05], 1));
        assert_ne!(one, run(10, 1.0, ThinkLaw::Uniform, &[0.05], 2));
    }

    #[test]
    fn what_cannot_be_seen_is_not_made_up() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let think = Think { mean_s: 0.0, law: ThinkLaw::Uniform };
        let network = |users, demands_s: &[f64]| ClosedLoop { users, think, demands_s: demands_s.to_vec() };
        assert_eq!(network(0, &[0.1]).simulate(1_000, &mut random), None);
        assert_eq!(network(3, &[]).simulate(1_000, &mut random), None);
        assert_eq!(network(3, &[f64::INFINITY]).simulate(1_000, &mut random), None);
        assert_eq!(network(3, &[0.1]).simulate(10, &mut random), None);
    }
}
