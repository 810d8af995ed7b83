//! Exact solutions of one queue with Poisson arrivals without product form: M/G/1 in order of arrival or with priorities,
//! and M/M/m/K, whose capacity is limited.

use super::assumptions::{BrokenAssumption, VISITS_MIN};
use super::error::{Saturated, SolveError};
use super::product_form::{Demands, Means, assemble, demands, may_return};
use super::solution::{MethodUsed, Solution};
use crate::birth_death::lossy;
use crate::network::{Capacity, Queue, QueueingNetwork, Scheduling, StationKind, TimeLaw, WhenFull};

/// The Poisson stream of a class at the queue.
struct Stream {
    rate_per_s: f64,
    service_s: f64,
    /// E\[S²\] in s².
    second_moment_s2: f64,
    priority: i32,
}

impl Stream {
    fn load(&self) -> f64 {
        self.rate_per_s * self.service_s
    }
}

/// The exact solution; `None` for other kinds of networks.
pub(super) fn solve(
    network: &QueueingNetwork,
    visits: &[Vec<f64>],
    broken: &[BrokenAssumption],
) -> Option<Result<Solution, SolveError>> {
    if network.classes.iter().any(crate::network::CustomerClass::is_closed) {
        return None;
    }
    let stations = demands(network, visits);
    let visited = |station: &&Demands| station.visits.iter().any(|visits| *visits > VISITS_MIN);
    let mut queues = stations.iter().filter(visited).filter(|station| station.speeds.is_some());
    let (Some(station), None) = (queues.next(), queues.next()) else { return None };
    let data = &network.stations[station.at];
    let StationKind::Queue(queue) = &data.kind else { return None };
    // With feedback the stream of arrivals at the queue is not Poisson.
    let has_feedback = network
        .classes
        .iter()
        .zip(&station.visits)
        .any(|(class, visits)| *visits > 1.0 + 1e-9 || may_return(network, data, &class.name));
    if has_feedback || !queue.speeds.is_empty() {
        return None;
    }
    match broken {
        [BrokenAssumption::Capacity { .. }] => {
            let is_only_station = stations.iter().filter(visited).count() == 1;
            queue
                .capacity
                .filter(|_| is_only_station)
                .and_then(|capacity| solve_with_losses(network, &stations, station, capacity))
        }
        _ if queue.servers == 1 => solve_one_server(network, &stations, station, queue, broken),
        _ => None,
    }
}

fn streams(network: &QueueingNetwork, station: &Demands) -> Vec<Stream> {
    let data = &network.stations[station.at];
    network
        .classes
        .iter()
        .enumerate()
        .map(|(at, class)| {
            let scv = data.service(&class.name).map_or(0.0, TimeLaw::scv);
            Stream {
                rate_per_s: class.rate_per_s().unwrap_or_default() * station.visits[at],
                service_s: station.service_s[at],
                second_moment_s2: station.service_s[at].powi(2) * (1.0 + scv),
                priority: class.priority,
            }
        })
        .collect()
}

/// M/G/1. The mean waiting time is the same for all disciplines that ignore service times (Pollaczek 1930, Khinchine 1932).
/// For priorities see Cobham (Operations Research 2, 1954), for preemptive priorities Jaiswal, *Priority Queues* (1968).
fn solve_one_server(
    network: &QueueingNetwork,
    stations: &[Demands],
    station: &Demands,
    queue: &Queue,
    broken: &[BrokenAssumption],
) -> Option<Result<Solution, SolveError>> {
    let is_supported = |broken: &BrokenAssumption| {
        matches!(
            broken,
            BrokenAssumption::ServiceLaw { .. }
                | BrokenAssumption::ServiceByClass { .. }
                | BrokenAssumption::Scheduling { .. }
        )
    };
    if !broken.iter().all(is_supported) {
        return None;
    }
    // Successive service times must be independent.
    let is_renewal = |law: &TimeLaw| !matches!(law, TimeLaw::Mmpp2 { .. } | TimeLaw::Replay { .. });
    let data = &network.stations[station.at];
    if !network.classes.iter().filter_map(|class| data.service(&class.name)).all(is_renewal) {
        return None;
    }
    let streams = streams(network, station);
    let utilization: f64 = streams.iter().map(Stream::load).sum();
    if utilization >= 1.0 {
        return Some(Err(SolveError::Saturated(vec![Saturated { station: data.name.clone(), utilization }])));
    }
    let load = |is_included: &dyn Fn(&Stream) -> bool| -> f64 {
        streams.iter().filter(|stream| is_included(stream)).map(Stream::load).sum()
    };
    // Mean residual service time of the included streams that an arrival finds in service.
    let residual_s = |is_included: &dyn Fn(&Stream) -> bool| -> f64 {
        streams
            .iter()
            .filter(|stream| is_included(stream))
            .map(|stream| 0.5 * stream.rate_per_s * stream.second_moment_s2)
            .sum()
    };
    let by_priority = matches!(queue.scheduling, Scheduling::Priority | Scheduling::PriorityPreemptive);
    let response_s = |own: &Stream| -> Option<f64> {
        let is_higher = |other: &Stream| by_priority && other.priority > own.priority;
        let is_not_lower = |other: &Stream| !by_priority || other.priority >= own.priority;
        let divisor = (1.0 - load(&is_higher)) * (1.0 - load(&is_not_lower));
        match queue.scheduling {
            Scheduling::Fcfs | Scheduling::Lcfs | Scheduling::Random | Scheduling::Priority => {
                Some(own.service_s + residual_s(&|_: &Stream| true) / divisor)
            }
            Scheduling::PriorityPreemptive => {
                Some(own.service_s / (1.0 - load(&is_higher)) + residual_s(&is_not_lower) / divisor)
            }
            _ => None,
        }
    };
    let responses_s: Vec<f64> = streams.iter().map(response_s).collect::<Option<_>>()?;
    if responses_s.iter().any(|response_s| !response_s.is_finite()) {
        return None;
    }
    let rates_per_s: Vec<f64> =
        network.classes.iter().map(|class| class.rate_per_s().unwrap_or_default()).collect();
    let queues = stations
        .iter()
        .map(|at| {
            (0..rates_per_s.len())
                .map(|class| {
                    if std::ptr::eq(at, station) {
                        streams[class].rate_per_s * responses_s[class]
                    } else {
                        rates_per_s[class] * at.demand_s(class)
                    }
                })
                .collect()
        })
        .collect();
    let method = if by_priority { MethodUsed::Priorities } else { MethodUsed::PollaczekKhinchine };
    Some(Ok(assemble(network, stations, &Means { rates_per_s, queues }, method, Vec::new())))
}

/// M/M/m/K: arrivals at a full station are lost.
fn solve_with_losses(
    network: &QueueingNetwork,
    stations: &[Demands],
    station: &Demands,
    capacity: Capacity,
) -> Option<Result<Solution, SolveError>> {
    if capacity.when_full != WhenFull::Drop {
        return None;
    }
    let streams = streams(network, station);
    let load: f64 = streams.iter().map(Stream::load).sum();
    let found = lossy(load, station.speeds.as_deref()?, capacity.customers);
    let accepted = 1.0 - found.lost;
    let rates_per_s: Vec<f64> = streams.iter().map(|stream| stream.rate_per_s * accepted).collect();
    // The share of lost passes equals the share of lost arrivals only if every pass visits the station once.
    if load <= 0.0 || station.visits.iter().any(|visits| (visits - 1.0).abs() > 1e-9) {
        return None;
    }
    let shares = streams.iter().map(|stream| found.mean * stream.load() / load).collect();
    let queues = stations
        .iter()
        .map(|at| if std::ptr::eq(at, station) { Vec::clone(&shares) } else { vec![0.0; streams.len()] })
        .collect();
    let mut solution =
        assemble(network, stations, &Means { rates_per_s, queues }, MethodUsed::Loss, Vec::new());
    for (class, stream) in solution.classes.iter_mut().zip(&streams) {
        class.lost_per_s = Some(stream.rate_per_s * found.lost);
        class.lost_share = Some(found.lost);
    }
    // A station that drops customers can always accept the load.
    solution.open_growth_max = None;
    Some(Ok(solution))
}
