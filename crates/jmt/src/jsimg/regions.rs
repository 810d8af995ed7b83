//! Reads finite capacity regions (`<blockingRegion>`).
//!
//! If a region contains a single queue and drops customers, its capacity becomes that of the queue. Regions with
//! several stations, and regions that make customers wait in front of them, are not supported.

use std::collections::BTreeMap;

use super::nodes::{Class, Node, NodeKind};
use crate::element::Element;
use crate::findings::Findings;

/// Returns the capacities of queues that are in regions, by node, and reports unsupported regions.
pub(super) fn read(
    sim: &Element,
    classes: &[Class],
    nodes: &[Node<'_>],
    findings: &mut Findings<'_>,
) -> BTreeMap<usize, u32> {
    let mut capacities = BTreeMap::new();
    for region in sim.children_named("blockingRegion") {
        match read_region(region, classes, nodes, findings) {
            Ok((node, customers)) => {
                let capacity = capacities.entry(node).or_insert(customers);
                *capacity = customers.min(*capacity);
            }
            Err(reason) => findings.error(
                region,
                format!("is not supported: {reason}; only regions of one queue that drop open classes are supported"),
            ),
        }
    }
    capacities
}

/// The node of a region and its capacity.
fn read_region(
    region: &Element,
    classes: &[Class],
    nodes: &[Node<'_>],
    findings: &mut Findings<'_>,
) -> Result<(usize, u32), &'static str> {
    let names: Vec<&str> =
        region.children_named("regionNode").filter_map(|node| node.attribute("nodeName")).collect();
    let [name] = names[..] else { return Err("it does not contain exactly one station") };
    let at = nodes.iter().position(|node| node.name == name && node.kind == NodeKind::Queue);
    let at = at.ok_or("its station is not a queue")?;
    if classes.iter().any(|class| class.users.is_some()) {
        return Err("there are closed classes");
    }
    let mut limit = |children: &str, key: &str| -> Result<Option<i64>, &'static str> {
        let mut least: Option<i64> = None;
        for child in region.children_named(children) {
            let value: i64 = findings.number_attribute(child, key).ok_or("a limit cannot be read")?;
            if value >= 0 {
                least = Some(least.map_or(value, |known| known.min(value)));
            }
        }
        Ok(least)
    };
    let global = limit("globalConstraint", "maxJobs")?;
    let by_class = limit("classConstraint", "maxJobsPerClass")?;
    let memory = limit("globalMemoryConstraint", "maxMemory")?
        .or(limit("classMemoryConstraint", "maxMemoryPerClass")?);
    if memory.is_some() {
        return Err("it limits memory");
    }
    if by_class.is_some() && classes.len() > 1 {
        return Err("it has limits per class");
    }
    let drops = |class: &Class| {
        region.children_named("dropRules").any(|rule| {
            rule.attribute("jobClass") == Some(class.name.as_str())
                && rule.attribute("dropThisClass") == Some("true")
        })
    };
    if !classes.iter().all(drops) {
        return Err("customers wait in front of it");
    }
    let customers = global.into_iter().chain(by_class).min().ok_or("it has no limit")?;
    u32::try_from(customers)
        .ok()
        .filter(|customers| *customers > 0)
        .map(|capacity| (at, capacity))
        .ok_or("its limit is not a positive number")
}
