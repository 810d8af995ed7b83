//! The capabilities of the hardware, as resctrl describes them in `info`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::allocation::{Allocation, Resource, parse_schemata};
use crate::error::ControlError;
use crate::mask::{AllocationError, BandwidthRules, MaskRules};
use crate::system::{System, read};

/// The rules of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rules {
    Mask(MaskRules),
    Bandwidth(BandwidthRules),
}

/// The rules of all resources of the machine, and their domains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hardware {
    rules: BTreeMap<Resource, Rules>,
    /// The allocation of the default group, which names all domains.
    defaults: Vec<Allocation>,
    /// Reserved bits by resource and domain.
    reserved: BTreeMap<(Resource, u32), u64>,
}

impl Hardware {
    /// Reads the rules.
    ///
    /// # Errors
    /// resctrl is not mounted, or its files have another format.
    pub fn read(system: &dyn System, mount: &Path) -> Result<Self, ControlError> {
        let names = system.directories(&mount.join("info")).map_err(|error| {
            ControlError::unavailable(
                format!("resctrl is not mounted at {} ({error})", mount.display()),
                "mount it with `mount -t resctrl resctrl /sys/fs/resctrl`; it needs a processor with RDT, PQOS or \
                 MPAM, on a physical machine",
            )
        })?;
        let mut hardware =
            Self { defaults: parse_schemata(&read(system, &mount.join("schemata"))?), ..Self::default() };
        for name in names {
            let Some(resource) = Resource::of_name(&name) else { continue };
            let directory = mount.join("info").join(&name);
            let rules = if resource == Resource::MemoryBandwidth {
                Rules::Bandwidth(bandwidth_rules(system, &directory)?)
            } else {
                Rules::Mask(mask_rules(system, &directory)?)
            };
            hardware.rules.insert(resource, rules);
            let usage = system.read(&directory.join("bit_usage")).unwrap_or_default();
            let reserved = reserved_bits(&usage);
            hardware.reserved.extend(reserved.map(|(domain, bits)| ((resource, domain), bits)));
        }
        Ok(hardware)
    }

    /// The domains of a resource; none if the hardware does not have it.
    #[must_use]
    pub fn domains(&self, resource: Resource) -> Vec<u32> {
        let line = self.defaults.iter().find(|line| line.resource == resource);
        line.map(|line| line.values.keys().copied().collect()).unwrap_or_default()
    }

    /// Checks an allocation as the kernel does, and returns notes about it.
    ///
    /// # Errors
    /// The kernel would refuse it.
    pub fn check(&self, allocation: &Allocation) -> Result<Vec<String>, ControlError> {
        let resource = allocation.resource;
        let Some(rules) = self.rules.get(&resource) else { return Err(self.missing(resource)) };
        let failed = |source| ControlError::Allocation { line: allocation.to_string(), source };
        let none = Allocation { resource, values: BTreeMap::new() };
        let defaults = self.defaults.iter().find(|line| line.resource == resource).unwrap_or(&none);
        if allocation.values.is_empty() {
            return Err(failed(AllocationError::NoDomain));
        }
        let mut notes = Vec::new();
        for (domain, value) in &allocation.values {
            let Some(default) = defaults.values.get(domain) else {
                let known: Vec<String> = defaults.values.keys().map(u32::to_string).collect();
                return Err(failed(AllocationError::Domain { domain: *domain, known: known.join(", ") }));
            };
            match rules {
                Rules::Mask(rules) => {
                    let reserved = self.reserved.get(&(resource, *domain)).copied().unwrap_or_default();
                    rules.check(*value, reserved).map_err(failed)?;
                    let shared = value & rules.shareable;
                    if shared != 0 {
                        notes.push(format!(
                            "{} domain {domain}: other hardware, such as network cards, also uses the ways {shared:#x}",
                            resource.name()
                        ));
                    }
                }
                Rules::Bandwidth(_) if *default > 100 => return Err(failed(AllocationError::NotPercent)),
                Rules::Bandwidth(rules) => {
                    let rounded = rules.rounded(*value).map_err(failed)?;
                    if rounded != *value {
                        notes.push(format!(
                            "MB domain {domain}: the hardware rounds {value} % to {rounded} %"
                        ));
                    }
                }
            }
        }
        Ok(notes)
    }

    fn missing(&self, resource: Resource) -> ControlError {
        let names: Vec<&str> = self.rules.keys().map(|resource| resource.name()).collect();
        let list = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        let remedy = match resource {
            Resource::L3Code | Resource::L3Data => {
                "unmount resctrl and mount it with `-o cdp`, if the processor has CDP"
            }
            Resource::L2Code | Resource::L2Data => {
                "unmount resctrl and mount it with `-o cdpl2`, if the processor has CDP"
            }
            Resource::L3 | Resource::L2 if self.rules.keys().any(|other| is_part_of(*other, resource)) => {
                "code and data have separate masks: allocate both, or mount resctrl without CDP"
            }
            Resource::L3 | Resource::L2 | Resource::MemoryBandwidth => {
                "use another control, such as a CPU quota or a cpuset"
            }
        };
        ControlError::unavailable(
            format!("this machine can divide {list}, but not {}", resource.name()),
            remedy,
        )
    }
}

/// Whether a resource is the code or data part of a cache.
fn is_part_of(part: Resource, cache: Resource) -> bool {
    match cache {
        Resource::L3 => matches!(part, Resource::L3Code | Resource::L3Data),
        Resource::L2 => matches!(part, Resource::L2Code | Resource::L2Data),
        _ => false,
    }
}

fn mask_rules(system: &dyn System, directory: &Path) -> Result<MaskRules, ControlError> {
    let full = number(system, directory, "cbm_mask", 16)?;
    let min_bits = number(system, directory, "min_cbm_bits", 10)?;
    // Older kernels lack these files.
    let shareable = number(system, directory, "shareable_bits", 16).unwrap_or(0);
    let is_sparse = number(system, directory, "sparse_masks", 10).is_ok_and(|value| value == 1);
    Ok(MaskRules { full, min_bits: u32::try_from(min_bits).unwrap_or(u32::MAX), is_sparse, shareable })
}

fn bandwidth_rules(system: &dyn System, directory: &Path) -> Result<BandwidthRules, ControlError> {
    let least = number(system, directory, "min_bandwidth", 10)?;
    let step = number(system, directory, "bandwidth_gran", 10)?;
    Ok(BandwidthRules { least, step })
}

fn number(system: &dyn System, directory: &Path, file: &str, radix: u32) -> Result<u64, ControlError> {
    let path = directory.join(file);
    let text = read(system, &path)?;
    u64::from_str_radix(text.trim(), radix).map_err(|_| {
        ControlError::invalid(format!("{} contains {:?}, not a number", path.display(), text.trim()))
    })
}

/// Bits of exclusive (`E`) and pseudo-locked (`P`) groups in `bit_usage`: `0=EESSSSSS;1=SSSSSSSS`, the highest bit first.
fn reserved_bits(usage: &str) -> impl Iterator<Item = (u32, u64)> + '_ {
    usage.trim().split(';').filter_map(|domain| {
        let (number, letters) = domain.split_once('=')?;
        let bits =
            letters.chars().fold(0_u64, |bits, letter| bits << 1 | u64::from(matches!(letter, 'E' | 'P')));
        Some((number.trim().parse().ok()?, bits))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::LinuxSystem;

    #[test]
    fn exclusive_bits_are_read() {
        let reserved: Vec<(u32, u64)> = reserved_bits("0=EEXSSS00;1=SSSSPPHH\n").collect();
        assert_eq!(reserved, [(0, 0xc0), (1, 0x0c)]);
        assert_eq!(reserved_bits("").count(), 0);
    }

    /// A mounted resctrl with these files.
    fn hardware(files: &[(&str, &str)]) -> Hardware {
        let mount = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = mount.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Hardware::read(&LinuxSystem::new(), mount.path()).unwrap()
    }

    #[test]
    fn level_2_has_its_own_masks_and_domains() {
        let hardware = hardware(&[
            ("schemata", "    L3:0=7ff\n    L2:0=ff;4=ff\n"),
            ("info/L2/cbm_mask", "ff\n"),
            ("info/L2/min_cbm_bits", "1\n"),
            ("info/L2/bit_usage", "0=SSSSSSSS;4=EESSSSSS\n"),
            ("info/L3/cbm_mask", "7ff\n"),
            ("info/L3/min_cbm_bits", "1\n"),
            ("info/L3/sparse_masks", "1\n"),
            ("info/last_cmd_status", "ok\n"),
        ]);
        let check = |resource, domain, mask| {
            let result = hardware.check(&Allocation { resource, values: [(domain, mask)].into() });
            result.map_err(|error| busyhour_diagnostic::io_hints::chain(&error))
        };
        assert_eq!(check(Resource::L2, 4, 0x3), Ok(Vec::new()));
        assert!(check(Resource::L2, 4, 0xc0).unwrap_err().contains("exclusive"));
        assert!(check(Resource::L2, 1, 0x3).unwrap_err().contains("the domains are 0, 4"));
        assert!(check(Resource::L2, 0, 0x100).unwrap_err().contains("exceeds the full mask 0xff"));
        assert!(check(Resource::L2, 0, 0x5).unwrap_err().contains("not contiguous"));
        assert_eq!(check(Resource::L3, 0, 0x5), Ok(Vec::new()), "sparse masks are allowed");
        assert!(check(Resource::L2Code, 0, 0x3).unwrap_err().contains("mount it with `-o cdpl2`"));
    }

    #[test]
    fn a_cache_with_cdp_has_no_common_mask() {
        let hardware = hardware(&[
            ("schemata", "L2CODE:0=ff\nL2DATA:0=ff\n"),
            ("info/L2CODE/cbm_mask", "ff\n"),
            ("info/L2CODE/min_cbm_bits", "2\n"),
            ("info/L2DATA/cbm_mask", "ff\n"),
            ("info/L2DATA/min_cbm_bits", "2\n"),
        ]);
        let check = |resource, mask| hardware.check(&Allocation { resource, values: [(0, mask)].into() });
        assert!(check(Resource::L2Code, 0x3).is_ok() && check(Resource::L2Data, 0x1).is_err());
        let error = check(Resource::L2, 0x3).unwrap_err().to_string();
        assert!(error.contains("code and data have separate masks"), "{error}");
    }
}
