//! Routing: which place a customer visits next.

use super::error::NotationError;
use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of the place outside all stations, where every pass starts and ends.
pub const OUTSIDE: &str = "outside";

/// A place where a customer can be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Outside: open customers arrive from here and depart to here; closed customers think here.
    Outside,
    /// The station with this name.
    Station(String),
}

impl Place {
    /// The place with this name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        if name == OUTSIDE { Self::Outside } else { Self::Station(name.to_owned()) }
    }

    /// The name of the place.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Outside => OUTSIDE,
            Self::Station(name) => name,
        }
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|name| Self::named(&name))
    }
}

impl JsonSchema for Place {
    fn schema_name() -> Cow<'static, str> {
        "Place".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "The name of a station, or \"outside\"." })
    }
}

/// The route of customers that leave a place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RouteFile", into = "RouteFile")]
pub struct Route {
    /// The place that customers leave.
    pub from: Place,
    /// The classes that take this route; empty: all classes without a specific route from this place.
    pub classes: Vec<String>,
    /// How the next place is chosen.
    pub strategy: Strategy,
}

/// How one of several next places is chosen. Strategies that depend on the state use the state at the moment of the
/// choice.
#[derive(Clone, Debug, PartialEq)]
pub enum Strategy {
    /// Equal probabilities.
    Random(Vec<Place>),
    /// Given probabilities, which sum to 1.
    Probabilities(Vec<(Place, f64)>),
    /// In turn, in the given order.
    RoundRobin(Vec<Place>),
    /// In turn, each target as many times per round as its weight.
    WeightedRoundRobin(Vec<(Place, u32)>),
    /// The station with the fewest customers, waiting and in service.
    JoinShortestQueue(Vec<Place>),
    /// An empty station; otherwise the one whose last departed customer of the class had the shortest response time.
    ShortestResponseTime(Vec<Place>),
    /// A station with an idle server; otherwise any station.
    LeastUtilization(Vec<Place>),
    /// An empty station; otherwise the one whose last service of the class was the shortest.
    FastestService(Vec<Place>),
    /// The station with the fewest customers among `k` stations drawn at random.
    PowerOfK {
        /// Number of stations that are drawn.
        k: u32,
        /// Whether stations that are not drawn are compared by their last observed queue lengths.
        with_memory: bool,
        /// The places.
        to: Vec<Place>,
    },
    /// Probabilities that depend on the number of customers at the place that a customer leaves.
    LoadDependent(Vec<LoadRange>),
}

/// The probabilities for a range of the number of customers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadRange {
    /// The smallest number of customers in the range; the range ends where the next one begins.
    pub from: u64,
    /// The probability of each place.
    pub to: BTreeMap<Place, f64>,
}

impl Strategy {
    /// The places that can be chosen, in the given order; a place may occur more than once.
    #[must_use]
    pub fn places(&self) -> Vec<&Place> {
        match self {
            Self::Random(to)
            | Self::RoundRobin(to)
            | Self::JoinShortestQueue(to)
            | Self::ShortestResponseTime(to)
            | Self::LeastUtilization(to)
            | Self::FastestService(to)
            | Self::PowerOfK { to, .. } => to.iter().collect(),
            Self::Probabilities(to) => to.iter().map(|(place, _)| place).collect(),
            Self::WeightedRoundRobin(to) => to.iter().map(|(place, _)| place).collect(),
            Self::LoadDependent(ranges) => ranges.iter().flat_map(|range| range.to.keys()).collect(),
        }
    }

    /// The probability of each place; `None` if it depends on the state or on previous customers.
    #[must_use]
    pub fn probabilities(&self) -> Option<Vec<(&Place, f64)>> {
        match self {
            Self::Random(to) => {
                let share = 1.0 / to.len() as f64;
                Some(to.iter().map(|place| (place, share)).collect())
            }
            Self::Probabilities(to) => Some(to.iter().map(|(place, share)| (place, *share)).collect()),
            _ if self.places().len() == 1 => Some(vec![(self.places()[0], 1.0)]),
            _ => None,
        }
    }

    /// Name in the model file.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Random(_) => "random",
            Self::Probabilities(_) => "probabilities",
            Self::RoundRobin(_) => "round-robin",
            Self::WeightedRoundRobin(_) => "weighted-round-robin",
            Self::JoinShortestQueue(_) => "join-shortest-queue",
            Self::ShortestResponseTime(_) => "shortest-response-time",
            Self::LeastUtilization(_) => "least-utilization",
            Self::FastestService(_) => "fastest-service",
            Self::PowerOfK { .. } => "power-of-k",
            Self::LoadDependent(_) => "load-dependent",
        }
    }
}

/// The names of the strategies.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum StrategyName {
    Random,
    Probabilities,
    RoundRobin,
    WeightedRoundRobin,
    JoinShortestQueue,
    ShortestResponseTime,
    LeastUtilization,
    FastestService,
    PowerOfK,
    LoadDependent,
}

/// The targets of a route: a place, a list of places, or places with their probabilities or weights.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "`to` is a place, a list of places, or a table of places with their probabilities"
)]
enum Targets {
    Single(Place),
    List(Vec<Place>),
    Weighted(BTreeMap<Place, f64>),
}

/// A route from a place to other places.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Route")]
struct RouteFile {
    /// The station that customers leave, or "outside".
    from: Place,
    /// The classes that take this route; default: all classes without a specific route from `from`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    classes: Vec<String>,
    /// How the next place is chosen; default: "probabilities" if `to` is a table, otherwise "random".
    #[serde(skip_serializing_if = "Option::is_none")]
    strategy: Option<StrategyName>,
    /// The next places.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Targets>,
    /// The number of places that `power-of-k` draws; default 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<u32>,
    /// Whether `power-of-k` remembers the queue lengths that it observed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    with_memory: bool,
    /// The probabilities of `load-dependent`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ranges: Vec<LoadRange>,
}

impl JsonSchema for Route {
    fn schema_name() -> Cow<'static, str> {
        RouteFile::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        RouteFile::json_schema(generator)
    }
}

impl TryFrom<RouteFile> for Route {
    type Error = NotationError;

    fn try_from(file: RouteFile) -> Result<Self, NotationError> {
        use StrategyName as Name;
        let name = file.strategy.unwrap_or(match file.to {
            Some(Targets::Weighted(_)) => Name::Probabilities,
            _ => Name::Random,
        });
        let from = file.from.name();
        if name != Name::PowerOfK && (file.k.is_some() || file.with_memory) {
            return Err(NotationError::Route(format!(
                "the route from {from:?} is not `power-of-k`, but has `k` or `with-memory`"
            )));
        }
        let is_by_load = name == Name::LoadDependent;
        if is_by_load == file.ranges.is_empty() || is_by_load == file.to.is_some() {
            return Err(NotationError::Route(format!(
                "the route from {from:?}: `load-dependent` has `ranges`, every other strategy has `to`"
            )));
        }
        let weighted = |targets: Option<Targets>| match targets {
            Some(Targets::Weighted(map)) => Ok(map),
            _ => Err(NotationError::Route(format!(
                "the route from {from:?} needs a table in `to`, such as {{ db = 0.3, cache = 0.7 }}"
            ))),
        };
        let list = |targets: Option<Targets>| match targets {
            Some(Targets::Single(place)) => Ok(vec![place]),
            Some(Targets::List(places)) if !places.is_empty() => Ok(places),
            Some(Targets::List(_)) => {
                Err(NotationError::Route(format!("the route from {from:?} has no targets")))
            }
            _ => Err(NotationError::Route(format!(
                "the route from {from:?} needs a list in `to`, such as [\"a\", \"b\"]"
            ))),
        };
        let strategy = match name {
            Name::Probabilities => Strategy::Probabilities(weighted(file.to)?.into_iter().collect()),
            Name::WeightedRoundRobin => Strategy::WeightedRoundRobin(
                weighted(file.to)?
                    .into_iter()
                    .map(|(place, weight)| match weight {
                        weight if weight >= 1.0 && weight.fract() == 0.0 && weight <= f64::from(u32::MAX) => {
                            Ok((place, weight as u32))
                        }
                        other => Err(NotationError::Route(format!(
                            "the weight {other} is not a whole number of at least 1"
                        ))),
                    })
                    .collect::<Result<_, NotationError>>()?,
            ),
            Name::LoadDependent => Strategy::LoadDependent(file.ranges),
            Name::Random => Strategy::Random(list(file.to)?),
            Name::RoundRobin => Strategy::RoundRobin(list(file.to)?),
            Name::JoinShortestQueue => Strategy::JoinShortestQueue(list(file.to)?),
            Name::ShortestResponseTime => Strategy::ShortestResponseTime(list(file.to)?),
            Name::LeastUtilization => Strategy::LeastUtilization(list(file.to)?),
            Name::FastestService => Strategy::FastestService(list(file.to)?),
            Name::PowerOfK => Strategy::PowerOfK {
                k: file.k.unwrap_or(2),
                with_memory: file.with_memory,
                to: list(file.to)?,
            },
        };
        Ok(Self { from: file.from, classes: file.classes, strategy })
    }
}

impl From<Route> for RouteFile {
    fn from(route: Route) -> Self {
        use StrategyName as Name;
        let mut file = Self {
            from: route.from,
            classes: route.classes,
            strategy: None,
            to: None,
            k: None,
            with_memory: false,
            ranges: Vec::new(),
        };
        let (name, to) = match route.strategy {
            Strategy::Random(to) => (None, Targets::List(to)),
            Strategy::Probabilities(to) => (None, Targets::Weighted(to.into_iter().collect())),
            Strategy::RoundRobin(to) => (Some(Name::RoundRobin), Targets::List(to)),
            Strategy::WeightedRoundRobin(to) => (
                Some(Name::WeightedRoundRobin),
                Targets::Weighted(to.into_iter().map(|(place, weight)| (place, f64::from(weight))).collect()),
            ),
            Strategy::JoinShortestQueue(to) => (Some(Name::JoinShortestQueue), Targets::List(to)),
            Strategy::ShortestResponseTime(to) => (Some(Name::ShortestResponseTime), Targets::List(to)),
            Strategy::LeastUtilization(to) => (Some(Name::LeastUtilization), Targets::List(to)),
            Strategy::FastestService(to) => (Some(Name::FastestService), Targets::List(to)),
            Strategy::PowerOfK { k, with_memory, to } => {
                (file.k, file.with_memory) = (Some(k), with_memory);
                (Some(Name::PowerOfK), Targets::List(to))
            }
            Strategy::LoadDependent(ranges) => {
                file.ranges = ranges;
                file.strategy = Some(Name::LoadDependent);
                return file;
            }
        };
        (file.strategy, file.to) = (name, Some(to));
        file
    }
}
