//! Treatments: neighbours, limits and commands that are active during a trial and undone after it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::quantity::{ByteSize, CoreList, Duration, Percent, WayMask};
use super::system::Command;

/// A named treatment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TreatmentTable", into = "TreatmentTable")]
pub struct Treatment {
    /// The kind, with its settings.
    pub action: TreatmentAction,
    table: TreatmentTable,
}

impl Treatment {
    /// The unique name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.table.name
    }
}

impl TreatmentAction {
    /// The target of a limit or mask.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        match self {
            TreatmentAction::Cgroup(limits) => Some(&limits.target),
            TreatmentAction::Masks(masks) => Some(&masks.target),
            TreatmentAction::Neighbour(_)
            | TreatmentAction::Network(_)
            | TreatmentAction::Restart(_)
            | TreatmentAction::Command(_) => None,
        }
    }
}

impl JsonSchema for Treatment {
    fn schema_name() -> Cow<'static, str> {
        TreatmentTable::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        TreatmentTable::json_schema(generator)
    }
}

/// The effect of a treatment, with its settings.
#[derive(Debug, Clone, PartialEq)]
pub enum TreatmentAction {
    /// Starts a neighbour that competes for resources.
    Neighbour(Neighbour),
    /// Limits a control group.
    Cgroup(CgroupTreatment),
    /// Sets masks of the cache and shares of the memory bandwidth.
    Masks(AllocationMasks),
    /// Changes the network of a namespace.
    Network(NetworkConditions),
    /// Restarts the system under test with other settings.
    Restart(RestartSettings),
    /// Runs commands.
    Command(CommandPair),
}

/// The kinds of pressure of a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NeighbourWorkload {
    /// Memory bandwidth, as STREAM.
    Stream,
    /// CPU time.
    Cpu,
    /// The last-level cache.
    Cache,
    /// Allocated memory.
    Memory,
    /// Writes that are synchronized to the disk.
    Disk,
    /// Packets on the loopback device.
    Network,
}

/// A neighbour.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbour {
    /// The kind of pressure.
    pub workload: NeighbourWorkload,
    /// Share of the time in which it works.
    pub intensity: f64,
    /// The cores it may use.
    pub cores: Option<CoreList>,
    /// The number of such neighbours.
    pub count: u32,
    /// Memory that a neighbour of the kind memory allocates.
    pub size: Option<ByteSize>,
}

/// Limits of a control group.
#[derive(Debug, Clone, PartialEq)]
pub struct CgroupTreatment {
    /// The treated group or process.
    pub target: String,
    /// CPU time, as a share of one core.
    pub cpu_max: Option<f64>,
    /// Cores.
    pub cores: Option<CoreList>,
    /// Weight of CPU time, 1 to 10,000.
    pub cpu_weight: Option<u32>,
    /// Memory in bytes.
    pub memory_max: Option<u64>,
    /// `io.max` in the notation of the kernel.
    pub io_max: Option<String>,
}

/// The interface that sets masks and shares of the memory bandwidth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AllocationProgram {
    /// The file system resctrl of the kernel.
    #[default]
    Resctrl,
    /// Intel's `pqos`, for the cores of the target.
    Pqos,
    /// `xl`, for a Xen domain.
    Xl,
}

/// Masks of cache ways, and the share of memory bandwidth.
#[derive(Debug, Clone, PartialEq)]
pub struct AllocationMasks {
    /// The treated group or process.
    pub target: String,
    /// Ways of the last-level cache.
    pub l3: Option<WayMask>,
    /// Ways for instructions, with code and data prioritization.
    pub l3_code: Option<WayMask>,
    /// Ways for data, with code and data prioritization.
    pub l3_data: Option<WayMask>,
    /// Share of the memory bandwidth.
    pub memory_bandwidth: Option<f64>,
    /// The interface that sets them.
    pub through: AllocationProgram,
    /// The class of service of `pqos`.
    pub class: Option<u32>,
}

/// Conditions of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkConditions {
    /// The namespace, which the experiment creates and in which it starts the system.
    pub namespace: String,
    /// Delay of each packet, in seconds.
    pub delay_s: Option<f64>,
    /// Standard deviation of the delay, in seconds.
    pub jitter_s: Option<f64>,
    /// Share of lost packets.
    pub loss: Option<f64>,
}

/// Settings of a restart.
#[derive(Debug, Clone, PartialEq)]
pub struct RestartSettings {
    /// Environment variables.
    pub environment: BTreeMap<String, String>,
    /// Options of the Java virtual machine.
    pub jvm_options: Vec<String>,
}

/// Commands before and after a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandPair {
    /// Runs before the trial.
    pub apply: Command,
    /// Runs after the trial, even after a failed one.
    pub undo: Command,
}

/// Why a treatment is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreatmentError {
    /// A key belongs to another kind.
    #[error("the treatment {name:?} has the key `{key}`, which is valid for the kind {valid} only")]
    WrongKey {
        /// Name of the treatment.
        name: String,
        /// The key.
        key: &'static str,
        /// The kinds for which it is valid.
        valid: String,
    },
    /// A required key is missing.
    #[error("the treatment {name:?} of the kind {kind} needs {needed}")]
    Missing {
        /// Name of the treatment.
        name: String,
        /// Its kind.
        kind: &'static str,
        /// The keys.
        needed: &'static str,
    },
    /// A number is out of its range.
    #[error("the treatment {name:?} has `{key}` outside {range}")]
    Range {
        /// Name of the treatment.
        name: String,
        /// The key.
        key: &'static str,
        /// The allowed values.
        range: &'static str,
    },
}

/// The kinds of treatments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum KindName {
    /// A neighbour that competes for resources.
    Neighbour,
    /// Limits of a control group.
    Cgroup,
    /// Masks of the cache (CAT, CDP) and shares of the memory bandwidth (MBA).
    Masks,
    /// Delay and loss in a network namespace.
    Network,
    /// Restart of the system under test with other settings.
    Restart,
    /// A command before the trial, and one after it.
    Command,
}

impl KindName {
    fn name(self) -> &'static str {
        match self {
            KindName::Neighbour => "neighbour",
            KindName::Cgroup => "cgroup",
            KindName::Masks => "masks",
            KindName::Network => "network",
            KindName::Restart => "restart",
            KindName::Command => "command",
        }
    }
}

/// The file form of a treatment: the keys of all kinds in one table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Treatment")]
struct TreatmentTable {
    /// Unique name.
    name: String,
    /// The kind of treatment.
    kind: KindName,
    /// neighbour: the kind of pressure.
    #[serde(skip_serializing_if = "Option::is_none")]
    workload: Option<NeighbourWorkload>,
    /// neighbour: share of the time in which it works; default 100%.
    #[serde(skip_serializing_if = "Option::is_none")]
    intensity: Option<Percent>,
    /// neighbour: number of such neighbours, 1 to 1,000; default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u32>,
    /// neighbour: memory of the workload "memory", such as "512m"; default 1g.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<ByteSize>,
    /// neighbour, cgroup: cores that may be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    cores: Option<CoreList>,
    /// cgroup, masks: the target: "system", "generator", the name of a treatment of the kind neighbour, or the absolute
    /// path of a control group; with `through = "xl"`, the name of a Xen domain. In trials without that neighbour, the
    /// treatment has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// cgroup: CPU time in cores, such as 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_max: Option<f64>,
    /// cgroup: weight of CPU time, 1 to 10,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_weight: Option<u32>,
    /// cgroup: memory in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_max: Option<u64>,
    /// cgroup: a line of `io.max`.
    #[serde(skip_serializing_if = "Option::is_none")]
    io_max: Option<String>,
    /// masks: ways of the last-level cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    l3: Option<WayMask>,
    /// masks: ways for instructions, with code and data prioritization.
    #[serde(skip_serializing_if = "Option::is_none")]
    l3_code: Option<WayMask>,
    /// masks: ways for data, with code and data prioritization.
    #[serde(skip_serializing_if = "Option::is_none")]
    l3_data: Option<WayMask>,
    /// masks: share of the memory bandwidth.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_bandwidth: Option<Percent>,
    /// masks: the interface that sets them; default "resctrl".
    #[serde(skip_serializing_if = "Option::is_none")]
    through: Option<AllocationProgram>,
    /// masks: the class of service of `pqos`, 1 to 127.
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<u32>,
    /// network: the network namespace, which the experiment creates for each trial, and in which it starts the system with the
    /// address 198.18.0.2. All treatments of this kind must name the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    /// network: delay of each packet from the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    delay: Option<Duration>,
    /// network: standard deviation of the delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    jitter: Option<Duration>,
    /// network: share of lost packets from the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    loss: Option<Percent>,
    /// restart: environment variables of the system under test.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    environment: BTreeMap<String, String>,
    /// restart: options of the Java virtual machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    jvm_options: Vec<String>,
    /// command: runs before the trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    apply: Option<Command>,
    /// command: runs after the trial, even after a failed one.
    #[serde(skip_serializing_if = "Option::is_none")]
    undo: Option<Command>,
}

impl TreatmentTable {
    /// The given keys, with the kinds for which they are valid.
    fn given_keys(&self) -> impl Iterator<Item = (&'static str, &'static [KindName])> {
        use KindName::{Cgroup, Command, Masks, Neighbour, Network, Restart};
        [
            ("workload", self.workload.is_some(), &[Neighbour] as &[KindName]),
            ("intensity", self.intensity.is_some(), &[Neighbour]),
            ("count", self.count.is_some(), &[Neighbour]),
            ("size", self.size.is_some(), &[Neighbour]),
            ("cores", self.cores.is_some(), &[Neighbour, Cgroup]),
            ("target", self.target.is_some(), &[Cgroup, Masks]),
            ("cpu-max", self.cpu_max.is_some(), &[Cgroup]),
            ("cpu-weight", self.cpu_weight.is_some(), &[Cgroup]),
            ("memory-max", self.memory_max.is_some(), &[Cgroup]),
            ("io-max", self.io_max.is_some(), &[Cgroup]),
            ("l3", self.l3.is_some(), &[Masks]),
            ("l3-code", self.l3_code.is_some(), &[Masks]),
            ("l3-data", self.l3_data.is_some(), &[Masks]),
            ("memory-bandwidth", self.memory_bandwidth.is_some(), &[Masks]),
            ("through", self.through.is_some(), &[Masks]),
            ("class", self.class.is_some(), &[Masks]),
            ("namespace", self.namespace.is_some(), &[Network]),
            ("delay", self.delay.is_some(), &[Network]),
            ("jitter", self.jitter.is_some(), &[Network]),
            ("loss", self.loss.is_some(), &[Network]),
            ("environment", !self.environment.is_empty(), &[Restart]),
            ("jvm-options", !self.jvm_options.is_empty(), &[Restart]),
            ("apply", self.apply.is_some(), &[Command]),
            ("undo", self.undo.is_some(), &[Command]),
        ]
        .into_iter()
        .filter_map(|(key, is_given, kinds)| is_given.then_some((key, kinds)))
    }

    fn missing(&self, needed: &'static str) -> TreatmentError {
        TreatmentError::Missing { name: self.name.clone(), kind: self.kind.name(), needed }
    }

    fn out_of(&self, key: &'static str, range: &'static str) -> TreatmentError {
        TreatmentError::Range { name: self.name.clone(), key, range }
    }

    fn check_keys(&self) -> Result<(), TreatmentError> {
        match self.given_keys().find(|(_, kinds)| !kinds.contains(&self.kind)) {
            Some((key, kinds)) => Err(TreatmentError::WrongKey {
                name: self.name.clone(),
                key,
                valid: kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" and "),
            }),
            None => Ok(()),
        }
    }

    fn check_ranges(&self) -> Result<(), TreatmentError> {
        if self.count.is_some_and(|count| !(1..=1_000).contains(&count)) {
            return Err(self.out_of("count", "1 to 1,000"));
        }
        if self.size.is_some() && self.workload.is_some_and(|workload| workload != NeighbourWorkload::Memory)
        {
            return Err(self.out_of("size", "set for the workload \"memory\" only"));
        }
        if self.class.is_some_and(|class| !(1..=127).contains(&class)) {
            return Err(self.out_of("class", "1 to 127"));
        }
        if self.cpu_max.is_some_and(|cores| !(0.001..=10_000.0).contains(&cores)) {
            return Err(self.out_of("cpu-max", "0.001 to 10,000 cores"));
        }
        if self.cpu_weight.is_some_and(|weight| !(1..=10_000).contains(&weight)) {
            return Err(self.out_of("cpu-weight", "1 to 10,000"));
        }
        if self.memory_max.is_some_and(|bytes| bytes < 1 << 20) {
            return Err(self.out_of("memory-max", "at least 1 MiB"));
        }
        Ok(())
    }

    fn masks(&self) -> Result<AllocationMasks, TreatmentError> {
        if self.l3.is_some() && (self.l3_code.is_some() || self.l3_data.is_some()) {
            return Err(self.missing("either `l3`, or `l3-code` and `l3-data`"));
        }
        let is_set = |share: &Option<WayMask>| share.is_some();
        let has_mask = [&self.l3, &self.l3_code, &self.l3_data].into_iter().any(is_set);
        if self.target.is_none() || !has_mask && self.memory_bandwidth.is_none() {
            return Err(self
                .missing("`target` and at least one of `l3`, `l3-code`, `l3-data` and `memory-bandwidth`"));
        }
        let through = self.through.unwrap_or_default();
        if (through == AllocationProgram::Pqos) != self.class.is_some() {
            return Err(self.missing("`class` with `through = \"pqos\"`, and only with it"));
        }
        if through == AllocationProgram::Xl && self.memory_bandwidth.is_some() {
            return Err(
                self.missing("masks only with `through = \"xl\"`, which cannot limit the memory bandwidth")
            );
        }
        Ok(AllocationMasks {
            target: self.target.clone().ok_or_else(|| self.missing("`target`"))?,
            l3: self.l3.clone(),
            l3_code: self.l3_code.clone(),
            l3_data: self.l3_data.clone(),
            memory_bandwidth: self.memory_bandwidth.as_ref().map(Percent::share),
            through,
            class: self.class,
        })
    }

    fn action(&self) -> Result<TreatmentAction, TreatmentError> {
        let share = |percent: &Option<Percent>| percent.as_ref().map(Percent::share);
        let target = || self.target.clone().ok_or_else(|| self.missing("`target`"));
        match self.kind {
            KindName::Neighbour => Ok(TreatmentAction::Neighbour(Neighbour {
                workload: self.workload.ok_or_else(|| self.missing("`workload`"))?,
                intensity: share(&self.intensity).unwrap_or(1.0),
                cores: self.cores.clone(),
                count: self.count.unwrap_or(1),
                size: self.size.clone(),
            })),
            KindName::Cgroup if self.given_keys().count() < 2 => {
                Err(self.missing("`target` and at least one limit"))
            }
            KindName::Cgroup => Ok(TreatmentAction::Cgroup(CgroupTreatment {
                target: target()?,
                cpu_max: self.cpu_max,
                cores: self.cores.clone(),
                cpu_weight: self.cpu_weight,
                memory_max: self.memory_max,
                io_max: self.io_max.clone(),
            })),
            KindName::Masks => Ok(TreatmentAction::Masks(self.masks()?)),
            KindName::Network if self.jitter.is_some() && self.delay.is_none() => {
                Err(self.missing("`delay` with `jitter`"))
            }
            KindName::Network if self.delay.is_none() && self.loss.is_none() => {
                Err(self.missing("`namespace` and at least one of `delay` and `loss`"))
            }
            KindName::Network => Ok(TreatmentAction::Network(NetworkConditions {
                namespace: self.namespace.clone().ok_or_else(|| self.missing("`namespace`"))?,
                delay_s: self.delay.as_ref().map(Duration::seconds),
                jitter_s: self.jitter.as_ref().map(Duration::seconds),
                loss: share(&self.loss),
            })),
            KindName::Restart if self.given_keys().next().is_none() => {
                Err(self.missing("`environment` or `jvm-options`"))
            }
            KindName::Restart => Ok(TreatmentAction::Restart(RestartSettings {
                environment: self.environment.clone(),
                jvm_options: self.jvm_options.clone(),
            })),
            KindName::Command => {
                let given = |command: &Option<Command>, needed| {
                    command.clone().filter(|command| !command.is_empty()).ok_or_else(|| self.missing(needed))
                };
                Ok(TreatmentAction::Command(CommandPair {
                    apply: given(&self.apply, "the command `apply`")?,
                    undo: given(&self.undo, "the command `undo`, which restores the state before")?,
                }))
            }
        }
    }
}

impl TryFrom<TreatmentTable> for Treatment {
    type Error = TreatmentError;

    fn try_from(table: TreatmentTable) -> Result<Treatment, TreatmentError> {
        table.check_keys()?;
        table.check_ranges()?;
        Ok(Treatment { action: table.action()?, table })
    }
}

impl From<Treatment> for TreatmentTable {
    fn from(treatment: Treatment) -> TreatmentTable {
        treatment.table
    }
}
