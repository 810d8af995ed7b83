//! Reads the routing of output sections.

use busyhour_queueing::network::{LoadRange, Place, Strategy};

use super::nodes::{Model, Node, NodeKind};
use crate::element::Element;
use crate::findings::Findings;

/// The routing of a class from a node.
pub(super) struct Choice {
    pub(super) strategy: Strategy,
    /// All possible target nodes, including nodes that represent the outside of the network for this class.
    pub(super) nodes: Vec<usize>,
}

/// Reads the routing of a class at a node. `None` if it cannot be read, or if routing is disabled for the class.
pub(super) fn read(
    model: &Model<'_>,
    node: &Node<'_>,
    class: usize,
    findings: &mut Findings<'_>,
) -> Option<Choice> {
    let router = node.section(2)?;
    let name = &model.classes[class].name;
    // Closed customers do not visit sinks.
    let is_closed = model.classes[class].users.is_some();
    let is_allowed = |target: &usize| !is_closed || model.nodes[*target].kind != NodeKind::Sink;
    let targets: Vec<usize> = node.targets.iter().copied().filter(is_allowed).collect();
    let strategies = router.parameter("RoutingStrategy");
    let Some(strategy) = strategies.and_then(|strategies| strategies.for_class(name)) else {
        findings.error(router, format!("has no strategy for the class {name:?}"));
        return None;
    };
    let reader = Reader { model, class, strategy };
    let all = || -> Vec<Place> { targets.iter().map(|target| reader.place(*target)).collect() };
    let found = match strategy.java_class() {
        "DisabledRoutingStrategy" => return None,
        _ if targets.is_empty() => {
            findings.error(
                node.element,
                format!("has no connection to a node that customers of the class {name:?} can visit"),
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
            findings.error(strategy, format!("is not supported as a routing strategy: {other}"));
            return None;
        }
    };
    reader.finish(found, targets, findings)
}

struct Reader<'m> {
    model: &'m Model<'m>,
    class: usize,
    strategy: &'m Element,
}

impl Reader<'_> {
    /// The place of a node. Sinks and the reference node of the class represent the outside of the network.
    fn place(&self, node: usize) -> Place {
        let file_node = &self.model.nodes[node];
        if file_node.kind == NodeKind::Sink || self.model.classes[self.class].reference == node {
            Place::Outside
        } else {
            Place::Station(file_node.name.clone())
        }
    }

    /// Reads an array whose entries consist of a node and a number.
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
                findings.error(station, format!("refers to a node {name:?} that does not exist"));
                return None;
            };
            found.push((self.place(node), findings.number(number, number.value().unwrap_or_default())?));
        }
        Some(found)
    }

    /// Reads the probabilities of places. Probabilities of the same place are added up.
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

    /// Replaces a strategy that has only one target, and checks that the targets of state-dependent strategies are stations.
    fn finish(&self, strategy: Strategy, targets: Vec<usize>, findings: &mut Findings<'_>) -> Option<Choice> {
        let places = strategy.places();
        if places.is_empty() {
            findings.error(self.strategy, "has no targets");
            return None;
        }
        let is_possible = |target: &usize| places.contains(&&self.place(*target));
        let nodes: Vec<usize> = targets.into_iter().filter(is_possible).collect();
        let is_state_dependent = matches!(
            strategy,
            Strategy::JoinShortestQueue(_)
                | Strategy::ShortestResponseTime(_)
                | Strategy::LeastUtilization(_)
                | Strategy::FastestService(_)
                | Strategy::PowerOfK { .. }
        );
        let is_reference = |node: &usize| self.model.classes[self.class].reference == *node;
        if is_state_dependent && places.len() > 1 && nodes.iter().any(is_reference) {
            findings.error(
                self.strategy,
                "has the reference station of the class among its targets, which is outside the network and has no state",
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
