//! Changes that a program makes: `pqos`, `xl`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::ControlError;
use crate::reversible::{Reversible, Undone};
use crate::system::{System, arguments, run};

/// A change by `pqos`, to a class of service or to the class of cores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PqosChange {
    /// The program.
    pub program: String,
    /// Options before the change: `--iface=os`.
    pub options: Vec<String>,
    /// The option of the change: `-e` or `-a`.
    pub option: String,
    /// The argument that restores the state before: `llc@0:1=0xfffff`.
    pub before: String,
    /// The argument of the change: `llc@0:1=0x3`.
    pub after: String,
}

impl PqosChange {
    fn run(&self, system: &dyn System, argument: &str) -> Result<(), ControlError> {
        let mut words = self.options.clone();
        words.extend(arguments(&[&self.option, argument]));
        run(system, &self.program, &words).map(|_| ())
    }
}

impl PqosChange {
    /// The cores, or the resource of a class, that are changed.
    pub(crate) fn targets(&self) -> Vec<String> {
        let (place, value) = self.after.split_once('=').unwrap_or((&self.after, ""));
        if self.option == "-a" {
            return value.split(',').map(|core| format!("the class of core {core}")).collect();
        }
        vec![format!("{place} of pqos")]
    }
}

impl fmt::Display for PqosChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pqos {} {}, before: {}", self.option, self.after, self.before)
    }
}

impl fmt::Display for XenChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, socket, options, before, after, .. } = self;
        let options = options.join(" ");
        write!(
            f,
            "cache mask ({options}) of domain {name} on socket {socket}: {after:#x}, before: {before:#x}"
        )
    }
}

impl Reversible for PqosChange {
    fn make(&self, system: &dyn System) -> Result<(), ControlError> {
        self.run(system, &self.after)
    }

    fn undo(&self, system: &dyn System) -> Result<Undone, ControlError> {
        self.run(system, &self.before).map(|()| Undone::Restored)
    }
}

/// A change of a cache mask of a Xen domain by `xl psr-cat-set`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct XenChange {
    /// The program.
    pub program: String,
    /// The number of the domain.
    pub domain: u32,
    /// Its name, by which a later domain with the same number is recognized.
    pub name: String,
    /// The socket.
    pub socket: u32,
    /// Options that select the cache: `-l 2`, `-c`, `-d`.
    pub options: Vec<String>,
    /// The mask before.
    pub before: u64,
    /// The new mask.
    pub after: u64,
}

impl XenChange {
    fn set(&self, system: &dyn System, mask: u64) -> Result<(), ControlError> {
        let mut words = arguments(&["psr-cat-set", "-s", &self.socket.to_string()]);
        words.extend(self.options.iter().cloned());
        words.extend([self.domain.to_string(), format!("{mask:#x}")]);
        run(system, &self.program, &words).map(|_| ())
    }
}

impl Reversible for XenChange {
    fn make(&self, system: &dyn System) -> Result<(), ControlError> {
        self.set(system, self.after)
    }

    fn undo(&self, system: &dyn System) -> Result<Undone, ControlError> {
        let words = arguments(&["domname", &self.domain.to_string()]);
        match run(system, &self.program, &words) {
            Ok(name) if name.trim() == self.name => self.set(system, self.before).map(|()| Undone::Restored),
            Ok(_) | Err(ControlError::Command { .. }) => Ok(Undone::Gone),
            Err(error) => Err(error),
        }
    }
}
