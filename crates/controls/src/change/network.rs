//! Changes of the network: namespaces, pairs of virtual interfaces, emulated delay.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::ControlError;
use crate::reversible::{Reversible, Undone};
use crate::system::{System, arguments, run};

/// A change to the network. All objects are created, and have unique names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum NetworkChange {
    /// Creates a network namespace.
    Namespace {
        /// Its name.
        name: String,
    },
    /// Creates a pair of virtual interfaces, one of which is in a namespace.
    Pair {
        /// The namespace.
        namespace: String,
        /// The interface outside of the namespace.
        outside: String,
        /// The interface in the namespace.
        inside: String,
    },
    /// Configures a created interface. Removing the interface undoes it.
    Configure {
        /// `ip` or `tc`.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
}

/// The file of a namespace.
pub(crate) fn namespace_file(name: &str) -> PathBuf {
    Path::new("/run/netns").join(name)
}

/// The directory of an interface.
pub(crate) fn interface_directory(name: &str) -> PathBuf {
    Path::new("/sys/class/net").join(name)
}

impl fmt::Display for NetworkChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace { name } => write!(f, "new network namespace {name}"),
            Self::Pair { namespace, outside, inside } => {
                write!(f, "new interfaces {outside} and, in {namespace}, {inside}")
            }
            Self::Configure { program, arguments } => write!(f, "{program} {}", arguments.join(" ")),
        }
    }
}

impl Reversible for NetworkChange {
    fn make(&self, system: &dyn System) -> Result<(), ControlError> {
        match self {
            Self::Namespace { name } => {
                refuse_existing(system, &namespace_file(name))?;
                run(system, "ip", &arguments(&["netns", "add", name]))?;
            }
            Self::Pair { namespace, outside, inside } => {
                refuse_existing(system, &interface_directory(outside))?;
                let words =
                    ["link", "add", outside, "type", "veth", "peer", "name", inside, "netns", namespace];
                run(system, "ip", &arguments(&words))?;
            }
            Self::Configure { program, arguments } => {
                run(system, program, arguments)?;
            }
        }
        Ok(())
    }

    fn undo(&self, system: &dyn System) -> Result<Undone, ControlError> {
        let (path, words) = match self {
            Self::Namespace { name } => (namespace_file(name), ["netns", "delete", name]),
            Self::Pair { outside, .. } => (interface_directory(outside), ["link", "delete", outside]),
            Self::Configure { .. } => return Ok(Undone::AlreadyRestored),
        };
        if !system.exists(&path) {
            return Ok(Undone::Gone);
        }
        run(system, "ip", &arguments(&words)).map(|_| Undone::Restored)
    }
}

fn refuse_existing(system: &dyn System, path: &Path) -> Result<(), ControlError> {
    if system.exists(path) {
        return Err(ControlError::file("create", path, io::ErrorKind::AlreadyExists.into()));
    }
    Ok(())
}
