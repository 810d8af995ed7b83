//! Groups, allocations and counters of resctrl, on a double of the file system.

mod resctrl_double;

use busyhour_observe::rdt::{MountedFiles, RdtError, RdtProbe, Resctrl, ResctrlGroup, ResctrlValue};
use busyhour_observe::{ProbeRunner, SeriesStore, SourceState};
use busyhour_program::clock::Clock;
use resctrl_double::{Demand, Double, Machine};

const MIB: u64 = 1 << 20;

fn number(resctrl: &Resctrl, group: &ResctrlGroup, domain: &str, event: &str) -> f64 {
    let values = resctrl.values(group).unwrap();
    let value =
        values.iter().find(|value| value.domain == domain && value.event == event && value.node.is_none());
    match &value.unwrap().value {
        ResctrlValue::Number(number) => *number,
        ResctrlValue::Absent(text) => panic!("{event}: {text}"),
    }
}

/// The latest values with their labels, as `name{label=value}`.
fn latest(store: &SeriesStore) -> Vec<(String, f64)> {
    let shown = |value: busyhour_observe::LatestValue| {
        let labels: Vec<String> = value.labels.iter().map(|(name, text)| format!("{name}={text}")).collect();
        (format!("{}{{{}}}", value.name, labels.join(",")), value.value)
    };
    store.latest().into_iter().map(shown).collect()
}

#[test]
fn groups_are_created_until_identifiers_run_out() {
    let machine = Machine { closids: 3, rmids: 5, ..Machine::default() };
    let mut resctrl = Resctrl::new(Box::new(Double::mount(machine, &[])));
    let info = resctrl.info().unwrap();
    assert_eq!((info.resources["L3"].closids(), info.resources["L3"].full_mask()), (Some(3), Some(0xf_ffff)));
    assert_eq!(info.monitors["L3"].events, ["llc_occupancy", "mbm_total_bytes", "mbm_local_bytes"]);
    assert_eq!(info.monitors["L3"].rmids, Some(5));

    resctrl.create(&ResctrlGroup::control("web")).unwrap();
    resctrl.create(&ResctrlGroup::control("batch")).unwrap();
    let error = resctrl.create(&ResctrlGroup::control("more")).unwrap_err();
    assert!(matches!(error, RdtError::NoIdentifiers { .. }), "{error:?}");
    assert!(
        error.to_string().ends_with("all identifiers of the hardware are in use (Out of CLOSIDs)"),
        "{error}"
    );
    resctrl.create(&ResctrlGroup::monitor("web", "a")).unwrap();
    resctrl.create(&ResctrlGroup::monitor("", "b")).unwrap();
    let error = resctrl.create(&ResctrlGroup::monitor("web", "c")).unwrap_err();
    assert!(error.to_string().contains("(Out of RMIDs)"), "{error}");
    let groups: Vec<String> =
        resctrl.groups().unwrap().iter().map(|group| group.path().display().to_string()).collect();
    assert_eq!(groups, ["", "mon_groups/b", "batch", "web", "web/mon_groups/a"]);

    for name in ["", ".", "..", "a/b", "info", "mon_groups", "mon_data", "a\nb"] {
        assert!(matches!(resctrl.create(&ResctrlGroup::control(name)), Err(RdtError::Name(_))), "{name:?}");
    }
    assert!(matches!(resctrl.create(&ResctrlGroup::control("web")), Err(RdtError::Refused { .. })));
    resctrl.remove(&ResctrlGroup::control("web")).unwrap();
    assert_eq!(resctrl.groups().unwrap().len(), 3);
    resctrl.create(&ResctrlGroup::control("more")).unwrap();
}

#[test]
fn allocations_are_checked_and_rounded() {
    let machine = Machine { min_cbm_bits: 2, bandwidth: Some((10, 10)), ..Machine::default() };
    let mut resctrl = Resctrl::new(Box::new(Double::mount(machine, &[])));
    resctrl.create(&ResctrlGroup::control("web")).unwrap();
    resctrl.allocate("web", &"L3:0=ffffc;1=3".parse().unwrap()).unwrap();
    resctrl.allocate("web", &"MB:1=42".parse().unwrap()).unwrap();
    let schemata: Vec<String> = resctrl.schemata("web").unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(schemata, ["L3:0=ffffc;1=00003", "MB:0=100;1=50"]);
    for (schema, status) in [
        ("L3:0=5", "The mask 5 has non-consecutive 1-bits"),
        ("L3:0=1", "Need at least 2 bits in the mask"),
        ("L3:0=1fffff", "Mask out of range"),
        ("L3:0=0", "Mask out of range"),
        ("L3:7=3", "Unknown domain 7"),
        ("L2:0=3", "Unknown or unsupported resource name 'L2'"),
        ("MB:0=5", "MB value 5 out of range [10,100]"),
    ] {
        let error = resctrl.allocate("web", &schema.parse().unwrap()).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot change web/schemata: {status}"), "{schema}");
    }
    assert_eq!(resctrl.schemata("web").unwrap()[0].to_string(), "L3:0=ffffc;1=00003", "nothing has changed");
}

#[test]
fn sparse_masks_and_separate_masks_for_code_are_allocated() {
    let machine = Machine { sparse_masks: true, cdp: true, ..Machine::default() };
    let mut resctrl = Resctrl::new(Box::new(Double::mount(machine, &[])));
    let info = resctrl.info().unwrap();
    let names: Vec<&str> = info.resources.keys().map(String::as_str).collect();
    assert_eq!((names, info.resources["L3CODE"].closids()), (vec!["L3CODE", "L3DATA"], Some(8)));
    resctrl.allocate("", &"L3DATA:0=f00f".parse().unwrap()).unwrap();
    let schemata = resctrl.schemata("").unwrap();
    assert_eq!(schemata[1].to_string(), "L3DATA:0=0f00f;1=fffff");
}

#[test]
fn a_task_is_in_one_control_group_and_counters_add_up() {
    let double = Double::mount(Machine::default(), &[10, 11, 12]);
    let mut resctrl = Resctrl::new(Box::new(double.clone()));
    let (web, part) = (ResctrlGroup::control("web"), ResctrlGroup::monitor("web", "part"));
    resctrl.create(&web).unwrap();
    resctrl.create(&part).unwrap();
    let error = resctrl.move_task(&part, 10).unwrap_err();
    assert!(error.to_string().ends_with("Can't move task to different control group"), "{error}");
    let error = resctrl.move_task(&web, 99).unwrap_err();
    assert!(error.to_string().ends_with("No task 99"), "{error}");
    for task in [10, 11] {
        resctrl.move_task(&web, task).unwrap();
    }
    resctrl.move_task(&part, 11).unwrap();
    let tasks = |resctrl: &Resctrl, group: &ResctrlGroup| resctrl.tasks(group).unwrap();
    assert_eq!(tasks(&resctrl, &ResctrlGroup::control("")), [12]);
    assert_eq!((tasks(&resctrl, &web), tasks(&resctrl, &part)), (vec![10, 11], vec![11]));

    let demand = |traffic, working_set| Demand { socket: 1, traffic, working_set, ..Demand::default() };
    for _ in 0..3 {
        double.tick(&[(10, demand(100, MIB)), (11, demand(20, 2 * MIB)), (12, demand(1, 1000 * MIB))]);
    }
    assert_eq!(number(&resctrl, &web, "01", "mbm_total_bytes"), 360.0);
    assert_eq!(number(&resctrl, &part, "01", "mbm_total_bytes"), 60.0);
    assert_eq!(number(&resctrl, &web, "00", "mbm_total_bytes"), 0.0);
    let early = number(&resctrl, &ResctrlGroup::control(""), "01", "llc_occupancy");
    for _ in 0..60 {
        double.tick(&[(12, demand(1, 1000 * MIB))]);
    }
    let late = number(&resctrl, &ResctrlGroup::control(""), "01", "llc_occupancy");
    assert!(early < late && (late - (55 * MIB) as f64).abs() < 100.0, "{early} {late}");

    resctrl.remove(&part).unwrap();
    assert_eq!(tasks(&resctrl, &web), [10, 11]);
    resctrl.remove(&web).unwrap();
    assert_eq!(tasks(&resctrl, &ResctrlGroup::control("")), [10, 11, 12]);
}

#[test]
fn the_probe_records_all_groups() {
    let double = Double::mount(Machine { sockets: 1, energy: true, ..Machine::default() }, &[10]);
    let mut resctrl = Resctrl::new(Box::new(double.clone()));
    resctrl.create(&ResctrlGroup::control("web")).unwrap();
    resctrl.create(&ResctrlGroup::monitor("web", "a")).unwrap();
    resctrl.move_task(&ResctrlGroup::control("web"), 10).unwrap();
    let store = SeriesStore::in_memory();
    let mut runner = ProbeRunner::new(&store, Box::new(RdtProbe::new(resctrl)));
    double.tick(&[(10, Demand { socket: 0, traffic: 4000, working_set: 4 * MIB, energy: 1.5 })]);
    runner.read(&Clock::manual(0));
    let values = latest(&store);
    let value = |name: &str| values.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
    assert_eq!(value("busyhour_memory_traffic_bytes_total{group=web,resource=L3,domain=00}"), Some(4000.0));
    assert_eq!(
        value("busyhour_memory_local_traffic_bytes_total{group=web,resource=L3,domain=00}"),
        Some(3000.0)
    );
    assert_eq!(value("busyhour_cache_occupancy_bytes{group=web,resource=L3,domain=00}"), Some(MIB as f64));
    assert_eq!(value("busyhour_cache_occupancy_bytes{group=web,monitor=a,resource=L3,domain=00}"), Some(0.0));
    assert_eq!(value("busyhour_core_energy_joules_total{group=web,resource=PERF_PKG,domain=00}"), Some(1.5));
    assert_eq!(
        value("busyhour_resctrl_uops_retired_total{group=web,resource=PERF_PKG,domain=00}"),
        Some(1.5e9)
    );
    assert_eq!(value("busyhour_memory_traffic_bytes_total{group=/,resource=L3,domain=00}"), Some(0.0));
    assert_eq!(values.len(), 3 * 6);
}

#[test]
fn absent_values_are_not_zero() {
    let machine = Machine { sockets: 1, assignable: Some(1), ..Machine::default() };
    let double = Double::mount(machine, &[10]);
    let resctrl = Resctrl::new(Box::new(double.clone()));
    assert_eq!(resctrl.info().unwrap().monitors["L3"].assign_mode.as_deref(), Some("mbm_event"));
    let store = SeriesStore::in_memory();
    let mut runner = ProbeRunner::new(&store, Box::new(RdtProbe::new(resctrl)));
    let clock = Clock::manual(0);
    double.overwrite("mon_data/mon_L3_00/llc_occupancy", "Unavailable\n");
    runner.read(&clock);
    assert_eq!(latest(&store), []);
    let reasons: Vec<String> = store
        .status()
        .unavailable
        .iter()
        .map(|entry| format!("{}: {}", entry.metric, entry.reason))
        .collect();
    assert_eq!(reasons.len(), 3, "{reasons:?}");
    assert!(
        reasons[0]
            .starts_with("busyhour_cache_occupancy_bytes: the hardware has no value for the group / now")
    );
    assert!(
        reasons[1].contains(": no hardware counter is assigned to the group /; assign one"),
        "{reasons:?}"
    );

    assert!(double.assign_counter("") && !double.assign_counter(""));
    double.tick(&[(10, Demand { traffic: 8, ..Demand::default() })]);
    runner.read(&clock);
    let values = latest(&store);
    assert_eq!(
        values[1],
        ("busyhour_memory_local_traffic_bytes_total{group=/,resource=L3,domain=00}".to_owned(), 6.0)
    );
}

#[test]
fn sub_numa_clusters_and_arm_are_supported() {
    let machine = Machine {
        sockets: 1,
        nodes_per_socket: 2,
        events: &["llc_occupancy", "mbm_total_bytes"],
        ..Machine::default()
    };
    let double = Double::mount(machine, &[10]);
    double.tick(&[(10, Demand { traffic: 10, ..Demand::default() })]);
    let store = SeriesStore::in_memory();
    let resctrl = Resctrl::new(Box::new(double));
    ProbeRunner::new(&store, Box::new(RdtProbe::new(resctrl))).read(&Clock::manual(0));
    let mut traffic = latest(&store);
    traffic.retain(|(name, _)| name.starts_with("busyhour_memory"));
    let series = |labels: &str| {
        format!("busyhour_memory_traffic_bytes_total{{group=/,resource=L3,domain=00{labels}}}")
    };
    assert_eq!(traffic, [(series(""), 10.0), (series(",node=00"), 5.0), (series(",node=01"), 5.0)]);
}

#[test]
fn a_machine_without_resctrl_has_a_reason_with_advice() {
    let dir = tempfile::tempdir().unwrap();
    let resctrl = Resctrl::new(Box::new(MountedFiles::new(dir.path())));
    let store = SeriesStore::in_memory();
    ProbeRunner::new(&store, Box::new(RdtProbe::new(resctrl))).read(&Clock::manual(0));
    let SourceState::Failed(reason) = store.status().sources[0].state.clone() else { panic!("not failed") };
    assert!(reason.starts_with("resctrl is not available: mount it with `mount -t resctrl"), "{reason}");
}
