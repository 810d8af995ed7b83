//! All kinds of changes, as they are stored in the journal.

pub mod cgroup;
pub mod network;
pub mod program;
pub mod resctrl;

use std::fmt;

use serde::{Deserialize, Serialize};

use self::cgroup::CgroupChange;
use self::network::NetworkChange;
use self::program::{PqosChange, XenChange};
use self::resctrl::ResctrlChange;
use crate::error::ControlError;
use crate::reversible::{Reversible, Undone};
use crate::system::System;

/// A change to the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Change {
    /// A change to a control group.
    Cgroup(CgroupChange),
    /// A change to a resctrl group.
    Resctrl(ResctrlChange),
    /// A change by `pqos`.
    Pqos(PqosChange),
    /// A change by `xl`.
    Xen(XenChange),
    /// A change to the network.
    Network(NetworkChange),
}

impl Change {
    fn reversible(&self) -> &dyn Reversible {
        match self {
            Self::Cgroup(change) => change,
            Self::Resctrl(change) => change,
            Self::Pqos(change) => change,
            Self::Xen(change) => change,
            Self::Network(change) => change,
        }
    }

    /// The settings that it changes, and the processes and cores whose group it changes: a second change to the same
    /// object could not be undone independently.
    #[must_use]
    pub fn targets(&self) -> Vec<String> {
        match self {
            Self::Cgroup(CgroupChange::Set { file, before: Some(_), .. }) => vec![file.display().to_string()],
            Self::Cgroup(CgroupChange::Move { mount, process, .. })
            | Self::Resctrl(ResctrlChange::Move { mount, process, .. }) => {
                vec![format!("the group of process {} in {}", process.pid, mount.display())]
            }
            Self::Resctrl(ResctrlChange::Allocate { mount, group, before: Some(_), after }) => {
                let (resource, _) = after.split_once(':').unwrap_or((after, ""));
                vec![format!("{resource} of the group {}", mount.join(group).display())]
            }
            Self::Pqos(change) => change.targets(),
            Self::Xen(XenChange { domain, socket, options, .. }) => {
                vec![format!("the cache mask ({}) of domain {domain} on socket {socket}", options.join(" "))]
            }
            Self::Cgroup(_) | Self::Resctrl(_) | Self::Network(_) => Vec::new(),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cgroup(change) => change.fmt(f),
            Self::Resctrl(change) => change.fmt(f),
            Self::Pqos(change) => change.fmt(f),
            Self::Xen(change) => change.fmt(f),
            Self::Network(change) => change.fmt(f),
        }
    }
}

impl Reversible for Change {
    fn make(&self, system: &dyn System) -> Result<(), ControlError> {
        self.reversible().make(system)
    }

    fn undo(&self, system: &dyn System) -> Result<Undone, ControlError> {
        self.reversible().undo(system)
    }
}
