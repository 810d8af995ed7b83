//! Queueing networks as data: what a model file says, and what the solvers and the simulator take.
//!
//! A network has *stations*, where customers are served, and *classes* of customers. All customers come from outside
//! and go back there: those of an open class arrive from outside and leave, those of a closed class think outside
//! before they come again. One pass from outside to outside is what throughput X and response time R of a class are
//! counted in. Where customers go is said either by *visits* (how often a pass sees each station) or by *routes*.
//!
//! The types are plain: what can be written in the file is what they hold, and [`QueueingNetwork::validate`] says
//! what of it makes no sense. They are read and written by serde in the notation of `docs/capacity-models.md`.

mod class;
mod class_file;
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

pub use class::{ClassLoad, CustomerClass};
pub use law::TimeLaw;
pub use law_notation::nearest;
pub use per_class::PerClass;
pub use routing::{LoadRange, OUTSIDE, Place, Route, Strategy};
pub use station::{Capacity, Queue, Scheduling, Station, StationKind, WhenFull};
pub use validate::Finding;

/// The version of the notation.
pub const VERSION: u32 = 1;

/// A queueing network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct QueueingNetwork {
    /// The version of the notation: 1.
    pub version: u32,
    /// What the model is of, for headings.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The classes of customers.
    #[serde(rename = "class", default)]
    pub classes: Vec<CustomerClass>,
    /// The stations. Without routes a pass goes through them in this order.
    #[serde(rename = "station", default)]
    pub stations: Vec<Station>,
    /// Where customers go next. Without any, each pass sees the stations in their order, each as often as its visits
    /// say: 2 is twice in a row, 0.3 is once in three passes of ten, 2.3 is twice and in three of ten a third time.
    #[serde(rename = "route", default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<Route>,
}

impl QueueingNetwork {
    /// A network without a name and without routes.
    #[must_use]
    pub fn new(classes: Vec<CustomerClass>, stations: Vec<Station>) -> Self {
        Self { version: VERSION, name: String::new(), classes, stations, routes: Vec::new() }
    }

    /// The station of that name.
    #[must_use]
    pub fn station(&self, name: &str) -> Option<usize> {
        self.stations.iter().position(|station| station.name == name)
    }

    /// The class of that name.
    #[must_use]
    pub fn class(&self, name: &str) -> Option<usize> {
        self.classes.iter().position(|class| class.name == name)
    }

    /// The route that customers of `class` take from `place`: one for this class before one for all.
    #[must_use]
    pub fn route(&self, place: &Place, class: &str) -> Option<&Route> {
        let from_here = |route: &&Route| route.from == *place;
        let named = |route: &&Route| route.classes.iter().any(|name| name == class);
        let mut routes = self.routes.iter().filter(from_here);
        let mut for_all = routes.clone();
        routes.find(named).or_else(|| for_all.find(|route| route.classes.is_empty()))
    }

    /// Every law in the network that is replayed from a file: the file, and where its values belong.
    pub fn replays_mut(&mut self) -> impl Iterator<Item = (&str, &mut Vec<f64>)> {
        let of_classes = self.classes.iter_mut().map(|class| match &mut class.load {
            ClassLoad::Closed { think, .. } => think,
            ClassLoad::Open { interarrival } => interarrival,
        });
        let of_stations = self
            .stations
            .iter_mut()
            .filter_map(|station| match &mut station.kind {
                StationKind::Queue(queue) => Some(&mut queue.service),
                StationKind::Delay { service } => Some(service),
                _ => None,
            })
            .flat_map(PerClass::values_mut);
        of_classes.chain(of_stations).filter_map(|law| match law {
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
