//! Journals that cannot be used.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use busyhour_controls::cgroup::CgroupControl;
use busyhour_controls::control::Control;
use busyhour_controls::journal::{Content, JournalError, remove_finished};
use busyhour_controls::treatments::{Treatments, restore};
use proptest::prelude::*;

use crate::machine::{Machine, directory};
use crate::scenarios::limits;

/// The journal of a program that was killed.
fn killed(machine: &Machine, path: &std::path::Path) -> Vec<u8> {
    let mut treatments = Treatments::begin(machine.boxed(), path).unwrap();
    CgroupControl::new(limits(), vec![100]).apply(&mut treatments).unwrap();
    fs::read(path).unwrap()
}

#[test]
fn a_journal_in_use_is_not_restored() {
    let machine = Machine::version_2();
    let dir = directory();
    let path = dir.path().join("journal");
    let mut treatments = Treatments::begin(machine.boxed(), &path).unwrap();
    CgroupControl::new(limits(), vec![100]).apply(&mut treatments).unwrap();
    assert!(matches!(restore(machine.boxed(), &path), Err(JournalError::InUse { .. })));
    assert!(matches!(Treatments::begin(machine.boxed(), &path), Err(JournalError::Exists { .. })));
    assert!(matches!(remove_finished(&path), Err(JournalError::InUse { .. })));
    drop(treatments);
    assert!(restore(machine.boxed(), &path).unwrap().changes.is_empty());
}

#[test]
fn a_journal_that_others_can_change_is_not_used() {
    let machine = Machine::version_2();
    let dir = directory();
    let path = dir.path().join("journal");
    killed(&machine, &path);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o622)).unwrap();
    assert!(matches!(restore(machine.boxed(), &path), Err(JournalError::Unsafe { .. })));
}

#[test]
fn a_damaged_journal_is_refused() {
    let machine = Machine::version_2();
    let dir = directory();
    let path = dir.path().join("journal");
    let text = killed(&machine, &path);
    let before = machine.snapshot();
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let without_begin = lines[1..].concat();
    let twice = [lines[0], lines[1], lines[1]].concat();
    let other_format =
        String::from_utf8(text.clone()).unwrap().replace("controls 1", "controls 9").into_bytes();
    let garbage = [lines[0], b"garbage\n", lines[1]].concat();
    for (damaged, line) in [(without_begin, 1), (twice, 3), (other_format, 1), (garbage, 2)] {
        fs::write(&path, &damaged).unwrap();
        match restore(machine.boxed(), &path) {
            Err(JournalError::Damaged { line: found, .. }) => assert_eq!(found, line),
            other => panic!("{other:?}"),
        }
        assert_eq!(fs::read(&path).unwrap(), damaged, "a journal that is not understood is kept");
    }
    assert_eq!(machine.snapshot(), before);
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: prop::test_runner::RngSeed::Fixed(32), cases: 64, ..ProptestConfig::default()
    })]

    #[test]
    fn a_journal_that_ends_anywhere_is_read(cut in 0.0..1.0) {
        let machine = Machine::version_2();
        let dir = directory();
        let path = dir.path().join("journal");
        let text = killed(&machine, &path);
        let end = (text.len() as f64 * cut) as usize;
        let content = Content::parse(&path, &text[..end]).unwrap();
        let complete = text[..end].iter().filter(|byte| **byte == b'\n').count();
        prop_assert_eq!(content.pending.len(), complete.saturating_sub(1));
    }

    #[test]
    fn no_bytes_crash_the_reader(bytes: Vec<u8>) {
        let _ = Content::parse("journal".as_ref(), &bytes);
    }
}
