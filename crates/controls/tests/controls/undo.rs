//! The effects of controls, and undoing them after the machine changed.

use std::path::Path;

use busyhour_controls::allocation::Resource;
use busyhour_controls::cgroup::CgroupControl;
use busyhour_controls::control::{Availability, Control};
use busyhour_controls::reversible::Undone;
use busyhour_controls::system::System;
use busyhour_controls::treatments::{Treatments, restore};

use crate::cgroup_double::Cgroups;
use crate::machine::{Machine, directory};
use crate::resctrl_double;
use crate::scenarios::{SCENARIOS, allocation, limits};
use busyhour_controls::resctrl::ResctrlControl;

fn treatments(machine: &Machine, dir: &tempfile::TempDir) -> Treatments {
    Treatments::begin(machine.boxed(), &dir.path().join("journal")).unwrap()
}

#[test]
fn every_control_is_checked_applied_and_undone() {
    for (name, machine, control) in SCENARIOS {
        let (machine, control) = (machine(), control());
        let before = machine.snapshot();
        let dir = directory();
        let mut treatments = treatments(&machine, &dir);
        let availability = control.check(&machine);
        assert!(matches!(availability, Availability::Available { .. }), "{name}: {availability:?}");
        assert_eq!(machine.snapshot(), before, "{name}: a check changes nothing");
        let (applied, _) = control.apply(&mut treatments).unwrap();
        assert_ne!(machine.snapshot(), before, "{name}");
        let restoration = control.undo(&mut treatments, &applied);
        assert!(restoration.is_complete() && !restoration.changes.is_empty(), "{name}: {restoration:?}");
        assert_eq!(machine.snapshot(), before, "{name}");
        assert!(control.undo(&mut treatments, &applied).changes.is_empty(), "{name}");

        // A second time in the same journal, and undone by dropping.
        control.apply(&mut treatments).unwrap();
        drop(treatments);
        assert_eq!(machine.snapshot(), before, "{name}");
    }
}

#[test]
fn a_new_group_of_version_1_has_the_limits_in_every_hierarchy() {
    let machine = Machine::version_1();
    let dir = directory();
    let mut treatments = treatments(&machine, &dir);
    let (_, created) = CgroupControl::new(limits(), vec![100]).apply(&mut treatments).unwrap();
    let read = |group: usize, file: &str| machine.read(&Path::new(&created[group].name).join(file)).unwrap();
    assert_eq!(created.len(), 3);
    assert_eq!(
        (read(0, "cpu.cfs_quota_us"), read(0, "cpu.cfs_period_us")),
        ("50000\n".into(), "100000\n".into())
    );
    assert_eq!((read(0, "cpu.shares"), read(0, "cgroup.procs")), ("512\n".into(), "100\n".into()));
    assert_eq!((read(1, "cpuset.cpus"), read(1, "cpuset.mems")), ("0-1\n".into(), "0-1\n".into()));
    assert_eq!(read(2, "blkio.throttle.write_bps_device"), "8:0 1048576\n");
}

#[test]
fn a_new_group_of_version_2_has_the_limits() {
    let machine = Machine::version_2();
    let dir = directory();
    let mut treatments = treatments(&machine, &dir);
    let (_, created) = CgroupControl::new(limits(), vec![100]).apply(&mut treatments).unwrap();
    let read = |file: &str| machine.read(&Path::new(&created[0].name).join(file)).unwrap();
    assert_eq!((read("cpu.max"), read("cpu.weight")), ("50000 100000\n".into(), "50\n".into()));
    assert_eq!((read("cpuset.cpus"), read("cgroup.procs")), ("0-1\n".into(), "100\n".into()));
    assert_eq!(read("io.max"), "8:0 rbps=max riops=max wbps=1048576 wiops=max\n");
}

#[test]
fn children_of_moved_processes_are_moved_to_the_former_group() {
    for machine in [Machine::version_1(), Machine::version_2()] {
        let dir = directory();
        let mut treatments = treatments(&machine, &dir);
        CgroupControl::new(limits(), vec![100]).apply(&mut treatments).unwrap();
        machine.0.borrow_mut().cgroups.fork(100, 150);
        assert!(treatments.undo_all().is_complete());
        let memberships = machine.0.borrow().cgroups.memberships(150);
        assert!(memberships.contains(":/shop\n"), "{memberships}");
        assert_eq!(memberships, machine.0.borrow().cgroups.memberships(100));
    }
}

#[test]
fn threads_are_moved_back_one_by_one() {
    let machine = Machine::with_resctrl(resctrl_double::Machine::default());
    let dir = directory();
    let mut treatments = treatments(&machine, &dir);
    let control = ResctrlControl::new(vec![allocation(Resource::L3, &[(0, 0x3)])], vec![100]);
    let (_, created) = control.apply(&mut treatments).unwrap();
    let tasks = |group: &str| machine.read(&Path::new("/sys/fs/resctrl").join(group).join("tasks")).unwrap();
    assert_eq!(tasks(&created[0].name), "100\n101\n102\n");
    assert_eq!((tasks("shop"), tasks("shop/mon_groups/web")), (String::new(), String::new()));
    // The process starts a thread, which is moved with its main thread.
    machine.start_thread(100, &created[0].name);
    assert!(treatments.undo_all().is_complete());
    assert_eq!((tasks("shop"), tasks("shop/mon_groups/web")), ("101\n102\n".into(), "102\n".into()));
    assert_eq!(tasks(""), "100\n200\n300\n301\n400\n");
}

#[test]
fn processes_and_groups_that_are_gone_need_no_undoing() {
    for (name, machine, control) in SCENARIOS {
        let (machine, control) = (machine(), control());
        let dir = directory();
        let mut treatments = treatments(&machine, &dir);
        control.apply(&mut treatments).unwrap();
        for pid in [100, 200, 300] {
            machine.end_process(pid);
        }
        machine.0.borrow_mut().programs.xen_name = "another vm".to_owned();
        let restoration = treatments.undo_all();
        assert!(restoration.is_complete(), "{name}: {restoration:?}");
        assert!(!machine.snapshot().keys().any(|key| key.contains("busyhour-")), "{name}");
    }
    // A group that another program removed, as after a restart of a service.
    let machine = Machine::new(Cgroups::version_1().with_group("/sys/fs/cgroup/cpu/shop", &[100]));
    let dir = directory();
    let mut treatments = treatments(&machine, &dir);
    let (_, created) = CgroupControl::new(limits(), vec![100]).apply(&mut treatments).unwrap();
    for created in created {
        machine.write("/sys/fs/cgroup/cpu/shop/cgroup.procs".as_ref(), "100").unwrap();
        machine.write("/sys/fs/cgroup/cpuset/cgroup.procs".as_ref(), "100").unwrap();
        machine.write("/sys/fs/cgroup/blkio/cgroup.procs".as_ref(), "100").unwrap();
        machine.remove_directory(created.name.as_ref()).unwrap();
    }
    let restoration = treatments.undo_all();
    assert!(restoration.is_complete(), "{restoration:?}");
    assert!(restoration.changes.iter().all(|undone| !matches!(undone.result, Ok(Undone::Restored))));
}

#[test]
fn processes_that_are_ending_are_awaited() {
    for machine in [Machine::version_1(), Machine::version_2()] {
        let dir = directory();
        let mut treatments = treatments(&machine, &dir);
        CgroupControl::new(limits(), vec![100, 200]).apply(&mut treatments).unwrap();
        machine.0.borrow_mut().cgroups.ending.extend([100, 200]);
        let restoration = treatments.undo_all();
        assert!(restoration.is_complete(), "{restoration:?}");
        assert!(!machine.snapshot().keys().any(|key| key.contains("busyhour-")));
    }
}

#[test]
fn processes_are_moved_to_the_parent_if_their_former_group_is_gone() {
    let machine = Machine::version_1();
    let dir = directory();
    let mut treatments = treatments(&machine, &dir);
    CgroupControl::new(limits(), vec![100]).apply(&mut treatments).unwrap();
    machine.remove_directory("/sys/fs/cgroup/cpu/shop".as_ref()).unwrap();
    assert!(treatments.undo_all().is_complete());
    assert_eq!(machine.read("/sys/fs/cgroup/cpu/cgroup.procs".as_ref()).unwrap(), "100\n200\n300\n");
}

#[test]
fn groups_of_other_programs_in_a_created_group_are_not_removed() {
    let machine = Machine::version_1();
    let dir = directory();
    let mut treatments = treatments(&machine, &dir);
    let (_, created) = CgroupControl::new(limits(), vec![100]).apply(&mut treatments).unwrap();
    let other = Path::new(&created[0].name).join("other");
    machine.create_directory(&other).unwrap();
    let error = treatments.undo_all().into_result().unwrap_err();
    assert!(error.to_string().contains("because it contains the groups other"), "{error}");
    assert!(machine.exists(&other));
    // It remains in the journal, and is undone when the cause is gone.
    drop(treatments);
    machine.remove_directory(&other).unwrap();
    let restoration = restore(machine.boxed(), &dir.path().join("journal")).unwrap();
    assert!(restoration.is_complete() && restoration.changes.len() == 1, "{restoration:?}");
    assert!(!machine.exists(created[0].name.as_ref()));
}

#[test]
fn nothing_is_undone_after_a_restart_of_the_machine() {
    let machine = Machine::version_2();
    let dir = directory();
    let path = dir.path().join("journal");
    let mut treatments = treatments(&machine, &dir);
    CgroupControl::new(limits(), vec![100]).apply(&mut treatments).unwrap();
    let content = std::fs::read(&path).unwrap();
    drop(treatments);
    let restarted = Machine::version_2();
    restarted.0.borrow_mut().boot = "boot 2";
    std::fs::write(&path, content).unwrap();
    let before = restarted.snapshot();
    assert!(restore(restarted.boxed(), &path).unwrap().changes.is_empty());
    assert_eq!(restarted.snapshot(), before);
    assert!(busyhour_controls::journal::remove_finished(&path).unwrap());
    assert!(!path.exists());
}
