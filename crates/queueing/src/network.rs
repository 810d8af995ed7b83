//! Queueing networks as data: the content of a model file, and the input of solvers and simulator.
//!
//! A network has *stations*, which serve customers, and *classes* of customers. All customers come from outside and
//! return there: those of an open class arrive and leave, those of a closed class think outside between two passes.
//! Throughput X and response time R of a class count passes from outside to outside. The path of customers is defined
//! either by *visits* (how often a pass visits each station) or by *routes*.
//!
//! The types correspond to the file, and [`QueueingNetwork::validate`] reports inconsistencies. serde reads and
//! writes them in the notation of `docs/capacity-models.md`.

mod class;
mod class_file;
mod error;
mod law;
mod law_notation;
mod per_class;
pub mod quantity;
mod routing;
mod station;
mod station_file;
mod validate;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use busyhour_diagnostic::nearest_name as nearest;
pub use class::{ClassLoad, CustomerClass};
pub use law::TimeLaw;
pub use per_class::PerClass;
pub use routing::{LoadRange, OUTSIDE, Place, Route, Strategy};
pub use station::{Capacity, Queue, Scheduling, Station, StationKind, WhenFull};
pub use validate::NetworkFinding;

pub use error::NotationError;

/// The version of the notation.
pub const VERSION: u32 = 1;

/// A queueing network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct QueueingNetwork {
    /// The version of the notation: 1.
    pub version: u32,
    /// Name of the modelled system, for headings.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The classes of customers.
    #[serde(rename = "class", default)]
    pub classes: Vec<CustomerClass>,
    /// The stations. Without routes, a pass visits them in this order.
    #[serde(rename = "station", default)]
    pub stations: Vec<Station>,
    /// The routes. Without routes, each pass visits the stations in their order. A station with 2 visits is visited
    /// twice in a row, one with 0.3 visits in three of ten passes. A station with 2.3 visits is visited twice, and a
    /// third time in three of ten passes.
    #[serde(rename = "route", default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<Route>,
}

impl QueueingNetwork {
    /// A network without a name and without routes.
    #[must_use]
    pub fn new(classes: Vec<CustomerClass>, stations: Vec<Station>) -> Self {
        Self { version: VERSION, name: String::new(), classes, stations, routes: Vec::new() }
    }

    /// Index of the station with this name.
    #[must_use]
    pub fn station(&self, name: &str) -> Option<usize> {
        self.stations.iter().position(|station| station.name == name)
    }

    /// Index of the class with this name.
    #[must_use]
    pub fn class(&self, name: &str) -> Option<usize> {
        self.classes.iter().position(|class| class.name == name)
    }

    /// The route that customers of `class` take from `place`. A route for this class takes precedence over a route for
    /// all classes.
    #[must_use]
    pub fn route(&self, place: &Place, class: &str) -> Option<&Route> {
        let starts_here = |route: &&Route| route.from == *place;
        let names_class = |route: &&Route| route.classes.iter().any(|name| name == class);
        let mut routes = self.routes.iter().filter(starts_here);
        let mut for_all = routes.clone();
        routes.find(names_class).or_else(|| for_all.find(|route| route.classes.is_empty()))
    }

    /// The file name and the (mutable) values of every law of the network that replays a file.
    pub fn replays_mut(&mut self) -> impl Iterator<Item = (&str, &mut Vec<f64>)> {
        let class_laws = self.classes.iter_mut().map(|class| match &mut class.load {
            ClassLoad::Closed { think, .. } => think,
            ClassLoad::Open { interarrival } => interarrival,
        });
        let station_laws = self
            .stations
            .iter_mut()
            .filter_map(|station| match &mut station.kind {
                StationKind::Queue(queue) => Some(&mut queue.service),
                StationKind::Delay { service } => Some(service),
                _ => None,
            })
            .flat_map(PerClass::values_mut);
        class_laws.chain(station_laws).filter_map(|law| match law {
            TimeLaw::Replay { file, values_s } => Some((file.as_str(), values_s)),
            _ => None,
        })
    }

    /// The schema of the notation, as JSON Schema 2020-12.
    #[must_use]
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(QueueingNetwork).to_value()
    }
}
