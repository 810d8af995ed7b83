//! Output sections: where customers go next.

use busyhour_queueing::network::{LoadRange, Place, Strategy};

use super::nodes::{Model, Node, NodeKind};
use crate::element::Element;
use crate::findings::Findings;

/// Where customers of a class go from a node: nodes, before any of them is taken for outside.
pub(super) struct Choice {
    pub(super) strategy: Strategy,
    /// All nodes that can be chosen.
    pub(super) nodes: Vec<usize>,
}

/// The choice of a class at a node; nothing when it cannot be read, or when the class does not leave there.
pub(super) fn read(
    model: &Model<'_>,
    node: &Node<'_>,
    class: usize,
    findings: &mut Findings<'_>,
) -> Option<Choice> {
    let router = node.section(2)?;
    let name = &model.classes[class].name;
    // Closed customers do not go to sinks.
    let is_closed = model.classes[class].users.is_some();
    let allowed = |target: &usize| !is_closed || model.nodes[*target].kind != NodeKind::Sink;
    let targets: Vec<usize> = node.targets.iter().copied().filter(allowed).collect();
    let strategies = router.parameter("RoutingStrategy");
    let Some(strategy) = strategies.and_then(|strategies| strategies.of_class(name)) else {
        findings.error(router, format!("has no strategy for the class {name:?}"));
        return None;
    };
    let reader = Reader { model, class, strategy };
    let all = || -> Vec<Place> { targets.iter().map(|target| reader.place(*target)).collect() };
    let read = match strategy.java_class() {
        "DisabledRoutingStrategy" => return None,
        _ if targets.is_empty() => {
            findings.error(
                node.element,
                format!("is connected with no node that customers of the class {name:?} can go to"),
            );
            return None;
        }
        "RandomStrategy" => Strategy::Random(all()),
        "RoundRobinStrategy" => Strategy::RoundRobin(all()),
        "ShortestQueueLengthRoutingStrategy" => Strategy::JoinShortestQueue(all()),
        "ShortestResponseTimeRoutingStrategy" => Strategy::ShortestResponseTime(all()),
        "LeastUtilizationRoutingStrategy" => Strategy::LeastUtilization(all()),
        "FastestServiceRoutingStrategy" => Strategy::FastestService(all()),
        "PowerOfKRoutingStrategy" => {
            let mut parts = strategy.inner();
            let k = parts.next().unwrap_or(strategy);
            let with_memory = parts.next().and_then(Element::value) == Some("true");
            Strategy::PowerOfK {
                k: findings.number(k, k.value().unwrap_or_default())?,
                with_memory,
                to: all(),
            }
        }
        "EmpiricalStrategy" => Strategy::Probabilities(reader.shares(strategy, findings)?),
        "WeightedRoundRobinStrategy" => Strategy::WeightedRoundRobin(
            reader
                .entries(strategy, findings)?
                .into_iter()
                .filter(|(_, weight): &(_, u32)| *weight > 0)
                .collect(),
        ),
        "LoadDependentRoutingStrategy" => {
            let mut ranges = Vec::new();
            for range in strategy.inner().flat_map(Element::inner) {
                let from = range.inner().next().unwrap_or(range);
                ranges.push(LoadRange {
                    from: findings.number(from, from.value().unwrap_or_default())?,
                    to: reader.shares(range, findings)?.into_iter().collect(),
                });
            }
            ranges.sort_by_key(|range| range.from);
            Strategy::LoadDependent(ranges)
        }
        other => {
            findings.error(strategy, format!("is a strategy that is not supported: {other}"));
            return None;
        }
    };
    reader.check(read, targets, findings)
}

struct Reader<'m> {
    model: &'m Model<'m>,
    class: usize,
    strategy: &'m Element,
}

impl Reader<'_> {
    /// A node as a place: sinks are outside, and so is where the class's passes begin.
    fn place(&self, node: usize) -> Place {
        let read = &self.model.nodes[node];
        if read.kind == NodeKind::Sink || self.model.classes[self.class].reference == node {
            Place::Outside
        } else {
            Place::Station(read.name.clone())
        }
    }

    /// Pairs of a node and a number below an array of entries.
    fn entries<T: std::str::FromStr>(
        &self,
        parameter: &Element,
        findings: &mut Findings<'_>,
    ) -> Option<Vec<(Place, T)>> {
        let array = parameter.inner().find(|inner| inner.attribute("array") == Some("true"));
        let Some(array) = array else {
            findings.error(parameter, "has no array of entries");
            return None;
        };
        let mut found = Vec::new();
        for entry in array.inner() {
            let parts: Vec<&Element> = entry.inner().collect();
            let [station, number, ..] = &parts[..] else {
                findings.error(entry, "has no station and number");
                return None;
            };
            let name = station.value().unwrap_or_default();
            let Some(node) = self.model.node(name) else {
                findings.error(station, format!("names a node {name:?} that is not there"));
                return None;
            };
            found.push((self.place(node), findings.number(number, number.value().unwrap_or_default())?));
        }
        Some(found)
    }

    /// Probabilities of places, each place once.
    fn shares(&self, parameter: &Element, findings: &mut Findings<'_>) -> Option<Vec<(Place, f64)>> {
        let mut shares: Vec<(Place, f64)> = Vec::new();
        for (place, share) in self.entries(parameter, findings)? {
            match shares.iter_mut().find(|(known, _)| *known == place) {
                _ if share == 0.0 => {}
                Some((_, sum)) => *sum += share,
                None => shares.push((place, share)),
            }
        }
        Some(shares)
    }

    /// One place needs no strategy; a choice by what is seen must see the stations that JMT sees.
    fn check(&self, strategy: Strategy, targets: Vec<usize>, findings: &mut Findings<'_>) -> Option<Choice> {
        let places = strategy.places();
        if places.is_empty() {
            findings.error(self.strategy, "leads nowhere");
            return None;
        }
        let is_chosen = |target: &usize| places.contains(&&self.place(*target));
        let nodes: Vec<usize> = targets.into_iter().filter(is_chosen).collect();
        let by_sight = matches!(
            strategy,
            Strategy::JoinShortestQueue(_)
                | Strategy::ShortestResponseTime(_)
                | Strategy::LeastUtilization(_)
                | Strategy::FastestService(_)
                | Strategy::PowerOfK { .. }
        );
        let is_reference = |node: &usize| self.model.classes[self.class].reference == *node;
        if by_sight && places.len() > 1 && nodes.iter().any(is_reference) {
            findings.error(
                self.strategy,
                "chooses among others the reference station of the class, which is outside here and cannot be seen",
            );
            return None;
        }
        let strategy = match places[..] {
            [place] => Strategy::Random(vec![place.clone()]),
            _ => strategy,
        };
        Some(Choice { strategy, nodes })
    }
}
