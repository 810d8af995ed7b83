//! A program is killed at every step of applying and undoing a control; restoring its journal leads to the state before.

use std::fs;
use std::path::Path;

use busyhour_controls::control::Control;
use busyhour_controls::journal::Content;
use busyhour_controls::treatments::{Treatments, restore};

use crate::killed::{Journal, Kill, Life, MOMENTS, Mortal};
use crate::machine::{Machine, directory};
use crate::scenarios::SCENARIOS;

/// Begins a journal, in a program that is not killed.
fn begin(machine: &Machine, path: &Path) {
    drop(Treatments::begin(machine.boxed(), path).unwrap());
}

/// A program with the journal, which is killed.
fn program(machine: &Machine, path: &Path, kill: Option<Kill>) -> (Treatments, Life) {
    let life = Life::until(kill);
    let content = Content::parse(path, &fs::read(path).unwrap()).unwrap();
    let system = Box::new(Mortal { machine: machine.clone(), life: life.clone() });
    let journal = Box::new(Journal { path: path.to_owned(), life: life.clone() });
    (Treatments::with_store(system, journal, path, content), life)
}

/// Applies the control and undoes it, unless the program is killed first. Returns the total number of steps, and the
/// number of steps for applying.
fn apply_and_undo(machine: &Machine, control: &dyn Control, path: &Path, kill: Option<Kill>) -> (u32, u32) {
    let (mut treatments, life) = program(machine, path, kill);
    let applied = control.apply(&mut treatments);
    let applying = life.steps();
    if let Ok((applied, _)) = applied {
        control.undo(&mut treatments, &applied);
    }
    drop(treatments);
    (life.steps(), applying)
}

#[test]
fn kills_at_every_step_are_restored() {
    for (name, machine, control) in SCENARIOS {
        let control = control();
        let dir = directory();
        let path = dir.path().join("journal");
        let undisturbed = machine();
        begin(&undisturbed, &path);
        let (steps, applying) = apply_and_undo(&undisturbed, &*control, &path, None);
        assert!(applying > 4 && steps > applying, "{name}: {steps} steps, {applying} of them to apply");
        for step in 0..steps {
            for moment in MOMENTS {
                let machine = machine();
                let before = machine.snapshot();
                fs::remove_file(&path).unwrap();
                begin(&machine, &path);
                let kill = Kill { step, moment };
                apply_and_undo(&machine, &*control, &path, Some(kill));
                let restoration = restore(machine.boxed(), &path).unwrap();
                assert!(restoration.is_complete(), "{name}, {kill:?}: {restoration:?}");
                assert_eq!(machine.snapshot(), before, "{name}, {kill:?}");
                // A second time, nothing is left.
                let again = restore(machine.boxed(), &path).unwrap();
                assert!(again.changes.is_empty(), "{name}, {kill:?}: {again:?}");
                assert_eq!(machine.snapshot(), before, "{name}, {kill:?}");
            }
        }
    }
}

#[test]
fn kills_at_every_step_of_restoring_are_restored() {
    for (name, machine, control) in SCENARIOS {
        let control = control();
        let dir = directory();
        let path = dir.path().join("journal");
        let mut step = 0;
        let mut is_finished = false;
        while !is_finished {
            is_finished = true;
            for moment in MOMENTS {
                let machine = machine();
                let before = machine.snapshot();
                let _ = fs::remove_file(&path);
                begin(&machine, &path);
                let (mut treatments, _) = program(&machine, &path, None);
                control.apply(&mut treatments).unwrap();
                assert_ne!(machine.snapshot(), before, "{name}");
                // The program is killed without undoing anything.
                std::mem::forget(treatments);

                let kill = Kill { step, moment };
                let (treatments, life) = program(&machine, &path, Some(kill));
                drop(treatments);
                is_finished &= !life.is_dead();
                let restoration = restore(machine.boxed(), &path).unwrap();
                assert!(restoration.is_complete(), "{name}, {kill:?}: {restoration:?}");
                assert_eq!(machine.snapshot(), before, "{name}, {kill:?}");
            }
            step += 1;
        }
        assert!(step > 4, "{name}: {step} steps");
    }
}
