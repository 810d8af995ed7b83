//! Which measures can have an interval at all, by the moments of the laws.
//!
//! A service that takes x blocks a server for so long. Where an unlimited line forms behind it, the line grows in proportion to
//! x and so does the time that it lasts: what is waited altogether is in proportion to x². So with one server in order of
//! arrival the mean wait is finite when E\[S²\] is (Pollaczek & Khinchine), its variance when E\[S³\] is, and the error of
//! its mean falls like 1/√n only when E\[S⁴\] is (Daley, "The serial correlation coefficients of waiting times in a stationary
//! single server queue", Journal of the Australian Mathematical Society 8, 1968). With m servers of which ρ are busy on
//! average, s = m − ⌊ρ⌋ long services must meet: E\[Wʳ\] is finite when E\[S^((s + r)/s)\] is (Scheller-Wolf & Sigman, "Delay
//! moments for FIFO GI/GI/s queues", Queueing Systems 25, 1997).
//!
//! Where no unlimited line forms (closed classes only, little room, shared or interrupted servers, delays), a service of x
//! costs in proportion to x, and E\[S²\] is enough.

use busyhour_queueing::network::{ClassLoad, Queue, QueueingNetwork, Scheduling, Station, StationKind};
use busyhour_queueing::solve::visits;

use crate::result::{HeavyTail, Measure, Reason};

/// Why a measure has no valid interval, and the law that is to blame.
pub(crate) type Verdict = Option<(Reason, HeavyTail)>;

/// The verdicts of a place.
#[derive(Clone, Debug, Default)]
struct Verdicts {
    /// Of X and U: what flows and works.
    flow: Verdict,
    /// Of R and Q: what waits.
    wait: Verdict,
}

/// The verdicts of a network.
#[derive(Clone, Debug, Default)]
pub(crate) struct Validity {
    stations: Vec<Verdicts>,
    classes: Vec<Verdicts>,
}

impl Validity {
    pub(crate) fn of(network: &QueueingNetwork) -> Validity {
        let visits = visits_by_class(network);
        let comes = |class: usize, station: usize| visits[class][station] > 0.0;
        let mut found = Validity {
            stations: (0..network.stations.len()).map(|at| of_station(network, at, &visits)).collect(),
            classes: vec![Verdicts::default(); network.classes.len()],
        };
        found.pass_lines_on(network, &comes);
        for (at, class) in network.classes.iter().enumerate() {
            let outside = of_outside(&class.load);
            let visited = || (0..network.stations.len()).filter(|&station| comes(at, station));
            let mut own = Verdicts { flow: outside.clone(), wait: None };
            for station in visited() {
                let there = found.stations[station].clone();
                worsen(&mut own.wait, &there.wait);
                if class.is_closed() {
                    // Waiting customers are missing at all other stations.
                    worsen(&mut own.flow, &there.flow);
                }
            }
            // Where customers are fed into the network unevenly, they flow unevenly everywhere.
            for station in visited() {
                let there = &mut found.stations[station];
                worsen(&mut there.flow, &outside);
                if class.is_closed() {
                    worsen(&mut there.flow, &own.flow);
                }
                if matches!(network.stations[station].kind, StationKind::Join) {
                    worsen(&mut there.wait, &own.wait);
                }
            }
            found.classes[at] = own;
        }
        found
    }

    /// A line behind a long service is served without a pause, faster than it came: a slower station behind gets a line in
    /// the same proportion. Known only where stations are visited in their order.
    fn pass_lines_on(&mut self, network: &QueueingNetwork, comes: &dyn Fn(usize, usize) -> bool) {
        if !network.routes.is_empty() {
            return;
        }
        for before in 0..network.stations.len() {
            for behind in before + 1..network.stations.len() {
                let shares_open = (0..network.classes.len()).any(|class| {
                    !network.classes[class].is_closed() && comes(class, before) && comes(class, behind)
                });
                let (Some(fast), Some(slow)) = (rate_per_s(network, before), rate_per_s(network, behind))
                else {
                    continue;
                };
                if shares_open && slow < fast {
                    let wait = self.stations[before].wait.clone();
                    worsen(&mut self.stations[behind].wait, &wait);
                }
            }
        }
    }

    /// Of a station's measure.
    pub(crate) fn station(&self, at: usize, measure: Measure) -> Verdict {
        self.stations.get(at).and_then(|found| found.of(measure))
    }

    /// Of a class's measure in the system.
    pub(crate) fn class(&self, at: usize, measure: Measure) -> Verdict {
        self.classes.get(at).and_then(|found| found.of(measure))
    }
}

impl Verdicts {
    fn of(&self, measure: Measure) -> Verdict {
        match measure {
            Measure::Throughput | Measure::Utilization => self.flow.clone(),
            Measure::Response => self.wait.clone(),
            Measure::Customers => {
                let mut both = self.wait.clone();
                worsen(&mut both, &self.flow);
                both
            }
        }
    }
}

/// Visits per class and station. One for each station with a service where forks or class switches send customers in ways
/// that traffic equations do not describe, or a class never leaves.
fn visits_by_class(network: &QueueingNetwork) -> Vec<Vec<f64>> {
    let is_plain = !network
        .stations
        .iter()
        .any(|station| matches!(station.kind, StationKind::Fork { .. } | StationKind::ClassSwitch { .. }));
    let wherever_served = |class: &str| {
        let serves =
            |station: &Station| matches!(station.kind, StationKind::Join) || station.service(class).is_some();
        network.stations.iter().map(|station| f64::from(u8::from(serves(station)))).collect()
    };
    network
        .classes
        .iter()
        .map(|class| {
            let found = if is_plain { visits(network, &class.name) } else { None };
            found.unwrap_or_else(|| wherever_served(&class.name))
        })
        .collect()
}

/// Takes the worse of two.
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

/// Interarrival times or think times.
fn of_outside(load: &ClassLoad) -> Verdict {
    let law = match load {
        ClassLoad::Closed { think, .. } => think,
        ClassLoad::Open { interarrival } => interarrival,
    };
    let tail_index = law.tail_index();
    (tail_index <= 2.0).then(|| (Reason::InfiniteVariance, HeavyTail { place: "outside".into(), tail_index }))
}

/// The fastest that a station works, in visits per second; `None` of what never makes anybody wait.
fn rate_per_s(network: &QueueingNetwork, at: usize) -> Option<f64> {
    let station = &network.stations[at];
    let StationKind::Queue(queue) = &station.kind else { return None };
    let services = network.classes.iter().filter_map(|class| station.service(&class.name));
    let mean_s = services.map(|law| law.mean_s()).fold(f64::INFINITY, f64::min);
    Some(queue.speed(u64::from(u32::MAX)) / mean_s)
}

fn of_station(network: &QueueingNetwork, at: usize, visits: &[Vec<f64>]) -> Verdicts {
    let station = &network.stations[at];
    let coming = || {
        let classes = network.classes.iter().zip(visits);
        classes.filter(|(class, visits)| visits[at] > 0.0 && class.users() != Some(0)).map(|(class, _)| class)
    };
    let tail_index = coming()
        .filter_map(|class| station.service(&class.name))
        .map(|law| law.tail_index())
        .fold(f64::INFINITY, f64::min);
    let verdict = |reason| Some((reason, HeavyTail { place: station.name.clone(), tail_index }));
    let own = if tail_index <= 2.0 { verdict(Reason::InfiniteVariance) } else { None };
    let mut found = Verdicts { flow: own.clone(), wait: own };
    let has_open = coming().any(|class| !class.is_closed());
    if let StationKind::Queue(queue) = &station.kind
        && has_open
        && queue.capacity.is_none()
        && lets_wait(&queue.scheduling)
    {
        let has_closed = coming().any(|class| class.is_closed());
        let spare = spare_servers(network, station, at, queue, visits, has_closed);
        // The tail index of the waiting time.
        let reason = match spare * (tail_index - 1.0) {
            index if index <= 1.0 => Some(Reason::InfiniteMean),
            index if index <= 2.0 => Some(Reason::InfiniteVariance),
            index if index <= 3.0 => Some(Reason::LongMemory),
            _ => None,
        };
        worsen(&mut found.wait, &reason.and_then(verdict));
    }
    found
}

/// Whether arrivals wait for the end of a service in progress. Preemptive priorities do so within a class.
fn lets_wait(scheduling: &Scheduling) -> bool {
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

/// How many long services must meet before a line forms: m − ⌊ρ⌋. One, to be careful, where what closed classes take is not
/// known beforehand.
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

    fn wait(class: CustomerClass, station: Station) -> Option<Reason> {
        let network = QueueingNetwork::new(vec![class], vec![station]);
        let found = Validity::of(&network);
        assert_eq!(found.class(0, Measure::Response), found.station(0, Measure::Customers));
        found.station(0, Measure::Response).map(|(reason, _)| reason)
    }

    fn open() -> CustomerClass {
        CustomerClass::open("jobs", 0.5)
    }

    #[test]
    fn shapes_of_one_server_in_order_of_arrival() {
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
                assert_eq!(wait(open(), queue(1, scheduling, &service)), expected, "{shape}");
            }
            // No customer waits for the end of a long service: the second moment suffices.
            let shared = (shape <= 2.0).then_some(Reason::InfiniteVariance);
            for scheduling in [Scheduling::ProcessorSharing, Scheduling::LcfsPreemptiveResume] {
                assert_eq!(wait(open(), queue(1, scheduling, &service)), shared, "{shape}");
            }
            let users = CustomerClass::closed("users", 20, 10.0);
            assert_eq!(wait(users, queue(1, Scheduling::Fcfs, &service)), shared, "{shape}");
        }
    }

    #[test]
    fn light_tails_have_no_verdict() {
        for service in
            ["1s", "constant(1s)", "lognormal(1s, 5)", "weibull(1s, 0.3)", "hyperexponential(1s, 9)"]
        {
            assert_eq!(wait(open(), queue(1, Scheduling::Fcfs, service)), None, "{service}");
        }
    }

    #[test]
    fn spare_servers_take_long_services() {
        // Half a server is needed: of three, all three must be blocked. 3 · (2.3 − 1) = 3.9 is beyond 3.
        assert_eq!(wait(open(), queue(3, Scheduling::Fcfs, "pareto(1s, shape=2.3)")), None);
        assert_eq!(
            wait(open(), queue(2, Scheduling::Fcfs, "pareto(1s, shape=2.3)")),
            Some(Reason::LongMemory)
        );
        // At 2.5 of 3 servers one long service is enough.
        assert_eq!(
            wait(CustomerClass::open("jobs", 2.5), queue(3, Scheduling::Fcfs, "pareto(1s, shape=2.3)")),
            Some(Reason::InfiniteVariance)
        );
    }

    #[test]
    fn a_slower_station_behind_gets_the_line() {
        let behind = |service_s: f64| {
            let heavy = queue(1, Scheduling::Fcfs, "pareto(1s, shape=2.3)");
            let network =
                QueueingNetwork::new(vec![open()], vec![heavy, Station::queue("behind", 1, service_s)]);
            Validity::of(&network).station(1, Measure::Response).map(|(reason, tail)| (reason, tail.place))
        };
        assert_eq!(behind(1.5), Some((Reason::InfiniteVariance, "server".to_owned())));
        assert_eq!(behind(0.5), None);
    }

    #[test]
    fn think_times_without_variance_leave_throughput_unknown() {
        let mut class = CustomerClass::closed("users", 20, 10.0);
        class.load = ClassLoad::Closed { users: 20, think: "pareto(10s, shape=1.8)".parse().unwrap() };
        let network = QueueingNetwork::new(vec![class], vec![Station::queue("server", 1, 0.1)]);
        let found = Validity::of(&network);
        let (reason, tail) = found.class(0, Measure::Throughput).unwrap();
        assert_eq!((reason, tail.place.as_str()), (Reason::InfiniteVariance, "outside"));
    }
}
