//! Every mask and bandwidth that is written to resctrl fits the hardware.

use std::path::Path;

use busyhour_controls::allocation::{Allocation, Resource};
use busyhour_controls::control::{Availability, Control};
use busyhour_controls::resctrl::ResctrlControl;
use busyhour_controls::system::System;
use busyhour_controls::treatments::Treatments;
use busyhour_observe::rdt::ResctrlFiles;
use proptest::prelude::*;

use crate::machine::{Machine, directory};
use crate::resctrl_double;
use crate::scenarios::allocation;

fn machine(hardware: resctrl_double::Machine) -> Machine {
    Machine::with_resctrl(hardware)
}

fn hardware() -> impl Strategy<Value = resctrl_double::Machine> {
    (
        1_u32..3,
        4_u32..21,
        1_u32..3,
        any::<bool>(),
        any::<bool>(),
        prop::sample::select(vec![None, Some((10, 10)), Some((1, 1)), Some((20, 15))]),
    )
        .prop_map(|(sockets, ways, min_cbm_bits, sparse_masks, cdp, bandwidth)| {
            resctrl_double::Machine {
                sockets,
                ways,
                min_cbm_bits,
                sparse_masks,
                cdp,
                bandwidth,
                ..resctrl_double::Machine::default()
            }
        })
}

fn allocations() -> impl Strategy<Value = Allocation> {
    let mask = prop_oneof![
        0_u64..0x40,
        (0_u32..20, 1_u32..20).prop_map(|(shift, bits)| ((1 << bits) - 1) << shift),
        0_u64..110,
    ];
    let resource = prop::sample::select(vec![
        Resource::L3,
        Resource::L3Code,
        Resource::L3Data,
        Resource::L2,
        Resource::MemoryBandwidth,
    ]);
    let values = prop::collection::btree_map(0_u32..3, mask, 0..3);
    (resource, values).prop_map(|(resource, values)| Allocation { resource, values })
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: prop::test_runner::RngSeed::Fixed(32), cases: 128, ..ProptestConfig::default()
    })]

    /// A control is available exactly if the kernel accepts its allocation.
    #[test]
    fn the_check_agrees_with_the_kernel(hardware in hardware(), allocation in allocations()) {
        // The kernel accepts a line without domains, which has no effect.
        prop_assume!(!allocation.values.is_empty());
        let expected = {
            let machine = machine(hardware.clone());
            let mut resctrl = machine.resctrl();
            resctrl.write(Path::new("shop/schemata"), &format!("{allocation}\n")).is_ok()
        };
        let machine = machine(hardware);
        let before = machine.snapshot();
        let control = ResctrlControl::new(vec![allocation.clone()], vec![100]);
        let is_available = matches!(control.check(&machine), Availability::Available { .. });
        prop_assert_eq!(is_available, expected, "{}: {:?}", allocation, control.check(&machine));
        prop_assert!(machine.0.borrow().schemata.is_empty(), "a check writes nothing");

        let dir = directory();
        let mut treatments = Treatments::begin(machine.boxed(), &dir.path().join("journal")).unwrap();
        prop_assert_eq!(control.apply(&mut treatments).is_ok(), expected);
        let written = machine.0.borrow().schemata.clone();
        let lines = if expected { vec![format!("{allocation}\n")] } else { Vec::new() };
        prop_assert_eq!(written, lines);
        drop(treatments);
        prop_assert_eq!(machine.snapshot(), before);
    }
}

fn reason(machine: &Machine, allocation: Allocation) -> String {
    match ResctrlControl::new(vec![allocation], Vec::new()).check(machine) {
        Availability::Unavailable { reason } => reason,
        Availability::Available { notes } => panic!("available: {notes:?}"),
    }
}

#[test]
fn refusals_name_the_rule_and_the_remedy() {
    let machine = machine(resctrl_double::Machine {
        min_cbm_bits: 2,
        bandwidth: Some((10, 10)),
        ..resctrl_double::Machine::default()
    });
    let text = reason(&machine, allocation(Resource::L3, &[(0, 0x5)]));
    assert_eq!(
        text,
        "cannot allocate L3:0=5: the bits of the mask 0x5 are not contiguous, which this hardware requires"
    );
    let text = reason(&machine, allocation(Resource::L3, &[(4, 0x3)]));
    assert_eq!(text, "cannot allocate L3:4=3: there is no domain 4; the domains are 0, 1");
    let text = reason(&machine, allocation(Resource::L3Code, &[(0, 0x3)]));
    assert!(
        text.contains(
            "this machine can divide L3, MB, but not L3CODE; unmount resctrl and mount it with `-o cdp`"
        ),
        "{text}"
    );
    let text = reason(&machine, allocation(Resource::MemoryBandwidth, &[(0, 5)]));
    assert!(text.ends_with("the bandwidth 5 % is not between 10 and 100 %"), "{text}");

    let mut control = ResctrlControl::new(Vec::new(), Vec::new());
    control.mount = "/nowhere".into();
    match control.check(&machine) {
        Availability::Unavailable { reason } => {
            assert!(reason.contains("mount it with `mount -t resctrl resctrl /sys/fs/resctrl`"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn shared_ways_and_rounded_bandwidths_are_noted() {
    let machine =
        machine(resctrl_double::Machine { bandwidth: Some((10, 10)), ..resctrl_double::Machine::default() });
    let resctrl = machine.resctrl();
    resctrl.overwrite("info/L3/shareable_bits", "c0000\n");
    let allocations =
        vec![allocation(Resource::L3, &[(0, 0xf0000)]), allocation(Resource::MemoryBandwidth, &[(1, 35)])];
    let Availability::Available { notes } = ResctrlControl::new(allocations, Vec::new()).check(&machine)
    else {
        panic!("not available");
    };
    assert_eq!(
        notes,
        [
            "L3 domain 0: other hardware, such as network cards, also uses the ways 0xc0000",
            "MB domain 1: the hardware rounds 35 % to 40 %"
        ]
    );
    resctrl.overwrite("info/L3/bit_usage", "0=EESSSSSSSSSSSSSSSSSS;1=SSSSSSSSSSSSSSSSSSSS\n");
    let text = reason(&machine, allocation(Resource::L3, &[(0, 0xf0000)]));
    assert!(text.contains("the bits 0xc0000 of the mask 0xf0000 are reserved"), "{text}");
    // In MB/s instead of percent.
    resctrl.overwrite("schemata", "MB:0=2048;1=2048\nL3:0=fffff;1=fffff\n");
    let text = reason(&machine, allocation(Resource::MemoryBandwidth, &[(0, 50)]));
    assert!(text.contains("does not count memory bandwidth in percent"), "{text}");
}

#[test]
fn errors_contain_the_reason_of_the_kernel() {
    // The default group and `shop` are all groups that the hardware has.
    let machine = machine(resctrl_double::Machine { closids: 2, ..resctrl_double::Machine::default() });
    let before = machine.snapshot();
    let dir = directory();
    let mut treatments = Treatments::begin(machine.boxed(), &dir.path().join("journal")).unwrap();
    let control = ResctrlControl::new(vec![allocation(Resource::L3, &[(0, 3)])], vec![100]);
    let error = control.apply(&mut treatments).unwrap_err().to_string();
    assert!(error.contains("all classes of service of the hardware are in use"), "{error}");
    assert!(error.ends_with("(Out of CLOSIDs)"), "{error}");
    assert_eq!(machine.snapshot(), before);
    assert!(!machine.exists("/sys/fs/resctrl/busyhour-1".as_ref()));
}
