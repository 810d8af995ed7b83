//! Solution of open, closed and mixed product-form networks.

use super::assumptions::{BrokenAssumption, VISITS_MIN};
use super::bounds::{Load, bounds};
use super::error::{Saturated, SolveError};
use super::method::{Effort, Method};
use super::solution::{
    ClassSolution, MethodUsed, QUANTILES, Quantile, Solution, StationClassSolution, StationSolution,
};
use crate::birth_death::{BirthDeath, MultiServer};
use crate::mva::{Centre, ClosedClass, ClosedMeans, ClosedNetwork, convolution, linearizer, multi_class};
use crate::network::{Place, QueueingNetwork, Scheduling, Station, StationKind};

/// Maximum number of steps of an exact solution by default. They take some tenths of a second.
const STEPS_AFFORDABLE: f64 = 3e7;

/// Limits of exact solutions: the number of populations and the memory for them.
const POPULATIONS_MAX: f64 = 3e7;
const MEMORY_MAX_BYTES: f64 = 2e9;

/// The service demands at a station.
pub(super) struct Demands {
    /// Index of the station in the network.
    pub(super) at: usize,
    /// Visits per pass, by class.
    pub(super) visits: Vec<f64>,
    /// Mean service time of a visit, by class.
    pub(super) service_s: Vec<f64>,
    /// Speeds in servers; `None` for a delay.
    pub(super) speeds: Option<Vec<f64>>,
}

impl Demands {
    pub(super) fn demand_s(&self, class: usize) -> f64 {
        self.visits[class] * self.service_s[class]
    }

    /// The speed with many customers; `None` for a delay.
    fn last_speed(&self) -> Option<f64> {
        self.speeds.as_ref().and_then(|speeds| speeds.last()).copied()
    }

    /// The load of the open classes, in servers.
    fn open_load(&self, rates_per_s: &[Option<f64>]) -> f64 {
        rates_per_s
            .iter()
            .enumerate()
            .filter_map(|(class, rate)| rate.map(|rate| rate * self.demand_s(class)))
            .sum()
    }
}

/// The queues and delays of the network.
pub(super) fn demands(network: &QueueingNetwork, visits: &[Vec<f64>]) -> Vec<Demands> {
    let mut found = Vec::new();
    for (at, station) in network.stations.iter().enumerate() {
        let speeds = match &station.kind {
            StationKind::Queue(queue) if queue.speeds.is_empty() => {
                Some((1..=queue.servers).map(f64::from).collect())
            }
            StationKind::Queue(queue) => Some(queue.speeds.clone()),
            StationKind::Delay { .. } => None,
            _ => continue,
        };
        let visits =
            visits.iter().map(|visits| if visits[at] > VISITS_MIN { visits[at] } else { 0.0 }).collect();
        let service_s = network
            .classes
            .iter()
            .map(|class| station.service(&class.name).map_or(0.0, crate::network::TimeLaw::mean_s))
            .collect();
        found.push(Demands { at, visits, service_s, speeds });
    }
    found
}

/// The mean values of a network.
pub(super) struct Means {
    /// Throughput by class.
    pub(super) rates_per_s: Vec<f64>,
    /// Mean number of customers: `[station][class]`, in the order of [`demands`].
    pub(super) queues: Vec<Vec<f64>>,
}

/// Solves a network as if the `ignored` assumptions held.
pub(super) fn solve(
    network: &QueueingNetwork,
    visits: &[Vec<f64>],
    method: Method,
    ignored: Vec<BrokenAssumption>,
) -> Result<Solution, SolveError> {
    let stations = demands(network, visits);
    let open: Vec<Option<f64>> =
        network.classes.iter().map(crate::network::CustomerClass::rate_per_s).collect();
    let saturated = saturated(network, &stations, &open);
    if !saturated.is_empty() {
        return Err(SolveError::Saturated(saturated));
    }
    let closed: Vec<usize> = (0..network.classes.len()).filter(|class| open[*class].is_none()).collect();
    for class in &closed {
        let class_data = &network.classes[*class];
        let time_s: f64 = stations.iter().map(|station| station.demand_s(*class)).sum();
        if class_data.users() != Some(0) && time_s + class_data.think_s().unwrap_or_default() <= 0.0 {
            return Err(SolveError::NoTime { class: class_data.name.clone() });
        }
    }
    let mut means = Means {
        rates_per_s: open.iter().map(|rate| rate.unwrap_or_default()).collect(),
        queues: vec![vec![0.0; network.classes.len()]; stations.len()],
    };
    let mut marginals = vec![Vec::new(); stations.len()];
    let mut used = MethodUsed::Open;
    if !closed.is_empty() {
        let reduced = reduced_network(network, &stations, &open, &closed);
        let found = solve_closed(&reduced, method)?;
        used = found.method;
        marginals = found.marginals;
        for (place, class) in closed.iter().enumerate() {
            means.rates_per_s[*class] = found.means.rates_per_s[place];
            for (queues, closed_queues) in means.queues.iter_mut().zip(&found.means.queues) {
                queues[*class] = closed_queues[place];
            }
        }
    }
    add_open_queues(&stations, &open, &marginals, &mut means);
    let mut solution = assemble(network, &stations, &means, used, ignored);
    if closed.is_empty() && solution.ignored.is_empty() {
        add_quantiles(network, &stations, &mut solution);
    }
    Ok(solution)
}

fn saturated(network: &QueueingNetwork, stations: &[Demands], open: &[Option<f64>]) -> Vec<Saturated> {
    stations
        .iter()
        .filter_map(|station| {
            let utilization = station.open_load(open) / station.last_speed()?;
            let name = network.stations[station.at].name.clone();
            (utilization >= 1.0).then_some(Saturated { station: name, utilization })
        })
        .collect()
}

/// The network of the closed classes, with the part of the speeds that the open classes do not use.
fn reduced_network(
    network: &QueueingNetwork,
    stations: &[Demands],
    open: &[Option<f64>],
    closed: &[usize],
) -> ClosedNetwork {
    let centres = stations
        .iter()
        .map(|station| Centre {
            demands_s: closed.iter().map(|class| station.demand_s(*class)).collect(),
            speeds: station
                .speeds
                .as_deref()
                .map(|speeds| BirthDeath { load: station.open_load(open), speeds }.remaining_speeds()),
        })
        .collect();
    let classes = closed
        .iter()
        .map(|class| {
            let class = &network.classes[*class];
            ClosedClass {
                users: class.users().unwrap_or_default(),
                think_s: class.think_s().unwrap_or_default(),
            }
        })
        .collect();
    ClosedNetwork { centres, classes }
}

/// The solution of the closed classes.
struct ClosedSolution {
    method: MethodUsed,
    means: ClosedMeans,
    /// See [`convolution::Convolved::marginals`]; empty for methods other than convolution.
    marginals: Vec<Vec<f64>>,
}

/// Replaces a constant speed other than 1 by demands divided by that speed.
fn with_unit_speeds(mut network: ClosedNetwork) -> ClosedNetwork {
    for centre in &mut network.centres {
        if let Some([speed]) = centre.speeds.as_deref() {
            let speed = *speed;
            centre.demands_s.iter_mut().for_each(|demand_s| *demand_s /= speed);
            centre.speeds = Some(vec![1.0]);
        }
    }
    network
}

/// Whether the approximations are applicable. They support several servers, but not other load-dependent speeds, such as those
/// of servers that open classes share.
fn can_approximate(network: &ClosedNetwork) -> bool {
    let is_servers =
        |speeds: &Vec<f64>| speeds.len() == 1 || (1..).zip(speeds).all(|(n, speed)| *speed == f64::from(n));
    network.centres.iter().all(|centre| centre.speeds.as_ref().is_none_or(is_servers))
}

/// Whether an exact solution is within the limits.
fn is_within_limits(network: &ClosedNetwork) -> bool {
    network.lattice_size() <= POPULATIONS_MAX && network.exact_memory_bytes() <= MEMORY_MAX_BYTES
}

/// The effort of an exact solution; `None` without closed classes, with a saturated station, or beyond the limits.
pub(super) fn effort(network: &QueueingNetwork, visits: &[Vec<f64>]) -> Option<Effort> {
    let stations = demands(network, visits);
    let open: Vec<Option<f64>> =
        network.classes.iter().map(crate::network::CustomerClass::rate_per_s).collect();
    let closed: Vec<usize> = (0..network.classes.len()).filter(|class| open[*class].is_none()).collect();
    if closed.is_empty() || !saturated(network, &stations, &open).is_empty() {
        return None;
    }
    let reduced = with_unit_speeds(reduced_network(network, &stations, &open, &closed));
    is_within_limits(&reduced).then(|| Effort {
        populations: reduced.lattice_size(),
        steps: reduced.exact_cost(),
        linearizer: can_approximate(&reduced),
    })
}

fn solve_closed(network: &ClosedNetwork, method: Method) -> Result<ClosedSolution, SolveError> {
    let network = with_unit_speeds(network.clone());
    let is_load_dependent =
        network.centres.iter().any(|centre| centre.speeds.as_ref().is_some_and(|s| s.len() > 1));
    let can_approximate = can_approximate(&network);
    let populations = network.lattice_size();
    let is_within_limits = is_within_limits(&network);
    let is_affordable = network.exact_cost() <= STEPS_AFFORDABLE && is_within_limits;
    let too_large = SolveError::TooLarge { populations, linearizer: can_approximate };
    let solution = |method: MethodUsed, means: ClosedMeans| ClosedSolution {
        method,
        means,
        marginals: vec![Vec::new(); network.centres.len()],
    };
    Ok(match method {
        Method::Linearizer | Method::Schweitzer | Method::Pdq if !can_approximate => return Err(too_large),
        Method::Linearizer => solution(MethodUsed::Linearizer, linearizer::linearizer(&network)),
        Method::Schweitzer => solution(MethodUsed::Schweitzer, linearizer::schweitzer_converged(&network)),
        Method::Pdq => solution(MethodUsed::Pdq, linearizer::schweitzer(&network, linearizer::PDQ)),
        Method::Automatic if !is_affordable && can_approximate => {
            solution(MethodUsed::Linearizer, linearizer::linearizer(&network))
        }
        Method::Automatic | Method::Exact => {
            if !is_within_limits {
                return Err(too_large);
            }
            if is_load_dependent {
                let convolution::Convolved { means, marginals } = convolution::means(&network);
                ClosedSolution { method: MethodUsed::Convolution, means, marginals }
            } else {
                solution(MethodUsed::ExactMva, multi_class::exact(&network))
            }
        }
    })
}

/// Adds the customers of the open classes: the mean of a Poisson stream, given the distribution of the closed customers.
fn add_open_queues(stations: &[Demands], open: &[Option<f64>], marginals: &[Vec<f64>], means: &mut Means) {
    for ((station, marginals), queues) in stations.iter().zip(marginals).zip(&mut means.queues) {
        let load = station.open_load(open);
        let closed: f64 = queues.iter().sum();
        let total = match (&station.speeds, station.last_speed()) {
            (Some(speeds), Some(last)) => {
                let stream = BirthDeath { load, speeds };
                let x = load / last;
                // Beyond the last speed, the mean is linear in the number of closed customers.
                let linear = |present: f64| (present + 1.0) * x / (1.0 - x);
                if marginals.is_empty() && closed == 0.0 {
                    stream.mean()
                } else {
                    linear(closed)
                        + marginals
                            .iter()
                            .enumerate()
                            .map(|(n, probability)| {
                                probability * (stream.mean_with_present(n) - linear(n as f64))
                            })
                            .sum::<f64>()
                }
            }
            _ => load,
        };
        for (class, rate) in open.iter().enumerate() {
            if let Some(rate) = rate
                && load > 0.0
            {
                queues[class] = total * rate * station.demand_s(class) / load;
            }
        }
    }
}

/// Builds the solution from the mean values.
pub(super) fn assemble(
    network: &QueueingNetwork,
    demands: &[Demands],
    means: &Means,
    method: MethodUsed,
    ignored: Vec<BrokenAssumption>,
) -> Solution {
    let stations = demands
        .iter()
        .zip(&means.queues)
        .map(|(station, queues)| station_solution(network, station, queues, &means.rates_per_s))
        .collect();
    let is_only_class = network.classes.len() == 1;
    let classes = network
        .classes
        .iter()
        .enumerate()
        .map(|(at, class)| {
            let rate = means.rates_per_s[at];
            let in_system: f64 = means.queues.iter().map(|queues| queues[at]).sum();
            let bounds =
                class.users().zip(class.think_s()).filter(|_| is_only_class).and_then(|(users, think_s)| {
                    let loads: Vec<Load<'_>> = demands
                        .iter()
                        .map(|station| Load {
                            demand_s: station.demand_s(at),
                            speeds: station.speeds.as_deref(),
                        })
                        .collect();
                    bounds(users, think_s, &loads)
                });
            ClassSolution {
                name: class.name.clone(),
                users: class.users(),
                think_s: class.think_s(),
                arrivals_per_s: class.rate_per_s(),
                throughput_per_s: rate,
                response_s: (rate > 0.0).then(|| in_system / rate),
                in_system,
                demand_s: demands.iter().map(|station| station.demand_s(at)).sum(),
                lost_per_s: None,
                lost_share: None,
                quantiles: Vec::new(),
                bounds,
            }
        })
        .collect();
    let open: Vec<Option<f64>> =
        network.classes.iter().map(crate::network::CustomerClass::rate_per_s).collect();
    let utilization_max = demands
        .iter()
        .filter_map(|station| Some(station.open_load(&open) / station.last_speed()?))
        .fold(0.0, f64::max);
    let open_growth_max = (utilization_max > 0.0).then(|| 1.0 / utilization_max);
    Solution { method, ignored, classes, stations, open_growth_max }
}

fn station_solution(
    network: &QueueingNetwork,
    station: &Demands,
    queues: &[f64],
    rates_per_s: &[f64],
) -> StationSolution {
    let servers = station.speeds.as_ref().map(|speeds| speeds.iter().copied().fold(0.0, f64::max));
    let classes: Vec<StationClassSolution> = network
        .classes
        .iter()
        .enumerate()
        .filter(|(class, _)| station.visits[*class] > 0.0)
        .map(|(at, class)| {
            let throughput_per_s = rates_per_s[at] * station.visits[at];
            let response_s = (throughput_per_s > 0.0).then(|| queues[at] / throughput_per_s);
            StationClassSolution {
                class: class.name.clone(),
                visits: station.visits[at],
                service_s: station.service_s[at],
                throughput_per_s,
                utilization: servers.map(|servers| throughput_per_s * station.service_s[at] / servers),
                queue: queues[at],
                response_s,
                residence_s: response_s.map(|response_s| response_s * station.visits[at]),
            }
        })
        .collect();
    StationSolution {
        name: network.stations[station.at].name.clone(),
        servers,
        utilization: servers
            .map(|_| classes.iter().filter_map(|class| class.utilization).fold(0.0, |sum, part| sum + part)),
        queue: queues.iter().sum(),
        classes,
    }
}

/// Adds quantiles of the response time to classes whose pass is one visit to an FCFS M/M/m station.
fn add_quantiles(network: &QueueingNetwork, stations: &[Demands], solution: &mut Solution) {
    for (class, found) in solution.classes.iter_mut().enumerate() {
        let mut visited = stations.iter().filter(|station| station.visits[class] > 0.0);
        let (Some(station), None) = (visited.next(), visited.next()) else { continue };
        let data = &network.stations[station.at];
        let StationKind::Queue(queue) = &data.kind else { continue };
        let is_fcfs = queue.scheduling == Scheduling::Fcfs && queue.speeds.is_empty();
        if !is_fcfs || station.visits[class] != 1.0 || may_return(network, data, &found.name) {
            continue;
        }
        let arrivals: f64 = (0..network.classes.len())
            .map(|other| arrival_rate_per_s(network, other) * station.visits[other])
            .sum();
        let queue =
            MultiServer { servers: queue.servers, rate_per_s: arrivals, service_s: station.service_s[class] };
        found.quantiles = QUANTILES
            .iter()
            .filter_map(|share| {
                queue.response_quantile_s(*share).map(|response_s| Quantile { share: *share, response_s })
            })
            .collect();
    }
}

fn arrival_rate_per_s(network: &QueueingNetwork, class: usize) -> f64 {
    network.classes[class].rate_per_s().unwrap_or_default()
}

/// Whether a customer may visit a station more than once per pass.
pub(super) fn may_return(network: &QueueingNetwork, station: &Station, class: &str) -> bool {
    if network.routes.is_empty() {
        return station.visits(class) > 1.0;
    }
    let start = Place::Station(station.name.clone());
    let mut reached = vec![start.clone()];
    let mut next = 0;
    while let Some(place) = reached.get(next).cloned() {
        next += 1;
        let Some(route) = network.route(&place, class) else { continue };
        for place in route.strategy.places() {
            if *place == start {
                return true;
            }
            if *place != Place::Outside && !reached.contains(place) {
                reached.push(place.clone());
            }
        }
    }
    false
}
