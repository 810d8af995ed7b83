//! `pqos` and `xl`: recorded outputs, and programs that are really run.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use busyhour_controls::allocation::Resource;
use busyhour_controls::control::{Availability, Control};
use busyhour_controls::linux::LinuxSystem;
use busyhour_controls::pqos::{PqosControl, parse_configuration};
use busyhour_controls::treatments::{Treatments, restore};
use busyhour_controls::xen::{XenControl, parse_cat_show};

use crate::scenarios::allocation;

/// The output of `pqos -s` with CDP, as its current version formats it.
const PQOS: &str = "\
NOTE:  Mixed use of MSR and kernel interfaces to manage
       CAT or CMT & MBM may lead to unexpected behavior.
L3CA/MBA CLOS definitions for Socket 0:
    L3CA CLOS0 => DATA 0x7ff, CODE 0x7ff
    L3CA CLOS1 => DATA 0x7f0, CODE 0x00f
    MBA CLOS0 => 100% available
    MBA CLOS1 => 50% available
L2CA CLOS definitions for L2ID 4:
    L2CA CLOS0 => MASK 0xff
    L2CA CLOS1 => MASK 0xf0
Core information for socket 0:
    Core 0, L2ID 0, L3ID 0 => CLOS0, RMID0
    Core 1, L2ID 4, L3ID 0 => CLOS1
    Core 2 => ERROR
PID association information:
    CLOS1 => (none)
";

#[test]
fn the_configuration_of_pqos_is_read() {
    let configuration = parse_configuration(PQOS);
    assert_eq!(configuration.value(Resource::L3Data, 0, 1), Some(0x7f0));
    assert_eq!(configuration.value(Resource::L3Code, 0, 1), Some(0xf));
    assert_eq!(configuration.value(Resource::L3, 0, 1), None);
    assert_eq!(configuration.value(Resource::MemoryBandwidth, 0, 1), Some(50));
    assert_eq!(configuration.value(Resource::L2, 4, 1), Some(0xf0));
    assert_eq!(configuration.union(Resource::L2, 4), 0xff);
    assert_eq!(configuration.domains(Resource::L2, 0), [4]);
    let classes: Vec<_> = (0..3).map(|core| configuration.class_of_core(core)).collect();
    assert_eq!(classes, [Some(0), Some(1), None]);
}

/// The output of `xl psr-cat-show` with CDP on the second socket. The format follows the source code of xl.
const XL: &str = "\
Socket ID       : 0
L3 Cache        : 56320KB
Default CBM     : 0xfffff
   ID                     NAME             CBM
    0                 Domain-0         0xfffff
    4                stream vm             0x3
Socket ID       : 1
L3 Cache        : 56320KB
Default CBM     : 0xfffff
   ID                     NAME      CBM (code)      CBM (data)
    0                 Domain-0         0xfffff         0xfffff
    4                stream vm            0xff         0xff000
    5                       vm           error
";

#[test]
fn the_masks_of_xl_are_read() {
    let sockets = parse_cat_show(XL, "stream vm");
    let masks: Vec<_> = sockets.iter().map(|(socket, masks)| (*socket, masks.id, &masks.masks[..])).collect();
    assert_eq!(masks, [(0, 4, &[0x3][..]), (1, 4, &[0xff, 0xff000][..])]);
    assert_eq!(sockets[&1].full, 0xfffff);
    assert!(parse_cat_show(XL, "vm").is_empty() && parse_cat_show(XL, "stream").is_empty());
}

/// A program that answers from a file, and writes its arguments to another. It exits with 1 if one of them is `0x7`.
fn fake(dir: &Path, name: &str, answer: &str) -> String {
    let program = dir.join(name);
    fs::write(dir.join("answer"), answer).unwrap();
    let script = format!(
        "#!/bin/sh\necho \"$*\" >> {0}/calls\ncase \"$*\" in\n*=0x7*) echo 'SOCKET0 L3CA CLOS1 - FAILED!'; exit 1;;\n\
         domname*) echo 'stream vm';;\n*) cat {0}/answer;;\nesac\n",
        dir.display()
    );
    write_program(&program, &script);
    program.display().to_string()
}

/// Writes a program in a separate process. If this process wrote it, a child that another thread starts at the same
/// time could hold the file open for writing, and the kernel would refuse to run it.
pub fn write_program(path: &Path, text: &str) {
    let mut writer = Command::new("sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    writer.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success());
}

fn calls(dir: &Path) -> Vec<String> {
    let text = fs::read_to_string(dir.join("calls")).unwrap_or_default();
    let _ = fs::remove_file(dir.join("calls"));
    text.lines().map(str::to_owned).collect()
}

#[test]
fn pqos_is_run_and_undone() {
    let dir = tempfile::tempdir_in(std::env::temp_dir()).unwrap();
    let program = fake(dir.path(), "pqos", PQOS);
    let journal = dir.path().join("journal");
    let mut treatments = Treatments::begin(Box::new(LinuxSystem::new()), &journal).unwrap();
    let allocations = vec![
        allocation(Resource::L3Code, &[(0, 0x3)]),
        allocation(Resource::L2, &[(4, 0x3)]),
        allocation(Resource::MemoryBandwidth, &[(0, 30)]),
    ];
    let control = PqosControl {
        program: program.clone(),
        options: vec!["--iface=msr".to_owned()],
        ..PqosControl::new(1, allocations, vec![0, 1])
    };
    let (applied, _) = control.apply(&mut treatments).unwrap();
    let expected = [
        "--iface=msr -s",
        "--iface=msr -e llc@0:1c=0x3",
        "--iface=msr -e l2@4:1=0x3",
        "--iface=msr -e mba@0:1=30",
        "--iface=msr -a core:1=0",
    ];
    assert_eq!(calls(dir.path()), expected, "core 1 has the class already");
    assert!(control.undo(&mut treatments, &applied).is_complete());
    let expected = [
        "--iface=msr -a core:0=0",
        "--iface=msr -e mba@0:1=50",
        "--iface=msr -e l2@4:1=0xf0",
        "--iface=msr -e llc@0:1c=0xf",
    ];
    assert_eq!(calls(dir.path()), expected);

    // A failure is reported with the output, and the change before it is undone.
    let allocations = vec![allocation(Resource::L2, &[(4, 0x3)]), allocation(Resource::L3Code, &[(0, 0x7)])];
    let control = PqosControl { program: program.clone(), ..PqosControl::new(1, allocations, Vec::new()) };
    let error = control.apply(&mut treatments).unwrap_err().to_string();
    assert!(error.ends_with("failed: SOCKET0 L3CA CLOS1 - FAILED!"), "{error}");
    let expected = ["-s", "-e l2@4:1=0x3", "-e llc@0:1c=0x7", "-e llc@0:1c=0xf", "-e l2@4:1=0xf0"];
    assert_eq!(calls(dir.path()), expected);

    for (value, part) in [(0x5, "not contiguous"), (0x1000, "exceeds"), (0, "no part")] {
        let allocations = vec![allocation(Resource::L3Data, &[(0, value)])];
        let control =
            PqosControl { program: program.clone(), ..PqosControl::new(1, allocations, Vec::new()) };
        let availability = control.check(&LinuxSystem::new());
        assert!(
            matches!(&availability, Availability::Unavailable { reason } if reason.contains(part)),
            "{availability:?}"
        );
    }
    let control =
        PqosControl { program: "/no/such/pqos".to_owned(), ..PqosControl::new(1, Vec::new(), Vec::new()) };
    let availability = control.check(&LinuxSystem::new());
    assert!(
        matches!(&availability, Availability::Unavailable { reason } if reason.contains("install intel-cmt-cat")),
        "{availability:?}"
    );
}

#[test]
fn xl_is_run_and_undone_by_another_program() {
    let dir = tempfile::tempdir_in(std::env::temp_dir()).unwrap();
    let program = fake(dir.path(), "xl", XL);
    let journal = dir.path().join("journal");
    let mut treatments = Treatments::begin(Box::new(LinuxSystem::new()), &journal).unwrap();
    let allocations = vec![allocation(Resource::L3, &[(0, 0xff)])];
    let control = XenControl { program: program.clone(), ..XenControl::new("stream vm", allocations) };
    control.apply(&mut treatments).unwrap();
    assert_eq!(calls(dir.path()), ["psr-cat-show -l 3", "psr-cat-set -s 0 -l 3 4 0xff"]);
    // The journal as it is when the program is killed here.
    let content = fs::read(&journal).unwrap();
    drop(treatments);
    calls(dir.path());
    fs::write(&journal, content).unwrap();
    assert!(restore(Box::new(LinuxSystem::new()), &journal).unwrap().is_complete());
    assert_eq!(calls(dir.path()), ["domname 4", "psr-cat-set -s 0 -l 3 4 0x3"]);

    let allocations = vec![allocation(Resource::L3Data, &[(1, 0xff)])];
    let control = XenControl { program: program.clone(), ..XenControl::new("stream vm", allocations) };
    let changes = format!("{:?}", control.plan(&LinuxSystem::new()).unwrap().changes);
    assert!(changes.contains("\"-d\"") && changes.contains("before: 1044480"), "{changes}");
    for (resource, socket, part) in [
        (Resource::L3, 1, "allocate both"),
        (Resource::L3Code, 0, "cdp"),
        (Resource::L3, 2, "there is no domain 2"),
        (Resource::MemoryBandwidth, 0, "use a cache mask"),
    ] {
        let allocations = vec![allocation(resource, &[(socket, 3)])];
        let control = XenControl { program: program.clone(), ..XenControl::new("stream vm", allocations) };
        let availability = control.check(&LinuxSystem::new());
        assert!(
            matches!(&availability, Availability::Unavailable { reason } if reason.contains(part)),
            "{availability:?}"
        );
    }
}
