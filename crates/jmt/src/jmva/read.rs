//! Reading `.jmva`.

use busyhour_queueing::network::{
    ClassLoad, CustomerClass, PerClass, Queue, QueueingNetwork, Scheduling, Station, StationKind, TimeLaw,
};

use super::ARRIVALS;
use crate::element::Element;
use crate::findings::Findings;
use crate::per_class::per_class;

/// Tables of load-dependent times are the same for two classes, but for a factor, when they differ by no more than this.
const SAME_RATIO: f64 = 1e-9;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Delay,
    LoadIndependent,
    LoadDependent,
    Preemptive,
    HeadOfLine,
}

/// A station as the file has it.
struct Read<'e> {
    element: &'e Element,
    name: String,
    kind: Kind,
    servers: u32,
    /// By class: visits and service times with 1, 2, … customers (one time where they do not depend on that).
    classes: Vec<(f64, Vec<f64>)>,
}

/// The network of a `<model>`; what cannot be read is found.
pub(crate) fn read(root: &Element, findings: &mut Findings<'_>) -> QueueingNetwork {
    let mut network = QueueingNetwork::new(Vec::new(), Vec::new());
    network.name = root
        .child("description")
        .and_then(|description| description.text().lines().next())
        .map(|line| line.trim().to_owned())
        .unwrap_or_default();
    let Some(parameters) = root.child("parameters") else {
        findings.error(root, "has no <parameters>");
        return network;
    };
    let (Some(classes), Some(stations)) = (parameters.child("classes"), parameters.child("stations")) else {
        findings.error(parameters, "has no <classes> or no <stations>");
        return network;
    };
    for region in root.children_named("blockingRegion") {
        findings.error(region, "is not supported: there are no regions of limited room");
    }
    for what_if in root.children_named("whatIf") {
        findings.note(what_if, "is left out; `busyhour model what-if --vary` does the same");
    }
    network.classes = classes.children.iter().filter_map(|element| read_class(element, findings)).collect();
    let names: Vec<String> = network.classes.iter().map(|class| class.name.clone()).collect();
    let mut read: Vec<Read<'_>> =
        stations.children.iter().filter_map(|element| read_station(element, &names, findings)).collect();
    if !findings.errors.is_empty() {
        return network;
    }
    for (at, class) in network.classes.iter_mut().enumerate() {
        if class.is_closed() {
            refer(parameters, at, class, &mut read, findings);
        }
    }
    network.stations = read
        .iter()
        .filter(|station| station.classes.iter().any(|(visits, _)| *visits > 0.0))
        .filter_map(|station| make_station(station, &names, findings))
        .collect();
    network
}

fn read_class(element: &Element, findings: &mut Findings<'_>) -> Option<CustomerClass> {
    let name = findings.attribute(element, "name")?.to_owned();
    let mut class = match element.name.as_str() {
        "closedclass" => {
            let users: f64 = findings.number_in(element, "population")?;
            if !(users >= 0.0 && users.fract() == 0.0 && users < 1e15) {
                findings.error(element, format!("has a population of {users}, which is no whole number"));
                return None;
            }
            CustomerClass::closed(name, users as u64, 0.0)
        }
        "openclass" => {
            let rate: f64 = findings.number_in(element, "rate")?;
            if !(rate > 0.0 && rate.is_finite()) {
                findings.error(element, format!("has a rate of {rate}; it must be greater than 0"));
                return None;
            }
            CustomerClass::open(name, rate)
        }
        _ => {
            findings.error(element, "is no class: there are <closedclass> and <openclass>");
            return None;
        }
    };
    if element.attribute("priority").is_some_and(|priority| !priority.is_empty()) {
        class.priority = findings.number_in(element, "priority")?;
    }
    Some(class)
}

fn read_station<'e>(element: &'e Element, names: &[String], findings: &mut Findings<'_>) -> Option<Read<'e>> {
    let kind = match element.name.as_str() {
        "delaystation" => Kind::Delay,
        "listation" => Kind::LoadIndependent,
        "ldstation" => Kind::LoadDependent,
        "prsstation" => Kind::Preemptive,
        "holstation" => Kind::HeadOfLine,
        _ => {
            findings.error(
                element,
                "is no station: there are <delaystation>, <listation>, <ldstation>, <prsstation> and <holstation>",
            );
            return None;
        }
    };
    let name = findings.attribute(element, "name")?.to_owned();
    let servers = match element.attribute("servers") {
        Some(_) => findings.number_in(element, "servers")?,
        None => 1,
    };
    let (Some(times), Some(visits)) = (element.child("servicetimes"), element.child("visits")) else {
        findings.error(element, "has no <servicetimes> or no <visits>");
        return None;
    };
    let mut station = Read { element, name, kind, servers, classes: vec![(0.0, vec![0.0]); names.len()] };
    // In JMT's own files each list contains all classes.
    for time in &times.children {
        let class = class_of(time, names, findings)?;
        let parts = time.text().split(if kind == Kind::LoadDependent { ';' } else { '\0' });
        let read: Option<Vec<f64>> = parts.map(|part| time_of(time, part, findings)).collect();
        station.classes[class].1 = read?;
    }
    for visit in &visits.children {
        let class = class_of(visit, names, findings)?;
        station.classes[class].0 = time_of(visit, visit.text(), findings)?;
    }
    Some(station)
}

/// The class that an element is for.
fn class_of(element: &Element, names: &[String], findings: &mut Findings<'_>) -> Option<usize> {
    let name = findings.attribute(element, "customerclass")?;
    let found = names.iter().position(|known| known == name);
    if found.is_none() {
        findings.error(element, "is for a class that is not there");
    }
    found
}

/// A number that is at least 0.
fn time_of(element: &Element, text: &str, findings: &mut Findings<'_>) -> Option<f64> {
    let value: f64 = findings.number(element, text)?;
    if !(value >= 0.0 && value.is_finite()) {
        findings.error(element, format!("has {value}; it must be at least 0"));
        return None;
    }
    Some(value)
}

/// Counts passes of a closed class by its reference station, which becomes the think time if it is a delay.
fn refer(
    parameters: &Element,
    at: usize,
    class: &mut CustomerClass,
    stations: &mut [Read<'_>],
    findings: &mut Findings<'_>,
) {
    let named = parameters.child("ReferenceStation").and_then(|reference| {
        reference.children_named("Class").find(|one| one.attribute("name") == Some(class.name.as_str()))
    });
    let reference = match named.and_then(|named| Some((named, named.attribute("refStation")?))) {
        // JMT takes the first station.
        None => stations.first().map(|_| 0),
        Some((element, ARRIVALS)) => {
            findings.error(element, "is a closed class, and the arrival process is for open ones");
            return;
        }
        Some((element, name)) => {
            let found = stations.iter().position(|station| station.name == name);
            if found.is_none() {
                findings.error(element, format!("refers to a station {name:?} that is not there"));
                return;
            }
            found
        }
    };
    let Some(reference) = reference else { return };
    let visits = stations[reference].classes[at].0;
    if visits == 0.0 {
        if class.users() != Some(0) {
            let element = named.unwrap_or(stations[reference].element);
            let name = &stations[reference].name;
            findings.error(
                element,
                format!("customers of {:?} never visit their reference station {name:?}", class.name),
            );
        }
        return;
    }
    for station in stations.iter_mut() {
        station.classes[at].0 /= visits;
    }
    let reference = &mut stations[reference];
    if reference.kind == Kind::Delay {
        let mean_s = reference.classes[at].1.first().copied().unwrap_or_default();
        if let ClassLoad::Closed { think, .. } = &mut class.load
            && mean_s > 0.0
        {
            *think = TimeLaw::Exponential { mean_s };
        }
        reference.classes[at].0 = 0.0;
    }
}

fn make_station(station: &Read<'_>, names: &[String], findings: &mut Findings<'_>) -> Option<Station> {
    let here = || station.classes.iter().zip(names).filter(|((visits, _), _)| *visits > 0.0);
    let visits: Vec<(String, f64)> = here().map(|((visits, _), name)| (name.clone(), *visits)).collect();
    let service = here()
        .map(|((_, times), name)| {
            let mean_s = times.first().copied().unwrap_or_default();
            (name.clone(), TimeLaw::Exponential { mean_s })
        })
        .collect();
    let service = per_class(service, names.len());
    let kind = if station.kind == Kind::Delay {
        StationKind::Delay { service }
    } else {
        let mut queue = Queue::new(station.servers, service);
        // JMT's mean values are those of shared servers wherever classes have times of their own.
        queue.scheduling = match station.kind {
            Kind::Preemptive => Scheduling::PriorityPreemptive,
            Kind::HeadOfLine => Scheduling::Priority,
            _ => Scheduling::ProcessorSharing,
        };
        if station.kind == Kind::LoadDependent {
            queue.speeds = speeds(station, findings)?;
            if station.servers != 1 {
                findings.note(
                    station.element,
                    "has servers, which are left out: its table of times defines its speed",
                );
                queue.servers = 1;
            }
        }
        StationKind::Queue(queue)
    };
    Some(Station {
        name: station.name.clone(),
        kind,
        // All customers have the same visits; classes without a service time do not visit the station.
        visits: match per_class(visits.clone(), visits.len()) {
            PerClass::ByClass(_) => PerClass::ByClass(visits.into_iter().collect()),
            same @ PerClass::Same(_) => same,
        },
    })
}

/// Speeds that make of the first time of each class those with more customers.
fn speeds(station: &Read<'_>, findings: &mut Findings<'_>) -> Option<Vec<f64>> {
    let mut speeds: Option<Vec<f64>> = None;
    for (_, times) in station.classes.iter().filter(|(visits, _)| *visits > 0.0) {
        let Some(first) = times.first().filter(|_| times.iter().all(|time| *time > 0.0)) else {
            findings.error(station.element, "has a time of 0 in a table of load-dependent times");
            return None;
        };
        let of_class: Vec<f64> = times.iter().map(|time| first / time).collect();
        let same = |known: &Vec<f64>| {
            known.len() == of_class.len()
                && known.iter().zip(&of_class).all(|(a, b)| (a - b).abs() <= SAME_RATIO * a.max(*b))
        };
        match &speeds {
            Some(known) if !same(known) => {
                findings.error(
                    station.element,
                    "has tables of times that are not in proportion to each other; the speed of a station depends \
                     on how many are there, and not on who",
                );
                return None;
            }
            Some(_) => {}
            None => speeds = Some(of_class),
        }
    }
    // The last value holds for more customers.
    let mut speeds = speeds.unwrap_or_default();
    while let [.., before, last] = speeds[..]
        && before == last
    {
        speeds.pop();
    }
    Some(speeds)
}
