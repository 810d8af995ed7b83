//! The output of `pqos -s`.

use std::collections::BTreeMap;

use crate::allocation::Resource;

/// The allocation of each class, and the class of each core.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PqosConfiguration {
    /// Mask or percentage by resource, domain and class.
    values: BTreeMap<(Resource, u32, u32), u64>,
    /// The class of each core.
    cores: BTreeMap<u32, u32>,
}

impl PqosConfiguration {
    /// The mask or percentage of a class.
    #[must_use]
    pub fn value(&self, resource: Resource, domain: u32, class: u32) -> Option<u64> {
        self.values.get(&(resource, domain, class)).copied()
    }

    /// The domains in which a class has this resource.
    #[must_use]
    pub fn domains(&self, resource: Resource, class: u32) -> Vec<u32> {
        let keys = self.values.keys().filter(|key| key.0 == resource && key.2 == class);
        keys.map(|key| key.1).collect()
    }

    /// The bits of the masks of all classes.
    #[must_use]
    pub fn union(&self, resource: Resource, domain: u32) -> u64 {
        let of_domain = self.values.range((resource, domain, 0)..=(resource, domain, u32::MAX));
        of_domain.fold(0, |bits, (_, mask)| bits | mask)
    }

    /// The class of a core.
    #[must_use]
    pub fn class_of_core(&self, core: u32) -> Option<u32> {
        self.cores.get(&core).copied()
    }
}

/// Parses the output of `pqos -s`. Versions differ in `COS` and `CLOS`. Lines about other things are skipped.
#[must_use]
pub fn parse_configuration(text: &str) -> PqosConfiguration {
    let mut configuration = PqosConfiguration::default();
    let mut domain = None;
    for line in text.lines().map(str::trim) {
        if let Some((_, heading)) = line.split_once(" definitions for ") {
            // `Socket 0:`, `L2ID 1:`, `L3 Cluster (or Core Complex) 0:`
            let number = heading.trim_end_matches(':').rsplit(' ').next();
            domain = number.and_then(|number| number.parse().ok());
        } else if let Some(core) = parse_core(line) {
            configuration.cores.extend([core]);
        } else if let Some(domain) = domain {
            let values = parse_class(line).into_iter();
            configuration
                .values
                .extend(values.map(|(resource, class, value)| ((resource, domain, class), value)));
        }
    }
    configuration
}

/// `Core 0, L2ID 0, L3ID 0 => COS1, RMID0`
fn parse_core(line: &str) -> Option<(u32, u32)> {
    // With the interface MMIO, the domain is before the core.
    let (_, rest) = line.split_once("Core ")?;
    let (core, rest) = rest.split_once(',')?;
    let (_, class) = rest.split_once("=> ")?;
    let class = class.trim_start_matches(['C', 'L', 'O', 'S']);
    let class = class.split(',').next().unwrap_or(class);
    Some((core.parse().ok()?, class.trim().parse().ok()?))
}

/// `L3CA COS1 => MASK 0xfffff`, `L3CA CLOS1 => DATA 0xff, CODE 0xff`, `MBA COS1 => 100% available`
fn parse_class(line: &str) -> Vec<(Resource, u32, u64)> {
    let parse = || {
        let (name, values) = line.split_once(" => ")?;
        let (technology, class) = name.split_once(' ')?;
        let class: u32 = class.trim_start_matches(['C', 'L', 'O', 'S']).parse().ok()?;
        let (both, code, data) = match technology {
            "L3CA" => (Resource::L3, Resource::L3Code, Resource::L3Data),
            "L2CA" => (Resource::L2, Resource::L2Code, Resource::L2Data),
            "MBA" => {
                let digits = values.split(|c: char| !c.is_ascii_digit()).next()?;
                return Some(vec![(Resource::MemoryBandwidth, class, digits.parse().ok()?)]);
            }
            _ => return None,
        };
        let mask = |part: &str| {
            let (kind, mask) = part.trim().split_once(' ')?;
            let resource = match kind {
                "MASK" => both,
                "CODE" => code,
                "DATA" => data,
                _ => return None,
            };
            Some((resource, class, u64::from_str_radix(mask.strip_prefix("0x")?, 16).ok()?))
        };
        Some(values.split(',').filter_map(mask).collect())
    };
    parse().unwrap_or_default()
}
