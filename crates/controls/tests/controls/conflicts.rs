//! Several controls at once, and controls that fail while they are applied.

use busyhour_controls::allocation::Resource;
use busyhour_controls::cgroup::{CgroupControl, CgroupLimits, CgroupPlace, CpuQuota, IoMax};
use busyhour_controls::control::{Availability, Control};
use busyhour_controls::error::ControlError;
use busyhour_controls::netem::{Addresses, Emulation, NetemControl};
use busyhour_controls::pqos::PqosControl;
use busyhour_controls::system::System;
use busyhour_controls::treatments::Treatments;

use crate::cgroup_double::Cgroups;
use crate::machine::{Machine, directory};
use crate::scenarios::{SCENARIOS, allocation, limits};

fn begin(machine: &Machine, dir: &tempfile::TempDir) -> Treatments {
    Treatments::begin(machine.boxed(), &dir.path().join("journal")).unwrap()
}

fn weight(weight: u32) -> CgroupLimits {
    CgroupLimits { cpu_weight: Some(weight), ..CgroupLimits::default() }
}

#[test]
fn a_second_control_of_the_same_object_is_refused() {
    for (name, machine, control) in SCENARIOS.iter().filter(|scenario| scenario.0 != "a network") {
        let (machine, control) = (machine(), control());
        let before = machine.snapshot();
        let dir = directory();
        let mut treatments = begin(&machine, &dir);
        control.apply(&mut treatments).unwrap();
        let applied = machine.snapshot();
        let is_pqos = *name == "pqos and xl";
        match control.apply(&mut treatments) {
            Err(ControlError::Invalid { what }) => {
                assert!(what.starts_with("another treatment already changed"), "{name}: {what}");
            }
            other => panic!("{name} (pqos: {is_pqos}): {other:?}"),
        }
        assert_eq!(machine.snapshot(), applied, "{name}");
        drop(treatments);
        assert_eq!(machine.snapshot(), before, "{name}");
    }
}

#[test]
fn a_controller_is_disabled_when_the_last_group_is_removed() {
    let machine = Machine::version_2();
    let before = machine.snapshot();
    let dir = directory();
    let mut treatments = begin(&machine, &dir);
    let first = CgroupControl::new(weight(50), vec![100]).apply(&mut treatments).unwrap().0;
    let (second, created) = CgroupControl::new(weight(70), vec![200]).apply(&mut treatments).unwrap();
    assert!(treatments.undo(&first).is_complete());
    let file = std::path::Path::new(&created[0].name).join("cpu.weight");
    assert_eq!(machine.read(&file).unwrap(), "70\n", "the second control keeps its controller");
    assert!(treatments.undo(&second).is_complete());
    assert_eq!(machine.snapshot(), before);
    assert_eq!(treatments.pending(), []);
}

#[test]
fn a_control_that_fails_is_undone() {
    // The limit of the disk is the last change, and the kernel refuses it.
    let machine = Machine::new(
        Cgroups::version_1()
            .with_group("/sys/fs/cgroup/cpu/shop", &[100])
            .with_group("/sys/fs/cgroup/blkio/full", &[]),
    );
    let before = machine.snapshot();
    let dir = directory();
    let mut treatments = begin(&machine, &dir);
    let mut control = CgroupControl::new(limits(), vec![100]);
    control.limits.io_max[0].device = "8:0".to_owned();
    control.limits.io_max[0].reads = Some(5);
    let error = control.apply(&mut treatments).unwrap_err().to_string();
    assert!(error.contains("blkio.throttle.read_iops_device"), "{error}");
    assert_eq!(machine.snapshot(), before);

    for part in ["core:1=0,3", "netem", "link add", "psr-cat-set -s 1"] {
        for (name, _, control) in SCENARIOS {
            let machine = Machine::version_2();
            machine.0.borrow_mut().programs.fails = Some(part);
            let before = machine.snapshot();
            let dir = directory();
            let mut treatments = begin(&machine, &dir);
            if let Err(ControlError::Command { message, .. }) = control().apply(&mut treatments) {
                assert_eq!(message, "it was told to fail", "{name}");
                assert_eq!(machine.snapshot(), before, "{name}: {part}");
                assert_eq!(treatments.pending(), [], "{name}: {part}");
            }
        }
    }
}

#[test]
fn a_process_that_ended_is_named() {
    let machine = Machine::version_2();
    let reason = match CgroupControl::new(weight(50), vec![999]).check(&machine) {
        Availability::Unavailable { reason } => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason, "process 999 has ended");
}

#[test]
fn cores_cannot_be_moved_by_two_controls() {
    let machine = Machine::version_2();
    let dir = directory();
    let mut treatments = begin(&machine, &dir);
    PqosControl::new(1, Vec::new(), vec![0, 1]).apply(&mut treatments).unwrap();
    let error = PqosControl::new(0, Vec::new(), vec![1, 2]).apply(&mut treatments).unwrap_err().to_string();
    assert!(error.starts_with("another treatment already changed the class of core 1;"), "{error}");
}

#[test]
fn the_share_of_version_1_is_never_larger_than_allowed() {
    let quota = |quota_us, period_us| CgroupControl {
        place: CgroupPlace::Existing("/shop/web".to_owned()),
        limits: CgroupLimits { cpu_quota: Some(CpuQuota { quota_us, period_us }), ..CgroupLimits::default() },
        processes: Vec::new(),
    };
    // Half a CPU, as in the parent group, with a shorter and with a longer period.
    for control in [quota(25_000, 50_000), quota(100_000, 200_000)] {
        let cgroups = Cgroups::version_1()
            .with_group("/sys/fs/cgroup/cpu/shop", &[])
            .with_setting("/sys/fs/cgroup/cpu/shop/cpu.cfs_quota_us", "50000\n")
            .with_group("/sys/fs/cgroup/cpu/shop/web", &[])
            .with_setting("/sys/fs/cgroup/cpu/shop/web/cpu.cfs_quota_us", "50000\n");
        let machine = Machine::new(cgroups);
        let before = machine.snapshot();
        let dir = directory();
        let mut treatments = begin(&machine, &dir);
        control.apply(&mut treatments).unwrap();
        assert_ne!(machine.snapshot(), before);
        assert!(treatments.undo_all().is_complete());
        assert_eq!(machine.snapshot(), before);
    }
}

#[test]
fn missing_requirements_are_named_with_their_remedy() {
    let machine = Machine::version_2();
    let mut control = CgroupControl::new(weight(50), vec![100]);
    let reason = |control: &dyn Control| match control.check(&machine) {
        Availability::Unavailable { reason } => reason,
        other => panic!("{other:?}"),
    };
    control.place = CgroupPlace::CreatedIn("/shop".to_owned());
    let text = reason(&control);
    assert!(text.contains("/sys/fs/cgroup/shop does not have the controller cpu"), "{text}");
    control.place = CgroupPlace::Existing("/shop".to_owned());
    let text = reason(&control);
    assert!(text.contains("/sys/fs/cgroup/shop has no cpu.weight; name an existing group"), "{text}");
    control.place = CgroupPlace::Existing("/../shop".to_owned());
    assert!(reason(&control).contains("is not visible"), "{}", reason(&control));
    let text = reason(&CgroupControl::new(CgroupLimits::default(), Vec::new()));
    assert_eq!(text, "the control has no limits");

    let cpus = CgroupLimits { cpus: Some("6-8".to_owned()), ..CgroupLimits::default() };
    let text = reason(&CgroupControl::new(cpus, Vec::new()));
    assert!(text.contains("cpuset.cpus.effective does not contain 8"), "{text}");
    let device = IoMax { device: "9:9".to_owned(), reads: Some(5), ..IoMax::default() };
    let text = reason(&CgroupControl::new(
        CgroupLimits { io_max: vec![device], ..CgroupLimits::default() },
        Vec::new(),
    ));
    assert!(text.contains("there is no block device 9:9; `lsblk` lists"), "{text}");

    let text = reason(&PqosControl::new(7, vec![allocation(Resource::L3, &[(0, 1)])], Vec::new()));
    assert!(text.contains("lists no L3 for class 7"), "{text}");
    let text = reason(&PqosControl::new(1, vec![allocation(Resource::L3, &[(5, 1)])], Vec::new()));
    assert!(text.contains("there is no domain 5; the domains are 0, 1"), "{text}");
    let text = reason(&PqosControl::new(1, Vec::new(), vec![77]));
    assert!(text.contains("does not list core 77"), "{text}");

    let loss = Emulation { loss_percent: 101.0, ..Emulation::default() };
    assert!(reason(&NetemControl { to_namespace: loss, ..NetemControl::default() }).contains("101 %"));
    let addresses = Addresses { outside: "10.0.0.1".to_owned(), inside: "10.0.0.5".to_owned() };
    let text = reason(&NetemControl { addresses, ..NetemControl::default() });
    assert!(text.contains("not the two hosts of one network"), "{text}");
}
