//! The file form of a station: the keys of all kinds of stations in one table.

use super::error::NotationError;
use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::law::TimeLaw;
use super::per_class::PerClass;
use super::quantity::Seconds;
use super::routing::Place;
use super::station::{Capacity, Queue, Scheduling, Station, StationKind, WhenFull};

/// The kinds of stations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum KindName {
    /// Serves a limited number of customers at a time; the others wait.
    #[default]
    Queue,
    /// Serves all customers at once.
    Delay,
    /// Splits a customer into sibling tasks, which are routed independently and in parallel.
    Fork,
    /// Waits for all siblings of a customer and merges them.
    Join,
    /// Routes customers without serving them.
    Router,
    /// Changes the class of customers.
    ClassSwitch,
}

/// Queueing disciplines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum SchedulingName {
    /// First come, first served.
    #[default]
    Fcfs,
    /// Last come, first served.
    Lcfs,
    /// Last come, first served, preemptive resume.
    LcfsPr,
    /// Random order.
    Random,
    /// Shortest job first.
    Sjf,
    /// Processor sharing.
    Ps,
    /// Discriminatory processor sharing, by `weights`.
    Dps,
    /// By the priority of the class, non-preemptive.
    Priority,
    /// By the priority of the class, preemptive resume.
    PriorityPreemptive,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn is_once(visits: &PerClass<f64>) -> bool {
    *visits == PerClass::Same(1.0)
}

fn once() -> PerClass<f64> {
    PerClass::Same(1.0)
}

/// A station: `service` per visit (with `visits`), or `demand` per pass.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Station")]
pub(super) struct StationFile {
    /// Unique name; "outside" is reserved.
    name: String,
    /// The kind of station; default "queue".
    #[serde(default, skip_serializing_if = "is_default")]
    kind: KindName,
    /// Queue: number of servers; default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    servers: Option<u32>,
    /// Queue: queueing discipline; default "fcfs".
    #[serde(default, skip_serializing_if = "is_default")]
    scheduling: SchedulingName,
    /// Queue with "dps": the weight of each class; default 1.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    weights: BTreeMap<String, f64>,
    /// Queue, delay: service time of a visit.
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<PerClass<TimeLaw>>,
    /// Instead of `service` and `visits`: service demand of a pass, which is the mean of an exponential law.
    #[serde(skip_serializing_if = "Option::is_none")]
    demand: Option<PerClass<Seconds>>,
    /// Visits per pass if there are no routes; default 1.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    visits: PerClass<f64>,
    /// Queue: speed of the station with 1, 2, 3 … customers; the last value applies to more customers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    speeds: Vec<f64>,
    /// Queue: maximum number of customers, waiting and in service.
    #[serde(skip_serializing_if = "Option::is_none")]
    capacity: Option<u32>,
    /// Queue with a capacity: treatment of customers that find the station full; default "drop".
    #[serde(skip_serializing_if = "Option::is_none")]
    when_full: Option<WhenFull>,
    /// Fork: the targets of the siblings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    to: Vec<Place>,
    /// Fork: number of siblings for each target; default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<u32>,
    /// Class switch: for each arriving class, the probabilities of the classes in which the customer departs.
    #[serde(rename = "switch", default, skip_serializing_if = "BTreeMap::is_empty")]
    switch_to: BTreeMap<String, BTreeMap<String, f64>>,
}

impl StationFile {
    /// The given keys that are valid for some kinds only, with these kinds.
    fn special_keys(&self) -> impl Iterator<Item = (&'static str, &'static [KindName])> {
        use KindName::{ClassSwitch, Delay, Fork, Queue};
        [
            ("servers", self.servers.is_some(), &[Queue] as &[KindName]),
            ("scheduling", self.scheduling != SchedulingName::Fcfs, &[Queue]),
            ("weights", !self.weights.is_empty(), &[Queue]),
            ("service", self.service.is_some(), &[Queue, Delay]),
            ("demand", self.demand.is_some(), &[Queue, Delay]),
            ("speeds", !self.speeds.is_empty(), &[Queue]),
            ("capacity", self.capacity.is_some(), &[Queue]),
            ("when-full", self.when_full.is_some(), &[Queue]),
            ("to", !self.to.is_empty(), &[Fork]),
            ("tasks", self.tasks.is_some(), &[Fork]),
            ("switch", !self.switch_to.is_empty(), &[ClassSwitch]),
        ]
        .into_iter()
        .filter_map(|(key, is_given, kinds)| is_given.then_some((key, kinds)))
    }

    fn take_service(&mut self) -> Result<PerClass<TimeLaw>, NotationError> {
        match (self.service.take(), self.demand.take()) {
            (Some(service), None) => Ok(service),
            (None, Some(_)) if !is_once(&self.visits) => Err(NotationError::Station(format!(
                "the station {:?} has a demand and visits; a demand covers all visits of a pass: give `service` and `visits`, or `demand`",
                self.name
            ))),
            (None, Some(demand)) => Ok(demand.map(|Seconds(mean_s)| TimeLaw::Exponential { mean_s })),
            (Some(_), Some(_)) => Err(NotationError::Station(format!(
                "the station {:?} has `service` and `demand`; give only one of them",
                self.name
            ))),
            (None, None) => Err(NotationError::Station(format!(
                "the station {:?} has no service time: it needs `service` (per visit) or `demand` (per pass), such as service = \"50ms\"",
                self.name
            ))),
        }
    }
}

impl Serialize for Station {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        StationFile::from(self.clone()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Station {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        StationFile::deserialize(deserializer)?.try_into().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Station {
    fn schema_name() -> Cow<'static, str> {
        StationFile::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        StationFile::json_schema(generator)
    }
}

impl TryFrom<StationFile> for Station {
    type Error = NotationError;

    fn try_from(mut file: StationFile) -> Result<Self, NotationError> {
        if let Some((key, kinds)) = file.special_keys().find(|(_, kinds)| !kinds.contains(&file.kind)) {
            let kinds: Vec<&str> = kinds
                .iter()
                .map(|kind| match kind {
                    KindName::Queue => "queue",
                    KindName::Delay => "delay",
                    KindName::Fork => "fork",
                    KindName::Join => "join",
                    KindName::Router => "router",
                    KindName::ClassSwitch => "class-switch",
                })
                .collect();
            return Err(NotationError::Station(format!(
                "the station {:?} has the key `{key}`, which is valid for the kind {} only",
                file.name,
                kinds.join(" or ")
            )));
        }
        let kind = match file.kind {
            KindName::Queue => {
                if file.when_full.is_some() && file.capacity.is_none() {
                    return Err(NotationError::Station(format!(
                        "the station {:?} has `when-full`, but no `capacity`",
                        file.name
                    )));
                }
                if !file.weights.is_empty() && file.scheduling != SchedulingName::Dps {
                    return Err(NotationError::Station(format!(
                        "the station {:?} has `weights`, but its scheduling is not \"dps\"",
                        file.name
                    )));
                }
                StationKind::Queue(Queue {
                    servers: file.servers.unwrap_or(1),
                    service: file.take_service()?,
                    speeds: file.speeds,
                    capacity: file.capacity.map(|customers| Capacity {
                        customers,
                        when_full: file.when_full.unwrap_or(WhenFull::Drop),
                    }),
                    scheduling: match file.scheduling {
                        SchedulingName::Fcfs => Scheduling::Fcfs,
                        SchedulingName::Lcfs => Scheduling::Lcfs,
                        SchedulingName::LcfsPr => Scheduling::LcfsPreemptiveResume,
                        SchedulingName::Random => Scheduling::Random,
                        SchedulingName::Sjf => Scheduling::ShortestJobFirst,
                        SchedulingName::Ps => Scheduling::ProcessorSharing,
                        SchedulingName::Dps => {
                            Scheduling::DiscriminatoryProcessorSharing { weights: file.weights }
                        }
                        SchedulingName::Priority => Scheduling::Priority,
                        SchedulingName::PriorityPreemptive => Scheduling::PriorityPreemptive,
                    },
                })
            }
            KindName::Delay => StationKind::Delay { service: file.take_service()? },
            KindName::Fork => StationKind::Fork { to: file.to, tasks: file.tasks.unwrap_or(1) },
            KindName::Join => StationKind::Join,
            KindName::Router => StationKind::Router,
            KindName::ClassSwitch => StationKind::ClassSwitch { to: file.switch_to },
        };
        Ok(Self { name: file.name, kind, visits: file.visits })
    }
}

impl From<Station> for StationFile {
    fn from(station: Station) -> Self {
        let mut file = Self {
            name: station.name,
            kind: KindName::Queue,
            servers: None,
            scheduling: SchedulingName::Fcfs,
            weights: BTreeMap::new(),
            service: None,
            demand: None,
            visits: station.visits,
            speeds: Vec::new(),
            capacity: None,
            when_full: None,
            to: Vec::new(),
            tasks: None,
            switch_to: BTreeMap::new(),
        };
        match station.kind {
            StationKind::Queue(queue) => {
                file.servers = Some(queue.servers).filter(|servers| *servers != 1);
                file.service = Some(queue.service);
                file.speeds = queue.speeds;
                file.capacity = queue.capacity.map(|capacity| capacity.customers);
                file.when_full =
                    queue.capacity.map(|capacity| capacity.when_full).filter(|full| *full != WhenFull::Drop);
                file.scheduling = match queue.scheduling {
                    Scheduling::Fcfs => SchedulingName::Fcfs,
                    Scheduling::Lcfs => SchedulingName::Lcfs,
                    Scheduling::LcfsPreemptiveResume => SchedulingName::LcfsPr,
                    Scheduling::Random => SchedulingName::Random,
                    Scheduling::ShortestJobFirst => SchedulingName::Sjf,
                    Scheduling::ProcessorSharing => SchedulingName::Ps,
                    Scheduling::DiscriminatoryProcessorSharing { weights } => {
                        file.weights = weights;
                        SchedulingName::Dps
                    }
                    Scheduling::Priority => SchedulingName::Priority,
                    Scheduling::PriorityPreemptive => SchedulingName::PriorityPreemptive,
                };
            }
            StationKind::Delay { service } => {
                file.kind = KindName::Delay;
                file.service = Some(service);
            }
            StationKind::Fork { to, tasks } => {
                file.kind = KindName::Fork;
                file.to = to;
                file.tasks = Some(tasks).filter(|tasks| *tasks != 1);
            }
            StationKind::Join => file.kind = KindName::Join,
            StationKind::Router => file.kind = KindName::Router,
            StationKind::ClassSwitch { to } => {
                file.kind = KindName::ClassSwitch;
                file.switch_to = to;
            }
        }
        file
    }
}
