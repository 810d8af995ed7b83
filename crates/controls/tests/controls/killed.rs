//! A program that is killed at one of its steps: the writes of the journal and the changes of the machine.

use std::cell::Cell;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use busyhour_controls::journal::JournalStore;
use busyhour_controls::system::{Output, System};

use crate::machine::Machine;

/// The step at which the program is killed, counted from 0, and whether it is killed during or after the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kill {
    pub step: u32,
    pub moment: Moment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Half of a line of the journal is written. A change of the machine is atomic, so it is not made.
    Middle,
    /// The line is written or the change is made, but the program does not learn of it.
    After,
}

pub const MOMENTS: [Moment; 2] = [Moment::Middle, Moment::After];

/// Counts the steps of a program. Clones share the count.
#[derive(Clone, Debug, Default)]
pub struct Life {
    kill: Option<Kill>,
    steps: Rc<Cell<u32>>,
    is_dead: Rc<Cell<bool>>,
}

impl Life {
    pub fn until(kill: Option<Kill>) -> Self {
        Self { kill, ..Self::default() }
    }

    pub fn steps(&self) -> u32 {
        self.steps.get()
    }

    pub fn is_dead(&self) -> bool {
        self.is_dead.get()
    }

    fn step<T>(&self, half: impl FnOnce(), whole: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let killed = || io::Error::other("the program was killed");
        if self.is_dead.get() {
            return Err(killed());
        }
        let step = self.steps.replace(self.steps.get() + 1);
        let Some(kill) = self.kill.filter(|kill| kill.step == step) else { return whole() };
        self.is_dead.set(true);
        match kill.moment {
            Moment::Middle => half(),
            Moment::After => drop(whole()),
        }
        Err(killed())
    }
}

/// The journal of a program.
pub struct Journal {
    pub path: PathBuf,
    pub life: Life,
}

impl JournalStore for Journal {
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        let write = |bytes: &[u8]| OpenOptions::new().append(true).open(&self.path)?.write_all(bytes);
        self.life.step(|| write(&line[..line.len() / 2]).unwrap(), || write(line))
    }
}

/// The machine of a program.
pub struct Mortal {
    pub machine: Machine,
    pub life: Life,
}

impl System for Mortal {
    fn read(&self, path: &Path) -> io::Result<String> {
        self.machine.read(path)
    }

    fn directories(&self, path: &Path) -> io::Result<Vec<String>> {
        self.machine.directories(path)
    }

    fn exists(&self, path: &Path) -> bool {
        self.machine.exists(path)
    }

    fn check_writable(&self, path: &Path) -> io::Result<()> {
        self.machine.check_writable(path)
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        self.life.step(|| {}, || self.machine.write(path, text))
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.life.step(|| {}, || self.machine.create_directory(path))
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.life.step(|| {}, || self.machine.remove_directory(path))
    }

    fn run(&self, program: &str, arguments: &[String]) -> io::Result<Output> {
        self.life.step(|| {}, || self.machine.run(program, arguments))
    }

    fn wait_for_exit(&self, pid: u32) {
        self.machine.wait_for_exit(pid);
    }
}
