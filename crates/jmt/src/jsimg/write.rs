//! Writes `.jsimg` files, so that the results of JMT's simulator can be compared with ours.
//!
//! The structure is that of the example models of JMT 1.2. Each station is a node with three sections (input, service, output).
//! A parameter contains one value for each class, which follows the name of the class.

use std::fmt::Write as _;

use busyhour_queueing::network::{
    ClassLoad, CustomerClass, OUTSIDE, Place, Queue, QueueingNetwork, Scheduling, Station, StationKind,
    Strategy, TimeLaw, WhenFull,
};

use super::laws::{distribution, sub_parameter, value_parameter};
use crate::text::{decimal, escape};

/// Names of the nodes that represent the outside of the network.
const SOURCE: &str = "Source";
const SINK: &str = "Sink";
const THINK: &str = "Think";

const STRATEGIES: &str = "jmt.engine.NetStrategies";

/// Returns the file, or the parts of the model that it cannot represent.
pub(crate) fn write(network: &QueueingNetwork, title: &str) -> Result<String, Vec<String>> {
    let mut writer = Writer { network, out: String::new(), unsupported: Vec::new() };
    writer.write_model(title);
    if writer.unsupported.is_empty() { Ok(writer.out) } else { Err(writer.unsupported) }
}

struct Writer<'n> {
    network: &'n QueueingNetwork,
    out: String,
    /// Parts of the model that the file cannot represent.
    unsupported: Vec<String>,
}

/// The routing of a class from a place.
enum Routing<'n> {
    None,
    /// The names of the target nodes with their probabilities.
    Probabilities(Vec<(String, f64)>),
    /// A strategy of JMT: its Java class (empty if there is none), its name, and its targets.
    Strategy(&'static str, &'static str, Vec<&'n Place>),
}

impl<'n> Writer<'n> {
    fn line(&mut self, text: impl AsRef<str>) {
        self.out.push_str(text.as_ref());
        self.out.push('\n');
    }

    fn write_model(&mut self, title: &str) {
        let network = self.network;
        // JMT uses the title in the names of result files.
        let title = escape(&title.replace(['/', '\\'], "-"));
        self.line("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>");
        self.line(format!(
            "<archive xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" name=\"{title}\" \
             timestamp=\"\" xsi:noNamespaceSchemaLocation=\"Archive.xsd\">"
        ));
        self.line(format!(
            "<sim disableStatisticStop=\"false\" logDecimalSeparator=\".\" logDelimiter=\",\" logPath=\"\" \
             logReplaceMode=\"0\" maxSamples=\"1000000\" name=\"{title}\" polling=\"1.0\" \
             xsi:noNamespaceSchemaLocation=\"SIMmodeldefinition.xsd\">"
        ));
        for class in &network.classes {
            let (name, priority) = (escape(&class.name), class.priority);
            match class.users() {
                Some(users) => self.line(format!(
                    "<userClass customers=\"{users}\" name=\"{name}\" priority=\"{priority}\" \
                     referenceSource=\"{THINK}\" type=\"closed\"/>"
                )),
                None => self.line(format!(
                    "<userClass name=\"{name}\" priority=\"{priority}\" referenceSource=\"{SOURCE}\" type=\"open\"/>"
                )),
            }
        }
        let has = |closed: bool| network.classes.iter().any(|class| class.is_closed() == closed);
        if has(false) {
            self.write_source();
        }
        if has(true) {
            self.node(THINK, |writer| {
                writer.queue_section(None);
                writer.section("Delay", |writer| {
                    writer.services(&|class| match &class.load {
                        ClassLoad::Closed { think, .. } => Some(think.clone()),
                        ClassLoad::Open { .. } => None,
                    });
                });
                writer.router(&Place::Outside, &CustomerClass::is_closed);
            });
        }
        for station in &network.stations {
            self.write_station(station);
        }
        if has(false) {
            self.line(format!("<node name=\"{SINK}\">\n<section className=\"JobSink\"/>\n</node>"));
        }
        self.write_measures();
        self.write_connections();
        if has(true) {
            self.line(format!("<preload>\n<stationPopulations stationName=\"{THINK}\">"));
            for class in &network.classes {
                if let Some(users) = class.users() {
                    let name = escape(&class.name);
                    self.line(format!("<classPopulation population=\"{users}\" refClass=\"{name}\"/>"));
                }
            }
            self.line("</stationPopulations>\n</preload>");
        }
        self.line("</sim>\n</archive>");
    }

    fn node(&mut self, name: &str, content: impl FnOnce(&mut Self)) {
        self.line(format!("<node name=\"{}\">", escape(name)));
        content(self);
        self.line("</node>");
    }

    fn section(&mut self, class_name: &str, content: impl FnOnce(&mut Self)) {
        self.line(format!("<section className=\"{class_name}\">"));
        content(self);
        self.line("</section>");
    }

    fn write_source(&mut self) {
        self.node(SOURCE, |writer| {
            writer.section("RandomSource", |writer| {
                writer.services(&|class| match &class.load {
                    ClassLoad::Open { interarrival } => Some(interarrival.clone()),
                    ClassLoad::Closed { .. } => None,
                });
            });
            writer.line("<section className=\"ServiceTunnel\"/>");
            writer.router(&Place::Outside, &|class| !class.is_closed());
        });
    }

    fn write_station(&mut self, station: &'n Station) {
        let place = Place::Station(station.name.clone());
        let law = |class: &CustomerClass| station.service(&class.name).cloned();
        if [SOURCE, SINK, THINK].contains(&station.name.as_str()) {
            self.unsupported
                .push(format!("the name {:?}, which stands for {OUTSIDE} in JMT's model", station.name));
        }
        match &station.kind {
            StationKind::Queue(queue) => self.node(&station.name, |writer| {
                if !queue.speeds.is_empty() {
                    writer.unsupported.push(format!("the speeds of {:?}", station.name));
                }
                writer.queue_section(Some((station, queue)));
                let weights = weights(queue);
                writer.section(if weights.is_some() { "PSServer" } else { "Server" }, |writer| {
                    writer.value("java.lang.Integer", "maxJobs", queue.servers);
                    writer.per_class("java.lang.Integer", "numberOfVisits", |_| {
                        value_parameter("java.lang.Integer", "numberOfVisits", 1)
                    });
                    writer.services(&law);
                    if let Some(weights) = weights {
                        writer.sharing(queue, &weights);
                    }
                });
                writer.router(&place, &|_| true);
            }),
            StationKind::Delay { .. } => self.node(&station.name, |writer| {
                writer.queue_section(None);
                writer.section("Delay", |writer| writer.services(&law));
                writer.router(&place, &|_| true);
            }),
            StationKind::Router => self.node(&station.name, |writer| {
                writer.queue_section(None);
                writer.line("<section className=\"ServiceTunnel\"/>");
                writer.router(&place, &|_| true);
            }),
            StationKind::Fork { .. } | StationKind::Join | StationKind::ClassSwitch { .. } => {
                self.unsupported
                    .push(format!("{:?}: forks, joins and class switches are not supported", station.name));
            }
        }
    }

    fn value(&mut self, class_path: &str, name: &str, value: impl std::fmt::Display) {
        self.line(format!(
            "<parameter classPath=\"{class_path}\" name=\"{name}\">\n<value>{value}</value>\n</parameter>"
        ));
    }

    /// Writes an array with one entry for each class.
    fn per_class(&mut self, class_path: &str, name: &str, entry: impl Fn(&CustomerClass) -> String) {
        self.line(format!("<parameter array=\"true\" classPath=\"{class_path}\" name=\"{name}\">"));
        for class in &self.network.classes {
            let _ = writeln!(self.out, "<refClass>{}</refClass>", escape(&class.name));
            self.out.push_str(&entry(class));
        }
        self.line("</parameter>");
    }

    fn queue_section(&mut self, queue: Option<(&Station, &Queue)>) {
        let capacity = queue.and_then(|(_, queue)| queue.capacity);
        let full = match capacity.map(|capacity| capacity.when_full) {
            Some(WhenFull::Block) => "BAS blocking",
            Some(WhenFull::Drop) | None => "drop",
        };
        let put = match queue.map(|(station, queue)| (station, &queue.scheduling)) {
            None => "TailStrategy",
            Some((station, scheduling)) => match scheduling {
                Scheduling::Fcfs
                | Scheduling::ProcessorSharing
                | Scheduling::DiscriminatoryProcessorSharing { .. } => "TailStrategy",
                Scheduling::Lcfs => "HeadStrategy",
                Scheduling::Random => "RandStrategy",
                Scheduling::ShortestJobFirst => "SJFStrategy",
                Scheduling::Priority => "TailStrategyPriority",
                Scheduling::LcfsPreemptiveResume | Scheduling::PriorityPreemptive => {
                    self.unsupported
                        .push(format!("{:?}: preemptive disciplines are not supported", station.name));
                    "TailStrategy"
                }
            },
        };
        self.section("Queue", |writer| {
            let size = capacity.map_or(-1, |capacity| i64::from(capacity.customers));
            writer.value("java.lang.Integer", "size", size);
            writer.per_class("java.lang.String", "dropStrategies", |_| {
                value_parameter("java.lang.String", "dropStrategy", full)
            });
            writer.line(format!(
                "<parameter classPath=\"{STRATEGIES}.QueueGetStrategies.FCFSstrategy\" name=\"FCFSstrategy\"/>"
            ));
            writer.per_class(&format!("{STRATEGIES}.QueuePutStrategy"), "QueuePutStrategy", |_| {
                format!("<subParameter classPath=\"{STRATEGIES}.QueuePutStrategies.{put}\" name=\"{put}\"/>\n")
            });
        });
    }

    fn sharing(&mut self, queue: &Queue, weights: &dyn Fn(&CustomerClass) -> f64) {
        let name = match queue.scheduling {
            Scheduling::ProcessorSharing => "EPSStrategy",
            _ => "DPSStrategy",
        };
        self.per_class(&format!("{STRATEGIES}.PSStrategy"), "PSStrategy", |_| {
            format!("<subParameter classPath=\"{STRATEGIES}.PSStrategies.{name}\" name=\"{name}\"/>\n")
        });
        self.per_class("java.lang.Double", "serviceWeights", |class| {
            value_parameter("java.lang.Double", "serviceWeight", decimal(weights(class)))
        });
    }

    fn services(&mut self, law: &dyn Fn(&CustomerClass) -> Option<TimeLaw>) {
        for class in &self.network.classes {
            match law(class) {
                Some(TimeLaw::Replay { file, .. }) => self.unsupported.push(format!("replay({file})")),
                // JMT does not truncate normal distributions in the same way: it also draws negative times.
                Some(TimeLaw::NormalTruncated { untruncated_mean_s: mean_s, untruncated_sd_s: sd_s })
                    if mean_s < 5.0 * sd_s =>
                {
                    self.unsupported.push("a normal law that is truncated at 0".into());
                }
                _ => {}
            }
        }
        self.per_class(&format!("{STRATEGIES}.ServiceStrategy"), "ServiceStrategy", |class| {
            match law(class) {
                None => sub_parameter(
                    &format!("{STRATEGIES}.ServiceStrategies.DisabledServiceTimeStrategy"),
                    "DisabledServiceTimeStrategy",
                    "",
                ),
                Some(law) if law.mean_s() == 0.0 => sub_parameter(
                    &format!("{STRATEGIES}.ServiceStrategies.ZeroServiceTimeStrategy"),
                    "ZeroServiceTimeStrategy",
                    "",
                ),
                Some(law) => sub_parameter(
                    &format!("{STRATEGIES}.ServiceStrategies.ServiceTimeStrategy"),
                    "ServiceTimeStrategy",
                    &distribution(&law),
                ),
            }
        });
    }

    /// The routing of a class from a place.
    fn routing(&self, from: &Place, class: &CustomerClass) -> Routing<'n> {
        let network = self.network;
        let outside = if class.is_closed() { THINK } else { SINK };
        let name = |place: &Place| match place {
            Place::Outside => outside.to_owned(),
            Place::Station(name) => name.clone(),
        };
        if network.routes.is_empty() {
            return self.routing_by_visits(from, class, outside);
        }
        let Some(route) = network.route(from, &class.name) else { return Routing::None };
        if let Some(shares) = route.strategy.probabilities() {
            return Routing::Probabilities(
                shares.into_iter().map(|(place, share)| (name(place), share)).collect(),
            );
        }
        let by = |java, jmt| Routing::Strategy(java, jmt, route.strategy.places());
        match &route.strategy {
            Strategy::RoundRobin(_) => by("RoundRobinStrategy", "Round Robin"),
            Strategy::JoinShortestQueue(_) => {
                by("ShortestQueueLengthRoutingStrategy", "Join the Shortest Queue (JSQ)")
            }
            Strategy::ShortestResponseTime(_) => {
                by("ShortestResponseTimeRoutingStrategy", "Shortest Response Time")
            }
            Strategy::LeastUtilization(_) => by("LeastUtilizationRoutingStrategy", "Least Utilization"),
            Strategy::FastestService(_) => by("FastestServiceRoutingStrategy", "Fastest Service"),
            _ => by("", route.strategy.name()),
        }
    }

    /// The routing in a network without routes. After each visit to a station with v > 1 visits, customers leave it with
    /// probability 1/v. Customers enter a station with v < 1 visits with probability v. The mean numbers of visits are those of
    /// the model.
    fn routing_by_visits(&self, from: &Place, class: &CustomerClass, outside: &str) -> Routing<'n> {
        let stations = &self.network.stations;
        let (after, mut remaining) = match from {
            Place::Outside => (0, 1.0),
            Place::Station(name) => {
                let at = self.network.station(name).unwrap_or_default();
                let visits = stations[at].visits(&class.name);
                if visits == 0.0 {
                    return Routing::None;
                }
                (at + 1, 1.0 / visits.max(1.0))
            }
        };
        let mut shares = Vec::new();
        if remaining < 1.0 {
            shares.push((from.name().to_owned(), 1.0 - remaining));
        }
        for station in &stations[after..] {
            let probability = station.visits(&class.name).min(1.0);
            if probability > 0.0 && remaining > 0.0 {
                shares.push((station.name.clone(), remaining * probability));
                remaining *= 1.0 - probability;
            }
        }
        if remaining > 0.0 {
            shares.push((outside.to_owned(), remaining));
        }
        Routing::Probabilities(shares)
    }

    /// Writes the router section of a node for the classes for which `is_included` is true.
    fn router(&mut self, from: &Place, is_included: &dyn Fn(&CustomerClass) -> bool) {
        let network = self.network;
        let targets = self.targets(from, is_included);
        for class in network.classes.iter().filter(|class| is_included(class)) {
            if let Routing::Strategy(java, jmt, places) = self.routing(from, class) {
                if java.is_empty() {
                    self.unsupported.push(format!("the strategy {jmt} from {:?}", from.name()));
                } else if places.len() != targets.len() || places.contains(&&Place::Outside) {
                    // JMT's strategies choose among all connected nodes.
                    self.unsupported.push(format!(
                        "the strategy from {:?}, because other classes have other targets there",
                        from.name()
                    ));
                }
            }
        }
        let strategies = format!("{STRATEGIES}.RoutingStrategies");
        let entries: Vec<String> = network
            .classes
            .iter()
            .map(|class| match self.routing(from, class) {
                Routing::Probabilities(shares) if is_included(class) => probabilities(&strategies, &shares),
                Routing::Strategy(java, jmt, _) if is_included(class) => {
                    sub_parameter(&format!("{strategies}.{java}"), jmt, "")
                }
                _ => sub_parameter(&format!("{strategies}.DisabledRoutingStrategy"), "Disabled", ""),
            })
            .collect();
        self.section("Router", |writer| {
            writer.per_class(&format!("{STRATEGIES}.RoutingStrategy"), "RoutingStrategy", |class| {
                network.class(&class.name).and_then(|at| entries.get(at)).cloned().unwrap_or_default()
            });
        });
    }

    /// All nodes to which the node `from` routes customers.
    fn targets(&self, from: &Place, is_included: &dyn Fn(&CustomerClass) -> bool) -> Vec<String> {
        let mut targets: Vec<String> = Vec::new();
        for class in self.network.classes.iter().filter(|class| is_included(class)) {
            let names: Vec<String> = match self.routing(from, class) {
                Routing::None => Vec::new(),
                Routing::Probabilities(shares) => shares.into_iter().map(|(name, _)| name).collect(),
                Routing::Strategy(_, _, places) => {
                    places.iter().map(|place| place.name().to_owned()).collect()
                }
            };
            for name in names {
                if !targets.contains(&name) {
                    targets.push(name);
                }
            }
        }
        targets
    }

    fn write_connections(&mut self) {
        let network = self.network;
        let mut from: Vec<(String, Vec<String>)> = Vec::new();
        if network.classes.iter().any(|class| !class.is_closed()) {
            from.push((SOURCE.into(), self.targets(&Place::Outside, &|class| !class.is_closed())));
        }
        if network.classes.iter().any(CustomerClass::is_closed) {
            from.push((THINK.into(), self.targets(&Place::Outside, &CustomerClass::is_closed)));
        }
        for station in &network.stations {
            let place = Place::Station(station.name.clone());
            from.push((station.name.clone(), self.targets(&place, &|_| true)));
        }
        for (source, targets) in from {
            for target in targets {
                let (source, target) = (escape(&source), escape(&target));
                self.line(format!("<connection source=\"{source}\" target=\"{target}\"/>"));
            }
        }
    }

    fn write_measures(&mut self) {
        let network = self.network;
        for station in &network.stations {
            if !matches!(station.kind, StationKind::Queue(_) | StationKind::Delay { .. }) {
                continue;
            }
            for kind in ["Throughput", "Response Time", "Number of Customers", "Utilization"] {
                let name = escape(&station.name);
                self.line(format!(
                    "<measure alpha=\"0.01\" name=\"{name}_{kind}\" nodeType=\"station\" precision=\"0.03\" \
                     referenceNode=\"{name}\" referenceUserClass=\"\" type=\"{kind}\" verbose=\"false\"/>"
                ));
            }
        }
        for class in &network.classes {
            let name = escape(&class.name);
            self.line(format!(
                "<measure alpha=\"0.01\" name=\"{name}_System Throughput\" nodeType=\"\" precision=\"0.03\" \
                 referenceNode=\"\" referenceUserClass=\"{name}\" type=\"System Throughput\" verbose=\"false\"/>"
            ));
        }
    }
}

/// The weight of each class at a station with processor sharing; `None` for other disciplines.
fn weights(queue: &Queue) -> Option<Box<dyn Fn(&CustomerClass) -> f64 + '_>> {
    match &queue.scheduling {
        Scheduling::ProcessorSharing => Some(Box::new(|_| 1.0)),
        Scheduling::DiscriminatoryProcessorSharing { weights } => {
            Some(Box::new(|class| weights.get(&class.name).copied().unwrap_or(1.0)))
        }
        _ => None,
    }
}

fn probabilities(strategies: &str, shares: &[(String, f64)]) -> String {
    const ENTRY: &str = "jmt.engine.random.EmpiricalEntry";
    let entries: String = shares
        .iter()
        .map(|(name, share)| {
            let station = value_parameter("java.lang.String", "stationName", escape(name));
            let share = value_parameter("java.lang.Double", "probability", decimal(*share));
            sub_parameter(ENTRY, "EmpiricalEntry", &(station + &share))
        })
        .collect();
    let array = format!(
        "<subParameter array=\"true\" classPath=\"{ENTRY}\" name=\"EmpiricalEntryArray\">\n{entries}</subParameter>\n"
    );
    sub_parameter(&format!("{strategies}.EmpiricalStrategy"), "Probabilities", &array)
}
