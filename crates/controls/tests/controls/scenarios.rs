//! One control of each kind, on a machine that has it.

use std::time::Duration;

use busyhour_controls::allocation::{Allocation, Resource};
use busyhour_controls::cgroup::{CgroupControl, CgroupLimits, CgroupPlace, CpuQuota, IoMax};
use busyhour_controls::control::Control;
use busyhour_controls::netem::{Emulation, NetemControl};
use busyhour_controls::pqos::PqosControl;
use busyhour_controls::resctrl::{ResctrlControl, ResctrlPlace};
use busyhour_controls::xen::XenControl;

use crate::cgroup_double::Cgroups;
use crate::machine::Machine;
use crate::resctrl_double;

pub type Scenario = (&'static str, fn() -> Machine, fn() -> Box<dyn Control>);

/// All kinds of limits.
pub fn limits() -> CgroupLimits {
    CgroupLimits {
        memory_max: None,
        cpu_quota: Some(CpuQuota { quota_us: 50_000, period_us: 100_000 }),
        cpus: Some("0-1".to_owned()),
        memory_nodes: None,
        cpu_weight: Some(50),
        io_weight: None,
        io_max: vec![IoMax { device: "8:0".to_owned(), write_bytes: Some(1 << 20), ..IoMax::default() }],
    }
}

pub fn allocation(resource: Resource, values: &[(u32, u64)]) -> Allocation {
    Allocation { resource, values: values.iter().copied().collect() }
}

/// A machine with code and data prioritization and bandwidth control.
fn machine_with_cdp() -> Machine {
    let hardware = resctrl_double::Machine {
        cdp: true,
        bandwidth: Some((10, 10)),
        ..resctrl_double::Machine::default()
    };
    Machine::with_resctrl(hardware)
}

fn machine_with_cache() -> Machine {
    Machine::with_resctrl(resctrl_double::Machine::default())
}

fn machine_with_limits() -> Machine {
    let cgroups = Cgroups::version_1()
        .with_group("/sys/fs/cgroup/cpu/shop", &[100])
        .with_group("/sys/fs/cgroup/cpuset/shop", &[])
        .with_group("/sys/fs/cgroup/blkio/shop", &[])
        .with_setting("/sys/fs/cgroup/cpu/shop/cpu.cfs_quota_us", "70000\n")
        .with_setting("/sys/fs/cgroup/cpuset/shop/cpuset.cpus", "0-3\n")
        .with_setting("/sys/fs/cgroup/blkio/shop/blkio.throttle.write_bps_device", "8:0 77\n8:16 5\n");
    Machine::new(cgroups)
}

fn machine_with_device_limit() -> Machine {
    let cgroups = Cgroups::version_2();
    let machine = Machine::new(cgroups);
    {
        use busyhour_controls::system::System;
        for controller in ["+cpu", "+cpuset", "+io"] {
            machine.write("/sys/fs/cgroup/cgroup.subtree_control".as_ref(), controller).unwrap();
        }
        machine.create_directory("/sys/fs/cgroup/shop".as_ref()).unwrap();
        machine.write("/sys/fs/cgroup/shop/io.max".as_ref(), "8:0 rbps=5 wbps=9").unwrap();
        machine.write("/sys/fs/cgroup/shop/cgroup.procs".as_ref(), "100").unwrap();
    }
    machine
}

pub const SCENARIOS: [Scenario; 8] = [
    ("a new group of version 1", Machine::version_1, || {
        Box::new(CgroupControl::new(limits(), vec![100, 200]))
    }),
    ("a new group of version 2", Machine::version_2, || {
        Box::new(CgroupControl::new(limits(), vec![100, 200]))
    }),
    ("an existing group of version 1", machine_with_limits, || {
        let place = CgroupPlace::Existing("/shop".to_owned());
        Box::new(CgroupControl { place, limits: limits(), processes: Vec::new() })
    }),
    ("an existing group of version 2", machine_with_device_limit, || {
        let place = CgroupPlace::Existing("/shop".to_owned());
        Box::new(CgroupControl { place, limits: limits(), processes: vec![200] })
    }),
    ("a new group of resctrl", machine_with_cdp, || {
        let allocations = vec![
            allocation(Resource::L3Code, &[(0, 0x3), (1, 0xff)]),
            allocation(Resource::L3Data, &[(0, 0xc)]),
            allocation(Resource::MemoryBandwidth, &[(0, 35)]),
        ];
        Box::new(ResctrlControl::new(allocations, vec![100, 300]))
    }),
    ("an existing group of resctrl", machine_with_cache, || {
        let allocations = vec![allocation(Resource::L3, &[(1, 0xff000)])];
        let place = ResctrlPlace::Existing("shop".to_owned());
        Box::new(ResctrlControl { place, ..ResctrlControl::new(allocations, vec![300]) })
    }),
    ("pqos and xl", Machine::version_2, || Box::new(PqosAndXen)),
    ("a network", Machine::version_2, || {
        let delay = Duration::from_millis(20);
        let emulation = Emulation { delay, loss_percent: 0.5, ..Emulation::default() };
        Box::new(NetemControl {
            namespace: None,
            from_namespace: emulation,
            to_namespace: emulation,
            ..NetemControl::default()
        })
    }),
];

/// The changes of two controls.
struct PqosAndXen;

impl Control for PqosAndXen {
    fn name(&self) -> String {
        "pqos and xl".to_owned()
    }

    fn plan(
        &self,
        system: &dyn busyhour_controls::system::System,
    ) -> Result<busyhour_controls::control::Plan, busyhour_controls::error::ControlError> {
        let allocations =
            vec![allocation(Resource::L3, &[(0, 0x3)]), allocation(Resource::MemoryBandwidth, &[(1, 30)])];
        let mut plan = PqosControl::new(1, allocations, vec![0, 2, 3]).plan(system)?;
        let xen = XenControl::new("stream vm", vec![allocation(Resource::L3, &[(0, 0x3), (1, 0x3)])]);
        plan.changes.extend(xen.plan(system)?.changes);
        Ok(plan)
    }
}
