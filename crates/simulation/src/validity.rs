//! Determines, from the moments of the distributions, which measures can have a valid confidence interval.
//!
//! A service of length x blocks a server for time x. If the queue behind it is unlimited, both the length of the queue
//! and the time for which it exists grow in proportion to x, so the total waiting time is proportional to x². With one
//! server and FCFS, therefore, the mean waiting time is finite if E\[S²\] is finite (Pollaczek & Khinchine), and its
//! variance is finite if E\[S³\] is finite. The standard error of the mean is proportional to 1/√n only if E\[S⁴\] is
//! finite (Daley, "The serial correlation coefficients of waiting times in a stationary single server queue", Journal
//! of the Australian Mathematical Society 8, 1968). With m servers and on average ρ busy servers, a queue forms only if
//! s = m − ⌊ρ⌋ long services coincide. Then E\[Wʳ\] is finite if E\[S^((s + r)/s)\] is finite (Scheller-Wolf & Sigman,
//! "Delay moments for FIFO GI/GI/s queues", Queueing Systems 25, 1997).
//!
//! If there is no unlimited queue (closed classes only, limited capacity, processor sharing, preemption, delays), a service of
//! length x causes waiting times proportional to x, and a finite E\[S²\] is sufficient.

use busyhour_queueing::network::{ClassLoad, Queue, QueueingNetwork, Scheduling, Station, StationKind};
use busyhour_queueing::solve::visits;

use crate::result::{HeavyTail, MeasureKind, Reason};

/// The reason why a measure has no valid interval, with the distribution that causes it; `None` if the interval is valid.
pub(crate) type Verdict = Option<(Reason, HeavyTail)>;

/// The verdicts on the measures of a station or class.
#[derive(Clone, Debug, Default)]
struct Verdicts {
    /// The verdict on throughput and utilization.
    throughput: Verdict,
    /// The verdict on response time and number of customers.
    waiting: Verdict,
}

/// The verdicts on the measures of a network.
#[derive(Clone, Debug, Default)]
pub(crate) struct Validity {
    stations: Vec<Verdicts>,
    classes: Vec<Verdicts>,
}

impl Validity {
    pub(crate) fn new(network: &QueueingNetwork) -> Validity {
        let visits = visits_by_class(network);
        let is_visited = |class: usize, station: usize| visits[class][station] > 0.0;
        let mut found = Validity {
            stations: (0..network.stations.len()).map(|at| station_verdicts(network, at, &visits)).collect(),
            classes: vec![Verdicts::default(); network.classes.len()],
        };
        found.propagate_downstream(network, &is_visited);
        for (at, class) in network.classes.iter().enumerate() {
            let outside = outside_verdict(&class.load);
            let visited = || (0..network.stations.len()).filter(|&station| is_visited(at, station));
            let mut own = Verdicts { throughput: outside.clone(), waiting: None };
            for station in visited() {
                let verdicts = found.stations[station].clone();
                worsen(&mut own.waiting, &verdicts.waiting);
                if class.is_closed() {
                    // While customers are in the queue of one station, all other stations lack them.
                    worsen(&mut own.throughput, &verdicts.throughput);
                }
            }
            // The variability of arrivals affects the throughput of every visited station.
            for station in visited() {
                let verdicts = &mut found.stations[station];
                worsen(&mut verdicts.throughput, &outside);
                if class.is_closed() {
                    worsen(&mut verdicts.throughput, &own.throughput);
                }
                if matches!(network.stations[station].kind, StationKind::Join) {
                    worsen(&mut verdicts.waiting, &own.waiting);
                }
            }
            found.classes[at] = own;
        }
        found
    }

    /// After a long service, the queue behind it is served at the full rate of the station. A slower downstream station
    /// therefore receives a burst of the same relative size. This is checked only if stations are visited in their order.
    fn propagate_downstream(&mut self, network: &QueueingNetwork, is_visited: &dyn Fn(usize, usize) -> bool) {
        if !network.routes.is_empty() {
            return;
        }
        for upstream in 0..network.stations.len() {
            for downstream in upstream + 1..network.stations.len() {
                let shares_open_class = (0..network.classes.len()).any(|class| {
                    !network.classes[class].is_closed()
                        && is_visited(class, upstream)
                        && is_visited(class, downstream)
                });
                let (Some(upstream_per_s), Some(downstream_per_s)) =
                    (rate_per_s(network, upstream), rate_per_s(network, downstream))
                else {
                    continue;
                };
                if shares_open_class && downstream_per_s < upstream_per_s {
                    let waiting = self.stations[upstream].waiting.clone();
                    worsen(&mut self.stations[downstream].waiting, &waiting);
                }
            }
        }
    }

    /// The verdict on a measure of a station.
    pub(crate) fn station(&self, at: usize, measure: MeasureKind) -> Verdict {
        self.stations.get(at).and_then(|verdicts| verdicts.on(measure))
    }

    /// The verdict on a measure of a class in the whole system.
    pub(crate) fn class(&self, at: usize, measure: MeasureKind) -> Verdict {
        self.classes.get(at).and_then(|verdicts| verdicts.on(measure))
    }
}

impl Verdicts {
    fn on(&self, measure: MeasureKind) -> Verdict {
        match measure {
            MeasureKind::Throughput | MeasureKind::Utilization => self.throughput.clone(),
            MeasureKind::Response => self.waiting.clone(),
            MeasureKind::Customers => {
                let mut worse = self.waiting.clone();
                worsen(&mut worse, &self.throughput);
                worse
            }
        }
    }
}

/// Visits by class and station. The traffic equations do not describe networks with forks, class switches or classes
/// that never leave. For these networks, the value is 1 for each station that serves the class or is a join.
fn visits_by_class(network: &QueueingNetwork) -> Vec<Vec<f64>> {
    let has_traffic_equations = !network
        .stations
        .iter()
        .any(|station| matches!(station.kind, StationKind::Fork { .. } | StationKind::ClassSwitch { .. }));
    let one_visit_where_served = |class: &str| {
        let serves =
            |station: &Station| matches!(station.kind, StationKind::Join) || station.service(class).is_some();
        network.stations.iter().map(|station| f64::from(u8::from(serves(station)))).collect()
    };
    network
        .classes
        .iter()
        .map(|class| {
            let solved = if has_traffic_equations { visits(network, &class.name) } else { None };
            solved.unwrap_or_else(|| one_visit_where_served(&class.name))
        })
        .collect()
}

/// Replaces a verdict by the other one if that is worse.
fn worsen(verdict: &mut Verdict, other: &Verdict) {
    let Some((reason, _)) = other else { return };
    let rank = |reason: Reason| match reason {
        Reason::InfiniteMean => 3,
        Reason::InfiniteVariance => 2,
        Reason::LongMemory => 1,
        Reason::Wide | Reason::TooLittle | Reason::NotSteady => 0,
    };
    if verdict.as_ref().is_none_or(|(own, _)| rank(*own) < rank(*reason)) {
        verdict.clone_from(other);
    }
}

/// The verdict that follows from the interarrival times or think times of a class.
fn outside_verdict(load: &ClassLoad) -> Verdict {
    let law = match load {
        ClassLoad::Closed { think, .. } => think,
        ClassLoad::Open { interarrival } => interarrival,
    };
    let tail_index = law.tail_index();
    (tail_index <= 2.0).then(|| (Reason::InfiniteVariance, HeavyTail { place: "outside".into(), tail_index }))
}

/// The maximum rate of a station in visits per second; `None` for stations without a queue.
fn rate_per_s(network: &QueueingNetwork, at: usize) -> Option<f64> {
    let station = &network.stations[at];
    let StationKind::Queue(queue) = &station.kind else { return None };
    let services = network.classes.iter().filter_map(|class| station.service(&class.name));
    let mean_s = services.map(|law| law.mean_s()).fold(f64::INFINITY, f64::min);
    Some(queue.speed(u64::from(u32::MAX)) / mean_s)
}

fn station_verdicts(network: &QueueingNetwork, at: usize, visits: &[Vec<f64>]) -> Verdicts {
    let station = &network.stations[at];
    let visiting = || {
        let classes = network.classes.iter().zip(visits);
        classes.filter(|(class, visits)| visits[at] > 0.0 && class.users() != Some(0)).map(|(class, _)| class)
    };
    let tail_index = visiting()
        .filter_map(|class| station.service(&class.name))
        .map(|law| law.tail_index())
        .fold(f64::INFINITY, f64::min);
    let verdict = |reason| Some((reason, HeavyTail { place: station.name.clone(), tail_index }));
    let own = if tail_index <= 2.0 { verdict(Reason::InfiniteVariance) } else { None };
    let mut found = Verdicts { throughput: own.clone(), waiting: own };
    let has_open = visiting().any(|class| !class.is_closed());
    if let StationKind::Queue(queue) = &station.kind
        && has_open
        && queue.capacity.is_none()
        && waits_for_service_end(&queue.scheduling)
    {
        let has_closed = visiting().any(|class| class.is_closed());
        let spare = spare_servers(network, station, at, queue, visits, has_closed);
        // Determines the reason from the tail index of the waiting time.
        let reason = match spare * (tail_index - 1.0) {
            index if index <= 1.0 => Some(Reason::InfiniteMean),
            index if index <= 2.0 => Some(Reason::InfiniteVariance),
            index if index <= 3.0 => Some(Reason::LongMemory),
            _ => None,
        };
        worsen(&mut found.waiting, &reason.and_then(verdict));
    }
    found
}

/// Whether arrivals wait for the end of a service in progress. With preemptive priorities, arrivals wait for services of their
/// own class.
fn waits_for_service_end(scheduling: &Scheduling) -> bool {
    match scheduling {
        Scheduling::Fcfs
        | Scheduling::Lcfs
        | Scheduling::Random
        | Scheduling::ShortestJobFirst
        | Scheduling::Priority
        | Scheduling::PriorityPreemptive => true,
        Scheduling::LcfsPreemptiveResume
        | Scheduling::ProcessorSharing
        | Scheduling::DiscriminatoryProcessorSharing { .. } => false,
    }
}

/// The number of long services that must coincide for a queue to form: m − ⌊ρ⌋. If closed classes, whose load is unknown, visit
/// the station, it is 1, which is conservative.
fn spare_servers(
    network: &QueueingNetwork,
    station: &Station,
    at: usize,
    queue: &Queue,
    visits: &[Vec<f64>],
    has_closed: bool,
) -> f64 {
    if has_closed || !queue.speeds.is_empty() {
        return 1.0;
    }
    let load: f64 = network
        .classes
        .iter()
        .zip(visits)
        .filter_map(|(class, visits)| {
            Some(class.rate_per_s()? * visits[at] * station.service(&class.name)?.mean_s())
        })
        .sum();
    (f64::from(queue.servers) - load.floor()).max(1.0)
}

#[cfg(test)]
mod tests {
    use busyhour_queueing::network::{CustomerClass, PerClass, TimeLaw};

    use super::*;

    fn queue(servers: u32, scheduling: Scheduling, service: &str) -> Station {
        let law: TimeLaw = service.parse().unwrap();
        let queue = Queue { scheduling, ..Queue::new(servers, PerClass::Same(law)) };
        Station { kind: StationKind::Queue(queue), ..Station::queue("server", servers, 1.0) }
    }

    fn waiting_verdict(class: CustomerClass, station: Station) -> Option<Reason> {
        let network = QueueingNetwork::new(vec![class], vec![station]);
        let found = Validity::new(&network);
        assert_eq!(found.class(0, MeasureKind::Response), found.station(0, MeasureKind::Customers));
        found.station(0, MeasureKind::Response).map(|(reason, _)| reason)
    }

    fn open() -> CustomerClass {
        CustomerClass::open("jobs", 0.5)
    }

    #[test]
    fn verdicts_on_one_server_by_the_shape_of_the_service_law() {
        for (shape, expected) in [
            (1.5, Some(Reason::InfiniteMean)),
            (2.0, Some(Reason::InfiniteMean)),
            (2.1, Some(Reason::InfiniteVariance)),
            (2.3, Some(Reason::InfiniteVariance)),
            (2.6, Some(Reason::InfiniteVariance)),
            (3.0, Some(Reason::InfiniteVariance)),
            (3.1, Some(Reason::LongMemory)),
            (3.5, Some(Reason::LongMemory)),
            (4.0, Some(Reason::LongMemory)),
            (4.1, None),
        ] {
            let service = format!("pareto(1s, shape={shape})");
            for scheduling in [Scheduling::Fcfs, Scheduling::Random, Scheduling::ShortestJobFirst] {
                assert_eq!(waiting_verdict(open(), queue(1, scheduling, &service)), expected, "{shape}");
            }
            // No customer waits for the end of another's long service, so a finite second moment is sufficient.
            let shared = (shape <= 2.0).then_some(Reason::InfiniteVariance);
            for scheduling in [Scheduling::ProcessorSharing, Scheduling::LcfsPreemptiveResume] {
                assert_eq!(waiting_verdict(open(), queue(1, scheduling, &service)), shared, "{shape}");
            }
            let users = CustomerClass::closed("users", 20, 10.0);
            assert_eq!(waiting_verdict(users, queue(1, Scheduling::Fcfs, &service)), shared, "{shape}");
        }
    }

    #[test]
    fn light_tails_leave_all_intervals_valid() {
        for service in
            ["1s", "constant(1s)", "lognormal(1s, 5)", "weibull(1s, 0.3)", "hyperexponential(1s, 9)"]
        {
            assert_eq!(waiting_verdict(open(), queue(1, Scheduling::Fcfs, service)), None, "{service}");
        }
    }

    #[test]
    fn spare_servers_reduce_the_effect_of_long_services() {
        // The load is half a server, so a queue forms only if all three servers are blocked. 3 · (2.3 − 1) = 3.9 is greater
        // than 3.
        assert_eq!(waiting_verdict(open(), queue(3, Scheduling::Fcfs, "pareto(1s, shape=2.3)")), None);
        assert_eq!(
            waiting_verdict(open(), queue(2, Scheduling::Fcfs, "pareto(1s, shape=2.3)")),
            Some(Reason::LongMemory)
        );
        // With a load of 2.5 on 3 servers, one long service is enough for a queue to form.
        assert_eq!(
            waiting_verdict(
                CustomerClass::open("jobs", 2.5),
                queue(3, Scheduling::Fcfs, "pareto(1s, shape=2.3)")
            ),
            Some(Reason::InfiniteVariance)
        );
    }

    #[test]
    fn a_slower_downstream_station_has_the_same_verdict() {
        let downstream = |service_s: f64| {
            let heavy = queue(1, Scheduling::Fcfs, "pareto(1s, shape=2.3)");
            let network =
                QueueingNetwork::new(vec![open()], vec![heavy, Station::queue("downstream", 1, service_s)]);
            Validity::new(&network)
                .station(1, MeasureKind::Response)
                .map(|(reason, tail)| (reason, tail.place))
        };
        assert_eq!(downstream(1.5), Some((Reason::InfiniteVariance, "server".to_owned())));
        assert_eq!(downstream(0.5), None);
    }

    #[test]
    fn think_times_with_infinite_variance_make_throughput_intervals_invalid() {
        let mut class = CustomerClass::closed("users", 20, 10.0);
        class.load = ClassLoad::Closed { users: 20, think: "pareto(10s, shape=1.8)".parse().unwrap() };
        let network = QueueingNetwork::new(vec![class], vec![Station::queue("server", 1, 0.1)]);
        let found = Validity::new(&network);
        let (reason, tail) = found.class(0, MeasureKind::Throughput).unwrap();
        assert_eq!((reason, tail.place.as_str()), (Reason::InfiniteVariance, "outside"));
    }
}
