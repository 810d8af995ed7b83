//! Routing of customers.
//!
//! The strategies use the state of the network at the moment of the choice, by the rules of JMT (jmt.engine,
//! NetStrategies.RoutingStrategies), described in `docs/capacity-models.md`.

use rand::Rng as _;

use crate::random::Stream;

/// A place to go to: a station's number, or [`OUTSIDE`].
pub(crate) type Target = u16;

/// Back to where customers come from.
pub(crate) const OUTSIDE: Target = Target::MAX;

/// What strategies see of a station.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sight {
    /// Customers there, waiting and in service.
    pub(crate) present: u32,
    /// Servers that are busy, and how many there are; 0 of infinitely many.
    pub(crate) in_service: u32,
    pub(crate) servers: u32,
    /// How long the last customer of this class stayed, in seconds; 0 before the first.
    pub(crate) last_response_s: f64,
    /// How long the last customer of this class was served.
    pub(crate) last_service_s: f64,
}

/// How a place is chosen, and what has to be remembered for it.
#[derive(Clone, Debug)]
pub(crate) enum Strategy {
    /// There is only one.
    Only(Target),
    /// Each alike.
    Random(Box<[Target]>),
    /// Up to which number between 0 and 1, each.
    Probabilities(Box<[(f64, Target)]>),
    /// In turn: whose it is.
    RoundRobin(Box<[Target]>, usize),
    /// In turn, by weights.
    Weighted(WeightedRoundRobin),
    /// By what is seen of the stations: the least of it.
    Least(Least, Box<[Target]>),
    /// The shortest queue of some that are drawn.
    PowerOfK {
        k: usize,
        to: Box<[Target]>,
        /// What is remembered of each queue, when it is.
        memory: Option<Box<[u32]>>,
        /// For drawing without repetition.
        drawn: Vec<usize>,
    },
    /// By how many customers of the class are at the station that is left, from the fewest up.
    LoadDependent(Box<[(u32, Box<[(f64, Target)]>)]>),
    /// Through the stations in their order: those that come after this place, and how often each is visited, the whole
    /// part and the rest.
    InOrder(Box<[(Target, u32, f64)]>),
}

/// What is least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Least {
    /// Customers at the station.
    Queue,
    /// The last response time, but an empty station before one that is not.
    Response,
    /// The part of its servers that is busy, in whole numbers: 1 when all are.
    Utilization,
    /// The last service time, but an empty station before one that is not.
    Service,
}

/// Turns by weights, spread as Linux Virtual Server does it: those of the greatest weight first, then all whose weight
/// is at least a step lower, and so on.
#[derive(Clone, Debug)]
pub(crate) struct WeightedRoundRobin {
    to: Box<[(Target, u32)]>,
    at: usize,
    level: u32,
    step: u32,
    max: u32,
}

impl WeightedRoundRobin {
    /// Needs at least one weight above 0.
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

/// The customer that is routed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking {
    /// The station that the customer leaves; [`OUTSIDE`] for arrivals.
    pub(crate) from: Target,
    /// Customers of the class there, the asking one among them.
    pub(crate) of_class: u32,
    /// How many more visits to the station are due ([`Strategy::InOrder`]).
    pub(crate) visits_due: u32,
}

impl Strategy {
    /// Chooses; the second number is how many visits to that place are still due after this one.
    #[inline]
    pub(crate) fn choose(
        &mut self,
        asking: Asking,
        stream: &mut Stream,
        sight: impl Fn(Target) -> Sight,
    ) -> (Target, u32) {
        let target = match self {
            Self::Only(target) => *target,
            Self::Random(to) => to[stream.random_range(0..to.len())],
            Self::Probabilities(to) => by_probabilities(to, stream),
            Self::RoundRobin(to, turn) => {
                let target = to[*turn];
                *turn = if *turn + 1 == to.len() { 0 } else { *turn + 1 };
                target
            }
            Self::Weighted(turns) => turns.next(),
            Self::Least(what, to) => least(*what, to, stream, sight),
            Self::PowerOfK { k, to, memory, drawn } => power_of_k(*k, to, memory, drawn, stream, sight),
            Self::LoadDependent(ranges) => {
                let beyond = ranges.partition_point(|(from, _)| *from <= asking.of_class);
                by_probabilities(&ranges[beyond.saturating_sub(1)].1, stream)
            }
            Self::InOrder(stations) => return in_order(stations, asking, stream),
        };
        (target, 0)
    }
}

fn by_probabilities(to: &[(f64, Target)], stream: &mut Stream) -> Target {
    let at: f64 = stream.random();
    to.iter().find(|(up_to, _)| at < *up_to).or(to.last()).map_or(OUTSIDE, |(_, target)| *target)
}

/// The least of what is seen; among equals each alike. Going outside is as an empty station that takes no time.
fn least(what: Least, to: &[Target], stream: &mut Stream, sight: impl Fn(Target) -> Sight) -> Target {
    let value = |target: Target| {
        let seen = sight(target);
        let (group, value) = match what {
            Least::Queue => (false, f64::from(seen.present)),
            Least::Utilization => (false, seen.in_service.checked_div(seen.servers).map_or(0.0, f64::from)),
            Least::Response => (seen.present > 0, seen.last_response_s),
            Least::Service => (seen.present > 0, seen.last_service_s),
        };
        (group, value)
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
            // The n-th of equals takes the place with probability 1/n, so that all are alike in the end.
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
    sight: impl Fn(Target) -> Sight,
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
            shortest(sight(to[at]).present, at, &mut best, &mut equals, &mut chosen, stream);
        }
        return to[chosen];
    };
    for &at in drawn.iter() {
        memory[at] = sight(to[at]).present;
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

fn in_order(stations: &[(Target, u32, f64)], asking: Asking, stream: &mut Stream) -> (Target, u32) {
    if asking.visits_due > 0 {
        return (asking.from, asking.visits_due - 1);
    }
    for &(target, whole, rest) in stations {
        let one_more = rest > 0.0 && stream.random::<f64>() < rest;
        let visits = whole + u32::from(one_more);
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

    const ASKING: Asking = Asking { from: OUTSIDE, of_class: 1, visits_due: 0 };

    fn counts(strategy: &mut Strategy, rounds: u32, sight: impl Fn(Target) -> Sight + Copy) -> [u32; 4] {
        let mut stream = Stream::seed_from_u64(1);
        let mut counts = [0; 4];
        for _ in 0..rounds {
            counts[strategy.choose(ASKING, &mut stream, sight).0 as usize] += 1;
        }
        counts
    }

    fn queues(lengths: [u32; 4]) -> impl Fn(Target) -> Sight + Copy {
        move |target| Sight {
            present: lengths[target as usize],
            in_service: lengths[target as usize].min(1),
            servers: 1,
            last_response_s: f64::from(10 - u32::from(target)),
            last_service_s: f64::from(target),
        }
    }

    #[test]
    fn turns_are_taken_and_weights_spread() {
        let mut turns = Strategy::RoundRobin([0, 1, 2].into(), 0);
        let mut stream = Stream::seed_from_u64(1);
        let order: Vec<Target> =
            (0..5).map(|_| turns.choose(ASKING, &mut stream, queues([0; 4])).0).collect();
        assert_eq!(order, [0, 1, 2, 0, 1]);
        let mut weighted = WeightedRoundRobin::new([(0, 4), (1, 2), (2, 2)].into());
        let order: Vec<Target> = (0..8).map(|_| weighted.next()).collect();
        assert_eq!(order, [0, 0, 1, 2, 0, 0, 1, 2]);
        let mut with_zero = WeightedRoundRobin::new([(0, 0), (1, 3)].into());
        assert_eq!((0..4).map(|_| with_zero.next()).collect::<Vec<_>>(), [1, 1, 1, 1]);
    }

    #[test]
    fn the_least_is_chosen_and_equals_alike() {
        let to = || Box::from([0, 1, 2, 3]);
        let shortest = counts(&mut Strategy::Least(Least::Queue, to()), 3_000, queues([5, 1, 1, 1]));
        assert!(shortest[0] == 0 && shortest[1..].iter().all(|&n| (900..1_100).contains(&n)), "{shortest:?}");
        // If all are busy: the one with the fastest last response; otherwise an empty one.
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
    fn some_are_drawn_and_remembered() {
        let power = |memory: Option<Box<[u32]>>| Strategy::PowerOfK {
            k: 2,
            to: [0, 1, 2, 3].into(),
            memory,
            drawn: Vec::new(),
        };
        // The longest of four is chosen only when it is drawn twice: never.
        let found = counts(&mut power(None), 6_000, queues([0, 1, 2, 3]));
        // Pairs that hold the shortest: 3 of 6, the next: 2 of 6, 1 of 6.
        assert!(
            found[3] == 0 && found[0].abs_diff(3_000) < 150 && found[1].abs_diff(2_000) < 150,
            "{found:?}"
        );
        let found = counts(&mut power(Some([0; 4].into())), 4_000, queues([9, 9, 9, 0]));
        assert!(found[3] > 2_000, "an old memory of the empty one still counts: {found:?}");
    }

    #[test]
    fn probabilities_and_ranges() {
        let to: Box<[(f64, Target)]> = [(0.2, 0), (1.0, 1)].into();
        let found = counts(&mut Strategy::Probabilities(to.clone()), 5_000, queues([0; 4]));
        assert!(found[0].abs_diff(1_000) < 100, "{found:?}");
        let mut by_load = Strategy::LoadDependent([(0, [(1.0, 0)].into()), (3, [(1.0, 1)].into())].into());
        let mut stream = Stream::seed_from_u64(1);
        for (of_class, expected) in [(1, 0), (2, 0), (3, 1), (100, 1)] {
            let asking = Asking { of_class, ..ASKING };
            assert_eq!(by_load.choose(asking, &mut stream, queues([0; 4])).0, expected);
        }
    }

    #[test]
    fn a_pass_visits_each_station_as_often_as_configured() {
        let stations = [(0, 2, 0.0), (1, 0, 0.3), (2, 1, 0.5)];
        // From each station, and from outside.
        let mut strategies = [1, 2, 3, 0].map(|after| Strategy::InOrder(stations[after..].into()));
        let mut stream = Stream::seed_from_u64(4);
        let mut visits = [0_u32; 3];
        let rounds = 4_000;
        for _ in 0..rounds {
            let mut at = (OUTSIDE, 0);
            loop {
                let asking = Asking { from: at.0, of_class: 1, visits_due: at.1 };
                let place = if at.0 == OUTSIDE { 3 } else { usize::from(at.0) };
                at = strategies[place].choose(asking, &mut stream, queues([0; 4]));
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
