//! Builds a simulator for a network.

use std::collections::{BinaryHeap, VecDeque};

use busyhour_queueing::network::{
    self as model, ClassLoad, Place, QueueingNetwork, Scheduling, StationKind, TimeLaw,
};

use crate::customer::Customers;
use crate::events::EventQueue;
use crate::random::{Purpose, Streams};
use crate::routing::{Least, OUTSIDE, Strategy, Target, WeightedRoundRobin};
use crate::sampler::Sampler;
use crate::settings::SimulationError;
use crate::sharing::Sharing;
use crate::simulator::{Class, Route, Simulator, TimeSource};
use crate::station::{LoadDependentServer, PreemptionRule, Serving, Station};
use crate::tally::ObservationTally;
use crate::waiting::Waiting;

/// The name that the place outside all stations has in the keys of random streams.
const OUTSIDE_NAME: &str = model::OUTSIDE;

/// Maximum number of customers of closed classes. This many customers need about 1 GB of memory.
const POPULATION_MAX: u64 = 10_000_000;

/// Builds a simulator at time 0. `network` must be valid.
pub(crate) fn build(network: &QueueingNetwork, streams: Streams) -> Result<Simulator, SimulationError> {
    let (stations, classes) = (network.stations.len(), network.classes.len());
    if stations >= usize::from(OUTSIDE) || classes >= usize::from(u16::MAX) {
        return Err(SimulationError::TooLarge { what: "stations or classes", most: u64::from(OUTSIDE) - 1 });
    }
    let users: Vec<u64> = network.classes.iter().map(|class| class.users().unwrap_or(0)).collect();
    if users.iter().fold(0, |sum: u64, users| sum.saturating_add(*users)) > POPULATION_MAX {
        return Err(SimulationError::TooLarge { what: "customers", most: POPULATION_MAX });
    }
    let builder = Builder { network, streams, levels: levels(network) };
    let mut simulator = Simulator {
        now_s: 0.0,
        events: EventQueue::default(),
        customers: Customers::default(),
        stations: network
            .stations
            .iter()
            .map(|station| builder.station(station))
            .collect::<Result<_, _>>()?,
        classes: network.classes.iter().map(|class| builder.class(class)).collect::<Result<_, _>>()?,
        services: builder.for_all_pairs(|station, class| {
            let Some(law) = station.service(class) else { return Ok(None) };
            builder.time_source(law, Purpose::Service, &station.name, class).map(Some)
        })?,
        routes: builder.routes()?,
        switching: builder
            .for_all_pairs(|station, class| Ok(streams.stream(Purpose::Switching, &station.name, class)))?,
        tally: ObservationTally::new((stations + 1) * classes),
        moves: Vec::new(),
        freed: Vec::new(),
        customers_max: usize::MAX,
        visits: 0,
        halt: None,
        simultaneous: 0,
    };
    simulator.start(&users);
    Ok(simulator)
}

/// The rank of each class's priority among all priorities; 0 is the highest.
fn levels(network: &QueueingNetwork) -> Vec<usize> {
    let mut priorities: Vec<i32> = network.classes.iter().map(|class| class.priority).collect();
    priorities.sort_unstable_by(|a, b| b.cmp(a));
    priorities.dedup();
    let level = |priority: i32| priorities.iter().position(|other| *other == priority).unwrap_or(0);
    network.classes.iter().map(|class| level(class.priority)).collect()
}

struct Builder<'n> {
    network: &'n QueueingNetwork,
    streams: Streams,
    levels: Vec<usize>,
}

impl Builder<'_> {
    /// Calls `create` for all pairs of a station and a class.
    fn for_all_pairs<T>(
        &self,
        create: impl Fn(&model::Station, &str) -> Result<T, SimulationError>,
    ) -> Result<Vec<T>, SimulationError> {
        let pairs = self
            .network
            .stations
            .iter()
            .flat_map(|station| self.network.classes.iter().map(move |class| (station, class)));
        pairs.map(|(station, class)| create(station, &class.name)).collect()
    }

    fn time_source(
        &self,
        law: &TimeLaw,
        purpose: Purpose,
        station: &str,
        class: &str,
    ) -> Result<TimeSource, SimulationError> {
        let sampler = Sampler::new(law)
            .ok_or_else(|| SimulationError::Law { station: station.to_owned(), class: class.to_owned() })?;
        Ok(TimeSource { sampler, stream: self.streams.stream(purpose, station, class) })
    }

    fn class(&self, class: &model::CustomerClass) -> Result<Class, SimulationError> {
        let (law, is_closed) = match &class.load {
            ClassLoad::Closed { think, .. } => (think, true),
            ClassLoad::Open { interarrival } => (interarrival, false),
        };
        let outside = self.time_source(law, Purpose::Arrival, OUTSIDE_NAME, &class.name)?;
        let level = self.network.class(&class.name).map_or(0, |at| self.levels[at]);
        Ok(Class { outside, is_closed, level })
    }

    fn class_index(&self, name: &str) -> Result<u16, SimulationError> {
        let at = self.network.class(name).ok_or_else(|| SimulationError::Unknown(name.to_owned()))?;
        u16::try_from(at).map_err(|_| SimulationError::Unknown(name.to_owned()))
    }

    fn target(&self, place: &Place) -> Result<Target, SimulationError> {
        let Place::Station(name) = place else { return Ok(OUTSIDE) };
        let at = self.network.station(name).ok_or_else(|| SimulationError::Unknown(name.clone()))?;
        u16::try_from(at).map_err(|_| SimulationError::Unknown(name.clone()))
    }

    fn targets(&self, places: &[Place]) -> Result<Box<[Target]>, SimulationError> {
        places.iter().map(|place| self.target(place)).collect()
    }

    fn station(&self, station: &model::Station) -> Result<Station, SimulationError> {
        let (serving, servers) = match &station.kind {
            StationKind::Queue(queue) => return Ok(self.queue(&station.name, queue)),
            StationKind::Delay { .. } => (Serving::Delay, 0),
            StationKind::Fork { to, tasks } => {
                let targets = self.targets(to)?;
                (Serving::Fork(targets.iter().map(|&target| (target, *tasks)).collect()), 0)
            }
            StationKind::Join => (Serving::Join, 0),
            StationKind::Router => {
                let no_switches = self.network.classes.iter().map(|_| Box::default()).collect();
                (Serving::Router(no_switches), 0)
            }
            StationKind::ClassSwitch { to } => {
                let switch = |class: &model::CustomerClass| match to.get(&class.name) {
                    Some(shares) => cumulative(shares.iter(), |name| self.class_index(name)),
                    None => Ok(Box::default()),
                };
                (Serving::Router(self.network.classes.iter().map(switch).collect::<Result<_, _>>()?), 0)
            }
        };
        Ok(Station::new(serving, Waiting::Fifo(VecDeque::new()), servers))
    }

    fn queue(&self, name: &str, queue: &model::Queue) -> Station {
        let fifo = || Waiting::Fifo(VecDeque::new());
        let level_count = self.levels.iter().max().map_or(1, |lowest| lowest + 1);
        let by_level = || Waiting::Levels(vec![VecDeque::new(); level_count]);
        let mut weights = vec![1.0; self.network.classes.len()];
        let (waiting, preemption, is_shared) = match &queue.scheduling {
            Scheduling::Fcfs => (fifo(), None, false),
            Scheduling::Lcfs => (Waiting::Lifo(Vec::new()), None, false),
            Scheduling::LcfsPreemptiveResume => {
                (Waiting::Lifo(Vec::new()), Some(PreemptionRule::FirstArrival), false)
            }
            Scheduling::Random => {
                let stream = self.streams.stream(Purpose::Choice, name, "");
                (Waiting::Random(Vec::new(), stream), None, false)
            }
            Scheduling::ShortestJobFirst => (Waiting::Shortest(BinaryHeap::new(), 0), None, false),
            Scheduling::ProcessorSharing => (fifo(), None, true),
            Scheduling::DiscriminatoryProcessorSharing { weights: given } => {
                for (weight, class) in weights.iter_mut().zip(&self.network.classes) {
                    *weight = given.get(&class.name).copied().unwrap_or(1.0);
                }
                (fifo(), None, true)
            }
            Scheduling::Priority => (by_level(), None, false),
            Scheduling::PriorityPreemptive => (by_level(), Some(PreemptionRule::LowerLevel), false),
        };
        let serving = match (queue.speeds.is_empty(), is_shared, preemption) {
            (true, true, _) => Serving::Shared(Sharing::servers(queue.servers, weights)),
            (false, true, _) => Serving::Shared(Sharing::load_dependent(queue.speeds.clone(), weights)),
            (false, false, preemption) => Serving::LoadDependent(LoadDependentServer {
                speeds: queue.speeds.as_slice().into(),
                preemption,
                customer: None,
                speed: 0.0,
                since_s: 0.0,
                blocked: false,
            }),
            (true, false, Some(rule)) => Serving::Preemptive(rule, Vec::new()),
            (true, false, None) => Serving::NonPreemptive,
        };
        let mut station = Station::new(serving, waiting, queue.servers);
        station.draws_on_arrival = queue.scheduling == Scheduling::ShortestJobFirst;
        if let Some(capacity) = queue.capacity {
            (station.capacity, station.when_full) = (capacity.customers, capacity.when_full);
        }
        station
    }

    fn routes(&self) -> Result<Vec<Route>, SimulationError> {
        let network = self.network;
        let places = network
            .stations
            .iter()
            .map(|station| Place::Station(station.name.clone()))
            .chain([Place::Outside])
            .collect::<Vec<_>>();
        let mut routes = Vec::with_capacity(places.len() * network.classes.len());
        for place in &places {
            for class in &network.classes {
                let strategy = if network.routes.is_empty() {
                    self.in_order(place, &class.name)?
                } else {
                    match network.route(place, &class.name) {
                        Some(route) => self.strategy(&route.strategy)?,
                        // In a valid network, no customer of this class visits the station.
                        None => Strategy::Fixed(OUTSIDE),
                    }
                };
                let stream = self.streams.stream(Purpose::Routing, place.name(), &class.name);
                routes.push(Route { strategy, stream });
            }
        }
        Ok(routes)
    }

    /// Routing in a network without routes: customers visit the stations in their order, here those after `place`.
    fn in_order(&self, place: &Place, class: &str) -> Result<Strategy, SimulationError> {
        let own = match place {
            Place::Outside => None,
            Place::Station(name) => self.network.station(name),
        };
        let mut later = Vec::new();
        for (at, station) in self.network.stations.iter().enumerate().skip(own.map_or(0, |at| at + 1)) {
            let visits = station.visits(class);
            if visits >= f64::from(u32::MAX) {
                return Err(SimulationError::TooLarge { what: "visits", most: u64::from(u32::MAX) - 1 });
            }
            if visits > 0.0 {
                later.push((at as Target, visits.trunc() as u32, visits.fract()));
            }
        }
        let is_single_visit = own.is_none_or(|at| self.network.stations[at].visits(class) <= 1.0);
        Ok(match later.first() {
            None if is_single_visit => Strategy::Fixed(OUTSIDE),
            Some((next, 1, fraction)) if is_single_visit && *fraction == 0.0 => Strategy::Fixed(*next),
            _ => Strategy::InOrder(later.into()),
        })
    }

    fn strategy(&self, strategy: &model::Strategy) -> Result<Strategy, SimulationError> {
        let places = strategy.places();
        if let (false, [only]) = (matches!(strategy, model::Strategy::LoadDependent(_)), places.as_slice()) {
            return Ok(Strategy::Fixed(self.target(only)?));
        }
        Ok(match strategy {
            model::Strategy::Random(to) => Strategy::Random(self.targets(to)?),
            model::Strategy::Probabilities(to) => {
                let to = to.iter().map(|(place, share)| (place, share));
                Strategy::Probabilities(cumulative(to, |place| self.target(place))?)
            }
            model::Strategy::RoundRobin(to) => Strategy::RoundRobin(self.targets(to)?, 0),
            model::Strategy::WeightedRoundRobin(to) => {
                let to = to.iter().map(|(place, weight)| Ok((self.target(place)?, *weight)));
                Strategy::Weighted(WeightedRoundRobin::new(to.collect::<Result<_, SimulationError>>()?))
            }
            model::Strategy::JoinShortestQueue(to) => Strategy::Least(Least::Queue, self.targets(to)?),
            model::Strategy::ShortestResponseTime(to) => Strategy::Least(Least::Response, self.targets(to)?),
            model::Strategy::LeastUtilization(to) => Strategy::Least(Least::Utilization, self.targets(to)?),
            model::Strategy::FastestService(to) => Strategy::Least(Least::Service, self.targets(to)?),
            model::Strategy::PowerOfK { k, with_memory, to } => Strategy::PowerOfK {
                k: *k as usize,
                to: self.targets(to)?,
                memory: with_memory.then(|| vec![0; to.len()].into()),
                drawn: Vec::new(),
            },
            model::Strategy::LoadDependent(ranges) => Strategy::LoadDependent(
                ranges
                    .iter()
                    .map(|range| {
                        let from = u32::try_from(range.from).unwrap_or(u32::MAX);
                        Ok((from, cumulative(range.to.iter(), |place| self.target(place))?))
                    })
                    .collect::<Result<_, SimulationError>>()?,
            ),
        })
    }
}

/// Converts probabilities to cumulative probabilities, and keys to indices.
fn cumulative<'a, K: 'a, T>(
    shares: impl Iterator<Item = (&'a K, &'a f64)>,
    index: impl Fn(&K) -> Result<T, SimulationError>,
) -> Result<Box<[(f64, T)]>, SimulationError> {
    let mut up_to = 0.0;
    shares
        .filter(|(_, share)| **share > 0.0)
        .map(|(key, share)| {
            up_to += share;
            Ok((up_to, index(key)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use busyhour_queueing::network::{CustomerClass, PerClass, Queue};

    #[test]
    fn a_running_simulation_does_not_allocate() {
        let law = |mean_s: f64| PerClass::Same(TimeLaw::Exponential { mean_s });
        let station = |name: &str, scheduling| model::Station {
            name: name.into(),
            kind: StationKind::Queue(Queue { scheduling, ..Queue::new(1, law(0.1)) }),
            visits: PerClass::Same(1.0),
        };
        let network = QueueingNetwork::new(
            vec![CustomerClass::open("jobs", 5.0), CustomerClass::closed("users", 10, 4.0)],
            vec![
                station("fcfs", Scheduling::Fcfs),
                station("ps", Scheduling::ProcessorSharing),
                station("lcfs-pr", Scheduling::LcfsPreemptiveResume),
                station("sjf", Scheduling::ShortestJobFirst),
            ],
        );
        assert_eq!(network.validate(), []);
        let mut simulator = build(&network, Streams::new(1, 0)).unwrap();
        simulator.run(64);
        assert!(simulator.tally.begin_batches(simulator.now_s));
        // Runs until queues and histograms have their maximum length and batches have been merged for the first time.
        simulator.run(400_000);
        let used = allocation_counter::measure(|| {
            simulator.run(200_000);
        });
        // A histogram may still grow if a time is longer than all previous ones.
        assert!(used.count_total <= 4, "{used:?}");
    }
}
