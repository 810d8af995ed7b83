//! Reads `.jmva` files.

use busyhour_queueing::network::{
    ClassLoad, CustomerClass, PerClass, Queue, QueueingNetwork, Scheduling, Station, StationKind, TimeLaw,
};

use super::ARRIVALS;
use crate::element::Element;
use crate::findings::Findings;
use crate::per_class::per_class;

/// Relative tolerance for the check that the tables of load-dependent times of two classes are proportional to each other.
const SAME_RATIO: f64 = 1e-9;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Delay,
    LoadIndependent,
    LoadDependent,
    Preemptive,
    HeadOfLine,
}

/// A station as described in the file.
struct FileStation<'e> {
    element: &'e Element,
    name: String,
    kind: Kind,
    servers: u32,
    /// For each class: its visits, and its service times with 1, 2, … customers (a single time if they are load-independent).
    classes: Vec<(f64, Vec<f64>)>,
}

/// Reads the network of a `<model>`, and reports elements that cannot be read.
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
        findings.error(region, "is not supported: finite capacity regions are not supported in .jmva files");
    }
    for what_if in root.children_named("whatIf") {
        findings.note(what_if, "is ignored; use `busyhour capacity what-if --vary` instead");
    }
    network.classes = classes.children.iter().filter_map(|element| read_class(element, findings)).collect();
    let names: Vec<String> = network.classes.iter().map(|class| class.name.clone()).collect();
    let mut file_stations: Vec<FileStation<'_>> =
        stations.children.iter().filter_map(|element| read_station(element, &names, findings)).collect();
    if !findings.errors.is_empty() {
        return network;
    }
    for (at, class) in network.classes.iter_mut().enumerate() {
        if class.is_closed() {
            apply_reference_station(parameters, at, class, &mut file_stations, findings);
        }
    }
    network.stations = file_stations
        .iter()
        .filter(|station| station.classes.iter().any(|(visits, _)| *visits > 0.0))
        .filter_map(|station| convert_station(station, &names, findings))
        .collect();
    network
}

fn read_class(element: &Element, findings: &mut Findings<'_>) -> Option<CustomerClass> {
    let name = findings.attribute(element, "name")?.to_owned();
    let mut class = match element.name.as_str() {
        "closedclass" => {
            let users: f64 = findings.number_attribute(element, "population")?;
            if !(users >= 0.0 && users.fract() == 0.0 && users < 1e15) {
                findings.error(element, format!("has a population of {users}, which is not a whole number"));
                return None;
            }
            CustomerClass::closed(name, users as u64, 0.0)
        }
        "openclass" => {
            let rate: f64 = findings.number_attribute(element, "rate")?;
            if !(rate > 0.0 && rate.is_finite()) {
                findings.error(element, format!("has a rate of {rate}; it must be greater than 0"));
                return None;
            }
            CustomerClass::open(name, rate)
        }
        _ => {
            findings.error(element, "is not a class: the class elements are <closedclass> and <openclass>");
            return None;
        }
    };
    if element.attribute("priority").is_some_and(|priority| !priority.is_empty()) {
        class.priority = findings.number_attribute(element, "priority")?;
    }
    Some(class)
}

fn read_station<'e>(
    element: &'e Element,
    names: &[String],
    findings: &mut Findings<'_>,
) -> Option<FileStation<'e>> {
    let kind = match element.name.as_str() {
        "delaystation" => Kind::Delay,
        "listation" => Kind::LoadIndependent,
        "ldstation" => Kind::LoadDependent,
        "prsstation" => Kind::Preemptive,
        "holstation" => Kind::HeadOfLine,
        _ => {
            findings.error(
                element,
                "is not a station: the station elements are <delaystation>, <listation>, <ldstation>, <prsstation> and \
                 <holstation>",
            );
            return None;
        }
    };
    let name = findings.attribute(element, "name")?.to_owned();
    let servers = match element.attribute("servers") {
        Some(_) => findings.number_attribute(element, "servers")?,
        None => 1,
    };
    let (Some(times), Some(visits)) = (element.child("servicetimes"), element.child("visits")) else {
        findings.error(element, "has no <servicetimes> or no <visits>");
        return None;
    };
    let mut station =
        FileStation { element, name, kind, servers, classes: vec![(0.0, vec![0.0]); names.len()] };
    // In JMT's own files, each list contains all classes.
    for time in &times.children {
        let class = class_index(time, names, findings)?;
        let parts = time.text().split(if kind == Kind::LoadDependent { ';' } else { '\0' });
        let times: Option<Vec<f64>> = parts.map(|part| non_negative_number(time, part, findings)).collect();
        station.classes[class].1 = times?;
    }
    for visit in &visits.children {
        let class = class_index(visit, names, findings)?;
        station.classes[class].0 = non_negative_number(visit, visit.text(), findings)?;
    }
    Some(station)
}

/// The index of the class of an element.
fn class_index(element: &Element, names: &[String], findings: &mut Findings<'_>) -> Option<usize> {
    let name = findings.attribute(element, "customerclass")?;
    let found = names.iter().position(|known| known == name);
    if found.is_none() {
        findings.error(element, "refers to a class that does not exist");
    }
    found
}

/// Parses a number that is at least 0.
fn non_negative_number(element: &Element, text: &str, findings: &mut Findings<'_>) -> Option<f64> {
    let value: f64 = findings.number(element, text)?;
    if !(value >= 0.0 && value.is_finite()) {
        findings.error(element, format!("has the value {value}; it must be at least 0"));
        return None;
    }
    Some(value)
}

/// Divides the visits of a closed class by those to its reference station, so that there is one visit to that station per pass.
/// If the reference station is a delay, it becomes the think time.
fn apply_reference_station(
    parameters: &Element,
    at: usize,
    class: &mut CustomerClass,
    stations: &mut [FileStation<'_>],
    findings: &mut Findings<'_>,
) {
    let named = parameters.child("ReferenceStation").and_then(|reference| {
        reference
            .children_named("Class")
            .find(|element| element.attribute("name") == Some(class.name.as_str()))
    });
    let reference = match named.and_then(|named| Some((named, named.attribute("refStation")?))) {
        // JMT uses the first station in this case.
        None => stations.first().map(|_| 0),
        Some((element, ARRIVALS)) => {
            findings.error(element, "is a closed class, but the arrival process is for open classes only");
            return;
        }
        Some((element, name)) => {
            let found = stations.iter().position(|station| station.name == name);
            if found.is_none() {
                findings.error(element, format!("refers to a station {name:?} that does not exist"));
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

fn convert_station(
    station: &FileStation<'_>,
    names: &[String],
    findings: &mut Findings<'_>,
) -> Option<Station> {
    let visiting = || station.classes.iter().zip(names).filter(|((visits, _), _)| *visits > 0.0);
    let visits: Vec<(String, f64)> = visiting().map(|((visits, _), name)| (name.clone(), *visits)).collect();
    let service = visiting()
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
        // If classes have different service times, the mean values that JMT computes are those of processor sharing.
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
                    "has a number of servers, which is ignored: the table of service times defines the speed",
                );
                queue.servers = 1;
            }
        }
        StationKind::Queue(queue)
    };
    Some(Station {
        name: station.name.clone(),
        kind,
        // A class without a service time does not visit the station. One value is therefore sufficient if all visiting classes
        // have the same number of visits.
        visits: match per_class(visits.clone(), visits.len()) {
            PerClass::ByClass(_) => PerClass::ByClass(visits.into_iter().collect()),
            same @ PerClass::Same(_) => same,
        },
    })
}

/// The speeds by number of customers: the service time with one customer divided by that with n customers. They must be equal
/// for all classes.
fn speeds(station: &FileStation<'_>, findings: &mut Findings<'_>) -> Option<Vec<f64>> {
    let mut speeds: Option<Vec<f64>> = None;
    for (_, times) in station.classes.iter().filter(|(visits, _)| *visits > 0.0) {
        let Some(first) = times.first().filter(|_| times.iter().all(|time| *time > 0.0)) else {
            findings.error(station.element, "has a time of 0 in a table of load-dependent service times");
            return None;
        };
        let class_speeds: Vec<f64> = times.iter().map(|time| first / time).collect();
        let is_same = |known: &Vec<f64>| {
            known.len() == class_speeds.len()
                && known.iter().zip(&class_speeds).all(|(a, b)| (a - b).abs() <= SAME_RATIO * a.max(*b))
        };
        match &speeds {
            Some(known) if !is_same(known) => {
                findings.error(
                    station.element,
                    "has tables of service times that are not proportional to each other; the speed of a station can \
                     depend on the number of customers, but not on their class",
                );
                return None;
            }
            Some(_) => {}
            None => speeds = Some(class_speeds),
        }
    }
    // The last value applies to all larger numbers of customers, so equal values at the end are redundant.
    let mut speeds = speeds.unwrap_or_default();
    while let [.., second_last, last] = speeds[..]
        && second_last == last
    {
        speeds.pop();
    }
    Some(speeds)
}
