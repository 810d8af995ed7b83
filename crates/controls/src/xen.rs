//! Allocation of caches to Xen domains (virtual machines) through `xl`.

use std::collections::BTreeMap;

use crate::allocation::{Allocation, Resource};
use crate::change::Change;
use crate::change::program::XenChange;
use crate::control::{Control, Plan};
use crate::error::ControlError;
use crate::mask::{AllocationError, MaskRules};
use crate::system::{System, arguments, run};

/// Allocates parts of caches to a Xen domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XenControl {
    /// The program.
    pub program: String,
    /// The name of the domain.
    pub domain: String,
    /// Its allocations by socket. Memory bandwidth is not supported.
    pub allocations: Vec<Allocation>,
}

/// The masks of a domain on a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XenMasks {
    /// The number of the domain.
    pub id: u32,
    /// The full mask of the socket.
    pub full: u64,
    /// The mask, or the masks for code and data.
    pub masks: Vec<u64>,
}

impl XenControl {
    /// Allocations to a domain.
    #[must_use]
    pub fn new(domain: impl Into<String>, allocations: Vec<Allocation>) -> Self {
        Self { program: "xl".to_owned(), domain: domain.into(), allocations }
    }

    /// The sockets for which the domain has masks of a resource.
    ///
    /// # Errors
    /// `xl` cannot be used, or does not support the resource.
    pub fn sockets(&self, system: &dyn System, resource: Resource) -> Result<Vec<u32>, ControlError> {
        let (level, _) = place(resource)?;
        Ok(self.masks(system, level)?.into_keys().collect())
    }

    fn masks(&self, system: &dyn System, level: &str) -> Result<BTreeMap<u32, XenMasks>, ControlError> {
        let words = arguments(&["psr-cat-show", "-l", level]);
        let text = run(system, &self.program, &words).map_err(|error| {
            ControlError::unavailable(
                format!("`{}` cannot be used ({error})", self.program),
                "run as root in the control domain of Xen, booted with `psr=cat`, on a processor with CAT",
            )
        })?;
        Ok(parse_cat_show(&text, &self.domain))
    }

    fn allocate(
        &self,
        masks: &BTreeMap<u32, XenMasks>,
        allocation: &Allocation,
        plan: &mut Plan,
    ) -> Result<(), ControlError> {
        let failed = |source| ControlError::Allocation { line: allocation.to_string(), source };
        if allocation.values.is_empty() {
            return Err(failed(AllocationError::NoDomain));
        }
        if masks.is_empty() {
            return Err(ControlError::unavailable(
                format!("`{} psr-cat-show` does not list the domain {}", self.program, self.domain),
                "`xl list` lists the domains",
            ));
        }
        let (level, part) = place(allocation.resource)?;
        for (socket, mask) in &allocation.values {
            let Some(current) = masks.get(socket) else {
                let known = masks.keys().map(u32::to_string).collect::<Vec<_>>().join(", ");
                return Err(failed(AllocationError::Domain { domain: *socket, known }));
            };
            let rules = MaskRules { full: current.full, min_bits: 1, is_sparse: false, shareable: 0 };
            rules.check(*mask, 0).map_err(failed)?;
            let before = match (part, &current.masks[..]) {
                (None, [mask]) | (Some("-c"), [mask, _]) | (Some("-d"), [_, mask]) => *mask,
                (None, _) => {
                    return Err(ControlError::invalid(
                        "code and data have separate masks on this machine: allocate both",
                    ));
                }
                (Some(_), _) => {
                    return Err(ControlError::unavailable(
                        "code and data have a common mask on this machine",
                        "boot Xen with `psr=cat,cdp`, if the processor has CDP",
                    ));
                }
            };
            let mut options = arguments(&["-l", level]);
            options.extend(part.map(str::to_owned));
            plan.changes.push(Change::Xen(XenChange {
                program: self.program.clone(),
                domain: current.id,
                name: self.domain.clone(),
                socket: *socket,
                options,
                before,
                after: *mask,
            }));
        }
        Ok(())
    }
}

impl Control for XenControl {
    fn name(&self) -> String {
        let lines: Vec<String> = self.allocations.iter().map(Allocation::to_string).collect();
        format!("cache allocation of the Xen domain {} ({})", self.domain, lines.join(" "))
    }

    fn plan(&self, system: &dyn System) -> Result<Plan, ControlError> {
        let mut plan = Plan::default();
        for allocation in &self.allocations {
            let (level, _) = place(allocation.resource)?;
            let masks = self.masks(system, level)?;
            self.allocate(&masks, allocation, &mut plan)?;
        }
        Ok(plan)
    }
}

/// The level of a cache, and the option that selects code or data.
fn place(resource: Resource) -> Result<(&'static str, Option<&'static str>), ControlError> {
    Ok(match resource {
        Resource::L3 => ("3", None),
        Resource::L3Code => ("3", Some("-c")),
        Resource::L3Data => ("3", Some("-d")),
        Resource::L2 => ("2", None),
        Resource::L2Code | Resource::L2Data => {
            return Err(ControlError::unavailable(
                "xl has no separate masks for code and data in the level 2 cache",
                "use one mask for both",
            ));
        }
        Resource::MemoryBandwidth => {
            return Err(ControlError::unavailable(
                "memory bandwidth cannot be allocated through xl here",
                "use a cache mask",
            ));
        }
    })
}

/// Parses the output of `xl psr-cat-show`: the masks of a domain by socket.
#[must_use]
pub fn parse_cat_show(text: &str, domain: &str) -> BTreeMap<u32, XenMasks> {
    let mut sockets = BTreeMap::new();
    let (mut socket, mut full) = (None, None);
    for line in text.lines().map(str::trim) {
        match line.split_once(':').map(|(name, value)| (name.trim(), value.trim())) {
            Some(("Socket ID", number)) => (socket, full) = (number.parse().ok(), None),
            Some(("Default CBM", mask)) => full = parse_mask(mask),
            // The name of a domain can contain a colon.
            _ => {
                let Some((id, masks)) = parse_row(line, domain) else { continue };
                // The full mask of a section must be known before a mask can be checked.
                let (Some(socket), Some(full)) = (socket, full) else { continue };
                sockets.insert(socket, XenMasks { id, full, masks });
            }
        }
    }
    sockets
}

/// `11   stream vm   0xfffff` or, with CDP, `11   stream vm   0xfffff   0xfffff`.
fn parse_row(line: &str, domain: &str) -> Option<(u32, Vec<u64>)> {
    let (id, mut rest) = line.split_once(' ')?;
    let id = id.parse().ok()?;
    let mut masks = Vec::new();
    while let Some((before, word)) = rest.trim_end().rsplit_once(' ') {
        let Some(mask) = parse_mask(word) else { break };
        masks.push(mask);
        rest = before;
    }
    masks.reverse();
    (rest.trim() == domain && !masks.is_empty()).then_some((id, masks))
}

fn parse_mask(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}
