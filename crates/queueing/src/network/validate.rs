//! Checks of a network for inconsistencies that the notation allows.

use std::collections::BTreeMap;
use std::fmt;

use busyhour_diagnostic::nearest_name as nearest;

use super::routing::{OUTSIDE, Place, Strategy};
use super::station::{Queue, Scheduling, StationKind};
use super::{ClassLoad, PerClass, QueueingNetwork, TimeLaw, VERSION};

/// Tolerance for sums of probabilities, because of rounding: three thirds may not sum to 1 exactly.
const SUM_TOLERANCE: f64 = 1e-6;

/// Maximum number of servers of a queue: solvers store a speed for each number of busy servers.
const SERVERS_MAX: u32 = 100_000;
/// Maximum number of siblings that a fork creates for each target.
const TASKS_MAX: u32 = 10_000;

/// An inconsistency of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkFinding {
    /// The position as a path in the file: `station[1].service.web`.
    pub path: String,
    /// The problem, as a sentence without a full stop.
    pub message: String,
    /// A way to correct it.
    pub hint: Option<String>,
}

impl fmt::Display for NetworkFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

struct Check<'n> {
    network: &'n QueueingNetwork,
    findings: Vec<NetworkFinding>,
}

impl QueueingNetwork {
    /// Returns the inconsistencies; none for a network that can be solved or simulated.
    #[must_use]
    pub fn validate(&self) -> Vec<NetworkFinding> {
        let mut check = Check { network: self, findings: Vec::new() };
        check.check_network();
        check.check_classes();
        check.check_stations();
        check.check_routes();
        check.findings
    }
}

impl Check<'_> {
    fn find(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.findings.push(NetworkFinding { path: path.into(), message: message.into(), hint: None });
    }

    fn find_with_hint(&mut self, path: impl Into<String>, message: impl Into<String>, hint: Option<String>) {
        self.findings.push(NetworkFinding { path: path.into(), message: message.into(), hint });
    }

    fn check_network(&mut self) {
        if self.network.version != VERSION {
            let message = format!(
                "version {} of the notation is not supported; use version {VERSION}",
                self.network.version
            );
            self.find("version", message);
        }
        if self.network.classes.is_empty() {
            self.find("class", "there is no class of customers: add a [[class]]");
        }
        if self.network.stations.is_empty() {
            self.find("station", "there is no station: add a [[station]]");
        }
    }

    fn check_classes(&mut self) {
        for (at, class) in self.network.classes.iter().enumerate() {
            let path = format!("class[{at}]");
            if class.name.is_empty() {
                self.find(format!("{path}.name"), "a class needs a name");
            }
            if self.network.class(&class.name) != Some(at) {
                self.find(format!("{path}.name"), format!("the class {:?} is already defined", class.name));
            }
            match &class.load {
                ClassLoad::Closed { think, .. } => self.check_law(&format!("{path}.think"), think),
                ClassLoad::Open { interarrival } => {
                    self.check_law(&format!("{path}.interarrival"), interarrival);
                    if interarrival.mean_s() == 0.0 {
                        self.find(
                            format!("{path}.interarrival"),
                            "the mean interarrival time must be greater than 0",
                        );
                    }
                }
            }
        }
    }

    fn check_law(&mut self, path: &str, law: &TimeLaw) {
        if let Err(error) = law.check() {
            self.find(path, error.to_string());
        }
    }

    /// Reports a finding if there is no class with this name.
    fn check_class_name(&mut self, path: &str, name: &str) {
        if self.network.class(name).is_none() {
            let known = self.network.classes.iter().map(|class| class.name.as_str());
            let hint = nearest(name, known).map(|near| format!("did you mean {near:?}?"));
            self.find_with_hint(path, format!("there is no class {name:?}"), hint);
        }
    }

    fn check_place(&mut self, path: &str, place: &Place) {
        if let Place::Station(name) = place
            && self.network.station(name).is_none()
        {
            let known = self.network.stations.iter().map(|station| station.name.as_str()).chain([OUTSIDE]);
            let hint = nearest(name, known).map(|near| format!("did you mean {near:?}?"));
            self.find_with_hint(path, format!("there is no station {name:?}"), hint);
        }
    }

    fn check_laws(&mut self, path: &str, laws: &PerClass<TimeLaw>) {
        for (class, law) in laws.values() {
            let path = class.map_or_else(|| path.to_owned(), |class| format!("{path}.{class}"));
            if let Some(class) = class {
                self.check_class_name(&path, class);
            }
            self.check_law(&path, law);
        }
    }

    fn check_stations(&mut self) {
        for (at, station) in self.network.stations.iter().enumerate() {
            let path = format!("station[{at}]");
            if station.name.is_empty() || station.name == OUTSIDE {
                self.find(format!("{path}.name"), format!("a station needs a name other than {OUTSIDE:?}"));
            }
            if self.network.station(&station.name) != Some(at) {
                let message = format!("the station {:?} is already defined", station.name);
                self.find(format!("{path}.name"), message);
            }
            for (class, visits) in station.visits.values() {
                let path =
                    class.map_or_else(|| format!("{path}.visits"), |class| format!("{path}.visits.{class}"));
                if let Some(class) = class {
                    self.check_class_name(&path, class);
                }
                if !(*visits >= 0.0 && visits.is_finite()) {
                    self.find(path, format!("visits must be a number of at least 0, not {visits}"));
                } else if !self.network.routes.is_empty() && *visits != 1.0 {
                    self.find(path, "a model with routes has no `visits`: they follow from the routes");
                }
            }
            match &station.kind {
                StationKind::Queue(queue) => self.check_queue(&path, queue),
                StationKind::Delay { service } => self.check_laws(&format!("{path}.service"), service),
                StationKind::Fork { to, tasks } => {
                    if to.is_empty() || *tasks == 0 {
                        self.find(format!("{path}.to"), "a fork needs at least one target and one task");
                    }
                    if *tasks > TASKS_MAX {
                        let message =
                            format!("there are {tasks} siblings for each target; the maximum is {TASKS_MAX}");
                        self.find(format!("{path}.tasks"), message);
                    }
                    to.iter().for_each(|place| self.check_place(&format!("{path}.to"), place));
                    if to.contains(&Place::Outside) {
                        self.find(format!("{path}.to"), "siblings must be joined before they go outside");
                    }
                    if self.network.routes.is_empty() {
                        self.find(&path, "a fork needs routes: add [[route]]");
                    }
                }
                StationKind::Join => {
                    let is_fork = |kind: &StationKind| matches!(kind, StationKind::Fork { .. });
                    if !self.network.stations.iter().any(|station| is_fork(&station.kind)) {
                        self.find(&path, "a join waits for siblings, but there is no fork");
                    }
                }
                StationKind::Router => {}
                StationKind::ClassSwitch { to } => self.check_switch(&path, to),
            }
        }
    }

    fn check_queue(&mut self, path: &str, queue: &Queue) {
        self.check_laws(&format!("{path}.service"), &queue.service);
        if queue.servers == 0 {
            self.find(format!("{path}.servers"), "a queue needs at least 1 server");
        }
        if queue.servers > SERVERS_MAX {
            let message = format!("there are {} servers; the maximum is {SERVERS_MAX}", queue.servers);
            let hint = "use a delay for a station with a server for each customer".to_owned();
            self.find_with_hint(format!("{path}.servers"), message, Some(hint));
        }
        if !queue.speeds.is_empty() && queue.servers != 1 {
            self.find(format!("{path}.speeds"), "`speeds` apply to the whole station: remove `servers`");
        }
        if let Some(speed) = queue.speeds.iter().find(|speed| !(**speed > 0.0 && speed.is_finite())) {
            self.find(format!("{path}.speeds"), format!("a speed must be greater than 0, not {speed}"));
        }
        if let Some(capacity) = queue.capacity
            && capacity.customers < queue.servers
        {
            let message =
                format!("the capacity of {} is less than the {} servers", capacity.customers, queue.servers);
            self.find(format!("{path}.capacity"), message);
        }
        if let Scheduling::DiscriminatoryProcessorSharing { weights } = &queue.scheduling {
            for (class, weight) in weights {
                let path = format!("{path}.weights.{class}");
                self.check_class_name(&path, class);
                if !(*weight > 0.0 && weight.is_finite()) {
                    self.find(path, format!("a weight must be greater than 0, not {weight}"));
                }
            }
        }
    }

    fn check_switch(&mut self, path: &str, to: &BTreeMap<String, BTreeMap<String, f64>>) {
        for (from, shares) in to {
            let path = format!("{path}.switch.{from}");
            self.check_class_name(&path, from);
            for class in shares.keys() {
                self.check_class_name(&format!("{path}.{class}"), class);
            }
            self.check_probabilities(&path, shares.values().copied());
            let is_closed =
                |name: &str| self.network.class(name).map(|class| self.network.classes[class].is_closed());
            if let Some(other) = shares.keys().find(|class| is_closed(class) != is_closed(from)) {
                self.find(path, format!("{from:?} and {other:?} are not both closed or both open"));
            }
        }
    }

    /// Reports a finding if a probability is not from 0 to 1, or if the probabilities do not sum to 1.
    fn check_probabilities(&mut self, path: &str, probabilities: impl Iterator<Item = f64> + Clone) {
        if let Some(probability) = probabilities.clone().find(|value| !(0.0..=1.0).contains(value)) {
            self.find(path, format!("a probability must be from 0 to 1, not {probability}"));
            return;
        }
        let sum: f64 = probabilities.sum();
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            self.find(path, format!("the probabilities sum to {sum}, not to 1"));
        }
    }

    fn check_routes(&mut self) {
        let network = self.network;
        for (at, route) in network.routes.iter().enumerate() {
            let path = format!("route[{at}]");
            self.check_place(&format!("{path}.from"), &route.from);
            for class in &route.classes {
                self.check_class_name(&format!("{path}.classes"), class);
            }
            let same = |other: &&super::Route| {
                other.from == route.from
                    && (other.classes == route.classes
                        || other.classes.iter().any(|class| route.classes.contains(class)))
            };
            if network.routes[..at].iter().any(|other| same(&other)) {
                let message =
                    format!("a route from {:?} for the same class is already defined", route.from.name());
                self.find(format!("{path}.from"), message);
            }
            for place in route.strategy.places() {
                self.check_place(&format!("{path}.to"), place);
            }
            match &route.strategy {
                Strategy::Probabilities(to) => {
                    self.check_probabilities(&format!("{path}.to"), to.iter().map(|(_, share)| *share));
                }
                Strategy::PowerOfK { k: 0, .. } => self.find(format!("{path}.k"), "k must be at least 1"),
                Strategy::LoadDependent(ranges) => {
                    for (number, range) in ranges.iter().enumerate() {
                        let path = format!("{path}.ranges[{number}].to");
                        self.check_probabilities(&path, range.to.values().copied());
                    }
                    if ranges.windows(2).any(|pair| pair[0].from >= pair[1].from)
                        || ranges.first().is_none_or(|range| range.from > 1)
                    {
                        self.find(
                            format!("{path}.ranges"),
                            "ranges must start at 0 or 1 and be in ascending order",
                        );
                    }
                }
                _ => {}
            }
            if let Place::Station(name) = &route.from
                && let Some(station) = network.station(name)
                && matches!(network.stations[station].kind, StationKind::Fork { .. })
            {
                self.find(format!("{path}.from"), "a fork has no route: its `to` defines the targets");
            }
        }
        if !network.routes.is_empty() {
            for (at, class) in network.classes.iter().enumerate() {
                // A class without users of its own gets customers only from class switches. The paths of these customers
                // are followed from their first class.
                if class.users() != Some(0) {
                    self.check_paths(at, &class.name);
                }
            }
        }
    }

    /// Follows the routes of a class, and reports missing routes, missing service times, and passes that do not end.
    fn check_paths(&mut self, at: usize, class: &str) {
        let network = self.network;
        // A customer may change its class during a pass, so these are pairs of place and class.
        let mut reached = vec![(Place::Outside, class.to_owned())];
        let mut returns_outside = false;
        let mut next = 0;
        while let Some((place, class)) = reached.get(next).cloned() {
            next += 1;
            let station = match &place {
                Place::Station(name) => network.station(name).map(|at| &network.stations[at]),
                Place::Outside => None,
            };
            if let Some(station) = station
                && matches!(station.kind, StationKind::Queue(_) | StationKind::Delay { .. })
                && station.service(&class).is_none()
            {
                let path = format!("station[{}].service", network.station(&station.name).unwrap_or_default());
                self.find(path, format!("the class {class:?} visits this station, but has no service time"));
                continue;
            }
            let mut visit = |place: &Place, class: &str| {
                returns_outside |= *place == Place::Outside;
                // A customer that changed its class starts its next pass with the new class.
                if !reached.iter().any(|(known, known_class)| known == place && known_class == class) {
                    reached.push((place.clone(), class.to_owned()));
                }
            };
            let kind = station.map(|station| &station.kind);
            if let Some(StationKind::Fork { to, .. }) = kind {
                to.iter().for_each(|place| visit(place, &class));
                continue;
            }
            let departing: Vec<String> = match kind {
                Some(StationKind::ClassSwitch { to }) => to
                    .get(&class)
                    .map_or_else(|| vec![class.clone()], |shares| shares.keys().cloned().collect()),
                _ => vec![class.clone()],
            };
            for class in departing {
                match network.route(&place, &class) {
                    Some(route) => route.strategy.places().into_iter().for_each(|place| visit(place, &class)),
                    None => self.find_with_hint(
                        format!("class[{at}].name"),
                        format!("customers of the class {class:?} have no route from {:?}", place.name()),
                        Some(format!("add a [[route]] with from = {:?}", place.name())),
                    ),
                }
            }
        }
        if !returns_outside {
            self.find(
                format!("class[{at}].name"),
                format!("customers of the class {class:?} never return to {OUTSIDE:?}: no pass ends"),
            );
        }
    }
}
