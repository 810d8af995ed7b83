//! Allocation of caches and memory bandwidth to cores through Intel's `pqos`.

mod configuration;

use std::collections::BTreeMap;

pub use self::configuration::{PqosConfiguration, parse_configuration};
use crate::allocation::{Allocation, Resource};
use crate::change::Change;
use crate::change::program::PqosChange;
use crate::control::{Control, Plan};
use crate::error::ControlError;
use crate::mask::{AllocationError, BandwidthRules, MaskRules};
use crate::system::{System, run};

/// Allocates parts of caches and of memory bandwidth to a class of service, and moves cores to the class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PqosControl {
    /// The program.
    pub program: String,
    /// Options of all calls: `--iface=os`.
    pub options: Vec<String>,
    /// The class of service.
    pub class: u32,
    /// Its allocations. Domains of level 3 and of memory bandwidth are sockets, those of level 2 clusters of cores.
    pub allocations: Vec<Allocation>,
    /// Cores that are moved to the class.
    pub cores: Vec<u32>,
}

impl PqosControl {
    /// A class of service with cores.
    #[must_use]
    pub fn new(class: u32, allocations: Vec<Allocation>, cores: Vec<u32>) -> Self {
        Self { program: "pqos".to_owned(), options: Vec::new(), class, allocations, cores }
    }

    /// The domains in which the class has a resource.
    ///
    /// # Errors
    /// `pqos` cannot be used.
    pub fn domains(&self, system: &dyn System, resource: Resource) -> Result<Vec<u32>, ControlError> {
        Ok(self.configuration(system)?.domains(resource, self.class))
    }

    fn configuration(&self, system: &dyn System) -> Result<PqosConfiguration, ControlError> {
        let mut words = self.options.clone();
        words.push("-s".to_owned());
        let text = run(system, &self.program, &words).map_err(|error| {
            ControlError::unavailable(
                format!("`{}` cannot be used ({error})", self.program),
                "install intel-cmt-cat, run as root on a physical machine whose processor has RDT, and load the module msr",
            )
        })?;
        Ok(parse_configuration(&text))
    }

    fn change(&self, option: &str, before: String, after: String) -> Change {
        Change::Pqos(PqosChange {
            program: self.program.clone(),
            options: self.options.clone(),
            option: option.to_owned(),
            before,
            after,
        })
    }

    fn allocate(
        &self,
        configuration: &PqosConfiguration,
        allocation: &Allocation,
        plan: &mut Plan,
    ) -> Result<(), ControlError> {
        let resource = allocation.resource;
        let failed = |source| ControlError::Allocation { line: allocation.to_string(), source };
        if allocation.values.is_empty() {
            return Err(failed(AllocationError::NoDomain));
        }
        for (domain, value) in &allocation.values {
            let Some(before) = configuration.value(resource, *domain, self.class) else {
                let known = configuration.domains(resource, self.class);
                if known.is_empty() {
                    return Err(ControlError::unavailable(
                        format!(
                            "`{} -s` lists no {} for class {}",
                            self.program,
                            resource.name(),
                            self.class
                        ),
                        "choose a class and a resource that it lists",
                    ));
                }
                let known = known.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
                return Err(failed(AllocationError::Domain { domain: *domain, known }));
            };
            if resource == Resource::MemoryBandwidth {
                if before > 100 {
                    return Err(failed(AllocationError::NotPercent));
                }
                BandwidthRules { least: 1, step: 1 }.rounded(*value).map_err(failed)?;
            } else {
                // `pqos` does not list the full mask, so the union of the masks of all classes is used.
                let full = configuration.union(resource, *domain);
                let rules = MaskRules { full, min_bits: 1, is_sparse: false, shareable: 0 };
                rules.check(*value, 0).map_err(failed)?;
            }
            let argument = |value: u64| argument(resource, *domain, self.class, value);
            plan.changes.push(self.change("-e", argument(before), argument(*value)));
        }
        Ok(())
    }

    fn associate(&self, configuration: &PqosConfiguration, plan: &mut Plan) -> Result<(), ControlError> {
        // Cores from different classes are moved by separate changes, so that each change can be undone by a single
        // one.
        let mut by_class: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for core in &self.cores {
            let class = configuration.class_of_core(*core).ok_or_else(|| {
                ControlError::unavailable(
                    format!("`{} -s` does not list core {core} with a class", self.program),
                    "choose cores that it lists",
                )
            })?;
            by_class.entry(class).or_default().push(core.to_string());
        }
        by_class.remove(&self.class);
        for (class, cores) in by_class {
            let argument = |class: u32| format!("core:{class}={}", cores.join(","));
            plan.changes.push(self.change("-a", argument(class), argument(self.class)));
        }
        Ok(())
    }
}

impl Control for PqosControl {
    fn name(&self) -> String {
        let lines: Vec<String> = self.allocations.iter().map(Allocation::to_string).collect();
        format!("class {} of pqos ({})", self.class, lines.join(" "))
    }

    fn plan(&self, system: &dyn System) -> Result<Plan, ControlError> {
        let configuration = self.configuration(system)?;
        let mut plan = Plan::default();
        for allocation in &self.allocations {
            self.allocate(&configuration, allocation, &mut plan)?;
        }
        self.associate(&configuration, &mut plan)?;
        Ok(plan)
    }
}

/// The argument of `pqos -e`: `llc@0:1=0x3`, `llc@1:2c=0xf`, `mba@0:1=50`.
fn argument(resource: Resource, domain: u32, class: u32, value: u64) -> String {
    let (name, part) = match resource {
        Resource::L3 => ("llc", ""),
        Resource::L3Code => ("llc", "c"),
        Resource::L3Data => ("llc", "d"),
        Resource::L2 => ("l2", ""),
        Resource::L2Code => ("l2", "c"),
        Resource::L2Data => ("l2", "d"),
        Resource::MemoryBandwidth => return format!("mba@{domain}:{class}={value}"),
    };
    format!("{name}@{domain}:{class}{part}={value:#x}")
}
