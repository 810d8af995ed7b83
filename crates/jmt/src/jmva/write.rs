//! Writes `.jmva` files.

use busyhour_queueing::network::{
    ClassLoad, CustomerClass, Queue, QueueingNetwork, Scheduling, Station, StationKind,
};
use busyhour_queueing::solve::{BrokenAssumption, broken_assumptions, visits};

use super::ARRIVALS;
use crate::text::{decimal, escape};

/// Name of the delay station at which closed customers think.
const THINK: &str = "Think";

/// Maximum length of a table of load-dependent service times.
const TABLE_MAX: u64 = 1_000_000;

/// Visits below this value are treated as zero, because they are rounding errors of a linear system.
const VISITS_MIN: f64 = 1e-12;

/// Returns the file, or the parts of the network that it cannot represent.
pub(crate) fn write(network: &QueueingNetwork, title: &str) -> Result<String, Vec<String>> {
    let mut unsupported: Vec<String> = match broken_assumptions(network) {
        Ok(broken) => broken
            .iter()
            .filter(|broken| !is_by_priority(network, broken))
            .map(|broken| format!("{broken}; JMT's analytic models have only means"))
            .collect(),
        Err(error) => vec![error.to_string()],
    };
    let visits: Vec<Vec<f64>> =
        network.classes.iter().map(|class| visits(network, &class.name).unwrap_or_default()).collect();
    for station in &network.stations {
        if let StationKind::Queue(queue) = &station.kind {
            unsupported.extend(unsupported_properties(network, station, queue));
        }
    }
    if !unsupported.is_empty() {
        return Err(unsupported);
    }
    Ok(Writer { network, visits, out: String::new() }.write_model(title))
}

/// Whether the broken assumption is a priority discipline. JMT supports these as head-of-line and preemptive-resume stations.
fn is_by_priority(network: &QueueingNetwork, broken: &BrokenAssumption) -> bool {
    let BrokenAssumption::Scheduling { station, .. } = broken else { return false };
    network.station(station).is_some_and(|at| {
        matches!(&network.stations[at].kind, StationKind::Queue(queue)
            if matches!(queue.scheduling, Scheduling::Priority | Scheduling::PriorityPreemptive))
    })
}

/// The properties of a queue that the file cannot represent, other than broken assumptions of product form.
fn unsupported_properties(network: &QueueingNetwork, station: &Station, queue: &Queue) -> Vec<String> {
    let mut unsupported = Vec::new();
    let by_priority = matches!(queue.scheduling, Scheduling::Priority | Scheduling::PriorityPreemptive);
    if by_priority && queue.service.values().any(|(_, law)| !law.is_exponential()) {
        unsupported.push(format!(
            "the service law of {:?}: with priorities JMT supports only exponential service",
            station.name
        ));
    }
    if !queue.speeds.is_empty() {
        if by_priority {
            unsupported.push(format!("the speeds of {:?} together with priorities", station.name));
        }
        match population(network) {
            Some(1..=TABLE_MAX) => {}
            Some(users) => unsupported.push(format!(
                "the speeds of {:?}: JMT would need a service time for each number of customers up to {users}",
                station.name
            )),
            None => unsupported.push(format!(
                "the speeds of {:?}: JMT supports load-dependent stations for closed classes only",
                station.name
            )),
        }
    }
    unsupported
}

/// The number of customers of a closed network; `None` for other networks.
fn population(network: &QueueingNetwork) -> Option<u64> {
    network.classes.iter().map(CustomerClass::users).sum()
}

struct Writer<'n> {
    network: &'n QueueingNetwork,
    /// Number of visits by class and station.
    visits: Vec<Vec<f64>>,
    out: String,
}

impl Writer<'_> {
    fn line(&mut self, text: impl AsRef<str>) {
        self.out.push_str(text.as_ref());
        self.out.push('\n');
    }

    fn write_model(mut self, title: &str) -> String {
        let network = self.network;
        self.line("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>");
        self.line(
            "<model xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
             xsi:noNamespaceSchemaLocation=\"JMTmodel.xsd\">",
        );
        self.line(format!("<description>{}</description>", escape(title)));
        self.line("<parameters>");
        self.line(format!("<classes number=\"{}\">", network.classes.len()));
        for class in &network.classes {
            let (name, priority) = (escape(&class.name), class.priority);
            match &class.load {
                ClassLoad::Closed { users, .. } => self.line(format!(
                    "<closedclass name=\"{name}\" population=\"{users}\" priority=\"{priority}\"/>"
                )),
                ClassLoad::Open { interarrival } => {
                    let rate = decimal(1.0 / interarrival.mean_s());
                    self.line(format!(
                        "<openclass name=\"{name}\" priority=\"{priority}\" rate=\"{rate}\"/>"
                    ));
                }
            }
        }
        self.line("</classes>");
        let think = self.unused_think_name();
        let has_closed = network.classes.iter().any(CustomerClass::is_closed);
        let serving =
            |station: &&Station| matches!(station.kind, StationKind::Queue(_) | StationKind::Delay { .. });
        let stations = network.stations.iter().filter(serving).count() + usize::from(has_closed);
        self.line(format!("<stations number=\"{stations}\">"));
        if has_closed {
            self.line(format!("<delaystation name=\"{}\">", escape(&think)));
            self.write_times("servicetime", |class| decimal(class.think_s().unwrap_or_default()));
            self.write_visits(|class| if network.classes[class].is_closed() { 1.0 } else { 0.0 });
            self.line("</delaystation>");
        }
        for (at, station) in network.stations.iter().enumerate() {
            self.write_station(at, station);
        }
        self.line("</stations>");
        self.line(format!("<ReferenceStation number=\"{}\">", network.classes.len()));
        for class in &network.classes {
            let reference = if class.is_closed() { think.as_str() } else { ARRIVALS };
            let (name, reference) = (escape(&class.name), escape(reference));
            self.line(format!("<Class name=\"{name}\" refStation=\"{reference}\"/>"));
        }
        self.line("</ReferenceStation>\n</parameters>");
        self.line("<algParams>\n<algType maxSamples=\"10000\" name=\"MVA\" tolerance=\"1.0E-7\"/>");
        self.line("<compareAlgs value=\"false\"/>\n</algParams>\n</model>");
        self.out
    }

    /// A name for the delay station at which customers think; no station of the model has this name.
    fn unused_think_name(&self) -> String {
        let mut names = std::iter::once(THINK.to_owned()).chain((2..).map(|at| format!("{THINK} {at}")));
        names.find(|name| self.network.station(name).is_none()).unwrap_or_default()
    }

    fn write_station(&mut self, at: usize, station: &Station) {
        let mean_s = |class: &CustomerClass| station.service(&class.name).map_or(0.0, |law| law.mean_s());
        let name = escape(&station.name);
        let tag = match &station.kind {
            StationKind::Delay { .. } => {
                self.line(format!("<delaystation name=\"{name}\">"));
                "delaystation"
            }
            StationKind::Queue(queue) => {
                let tag = match queue.scheduling {
                    _ if !queue.speeds.is_empty() => "ldstation",
                    Scheduling::Priority => "holstation",
                    Scheduling::PriorityPreemptive => "prsstation",
                    _ => "listation",
                };
                self.line(format!("<{tag} name=\"{name}\" servers=\"{}\">", queue.servers));
                tag
            }
            _ => return,
        };
        match &station.kind {
            StationKind::Queue(queue) if !queue.speeds.is_empty() => {
                let users = population(self.network).unwrap_or_default();
                self.write_times("servicetimes", |class| {
                    let times = (1..=users).map(|present| decimal(mean_s(class) / queue.speed(present)));
                    times.collect::<Vec<_>>().join(";")
                });
            }
            _ => self.write_times("servicetime", |class| decimal(mean_s(class))),
        }
        let visits: Vec<f64> =
            self.visits.iter().map(|visits| visits.get(at).copied().unwrap_or_default()).collect();
        self.write_visits(|class| if visits[class] > VISITS_MIN { visits[class] } else { 0.0 });
        self.line(format!("</{tag}>"));
    }

    fn write_times(&mut self, tag: &str, text: impl Fn(&CustomerClass) -> String) {
        self.line("<servicetimes>");
        for class in &self.network.classes {
            let (name, text) = (escape(&class.name), text(class));
            self.line(format!("<{tag} customerclass=\"{name}\">{text}</{tag}>"));
        }
        self.line("</servicetimes>");
    }

    fn write_visits(&mut self, visits: impl Fn(usize) -> f64) {
        self.line("<visits>");
        for (at, class) in self.network.classes.iter().enumerate() {
            let (name, visits) = (escape(&class.name), decimal(visits(at)));
            self.line(format!("<visit customerclass=\"{name}\">{visits}</visit>"));
        }
        self.line("</visits>");
    }
}
