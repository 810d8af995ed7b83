//! Solves networks with one closed class and one server whose service times are not exponential. The solution is exact if the
//! time between two services of a user is exponential, and approximate if it includes a delay.

use super::assumptions::{BrokenAssumption, VISITS_MIN};
use super::product_form::{Means, assemble, demands, may_return};
use super::solution::{MethodUsed, Solution};
use crate::finite_source::single_server;
use crate::network::{ClassLoad, QueueingNetwork, Scheduling, StationKind, TimeLaw};

/// The solution; `None` if the network is not of this kind, or if the solution is not exact and `approximate` is not set.
pub(super) fn solve(
    network: &QueueingNetwork,
    visits: &[Vec<f64>],
    broken: &[BrokenAssumption],
    approximate: bool,
) -> Option<Solution> {
    let [class] = &network.classes[..] else { return None };
    let ClassLoad::Closed { users, think } = &class.load else { return None };
    if *users == 0 || !broken.iter().all(|broken| matches!(broken, BrokenAssumption::ServiceLaw { .. })) {
        return None;
    }
    let stations = demands(network, visits);
    let visited = || stations.iter().filter(|station| station.visits[0] > VISITS_MIN);
    let mut queues = visited().filter(|station| station.speeds.is_some());
    let (Some(station), None) = (queues.next(), queues.next()) else { return None };
    let data = &network.stations[station.at];
    let StationKind::Queue(queue) = &data.kind else { return None };
    let is_one_visit = (station.visits[0] - 1.0).abs() < 1e-9 && !may_return(network, data, &class.name);
    // The queue length is the same for every discipline that does not depend on service times.
    let ignores_service_times =
        matches!(queue.scheduling, Scheduling::Fcfs | Scheduling::Lcfs | Scheduling::Random);
    if queue.servers != 1 || !queue.speeds.is_empty() || !ignores_service_times || !is_one_visit {
        return None;
    }
    // `single_server` supports gamma laws, which include Erlang and constant times.
    let law = data.service(&class.name)?;
    if !matches!(law, TimeLaw::Deterministic { .. } | TimeLaw::Erlang { .. } | TimeLaw::Gamma { .. }) {
        return None;
    }
    let delays_s: f64 =
        visited().filter(|station| station.speeds.is_none()).map(|station| station.demand_s(0)).sum();
    let pause_s = think.mean_s() + delays_s;
    let is_exact = pause_s == 0.0 || delays_s == 0.0 && think.is_exponential();
    if !is_exact && !approximate {
        return None;
    }
    let ignored = if is_exact { vec![] } else { vec![BrokenAssumption::Pause { class: class.name.clone() }] };
    let rate_per_s = single_server(*users, pause_s, station.service_s[0], law.scv());
    let queues = stations
        .iter()
        .map(|at| {
            let is_queue = std::ptr::eq(at, station);
            vec![if is_queue { *users as f64 - rate_per_s * pause_s } else { rate_per_s * at.demand_s(0) }]
        })
        .collect();
    let means = Means { rates_per_s: vec![rate_per_s], queues };
    Some(assemble(network, &stations, &means, MethodUsed::BusyPeriods, ignored))
}
