//! Builds the controls of crate `controls` from those of a trial.

use std::time::Duration;

use busyhour_controls::allocation::{Allocation, Resource};
use busyhour_controls::cgroup::{CgroupControl, CgroupLimits, CgroupPlace, CpuQuota, IoMax};
use busyhour_controls::control::Control;
use busyhour_controls::error::ControlError;
use busyhour_controls::netem::{Emulation, NetemControl};
use busyhour_controls::pqos::PqosControl;
use busyhour_controls::resctrl::{Hardware, ResctrlControl, ResctrlPlace};
use busyhour_controls::system::System;
use busyhour_controls::xen::XenControl;
use busyhour_experiment::{AllocationMasks, AllocationProgram, CoreList, NetworkConditions};

use crate::control_plan::{ControlAction, ControlTarget, GroupLimits, PlannedControl};

/// The period of CPU quotas.
const PERIOD_US: u64 = 100_000;

/// A control.
pub(crate) enum Built {
    Cgroup(CgroupControl),
    Resctrl(ResctrlControl),
    Pqos(PqosControl),
    Xen(XenControl),
    Network(NetemControl),
}

impl Built {
    /// The control itself.
    pub(crate) fn control(&self) -> &dyn Control {
        match self {
            Built::Cgroup(control) => control,
            Built::Resctrl(control) => control,
            Built::Pqos(control) => control,
            Built::Xen(control) => control,
            Built::Network(control) => control,
        }
    }
}

/// The control for these processes.
pub(crate) fn build(
    planned: &PlannedControl<'_>,
    processes: &[u32],
    system: &dyn System,
) -> Result<Built, ControlError> {
    match &planned.action {
        ControlAction::Cgroup(group) => cgroup(planned.target, group, processes).map(Built::Cgroup),
        ControlAction::Masks(masks, cores) => match masks.through {
            AllocationProgram::Resctrl => resctrl(planned.target, masks, processes, system),
            AllocationProgram::Pqos => pqos(masks, *cores, system),
            AllocationProgram::Xl => xen(masks, system),
        },
        ControlAction::Network { namespace, conditions } => {
            Ok(Built::Network(network(namespace, *conditions)))
        }
    }
}

fn cgroup(
    target: ControlTarget<'_>,
    group: &GroupLimits<'_>,
    processes: &[u32],
) -> Result<CgroupControl, ControlError> {
    let mut limits = CgroupLimits::default();
    for given in &group.limits {
        if let Some(cores) = given.cpu_max {
            let quota_us = (cores * PERIOD_US as f64).round() as u64;
            // A small share needs a longer period, because the kernel accepts no quota below 1 ms.
            let period_us = if quota_us < 1_000 { 10 * PERIOD_US } else { PERIOD_US };
            let quota_us = (cores * period_us as f64).round() as u64;
            limits.cpu_quota = Some(CpuQuota { quota_us, period_us });
        }
        limits.cpus = given.cores.clone().map(String::from).or(limits.cpus);
        limits.cpu_weight = given.cpu_weight.or(limits.cpu_weight);
        limits.memory_max = given.memory_max.or(limits.memory_max);
        if let Some(line) = &given.io_max {
            limits.io_max.push(io_max(line)?);
        }
    }
    let place = match (target, group.parent) {
        (ControlTarget::Existing(path), _) => CgroupPlace::Existing(path.to_owned()),
        (_, Some(path)) if group.limits.is_empty() => CgroupPlace::Existing(rooted(path)),
        (_, Some(path)) => CgroupPlace::CreatedIn(rooted(path)),
        (_, None) => CgroupPlace::CreatedIn("/".to_owned()),
    };
    let processes = if target.has_processes() { processes.to_vec() } else { Vec::new() };
    Ok(CgroupControl { place, limits, processes })
}

/// The path of a group, which begins with a slash.
fn rooted(path: &str) -> String {
    format!("/{}", path.trim_start_matches('/'))
}

/// Parses a line of `io.max`: `8:0 rbps=1048576 wiops=100`.
fn io_max(line: &str) -> Result<IoMax, ControlError> {
    let invalid = |what: String| ControlError::Invalid { what };
    let mut words = line.split_whitespace();
    let mut limit = IoMax { device: words.next().unwrap_or_default().to_owned(), ..IoMax::default() };
    for word in words {
        let parsed = word.split_once('=').and_then(|(name, value)| Some((name, value.parse::<u64>().ok()?)));
        let Some((name, value)) = parsed else {
            return Err(invalid(format!("{word:?} in `io-max` is not a limit such as rbps=1048576")));
        };
        let field = match name {
            "rbps" => &mut limit.read_bytes,
            "wbps" => &mut limit.write_bytes,
            "riops" => &mut limit.reads,
            "wiops" => &mut limit.writes,
            _ => return Err(invalid(format!("{name:?} in `io-max` is not rbps, wbps, riops or wiops"))),
        };
        *field = Some(value);
    }
    Ok(limit)
}

/// The allocations in all domains of the machine.
fn allocations(
    masks: &AllocationMasks,
    mut domains: impl FnMut(Resource) -> Result<Vec<u32>, ControlError>,
) -> Result<Vec<Allocation>, ControlError> {
    let bits = |mask: &Option<busyhour_experiment::WayMask>| mask.as_ref().map(|mask| mask.bits());
    let percent = masks.memory_bandwidth.map(|share| (share * 100.0).round() as u64);
    let wanted = [
        (Resource::L3, bits(&masks.l3)),
        (Resource::L3Code, bits(&masks.l3_code)),
        (Resource::L3Data, bits(&masks.l3_data)),
        (Resource::MemoryBandwidth, percent),
    ];
    let mut found = Vec::new();
    for (resource, value) in wanted.into_iter().filter_map(|(resource, value)| Some((resource, value?))) {
        let values: std::collections::BTreeMap<u32, u64> =
            domains(resource)?.into_iter().map(|domain| (domain, value)).collect();
        if values.is_empty() {
            return Err(ControlError::Unavailable {
                reason: format!("this machine has no {} that can be divided", resource.name()),
                remedy: "choose a resource that it has, or another machine".to_owned(),
            });
        }
        found.push(Allocation { resource, values });
    }
    Ok(found)
}

fn resctrl(
    target: ControlTarget<'_>,
    masks: &AllocationMasks,
    processes: &[u32],
    system: &dyn System,
) -> Result<Built, ControlError> {
    let hardware = Hardware::read(system, busyhour_controls::resctrl::MOUNT.as_ref())?;
    let allocations = allocations(masks, |resource| Ok(hardware.domains(resource)))?;
    let mut control = ResctrlControl::new(allocations, processes.to_vec());
    if let ControlTarget::Existing(group) = target {
        control.place = ResctrlPlace::Existing(group.trim_matches('/').to_owned());
        control.processes = Vec::new();
    }
    Ok(Built::Resctrl(control))
}

fn pqos(
    masks: &AllocationMasks,
    cores: Option<&CoreList>,
    system: &dyn System,
) -> Result<Built, ControlError> {
    let Some(cores) = cores else {
        return Err(ControlError::Unavailable {
            reason: format!("`pqos` allocates to cores, and the file names none for {:?}", masks.target),
            remedy: "add `cores` to the target".to_owned(),
        });
    };
    let mut control = PqosControl::new(masks.class.unwrap_or(1), Vec::new(), cores.cores().to_vec());
    control.allocations = allocations(masks, |resource| control.domains(system, resource))?;
    Ok(Built::Pqos(control))
}

fn xen(masks: &AllocationMasks, system: &dyn System) -> Result<Built, ControlError> {
    let mut control = XenControl::new(masks.target.clone(), Vec::new());
    control.allocations = allocations(masks, |resource| control.sockets(system, resource))?;
    Ok(Built::Xen(control))
}

fn network(namespace: &str, conditions: Option<&NetworkConditions>) -> NetemControl {
    let time = |seconds: Option<f64>| Duration::from_secs_f64(seconds.unwrap_or(0.0));
    let emulation = conditions.map_or_else(Emulation::default, |conditions| Emulation {
        delay: time(conditions.delay_s),
        jitter: time(conditions.jitter_s),
        loss_percent: 100.0 * conditions.loss.unwrap_or(0.0),
        rate: None,
    });
    // The delay of each packet is that from the system to the load, so that a request has it once.
    NetemControl {
        namespace: Some(namespace.to_owned()),
        from_namespace: emulation,
        ..NetemControl::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_io_max_are_read() {
        let limit = io_max("8:0 rbps=1048576 wiops=100").unwrap();
        assert_eq!(
            (limit.device.as_str(), limit.read_bytes, limit.writes),
            ("8:0", Some(1 << 20), Some(100))
        );
        assert!(io_max("8:0 rbps=max").is_err() && io_max("8:0 speed=3").is_err());
    }

    #[test]
    fn a_small_share_of_a_core_has_a_long_period() {
        let quota = |cpu_max: f64| {
            let given = busyhour_experiment::CgroupTreatment {
                target: "system".to_owned(),
                cpu_max: Some(cpu_max),
                cores: None,
                cpu_weight: None,
                memory_max: None,
                io_max: None,
            };
            let group = GroupLimits { parent: None, limits: vec![&given] };
            cgroup(ControlTarget::System, &group, &[1]).unwrap().limits.cpu_quota.unwrap()
        };
        assert_eq!(quota(0.5), CpuQuota { quota_us: 50_000, period_us: 100_000 });
        assert_eq!(quota(0.005), CpuQuota { quota_us: 5_000, period_us: 1_000_000 });
        assert_eq!(quota(0.001), CpuQuota { quota_us: 1_000, period_us: 1_000_000 });
    }

    #[test]
    fn every_domain_gets_the_mask() {
        let masks = AllocationMasks {
            target: "system".to_owned(),
            l3: Some("0x3".to_owned().try_into().unwrap()),
            l3_code: None,
            l3_data: None,
            memory_bandwidth: Some(0.29),
            through: AllocationProgram::Resctrl,
            class: None,
        };
        let found = allocations(&masks, |_| Ok(vec![0, 2])).unwrap();
        let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["L3:0=3;2=3", "MB:0=29;2=29"]);
        let missing = allocations(&masks, |_| Ok(Vec::new())).unwrap_err().to_string();
        assert!(missing.contains("no L3 that can be divided"), "{missing}");
    }
}
