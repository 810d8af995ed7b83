//! Routing of customers.
//!
//! The strategies use the state of the network at the time of the choice. They follow the rules of JMT (jmt.engine,
//! NetStrategies.RoutingStrategies), which `docs/capacity-models.md` describes.

use rand::Rng as _;

use crate::random::Stream;

/// The target of a customer: the index of a station, or [`OUTSIDE`].
pub(crate) type Target = u16;

/// The place outside all stations.
pub(crate) const OUTSIDE: Target = Target::MAX;

/// The state of a station, as far as strategies depend on it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StationView {
    /// Number of customers, waiting and in service.
    pub(crate) present: u32,
    /// Number of busy servers.
    pub(crate) in_service: u32,
    /// Number of servers; 0 if it is infinite.
    pub(crate) servers: u32,
    /// Response time of the last customer of this class that departed, in seconds; 0 before the first one.
    pub(crate) last_response_s: f64,
    /// Service time of the last customer of this class that departed, in seconds; 0 before the first one.
    pub(crate) last_service_s: f64,
}

/// A routing strategy with its state.
#[derive(Clone, Debug)]
pub(crate) enum Strategy {
    /// Always the same target.
    Fixed(Target),
    /// All targets with equal probabilities.
    Random(Box<[Target]>),
    /// Targets with cumulative probabilities.
    Probabilities(Box<[(f64, Target)]>),
    /// The targets in turn; the second field is the index of the next target.
    RoundRobin(Box<[Target]>, usize),
    /// The targets in turn, by weights.
    Weighted(WeightedRoundRobin),
    /// The target with the smallest value of a quantity.
    Least(Least, Box<[Target]>),
    /// The station with the shortest queue among `k` stations that are drawn at random.
    PowerOfK {
        k: usize,
        to: Box<[Target]>,
        /// The last observed length of each queue; `None` if the strategy has no memory.
        memory: Option<Box<[u32]>>,
        /// Buffer of indices for drawing without replacement.
        drawn: Vec<usize>,
    },
    /// Probabilities that depend on the number of customers of the class at the station that the customer leaves. For each range
    /// of this number, in ascending order: its smallest number, and the targets with cumulative probabilities.
    LoadDependent(Box<[(u32, Box<[(f64, Target)]>)]>),
    /// The stations in a fixed order. For each station after the customer's place: its index, and the integer and fractional part of its
    /// number of visits.
    InOrder(Box<[(Target, u32, f64)]>),
}

/// The quantity that [`Strategy::Least`] minimizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Least {
    /// Number of customers at the station.
    Queue,
    /// The last response time; empty stations are preferred.
    Response,
    /// Busy servers divided by servers in integer arithmetic: 1 if all servers are busy, otherwise 0.
    Utilization,
    /// The last service time; empty stations are preferred.
    Service,
}

/// Weighted round robin as in Linux Virtual Server: first the targets with the greatest weight, then all targets whose weight
/// is at most one step lower, and so on.
#[derive(Clone, Debug)]
pub(crate) struct WeightedRoundRobin {
    to: Box<[(Target, u32)]>,
    at: usize,
    level: u32,
    step: u32,
    max: u32,
}

impl WeightedRoundRobin {
    /// Creates the strategy for targets with weights. At least one weight must be greater than 0.
    pub(crate) fn new(to: Box<[(Target, u32)]>) -> Self {
        let step = to.iter().map(|(_, weight)| *weight).fold(0, gcd).max(1);
        let max = to.iter().map(|(_, weight)| *weight).max().unwrap_or(0);
        Self { at: to.len() - 1, to, level: 0, step, max }
    }

    fn next(&mut self) -> Target {
        loop {
            self.at = (self.at + 1) % self.to.len();
            if self.at == 0 {
                self.level = self.level.saturating_sub(self.step);
                if self.level == 0 {
                    self.level = self.max;
                }
            }
            let (target, weight) = self.to[self.at];
            if weight >= self.level {
                return target;
            }
        }
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A customer for which a target is chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoutedCustomer {
    /// The station that the customer leaves; [`OUTSIDE`] for arrivals.
    pub(crate) from: Target,
    /// Number of customers of the class at that station, including this one.
    pub(crate) class_present: u32,
    /// Remaining visits to the station, for [`Strategy::InOrder`].
    pub(crate) further_visits: u32,
}

impl Strategy {
    /// Chooses a target. The second value of the result is the number of further visits to the target after the next
    /// visit.
    #[inline]
    pub(crate) fn choose(
        &mut self,
        customer: RoutedCustomer,
        stream: &mut Stream,
        view: impl Fn(Target) -> StationView,
    ) -> (Target, u32) {
        let target = match self {
            Self::Fixed(target) => *target,
            Self::Random(to) => to[stream.random_range(0..to.len())],
            Self::Probabilities(to) => by_probabilities(to, stream),
            Self::RoundRobin(to, turn) => {
                let target = to[*turn];
                *turn = if *turn + 1 == to.len() { 0 } else { *turn + 1 };
                target
            }
            Self::Weighted(turns) => turns.next(),
            Self::Least(quantity, to) => least(*quantity, to, stream, view),
            Self::PowerOfK { k, to, memory, drawn } => power_of_k(*k, to, memory, drawn, stream, view),
            Self::LoadDependent(ranges) => {
                let next = ranges.partition_point(|(from, _)| *from <= customer.class_present);
                by_probabilities(&ranges[next.saturating_sub(1)].1, stream)
            }
            Self::InOrder(stations) => return in_order(stations, customer, stream),
        };
        (target, 0)
    }
}

fn by_probabilities(to: &[(f64, Target)], stream: &mut Stream) -> Target {
    let uniform: f64 = stream.random();
    to.iter().find(|(up_to, _)| uniform < *up_to).or(to.last()).map_or(OUTSIDE, |(_, target)| *target)
}

/// The target with the smallest value. Among targets with equal values, one is chosen at random. The outside of the network
/// counts as an empty station with a response time of 0.
fn least(
    quantity: Least,
    to: &[Target],
    stream: &mut Stream,
    view: impl Fn(Target) -> StationView,
) -> Target {
    let value = |target: Target| {
        let station = view(target);
        match quantity {
            Least::Queue => (false, f64::from(station.present)),
            Least::Utilization => {
                (false, station.in_service.checked_div(station.servers).map_or(0.0, f64::from))
            }
            Least::Response => (station.present > 0, station.last_response_s),
            Least::Service => (station.present > 0, station.last_service_s),
        }
    };
    let mut best = (true, f64::INFINITY);
    let (mut chosen, mut equals) = (OUTSIDE, 0_u32);
    for &target in to {
        let found = value(target);
        if found < best {
            best = found;
            chosen = target;
            equals = 1;
        } else if found == best {
            // The n-th target with this value replaces the chosen one with probability 1/n, so all have equal probabilities.
            equals += 1;
            if stream.random_range(0..equals) == 0 {
                chosen = target;
            }
        }
    }
    chosen
}

fn power_of_k(
    k: usize,
    to: &[Target],
    memory: &mut Option<Box<[u32]>>,
    drawn: &mut Vec<usize>,
    stream: &mut Stream,
    view: impl Fn(Target) -> StationView,
) -> Target {
    drawn.clear();
    if to.len() <= k {
        drawn.extend(0..to.len());
    }
    while drawn.len() < k.min(to.len()) {
        let at = stream.random_range(0..to.len());
        if !drawn.contains(&at) {
            drawn.push(at);
        }
    }
    let Some(memory) = memory else {
        let mut chosen = drawn[0];
        let (mut best, mut equals) = (u32::MAX, 0_u32);
        for &at in drawn.iter() {
            shortest(view(to[at]).present, at, &mut best, &mut equals, &mut chosen, stream);
        }
        return to[chosen];
    };
    for &at in drawn.iter() {
        memory[at] = view(to[at]).present;
    }
    let (mut best, mut equals, mut chosen) = (u32::MAX, 0, 0);
    for (at, &remembered) in memory.iter().enumerate() {
        shortest(remembered, at, &mut best, &mut equals, &mut chosen, stream);
    }
    memory[chosen] += 1;
    to[chosen]
}

fn shortest(
    length: u32,
    at: usize,
    best: &mut u32,
    equals: &mut u32,
    chosen: &mut usize,
    stream: &mut Stream,
) {
    if length < *best {
        (*best, *equals, *chosen) = (length, 1, at);
    } else if length == *best {
        *equals += 1;
        if stream.random_range(0..*equals) == 0 {
            *chosen = at;
        }
    }
}

fn in_order(stations: &[(Target, u32, f64)], customer: RoutedCustomer, stream: &mut Stream) -> (Target, u32) {
    if customer.further_visits > 0 {
        return (customer.from, customer.further_visits - 1);
    }
    for &(target, whole, fraction) in stations {
        let has_extra_visit = fraction > 0.0 && stream.random::<f64>() < fraction;
        let visits = whole + u32::from(has_extra_visit);
        if visits > 0 {
            return (target, visits - 1);
        }
    }
    (OUTSIDE, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    const CUSTOMER: RoutedCustomer = RoutedCustomer { from: OUTSIDE, class_present: 1, further_visits: 0 };

    fn counts(strategy: &mut Strategy, rounds: u32, view: impl Fn(Target) -> StationView + Copy) -> [u32; 4] {
        let mut stream = Stream::seed_from_u64(1);
        let mut counts = [0; 4];
        for _ in 0..rounds {
            counts[strategy.choose(CUSTOMER, &mut stream, view).0 as usize] += 1;
        }
        counts
    }

    fn queues(lengths: [u32; 4]) -> impl Fn(Target) -> StationView + Copy {
        move |target| StationView {
            present: lengths[target as usize],
            in_service: lengths[target as usize].min(1),
            servers: 1,
            last_response_s: f64::from(10 - u32::from(target)),
            last_service_s: f64::from(target),
        }
    }

    #[test]
    fn round_robin_and_weighted_round_robin() {
        let mut round_robin = Strategy::RoundRobin([0, 1, 2].into(), 0);
        let mut stream = Stream::seed_from_u64(1);
        let order: Vec<Target> =
            (0..5).map(|_| round_robin.choose(CUSTOMER, &mut stream, queues([0; 4])).0).collect();
        assert_eq!(order, [0, 1, 2, 0, 1]);
        let mut weighted = WeightedRoundRobin::new([(0, 4), (1, 2), (2, 2)].into());
        let order: Vec<Target> = (0..8).map(|_| weighted.next()).collect();
        assert_eq!(order, [0, 0, 1, 2, 0, 0, 1, 2]);
        let mut with_zero = WeightedRoundRobin::new([(0, 0), (1, 3)].into());
        assert_eq!((0..4).map(|_| with_zero.next()).collect::<Vec<_>>(), [1, 1, 1, 1]);
    }

    #[test]
    fn the_least_value_is_chosen_with_random_ties() {
        let to = || Box::from([0, 1, 2, 3]);
        let shortest = counts(&mut Strategy::Least(Least::Queue, to()), 3_000, queues([5, 1, 1, 1]));
        assert!(shortest[0] == 0 && shortest[1..].iter().all(|&n| (900..1_100).contains(&n)), "{shortest:?}");
        // If all stations are busy, the one with the shortest last response time is chosen, otherwise an empty station.
        let all_busy = queues([1, 2, 3, 4]);
        assert_eq!(counts(&mut Strategy::Least(Least::Response, to()), 10, all_busy), [0, 0, 0, 10]);
        assert_eq!(counts(&mut Strategy::Least(Least::Service, to()), 10, all_busy), [10, 0, 0, 0]);
        let one_empty = queues([1, 0, 3, 4]);
        assert_eq!(counts(&mut Strategy::Least(Least::Response, to()), 10, one_empty), [0, 10, 0, 0]);
        assert_eq!(counts(&mut Strategy::Least(Least::Utilization, to()), 10, one_empty), [0, 10, 0, 0]);
        let busy = counts(&mut Strategy::Least(Least::Utilization, to()), 4_000, all_busy);
        assert!(busy.iter().all(|&n| (900..1_100).contains(&n)), "{busy:?}");
    }

    #[test]
    fn power_of_k_with_and_without_memory() {
        let power = |memory: Option<Box<[u32]>>| Strategy::PowerOfK {
            k: 2,
            to: [0, 1, 2, 3].into(),
            memory,
            drawn: Vec::new(),
        };
        // The longest queue is never chosen, because another queue is drawn with it.
        let found = counts(&mut power(None), 6_000, queues([0, 1, 2, 3]));
        // Of the six pairs, three contain the shortest queue, and two others contain the second shortest.
        assert!(
            found[3] == 0 && found[0].abs_diff(3_000) < 150 && found[1].abs_diff(2_000) < 150,
            "{found:?}"
        );
        let found = counts(&mut power(Some([0; 4].into())), 4_000, queues([9, 9, 9, 0]));
        assert!(found[3] > 2_000, "the remembered length of the empty queue is used: {found:?}");
    }

    #[test]
    fn probabilities_and_load_dependent_ranges() {
        let to: Box<[(f64, Target)]> = [(0.2, 0), (1.0, 1)].into();
        let found = counts(&mut Strategy::Probabilities(to.clone()), 5_000, queues([0; 4]));
        assert!(found[0].abs_diff(1_000) < 100, "{found:?}");
        let mut by_load = Strategy::LoadDependent([(0, [(1.0, 0)].into()), (3, [(1.0, 1)].into())].into());
        let mut stream = Stream::seed_from_u64(1);
        for (class_present, expected) in [(1, 0), (2, 0), (3, 1), (100, 1)] {
            let customer = RoutedCustomer { class_present, ..CUSTOMER };
            assert_eq!(by_load.choose(customer, &mut stream, queues([0; 4])).0, expected);
        }
    }

    #[test]
    fn a_pass_visits_each_station_as_often_as_configured() {
        let stations = [(0, 2, 0.0), (1, 0, 0.3), (2, 1, 0.5)];
        // The strategies for each station, and for the outside of the network.
        let mut strategies = [1, 2, 3, 0].map(|after| Strategy::InOrder(stations[after..].into()));
        let mut stream = Stream::seed_from_u64(4);
        let mut visits = [0_u32; 3];
        let rounds = 4_000;
        for _ in 0..rounds {
            let mut at = (OUTSIDE, 0);
            loop {
                let customer = RoutedCustomer { from: at.0, class_present: 1, further_visits: at.1 };
                let place = if at.0 == OUTSIDE { 3 } else { usize::from(at.0) };
                at = strategies[place].choose(customer, &mut stream, queues([0; 4]));
                if at.0 == OUTSIDE {
                    break;
                }
                visits[at.0 as usize] += 1;
            }
        }
        assert_eq!(visits[0], 2 * rounds);
        assert!(visits[1].abs_diff(1_200) < 120 && visits[2].abs_diff(6_000) < 150, "{visits:?}");
    }
}
